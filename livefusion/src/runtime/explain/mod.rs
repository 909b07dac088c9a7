//! Explanations: the loops of a program, their calls, memory traffic and code.
//!
//! | file | contents |
//! | --- | --- |
//! | `calls` | maps nodes back to the user's calls and their data flow |
//! | `bytes` | the bytes that loops read and write |
//! | `text` | the report |
//! | `rewrites` | named rewrites |
//! | `hints` | operators that are cheaper in another form |
//! | `literals` | literals that are part of the code |
//! | `pictures` | the graph with its loops as boxes |

mod bytes;
mod calls;
mod hints;
mod literals;
mod pictures;
mod rewrites;
mod text;

use super::engine::Engine;
use super::in_place::Update;
use super::parallel::why_in_order;
use super::program::{CompiledLoop, CompiledProgram};
use crate::ast::Node;
use crate::error::Result;
use crate::fusion::{Clustering, Cost, Plan, Recomputed};
use crate::loc::Loc;
use crate::sharing::{Graph, KnownLengths, NodeId};
use crate::stages::Tiled;
use bytes::{Counting, Moved};
use calls::Calls;
use loop_lang::Loop;
use loop_lang::chunkable::Why;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::sync::Arc;

pub use super::in_place::Copied;
pub use bytes::{Bytes, Traffic};
pub use calls::{Call, EarlierForce, Flow, Place};
pub use hints::Hint;
pub use literals::{Literal, Role};
pub use rewrites::Rewritten;

/// Describes the loops of a program and why there are not fewer.
///
/// `Display` gives a report for people. For each loop it lists the rates, the calls at each rate
/// with their source lines, and the bytes it reads and writes next to those of one loop per call.
/// Then come the rewrites that were done or weighed, and a reason for each flow between loops. Each
/// [loop over arrays](crate::iterate) that runs before follows, indented, in the same form.
/// [`dot`](Explanation::dot) and [`svg`](Explanation::svg) draw the loops without those parts.
///
/// ```
/// use livefusion::prelude::*;
/// let xs = Array::from(vec![3.0f64, 1.0, 2.0]);
/// let total = xs.sum();
/// let shares = xs.map(|x| x / &total).filter(|x| x.gt(0.2));
/// let explained = shares.explain_with(&Engine::interp())?;
/// assert_eq!(explained.loops.len(), 2);
/// assert_eq!(explained.traffic.reads.to_string(), "56 B");
/// assert_eq!(explained.unfused.reads.to_string(), "80 B");
/// let report = explained.to_string();
/// assert!(report.starts_with("2 loops on interp"));
/// # Ok::<(), livefusion::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Loops in the order in which they run.
    pub loops: Vec<ExplainedLoop>,
    /// External parts that run before these loops, in that order.
    pub apart: Vec<ExplainedApart>,
    /// The backend that runs them.
    pub backend: String,
    /// Why some or all loops run without C: see [`Engine::fallback`].
    pub fallback: Option<String>,
    /// The reads and writes of all loops together.
    pub traffic: Traffic,
    /// The reads and writes of one loop per combinator.
    pub unfused: Traffic,
    /// The clustering algorithm.
    pub clustering: Clustering,
    /// The cost of the schedule at nominal lengths, which the clustering minimises.
    pub cost: Cost,
    /// A lower bound on the cost of every schedule. If it equals the cost, no plan is better.
    pub bound: Cost,
    /// Rewrites of folds and scans of rows that were done, or rejected by their cost.
    pub rewrites: Vec<Rewritten>,
    /// Literals that are part of the code. A change to one compiles a new program. A value that
    /// changes from force to force should be a delayed scalar, which is data. Other literals are
    /// data as well.
    pub literals: Vec<Literal>,
    /// Operators that are cheaper in another form, whose bits may differ.
    pub hints: Vec<Hint>,
    /// Loops named by the engine's schedule but absent from the program.
    pub absent: Vec<String>,
    calls: Vec<Call>,
    flows: Vec<Flow>,
    ids: FxHashMap<usize, NodeId>,
    inlined: FxHashSet<NodeId>,
    call_of: FxHashMap<NodeId, usize>,
}

/// Describes one loop of a program.
#[derive(Clone, Debug)]
pub struct ExplainedLoop {
    /// The optimised loop.
    pub program: Loop,
    /// The combinator of each `CombId` of the loop.
    pub nodes: Vec<ExplainedNode>,
    /// Number of arrays that it writes to memory.
    pub arrays_written: usize,
    /// Its current tier, if the engine is tiered.
    pub tier: Option<Cow<'static, str>>,
    /// The schedule of its C or device kernel, requested or chosen, in the syntax of
    /// [`EngineBuilder::schedule`](super::EngineBuilder::schedule). The schedule of its sizing loop
    /// comes first, if there is one. None without C or a device.
    pub schedule: Option<String>,
    /// Generated source, if the backend has one.
    pub source: Option<String>,
    /// Its reads from memory: inputs and results of earlier loops.
    pub reads: Vec<ExplainedBytes>,
    /// Its writes to memory: results and inputs of later loops.
    pub writes: Vec<ExplainedBytes>,
    /// The arrays it changes, in place or in a copy. An outside array that is shared at run time is
    /// copied.
    pub updates: Vec<ExplainedUpdate>,
    /// The sums of reads and writes.
    pub traffic: Traffic,
    /// The traffic of one loop per combinator in place of this one.
    pub unfused: Traffic,
    /// The cost of its rematerialised values, and the cost of reading them from memory instead.
    pub recomputed: Option<Recomputed>,
    /// Why its chunks run in order, or none if they may run in any order.
    pub in_order: Option<Why>,
    /// The sizing loop that runs first, if nothing else bounds its number of results.
    pub sizing: Option<Loop>,
}

/// Lists the external parts, which are barriers to fusion.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ExplainedApart {
    /// A loop over arrays.
    Loop(Box<ExplainedArrayLoop>),
    /// A function that is not made of combinators.
    External(Box<ExplainedExternal>),
}

impl ExplainedApart {
    /// Lists its programs in the order in which they run.
    pub fn parts(&self) -> Vec<&Explanation> {
        match self {
            ExplainedApart::Loop(l) => vec![&l.start, &l.captured, &l.step],
            ExplainedApart::External(e) => vec![&e.inputs],
        }
    }
}

/// Describes a function that is not made of combinators, as a [sort](crate::Array::sort).
///
/// The explanation does not call it.
#[derive(Clone, Debug)]
pub struct ExplainedExternal {
    /// The name of the user's call.
    pub name: &'static str,
    /// Its source location.
    pub loc: Loc,
    /// Why it is not a loop, in words that follow "since".
    pub why: String,
    /// Whether it gives the same bits each time.
    pub is_reproducible: bool,
    /// The program that computes its inputs.
    pub inputs: Explanation,
}

/// Describes a [loop over arrays](crate::iterate), or a side of a choice.
///
/// The explanation does not run it. Its state is assumed to keep its initial lengths. Lengths that
/// are known only at run time are explained as unknown.
///
/// `Display` shows its parts.
#[derive(Clone, Debug)]
pub struct ExplainedArrayLoop {
    /// The name of the user's call.
    pub name: &'static str,
    /// Its source location.
    pub loc: Loc,
    /// The program of its initial state and trip count, or first test.
    pub start: Explanation,
    /// The program of the captured values, which runs before the first step.
    pub captured: Explanation,
    /// The program of each step.
    pub step: Explanation,
    /// Whether it is a side of a choice, which takes at most one step.
    pub is_side: bool,
}

/// Describes a combinator in a loop.
#[derive(Clone, Debug)]
pub struct ExplainedNode {
    /// Its id in the recovered graph.
    pub id: NodeId,
    /// The name of the user's call.
    pub name: &'static str,
    /// Its source location.
    pub loc: Loc,
}

/// Describes an array that a loop changes.
#[derive(Clone, Debug)]
pub struct ExplainedUpdate {
    /// The combinator that changes it.
    pub node: ExplainedNode,
    /// Why it is copied first, or none if it changes in place.
    pub copied: Option<Copied>,
}

/// Counts the bytes of a node that a loop moves.
#[derive(Clone, Debug)]
pub struct ExplainedBytes {
    /// The node. Its fields are counted together.
    pub node: ExplainedNode,
    /// The bytes.
    pub bytes: Bytes,
}

impl Explanation {
    /// Errors: a refused schedule.
    pub(super) fn new(
        graph: &Graph,
        program: &CompiledProgram,
        engine: &Engine,
    ) -> Result<Explanation> {
        let schedule = &program.plan;
        let calls = Calls::recover(graph, schedule);
        let unfused = unfused(graph, schedule, &calls);
        let counting = Counting::new(graph, schedule);
        let loops: Vec<ExplainedLoop> = program
            .loops
            .iter()
            .enumerate()
            .map(|(at, l)| {
                let schedule = scheduled(l, engine)?;
                Ok(ExplainedLoop::new(
                    graph,
                    &counting,
                    (at, l, schedule),
                    unfused[at],
                ))
            })
            .collect::<Result<_>>()?;
        let named = |name: &&str| {
            let mut programs = program.loops.iter().flat_map(|l| l.lowered.programs());
            programs.any(|p| p.name == *name)
        };
        let absent = engine
            .requested()
            .schedules()?
            .names()
            .filter(|n| !named(n));
        Ok(Explanation {
            absent: absent.map(str::to_string).collect(),
            backend: engine.backend_name().to_string(),
            fallback: engine.fallback().map(str::to_string),
            flows: calls.flows(graph, schedule),
            traffic: loops.iter().map(|l| l.traffic).sum(),
            unfused: unfused.into_iter().sum(),
            clustering: schedule.clustering,
            cost: schedule.cost,
            bound: schedule.bound,
            call_of: graph
                .ids()
                .filter_map(|n| Some((n, calls.of(n)?)))
                .collect(),
            calls: calls.all,
            rewrites: rewrites::of(graph),
            hints: hints::of(graph),
            literals: literals::in_code(graph),
            loops,
            apart: Vec::new(),
            ids: graph.by_address.clone(),
            inlined: graph
                .ids()
                .filter(|n| schedule.inlining.is_inlined(*n))
                .collect(),
        })
    }

    /// Returns the user's calls and the arrays in memory that they use.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Returns the data flow between calls, in the order of the producers.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// Lists the flows out of a call.
    fn flows_from(&self, call: usize) -> impl Iterator<Item = &Flow> {
        let first = self.flows.partition_point(|f| f.from < call);
        self.flows[first..]
            .iter()
            .take_while(move |f| f.from == call)
    }

    /// Lists the loops that compute a node, with its first combinator in each.
    ///
    /// Elements computed in part count too. Nodes in memory give none.
    pub fn places_of(&self, node: &Arc<Node>) -> Vec<(usize, u32)> {
        let Some(id) = self.ids.get(&(Arc::as_ptr(node) as usize)) else {
            return Vec::new();
        };
        let place = |(l, explained): (usize, &ExplainedLoop)| {
            let comb = explained.nodes.iter().position(|n| n.id == *id)?;
            let is_read = explained.reads.iter().any(|r| r.node.id == *id);
            (!is_read || node.value.get().is_some()).then_some((l, comb as u32))
        };
        self.loops.iter().enumerate().filter_map(place).collect()
    }

    /// Tells whether an array's elements are computed at indexed reads.
    ///
    /// Otherwise they are read from memory.
    pub fn is_pulled(&self, node: &Arc<Node>) -> bool {
        let id = self.ids.get(&(Arc::as_ptr(node) as usize));
        id.is_some_and(|id| self.inlined.contains(id))
    }
}

impl ExplainedLoop {
    fn new(
        graph: &Graph,
        counting: &Counting<'_>,
        (at, compiled, schedule): (usize, &CompiledLoop, Option<String>),
        unfused: Traffic,
    ) -> ExplainedLoop {
        let combs = compiled.lowered.combs.iter();
        ExplainedLoop {
            program: compiled.lowered.program.clone(),
            nodes: combs.map(|id| explained(graph, *id)).collect(),
            arrays_written: counting.plan.loops[at].arrays.len(),
            tier: compiled.kernel.tier(),
            schedule,
            source: compiled.kernel.source().map(str::to_string),
            reads: by_node(graph, &counting.reads(at)),
            writes: by_node(graph, &counting.writes(at)),
            updates: updates(graph, compiled),
            traffic: counting.traffic(at),
            unfused,
            recomputed: counting.plan.loops[at].recomputed,
            in_order: why_in_order(&compiled.lowered.program, compiled.kernel.layout()),
            sizing: compiled.lowered.sizing.clone(),
        }
    }
}

/// Lists the arrays that a loop changes, the fields of one array together.
fn updates(graph: &Graph, compiled: &CompiledLoop) -> Vec<ExplainedUpdate> {
    let mut updates: Vec<ExplainedUpdate> = Vec::new();
    for Update { comb, copied, .. } in &compiled.updates {
        let Some(id) = compiled.lowered.combs.get(comb.index()) else {
            continue;
        };
        let node = explained(graph, *id);
        let known = |u: &ExplainedUpdate| (u.node.id, u.copied) == (node.id, *copied);
        if !updates.iter().any(known) {
            let copied = *copied;
            updates.push(ExplainedUpdate { node, copied });
        }
    }
    updates
}

/// Returns the schedules of a loop and of its sizing loop.
///
/// They come from the engine's own C backend, or from the kernels.
fn scheduled(compiled: &CompiledLoop, engine: &Engine) -> Result<Option<String>> {
    if !engine.has_c() {
        let kernels = compiled.sizing.iter().chain([&compiled.kernel]);
        let texts: Vec<&str> = kernels.filter_map(|k| k.schedule()).collect();
        return Ok(Some(texts.concat()).filter(|text| !text.is_empty()));
    }
    let programs = compiled.lowered.programs();
    let texts = programs.map(|program| Ok(Tiled::of(program, engine.requested())?.schedule()));
    Ok(Some(texts.collect::<Result<String>>()?))
}

/// Returns the traffic of one loop per combinator, for each loop of the plan.
fn unfused(graph: &Graph, plan: &Plan, calls: &Calls) -> Vec<Traffic> {
    let apart = crate::fusion::plan(graph, &KnownLengths::of(graph, &[]), Clustering::Unfused);
    let counting = Counting::new(graph, &apart);
    let mut traffic = vec![Traffic::default(); plan.loops.len()];
    for (at, l) in apart.loops.iter().enumerate() {
        let first = l.nodes.iter().find_map(|n| calls.first_loop(*n));
        if let Some(t) = first.and_then(|h| traffic.get_mut(h)) {
            *t = [*t, counting.traffic(at)].into_iter().sum();
        }
    }
    traffic
}

fn explained(graph: &Graph, id: NodeId) -> ExplainedNode {
    let node = graph.node(id);
    ExplainedNode {
        id,
        name: node.name,
        loc: node.loc,
    }
}

/// Sums the fields of each node.
fn by_node(graph: &Graph, fields: &[Moved]) -> Vec<ExplainedBytes> {
    let mut nodes: Vec<ExplainedBytes> = Vec::new();
    for ((id, _), bytes) in fields {
        match nodes.last_mut() {
            Some(last) if last.node.id == *id => {
                last.bytes = [last.bytes, *bytes].into_iter().sum();
            }
            _ => nodes.push(ExplainedBytes {
                node: explained(graph, *id),
                bytes: *bytes,
            }),
        }
    }
    nodes
}
