use livefusion::prelude::*;

fn main() {
    let m = Array::from([[1.0f64, 2.0]]);
    let _ = generate(2, |i| m.at((i, i, i)));
}
