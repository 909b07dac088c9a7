//! Random programs with parts such as sorts, random numbers, histograms and transforms.
//!
//! They are compared with the naive evaluator, and must agree on all backends.

use livefusion::Engine;
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;
use livefusion_tests::backends::{self, Spans};
use livefusion_tests::check::{against_naive, agree, check_all, run};
use livefusion_tests::program::{Options, Program, Step, programs};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Several tiles of elements. Reference evaluations loop over all pairs, which limits the lengths.
const LONG: Options = Options {
    steps: 8,
    lengths: &[1000, 1025, 2500],
    ..Options::PARTS
};

#[test]
fn parts_are_what_they_should_be() {
    let interp = Engine::interp();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    check_all(
        programs(900, Options::PARTS),
        |_, p| against_naive(p, &interp),
        |p, _| {
            for step in &p.steps {
                if let Step::Part(part, _) = step {
                    *seen.entry(part.name()).or_default() += 1;
                }
            }
        },
    );
    if std::env::var_os("LOOP_PROGRAMS").is_none() {
        assert!(
            seen.len() == 84 && seen.values().all(|n| *n > 20),
            "{seen:?}"
        );
    }
}

#[test]
fn parts_are_the_same_on_all_backends() {
    let interp = Engine::interp();
    let jit = Engine::new(Arc::new(JitBackend::new()));
    let c = Engine::new(Arc::new(backends::c()));
    let tiered = Engine::builder().threads(2).eager().build();
    let check = |seed, p: &Program| {
        let reference = run(p, &interp)?;
        agree(&reference, &run(p, &jit)?).map_err(|e| format!("jit: {e}"))?;
        agree(&reference, &run(p, &tiered)?).map_err(|e| format!("tiered: {e}"))?;
        if seed % 8 == 0 {
            agree(&reference, &run(p, &c)?).map_err(|e| format!("c: {e}"))?;
        }
        let cut = Spans::new(vec![Arc::new(InterpBackend::new())], seed);
        agree(&reference, &run(p, &Engine::new(Arc::new(cut)))?).map_err(|e| format!("cut: {e}"))
    };
    check_all(programs(120, Options::PARTS), check, |_, ()| {});
    let both = |seed, p: &Program| {
        against_naive(p, &interp)?;
        check(seed, p)
    };
    check_all(programs(30, LONG), both, |_, ()| {});
}
