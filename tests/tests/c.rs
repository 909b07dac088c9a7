//! Random programs through C, compiled in few runs of the compiler: equal to the interpreter bit for
//! bit, traps included, as one span, cut into spans, and with spans on both backends by turns.

use livefusion::Engine;
use livefusion_backend::Backend;
use livefusion_interp::InterpBackend;
use livefusion_tests::backends::{self, Known, Spans};
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
    let loops: Vec<Loop> = programs
        .iter()
        .flat_map(|(_, p)| loops_of(p, &interp))
        .collect();
    if std::env::var_os("LOOP_PROGRAMS").is_none() {
        assert!(loops.len() > 300);
    }
    let known = Arc::new(Known::compile(&backends::c(), &loops).expect("C compiles"));
    let check = |seed, p: &Program| {
        if backends::is_sanitized() {
            // A fault ends the process: this is the last word of it.
            eprintln!("seed {seed}");
        }
        let backend = backend_for(p, &interp, &known);
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

fn loops_of(p: &Program, engine: &Engine) -> Vec<Loop> {
    let explained = engine
        .explain(&p.build().roots)
        .expect("a program can be planned");
    let loops = explained.loops.into_iter();
    loops
        .flat_map(|l| [Some(l.program), l.sizing])
        .flatten()
        .collect()
}

/// Smaller programs, made to find the cause of a failure, have loops that were not compiled before.
fn backend_for(p: &Program, engine: &Engine, known: &Arc<Known>) -> Arc<dyn Backend> {
    if loops_of(p, engine).iter().all(|l| known.compile(l).is_ok()) {
        known.clone()
    } else {
        Arc::new(backends::c())
    }
}
