//! Sorts by a comparison.

use crate::common::engines;
use livefusion::Result;
use livefusion::error::ErrorKind;
use livefusion::prelude::*;
use livefusion::runtime::ExplainedApart;
use proptest::prelude::*;

proptest! {
    #[test]
    fn sort_by__with_a_comparison__is_stable(rows: Vec<(u8, i32)>) {
        let rows: Vec<(u8, i32)> = rows.iter().map(|(k, v)| (k % 5, *v)).collect();
        let mut expected = rows.clone();
        expected.sort_by_key(|(k, _)| std::cmp::Reverse(*k));
        let array = Array::from(rows);
        for engine in engines() {
            let sorted = array.sort_by(|(a, _), (b, _)| a.gt(b));
            prop_assert_eq!(sorted.force_with(&engine)?.to_vec()?, expected.clone());
        }
    }
}

/// A step of `sort_by` is one loop over the elements, with the comparison in it.
#[test]
fn sort_by__of_many_elements__merges_runs_in_one_loop() -> Result<()> {
    let xs: Array<i64> = (0..100_000).map(|i| i * 7919 % 100_003).collect();
    let sorted = xs.map(|x| x - 500).sort_by(|a, b| (a % 100).lt(b % 100));
    let explained = sorted.map(|x| x + 1).explain()?;
    let [ExplainedApart::Loop(merges)] = &explained.apart[..] else {
        panic!("{explained}");
    };
    assert_eq!(
        (merges.name, merges.step.loops.len()),
        ("sort_by", 1),
        "{explained}"
    );
    let got = sorted.force()?.to_vec()?;
    let mut expected: Vec<i64> = (0..100_000).map(|i| i * 7919 % 100_003 - 500).collect();
    expected.sort_by_key(|x| x % 100);
    assert_eq!(got, expected);
    // An inconsistent order still gives a permutation of the elements. An error in a comparison is
    // reported.
    let mut mixed = xs.sort_by(|_, _| true).force()?.to_vec()?;
    mixed.sort();
    assert!(mixed.iter().copied().eq(xs.sort().to_vec()?));
    let error = xs.sort_by(|a, b| (a / (b - &xs.first())).lt(0));
    let error = error.force().expect_err("a division");
    assert_eq!(error.combinator, "sort_by");
    assert!(matches!(error.kind, ErrorKind::Division { .. }), "{error}");
    let empty = Array::from(Vec::<u8>::new());
    assert_eq!(empty.sort_by(|a, b| a.lt(b)).force()?, []);
    Ok(())
}
