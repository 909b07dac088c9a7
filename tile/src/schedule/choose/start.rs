//! Vectorisation when compile time matters.

use super::vectors::{all_in_vectors, aside, block, goes_on, widths};
use super::{Aim, SIDE_BY_SIDE, admitting, with};
use crate::region::delay::keeps_last;
use crate::region::{Aside, Flags, InnerLoop, Region, Role};
use crate::schedule::{Decision, Schedule};
use crate::target::Target;
use loop_lang::ir::{Atom, Combine, RateKind, Stmt, StmtKind};

/// The maximum number of statements of an iteration with more than one vector.
pub(super) const LITTLE: usize = 40;

/// The code size of a packing write or a scan, in statements.
pub(super) const LONG: usize = 8;

/// Vectorises steps. The result is none if that is illegal or unprofitable.
pub(super) fn side_by_side(
    region: &Region,
    inner_loop: &InnerLoop,
    target: &Target,
    partition: &Schedule,
) -> Option<Schedule> {
    let (narrowest, widest) = widths(region, inner_loop)?;
    // An element of twice the width takes two vectors. A partly filled vector costs as much as a
    // full one.
    let lanes = target.vector_bytes() as u32 / narrowest;
    // Inner loops are often too short to amortise the vector prologue.
    let root = matches!(
        region.program.rate(inner_loop.rate).kind,
        RateKind::Root { .. }
    );
    if !target.has_vectors()
        || widest > 2 * narrowest
        || !root
        || goes_on(inner_loop, &Flags::default())
    {
        return None;
    }
    // Arbitrary reads become lane-by-lane code, which costs more compile time than it gains.
    let aside = aside(region, inner_loop, partition);
    if aside != Aside::Nowhere || !all_in_vectors(region, inner_loop, (target, Aim::Start)) {
        return None;
    }
    vectors_of(region, inner_loop, lanes, partition)
}

/// Vectorises scans by blocks. Scalar recurrences cost more than lane-by-lane operations or width
/// conversions.
pub(super) fn block_by_block(
    region: &Region,
    inner_loop: &InnerLoop,
    target: &Target,
    partition: &Schedule,
) -> Option<Schedule> {
    let lanes = block(inner_loop).filter(|_| target.has_vectors())?;
    let program = region.program;
    let fits = |s: &Stmt| match &s.kind {
        StmtKind::While { .. } | StmtKind::ScatterArray { .. } => false,
        StmtKind::Scan { group, elems, .. } => {
            keeps_last(program, *group, elems)
                || match (program.groups[group.index()].combine, elems.first()) {
                    (Some(Combine::Op(op)), Some(x)) => {
                        let ty = program.atom_ty(*x);
                        op.vectorises(ty, ty)
                    }
                    _ => false,
                }
        }
        _ => true,
    };
    let root = matches!(
        region.program.rate(inner_loop.rate).kind,
        RateKind::Root { .. }
    );
    match root && inner_loop.statements.iter().all(|s| fits(s.stmt)) {
        true => vectors_of(region, inner_loop, lanes, partition),
        false => None,
    }
}

/// Vectorises with the given lanes, if legal; rejected steps have no effect.
pub(super) fn vectors_of(
    region: &Region,
    inner_loop: &InnerLoop,
    lanes: u32,
    partition: &Schedule,
) -> Option<Schedule> {
    let schedule = admitting(region, inner_loop, SIDE_BY_SIDE, lanes, partition.clone())?;
    // In a small body, counting and tests are a large part. Unrolling more costs more compile time
    // than it gains.
    let most = LITTLE / size(inner_loop).max(1);
    let fits = |unroll: &u32| *unroll == 1 || *unroll as usize <= most;
    [4, 2, 1].into_iter().filter(fits).find_map(|unroll| {
        let vectorise = Decision::Vectorise { lanes, unroll };
        with(region, &schedule, inner_loop.rate, vectorise)
    })
}

/// Returns the code size of one vector of steps, in statements.
pub(super) fn size(inner_loop: &InnerLoop) -> usize {
    let writes = inner_loop.accesses.iter().filter(|a| !a.is_read);
    let packed = writes.filter(|a| a.index != Atom::Var(inner_loop.counter));
    let scans = inner_loop
        .roles
        .values()
        .filter(|r| matches!(r, Role::Scan(_)));
    inner_loop.all_tops().count() + LONG * (packed.count() + scans.count())
}
