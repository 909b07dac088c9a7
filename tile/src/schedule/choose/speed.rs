//! Vectors for code that is to run fast.

use super::vectors::{
    all_in_vectors, aside, block, goes_on, in_vectors, is_little_chained, running, widths,
};
use super::{Aim, SIDE_BY_SIDE, admitting, with};
use crate::region::cost::is_cheap;
use crate::region::{Access, Aside, Case, Index, Region, Role, Statement, Sweep};
use crate::schedule::{Decision, Schedule};
use crate::target::Target;
use loop_lang::ir::{GroupId, RateKind, StmtKind};

/// More vectors of lanes than this for each register of the machine are not in the code of one turn.
pub(super) const MAX_HELD: usize = 24;

/// Vectors in a turn that does nothing else than to ask them.
const ASKED: u32 = 8;

/// More statements than this take longer, done twice, than a branch.
const MAX_ASKED: usize = 8;

/// Steps side by side in vectors as wide as the widest element wants, so many in a turn that lanes stay in registers; none
/// if that is not legal, or thought to be no faster.
pub(super) fn many_side_by_side(
    region: &Region,
    sweep: &Sweep,
    target: &Target,
    split: &Schedule,
) -> Option<Schedule> {
    let (_, widest) = widths(region, sweep)?;
    let lanes = match block(sweep) {
        Some(block) => block,
        None => target.vector_bytes() as u32 / widest,
    };
    // In a nest, what the root does with its segments counts.
    let mut nests = region.nests().iter();
    let alone = !nests.any(|n| n.inner.contains(&sweep.rate));
    // To scan step by step takes longer than to do the rest lane by lane. What is joined onto elements anywhere costs the same
    // lane by lane.
    let scans = block(sweep).is_some();
    let code = (target, Aim::Speed);
    let cheap = |s: &Statement| match &s.stmt.kind {
        StmtKind::While { .. } => false,
        StmtKind::ScatterArray { .. } => true,
        _ if scans => true,
        _ => in_vectors(region, sweep, s.stmt, code) || is_cheap(region.program, s.stmt),
    };
    let aside = aside(region, sweep, split);
    let few = match running(sweep) || aside == Aside::Anywhere || sweep.scatters {
        true => 4,
        false => 2,
    };
    if !target.has_vectors() || lanes < few || !alone || !scans && aside == Aside::Near {
        return None;
    }
    if !sweep.statements.iter().all(cheap) || !is_little_chained(region, sweep, target, lanes) {
        return None;
    }
    let schedule = admitting(region, sweep, SIDE_BY_SIDE, lanes, split.clone())?;
    let mut turns = [turn(region, sweep, target, lanes), 2, 1].into_iter();
    let schedule = turns.find_map(|unroll| {
        let vectorise = Decision::Vectorise { lanes, unroll };
        with(region, &schedule, sweep.rate, vectorise)
    })?;
    let schedule = match is_asked_cheaply(region, sweep) {
        true => with(region, &schedule, sweep.rate, Decision::Ask).unwrap_or(schedule),
        false => schedule,
    };
    Some(quick(region, sweep, schedule))
}

/// Steps of segments side by side, so many in a turn that it takes all lanes; none if that is not legal, or thought to be no
/// faster. Segments are short: what they fold is worth it, since lanes are joined for each of them.
pub(super) fn segments_side_by_side(
    region: &Region,
    sweep: &Sweep,
    target: &Target,
) -> Option<Schedule> {
    // Inner ones come first.
    let mut around = region.nests().iter().rev();
    let nest = around.find(|n| n.inside(region).iter().any(|s| s.rate == sweep.rate))?;
    let inner = nest.sweeps(region).into_iter();
    let undoes = nest.can_be_undone(region);
    let folds = |s: &&Sweep| {
        let mut roles = s.roles.values();
        let joins = !s.joined.is_empty();
        joins
            || roles.any(|r| matches!(r, Role::Lanes(_) | Role::Join(..) | Role::Scan(_)))
            || undoes && maps_rows(region, s)
    };
    let flags = region.flags(sweep).ok()?;
    if !target.has_vectors()
        || !folds(&sweep)
        || goes_on(sweep, &flags)
        || !sweep.exits.is_empty() && !is_asked_cheaply(region, sweep)
        || !all_in_vectors(region, sweep, (target, Aim::Speed))
    {
        return None;
    }
    // Vectors of one tile have as many lanes.
    let inner: Vec<&Sweep> = inner.filter(folds).collect();
    let widest = inner.iter().filter_map(|s| widths(region, s));
    let widest = widest.map(|w| w.1).max()?;
    let blocks = inner.iter().filter_map(|s| block(s));
    let native = target.vector_bytes() as u32 / widest;
    // A block in more registers takes longer than its steps.
    let lanes = match blocks.max() {
        Some(block) if block > 2 * native => return None,
        Some(block) => block,
        None => native,
    };
    // Neighbours are loaded where the segment has room for them, and its step can be undone where it has not.
    let split = split_lanes(region, sweep);
    let middle = split.as_ref().and_then(|_| region.middle_of_row(sweep));
    let near = |a: &Access| {
        let room = middle.as_ref().and_then(|case| case.room_of(a));
        sweep.is_near(a) || room.is_some_and(|room| !room.down)
    };
    let maps = maps_rows(region, sweep);
    match sweep.reads_aside(|a| undoes && (maps || near(a))) {
        Aside::Near => return None,
        Aside::Anywhere if lanes < 4 => return None,
        _ => {}
    }
    let groups = sweep.roles.values().filter_map(|role| match role {
        Role::Lanes(of) => Some(of / lanes.max(1)),
        _ => None,
    });
    // Lanes that segments share stay where they are, if steps may be left to be taken one by one; a turn of one vector begins
    // near where a segment does.
    let shared = |g: &GroupId| {
        let group = &region.program.groups[g.index()];
        group.owner != sweep.rate && group.order.lanes().is_some()
    };
    // What is taken one by one in the end does not find lanes in registers.
    if !sweep.exits.is_empty() && !sweep.groups.iter().all(shared) {
        return None;
    }
    let unroll = match sweep.groups.iter().any(shared) && !sweep.exits.is_empty() {
        true => 1,
        false => groups.max().unwrap_or(1),
    };
    let around = split.clone().unwrap_or_default();
    let schedule = admitting(region, sweep, SIDE_BY_SIDE, lanes, around)?;
    let vectorise = Decision::Vectorise { lanes, unroll };
    let schedule = with(region, &schedule, sweep.rate, vectorise)?;
    match split {
        Some(_) => Some(schedule),
        None => Some(quick(region, sweep, schedule)),
    }
}

/// Whether a sweep goes through rows, all of whose elements it makes of their neighbours. The last vector of a row is masked, which
/// compilers would do element by element. What only some elements need is read for all, unless rows have a middle in which it is known
/// which these are.
fn maps_rows(region: &Region, sweep: &Sweep) -> bool {
    let kind = &region.program.rate(sweep.rate).kind;
    let is_fixed = |a: &Access| matches!(&a.shape, Index::Affine(affine) if affine.is_fixed());
    let in_middle = || {
        let proves = |case: Case| sweep.reads_aside(|a| case.room_of(a).is_some());
        let middle = region.middle_of_row(sweep);
        middle.is_some_and(|case| proves(case) == Aside::Nowhere)
    };
    let proves = |a: &Access| sweep.is_near(a) || is_fixed(a);
    // Indices are wide, and compilers need none where all is near.
    let is_wide = widths(region, sweep).is_some_and(|(least, most)| least == most);
    is_wide
        && matches!(kind, RateKind::Nested { uniform: true, .. })
        && sweep.groups.is_empty()
        && sweep.exits.is_empty()
        && (sweep.reads_aside(proves) == Aside::Nowhere
            || sweep.reads_aside(|a| proves(a) || sweep.is_sometimes(a)) == Aside::Nowhere
                && !in_middle())
}

/// Rows that ask something, and have nothing but lanes that go on from step to step, in parts: in the middle neighbours are loaded.
fn split_lanes(region: &Region, sweep: &Sweep) -> Option<Schedule> {
    let uniform = match region.program.rate(sweep.rate).kind {
        RateKind::Nested { uniform, .. } => uniform,
        _ => false,
    };
    let mut roles = sweep.roles.values();
    let lanes = roles.all(|role| matches!(role, Role::Lanes(_))) && !sweep.groups.is_empty();
    let fits = uniform && lanes && sweep.exits.is_empty() && !sweep.changes_what_it_reads();
    let asks = fits && region.middle_of_row(sweep).is_some_and(|case| case.asks());
    asks.then(|| with(region, &Schedule::new(), sweep.rate, Decision::Split))?
}

/// Extrema of floats take one instruction where they may: the range is seldom gone through again.
pub(super) fn quick(region: &Region, sweep: &Sweep, schedule: Schedule) -> Schedule {
    with(region, &schedule, sweep.rate, Decision::Quick).unwrap_or(schedule)
}

/// How many vectors are in a turn: all lanes; more, if there is nothing to do but to ask each of them whether it goes on.
fn turn(region: &Region, sweep: &Sweep, target: &Target, lanes: u32) -> u32 {
    let folds = |role: &Role| matches!(role, Role::Lanes(_) | Role::Scan(_) | Role::Join(..));
    let only_asks = !sweep.exits.is_empty()
        && !sweep.roles.values().any(folds)
        && sweep.accesses.iter().all(|a| a.is_read);
    match only_asks && is_asked_cheaply(region, sweep) {
        true => ASKED,
        false => all_lanes(region, sweep, target, lanes),
    }
}

/// Whether to ask the vectors of a turn together whether they go on costs less than a branch for each: what is asked is
/// computed again in each of them, unless compilers see that it is the same.
fn is_asked_cheaply(region: &Region, sweep: &Sweep) -> bool {
    let Ok(flags) = region.flags(sweep) else {
        return false;
    };
    let cheap = |s: &Statement| match &s.stmt.kind {
        StmtKind::ReadArray(..) => sweep
            .accesses
            .iter()
            .any(|a| a.statement == s.id && a.is_proven),
        _ => is_cheap(region.program, s.stmt),
    };
    flags.early.len() <= MAX_ASKED && flags.early.iter().all(|id| cheap(&sweep.statements[*id]))
}

/// How many vectors take all lanes of groups, if these are not so many that compilers take long for it, or extrema are the
/// quicker for it; else one.
pub(super) fn all_lanes(region: &Region, sweep: &Sweep, target: &Target, lanes: u32) -> u32 {
    let groups: Vec<u32> = (sweep.roles.values())
        .filter_map(|role| match role {
            Role::Lanes(of) => Some(of / lanes),
            _ => None,
        })
        .collect();
    let taken: u32 = groups.iter().sum();
    match groups.iter().max() {
        Some(most) if taken as usize <= MAX_HELD * target.registers() => *most,
        Some(most) if !region.extrema(sweep).is_empty() => *most,
        Some(_) => 1,
        None => 2,
    }
}
