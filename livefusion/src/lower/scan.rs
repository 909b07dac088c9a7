//! Scans: an accumulator with its running value as the element.
//!
//! ```text
//! body_4:  let elt_4 = scan acc_4 with elt_1        (floats: a fixed tree within blocks)
//! body_4:  let elt_4 = add acc_4 elt_1              (exact operators)
//! bottom_4: acc_4 := elt_4
//! ```
//!
//! The element of an exclusive scan is the accumulator's old value. Operators that are not plain
//! are lifted as in [`super::fold`].

use super::Lower;
use super::body::{self, Inline};
use super::emission::Emission;
use super::fold::{Accumulators, elements, has_captures, start};
use super::operators;
use super::placement::{Placer, Point};
use crate::ast::{Fold, FoldStyle, Kind, ScanKind, plain};
use crate::sharing::NodeId;
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::ops::Range;

/// Places a scan in step with its input.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower {
    if p.is_undemanded(id) {
        return Ok(());
    }
    let point = p.point_of(id, 0..1)?;
    p.input_elts(id, 0..1, point)?;
    p.run(id, point);
    p.know_all(id, point);
    Ok(())
}

/// Emits a scan.
pub fn emit(e: &mut Emission<'_>, id: NodeId, point: Point) -> Lower {
    let Kind::Scan(fold, kind) = &e.scope.graph.node(id).kind else {
        return Ok(());
    };
    let owner = e.owner();
    let accs = scan_at(e, id, (fold, *kind), 0..1, (point, owner))?;
    let totals = (0..)
        .zip(accs)
        .map(|(field, acc)| ((id, field), acc.into()));
    e.values.totals.extend(totals);
    Ok(())
}

/// Scans the inputs' elements at a program point.
///
/// Returns the accumulators, which `owner` starts. If the owner is a cursor over elements of
/// segments, the root starts them, and the cursor restarts them with each segment.
pub(super) fn scan_at(
    e: &mut Emission<'_>,
    id: NodeId,
    (fold, kind): (&Fold, ScanKind),
    inputs: Range<usize>,
    (point, owner): (Point, RateId),
) -> Lower<Vec<Var>> {
    let comb = e.comb_at(id, point);
    let elements = elements(e, id, inputs, point)?;
    let start = start(e, id, fold)?;
    let anew = e.is_cursor(owner).then_some(owner);
    let s = Scanning {
        id,
        carried: Accumulators {
            comb,
            starts: comb,
            rate: point.rate,
            owner: anew.map_or(owner, |_| e.owner()),
        },
        fold,
        elements,
        start,
    };
    let running = match plain(&fold.step) {
        _ if anew.is_some() => s.sequential(e, owner)?,
        _ if matches!(fold.style, FoldStyle::Sequential) => s.sequential(e, point.rate)?,
        Some(ops) => s.plain(e, &ops),
        None if has_captures(fold) => s.sequential(e, point.rate)?,
        None => s.lifted(e)?,
    };
    if let Some(elements) = anew {
        for (r, start) in running.iter().zip(&s.start) {
            e.begins_anew(elements, r.acc, *start);
        }
    }
    let mut accs = Vec::with_capacity(running.len());
    for (field, r) in running.into_iter().enumerate() {
        let value = if kind == ScanKind::Exclusive {
            r.acc.into()
        } else {
            r.inclusive
        };
        e.values.set_column((id, field as u32).into(), point, value);
        accs.push(r.acc);
    }
    Ok(accs)
}

/// Emits the total of a scan.
///
/// It is the accumulator, read after the loop.
pub fn emit_total(e: &mut Emission<'_>, id: NodeId) -> Lower {
    let (graph, scan) = (e.scope.graph, e.scope.inputs(id)[0]);
    let mut values = Vec::new();
    for field in 0..graph.node(id).types.len() as u32 {
        let total = e.values.totals.get(&graph.resolve(scan, field));
        values.push(total.copied().ok_or_else(super::placement::no_root)?);
    }
    e.values.set_scalars(id, values);
    Ok(())
}

/// One field of a scan: the accumulator and the inclusive value.
struct ScannedField {
    acc: Var,
    inclusive: Atom,
}

struct Scanning<'f> {
    id: NodeId,
    carried: Accumulators,
    fold: &'f Fold,
    elements: Vec<Atom>,
    start: Vec<Atom>,
}

impl Scanning<'_> {
    fn plain(&self, e: &mut Emission<'_>, ops: &[Op]) -> Vec<ScannedField> {
        let types = self.fold.step.result_types();
        let class = e.scope.plan.rates.runs_at(self.id);
        let in_subrate = !e.is_in_step(class, self.carried.rate);
        let mut fields = Vec::new();
        for (field, op) in ops.iter().enumerate() {
            let ty = types[field];
            let order = operators::scan_order(*op, ty, in_subrate);
            let acc = self.carried.carry(e, "acc", self.start[field], ty);
            let group = Group {
                vars: vec![acc],
                owner: self.carried.owner,
                step: self.carried.rate,
                start: vec![self.start[field]],
                identity: vec![operators::identity(*op, ty).into()],
                next: vec![],
                combine: Some(Combine::Op(*op)),
                level: 0,
                cycle: false,
                order,
            };
            let element = self.elements[field];
            let inclusive = if order == Order::Exact {
                let comb = self.carried.comb;
                let next = e.emit(comb, Section::Body, "elt", *op, &[acc.into(), element]);
                self.carried.update(e, acc, next.into());
                e.group(Group {
                    next: vec![next.into()],
                    ..group
                });
                next
            } else {
                self.scan(e, group, vec![element])[0]
            };
            fields.push(ScannedField {
                acc,
                inclusive: inclusive.into(),
            });
        }
        fields
    }

    /// Adds a prefix group and its `scan` statement. Returns the inclusive values.
    fn scan(&self, e: &mut Emission<'_>, group: Group, elems: Vec<Atom>) -> Vec<Var> {
        let types: Vec<Ty> = group.vars.iter().map(|v| e.program.ty(*v).elem()).collect();
        let results: Vec<Var> = types
            .iter()
            .map(|t| e.scalar("elt", self.carried.comb, *t))
            .collect();
        let next = results.iter().map(|v| (*v).into()).collect();
        let id = e.group(Group { next, ..group });
        let kind = StmtKind::Scan {
            results: results.clone(),
            group: id,
            elems,
        };
        e.push(self.carried.comb, Section::Body, kind);
        results
    }

    fn lifted(&self, e: &mut Emission<'_>) -> Lower<Vec<ScannedField>> {
        let types = self.fold.step.result_types();
        let yes = Const::bool(true).into();
        let seen = self.carried.carry(e, "seen", yes, Ty::Bool);
        let accs = self.carried.carry_all(e, &self.start, &types);
        let flagged = |b: bool, rest: Vec<Atom>| -> Vec<Atom> {
            [Const::bool(b).into()].into_iter().chain(rest).collect()
        };
        let combine = operators::lifted_combine(e, self.id, 1, &self.fold.step)?;
        let group = Group {
            vars: [seen].into_iter().chain(accs.iter().copied()).collect(),
            owner: self.carried.owner,
            step: self.carried.rate,
            start: flagged(true, self.start.clone()),
            identity: flagged(
                false,
                types.iter().map(|t| Const::zero(*t).into()).collect(),
            ),
            next: vec![],
            combine: Some(combine),
            level: 0,
            cycle: false,
            order: Order::Prefix(1),
        };
        let results = self.scan(e, group, flagged(true, self.elements.clone()));
        let fields = accs.into_iter().zip(&results[1..]);
        Ok(fields
            .map(|(acc, r)| ScannedField {
                acc,
                inclusive: (*r).into(),
            })
            .collect())
    }

    /// Emits a left-to-right scan that is updated at `step` or below it.
    fn sequential(&self, e: &mut Emission<'_>, step: RateId) -> Lower<Vec<ScannedField>> {
        let types = self.fold.step.result_types();
        let accs = self.carried.carry_all(e, &self.start, &types);
        let mut args: Vec<Atom> = accs.iter().map(|v| (*v).into()).collect();
        args.extend_from_slice(&self.elements);
        let inline = Inline::new(self.id, 1, self.carried.comb, Section::Body);
        let next = body::inline(e, &inline, &self.fold.step, &args, "elt")?;
        for (acc, new) in accs.iter().zip(&next) {
            self.carried.update(e, *acc, *new);
        }
        let next_values = next.clone();
        let group = self
            .carried
            .sequential_group(&accs, &self.start, next_values, &types);
        e.group(Group { step, ..group });
        Ok(accs
            .into_iter()
            .zip(next)
            .map(|(acc, inclusive)| ScannedField { acc, inclusive })
            .collect())
    }
}
