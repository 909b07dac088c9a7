//! Small combinators: histograms, differences, grids, running folds, windows, chunks.

use crate::common::{engines, shape};
use livefusion::Result;
use livefusion::prelude::*;
use proptest::prelude::*;

/// NumPy's rule, by a plain loop over the edges.
fn histogram(xs: &[f64], edges: &[f64]) -> Vec<u64> {
    let mut counts = vec![0; edges.len().saturating_sub(1)];
    for x in xs {
        let inside = |k: usize| edges[k] <= *x && (*x < edges[k + 1]);
        let last = counts.len().wrapping_sub(1);
        let at_last = |k: usize| k == last && *x == edges[k + 1];
        if let Some(k) = (0..counts.len()).find(|k| inside(*k) || at_last(*k)) {
            counts[k] += 1;
        }
    }
    counts
}

fn odd_numbers() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -3.0f64..13.0,
        2 => (-3i32..13).prop_map(f64::from),
        1 => prop::sample::select(vec![f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, 1e300]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn histogram_and_histogram_uniform__of_odd_numbers__are_those_of_numpy(
        xs in prop::collection::vec(odd_numbers(), 0..40),
        mut edges in prop::collection::vec((-2i32..12).prop_map(f64::from), 0..6),
        n in 1usize..9,
    ) {
        for engine in engines() {
            edges.sort_by(f64::total_cmp);
            edges.dedup();
            let array = Array::from(xs.clone());
            let by_edges = array.histogram(&Array::from(edges.clone()));
            let uniform = array.histogram_uniform(-0.3, 10.1, n);
            // The intended edges, bit by bit.
            let step = (10.1 - -0.3) / n as f64;
            let mut even: Vec<f64> = (0..n).map(|k| -0.3 + k as f64 * step).collect();
            even.push(10.1);
            prop_assert_eq!(linspace(-0.3, 10.1, n + 1).to_vec()?, even.clone());
            prop_assert_eq!(by_edges.force_with(&engine)?.to_vec()?, histogram(&xs, &edges));
            prop_assert_eq!(uniform.force_with(&engine)?.to_vec()?, histogram(&xs, &even));
            // The histogram of the edges themselves.
            let at = Array::from(even.clone()).histogram_uniform(-0.3, 10.1, n);
            prop_assert_eq!(at.force_with(&engine)?.to_vec()?, histogram(&even, &even));
        }
    }

    #[test]
    fn diff_chunks_sliding_windows_and_scan_with_start__of_any_elements__are_plain_loops(
        xs in prop::collection::vec(-9i64..9, 0..20),
        (width, stride, length) in (0usize..5, 1usize..4, 1usize..6),
    ) {
        for engine in engines() {
            let array = Array::from(xs.clone());
            let diff: Vec<i64> = xs.windows(2).map(|w| w[1] - w[0]).collect();
            let even: Vec<i64> = xs.iter().copied().filter(|x| x % 2 == 0).collect();
            let of_even: Vec<i64> = even.windows(2).map(|w| w[1] - w[0]).collect();
            let evens = array.filter(|x| (x % 2).eq(0));
            let cut: Vec<Vec<i64>> = xs.chunks(length).map(<[i64]>::to_vec).collect();
            let places = (0..xs.len()).step_by(stride).filter(|k| k + width <= xs.len());
            let mut sums: Vec<i64> = places.map(|k| xs[k..k + width].iter().sum()).collect();
            if width == 0 && xs.len() % stride == 0 {
                // The window after the last element has no value.
                sums.push(0);
            }
            let mut state = 5;
            let mut scan = vec![5];
            scan.extend(xs.iter().map(|x| { state += x; state }));
            let (delayed_width, delayed_length) = (Array::scalar(width as u64), Array::scalar(length as u64));
            let (diff_of, even_diff) = (array.diff(), evens.diff());
            let with_start = array.scan_with_start(5, |a, b| a + b);
            let totals: Vec<i64> = cut.iter().map(|c| c.iter().sum()).collect();
            prop_assert_eq!(diff_of.force_with(&engine)?.to_vec()?, diff.clone());
            prop_assert_eq!(even_diff.force_with(&engine)?.to_vec()?, of_even.clone());
            prop_assert_eq!(with_start.force_with(&engine)?.to_vec()?, scan.clone());
            for chunks in [array.chunks(length), array.chunks(&delayed_length)] {
                prop_assert_eq!(chunks.sum().force_with(&engine)?.to_vec()?, totals.clone());
            }
            for windows in [array.sliding_windows(width, stride), array.sliding_windows(&delayed_width, stride)] {
                prop_assert_eq!(windows.along(1).sum().force_with(&engine)?.to_vec()?, sums.clone());
            }
            prop_assert_eq!(array.chunks(length).to_vecs()?, cut);
            let products: Vec<i64> = xs.iter().scan(1i64, |p, x| { *p = p.wrapping_mul(*x); Some(*p) }).collect();
            prop_assert_eq!(array.cumprod().to_vec()?, products);
            let most: Vec<i64> = xs.iter().scan(i64::MIN, |m, x| { *m = *x.max(m); Some(*m) }).collect();
            prop_assert_eq!(array.cummax().to_vec()?, most);
            let least: Vec<i64> = xs.iter().scan(i64::MAX, |m, x| { *m = *x.min(m); Some(*m) }).collect();
            prop_assert_eq!(array.cummin().to_vec()?, least);
        }
    }

    #[test]
    fn take_reverse_gather_and_from_flags__of_any_segments__are_plain_loops(
        rows in prop::collection::vec((prop::collection::vec(-9i64..9, 0..6), prop::collection::vec(any::<u32>(), 0..5)), 0..6),
        n in 0usize..5,
    ) {
        let (xs, at): (Vec<Vec<i64>>, Vec<Vec<u32>>) = rows.into_iter().unzip();
        let within = |(x, at): (&Vec<i64>, &Vec<u32>)| -> Vec<u32> {
            at.iter().filter_map(|i| i.checked_rem(x.len() as u32)).collect()
        };
        let at: Vec<Vec<u32>> = xs.iter().zip(&at).map(within).collect();
        let segments = Segmented::from_vecs(xs.clone());
        let taken: Vec<Vec<i64>> = xs.iter().map(|x| x.iter().copied().take(n).collect()).collect();
        prop_assert_eq!(segments.take(n).to_vecs()?, taken);
        let reversed: Vec<Vec<i64>> = xs.iter().map(|x| x.iter().rev().copied().collect()).collect();
        prop_assert_eq!(segments.reverse().to_vecs()?, reversed);
        let read = |(x, at): (&Vec<i64>, &Vec<u32>)| -> Vec<i64> { at.iter().map(|i| x[*i as usize]).collect() };
        let read: Vec<Vec<i64>> = xs.iter().zip(&at).map(read).collect();
        prop_assert_eq!(segments.gather(&Segmented::from_vecs(at.clone())).to_vecs()?, read);
        // Flags at the starts of non-empty segments.
        let rows: Vec<Vec<i64>> = xs.into_iter().filter(|x| !x.is_empty()).collect();
        let flags: Vec<bool> = rows.iter().flat_map(|x| (0..x.len()).map(|i| i == 0)).collect();
        let cut = Segmented::from_flags(&Array::from(flags), &Array::from(rows.concat()));
        prop_assert_eq!(cut.to_vecs()?, rows);
    }

    #[test]
    fn is_close_agrees_with_plain_rust(xs in prop::collection::vec((odd_numbers(), odd_numbers()), 1..30), equal_nan: bool) {
        for engine in engines() {
            let close = |(x, y): &(f64, f64)| {
                let near = (x - y).abs() <= 0.25 + 0.1 * y.abs() && y.is_finite();
                near || x == y || equal_nan && x.is_nan() && y.is_nan()
            };
            let expected: Vec<bool> = xs.iter().map(close).collect();
            let array = Array::from(xs.clone());
            let got = array.map(|(x, y)| x.isclose(y, 0.1, 0.25, equal_nan));
            prop_assert_eq!(got.force_with(&engine)?.to_vec()?, expected.clone());
        }
    }
}

#[test]
fn histogram_and_bincount__of_computed_elements__are_in_their_loop() -> Result<()> {
    for engine in engines() {
        let xs: Array<f64> = (0..100).map(|k| f64::from(k) * 0.1).collect();
        let (low, high) = (xs.min(), xs.max());
        let squares = xs.filter(|x| x.gt(1.0)).map(|x| x * x);
        let even = squares.histogram_uniform(0.0, 100.0, 10);
        assert_eq!(shape(&[even.node()])?, (1, 1));
        let edges = Array::from(vec![0.0, 1.0, 10.0, 50.0]);
        let by_edges = squares.histogram(&edges);
        assert_eq!(shape(&[by_edges.node()])?, (1, 1));
        let counts = iota(50).map(|i| i % 7).bincount(7);
        assert_eq!(shape(&[counts.node()])?, (1, 1));
        // From the smallest to the largest: both are known when the second loop begins.
        let all = xs.histogram_uniform(&low, &high, 4);
        assert_eq!(shape(&[all.node()])?, (2, 1));
        let bytes = xs.map(|x| x.cast::<u8>());
        assert_eq!(counts.force_with(&engine)?, [8, 7, 7, 7, 7, 7, 7]);
        assert_eq!(all.force_with(&engine)?, [25, 25, 25, 25]);
        let total = even.sum().force_with(&engine)?;
        assert_eq!((total, even.force_with(&engine)?[9]), (89, 5));
        assert!(bytes.bincount(3).force_with(&engine).is_err());
    }
    Ok(())
}

#[test]
fn meshgrid_diff_and_sliding_windows__in_folds__are_in_no_memory() -> Result<()> {
    for engine in engines() {
        let xs: Array<f64> = (0..40).map(f64::from).collect();
        let (x, y) = linspace(0.0, 1.0, 5).meshgrid(&xs);
        let far = x.zip_with(&y, |x, y| x * y).sum();
        assert_eq!(shape(&[far.node()])?, (1, 0));
        let smooth = xs.diff().map(|d| d * d).sum();
        assert_eq!(shape(&[smooth.node()])?, (1, 0));
        let even = xs.filter(|x| (x % 2.0).eq(0.0)).diff().sum();
        assert_eq!(shape(&[even.node()])?, (1, 0));
        let totals = xs.chunks(7).sum();
        assert_eq!(shape(&[totals.node()])?, (1, 1));
        let means = xs.sliding_windows(4, 2).along(1).mean();
        assert_eq!(shape(&[means.node()])?, (1, 1));
        let offsets = xs.scan_with_start(0.0, |a, b| a + b).map(|x| x + 1.0);
        assert_eq!(shape(&[offsets.node()])?, (1, 1));
        let all: (f64, f64, f64) = (&far, &smooth, &even).force_with(&engine)?;
        assert_eq!(all, (2.5 * 780.0, 39.0, 38.0));
        assert_eq!(
            totals.force_with(&engine)?[5],
            35.0 + 36.0 + 37.0 + 38.0 + 39.0
        );
        assert_eq!(means.force_with(&engine)?[18], 37.5);
        assert_eq!(offsets.force_with(&engine)?.len(), 41);
        assert_eq!(linspace(2.0f32, 5.0, 1).force()?, [2.0]);
        assert_eq!(linspace(2.0f32, 5.0, 0).force()?.len(), 0);
        assert_eq!(linspace(0.0, 0.7, 8).force()?[7], 0.7);
    }
    Ok(())
}

#[test]
fn chunks_sliding_windows_bincount_and_from_flags__with_mistakes__are_errors() {
    let xs = Array::from(vec![1i64, 2, 3]);
    let rows = Segmented::from_vecs(vec![vec![1i64], vec![2, 3]]);
    let zero = Array::scalar(0u64);
    let said = |error: livefusion::Error| error.to_string();
    assert!(said(xs.chunks(0).sum().force().unwrap_err()).contains("chunks of 1 element or more"));
    assert!(said(xs.sliding_windows(2, 0).force().unwrap_err()).contains("a stride of 1 or more"));
    assert!(said(linspace(0.0, 1.0, -1).force().unwrap_err()).starts_with("`linspace`"));
    assert!(
        said(
            xs.flat_map(|_| 1u64, |x, _| x)
                .bincount(-2)
                .force()
                .unwrap_err()
        )
        .contains("0 or more")
    );
    let flags = Array::from(vec![true]);
    for engine in engines() {
        assert!(xs.chunks(&zero).sum().force_with(&engine).is_err());
        assert!(xs.sliding_windows(2, &zero).force_with(&engine).is_err());
        let at = |i: i32| Segmented::from_vecs(vec![vec![0], vec![i]]);
        assert!(rows.gather(&at(1)).data().force_with(&engine).is_ok());
        for i in [2, -1, i32::MIN] {
            assert!(rows.gather(&at(i)).data().force_with(&engine).is_err());
        }
        let few = Segmented::from_vecs(vec![vec![0u8]]);
        assert!(rows.gather(&few).data().force_with(&engine).is_err());
        assert!(
            Segmented::from_flags(&flags, &xs)
                .sum()
                .force_with(&engine)
                .is_err()
        );
    }
}
