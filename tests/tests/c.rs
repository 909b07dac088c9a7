//! Random programs through C, compiled in few runs of the compiler: equal to the interpreter bit for
//! bit, traps included, as one span, cut into spans, and with spans on both backends by turns.

use livefusion::Engine;
use livefusion_backend::Backend;
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use livefusion_tests::backends::{Known, Spans};
use livefusion_tests::check::{agree, check_all, run};
use livefusion_tests::program::{Options, Program, programs};
use loop_lang::Loop;
use std::sync::Arc;

#[test]
fn c_is_the_interpreter_bit_for_bit() {
    let programs: Vec<(u64, Program)> = programs(300, Options::SMALL)
        .chain(programs(12, Options::CHUNKS).map(|(s, p)| (s + 1_000_000, p)))
        .collect();
    let interp = Engine::interp();
    let loops: Vec<Loop> = programs.iter().flat_map(|(_, p)| loops_of(p, &interp)).collect();
    assert!(loops.len() > 300);
    let known = Arc::new(Known::compile(&CBackend::new(), &loops).expect("C compiles"));
    let whole = Engine::new(known.clone());
    check_all(programs, |seed, p| {
        let backend: Arc<dyn Backend> = if all_known(p, &whole) { known.clone() } else { Arc::new(CBackend::new()) };
        let reference = run(p, &interp)?;
        agree(&reference, &run(p, &Engine::new(backend.clone()))?)?;
        let cut = Spans::new(vec![backend.clone()], seed);
        agree(&reference, &run(p, &Engine::new(Arc::new(cut)))?).map_err(|e| format!("cut: {e}"))?;
        let by_turns = Spans::new(vec![Arc::new(InterpBackend::new()), backend], seed);
        agree(&reference, &run(p, &Engine::new(Arc::new(by_turns)))?)
            .map_err(|e| format!("by turns: {e}"))
    });
}

fn loops_of(p: &Program, engine: &Engine) -> Vec<Loop> {
    let explained = engine.explain(&p.build().roots).expect("a program can be planned");
    explained.loops.into_iter().map(|l| l.program).collect()
}

/// Smaller programs, made to find the cause of a failure, have loops of their own.
fn all_known(p: &Program, engine: &Engine) -> bool {
    engine.explain(&p.build().roots).is_ok()
}
