//! Clustering: the graph as an ordered schedule of loops.
//!
//! A node joins a loop if the loop has the node's class (as its root, by the generator of it, or by the
//! lengths of its segments) and if everything that the node needs *before* the loop starts is made by
//! earlier loops: delayed scalars that its closure captures, arrays that it reads at random, the base of a
//! scatter. Its inputs may be made in the same loop (fused), or by an earlier one (manifest). Every edge
//! goes to the same loop or a later one, so the schedule has no cycles.
//!
//! What is cheap may be in several loops: the one that it was put into first, and later ones that compute it
//! again rather than read it.
//!
//! | room | what it does |
//! | --- | --- |
//! | [`build`] | makes a [`Problem`] of a graph: items, classes, links, sizes |
//! | [`problem`] | the problem, with no graph in sight, and what a partition costs |
//! | [`loops`] | loops that are being filled: what fits where |
//! | [`unfused`], [`greedy`], [`optimal`] | three ways to solve it |
//! | [`again`] | what later loops may compute again, rather than read |
//! | [`placed`] | what a search has placed, what that costs at least, and the way back |
//! | [`budget`] | how much code a loop may be |
//! | [`contract`], [`bound`] | what needs no decision; what no partition can go below |
//! | [`schedule`] | the order of the loops, what they hand on, and why |
//!
//! Cheap generators (`iota`, `replicate`, index functions) belong to no loop: each loop that needs one
//! computes it anew, so they are never in the way.

mod again;
mod bits;
mod bound;
pub mod budget;
mod build;
mod contract;
pub mod free;
mod greedy;
mod loops;
mod optimal;
mod order;
mod placed;
mod problem;
mod reason;
mod schedule;
#[cfg(test)]
mod tests;
mod unfused;

use super::demand::Demand;
use super::phases::Phase;
use super::pull::{Pulls, pull};
use super::rates::{self, ClassId, Rates};
use crate::sharing::{FieldRef, Graph, NodeId};

pub use problem::{Cost, Partition, Problem, Solution};
pub use reason::Reason;
use rustc_hash::FxHashSet;
use std::fmt;

/// How combinators are put into loops.
///
/// ```
/// use livefusion::{Array, Clustering, Engine};
/// let xs: Array<f64> = vec![1.0, 2.0, 3.0].into();
/// let total = xs.map(|x| x * 2.0).filter(|x| x.gt(2.0)).sum();
/// let loops = |clustering| {
///     let engine = Engine::builder().clustering(clustering).build();
///     Ok::<_, livefusion::Error>(engine.explain(&[total.node().clone()])?.loops.len())
/// };
/// assert_eq!(loops(Clustering::Unfused)?, 3);
/// assert_eq!(loops(Clustering::default())?, 1);
/// # Ok::<(), livefusion::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Clustering {
    /// Each combinator in a loop of its own: the baseline that fusion is compared with.
    Unfused,
    /// Combinators in dependency order, each in the first loop that can take it.
    Greedy,
    /// The fewest bytes to and from memory, then the fewest loops, by branch and bound from the greedy
    /// answer. What is cheap to compute again is computed in several loops, where it would cost more to
    /// write and to read it. The search is bounded in steps, never in time, so that plans (and with them the last bits
    /// of floats) do not vary; what it has not proven when they are used up is the plan's gap.
    Optimal {
        /// How many placements may be tried.
        steps: u32,
    },
}

impl Clustering {
    /// Steps of the default strategy: about a millisecond.
    pub const STEPS: u32 = 8_000;
}

impl Default for Clustering {
    fn default() -> Self {
        Clustering::Optimal {
            steps: Clustering::STEPS,
        }
    }
}

impl fmt::Display for Clustering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Clustering::Unfused => "unfused",
            Clustering::Greedy => "greedy",
            Clustering::Optimal { .. } => "optimal",
        })
    }
}

/// The schedule of a graph.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Loops in the order in which they run.
    pub loops: Vec<PlannedLoop>,
    /// The (first) loop that each node is in; none for leaves and generators that every user recomputes.
    pub loop_of: Vec<Option<usize>>,
    /// The inferred rates.
    pub rates: Rates,
    /// Which arrays are computed where they are read at an index.
    pub pulls: Pulls,
    /// Which fields anything asks for.
    pub demand: Demand,
    /// Fields of arrays that some loop writes to memory.
    pub stored: FxHashSet<FieldRef>,
    /// The strategy that made it.
    pub clustering: Clustering,
    /// What it costs, at nominal lengths.
    pub cost: Cost,
    /// What every schedule costs at least.
    pub bound: Cost,
    /// What goes from one loop to another, and why.
    pub crossings: Vec<Crossing>,
}

/// One loop of a schedule.
#[derive(Clone, Debug, Default)]
pub struct PlannedLoop {
    /// The class of its outermost rate; none if it only computes delayed scalars.
    pub root: Option<ClassId>,
    /// The roots that it runs over, one after the other: one, unless it makes an append.
    pub phases: Vec<Phase>,
    /// Its combinators, in dependency order.
    pub nodes: Vec<NodeId>,
    /// Those of them that an earlier loop computes as well, in order.
    pub copies: Vec<NodeId>,
    /// What these cost, if there are any.
    pub recomputed: Option<Recomputed>,
    /// Arrays that it writes to memory.
    pub arrays: Vec<FieldRef>,
    /// Delayed scalars that later loops or the user need.
    pub scalars: Vec<FieldRef>,
    /// Zips among its combinators that later loops consume. These have the columns from elsewhere, but the lengths are held
    /// against each other here.
    pub zips: Vec<NodeId>,
}

/// What it costs a loop to compute again what an earlier one computes, at nominal lengths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Recomputed {
    /// What it reads for that alone, in bytes, and what the operators are worth.
    pub bytes: u64,
    /// What it would cost to read that from memory, and to write it, if nothing else has it written.
    pub kept: u64,
}

/// Data that is made in one loop and used in a later one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crossing {
    /// What is made.
    pub from: FieldRef,
    /// Who uses it.
    pub to: NodeId,
    /// Why they do not share a loop.
    pub reason: Reason,
    /// For [`Reason::Between`]: what `to` needs as well, and what waits for the loop of `from`.
    pub between: Option<NodeId>,
}

/// Plans a graph. `lengths` are its known lengths (see [`rates::known_lengths`]).
pub fn plan(graph: &Graph, lengths: &[Option<u64>], clustering: Clustering) -> Plan {
    let rates = rates::infer(graph, lengths, clustering != Clustering::Unfused);
    let pulls = pull(graph, &rates, clustering != Clustering::Unfused);
    let again = matches!(clustering, Clustering::Optimal { .. });
    let built = build::build(graph, &rates, &pulls, again);
    let solution = solve(&built.problem, clustering);
    let loop_of = schedule::loop_of_nodes(&built, &solution.partition);
    let mut loops = schedule::loops(&built, &solution.partition);
    schedule::find_zips(graph, &loop_of, &mut loops);
    let stored = schedule::find_outputs(graph, &rates, &built.demand, &loop_of, &mut loops);
    for planned in &mut loops {
        planned.phases = rates.families().phases(graph, &rates, planned);
    }
    Plan {
        loops,
        loop_of,
        rates,
        pulls,
        stored,
        clustering,
        cost: solution.cost,
        bound: solution.bound,
        crossings: schedule::crossings(&built, &solution.partition, clustering),
        demand: built.demand,
    }
}

/// Puts the items of a problem into loops.
pub fn solve(problem: &Problem, clustering: Clustering) -> Solution {
    let partition = Partition::from(match clustering {
        Clustering::Unfused => unfused::solve(problem),
        Clustering::Greedy => greedy::solve(problem),
        Clustering::Optimal { steps } => return optimal::solve(problem, steps),
    });
    let bound = bound::bounds(problem).cost;
    Solution {
        cost: problem.cost(&partition).unwrap_or_default(),
        partition,
        bound,
    }
}

impl Plan {
    /// Whether no schedule is better.
    pub fn is_proven(&self) -> bool {
        self.cost == self.bound
    }

    /// Whether a loop computes a node.
    pub fn computes(&self, at: usize, n: NodeId) -> bool {
        let copies = self.loops.get(at).map_or(&[][..], |l| &l.copies);
        self.loop_of[n.index()] == Some(at) || copies.binary_search(&n).is_ok()
    }
}
