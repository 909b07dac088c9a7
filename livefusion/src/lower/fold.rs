//! Folds: an accumulator that is updated in each iteration and read after the loop.
//!
//! ```text
//! init_3:  carry acc_3 = k_3          body_3:  let new_3 = max acc_3 elt_1
//!                                     yield_3: acc_3 := new_3
//! ```
//!
//! * *Plain* operators (one per field, associative and commutative) have a group per field with a
//!   known identity. Floats are folded in lanes, other types in any order.
//!
//! * `exact` folds give the same bits in any order, without being operators. The start is the
//!   identity. Every chunk continues from the state that it finds.
//!
//! * `dealt` folds may deal their elements to lanes, without being operators. The start is the
//!   identity. The function that joins states joins lanes.
//!
//! * Other associative operators lift the state by a flag that tells whether it has a value. The
//!   empty state is the identity. A chunk runs left to right, and chunks are joined in order.
//!   Dealing elements to lanes by index would need commutativity, which is not promised. A loop
//!   without other work folds in runs.
//!
//! * `fold_seq`, and operators that use captured values, run left to right.

use super::Lower;
use super::body::{self, Inline};
use super::emission::Emission;
use super::operators;
use super::placement::{Opening, Placer, Point};
use crate::ast::{Body, Fold, FoldStyle, Kind, plain};
use crate::sharing::NodeId;
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::ops::Range;

/// Places a fold in step with its inputs.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let all = 0..p.scope.inputs(id).len();
    let point = p.point_of(id, all.clone())?;
    p.input_elts(id, all, point)?;
    p.run(id, point);
    Ok(())
}

/// Emits a fold.
pub fn emit(e: &mut Emission<'_>, id: NodeId, point: Point) -> Lower {
    let Kind::Fold(fold) = &e.scope.graph.node(id).kind else {
        return Ok(());
    };
    let (owner, all) = (e.owner(), 0..e.scope.inputs(id).len());
    let values = fold_at(e, id, fold, all, (point, owner))?;
    e.values.set_scalars(id, values);
    Ok(())
}

/// Folds the inputs' elements at a program point.
///
/// Returns the accumulators, which `owner` starts.
pub(super) fn fold_at(
    e: &mut Emission<'_>,
    id: NodeId,
    fold: &Fold,
    inputs: Range<usize>,
    (point, owner): (Point, RateId),
) -> Lower<Vec<Atom>> {
    let comb = e.comb_at(id, point);
    let elements = elements(e, id, inputs, point)?;
    let start = start(e, id, fold)?;
    let starts = match e.scope.plan.rates.is_across(id) {
        true => e.comb_at(id, Point::first(owner)),
        false => comb,
    };
    let f = FoldEmission {
        id,
        carried: Accumulators {
            comb,
            starts,
            rate: point.rate,
            owner,
        },
        fold,
        elements,
        start,
    };
    // The elements of a segment in a subrate are not counted. A flag tells whether there was one.
    let unseen = matches!(fold.style, FoldStyle::First)
        && f.carried.is_segmented(e)
        && e.program.rate(point.rate).kind.is_sub();
    match (&fold.style, plain(&fold.step)) {
        (FoldStyle::Sequential, _) => f.sequential(e),
        (FoldStyle::Exact(join), _) => f.joined(e, join, Order::Exact),
        (FoldStyle::Dealt(join), _) => f.joined(e, join, operators::lanes_of(&f.types())),
        (FoldStyle::Associative | FoldStyle::First, Some(ops)) if !unseen => Ok(f.plain(e, &ops)),
        _ if has_captures(fold) && !matches!(fold.style, FoldStyle::First) => f.sequential(e),
        _ => f.lifted(e),
    }
}

/// Returns the elements of a node's inputs at a program point.
pub(super) fn elements(
    e: &mut Emission<'_>,
    id: NodeId,
    inputs: Range<usize>,
    point: Point,
) -> Lower<Vec<Atom>> {
    let columns = e.scope.columns(id, inputs);
    columns.into_iter().map(|c| e.elt(c, point)).collect()
}

/// Returns whether a fold's function uses captured values.
///
/// Combine functions can use only their parameters.
pub(super) fn has_captures(fold: &Fold) -> bool {
    match &fold.style {
        FoldStyle::Aggregate(combine) => !combine.captures.is_empty(),
        _ => !fold.step.captures.is_empty(),
    }
}

/// Returns the starting values, computed in `init`.
///
/// They are empty for `fold1`.
pub(super) fn start(e: &mut Emission<'_>, id: NodeId, fold: &Fold) -> Lower<Vec<Atom>> {
    if matches!(fold.style, FoldStyle::First) {
        return Ok(vec![]);
    }
    let comb = e.comb(id);
    body::inline(
        e,
        &Inline::new(id, 0, comb, Section::Init),
        &fold.start,
        &[],
        "start",
    )
}

/// Describes the program point of accumulators.
///
/// A combinator updates them at `rate`. The owner starts them: the root once, a nested rate with
/// every segment.
#[derive(Clone, Copy)]
pub(super) struct Accumulators {
    pub(super) comb: CombId,
    /// The part of the combinator in the owner.
    pub(super) starts: CombId,
    pub(super) rate: RateId,
    pub(super) owner: RateId,
}

impl Accumulators {
    /// Returns whether they restart with every segment.
    pub(super) fn is_segmented(&self, e: &Emission<'_>) -> bool {
        matches!(e.program.rate(self.owner).kind, RateKind::Nested { .. })
    }

    /// Declares a loop-carried variable.
    pub(super) fn carry(&self, e: &mut Emission<'_>, base: &str, start: Atom, ty: Ty) -> Var {
        if !self.is_segmented(e) {
            return e.carry(base, self.comb, ty, start);
        }
        let v = e.scalar(base, self.comb, ty);
        e.push(self.starts, Section::Nest, StmtKind::Carry(v, start));
        v
    }

    /// Sets the next value of a loop-carried variable.
    pub(super) fn update(&self, e: &mut Emission<'_>, carried: Var, value: Atom) {
        e.update(self.comb, self.rate, carried, value);
    }

    /// Declares the fields of a state.
    pub(super) fn carry_all(&self, e: &mut Emission<'_>, start: &[Atom], types: &[Ty]) -> Vec<Var> {
        let fields = start.iter().zip(types);
        fields.map(|(s, t)| self.carry(e, "acc", *s, *t)).collect()
    }

    /// Returns a group that runs only left to right.
    pub(super) fn sequential_group(
        &self,
        accs: &[Var],
        start: &[Atom],
        next: Vec<Atom>,
        types: &[Ty],
    ) -> Group {
        Group {
            vars: accs.to_vec(),
            owner: self.owner,
            step: self.rate,
            start: start.to_vec(),
            identity: types.iter().map(|t| Const::zero(*t).into()).collect(),
            next,
            combine: None,
            level: 0,
            cycle: false,
            order: Order::Sequential,
        }
    }
}

struct FoldEmission<'f> {
    id: NodeId,
    carried: Accumulators,
    fold: &'f Fold,
    elements: Vec<Atom>,
    start: Vec<Atom>,
}

impl FoldEmission<'_> {
    fn types(&self) -> Vec<Ty> {
        self.fold.step.result_types().into_vec()
    }

    /// Emits one group per field.
    fn plain(&self, e: &mut Emission<'_>, ops: &[Op]) -> Vec<Atom> {
        let comb = self.carried.comb;
        let types = self.types();
        let mut values = Vec::new();
        for (field, op) in ops.iter().enumerate() {
            let identity: Atom = operators::identity(*op, types[field]).into();
            let start = self.start.get(field).copied().unwrap_or(identity);
            let acc = self.carried.carry(e, "acc", start, types[field]);
            let new = e.emit(
                comb,
                Section::Body,
                "new",
                *op,
                &[acc.into(), self.elements[field]],
            );
            self.carried.update(e, acc, new.into());
            e.group(Group {
                vars: vec![acc],
                owner: self.carried.owner,
                step: self.carried.rate,
                start: vec![start],
                identity: vec![identity],
                next: vec![new.into()],
                combine: Some(Combine::Op(*op)),
                level: 0,
                cycle: false,
                order: operators::fold_order(*op, types[field]),
            });
            values.push(acc.into());
        }
        if matches!(self.fold.style, FoldStyle::First) {
            self.check_nonempty(e);
        }
        values
    }

    /// Whether the fold is complete at the end of the emitted phase. A segment never continues in
    /// the next phase.
    fn has_all(&self, e: &Emission<'_>) -> bool {
        let class = e.scope.plan.rates.runs_at(self.id);
        self.carried.is_segmented(e) || e.is_last(class, self.carried.rate)
    }

    /// The liveness guard in which the fold runs, within its loop.
    fn apart(&self, e: &Emission<'_>) -> Option<RateId> {
        let tree = &e.placed.tree;
        let up = |r: &RateId| tree.parent(*r).filter(|_| tree.rate(*r).opening.is_sub());
        let mut around = std::iter::successors(Some(self.carried.rate), up);
        around.find(|r| matches!(tree.rate(*r).opening, Opening::While(_)))
    }

    /// Checks that `fold1` has an element: the length or count of the rate or of the segment must
    /// not be 0.
    fn check_nonempty(&self, e: &mut Emission<'_>) {
        let Accumulators { comb, rate, .. } = self.carried;
        if !self.has_all(e) {
            return;
        }
        let class = e.scope.plan.rates.runs_at(self.id);
        let segmented = self.carried.is_segmented(e);
        let (section, count, none): (_, Atom, Atom) = match e.program.rate(rate).kind {
            RateKind::Nested { counter, bound, .. } if segmented => {
                (Section::Nest, bound, counter.into())
            }
            _ => {
                let count = e.total(comb, class, rate);
                (Section::Done, count, Const::u64(0).into())
            }
        };
        let some = e.emit(comb, section, "some", Op::Ne, &[count, none]);
        e.trap(comb, section, TrapKind::Empty, some.into(), &[]);
    }

    /// Emits the state with a flag that tells whether it has a value.
    fn lifted(&self, e: &mut Emission<'_>) -> Lower<Vec<Atom>> {
        let comb = self.carried.comb;
        let types = self.types();
        let zeros: Vec<Atom> = types.iter().map(|t| Const::zero(*t).into()).collect();
        let aggregate = matches!(self.fold.style, FoldStyle::Aggregate(_));
        // An aggregate steps from `start` in every chunk. `start` itself is never joined.
        let (seen_start, start, identity) = match self.fold.style {
            FoldStyle::First => (false, zeros.clone(), zeros),
            FoldStyle::Aggregate(_) => (false, self.start.clone(), self.start.clone()),
            _ => (true, self.start.clone(), zeros),
        };
        let start_seen = Const::bool(seen_start).into();
        let seen = self.carried.carry(e, "seen", start_seen, Ty::Bool);
        let accs = self.carried.carry_all(e, &start, &types);
        let mut args: Vec<Atom> = accs.iter().map(|v| (*v).into()).collect();
        args.extend_from_slice(&self.elements);
        let inline = Inline::new(self.id, 1, comb, Section::Body);
        let (stmts, stepped) = body::statements(e, &inline, &self.fold.step, &args, "new")?;
        let next = if aggregate {
            e.push_all(comb, Section::Body, stmts);
            stepped
        } else {
            self.first_or(e, seen, stmts, stepped)
        };
        self.carried.update(e, seen, Const::bool(true).into());
        for (acc, new) in accs.iter().zip(&next) {
            self.carried.update(e, *acc, *new);
        }
        let (combine, order) = if has_captures(self.fold) {
            (None, Order::Sequential)
        } else {
            let combine = match &self.fold.style {
                FoldStyle::Aggregate(body) => operators::lifted_combine(e, self.id, 2, body)?,
                _ => operators::lifted_combine(e, self.id, 1, &self.fold.step)?,
            };
            (Some(combine), Order::Lanes(1))
        };
        let flagged = |b: bool, rest: Vec<Atom>| -> Vec<Atom> {
            [Const::bool(b).into()].into_iter().chain(rest).collect()
        };
        e.group(Group {
            vars: [seen].into_iter().chain(accs.iter().copied()).collect(),
            owner: self.carried.owner,
            step: self.carried.rate,
            start: flagged(seen_start, start),
            identity: flagged(false, identity),
            next: flagged(true, next),
            combine,
            level: 0,
            cycle: false,
            order,
        });
        if matches!(self.fold.style, FoldStyle::First) && self.has_all(e) {
            match (self.carried.is_segmented(e), self.apart(e)) {
                // The liveness condition of the guard is not known yet.
                (true, Some(rate)) => {
                    let waiting = e.values.nonempty.entry(rate).or_default();
                    waiting.push((comb, seen));
                }
                (true, None) => e.trap_after(comb, TrapKind::Empty, &[seen]),
                (false, _) => e.trap(comb, Section::Done, TrapKind::Empty, seen.into(), &[]),
            }
        }
        Ok(accs.into_iter().map(Atom::Var).collect())
    }

    /// Emits a state with its start as identity. Partial states are joined in any order, or by
    /// lanes.
    fn joined(&self, e: &mut Emission<'_>, join: &Body, order: Order) -> Lower<Vec<Atom>> {
        let (accs, next) = self.stepped(e)?;
        let combine = operators::combine(e, self.id, 2, join)?;
        e.group(Group {
            vars: accs.clone(),
            owner: self.carried.owner,
            step: self.carried.rate,
            start: self.start.clone(),
            identity: self.start.clone(),
            next,
            combine: Some(combine),
            level: 0,
            cycle: false,
            order,
        });
        Ok(accs.into_iter().map(Atom::Var).collect())
    }

    /// Takes the first element as it is, and joins the others.
    fn first_or(
        &self,
        e: &mut Emission<'_>,
        seen: Var,
        then: Vec<Stmt>,
        joined: Vec<Atom>,
    ) -> Vec<Atom> {
        let types = self.types();
        let results: Vec<(Var, Atom, Atom)> = joined
            .into_iter()
            .zip(&self.elements)
            .zip(&types)
            .map(|((new, elt), ty)| (e.scalar("next", self.carried.comb, *ty), new, *elt))
            .collect();
        let next = results.iter().map(|r| Atom::Var(r.0)).collect();
        let kind = StmtKind::If {
            cond: seen.into(),
            then,
            other: vec![],
            results,
        };
        e.push(self.carried.comb, Section::Body, kind);
        next
    }

    fn sequential(&self, e: &mut Emission<'_>) -> Lower<Vec<Atom>> {
        let (accs, next) = self.stepped(e)?;
        let types = self.types();
        let group = self
            .carried
            .sequential_group(&accs, &self.start, next, &types);
        e.group(group);
        Ok(accs.into_iter().map(Atom::Var).collect())
    }

    /// Emits a step. Returns the state and its next values.
    fn stepped(&self, e: &mut Emission<'_>) -> Lower<(Vec<Var>, Vec<Atom>)> {
        let types = self.types();
        let accs = self.carried.carry_all(e, &self.start, &types);
        let mut args: Vec<Atom> = accs.iter().map(|v| (*v).into()).collect();
        args.extend_from_slice(&self.elements);
        let inline = Inline::new(self.id, 1, self.carried.comb, Section::Body);
        let next = body::inline(e, &inline, &self.fold.step, &args, "new")?;
        for (acc, new) in accs.iter().zip(&next) {
            self.carried.update(e, *acc, *new);
        }
        Ok((accs, next))
    }
}
