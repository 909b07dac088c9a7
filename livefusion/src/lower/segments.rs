//! Segments: an inner loop over each segment's elements, in the loop over segments.
//!
//! ```text
//! nest_1:  let capacity_1 = sub len_1 ix_1         guard_1:  unless more_1 | done_1
//!          let fits_1 = le elt_0 capacity_1        body_1:   let elt_1 = readArray arr_1 ix_1
//!          trap unless fits_1, t0 (elt_0, capacity_1)
//!          let end_1 = add ix_1 elt_0
//! ```
//!
//! Folds and scans of segments share the code of [`super::fold`] and [`super::scan`]. Their
//! accumulators start in the inner loop's `nest`.

use super::body::{self, Inline};
use super::emission::{Emission, UniformRows};
use super::fold::{elements, fold_at};
use super::placement::{Context, LengthSource, Opening, Placer, Point, Total, Tree, no_root};
use super::scan::scan_at;
use super::scope::{InputColumn, LoopScope};
use super::{Lower, Source, lengths};
use crate::ast::{Body, BySegments, Kind};
use crate::fusion::{ClassId, ClassKind};
use crate::sharing::{FieldRef, NodeId};
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// An upper bound of the elements of segments that are nowhere in memory. It is more than any
/// memory holds.
const MOST_ELEMENTS: u64 = 1 << 48;

/// Opens an inner loop over segments.
///
/// It comes after the segments' lengths and after `needs`.
pub fn open(
    p: &mut Placer<'_>,
    user: NodeId,
    class: ClassId,
    (parent, lengths): (ClassId, FieldRef),
    needs: &[Point],
) -> Lower<Point> {
    let rates = &p.scope.plan.rates;
    // Lengths that are not of the parent's class are read at the segments' counter.
    let unfused_at = (rates.output(lengths.0) != Some(parent)).then_some(parent);
    let lengths = InputColumn {
        unfused_at,
        ..lengths.into()
    };
    let mut all = p.needs(&[lengths]);
    all.extend_from_slice(needs);
    // Lengths that an earlier pass counts are known before the segments' other values.
    all.extend(p.behind_fold(lengths));
    let point = p.point_for_child(user, parent, &all)?;
    // An earlier loop over the same segment has checked its length.
    if p.is_decided(class, point.rate) {
        return Ok(p.open_within(user, point, class, Opening::SameSegments));
    }
    p.elt(lengths, point)?;
    p.set_decided(class, point);
    let total = match (rates.in_memory(class), data_length(p, user, class)) {
        (Some(leaf), _) => Total::Length(LengthSource::Param(Source::Length(leaf))),
        (None, Some(len)) => Total::Length(len),
        (None, None) => Total::Any,
    };
    let opening = match p.scope.is_uniform(lengths) && is_counted_before(p, class, point.rate) {
        true => Opening::Rows(lengths, total),
        false => Opening::Segments(lengths, total),
    };
    Ok(p.open_within(user, point, class, opening))
}

/// Whether the number of segments of a class in a rate is known at loop entry.
fn is_counted_before(p: &Placer<'_>, class: ClassId, rate: RateId) -> bool {
    let opening = &p.placed.tree.rate(rate).opening;
    let counts = matches!(
        opening,
        Opening::Array(_) | Opening::Indices(_) | Opening::Rows(..)
    );
    // The elements of an append's parts are counted through all phases.
    counts && !p.scope.is_appended(class)
}

/// Returns the length of the data that a node consumes with the segments' elements.
///
/// `None` if it is not known at loop entry. No data past this length is read or computed.
pub(super) fn data_length(
    p: &mut Placer<'_>,
    user: NodeId,
    class: ClassId,
) -> Option<LengthSource> {
    let rates = &p.scope.plan.rates;
    let inputs = p.scope.inputs(user);
    let own = |len: &LengthSource| !matches!(len, LengthSource::Nothing);
    let runs_here = rates.consumes_at(p.scope.graph, user) == Some(class);
    let kind = &p.scope.graph.node(user).kind;
    let facts = kind.facts();
    let segmented = facts.by_segments != BySegments::Never;
    let first = match kind {
        _ if runs_here && facts.by_segments.cut() => 1,
        _ if runs_here && facts.in_step() => 0,
        Kind::Generate(..) if runs_here => return p.len(user).filter(own),
        // For nested segments: the lengths of the inner ones.
        _ if segmented && rates.output(inputs[0]) == Some(class) => {
            return p.len(inputs[0]).filter(own);
        }
        _ => return None,
    };
    let inputs = inputs.iter().enumerate().skip(first);
    let (unfused, in_step): (Vec<_>, Vec<_>) =
        inputs.partition(|(k, _)| rates.is_unfused(user, *k));
    if let Some((_, input)) = unfused.first() {
        return p.len(**input);
    }
    in_step.into_iter().find_map(|(_, n)| p.len(*n).filter(own))
}

/// Emits the opening of an inner loop.
pub fn emit_open(e: &mut Emission<'_>, user: NodeId, rate: RateId) -> Lower {
    let placed = e.placed.tree.rate(rate);
    let (Some(class), Some(at)) = (placed.class, e.placed.tree.child_point(rate)) else {
        return Ok(());
    };
    let comb = e.unhomed_comb(user);
    match placed.opening {
        Opening::Segments(lengths, total) => {
            let len = e.elt(lengths, at)?;
            let safe = open_checked(e, comb, at.rate, (len, total))?;
            e.values.tests.insert((class, at.rate), safe);
        }
        Opening::Rows(lengths, total) => {
            let len = e.elt(lengths, at)?;
            let rows = rows_checked(e, comb, at.rate, (len, total))?;
            e.values.tests.insert((class, at.rate), rows.length);
            e.values.rows.insert(rate, rows);
            e.open_nested(comb, at.rate, (rows.length, true));
        }
        _ => {
            let len = e.size_of_segment(rate)?;
            let uniform = e.values.rows.values().any(|rows| rows.length == len);
            e.open_nested(comb, at.rate, (len, uniform));
        }
    }
    Ok(())
}

/// Opens an inner loop with unchecked segment lengths. Each length must fit the rest of the data. A
/// length that does not fit traps, and counts as 0.
fn open_checked(
    e: &mut Emission<'_>,
    comb: CombId,
    parent: RateId,
    (len, total): (Atom, Total),
) -> Lower<Atom> {
    let most = most(e, comb, total)?;
    let safe = e.scalar("size", comb, Ty::U64);
    let rate = e.open_nested(comb, parent, (safe.into(), false));
    let (mut stmts, counter) = e.begins(comb, rate);
    stmts.extend(checked(e, comb, (safe, len), (counter, most)));
    e.push_first(comb, Section::Nest, stmts);
    Ok(safe.into())
}

/// Checks at loop entry that all segments of one length fit the data. If they do not, it traps with
/// the first segment that does not fit, and all segments count as empty.
///
/// ```text
/// init_1:  let some_1 = max s_1 1            (a divisor)
///          let most_1 = div len_1 some_1     (as many rows as fit)
///          let fit_1 = le len_0 most_1
///          let capacity_1 = rem len_1 some_1 (for the first that does not)
///          trap unless fits_1, t0 (s_1, capacity_1)
///          let size_1 = select fits_1 s_1 0
///          let all_1 = mul len_0 size_1
/// ```
fn rows_checked(
    e: &mut Emission<'_>,
    comb: CombId,
    parent: RateId,
    (len, total): (Atom, Total),
) -> Lower<UniformRows> {
    let around = match e.values.rows.get(&parent) {
        Some(rows) => Some(rows.elements),
        None => e.program.rate(parent).kind.bound(),
    };
    let around = around.ok_or_else(no_root)?;
    let capacity = most(e, comb, total)?;
    let (zero, one): (Atom, Atom) = (Const::u64(0).into(), Const::u64(1).into());
    let mut init =
        |base, op, args: &[Atom]| Atom::from(e.emit(comb, Section::Init, base, op, args));
    let some = init("some", Op::Max, &[len, one]);
    let most = init("most", Op::Div, &[capacity, some]);
    let fit = init("fit", Op::Le, &[around, most]);
    let none = init("none", Op::Eq, &[len, zero]);
    let fits = init("fits", Op::Or, &[fit, none]);
    let left = init("capacity", Op::Rem, &[capacity, some]);
    let length = init("size", Op::Select, &[fits, len, zero]);
    let elements = init("all", Op::Mul, &[around, length]);
    e.trap(comb, Section::Init, TrapKind::Segments, fits, &[len, left]);
    Ok(UniformRows { length, elements })
}

/// Returns an upper bound of the elements of all segments.
pub(super) fn most(e: &mut Emission<'_>, comb: CombId, total: Total) -> Lower<Atom> {
    match total {
        Total::Length(most) => e.length(most, comb),
        Total::Any => Ok(Const::u64(MOST_ELEMENTS).into()),
    }
}

/// Returns the statements that check a segment's length at a position.
///
/// The segment must fit the rest of the data.
pub(super) fn checked(
    e: &mut Emission<'_>,
    comb: CombId,
    (safe, len): (Var, Atom),
    (position, most): (Atom, Atom),
) -> Vec<Stmt> {
    let capacity = e.scalar("capacity", comb, Ty::U64);
    let fits = e.scalar("fits", comb, Ty::Bool);
    let payload = [len, capacity.into()];
    let trap = e.trap_stmt(comb, TrapKind::Segments, fits.into(), &payload);
    let zero = Const::u64(0).into();
    let op = |v, op, args: &[Atom]| Stmt {
        comb,
        kind: StmtKind::Let(v, op, Args::from_slice(args)),
    };
    vec![
        op(capacity, Op::Sub, &[most, position]),
        op(fits, Op::Le, &[len, capacity.into()]),
        trap,
        op(safe, Op::Select, &[fits.into(), len, zero]),
    ]
}

/// Finds the program point of a node at the elements of its segments. In a subrate, lengths that
/// count the subrate's elements are known only after it. So are sums of inner lengths. The node does
/// not wait for them.
fn point_of(p: &mut Placer<'_>, id: NodeId) -> Lower<Point> {
    let inputs = 0..p.scope.inputs(id).len();
    let waits = !is_counted(p, id) && !p.scope.plan.rates.is_across(id);
    p.point_behind(id, inputs.clone(), usize::from(!waits)..inputs.end)
}

/// Finds the program point of a node that consumes data by segments.
///
/// Checks the data against the segments.
pub(super) fn place_segmented(p: &mut Placer<'_>, id: NodeId) -> Lower<Point> {
    let point = point_of(p, id)?;
    // A count consumes a tag for every element, admitted or not.
    let counts = matches!(p.scope.graph.node(id).kind, Kind::CountS);
    let own = p.placed.tree.elements_of(point.rate);
    let rate = p.placed.tree.rate(own);
    let around = rate.parent.filter(|_| counts && rate.opening.is_sub());
    let at = Point::first(around.unwrap_or(own));
    lengths::check_rows(p, id);
    lengths::check(p, id, 1..2, at);
    Ok(point)
}

/// Places a fold of each segment.
///
/// Its results are elements of the rate around, after the inner loop.
pub fn place_fold(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let point = place_segmented(p, id)?;
    p.input_elts(id, 1..2, point)?;
    p.run(id, point);
    know_behind(p, id, point);
    Ok(())
}

fn know_behind(p: &mut Placer<'_>, id: NodeId, point: Point) {
    let segments = loop_of_segment(&p.scope, &p.placed.tree, id, point);
    if let Some(behind) = p.placed.tree.child_point(segments) {
        p.know_all(id, behind);
    }
}

/// The loop over one segment of a node. It is the loop at a program point, or one around it if the
/// segments have segments of their own.
fn loop_of_segment(scope: &LoopScope<'_>, tree: &Tree, id: NodeId, point: Point) -> RateId {
    let rates = &scope.plan.rates;
    let mut at = tree.loop_rate(point.rate);
    while rates.is_across(id)
        && let Some(around) = tree.parent(at).map(|around| tree.loop_rate(around))
        && tree.rate(around).class != rates.output(id)
    {
        at = around;
    }
    at
}

/// Emits a fold of each segment.
pub fn emit_fold(e: &mut Emission<'_>, id: NodeId, point: Point) -> Lower {
    let Kind::FoldS(fold) = &e.scope.graph.node(id).kind else {
        return Ok(());
    };
    let owner = loop_of_segment(&e.scope, &e.placed.tree, id, point);
    let values = fold_at(e, id, fold, 1..2, (point, owner))?;
    set_folded(e, id, owner, values);
    Ok(())
}

fn set_folded(e: &mut Emission<'_>, id: NodeId, owner: RateId, values: Vec<Atom>) {
    if let Some(behind) = e.placed.tree.child_point(owner) {
        e.values.set_elts(id, behind, values);
    }
}

/// Places a scan of each segment.
pub fn place_scan(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let point = place_segmented(p, id)?;
    // It may still be counted.
    if p.is_undemanded(id) {
        return Ok(());
    }
    p.input_elts(id, 1..2, point)?;
    p.run(id, point);
    p.know_all(id, point);
    Ok(())
}

/// Emits a scan of each segment.
pub fn emit_scan(e: &mut Emission<'_>, id: NodeId, point: Point) -> Lower {
    let Kind::ScanS(fold, kind) = &e.scope.graph.node(id).kind else {
        return Ok(());
    };
    let owner = e.program.loop_rate(point.rate);
    scan_at(e, id, (fold, *kind), 1..2, (point, owner))?;
    Ok(())
}

/// Places a move of the elements of each segment.
///
/// Elements that this loop does not make in the same step are read in a later pass over the segment.
pub fn place_move(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let columns = p.scope.columns(id, 1..2);
    let mut point = place_segmented(p, id)?;
    let behind: Vec<Point> = columns.iter().filter_map(|c| p.behind_pass(*c)).collect();
    if !behind.is_empty() {
        let class = p.scope.plan.rates.runs_at(id).ok_or_else(no_root)?;
        point = p.point(id, class, &behind)?;
    }
    p.elts(&columns, point)?;
    p.run(id, point);
    p.know_all(id, point);
    Ok(())
}

/// Emits a move of the elements of each segment.
pub fn emit_move(e: &mut Emission<'_>, id: NodeId, point: Point) -> Lower {
    let elements = elements(e, id, 1..2, point)?;
    e.values.set_elts(id, point, elements);
    Ok(())
}

/// Places a count of the true tags in each segment.
///
/// It is a count of the subrate that the tags admit.
pub fn place_count(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let point = place_segmented(p, id)?;
    // Elements of a cursor have no count per segment, and no consumer of one.
    if is_nested(p, point) {
        p.run(id, point);
        know_behind(p, id, point);
    }
    Ok(())
}

/// Whether a program point is in a loop over one segment's elements. All elements are known at the
/// end of such a loop.
fn is_nested(p: &Placer<'_>, point: Point) -> bool {
    let owner = p.placed.tree.loop_rate(point.rate);
    p.placed.tree.rate(owner).opening.sided().is_none()
}

/// Emits a count of the true tags in each segment.
pub fn emit_count(e: &mut Emission<'_>, id: NodeId, point: Point) -> Lower {
    let owner = e.program.loop_rate(point.rate);
    let count = e.count_within(id, (point, owner));
    set_folded(e, id, owner, vec![count.into()]);
    Ok(())
}

/// Places elements made per segment, such as `Segmented::replicate` and `Segmented::indices`.
pub fn place_expand(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let Kind::Expand(body) = &p.scope.graph.node(id).kind else {
        return Ok(());
    };
    let inputs = p.scope.inputs(id);
    let columns = p.scope.all_columns(id);
    // Lengths that count a subrate's elements are known only after it.
    let lengths = usize::from(!is_counted(p, id));
    p.make_fields(id, true, |p, fields, is_first| {
        p.enter(id, inputs)?;
        let values = values_used(body, fields).into_iter();
        let values: Vec<InputColumn> = values.map(|k| columns[k]).collect();
        let needs = [&columns[..lengths], &values].concat();
        let point = p.point_where(id, &needs)?;
        let owner = p.placed.tree.loop_rate(point.rate);
        if is_first && let Some(around) = segments_of(p, id, owner)? {
            lengths::check_rows(p, id);
            lengths::check_together(p, id, 0..inputs.len(), around);
        }
        p.elts(&values, point)?;
        Ok(point)
    })
}

/// The program point of the segments around a rate's elements. It is around the rate, or in the
/// cursor that delivers segments to it.
fn segments_of(p: &mut Placer<'_>, id: NodeId, elements: RateId) -> Lower<Option<Point>> {
    let rate = p.placed.tree.rate(elements);
    let Some(sided) = rate.opening.sided() else {
        return Ok(p.placed.tree.child_point(elements));
    };
    let class = rate.class.and_then(|c| p.scope.plan.rates.parent(c));
    let cursors = p.placed.zipped(sided.zip);
    let cursors = cursors.and_then(|z| z.sides.get(sided.side));
    let segments = cursors.and_then(|c| c.get(sided.level + 1).copied());
    let Some((class, segments)) = class.zip(segments) else {
        return Ok(None);
    };
    let outside = p.go_inside(Some(Context::Cursor(segments)));
    let point = p.point(id, class, &[]);
    p.go_inside(outside);
    point.map(Some)
}

/// Whether a node runs in a subrate of segments, at the elements that tags admit.
fn is_counted(p: &Placer<'_>, id: NodeId) -> bool {
    let rates = &p.scope.plan.rates;
    let class = rates.runs_at(id);
    class.is_some_and(|c| matches!(rates.kind(c), ClassKind::Sub(..)))
}

/// The columns that an expansion's function uses for some results. Its first parameter is the index
/// within the segment. It stands in the place of the lengths' column.
fn values_used(body: &Body, fields: &[bool]) -> Vec<usize> {
    let used = body::used_params(body, Some(fields));
    used.into_iter().filter(|k| *k > 0).collect()
}

/// Emits some fields of elements made per segment.
pub fn emit_expand(e: &mut Emission<'_>, id: NodeId, point: Point, fields: &[bool]) -> Lower {
    let Kind::Expand(body) = &e.scope.graph.node(id).kind else {
        return Ok(());
    };
    let comb = e.comb_at(id, point);
    let within = match e.scope.runs_against(id) {
        true => e.within_reversed(point.rate)?,
        false => e.index_within(id, point)?,
    };
    let columns = e.scope.all_columns(id);
    let inline = Inline {
        wanted: Some(fields.to_vec()),
        ..Inline::new(id, 0, comb, Section::Body)
    };
    let mut args: Vec<Atom> = body.params.iter().map(|t| Const::zero(*t).into()).collect();
    args[0] = within;
    for k in values_used(body, fields) {
        args[k] = e.elt(columns[k], point)?;
    }
    let results = body::inline(e, &inline, body, &args, "elt")?;
    e.values.set_elts(id, point, results);
    Ok(())
}
