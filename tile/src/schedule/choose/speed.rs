//! Vectorisation when execution time matters.

use super::vectors::{
    all_in_vectors, aside, block, goes_on, in_vectors, is_little_recurrent, running, widths,
};
use super::{Aim, SIDE_BY_SIDE, admitting, with};
use crate::region::cost::is_cheap;
use crate::region::{Access, Aside, Case, Index, InnerLoop, Region, Role, Statement};
use crate::schedule::{Decision, Schedule};
use crate::target::Target;
use loop_lang::ir::{GroupId, RateKind, StmtKind};

/// The maximum number of lane vectors per machine register in one iteration.
pub(super) const MAX_HELD: usize = 24;

/// The vectors per iteration if the iteration only tests them.
const TESTS_ONLY_UNROLL: u32 = 8;

/// The steps of an iteration with packed ones: their loop ends unpredictably, once for so many.
const PACKED: u32 = 64;

/// The maximum number of statements whose repetition is cheaper than a branch.
const MAX_REPEATED: usize = 8;

/// Vectorises steps, with lanes for the widest element, and unrolls so that accumulator lanes stay
/// in registers. The result is none if that is illegal or unprofitable.
pub(super) fn many_side_by_side(
    region: &Region,
    inner_loop: &InnerLoop,
    target: &Target,
    partition: &Schedule,
) -> Option<Schedule> {
    let (_, widest) = widths(region, inner_loop)?;
    let lanes = match block(inner_loop) {
        Some(block) => block,
        None => target.vector_bytes() as u32 / widest,
    };
    // In a nest, the root's code around its segments dominates.
    let mut nests = region.nests().iter();
    let alone = !nests.any(|n| n.inner.contains(&inner_loop.rate));
    // A scalar scan costs more than the remaining work lane by lane. Scatters cost the same lane by
    // lane.
    let scans = block(inner_loop).is_some();
    let code = (target, Aim::Speed);
    let cheap = |s: &Statement| match &s.stmt.kind {
        StmtKind::While { .. } => false,
        StmtKind::ScatterArray { .. } => true,
        _ if scans => true,
        _ => in_vectors(region, inner_loop, s.stmt, code) || is_cheap(region.program, s.stmt),
    };
    let aside = aside(region, inner_loop, partition);
    let few = match running(inner_loop) || aside == Aside::Anywhere || inner_loop.scatters {
        true => 4,
        false => 2,
    };
    if !target.has_vectors() || lanes < few || !alone || !scans && aside == Aside::Near {
        return None;
    }
    if !inner_loop.statements.iter().all(cheap)
        || !is_little_recurrent(region, inner_loop, target, lanes)
    {
        return None;
    }
    let schedule = admitting(region, inner_loop, SIDE_BY_SIDE, lanes, partition.clone())?;
    let most = match schedule.packs(region, inner_loop) {
        true => PACKED / lanes,
        false => turn(region, inner_loop, target, lanes),
    };
    let mut turns = [most, 2, 1].into_iter();
    let schedule = turns.find_map(|unroll| {
        let vectorise = Decision::Vectorise { lanes, unroll };
        with(region, &schedule, inner_loop.rate, vectorise)
    })?;
    let schedule = match is_tested_cheaply(region, inner_loop) {
        true => with(region, &schedule, inner_loop.rate, Decision::Ask).unwrap_or(schedule),
        false => schedule,
    };
    Some(fast_min_max(region, inner_loop, schedule))
}

/// Vectorises the steps of segments, with an iteration covering all lanes. The result is none if
/// that is illegal or unprofitable. Segments are short, and the final reduction of lanes is per
/// segment. So vectors pay for folds only.
pub(super) fn segments_side_by_side(
    region: &Region,
    inner_loop: &InnerLoop,
    target: &Target,
) -> Option<Schedule> {
    // Inner nests come first.
    let mut around = region.nests().iter().rev();
    let nest = around.find(|n| n.inside(region).iter().any(|s| s.rate == inner_loop.rate))?;
    let inner = nest.inner_loops(region).into_iter();
    let rolls_back = nest.can_roll_back(region);
    let folds = |s: &&InnerLoop| {
        let mut roles = s.roles.values();
        let joins = !s.joined.is_empty();
        joins
            || roles.any(|r| matches!(r, Role::Lanes(_) | Role::Join(..) | Role::Scan(_)))
            || rolls_back && maps_rows(region, s)
    };
    let flags = region.flags(inner_loop).ok()?;
    if !target.has_vectors()
        || !folds(&inner_loop)
        || goes_on(inner_loop, &flags)
        || !inner_loop.exits.is_empty() && !is_tested_cheaply(region, inner_loop)
        || !all_in_vectors(region, inner_loop, (target, Aim::Speed))
    {
        return None;
    }
    // All vectors of a tile have the same lane count.
    let inner: Vec<&InnerLoop> = inner.filter(folds).collect();
    let widest = inner.iter().filter_map(|s| widths(region, s));
    let widest = widest.map(|w| w.1).max()?;
    let blocks = inner.iter().filter_map(|s| block(s));
    let native = target.vector_bytes() as u32 / widest;
    // A block that spans more than two registers is slower than scalar steps.
    let lanes = match blocks.max() {
        Some(block) if block > 2 * native => return None,
        Some(block) => block,
        None => native,
    };
    // Contiguous loads are possible where the segment has the capacity, and its step can be rolled
    // back otherwise.
    let partition = partition_lanes(region, inner_loop);
    let middle = partition
        .as_ref()
        .and_then(|_| region.middle_of_row(inner_loop));
    let near = |a: &Access| {
        let capacity = middle.as_ref().and_then(|case| case.capacity_of(a));
        inner_loop.is_near(a) || capacity.is_some_and(|capacity| !capacity.down)
    };
    let maps = maps_rows(region, inner_loop);
    match inner_loop.reads_aside(|a| rolls_back && (maps || near(a))) {
        Aside::Near => return None,
        Aside::Anywhere if lanes < 4 => return None,
        _ => {}
    }
    let groups = inner_loop.roles.values().filter_map(|role| match role {
        Role::Lanes(of) => Some(of / lanes.max(1)),
        _ => None,
    });
    // Lanes shared by segments stay aligned if a vector iteration may end early in scalar steps. An
    // iteration of one vector begins near the segment's begin.
    let shared = |g: &GroupId| {
        let group = &region.program.groups[g.index()];
        group.owner != inner_loop.rate && group.order.lanes().is_some()
    };
    // The scalar epilogue does not find lanes in registers.
    if !inner_loop.exits.is_empty() && !inner_loop.groups.iter().all(shared) {
        return None;
    }
    let unroll = match inner_loop.groups.iter().any(shared) && !inner_loop.exits.is_empty() {
        true => 1,
        false => groups.max().unwrap_or(1),
    };
    let around = partition.clone().unwrap_or_default();
    let schedule = admitting(region, inner_loop, SIDE_BY_SIDE, lanes, around)?;
    let vectorise = Decision::Vectorise { lanes, unroll };
    let schedule = with(region, &schedule, inner_loop.rate, vectorise)?;
    match partition {
        Some(_) => Some(schedule),
        None => Some(fast_min_max(region, inner_loop, schedule)),
    }
}

/// Tells whether a loop maps rows of equal length, each element from its neighbours. The last
/// vector of a row is masked; C compilers would use a scalar epilogue. Conditional reads are done
/// for all elements, unless the rows' middle part decides the condition.
fn maps_rows(region: &Region, inner_loop: &InnerLoop) -> bool {
    let kind = &region.program.rate(inner_loop.rate).kind;
    let is_fixed = |a: &Access| matches!(&a.shape, Index::Affine(affine) if affine.is_fixed());
    let in_middle = || {
        let proves = |case: Case| inner_loop.reads_aside(|a| case.capacity_of(a).is_some());
        let middle = region.middle_of_row(inner_loop);
        middle.is_some_and(|case| proves(case) == Aside::Nowhere)
    };
    let proves = |a: &Access| inner_loop.is_near(a) || is_fixed(a);
    // Indices are 64-bit; contiguous accesses need no index vectors.
    let is_wide = widths(region, inner_loop).is_some_and(|(least, most)| least == most);
    is_wide
        && matches!(kind, RateKind::Nested { uniform: true, .. })
        && inner_loop.groups.is_empty()
        && inner_loop.exits.is_empty()
        && (inner_loop.reads_aside(proves) == Aside::Nowhere
            || inner_loop.reads_aside(|a| proves(a) || inner_loop.is_sometimes(a))
                == Aside::Nowhere
                && !in_middle())
}

/// Partitions rows with comparisons where all loop-carried values are lanes: loads in the middle
/// part are contiguous.
fn partition_lanes(region: &Region, inner_loop: &InnerLoop) -> Option<Schedule> {
    let uniform = match region.program.rate(inner_loop.rate).kind {
        RateKind::Nested { uniform, .. } => uniform,
        _ => false,
    };
    let mut roles = inner_loop.roles.values();
    let lanes = roles.all(|role| matches!(role, Role::Lanes(_))) && !inner_loop.groups.is_empty();
    let fits =
        uniform && lanes && inner_loop.exits.is_empty() && !inner_loop.changes_what_it_reads();
    let asks = fits
        && region
            .middle_of_row(inner_loop)
            .is_some_and(|case| case.asks());
    asks.then(|| {
        with(
            region,
            &Schedule::new(),
            inner_loop.rate,
            Decision::Partition,
        )
    })?
}

/// Uses fast min/max for floats where legal: a range is rarely recomputed.
pub(super) fn fast_min_max(
    region: &Region,
    inner_loop: &InnerLoop,
    schedule: Schedule,
) -> Schedule {
    with(region, &schedule, inner_loop.rate, Decision::FastMinMax).unwrap_or(schedule)
}

/// Returns the vectors per iteration: enough for all lanes, or more if the iteration only tests for
/// an exit.
fn turn(region: &Region, inner_loop: &InnerLoop, target: &Target, lanes: u32) -> u32 {
    let folds = |role: &Role| matches!(role, Role::Lanes(_) | Role::Scan(_) | Role::Join(..));
    let only_asks = !inner_loop.exits.is_empty()
        && !inner_loop.roles.values().any(folds)
        && inner_loop.accesses.iter().all(|a| a.is_read);
    match only_asks && is_tested_cheaply(region, inner_loop) {
        true => TESTS_ONLY_UNROLL,
        false => all_lanes(region, inner_loop, target, lanes),
    }
}

/// Tells whether one exit test per iteration is cheaper than a branch per vector. The tested values
/// are recomputed in each vector, unless the compiler removes the duplicates.
fn is_tested_cheaply(region: &Region, inner_loop: &InnerLoop) -> bool {
    let Ok(flags) = region.flags(inner_loop) else {
        return false;
    };
    let cheap = |s: &Statement| match &s.stmt.kind {
        StmtKind::ReadArray(..) => inner_loop
            .accesses
            .iter()
            .any(|a| a.statement == s.id && a.is_proven),
        _ => is_cheap(region.program, s.stmt),
    };
    flags.early.len() <= MAX_REPEATED
        && flags
            .early
            .iter()
            .all(|id| cheap(&inner_loop.statements[*id]))
}

/// Returns the vectors that cover all lanes of groups. The result is one if that makes too much
/// code to compile, unless it enables fast min/max.
pub(super) fn all_lanes(
    region: &Region,
    inner_loop: &InnerLoop,
    target: &Target,
    lanes: u32,
) -> u32 {
    let groups: Vec<u32> = (inner_loop.roles.values())
        .filter_map(|role| match role {
            Role::Lanes(of) => Some(of / lanes),
            _ => None,
        })
        .collect();
    let taken: u32 = groups.iter().sum();
    match groups.iter().max() {
        Some(most) if taken as usize <= MAX_HELD * target.registers() => *most,
        Some(most) if !region.extrema(inner_loop).is_empty() => *most,
        Some(_) => 1,
        None => 2,
    }
}
