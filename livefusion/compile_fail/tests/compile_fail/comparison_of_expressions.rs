use livefusion::prelude::*;

fn main() {
    let xs = Array::from(vec![1.0f64, 2.0]);
    let _ = xs.zip_with(&xs, |a, b| a != b);
    let _ = xs.zip_with(&xs, |a, b| a < b);
    let _ = xs.sum() == xs.max();
}
