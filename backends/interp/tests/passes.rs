//! Passes change no result: random loops over random rate trees, plain and optimised.

use crate::support::{Bits, Owned, Rng, bits, borrow, kernel, random_args, run_cut};
use livefusion_backend::{Frame, Kernel, Outcome, Pass};
use livefusion_interp::InterpKernel;
use loop_lang::ir::*;
use loop_lang::types::{Const, Ty};
use loop_lang::verify::verify;
use loop_lang::{Loop, Op, passes};
use proptest::prelude::*;

/// Bounds every `while` and every array, so that the loop terminates.
fn tame(program: &mut Loop, rng: &mut Rng) {
    let traps = rng.below(4) == 0;
    let mut vars = std::mem::take(&mut program.vars);
    for block in program.blocks.values_mut() {
        tame_stmts(&mut block.stmts, &mut vars, traps);
    }
    program.vars = vars;
}

fn tame_stmts(stmts: &mut Vec<Stmt>, vars: &mut Vec<VarData>, traps: bool) {
    stmts.retain(|s| traps || !matches!(s.kind, StmtKind::Trap { .. }));
    for stmt in stmts {
        let comb = stmt.comb;
        match &mut stmt.kind {
            StmtKind::NewArray(_, n) | StmtKind::FillArray(_, n, _) => *n = Const::u64(5).into(),
            StmtKind::If { then, other, .. } => {
                tame_stmts(then, vars, traps);
                tame_stmts(other, vars, traps);
            }
            StmtKind::While {
                state,
                test,
                cond,
                body,
                next,
            } => {
                tame_stmts(test, vars, traps);
                tame_stmts(body, vars, traps);
                let mut new = |ty| {
                    let name = format!("tame{}", vars.len());
                    vars.push(VarData {
                        name,
                        ty: Type::Scalar(ty),
                        scratch: false,
                    });
                    Var::new(vars.len() - 1)
                };
                let (n, more) = (new(Ty::U64), new(Ty::U64));
                let (few, both) = (new(Ty::Bool), new(Ty::Bool));
                let op = |v: Var, op: Op, a: Atom, b: Atom| Stmt {
                    comb,
                    kind: StmtKind::Let(v, op, [a, b].into_iter().collect()),
                };
                test.push(op(few, Op::Lt, n.into(), Const::u64(3).into()));
                test.push(op(both, Op::And, few.into(), *cond));
                body.push(op(more, Op::Add, n.into(), Const::u64(1).into()));
                state.push((n, Const::u64(0).into()));
                next.push(more.into());
                *cond = both.into();
            }
            _ => {}
        }
    }
}

/// Makes a change if the loop still verifies after it.
fn attempt(program: &mut Loop, change: impl FnOnce(&mut Loop)) {
    let before = program.clone();
    change(program);
    if verify(program).is_err() {
        *program = before;
    }
}

/// Returns the block with this number, modulo the number of blocks.
fn block(program: &mut Loop, n: u64) -> &mut Block {
    let count = program.blocks.len();
    program.blocks.values_mut().nth(n as usize % count).unwrap()
}

/// Returns the operator statements directly in a block.
fn lets(block: &mut Block) -> Vec<&mut Stmt> {
    let lets = block.stmts.iter_mut();
    lets.filter(|s| matches!(s.kind, StmtKind::Let(..) | StmtKind::ReadArray(..)))
        .collect()
}

/// Adds targets for the passes.
///
/// These are repeated computations, copies, reads of carried variables, duplicates of counters, and
/// results that depend on them.
fn enrich(program: &mut Loop, rng: &mut Rng) {
    for _ in 0..40 {
        let (from, to, n, m) = (rng.next(), rng.next(), rng.next(), rng.next());
        attempt(program, |l| match n % 4 {
            0 => repeat(l, from, to, m),
            1 => copy(l, from, m),
            _ => rewire(l, from, n, m),
        });
    }
    let mut shown: Vec<Var> = program.groups.iter().flat_map(|g| g.vars.clone()).collect();
    shown.extend(program.rates.iter().filter_map(|r| r.kind.counter()));
    for block in program.blocks.values_mut().take(1) {
        for stmt in lets(block) {
            if let StmtKind::Let(v, ..) | StmtKind::ReadArray(v, ..) = stmt.kind {
                shown.push(v);
            }
        }
    }
    for v in shown {
        attempt(program, |l| {
            for block in l.blocks.values_mut() {
                if let End::Return(results) = &mut block.end {
                    results.push(v.into());
                }
            }
        });
    }
}

/// Repeats a computation of one block in another.
fn repeat(l: &mut Loop, from: u64, to: u64, n: u64) {
    let all = lets(block(l, from));
    let Some(mut stmt) = all.get(n as usize % all.len().max(1)).map(|s| (*s).clone()) else {
        return;
    };
    let (StmtKind::Let(v, ..) | StmtKind::ReadArray(v, ..)) = &mut stmt.kind else {
        return;
    };
    let (old, ty) = (*v, l.ty(*v));
    let new = l.new_var(format!("again{}", l.vars.len()), ty);
    *match &mut stmt.kind {
        StmtKind::Let(v, ..) | StmtKind::ReadArray(v, ..) => v,
        _ => return,
    } = new;
    let into = block(l, to);
    let at = n as usize % (into.stmts.len() + 1);
    into.stmts.insert(at, stmt);
    // One use of the old variable becomes a use of the new one, where possible.
    replace(into, n, |a| a == Atom::Var(old), new.into());
}

/// Copies a variable and uses the copy.
fn copy(l: &mut Loop, at: u64, n: u64) {
    let old = Var::new(n as usize % l.vars.len());
    let Type::Scalar(ty) = l.ty(old) else { return };
    let new = l.new_var(format!("copy{}", l.vars.len()), Type::Scalar(ty));
    let comb = CombId(0);
    let kind = StmtKind::Let(new, Op::Copy, [old.into()].into_iter().collect());
    let into = block(l, at);
    let place = (n >> 32) as usize % (into.stmts.len() + 1);
    into.stmts.insert(place, Stmt { comb, kind });
    let to = block(l, n >> 8);
    replace(to, n, |a| a == Atom::Var(old), new.into());
}

/// Replaces an operand by another variable of its type, often a carried one.
fn rewire(l: &mut Loop, at: u64, n: u64, m: u64) {
    let carried: Vec<Var> = l.groups.iter().flat_map(|g| g.vars.clone()).collect();
    let counters = l.rates.iter().filter_map(|r| r.kind.counter());
    let all: Vec<Var> = match n & 8 {
        0 => carried.into_iter().chain(counters).collect(),
        _ => (0..l.vars.len()).map(Var::new).collect(),
    };
    let Some(v) = all.get(m as usize % all.len().max(1)).copied() else {
        return;
    };
    let types: Vec<Type> = l.vars.iter().map(|v| v.ty).collect();
    let ty = |a: Atom| match a {
        Atom::Var(v) => types[v.index()],
        Atom::Const(c) => Type::Scalar(c.ty),
    };
    let wanted = types[v.index()];
    replace(block(l, at), m, |a| ty(a) == wanted, v.into());
}

/// Replaces one operand that fits.
fn replace(block: &mut Block, n: u64, fits: impl Fn(Atom) -> bool, new: Atom) {
    let mut operands: Vec<&mut Atom> = Vec::new();
    for stmt in &mut block.stmts {
        match &mut stmt.kind {
            StmtKind::Let(_, _, args) => operands.extend(args.iter_mut()),
            StmtKind::WriteArray(_, i, x) => operands.extend([i, x]),
            StmtKind::ReadArray(_, _, i) => operands.push(i),
            StmtKind::Scan { elems, .. } => operands.extend(elems),
            StmtKind::If { cond, results, .. } => {
                operands.push(cond);
                operands.extend(results.iter_mut().flat_map(|(_, a, b)| [a, b]));
            }
            StmtKind::While { state, .. } => operands.extend(state.iter_mut().map(|(_, a)| a)),
            _ => {}
        }
    }
    let mut fitting: Vec<&mut Atom> = operands.into_iter().filter(|a| fits(**a)).collect();
    let count = fitting.len().max(1);
    if let Some(a) = fitting.get_mut((n >> 16) as usize % count) {
        **a = new;
    }
}

/// Returns the outcome and results, or `None` if the loop does not end within 2000 steps.
fn run_briefly(kernel: &InterpKernel, args: &[Owned]) -> Option<(Outcome, Vec<Bits>)> {
    let mut frame = Frame::new(kernel.layout());
    match kernel.run(Pass::Emit, 2000, &mut frame, &borrow(args)) {
        Outcome::Paused => None,
        outcome => Some((outcome, frame.results.iter().map(bits).collect())),
    }
}

/// Maps `Exited` to `Done`, so that the two compare equal.
fn ending(outcome: Outcome) -> Outcome {
    if outcome == Outcome::Exited {
        Outcome::Done
    } else {
        outcome
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        // A case is a whole loop. A smaller seed does not give a smaller loop.
        cases: ProptestConfig::default().cases / 8,
        max_shrink_iters: 0,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn passes_change_no_result(seed in any::<u64>()) {
        let mut rng = Rng(seed);
        let mut program = crate::common::random_loop(seed);
        tame(&mut program, &mut rng);
        enrich(&mut program, &mut rng);
        let mut better = program.clone();
        passes::optimize(&mut better);
        prop_assert_eq!(verify(&better), Ok(()), "{}", program);
        let mut again = better.clone();
        passes::optimize(&mut again);
        prop_assert_eq!(better.to_string(), again.to_string(), "optimize is idempotent");
        let args = random_args(&program, &mut rng);
        let plain = run_briefly(&kernel(&program), &args);
        let fast = run_briefly(&kernel(&better), &args);
        prop_assert_eq!(&plain, &fast, "{}\nbecomes\n{}", program, better);
        if let Some((outcome, results)) = plain {
            let cut = run_cut(&kernel(&better), &args, || 1 + rng.below(4));
            prop_assert_eq!((ending(outcome), results), (ending(cut.0), cut.1), "cut\n{}", better);
        }
    }
}
