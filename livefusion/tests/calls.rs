//! Calls of prepared programs, whose loops keep their frames: many threads, calls within calls,
//! traps, panics, cancellation, and lengths that change.

use livefusion::prelude::*;
use livefusion::prepare::{Program, prepare_with};
use livefusion::{CancelToken, ErrorKind, Result};
use livefusion_interp::InterpBackend;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

fn engines() -> Vec<Engine> {
    vec![
        Engine::interp(),
        #[cfg(feature = "jit")]
        Engine::jit(),
        Engine::builder().build(),
        Engine::builder().threads(3).eager().build(),
    ]
}

type Pair = (Array<f64>, Array<f64>);
type Both = (Array<f64, Ix0>, Array<f64>);

/// A sum in lanes, and an array.
fn both((x, y): Pair) -> Both {
    let product = &x * &y;
    (product.sum(), product)
}

fn pair(n: usize, from: f64) -> Pair {
    let xs = |by: f64| Array::from((0..n).map(|i| from + by * i as f64).collect::<Vec<_>>());
    (xs(1.0), xs(0.5))
}

/// The results of [`both`] by a loop. Its numbers are exact in any order.
fn expected(n: usize, from: f64) -> (f64, Vec<f64>) {
    let product = |i| (from + f64::from(i)) * (from + 0.5 * f64::from(i));
    let product: Vec<f64> = (0..n as u32).map(product).collect();
    (product.iter().sum(), product)
}

#[track_caller]
fn agrees(program: &Program<Pair, Both>, n: usize, from: f64) {
    let (sum, product) = program.call(&pair(n, from)).expect("nothing traps");
    assert_eq!((sum, product.to_vec().expect("it fits")), expected(n, from));
}

#[test]
fn calls__with_other_lengths_in_turn__begin_anew() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(&engine, both)?;
        let mut out = Default::default();
        for n in [8, 0, 1, 300, 8, 0, 70_000, 3] {
            agrees(&program, n, 2.0);
            program.call_into(&pair(n, 3.0), &mut out)?;
            assert_eq!((out.0, out.1.to_vec()?), expected(n, 3.0));
        }
        // All lengths have one pattern.
        assert_eq!(engine.counters().programs, 1);
    }
    Ok(())
}

#[test]
fn calls__with_another_pattern_of_lengths__use_another_program() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(
            &engine,
            |(x, y, z): (Array<i64>, Array<i64>, Array<i64>)| (x.sum(), y.sum(), z.sum()),
        )?;
        let ones = |n: usize| Array::from(vec![1i64; n]);
        let patterns = [[4, 4, 4], [4, 4, 5], [4, 5, 4], [5, 4, 4], [3, 4, 5]];
        for round in 1..3 {
            for (k, [a, b, c]) in patterns.into_iter().enumerate() {
                let [a, b, c] = [a, b, c].map(|n| n * round);
                let sums = program.call(&(ones(a), ones(b), ones(c)))?;
                assert_eq!(sums, (a as i64, b as i64, c as i64));
                let known = if round == 1 { k + 1 } else { patterns.len() };
                assert_eq!(engine.counters().programs, known as u64);
            }
        }
    }
    Ok(())
}

#[test]
fn calls__from_eight_threads__share_a_program() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(&engine, both)?;
        std::thread::scope(|scope| {
            for thread in 0..8usize {
                let program = &program;
                scope.spawn(move || {
                    let mut out = Default::default();
                    for round in 0..50 {
                        let (n, from) = (thread * 5 + round % 3, round as f64);
                        agrees(program, n, from);
                        let call = program.call_into(&pair(n, from), &mut out);
                        call.expect("nothing traps");
                        assert_eq!((out.0, out.1.to_vec().expect("it fits")), expected(n, from));
                    }
                });
            }
        });
        assert_eq!(engine.counters().programs, 1);
    }
    Ok(())
}

/// The callback of a long loop calls the program that runs, within that run.
#[test]
fn calls__within_a_call_of_the_same_program__have_frames_of_their_own() -> Result<()> {
    let inner: Arc<OnceLock<Program<Pair, Both>>> = Arc::default();
    let calls = Arc::new(AtomicU64::new(0));
    let (program, count) = (inner.clone(), calls.clone());
    let engine = Engine::new(Arc::new(InterpBackend::with_chunk(64))).with_progress(move |_| {
        if let Some(program) = program.get() {
            agrees(program, 5, 1.0);
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    let outer = inner.get_or_init(|| prepare_with(&engine, both).expect("it compiles"));
    agrees(outer, 40_000, 2.0);
    let within = calls.load(Ordering::Relaxed);
    assert!(within > 0);
    agrees(outer, 6, 2.0);
    Ok(())
}

#[test]
fn calls__after_a_panic_of_the_callback__begin_anew() -> Result<()> {
    let left = Arc::new(AtomicU64::new(1));
    let once = left.clone();
    let engine = Engine::new(Arc::new(InterpBackend::with_chunk(64)));
    let engine = engine.with_progress(move |_| {
        if once.swap(0, Ordering::Relaxed) == 1 {
            panic!("the callback");
        }
    });
    let program = prepare_with(&engine, both)?;
    let mut out = program.call(&pair(3, 1.0))?;
    left.store(1, Ordering::Relaxed);
    let call = || program.call_into(&pair(40_000, 1.0), &mut out);
    assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
    assert!(out.1.is_empty() && out.1.iter().next().is_none());
    for n in [40_000, 4] {
        agrees(&program, n, 2.0);
    }
    Ok(())
}

#[test]
fn calls__after_a_trap_in_the_middle__begin_anew() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(&engine, |(xs, at): (Array<i64>, Array<u64>)| {
            let kept = xs.gather(&at);
            (kept.sum(), kept.scan(0, |a, b| a + b))
        })?;
        let xs: Array<i64> = (0..50).collect();
        let at = |bad: Option<u64>| -> Array<u64> {
            (0..40_000)
                .map(|i| bad.filter(|_| i == 30_000).unwrap_or(i % 50))
                .collect()
        };
        for index in [50, 51, 99] {
            let error = program.call(&(xs.clone(), at(Some(index)))).unwrap_err();
            assert_eq!(
                error.kind,
                ErrorKind::OutOfRange {
                    index: index.into(),
                    len: 50
                }
            );
            assert_eq!(error.element, Some(30_000));
            let (sum, sums) = program.call(&(xs.clone(), at(None)))?;
            assert_eq!((sum, sums[39_999], sums[2]), (980_000, 980_000, 3));
        }
    }
    Ok(())
}

#[test]
fn calls__that_are_cancelled__leave_a_program_usable() -> Result<()> {
    for engine in engines() {
        let token = CancelToken::new();
        let stopped = prepare_with(&engine.with_cancel(token.clone()), both)?;
        let free = prepare_with(&engine, both)?;
        agrees(&stopped, 9, 1.0);
        token.cancel();
        let error = stopped.call(&pair(9, 1.0)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Cancelled);
        // Both have one compiled program.
        assert_eq!(engine.counters().programs, 1);
        agrees(&free, 9, 1.0);
    }
    Ok(())
}

/// Results that are also inputs keep their elements until the loop has read them.
#[test]
fn calls_into_arrays__that_are_also_inputs__do_not_write_over_them() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(&engine, |(x, y): (Array<i64>, Array<i64>)| {
            (x.scan(0, |a, b| a + b), y.reverse())
        })?;
        let start: Array<i64> = (1..6).collect();
        let mut out = program.call((&start, &start))?;
        let before = engine.counters().written_over;
        for _ in 0..2 {
            let (x, y) = (Array::from(&out.1), Array::from(&out.0));
            let olds = (out.0.to_vec()?, out.1.to_vec()?);
            program.call_into((&x, &y), &mut out)?;
            let sums = olds.1.iter().scan(0, |sum, x| {
                *sum += x;
                Some(*sum)
            });
            assert_eq!(out.0.to_vec()?, sums.collect::<Vec<i64>>());
            assert_eq!(
                out.1.to_vec()?,
                olds.0.iter().rev().copied().collect::<Vec<_>>()
            );
            assert_eq!(
                (x.force()?.to_vec()?, y.force()?.to_vec()?),
                (olds.1, olds.0)
            );
        }
        assert_eq!(engine.counters().written_over, before);
        // Nobody else refers to them now.
        let places = [&out.0, &out.1].map(|column| column.as_ptr());
        program.call_into((&start, &start), &mut out)?;
        assert_eq!([&out.0, &out.1].map(|column| column.as_ptr()), places);
        assert_eq!(engine.counters().written_over, before + 2);
    }
    Ok(())
}

/// One column is an array of the caller, the other is an input that is passed on.
#[test]
fn results__that_occur_twice_or_are_inputs__share_memory() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(&engine, |x: Array<i64>| {
            let twice = x.map(|x| x * 2);
            (twice.clone(), twice, x)
        })?;
        let mut out = Default::default();
        for n in [4, 2, 7] {
            let x: Array<i64> = (0..n).collect();
            program.call_into(&x, &mut out)?;
            let (a, b, same) = &out;
            assert_eq!(
                (a.as_ptr(), same.as_ptr()),
                (b.as_ptr(), x.force()?.as_ptr())
            );
            assert_eq!(a.to_vec()?, (0..n).map(|x| x * 2).collect::<Vec<_>>());
        }
    }
    Ok(())
}
