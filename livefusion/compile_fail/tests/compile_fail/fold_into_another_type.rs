use livefusion::prelude::*;

fn main() {
    let xs = Array::from(vec![1.0f64, 2.0]);
    let _ = xs.fold((0u64, 0.0f64), |(n, sum), x| (n + 1, sum + x));
}
