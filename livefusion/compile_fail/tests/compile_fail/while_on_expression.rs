use livefusion::prelude::*;

fn main() {
    let xs = Array::from(vec![1.0f64, 2.0]);
    let _ = xs.map(|mut x| {
        while x.gt(1.0) {
            x = x / 2.0;
        }
        x
    });
}
