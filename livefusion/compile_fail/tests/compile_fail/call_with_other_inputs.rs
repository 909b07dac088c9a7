use livefusion::prelude::*;

fn main() {
    let sum = prepare(|(xs, ys): (Array<f64>, Array<f64>)| (&xs + &ys).sum()).unwrap();
    let (xs, ns) = (Array::from(vec![1.0f64, 2.0]), Array::from(vec![1i64, 2]));
    let _ = sum.call((&xs, &ns));
}
