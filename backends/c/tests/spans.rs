//! Loops cut into spans and resumed by either backend give one interpreter span's bits.

use crate::common::cases::{LONG, cases};
use crate::common::*;
use livefusion_backend::{Backend, Frame, Kernel, Outcome, Pass};
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use loop_lang::Loop;
use std::sync::Arc;

fn c_kernels(backend: &CBackend, loops: &[&Loop]) -> Vec<Arc<dyn Kernel>> {
    let name = |p: &Loop, e| panic!("{}: {e}", p.name);
    let kernels = backend.compile_batch(loops);
    kernels
        .into_iter()
        .zip(loops)
        .map(|(k, p)| k.unwrap_or_else(|e| name(p, e)))
        .collect()
}

#[test]
fn every_cut_gives_the_same_bits() {
    let long = cases(LONG);
    let loops: Vec<&Loop> = long.iter().map(|c| &c.0).collect();
    let straight = c_kernels(&CBackend::new(), &loops);
    let machine = c_kernels(&CBackend::new().without_tiles(), &loops);
    for n in [0, 1, 2, 31, 32, 33, 100, LONG] {
        for (i, (program, data)) in cases(n).iter().enumerate() {
            let args = args(data);
            let interp = InterpBackend::new().compile(program).unwrap();
            let want = run(&*interp, &args);
            assert_eq!(want.0, Outcome::Done, "{} with {n}", program.name);
            let (c, m) = (&*straight[i], &*machine[i]);
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
                for kernels in [
                    &[c][..],
                    &[m],
                    &[&*interp, c],
                    &[c, &*interp],
                    &[m, &*interp, c],
                ] {
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
        let c = CBackend::new().compile(&program).unwrap();
        for level in 0..=program.groups.iter().map(|g| g.level).max().unwrap_or(0) {
            let mut frames = [Frame::new(interp.layout()), Frame::new(c.layout())];
            for spans in [[u64::MAX; 2], [16384, 77]] {
                let mut outcomes = Vec::new();
                for (frame, kernel) in frames.iter_mut().zip([&interp, &c]) {
                    *frame = Frame::new(kernel.layout());
                    let pass = Pass::Summary { level };
                    let mut outcome = Outcome::Paused;
                    for turn in 0.. {
                        if outcome != Outcome::Paused {
                            break;
                        }
                        outcome = kernel.run(pass, spans[turn % 2], frame, &args);
                    }
                    outcomes.push(plain(outcome));
                    assert!(frame.results.is_empty());
                }
                assert_eq!(outcomes[0], outcomes[1], "{}", program.name);
                assert_eq!(
                    frames[0].words, frames[1].words,
                    "{} level {level}",
                    program.name
                );
            }
        }
    }
}
