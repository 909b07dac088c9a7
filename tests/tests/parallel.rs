//! Loops on several threads give the bits of one thread.
//!
//! Covered: random programs on engines that share eagerly, written programs, traps, early exits,
//! many callers, calls inside rayon, progress and cancellation.

use crate::written::Input;
use livefusion::ast::Node;
use livefusion::prelude::*;
use livefusion::runtime::force_nodes;
use livefusion_backend::Backend;
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;
use livefusion_tests::check::{agree, check_all, data, run};
use livefusion_tests::program::{Options, Way, programs, random};
use livefusion_tests::rng::Rng;
use std::sync::Arc;

/// Small chunks, so that small arrays have many.
const GRIDS: [u64; 3] = [8, 16, 13];

/// Arrays of several such chunks.
const LENGTHS: Options = Options {
    steps: 12,
    lengths: &[0, 5, 40, 48, 64, 65, 100, 130],
    way: Way::Drawn,
};

fn alone(backend: Arc<dyn Backend>) -> Engine {
    Engine::builder().backend(backend).threads(1).build()
}

fn eager(backend: Arc<dyn Backend>, threads: usize) -> Engine {
    Engine::builder()
        .backend(backend)
        .threads(threads)
        .eager()
        .build()
}

/// An engine whose result arrays begin with `bytes` bytes, where allowed, and grow during every
/// kind of loop.
fn short(backend: Arc<dyn Backend>, threads: usize, bytes: u64) -> Engine {
    Engine::builder()
        .backend(backend)
        .threads(threads)
        .first_room(bytes)
        .eager()
        .build()
}

#[test]
fn random_programs() {
    for (i, chunk) in GRIDS.into_iter().enumerate() {
        let inner: Arc<dyn Backend> = Arc::new(InterpBackend::with_chunk(chunk));
        let one = alone(inner.clone());
        let several = [2, 8].map(|n| eager(inner.clone(), n));
        let shorts = [1, 2].map(|n| short(inner.clone(), n, 8));
        let check = |_, p: &_| {
            let expected = run(p, &one)?;
            several
                .iter()
                .chain(&shorts)
                .try_for_each(|e| agree(&expected, &run(p, e)?))
        };
        let all = programs(300 * (i as u64 + 1), LENGTHS);
        check_all(all.skip(300 * i), check, |_, ()| {});
        for engine in &several {
            let counters = engine.counters();
            println!("{counters}");
            if std::env::var_os("LOOP_PROGRAMS").is_none() {
                assert!(counters.parallel_loops > 150, "{counters}");
                assert!(counters.parallel_chunks > 500, "{counters}");
            }
        }
        for engine in &shorts {
            println!("{}", engine.counters());
            if std::env::var_os("LOOP_PROGRAMS").is_none() {
                assert!(engine.counters().grown > 200, "{}", engine.counters());
            }
        }
    }
}

fn forced(engine: &Engine, nodes: &[Arc<Node>]) -> Result<String, String> {
    let values = force_nodes(engine, nodes).map_err(|e| e.to_string())?;
    let columns: Vec<_> = values.iter().map(data).collect();
    Ok(format!("{columns:x?}"))
}

#[test]
fn programs_over_segments_and_streams() {
    for chunk in GRIDS {
        let inner: Arc<dyn Backend> = Arc::new(InterpBackend::with_chunk(chunk));
        let one = alone(inner.clone());
        let several = [2, 4].map(|n| eager(inner.clone(), n));
        let shorts = [1, 2].map(|n| short(inner.clone(), n, 8));
        for (name, make) in crate::written::ALL {
            for seed in 0..12 {
                let input = Input::random(&mut Rng::new(seed));
                let expected = forced(&one, &make(&input));
                for engine in several.iter().chain(&shorts) {
                    let got = forced(engine, &make(&input));
                    assert_eq!(got, expected, "{name}, seed {seed}, chunks of {chunk}");
                }
            }
        }
        for engine in several {
            println!("{}", engine.counters());
            assert!(engine.counters().parallel_loops > 50, "{engine:?}");
        }
        for engine in shorts {
            assert!(engine.counters().grown > 50, "{}", engine.counters());
        }
    }
}

/// Arrays of several chunks of the language's size.
const LONG: Options = Options {
    steps: 6,
    lengths: &[16385, 65536, 90000],
    way: Way::Drawn,
};

/// With the language's chunk size, compiled, against the interpreter.
#[test]
fn long_programs_in_c() {
    let one = alone(Arc::new(InterpBackend::new()));
    let several = eager(Arc::new(CBackend::new()), 4);
    let shorts = [
        short(Arc::new(CBackend::new()), 2, 8 << 10),
        short(Arc::new(JitBackend::new()), 1, 8 << 10),
    ];
    let check = |_, p: &_| {
        let expected = run(p, &one)?;
        let mut engines = shorts.iter().chain([&several]);
        engines.try_for_each(|e| agree(&expected, &run(p, e)?))
    };
    check_all(programs(12, LONG), check, |_, ()| {});
    for engine in &shorts {
        assert!(engine.counters().grown > 20, "{}", engine.counters());
    }
    println!("{}", several.counters());
    assert!(several.counters().parallel_loops > 5, "{several:?}");
}

/// Wrapping sums combined with `max` are not associative, so the grouping of elements is visible.
#[test]
fn folds_in_runs() {
    let backends: [Arc<dyn Backend>; 2] = [Arc::new(CBackend::new()), Arc::new(JitBackend::new())];
    let reference = alone(Arc::new(InterpBackend::new()));
    let mut rng = Rng::new(5);
    for n in [0, 1, 127, 128, 700, 16_384, 70_001] {
        let xs: Vec<i64> = (0..n).map(|_| rng.word() as i64).collect();
        let steepest = |engine: &Engine| {
            let sums = Array::from(&xs).map(|x: Exp<i64>| {
                let positive = x.max(0);
                (positive, positive, positive, x)
            });
            let all = sums.fold((1, 2, 3, 4), |(m, l, r, s), (n, k, q, t)| {
                (m.max(n).max(r + k), l.max(s + k), q.max(r + t), s + t)
            });
            all.force_with(engine).expect("it runs")
        };
        let want = steepest(&reference);
        for backend in &backends {
            for engine in [alone(backend.clone()), eager(backend.clone(), 4)] {
                assert_eq!(steepest(&engine), want, "{n} with {engine:?}");
            }
        }
    }
}

/// A chunk may end in an inner loop, after the surrounding iteration has written.
#[test]
fn parallel_loop_writes_before_its_inner_loop() {
    let inner: Arc<dyn Backend> = Arc::new(InterpBackend::with_chunk(16));
    let (one, several) = (alone(inner.clone()), eager(inner, 4));
    let p = random(564, LENGTHS);
    let expected = run(&p, &one).expect("it runs");
    let got = run(&p, &several).expect("it runs");
    agree(&expected, &got).expect("the same");
}
