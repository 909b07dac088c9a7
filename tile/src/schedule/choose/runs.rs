//! Runs side by side.

use super::vectors::{in_vectors, widths};
use super::{Aim, with};
use crate::region::cost::is_cheap;
use crate::region::{Region, Statement, Sweep};
use crate::schedule::{Decision, Schedule};
use crate::target::{Arch, Extension, Target};
use loop_lang::ir::StmtKind;

/// No more variables than this go from step to step in runs side by side: with as many, of which some are in memory, they were
/// still twice as fast as one run after the other.
const MAX_FOLDED: usize = 16;

/// Runs side by side, in vectors as wide as the widest element wants; none if that is not legal, or thought to be no faster:
/// of narrow elements a vector has more than there are runs. What has no vectors is done lane by lane: within a run each step
/// waits for the one before, and so there is time for it. In code that is to start soon it takes too long to compile.
pub(super) fn runs_side_by_side(
    region: &Region,
    sweep: &Sweep,
    target: &Target,
    aim: Aim,
) -> Option<Schedule> {
    sweep.run(region.program)?;
    let (_, widest) = widths(region, sweep)?;
    let groups = sweep.groups.iter();
    let folded = groups.map(|g| region.program.groups[g.index()].vars.len());
    let fits = |s: &Statement| match &s.stmt.kind {
        StmtKind::While { .. } => false,
        _ if in_vectors(region, sweep, s.stmt, (target, aim)) => true,
        _ => aim == Aim::Speed && is_cheap(region.program, s.stmt),
    };
    // Pairs of words that are not even compared in vectors are slower than one word after the other.
    let compares = target.arch() != Arch::X86_64 || target.has(Extension::Sse42);
    if !target.has_vectors()
        || widest < 4
        || widest == 8 && !compares
        || folded.sum::<usize>() > MAX_FOLDED
        || !sweep.statements.iter().all(fits)
    {
        return None;
    }
    let runs = Decision::Runs(target.vector_bytes() as u32 / widest);
    with(region, &Schedule::new(), sweep.rate, runs)
}
