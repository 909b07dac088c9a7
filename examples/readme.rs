//! The program in the README.

use livefusion::prelude::*;

fn main() -> livefusion::Result<()> {
    let prices = Array::from(vec![9.5f64, 3.0, 12.0, 4.5, 7.0]);
    let cheap = prices.filter(|p| p.lt(10.0)).map(|p| 1.25 * p);
    let running = cheap.scan(0.0, |a, b| a + b);
    println!("{running}"); // delayed: nothing is computed yet
    let (running, mean, top) = (&running, &cheap.mean(), &cheap.max_index()).force()?; // one loop
    println!("running total {running}, mean {mean}, dearest is number {top}");
    Ok(())
}
