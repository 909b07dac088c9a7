//! Legality of runs side by side.

use super::vectors::{MAX_DEPTH, depth};
use crate::lower::ACROSS;
use crate::region::{InnerLoop, Region, Statement};
use crate::schedule::{Decision, MAX_RUNS, Schedule};
use loop_lang::ir::{RateId, RateKind, StmtKind};

/// The maximum number of iterations in a run: the iterations of one run are sequential.
const MAX_STEPS: u32 = 256;

/// Checks whether runs of an innermost loop may execute side by side. Steps within a run are a
/// dependence chain. Runs depend on each other only through the final combination of their results.
pub(super) fn side_by_side(
    region: &Region,
    schedule: &Schedule,
    inner_loop: &InnerLoop,
    lanes: u32,
) -> Result<(), &'static str> {
    if !lanes.is_power_of_two() || !(2..=MAX_RUNS).contains(&lanes) {
        return Err("runs side by side are a power of two, from 2 to 16");
    }
    if !matches!(
        region.program.rate(inner_loop.rate).kind,
        RateKind::Root { .. }
    ) {
        return Err("runs side by side are those of a root");
    }
    let beside = |(rate, d): &(RateId, Decision)| *rate == inner_loop.rate && is_beside(d);
    if schedule.decisions().iter().any(beside) {
        return Err("beside runs side by side nothing else is decided");
    }
    if !inner_loop.exits.is_empty() {
        return Err("its guard has exits, which must be tested step by step");
    }
    if !inner_loop.is_plain() {
        return Err("it has sub rates, and runs are of steps that are all the same");
    }
    let Some(run) = inner_loop.run(region.program) else {
        return Err("it carries what does not go in runs, all of them of as many steps");
    };
    if !(ACROSS..=MAX_STEPS).contains(&run) {
        return Err("a run that is taken beside others has from 8 to 256 steps");
    }
    if !inner_loop.statements.iter().all(only_folds) {
        return Err("it does more than read, compute and fold");
    }
    let mut all = inner_loop.statements.iter();
    match all.any(|s| s.top && depth(s.stmt) > MAX_DEPTH) {
        true => Err("its arms are nested too deep"),
        false => Ok(()),
    }
}

/// Tells whether a decision conflicts with runs side by side, as another way to execute the loop's
/// steps.
fn is_beside(d: &Decision) -> bool {
    match d {
        // A root with inner segments is no innermost loop, and a device has no vectors.
        Decision::Runs(_)
        | Decision::UnrollJam(_)
        | Decision::Rows(_)
        | Decision::Threads(_)
        | Decision::Teams(_) => false,
        Decision::Vectorise { .. }
        | Decision::Stream(_)
        | Decision::Partition
        | Decision::Fission { .. }
        | Decision::Buffer(_)
        | Decision::Admit(_)
        | Decision::FastMinMax
        | Decision::Ask => true,
    }
}

/// Tells whether a statement affects only the folded variables.
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
