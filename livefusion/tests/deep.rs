//! Graphs of any depth: no stage recurses over the graph.

use livefusion::Result;
use livefusion::prelude::*;

#[test]
fn a_chain_of_100_000_combinators() -> Result<()> {
    let mut xs: Array<i64> = vec![1i64, 2].into();
    for _ in 0..100_000 {
        xs = xs.map(|x| x + 1);
    }
    let ys = xs.force_with(&Engine::interp())?;
    assert_eq!(&ys[..], [100_001, 100_002]);
    Ok(())
}
