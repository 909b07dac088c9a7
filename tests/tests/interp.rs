//! Thousands of random programs on the interpreter, as one span and span by span, against the naive
//! evaluator.

use livefusion::Engine;
use livefusion_interp::InterpBackend;
use livefusion_tests::backends::Spans;
use livefusion_tests::check::{against_naive, agree, check_all, run};
use livefusion_tests::program::{Options, programs};
use std::sync::Arc;

#[test]
fn small_programs() {
    let engine = Engine::interp();
    check_all(programs(3000, Options::SMALL), |_, p| against_naive(p, &engine));
}

#[test]
fn programs_of_several_chunks() {
    let engine = Engine::interp();
    check_all(programs(25, Options::CHUNKS), |_, p| against_naive(p, &engine));
}

#[test]
fn span_by_span() {
    let whole = Engine::interp();
    let several = programs(700, Options::SMALL).chain(programs(10, Options::CHUNKS));
    check_all(several, |seed, p| {
        let spans = Engine::new(Arc::new(Spans::new(vec![Arc::new(InterpBackend::new())], seed)));
        agree(&run(p, &whole)?, &run(p, &spans)?)
    });
}
