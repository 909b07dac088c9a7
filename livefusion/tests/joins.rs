//! Joins of arrays of keys.

use crate::common::engines;
use livefusion::Result;
use livefusion::prelude::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn join_and_left_join__of_repeated_keys__are_nested_plain_loops(
        left in prop::collection::vec(any::<u8>(), 0..30),
        right in prop::collection::vec(any::<u8>(), 0..30),
    ) {
        let few = |keys: Vec<u8>| -> Vec<i8> { keys.iter().map(|k| (k % 9) as i8 - 4).collect() };
        let (left, right) = (few(left), few(right));
        let mut pairs: Vec<(u64, u64, bool)> = Vec::new();
        for (i, k) in left.iter().enumerate() {
            let equal = (0..right.len()).filter(|j| right[*j] == *k);
            let before = pairs.len();
            pairs.extend(equal.map(|j| (i as u64, j as u64, true)));
            if pairs.len() == before {
                pairs.push((i as u64, 0, false));
            }
        }
        let inner: Vec<(u64, u64)> = pairs.iter().filter(|p| p.2).map(|p| (p.0, p.1)).collect();
        let (left, right) = (Array::from(left), Array::from(right));
        for engine in engines() {
            prop_assert_eq!(left.join(&right).force_with(&engine)?.to_vec()?, inner.clone());
            prop_assert_eq!(left.left_join(&right).force_with(&engine)?.to_vec()?, pairs.clone());
        }
    }
}

/// The pairs of a join are not stored: their consumers are in the loop over the left keys.
#[test]
fn join_and_left_join__before_a_sum__store_no_pairs() -> Result<()> {
    let left: Array<u32> = (0..1000).map(|i| i * 7919 % 97).collect();
    let right: Array<u32> = (0..500).map(|i| i * 31 % 89).collect();
    let sums = left.join(&right).map(|(i, j)| i * 1000 + j).sum();
    let explained = sums.explain()?;
    assert_eq!(
        (explained.apart.len(), explained.loops.len()),
        (1, 1),
        "{explained}"
    );
    assert_eq!(explained.loops[0].arrays_written, 0, "{explained}");
    let mut expected = 0u64;
    for i in 0..1000u64 {
        let equal = |j: &u64| j * 31 % 89 == i * 7919 % 97;
        expected += (0..500).filter(equal).map(|j| i * 1000 + j).sum::<u64>();
    }
    assert_eq!(sums.force()?, expected);
    // Keys of several fields.
    let of_pairs = |keys: &Array<u32>| keys.map(|k| (k % 3, k.cast::<f64>() / 3.0));
    let same = of_pairs(&left)
        .join(&of_pairs(&right))
        .map(|(i, j)| i * 1000 + j)
        .sum();
    assert_eq!(same.force()?, expected);
    let none = Array::from(Vec::<u32>::new());
    assert_eq!(none.join(&left).force()?, []);
    assert_eq!(left.join(&none).force()?, []);
    assert_eq!(left.take(1).left_join(&none).force()?, [(0, 0, false)]);
    Ok(())
}
