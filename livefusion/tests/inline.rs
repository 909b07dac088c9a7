//! Inlined index functions: no intermediate array, no duplicated work.

use livefusion::ErrorKind;
use livefusion::ast::Node;
use livefusion::prelude::*;
use livefusion::runtime::Explanation;
use std::sync::Arc;

fn engines() -> [Engine; 2] {
    [Engine::interp(), Engine::c()]
}

fn explained(roots: &[&Arc<Node>]) -> Explanation {
    let roots: Vec<Arc<Node>> = roots.iter().map(|r| Arc::clone(r)).collect();
    Engine::interp().explain(&roots).expect("it can be planned")
}

/// Asserts that a program is one loop, which writes only its results.
fn one_loop(roots: &[&Arc<Node>]) {
    let explained = explained(roots);
    assert_eq!(explained.loops.len(), 1, "{explained}");
    let arrays = roots.iter().filter(|r| r.rank > 0);
    let results = arrays.map(|r| r.types.len()).sum::<usize>();
    assert_eq!(explained.loops[0].arrays_written, results, "{explained}");
}

/// The number of loops, and of arrays that they write.
fn cost(roots: &[&Arc<Node>]) -> (usize, usize) {
    let loops = explained(roots).loops;
    (loops.len(), loops.iter().map(|l| l.arrays_written).sum())
}

/// Asserts that an array is one loop without intermediates, and has these elements on every
/// backend.
fn is(array: impl Fn() -> Array<i64>, expected: &[i64]) {
    one_loop(&[array().node()]);
    for engine in engines() {
        let got = array().force_with(&engine).expect("it has a value");
        assert_eq!(&got[..], expected);
    }
}

fn ints() -> Array<i64> {
    vec![3i64, -2, 7, 0, 5].into()
}

/// Too expensive to duplicate.
fn costly(x: Exp<f64>) -> Exp<f64> {
    x.exp().sin()
}

fn floats() -> Array<f64> {
    vec![0.5, 1.0, 2.0, 4.0].into()
}

#[test]
fn maps_before_and_after_rearrangements() {
    let ys = || ints().map(|x| x * 10);
    is(|| ys().reverse().map(|y| y + 1), &[51, 1, 71, -19, 31]);
    is(|| ys().slice(1..4), &[-20, 70, 0]);
    is(|| ys().slice(1..4).reverse(), &[0, 70, -20]);
    is(|| ys().take(2).reverse(), &[-20, 30]);
    is(|| ys().drop(3), &[0, 50]);
    is(|| ys().reverse().reverse().take(2), &[30, -20]);
    is(|| ys().shift(2, 9).map(|y| y + 1), &[10, 10, 31, -19, 71]);
    let at = || Array::from(vec![4u64, 0, 0]);
    is(|| ys().gather(&at()), &[50, 30, 30]);
    is(|| ys().gather(&at().map(|i| i / 2)), &[70, 30, 30]);
    is(|| ys().gather(&at()).reverse(), &[30, 30, 50]);
}

#[test]
fn generators_are_inlined() {
    is(
        || generate(4, |i| i.cast::<i64>() * 3).reverse(),
        &[9, 6, 3, 0],
    );
    is(
        || iota(9).map(|i| i.cast::<i64>()).drop(2).take(3),
        &[2, 3, 4],
    );
    is(
        || generate(3, |i| ints().at(i + 1) - ints().at(i)).reverse(),
        &[-7, 9, -5],
    );
}

#[test]
fn an_array_beside_its_own_reverse() {
    let pairs = |xs: &Array<i64>| xs.zip_with(&xs.reverse(), |x, y| x * 100 + y);
    is(|| pairs(&ints()), &[305, -200, 707, -2, 503]);
    // The loop computes it in step and once more at an index: it is cheap.
    is(|| pairs(&ints().map(|x| x + 1)), &[406, -99, 808, 99, 604]);
    let ys = ints().map(|x| x + 1);
    one_loop(&[ys.node(), ys.reverse().node()]);
}

#[test]
fn neighbours_of_a_cheap_map() {
    let sums = || {
        let ys = ints().map(|x| x * 2);
        ys.windows(Boundary::Clamp, |[a, b, c]| a + b + c)
    };
    is(sums, &[8, 16, 10, 24, 20]);
    let padded = || {
        let ys = ints().map(|x| x * 2);
        ys.windows(Boundary::Constant(1), |[a, b, c]| a + b + c)
    };
    is(padded, &[3, 16, 10, 24, 11]);
}

#[test]
fn tuples_are_inlined_field_by_field() {
    let both = || ints().map(|x| (x + 1, x * 2)).reverse();
    let expected = [(6, 10), (1, 0), (8, 14), (-1, -4), (4, 6)];
    one_loop(&[both().node()]);
    for engine in engines() {
        assert_eq!(both().force_with(&engine).expect("values"), expected);
    }
    // Unused fields are not computed.
    let (left, _) = ints().map(|x| (x + 1, 10 / (x - x))).reverse().unzip();
    assert_eq!(left.to_vec().expect("values"), [6, 1, 8, -1, 4]);
}

#[test]
fn inlining_of_a_costly_array_by_its_sole_reader() {
    let ys = || floats().map(costly);
    one_loop(&[ys().reverse().node()]);
    one_loop(&[ys().drop(1).map(|y| y + 1.0).node()]);
    one_loop(&[ys().reverse().take(2).sum().node()]);
    one_loop(&[ys().reverse().map(costly).reverse().node()]);
}

#[test]
fn inlining_does_not_compute_a_costly_array_twice() {
    let ys = floats().map(costly);
    // Two readers, two indices, two kinds of use, and one index that may repeat.
    let twice = [
        ys.reverse().zip_with(&ys.drop(0), |a, b| a + b),
        generate(3, |i| ys.at(i + 1) - ys.at(i)),
        ys.zip_with(&ys.reverse(), |a, b| a + b),
        ys.windows(Boundary::Clamp, |[a, b, c]| a + b + c),
        ys.gather(&Array::from(vec![0u64, 0, 1])),
    ];
    for array in twice {
        assert_eq!(cost(&[array.node()]), (2, 2));
    }
    let report = explained(&[ys.windows(Boundary::Clamp, |[a, b]| a + b).node()]).to_string();
    assert!(
        report.contains("costly elements more than once"),
        "{report}"
    );
    // A result is in memory anyway.
    assert_eq!(cost(&[ys.node(), ys.reverse().node()]), (2, 2));
    // In a scalar loop: once per element and iteration.
    let nested = generate(3, |i| {
        let (_, sum) = while_loop(
            (0u64, 0.0),
            |(j, _)| j.lt(4),
            |(j, s)| (j + 1, s + ys.at(j)),
        );
        sum + i.cast::<f64>()
    });
    assert_eq!(cost(&[nested.node()]), (2, 2));
}

#[test]
fn one_element_costs_one_element() {
    let ys = floats().map(costly);
    let first = ys.at(0);
    assert_eq!(cost(&[first.node()]), (1, 0));
    for engine in engines() {
        let ys = floats().map(costly);
        let got = ys.at(0).force_with(&engine).expect("a value");
        assert_eq!(got.to_bits(), ys.to_vec().expect("values")[0].to_bits());
    }
}

#[test]
fn bases_that_are_computed_are_read_from_memory() {
    let kept = ints().filter(|x| x.gt(0));
    // The filter's elements are not a function of the index.
    assert_eq!(cost(&[kept.reverse().node()]), (2, 2));
    let total = ints().sum();
    // The earlier loop computes a captured total.
    let shares = ints().map(|x| x * &total).reverse();
    assert_eq!(cost(&[shares.node()]), (2, 1));
    assert_eq!(shares.to_vec().expect("values"), [65, 0, 91, -26, 39]);
}

#[test]
fn deep_chains_are_cut() {
    let mut xs = ints().map(|x| x + 1);
    for _ in 0..501 {
        xs = xs.map(|x| x + 1).reverse();
    }
    let (loops, _) = cost(&[xs.node()]);
    assert!((2..20).contains(&loops), "{loops} loops");
    let got = xs.force_with(&Engine::interp()).expect("values");
    assert_eq!(&got[..], [507, 502, 509, 500, 505]);
}

#[test]
fn lengths_need_no_loop() {
    let ys = ints().map(|x| x * 10);
    let n = ys.reverse().len();
    assert_eq!(cost(&[n.node()]), (0, 0));
    for engine in engines() {
        let ys = ints().map(|x| x * 10);
        let n = ys.reverse().len();
        assert_eq!(n.force_with(&engine).expect("a length"), 5);
        let (back, n) = (&ys.reverse(), &ys.len())
            .force_with(&engine)
            .expect("values");
        assert_eq!((&back[..], n), (&[50, 0, 70, -20, 30][..], 5));
    }
}

/// The combinator and the kind of an error.
fn error<T: Elt>(array: &Array<T>) -> (&'static str, ErrorKind) {
    let errors = engines().map(|e| array.force_with(&e).expect_err("it is an error"));
    assert_eq!(errors[0], errors[1]);
    (errors[0].combinator, errors[0].kind.clone())
}

#[test]
fn errors_are_those_of_the_producer() {
    let division = |dividend| ErrorKind::Division {
        dividend,
        divisor: 0,
    };
    let inverse = ints().map(|x| 10 / x);
    assert_eq!(cost(&[inverse.reverse().node()]), (1, 1));
    assert_eq!(error(&inverse.reverse()), ("map", division(10)));
    assert_eq!(error(&inverse.gather(&iota(5))), ("map", division(10)));
    let outside = ErrorKind::OutOfRange { index: 7, len: 5 };
    let inner = ints().gather(&Array::from(vec![0u64, 7, 1]));
    assert_eq!(cost(&[inner.reverse().node()]), (1, 1));
    assert_eq!(error(&inner.reverse()), ("gather", outside));
}

#[test]
fn elements_that_nobody_reads_cannot_trap() {
    let inverse = || ints().map(|x| 10 / x);
    is(|| inverse().take(3).reverse(), &[1, -5, 3]);
    is(|| inverse().shift(-2, 0).take(1), &[1]);
    // Out of bounds there is no division, only an invalid index.
    let last = inverse();
    let ys = generate(2, |i| last.at(i + 4));
    assert_eq!(cost(&[ys.node()]), (1, 1));
    let outside = ErrorKind::OutOfRange { index: 5, len: 5 };
    assert_eq!(error(&ys), ("generate", outside));
}
