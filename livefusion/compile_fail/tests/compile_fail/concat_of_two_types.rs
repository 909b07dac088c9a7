use livefusion::prelude::*;

fn main() {
    let xs = Array::from(vec![1.0f64, 2.0]);
    let _ = concat([&xs, &3.0]);
    let _ = concat([1.0, 2.0]);
}
