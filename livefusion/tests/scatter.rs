//! Values put at indices: `scatter_with`, `reduce_by_index`.

use crate::common::engines;
use livefusion::prelude::*;
use livefusion::{ErrorKind, Result};

/// Plain loop: each bin after all updates.
fn updated(mut bins: Vec<i64>, at: &[u8], values: &[i64]) -> Vec<i64> {
    for (i, x) in at.iter().zip(values) {
        let bin = &mut bins[usize::from(*i)];
        *bin = *bin * 10 - x;
    }
    bins
}

#[test]
fn scatter_with_and_reduce_by_index__of_repeated_indices__join_in_order() -> Result<()> {
    for engine in engines() {
        for (at, values) in [
            (vec![], vec![]),
            (vec![2], vec![5i64]),
            (vec![1u8, 0, 1, 1, 0], vec![1, 2, 3, 4, 5]),
        ] {
            let base = vec![0i64, 1, 2];
            let (indices, array) = (Array::from(at.clone()), Array::from(values.clone()));
            let onto = Array::from(base.clone()).scatter_with(&indices, &array, |a, x| a * 10 - x);
            assert_eq!(onto.force_with(&engine)?, updated(base, &at, &values));
            let bins = Bins {
                count: 3,
                start: 7i64,
            };
            let sums = array.reduce_by_index(&indices, bins, |a, x| a * 10 - x);
            assert_eq!(sums.force_with(&engine)?, updated(vec![7; 3], &at, &values));
        }
    }
    Ok(())
}

#[test]
fn scatter_with_and_reduce_by_index__with_mistakes__are_errors() {
    let (base, values) = (Array::from(vec![0i64, 0]), Array::from(vec![1i64, 2]));
    for engine in engines() {
        for (at, is_outside) in [(vec![0i64, 2], true), (vec![-1, 0], true), (vec![0], false)] {
            let at = Array::from(at);
            let onto = base.scatter_with(&at, &values, |a, x| a + x);
            let bins = Bins {
                count: 2,
                start: 0i64,
            };
            let sums = values.reduce_by_index(&at, bins, |a, x| a + x);
            for (result, name) in [(onto, "scatter_with"), (sums, "reduce_by_index")] {
                let error = result.force_with(&engine).expect_err("a mistake");
                assert_eq!(error.combinator, name);
                match is_outside {
                    true => assert!(
                        matches!(error.kind, ErrorKind::OutOfRange { .. }),
                        "{error}"
                    ),
                    false => assert!(
                        matches!(error.kind, ErrorKind::LengthMismatch { .. }),
                        "{error}"
                    ),
                }
            }
        }
    }
}
