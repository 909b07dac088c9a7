use livefusion::prelude::*;

fn main() {
    let xs = Array::from(vec![1.0f64, 2.0]);
    let total = xs.sum();
    if total > 3.0 {
        println!("much");
    }
    if total == 3.0 {
        println!("enough");
    }
}
