//! Schedules: which of the orders that a Loop states its code realises, as data.
//!
//! A schedule is a list of decisions, each for one rate. What it does not decide is done step by step, as
//! the Loop says. Decisions for one rate do not exclude others for a rate inside it. Whether they are
//! [`legal`] is said in one place; any legal schedule gives the same bits.
//!
//! | module | room for |
//! | --- | --- |
//! | `choose` | which decisions a loop gets |
//! | `legal` | the judge: which decisions keep the Loop's meaning, and the rule that one breaks |
//! | `text` | the text form |
//! | `writes` | what may be written for several steps side by side |

mod choose;
mod legal;
mod text;
mod writes;

pub use choose::{Aim, choose, choose_threads, large};
pub use legal::{Refused, legal, legal_in};
pub(crate) use legal::{legal_below, streamed};
pub use text::{ScheduleError, Schedules};

use crate::region::zip::ZipPart;
use crate::region::{Extremum, Region, Role, Sweep};
use crate::threads::{Asked, Threads};
use loop_lang::ir::RateId;
use std::fmt;

/// More lanes than this are in no vector.
pub const MAX_LANES: u32 = 64;
/// More vectors than this are not taken in one turn.
pub const MAX_UNROLL: u32 = 32;

/// More runs than this are not taken side by side.
pub const MAX_RUNS: u32 = 16;

/// More steps than this have not one segment together.
pub const MAX_JAM: u32 = 16;

/// No more results of a sweep than this go past the caches: what is under way of each is on the stack.
pub const MAX_STREAMED: usize = 8;

/// What is decided for one rate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Decision {
    /// Of a sweep: so many steps are taken side by side, in vectors of as many lanes, and so many vectors in
    /// one turn. With one lane, so many steps one after the other in one turn.
    Vectorise {
        /// Lanes of each vector.
        lanes: u32,
        /// Vectors in a turn.
        unroll: u32,
    },
    /// Of a root that is a sweep: what it writes in step goes past the caches, if the root has at least so many steps.
    Stream(u64),
    /// Of a sweep: each range of its counter on which comparisons keep their answers is taken by a tile of its own; of one in a
    /// step of another loop: so is the middle of each segment, as a part of it.
    Split,
    /// Of a sweep: its body is cut in pieces, each of which is done for all steps of a range before the next begins. What one
    /// computes and another needs crosses in buffers.
    Distribute {
        /// How many cycles a piece waits at most for one thing after the other; more, if it has enough to do meanwhile.
        wait: u32,
        /// How much there is to do in a piece at most.
        work: u32,
        /// How many steps a range has at most, if anything crosses.
        steps: u32,
    },
    /// Of a root whose cursors only deliver: what each delivers is packed into a buffer of so many elements, and what is
    /// behind them runs over as many elements as all buffers have. What is decided for a cursor, or for the root, is decided
    /// for what packs, or for what is behind.
    Buffer(u32),
    /// Of a sub rate: how it admits.
    Admit(Admit),
    /// Of a sweep in vectors: the largest and smallest floats are found by the machine's instruction, which errs about NaN
    /// and about zeros of either sign. Where what was found leaves that in doubt, they are found again by the rules.
    Quick,
    /// Of a sweep in vectors that exits may end: all vectors of a turn are asked at its begin whether they go on.
    Ask,
    /// Of a root with a segment in each of its steps: so many steps at a time, with one segment for all of theirs, where these have
    /// something in common. (Compilers call it unroll and jam.)
    Jam(u32),
    /// Of a root that is a sweep and folds in runs: so many runs are taken side by side, each in a lane of its own, and what
    /// they come to is joined in order.
    Runs(u32),
    /// Of a root, where a device runs it: how its iterations are dealt out to threads.
    Threads(Threads),
    /// Of a root, where a device runs it, whose threads share what is nested, in rows that are equally long: a team has a row if all
    /// teams are at least so many threads.
    Teams(u64),
}

impl Decision {
    /// Whether it decides the same as another: a rate has one of a kind.
    pub fn is_like(&self, other: &Decision) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// How a sub rate admits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Admit {
    /// What is rejected is jumped over; of a vector, if all of it is rejected.
    Branch,
    /// All is computed, and what is rejected has no effect.
    Mask,
    /// As with a mask, but what is written at a count is written for all, side by side: an element that is rejected is
    /// overwritten by the next that is not, or cut off in the end.
    Compact,
}

impl Admit {
    /// Every way.
    pub const ALL: [Admit; 3] = [Admit::Branch, Admit::Mask, Admit::Compact];

    /// Its name in text.
    pub fn name(self) -> &'static str {
        match self {
            Admit::Branch => "branch",
            Admit::Mask => "mask",
            Admit::Compact => "compact",
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
            Decision::Split => f.write_str("split"),
            Decision::Distribute { wait, work, steps } => {
                write!(f, "distribute wait {wait} work {work} buffer {steps}")
            }
            Decision::Buffer(elements) => write!(f, "buffer {elements}"),
            Decision::Admit(how) => f.write_str(how.name()),
            Decision::Quick => f.write_str("quick"),
            Decision::Ask => f.write_str("ask"),
            Decision::Jam(steps) => write!(f, "jam {steps}"),
            Decision::Runs(lanes) => write!(f, "runs {lanes}"),
            Decision::Threads(Threads { who, block, each }) => {
                write!(f, "threads {who} block {block} each {each}")
            }
            Decision::Teams(from) => write!(f, "teams {from}"),
        }
    }
}

/// Decisions for the rates of one loop.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Schedule {
    decisions: Vec<(RateId, Decision)>,
}

impl Schedule {
    /// A schedule that decides nothing.
    pub fn new() -> Schedule {
        Schedule::default()
    }

    /// The schedule with one decision more.
    pub fn with(mut self, rate: RateId, decision: Decision) -> Schedule {
        self.decisions.push((rate, decision));
        self
    }

    /// The schedule with all decisions of another one.
    pub fn and(mut self, other: &Schedule) -> Schedule {
        self.decisions.extend(&other.decisions);
        self
    }

    /// All decisions, in order.
    pub fn decisions(&self) -> &[(RateId, Decision)] {
        &self.decisions
    }

    /// How many lanes a sweep's vectors have, and how many of these a turn takes; one of one where nothing is decided.
    pub fn vectors(&self, rate: RateId) -> (u32, u32) {
        let of = |(r, d): &(RateId, Decision)| match d {
            Decision::Vectorise { lanes, unroll } if *r == rate => Some((*lanes, *unroll)),
            _ => None,
        };
        self.decisions.iter().find_map(of).unwrap_or((1, 1))
    }

    /// How many runs of a root are taken side by side; none if each is step by step.
    pub fn runs(&self, rate: RateId) -> Option<u32> {
        let of = |(r, d): &(RateId, Decision)| match d {
            Decision::Runs(lanes) if *r == rate => Some(*lanes),
            _ => None,
        };
        self.decisions.iter().find_map(of)
    }

    /// How many steps of a root have one segment together; none if each has its own.
    pub fn jams(&self, rate: RateId) -> Option<u32> {
        let of = |(r, d): &(RateId, Decision)| match d {
            Decision::Jam(steps) if *r == rate => Some(*steps),
            _ => None,
        };
        self.decisions.iter().find_map(of)
    }

    /// The extrema that a sweep finds quickly, if that is decided for it: a turn of its vectors takes all of their lanes.
    pub fn quick(&self, region: &Region, sweep: &Sweep) -> Vec<Extremum> {
        if !self.decisions.contains(&(sweep.rate, Decision::Quick)) {
            return Vec::new();
        }
        self.may_be_quick(region, sweep)
    }

    /// The extrema that a sweep may find quickly.
    fn may_be_quick(&self, region: &Region, sweep: &Sweep) -> Vec<Extremum> {
        let (lanes, unroll) = self.vectors(sweep.rate);
        // Where a range was left is not known any more when it is gone through again.
        let mut extrema = match sweep.exits.is_empty() && !sweep.changes_what_it_reads() {
            true => region.extrema(sweep),
            false => Vec::new(),
        };
        extrema.retain(|e| match sweep.roles.get(&e.var) {
            Some(Role::Lanes(of)) => lanes > 1 && lanes * unroll >= *of,
            _ => false,
        });
        extrema
    }

    /// The schedule with what deals the iterations of a root out to a device's threads.
    pub fn with_threads(mut self, root: RateId, dealt: Asked) -> Schedule {
        let threads = dealt.threads.map(Decision::Threads);
        let all = threads.into_iter().chain(dealt.teams.map(Decision::Teams));
        self.decisions.extend(all.map(|d| (root, d)));
        self
    }

    /// How the iterations of a root are dealt out to a device's threads, as far as that is decided.
    pub fn threads(&self, root: RateId) -> Asked {
        let mut asked = Asked::default();
        for (_, decision) in self.decisions.iter().filter(|(r, _)| *r == root) {
            match decision {
                Decision::Threads(threads) => asked.threads = Some(*threads),
                Decision::Teams(from) => asked.teams = Some(*from),
                _ => {}
            }
        }
        asked
    }

    /// From how many steps on what a root writes in step goes past the caches; none if it never does.
    pub fn streams(&self, rate: RateId) -> Option<u64> {
        let of = |(r, d): &(RateId, Decision)| match d {
            Decision::Stream(least) if *r == rate => Some(*least),
            _ => None,
        };
        self.decisions.iter().find_map(of)
    }

    /// Whether a sweep's body is cut in pieces.
    pub fn distributes(&self, rate: RateId) -> bool {
        let of =
            |(r, d): &(RateId, Decision)| *r == rate && matches!(d, Decision::Distribute { .. });
        self.decisions.iter().any(of)
    }

    /// How many elements are in a buffer behind each cursor of a root; none if it has no buffers.
    pub fn buffers(&self, rate: RateId) -> Option<u32> {
        let of = |(r, d): &(RateId, Decision)| match d {
            Decision::Buffer(elements) if *r == rate => Some(*elements),
            _ => None,
        };
        self.decisions.iter().find_map(of)
    }

    /// What is decided for the sweep that is a part of a zip.
    pub(crate) fn of_part(&self, part: &ZipPart) -> Schedule {
        let mut schedule = self.clone();
        let of = |d: &(RateId, Decision)| part.has(d.0) && !matches!(d.1, Decision::Buffer(_));
        schedule.decisions.retain(of);
        schedule
    }

    /// How the sub rates of a loop admit if its sweeps go step by step: as decided, where that is legal then.
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

    /// Whether a sweep asks once for a turn whether its vectors go on.
    pub fn asks(&self, rate: RateId) -> bool {
        self.decisions.contains(&(rate, Decision::Ask))
    }

    /// Whether a sweep is split where comparisons with its counter change.
    pub fn splits(&self, rate: RateId) -> bool {
        self.decisions.contains(&(rate, Decision::Split))
    }

    /// The schedule without vectors, runs side by side and pieces for a rate.
    pub fn step_by_step(&self, rate: RateId) -> Schedule {
        let mut schedule = self.clone();
        let vectors = |d: &Decision| {
            matches!(
                d,
                Decision::Vectorise { .. }
                    | Decision::Runs(_)
                    | Decision::Distribute { .. }
                    | Decision::Ask
            )
        };
        schedule
            .decisions
            .retain(|(r, d)| *r != rate || !vectors(d));
        schedule
    }

    /// How a sub rate admits; by a branch where nothing is decided.
    pub fn admits(&self, rate: RateId) -> Admit {
        let of = |(r, d): &(RateId, Decision)| match d {
            Decision::Admit(how) if *r == rate => Some(*how),
            _ => None,
        };
        self.decisions.iter().find_map(of).unwrap_or(Admit::Branch)
    }
}
