//! Arrays from a length: `iota`, `enum_from_step`, `replicate`.

use crate::common::{engines, shape};
use livefusion::prelude::*;
use livefusion::{ErrorKind, Result};

#[test]
fn iota__of_known_and_delayed_lengths__counts_from_zero() -> Result<()> {
    for engine in engines() {
        for n in [0u64, 1, 5] {
            let expected: Vec<u64> = (0..n).collect();
            assert_eq!(iota(n).force_with(&engine)?, expected);
            let delayed = iota(Array::scalar(n as i32));
            assert_eq!(delayed.force_with(&engine)?, expected);
        }
        let error = iota(-1).force_with(&engine).expect_err("a negative length");
        assert_eq!(error.combinator, "iota");
        let delayed = iota(Array::scalar(-1i64)).force_with(&engine);
        let kind = delayed.expect_err("a negative length").kind;
        assert!(matches!(kind, ErrorKind::Malformed { .. }), "{kind:?}");
    }
    assert_eq!(shape(&[iota(5).sum().node()])?, (1, 0));
    Ok(())
}

#[test]
fn enum_from_step__of_each_type__adds_steps_to_the_start() -> Result<()> {
    for engine in engines() {
        for n in [0u64, 1, 100] {
            let of_bytes = enum_from_step(n, 250u8, 3);
            let expected: Vec<u8> = (0..n).map(|i| (250 + 3 * i) as u8).collect();
            assert_eq!(of_bytes.force_with(&engine)?, expected);
            // A running sum of tenths differs in the last bits.
            let tenths = enum_from_step(n, -1.0, 0.1);
            let expected: Vec<f64> = (0..n).map(|i| -1.0 + i as f64 * 0.1).collect();
            assert_eq!(tenths.force_with(&engine)?, expected);
        }
        let error = enum_from_step(-2, 1, 1).force_with(&engine);
        assert_eq!(
            error.expect_err("a negative length").combinator,
            "enum_from_step"
        );
    }
    assert_eq!(shape(&[enum_from_step(9, 1, 2).sum().node()])?, (1, 0));
    Ok(())
}

#[test]
fn enum_from_step__of_segments__counts_within_each() -> Result<()> {
    let (from, step) = (
        Array::from(vec![1i64, 7, 10]),
        Array::from(vec![2i64, 5, -1]),
    );
    for engine in engines() {
        let counted = |lengths: Vec<i64>| {
            let counted = Segmented::enum_from_step(&from, &step, &Array::from(lengths));
            counted.data().force_with(&engine)
        };
        assert_eq!(counted(vec![2, 0, 3])?, [1, 3, 10, 9, 8]);
        assert_eq!(counted(vec![0, 1, 0])?, [7]);
        let error = counted(vec![2, -1, 3]).expect_err("a negative length");
        assert!(
            matches!(error.kind, ErrorKind::Segments { needed: -1, .. }),
            "{error}"
        );
        let error = counted(vec![2, 3]).expect_err("three values, two lengths");
        assert!(
            matches!(error.kind, ErrorKind::LengthMismatch { .. }),
            "{error}"
        );
    }
    Ok(())
}
