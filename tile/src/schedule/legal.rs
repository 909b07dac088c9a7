//! Legality: whether decisions keep the Loop's meaning.

mod runs;
mod vectors;

use super::writes::{in_step, near, packs};
use super::{Admit, Decision, MAX_STREAMED, MAX_UNROLL_JAM, Schedule};
use crate::region::zip::{Side, Zip, ZipParts};
use crate::region::{Access, InnerLoop, Region, Step};
use crate::threads::{self, shape::Refusal};
use loop_lang::ir::{RateId, RateKind, StmtKind, Var};
use std::borrow::Cow;
use std::fmt;

/// The maximum size of a zip's buffers in bytes: they are on the stack and should stay in the L1
/// cache.
const MAX_BUFFERED: u64 = 32 << 10;

/// Describes an illegal decision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// The name of its rate.
    pub rate: String,
    /// The decision.
    pub decision: Decision,
    /// The rule that it breaks.
    pub rule: Cow<'static, str>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.rate, self.decision, self.rule)
    }
}

impl std::error::Error for Refused {}

/// Checks that a schedule keeps a loop's meaning.
///
/// # Errors
///
/// Returns each illegal decision with the rule that it breaks.
pub fn legal(region: &Region, schedule: &Schedule) -> Result<(), Vec<Refused>> {
    judge(region, schedule, |_| true)
}

/// Checks the decisions for an innermost loop and its subrates.
///
/// # Errors
///
/// As for [`legal`].
pub fn legal_in(
    region: &Region,
    schedule: &Schedule,
    inner_loop: &InnerLoop,
) -> Result<(), Vec<Refused>> {
    let rates = region.program.rates.len();
    judge(region, schedule, |rate| {
        rate.index() < rates && region.program.loop_rate(rate) == inner_loop.rate
    })
}

/// Checks the decisions for a root and everything nested in it.
///
/// # Errors
///
/// As for [`legal`].
pub(crate) fn legal_below(
    region: &Region,
    schedule: &Schedule,
    root: RateId,
) -> Result<(), Vec<Refused>> {
    let rates = region.program.rates.len();
    judge(region, schedule, |rate| {
        rate.index() < rates && region.program.is_within(rate, root)
    })
}

/// Checks the decisions for some rates.
fn judge(
    region: &Region,
    schedule: &Schedule,
    judges: impl Fn(RateId) -> bool,
) -> Result<(), Vec<Refused>> {
    let mut refused = Vec::new();
    let all = schedule.decisions();
    let parts = parts(region, schedule);
    for (k, (rate, decision)) in all.iter().enumerate().filter(|(_, (r, _))| judges(*r)) {
        let again = |(r, d): &(RateId, Decision)| r == rate && d.is_like(decision);
        let answer = match all[..k].iter().any(again) {
            true => Err("it was decided before".into()),
            false => allows_in_parts(region, &parts, schedule, (*rate, *decision)),
        };
        if let Err(rule) = answer {
            let known = region.program.rates.get(rate.index());
            refused.push(Refused {
                rate: known.map_or_else(|| format!("{rate:?}"), |r| r.name.clone()),
                decision: *decision,
                rule,
            });
        }
    }
    match refused.is_empty() {
        true => Ok(()),
        false => Err(refused),
    }
}

/// Returns the zips that run through buffers.
fn parts<'r>(region: &'r Region, schedule: &Schedule) -> Vec<ZipParts<'r>> {
    let buffers = |(_, d): &(RateId, Decision)| matches!(d, Decision::Buffer(_));
    if !schedule.decisions().iter().any(buffers) {
        return Vec::new();
    }
    let zips = region.zips().all.iter();
    let zips = zips.filter(|z| schedule.buffers(z.rate).is_some());
    zips.filter_map(Zip::parts).collect()
}

/// Checks a decision against the loop, or against the part of a zip that has its rate.
fn allows_in_parts(
    region: &Region,
    parts: &[ZipParts],
    schedule: &Schedule,
    (rate, decision): (RateId, Decision),
) -> Result<(), Cow<'static, str>> {
    let part = parts.iter().find_map(|p| p.of(rate));
    match (part, decision) {
        (None, _) | (_, Decision::Buffer(_)) => allows(region, schedule, rate, decision),
        (_, Decision::Stream(_)) => {
            Err("what is behind buffers is written a part at a time".into())
        }
        (_, Decision::Runs(_)) => Err("what runs through buffers runs a part at a time".into()),
        (_, Decision::UnrollJam(_)) => {
            Err("what runs through buffers has no segments in its steps".into())
        }
        (Some(part), _) => allows(&part.region, schedule, rate, decision),
    }
}

/// Checks a decision in combination with a schedule.
///
/// # Errors
///
/// Returns the rule that it breaks.
pub(super) fn allows(
    region: &Region,
    schedule: &Schedule,
    rate: RateId,
    decision: Decision,
) -> Result<(), Cow<'static, str>> {
    if rate.index() >= region.program.rates.len() {
        return Err("the loop has no such rate".into());
    }
    let answer = match decision {
        Decision::Vectorise { lanes, unroll } => match region.inner_loop(rate) {
            Some(inner_loop) => {
                vectors::side_by_side(region, schedule, inner_loop, (lanes, unroll))
            }
            None => Err("the rate is no innermost loop"),
        },
        Decision::FastMinMax => match region.inner_loop(rate) {
            Some(inner_loop) => finds_again(region, schedule, inner_loop),
            None => Err("the rate is no innermost loop"),
        },
        Decision::Ask => match region.inner_loop(rate) {
            Some(inner_loop) => asks(schedule, inner_loop),
            None => Err("the rate is no innermost loop"),
        },
        Decision::Runs(lanes) => match region.inner_loop(rate) {
            Some(inner_loop) => runs::side_by_side(region, schedule, inner_loop, lanes),
            None => Err("the rate is no innermost loop"),
        },
        Decision::UnrollJam(steps) => unroll_jam(region, rate, steps),
        Decision::Threads(_) | Decision::Teams(_) => {
            let refused = |why: Refusal| Cow::Owned(why.to_string());
            return threads::allows(region.program, rate, schedule.threads(rate)).map_err(refused);
        }
        Decision::Stream(_) => match region.inner_loop(rate) {
            Some(inner_loop) => streams(region, schedule, inner_loop),
            None => Err("the rate is no innermost loop"),
        },
        Decision::Partition => match region.inner_loop(rate) {
            Some(inner_loop) => partitions(region, inner_loop),
            None => Err("the rate is no innermost loop"),
        },
        Decision::Fission { steps, .. } => match region.inner_loop(rate) {
            Some(inner_loop) => fission(region, schedule, inner_loop, steps),
            None => Err("the rate is no innermost loop"),
        },
        Decision::Buffer(elements) => {
            let mut zips = region.zips().all.iter();
            match zips.find(|z| z.rate == rate) {
                Some(zip) => buffers(schedule, zip, elements),
                None => Err("the rate is no root whose cursors do no more than deliver"),
            }
        }
        Decision::Admit(how) => match around(region, rate) {
            Some((inner_loop, step)) => admits(region, schedule, inner_loop, step, how),
            None => Err("the rate is no sub rate of an innermost loop that tests"),
        },
    };
    answer.map_err(Cow::Borrowed)
}

/// Checks whether unroll-and-jam applies to a rate. The steps still run separately if their
/// operations prevent it or share nothing.
fn unroll_jam(region: &Region, rate: RateId, steps: u32) -> Result<(), &'static str> {
    let mut nests = region.nests().iter();
    let nest = nests.find(|n| n.outer.rate == rate);
    match nest {
        Some(nest) if nest.inner.len() == 1 && region.program.roots.contains(&rate) => {
            match steps.is_power_of_two() && (2..=MAX_UNROLL_JAM).contains(&steps) {
                true => Ok(()),
                false => Err("2, 4, 8 or 16 steps have one segment together"),
            }
        }
        _ => Err("the rate is no root with one loop in its steps"),
    }
}

/// Checks whether a zip may run through buffers of this capacity.
fn buffers(schedule: &Schedule, zip: &Zip, elements: u32) -> Result<(), &'static str> {
    let turn = |side: &Side| {
        let (lanes, unroll) = schedule.vectors(side.cursor.rate);
        lanes.saturating_mul(unroll)
    };
    let fit = zip.sides.iter().all(|side| turn(side) <= elements);
    match elements.is_power_of_two()
        && fit
        && u64::from(elements) * zip.bytes().max(1) <= MAX_BUFFERED
    {
        true => Ok(()),
        false => {
            Err("buffers have a power of two of elements, those of a turn, and 32 KiB at most")
        }
    }
}

/// Checks whether fast min/max may recompute an innermost loop's extrema. Their lanes stay
/// unchanged in the frame, and elements have no other effect.
fn finds_again(
    region: &Region,
    schedule: &Schedule,
    inner_loop: &InnerLoop,
) -> Result<(), &'static str> {
    match schedule.may_use_fast_min_max(region, inner_loop).is_empty() {
        true => Err("it has no extrema of floats in vectors that it may find again"),
        false => Ok(()),
    }
}

/// Checks whether one exit test per iteration is possible. The test has no side effects, so an
/// iteration that exits starts over step by step.
fn asks(schedule: &Schedule, inner_loop: &InnerLoop) -> Result<(), &'static str> {
    let (lanes, unroll) = schedule.vectors(inner_loop.rate);
    match lanes > 1 && unroll > 1 && !inner_loop.exits.is_empty() {
        true => Ok(()),
        false => Err("it has no turns of several vectors that exits may end"),
    }
}

/// Checks whether an innermost loop's body may be split by fission.
fn fission(
    region: &Region,
    schedule: &Schedule,
    inner_loop: &InnerLoop,
    steps: u32,
) -> Result<(), &'static str> {
    let (lanes, unroll) = schedule.vectors(inner_loop.rate);
    if !steps.is_power_of_two() || steps > crate::ir::MAX_LANES || steps < lanes * unroll {
        return Err("a buffer has a power of two of elements, at most 256, and those of a turn");
    }
    if !inner_loop.exits.is_empty() {
        return Err("its guard has exits, which must be tested step by step");
    }
    if inner_loop.writes_what_it_reads() {
        return Err("a piece would read what another one has yet to write");
    }
    if schedule.packs(region, inner_loop) {
        return Err("packed steps are behind the vectors of their turn");
    }
    let mut nests = region.nests().iter();
    match nests.any(|n| n.outer.rate == inner_loop.rate || n.inner.contains(&inner_loop.rate)) {
        true => Err("it is in a step of another loop, or another in its own"),
        false => Ok(()),
    }
}

/// Checks whether an innermost loop may be partitioned.
fn partitions(region: &Region, inner_loop: &InnerLoop) -> Result<(), &'static str> {
    if !inner_loop.exits.is_empty() {
        return Err("its guard has exits, which must be tested step by step");
    }
    match region.cases(inner_loop).tell(inner_loop) {
        true => Ok(()),
        false => Err("nothing that it asks or accesses goes with its counter"),
    }
}

/// Checks whether results stored at the counter may bypass the caches.
fn streams(
    region: &Region,
    schedule: &Schedule,
    inner_loop: &InnerLoop,
) -> Result<(), &'static str> {
    if !matches!(
        region.program.rate(inner_loop.rate).kind,
        RateKind::Root { .. }
    ) {
        return Err("what is streamed is written by a root");
    }
    if !inner_loop.exits.is_empty() {
        return Err("its guard has exits, which must be tested step by step");
    }
    match streamed(region, schedule, inner_loop).is_empty() {
        true => Err("it writes no result in step that it does nothing else with"),
        false => Ok(()),
    }
}

/// Lists the arrays that bypass the caches. They are written only at the counter. In a partitioned
/// loop, the index may also be at a fixed distance from it.
pub(crate) fn streamed(region: &Region, schedule: &Schedule, inner_loop: &InnerLoop) -> Vec<Var> {
    let all = region.streamed(inner_loop).into_iter().map(|s| s.array);
    let written = |array: &Var| {
        let mut here = inner_loop.accesses.iter().filter(|a| a.array == *array);
        let partition =
            |index| schedule.partitions(inner_loop.rate) && near(region, inner_loop, *array, index);
        let proven = |a: &Access| a.is_proven || partition(a.index);
        let once = here.next().is_some_and(|a| !a.is_read && proven(a));
        once && here.next().is_none()
    };
    all.filter(written).take(MAX_STREAMED).collect()
}

/// Returns the innermost loop of a subrate, and the step that enters it.
fn around<'r, 'a>(region: &'r Region<'a>, rate: RateId) -> Option<(&'r InnerLoop<'a>, usize)> {
    let inner_loop = region.inner_loop(region.program.loop_rate(rate))?;
    let enters =
        |step: &Step| matches!(step, Step::Enter(i) if region.rate_of_block(*i) == Some(rate));
    Some((inner_loop, inner_loop.steps.iter().position(enters)?))
}

/// Checks whether a subrate may admit in the given way.
fn admits(
    region: &Region,
    schedule: &Schedule,
    inner_loop: &InnerLoop,
    step: usize,
    how: Admit,
) -> Result<(), &'static str> {
    let (lanes, _) = schedule.vectors(inner_loop.rate);
    if how == Admit::Pack {
        return region.packed(inner_loop, step).map(|_| ());
    }
    for s in inner_loop.statements.iter().filter(|s| s.sub == Some(step)) {
        match &s.stmt.kind {
            StmtKind::WriteArray(a, index, _)
                if how == Admit::Compact
                    && !in_step(region, inner_loop, *a, *index)
                    && !packs(region, inner_loop, (*a, *index), s.sub) =>
            {
                return Err("it writes elsewhere than at its count");
            }
            StmtKind::Scan { group, .. }
                if how != Admit::Branch
                    && (lanes == 1 || !vectors::is_recurrent(region, *group)) =>
            {
                return Err("it scans, which has no mask");
            }
            StmtKind::While { .. } if how != Admit::Branch && lanes == 1 => {
                return Err("it has a scalar loop, which may turn long for what is rejected");
            }
            _ => {}
        }
    }
    Ok(())
}
