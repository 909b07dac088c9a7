//! Loops over segments in the straight form: an outer `for` loop with the inner ones inside of it.
//!
//! The state machine takes its time between two segments: stops, joins of lanes, calls. So a rate whose
//! inner loops are all straight becomes one function that runs as many outer iterations as need no
//! stop. An iteration that does not fit is undone, and left to the state machine; so is the last one, which
//! leaves the state that a frame keeps.
//!
//! A fold that starts with each segment has its lanes here. Which lane an element goes to depends on
//! where its segment begins; but lanes are joined by halves and the operators commute, so turning all
//! lanes around changes nothing, and a segment may begin in lane 0. A lane that got nothing holds the
//! identity: for a short segment, fewer lanes do. A body that only computes runs for lanes without an
//! element too, on what follows in memory, and the identity is taken instead.

use super::body::Body;
use super::plan::{Plan, Step, plan, steps};
use super::vector::{Segment, segment};
use crate::facts::{self, Facts};
use loop_lang::Loop;
use loop_lang::ir::{
    Atom, Combine, GroupId, Order, Part as TreePart, Place, RateId, RateKind, Section, Stmt,
    StmtKind, Var,
};
use loop_lang::op::Op;
use std::collections::BTreeSet;

/// Segments of up to this many elements are folded in as few lanes.
pub(super) const FEW: u64 = 16;

/// A straight loop with straight loops inside.
pub struct Nest {
    /// The outer loop, and everything that goes in and out of the function.
    pub outer: Plan,
    pub(super) inner: Vec<Inner>,
    pub(super) parts: Vec<NestPart>,
    /// Variables that begin anew in each iteration.
    pub(super) starts: BTreeSet<Var>,
}

pub(super) enum NestPart {
    Step(Step),
    Loop(usize),
}

/// An inner loop.
pub(super) struct Inner {
    pub(super) plan: Plan,
    /// Its lane groups, all of `plan.strip` lanes.
    pub(super) lanes: Vec<GroupId>,
    /// Whether the body may run for elements that are not there.
    pub(super) only_computes: bool,
    /// Its form in vectors.
    pub(super) vectors: Option<Segment>,
}

/// The nests of a loop.
pub fn nests(program: &Loop, facts: &Facts, made: &[Var]) -> Vec<Nest> {
    let roots = program.roots.iter();
    roots
        .filter_map(|r| nest(program, facts, made, *r))
        .collect()
}

fn nest(program: &Loop, facts: &Facts, made: &[Var], rate: RateId) -> Option<Nest> {
    let (parts, rates) = parts(program, facts, rate)?;
    let mut inner = Vec::new();
    let outer_steps = parts.iter().filter_map(|p| match p {
        NestPart::Step(step) => Some(*step),
        NestPart::Loop(_) => None,
    });
    let (mut outer, body) = plan(program, facts, made, rate, outer_steps.collect())?;
    let mut defs: BTreeSet<Var> = BTreeSet::new();
    outer.strip = 1;
    outer.carried.retain(|v| !body.starts.contains(v));
    for r in rates {
        let steps = steps(program, facts, r)?;
        let (plan, inside) = plan(program, facts, made, r, steps)?;
        take_in(program, facts, &mut outer, &plan, &body)?;
        defs.extend(inside.defs.iter().copied());
        inner.push(Inner::of(program, facts, made, plan)?);
    }
    // What an inner loop defines is known in it alone: a guard's test, say, that is used behind the loop.
    if outer.scalars.iter().any(|v| defs.contains(v)) {
        return None;
    }
    defs.extend(&body.defs);
    outer.scalars.retain(|v| {
        let carried = outer.carried.contains(v) || body.starts.contains(v);
        !carried && *v != outer.counter && !defs.contains(v)
    });
    let joined = |v: &Var| facts.local_group(program, *v).is_some();
    let owner = |a: Var| facts.owner(program, made, a);
    let fits = can_be_undone(facts, &parts, &inner, owner)
        && !inner.is_empty()
        && !outer.scalars.iter().any(joined);
    fits.then_some(Nest {
        outer,
        inner,
        parts,
        starts: body.starts,
    })
}

/// Whether an iteration that is undone leaves nothing behind that the next try would see: a write is written
/// again, but nothing may be read before it that it changes.
fn can_be_undone(
    facts: &Facts,
    parts: &[NestPart],
    inner: &[Inner],
    owner: impl Fn(Var) -> Var,
) -> bool {
    let mut read: BTreeSet<Var> = BTreeSet::new();
    parts.iter().all(|part| {
        let (blocks, repeats): (Vec<usize>, bool) = match part {
            NestPart::Step(Step::Block(i) | Step::Enter(i)) => (vec![*i], false),
            NestPart::Step(Step::Leave) => (Vec::new(), false),
            NestPart::Loop(k) => (inner[*k].plan.blocks().collect(), true),
        };
        let (mut written, mut sound) = (BTreeSet::new(), true);
        for i in blocks {
            facts::each_stmt(&facts.blocks[i].block.stmts, &mut |s| match s.kind {
                StmtKind::ScatterArray { .. } => sound = false,
                StmtKind::ReadArray(_, a, _) => {
                    read.insert(owner(a));
                }
                StmtKind::WriteArray(a, ..) => {
                    sound &= !read.contains(&owner(a));
                    written.insert(owner(a));
                }
                _ => {}
            });
        }
        // A later turn of an inner loop writes behind what an earlier one has read.
        sound && !(repeats && written.iter().any(|a| read.contains(a)))
    })
}

/// What an inner loop needs goes in and out of the function, too.
fn take_in(
    program: &Loop,
    facts: &Facts,
    outer: &mut Plan,
    inner: &Plan,
    body: &Body,
) -> Option<()> {
    outer.arrays.extend(&inner.arrays);
    outer.checked.extend(&inner.checked);
    outer.lengths.extend(&inner.lengths);
    outer.lengths.extend(inner.proven.iter().map(|(a, _)| *a));
    outer.scalars.extend(&inner.scalars);
    let carried = inner.carried.iter().chain([&inner.counter]);
    outer
        .carried
        .extend(carried.filter(|v| !body.starts.contains(v)));
    for g in &inner.groups {
        let group = &program.groups[g.index()];
        let starts = group.vars.iter().all(|v| body.starts.contains(v));
        match group.order {
            Order::Lanes(_) | Order::Runs(_) if !starts => return None,
            Order::Prefix(_) if !starts => {
                outer.groups.insert(*g);
            }
            _ => {}
        }
    }
    let moves = |a: Atom| matches!(a, Atom::Var(v) if facts.local_group(program, v).is_some());
    (!moves(inner.bound)).then_some(())
}

/// The blocks of a root in order, with the inner loops between them.
fn parts(program: &Loop, facts: &Facts, rate: RateId) -> Option<(Vec<NestPart>, Vec<RateId>)> {
    let block = |rate, stage, section| {
        let i = *facts.at.get(&Place::At {
            rate,
            stage,
            section,
        })?;
        let b = facts.blocks[i].block;
        let straight = matches!(b.end, loop_lang::ir::End::Goto(_));
        let guard = section == Section::Guard;
        (straight && (guard || b.exits.is_empty())).then_some(NestPart::Step(Step::Block(i)))
    };
    let mut parts = vec![block(rate, 0, Section::Guard)?];
    let mut rates = Vec::new();
    for part in &program.rate(rate).parts {
        match *part {
            TreePart::Stage(stage) => {
                parts.push(block(rate, stage, Section::Body)?);
                parts.push(block(rate, stage, Section::Yield)?);
            }
            TreePart::Child(r) => {
                let RateKind::Nested { .. } = program.rate(r).kind else {
                    return None;
                };
                parts.push(block(r, 0, Section::Nest)?);
                parts.push(NestPart::Loop(rates.len()));
                parts.push(block(r, 0, Section::Done)?);
                rates.push(r);
            }
        }
    }
    parts.push(block(rate, 0, Section::Bottom)?);
    Some((parts, rates))
}

impl Inner {
    fn of(program: &Loop, facts: &Facts, made: &[Var], mut plan: Plan) -> Option<Inner> {
        let mut lanes = Vec::new();
        let mut widths = BTreeSet::new();
        for g in &plan.groups {
            let group = &program.groups[g.index()];
            match (group.order, group.combine) {
                (Order::Lanes(l), Some(Combine::Op(_))) => {
                    lanes.push(*g);
                    widths.insert(u64::from(l));
                }
                (Order::Lanes(_) | Order::Runs(_), _) => return None,
                (Order::Prefix(_), _) => {
                    widths.insert(1);
                }
                _ => {}
            }
        }
        // Lanes of several widths, or beside a scan, have no common strip.
        plan.strip = match widths.first() {
            Some(width) if widths.len() == 1 => *width,
            _ => 1,
        };
        let only_computes = plan.carried.is_empty()
            && plan.strip > FEW
            && plan.steps.iter().all(|step| matches!(step, Step::Block(_)))
            && plan.blocks().all(|i| {
                let stmts = &facts.blocks[i].block.stmts;
                stmts.iter().all(|s| only_computes(program, s))
            })
            && plan.proven.iter().all(|(_, i)| *i == plan.counter);
        let vectors = segment(program, facts, made, &plan);
        Some(Inner {
            vectors,
            plan,
            lanes,
            only_computes,
        })
    }
}

/// Whether a statement may run for an element that is not there, and is cheaper than a branch.
fn only_computes(program: &Loop, s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Let(_, op, args) => {
            let divides = matches!(op, Op::Div | Op::Rem | Op::DivEuclid | Op::RemEuclid);
            let float = program.atom_ty(args[0]).is_float();
            !op.is_transcendental() && (!divides || (float && *op == Op::Div))
        }
        StmtKind::Assign(..) | StmtKind::ReadArray(..) | StmtKind::ArrayLength(..) => true,
        _ => false,
    }
}
