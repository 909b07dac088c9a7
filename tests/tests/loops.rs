//! Random loops from text: they verify, round-trip through text, and run alike.
//!
//! All backends must give the same bits, in one span, in many, and alternating. Summaries must
//! match the final state of the emit form.

use livefusion_backend::{Arg, Backend, Kernel, Outcome, Pass};
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;
use livefusion_tests::backends::{Cut, Known};
use livefusion_tests::loops::{Ended, RandomLoop, random, run};
use livefusion_tests::scalar::same;
use loop_lang::chunkable::placing_groups;
use loop_lang::ir::{Block, Label, Order, Rate, RateKind, Section, Type};
use std::sync::Arc;

const INTERPRETED: u64 = 1500;
const COMPILED: u64 = 80;
const JITTED: u64 = 400;

#[test]
fn random_loops_are_well_formed_and_varied() {
    let (mut kinds, mut orders) = ([0; 4], [0; 4]);
    let (mut phases, mut shared, mut stages) = (0, 0, 0);
    let (mut flags, mut left, mut mirrored, mut counts, mut cycles) = (0, 0, 0, 0, 0);
    // Counts of uniform rates with restarting and with continuing counters, and of nested ones.
    let (mut uniform, mut rows_of_rows) = ([0; 2], 0);
    // Counts of cursors by their parent, of cursors with an inner loop, and of cursors that report
    // their end.
    let (mut around, mut inside, mut ended) = ([0; 4], 0, 0);
    let kind = |r: &Rate| match r.kind {
        RateKind::Root { .. } => 0,
        RateKind::Sub { .. } => 1,
        RateKind::Nested { .. } => 2,
        RateKind::Cursor { .. } => 3,
    };
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
        shared += text.contains("let then") as usize;
        flags += text.contains("unless live") as usize;
        let from_inside = |(labels, block): (&[Label], &Block)| {
            let inside = labels.iter().any(|l| l.section == Section::Yield);
            inside && block.exits.iter().any(|e| e.target.is_some())
        };
        let cursors = text.contains(" cursor ");
        left += (!cursors && l.program.blocks.iter().any(from_inside)) as usize;
        mirrored += text.contains("let rix") as usize;
        let counted = |n: &str| text.matches(&format!(" count {n} ")).count() > 1;
        counts += (0..l.program.rates.len()).any(|i| counted(&format!("ix_{i}"))) as usize;
        cycles += l.program.groups.iter().any(|g| g.cycle) as usize;
        for rate in &l.program.rates {
            stages += (rate.parts.len() > 2) as usize;
            kinds[kind(rate)] += 1;
            if let (true, Some(counter)) = (rate.kind.is_uniform(), rate.kind.counter()) {
                let name = l.program.name(counter);
                uniform[text.contains(&format!("let end_{} = add {name}", &name[3..])) as usize] +=
                    1;
            }
            let parent = rate.kind.parent().map(|p| l.program.rate(p));
            if let (RateKind::Cursor { .. }, Some(parent)) = (rate.kind, parent) {
                around[kind(parent)] += 1;
            }
            let of_rows = parent.is_some_and(|p| p.kind.is_uniform());
            rows_of_rows += (rate.kind.is_uniform() && of_rows) as usize;
            inside += (kind(rate) > 1 && parent.is_some_and(|p| kind(p) == 3)) as usize;
        }
        let says_so = |(labels, block): (&[Label], &Block)| {
            let slots = labels.iter().filter(|l| l.section == Section::Done);
            let mut slots = slots.filter_map(|label| l.program.comb(label.comb).slot);
            let of_cursor = slots.any(|h| kind(l.program.rate(h.rate)) == 3);
            of_cursor && !block.stmts.is_empty()
        };
        ended += l.program.blocks.iter().any(says_so) as usize;
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
    assert!(phases > 100 && shared > 100 && stages > 100);
    let counted = [flags, left, mirrored, counts, cycles];
    assert!(counted.iter().all(|n| *n > 50), "{counted:?}");
    assert!(
        uniform.iter().all(|n| *n > 50) && rows_of_rows > 50,
        "{uniform:?} {rows_of_rows}"
    );
    assert!(
        around.iter().all(|n| *n > 50) && inside > 50 && ended > 100,
        "{around:?} {inside} {ended}"
    );
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
    let known = Known::compile(livefusion_tests::backends::c(), &programs).expect("C compiles");
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
    let reference = run(&*kernels[0], Pass::Emit, u64::MAX, &args);
    let equal = |how: &str, other: &Ended| {
        if let Some(why) = reference.differs(other) {
            panic!("seed {seed}, {how}: {why}\n{}", l.program);
        }
    };
    for kernel in &kernels[1..] {
        equal("compiled", &run(&**kernel, Pass::Emit, u64::MAX, &args));
    }
    for turn in 0..3 {
        for kernel in kernels {
            let cut = Cut::new(vec![kernel.clone()], seed ^ turn);
            equal("cut into spans", &run(&cut, Pass::Emit, u64::MAX, &args));
        }
        let by_turns = Cut::new(kernels.to_vec(), seed ^ turn);
        equal("by turns", &run(&by_turns, Pass::Emit, u64::MAX, &args));
    }
    if matches!(reference.outcome, Outcome::Done | Outcome::Exited) {
        summaries(seed, l, kernels, &args, &reference);
    }
}

/// Checks that a summary's groups, up to its level, match the final state of the emit form.
fn summaries(
    seed: u64,
    l: &RandomLoop,
    kernels: &[Arc<dyn Kernel>],
    args: &[Arg<'_>],
    emit: &Ended,
) {
    let layout = kernels[0].layout();
    let levels = l.program.groups.iter().map(|g| g.level);
    let top = levels.max().unwrap_or(0);
    // Loops with cursors run in order and have no levels. A cursor's end ends surrounding loops,
    // and may depend on values that a summary below the top level drops. The top level drops
    // nothing.
    let is_cursor = |r: &Rate| matches!(r.kind, RateKind::Cursor { .. });
    // A summary without the groups that decide a root's exit runs to its end.
    let placing = placing_groups(&l.program);
    let placing = l.program.groups.iter().zip(placing).filter(|(_, p)| *p);
    let lowest = match l.program.rates.iter().any(is_cursor) {
        true => top,
        false => placing.map(|(g, _)| g.level).max().unwrap_or(0),
    };
    for level in lowest..=top {
        for (k, kernel) in kernels.iter().enumerate() {
            let ended = run(&**kernel, Pass::Summary { level }, u64::MAX, args);
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
