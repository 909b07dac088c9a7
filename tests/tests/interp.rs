//! Thousands of random programs on the interpreter, against the naive evaluator.
//!
//! They run as one span and span by span.

use livefusion::Engine;
use livefusion_interp::InterpBackend;
use livefusion_tests::backends::Spans;
use livefusion_tests::check::{against_naive, agree, check_all, one_by_one, run};
use livefusion_tests::coverage::Coverage;
use livefusion_tests::patterns::Patterns;
use livefusion_tests::program::{Options, programs, programs_of};
use std::sync::Arc;

/// Pairs that no loop can hold, with reasons. Any other pair must have shared a loop.
const APART: &[(&str, &str)] = &[];

/// Two thousand random programs, then wired ones until all pairs occurred. Wired programs use few
/// arrays in many ways, which combines rare pairs.
#[test]
fn small_programs_of_all_pairs() {
    let engine = Engine::interp();
    let mut coverage = Coverage::default();
    for round in 0..10 {
        if round >= 2 && coverage.missing() == APART {
            break;
        }
        let options = if round < 2 {
            Options::SMALL
        } else {
            Options::WIRED
        };
        check_all(
            programs_of(1000 * round..1000 * (round + 1), options),
            |_, p| against_naive(p, &engine),
            |p, ran| coverage.add(p, &ran),
        );
    }
    if std::env::var_os("LOOP_PROGRAMS").is_none() {
        assert_eq!(
            coverage.missing(),
            APART,
            "pairs of combinators that never shared a loop"
        );
    }
}

/// Conditions whose arms share a trapping term.
#[test]
fn conditions_that_share_terms_give_what_programs_mean() {
    let engine = Engine::interp();
    check_all(
        programs(600, Options::SHARING),
        |_, p| against_naive(p, &engine),
        |_, _| {},
    );
}

/// Four rounds of the cycle of patterns.
#[test]
fn wired_programs_of_all_patterns() {
    let engine = Engine::interp();
    let mut patterns = Patterns::default();
    check_all(
        programs(1764, Options::WIRED),
        |_, p| against_naive(p, &engine),
        |p, ran| patterns.add(p, &ran),
    );
    if std::env::var_os("LOOP_PROGRAMS").is_none() {
        assert!(
            patterns.missing().is_empty(),
            "arrays were never used so: {:#?}",
            patterns.missing()
        );
    }
}

#[test]
fn step_by_step() {
    let engine = Engine::interp();
    let several = programs(300, Options::SMALL).chain(programs(100, Options::WIRED));
    check_all(several, |seed, p| one_by_one(p, &engine, seed), |_, ()| {});
}

#[test]
fn programs_of_several_chunks() {
    let engine = Engine::interp();
    check_all(
        programs(25, Options::CHUNKS),
        |_, p| against_naive(p, &engine),
        |_, _| {},
    );
}

#[test]
fn span_by_span() {
    let whole = Engine::interp();
    let several = programs(250, Options::SMALL)
        .chain(programs(100, Options::WIRED))
        .chain(programs(10, Options::CHUNKS));
    let check = |seed, p: &_| {
        let spans = Engine::new(Arc::new(Spans::new(
            vec![Arc::new(InterpBackend::new())],
            seed,
        )));
        agree(&run(p, &whole)?, &run(p, &spans)?)
    };
    check_all(several, check, |_, ()| {});
}
