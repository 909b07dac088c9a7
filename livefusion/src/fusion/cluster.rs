//! Clustering: the graph as an ordered schedule of loops.
//!
//! A node joins a loop if the loop's root is the node's class, or holds the generator of it, and if
//! everything that the node needs *before* the loop starts is made by earlier loops: delayed scalars that
//! its closure captures, arrays that it reads at random, the base of a scatter. Its inputs may be made in
//! the same loop (fused), or by an earlier one (manifest). Every edge goes to the same loop or a later
//! one, so the schedule has no cycles.
//!
//! The strategy here is greedy: nodes in dependency order, each into the first loop that can take it.
//! Cheap generators (`iota`, `replicate`, index functions) belong to no loop: each loop that needs one
//! computes it anew, so they are never in the way.

use super::demand;
use super::rates::{ClassId, ClassKind, Rates, Selector, indexed_array};
use crate::ast::{Kind, Term};
use crate::sharing::{FieldRef, Graph, NodeId, bodies};
use loop_lang::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};

/// The schedule of a graph.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Loops in the order in which they run.
    pub loops: Vec<PlannedLoop>,
    /// The loop that each node is in; none for leaves and generators that every user recomputes.
    pub loop_of: Vec<Option<usize>>,
    /// The inferred rates.
    pub rates: Rates,
    /// Which fields anything asks for.
    pub demand: demand::Demand,
    /// Fields of arrays that some loop writes to memory.
    pub stored: FxHashSet<FieldRef>,
}

/// One loop of a schedule.
#[derive(Clone, Debug, Default)]
pub struct PlannedLoop {
    /// The class of its outermost rate; none if it only computes delayed scalars.
    pub root: Option<ClassId>,
    /// Its combinators, in dependency order.
    pub nodes: Vec<NodeId>,
    /// Arrays that it writes to memory.
    pub arrays: Vec<FieldRef>,
    /// Delayed scalars that later loops or the user need.
    pub scalars: Vec<FieldRef>,
}

/// Plans a graph. `lengths` are its known lengths (see [`super::rates::known_lengths`]).
pub fn plan(graph: &Graph, lengths: &[Option<u64>]) -> Plan {
    let rates = super::rates::infer(graph, lengths);
    let mut c = Clustering {
        graph,
        loops: Vec::new(),
        by_root: FxHashMap::default(),
        loop_of: vec![None; graph.nodes.len()],
        free: free_generators(graph),
        rates,
        holds: Vec::new(),
    };
    for id in graph.ids() {
        if !graph.nodes[id.index()].leaf && !c.free[id.index()] && !c.is_alias(id) {
            c.assign(id);
        }
    }
    let Clustering {
        loops,
        loop_of,
        rates,
        ..
    } = c;
    let mut plan = Plan {
        loops,
        loop_of,
        rates,
        demand: demand::Demand::default(),
        stored: FxHashSet::default(),
    };
    find_outputs(graph, &mut plan);
    plan
}

/// Generators that are cheaper to compute again than to store and read: at most this many operators,
/// none of them a memory access, a scalar loop or a transcendental function.
const FREE_OPERATORS: usize = 6;

fn free_generators(graph: &Graph) -> Vec<bool> {
    let mut free: Vec<bool> = graph
        .nodes
        .iter()
        .map(|n| match &n.node.kind {
            // A length that is known when the program starts is a parameter.
            Kind::Len if !n.leaf => graph
                .fields(n.inputs[0])
                .first()
                .is_some_and(|(n, _)| graph.nodes[n.index()].leaf),
            Kind::Generate(_, body) if !n.leaf => {
                let cheap = |t: &Term| match t {
                    Term::Op(op, _) => {
                        !op.is_transcendental()
                            && !matches!(op, Op::Div | Op::Rem | Op::DivEuclid | Op::RemEuclid)
                    }
                    Term::Param(_) | Term::Lit(_) | Term::Scalar { .. } => true,
                    _ => false,
                };
                body.terms.len() <= FREE_OPERATORS + 4 && body.terms.iter().all(|t| cheap(&t.term))
            }
            _ => false,
        })
        .collect();
    // What must be in memory is computed once, in a loop.
    let mut stored = |id: NodeId| {
        for (n, _) in graph.fields(id) {
            if graph.node(n).rank > 0 {
                free[n.index()] = false;
            }
        }
    };
    graph.roots.iter().for_each(|r| stored(*r));
    for node in &graph.nodes {
        if node.leaf {
            continue;
        }
        if let Kind::Scatter(_) = node.node.kind
            && !is_constant(graph, node.inputs[0])
        {
            stored(node.inputs[0]);
        }
        for (body, captures) in bodies(&node.node.kind).iter().zip(&node.captures) {
            for (capture, id) in body.captures.iter().zip(captures) {
                if matches!(capture, crate::ast::Capture::Array(_)) {
                    stored(*id);
                }
            }
        }
    }
    free
}

/// Whether an array is one value repeated, so that a buffer can be filled with it.
pub fn is_constant(graph: &Graph, id: NodeId) -> bool {
    let n = &graph.nodes[id.index()];
    match &n.node.kind {
        Kind::Generate(_, body) if !n.leaf => body.results.iter().all(|r| {
            matches!(
                body.terms[r.index()].term,
                Term::Lit(_) | Term::Scalar { .. }
            )
        }),
        _ => false,
    }
}

struct Clustering<'g> {
    graph: &'g Graph,
    rates: Rates,
    loops: Vec<PlannedLoop>,
    by_root: FxHashMap<ClassId, Vec<usize>>,
    loop_of: Vec<Option<usize>>,
    free: Vec<bool>,
    /// Classes whose generator each loop holds.
    holds: Vec<FxHashSet<ClassId>>,
}

impl Clustering<'_> {
    /// Whether a node is nothing but another name for its inputs: no loop has to check anything for it.
    fn is_alias(&self, id: NodeId) -> bool {
        let node = &self.graph.nodes[id.index()];
        match node.node.kind {
            Kind::Fields(_) => true,
            Kind::Zip => {
                !self.rates.is_fresh(id)
                    && node
                        .inputs
                        .iter()
                        .all(|i| self.rates.known_equal(*i, node.inputs[0]))
            }
            _ => false,
        }
    }

    fn assign(&mut self, id: NodeId) {
        let after = self.earliest(id);
        let class = self.rates.runs_at(id);
        let chosen = match class {
            None => self.scalar_loop(after),
            Some(class) => self
                .beside_producers(id, class, after)
                .or_else(|| self.first_of_class(id, class, after))
                .unwrap_or_else(|| self.open(Some(class))),
        };
        self.loop_of[id.index()] = Some(chosen);
        self.loops[chosen].nodes.push(id);
        if let (Some(out), Kind::Filter(_) | Kind::Pack) =
            (self.rates.output(id), &self.graph.node(id).kind)
        {
            self.holds[chosen].insert(out);
        }
    }

    /// The first loop that may take a node, as far as its fusion-preventing edges go.
    fn earliest(&self, id: NodeId) -> usize {
        let node = &self.graph.nodes[id.index()];
        let is_scalar = self.rates.runs_at(id).is_none();
        let fresh = self.rates.is_fresh(id);
        let mut after = 0;
        for (i, input) in node.inputs.iter().enumerate() {
            let random = matches!(node.node.kind, Kind::Scatter(_)) && i == 0;
            after = after.max(self.made_by(*input, !random && !fresh));
            // A zip that checks lengths does so before its elements are used, and a free generator
            // brings what it captures along.
            after = after.max(self.loop_of[input.index()].unwrap_or(0));
            after = after.max(self.needs_of_free(*input));
        }
        for (body, captures) in bodies(&node.node.kind).iter().zip(&node.captures) {
            for (capture, n) in body.captures.iter().zip(captures) {
                // A delayed scalar computed from others may be computed where they are.
                let share = is_scalar && matches!(capture, crate::ast::Capture::Scalar(_));
                after = after.max(self.made_by(*n, share));
            }
        }
        match node.length {
            Some(n) if indexed_array(self.graph, id).is_none() => after.max(self.made_by(n, false)),
            _ => after,
        }
    }

    /// The loop by which a node is made; the one after, unless its user may share that loop. Nobody
    /// shares a scatter's: its result is complete after the loop only.
    fn made_by(&self, n: NodeId, may_share: bool) -> usize {
        let made = self.graph.fields(n).into_iter().filter_map(|(n, _)| {
            let l = self.loop_of[n.index()]?;
            let complete = matches!(self.graph.node(n).kind, Kind::Scatter(_));
            Some(if may_share && !complete { l } else { l + 1 })
        });
        made.max().unwrap_or(0)
    }

    fn needs_of_free(&self, id: NodeId) -> usize {
        self.graph
            .fields(id)
            .iter()
            .filter(|(n, _)| self.free[n.index()])
            .map(|(n, _)| {
                let node = &self.graph.nodes[n.index()];
                let indexed = indexed_array(self.graph, *n).is_some();
                node.captures
                    .iter()
                    .flatten()
                    .chain(node.length.iter().filter(|_| !indexed))
                    .filter_map(|c| self.scalar_loop_of(*c))
                    .map(|l| l + 1)
                    .max()
                    .unwrap_or(0)
            })
            .max()
            .unwrap_or(0)
    }

    fn scalar_loop_of(&self, id: NodeId) -> Option<usize> {
        let (n, _) = self.graph.resolve(id, 0);
        self.loop_of[n.index()]
    }

    /// The first loop that holds a producer of the node and can take it.
    fn beside_producers(&self, id: NodeId, class: ClassId, after: usize) -> Option<usize> {
        let inputs = &self.graph.nodes[id.index()].inputs;
        let loops = inputs
            .iter()
            .filter_map(|i| self.producer_loop(*i))
            .filter(|l| *l >= after);
        loops.filter(|l| self.can_take(*l, id, class)).min()
    }

    /// The first loop over the node's class, or over one above it, that can take the node.
    fn first_of_class(&self, id: NodeId, class: ClassId, after: usize) -> Option<usize> {
        let mut found = None;
        let mut at = Some(class);
        while let Some(c) = at {
            let loops = self.by_root.get(&c).into_iter().flatten().copied();
            let first = loops
                .filter(|l| *l >= after)
                .find(|l| self.can_take(*l, id, class));
            found = found.into_iter().chain(first).min();
            at = match self.rates.kind(c) {
                ClassKind::Sub(parent, _) => Some(parent),
                ClassKind::Root => None,
            };
        }
        found
    }

    fn producer_loop(&self, id: NodeId) -> Option<usize> {
        self.graph
            .fields(id)
            .iter()
            .filter_map(|(n, _)| self.loop_of[n.index()])
            .max()
    }

    /// Whether the loop has the node's class, and every input either in it or in memory at its root.
    fn can_take(&self, l: usize, id: NodeId, class: ClassId) -> bool {
        // A loop that holds the generator of a class holds those of all classes above it.
        if self.loops[l].root != Some(class) && !self.holds[l].contains(&class) {
            return false;
        }
        let node = &self.graph.nodes[id.index()];
        let streamed = match node.node.kind {
            Kind::Scatter(_) => &node.inputs[1..],
            _ => &node.inputs[..],
        };
        streamed.iter().all(|input| {
            let at_root = self.rates.output(*input) == self.loops[l].root;
            self.graph
                .fields(*input)
                .iter()
                .all(|(n, _)| match self.loop_of[n.index()] {
                    Some(p) if p == l => true,
                    Some(p) => p < l && at_root,
                    None => self.free[n.index()] || at_root,
                })
        })
    }

    fn open(&mut self, root: Option<ClassId>) -> usize {
        let l = self.loops.len();
        self.loops.push(PlannedLoop {
            root,
            ..PlannedLoop::default()
        });
        self.holds.push(FxHashSet::default());
        if let Some(class) = root {
            self.by_root.entry(class).or_default().push(l);
        }
        l
    }

    /// The loop after which a delayed scalar can be computed from others.
    fn scalar_loop(&mut self, after: usize) -> usize {
        if after < self.loops.len() {
            after
        } else {
            self.open(None)
        }
    }
}

/// Finds what each loop must hand on: to later loops, to random access, to the user.
fn find_outputs(graph: &Graph, plan: &mut Plan) {
    let mut wanted: FxHashSet<FieldRef> = FxHashSet::default();
    plan.demand = demand::demand(graph, &plan.loop_of);
    for (id, needs) in graph.ids().zip(&plan.demand.uses) {
        let at = plan.loop_of[id.index()];
        wanted.extend(
            needs
                .iter()
                .copied()
                .filter(|f| plan.loop_of[f.0.index()] != at),
        );
    }
    for r in &graph.roots {
        wanted.extend(graph.fields(*r));
    }
    let mut wanted: Vec<FieldRef> = wanted.into_iter().collect();
    wanted.sort_unstable();
    for f in wanted {
        if let Some(l) = plan.loop_of[f.0.index()] {
            if graph.node(f.0).rank == 0 {
                plan.loops[l].scalars.push(f);
            } else {
                plan.loops[l].arrays.push(f);
                plan.stored.insert(f);
            }
        }
    }
}

impl Plan {
    /// The selector of a class below a root.
    pub fn selector(&self, class: ClassId) -> Option<(ClassId, Selector)> {
        match self.rates.kind(class) {
            ClassKind::Sub(parent, by) => Some((parent, by)),
            ClassKind::Root => None,
        }
    }
}
