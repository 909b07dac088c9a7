use livefusion::prelude::*;

fn main() {
    let _ = Array::from(vec![vec![1.0f64, 2.0], vec![3.0, 4.0]]);
}
