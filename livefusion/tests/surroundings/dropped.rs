//! Engines dropped while other threads use their results, programs, runs or compilations.

use crate::{long, numbered, value_of_numbered, within_a_minute};
use livefusion::KernelCache;
use livefusion::prelude::*;
use livefusion::prepare::prepare_with;
use std::sync::{Arc, Barrier};

fn engines() -> Vec<(&'static str, Engine)> {
    let uncached = || Engine::builder().kernel_cache(KernelCache::off());
    vec![
        ("interp", Engine::interp()),
        #[cfg(feature = "jit")]
        ("jit", Engine::jit()),
        ("c", uncached().only_c().build()),
        ("default", uncached().threads(3).build()),
    ]
}

#[test]
fn engine_is_dropped_results_and_prepared_programs_stay() {
    for (name, engine) in engines() {
        let xs = Array::from(vec![1.5f64, -2.0, 4.0]);
        let squares = xs.map(|x| x * x);
        let result = squares.force_with(&engine).expect(name);
        let total = prepare_with(&engine, |xs: Array<f64>| xs.map(|x| x * 3.0).sum()).expect(name);
        assert_eq!(total.call(&xs), Ok(10.5), "{name}");
        drop(engine);
        assert_eq!(result, [2.25, 4.0, 16.0], "{name}");
        assert_eq!(squares.sum().force(), Ok(22.25), "{name}");
        // With the lengths that it was compiled for, and others.
        assert_eq!(total.call(&xs), Ok(10.5), "{name}");
        assert_eq!(total.call(&xs.append(&xs)), Ok(21.0), "{name}");
    }
}

#[test]
fn engine_is_dropped_while_other_threads_force() {
    let expected = long().force_with(&Engine::interp()).expect("it runs");
    for round in 0..3 {
        for (name, engine) in engines() {
            within_a_minute(move || {
                let begun = Arc::new(Barrier::new(4));
                let force = |engine: Engine, k: u64| {
                    let begun = begun.clone();
                    move || {
                        begun.wait();
                        let bits = long().force_with(&engine).map(f64::to_bits);
                        assert_eq!(bits, Ok(expected.to_bits()), "{name}");
                        let new = numbered(k, 999).force_with(&engine);
                        assert_eq!(new, Ok(value_of_numbered(k, 999)), "{name}");
                    }
                };
                let threads: Vec<_> = (0..3)
                    .map(|k| std::thread::spawn(force(engine.clone(), round + k)))
                    .collect();
                begun.wait();
                drop(engine);
                for thread in threads {
                    thread.join().expect("it forces");
                }
            });
        }
    }
}

#[cfg(feature = "jit")]
#[test]
fn engine_is_dropped_while_c_is_compiled_in_the_background() {
    let turned = |k: u64| {
        let xs = iota(400_000).map(|i| while_loop(i % (k + 7), |k| k.lt(50), |k| k + 3));
        xs.sum()
    };
    within_a_minute(move || {
        for k in 0..4 {
            let engine = Engine::builder().kernel_cache(KernelCache::off()).build();
            let expected = turned(k).force_with(&Engine::interp());
            assert_eq!(turned(k).force_with(&engine), expected);
            let explained = turned(k).explain_with(&engine).expect("a plan").to_string();
            let requested = ["C requested", "compiled as C"];
            assert!(
                requested.iter().any(|w| explained.contains(w)),
                "{explained}"
            );
            drop(engine);
            // The background thread serves the next engine.
            assert_eq!(numbered(k, 99).force(), Ok(value_of_numbered(k, 99)));
        }
    });
}
