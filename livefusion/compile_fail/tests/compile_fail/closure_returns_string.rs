use livefusion::prelude::*;

fn main() {
    let xs = Array::from(vec![1.0f64, 2.0]);
    let _ = xs.map(|_| "a");
}
