use livefusion::prelude::*;

fn main() {
    let xs = Array::from(vec![1.0f64, 2.0]);
    let n = 3usize;
    let _ = xs.count(|x| x.gt(1.0)) / n;
    let _ = &xs * 2;
}
