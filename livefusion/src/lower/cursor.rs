//! A zip of streams that advance differently: each is a cursor, advanced until it has an element. The zip's
//! elements are a subrate of its attempts to get one of every side.
//!
//! ```text
//! yield_1: val_1 := elt_0, goto nest_2          (a side has an element: on to the next side)
//! done_1:  live_1 := false, goto nest_2         (a side has ended)
//! body_4:  let same_4 = eq live_1 live_3        (behind all sides: they must end together)
//!          trap unless same_4, t0
//!          let both_4 = and live_1 live_3
//!          unless both_4 | done_4
//! ```

use super::Lower;
use super::emission::Emission;
use super::placement::{Act, Context, Length, Opening, Placer, Side, Spot, no_root};
use crate::ast::Kind;
use crate::fusion::{ClassKind, sides};
use crate::sharing::NodeId;
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// Enters the cursor in which a node is computed, if any; opens it with the others of its zip.
pub fn enter(p: &mut Placer<'_>, id: NodeId) -> Lower {
    if let Some((zip, _)) = p.scope.plan.rates.side_of(id)
        && p.placed.sides(zip).is_empty()
    {
        open(p, zip)?;
    }
    let context = p.context_of(id);
    p.go_inside(context);
    Ok(())
}

/// Opens a zip's loop, and a cursor for each of its sides.
fn open(p: &mut Placer<'_>, zip: NodeId) -> Lower {
    let plan = p.scope.plan;
    p.open_over(zip, Opening::Attempts);
    let (mut lens, mut cursors) = (Vec::new(), Vec::new());
    for (k, side) in plan.rates.sides(zip).unwrap_or_default().iter().enumerate() {
        let (cursor, len) = open_side(p, (zip, k), side)?;
        cursors.push(cursor);
        lens.push(len);
    }
    p.set_sides(zip, cursors);
    for input in in_memory(p, zip) {
        lens.extend(p.len(p.scope.inputs(zip)[input]));
    }
    p.act(zip, Act::Bound(lens));
    Ok(())
}

/// Opens a side's cursor; the result says how many elements it runs over, too.
fn open_side(
    p: &mut Placer<'_>,
    (zip, k): (NodeId, usize),
    side: &sides::Side,
) -> Lower<(Side, Length)> {
    let rates = &p.scope.plan.rates;
    let input = p.scope.inputs(zip)[side.inputs[0]];
    let mut class = rates.output(input).ok_or_else(no_root)?;
    while let ClassKind::Sub(parent, _) = rates.kind(class) {
        class = parent;
    }
    let (source, len) = source(p, side).ok_or_else(no_root)?;
    let root = Spot::first(p.root()?);
    let opening = Opening::Cursor { zip, side: k, len };
    let delivers = p.open_within(source, root, class, opening);
    let rate = delivers.rate;
    Ok((Side { rate, delivers }, len))
}

/// What a side runs over, and its length: an array in memory, or a generator.
fn source(p: &mut Placer<'_>, side: &sides::Side) -> Option<(NodeId, Length)> {
    for id in &side.nodes {
        if let Kind::Generate(..) = p.scope.graph.node(*id).kind {
            return Some((*id, p.generator_len(*id)));
        }
        for input in p.scope.inputs(*id) {
            if let (Some((source, _)), Some(len)) = (p.scope.existing_field(*input), p.len(*input))
            {
                return Some((source, len));
            }
        }
    }
    None
}

/// The inputs of a zip that are read from memory.
fn in_memory(p: &Placer<'_>, zip: NodeId) -> Vec<usize> {
    let sides = p.scope.plan.rates.sides(zip).unwrap_or_default();
    let inputs = 0..p.scope.inputs(zip).len();
    let computed = |k: &usize| sides.iter().any(|s| s.inputs.contains(k));
    inputs.filter(|k| !computed(k)).collect()
}

/// Places a zip's sides down to where they deliver, and what is behind them: each has an element, or all have
/// ended and so does the loop. The zip's elements are those of the subrate that this admits to.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower<Spot> {
    let rates = &p.scope.plan.rates;
    let class = rates.output(id).ok_or_else(no_root)?;
    for (k, side) in rates.sides(id).unwrap_or_default().iter().enumerate() {
        let input = p.scope.inputs(id)[side.inputs[0]];
        let class = rates.output(input).ok_or_else(no_root)?;
        let rate = p.placed.sides(id).get(k).map(|s| s.rate);
        let outside = p.go_inside(rate.map(Context::Cursor));
        let spot = p.spot(input, class, &[])?;
        p.go_inside(outside);
        p.set_delivery(id, k, spot);
    }
    let root = p.root()?;
    let spot = p.placed.tree.behind_all(root);
    let read = in_memory(p, id).into_iter();
    let lens = read.filter_map(|k| Some((k, p.len(p.scope.inputs(id)[k])?)));
    let lens = lens.collect();
    p.act(id, Act::Align(spot, lens));
    p.set_decided(class, root);
    p.spot(id, class, &[])
}

/// Emits a zip's loop.
pub fn emit_root(e: &mut Emission<'_>, zip: NodeId) {
    let comb = e.unhomed_comb(zip);
    let bound = e.scalar("len", comb, Ty::U64);
    e.open_root(comb, bound.into());
}

/// Emits a side's cursor.
pub fn emit_open(e: &mut Emission<'_>, source: NodeId, len: Length) -> Lower {
    let comb = e.comb(source);
    let len = e.length(len, comb)?;
    let comb = e.unhomed_comb(source);
    let rate = e.open_cursor(comb, e.root(), len);
    e.live(comb, rate);
    Ok(())
}

/// Emits how often a zip attempts to get an element of every side: once more than the shortest can deliver.
pub fn emit_bound(e: &mut Emission<'_>, zip: NodeId, lens: &[Length]) -> Lower {
    let comb = e.comb(zip);
    let mut least: Option<Atom> = None;
    for len in lens {
        let len = e.length(*len, comb)?;
        least = Some(match least {
            Some(least) => {
                let args = [least, len];
                e.emit(comb, Section::Init, "least", Op::Min, &args).into()
            }
            None => len,
        });
    }
    if let Some(Atom::Var(bound)) = e.program.rate(e.root()).kind.bound() {
        let (least, one) = (least.unwrap_or(Const::u64(0).into()), Const::u64(1).into());
        let args = Args::from_slice(&[least, one]);
        e.push(comb, Section::Init, StmtKind::Let(bound, Op::Add, args));
    }
    Ok(())
}

/// Emits what holds a zip's sides against each other.
pub fn emit_align(e: &mut Emission<'_>, id: NodeId, spot: Spot, lens: &[(usize, Length)]) -> Lower {
    let class = e.scope.plan.rates.output(id).ok_or_else(no_root)?;
    let comb = e.comb_at(id, spot);
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
    e.values.tests.insert((class, spot.rate), all);
    Ok(())
}

/// How it stands with one of what a zip advances together.
struct State {
    /// Whether there is a further element.
    live: Atom,
    /// How many elements there are, or are at least.
    count: Atom,
}

/// How it stands with each side and each array in memory, in the order of the inputs.
fn states(
    e: &mut Emission<'_>,
    zip: NodeId,
    comb: CombId,
    lens: &[(usize, Length)],
) -> Lower<Vec<State>> {
    let sides = e.scope.plan.rates.sides(zip).unwrap_or_default();
    let before: Atom = e.index(e.root()).into();
    let one = Const::u64(1).into();
    let behind = e.emit(comb, Section::Body, "behind", Op::Add, &[before, one]);
    let mut states = Vec::new();
    for k in 0..e.scope.inputs(zip).len() {
        if let Some((_, len)) = lens.iter().find(|(input, _)| *input == k) {
            let count = e.length(*len, comb)?;
            let live = e.emit(comb, Section::Body, "live", Op::Lt, &[before, count]);
            let live = live.into();
            states.push(State { live, count });
        } else if let Some(side) = sides.iter().position(|s| s.inputs[0] == k) {
            let rate = e.placed.sides(zip).get(side).map(|s| s.rate);
            let live = rate.and_then(|r| e.values.live.get(&r).copied());
            let live: Atom = live.ok_or_else(no_root)?.into();
            let args = [live, behind.into(), before];
            let count = e.emit(comb, Section::Body, "count", Op::Select, &args);
            let count = count.into();
            states.push(State { live, count });
        }
    }
    Ok(states)
}
