//! Random programs through C: equal to the interpreter bit for bit, traps included.
//!
//! They run as one span, in several spans, and with alternating backends. Few runs of the compiler
//! compile all of them.

use livefusion::Engine;
use livefusion_backend::Backend;
use livefusion_interp::InterpBackend;
use livefusion_tests::backends::{self, Known, Spans};
use livefusion_tests::check::{agree, check_all, run};
use livefusion_tests::program::{Options, Program, programs};
use std::sync::Arc;

#[test]
fn c_is_the_interpreter_bit_for_bit() {
    let programs: Vec<(u64, Program)> = programs(150, Options::SMALL)
        .chain(programs(60, Options::WIRED).map(|(s, p)| (s + 2_000_000, p)))
        .chain(programs(20, Options::SHARING).map(|(s, p)| (s + 3_000_000, p)))
        .chain(programs(12, Options::CHUNKS).map(|(s, p)| (s + 1_000_000, p)))
        .collect();
    let interp = Engine::interp();
    let known = Arc::new(Known::of(backends::c(), programs.iter().map(|(_, p)| p)));
    if std::env::var_os("LOOP_PROGRAMS").is_none() {
        assert!(known.len() > 250);
    }
    let check = |seed, p: &Program| {
        if backends::is_sanitized() {
            // A fault ends the process after this output.
            eprintln!("seed {seed}");
        }
        let backend: Arc<dyn Backend> = known.clone();
        let reference = run(p, &interp)?;
        agree(&reference, &run(p, &Engine::new(backend.clone()))?)?;
        let cut = Spans::new(vec![backend.clone()], seed);
        agree(&reference, &run(p, &Engine::new(Arc::new(cut)))?)
            .map_err(|e| format!("cut: {e}"))?;
        let by_turns = Spans::new(vec![Arc::new(InterpBackend::new()), backend], seed);
        agree(&reference, &run(p, &Engine::new(Arc::new(by_turns)))?)
            .map_err(|e| format!("by turns: {e}"))
    };
    check_all(programs, check, |_, ()| {});
}
