//! Random programs through Cranelift: equal to the interpreter bit for bit.
//!
//! Traps are included. They run as one span, in several spans, with alternating backends, and on
//! the default engine with helpers.

use livefusion::Engine;
use livefusion_backend::Backend;
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;
use livefusion_tests::backends::Spans;
use livefusion_tests::check::{agree, check_all, run};
use livefusion_tests::program::{Options, Program, programs};
use std::sync::Arc;

#[test]
fn jit_is_the_interpreter_bit_for_bit() {
    let programs = programs(150, Options::SMALL)
        .chain(programs(80, Options::WIRED).map(|(seed, p)| (seed + 2_000_000, p)))
        .chain(programs(80, Options::SHARING).map(|(seed, p)| (seed + 3_000_000, p)))
        .chain(programs(12, Options::CHUNKS).map(|(seed, p)| (seed + 1_000_000, p)));
    let interp = Engine::interp();
    let jit: Arc<dyn Backend> = Arc::new(JitBackend::new());
    let tiered = Engine::builder().threads(2).eager().build();
    let check = |seed, p: &Program| {
        let reference = run(p, &interp)?;
        agree(&reference, &run(p, &Engine::new(jit.clone()))?)?;
        agree(&reference, &run(p, &tiered)?).map_err(|e| format!("tiered: {e}"))?;
        let cut = Spans::new(vec![jit.clone()], seed);
        agree(&reference, &run(p, &Engine::new(Arc::new(cut)))?)
            .map_err(|e| format!("cut: {e}"))?;
        let by_turns = Spans::new(vec![Arc::new(InterpBackend::new()), jit.clone()], seed);
        agree(&reference, &run(p, &Engine::new(Arc::new(by_turns)))?)
            .map_err(|e| format!("by turns: {e}"))
    };
    check_all(programs, check, |_, ()| {});
    let tiers = tiered.counters().tiers;
    assert!(tiers.interp > 0 && tiers.jit > 0, "{tiers:?}");
}
