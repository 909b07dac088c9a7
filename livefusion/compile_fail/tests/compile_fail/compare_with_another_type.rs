use livefusion::prelude::*;

fn main() {
    let xs = Array::from(vec![1.0f64, 2.0]);
    let ns = Array::from(vec![1i64, 2]);
    let _ = xs.gt(2);
    let _ = xs.le(&ns);
    let _ = xs.len().gt(1usize);
}
