//! Segments: a loop over each segment's elements inside of the loop over the segments.
//!
//! ```text
//! nest_1:  let room_1 = sub len_1 ix_1             guard_1:  unless more_1 | done_1
//!          let fits_1 = le elt_0 room_1            body_1:   let elt_1 = readArray arr_1 ix_1
//!          trap unless fits_1, t0 (elt_0, room_1)
//!          let end_1 = add ix_1 elt_0
//! ```
//!
//! Folds and scans of segments are those of [`super::fold`] and [`super::scan`] with accumulators that the
//! inner loop's `nest` starts.

use super::Source;
use super::anatomy::{Anatomy, Column, Lower, Spot};
use super::body::{self, Inline};
use super::fold::fold_at;
use super::lengths;
use super::scan::scan_at;
use crate::ast::Kind;
use crate::fusion::{ClassId, ClassKind};
use crate::sharing::{FieldRef, NodeId};
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// More elements than any memory holds: what lengths whose elements are nowhere in memory may add up to.
const MOST_ELEMENTS: u64 = 1 << 48;

/// Opens an inner loop behind everything that it needs.
pub fn open(
    a: &mut Anatomy<'_>,
    user: NodeId,
    class: ClassId,
    (parent, lengths): (ClassId, FieldRef),
    needs: &[Spot],
) -> Lower<Spot> {
    // Lengths that are in step with something else are read at the segments' counter.
    let beside = (a.plan.rates.output(lengths.0) != Some(parent)).then_some(parent);
    let lengths = Column {
        field: lengths,
        beside,
    };
    let mut all = a.needs(&[lengths]);
    all.extend_from_slice(needs);
    let spot = a.spot_for_child(user, parent, &all)?;
    let comb = a.unhomed_comb(user);
    let known = a.test(class, spot.rate);
    let rate = match known {
        // An earlier loop over the same segment has checked its length.
        Some(len) => a.open_nested(comb, spot.rate, class, len),
        None => {
            let len = a.elt(lengths, spot)?;
            let (rate, safe) = open_checked(a, comb, (spot.rate, class), (user, len))?;
            a.set_test(class, spot.rate, safe);
            rate
        }
    };
    Ok(Spot { rate, position: 0 })
}

/// Opens an inner loop over segments whose lengths nobody has checked yet: each must fit what is left of
/// the data. One that does not is a trap, and counts as empty.
fn open_checked(
    a: &mut Anatomy<'_>,
    comb: CombId,
    (parent, class): (RateId, ClassId),
    (user, len): (NodeId, Atom),
) -> Lower<(RateId, Atom)> {
    let most = match (a.plan.rates.in_memory(class), beside(a, user, class)?) {
        (Some(leaf), _) => a.scalar_param(Source::Length(leaf), "len", comb, Ty::U64),
        (None, Some(len)) => len,
        (None, None) => Const::u64(MOST_ELEMENTS).into(),
    };
    let safe = a.scalar("size", comb, Ty::U64);
    let rate = a.open_nested(comb, parent, class, safe.into());
    let counter: Atom = a.index(rate).into();
    let room = a.scalar("room", comb, Ty::U64);
    let fits = a.scalar("fits", comb, Ty::Bool);
    let payload = [len, room.into()];
    let trap = a.trap_stmt(comb, TrapKind::Segments, fits.into(), &payload);
    let zero = Const::u64(0).into();
    let op = |v, op, args: &[Atom]| Stmt {
        comb,
        kind: StmtKind::Let(v, op, Args::from_slice(args)),
    };
    let stmts = vec![
        op(room, Op::Sub, &[most, counter]),
        op(fits, Op::Le, &[len, room.into()]),
        trap,
        op(safe, Op::Select, &[fits.into(), len, zero]),
    ];
    a.push_first(comb, Section::Nest, stmts);
    Ok((rate, safe.into()))
}

/// How long the data is that a node reads beside all elements of segments.
fn beside(a: &mut Anatomy<'_>, user: NodeId, class: ClassId) -> Lower<Option<Atom>> {
    let node = &a.graph.nodes[user.index()];
    let uses = matches!(
        node.node.kind,
        Kind::FoldS(_) | Kind::ScanS(..) | Kind::CountS
    );
    let here = a.plan.rates.runs_at(user) == Some(class);
    match node.inputs.get(1) {
        Some(data) if uses && here && a.plan.rates.is_beside(user, 1) => a.len(*data),
        _ => Ok(None),
    }
}

/// Where a node runs at the elements of its segments. Lengths that count the elements of a subrate are
/// known only behind it, and it runs without them: nobody waits for them.
fn spot_of(a: &mut Anatomy<'_>, id: NodeId) -> Lower<Spot> {
    let inputs = 0..a.graph.nodes[id.index()].inputs.len();
    let class = a.plan.rates.runs_at(id);
    let is_sub = class.is_some_and(|c| matches!(a.plan.rates.kind(c), ClassKind::Sub(..)));
    a.spot_behind(id, inputs.clone(), usize::from(is_sub)..inputs.end)
}

/// Where a node runs that uses data with its segments' lengths, and the rate of those segments.
fn segmented(a: &mut Anatomy<'_>, id: NodeId) -> Lower<(Spot, RateId)> {
    let spot = spot_of(a, id)?;
    a.comb_at(id, spot);
    // There is a tag for every element, whether it admits that or not.
    let elements = match (&a.graph.node(id).kind, a.program.rate(spot.rate).kind) {
        (Kind::CountS, RateKind::Sub { parent, .. }) => parent,
        _ => spot.rate,
    };
    let at = Spot {
        rate: elements,
        position: 0,
    };
    lengths::check(a, id, 1..2, at)?;
    Ok((spot, a.program.loop_rate(spot.rate)))
}

/// Lowers a fold of each segment.
pub fn lower_fold(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let graph = a.graph;
    let node = &graph.nodes[id.index()];
    let Kind::FoldS(fold) = &node.node.kind else {
        return Ok(());
    };
    let (spot, owner) = segmented(a, id)?;
    let values = fold_at(a, id, fold, 1..2, (spot, owner))?;
    set_folded(a, id, owner, values)
}

/// The results of a segment's fold are elements of the rate around it, from behind the inner loop on.
fn set_folded(a: &mut Anatomy<'_>, id: NodeId, owner: RateId, values: Vec<Atom>) -> Lower {
    let Some(behind) = a.child_spot(owner) else {
        return Ok(());
    };
    for (field, value) in values.into_iter().enumerate() {
        a.set_elt((id, field as u32), behind, value);
    }
    Ok(())
}

/// Lowers a scan of each segment.
pub fn lower_scan(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let graph = a.graph;
    let node = &graph.nodes[id.index()];
    let Kind::ScanS(fold, kind) = &node.node.kind else {
        return Ok(());
    };
    let (spot, owner) = segmented(a, id)?;
    scan_at(a, id, (fold, *kind), 1..2, (spot, owner))?;
    Ok(())
}

/// Lowers the number of true tags in each segment: a count of the subrate that they admit.
pub fn lower_count(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let (spot, owner) = segmented(a, id)?;
    let count = count(a, id, (spot, owner));
    set_folded(a, id, owner, vec![count.into()])
}

/// A counter of a rate's elements that starts anew with every segment.
fn count(a: &mut Anatomy<'_>, id: NodeId, (spot, owner): (Spot, RateId)) -> Var {
    let comb = a.comb_at(id, spot);
    let (zero, one): (Atom, Atom) = (Const::u64(0).into(), Const::u64(1).into());
    let n = a.scalar("n", comb, Ty::U64);
    a.push(comb, Section::Nest, StmtKind::Carry(n, zero));
    let next = a.emit(comb, Section::Yield, "next", Op::Add, &[n.into(), one]);
    a.update(comb, spot.rate, n, next.into());
    a.exact_group(n, (owner, spot.rate), (Op::Add, Const::u64(0)), next);
    n
}

/// Lowers elements made per segment: `replicate_s`, `indices_s` and others.
pub fn lower_expand(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let graph = a.graph;
    let node = &graph.nodes[id.index()];
    let Kind::Expand(body) = &node.node.kind else {
        return Ok(());
    };
    let spot = spot_of(a, id)?;
    let owner = a.program.loop_rate(spot.rate);
    if let Some(parent) = a.child_spot(owner) {
        lengths::check_together(a, id, 0..node.inputs.len(), parent)?;
    }
    let comb = a.comb_at(id, spot);
    let within: Atom = match a.program.rate(spot.rate).kind {
        RateKind::Nested { counter, bound, .. } => {
            let size = a.size_of_segment(owner)?;
            let first = a.emit(comb, Section::Nest, "first", Op::Sub, &[bound, size]);
            let args = [counter.into(), first.into()];
            a.emit(comb, Section::Body, "at", Op::Sub, &args).into()
        }
        _ => count(a, id, (spot, owner)).into(),
    };
    // The first parameter is the index; it stands where the lengths' column is.
    let columns = a.all_columns(id);
    let inline = Inline::new(id, 0, comb, Section::Body).demanded(a);
    let mut args: Vec<Atom> = body.params.iter().map(|t| Const::zero(*t).into()).collect();
    args[0] = within;
    for k in body::used_params(&inline, body)
        .into_iter()
        .filter(|k| *k > 0)
    {
        args[k] = a.elt(columns[k], spot)?;
    }
    let results = body::inline(a, &inline, body, &args, "elt")?;
    for (field, value) in results.into_iter().enumerate() {
        a.set_elt((id, field as u32), spot, value);
    }
    Ok(())
}
