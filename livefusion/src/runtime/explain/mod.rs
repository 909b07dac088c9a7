//! What became of a program: its loops, the calls in each, what they move, and the code.
//!
//! | file | room for |
//! | --- | --- |
//! | `calls` | from nodes back to what the user called, and what flows between |
//! | `bytes` | what loops read and write |
//! | `text` | the report |
//! | `rewrites` | rewrites with names |
//! | `literals` | which literals are part of the code |
//! | `pictures` | the graph with its loops as boxes |

mod bytes;
mod calls;
mod literals;
mod pictures;
mod rewrites;
mod text;

use super::engine::Engine;
use super::in_place::Update;
use super::program::{CompiledLoop, Program};
use crate::ast::Node;
use crate::error::Result;
use crate::fusion::rates::known_lengths;
use crate::fusion::{Clustering, Cost, Plan, Recomputed};
use crate::loc::Loc;
use crate::sharing::{Graph, NodeId};
use crate::stages::Tiled;
use bytes::{Counting, Moved};
use calls::Calls;
use loop_lang::Loop;
use loop_lang::chunkable::{Why, chunkable};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::sync::Arc;

pub use super::in_place::Copied;
pub use bytes::{Bytes, Traffic};
pub use calls::{Call, Flow, Place};
pub use literals::{Literal, Role};
pub use rewrites::Rewritten;

/// The schedule of a program: into which loops it fuses, and why not into fewer.
///
/// `Display` is a report that a person reads: for each loop its rates, the calls that run at each with
/// their source lines, what it reads and writes beside what one loop per call would; then the rewrites that
/// were done or weighed, and a reason for everything that flows from loop to loop; then, indented, the same of each
/// [loop over arrays](crate::iterate) that comes before. [`dot`](Explanation::dot) and [`svg`](Explanation::svg) are
/// pictures of the same without these.
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
    /// What runs apart before these, in that order.
    pub apart: Vec<ExplainedApart>,
    /// The backend that runs them.
    pub backend: String,
    /// Why the engine does without C, for all loops or for some: see [`Engine::fallback`].
    pub fallback: Option<String>,
    /// What all loops read and write together.
    pub traffic: Traffic,
    /// What one loop per combinator would read and write.
    pub unfused: Traffic,
    /// How the combinators were put into loops.
    pub clustering: Clustering,
    /// What the schedule costs at nominal lengths: what the clustering compares.
    pub cost: Cost,
    /// What every schedule costs at least. If it is the cost, no schedule is better.
    pub bound: Cost,
    /// Rewrites of folds and scans of rows that were done, or were not since that costs less.
    pub rewrites: Vec<Rewritten>,
    /// Literals that are part of the code: where another one takes their place, the program is compiled anew.
    /// What changes from force to force is better a delayed scalar, which is data, as other literals are.
    pub literals: Vec<Literal>,
    /// Loops that the engine's schedule names, and that are not in the program.
    pub absent: Vec<String>,
    calls: Vec<Call>,
    flows: Vec<Flow>,
    ids: FxHashMap<usize, NodeId>,
    pulled: FxHashSet<NodeId>,
    call_of: FxHashMap<NodeId, usize>,
}

/// One loop of a program.
#[derive(Clone, Debug)]
pub struct ExplainedLoop {
    /// The optimised loop.
    pub program: Loop,
    /// The combinator behind each `CombId` of the loop.
    pub nodes: Vec<ExplainedNode>,
    /// Number of arrays that it writes to memory.
    pub arrays_written: usize,
    /// What runs it now, if the engine is tiered.
    pub tier: Option<Cow<'static, str>>,
    /// What its C, or its kernel for a device, is scheduled as, asked for or chosen, as
    /// [`EngineBuilder::schedule`](super::EngineBuilder::schedule) takes it; first of the loop that counts for it, if there is
    /// one. None if it has neither.
    pub schedule: Option<String>,
    /// Generated source, where the backend has one.
    pub source: Option<String>,
    /// What it reads from memory: inputs, results of earlier loops.
    pub reads: Vec<ExplainedBytes>,
    /// What it writes to memory: results, what later loops need.
    pub writes: Vec<ExplainedBytes>,
    /// What it changes: in place, unless somebody holds what comes from outside, or in a copy.
    pub updates: Vec<ExplainedUpdate>,
    /// The sums of both.
    pub traffic: Traffic,
    /// What one loop per combinator would read and write instead of this one.
    pub unfused: Traffic,
    /// What it pays for what it computes again, if it does, and would pay to read that from memory.
    pub recomputed: Option<Recomputed>,
    /// Why it runs from its beginning to its end only. If this is none, its chunks may run in any order.
    pub in_order: Option<Why>,
    /// The loop that only counts and runs first, if nothing else bounds how many elements this one makes.
    pub sizing: Option<Loop>,
}

/// What runs apart: loops fuse up to it, and behind it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ExplainedApart {
    /// A loop over arrays.
    Loop(Box<ExplainedArrayLoop>),
    /// A function that is not made of combinators.
    External(Box<ExplainedExternal>),
}

impl ExplainedApart {
    /// The programs that it consists of, in the order in which they run.
    pub fn parts(&self) -> Vec<&Explanation> {
        match self {
            ExplainedApart::Loop(l) => vec![&l.start, &l.captured, &l.step],
            ExplainedApart::External(e) => vec![&e.inputs],
        }
    }
}

/// A function that is not made of combinators, as a [sort](crate::Array::sort). It is not called to explain it.
#[derive(Clone, Debug)]
pub struct ExplainedExternal {
    /// What the user called.
    pub name: &'static str,
    /// Where.
    pub loc: Loc,
    /// Why it is no loop, in words that follow "since".
    pub why: String,
    /// Whether it gives the same bits each time.
    pub is_reproducible: bool,
    /// The program that computes its inputs.
    pub inputs: Explanation,
}

/// A [loop over arrays](crate::iterate). It is not run to explain it: its state is taken to be as long as it is at the start,
/// and what is only known then is explained as unknown.
///
/// `Display` says what it consists of.
#[derive(Clone, Debug)]
pub struct ExplainedArrayLoop {
    /// What the user called.
    pub name: &'static str,
    /// Where.
    pub loc: Loc,
    /// What computes its start, and how often it goes on or whether it does.
    pub start: Explanation,
    /// The program that computes the captures of all steps, before the first.
    pub captured: Explanation,
    /// What each step runs.
    pub step: Explanation,
}

/// A combinator in a loop.
#[derive(Clone, Debug)]
pub struct ExplainedNode {
    /// Its place in the recovered graph.
    pub id: NodeId,
    /// What the user called.
    pub name: &'static str,
    /// Where.
    pub loc: Loc,
}

/// An array that a loop changes.
#[derive(Clone, Debug)]
pub struct ExplainedUpdate {
    /// What changes it.
    pub node: ExplainedNode,
    /// Why it is copied first; none if it is changed in place.
    pub copied: Option<Copied>,
}

/// What of a node is moved.
#[derive(Clone, Debug)]
pub struct ExplainedBytes {
    /// The node; its fields are counted together.
    pub node: ExplainedNode,
    /// How much.
    pub bytes: Bytes,
}

impl Explanation {
    /// Errors: a schedule that is refused.
    pub(super) fn new(graph: &Graph, program: &Program, engine: &Engine) -> Result<Explanation> {
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
        let absent = engine.asked().schedules()?.names().filter(|n| !named(n));
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
            literals: literals::in_code(graph),
            loops,
            apart: Vec::new(),
            ids: graph.by_address.clone(),
            pulled: graph
                .ids()
                .filter(|n| schedule.pulls.is_pulled(*n))
                .collect(),
        })
    }

    /// What the user called, and the arrays in memory that it uses.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// What flows between calls, in the order of the producers.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// What flows out of a call.
    fn flows_from(&self, call: usize) -> impl Iterator<Item = &Flow> {
        let first = self.flows.partition_point(|f| f.from < call);
        self.flows[first..]
            .iter()
            .take_while(move |f| f.from == call)
    }

    /// The loops that compute a node, or elements of it, and the node's (first) combinator in each. None
    /// for nodes in memory.
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

    /// Whether an array's elements are computed where they are read at an index, rather than read from
    /// memory.
    pub fn is_pulled(&self, node: &Arc<Node>) -> bool {
        let id = self.ids.get(&(Arc::as_ptr(node) as usize));
        id.is_some_and(|id| self.pulled.contains(id))
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
            in_order: chunkable(&compiled.lowered.program).err(),
            sizing: compiled.lowered.sizing.clone(),
        }
    }
}

/// What a loop changes, the fields of one array together.
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

/// The schedules of a loop, and of the one that counts for it: those of C where the engine has one of its own, or what their
/// kernels say.
fn scheduled(compiled: &CompiledLoop, engine: &Engine) -> Result<Option<String>> {
    if !engine.has_c() {
        let kernels = compiled.sizing.iter().chain([&compiled.kernel]);
        let texts: Vec<&str> = kernels.filter_map(|k| k.schedule()).collect();
        return Ok(Some(texts.concat()).filter(|text| !text.is_empty()));
    }
    let programs = compiled.lowered.programs();
    let texts = programs.map(|program| Ok(Tiled::of(program, engine.asked())?.schedule()));
    Ok(Some(texts.collect::<Result<String>>()?))
}

/// What one loop per combinator would move, for each loop of the plan and in total.
fn unfused(graph: &Graph, plan: &Plan, calls: &Calls) -> Vec<Traffic> {
    let apart = crate::fusion::plan(graph, &known_lengths(graph, &[]), Clustering::Unfused);
    let counting = Counting::new(graph, &apart);
    let mut traffic = vec![Traffic::default(); plan.loops.len()];
    for (at, l) in apart.loops.iter().enumerate() {
        let home = l.nodes.iter().find_map(|n| calls.home(*n));
        if let Some(t) = home.and_then(|h| traffic.get_mut(h)) {
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

/// The fields of one node summed.
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
