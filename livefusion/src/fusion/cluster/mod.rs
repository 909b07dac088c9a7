//! Clustering: partitions the graph into ordered loops, the plan.
//!
//! A node can join a loop under two conditions. First, the loop must have the node's class: as its
//! root, through the generator of that class, or through the lengths of its segments. Second,
//! earlier loops must have computed all data that the node needs *before* the loop starts. Such
//! data are the delayed scalars that its closure captures, arrays read at random, and the base of a
//! scatter. A node's inputs may be produced in the same loop (fused) or in an earlier one
//! (manifest). Every edge leads to the same loop or to a later one, so the plan is acyclic.
//!
//! For example, `xs.map(f).filter(p).sum()` is one loop. In `xs.map(|x| x / &total)`, the closure
//! captures `total = xs.sum()`, so an earlier loop must compute the sum.
//!
//! A cheap node may be in several loops. The first loop computes it; later loops rematerialise it
//! instead of reading it from memory.
//!
//! | module | purpose |
//! | --- | --- |
//! | [`build`] | translates a graph into a [`Problem`]: items, classes, links, sizes |
//! | [`problem`] | defines the problem without the graph, and the cost of a partition |
//! | [`loops`] | represents partly filled loops, and decides whether an item fits |
//! | [`unfused`], [`greedy`], [`optimal`] | three solvers |
//! | [`remat`] | lists the items that later loops may rematerialise, and their prices |
//! | [`placed`] | holds the state of a search, its lower bound, and its undo log |
//! | [`budget`] | limits the code size of a loop |
//! | [`contract`], [`bound`] | merge items before the search; compute lower bounds |
//! | [`schedule`] | orders the loops, and lists their outputs and the reasons for them |
//!
//! Cheap generators (`iota`, `replicate`, index functions) belong to no loop. Each loop that needs
//! one recomputes it, so they never prevent fusion.

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
pub(crate) mod remat;
mod schedule;
#[cfg(test)]
mod tests;
mod unfused;

use super::demand::Demand;
use super::inline::{Inlining, inline};
use super::phases::Phase;
use super::rates::{self, ClassId, Rates};
use crate::sharing::{FieldRef, Graph, KnownLengths, NodeId};

pub use problem::{Cost, Partition, Problem, Solution};
pub use reason::Reason;
use rustc_hash::FxHashSet;
use std::fmt;

/// Selects a strategy for the partition of combinators into loops.
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
    /// Puts each combinator into a loop of its own: the baseline for measuring fusion.
    Unfused,
    /// Takes combinators in dependency order and puts each into the first loop that can take it.
    Greedy,
    /// Minimises the bytes moved to and from memory, then the number of loops. It runs branch and
    /// bound, starting from the greedy solution.
    ///
    /// Cheap arrays are computed in several loops where a store and a load would cost more. The
    /// search is limited in steps, never in time. So plans do not vary between runs, and neither do
    /// the last bits of floats. If the steps run out, the remaining distance to the lower bound is
    /// the plan's gap.
    Optimal {
        /// The maximal number of placements to try.
        steps: u32,
    },
}

impl Clustering {
    /// Holds the number of steps of the default strategy.
    ///
    /// They take about a millisecond.
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

/// Holds the schedule of a graph.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Loops in the order in which they run.
    pub loops: Vec<PlannedLoop>,
    /// The (first) loop of each node. Leaves have none, and neither have generators that every
    /// consumer recomputes.
    pub loop_of: Vec<Option<usize>>,
    /// The inferred rates.
    pub rates: Rates,
    /// The arrays that are computed at each indexed read.
    pub inlining: Inlining,
    /// The fields that have a consumer.
    pub demand: Demand,
    /// Fields of arrays that some loop writes to memory.
    pub stored: FxHashSet<FieldRef>,
    /// The strategy that produced the plan.
    pub clustering: Clustering,
    /// The cost, at nominal lengths.
    pub cost: Cost,
    /// The lower bound on the cost of every schedule.
    pub bound: Cost,
    /// The columns that cross from one loop to another, with reasons.
    pub crossings: Vec<Crossing>,
}

/// Describes one loop of a schedule.
#[derive(Clone, Debug, Default)]
pub struct PlannedLoop {
    /// The class of its outermost rate; none if it only computes delayed scalars.
    pub root: Option<ClassId>,
    /// The roots that the loop runs over, one after the other. There is one, unless the loop
    /// computes an append.
    pub phases: Vec<Phase>,
    /// Its combinators, in dependency order.
    pub nodes: Vec<NodeId>,
    /// The subset of `nodes` that an earlier loop computes as well, in order.
    pub copies: Vec<NodeId>,
    /// The cost of these copies, if there are any.
    pub recomputed: Option<Recomputed>,
    /// Arrays that it writes to memory.
    pub arrays: Vec<FieldRef>,
    /// Delayed scalars that later loops or the user need.
    pub scalars: Vec<FieldRef>,
    /// Zips among its combinators that later loops consume. Their columns come from elsewhere, but
    /// this loop checks that their lengths agree.
    pub zips: Vec<NodeId>,
}

/// Describes the cost of a loop's rematerialised nodes, at nominal lengths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Recomputed {
    /// Bytes that are read for the copies only, plus the cost of their operators.
    pub bytes: u64,
    /// The cost of the alternative: to read the values from memory, and to write them if nothing
    /// else does.
    pub kept: u64,
}

/// Describes a column that one loop produces and a later one consumes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crossing {
    /// The column.
    pub from: FieldRef,
    /// The consumer.
    pub to: NodeId,
    /// The reason that the producer and the consumer do not share a loop.
    pub reason: Reason,
    /// For [`Reason::Between`]: another operand of `to` that must wait until the loop of `from` has
    /// ended.
    pub between: Option<NodeId>,
}

/// Plans a graph.
///
/// Of the known lengths only the equality pattern matters.
pub fn plan(graph: &Graph, lengths: &KnownLengths, clustering: Clustering) -> Plan {
    let rates = rates::infer(graph, lengths, clustering != Clustering::Unfused);
    let inlining = inline(graph, &rates, clustering != Clustering::Unfused);
    let remat = matches!(clustering, Clustering::Optimal { .. });
    let built = build::build(graph, &rates, &inlining, remat);
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
        inlining,
        stored,
        clustering,
        cost: solution.cost,
        bound: solution.bound,
        crossings: schedule::crossings(&built, &solution.partition, clustering),
        demand: built.demand,
    }
}

/// Partitions the items of a problem into loops.
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
    /// Returns whether the plan is proven optimal.
    pub fn is_proven(&self) -> bool {
        self.cost == self.bound
    }

    /// Returns whether a loop computes a node.
    pub fn computes(&self, at: usize, n: NodeId) -> bool {
        let copies = self.loops.get(at).map_or(&[][..], |l| &l.copies);
        self.loop_of[n.index()] == Some(at) || copies.binary_search(&n).is_ok()
    }
}
