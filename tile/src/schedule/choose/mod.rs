//! Schedule selection: heuristics, each with a profitability condition.
//!
//! Only legal decisions are taken.
//!
//! | module | contents |
//! | --- | --- |
//! | `start` | vectorisation when compile time matters |
//! | `speed` | vectorisation when execution time matters |
//! | `runs` | runs side by side, for either aim |
//! | `vectors` | operations that vectorise well, and obstacles to vectorisation |

mod runs;
mod speed;
mod start;
mod vectors;

use super::legal::allows;
use super::{Admit, Decision, MAX_UNROLL, Schedule};
use crate::region::cost::{is_cheap, waits};
use crate::region::zip::Zip;
use crate::region::{Access, Aside, InnerLoop, Nest, Region, Role, Step};
use crate::target::Target;
use crate::threads::phases::Phases;
use crate::threads::shape::Refusal;
use loop_lang::Loop;
use loop_lang::ir::{Atom, RateId, RateKind, StmtKind, Var};
use runs::runs_side_by_side;
use speed::{many_side_by_side, segments_side_by_side};
use start::{LITTLE, block_by_block, side_by_side};
use vectors::{block, in_vectors, turns, widest_of_turns, widths};

/// The largest part of the last cache level that a loop counts on. Many cores share larger levels.
const CACHED: usize = 32 << 20;

/// The maximum latency of a piece's critical path, in cycles. The elements in a processor's reorder
/// window then have as many independent operations ready.
const WAIT: u32 = 32;

/// The maximum work of a piece.
const WORK: u32 = 128;

/// The capacity of a buffer between pieces.
const BUFFER: u32 = 256;

/// The capacities of a buffer behind a cursor; the first that fits is taken.
const BUFFERED: [u32; 3] = [1024, 512, 256];

/// The steps of a root that share a segment: the number of doubles in a cache line.
const UNROLL_JAM_STEPS: u32 = 8;

/// Beyond this many statements, a branch is cheaper than a mask.
const MAX_MASKED: usize = 24;

/// The steps of an unrolled scalar iteration, and its maximum number of statements.
const STEPS: u32 = 8;
const MAX_IN_TURNS: usize = 512;

/// The vectors of elements that a scalar loop computes together: each waits for its own last
/// iteration.
const IN_FLIGHT: u32 = 4;

/// The maximum number of elements computed together: all wait for the longest.
const TOGETHER: u32 = 32;

/// Describes the aim of the generated code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aim {
    /// Short compile time: slow optimisations must gain much.
    Start,
    /// Short execution time, at any compile time.
    Speed,
}

/// Chooses the schedule of a loop on a machine.
///
/// It vectorises where that is legal and profitable, and is scalar elsewhere.
pub fn choose(region: &Region, target: &Target, aim: Aim) -> Schedule {
    let mut schedule = Schedule::new();
    for inner_loop in region.inner_loops() {
        let runs = runs_side_by_side(region, inner_loop, target, aim);
        let chosen = runs.unwrap_or_else(|| of_inner_loop(region, inner_loop, target, aim));
        schedule = schedule.and(&chosen);
        if aim == Aim::Speed {
            schedule = past_the_caches(region, inner_loop, &schedule, target).unwrap_or(schedule);
        }
    }
    for nest in region.nests().iter().filter(|_| aim == Aim::Speed) {
        schedule = unroll_jammed(region, nest, &schedule).unwrap_or(schedule);
    }
    for zip in &region.zips().all {
        schedule = through_buffers(region, zip, &schedule, (target, aim)).unwrap_or(schedule);
    }
    schedule
}

/// Chooses the mapping of a loop's iterations to a device's threads.
///
/// # Errors
///
/// Returns the reason if it cannot run in parallel on a device.
pub fn choose_threads(program: &Loop) -> Result<Schedule, Refusal> {
    let mut schedule = Schedule::new();
    for shape in Phases::of(program).shapes()? {
        schedule = schedule.with_threads(shape.root, shape.dealt());
    }
    Ok(schedule)
}

/// Schedules an innermost loop, or a part of a zip, without parallel runs.
fn of_inner_loop(region: &Region, inner_loop: &InnerLoop, target: &Target, aim: Aim) -> Schedule {
    let partition = partition(region, inner_loop, aim).unwrap_or_default();
    let wide = match aim {
        _ if turns(inner_loop) => turns_side_by_side(region, inner_loop, target, aim),
        Aim::Start => block_by_block(region, inner_loop, target, &partition)
            .or_else(|| side_by_side(region, inner_loop, target, &partition)),
        Aim::Speed => many_side_by_side(region, inner_loop, target, &partition)
            .or_else(|| segments_side_by_side(region, inner_loop, target)),
    };
    let schedule = wide.unwrap_or_else(|| match aim {
        // An exit may depend on the number of admitted steps: branches are predicted, so nothing
        // waits for it.
        Aim::Start if !inner_loop.exits.is_empty() => partition,
        Aim::Start => step_by_step(region, inner_loop, partition),
        Aim::Speed => in_turns(
            region,
            inner_loop,
            target,
            step_by_step(region, inner_loop, partition),
        ),
    });
    let pieces = match aim {
        // Only the epilogue of vectors is without them then.
        Aim::Start if !target.has_vectors() => None,
        Aim::Start | Aim::Speed => in_pieces(region, inner_loop, &schedule, (target, aim)),
    };
    pieces.unwrap_or(schedule)
}

/// Unroll-and-jam where rows are reduced into one row, update one, or are read across rows. Reads
/// across rows use two cache lines together, which machines fetch in pairs. Loops with lanes of
/// their own use half as many steps.
fn unroll_jammed(region: &Region, nest: &Nest, schedule: &Schedule) -> Option<Schedule> {
    let inner = nest
        .inner
        .first()
        .and_then(|rate| region.inner_loop(*rate))?;
    let is_uniform = matches!(
        region.program.rate(inner.rate).kind,
        RateKind::Nested { uniform: true, .. }
    );
    let across = inner.reads_aside(|_| false) == Aside::Anywhere;
    let mut roles = inner.roles.values();
    let has_lanes = roles.any(|role| matches!(role, Role::Lanes(_)));
    let onto_one = !inner.joined.is_empty() || inner.changes_what_it_reads();
    let steps = match (across, onto_one, has_lanes) {
        _ if !is_uniform || schedule.partitions(inner.rate) => return None,
        (false, false, _) => return None,
        (_, _, true) => UNROLL_JAM_STEPS / 2,
        (false, true, false) => UNROLL_JAM_STEPS,
        (true, _, false) => 2 * UNROLL_JAM_STEPS,
    };
    with(
        region,
        schedule,
        nest.outer.rate,
        Decision::UnrollJam(steps),
    )
}

/// Runs cursors through buffers: without buffers, each element has an unpredictable branch.
fn through_buffers(
    region: &Region,
    zip: &Zip,
    schedule: &Schedule,
    (target, aim): (&Target, Aim),
) -> Option<Schedule> {
    let buffer = |elements: &u32| with(region, schedule, zip.rate, Decision::Buffer(*elements));
    let mut schedule = BUFFERED.iter().find_map(buffer)?;
    let parts = zip.parts()?;
    let packs = parts.sides.iter().map(|(packs, _)| packs);
    for part in packs.chain([&parts.behind]) {
        schedule = schedule.and(&of_inner_loop(
            &part.region,
            part.inner_loop()?,
            target,
            aim,
        ));
    }
    Some(schedule)
}

/// Returns the number of steps from which on a loop's arrays exceed the last cache level. A cached
/// store would then read each line first. Smaller results may still be cached for their consumer.
fn large(region: &Region, inner_loop: &InnerLoop, target: &Target) -> u64 {
    let size = |a: &Var| region.program.ty(*a).elem().size();
    let bytes: usize = inner_loop.arrays.iter().map(size).sum();
    (target.caches().last.min(CACHED) / bytes.max(1)) as u64
}

/// Applies fission to three kinds of bodies: with more latency than a processor's window hides,
/// with too much code for compilers, or with more lanes than registers. Fission does not help if
/// one operation has most of the latency, such as a lone exponential.
fn in_pieces(
    region: &Region,
    inner_loop: &InnerLoop,
    schedule: &Schedule,
    (target, aim): (&Target, Aim),
) -> Option<Schedule> {
    let (lanes, unroll) = schedule.vectors(inner_loop.rate);
    let whole = inner_loop.cost();
    let most = match aim {
        Aim::Start => WORK,
        Aim::Speed => with_lanes_in_registers(region, inner_loop, target, (lanes, unroll)),
    };
    let mut alone = inner_loop.all_tops().map(|s| s.cost.wait);
    let waits = waits(whole, 2) && alone.all(|one| 2 * one <= whole.wait);
    if turns(inner_loop) || !waits && whole.work <= 2 * u64::from(most) {
        return None;
    }
    let pieces = Decision::Fission {
        wait: WAIT,
        work: most,
        steps: BUFFER.max(lanes * unroll),
    };
    with(region, schedule, inner_loop.rate, pieces)
}

/// Returns the maximum work of a piece so that its lanes fit in three quarters of the registers. It
/// applies only if the lanes of two folds fit.
fn with_lanes_in_registers(
    region: &Region,
    inner_loop: &InnerLoop,
    target: &Target,
    (lanes, unroll): (u32, u32),
) -> u32 {
    let vectors = inner_loop.roles.iter().map(|(v, role)| match *role {
        Role::Lanes(of) if lanes > 1 && of <= lanes * unroll => {
            of as usize * region.program.ty(*v).elem().size() / target.vector_bytes().max(1)
        }
        _ => 0,
    });
    let (all, most) = vectors.fold((0, 0), |(all, most), n| (all + n, n.max(most)));
    let budget = target.registers() * 3 / 4;
    match all > budget && 2 * most <= budget {
        true => (inner_loop.cost().work * budget as u64 / all as u64).clamp(1, WORK.into()) as u32,
        false => WORK,
    }
}

/// Lets large results bypass the caches, if legal. Filtered results stay in the caches, and loops
/// with long scalar loops inside are not bound by memory.
fn past_the_caches(
    region: &Region,
    inner_loop: &InnerLoop,
    schedule: &Schedule,
    target: &Target,
) -> Option<Schedule> {
    let stream = Decision::Stream(large(region, inner_loop, target));
    let streams = (inner_loop.is_plain() && !turns(inner_loop))
        .then(|| with(region, schedule, inner_loop.rate, stream));
    streams.flatten()
}

/// Partitions a loop, if legal. Rows are not partitioned unless they have comparisons; other
/// segments are not, since they may be short. Each case is separate code, which is slow to compile
/// if there are several.
fn partition(region: &Region, inner_loop: &InnerLoop, aim: Aim) -> Option<Schedule> {
    let asks = || region.cases(inner_loop).ask();
    let fits = match region.program.rate(inner_loop.rate).kind {
        RateKind::Root { .. } if aim == Aim::Start => {
            inner_loop.accesses.iter().any(|a| !a.is_proven) && !asks()
        }
        RateKind::Root { .. } => true,
        RateKind::Nested { .. } if aim == Aim::Start => false,
        RateKind::Nested { uniform, .. } => {
            let middle = || region.middle_of_row(inner_loop);
            uniform && inner_loop.groups.is_empty() && middle().is_some_and(|case| case.asks())
        }
        RateKind::Sub { .. } | RateKind::Cursor { .. } => false,
    };
    let schedule = Schedule::new();
    fits.then(|| with(region, &schedule, inner_loop.rate, Decision::Partition))?
}

/// Lists the subrates of an innermost loop with the steps that enter them.
fn subs(region: &Region, inner_loop: &InnerLoop) -> Vec<(usize, RateId)> {
    let steps = inner_loop.steps.iter().enumerate();
    let entered = steps.filter_map(|(k, step)| match step {
        Step::Enter(i) => Some((k, region.rate_of_block(*i)?)),
        _ => None,
    });
    entered.collect()
}

/// Preferred admission for vectors: compaction needs no second test; updates need a mask.
const SIDE_BY_SIDE: [Admit; 2] = [Admit::Compact, Admit::Mask];

/// Extends the schedule so that each subrate of a vectorised loop admits in the first legal way.
/// The result is none if a subrate has no legal way.
fn admitting(
    region: &Region,
    inner_loop: &InnerLoop,
    ways: [Admit; 2],
    lanes: u32,
    mut schedule: Schedule,
) -> Option<Schedule> {
    let vectors = Decision::Vectorise { lanes, unroll: 1 };
    for (step, rate) in subs(region, inner_loop) {
        // The packed steps of a subrate around it run one by one.
        if schedule.is_packed(region, inner_loop, step) {
            continue;
        }
        let around = schedule.clone().with(inner_loop.rate, vectors);
        let is_legal = |how: &Admit| allows(region, &around, rate, Decision::Admit(*how)).is_ok();
        let packs = Some(Admit::Pack).filter(|_| reads_aside(inner_loop, step));
        let how = packs.into_iter().chain(ways).find(is_legal)?;
        schedule = schedule.with(rate, Decision::Admit(how));
    }
    Some(schedule)
}

/// Tells whether a subrate reads at arbitrary indices. Lane by lane, that takes as long for rejected
/// steps as for others.
fn reads_aside(inner_loop: &InnerLoop, enter: usize) -> bool {
    let steps = enter + 1..inner_loop.leave(enter);
    let inside = |a: &Access| steps.contains(&inner_loop.statements[a.statement].step);
    let mut reads = inner_loop
        .accesses
        .iter()
        .filter(|a| a.is_read && !a.is_proven);
    reads.any(inside)
}

/// Adds a decision, if that is legal.
fn with(
    region: &Region,
    schedule: &Schedule,
    rate: RateId,
    decision: Decision,
) -> Option<Schedule> {
    let is_legal = allows(region, schedule, rate, decision).is_ok();
    is_legal.then(|| schedule.clone().with(rate, decision))
}

/// Schedules scalar steps. Cheap rejected steps are computed too: a mispredicted branch costs more,
/// and filters are often unpredictable.
fn step_by_step(region: &Region, inner_loop: &InnerLoop, mut schedule: Schedule) -> Schedule {
    for (step, rate) in subs(region, inner_loop) {
        if needs_no_branch(region, inner_loop, step)
            && let Some(more) = with(region, &schedule, rate, Decision::Admit(Admit::Compact))
        {
            schedule = more;
        }
    }
    schedule
}

/// Unrolls scalar steps if there are lanes or scan blocks: each step's lane is then known
/// statically. For targets without known vectors, an iteration covers all lanes, and the C compiler
/// may vectorise it.
fn in_turns(
    region: &Region,
    inner_loop: &InnerLoop,
    target: &Target,
    schedule: Schedule,
) -> Schedule {
    let most = match target.has_vectors() || !inner_loop.exits.is_empty() {
        true => STEPS,
        false => MAX_UNROLL,
    };
    let lanes = inner_loop.roles.values().filter_map(|role| match role {
        Role::Lanes(of) => Some((*of).min(most)),
        _ => None,
    });
    let mut nests = region.nests().iter();
    let alone =
        !nests.any(|n| n.outer.rate == inner_loop.rate || n.inner.contains(&inner_loop.rate));
    let little = |unroll: &u32| *unroll as usize * inner_loop.statements.len() <= MAX_IN_TURNS;
    let unroll = block(inner_loop).or_else(|| lanes.max()).filter(little);
    let more = unroll.filter(|_| alone).and_then(|unroll| {
        let turn = Decision::Vectorise { lanes: 1, unroll };
        with(region, &schedule, inner_loop.rate, turn)
    });
    more.unwrap_or(schedule)
}

/// Tells whether a subrate only does cheap computations, updates, and stores at its own count.
fn needs_no_branch(region: &Region, inner_loop: &InnerLoop, enter: usize) -> bool {
    let inside: Vec<_> = (inner_loop.all_tops())
        .filter(|s| s.sub == Some(enter) && s.step != enter)
        .collect();
    let steps = inner_loop.steps.iter().skip(enter + 1);
    let innermost = (steps.take_while(|s| !matches!(s, Step::Leave)))
        .all(|step| matches!(step, Step::Block(_)));
    let assigned = |v: Var| {
        let mut all = inside.iter();
        all.any(|s| matches!(s.stmt.kind, StmtKind::Assign(a, _) if a == v))
    };
    innermost
        && inside.len() <= MAX_MASKED
        && inside.iter().all(|s| match &s.stmt.kind {
            StmtKind::Assign(..) => true,
            StmtKind::WriteArray(_, Atom::Var(index), _) => assigned(*index),
            _ => is_cheap(region.program, s.stmt),
        })
}

/// Vectorises scalar loops across elements, each under a mask of active elements. The result is
/// none if that is illegal, or if an operation would run lane by lane.
fn turns_side_by_side(
    region: &Region,
    inner_loop: &InnerLoop,
    target: &Target,
    aim: Aim,
) -> Option<Schedule> {
    let root = matches!(
        region.program.rate(inner_loop.rate).kind,
        RateKind::Root { .. }
    );
    let mut inside = inner_loop.statements.iter().filter(|s| !s.top);
    let fits = inside.all(|s| in_vectors(region, inner_loop, s.stmt, (target, aim)));
    if !target.has_vectors() || !root || !fits {
        return None;
    }
    let widest = widest_of_turns(region, inner_loop).or(widths(region, inner_loop).map(|w| w.1))?;
    // Each vector is separate code.
    let in_flight = match aim {
        Aim::Start if IN_FLIGHT as usize * inner_loop.statements.len() > LITTLE => IN_FLIGHT / 2,
        Aim::Start | Aim::Speed => IN_FLIGHT,
    };
    let in_flight = in_flight * target.vector_bytes() as u32 / widest;
    let lanes = block(inner_loop).unwrap_or(in_flight.min(TOGETHER));
    // A vector without admitted lanes skips the loop.
    let ways = [Admit::Branch, Admit::Compact];
    let schedule = admitting(region, inner_loop, ways, lanes, Schedule::new())?;
    let vectorise = Decision::Vectorise { lanes, unroll: 1 };
    with(region, &schedule, inner_loop.rate, vectorise)
}
