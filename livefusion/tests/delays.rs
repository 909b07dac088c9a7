//! Shifts and windows of streams: earlier elements, carried by the loop that makes them.

mod segments;

use livefusion::ast::Node;
use livefusion::prelude::*;
use livefusion::{Boundary, Result};
use std::sync::Arc;

fn numbers(n: usize) -> Vec<i64> {
    (0..n as i64).map(|i| (i * i + 3) % 11 - 4).collect()
}

/// The same elements as streams: running sums, kept elements, and running sums of those.
fn streams(xs: &[i64]) -> [(&'static str, Array<i64>, Vec<i64>); 3] {
    let running = |xs: &[i64]| -> Vec<i64> {
        let sums = xs.iter().scan(2, |sum, x| {
            *sum += x;
            Some(*sum)
        });
        sums.collect()
    };
    let all = Array::from(xs);
    let kept: Vec<i64> = xs.iter().copied().filter(|x| *x > 0).collect();
    let scan = |xs: &Array<i64>| xs.scan(2, |a, b| a + b);
    let filter = all.filter(|x| x.gt(0));
    [
        ("scan", scan(&all), running(xs)),
        ("scan of a filter", scan(&filter), running(&kept)),
        ("filter", filter, kept),
    ]
}

/// The loops of a program, and the arrays that they write.
fn cost(root: &Arc<Node>) -> (usize, usize) {
    let explained = Engine::interp().explain(std::slice::from_ref(root));
    let loops = explained.expect("it can be planned").loops;
    (loops.len(), loops.iter().map(|l| l.arrays_written).sum())
}

/// The elements `by` places before, or `fill`.
fn shifted(xs: &[i64], by: i64, fill: i64) -> Vec<i64> {
    let at = |i: i64| usize::try_from(i).ok().and_then(|i| xs.get(i)).copied();
    (0..xs.len() as i64)
        .map(|i| at(i - by).unwrap_or(fill))
        .collect()
}

/// Compares programs of streams of few elements on every engine.
fn all_have(
    what: &str,
    lengths: &[usize],
    program: impl Fn(&Array<i64>) -> Array<i64>,
    expected: impl Fn(&[i64]) -> Vec<i64>,
) -> Result<()> {
    let [interp, jit, c] = [Engine::interp(), Engine::jit(), Engine::c()];
    for n in lengths {
        for (name, xs, elements) in streams(&numbers(*n)) {
            let want = expected(&elements);
            for engine in [&interp, &jit, &c] {
                let got = program(&xs).force_with(engine)?;
                let backend = engine.backend_name();
                assert_eq!(got, want, "{what} of a {name} of {n} on {backend}");
            }
        }
    }
    Ok(())
}

#[test]
fn shift__of_a_stream__is_that_of_its_elements() -> Result<()> {
    for by in [-9, -3, -1, 0, 1, 2, 7, 8, 9, 30] {
        let what = format!("shift by {by}");
        let beside = |xs: &Array<i64>| xs.shift(by, 5).zip_with(xs, |a, b| a * 100 + b);
        all_have(&what, &[0, 1, 2, 9, 24], beside, |xs| {
            let pairs = shifted(xs, by, 5).into_iter().zip(xs);
            pairs.map(|(a, b)| a * 100 + b).collect()
        })?;
    }
    Ok(())
}

#[test]
fn shift__of_a_stream__shares_its_loop() {
    for (name, xs, _) in streams(&numbers(24)) {
        for by in 1..=8 {
            let beside = xs.shift(by, 5).zip_with(&xs, |a, b| a - b);
            assert_eq!(cost(beside.node()), (1, 1), "{by} places of a {name}");
            assert_eq!(cost(beside.sum().node()), (1, 0), "{by} places of a {name}");
        }
        let far = xs.shift(9, 5).zip_with(&xs, |a, b| a - b);
        assert_eq!(cost(far.sum().node()).0, 2, "9 places of a {name}");
    }
    // Memory and cheap index functions are read at the other index.
    let xs = Array::from(numbers(24)).map(|x| x + 1);
    let beside = xs.shift(1, 0).zip_with(&xs, |a, b| a - b).sum();
    assert_eq!(cost(beside.node()), (1, 0));
}

/// A quotient that fails if the sum is zero.
struct Quotient<'a>(&'a Array<i64, Ix0>);

impl ToExp<i64> for Quotient<'_> {
    fn to_exp(self) -> Exp<i64> {
        Exp::lit(8) / self.0
    }
}

/// The first element of an empty array is never needed.
#[test]
fn shift__by_a_failing_element__fails_only_if_it_is_needed() -> Result<()> {
    let zero = Array::from(vec![0i64, 0]).sum();
    let shifted = |n: usize| {
        let running = Array::from(numbers(n)).scan(0, |a, b| a + b);
        running.shift(1, Quotient(&zero))
    };
    for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
        assert_eq!(shifted(0).force_with(&engine)?, []);
        assert!(shifted(3).force_with(&engine).is_err());
    }
    Ok(())
}

#[test]
fn windows__of_a_stream__are_those_of_its_elements() -> Result<()> {
    let boundaries = [
        Boundary::Clamp,
        Boundary::Wrap,
        Boundary::Mirror,
        Boundary::Constant(7),
    ];
    for boundary in boundaries {
        let two = |xs: &Array<i64>| xs.windows(boundary, |[a, b]| a * 100 + b);
        let three = |xs: &Array<i64>| xs.windows(boundary, |[a, b, c]| a * 100 + b * 10 - c);
        let five = |xs: &Array<i64>| {
            let windows = xs.windows(boundary, |[a, b, c, d, e]| a * 7 + b * 5 - c * 3 + d - e);
            windows.zip_with(xs, |w, x| w * 10 + x)
        };
        // The same windows of memory.
        let plain = |xs: &[i64], program: &dyn Fn(&Array<i64>) -> Array<i64>| {
            let all = program(&Array::from(xs)).force_with(&Engine::interp());
            all.map(|xs| xs[..].to_vec()).unwrap_or_default()
        };
        let what = format!("windows, {boundary:?},");
        all_have(&what, &[0, 1, 2, 9, 24], two, |xs| plain(xs, &two))?;
        all_have(&what, &[0, 1, 2, 9, 24], three, |xs| plain(xs, &three))?;
        all_have(&what, &[0, 1, 2, 3, 9, 24], five, |xs| plain(xs, &five))?;
    }
    Ok(())
}

#[test]
fn windows__of_an_element_and_its_predecessor__share_the_loop_of_a_stream() {
    for (name, xs, _) in streams(&numbers(24)) {
        for boundary in [Boundary::Clamp, Boundary::Constant(7)] {
            let steps = xs
                .windows(boundary, |[a, b]| b - a)
                .zip_with(&xs, |d, x| d * x);
            assert_eq!(cost(steps.sum().node()), (1, 0), "{boundary:?} of a {name}");
        }
    }
}

/// Neighbours behind an element: the loop runs late.
#[test]
fn reads_ahead__of_a_scan__share_its_loop() -> Result<()> {
    let all = Array::from(numbers(24));
    let sums = || all.scan(2, |a, b| a + b);
    for by in 1..=2 {
        let beside = sums().shift(-by, 5).zip_with(&sums(), |a, b| a - b);
        assert_eq!(cost(beside.node()), (1, 1), "{by} places");
        assert_eq!(cost(beside.sum().node()), (1, 0), "{by} places");
    }
    let far = sums().shift(-3, 5).zip_with(&sums(), |a, b| a - b);
    assert_eq!(cost(far.sum().node()), (2, 1));
    for boundary in [Boundary::Clamp, Boundary::Constant(7)] {
        let three = sums().windows(boundary, |[a, b, c]| a * 100 + b * 10 - c);
        assert_eq!(cost(three.node()), (1, 1), "{boundary:?}");
        // Beside the scan, memory, and other scans of equal length.
        let most = all.scan(0, |a, b| a.max(b));
        let beside = three.zip_with(&sums(), |w, x| w * x) * &all + most.shift(-1, 3);
        assert_eq!(cost(beside.sum().node()), (1, 0), "{boundary:?}");
        let running = beside.scan(0, |a, b| a + b).filter(|x| x.gt(9));
        assert_eq!(cost(running.max().node()), (1, 0), "{boundary:?}");
    }
    // Several distances are one, the largest.
    let both = (&sums().shift(-1, 0), &sums().shift(-2, 1), &sums());
    let both = both.zip_with(|a, b, c| a * 2 + b - c);
    assert_eq!(cost(both.sum().node()), (1, 0));
    Ok(())
}

/// Late arrays are as long as their stream, also where others meet them.
#[test]
fn late_arrays__have_the_values_of_arrays_in_memory() -> Result<()> {
    let program = |xs: &Array<i64>| {
        let late = xs.shift(-2, 1) + xs.windows(Boundary::Clamp, |[a, b, c]| a + b * c);
        let far = late.zip_with(&xs.shift(-1, 4), |a, b| a * 2 - b);
        let steps = far.windows(Boundary::Constant(2), |[a, b]| a * 3 - b);
        let places = steps.enumerate().map(|(i, x)| x * 10 + i.cast::<i64>());
        let tags = places.map(|x| (x % 3).ne(0));
        let kept = places.pack(&tags);
        let ends = late.reverse() * late.len().map(|n| n.cast::<i64>());
        concat([&kept, &ends, &places.drop(1), &late.take(3), &late.diff()])
    };
    let [interp, jit, c] = [Engine::interp(), Engine::jit(), Engine::c()];
    for n in [0, 1, 2, 5, 6, 9, 24] {
        for (name, xs, elements) in streams(&numbers(n)) {
            let want = program(&Array::from(&elements)).force_with(&interp)?;
            for engine in [&interp, &jit, &c] {
                let got = program(&xs).force_with(engine)?;
                let backend = engine.backend_name();
                assert_eq!(got, want[..], "a {name} of {n} on {backend}");
            }
        }
    }
    Ok(())
}

/// An array of another length is an error, with its place.
#[test]
fn reads_ahead__beside_another_length__fail() {
    let sums = Array::from(numbers(9)).scan(0, |a, b| a + b);
    for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
        for n in [8, 10] {
            let other = Array::from(numbers(n));
            let known = sums.shift(-1, 0).zip_with(&other, |a, b| a - b);
            assert!(known.force_with(&engine).is_err());
            let kept = other.filter(|x| x.gt(-9));
            let windows = sums.windows(Boundary::Clamp, |[a, b, c]| a + b - c);
            assert!(
                windows
                    .zip_with(&kept, |a, b| a - b)
                    .force_with(&engine)
                    .is_err()
            );
            assert!(
                windows
                    .zip_with(&kept.shift(1, 0), |a, b| a - b)
                    .force_with(&engine)
                    .is_err()
            );
        }
    }
}

/// The differences between neighbours, by two parts of a stream.
fn steps(xs: &Array<i64>) -> Array<i64> {
    xs.drop(1)
        .zip_with(&xs.take(&xs.len() - 1), |a, b| a * 100 + b)
}

#[test]
fn drop__beside_take_of_a_stream__is_that_of_its_elements() -> Result<()> {
    all_have("steps", &[0, 1, 2, 9, 24], steps, |xs| {
        xs.windows(2).map(|w| w[1] * 100 + w[0]).collect()
    })?;
    // Three parts, of which two are equal.
    let thrice = |xs: &Array<i64>| {
        let parts = zip((&xs.drop(1), &xs.take(&xs.len() - 1), &xs.drop(1)));
        parts.map(|(a, b, c)| a * 100 + b - c)
    };
    all_have("parts", &[0, 1, 2, 9, 24], thrice, |xs| {
        xs.windows(2).map(|w| w[1] * 99 + w[0]).collect()
    })?;
    Ok(())
}

#[test]
fn drop__beside_take_of_a_stream__shares_its_loop() {
    for (name, xs, _) in streams(&numbers(24)) {
        assert_eq!(cost(steps(&xs).node()), (1, 1), "{name}");
        assert_eq!(cost(steps(&xs).sum().node()), (1, 0), "{name}");
    }
    // Parts of two streams of one length have one rate.
    let xs = Array::from(numbers(24)).filter(|x| x.gt(0));
    let (sums, most) = (xs.scan(0, |a, b| a + b), xs.scan(0, |a, b| a.max(b)));
    let areas = steps(&sums) * steps(&most);
    assert_eq!(cost(areas.sum().node()), (1, 0));
    // Lengths that are numbers, and further uses of a part.
    let sums = Array::from(numbers(24)).scan(0, |a, b| a + b);
    let known = || sums.drop(1) - sums.take(23);
    assert_eq!(cost(known().sum().node()), (1, 0));
    let again = known() * sums.drop(1).map(|x| x * 2) * Array::from(numbers(23));
    assert_eq!(cost(again.sum().node()), (1, 0));
    // Slices, and parts of parts.
    let second = || sums.slice(..22) - sums.slice(1..23) * 2 + sums.slice(2..);
    assert_eq!(cost(second().sum().node()), (1, 0));
    let parts = sums.take(22) - sums.drop(1).take(22) * 2 + sums.drop(2);
    assert_eq!(cost((&parts - second()).sum().node()), (1, 0));
    let elements: Vec<i64> = streams(&numbers(24))[0].2.clone();
    let elements = Array::from(elements).map(|x| x - 2);
    let want = elements.windows(Boundary::Wrap, |[a, b, c]| a - b * 2 + c);
    let want = want
        .slice(1..23)
        .force_with(&Engine::interp())
        .expect("windows");
    for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
        assert_eq!(second().force_with(&engine).expect("slices"), want[..]);
        assert_eq!(parts.force_with(&engine).expect("parts"), want[..]);
    }
    // Beside memory, a part is late alone.
    let beside = sums.drop(2) * Array::from(numbers(24)).drop(2);
    assert_eq!(cost(beside.sum().node()), (1, 0));
    // An array of another loop is in memory, as it was.
    let other = Array::from(numbers(23))
        .filter(|x| x.gt(-9))
        .scan(0, |a, b| a + b);
    assert_eq!(cost((sums.drop(1) - other).sum().node()), (2, 1));
    // The length of the array that was scanned.
    let kept = Array::from(numbers(24)).filter(|x| x.gt(0));
    let sums = kept.scan(0, |a, b| a + b);
    let differences = sums.drop(1) - sums.take(kept.len() - 1);
    assert_eq!(cost(differences.sum().node()), (1, 0));
    let segments = Segmented::from_vecs(vec![vec![3i64, -1, 4], vec![], vec![1]]);
    let in_segments = || {
        segments.map_segments(|row| {
            let running = row.scan(0, |a, b| a + b);
            (running.drop(1) - running.take(running.len() - 1)).sum()
        })
    };
    assert_eq!(cost(in_segments().node()), (1, 1));
    for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
        assert_eq!(in_segments().force_with(&engine).expect("sums"), [3, 0, 0]);
    }
}

/// Parts of other lengths stay as they are, with their error.
#[test]
fn drop__beside_take_of_another_length__fails_as_before() {
    for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
        let kept = Array::from(vec![1i64, -2, -3]).filter(|x| x.gt(0));
        // The length wraps around: one element beside none.
        let far = kept
            .drop(2)
            .zip_with(&kept.take(&kept.len() - 2), |a, b| a - b);
        assert!(far.force_with(&engine).is_err());
        let sums = Array::from(numbers(9)).scan(0, |a, b| a + b);
        let short = sums.drop(1).zip_with(&sums.take(7), |a, b| a - b);
        assert!(short.force_with(&engine).is_err());
    }
}

/// Chunks join the carried elements.
#[test]
fn delays__of_many_elements__have_the_same_bits_on_all_threads() -> Result<()> {
    let xs: Vec<f64> = (0..50_000).map(|i| f64::from(i % 997) * 0.1).collect();
    let xs = Array::from(&xs);
    let program = || {
        let running = xs.scan(0.0, |a, b| a * 0.5 + b).filter(|x| x.gt(1.0));
        let sums = xs.scan(0.0, |a, b| a + b);
        let late = running.shift(3, -1.5).zip_with(&running, |a, b| a - b);
        let steps = sums.windows(Boundary::Clamp, |[a, b]| b - a);
        let ahead = sums.windows(Boundary::Clamp, |[a, b, c, d, e]| a + b - c * d + e);
        let ahead = sums.shift(-2, 0.5).zip_with(&ahead, |a, b| a - b);
        (late, steps, ahead)
    };
    let (late, steps, ahead) = program();
    let want = (&late, &steps, &ahead).force_with(&Engine::interp())?;
    for threads in [1, 3] {
        for backend in [Engine::builder(), Engine::builder().only_c()] {
            let engine = backend.threads(threads).build();
            let (late, steps, ahead) = program();
            let got = (&late, &steps, &ahead).force_with(&engine)?;
            assert!(got == want, "{threads} threads");
        }
    }
    Ok(())
}
