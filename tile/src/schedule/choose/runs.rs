//! Runs side by side, one per lane.

use super::vectors::{in_vectors, widths};
use super::{Aim, with};
use crate::region::cost::is_cheap;
use crate::region::{InnerLoop, Region, Statement};
use crate::schedule::{Decision, Schedule};
use crate::target::{Arch, Extension, Target};
use loop_lang::ir::StmtKind;

/// The maximum number of loop-carried variables for runs side by side. With this many, some of them
/// spilled, they were still twice as fast as sequential runs.
const MAX_FOLDED: usize = 16;

/// Schedules runs side by side, in vectors sized for the widest element. The result is none if that
/// is illegal or unprofitable: a vector of narrow elements has more lanes than there are runs.
/// Operations without vectors run lane by lane. That is affordable, because a run's steps are a
/// dependence chain. For a short compile time it takes too long to compile.
pub(super) fn runs_side_by_side(
    region: &Region,
    inner_loop: &InnerLoop,
    target: &Target,
    aim: Aim,
) -> Option<Schedule> {
    inner_loop.run(region.program)?;
    let (_, widest) = widths(region, inner_loop)?;
    let groups = inner_loop.groups.iter();
    let folded = groups.map(|g| region.program.groups[g.index()].vars.len());
    let fits = |s: &Statement| match &s.stmt.kind {
        StmtKind::While { .. } => false,
        _ if in_vectors(region, inner_loop, s.stmt, (target, aim)) => true,
        _ => aim == Aim::Speed && is_cheap(region.program, s.stmt),
    };
    // Without vector comparisons, pairs of 64-bit words are slower than scalars.
    let compares = target.arch() != Arch::X86_64 || target.has(Extension::Sse42);
    if !target.has_vectors()
        || widest < 4
        || widest == 8 && !compares
        || folded.sum::<usize>() > MAX_FOLDED
        || !inner_loop.statements.iter().all(fits)
    {
        return None;
    }
    let runs = Decision::Runs(target.vector_bytes() as u32 / widest);
    with(region, &Schedule::new(), inner_loop.rate, runs)
}
