//! Loops over arrays, against plain Rust.

#[path = "iterate/choice.rs"]
mod choice;
#[path = "iterate/in_place.rs"]
mod in_place;
#[path = "iterate/invariant.rs"]
mod invariant;
#[path = "iterate/nested.rs"]
mod nested;
#[path = "iterate/prepared.rs"]
mod prepared;
#[path = "iterate/random.rs"]
mod random;
#[path = "iterate/recovered.rs"]
mod recovered;

use livefusion::prelude::*;
use livefusion::{CancelToken, Clustering, ErrorKind, Result, stages};

fn engines() -> [Engine; 3] {
    [Engine::interp(), Engine::jit(), Engine::c()]
}

/// The number of compilations and of cache hits. A prepared program looks up each of its parts
/// once.
fn compiled(engine: &Engine) -> (u64, u64) {
    let counters = engine.counters();
    (counters.misses, counters.hits)
}

/// One step of the Game of Life, with dead cells around the board.
fn life(cells: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let (h, w) = (cells.len() as i64, cells[0].len() as i64);
    let at = |i: i64, j: i64| match (0..h).contains(&i) && (0..w).contains(&j) {
        true => cells[i as usize][j as usize],
        false => 0,
    };
    let next = |i: i64, j: i64| {
        let near = (-1..=1).flat_map(|a| (-1..=1).map(move |b| (a, b)));
        let around: u64 = near.map(|(a, b)| at(i + a, j + b)).sum::<u64>() - at(i, j);
        u64::from(around == 3 || around == 2 && at(i, j) == 1)
    };
    (0..h)
        .map(|i| (0..w).map(|j| next(i, j)).collect())
        .collect()
}

fn life_here(cells: Array<u64, Ix2>) -> Array<u64, Ix2> {
    let around = cells.stencil2(
        Boundary::Constant(0),
        |[[a, b, c], [d, _, e], [f, g, h]]| a + b + c + d + e + f + g + h,
    );
    cells.zip_with(&around, |here, n| {
        (n.eq(3) | (here.eq(1) & n.eq(2))).cast::<u64>()
    })
}

#[test]
fn game_of_life() -> Result<()> {
    let start: Vec<Vec<u64>> = (0..9)
        .map(|i| {
            (0..11)
                .map(|j| u64::from((i * 7 + j * j * 3) % 5 < 2))
                .collect()
        })
        .collect();
    let grid = Array::from_vec((9, 11), start.concat());
    for steps in [0, 1, 2, 17] {
        let mut plain = start.clone();
        (0..steps).for_each(|_| plain = life(&plain));
        let here = iterate_n(steps, &grid, life_here);
        assert_eq!(here.force()?.into_vec()?, plain.concat(), "{steps} steps");
    }
    Ok(())
}

/// The state is a matrix and a number, and each step reads the matrix at random.
#[test]
fn shortest_paths() -> Result<()> {
    let n = 7;
    let far = 1000u64;
    let start: Vec<u64> = (0..n * n)
        .map(|k| match (k / n == k % n, k * 31 % 11) {
            (true, _) => 0,
            (_, w @ 0..4) => w as u64 + 1,
            _ => far,
        })
        .collect();
    let mut plain = start.clone();
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                let by = plain[i * n + k] + plain[k * n + j];
                plain[i * n + j] = plain[i * n + j].min(by);
            }
        }
    }
    let ways = Array::from_vec((n, n), start);
    let (shortest, steps) = iterate_n(n, (&ways, &Array::scalar(0u64)), |(ways, k)| {
        let next = generate((n, n), |(i, j)| {
            let k = k.value();
            ways.at((i, j)).min(ways.at((i, k)) + ways.at((k, j)))
        });
        (next, k + 1)
    });
    let (shortest, steps) = (&shortest, &steps).force()?;
    assert_eq!((shortest.into_vec()?, steps), (plain, n as u64));
    Ok(())
}

/// Lengths may change between steps. The loop runs once, for any subset of its results.
#[test]
fn states_that_shrink() -> Result<()> {
    let engine = Engine::interp();
    let (odd, halvings) = iterate_while(
        (&Array::from(vec![12u64, 7, 40, 9, 6]), &Array::scalar(0u64)),
        |(xs, _)| xs.any(|x| (x % 2).eq(0)),
        |(xs, n)| {
            let even = xs.filter(|x| (x % 2).eq(0));
            (even.map(|x| x / 2), n + even.len())
        },
    );
    assert_eq!(odd.force_with(&engine)?, [5]);
    let before = engine.counters().misses;
    assert_eq!(halvings.force_with(&engine)?, 3 + 2 + 1);
    assert_eq!(odd.map(|x| x + 1).sum().force_with(&engine)?, 6);
    // Only the sum needed compilation.
    assert_eq!(engine.counters().misses - before, 1);
    Ok(())
}

/// The start of a loop is unchanged, and steps allocate nothing from the third on.
#[test]
fn memory_is_used_again() -> Result<()> {
    let xs = Array::from(vec![1.0f64; 1000]);
    let engine = Engine::interp();
    let step = |xs: Array<f64>| xs.reverse().map(|x| x + 1.0);
    let grown = iterate_n(1001, &xs, step);
    assert_eq!(grown.force_with(&engine)?[999], 1002.0);
    assert_eq!(xs.to_vec()?, vec![1.0; 1000]);
    let limited = Engine::builder().memory_limit(3 * 8 * 1000).build();
    let again = iterate_n(1001, &xs, step);
    assert_eq!(again.force_with(&limited)?[0], 1002.0);
    Ok(())
}

/// A step overwrites the state of two steps before, also if a component is passed on as another
/// one.
#[test]
fn memory_of_what_is_passed_on_is_used_again() -> Result<()> {
    let engine = Engine::interp();
    let start = (
        &Array::from(vec![0.0f64; 100]),
        &Array::from(vec![1.0f64; 100]),
    );
    let (_, is) = iterate_n(20, start, |(was, is): (Array<f64>, Array<f64>)| {
        let next = is.reverse().zip_with(&was, |is, was| 2.0 * is - was);
        (is, next)
    });
    assert_eq!(is.force_with(&engine)?[0], 21.0);
    // The first three steps allocate an array each, because the start of the loop must not change.
    assert_eq!(engine.counters().written_over, 17);
    assert_eq!(start.0.to_vec()?, vec![0.0; 100]);
    Ok(())
}

/// Loops may occur in each other's steps and starts; captured values are computed before.
#[test]
fn loops_of_loops() -> Result<()> {
    let five = iterate_n(5, &Array::scalar(0i64), |n| n + 1);
    let xs = Array::from(vec![1i64, 2, 3]);
    let scaled = iterate_n(&five.map(|n| n.cast::<u64>()), &xs, |xs| {
        xs.map(|x| x + five.value())
    });
    assert_eq!(scaled.force()?, [26, 27, 28]);
    let total = iterate_n(2, &scaled, |xs| xs.map(|x| 2 * x)).sum();
    assert_eq!(total.force()?, 4 * (26 + 27 + 28));
    Ok(())
}

#[test]
fn mistakes() -> Result<()> {
    let xs = Array::from(vec![4i64, 2, 0]);
    // An error in a step reports the location of its call.
    let line = line!() + 1;
    let error = iterate_n(2, &xs, |ys| ys.map(|x| 8 / (x - 2)))
        .force()
        .unwrap_err();
    assert_eq!(error.location.map(|l| l.line()), Some(line));
    assert!(matches!(error.kind, ErrorKind::Division { .. }));
    // So does an error that tracing found.
    let two = Array::from(vec![1i64, 2]);
    let line = line!() + 1;
    let error = iterate_n(2, &xs, |ys| ys.zip_with(&two, |a, b| a + b)).force();
    let error = error.unwrap_err();
    assert_eq!(error.location.map(|l| l.line()), Some(line));
    // No steps, no error.
    assert_eq!(
        iterate_n(0, &xs, |ys| ys.map(|x| 8 / (x - x))).force()?,
        [4, 2, 0]
    );
    assert!(iterate_n(-1, &xs, |ys| ys.map(|x| x + 1)).force().is_err());
    let dynamic = iterate_n(1, xs.into_dyn(), |ys| ys);
    assert!(dynamic.force().is_err());
    Ok(())
}

#[test]
fn loops_are_cancelled() {
    let token = CancelToken::new();
    let engine = Engine::interp().with_cancel(token.clone());
    token.cancel();
    let endless = iterate_while(
        &Array::from(vec![1i64]),
        |xs| xs.sum().map(|x| x.gt(0)),
        |xs| xs.map(|x| x),
    );
    let error = endless.force_with(&engine).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cancelled);
}

/// The text of a program's loops, without the names of combinators.
fn loops(program: &impl Force) -> Result<String> {
    let mut loops = stages::graph(program)?
        .plan(Clustering::default())
        .lower()?;
    loops.optimize();
    let named = |l: &&str| !l.starts_with("comb ");
    Ok(loops
        .to_string()
        .lines()
        .filter(named)
        .collect::<Vec<_>>()
        .join("\n"))
}

/// The Mandelbrot set, written with arrays of points, lowers to the same loop as point by point.
#[test]
fn maps_alone_become_scalar_loops() -> Result<()> {
    let points: Vec<(f64, f64)> = (0..40)
        .map(|k| (k as f64 / 16.0 - 2.0, k as f64 % 7.0 / 4.0))
        .collect();
    let points = Array::from(points);
    let start = points.map(|(x, y)| (x, y, 0u64));
    let step = |(x, y, n): (Exp<f64>, Exp<f64>, Exp<u64>), (cx, cy): (Exp<f64>, Exp<f64>)| {
        let (xx, yy) = (x * x, y * y);
        let inside = (xx + yy).le(4.0);
        let next = (xx - yy + cx, 2.0 * x * y + cy);
        (
            inside.cond(next.0, x),
            inside.cond(next.1, y),
            n + inside.cast::<u64>(),
        )
    };
    let by_arrays = iterate_n(50, &start, |state| state.zip_with(&points, step));
    let by_points = start.zip_with(&points, |s, c| iterate(50u64, s, |s| step(s, c)));
    let counts = |a: &Array<(f64, f64, u64)>| a.map(|(_, _, n)| n);
    let (a, b) = (counts(&by_arrays), counts(&by_points));
    assert_eq!(loops(&a)?, loops(&b)?);
    assert_eq!(a.force()?.into_vec()?, b.force()?.into_vec()?);
    let all = a.to_vec()?;
    assert!(all.contains(&50) && all.iter().any(|n| *n < 10));
    // Several results of such a loop fuse with their consumers.
    let (x, y) = (Array::from(vec![1i64, 2]), Array::from(vec![10i64, 20]));
    let (u, v) = iterate_n(3, (&x, &y), |(u, v)| (v.clone(), u + v));
    let both = u.zip_with(&v, |a, b| a * b);
    assert_eq!(both.explain()?.loops.len(), 1);
    assert_eq!(both.force()?, [21 * 32, 42 * 64]);
    Ok(())
}

/// Loops over delayed scalars are computed at their consumers' loop level.
#[test]
fn scalars_alone_become_scalar_loops() -> Result<()> {
    let xs = Array::from(vec![2.0f64, 7.0]);
    let root = iterate_while(
        (&xs.sum(), &Array::scalar(0u64)),
        |(r, _)| r.map(|r| (r * r - 9.0).abs().gt(1e-9)),
        |(r, n)| (r.map(|r| 0.5 * (r + 9.0 / r)), n + 1),
    );
    let (root, steps) = (&root.0, &root.1).force()?;
    assert!((root - 3.0).abs() < 1e-9 && steps == 6, "{root} {steps}");
    Ok(())
}

/// An error in a consumer is reported before the loop runs, which would fail differently.
#[test]
fn mistakes_are_told_first() {
    let xs = Array::from(vec![1i64, 2]);
    let failing = iterate_n(3, &xs, |xs| xs.append(&xs).map(|x| x / 0));
    let kind = |e: livefusion::Error| e.kind;
    assert!(matches!(
        kind(failing.force().unwrap_err()),
        ErrorKind::Division { .. }
    ));
    let wrong = (&failing, &failing.slice((..).step(0)));
    assert!(matches!(
        kind(wrong.force().unwrap_err()),
        ErrorKind::Malformed { .. }
    ));
}

/// A shape that no step changes is known after the loop.
#[test]
fn shapes_stay_known() -> Result<()> {
    let start = Array::from([[1i64, 2, 3], [4, 5, 6]]);
    let last = |by: i64| {
        iterate_n(2, &start, |m| {
            m.stencil2(Boundary::Clamp, |[[a, b]]| (a + b) / by)
        })
    };
    let other = Array::from([[1i64, 2], [3, 4]]);
    let mixed = last(0).zip_with(&other, |x, y| x + y);
    let e = mixed.force().unwrap_err();
    assert!(matches!(e.kind, ErrorKind::ShapeMismatch { .. }), "{e}");
    let ends = last(1);
    assert_eq!(ends.force()?, [[4, 5, 8], [16, 17, 20]]);
    Ok(())
}

/// Folds of captured arrays run once, before the first step, and not at all without steps. Cheap maps
/// of captured arrays stay in the step.
#[test]
fn iterate_computes_invariant_values_once() -> Result<()> {
    let weights = Array::from(vec![3i64, -1, 4, -5]);
    for steps in [0u64, 5] {
        let (kept, mapped) = (weights.filter(|x| x.gt(0)), weights.map(|x| x * 2));
        let (total, most) = (kept.sum(), mapped.take(1).sum());
        let start = vec![10i64, 20, 30, 40];
        let end = iterate_n(steps, &Array::from(start.clone()), |xs| {
            let turned = xs.reverse().zip_with(&mapped, |x, w| x + w);
            turned.map(|x| x - &total + &most)
        });
        let mut expected = start;
        for _ in 0..steps {
            expected.reverse();
            let all = expected.iter_mut().zip([6, -2, 8, -10]);
            all.for_each(|(x, w)| *x += w - 7 + 6);
        }
        assert_eq!(end.to_vec()?, expected);
        let is_there = |node: &std::sync::Arc<livefusion::ast::Node>| node.value.get().is_some();
        assert_eq!(is_there(total.node()), steps > 0);
        assert!(!is_there(mapped.node()) && !is_there(kept.node()));
    }
    Ok(())
}
