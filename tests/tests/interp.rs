//! Thousands of random programs on the interpreter, as one span and span by span, against the naive
//! evaluator.

use livefusion::Engine;
use livefusion_interp::InterpBackend;
use livefusion_tests::backends::Spans;
use livefusion_tests::check::{against_naive, agree, report, run};
use livefusion_tests::program::{Options, random};
use std::sync::Arc;

#[test]
fn small_programs() {
    let engine = Engine::interp();
    for seed in first_seed()..first_seed() + 3000 {
        let program = random(seed, Options::SMALL);
        if against_naive(&program, &engine).is_err() {
            report(seed, &program, |p| against_naive(p, &Engine::interp()).err());
        }
    }
}

#[test]
fn programs_of_several_chunks() {
    let engine = Engine::interp();
    for seed in first_seed()..first_seed() + 25 {
        let program = random(seed, Options::CHUNKS);
        if against_naive(&program, &engine).is_err() {
            report(seed, &program, |p| against_naive(p, &Engine::interp()).err());
        }
    }
}

#[test]
fn span_by_span() {
    let whole = Engine::interp();
    let check = |p: &_, seed| {
        let spans = Engine::new(Arc::new(Spans::new(vec![Arc::new(InterpBackend::new())], seed)));
        let (a, b) = (run(p, &whole)?, run(p, &spans)?);
        agree(&a, &b)
    };
    for seed in first_seed()..first_seed() + 700 {
        let options = if seed % 50 == 0 { Options::CHUNKS } else { Options::SMALL };
        let program = random(seed, options);
        if check(&program, seed).is_err() {
            report(seed, &program, |p| check(p, seed).err());
        }
    }
}

/// `LOOP_SEED` explores other programs.
fn first_seed() -> u64 {
    std::env::var("LOOP_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0)
}
