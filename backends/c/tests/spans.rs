//! Loops cut into spans anywhere, resumed by either backend: always the bits of one span of the
//! interpreter.

mod common;

use common::*;
use livefusion_backend::{Backend, Frame, Kernel, Outcome, Pass};
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use loop_lang::{Const, Loop};
use std::sync::Arc;

/// Two chunks and a half.
const LONG: usize = 40_961;

fn segments(numbers: &mut Numbers, total: usize) -> Vec<u64> {
    let mut lengths = Vec::new();
    let mut left = total as u64;
    while left > 0 {
        let widest = if numbers.below(10) == 0 { 20_000 } else { 6 };
        let n = numbers.below(widest).min(left);
        lengths.push(n);
        left -= n;
    }
    lengths.push(0);
    lengths
}

/// Each loop with arguments of `n` elements.
fn cases(n: usize) -> Vec<(Loop, Vec<Data>)> {
    let mut numbers = Numbers(n as u64 + 1);
    let f = |x: f64| Data::Scalar(Const::f64(x));
    let i = |x: i64| Data::Scalar(Const::int(loop_lang::Ty::I64, x));
    let case = |name: &str, data: Vec<Data>| (loop_file(name), data);
    vec![
        case("map", vec![Data::F64(numbers.floats(n)), f(2.5)]),
        case(
            "dot",
            vec![
                Data::F64(numbers.floats(n)),
                Data::F64(numbers.floats(n)),
                f(-0.0),
            ],
        ),
        case(
            "filter_sum",
            vec![Data::F64(numbers.floats(n)), f(0.1), f(1.0)],
        ),
        case(
            "to_percentages",
            vec![Data::F64(numbers.floats(n)), f(0.01), f(100.0)],
        ),
        case(
            "filter_max",
            vec![Data::I64(numbers.ints(n)), i(1), i(0), i(i64::MIN), i(-5)],
        ),
        case(
            "segmented",
            vec![
                Data::U64(segments(&mut numbers, n)),
                Data::F64(numbers.floats(n)),
                f(0.5),
                f(1.5),
            ],
        ),
        case("running", vec![Data::F64(numbers.floats(n)), f(0.25)]),
        case("prefixes", vec![Data::F64(numbers.floats(n)), f(0.5), i(3)]),
        case(
            "narrow_prefixes",
            vec![Data::F64(numbers.floats(n)), Data::Scalar(Const::f32(0.75))],
        ),
        case(
            "escape",
            vec![
                Data::F64(numbers.floats(n)),
                Data::Scalar(Const::int(loop_lang::Ty::U32, 20)),
                Data::Scalar(Const::int(loop_lang::Ty::U32, 0)),
                Data::Scalar(Const::int(loop_lang::Ty::U32, 1)),
                f(4.0),
            ],
        ),
        case(
            "shares",
            vec![
                Data::U64(
                    segments(&mut numbers, n)
                        .into_iter()
                        .filter(|l| *l > 0)
                        .collect(),
                ),
                Data::Scalar(Const::u64(n as u64)),
                Data::F64(numbers.floats(n)),
                f(0.5),
                f(1.0),
                f(0.0),
            ],
        ),
        case(
            "both_ways",
            vec![
                Data::F64(numbers.floats(n / 2)),
                Data::F64(numbers.floats(n - n / 2)),
                Data::Scalar(Const::u64(3)),
            ],
        ),
        case("argmin", vec![Data::F64(numbers.floats(n))]),
        case(
            "rows",
            vec![
                Data::U64(segments(&mut numbers, n)),
                Data::F64(numbers.floats(n)),
            ],
        ),
    ]
}

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
    let machine = c_kernels(&CBackend::new().without_straight_loops(), &loops);
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
