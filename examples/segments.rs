//! Each row's elements as shares of the row's sum.
//!
//! `cargo run --release --example segments`

use livefusion::prelude::*;

fn main() -> livefusion::Result<()> {
    let rows = Segmented::new(
        &Array::from(vec![2u64, 0, 3]),
        &Array::from(vec![1.0f64, 3.0, 2.0, 2.0, 4.0]),
    );
    let shares = rows.zip_with_each(&rows.sum(), |x, sum| x / sum);
    println!("{}", shares.data().explain()?); // what fused, what did not and why, bytes moved
    println!("{:?}", shares.to_vecs()?); // [[0.25, 0.75], [], [0.25, 0.25, 0.5]]
    Ok(())
}
