//! Evaluation of combine functions.

use super::eval;
use crate::ir::{Atom, Combine, FnId, Group, Loop, Stmt, StmtKind, TrapId, Type, Var};
use crate::types::Ty;
use rustc_hash::FxHashMap;

/// The callback for each trap that occurs, with its payload.
type OnTrap<'a> = &'a mut dyn FnMut(TrapId, &[u64]);

/// Calls a combine function and ignores its traps.
pub fn call(program: &Loop, function: FnId, args: &[u64]) -> Vec<u64> {
    call_with(program, function, args, &mut |_, _| {})
}

/// Calls a combine function and reports its traps.
///
/// Traps are reported with their payloads, in order of execution. The call continues after a trap.
pub fn call_with(program: &Loop, function: FnId, args: &[u64], on_trap: OnTrap<'_>) -> Vec<u64> {
    let f = &program.functions[function.index()];
    let values = f.params.iter().copied().zip(args.iter().copied()).collect();
    let mut env = Env { program, values };
    env.run(&f.body, on_trap);
    f.results.iter().map(|a| env.get(*a)).collect()
}

/// Combines two values of a group, `left` earlier.
///
/// Without an operator, the later value stays.
pub fn combine(program: &Loop, group: &Group, left: &[u64], right: &[u64]) -> Vec<u64> {
    let ty = group
        .vars
        .first()
        .map_or(Ty::Bool, |v| program.ty(*v).elem());
    group
        .combine
        .map_or_else(|| right.to_vec(), |how| join(program, how, ty, left, right))
}

/// Combines two values of a group into the earlier one.
pub(crate) fn combine_onto(program: &Loop, group: &Group, left: &mut [u64], right: &[u64]) {
    match (group.combine, group.vars.first()) {
        (Some(Combine::Op(op)), Some(v)) => {
            let ty = program.ty(*v).elem();
            for (l, r) in left.iter_mut().zip(right) {
                *l = eval(op, ty, ty, &[*l, *r]);
            }
        }
        _ => left.copy_from_slice(&combine(program, group, left, right)),
    }
}

/// Combines two values with an operator at type `ty`, or with a function.
///
/// Functions have their own types.
pub fn join(program: &Loop, how: Combine, ty: Ty, left: &[u64], right: &[u64]) -> Vec<u64> {
    match how {
        Combine::Op(op) => left
            .iter()
            .zip(right)
            .map(|(l, r)| eval(op, ty, ty, &[*l, *r]))
            .collect(),
        Combine::Fn(f) => call(program, f, &[left, right].concat()),
    }
}

/// The variables of one call.
struct Env<'a> {
    program: &'a Loop,
    values: FxHashMap<Var, u64>,
}

impl Env<'_> {
    /// Returns an operand's word. A function sees only its own variables: the verifier rejects
    /// others.
    fn get(&self, a: Atom) -> u64 {
        match a {
            Atom::Const(c) => c.bits,
            Atom::Var(v) => self.values.get(&v).copied().unwrap_or(0),
        }
    }

    fn set(&mut self, v: Var, word: u64) {
        self.values.insert(v, word);
    }

    /// Runs statements; recursion is bounded by [`MAX_REGION_DEPTH`](crate::ir::MAX_REGION_DEPTH).
    fn run(&mut self, stmts: &[Stmt], on_trap: OnTrap<'_>) {
        for s in stmts {
            match &s.kind {
                StmtKind::Let(v, op, args) => {
                    let words: smallvec::SmallVec<[u64; 3]> =
                        args.iter().map(|a| self.get(*a)).collect();
                    let Type::Scalar(to) = self.program.ty(*v) else {
                        continue;
                    };
                    let from = self.operand_ty(*op, args);
                    self.set(*v, eval(*op, from, to, &words));
                }
                StmtKind::Trap {
                    unless,
                    trap,
                    payload,
                } => {
                    if self.get(*unless) == 0 {
                        let words: Vec<u64> = payload.iter().map(|a| self.get(*a)).collect();
                        on_trap(*trap, &words);
                    }
                }
                StmtKind::If {
                    cond,
                    then,
                    other,
                    results,
                } => {
                    let taken = self.get(*cond) != 0;
                    self.run(if taken { then } else { other }, on_trap);
                    for (v, a, b) in results {
                        let word = self.get(if taken { *a } else { *b });
                        self.set(*v, word);
                    }
                }
                StmtKind::While {
                    state,
                    test,
                    cond,
                    body,
                    next,
                } => {
                    self.assign(state.iter().copied());
                    loop {
                        self.run(test, on_trap);
                        if self.get(*cond) == 0 {
                            break;
                        }
                        self.run(body, on_trap);
                        self.assign(state.iter().map(|(v, _)| *v).zip(next.iter().copied()));
                    }
                }
                _ => debug_assert!(false, "functions hold lets, traps and regions only"),
            }
        }
    }

    /// Returns the type of an operator's operands (see [`eval`]).
    fn operand_ty(&self, op: crate::Op, args: &[Atom]) -> Ty {
        let position = if op == crate::Op::Select { 1 } else { 0 };
        args.get(position)
            .map_or(Ty::Bool, |a| self.program.atom_ty(*a))
    }

    /// Assigns all variables at once: next values may refer to state variables.
    fn assign(&mut self, pairs: impl Iterator<Item = (Var, Atom)>) {
        let values: Vec<(Var, u64)> = pairs.map(|(v, a)| (v, self.get(a))).collect();
        self.values.extend(values);
    }
}
