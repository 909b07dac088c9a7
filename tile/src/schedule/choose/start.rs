//! Vectors for code that is to start soon: what takes longer to compile has to win much.

use super::vectors::{all_in_vectors, aside, block, goes_on, widths};
use super::{Aim, SIDE_BY_SIDE, admitting, with};
use crate::region::{Aside, Flags, Region, Role, Sweep};
use crate::schedule::{Decision, Schedule};
use crate::target::Target;
use loop_lang::ir::{Atom, Combine, RateKind, Stmt, StmtKind};

/// Code that is to start soon has no more statements of a turn than this, if the turn is more than one vector.
pub(super) const LITTLE: usize = 40;

/// Statements that are as much code as a write which packs, or a scan.
pub(super) const LONG: usize = 8;

/// Steps side by side, in vectors; none if that is not legal, or thought to be no faster.
pub(super) fn side_by_side(
    region: &Region,
    sweep: &Sweep,
    target: &Target,
    split: &Schedule,
) -> Option<Schedule> {
    let (narrowest, widest) = widths(region, sweep)?;
    // What is twice as wide is two vectors. What fills a part of one costs as much as what fills it.
    let lanes = target.vector_bytes() as u32 / narrowest;
    // Inner loops are often shorter than what it takes to begin with vectors.
    let root = matches!(region.program.rate(sweep.rate).kind, RateKind::Root { .. });
    if !target.has_vectors() || widest > 2 * narrowest || !root || goes_on(sweep, &Flags::default())
    {
        return None;
    }
    // What is read anywhere is read lane by lane, which takes longer to compile than it wins.
    let aside = aside(region, sweep, split);
    if aside != Aside::Nowhere || !all_in_vectors(region, sweep, (target, Aim::Start)) {
        return None;
    }
    vectors_of(region, sweep, lanes, split)
}

/// Scans a block at a time. What goes from step to step takes longer than what vectors do lane by lane for want of an
/// operator, or make wider and narrower.
pub(super) fn block_by_block(
    region: &Region,
    sweep: &Sweep,
    target: &Target,
    split: &Schedule,
) -> Option<Schedule> {
    let lanes = block(sweep).filter(|_| target.has_vectors())?;
    let program = region.program;
    let fits = |s: &Stmt| match &s.kind {
        StmtKind::While { .. } | StmtKind::ScatterArray { .. } => false,
        StmtKind::Scan { group, elems, .. } => {
            match (program.groups[group.index()].combine, elems.first()) {
                (Some(Combine::Op(op)), Some(x)) => {
                    let ty = program.atom_ty(*x);
                    op.vectorises(ty, ty)
                }
                _ => false,
            }
        }
        _ => true,
    };
    let root = matches!(region.program.rate(sweep.rate).kind, RateKind::Root { .. });
    match root && sweep.statements.iter().all(|s| fits(s.stmt)) {
        true => vectors_of(region, sweep, lanes, split),
        false => None,
    }
}

/// Vectors of so many lanes, if that is legal; what is rejected has no effect.
pub(super) fn vectors_of(
    region: &Region,
    sweep: &Sweep,
    lanes: u32,
    split: &Schedule,
) -> Option<Schedule> {
    let schedule = admitting(region, sweep, SIDE_BY_SIDE, lanes, split.clone())?;
    // Of little, what counts and tests is a large part. More takes longer to compile than it wins.
    let most = LITTLE / size(sweep).max(1);
    let fits = |unroll: &u32| *unroll == 1 || *unroll as usize <= most;
    [4, 2, 1].into_iter().filter(fits).find_map(|unroll| {
        let vectorise = Decision::Vectorise { lanes, unroll };
        with(region, &schedule, sweep.rate, vectorise)
    })
}

/// How much code a vector of a sweep is, in statements.
pub(super) fn size(sweep: &Sweep) -> usize {
    let writes = sweep.accesses.iter().filter(|a| !a.is_read);
    let packed = writes.filter(|a| a.index != Atom::Var(sweep.counter));
    let scans = sweep.roles.values().filter(|r| matches!(r, Role::Scan(_)));
    sweep.all_tops().count() + LONG * (packed.count() + scans.count())
}
