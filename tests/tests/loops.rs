//! Random loops from text: they verify, print and parse back, and run to the same bits on all
//! backends, in one span, in many, and by turns; summaries give what the emit form ends with.

use livefusion_backend::{Arg, Backend, Frame, Kernel, Outcome, Pass, Value};
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;
use livefusion_tests::backends::{Cut, Known};
use livefusion_tests::loops::{RandomLoop, random};
use livefusion_tests::scalar::same;
use loop_lang::ir::{Order, RateKind, Type};
use std::sync::Arc;

const INTERPRETED: u64 = 1500;
const COMPILED: u64 = 150;
const JITTED: u64 = 400;

#[test]
fn random_loops_are_well_formed_and_varied() {
    let (mut kinds, mut orders, mut phases, mut stages) = ([0; 4], [0; 4], 0, 0);
    for seed in 0..INTERPRETED {
        let l = random(seed);
        if let Err(faults) = loop_lang::verify::verify(&l.program) {
            panic!("seed {seed}: {faults:#?}\n{}", l.program);
        }
        let text = l.program.to_string();
        let again =
            loop_lang::parse::parse(&text).unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{text}"));
        assert_eq!(again.to_string(), text, "seed {seed}");
        phases += (l.program.roots.len() > 1) as usize;
        for rate in &l.program.rates {
            stages += (rate.parts.len() > 2) as usize;
            kinds[match rate.kind {
                RateKind::Root { .. } => 0,
                RateKind::Sub { .. } => 1,
                RateKind::Nested { .. } => 2,
                RateKind::Cursor { .. } => 3,
            }] += 1;
        }
        for group in &l.program.groups {
            orders[match group.order {
                Order::Lanes(_) | Order::Runs(_) => 0,
                Order::Prefix(_) => 1,
                Order::Exact => 2,
                Order::Sequential => 3,
            }] += 1;
        }
    }
    assert!(
        kinds.iter().chain(&orders).all(|n| *n > 100),
        "{kinds:?} {orders:?}"
    );
    assert!(phases > 100 && stages > 100);
}

#[test]
fn interpreted_spans_add_up() {
    for seed in 0..INTERPRETED {
        let l = random(seed);
        let kernel = InterpBackend::new()
            .compile(&l.program)
            .expect("it verifies");
        check(seed, &l, &[kernel]);
    }
}

#[test]
fn jit_and_interpreter_agree() {
    let backend = JitBackend::new();
    for seed in 0..JITTED {
        let l = random(seed);
        let interp = InterpBackend::new().compile(&l.program);
        let jit = backend.compile(&l.program).expect("it verifies");
        check(seed, &l, &[interp.expect("it verifies"), jit]);
    }
}

#[test]
fn c_and_interpreter_agree() {
    let loops: Vec<(u64, RandomLoop)> = (0..COMPILED).map(|s| (s, random(s))).collect();
    let programs: Vec<_> = loops.iter().map(|(_, l)| l.program.clone()).collect();
    let known = Known::compile(&livefusion_tests::backends::c(), &programs).expect("C compiles");
    for (seed, l) in &loops {
        let interp = InterpBackend::new()
            .compile(&l.program)
            .expect("it verifies");
        let c = known.compile(&l.program).expect("it was compiled");
        check(*seed, l, &[interp, c]);
    }
}

/// Runs a loop in every way on some kernels; the first is the reference.
fn check(seed: u64, l: &RandomLoop, kernels: &[Arc<dyn Kernel>]) {
    let args = l.args();
    let reference = run(&*kernels[0], Pass::Emit, &args);
    let equal = |how: &str, other: &Ended| {
        if let Some(why) = differ(&reference, other) {
            panic!("seed {seed}, {how}: {why}\n{}", l.program);
        }
    };
    for kernel in &kernels[1..] {
        equal("compiled", &run(&**kernel, Pass::Emit, &args));
    }
    for turn in 0..3 {
        for kernel in kernels {
            let cut = Cut::new(vec![kernel.clone()], seed ^ turn);
            equal("cut into spans", &run(&cut, Pass::Emit, &args));
        }
        let by_turns = Cut::new(kernels.to_vec(), seed ^ turn);
        equal("by turns", &run(&by_turns, Pass::Emit, &args));
    }
    if matches!(reference.outcome, Outcome::Done | Outcome::Exited) {
        summaries(seed, l, kernels, &args, &reference);
    }
}

/// What a summary says of the groups up to its level is what the emit form ends with.
fn summaries(
    seed: u64,
    l: &RandomLoop,
    kernels: &[Arc<dyn Kernel>],
    args: &[Arg<'_>],
    emit: &Ended,
) {
    let layout = kernels[0].layout();
    let levels: Vec<u32> = l.program.groups.iter().map(|g| g.level).collect();
    for level in 0..=levels.iter().copied().max().unwrap_or(0) {
        for (k, kernel) in kernels.iter().enumerate() {
            let ended = run(&**kernel, Pass::Summary { level }, args);
            for group in l.program.groups.iter().filter(|g| g.level <= level) {
                let root = matches!(l.program.rate(group.owner).kind, RateKind::Root { .. });
                for v in group.vars.iter().filter(|_| root) {
                    let Some(word) = layout.word(*v) else {
                        continue;
                    };
                    let Type::Scalar(ty) = l.program.ty(*v) else {
                        continue;
                    };
                    let (want, got) = (emit.frame.words[word], ended.frame.words[word]);
                    assert!(
                        same(ty, want, got),
                        "seed {seed}, kernel {k}, summary of level {level}: `{}` is {got:x}, not {want:x}\n{}",
                        l.program.name(*v),
                        l.program
                    );
                }
            }
        }
    }
}

struct Ended {
    outcome: Outcome,
    frame: Frame<'static>,
}

fn run(kernel: &dyn Kernel, pass: Pass, args: &[Arg<'_>]) -> Ended {
    let mut frame = Frame::new(kernel.layout());
    let outcome = kernel.run(pass, u64::MAX, &mut frame, args);
    Ended { outcome, frame }
}

fn differ(a: &Ended, b: &Ended) -> Option<String> {
    match (&a.outcome, &b.outcome) {
        // Compiled kernels only know that they trapped.
        (Outcome::Trapped(Some(x)), Outcome::Trapped(Some(y))) if x == y => return None,
        (Outcome::Trapped(_), Outcome::Trapped(None)) => return None,
        // A frame does not remember that an earlier phase was left before its bound.
        (Outcome::Done | Outcome::Exited, Outcome::Done | Outcome::Exited) => {}
        (x, y) if x == y => {}
        (x, y) => return Some(format!("{x:?} and {y:?}")),
    }
    if a.frame.words[1] != b.frame.words[1] {
        return Some(format!(
            "{} and {} steps",
            a.frame.words[1], b.frame.words[1]
        ));
    }
    for (k, (x, y)) in a.frame.results.iter().zip(&b.frame.results).enumerate() {
        let equal = match (x, y) {
            (Value::Scalar(x), Value::Scalar(y)) => same(x.ty, x.bits, y.bits),
            (Value::Array(x), Value::Array(y)) => {
                x.len() == y.len()
                    && (0..x.len()).all(|i| {
                        let word =
                            |b: &livefusion_backend::Buffer| b.get_word(i).unwrap_or_default();
                        same(x.ty(), word(x), word(y))
                    })
            }
            _ => false,
        };
        if !equal {
            return Some(format!("result {k}: {x:?} and {y:?}"));
        }
    }
    None
}
