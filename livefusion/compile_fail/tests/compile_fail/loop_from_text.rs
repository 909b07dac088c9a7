use livefusion::prelude::*;

fn main() {
    let xs = Array::from(vec![1.0f64, 2.0]);
    let _ = iterate_n(3, (&xs, "name"), |(xs, name)| (xs, name));
}
