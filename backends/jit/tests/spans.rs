//! Loops cut into spans and resumed by either backend give one interpreter span's bits.

use crate::common::cases::{LONG, cases};
use crate::common::*;
use livefusion_backend::{Backend, Frame, Outcome, Pass};
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;

#[test]
fn every_cut_gives_the_same_bits() {
    let backend = JitBackend::new();
    for n in [0, 1, 2, 31, 32, 33, 100, LONG] {
        for (program, data) in cases(n) {
            let args = args(&data);
            let interp = InterpBackend::new().compile(&program).unwrap();
            let jit = backend.compile(&program).unwrap();
            let want = run(&*interp, &args);
            assert_eq!(want.0, Outcome::Done, "{} with {n}", program.name);
            let spans: &[&[u64]] = match n {
                LONG => &[
                    &[u64::MAX],
                    &[16384],
                    &[5000, 1, 31],
                    &[16383, 1],
                    &[40_000, 3],
                ],
                _ => &[&[u64::MAX], &[1], &[2, 7], &[33, 1, 64]],
            };
            for spans in spans {
                for kernels in [&[&*jit][..], &[&*interp, &*jit], &[&*jit, &*interp]] {
                    let got = run_by_turns(kernels, spans, &args);
                    assert!(got == want, "{} with {n} in spans {spans:?}", program.name);
                }
            }
        }
    }
}

#[test]
fn summaries_agree() {
    for (program, data) in cases(LONG) {
        let args = args(&data);
        let interp = InterpBackend::new().compile(&program).unwrap();
        let jit = JitBackend::new().compile(&program).unwrap();
        for level in 0..=program.groups.iter().map(|g| g.level).max().unwrap_or(0) {
            for spans in [[u64::MAX; 2], [16384, 77]] {
                let ended = [&interp, &jit].map(|kernel| {
                    let mut frame = Frame::new(kernel.layout());
                    let pass = Pass::Summary { level };
                    let mut outcome = Outcome::Paused;
                    for turn in 0.. {
                        if outcome != Outcome::Paused {
                            break;
                        }
                        outcome = kernel.run(pass, spans[turn % 2], &mut frame, &args);
                    }
                    assert!(frame.results.is_empty());
                    (plain(outcome), frame.words)
                });
                let [want, got] = ended;
                assert_eq!(got, want, "{} level {level}", program.name);
            }
        }
    }
}
