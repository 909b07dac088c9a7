//! Flow fusion's programs: one loop each.

use crate::{N, count, floats, numbers, program};
use livefusion::Array;
use livefusion_tests::catalog::flow;
use loop_lang::Op;

#[test]
fn filter_max() {
    let xs = numbers(1, N);
    let want: Vec<i64> = xs.iter().map(|x| x + 1).filter(|x| *x > 0).collect();
    let done = program(
        || flow::filter_max(&Array::from(&xs)),
        [1, 2, 0],
        |(kept, most)| {
            assert_eq!(kept, want);
            assert_eq!(most, want.iter().copied().max().unwrap_or(0));
        },
    );
    assert_eq!((done.reads(), done.writes()), (N as u64, count(&want)));
    assert_eq!(
        (done.op(Op::Gt), done.op(Op::Max)),
        (N as u64, count(&want))
    );
}

#[test]
fn dot_product() {
    let all = [1, 2, 3, 4].map(|seed| floats(seed, N));
    let want: f64 = (0..N)
        .map(|i| all[0][i] * all[2][i] + all[1][i] * all[3][i])
        .sum();
    let done = program(
        || {
            let [x1, y1, x2, y2] = all.each_ref().map(Array::from);
            flow::dot_product((&x1, &y1), (&x2, &y2))
        },
        [1, 1, 0],
        |dot| assert_eq!(dot, want),
    );
    assert_eq!((done.reads(), done.writes()), (4 * N as u64, 0));
    assert_eq!(done.op(Op::Mul), 2 * N as u64);
}

#[test]
fn map_map() {
    let xs = numbers(1, N);
    let done = program(
        || flow::map_map(&Array::from(&xs)),
        [1, 1, 0],
        |(up, down)| {
            assert!(up.iter().zip(&xs).all(|(u, x)| *u == 2 * x + 50));
            assert!(down.iter().zip(&xs).all(|(d, x)| *d == 2 * x - 50));
        },
    );
    assert_eq!((done.reads(), done.writes()), (N as u64, 2 * N as u64));
    assert_eq!((done.op(Op::Mul), done.op(Op::Sub)), (N as u64, N as u64));
}

#[test]
fn filter_sum() {
    let xs = numbers(1, N);
    let want: Vec<i64> = xs.iter().copied().filter(|x| *x > 0).collect();
    let done = program(
        || flow::filter_sum(&Array::from(&xs)),
        [1, 2, 0],
        |(kept, before, after)| {
            assert_eq!(kept, want);
            assert_eq!((before, after), (xs.iter().sum(), want.iter().sum()));
        },
    );
    assert_eq!((done.reads(), done.writes()), (N as u64, count(&want)));
    assert_eq!(done.op(Op::Gt), N as u64);
}

#[test]
fn nested_filter() {
    let xs = numbers(1, N);
    let outer: Vec<i64> = xs.iter().copied().filter(|x| *x > 0).collect();
    let inner: Vec<i64> = outer.iter().copied().filter(|x| *x < 50).collect();
    let done = program(
        || flow::nested_filter(&Array::from(&xs)),
        [1, 3, 0],
        |results| {
            assert_eq!(results.0, outer);
            assert_eq!(results.1, inner);
        },
    );
    let written = count(&outer) + count(&inner);
    assert_eq!((done.reads(), done.writes()), (N as u64, written));
    assert_eq!(done.op(Op::Gt), N as u64);
    // The second predicate on elements that pass the first, and the loop's own test, which fails at
    // the end.
    assert_eq!(done.op(Op::Lt), count(&outer) + N as u64 + 1);
}

fn points() -> Vec<flow::Point> {
    floats(5, N).into_iter().zip(floats(6, N)).collect()
}

#[test]
fn quickhull_ends() {
    let points = points();
    let done = program(
        || flow::quickhull_ends(&Array::from(&points)),
        [1, 1, 0],
        |(left, right)| {
            let least = points
                .iter()
                .copied()
                .reduce(|p, q| if q.0 < p.0 { q } else { p });
            let most = points
                .iter()
                .copied()
                .reduce(|p, q| if q.0 > p.0 { q } else { p });
            assert_eq!((Some(left), Some(right)), (least, most));
        },
    );
    assert_eq!((done.reads(), done.writes()), (2 * N as u64, 0));
}

#[test]
fn quickhull_step() {
    let (points, a, b) = (points(), (-100.0, 0.0), (100.0, 20.0));
    let above: Vec<(f64, flow::Point)> = points
        .iter()
        .map(|p| ((b.0 - a.0) * (p.1 - a.1) - (b.1 - a.1) * (p.0 - a.0), *p))
        .filter(|(d, _)| *d > 0.0)
        .collect();
    let first = (0.0, (0.0, 0.0));
    let want = above
        .iter()
        .fold(first, |m, p| if p.0 > m.0 { *p } else { m });
    let done = program(
        || flow::quickhull_step(&Array::from(&points), (a, b)),
        [1, 2, 0],
        |(kept, farthest)| {
            assert!(kept.into_iter().eq(above.iter().map(|(_, p)| *p)));
            assert_eq!(farthest, want);
        },
    );
    assert_eq!(
        (done.reads(), done.writes()),
        (2 * N as u64, 2 * count(&above))
    );
    // Each distance is computed once, although it is tested and compared with the maximum. The
    // maximum of the only chunk is compared with the start and with the carried value.
    assert_eq!(
        (done.op(Op::Mul), done.op(Op::Gt)),
        (2 * N as u64, N as u64 + count(&above) + 2)
    );
}

#[test]
fn to_percentages() {
    let xs: Vec<f64> = floats(1, N).into_iter().map(|x| x / 1000.0).collect();
    let want: Vec<f64> = xs
        .iter()
        .filter(|x| **x >= 0.01)
        .map(|x| x * 100.0)
        .collect();
    let done = program(
        || flow::to_percentages(&Array::from(&xs)),
        [1, 2, 0],
        |percentages| assert_eq!(percentages, want),
    );
    assert_eq!((done.reads(), done.op(Op::Ge)), (N as u64, N as u64));
    assert_eq!(
        (done.writes(), done.op(Op::Mul)),
        (count(&want), count(&want))
    );
}
