//! Legality of rows side by side.

use super::vectors::{MAX_DEPTH, depth};
use crate::ir::MAX_LANES;
use crate::region::{InnerLoop, Nest, Region, Role};
use crate::schedule::{Decision, Schedule};
use loop_lang::ir::{GroupId, Order, RateId, StmtKind, Var};

/// The maximum number of rows side by side.
const MAX_ROWS: u32 = 16;

/// Checks whether iterations of a root may execute side by side, each with its own inner loops.
pub(super) fn side_by_side(
    region: &Region,
    schedule: &Schedule,
    rate: RateId,
    lanes: u32,
) -> Result<(), &'static str> {
    if !lanes.is_power_of_two() || !(2..=MAX_ROWS).contains(&lanes) {
        return Err("rows side by side are a power of two, from 2 to 16");
    }
    let mut nests = region.nests().iter();
    let nest = nests.find(|nest| nest.outer.rate == rate && region.program.roots.contains(&rate));
    let Some(nest) = nest else {
        return Err("the rate is no root with loops in its steps");
    };
    let beside = |(r, d): &(RateId, Decision)| *r == rate && matches!(d, Decision::UnrollJam(_));
    if schedule.decisions().iter().any(beside) {
        return Err("rows side by side have a segment each");
    }
    let inner: Option<Vec<&InnerLoop>> = nest.inner.iter().map(|r| region.inner_loop(*r)).collect();
    let Some(inner) = inner else {
        return Err("rows side by side have no loops within their inner loops");
    };
    if inner.iter().any(|inner| region.row_length(inner).is_none()) {
        return Err("inner loops of other lengths are not side by side");
    }
    let mut all = inner.iter().copied().chain([&nest.outer]);
    if all.any(|of| !of.exits.is_empty() || !of.is_plain()) {
        return Err("rows side by side have no exits and admit every element");
    }
    writes(region, nest, &inner)?;
    carries(region, nest, &inner, lanes)?;
    let mut all = inner.iter().copied().chain([&nest.outer]);
    match all.any(|of| of.all_tops().any(|s| depth(s.stmt) > MAX_DEPTH)) {
        true => Err("its arms are nested too deep"),
        false => Ok(()),
    }
}

/// Checks the effects on memory: the root alone writes, at its counter or by scatters, and nothing reads these arrays.
fn writes(region: &Region, nest: &Nest, inner: &[&InnerLoop]) -> Result<(), &'static str> {
    let outer = &nest.outer;
    let changes =
        |of: &&InnerLoop| of.scatters || of.sorts || of.accesses.iter().any(|a| !a.is_read);
    if inner.iter().any(changes) || outer.sorts {
        return Err("rows side by side write nothing in their inner loops");
    }
    let at_counter = |a: &&crate::region::Access| a.is_proven && a.index == outer.counter.into();
    let mut written = outer.accesses.iter().filter(|a| !a.is_read);
    if !written.all(|a| at_counter(&a)) {
        return Err("rows side by side write at the root's counter");
    }
    let mut changed: Vec<Var> = Vec::new();
    for s in &outer.statements {
        match &s.stmt.kind {
            StmtKind::WriteArray(a, ..) => changed.push(region.owner(*a)),
            StmtKind::ScatterArray { arrays, .. } => {
                changed.extend(arrays.iter().map(|a| region.owner(*a)));
            }
            _ => {}
        }
    }
    // Rows are in order in each statement, not from one to the next.
    let again = |(k, array): (usize, &Var)| changed[..k].contains(array);
    if changed.iter().enumerate().any(again) {
        return Err("rows side by side change an array in one place");
    }
    let mut all = inner.iter().copied().chain([outer]);
    match all.any(|of| {
        of.accesses
            .iter()
            .any(|a| a.is_read && changed.contains(&a.array))
    }) {
        true => Err("a row would read what another one has yet to write"),
        false => Ok(()),
    }
}

/// Checks the carried variables. Those of inner loops begin anew; those of the root are lanes, or join in any order.
fn carries(
    region: &Region,
    nest: &Nest,
    inner: &[&InnerLoop],
    lanes: u32,
) -> Result<(), &'static str> {
    let outer = &nest.outer;
    let counts = |v: &Var| inner.iter().any(|of| of.counter == *v);
    let mut carried = outer.carried.iter().filter(|v| !counts(v));
    if !carried.all(|v| matches!(outer.roles.get(v), Some(Role::Join(..)))) {
        return Err("a row would wait for the row before it");
    }
    let order = |g: &GroupId| region.program.groups[g.index()].order;
    let whole = |g: &GroupId| matches!(order(g), Order::Lanes(of) if of >= lanes);
    if !outer.groups.iter().all(whole) {
        return Err("a row would wait for the row before it");
    }
    for of in inner {
        let anew = |v: &Var| nest.starts.contains(v);
        let known = |g: &GroupId| {
            let group = &region.program.groups[g.index()];
            let known = match group.order {
                Order::Lanes(many) => group.combine.is_some() && many * lanes <= MAX_LANES,
                Order::Prefix(block) => block == 1 || group.combine.is_some(),
                Order::Runs(_) | Order::Exact | Order::Sequential => false,
            };
            known && group.vars.iter().all(anew)
        };
        if !of.carried.iter().all(anew) || !of.groups.iter().all(known) {
            return Err("rows side by side begin anew, in 256 lanes at most");
        }
    }
    Ok(())
}
