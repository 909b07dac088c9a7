use livefusion::prelude::*;

fn main() {
    let xs = Array::from(vec![1.0f64, 2.0]);
    let (a, b) = (xs.sum(), xs.max());
    let _ = a.zip_with(&b, |a, b| a + b);
}
