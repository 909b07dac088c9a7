//! Scans: an accumulator whose running value is the element.
//!
//! ```text
//! body_4:  let elt_4 = scan acc_4 with elt_1        (floats: a fixed tree within blocks)
//! body_4:  let elt_4 = add acc_4 elt_1              (exact operators)
//! bottom_4: acc_4 := elt_4
//! ```
//!
//! An exclusive scan's element is the accumulator's old value. Operators that are not plain are lifted as
//! in [`super::fold`].

use super::anatomy::{Anatomy, Lower, Spot};
use super::body::{self, Inline};
use super::fold::{Carried, elements, has_captures, start};
use super::operators;
use crate::ast::{Fold, FoldStyle, Kind, ScanKind};
use crate::sharing::NodeId;
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::ops::Range;

/// Lowers a scan.
pub fn lower(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let graph = a.graph;
    let node = &graph.nodes[id.index()];
    let Kind::Scan(fold, kind) = &node.node.kind else {
        return Ok(());
    };
    let spot = a.spot_of(id, 0..1)?;
    let owner = a.owner();
    let accs = scan_at(a, id, (fold, *kind), 0..1, (spot, owner))?;
    for (field, acc) in accs.into_iter().enumerate() {
        a.set_scan_total((id, field as u32), acc.into());
    }
    Ok(())
}

/// Scans the inputs' elements at a spot with accumulators that a rate owns, and gives these.
pub(super) fn scan_at(
    a: &mut Anatomy<'_>,
    id: NodeId,
    (fold, kind): (&Fold, ScanKind),
    inputs: Range<usize>,
    (spot, owner): (Spot, RateId),
) -> Lower<Vec<Var>> {
    let comb = a.comb_at(id, spot);
    let elements = elements(a, id, inputs, spot)?;
    let start = start(a, id, fold)?;
    let s = Scanning {
        id,
        carried: Carried {
            comb,
            rate: spot.rate,
            owner,
        },
        fold,
        elements,
        start,
    };
    let running = match operators::plain(&fold.step) {
        _ if matches!(fold.style, FoldStyle::Sequential) => s.sequential(a)?,
        Some(ops) => s.plain(a, &ops),
        None if has_captures(fold) => s.sequential(a)?,
        None => s.lifted(a)?,
    };
    let mut accs = Vec::with_capacity(running.len());
    for (field, r) in running.into_iter().enumerate() {
        let value = if kind == ScanKind::Exclusive {
            r.acc.into()
        } else {
            r.inclusive
        };
        a.set_elt((id, field as u32), spot, value);
        accs.push(r.acc);
    }
    Ok(accs)
}

/// Lowers the delayed scalar that a scan ends with: its accumulator, read after the loop.
pub fn lower_total(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let scan = a.graph.nodes[id.index()].inputs[0];
    for field in 0..a.graph.node(id).types.len() as u32 {
        let value = a.scan_total(a.graph.resolve(scan, field))?;
        a.set_delayed((id, field), value);
    }
    Ok(())
}

/// One field of a scan: the accumulator, and the inclusive value.
struct Running {
    acc: Var,
    inclusive: Atom,
}

struct Scanning<'f> {
    id: NodeId,
    carried: Carried,
    fold: &'f Fold,
    elements: Vec<Atom>,
    start: Vec<Atom>,
}

impl Scanning<'_> {
    fn plain(&self, a: &mut Anatomy<'_>, ops: &[Op]) -> Vec<Running> {
        let types = self.fold.step.result_types();
        let in_subrate = a.program.rate(self.carried.rate).kind.is_sub();
        let mut fields = Vec::new();
        for (field, op) in ops.iter().enumerate() {
            let ty = types[field];
            let order = operators::scan_order(ty, in_subrate);
            let acc = self.carried.carry(a, "acc", self.start[field], ty);
            let group = Group {
                vars: vec![acc],
                owner: self.carried.owner,
                step: self.carried.rate,
                start: vec![self.start[field]],
                identity: vec![operators::identity(*op, ty).into()],
                next: vec![],
                combine: Some(Combine::Op(*op)),
                level: 0,
                order,
            };
            let element = self.elements[field];
            let inclusive = if order == Order::Exact {
                let comb = self.carried.comb;
                let next = a.emit(comb, Section::Body, "elt", *op, &[acc.into(), element]);
                self.carried.update(a, acc, next.into());
                a.program.groups.push(Group {
                    next: vec![next.into()],
                    ..group
                });
                next
            } else {
                self.scan(a, group, vec![element])[0]
            };
            fields.push(Running {
                acc,
                inclusive: inclusive.into(),
            });
        }
        fields
    }

    /// Adds a prefix group and its `scan` statement; the results are the inclusive values.
    fn scan(&self, a: &mut Anatomy<'_>, group: Group, elems: Vec<Atom>) -> Vec<Var> {
        let types: Vec<Ty> = group.vars.iter().map(|v| a.program.ty(*v).elem()).collect();
        let results: Vec<Var> = types
            .iter()
            .map(|t| a.scalar("elt", self.carried.comb, *t))
            .collect();
        let next = results.iter().map(|v| (*v).into()).collect();
        let id = GroupId::new(a.program.groups.len());
        a.program.groups.push(Group { next, ..group });
        let kind = StmtKind::Scan {
            results: results.clone(),
            group: id,
            elems,
        };
        a.push(self.carried.comb, Section::Body, kind);
        results
    }

    fn lifted(&self, a: &mut Anatomy<'_>) -> Lower<Vec<Running>> {
        let types = self.fold.step.result_types();
        let yes = Const::bool(true).into();
        let seen = self.carried.carry(a, "seen", yes, Ty::Bool);
        let accs = self.carried.carry_all(a, &self.start, &types);
        let flagged = |b: bool, rest: Vec<Atom>| -> Vec<Atom> {
            [Const::bool(b).into()].into_iter().chain(rest).collect()
        };
        let combine = operators::lifted_combine(a, self.id, 1, &self.fold.step)?;
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
            order: Order::Prefix(1),
        };
        let results = self.scan(a, group, flagged(true, self.elements.clone()));
        let fields = accs.into_iter().zip(&results[1..]);
        Ok(fields
            .map(|(acc, r)| Running {
                acc,
                inclusive: (*r).into(),
            })
            .collect())
    }

    fn sequential(&self, a: &mut Anatomy<'_>) -> Lower<Vec<Running>> {
        let types = self.fold.step.result_types();
        let accs = self.carried.carry_all(a, &self.start, &types);
        let mut args: Vec<Atom> = accs.iter().map(|v| (*v).into()).collect();
        args.extend_from_slice(&self.elements);
        let inline = Inline::new(self.id, 1, self.carried.comb, Section::Body);
        let next = body::inline(a, &inline, &self.fold.step, &args, "elt")?;
        for (acc, new) in accs.iter().zip(&next) {
            self.carried.update(a, *acc, *new);
        }
        let next_values = next.clone();
        let group = self
            .carried
            .sequential_group(&accs, &self.start, next_values, &types);
        a.program.groups.push(group);
        Ok(accs
            .into_iter()
            .zip(next)
            .map(|(acc, inclusive)| Running { acc, inclusive })
            .collect())
    }
}
