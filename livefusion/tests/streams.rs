//! Combinators over streams of different rates: appends, merges, searches, runs of neighbours.
//!
//! Results are compared with plain Rust, over arrays in memory, computed arrays, and arrays of
//! computed length.

use livefusion::ast::Node;
use livefusion::prelude::*;
use livefusion::{Error, ErrorKind, Result};
use proptest::prelude::{ProptestConfig, TestCaseError, any, prop_assert_eq, proptest};
use std::sync::Arc;

/// Small numbers, so that neighbours are often equal.
fn numbers(seed: u64, n: usize) -> Vec<i64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = |_| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 40) as i64 % 5 - 1
    };
    (0..n).map(next).collect()
}

fn sorted(mut xs: Vec<i64>) -> Vec<i64> {
    xs.sort_unstable();
    xs
}

/// The same elements in memory, computed, and kept by a filter.
fn sources(xs: &[i64]) -> [Array<i64>; 3] {
    let less: Array<i64> = xs.iter().map(|x| x - 1).collect();
    let with_others: Array<(i64, bool)> =
        xs.iter().flat_map(|x| [(7, false), (*x, true)]).collect();
    let filtered = with_others.filter(|(_, keep)| keep).map(|(x, _)| x);
    [Array::from(xs), less.map(|x| x + 1), filtered]
}

const LENGTHS: [usize; 6] = [0, 1, 2, 3, 17, 300];

/// Tests every pair of sources of every two lengths on the interpreter, and one length on C.
fn pairs(test: impl Fn(&Engine, &[Array<i64>; 2], [&[i64]; 2]) -> Result<()>) -> Result<()> {
    let (interp, c) = (Engine::interp(), Engine::c());
    for (seed, n) in LENGTHS.into_iter().enumerate() {
        for m in LENGTHS {
            let (xs, ys) = (numbers(seed as u64, n), numbers(m as u64 + 10, m));
            let (xs, ys) = (sorted(xs), sorted(ys));
            for (a, b) in sources(&xs).iter().zip(sources(&ys).iter().rev()) {
                let arrays = [a.clone(), b.clone()];
                test(&interp, &arrays, [&xs, &ys])?;
                if (n, m) == (300, 17) {
                    // New arrays, without values that the interpreter computed.
                    let (xs, ys) = (Array::from(&xs).map(|x| x + 0), Array::from(&ys));
                    test(&c, &[xs, ys], [&arrays[0].to_vec()?, &arrays[1].to_vec()?])?;
                }
            }
        }
    }
    Ok(())
}

/// Tests every source of every length.
fn singles(test: impl Fn(&Engine, &Array<i64>, &[i64]) -> Result<()>) -> Result<()> {
    let (interp, c) = (Engine::interp(), Engine::c());
    for (seed, n) in LENGTHS.into_iter().enumerate() {
        let xs = numbers(seed as u64, n);
        for a in sources(&xs) {
            test(&interp, &a, &xs)?;
        }
        if n == 300 {
            test(&c, &sources(&xs)[2], &xs)?;
        }
    }
    Ok(())
}

fn loops(roots: &[Arc<Node>]) -> Result<usize> {
    Ok(Engine::interp().explain(roots)?.loops.len())
}

fn error<T: livefusion::Elt>(xs: &Array<T>) -> Error {
    xs.force_with(&Engine::interp()).expect_err("a mistake")
}

#[test]
fn append_and_concat__of_each_pair_of_sources__give_all_elements_in_order() -> Result<()> {
    pairs(|engine, [a, b], [xs, ys]| {
        let two = [xs, ys].concat();
        let (ab, n) = (&a.append(b).map(|x| x * 2), &a.append(b).len()).force_with(engine)?;
        assert_eq!(ab, two.iter().map(|x| x * 2).collect::<Vec<_>>());
        assert_eq!(n, two.len() as u64);
        let five = concat([a, b, a, &Array::from(vec![]), b]);
        assert_eq!(five.force_with(engine)?, [xs, ys, xs, ys].concat());
        Ok(())
    })?;
    assert_eq!(concat(Vec::<Array<(u8, f64)>>::new()).to_vec()?, []);
    assert_eq!(concat(&[iota(3)]).force()?, [0, 1, 2]);
    let many: Vec<Array<u64>> = (0..100).map(|n| iota(n % 7)).collect();
    let want: Vec<u64> = (0..100).flat_map(|n| 0..n % 7).collect();
    assert_eq!(concat(&many).force_with(&Engine::interp())?, want);
    Ok(())
}

#[test]
fn an_append_fuses_with_its_users() -> Result<()> {
    let (xs, ys) = (Array::from(numbers(1, 30)), Array::from(numbers(2, 20)));
    let both = xs.append(&ys);
    let third = Array::from(numbers(3, 50));
    let dot = both.zip_with(&third, |x, y| x * y).sum();
    let kept = both.filter(|x| x.gt(0));
    assert_eq!(loops(&[dot.node().clone(), kept.node().clone()])?, 1);
    let by_hand = [numbers(1, 30), numbers(2, 20)].concat();
    let want: i64 = by_hand.iter().zip(numbers(3, 50)).map(|(x, y)| x * y).sum();
    assert_eq!(dot.force()?, want);
    let error = error(&both.zip(&Array::from(numbers(3, 51))));
    assert_eq!(error.combinator, "zip");
    Ok(())
}

#[test]
fn stream_that_is_too_long_is_an_error() {
    let (most, one) = (Array::scalar(u64::MAX), iota(1).filter(|i| i.eq(0)));
    let half = iota(Array::scalar(1u64 << 63));
    let wholes = [
        iota(u64::MAX).append(&one),
        iota(&most).append(&iota(5)),
        half.interleave(&half),
    ];
    for whole in wholes {
        let kind = error(&whole).kind;
        let is_counted = kind
            .to_string()
            .contains("as many elements as a u64 counts");
        assert!(
            is_counted || matches!(kind, ErrorKind::Memory { .. }),
            "{kind}"
        );
    }
}

#[test]
fn interleave__of_each_pair_of_sources__alternates() -> Result<()> {
    pairs(|engine, [a, b], [xs, ys]| {
        let both = a.interleave(b);
        if xs.len() == ys.len() {
            let want: Vec<i64> = xs.iter().zip(ys).flat_map(|(x, y)| [*x, *y]).collect();
            assert_eq!(both.force_with(engine)?, want);
            return Ok(());
        }
        let error = both.force_with(engine).expect_err("lengths differ");
        let (expected, got) = (xs.len() as u64, ys.len() as u64);
        assert_eq!(error.combinator, "interleave");
        let ErrorKind::LengthMismatch {
            expected: least,
            got: found,
        } = error.kind
        else {
            panic!("{error}")
        };
        // The error gives a lower bound for the longer one.
        let shorter = expected.min(got);
        assert!((shorter..=expected).contains(&least) && (shorter..=got).contains(&found));
        assert!(least != found);
        Ok(())
    })?;
    let xs = Array::from(vec![(1u8, 0.5f64), (2, 1.5)]);
    let both = xs.interleave(&xs.reverse());
    assert_eq!(both.to_vec()?, [(1, 0.5), (2, 1.5), (2, 1.5), (1, 0.5)]);
    assert_eq!(loops(&[xs.interleave(&xs).node().clone()])?, 1);
    Ok(())
}

#[test]
fn combine__of_each_pair_of_sources__takes_by_flags() -> Result<()> {
    pairs(|engine, [a, b], [xs, ys]| {
        let tags = numbers(xs.len() as u64, xs.len() + ys.len());
        let mut flags: Vec<bool> = tags.iter().map(|t| *t > 0).collect();
        // As many as there are elements.
        let mut missing = xs.len() as i64 - flags.iter().filter(|f| **f).count() as i64;
        for f in &mut flags {
            if missing != 0 && *f == (missing < 0) {
                missing -= missing.signum();
                *f = !*f;
            }
        }
        let (mut left, mut right) = (xs.iter(), ys.iter());
        let next = |f: &bool| if *f { left.next() } else { right.next() };
        let want: Vec<i64> = flags.iter().filter_map(next).copied().collect();
        let flags: Array<i64> = flags.into_iter().map(i64::from).collect();
        for flags in [flags.clone(), flags.filter(|f| f.lt(2))] {
            let combined = flags.map(|f| f.eq(1)).combine(a, b);
            assert_eq!(combined.force_with(engine)?, want);
        }
        Ok(())
    })?;
    let xs = Array::from(numbers(4, 40));
    let flags = xs.map(|x| x.gt(1));
    let count = numbers(4, 40).iter().filter(|x| **x > 1).count();
    let (trues, falses) = (
        Array::from(numbers(5, count)),
        Array::from(numbers(6, 40 - count)),
    );
    let combined = flags.combine(&trues, &falses).map(|x| x * 2);
    assert_eq!(
        loops(&[combined.node().clone(), combined.sum().node().clone()])?,
        1
    );
    combined.force()?;
    Ok(())
}

#[test]
fn combine_checks_its_flags() {
    let flags = Array::from(vec![true, false, true]);
    for (n, m) in [(3, 0), (1, 2), (0, 3)] {
        let error = error(&flags.combine(&iota(n), &iota(m)));
        assert_eq!(error.combinator, "combine");
        let len = n.min(2).min(m);
        assert!(matches!(error.kind, ErrorKind::OutOfRange { index, .. } if index >= len.into()));
    }
    for (n, m) in [(2, 0), (2, 2), (0, 0)] {
        let error = error(&flags.combine(&iota(n), &iota(m)));
        let (expected, got) = (3, n + m);
        assert_eq!(error.combinator, "combine");
        assert_eq!(error.kind, ErrorKind::LengthMismatch { expected, got });
    }
    // An error on streams gives the elements consumed so far.
    let of = |n: u64| iota(n + 5).filter(move |i| i.lt(n));
    for (n, m, expected, got) in [
        (3, 0, 2, 1),
        (1, 2, 3, 2),
        (0, 3, 1, 0),
        (2, 0, 2, 1),
        (2, 2, 3, 4),
        (0, 0, 1, 0),
    ] {
        let error = error(&flags.combine(&of(n), &of(m)));
        assert_eq!(error.combinator, "combine");
        assert_eq!(error.kind, ErrorKind::LengthMismatch { expected, got });
    }
}

#[test]
fn merge__of_each_pair_of_sources__is_a_sort() -> Result<()> {
    pairs(|engine, [a, b], [xs, ys]| {
        let merged = a.merge(b, |x, y| x.le(y));
        let all = sorted([xs, ys].concat());
        assert_eq!((&merged, &merged.len()).force_with(engine)?.0, all);
        let downwards = a.reverse().merge(&b.reverse(), |x, y| x.ge(y));
        let all: Vec<i64> = all.into_iter().rev().collect();
        assert_eq!(downwards.force_with(engine)?, all);
        Ok(())
    })?;
    let (xs, ys) = (Array::from(numbers(4, 40)), Array::from(numbers(5, 4)));
    let merged = xs.merge(&ys, |x, y| x.le(y)).map(|x| x + 1);
    assert_eq!(
        loops(&[merged.node().clone(), merged.sum().node().clone()])?,
        1
    );
    Ok(())
}

#[test]
fn a_merge_asks_about_elements_only() -> Result<()> {
    // 0 / 0 would be an error; reads beyond an end would give zeros.
    let (xs, ys) = (Array::from(vec![2i64, 4]), Array::from(vec![1i64, 2, 8, 9]));
    let merged = xs.merge(&ys, |x, y| (x / y).le(x.max(y) / x.max(y)).and(x.le(y)));
    assert_eq!(merged.force()?, [1, 2, 2, 4, 8, 9]);
    let error = error(&xs.merge(&(&ys - 1), |x, y| (x / y).le(1)));
    assert_eq!(error.combinator, "merge");
    assert!(matches!(error.kind, ErrorKind::Division { .. }));
    Ok(())
}

#[test]
fn drop_while__of_each_source__leaves_the_rest_in_one_loop() -> Result<()> {
    singles(|engine, a, xs| {
        for limit in [-5, 0, 1, 2, 9] {
            let at = xs.iter().position(|x| *x >= limit).unwrap_or(xs.len());
            let rest = a.drop_while(|x| x.lt(limit));
            let (rest, sum) = (&rest, &rest.sum()).force_with(engine)?;
            assert_eq!(
                (rest.into_vec()?, sum),
                (xs[at..].to_vec(), xs[at..].iter().sum())
            );
        }
        Ok(())
    })?;
    let xs = Array::from(numbers(1, 30)).filter(|x| x.ne(2));
    let rest = xs.drop_while(|x| x.lt(1)).map(|x| x * 2);
    assert_eq!(loops(&[rest.node().clone(), rest.sum().node().clone()])?, 1);
    Ok(())
}

#[test]
fn find_and_position__of_each_source__give_the_first_match_or_an_error() -> Result<()> {
    singles(|engine, a, xs| {
        for limit in [-5, 0, 1, 2, 9] {
            let pairs = a.zip(&iota(a.len()));
            let (first, place) = (
                pairs.find(|(x, _)| x.ge(limit)),
                a.position(|x| x.ge(limit)),
            );
            match xs.iter().position(|x| *x >= limit) {
                Some(at) => {
                    let got = (&first, &place).force_with(engine)?;
                    assert_eq!(got, ((xs[at], at as u64), at as u64));
                }
                None => {
                    let error = first.force_with(engine).expect_err("there is none");
                    assert_eq!(
                        (error.combinator, error.kind),
                        ("find", ErrorKind::NotFound)
                    );
                    let error = place.force_with(engine).expect_err("there is none");
                    assert_eq!(
                        (error.combinator, error.kind),
                        ("position", ErrorKind::NotFound)
                    );
                }
            }
        }
        Ok(())
    })?;
    let xs = Array::from(numbers(1, 30));
    let (first, place) = (xs.find(|x| x.gt(1)), xs.position(|x| x.gt(1)));
    let roots = [
        first.node().clone(),
        place.node().clone(),
        xs.sum().node().clone(),
    ];
    assert_eq!(loops(&roots)?, 1);
    Ok(())
}

/// Runs of equal neighbours.
fn runs<T: Clone>(xs: &[T], same: impl Fn(&T, &T) -> bool) -> (Vec<T>, Vec<u64>) {
    let runs: Vec<&[T]> = xs.chunk_by(same).collect();
    let firsts = runs.iter().filter_map(|r| r.first().cloned());
    (
        firsts.collect(),
        runs.iter().map(|r| r.len() as u64).collect(),
    )
}

#[test]
fn unique_unique_by_group_and_group_by__of_each_source__give_runs_in_one_loop() -> Result<()> {
    singles(|engine, a, xs| {
        let (values, lengths) = a.group();
        let got = (&a.unique(), &values, &lengths).force_with(engine)?;
        let want = runs(xs, |x, y| x == y);
        assert_eq!(
            (got.0.to_vec()?, got.1.to_vec()?, got.2.to_vec()?),
            (want.0.clone(), want.0, want.1)
        );
        let (values, lengths) = a.group_by(|x, y| x.le(y));
        let want = runs(xs, |x, y| x <= y);
        let got = (&a.unique_by(|x, y| x.le(y)), &values, &lengths).force_with(engine)?;
        assert_eq!(
            (got.0.to_vec()?, got.1.to_vec()?, got.2.to_vec()?),
            (want.0.clone(), want.0, want.1)
        );
        Ok(())
    })?;
    let streamed = Array::from(numbers(1, 30)).filter(|x| x.ne(2));
    let unique = streamed.unique();
    let roots = [
        unique.node().clone(),
        unique.sum().node().clone(),
        unique.len().node().clone(),
    ];
    assert_eq!(loops(&roots)?, 1);
    let (values, lengths) = streamed.group();
    assert_eq!(loops(&[values.node().clone(), lengths.node().clone()])?, 1);
    Ok(())
}

#[test]
fn unique_unique_by_and_group__of_several_fields__compare_all() -> Result<()> {
    let xs: Vec<(bool, (u8, f32))> = vec![
        (true, (1, 0.0)),
        (true, (1, -0.0)),
        (true, (2, 0.0)),
        (false, (2, 0.0)),
        (false, (2, f32::NAN)),
        (false, (2, f32::NAN)),
        (false, (2, 1.0)),
        (false, (2, 1.0)),
    ];
    let (values, lengths) = Array::from(&xs).group();
    assert_eq!(lengths.force()?, [2, 1, 1, 1, 1, 2]);
    let want: Vec<_> = [0, 2, 3, 4, 5, 6].map(|at| format!("{:?}", xs[at])).into();
    let got: Vec<_> = values.to_vec()?.iter().map(|v| format!("{v:?}")).collect();
    assert_eq!(got, want);
    let nan = Array::from(vec![f64::NAN; 3]);
    assert_eq!(nan.unique().len().force()?, 3);
    // The test is not called for the first element, which has no predecessor.
    let xs = Array::from(vec![6i64, 3, 3]);
    assert_eq!(xs.unique_by(|a, b| (b % a).eq(0)).force()?, [6, 3]);
    Ok(())
}

#[test]
fn zip_shortest__of_each_pair_of_sources__ends_with_the_shorter() -> Result<()> {
    pairs(|engine, [a, b], [xs, ys]| {
        let want: Vec<(i64, i64)> = xs.iter().copied().zip(ys.iter().copied()).collect();
        assert_eq!(a.zip_shortest(b).force_with(engine)?, want);
        let three = zip_shortest((a, &iota(5), b)).map(|(x, i, y)| x + y + i.cast::<i64>());
        let want: Vec<i64> = (0..5).zip(&want).map(|(i, (x, y))| x + y + i).collect();
        assert_eq!(three.force_with(engine)?, want);
        Ok(())
    })?;
    let (xs, ys) = (Array::from(numbers(1, 30)), Array::from(numbers(2, 20)));
    let dot = xs.zip_shortest(&ys).map(|(x, y)| x * y).sum();
    assert_eq!(loops(&[dot.node().clone()])?, 1);
    Ok(())
}

#[test]
fn mistakes_of_inputs_come_first() {
    let bad = Array::from(vec![1i64, 2]).slice(1..5);
    let good = Array::from(vec![1i64, 2]);
    let order = |a: Exp<i64>, b: Exp<i64>| a.le(b);
    let flags = Array::from(vec![true; 4]);
    let all = [
        bad.append(&good),
        concat([&good, &bad]),
        good.interleave(&bad),
        flags.combine(&good, &bad),
        good.merge(&bad, order),
        bad.drop_while(|x| x.gt(0)),
        bad.unique(),
        bad.group().0,
        bad.group().1.map(|n| n.cast::<i64>()),
        bad.zip_shortest(&good).map(|(x, _)| x),
    ];
    for xs in all {
        assert_eq!(error(&xs).combinator, "slice");
    }
    for x in [
        bad.find(|x| x.gt(0)),
        bad.position(|x| x.gt(0)).map(|i| i.cast::<i64>()),
    ] {
        assert_eq!(x.force().expect_err("a mistake").combinator, "slice");
    }
}

/// Forces on the interpreter; an error fails the case.
fn value<F: Force>(wanted: F) -> std::result::Result<F::Out, TestCaseError> {
    let forced = wanted.force_with(&Engine::interp());
    forced.map_err(|e| TestCaseError::fail(e.to_string()))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn laws_of_append(xs: Vec<i16>, ys: Vec<i16>, zs: Vec<i16>) {
        let [a, b, c] = [&xs, &ys, &zs].map(Array::from);
        let (left, right) = (a.append(&b).append(&c), a.append(&b.append(&c)));
        let (left, right, flat, n) =
            value((&left, &right, &concat([&a, &b, &c]), &left.len()))?;
        prop_assert_eq!(n, (xs.len() + ys.len() + zs.len()) as u64);
        prop_assert_eq!(&left, &flat);
        prop_assert_eq!(&right, &flat);
        // Splitting an append gives its parts.
        let (front, back) = (a.append(&b).take(a.len()), a.append(&b).drop(a.len()));
        let (front, back) = value((&front, &back))?;
        prop_assert_eq!((&front[..], &back[..]), (&xs[..], &ys[..]));
    }

    #[test]
    fn merging_is_a_stable_sort(mut xs: Vec<(u8, bool)>, mut ys: Vec<(u8, bool)>) {
        xs.iter_mut().chain(&mut ys).for_each(|x| x.0 %= 8);
        xs.sort_by_key(|x| x.0);
        ys.sort_by_key(|y| y.0);
        let tagged = |of: &[(u8, bool)], tag: u8| -> Vec<(u8, bool, u8, u64)> {
            of.iter().zip(0..).map(|(x, i)| (x.0, x.1, tag, i)).collect()
        };
        let (xs, ys) = (tagged(&xs, 0), tagged(&ys, 1));
        let merged = Array::from(&xs).merge(&Array::from(&ys), |a, b| a.0.le(b.0));
        let mut all = [xs, ys].concat();
        all.sort_by_key(|x| x.0);
        prop_assert_eq!(value(&merged)?, all);
    }

    #[test]
    fn combine_undoes_partition(xs: Vec<i16>, by in any::<i16>()) {
        let array = Array::from(&xs);
        let (less, others) = array.partition(|x| x.lt(by));
        let again = array.map(|x| x.lt(by)).combine(&less, &others);
        prop_assert_eq!(value(&again)?, xs);
    }

    #[test]
    fn unique_and_group__of_any_elements__undo_repeats(xs: Vec<bool>) {
        let array = Array::from(&xs);
        let once = array.unique();
        let (values, lengths) = array.group();
        let (once, twice, values, lengths, total) =
            value((&once, &once.unique(), &values, &lengths, &lengths.sum()))?;
        prop_assert_eq!(total, xs.len() as u64);
        prop_assert_eq!(&twice, &once);
        prop_assert_eq!(&values, &once);
        let runs = values.into_iter().zip(lengths);
        let again: Vec<bool> = runs.flat_map(|(v, n)| vec![v; n as usize]).collect();
        prop_assert_eq!(again, xs);
    }

    #[test]
    fn drop_while_find_and_position__of_any_elements__agree(xs: Vec<i16>, by in any::<i16>()) {
        let array = Array::from(&xs);
        let rest = array.drop_while(|x| x.lt(by));
        let (n, rest) = value((&array.len(), &rest))?;
        match value(&array.position(|x| x.ge(by))) {
            Ok(at) => {
                prop_assert_eq!(at, n - rest.len() as u64);
                prop_assert_eq!(Some(value(&array.find(|x| x.ge(by)))?), rest.row(0));
            }
            Err(_) => prop_assert_eq!(rest.len(), 0),
        }
    }
}

#[test]
fn packs_that_are_combined_again_are_never_made() -> Result<()> {
    for engine in [Engine::interp(), Engine::c()] {
        let xs = Array::from(vec![3i64, -4, 5, -6]);
        let flags = xs.map(|x| x.gt(0));
        let large = xs.pack(&flags).map(|x| x * 10).map(|x| x + 1);
        let small = xs.pack(&!&flags).map(|x| -x);
        let both = flags.combine(&large, &small);
        let e = engine.explain(&[both.node().clone()])?;
        assert_eq!((e.loops.len(), e.loops[0].arrays_written), (1, 1), "{e}");
        assert_eq!(both.force_with(&engine)?, [31, 4, 51, 6]);
        // Trapping code is not moved: an error names its combinator.
        let ratios = xs.pack(&flags).map(|x| 15 / (x - 3));
        let error = flags.combine(&ratios, &small).force_with(&engine);
        assert_eq!(
            error.map(|_| ()).expect_err("divides by zero").combinator,
            "map"
        );
    }
    Ok(())
}
