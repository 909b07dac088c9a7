//! Panics in user functions propagate to the caller and leave no state.
//!
//! Callbacks may wait for other threads.

use crate::{eager, long, numbered, value_of_numbered, within_a_minute};
use livefusion::custom::{Combinator, Output, Template};
use livefusion::prelude::*;
use livefusion::{ErrorKind, Exp};
use loop_lang::Ty;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;

/// Engines with one and with several threads.
fn engines() -> Vec<Engine> {
    let mut engines = vec![
        Engine::interp(),
        Engine::builder().threads(4).build(),
        eager(3),
    ];
    #[cfg(feature = "jit")]
    engines.push(Engine::jit());
    engines
}

/// The message of a panic in `body`.
fn panicked<R>(body: impl FnOnce() -> R) -> String {
    let caught = catch_unwind(AssertUnwindSafe(body)).err();
    let payload = caught.expect("a panic goes through");
    payload.downcast_ref::<&str>().expect("its own").to_string()
}

/// Asserts that an engine still works.
fn is_sound(engine: &Engine) {
    assert_eq!(
        numbered(5, 500).force_with(engine),
        Ok(value_of_numbered(5, 500))
    );
    let expected = long().force_with(&Engine::interp()).expect("it runs");
    assert_eq!(
        long().force_with(engine).map(f64::to_bits),
        Ok(expected.to_bits())
    );
}

#[test]
fn external_panics_the_caller_sees_it_and_may_force_again() {
    for engine in engines() {
        let left = Arc::new(AtomicUsize::new(1));
        let xs = Array::from(vec![1i64, 2, 3]);
        let before = xs.map(|x| x * 2);
        let made = before.external(move |xs| {
            if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                panic!("of the function");
            }
            xs.iter().rev().copied().collect::<Vec<i64>>()
        });
        let behind = made.map(|x| x + 1);
        assert_eq!(panicked(|| behind.force_with(&engine)), "of the function");
        assert_eq!(behind.force_with(&engine).expect("it runs"), [7, 5, 3]);
        assert_eq!(before.force_with(&engine).expect("it runs"), [2, 4, 6]);
        is_sound(&engine);
    }
}

#[test]
fn external_panics_in_some_of_many_threads_the_others_get_their_result() {
    let engine = Engine::builder().threads(4).build();
    let calls = within_a_minute(move || {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = calls.clone();
        let made = iota(1000).external(move |xs| {
            if counted.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
                panic!("every other call");
            }
            xs.to_vec()
        });
        let sum = made.sum();
        std::thread::scope(|scope| {
            let force = || catch_unwind(AssertUnwindSafe(|| sum.force_with(&engine)));
            let forced: Vec<_> = (0..8).map(|_| scope.spawn(force)).collect();
            for thread in forced {
                // A panic, or the value.
                if let Ok(value) = thread.join().expect("caught") {
                    assert_eq!(value, Ok(499_500));
                }
            }
        });
        let _ = catch_unwind(AssertUnwindSafe(|| sum.force_with(&engine)));
        assert_eq!(sum.force_with(&engine), Ok(499_500));
        is_sound(&engine);
        calls.load(Ordering::Relaxed)
    });
    assert!(calls >= 2);
}

#[test]
fn progress_panics_the_caller_sees_it_and_may_force_again() {
    for engine in engines() {
        let told = AtomicUsize::new(0);
        let watched = engine.with_progress(move |_| {
            if told.fetch_add(1, Ordering::Relaxed) == 1 {
                panic!("of the callback");
            }
        });
        let sum = iota(3_000_000).map(|i| (i % 7) * i).sum();
        assert_eq!(panicked(|| sum.force_with(&watched)), "of the callback");
        let expected = (0..3_000_000).map(|i| (i % 7) * i).sum();
        assert_eq!(sum.force_with(&watched), Ok(expected));
        is_sound(&watched);
    }
}

/// The callback hands its work to another pool, and waits without rayon. The jobs of its own pool
/// stay pending.
#[test]
fn progress_waits_for_another_pool_while_its_own_has_an_endless_job() {
    let pool = |n| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(n)
            .build()
            .expect("a pool")
    };
    for round in 0..20 {
        within_a_minute(move || {
            let (two, other) = (pool(2), Arc::new(pool(1)));
            let over = Arc::new(AtomicBool::new(false));
            let until = over.clone();
            let engine = eager(2).with_progress(move |_| {
                let (send, done) = channel();
                other.spawn(move || _ = send.send(()));
                done.recv().expect("the other pool works");
            });
            let sum = two.install(|| {
                rayon::spawn(move || {
                    while !until.load(Ordering::Acquire) {
                        std::thread::yield_now();
                    }
                });
                numbered(round, 5000).force_with(&engine)
            });
            over.store(true, Ordering::Release);
            assert_eq!(sum, Ok(value_of_numbered(round, 5000)));
        });
    }
}

#[test]
fn closure_panics_while_it_is_traced_nothing_of_it_is_left() {
    fn fails() -> Exp<i64> {
        panic!("of the closure")
    }
    let xs = Array::from(vec![3i64, 1, 2]);
    let rows = Segmented::new(&Array::from(vec![1u64, 2]), &xs);
    let traced: Vec<Box<dyn Fn()>> = vec![
        Box::new(|| drop(xs.map(|_| fails()))),
        Box::new(|| drop(xs.filter(|_| fails().gt(0)))),
        Box::new(|| drop(xs.fold(0, |_, _| fails()))),
        Box::new(|| drop(xs.map(|x| while_loop(x, |_| fails().gt(0), |x| x)))),
        Box::new(|| drop(xs.map(|x| while_loop(x, |x| x.gt(0), |_| fails())))),
        Box::new(|| drop(rows.map(|_| fails()))),
        Box::new(|| drop(iterate_n(3, &xs, |xs| xs.map(|_| fails())))),
        Box::new(|| drop(prepare(|xs: Array<i64>| xs.map(|_| fails())))),
    ];
    for (at, trace) in traced.iter().enumerate() {
        for _ in 0..50 {
            assert_eq!(panicked(trace), "of the closure", "{at}");
        }
        let doubled = xs.map(|x| while_loop(x, |x| x.lt(10), |x| x * 2));
        assert_eq!(doubled.force().expect("it runs"), [12, 16, 16], "{at}");
        let turned = iterate_n(3, &xs, |xs| xs.map(|x| x + 1));
        assert_eq!(turned.force().expect("it runs"), [6, 4, 5], "{at}");
    }
    let mut kept = None;
    panicked(|| {
        xs.map(|x| {
            kept = Some(x);
            fails()
        })
    });
    let kept = kept.expect("it was called");
    for leaked in [xs.map(|x| x + kept), xs.map(|_| kept + 1)] {
        let error = leaked.force().expect_err("that closure is over");
        assert_eq!(error.kind, ErrorKind::LeakedExp);
    }
}

/// Doubles, unless its template panics.
#[derive(Debug)]
struct Doubled(Arc<AtomicBool>);

impl Combinator for Doubled {
    fn name(&self) -> &'static str {
        "doubled"
    }
    fn output(&self, _: &[Ty]) -> Option<Output> {
        Some(Output::InStep(vec![Ty::I64]))
    }
    fn fill(&self, t: &mut Template<'_, '_>) -> livefusion::Result<()> {
        if self.0.load(Ordering::Relaxed) {
            panic!("of the template");
        }
        let x = t.element(0)?;
        let twice = t.op(loop_lang::Op::Add, &[x, x])?;
        t.give(0, twice)
    }
}

#[test]
fn custom_panics_while_it_is_compiled_no_program_is_kept() {
    for engine in engines() {
        within_a_minute(move || {
            let fails = Arc::new(AtomicBool::new(true));
            let doubled =
                || -> Array<i64> { Array::from(vec![1i64, 2]).custom(Doubled(fails.clone())) };
            let force = || doubled().force_with(&engine);
            std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| panicked(force))).collect();
                for thread in threads {
                    assert_eq!(thread.join().expect("caught"), "of the template");
                }
            });
            assert_eq!(engine.counters().programs, 0);
            fails.store(false, Ordering::Relaxed);
            assert_eq!(force().expect("it runs"), [2, 4]);
            assert_eq!(engine.counters().programs, 1);
            is_sound(&engine);
        });
    }
}
