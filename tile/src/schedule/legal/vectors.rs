//! Legality of vectors: whether several steps may run side by side.

use crate::region::{InnerLoop, Region, Role, Statement, Step};
use crate::schedule::writes::{at_count, in_row, in_step, near, packs};
use crate::schedule::{Admit, MAX_LANES, MAX_UNROLL, Schedule};
use livefusion_backend::facts;
use loop_lang::ir::{Combine, GroupId, Order, StmtKind, Var};

/// The maximum number of lanes that are stored one by one.
const MAX_LINKS: u32 = 16;
/// The maximum nesting depth of regions that vectors compute.
pub(super) const MAX_DEPTH: usize = 16;

/// Checks whether several steps of an innermost loop may be vectorised.
pub(super) fn side_by_side(
    region: &Region,
    schedule: &Schedule,
    inner_loop: &InnerLoop,
    (lanes, unroll): (u32, u32),
) -> Result<(), &'static str> {
    if !lanes.is_power_of_two() || lanes > MAX_LANES {
        return Err("lanes are a power of two, from 2 to 64");
    }
    if !unroll.is_power_of_two() || unroll > MAX_UNROLL {
        return Err("vectors in a turn, or steps, are a power of two, at most 32");
    }
    if lanes == 1 {
        // In the Loop's order.
        let mut nests = region.nests().iter();
        return match unroll {
            1 => Err("a turn of one step"),
            _ if nests.any(|n| n.inner.contains(&inner_loop.rate)) => {
                Err("segments go step by step, or in vectors")
            }
            _ => Ok(()),
        };
    }
    region.flags(inner_loop)?;
    if schedule.packs(region, inner_loop) && lanes * unroll > crate::ir::MAX_LANES {
        return Err("the packed steps of a turn are 256 at most");
    }
    for s in &inner_loop.statements {
        if schedule.is_packed(region, inner_loop, s.step) {
            continue;
        }
        match &s.stmt.kind {
            StmtKind::WriteArray(a, index, _) => {
                let how = s.sub.and_then(|step| match inner_loop.steps[step] {
                    Step::Enter(i) => region.rate_of_block(i),
                    _ => None,
                });
                let compact = how.is_some_and(|r| schedule.admits(r) == Admit::Compact);
                let packed = compact && packs(region, inner_loop, (*a, *index), s.sub);
                let partition = s.sub.is_none() && s.top && schedule.partitions(inner_loop.rate);
                let near = || partition && near(region, inner_loop, *a, *index);
                let counted = s.sub.is_none() && at_count(region, inner_loop, (*a, *index), None);
                let in_step = in_step(region, inner_loop, *a, *index);
                let in_row = || in_row(region, inner_loop, *a, *index);
                if !in_step && !packed && !counted && !near() && !in_row() {
                    return Err("it writes elsewhere than at the counter, or packed at a count");
                }
                let array = region.owner(*a);
                let mut reads = inner_loop
                    .accesses
                    .iter()
                    .filter(|x| x.array == array && x.is_read);
                if reads.any(|x| packed || counted || x.index != *index) {
                    return Err("it reads elements that other steps write");
                }
            }
            StmtKind::ScatterArray {
                arrays, combine, ..
            } => joins_lane_by_lane(region, inner_loop, s.id, (arrays, *combine))?,
            StmtKind::Scan { group, .. } if !is_recurrent(region, *group) => {
                scans_a_block(region, inner_loop, s, *group)?;
            }
            _ => {}
        }
    }
    for role in inner_loop.roles.values() {
        match role {
            Role::Scan(block) if !matches!(*block, 1) && *block != lanes => {
                return Err("vectors are no blocks of a scan");
            }
            Role::Lanes(of) if of % lanes != 0 => {
                return Err("vectors have more lanes than a group");
            }
            _ => {}
        }
    }
    if region.recurrence(inner_loop)?.is_some() {
        if lanes > MAX_LINKS {
            return Err("what goes from one step to the next is written for each lane");
        }
        if schedule.partitions(inner_loop.rate) {
            return Err("what goes from one step to the next, in cases");
        }
    }
    let deep = (inner_loop.statements.iter()).any(|s| s.top && depth(s.stmt) > MAX_DEPTH);
    match deep {
        true => Err("its arms are nested too deep"),
        false => Ok(()),
    }
}

/// Checks whether steps may be vectorised around a scatter. The lanes scatter in order, and nothing
/// else observes that order.
fn joins_lane_by_lane(
    region: &Region,
    inner_loop: &InnerLoop,
    id: usize,
    (arrays, by): (&[Var], Option<Combine>),
) -> Result<(), &'static str> {
    let ([array], None | Some(Combine::Op(_))) = (arrays, by) else {
        return Err("it joins onto several arrays, or by a function");
    };
    let owner = region.owner(*array);
    let joins = |s: &&Statement| match &s.stmt.kind {
        StmtKind::ScatterArray { arrays, .. } => {
            s.id != id && arrays.iter().any(|a| region.owner(*a) == owner)
        }
        _ => false,
    };
    let accessed = inner_loop.accesses.iter().any(|a| a.array == owner);
    match accessed || inner_loop.statements.iter().any(|s| joins(&s)) {
        true => Err("it joins onto elements that it uses in another way, too"),
        false => Ok(()),
    }
}

/// Checks whether a scan may process a block at a time: all elements are known before it, and one
/// operator combines them.
fn scans_a_block(
    region: &Region,
    inner_loop: &InnerLoop,
    scan: &Statement,
    group: GroupId,
) -> Result<(), &'static str> {
    let group = &region.program.groups[group.index()];
    let ([v], Some(Combine::Op(_))) = (&group.vars[..], group.combine) else {
        return Err("it scans several variables, or by a function");
    };
    let mut waits = false;
    for i in inner_loop.blocks() {
        facts::each_leaving_use(region.facts.blocks[i].block, &mut |u| waits |= u == *v);
    }
    for s in &inner_loop.statements[..=scan.id] {
        facts::each_use(s.stmt, &mut |u| waits |= u == *v);
    }
    match waits {
        true => Err("it reads what a scan has come to before that goes on"),
        false => Ok(()),
    }
}

/// Tells whether a scan is a serial recurrence over elements.
pub(super) fn is_recurrent(region: &Region, group: GroupId) -> bool {
    region.program.groups[group.index()].order == Order::Prefix(1)
}

/// Returns how deep a statement's regions are nested.
pub(super) fn depth(s: &loop_lang::ir::Stmt) -> usize {
    let mut deepest = 0;
    let mut open = vec![(s, 0)];
    while let Some((s, at)) = open.pop() {
        deepest = deepest.max(at);
        for inner in loop_lang::walk::regions(&s.kind).into_iter().flatten() {
            open.push((inner, at + 1));
        }
    }
    deepest
}
