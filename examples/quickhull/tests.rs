//! Tests: the two QuickHull versions and the monotone chain agree.

use crate::hull::Point;
use crate::{hull, lines, plain};
use livefusion::prelude::*;
use std::sync::LazyLock;

/// The interpreter and the default backend. They are shared, so that loops are compiled once.
static ENGINES: LazyLock<[Engine; 2]> =
    LazyLock::new(|| [Engine::interp(), Engine::builder().build()]);

/// Compares the three hulls of these points.
fn agree(points: &[Point]) {
    for engine in ENGINES.iter() {
        let array = Array::from(points);
        let at_once = lines::quickhull(engine, &array).unwrap();
        assert_eq!(
            at_once,
            hull::quickhull(engine, &array).unwrap(),
            "{points:?}"
        );
        assert_eq!(at_once, plain::hull(points), "{points:?}");
    }
}

/// Points on a grid, whose distances are exact.
fn grid(seed: u64, n: usize, side: u64) -> Vec<Point> {
    let mut state = seed;
    let mut below = |n: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let mut next = || below(side) as f64 - (side / 2) as f64;
    (0..n).map(|_| (next(), next())).collect()
}

#[test]
fn random_points() {
    for (seed, n) in [(1, 10), (2, 100), (3, 2000)] {
        agree(&grid(seed, n, 1 << 20));
    }
}

#[test]
fn many_duplicates_and_points_on_edges() {
    for seed in 0..8 {
        agree(&grid(seed, 60, 6));
        agree(&grid(seed, 12, 3));
    }
}

#[test]
fn points_on_a_line() {
    agree(
        &(0..50)
            .map(|k| (k as f64, 3.0 * k as f64))
            .collect::<Vec<_>>(),
    );
    agree(
        &(0..50)
            .map(|k| (7.0, f64::from(k % 13)))
            .collect::<Vec<_>>(),
    );
    agree(
        &(0..50)
            .map(|k| (f64::from(k % 11), -2.0))
            .collect::<Vec<_>>(),
    );
}

/// Every point is a corner, so that lines are split to the end.
#[test]
fn points_on_a_parabola() {
    agree(
        &(-40..40)
            .map(|k| (f64::from(k), f64::from(k * k)))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn few_points() {
    let (a, b, c) = ((0.0, 0.0), (4.0, 1.0), (1.0, 3.0));
    agree(&[a]);
    agree(&[a, a, a]);
    agree(&[b, a]);
    agree(&[a, b, c]);
    agree(&[c, b, a, b]);
}

#[test]
fn no_points_are_an_error() {
    let nothing = Array::from(Vec::<Point>::new());
    let error = lines::quickhull(&Engine::interp(), &nothing).unwrap_err();
    assert_eq!(error.combinator, "fold1");
}

#[test]
fn the_core_is_one_loop() {
    let engine = Engine::interp();
    let lines = crate::second_level(&engine, &grid(1, 30, 100)).unwrap();
    let core = crate::core(&engine, &lines).unwrap();
    assert_eq!(core.loops.len(), 1, "{core}");
    // The new lines and the points in order are read by random access.
    let level = lines.split().explain(&engine).unwrap();
    assert!(level.loops.len() <= 3, "{level}");
}

#[test]
fn a_cut_is_one_loop() {
    let points = Array::from(grid(1, 30, 100));
    let cut = hull::cut(&points, (-40.0, 0.0), (40.0, 5.0));
    let explained = (&cut.kept, &cut.farthest)
        .explain_with(&Engine::interp())
        .unwrap();
    assert_eq!(explained.loops.len(), 1, "{explained}");
}
