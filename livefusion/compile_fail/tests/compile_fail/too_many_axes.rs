use livefusion::prelude::*;

fn main() {
    let m = Array::from([[1.0f64, 2.0]]);
    let _ = m.along([0, 1, 2]).sum();
}
