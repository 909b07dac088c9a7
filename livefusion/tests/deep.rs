//! Graphs of any depth: no stage recurses over the graph.

use livefusion::Result;
use livefusion::prelude::*;

#[test]
fn a_chain_of_filters_and_scans() -> Result<()> {
    let mut xs: Array<i64> = vec![1i64, 2].into();
    for i in 0..4_000 {
        xs = if i % 2 == 0 {
            xs.filter(|x| x.gt(0))
        } else {
            xs.scan(0, |a, b| a + b)
        };
    }
    assert_eq!(xs.sum().force_with(&Engine::interp())?, 2003);
    Ok(())
}
