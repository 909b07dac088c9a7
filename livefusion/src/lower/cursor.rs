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

use super::anatomy::{Anatomy, Column, Cursor, Lower, Spot};
use super::generate;
use crate::ast::Kind;
use crate::error::ErrorKind;
use crate::fusion::ClassKind;
use crate::fusion::sides::Side;
use crate::sharing::NodeId;
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// Enters the cursor in which a node is computed, if any; opens it with the others of its zip.
pub fn enter(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    if let Some((zip, _)) = a.plan.rates.side_of(id)
        && a.cursor(zip, 0).is_none()
    {
        open(a, zip)?;
    }
    let cursor = a.cursor_at(id);
    a.go_inside(cursor);
    Ok(())
}

/// Opens a zip's loop, and a cursor for each of its sides.
fn open(a: &mut Anatomy<'_>, zip: NodeId) -> Lower {
    let (graph, plan) = (a.graph, a.plan);
    let sides = plan.rates.sides(zip).unwrap_or_default();
    let comb = a.comb(zip);
    let bound = a.scalar("len", comb, Ty::U64);
    a.open_root(comb, bound.into());
    let (mut lens, mut cursors) = (Vec::new(), Vec::new());
    for side in sides {
        let input = graph.nodes[zip.index()].inputs[side.inputs[0]];
        let (cursor, len) = open_side(a, side, input)?;
        cursors.push(cursor);
        lens.push(len);
    }
    a.set_cursors(zip, cursors);
    for input in in_memory(a, zip) {
        lens.extend(a.len(graph.nodes[zip.index()].inputs[input])?);
    }
    a.attempts(comb, bound, &lens);
    Ok(())
}

/// Opens a side's cursor; the result says how many elements it runs over, too.
fn open_side(a: &mut Anatomy<'_>, side: &Side, input: NodeId) -> Lower<(Cursor, Atom)> {
    let rates = &a.plan.rates;
    let mut class = rates.output(input).ok_or_else(no_length)?;
    while let ClassKind::Sub(parent, _) = rates.kind(class) {
        class = parent;
    }
    let outside = a.go_inside(Some(RateId::new(a.program.rates.len())));
    let (source, len) = source(a, side)?.ok_or_else(no_length)?;
    a.go_inside(outside);
    let comb = a.unhomed_comb(source);
    let rate = a.open_cursor(comb, class, len)?;
    let live = a.live(comb, rate);
    let spot = Spot { rate, position: 0 };
    Ok((Cursor { rate, live, spot }, len))
}

/// What a side runs over, and its length: an array in memory, or a generator.
fn source(a: &mut Anatomy<'_>, side: &Side) -> Lower<Option<(NodeId, Atom)>> {
    let graph = a.graph;
    for id in &side.nodes {
        if let Kind::Generate(..) = graph.node(*id).kind {
            return Ok(Some((*id, generate::len(a, *id)?)));
        }
        for input in &graph.nodes[id.index()].inputs {
            if let (Some((source, _)), Some(len)) = (a.existing_field(*input), a.len(*input)?) {
                return Ok(Some((source, len)));
            }
        }
    }
    Ok(None)
}

/// The inputs of a zip that are read from memory.
fn in_memory(a: &Anatomy<'_>, zip: NodeId) -> Vec<usize> {
    let sides = a.plan.rates.sides(zip).unwrap_or_default();
    let inputs = 0..a.graph.nodes[zip.index()].inputs.len();
    let computed = |k: &usize| sides.iter().any(|s| s.inputs.contains(k));
    inputs.filter(|k| !computed(k)).collect()
}

/// Lowers a zip's sides to where they deliver, and what is behind them: each has an element, or all have
/// ended and so does the loop. The zip's elements are those of the subrate that this admits to.
pub fn lower(a: &mut Anatomy<'_>, id: NodeId) -> Lower<Spot> {
    let class = a.plan.rates.output(id).ok_or_else(no_length)?;
    for (k, side) in a
        .plan
        .rates
        .sides(id)
        .unwrap_or_default()
        .iter()
        .enumerate()
    {
        delivers(a, id, k, side)?;
    }
    let root = a.root_spot()?.rate;
    let spot = a.behind_all(root);
    let comb = a.comb_at(id, spot);
    let states = states(a, id, comb)?;
    let (first, rest) = states.split_first().ok_or_else(no_length)?;
    let mut all = first.live;
    for other in rest {
        let same = a.emit(
            comb,
            Section::Body,
            "same",
            Op::Eq,
            &[other.live, first.live],
        );
        let payload = [other.count, first.count];
        let kind = TrapKind::LengthMismatch;
        a.trap(comb, Section::Body, kind, same.into(), &payload);
        all = a
            .emit(comb, Section::Body, "all", Op::And, &[all, other.live])
            .into();
    }
    a.leave_unless(comb, all);
    a.set_test(class, root, all);
    a.spot(id, class, &[])
}

/// Opens the rates of a side down to that in which it delivers.
fn delivers(a: &mut Anatomy<'_>, zip: NodeId, k: usize, side: &Side) -> Lower {
    let input = a.graph.nodes[zip.index()].inputs[side.inputs[0]];
    let class = a.plan.rates.output(input).ok_or_else(no_length)?;
    let rate = a.cursor(zip, k).map(|c| c.rate);
    a.go_inside(rate);
    let spot = a.spot(input, class, &[])?;
    a.go_inside(None);
    a.set_delivery(zip, k, spot);
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
fn states(a: &mut Anatomy<'_>, zip: NodeId, comb: CombId) -> Lower<Vec<State>> {
    let (graph, plan) = (a.graph, a.plan);
    let inputs = &graph.nodes[zip.index()].inputs;
    let sides = plan.rates.sides(zip).unwrap_or_default();
    let root = a.root_spot()?.rate;
    let before: Atom = a.index(root).into();
    let one = Const::u64(1).into();
    let behind = a.emit(comb, Section::Body, "behind", Op::Add, &[before, one]);
    let mut states = Vec::new();
    for (k, input) in inputs.iter().enumerate() {
        match sides.iter().position(|s| s.inputs.contains(&k)) {
            None => {
                let Some(count) = a.len(*input)? else {
                    continue;
                };
                let live = a.emit(comb, Section::Body, "live", Op::Lt, &[before, count]);
                let live = live.into();
                states.push(State { live, count });
            }
            Some(side) if sides[side].inputs[0] == k => {
                let live: Atom = a.cursor(zip, side).ok_or_else(no_length)?.live.into();
                let args = [live, behind.into(), before];
                let count = a
                    .emit(comb, Section::Body, "count", Op::Select, &args)
                    .into();
                states.push(State { live, count });
            }
            Some(_) => {}
        }
    }
    Ok(states)
}

/// The current element of a column that a cursor delivers, for use behind it.
pub fn deliver(a: &mut Anatomy<'_>, column: Column, cursor: Cursor) -> Lower<Atom> {
    let outside = a.go_inside(Some(cursor.rate));
    let value = a.elt(column.field, cursor.spot)?;
    let comb = a.comb_at(column.field.0, cursor.spot);
    let val = a.delivered(comb, cursor.spot.rate, value).into();
    a.go_inside(outside);
    let behind = a.child_spot(cursor.rate).ok_or_else(no_length)?;
    a.set_column(column, behind, val);
    Ok(val)
}

fn no_length() -> ErrorKind {
    ErrorKind::Malformed {
        expected: "streams of computed elements".into(),
        got: "none".into(),
    }
}
