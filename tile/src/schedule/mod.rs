//! Schedules: data that selects one of the execution orders a Loop permits.
//!
//! A schedule is a list of decisions, each for one rate. The default is scalar execution in the
//! Loop's order. Decisions for one rate do not exclude others for a rate inside it. One function,
//! [`legal`], decides whether they are legal. Any legal schedule gives bit-identical results.
//!
//! | module | contents |
//! | --- | --- |
//! | `choose` | chooses a loop's schedule |
//! | `legal` | checks that decisions keep the Loop's meaning, and names the rule that one breaks |
//! | `text` | text form |
//! | `writes` | finds stores that several steps may do contiguously |

mod choose;
mod legal;
mod text;
mod writes;

pub use choose::{Aim, choose, choose_threads};
pub use legal::{Refused, legal, legal_in};
pub(crate) use legal::{legal_below, streamed};
pub use text::{ScheduleError, Schedules};

use crate::region::zip::ZipPart;
use crate::region::{Extremum, InnerLoop, Region, Role};
use crate::threads::{Requested, Threads};
use loop_lang::ir::RateId;
use std::fmt;

/// Limits the lanes of a vector.
pub const MAX_LANES: u32 = 64;
/// Limits the vectors of one loop iteration.
pub const MAX_UNROLL: u32 = 32;

/// Limits the runs that execute side by side.
pub const MAX_RUNS: u32 = 16;

/// Limits the steps of an unroll-and-jam.
pub const MAX_UNROLL_JAM: u32 = 16;

/// Limits the results that bypass the caches.
///
/// The pending elements of each are on the stack.
pub const MAX_STREAMED: usize = 8;

/// Lists the decisions for one rate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Decision {
    /// For an innermost loop: vectors of `lanes` steps, `unroll` vectors per iteration. With one
    /// lane, `unroll` steps per iteration, one after the other.
    Vectorise {
        /// The lanes of each vector.
        lanes: u32,
        /// The vectors per iteration.
        unroll: u32,
    },
    /// For a root without inner loops: results stored at the counter bypass the caches, from this
    /// many steps on.
    Stream(u64),
    /// Loop partition. For an innermost root: each counter range on which comparisons keep their
    /// answers gets its own tile. For a nested innermost loop: the middle of each segment becomes a
    /// part of its own.
    Partition,
    /// Loop fission, for an innermost loop: each piece of the body runs over a whole range before
    /// the next piece. Values that cross pieces pass through buffers.
    Fission {
        /// The maximum latency of a piece's critical path, in cycles. A piece with enough other
        /// work may exceed it.
        wait: u32,
        /// The maximum work of a piece.
        work: u32,
        /// The maximum number of steps of a range, if values cross.
        steps: u32,
    },
    /// For a root whose cursors only produce elements: each cursor fills a buffer of this many
    /// elements. The consumer then runs over as many elements as all buffers have. Decisions for a
    /// cursor apply to its filling loop; decisions for the root apply to the consumer.
    Buffer(u32),
    /// For a subrate: how it admits steps.
    Admit(Admit),
    /// Fast min/max, for a vectorised innermost loop: extrema of floats use the machine's
    /// instruction. That is wrong for NaN and for zeros of either sign. Doubtful results are
    /// recomputed exactly.
    FastMinMax,
    /// For a vectorised innermost loop with exits: each iteration tests all of its vectors for an
    /// exit first.
    Ask,
    /// Unroll-and-jam, for a root with one segment per step: this many steps share a segment where
    /// they share work.
    UnrollJam(u32),
    /// For an innermost root that folds in runs: this many runs execute side by side, one per lane.
    /// Their results are combined in order.
    Runs(u32),
    /// For a root on a device: how iterations map to threads.
    Threads(Threads),
    /// For a root on a device, with an inner loop over rows of equal length that threads share: the
    /// minimum number of threads, over all teams, for a team per row.
    Teams(u64),
}

impl Decision {
    /// Tells whether both are the same kind of decision.
    ///
    /// A rate has at most one decision of a kind.
    pub fn is_like(&self, other: &Decision) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// Lists the ways in which a subrate admits steps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Admit {
    /// Rejected steps are skipped by a branch; a vector is skipped if all of its lanes are
    /// rejected.
    Branch,
    /// All steps are computed; rejected ones have no effect.
    Mask,
    /// Like a mask, but stores at a count write every element contiguously. A rejected element is
    /// overwritten by the next admitted one, or cut off in the end.
    Compact,
    /// For a subrate of vectors: the admitted steps of an iteration are packed into buffers. Their
    /// statements then run step by step.
    Pack,
}

impl Admit {
    /// Lists every way.
    pub const ALL: [Admit; 4] = [Admit::Branch, Admit::Mask, Admit::Compact, Admit::Pack];

    /// Returns its name in text.
    pub fn name(self) -> &'static str {
        match self {
            Admit::Branch => "branch",
            Admit::Mask => "mask",
            Admit::Compact => "compact",
            Admit::Pack => "pack",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Decision::Vectorise { lanes: 1, unroll } => write!(f, "unroll {unroll}"),
            Decision::Vectorise { lanes, unroll } => {
                write!(f, "vectorise {lanes} unroll {unroll}")
            }
            Decision::Stream(least) => write!(f, "stream {least}"),
            Decision::Partition => f.write_str("partition"),
            Decision::Fission { wait, work, steps } => {
                write!(f, "fission wait {wait} work {work} buffer {steps}")
            }
            Decision::Buffer(elements) => write!(f, "buffer {elements}"),
            Decision::Admit(how) => f.write_str(how.name()),
            Decision::FastMinMax => f.write_str("fastminmax"),
            Decision::Ask => f.write_str("ask"),
            Decision::UnrollJam(steps) => write!(f, "unrolljam {steps}"),
            Decision::Runs(lanes) => write!(f, "runs {lanes}"),
            Decision::Threads(Threads { who, block, each }) => {
                write!(f, "threads {who} block {block} each {each}")
            }
            Decision::Teams(from) => write!(f, "teams {from}"),
        }
    }
}

/// Holds the decisions for the rates of one loop.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Schedule {
    decisions: Vec<(RateId, Decision)>,
}

impl Schedule {
    /// Returns an empty schedule.
    pub fn new() -> Schedule {
        Schedule::default()
    }

    /// Adds a decision.
    pub fn with(mut self, rate: RateId, decision: Decision) -> Schedule {
        self.decisions.push((rate, decision));
        self
    }

    /// Adds all decisions of another schedule.
    pub fn and(mut self, other: &Schedule) -> Schedule {
        self.decisions.extend(&other.decisions);
        self
    }

    /// Returns all decisions, in order.
    pub fn decisions(&self) -> &[(RateId, Decision)] {
        &self.decisions
    }

    /// Returns the lanes per vector and the vectors per iteration.
    ///
    /// The default is one of each.
    pub fn vectors(&self, rate: RateId) -> (u32, u32) {
        let of = |(r, d): &(RateId, Decision)| match d {
            Decision::Vectorise { lanes, unroll } if *r == rate => Some((*lanes, *unroll)),
            _ => None,
        };
        self.decisions.iter().find_map(of).unwrap_or((1, 1))
    }

    /// Returns the number of runs of a root that execute side by side.
    pub fn runs(&self, rate: RateId) -> Option<u32> {
        let of = |(r, d): &(RateId, Decision)| match d {
            Decision::Runs(lanes) if *r == rate => Some(*lanes),
            _ => None,
        };
        self.decisions.iter().find_map(of)
    }

    /// Returns the number of a root's steps that share a segment.
    pub fn unroll_jam(&self, rate: RateId) -> Option<u32> {
        let of = |(r, d): &(RateId, Decision)| match d {
            Decision::UnrollJam(steps) if *r == rate => Some(*steps),
            _ => None,
        };
        self.decisions.iter().find_map(of)
    }

    /// Returns the extrema that an innermost loop computes by fast min/max.
    ///
    /// Only vectors that cover all lanes in one iteration qualify.
    pub fn fast_min_max(&self, region: &Region, inner_loop: &InnerLoop) -> Vec<Extremum> {
        if !self
            .decisions
            .contains(&(inner_loop.rate, Decision::FastMinMax))
        {
            return Vec::new();
        }
        self.may_use_fast_min_max(region, inner_loop)
    }

    /// Returns the extrema that may use fast min/max.
    fn may_use_fast_min_max(&self, region: &Region, inner_loop: &InnerLoop) -> Vec<Extremum> {
        let (lanes, unroll) = self.vectors(inner_loop.rate);
        // An exit position is lost when the range is recomputed.
        let mut extrema = match inner_loop.exits.is_empty() && !inner_loop.changes_what_it_reads() {
            true => region.extrema(inner_loop),
            false => Vec::new(),
        };
        extrema.retain(|e| match inner_loop.roles.get(&e.var) {
            Some(Role::Lanes(of)) => lanes > 1 && lanes * unroll >= *of,
            _ => false,
        });
        extrema
    }

    /// Adds a root's mapping to a device's threads.
    pub fn with_threads(mut self, root: RateId, dealt: Requested) -> Schedule {
        let threads = dealt.threads.map(Decision::Threads);
        let all = threads.into_iter().chain(dealt.teams.map(Decision::Teams));
        self.decisions.extend(all.map(|d| (root, d)));
        self
    }

    /// Returns a root's mapping to a device's threads, as far as it is decided.
    pub fn threads(&self, root: RateId) -> Requested {
        let mut requested = Requested::default();
        for (_, decision) in self.decisions.iter().filter(|(r, _)| *r == root) {
            match decision {
                Decision::Threads(threads) => requested.threads = Some(*threads),
                Decision::Teams(from) => requested.teams = Some(*from),
                _ => {}
            }
        }
        requested
    }

    /// Returns the minimum number of steps for results to bypass the caches.
    pub fn streams(&self, rate: RateId) -> Option<u64> {
        let of = |(r, d): &(RateId, Decision)| match d {
            Decision::Stream(least) if *r == rate => Some(*least),
            _ => None,
        };
        self.decisions.iter().find_map(of)
    }

    /// Tells whether an innermost loop's body is split by fission.
    pub fn has_fission(&self, rate: RateId) -> bool {
        let of = |(r, d): &(RateId, Decision)| *r == rate && matches!(d, Decision::Fission { .. });
        self.decisions.iter().any(of)
    }

    /// Returns the capacity of the buffers behind a root's cursors.
    pub fn buffers(&self, rate: RateId) -> Option<u32> {
        let of = |(r, d): &(RateId, Decision)| match d {
            Decision::Buffer(elements) if *r == rate => Some(*elements),
            _ => None,
        };
        self.decisions.iter().find_map(of)
    }

    /// Returns the decisions for the part of a zip.
    pub(crate) fn of_part(&self, part: &ZipPart) -> Schedule {
        let mut schedule = self.clone();
        let of = |d: &(RateId, Decision)| part.has(d.0) && !matches!(d.1, Decision::Buffer(_));
        schedule.decisions.retain(of);
        schedule
    }

    /// Returns the legal admission decisions for scalar execution.
    pub(crate) fn slowly(&self, region: &Region) -> Schedule {
        let mut schedule = Schedule::new();
        for (rate, decision) in &self.decisions {
            let admits = matches!(decision, Decision::Admit(_));
            if admits && legal::allows(region, &schedule, *rate, *decision).is_ok() {
                schedule = schedule.with(*rate, *decision);
            }
        }
        schedule
    }

    /// Tells whether one test per iteration covers the exits of all vectors.
    pub fn asks(&self, rate: RateId) -> bool {
        self.decisions.contains(&(rate, Decision::Ask))
    }

    /// Tells whether the loop is partitioned where comparisons change.
    pub fn partitions(&self, rate: RateId) -> bool {
        self.decisions.contains(&(rate, Decision::Partition))
    }

    /// Returns the schedule without vectors, parallel runs and fission for a rate.
    pub fn step_by_step(&self, rate: RateId) -> Schedule {
        let mut schedule = self.clone();
        let vectors = |d: &Decision| {
            matches!(
                d,
                Decision::Vectorise { .. }
                    | Decision::Runs(_)
                    | Decision::Fission { .. }
                    | Decision::Ask
            )
        };
        schedule
            .decisions
            .retain(|(r, d)| *r != rate || !vectors(d));
        schedule
    }

    /// Tells whether a subrate around a step packs its steps.
    pub(crate) fn is_packed(&self, region: &Region, inner_loop: &InnerLoop, step: usize) -> bool {
        let packs = |(_, d): &(RateId, Decision)| *d == Decision::Admit(Admit::Pack);
        let mut subs = inner_loop.subs_around(step);
        self.decisions.iter().any(packs)
            && subs.any(|enter| {
                let block = inner_loop.steps[enter].block();
                let rate = block.and_then(|i| region.rate_of_block(i));
                rate.is_some_and(|r| self.admits(r) == Admit::Pack)
            })
    }

    /// Tells whether a subrate of an innermost loop packs its steps.
    pub(crate) fn packs(&self, region: &Region, inner_loop: &InnerLoop) -> bool {
        (0..inner_loop.steps.len()).any(|k| self.is_packed(region, inner_loop, k))
    }

    /// Returns how a subrate admits steps.
    ///
    /// The default is a branch.
    pub fn admits(&self, rate: RateId) -> Admit {
        let of = |(r, d): &(RateId, Decision)| match d {
            Decision::Admit(how) if *r == rate => Some(*how),
            _ => None,
        };
        self.decisions.iter().find_map(of).unwrap_or(Admit::Branch)
    }
}
