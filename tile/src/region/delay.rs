//! Delays: scans that keep the last element, so that a step reads the element of the step before.

use super::{InnerLoop, Region};
use livefusion_backend::facts;
use loop_lang::Loop;
use loop_lang::ir::{Atom, Combine, Function, GroupId, Order, Stmt, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::types::Const;
use rustc_hash::FxHashMap;

/// Tells whether each step of a loop sets a group to its element, before other statements read the
/// group.
pub(super) fn delays(region: &Region, inner_loop: &InnerLoop, group: GroupId) -> bool {
    let of = &region.program.groups[group.index()];
    let mut scans = inner_loop
        .statements
        .iter()
        .filter(|s| matches!(&s.stmt.kind, StmtKind::Scan { group: g, .. } if *g == group));
    let (Some(scan), None) = (scans.next(), scans.next()) else {
        return false;
    };
    let StmtKind::Scan { elems, .. } = &scan.stmt.kind else {
        return false;
    };
    if scan.sub.is_some() || !scan.top || !keeps_last(region.program, group, elems) {
        return false;
    }
    let mut early = false;
    let mut asks = |u: Var| early |= of.vars.contains(&u);
    for i in inner_loop.blocks() {
        facts::each_leaving_use(region.facts.blocks[i].block, &mut asks);
    }
    for s in &inner_loop.statements[..scan.id] {
        facts::each_use(s.stmt, &mut asks);
    }
    !early
}

/// Tells whether a scan of these elements sets a group to them.
pub fn keeps_last(program: &Loop, group: GroupId, elems: &[Atom]) -> bool {
    let of = &program.groups[group.index()];
    match (of.order, of.combine) {
        (Order::Prefix(1), Some(Combine::Fn(join))) => {
            keeps_right(&program.functions[join.index()], elems)
        }
        _ => false,
    }
}

/// Tells whether a function returns its right operands if they are these elements.
fn keeps_right(join: &Function, elems: &[Atom]) -> bool {
    let right = &join.params[join.params.len() / 2..];
    let mut known = KnownValues::default();
    for (param, elem) in right.iter().zip(elems) {
        if let Atom::Const(_) = elem {
            known.0.insert(*param, *elem);
        }
    }
    known.run(&join.body);
    let mut results = join.results.iter().zip(right);
    results.all(|(result, param)| known.value(*result) == known.value(Atom::Var(*param)))
}

/// Values of a function's variables: other variables, or literals.
#[derive(Default)]
struct KnownValues(FxHashMap<Var, Atom>);

impl KnownValues {
    fn value(&self, a: Atom) -> Atom {
        match a {
            Atom::Var(v) => self.0.get(&v).copied().unwrap_or(a),
            Atom::Const(_) => a,
        }
    }

    fn run(&mut self, body: &[Stmt]) {
        for s in body {
            match &s.kind {
                StmtKind::Let(v, op, args) => {
                    let args: Vec<Atom> = args.iter().map(|a| self.value(*a)).collect();
                    let value = match (op, &args[..]) {
                        (Op::Copy, [a]) => Some(*a),
                        (Op::Or, [a, b]) if [*a, *b].contains(&literal(true)) => {
                            Some(literal(true))
                        }
                        (Op::Select, [cond, yes, no]) => either(*cond, *yes, *no),
                        _ => None,
                    };
                    self.0.extend(value.map(|value| (*v, value)));
                }
                StmtKind::If {
                    cond,
                    then,
                    other,
                    results,
                } => {
                    self.run(then);
                    self.run(other);
                    let cond = self.value(*cond);
                    for (v, yes, no) in results {
                        let value = either(cond, self.value(*yes), self.value(*no));
                        self.0.extend(value.map(|value| (*v, value)));
                    }
                }
                _ => {}
            }
        }
    }
}

fn literal(b: bool) -> Atom {
    Atom::Const(Const::bool(b))
}

/// The value that a condition selects, if it is known.
fn either(cond: Atom, yes: Atom, no: Atom) -> Option<Atom> {
    match cond {
        _ if yes == no => Some(yes),
        _ if cond == literal(true) => Some(yes),
        _ if cond == literal(false) => Some(no),
        _ => None,
    }
}
