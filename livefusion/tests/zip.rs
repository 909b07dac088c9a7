//! Elements with their indices: `enumerate`.

use crate::common::{engines, shape};
use livefusion::Result;
use livefusion::prelude::*;

#[test]
fn enumerate__of_none_one_and_several__pairs_each_with_its_index() -> Result<()> {
    for engine in engines() {
        for xs in [vec![], vec![7i64], vec![7, 5, 7]] {
            let expected: Vec<(u64, i64)> = (0..).zip(xs.iter().copied()).collect();
            let pairs = Array::from(xs.clone()).enumerate();
            assert_eq!(pairs.force_with(&engine)?, expected);
            // The indices of a stream count its own elements.
            let kept: Vec<i64> = xs.into_iter().filter(|x| *x == 7).collect();
            let expected: Vec<(u64, i64)> = (0..).zip(kept.iter().copied()).collect();
            let stream = Array::from(kept).map(|x| x + 1).filter(|x| x.eq(8));
            let pairs = stream.enumerate().map(|(i, x)| (i, x - 1));
            assert_eq!(pairs.force_with(&engine)?, expected);
        }
    }
    let weighted = iota(9).filter(|x| x.gt(3)).enumerate().map(|(i, x)| i * x);
    assert_eq!(shape(&[weighted.sum().node()])?, (1, 0));
    Ok(())
}

#[test]
fn enumerate__of_a_matrix__pairs_each_with_its_row_and_column() -> Result<()> {
    let m = Array::from([[3i64, 1, 4], [1, 5, 9]]);
    for engine in engines() {
        let found = m.enumerate().force_with(&engine)?;
        assert_eq!(found.shape(), [2, 3]);
        assert_eq!(found.get((1, 2)), Some(((1, 2), 9)));
        assert_eq!(found.get((0, 1)), Some(((0, 1), 1)));
    }
    Ok(())
}
