//! Leaps: removes inner loops that only count, in loops that compute the lengths of results.
//!
//! If a nested rate only increments its counter, the final counter equals the bound. The pass sets
//! the counter to the bound, and leaves an inner loop without steps.
//!
//! Before: `rate r4 nested r0 ix_4 < end_4`, with the statements `let more_4 = lt ix_4 end_4`, `let
//! nix_4 = add ix_4 1` and `ix_4 := nix_4`. After: `ix_4 := end_4` at the end of an outer
//! iteration, and `rate r4 nested r0 none_4 < 0`.
//!
//! This changes steps, and therefore chunks. So the pass is not part of the pipeline, and runs only
//! if chunks combine no group.

use super::context::Context;
use crate::ir::{
    Atom, Comb, CombId, Combine, Group, Loop, Order, Place, RateId, RateKind, Section, Stmt,
    StmtKind, Type, Var,
};
use crate::op::Op;
use crate::types::{Const, Ty};
use crate::verify::verify;

/// Removes all inner loops that only count.
///
/// Returns whether there were any.
pub fn leap(program: &mut Loop) -> bool {
    if program.groups.iter().any(|g| g.order != Order::Exact) {
        return false;
    }
    let mut changed = false;
    for rate in (0..program.rates.len()).rev().map(RateId::new) {
        if let Some(shorter) = Counts::of(program, rate).and_then(|counts| counts.leapt(program)) {
            *program = shorter;
            changed = true;
        }
    }
    changed
}

/// Describes a nested rate that only counts.
struct Counts {
    rate: RateId,
    parent: RateId,
    counter: Var,
    bound: Atom,
    /// The group of its counter, which continues through the loop.
    group: usize,
}

impl Counts {
    fn of(program: &Loop, rate: RateId) -> Option<Counts> {
        let RateKind::Nested {
            parent,
            counter,
            bound,
            ..
        } = program.rate(rate).kind
        else {
            return None;
        };
        let runs_on = |g: &Group| {
            g.vars == [counter] && g.step == rate && g.combine == Some(Combine::Op(Op::Add))
        };
        let group = program.groups.iter().position(runs_on)?;
        let mut within = program.rates.iter().filter_map(|r| r.kind.parent());
        if within.any(|parent| parent == rate) {
            return None;
        }
        let counts = Counts {
            rate,
            parent,
            counter,
            bound,
            group,
        };
        counts.is_all(program).then_some(counts)
    }

    /// Tells whether the rate's blocks only count.
    fn is_all(&self, program: &Loop) -> bool {
        let context = Context::of(program);
        let next = &program.groups[self.group].next[..];
        let (mut tests, mut steps) = (0, 0);
        for (place, block) in context.places.iter().zip(context.blocks(program)) {
            let Some(section) = self.section(*place) else {
                continue;
            };
            if matches!(section, Section::Nest | Section::Done) {
                continue;
            }
            tests += block.exits.len();
            for s in &block.stmts {
                match &s.kind {
                    StmtKind::Let(_, Op::Lt, args)
                        if args[..] == [self.counter.into(), self.bound] => {}
                    StmtKind::Let(v, Op::Add, args)
                        if next == [Atom::Var(*v)] && is_next(args, self.counter) => {}
                    StmtKind::Assign(v, a) if *v == self.counter && next == [*a] => steps += 1,
                    _ => return false,
                }
            }
        }
        (tests, steps) == (1, 1)
    }

    fn section(&self, place: Place) -> Option<Section> {
        match place {
            Place::At { rate, section, .. } if rate == self.rate => Some(section),
            _ => None,
        }
    }

    /// Returns the loop without these steps, if it verifies.
    fn leapt(&self, program: &Loop) -> Option<Loop> {
        let mut leapt = program.clone();
        let name = format!("none_{}", self.rate.index());
        if leapt.vars.iter().any(|v| v.name == name) {
            return None;
        }
        let none = leapt.new_var(name, Type::Scalar(Ty::U64));
        let zero = Atom::Const(Const::u64(0));
        leapt.rates[self.rate.index()].kind = RateKind::Nested {
            parent: self.parent,
            counter: none,
            bound: zero,
            uniform: false,
        };
        let group = &mut leapt.groups[self.group];
        (group.step, group.next) = (self.parent, vec![self.bound]);
        let end = Place::At {
            rate: self.parent,
            stage: 0,
            section: Section::Bottom,
        };
        let is_here = |c: &Comb| c.slot.is_some_and(|h| h.rate == self.rate);
        let comb = CombId::new(leapt.combs.iter().position(is_here)?);
        let context = Context::of(program);
        for (place, block) in context.places.iter().zip(context.blocks_mut(&mut leapt)) {
            match self.section(*place) {
                Some(Section::Nest) => {
                    let kind = StmtKind::Carry(none, zero);
                    block.stmts.push(Stmt { comb, kind });
                }
                Some(Section::Done) => {}
                None if *place == end => {
                    let kind = StmtKind::Assign(self.counter, self.bound);
                    block.stmts.push(Stmt { comb, kind });
                }
                None => {}
                Some(_) => block
                    .stmts
                    .iter_mut()
                    .for_each(|s| self.rename(s, none, zero)),
            }
        }
        verify(&leapt).is_ok().then_some(leapt)
    }

    /// Replaces the counter in the rate's statements.
    fn rename(&self, s: &mut Stmt, none: Var, zero: Atom) {
        match &mut s.kind {
            StmtKind::Let(_, op, args) => {
                for a in args {
                    match *a {
                        Atom::Var(v) if v == self.counter => *a = none.into(),
                        bound if *op == Op::Lt && bound == self.bound => *a = zero,
                        _ => {}
                    }
                }
            }
            StmtKind::Assign(v, _) => *v = none,
            _ => {}
        }
    }
}

fn is_next(args: &[Atom], counter: Var) -> bool {
    let one = Atom::Const(Const::u64(1));
    args == [counter.into(), one] || args == [one, counter.into()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gotos::{complete_blocks, derive_gotos};
    use crate::parse::parse;

    /// Counts pairs. `BODY` is the block of each.
    const PAIRS: &str = "loop pairs
comb 0 iota at r0
comb 1 combinations at r1
param len_0: u64
param xs_1: [u64] random
rate r0 root ix_0 < len_0 { stage 0; child r1 }
rate r1 nested r0 ix_1 < end_1 { stage 0 }
group ix_1 owner r0 step r1 start 0 id 0 next nix_1 combine add level 0 exact
group sum_1 owner r0 step r1 start 0 id 0 next more_sum_1 combine add level 1 exact
init_0, init_1:
  carry ix_0 = 0
  carry ix_1 = 0
  carry sum_1 = 0
guard_0:
  let more_0 = lt ix_0 len_0
  unless more_0
nest_1:
  let size_1 = sub len_0 ix_0
  let end_1 = add ix_1 size_1
guard_1:
  let more_1 = lt ix_1 end_1
  unless more_1
BODY
bottom_1:
  let nix_1 = add ix_1 1
  ix_1 := nix_1
bottom_0:
  let nix_0 = add ix_0 1
  ix_0 := nix_0
done_1:
done_0:
  return ix_1
";

    fn pairs(body: &str) -> Loop {
        let sums =
            "group sum_1 owner r0 step r1 start 0 id 0 next more_sum_1 combine add level 1 exact\n";
        let text = match body.is_empty() {
            true => PAIRS.replace(sums, "").replace("  carry sum_1 = 0\n", ""),
            false => PAIRS.to_string(),
        };
        let text = text.replace("BODY\n", body);
        let mut program = parse(&text).unwrap_or_else(|e| panic!("{}", e[0]));
        complete_blocks(&mut program);
        derive_gotos(&mut program);
        assert_eq!(verify(&program), Ok(()));
        program
    }

    #[test]
    fn leap_over_an_inner_loop_that_counts_leaves_no_step_of_it() {
        let mut program = pairs("");
        assert!(leap(&mut program));
        let text = program.to_string();
        assert!(text.contains("rate r1 nested r0 none_1 < 0"), "{text}");
        assert!(text.contains("ix_1 := end_1"), "{text}");
        assert!(text.contains("group ix_1 owner r0 step r0"), "{text}");
        assert_eq!(verify(&program), Ok(()));
        assert!(!leap(&mut program));
    }

    #[test]
    fn leap_over_an_inner_loop_that_does_more_is_none() {
        let body = "body_1:\n  let x_1 = readArray xs_1 ix_1\n  let more_sum_1 = add sum_1 x_1\n  sum_1 := more_sum_1\n";
        let mut program = pairs(body);
        assert!(!leap(&mut program));
    }
}
