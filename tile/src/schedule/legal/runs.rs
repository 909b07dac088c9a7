//! Whether runs may be taken side by side.

use super::{MAX_DEPTH, depth};
use crate::lower::ACROSS;
use crate::region::{Region, Statement, Sweep};
use crate::schedule::{Decision, MAX_RUNS, Schedule};
use loop_lang::ir::{RateId, RateKind, StmtKind};

/// Turns in a run, at most: those of one are followed one by one.
const MAX_STEPS: u32 = 256;

/// Whether so many runs of a sweep may be taken side by side: within a run each step waits for the one before, but runs only
/// for each other's end.
pub(super) fn side_by_side(
    region: &Region,
    schedule: &Schedule,
    sweep: &Sweep,
    lanes: u32,
) -> Result<(), &'static str> {
    if !lanes.is_power_of_two() || !(2..=MAX_RUNS).contains(&lanes) {
        return Err("runs side by side are a power of two, from 2 to 16");
    }
    if !matches!(region.program.rate(sweep.rate).kind, RateKind::Root { .. }) {
        return Err("runs side by side are those of a root");
    }
    let beside = |(rate, d): &(RateId, Decision)| *rate == sweep.rate && is_beside(d);
    if schedule.decisions().iter().any(beside) {
        return Err("beside runs side by side nothing else is decided");
    }
    if !sweep.exits.is_empty() {
        return Err("its guard has exits, which must be asked step by step");
    }
    if !sweep.is_plain() {
        return Err("it has sub rates, and runs are of steps that are all the same");
    }
    let Some(run) = sweep.run(region.program) else {
        return Err("it carries what does not go in runs, all of them of as many steps");
    };
    if !(ACROSS..=MAX_STEPS).contains(&run) {
        return Err("a run that is taken beside others has from 8 to 256 steps");
    }
    if !sweep.statements.iter().all(only_folds) {
        return Err("it does more than read, compute and fold");
    }
    let mut all = sweep.statements.iter();
    match all.any(|s| s.top && depth(s.stmt) > MAX_DEPTH) {
        true => Err("its arms are nested too deep"),
        false => Ok(()),
    }
}

/// Whether a decision is one for a sweep that has its runs side by side, and so not another way to take its steps.
fn is_beside(d: &Decision) -> bool {
    match d {
        // A root with segments in its steps is no sweep, and a device has no vectors.
        Decision::Runs(_) | Decision::Jam(_) | Decision::Threads(_) | Decision::Teams(_) => false,
        Decision::Vectorise { .. }
        | Decision::Stream(_)
        | Decision::Split
        | Decision::Distribute { .. }
        | Decision::Buffer(_)
        | Decision::Admit(_)
        | Decision::Quick
        | Decision::Ask => true,
    }
}

/// Whether a statement has no other effect than on what is folded.
fn only_folds(s: &Statement) -> bool {
    matches!(
        s.stmt.kind,
        StmtKind::Let(..)
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::ReadArray(..)
            | StmtKind::ArrayLength(..)
            | StmtKind::Assign(..)
            | StmtKind::Trap { .. }
    )
}
