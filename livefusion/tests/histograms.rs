//! Uniform bins: `linspace` and `histogram_uniform`.
//!
//! Ends are far apart, near, tiny, equal or infinite.

use crate::common::{engines, shape};
use livefusion::Result;
use livefusion::prelude::*;
use proptest::prelude::*;

/// The tests of a float type, and the unsigned integer type of its width.
macro_rules! of_floats {
    ($m:ident $t:ident $u:ident) => {
        mod $m {
            use super::*;

            /// Returns any finite float.
            ///
            /// It prefers the ends of the range and the smallest normal numbers.
            pub fn finite() -> impl Strategy<Value = $t> {
                let signed = |x: $t| prop_oneof![Just(x), Just(-x)];
                prop_oneof![
                    any::<$u>()
                        .prop_map($t::from_bits)
                        .prop_filter("finite", |x| x.is_finite()),
                    (-2000i16..2000).prop_map(|n| $t::from(n) / 64.0),
                    (0 as $u..2000)
                        .prop_map($t::from_bits)
                        .prop_flat_map(signed),
                    (0 as $u..4000)
                        .prop_map(|n| $t::from_bits($t::MIN_POSITIVE.to_bits() - 2000 + n))
                        .prop_flat_map(signed),
                    prop::sample::select(vec![0.0, 1.0, $t::MAX]).prop_flat_map(signed),
                ]
            }

            /// Returns two ordered ends.
            ///
            /// They are arbitrary, or a few floats apart.
            pub fn ends() -> impl Strategy<Value = ($t, $t)> {
                let apart = (0u32..20).prop_flat_map(|size| 0 as $u..=1 << size);
                let near = (finite(), apart).prop_map(|(x, n)| {
                    let end = $t::from_bits(x.to_bits().wrapping_add(n));
                    (x, if end.is_finite() { end } else { x })
                });
                prop_oneof![(finite(), finite()), near].prop_map(|(x, y)| (x.min(y), x.max(y)))
            }

            /// Counts by a binary search among ordered edges, as specified.
            pub fn counts(xs: &[$t], edges: &[$t]) -> Vec<u64> {
                let bins = edges.len() - 1;
                let mut counts = vec![0; bins];
                for x in xs.iter().filter(|x| edges[0] <= **x && **x <= edges[bins]) {
                    let upto = edges.partition_point(|edge| edge <= x);
                    counts[upto.min(bins) - 1] += 1;
                }
                counts
            }

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(60))]

                #[test]
                fn histogram_uniform_is_the_histogram_of_the_edges_of_linspace(
                    (low, high) in ends(),
                    n in prop_oneof![1usize..20, 1usize..=5000],
                    places in prop::collection::vec((any::<prop::sample::Index>(), -1i8..=1), 40),
                    others in prop::collection::vec(finite(), 10),
                ) {
                    let engine = Engine::interp();
                    let edges = linspace(low, high, n + 1);
                    let all = edges.force_with(&engine)?.to_vec()?;
                    let around = places.iter().map(|(at, step)| match (at.get(&all), step) {
                        (x, 1) => x.next_up(),
                        (x, -1) => x.next_down(),
                        (x, _) => *x,
                    });
                    let xs: Vec<$t> = around.chain(others).collect();
                    let array = Array::from(xs.clone());
                    let uniform = array.histogram_uniform(low, high, n);
                    let expected = counts(&xs, &all);
                    prop_assert_eq!(uniform.force_with(&engine)?.to_vec()?, expected.clone());
                    let by_edges = array.histogram(&edges);
                    prop_assert_eq!(by_edges.force_with(&engine)?.to_vec()?, expected);
                }

                #[test]
                fn linspace_between_finite_ends_is_finite_and_in_order(
                    (low, high) in ends(),
                    n in prop_oneof![2usize..20, 2usize..=5000],
                ) {
                    let engine = Engine::interp();
                    let up = linspace(low, high, n).force_with(&engine)?.to_vec()?;
                    prop_assert_eq!((up[0], up[n - 1]), (low, high));
                    prop_assert!(up.iter().all(|x| x.is_finite()) && up.is_sorted(), "{:?}", up);
                    let down = linspace(high, low, n).force_with(&engine)?.to_vec()?;
                    prop_assert_eq!((down[0], down[n - 1]), (high, low));
                    prop_assert!(down.iter().rev().is_sorted(), "{:?}", down);
                }
            }
        }
    };
}

of_floats!(double f64 u64);
of_floats!(single f32 u32);

#[test]
fn histogram_uniform_of_bins_narrower_than_floats_is_that_of_linspace() -> Result<()> {
    // Seconds of a day: `f32`s of this size are 128 apart.
    let (low, high) = (1.7e9f32, 1.7e9f32 + 86400.0);
    let seconds = iota(20_000).map(|i| i.cast::<f32>() * 4.5 + 1.7e9f32);
    for engine in engines() {
        let uniform = seconds.histogram_uniform(low, high, 5000);
        assert_eq!(shape(&[uniform.node()])?, (1, 1));
        let by_edges = seconds.histogram(&linspace(low, high, 5001));
        let uniform = uniform.force_with(&engine)?.to_vec()?;
        assert_eq!(uniform, by_edges.force_with(&engine)?.to_vec()?);
        assert!(uniform.iter().sum::<u64>() > 19_000);
    }
    Ok(())
}

#[test]
fn histogram_uniform_between_odd_bounds_follows_the_edges() -> Result<()> {
    let inf = f64::INFINITY;
    let all = vec![-inf, -1.0, -0.0, 0.0, 1.0, 1.0, 2.0, 3.0, inf, f64::NAN];
    for engine in engines() {
        let xs = Array::from(all.clone());
        let of = |low: f64, high: f64, n: usize| {
            // With delayed bounds, all bounds share one program.
            let ends = [low, high].map(Array::scalar);
            let uniform = xs.histogram_uniform(&ends[0], &ends[1], n);
            uniform.force_with(&engine)?.to_vec()
        };
        // All edges are one float: the last bin counts it.
        assert_eq!(of(1.0, 1.0, 3)?, [0, 0, 2]);
        assert_eq!(of(0.0, -0.0, 3)?, [0, 0, 2]);
        // No bin has a lower edge below its upper edge.
        assert_eq!(of(3.0, 1.0, 3)?, [0, 0, 0]);
        assert_eq!(of(1.0f64.next_up(), 1.0, 3)?, [0, 0, 0]);
        // All edges but the last are NaN.
        assert_eq!(of(0.0, inf, 3)?, [0, 0, 1]);
        assert_eq!(of(0.0, inf, 1)?, [0]);
        assert_eq!(of(-inf, 0.0, 3)?, [0, 0, 0]);
        assert_eq!(of(-inf, 0.0, 1)?, [0]);
        assert_eq!(of(f64::NAN, 1.0, 2)?, [0, 0]);
        assert_eq!(of(1.0, f64::NAN, 2)?, [0, 0]);
        assert_eq!(of(-1.7e308, 1.7e308, 2)?, [1, 6]);
        assert!(of(0.0, 3.0, 0)?.is_empty());
        for (low, high, n) in [
            (1.0, 1.0, 3),
            (0.0, inf, 3),
            (0.0, inf, 1),
            (-inf, 0.0, 1),
            (f64::NAN, 1.0, 2),
            (0.0, 3.0, 0),
        ] {
            let by_edges = xs.histogram(&linspace(low, high, n + 1));
            assert_eq!(of(low, high, n)?, by_edges.force_with(&engine)?.to_vec()?);
        }
    }
    assert_eq!(
        Array::from(vec![1.0])
            .histogram_uniform(1.0, 1.0, 3)
            .force()?,
        [0, 0, 1]
    );
    Ok(())
}

/// Bins are searched among edges if a computed bin could be off by more than one.
#[test]
fn histogram_uniform_of_bins_that_are_many_or_delayed_is_that_of_linspace() -> Result<()> {
    let xs: Array<f32> = (0..1000).map(|i| i as f32 * 0.001).collect();
    let many = 1usize << 21;
    let by_edges = xs.histogram(&linspace(0.0f32, 1.0, many + 1)).force()?;
    assert_eq!(
        xs.histogram_uniform(0.0, 1.0, many).force()?.to_vec()?,
        by_edges.to_vec()?
    );
    let n = xs.filter(|x| x.lt(0.01)).len();
    let by_edges = xs.histogram(&linspace(0.0f32, 1.0, 11)).force()?;
    let delayed = xs.histogram_uniform(0.0, 1.0, &n).force()?;
    assert_eq!(delayed.to_vec()?, by_edges.to_vec()?);
    Ok(())
}

#[test]
fn linspace_of_tiny_and_huge_spans_loses_no_number() -> Result<()> {
    let tiny = f64::from_bits(1);
    for engine in engines() {
        assert_eq!(
            linspace(0.0, tiny, 4).force_with(&engine)?,
            [0.0, 0.0, tiny, tiny]
        );
        assert_eq!(
            linspace(tiny, 17.0 * tiny, 11).force_with(&engine)?[9],
            15.0 * tiny
        );
        assert_eq!(linspace(-1.7e308, 1.7e308, 5).force_with(&engine)?[2], 0.0);
        let huge = linspace(f64::MAX, -f64::MAX, 3).force_with(&engine)?;
        assert_eq!(huge, [f64::MAX, 0.0, -f64::MAX]);
        let single = f32::from_bits(1);
        assert_eq!(
            linspace(0.0f32, single, 4).force_with(&engine)?,
            [0.0, 0.0, single, single]
        );
    }
    // More elements than an `f32` counts: none exceeds the end.
    let many = linspace(0.0f32, 1.0, 1 << 25).max().force()?;
    assert_eq!(many, 1.0);
    Ok(())
}
