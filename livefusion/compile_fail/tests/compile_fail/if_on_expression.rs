use livefusion::prelude::*;

fn main() {
    let xs = Array::from(vec![1.0f64, 2.0]);
    let _ = xs.map(|x| if x.gt(0.0) { x } else { -x });
}
