//! Cursors: zips of streams that advance at different rates.
//!
//! For example, in `zip(xs.filter(p), ys.filter(q))` each input becomes a cursor. In every attempt,
//! the zip advances each cursor until it delivers an element. The zip's elements are a subrate of
//! the attempts. A *side* is a set of inputs of one class: they share a cursor.
//!
//! ```text
//! yield_1: val_1 := elt_0, goto nest_2          (a side has an element: on to the next side)
//! done_1:  live_1 := false, goto nest_2         (a side has ended)
//! body_4:  let same_4 = eq live_1 live_3        (behind all sides: they must end together)
//!          trap unless same_4, t0
//!          let both_4 = and live_1 live_3
//!          unless both_4 | done_4
//! ```
//!
//! The sides of `zip_shortest` may end apart. There, `done` of a side goes to `done` of the
//! attempts, and no further side is advanced. The lengths of arrays in memory bound the attempts.
//!
//! Elements of segments are a cursor over elements with a cursor over segments inside. When a
//! segment is exhausted, the inner cursor looks for the next segment that is not empty. Values of
//! the segment are loop-carried:
//!
//! ```text
//! guard_3: let used_3 = ge ix_2 end_3           (in the cursor over elements: on to the segments)
//!          unless used_3 | bottom_3
//! guard_1: let some_1 = gt elt_0 0              (in the cursor over segments)
//!          unless some_1 | bottom_1
//! yield_1: let then_1 = add ix_2 elt_0          (a segment begins)
//!          end_3 := then_1, goto body_3
//! done_0:  goto done_2                          (there are no more: the elements end)
//! ```

use super::emission::Emission;
use super::placement::{
    Act, Context, LengthSource, Most, Opening, PlacedRate, Placer, Point, Sided, Total, Zipped,
    no_root,
};
use super::scope::InputColumn;
use super::{Lower, Source, append, generate, merge, segments};
use crate::ast::Kind;
use crate::fusion::ClassId;
use crate::fusion::sides::{self, CursorLevel, Side};
use crate::sharing::NodeId;
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use smallvec::SmallVec;

/// Enters the cursor in which a node is computed, if any.
///
/// Opens it together with the other cursors of its zip.
pub fn enter(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let rates = &p.scope.plan.rates;
    // A co-consumer of a cursor may also run in a later loop, over memory.
    let here = |(zip, _): &(NodeId, usize)| p.scope.plan.computes(p.scope.at, *zip);
    let cursors = rates.cursors_of(id).filter(here).map(|(zip, _)| zip);
    // A zip whose inputs are all in memory has no cursor to enter before itself.
    let itself = rates.sides(id).map(|_| id);
    if let Some(zip) = cursors.or(itself).map(|zip| rates.outermost(zip))
        && p.placed.zipped(zip).is_none()
    {
        p.open_over(zip, Opening::Attempts);
        let root = p.root()?;
        open(p, zip, root)?;
    }
    let context = p.context_of(id);
    p.go_inside(context);
    Ok(())
}

/// Opens a cursor for each side of a zip, within its attempts.
fn open(p: &mut Placer<'_>, zip: NodeId, attempts: RateId) -> Lower {
    let plan = p.scope.plan;
    let sides = plan.rates.sides(zip).unwrap_or_default();
    let (mut cursors, mut inner) = (Vec::new(), Vec::new());
    for (k, side) in sides.iter().enumerate() {
        let mut rates = Vec::new();
        let mut around = match p.scope.graph.node(zip).kind {
            Kind::Merge(_) => merge::open_needed(p, (zip, k), attempts),
            Kind::Append => append::open_part(p, zip, k, attempts),
            _ => attempts,
        };
        for (level, stream) in side.levels.iter().enumerate() {
            let sided = Sided {
                zip,
                side: k,
                level,
            };
            let cursor = open_stream(p, sided, stream, around)?;
            rates.push(cursor);
            around = match stream.segments {
                Some(_) => open_used_up(p, cursor),
                None => cursor,
            };
        }
        if let Some(zip) = zip_of(p, side) {
            inner.push((zip, around));
        }
        cursors.push(rates);
    }
    let zipped = Zipped {
        attempts,
        sides: cursors,
    };
    p.set_zipped(zip, zipped);
    for (zip, attempts) in inner {
        open(p, zip, attempts)?;
    }
    if let Kind::Append = p.scope.graph.node(zip).kind {
        // An append has an element once one of its parts has one.
        p.placed.tree.put_children_first(attempts);
    }
    let most = most(p, zip);
    if most.is_none() {
        p.lengths().unbounded.insert(attempts);
    }
    p.act(zip, Act::Bound(most));
    Ok(())
}

/// Opens one cursor of a side.
fn open_stream(
    p: &mut Placer<'_>,
    sided: Sided,
    level: &CursorLevel,
    around: RateId,
) -> Lower<RateId> {
    let rates = &p.scope.plan.rates;
    let side = rates.sides(sided.zip).and_then(|s| s.get(sided.side));
    let side = side.ok_or_else(no_root)?;
    let class = rates.now(level.class);
    let (node, opening) = match level.segments {
        Some(_) => {
            let node = elements_node(p, side, class).ok_or_else(no_root)?;
            (node, Opening::Elements(sided))
        }
        None => match zip_of(p, side) {
            Some(zip) => (zip, Opening::Cursor(sided, None)),
            None => {
                let (node, len) = source(p, sided.zip, side).ok_or_else(no_root)?;
                (node, Opening::Cursor(sided, Some(len)))
            }
        },
    };
    let point = Point::first(around);
    Ok(p.open_within(node, point, class, opening).rate)
}

/// Opens the subrate that looks for the next segment, in a cursor over elements.
fn open_used_up(p: &mut Placer<'_>, elements: RateId) -> RateId {
    let node = p.placed.tree.rate(elements).node;
    let used_up = p.open(PlacedRate {
        class: None,
        appends: SmallVec::new(),
        parent: Some(elements),
        node,
        opening: Opening::UsedUp,
        parts: Vec::new(),
    });
    // Elements exist once there is a segment.
    p.placed.tree.put_children_first(elements);
    used_up
}

/// A node of a side that uses the segments of a class's elements.
fn elements_node(p: &Placer<'_>, side: &Side, class: ClassId) -> Option<NodeId> {
    let rates = &p.scope.plan.rates;
    let mut nodes = side.nodes.iter().copied();
    nodes.find(|n| {
        let by_segments = matches!(
            p.scope.graph.node(*n).kind,
            Kind::ScanS(..) | Kind::Expand(_)
        );
        let runs_at = rates.runs_at(*n).map(|c| rates.loop_class(c));
        by_segments && runs_at == Some(class)
    })
}

/// The zip or append over whose attempts or parts the last cursor of a side runs, if any.
fn zip_of(p: &Placer<'_>, side: &Side) -> Option<NodeId> {
    let rates = &p.scope.plan.rates;
    let last = rates.now(side.levels.last()?.class);
    let mut zips = side.nodes.iter().filter(|n| rates.sides(**n).is_some());
    zips.find(|n| rates.runs_at(**n) == Some(last)).copied()
}

/// The source of a side's last cursor, and its length. The source is an array in memory or a
/// generator.
fn source(p: &mut Placer<'_>, zip: NodeId, side: &Side) -> Option<(NodeId, LengthSource)> {
    let rates = &p.scope.plan.rates;
    let class = rates.now(side.levels.last()?.class);
    for id in &side.nodes {
        if let Kind::Generate(..) = p.scope.graph.node(*id).kind
            && rates.output(*id) == Some(class)
        {
            return Some((*id, p.generator_len(*id)));
        }
        for (k, input) in p.scope.inputs(*id).iter().enumerate() {
            let unfused_at = p.scope.column(*id, k, 0).unfused_at;
            if unfused_at.or(rates.output(*input)) != Some(class) {
                continue;
            }
            if let (Some((source, _)), Some(len)) = (p.scope.existing_field(*input), p.len(*input))
            {
                return Some((source, len));
            }
        }
    }
    // A part of an append may be in memory itself.
    let part = p.scope.inputs(zip)[side.inputs[0]];
    let (source, _) = p.scope.existing_field(part)?;
    Some((source, p.len(part)?))
}

/// The total number of elements of segments, if known at loop entry.
fn total(p: &mut Placer<'_>, side: &Side, class: ClassId) -> Total {
    let rates = &p.scope.plan.rates;
    if let Some(leaf) = rates.in_memory(class) {
        return Total::Length(LengthSource::Param(Source::Length(leaf)));
    }
    let all = side.nodes.iter();
    let known = all
        .filter_map(|n| segments::data_length(p, *n, class))
        .next();
    known.map_or(Total::Any, Total::Length)
}

/// The upper bound of the elements of a zip, of an append on a side, or of a merge. `None` if there
/// is none at loop entry.
fn most(p: &mut Placer<'_>, zip: NodeId) -> Option<Most> {
    let sides = p.scope.plan.rates.sides(zip).unwrap_or_default();
    let mut all = Vec::new();
    for (k, side) in sides.iter().enumerate() {
        all.push(most_of_side(p, (zip, k), side));
    }
    // Parts of an append that are in memory are sides as well.
    let read = match p.scope.graph.node(zip).kind {
        Kind::Append => Vec::new(),
        _ => lengths_in_memory(p, zip),
    };
    all.extend(read.into_iter().map(|(_, len)| Some(Most::Length(len))));
    if let Kind::Append | Kind::Merge(_) = p.scope.graph.node(zip).kind {
        let all: Option<Vec<Most>> = all.into_iter().collect();
        return all.map(Most::Sum);
    }
    let all: Vec<Most> = all.into_iter().flatten().collect();
    (!all.is_empty()).then_some(Most::Least(all))
}

fn most_of_side(p: &mut Placer<'_>, (zip, k): (NodeId, usize), side: &Side) -> Option<Most> {
    let first = *p.placed.zipped(zip)?.sides.get(k)?.first()?;
    let rate = p.placed.tree.rate(first);
    match (&rate.opening, rate.class) {
        (Opening::Elements(_), Some(class)) => match total(p, side, class) {
            Total::Length(len) => Some(Most::Length(len)),
            Total::Any => None,
        },
        (Opening::Cursor(_, None), _) => most(p, zip_of(p, side)?),
        _ => p.bound(first).map(Most::Length),
    }
}

/// Returns the inputs of a zip that are read from memory, with lengths.
pub fn lengths_in_memory(p: &mut Placer<'_>, zip: NodeId) -> Vec<(usize, LengthSource)> {
    let (graph, rates) = (p.scope.graph, &p.scope.plan.rates);
    let read = in_memory(p, zip).into_iter();
    let lens = read.filter_map(|k| {
        let input = p.scope.inputs(zip)[k];
        let mut makers = graph.fields(input).into_iter().map(|f| f.0);
        let inlined = match rates.is_at_position(graph, zip, k) {
            true => makers.find_map(|n| generate::length_of_inlined(&p.scope, n)),
            false => None,
        };
        Some((k, inlined.or_else(|| p.len(input))?))
    });
    lens.collect()
}

/// The inputs of a zip that are read from memory.
fn in_memory(p: &Placer<'_>, zip: NodeId) -> Vec<usize> {
    let sides = p.scope.plan.rates.sides(zip).unwrap_or_default();
    let inputs = 0..p.scope.inputs(zip).len();
    let computed = |k: &usize| sides.iter().any(|s| s.inputs.contains(k));
    inputs.filter(|k| !computed(k)).collect()
}

/// Places a zip after its sides.
///
/// At this point all sides have an element, or all have ended and the loop is left. The zip's
/// elements belong to the subrate that follows.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower<Point> {
    let class = p.scope.plan.rates.output(id).ok_or_else(no_root)?;
    let point = place_sides(p, id)?;
    let lens = lengths_in_memory(p, id);
    p.act(id, Act::Align(point, lens));
    p.set_decided(class, point);
    p.point(id, class, &[])
}

/// Places a zip's sides down to their deliveries.
///
/// Returns the program point after all of them.
pub fn place_sides(p: &mut Placer<'_>, id: NodeId) -> Lower<Point> {
    let plan = p.scope.plan;
    let rates = &plan.rates;
    let zipped = p.placed.zipped(id).cloned().ok_or_else(no_root)?;
    let sides = rates.sides(id).unwrap_or_default();
    for (side, cursors) in sides.iter().zip(&zipped.sides) {
        let input = p.scope.inputs(id)[side.inputs[0]];
        let outside = p.go_inside(Some(Context::Cursor(cursors[0])));
        p.point(input, rates.now(side.class), &[])?;
        p.go_inside(outside);
    }
    Ok(p.placed.tree.behind_all(zipped.attempts))
}

/// Places the points at which cursors deliver.
///
/// Each is after all code in its cursor.
pub fn place_deliveries(p: &mut Placer<'_>) -> Lower {
    let plan = p.scope.plan;
    for at in 0..p.placed.zips().len() {
        let (zip, zipped) = p.placed.zips()[at].clone();
        p.go_to_phase_of(zipped.attempts);
        let sides = plan.rates.sides(zip).unwrap_or_default();
        for (side, cursors) in sides.iter().zip(&zipped.sides) {
            let mut before: Option<(RateId, &CursorLevel)> = None;
            for (level, cursor) in side.levels.iter().zip(cursors) {
                let outside = p.go_inside(Some(Context::Cursor(*cursor)));
                let class = plan.rates.now(level.delivers);
                let node = p.placed.tree.rate(*cursor).node;
                let end = p.end_of(node, class, *cursor)?;
                let delivers = match before {
                    Some((elements, level)) => begin(p, (side, level), elements, end)?,
                    None => p.placed.tree.behind_all(end),
                };
                p.set_delivery(*cursor, delivers);
                let ends = side.ends(&plan.rates, level);
                if !ends.is_empty() {
                    p.leave(*cursor, vec![ends]);
                }
                p.go_inside(outside);
                before = Some((*cursor, level));
            }
        }
    }
    Ok(())
}

/// Opens the subrate that starts a segment with elements, after all code at a rate.
fn begin(
    p: &mut Placer<'_>,
    (side, level): (&Side, &CursorLevel),
    elements: RateId,
    segments: RateId,
) -> Lower<Point> {
    let lengths = level.segments.ok_or_else(no_root)?;
    let rates = &p.scope.plan.rates;
    let class = rates.now(level.class);
    let parent = rates.parent(class);
    let unfused_at = parent.filter(|parent| rates.output(lengths.0) != Some(*parent));
    let lengths = InputColumn {
        unfused_at,
        ..lengths.into()
    };
    let point = p.placed.tree.end(segments);
    p.elt(lengths, point)?;
    let total = total(p, side, class);
    let node = p.placed.tree.rate(elements).node;
    let rate = p.open(PlacedRate {
        class: None,
        appends: SmallVec::new(),
        parent: Some(segments),
        node,
        opening: Opening::Begins(elements, lengths, total),
        parts: Vec::new(),
    });
    Ok(Point::first(rate))
}

/// Emits the root rate of a zip's loop.
pub fn emit_root(e: &mut Emission<'_>, zip: NodeId) {
    let comb = e.unhomed_comb(zip);
    let bound = e.scalar("len", comb, Ty::U64);
    e.open_root(comb, bound.into());
}

/// Emits the opening of a cursor.
pub fn emit_open(e: &mut Emission<'_>, node: NodeId, rate: RateId) -> Lower {
    let placed = e.placed.tree.rate(rate);
    let (Some(parent), Some(sided)) = (placed.parent, placed.opening.sided()) else {
        return Ok(());
    };
    let (comb, bound): (CombId, Atom) = match placed.opening {
        Opening::Cursor(_, Some(len)) => {
            let comb = e.comb(node);
            let len = e.length(len, comb)?;
            (e.unhomed_comb(node), len)
        }
        Opening::Cursor(_, None) => {
            let comb = e.unhomed_comb(node);
            (comb, e.scalar("len", comb, Ty::U64).into())
        }
        // Its segments end it.
        _ => (e.unhomed_comb(node), Const::u64(u64::MAX).into()),
    };
    let rate = e.open_cursor(comb, parent, bound);
    if sided.level == 0 {
        e.live(comb, rate);
    }
    Ok(())
}

/// Emits the test whether a segment is exhausted.
pub fn emit_used_up(e: &mut Emission<'_>, node: NodeId, rate: RateId) {
    let Some(elements) = e.placed.tree.parent(rate) else {
        return;
    };
    let comb = e.unhomed_comb(node);
    e.open_sub(comb, elements);
    let end = e.scalar("end", comb, Ty::U64);
    let zero = Const::u64(0).into();
    e.push(comb, Section::Init, StmtKind::Carry(end, zero));
    let args = [e.index(elements).into(), end.into()];
    let used = e.emit(comb, Section::Guard, "used", Op::Ge, &args);
    e.exit(comb, used.into());
    e.values.segment_ends.insert(elements, end);
}

/// Emits the start of a segment.
///
/// Sets the segment's end, and restarts the loop-carried values of its elements.
pub fn emit_begin(
    e: &mut Emission<'_>,
    node: NodeId,
    rate: RateId,
    (elements, lengths, total): (RateId, InputColumn, Total),
) -> Lower {
    let at = e.placed.tree.child_point(rate).ok_or_else(no_root)?;
    let len = e.elt(lengths, at)?;
    let comb = e.unhomed_comb(node);
    let rate = e.open_sub(comb, at.rate);
    let position: Atom = e.index(elements).into();
    let most = segments::most(e, comb, total)?;
    let safe = e.scalar("size", comb, Ty::U64);
    let stmts = segments::checked(e, comb, (safe, len), (position, most));
    e.push_all(comb, Section::Guard, stmts);
    let zero: Atom = Const::u64(0).into();
    let some = e.emit(comb, Section::Guard, "some", Op::Gt, &[safe.into(), zero]);
    e.exit(comb, some.into());
    let sum = [position, safe.into()];
    let then = e.emit(comb, Section::Yield, "then", Op::Add, &sum);
    let end = e.values.segment_ends.get(&elements).copied();
    let end = end.ok_or_else(no_root)?;
    e.update(comb, rate, end, then.into());
    e.sequential(end, rate, zero, then.into());
    for (var, start) in e.values.anew.remove(&elements).unwrap_or_default() {
        e.update(comb, rate, var, start);
    }
    Ok(())
}

/// Emits the number of attempts of a zip.
///
/// It is one more than the shortest input can deliver, to check that all inputs end together. If
/// inputs may end apart, nothing is added. The parts of an append and the sides of a merge get one
/// more attempt too, to reach their ends.
pub fn emit_bound(e: &mut Emission<'_>, zip: NodeId, most: Option<&Most>) -> Lower {
    let comb = e.comb(zip);
    let most = most.map(|most| emit_most(e, comb, most)).transpose()?;
    let attempts = e.placed.zipped(zip).map(|z| z.attempts);
    let bound = attempts.and_then(|r| e.program.rate(r).kind.bound());
    if let Some(Atom::Var(bound)) = bound {
        let apart = sides::end_apart(e.scope.graph, zip);
        let further = Const::u64(if apart { 0 } else { 1 }).into();
        let args = Args::from_slice(&[most.unwrap_or(Const::u64(MOST).into()), further]);
        e.push(comb, Section::Init, StmtKind::Let(bound, Op::Add, args));
    }
    Ok(())
}

/// No zip has more elements than this.
const MOST: u64 = u64::MAX - 1;

fn emit_most(e: &mut Emission<'_>, comb: CombId, most: &Most) -> Lower<Atom> {
    let (is_sum, of) = match most {
        Most::Length(len) => return e.length(*len, comb),
        Most::Least(of) => (false, of),
        Most::Sum(of) => (true, of),
    };
    let mut all: Option<Atom> = None;
    for most in of {
        let next = emit_most(e, comb, most)?;
        let so_far = all.unwrap_or(Const::u64(0).into());
        all = Some(match (is_sum, all) {
            (false, None) => next,
            (false, Some(_)) => {
                let args = [so_far, next];
                e.emit(comb, Section::Init, "least", Op::Min, &args).into()
            }
            (true, _) => {
                let args = [Const::u64(MOST).into(), so_far];
                let left = e.emit(comb, Section::Init, "left", Op::Sub, &args);
                let more = e.emit(comb, Section::Init, "more", Op::Min, &[next, left.into()]);
                let args = [so_far, more.into()];
                e.emit(comb, Section::Init, "sum", Op::Add, &args).into()
            }
        });
    }
    Ok(all.unwrap_or(Const::u64(MOST).into()))
}

/// Emits the checks that a zip's sides end together.
pub fn emit_align(
    e: &mut Emission<'_>,
    id: NodeId,
    point: Point,
    lens: &[(usize, LengthSource)],
) -> Lower {
    let class = e.scope.plan.rates.output(id).ok_or_else(no_root)?;
    let comb = e.comb_at(id, point);
    if sides::end_apart(e.scope.graph, id) {
        // The first side to end leaves the loop.
        let all = Const::bool(true).into();
        e.values.tests.insert((class, point.rate), all);
        return Ok(());
    }
    let states = states(e, id, comb, lens)?;
    let (first, rest) = states.split_first().ok_or_else(no_root)?;
    let mut all = first.live;
    for other in rest {
        let both = [other.live, first.live];
        let same = e.emit(comb, Section::Body, "same", Op::Eq, &both);
        let payload = [other.count, first.count];
        let kind = TrapKind::LengthMismatch;
        e.trap(comb, Section::Body, kind, same.into(), &payload);
        let both = [all, other.live];
        all = e.emit(comb, Section::Body, "all", Op::And, &both).into();
    }
    e.leave_unless(comb, all);
    e.values.tests.insert((class, point.rate), all);
    Ok(())
}

/// The state of an input of a zip.
struct CursorState {
    /// Whether there is a further element.
    live: Atom,
    /// The number of elements, or a lower bound of it.
    count: Atom,
}

/// The states of all sides and arrays in memory, in the order of the inputs.
fn states(
    e: &mut Emission<'_>,
    zip: NodeId,
    comb: CombId,
    lens: &[(usize, LengthSource)],
) -> Lower<Vec<CursorState>> {
    let sides = e.scope.plan.rates.sides(zip).unwrap_or_default();
    let zipped = e.placed.zipped(zip).ok_or_else(no_root)?;
    let before: Atom = e.index(zipped.attempts).into();
    let one = Const::u64(1).into();
    let behind = e.emit(comb, Section::Body, "behind", Op::Add, &[before, one]);
    let mut states = Vec::new();
    for k in 0..e.scope.inputs(zip).len() {
        if let Some((_, len)) = lens.iter().find(|(input, _)| *input == k) {
            let count = e.length(*len, comb)?;
            let live = e.emit(comb, Section::Body, "live", Op::Lt, &[before, count]);
            let live = live.into();
            states.push(CursorState { live, count });
        } else if let Some(side) = sides.iter().position(|s| s.inputs[0] == k) {
            let rate = zipped.sides.get(side).and_then(|s| s.first());
            let live = rate.and_then(|r| e.values.live.get(r).copied());
            let live: Atom = live.ok_or_else(no_root)?.into();
            let args = [live, behind.into(), before];
            let count = e.emit(comb, Section::Body, "count", Op::Select, &args);
            let count = count.into();
            states.push(CursorState { live, count });
        }
    }
    Ok(states)
}
