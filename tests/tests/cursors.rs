//! Golden loops with cursors over long arrays, on every backend.
//!
//! Lanes, prefixes and chunks meet cursors that pause and resume.

use livefusion_backend::{Arg, Backend, Kernel, Outcome, Pass};
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;
use livefusion_tests::backends::{Cut, Known, c};
use livefusion_tests::loops::{Argument, run};
use livefusion_tests::mutants::golden_loops;
use livefusion_tests::program::buffer;
use livefusion_tests::rng::Rng;
use loop_lang::Loop;
use loop_lang::ir::{ParamKind, RateKind};
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// More than two chunks of a cursor's input.
const LONG: u64 = 33_500;

#[test]
fn long_streams_end_alike_on_every_backend() {
    let cursor = |l: &Loop| (l.rates.iter()).any(|r| matches!(r.kind, RateKind::Cursor { .. }));
    let golden: Vec<(String, Loop)> = (golden_loops().into_iter())
        .filter(|(name, l)| name.contains("/golden/") && cursor(l))
        .collect();
    assert!(golden.len() > 14, "{}", golden.len());
    let programs: Vec<Loop> = golden.iter().map(|(_, l)| l.clone()).collect();
    let known = Known::compile(c(), &programs).expect("C compiles");
    let mut ended = 0;
    for (name, program) in &golden {
        let backends: [&dyn Backend; 3] = [&InterpBackend::new(), &JitBackend::new(), &known];
        let kernels: Vec<Arc<dyn Kernel>> = (backends.iter())
            .map(|b| b.compile(program).expect("it verifies"))
            .collect();
        let owned = arguments(program, &mut Rng::new(1));
        let args: Vec<Arg<'_>> = owned.iter().map(Argument::arg).collect();
        let want = run(&*kernels[0], Pass::Emit, u64::MAX, &args);
        let (steps, ends) = match &want.outcome {
            Outcome::Trapped(Some(report)) => (report.steps, 0),
            _ => (want.frame.words[1], 1),
        };
        assert!(steps > LONG, "{name}: {steps} steps, {:?}", want.outcome);
        ended += ends;
        let check = |how: &str, kernel: &dyn Kernel| {
            if let Some(why) = want.differs(&run(kernel, Pass::Emit, u64::MAX, &args)) {
                panic!("{name}, {how}: {why}");
            }
        };
        check("jit", &*kernels[1]);
        check("c", &*kernels[2]);
        check("in spans", &Cut::new(kernels[2..].to_vec(), 2));
        check("by turns", &Cut::new(kernels.clone(), 3));
    }
    // The others trap at their end, because one input has more elements.
    assert!(ended > 10, "{ended}");
}

/// Inputs that keep equally many elements: arrays and numbers.
fn arguments(program: &Loop, rng: &mut Rng) -> Vec<Argument> {
    let mut len = LONG;
    let mut args = Vec::new();
    for p in &program.params {
        let ty = program.ty(p.var).elem();
        if p.kind == ParamKind::Scalar {
            args.push(Argument::Scalar(match ty {
                Ty::U64 => Const::u64(LONG),
                _ => Const::f64(0.5),
            }));
            continue;
        }
        let mut word = |i: u64| match ty {
            Ty::U64 => rng.below(3) as u64,
            Ty::Bool => i % 2,
            Ty::I64 => (i / 3) % 7,
            // Each value and its negative, so that equally many are above and below.
            _ => ((rng.below(800) as f64 / 16.0 + 1.0) * [1.0, -1.0][(i % 2) as usize]).to_bits(),
        };
        let words: Vec<u64> = (0..len).map(&mut word).collect();
        if ty == Ty::U64 {
            len = words.iter().sum();
        }
        args.push(Argument::Array(buffer(ty, &words)));
    }
    args
}
