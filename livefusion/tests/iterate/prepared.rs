//! Loops over arrays that depend on inputs of prepared programs, against plain Rust.

use super::{compiled, engines};
use livefusion::Result;
use livefusion::prelude::*;
use livefusion::prepare::prepare_with;
use std::sync::Arc;

/// The state, the count, and the captured maps and folds all depend on inputs.
#[test]
fn everything_depends_on_inputs() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(
            &engine,
            |(xs, weights, n): (Array<i64>, Array<i64>, Array<u64, Ix0>)| {
                let start = xs.map(|x| x + 1);
                let most = weights.max();
                let times = n.map(|n| n + 1);
                let ended = iterate_n(&times, &start, |xs| {
                    let turned = xs.reverse().zip_with(&weights, |x, w| x * 2 + w);
                    turned.map(|x| (x - &most) % 1000)
                });
                (ended.sum(), ended)
            },
        )?;
        for round in 0..4u64 {
            let len = 5 + round as i64;
            let xs: Vec<i64> = (0..len).map(|i| i * 7 % 5).collect();
            let weights: Vec<i64> = (0..len).map(|i| i * 3 % 7 - round as i64).collect();
            let mut plain: Vec<i64> = xs.iter().map(|x| x + 1).collect();
            let most = *weights.iter().max().expect("some");
            for _ in 0..=round {
                plain.reverse();
                let both = plain.iter_mut().zip(&weights);
                both.for_each(|(x, w)| *x = (*x * 2 + w - most) % 1000);
            }
            let inputs = (
                Array::from(xs.clone()),
                Array::from(weights.clone()),
                Array::scalar(round),
            );
            let (sum, ended) = program.call(&inputs)?;
            assert_eq!((sum, &ended[..]), (plain.iter().sum(), &plain[..]));
            // The parts: start, captures, step, continuation.
            assert_eq!(compiled(&engine), (4, 0));
            assert_eq!((inputs.0.to_vec()?, inputs.1.to_vec()?), (xs, weights));
        }
    }
    Ok(())
}

/// The condition of a `while` loop depends on inputs, and may be false at once.
#[test]
fn tests_of_inputs() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(&engine, |(xs, least): (Array<f64>, Array<f64, Ix0>)| {
            iterate_while(
                (&xs, &Array::scalar(0u64)),
                |(xs, _)| xs.max().map(|x| x.gt(least.value())),
                |(xs, n)| (xs.filter(|x| x.gt(&least)).map(|x| x / 2.0), n + 1),
            )
        })?;
        for (least, steps) in [(1.0, 5), (8.0, 2), (40.0, 0)] {
            let xs = Array::from(vec![1.0f64, 3.0, 20.0, 30.0]);
            let (small, n) = program.call(&(xs, Array::scalar(least)))?;
            assert_eq!(n, steps, "{least}");
            assert!(small.iter().all(|x| *x <= least));
        }
        let (misses, hits) = compiled(&engine);
        assert!(misses <= 4 && hits == 0, "{misses} {hits}");
    }
    Ok(())
}

/// Loops may start from other loops, and capture them; shared parts run once.
#[test]
fn loops_behind_loops() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(&engine, |xs: Array<i64>| {
            let turn = |xs: Array<i64>| xs.reverse().map(|x| x + 1);
            let (first, last) = (iterate_n(2, &xs, turn), iterate_n(3, &xs, turn));
            let both = iterate_n(2, &first, |state| {
                state.reverse().zip_with(&last, |a, b| 2 * a - b)
            });
            (both.sum(), first, both.zip_with(&last, |a, b| a * b))
        })?;
        for n in [3i64, 6] {
            let xs: Vec<i64> = (0..n).map(|i| i * i % 11).collect();
            let turn = |xs: &Vec<i64>| xs.iter().rev().map(|x| x + 1).collect::<Vec<i64>>();
            let first = turn(&turn(&xs));
            let last = turn(&first);
            let mut both = first.clone();
            for _ in 0..2 {
                both.reverse();
                both.iter_mut()
                    .zip(&last)
                    .for_each(|(a, b)| *a = 2 * *a - b);
            }
            let (sum, one, products) = program.call(&Array::from(xs))?;
            assert_eq!((sum, &one[..]), (both.iter().sum(), &first[..]));
            let expected: Vec<i64> = both.iter().zip(&last).map(|(a, b)| a * b).collect();
            assert_eq!(products, expected[..]);
        }
        // Identical loops share compiled code.
        let before = compiled(&engine);
        program.call(&Array::from(vec![1i64]))?;
        assert_eq!(compiled(&engine), before);
    }
    Ok(())
}

/// A loop that does not depend on inputs runs once, at its first use.
#[test]
fn iterate_runs_independent_loops_once() -> Result<()> {
    let engine = Engine::interp();
    let fixed = iterate_n(3, &Array::from(vec![1i64, 2, 3]), |xs| {
        xs.reverse().map(|x| x + 1)
    });
    let inner = Array::from(vec![5i64, 5, 6]);
    let is_there = |node: &Arc<livefusion::ast::Node>| node.value.get().is_some();
    let total = inner.filter(|x| x.gt(5)).sum();
    let mut within = None;
    let program = prepare_with(&engine, |(xs, n): (Array<i64>, Array<u64, Ix0>)| {
        iterate_n(&n, &xs, |xs| {
            let same = iterate_n(2, &inner, |ys| ys.reverse().map(|y| y * 2));
            within = Some(same.clone());
            let turned = xs.reverse().zip_with(&same, |x, y| x + y);
            turned.zip_with(&fixed, |x, y| x + y + total.value())
        })
    })?;
    let within = within.expect("the step was traced");
    assert!(is_there(within.node()) && is_there(fixed.node()));
    assert!(!is_there(total.node()));
    let xs = Array::from(vec![10i64, 20, 30]);
    assert_eq!(
        program.call(&(xs.clone(), Array::scalar(0u64)))?,
        [10, 20, 30]
    );
    assert!(!is_there(total.node()));
    // The inner loop gives 20, 20, 24, the outer one 6, 5, 4; and 6.
    assert_eq!(
        program.call(&(xs.clone(), Array::scalar(1u64)))?,
        [62, 51, 44]
    );
    assert!(is_there(total.node()));
    let before = compiled(&engine);
    assert_eq!(
        program.call(&(xs, Array::scalar(2u64)))?,
        [44 + 32, 51 + 31, 62 + 34]
    );
    assert_eq!(compiled(&engine), before);
    Ok(())
}

/// States of every rank, with delayed scalars.
#[test]
fn states_of_any_rank() -> Result<()> {
    macro_rules! check {
        ($engine:expr; $($rank:ident: $shape:expr),*) => {$(
            let program = prepare_with($engine, |(xs, n): (Array<i64, $rank>, Array<u64, Ix0>)| {
                iterate_n(&n, (&xs, &n, &xs.sum()), |(xs, k, total)| {
                    let next = &xs + &xs.along(0).reverse();
                    let sum = next.sum();
                    (next, k + 1, &sum + &total)
                })
            })?;
            let size: u64 = $shape.iter().product();
            let data: Vec<i64> = (0..size as i64).map(|i| i * i % 13).collect();
            for n in [0u64, 1, 3] {
                let xs = Array::<i64, $rank>::from_vec($shape, data.clone());
                let (got, k, total) = program.call(&(xs, Array::scalar(n)))?;
                let row = (size / $shape[0]) as usize;
                let (mut plain, mut sum) = (data.clone(), data.iter().sum::<i64>());
                for _ in 0..n {
                    let rows = plain.chunks(row).rev().flatten();
                    plain = plain.iter().zip(rows).map(|(a, b)| a + b).collect();
                    sum += plain.iter().sum::<i64>();
                }
                assert_eq!(got.shape(), $shape.map(|n| n as usize));
                assert_eq!((got.into_vec()?, k, total), (plain, 2 * n, sum));
            }
        )*};
    }
    for engine in engines() {
        check!(&engine; Ix1: [5u64], Ix2: [3u64, 2], Ix3: [3u64, 1, 2], Ix4: [2u64, 3, 1, 2], Ix5: [2u64, 1, 2, 1, 3], Ix6: [2u64, 1, 2, 1, 1, 2]);
        let program = prepare_with(&engine, |n: Array<u64, Ix0>| {
            iterate_n(&n, &n, |k| k * 2 + 1)
        })?;
        assert_eq!(program.call(&Array::scalar(3u64))?, 31);
    }
    Ok(())
}

/// One program, called by several threads at once.
#[test]
fn programs_are_shared() -> Result<()> {
    let engine = Engine::jit();
    let program = prepare_with(&engine, |(xs, n): (Array<i64>, Array<u64, Ix0>)| {
        iterate_n(&n, &xs, |xs| {
            iterate_n(&n, &xs, |xs| xs.reverse().map(|x| x + 1))
        })
    })?;
    std::thread::scope(|threads| {
        let call = |n: u64| {
            let xs = Array::from(vec![0i64; 100]);
            program.call(&(xs, Array::scalar(n))).map(|got| got[0])
        };
        let all: Vec<_> = (0..8).map(|n| threads.spawn(move || call(n))).collect();
        for (n, got) in (0..).zip(all) {
            assert_eq!(got.join().expect("no panic")?, n * n);
        }
        Ok(())
    })
}

/// A loop whose results are the program's results reuses the memory of old results.
#[test]
fn results_are_written_over() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(&engine, |m: Array<f64, Ix2>| {
            let (last, n) = iterate_n(1, (&m, &Array::scalar(0u64)), |(m, n)| {
                (m.transpose().map(|x| x + 1.0), n + 1)
            });
            (n, last)
        })?;
        let m = Array::from([[1.0f64, 2.0], [3.0, 4.0]]);
        let mut out = program.call(&m)?;
        let memory = out.1.iter().as_slice().as_ptr();
        for _ in 0..3 {
            program.call_into(&m, &mut out)?;
            assert_eq!((out.0, &out.1), (1, &program.call(&m)?.1));
            assert_eq!(out.1.iter().as_slice().as_ptr(), memory);
        }
        assert_eq!(m.force()?, [[1.0, 2.0], [3.0, 4.0]]);
    }
    Ok(())
}
