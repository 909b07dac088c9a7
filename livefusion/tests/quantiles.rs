//! Medians and quantiles: interpolation, infinities, NaN and large integers.

use crate::common::engines;
use livefusion::prelude::*;
use livefusion::{Error, ErrorKind, Result};
use proptest::prelude::*;

const INF: f64 = f64::INFINITY;
const MAX: f64 = f64::MAX;
const TINY: f64 = f64::from_bits(1);

fn quantile(xs: &[f64], share: f64) -> Result<f64> {
    Array::from(xs.to_vec()).quantile(share).force()
}

/// Any float but NaN: ends of the range and ties are frequent.
fn numbers() -> impl Strategy<Value = f64> {
    prop_oneof![
        2 => prop::sample::select(vec![INF, -INF, MAX, -MAX, TINY, -TINY, 0.0, -0.0, 1.0]),
        1 => prop::num::f64::POSITIVE | prop::num::f64::NEGATIVE | prop::num::f64::SUBNORMAL,
        1 => -4.0f64..4.0,
    ]
}

proptest! {
    #[test]
    fn quantile_is_monotone_in_the_share_and_within_its_neighbours(
        xs in prop::collection::vec(numbers(), 1..9),
        mut shares in prop::collection::vec(0.0f64..=1.0, 2..9),
    ) {
        let mut sorted = xs.clone();
        sorted.sort_by(f64::total_cmp);
        shares.sort_by(f64::total_cmp);
        let mut before = sorted[0];
        for share in shares {
            let got = quantile(&xs, share)?;
            let place = share * (xs.len() - 1) as f64;
            let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            let is_between = low <= got && got <= high && before <= got;
            let is_none = got.is_nan() && (low, high) == (-INF, INF);
            prop_assert!(is_between || is_none, "{got} at {share} of {sorted:?}");
            prop_assert!(got.is_finite() || low.is_infinite() || high.is_infinite());
            before = if is_none { before } else { got };
        }
    }
}

#[test]
fn quantile_between_infinite_neighbours_is_theirs() -> Result<()> {
    let median = |xs: &[f64]| quantile(xs, 0.5);
    assert_eq!(median(&[INF, INF])?, INF);
    assert_eq!(median(&[-INF, -INF, -INF, 1.0])?, -INF);
    assert_eq!(median(&[-INF, 0.0])?, -INF);
    assert_eq!(median(&[0.0, INF])?, INF);
    assert_eq!(quantile(&[1.0, 2.0, INF, INF], 0.9)?, INF);
    assert!(median(&[-INF, INF])?.is_nan());
    // The quantiles 0 and 1 are elements.
    let ends = [-INF, INF];
    assert_eq!((quantile(&ends, 0.0)?, quantile(&ends, 1.0)?), (-INF, INF));
    let segments = Segmented::from_vecs(vec![vec![INF, INF], vec![0.0, -INF], vec![MAX, -MAX]]);
    assert_eq!(segments.median().force()?, [INF, -INF, 0.0]);
    let both = Segmented::from_vecs(vec![vec![INF, -INF, INF, 1.0]]).map_segments(|s| s.median());
    assert_eq!(both.force()?, [INF]);
    Ok(())
}

#[test]
fn quantile_between_huge_or_tiny_neighbours_is_rounded_once() -> Result<()> {
    assert_eq!(quantile(&[-1.7e308, 1.7e308], 0.5)?, 0.0);
    assert_eq!(quantile(&[-MAX, MAX], 0.75)?, MAX / 2.0);
    assert_eq!(quantile(&[MAX, MAX.next_down()], 0.9)?, MAX);
    assert_eq!(quantile(&[TINY, 3.0 * TINY], 0.5)?, 2.0 * TINY);
    assert_eq!(quantile(&[0.0, TINY], 0.75)?, TINY);
    assert_eq!(
        quantile(&[-1.0, -1e-300], 1.0f64.next_down())?,
        -f64::EPSILON / 2.0
    );
    assert_eq!(
        Array::from(vec![f32::MAX, -f32::MAX, f32::INFINITY])
            .median()
            .force()?,
        f64::from(f32::MAX)
    );
    Ok(())
}

#[test]
fn quantile_of_nan_among_the_elements_is_nan() -> Result<()> {
    let nan = Array::from(vec![1.0, f64::NAN]);
    for share in [0.0, 0.5, 1.0] {
        assert!(nan.quantile(share).force()?.is_nan());
    }
    let rows = Segmented::from_vecs(vec![vec![2.0, f64::NAN, INF], vec![1.0]]);
    let medians = rows.median().force()?;
    assert!(medians[0].is_nan());
    assert_eq!(medians[1], 1.0);
    Ok(())
}

/// An `f64` has 53 bits, so larger integers are rounded.
#[test]
fn median_of_large_integers_is_that_of_the_nearest_floats() -> Result<()> {
    let large = (1u64 << 53) + 1;
    assert_eq!(Array::from(vec![large]).median().force()?, large as f64);
    assert_eq!(
        Array::from(vec![u64::MAX, u64::MAX - 1]).median().force()?,
        u64::MAX as f64
    );
    assert_eq!(Array::from(vec![i64::MIN, i64::MAX]).median().force()?, 0.0);
    Ok(())
}

#[test]
fn quantile_of_no_elements_or_no_share_is_an_error() {
    let kind = |error: Error| (error.combinator, error.kind);
    let empty = Array::from(Vec::<f64>::new());
    let error = empty.median().force().expect_err("no elements");
    assert_eq!(kind(error), ("median", livefusion::error::ErrorKind::Empty));
    let xs = Array::from(vec![3.0f64, 1.0]);
    for share in [1.5, -0.1, f64::NAN] {
        let error = xs.quantile(share).force().expect_err("no share");
        let text = format!("expected a share from 0 to 1, got {share}");
        assert!(error.to_string().ends_with(&text), "{error}");
    }
}

#[test]
fn quantiles_of_several_shares_are_those_of_each() -> Result<()> {
    let xs = Array::from(vec![3i32, 1, 2, 9, 4]).map(|x| x * 2);
    let shares = [1.0, 0.0, 0.5, 0.3, 0.3];
    let all = xs.quantiles(&Array::from(shares.to_vec()));
    for engine in engines() {
        let each = shares.map(|share| xs.quantile(share).force_with(&engine));
        let each: Vec<f64> = each.into_iter().collect::<Result<_>>()?;
        assert_eq!(all.force_with(&engine)?, each);
    }
    let none = Array::<f64>::from(vec![]);
    assert_eq!(none.quantiles(&none).force()?, [0.0; 0]);
    let error = none.quantiles(&Array::from(vec![0.5])).force().unwrap_err();
    assert_eq!(
        (error.combinator, error.kind),
        ("quantiles", ErrorKind::Empty)
    );
    let error = xs
        .quantiles(&Array::from(vec![0.5, 1.5]))
        .force()
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("expected a share from 0 to 1, got 1.5"),
        "{error}"
    );
    Ok(())
}
