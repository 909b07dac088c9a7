use livefusion::prelude::*;

fn main() {
    let xs = Array::from(vec![1.0f64, 2.0]);
    let js = Array::from(vec![1u64, 0]);
    let _ = xs.at(&js);
}
