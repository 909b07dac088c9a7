//! Which schedule a loop gets: ideas, each with the condition under which it is thought to be the faster. What the judge
//! refuses is not taken.
//!
//! | module | has |
//! | --- | --- |
//! | `start` | vectors for code that is to start soon |
//! | `speed` | vectors for code that is to run fast |
//! | `runs` | runs side by side, whatever code is for |
//! | `vectors` | what vectors do well, and what keeps a sweep from them |

mod runs;
mod speed;
mod start;
mod vectors;

use super::legal::allows;
use super::{Admit, Decision, MAX_UNROLL, Schedule};
use crate::region::cost::{is_cheap, waits};
use crate::region::zip::Zip;
use crate::region::{Aside, Nest, Region, Role, Step, Sweep};
use crate::target::Target;
use crate::threads::phases::Phases;
use crate::threads::shape::Refusal;
use loop_lang::Loop;
use loop_lang::ir::{Atom, RateId, RateKind, StmtKind, Var};
use runs::runs_side_by_side;
use speed::{many_side_by_side, segments_side_by_side};
use start::{LITTLE, block_by_block, side_by_side};
use vectors::{block, in_vectors, turns, widest_of_turns, widths};

/// Bytes that a loop reads and writes in step from which on its results go past the caches: there is no room for them all, and
/// to write them there each line would be read before. Below, whoever reads them next may find them.
const LARGE: u64 = 4 << 20;

/// Cycles that a piece of a body waits for one thing after the other: it has as many operations that are ready in the
/// elements of which a processor thinks at a time.
const WAIT: u32 = 32;

/// What there is to do in a piece at most.
const WORK: u32 = 128;

/// Elements in a buffer between pieces.
const BUFFER: u32 = 256;

/// Elements in a buffer behind a cursor: as many as fit.
const BUFFERED: [u32; 3] = [1024, 512, 256];

/// Steps of a root that have one segment together: as many doubles as a line of the cache has.
const JAMMED: u32 = 8;

/// More statements than this cost more than a branch.
const MAX_MASKED: usize = 24;

/// Steps in a turn that takes one after the other, and what a turn has of statements at most.
const STEPS: u32 = 8;
const MAX_IN_TURNS: usize = 512;

/// Vectors of elements that a scalar loop takes side by side: one waits for its own last turn.
const IN_FLIGHT: u32 = 4;

/// Elements that it takes side by side at most: all wait for the one that turns longest.
const TOGETHER: u32 = 32;

/// What code is made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aim {
    /// To run soon: what takes longer to compile has to win much.
    Start,
    /// To run fast, however long that takes to compile.
    Speed,
}

/// The schedule of a loop on a machine: step by step, or in vectors where there are some, and that is legal and thought to
/// be faster.
pub fn choose(region: &Region, target: &Target, aim: Aim) -> Schedule {
    let mut schedule = Schedule::new();
    for sweep in region.sweeps() {
        let runs = runs_side_by_side(region, sweep, target, aim);
        let chosen = runs.unwrap_or_else(|| of_sweep(region, sweep, target, aim));
        schedule = schedule.and(&chosen);
        if aim == Aim::Speed {
            schedule = past_the_caches(region, sweep, &schedule).unwrap_or(schedule);
        }
    }
    for nest in region.nests().iter().filter(|_| aim == Aim::Speed) {
        schedule = jammed(region, nest, &schedule).unwrap_or(schedule);
    }
    for zip in &region.zips().all {
        schedule = through_buffers(region, zip, &schedule, (target, aim)).unwrap_or(schedule);
    }
    schedule
}

/// How a loop's iterations are dealt out to a device's threads, as is thought to be the fastest.
///
/// Errors: why it cannot run in parallel on a device.
pub fn choose_threads(program: &Loop) -> Result<Schedule, Refusal> {
    let mut schedule = Schedule::new();
    for shape in Phases::of(program).shapes()? {
        schedule = schedule.with_threads(shape.root, shape.dealt());
    }
    Ok(schedule)
}

/// The schedule of a sweep, or of a part of a zip, whose runs are not side by side.
fn of_sweep(region: &Region, sweep: &Sweep, target: &Target, aim: Aim) -> Schedule {
    let split = split(region, sweep, aim).unwrap_or_default();
    let wide = match aim {
        _ if turns(sweep) => turns_side_by_side(region, sweep, target, aim),
        Aim::Start => block_by_block(region, sweep, target, &split)
            .or_else(|| side_by_side(region, sweep, target, &split)),
        Aim::Speed => many_side_by_side(region, sweep, target, &split)
            .or_else(|| segments_side_by_side(region, sweep, target)),
    };
    let schedule = wide.unwrap_or_else(|| match aim {
        // An exit may ask how many were admitted: branches foresee that, and nothing waits for it.
        Aim::Start if !sweep.exits.is_empty() => split,
        Aim::Start => step_by_step(region, sweep, split),
        Aim::Speed => in_turns(region, sweep, target, step_by_step(region, sweep, split)),
    });
    let pieces = match aim {
        // Few steps are taken one by one then: the rest of vectors.
        Aim::Start if schedule.vectors(sweep.rate).0 == 1 => None,
        Aim::Start | Aim::Speed => in_pieces(region, sweep, &schedule, (target, aim)),
    };
    pieces.unwrap_or(schedule)
}

/// Steps of a root with one segment together, where rows are joined onto one row, change one, or are read across rows. Those that read so have two
/// lines of the cache together, which machines bring at once; those with lanes of their own are few.
fn jammed(region: &Region, nest: &Nest, schedule: &Schedule) -> Option<Schedule> {
    let inner = nest.inner.first().and_then(|rate| region.sweep(*rate))?;
    let is_uniform = matches!(
        region.program.rate(inner.rate).kind,
        RateKind::Nested { uniform: true, .. }
    );
    let across = inner.reads_aside(|_| false) == Aside::Anywhere;
    let mut roles = inner.roles.values();
    let has_lanes = roles.any(|role| matches!(role, Role::Lanes(_)));
    let onto_one = !inner.joined.is_empty() || inner.changes_what_it_reads();
    let steps = match (across, onto_one, has_lanes) {
        _ if !is_uniform || schedule.splits(inner.rate) => return None,
        (false, false, _) => return None,
        (_, _, true) => JAMMED / 2,
        (false, true, false) => JAMMED,
        (true, _, false) => 2 * JAMMED,
    };
    with(region, schedule, nest.outer.rate, Decision::Jam(steps))
}

/// Cursors through buffers: from element to element there is a branch that is as good as random.
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
        schedule = schedule.and(&of_sweep(&part.region, part.sweep()?, target, aim));
    }
    Some(schedule)
}

/// From how many steps on a sweep's results are large.
pub fn large(region: &Region, sweep: &Sweep) -> u64 {
    let size = |a: &Var| region.program.ty(*a).elem().size() as u64;
    let bytes: u64 = sweep.arrays.iter().map(size).sum();
    LARGE / bytes.max(1)
}

/// Bodies in which more waits for each other than a processor looks ahead are cut in pieces, those of which compilers would
/// make a long function, and those whose lanes find no room in registers. Around one thing that takes as long as the rest, as a
/// lone exponential, cuts are of no use.
fn in_pieces(
    region: &Region,
    sweep: &Sweep,
    schedule: &Schedule,
    (target, aim): (&Target, Aim),
) -> Option<Schedule> {
    let (lanes, unroll) = schedule.vectors(sweep.rate);
    let whole = sweep.cost();
    let most = match aim {
        Aim::Start => WORK,
        Aim::Speed => with_lanes_in_registers(region, sweep, target, (lanes, unroll)),
    };
    let mut alone = sweep.all_tops().map(|s| s.cost.wait);
    let waits = waits(whole, 2) && alone.all(|one| 2 * one <= whole.wait);
    if turns(sweep) || !waits && whole.work <= 2 * u64::from(most) {
        return None;
    }
    let pieces = Decision::Distribute {
        wait: WAIT,
        work: most,
        steps: BUFFER.max(lanes * unroll),
    };
    with(region, schedule, sweep.rate, pieces)
}

/// What there is to do in a piece at most, so that its part of the lanes finds room in three quarters of the registers; if
/// there is room for those of two folds.
fn with_lanes_in_registers(
    region: &Region,
    sweep: &Sweep,
    target: &Target,
    (lanes, unroll): (u32, u32),
) -> u32 {
    let vectors = sweep.roles.iter().map(|(v, role)| match *role {
        Role::Lanes(of) if lanes > 1 && of <= lanes * unroll => {
            of as usize * region.program.ty(*v).elem().size() / target.vector_bytes().max(1)
        }
        _ => 0,
    });
    let (all, most) = vectors.fold((0, 0), |(all, most), n| (all + n, n.max(most)));
    let room = target.registers() * 3 / 4;
    match all > room && 2 * most <= room {
        true => (sweep.cost().work * room as u64 / all as u64).clamp(1, WORK.into()) as u32,
        false => WORK,
    }
}

/// Large results past the caches, if that is legal. What a filter keeps goes through them beside it, and what turns for long
/// does not wait for memory.
fn past_the_caches(region: &Region, sweep: &Sweep, schedule: &Schedule) -> Option<Schedule> {
    let stream = Decision::Stream(large(region, sweep));
    let streams =
        (sweep.is_plain() && !turns(sweep)).then(|| with(region, schedule, sweep.rate, stream));
    streams.flatten()
}

/// A sweep range by range, if that is legal. Rows are left to the loop around them, unless they ask something; segments are,
/// since they may be short. Each case is code of its own, which takes long to compile if there are several.
fn split(region: &Region, sweep: &Sweep, aim: Aim) -> Option<Schedule> {
    let asks = || region.cases(sweep).ask();
    let fits = match region.program.rate(sweep.rate).kind {
        RateKind::Root { .. } if aim == Aim::Start => {
            sweep.accesses.iter().any(|a| !a.is_proven) && !asks()
        }
        RateKind::Root { .. } => true,
        RateKind::Nested { .. } if aim == Aim::Start => false,
        RateKind::Nested { uniform, .. } => {
            let middle = || region.middle_of_row(sweep);
            uniform && sweep.groups.is_empty() && middle().is_some_and(|case| case.asks())
        }
        RateKind::Sub { .. } | RateKind::Cursor { .. } => false,
    };
    let schedule = Schedule::new();
    fits.then(|| with(region, &schedule, sweep.rate, Decision::Split))?
}

/// The sub rates of a sweep, by the steps that enter them.
fn subs(region: &Region, sweep: &Sweep) -> Vec<(usize, RateId)> {
    let steps = sweep.steps.iter().enumerate();
    let entered = steps.filter_map(|(k, step)| match step {
        Step::Enter(i) => Some((k, region.rate_of_block(*i)?)),
        _ => None,
    });
    entered.collect()
}

/// What is packed side by side needs no second look; what updates alone is kept back by a mask.
const SIDE_BY_SIDE: [Admit; 2] = [Admit::Compact, Admit::Mask];

/// The schedule in which each sub rate of a sweep in vectors of so many lanes admits in the first of these ways that is legal;
/// none if one has none.
fn admitting(
    region: &Region,
    sweep: &Sweep,
    ways: [Admit; 2],
    lanes: u32,
    mut schedule: Schedule,
) -> Option<Schedule> {
    let vectors = Decision::Vectorise { lanes, unroll: 1 };
    for (_, rate) in subs(region, sweep) {
        let around = schedule.clone().with(sweep.rate, vectors);
        let is_legal = |how: &Admit| allows(region, &around, rate, Decision::Admit(*how)).is_ok();
        let how = ways.into_iter().find(is_legal)?;
        schedule = schedule.with(rate, Decision::Admit(how));
    }
    Some(schedule)
}

/// The schedule with a decision more, if that is legal.
fn with(
    region: &Region,
    schedule: &Schedule,
    rate: RateId,
    decision: Decision,
) -> Option<Schedule> {
    let is_legal = allows(region, schedule, rate, decision).is_ok();
    is_legal.then(|| schedule.clone().with(rate, decision))
}

/// Step by step. What is rejected is computed too where that costs less than a mispredicted branch: which elements pass
/// is often as good as random.
fn step_by_step(region: &Region, sweep: &Sweep, mut schedule: Schedule) -> Schedule {
    for (step, rate) in subs(region, sweep) {
        if needs_no_branch(region, sweep, step)
            && let Some(more) = with(region, &schedule, rate, Decision::Admit(Admit::Compact))
        {
            schedule = more;
        }
    }
    schedule
}

/// Several steps in a turn, if there are lanes or blocks of a scan: which of them a step has is then known before. Where a
/// target has no vectors that we know of, a turn takes all lanes, and compilers make of it what they can.
fn in_turns(region: &Region, sweep: &Sweep, target: &Target, schedule: Schedule) -> Schedule {
    let most = match target.has_vectors() || !sweep.exits.is_empty() {
        true => STEPS,
        false => MAX_UNROLL,
    };
    let lanes = sweep.roles.values().filter_map(|role| match role {
        Role::Lanes(of) => Some((*of).min(most)),
        _ => None,
    });
    let mut nests = region.nests().iter();
    let alone = !nests.any(|n| n.outer.rate == sweep.rate || n.inner.contains(&sweep.rate));
    let little = |unroll: &u32| *unroll as usize * sweep.statements.len() <= MAX_IN_TURNS;
    let unroll = block(sweep).or_else(|| lanes.max()).filter(little);
    let more = unroll.filter(|_| alone).and_then(|unroll| {
        let turn = Decision::Vectorise { lanes: 1, unroll };
        with(region, &schedule, sweep.rate, turn)
    });
    more.unwrap_or(schedule)
}

/// Whether a sub rate only computes cheaply, updates, and writes at its own count.
fn needs_no_branch(region: &Region, sweep: &Sweep, enter: usize) -> bool {
    let inside: Vec<_> = (sweep.all_tops())
        .filter(|s| s.sub == Some(enter) && s.step != enter)
        .collect();
    let steps = sweep.steps.iter().skip(enter + 1);
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

/// Scalar loops of several elements side by side, each under a mask of the elements that go on; none if that is not legal,
/// or if they do what vectors do one lane after the other.
fn turns_side_by_side(
    region: &Region,
    sweep: &Sweep,
    target: &Target,
    aim: Aim,
) -> Option<Schedule> {
    let root = matches!(region.program.rate(sweep.rate).kind, RateKind::Root { .. });
    let mut inside = sweep.statements.iter().filter(|s| !s.top);
    let fits = inside.all(|s| in_vectors(region, sweep, s.stmt, (target, aim)));
    if !target.has_vectors() || !root || !fits {
        return None;
    }
    let widest = widest_of_turns(region, sweep).or(widths(region, sweep).map(|w| w.1))?;
    // Each vector is code of its own.
    let in_flight = match aim {
        Aim::Start if IN_FLIGHT as usize * sweep.statements.len() > LITTLE => IN_FLIGHT / 2,
        Aim::Start | Aim::Speed => IN_FLIGHT,
    };
    let in_flight = in_flight * target.vector_bytes() as u32 / widest;
    let lanes = block(sweep).unwrap_or(in_flight.min(TOGETHER));
    // Who is rejected by all lanes has no turns.
    let ways = [Admit::Branch, Admit::Compact];
    let schedule = admitting(region, sweep, ways, lanes, Schedule::new())?;
    let vectorise = Decision::Vectorise { lanes, unroll: 1 };
    with(region, &schedule, sweep.rate, vectorise)
}
