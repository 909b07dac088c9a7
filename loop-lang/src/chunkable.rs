//! Chunkability: which loops may run in chunks out of order.
//!
//! A chunk is summed up from identities and emitted from its prefix, so chunks may run in any
//! order. This requires three properties of a loop:
//!
//! * Every carried group has an operator that combines chunks, and may be reassociated.
//! * Positions in streams follow from counters. (A cursor's position depends on all earlier
//!   elements.)
//! * It reads no array that it writes, and writes no element twice, since the later write would
//!   win. Scratch arrays are exempt: each thread has its own, and [where chunks
//!   begin](begins_with_root) their content is dead.
//!
//! [`roles`] lists the groups that a chunk must know before it runs. [`ChunkPlan`] describes how
//! groups combine between chunks.
//!
//! Writes at an advancing counter are unique. Several writes to one array are assumed to have
//! different elements, like the parts of an `append`: lowering guarantees that.

mod growing;
pub(crate) mod origins;
mod placing;
mod plan;
mod roles;
mod scratch;
mod sums;
mod survey;
mod writes;

pub use growing::{Growing, growing};
pub use placing::placing_groups;
pub use plan::{AtChunkEnd, ChunkPlan};
pub use roles::{Appended, Role, appended, kept_from_groups, raise_levels, roles};
pub use scratch::begins_with_root;
pub use sums::arrays_of_sums;
pub use survey::{InnerCount, SegmentLengths, Survey, survey};

use crate::ir::{Atom, Comb, CombId, GroupId, Loop, Order, Place, RateKind, Stmt, StmtKind, Var};
use crate::op::Op;
use crate::walk;
use origins::Origins;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;

/// Describes why the chunks of a loop must run in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Why {
    /// The responsible combinator.
    pub comb: CombId,
    /// The name of the user's function: `scan_seq`, `merge`.
    pub kind: String,
    /// The obstacle.
    pub reason: Reason,
}

/// Lists the obstacles to reordering chunks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// A carried group without a combine operator, or with a guarantee of left-to-right order.
    Sequential,
    /// A stream that is advanced on demand.
    Cursor,
    /// A scatter that combines values with old elements.
    Scatter,
    /// An array that the loop both writes and reads.
    Reread,
    /// Writes at indices that may repeat.
    Writes,
    /// A carried value between root iterations, in a loop with passes that share a segment's
    /// elements.
    Across,
}

impl Why {
    /// Suggests a change of the program that makes chunks independent.
    pub fn help(&self) -> &'static str {
        match self.reason {
            Reason::Sequential => "use `fold`, `scan` or `aggregate` with an associative operator",
            Reason::Cursor => "force the inputs first: arrays in memory are read by index",
            Reason::Scatter => "sort by key and fold the segments",
            Reason::Reread => "force the array first, and read it from memory",
            Reason::Writes => "use `gather` in the place of a write by index",
            Reason::Across => "force the carried value first",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.reason {
            Reason::Sequential => "carries a value that no operator combines",
            Reason::Cursor => "advances a stream on demand",
            Reason::Scatter => "combines values with elements in their order",
            Reason::Reread => "reads an array that the same loop writes",
            Reason::Writes => "writes at indices that may repeat",
            Reason::Across => "carries a value between segments that several passes go through",
        };
        write!(f, "`{}` {why}", self.kind)
    }
}

/// Checks whether the chunks of a loop may run in any order.
///
/// ```
/// let text = "loop last
/// comb 0 manifest at r0
/// comb 1 scan_seq at r0
/// param xs_0: [i64] stream r0
/// rate r0 root ix_0 < len_0 { stage 0 }
/// group acc_1 owner r0 step r0 start 0i64 next elt_0 level 0 sequential
/// init_0, init_1:
///   let len_0 = arrayLength xs_0
///   carry ix_0 = 0
///   carry acc_1 = 0i64
/// guard_0:
///   let more_0 = lt ix_0 len_0
///   unless more_0
/// body_0, body_1:
///   let elt_0 = readArray xs_0 ix_0
///   acc_1 := elt_0 @1
/// bottom_0:
///   let nix_0 = add ix_0 1
///   ix_0 := nix_0
/// done_0, done_1:
///   return acc_1
/// ";
/// let mut program = loop_lang::parse::parse(text).unwrap();
/// loop_lang::gotos::complete_blocks(&mut program);
/// loop_lang::gotos::derive_gotos(&mut program);
/// let why = loop_lang::chunkable::chunkable(&program).unwrap_err();
/// assert_eq!(why.to_string(), "`scan_seq` carries a value that no operator combines");
/// ```
pub fn chunkable(program: &Loop) -> Result<(), Why> {
    check(&Origins::of(program), &FxHashMap::default())
}

/// Checks whether chunks with arrays of their own may run in any order.
///
/// [`arrays_of_sums`] lists the arrays. Chunks behind a trap or an early exit must not have added to
/// them.
pub fn chunkable_apart(program: &Loop) -> Result<(), Why> {
    let origins = Origins::of(program);
    let sums = origins.arrays_of_sums();
    check(&origins, &sums)
}

fn check(origins: &Origins<'_>, sums: &FxHashMap<Var, Op>) -> Result<(), Why> {
    let program = origins.program;
    let why = |comb: CombId, reason| Why {
        comb,
        kind: program
            .combs
            .get(comb.index())
            .map_or_else(String::new, |c| c.kind.clone()),
        reason,
    };
    for (i, rate) in program.rates.iter().enumerate() {
        if let RateKind::Cursor { .. } = rate.kind {
            let here = |c: &Comb| c.slot.is_some_and(|h| h.rate.index() == i);
            let comb = program.combs.iter().rposition(here).unwrap_or(0);
            return Err(why(CombId::new(comb), Reason::Cursor));
        }
    }
    for (i, group) in program.groups.iter().enumerate() {
        if group.combine.is_none() || group.order == Order::Sequential {
            return Err(why(origins.updater(GroupId::new(i)), Reason::Sequential));
        }
    }
    let early = origins.early();
    for (place, block) in &origins.blocks {
        for stmt in &block.stmts {
            let adds = |a: &Var| sums.contains_key(a);
            let apart = matches!(&stmt.kind, StmtKind::ScatterArray { arrays, .. } if arrays.iter().all(adds));
            let reason = origins.in_order(*place, stmt, &early);
            if let Some(reason) = reason.filter(|_| !apart) {
                return Err(why(stmt.comb, reason));
            }
        }
    }
    if let Some(comb) = origins.in_pieces() {
        return Err(why(comb, Reason::Reread));
    }
    match origins.across() {
        Some(group) => Err(why(origins.updater(group), Reason::Across)),
        None => Ok(()),
    }
}

impl Origins<'_> {
    /// Returns the reason why a statement's chunks must run in order, if there is one. `early`
    /// lists the places before the guard at which chunks would begin.
    fn in_order(&self, place: Place, stmt: &Stmt, early: &FxHashSet<Place>) -> Option<Reason> {
        let Place::At { rate, .. } = place else {
            return None;
        };
        let made = |v: &Var| self.made.contains(v) && !self.scratch.contains(v);
        match &stmt.kind {
            StmtKind::ScatterArray { arrays, index, .. } => {
                let apart = |a: &Var| made(a) && self.is_written_once(*a);
                let is_apart = self.is_shifted(*index, rate) && arrays.iter().all(apart);
                (!is_apart).then_some(Reason::Scatter)
            }
            StmtKind::WriteArray(a, ..) if self.scratch.contains(a) => {
                early.contains(&place).then_some(Reason::Reread)
            }
            StmtKind::SortArrays(arrays, _) if arrays.iter().all(|a| self.scratch.contains(a)) => {
                early.contains(&place).then_some(Reason::Reread)
            }
            StmtKind::WriteArray(a, i, _) => {
                (!made(a) || !self.moves_on(*i, rate)).then_some(Reason::Writes)
            }
            StmtKind::NewArray(..) | StmtKind::FillArray(..) | StmtKind::CopyArray(..) => {
                Some(Reason::Reread)
            }
            StmtKind::ArrayLength(..) => None,
            _ => {
                let mut uses = false;
                let mut used = |a: Atom| uses |= a.var().is_some_and(|v| made(&v));
                walk::summary(stmt, &mut used, &mut |_| {});
                uses.then_some(Reason::Reread)
            }
        }
    }
}
