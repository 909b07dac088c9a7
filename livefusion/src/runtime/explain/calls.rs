//! User calls: maps nodes back to calls, and lists the data flow between them.

use crate::ast::{Kind, Node};
use crate::fusion::{Crossing, Plan};
use crate::loc::Loc;
use crate::sharing::{FieldRef, Graph, NodeId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::mem::{Discriminant, discriminant};

/// Locates the computation of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In memory before the program starts.
    Input,
    /// In each loop that uses it. Recomputing is cheaper than storing.
    Free,
    /// In this loop.
    Loop(usize),
}

/// Describes a combinator as the user called it.
///
/// `mean` is one call and three nodes of the graph.
#[derive(Clone, Debug)]
pub struct Call {
    /// The name of the call.
    pub name: &'static str,
    /// Its source location.
    pub loc: Loc,
    /// The place of its first computation.
    pub place: Place,
    /// The later loops that rematerialise it or parts of it.
    pub remat: Vec<usize>,
    /// Element types and length, if known: `f64[100]`.
    pub shape: String,
    /// Whether its elements are computed at their uses rather than at a rate of its own.
    pub is_inlined: bool,
    /// Whether the program returns it.
    pub is_result: bool,
    /// The earlier force that put its array into memory.
    pub kept: Option<EarlierForce>,
    /// Its nodes in the recovered graph.
    pub nodes: Vec<NodeId>,
}

/// Describes a force before the explained program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EarlierForce {
    /// The call of [`force`](crate::Force::force), or none if another call forced the array.
    pub loc: Option<Loc>,
}

impl EarlierForce {
    /// The force that computed an array. An input of the program has none.
    fn of(node: &Node) -> Option<EarlierForce> {
        let is_input = matches!(node.kind, Kind::Manifest | Kind::Input(_));
        let is_kept = node.value.get().is_some() && node.rank > 0 && !is_input;
        is_kept.then(|| EarlierForce {
            loc: node.forced.get().copied(),
        })
    }
}

/// Describes the data flow between two calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flow {
    /// The producer, by position in [`Explanation::calls`](super::Explanation::calls).
    pub from: usize,
    /// The consumer.
    pub to: usize,
    /// Why the two calls are in different loops, if they are.
    pub reason: Option<String>,
    /// A change that would fuse them.
    pub help: Option<&'static str>,
}

/// The calls of a graph, in the order of their first nodes.
#[derive(Default)]
pub(super) struct Calls {
    pub(super) all: Vec<Call>,
    of: FxHashMap<NodeId, usize>,
    /// For each node the first loop that computes it.
    first_loops: Vec<Option<usize>>,
}

/// The kinds of nodes in a call under construction.
type Kinds = FxHashSet<Discriminant<Kind>>;

impl Calls {
    /// Recovers the calls. A `zip` or `unzip` that only renames its inputs is not a call.
    pub(super) fn recover(graph: &Graph, plan: &Plan) -> Calls {
        let (places, first_loops) = places(graph, plan);
        let results: FxHashSet<NodeId> = graph
            .roots
            .iter()
            .flat_map(|r| graph.fields(*r))
            .map(|(n, _)| n)
            .collect();
        let mut calls = Calls {
            first_loops,
            ..Calls::default()
        };
        let (mut kinds, mut remat) = (Vec::<Kinds>::new(), remat(plan));
        for id in graph.ids() {
            let Some(place) = places[id.index()] else {
                continue;
            };
            let node = graph.node(id);
            let at = calls.all.len();
            calls.all.push(Call {
                name: node.name,
                loc: node.loc,
                place,
                remat: remat.remove(&id).unwrap_or_default(),
                // The last node is the call's result.
                shape: node.show_shape(),
                is_inlined: place != Place::Input && plan.loop_of[id.index()].is_none(),
                is_result: results.contains(&id),
                kept: EarlierForce::of(node).filter(|_| place == Place::Input),
                nodes: vec![id],
            });
            kinds.push(Kinds::from_iter([discriminant(&node.kind)]));
            calls.of.insert(id, at);
            for n in producers(plan, id) {
                if let Some(part) = calls.of(n)
                    && part != at
                    && kinds[part].is_disjoint(&kinds[at])
                    && calls.is_one(plan, part, at)
                {
                    calls.join(part, at);
                    let of_part = std::mem::take(&mut kinds[part]);
                    kinds[at].extend(of_part);
                }
            }
        }
        calls.compact();
        calls
    }

    /// Returns the first loop that computes a node.
    pub(super) fn first_loop(&self, id: NodeId) -> Option<usize> {
        self.first_loops.get(id.index()).copied().flatten()
    }

    /// Merges the nodes of one call into another.
    fn join(&mut self, part: usize, whole: usize) {
        let nodes = std::mem::take(&mut self.all[part].nodes);
        let remat = std::mem::take(&mut self.all[part].remat);
        let known = &mut self.all[whole].remat;
        known.extend(remat);
        known.sort_unstable();
        known.dedup();
        for n in &nodes {
            self.of.insert(*n, whole);
        }
        self.all[whole].is_inlined &= self.all[part].is_inlined;
        self.all[whole].is_result |= self.all[part].is_result;
        self.all[whole].nodes.extend(nodes);
        self.all[whole].nodes.sort_unstable();
    }

    /// Drops calls that were merged into others.
    fn compact(&mut self) {
        self.all.retain(|c| !c.nodes.is_empty());
        self.all.sort_by_key(|c| c.nodes[0]);
        for (at, call) in self.all.iter().enumerate() {
            self.of.extend(call.nodes.iter().map(|n| (*n, at)));
        }
    }

    /// Tells whether two sets of nodes look like parts of one call.
    ///
    /// They need one name, one location and one place. No path from one to the other may pass
    /// through further calls: those would be both before and after the merged call. A user's loop
    /// makes several calls at one location; these repeat a kind.
    fn is_one(&self, plan: &Plan, part: usize, whole: usize) -> bool {
        let (a, b) = (&self.all[part], &self.all[whole]);
        let in_no_loop = a.nodes.iter().all(|n| plan.loop_of[n.index()].is_none());
        if a.place == Place::Input
            || (a.loc, a.place) != (b.loc, b.place)
            || a.name != b.name && !in_no_loop
        {
            return false;
        }
        let inside = |n: NodeId| matches!(self.of(n), Some(c) if c == part || c == whole);
        let Some(first) = a.nodes.iter().chain(&b.nodes).min().copied() else {
            return false;
        };
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        let mut stack: Vec<NodeId> = a.nodes.iter().chain(&b.nodes).copied().collect();
        while let Some(n) = stack.pop() {
            for producer in producers(plan, n).into_iter().filter(|p| *p >= first) {
                match inside(producer) {
                    true if inside(n) => {}
                    true => return false,
                    false => {
                        // The nodes of another call stand or fall together.
                        let whole = self.of(producer).map(|c| self.all[c].nodes.as_slice());
                        let alone = [producer];
                        let nodes = whole.unwrap_or(&alone);
                        stack.extend(nodes.iter().filter(|n| seen.insert(**n)));
                    }
                }
            }
        }
        true
    }

    /// Returns the call of a node.
    pub(super) fn of(&self, id: NodeId) -> Option<usize> {
        self.of.get(&id).copied()
    }

    /// Lists the flows between calls, in the order of the producers.
    pub(super) fn flows(&self, graph: &Graph, plan: &Plan) -> Vec<Flow> {
        let reasons = self.reasons(plan);
        let mut flows: Vec<Flow> = Vec::new();
        let mut known: FxHashSet<(usize, usize)> = FxHashSet::default();
        for (to, call) in self.all.iter().enumerate() {
            let producers = call.nodes.iter().flat_map(|id| producers(plan, *id));
            for from in producers.filter_map(|n| self.of(n)) {
                if from != to && known.insert((from, to)) {
                    let users = [Some(User::Call(to)), self.in_loop(to), Some(User::Any)];
                    let mut users = users.into_iter().flatten().map(|u| (from, u));
                    let crossing = users.find_map(|key| reasons.get(&key));
                    let crossing = crossing.filter(|_| self.crosses(from, to));
                    let apart = !self.all[from].is_part_of(&self.all[to]);
                    flows.push(Flow {
                        from,
                        to,
                        reason: crossing.map(|c| because(graph, c)),
                        help: crossing.filter(|_| apart).map(|c| c.reason.help()),
                    });
                }
            }
        }
        flows.sort_by_key(|flow| (flow.from, flow.to));
        flows
    }

    /// Collects the plan's reasons. An operand of several rematerialised nodes is reported for
    /// those nodes.
    fn reasons<'p>(&self, plan: &'p Plan) -> FxHashMap<(usize, User), &'p Crossing> {
        let mut reasons = FxHashMap::default();
        for crossing in &plan.crossings {
            if let (Some(from), Some(to)) = (self.of(crossing.from.0), self.of(crossing.to)) {
                let users = [Some(User::Call(to)), self.in_loop(to), Some(User::Any)];
                for user in users.into_iter().flatten() {
                    reasons.entry((from, user)).or_insert(crossing);
                }
            }
        }
        reasons
    }

    fn in_loop(&self, call: usize) -> Option<User> {
        match self.all[call].place {
            Place::Loop(l) => Some(User::InLoop(l)),
            _ => None,
        }
    }

    fn crosses(&self, from: usize, to: usize) -> bool {
        let (from, to) = (&self.all[from], &self.all[to]);
        let elsewhere = |l: usize| !from.loops().any(|made| made == l);
        matches!(from.place, Place::Loop(_))
            && (to.place == Place::Free || to.loops().any(elsewhere))
    }
}

impl Call {
    /// Tells whether two calls are parts of one call by the user. Between such calls, the user can
    /// change nothing.
    pub(super) fn is_part_of(&self, other: &Call) -> bool {
        (self.name, self.loc) == (other.name, other.loc)
    }

    /// Lists the loops that compute it.
    pub fn loops(&self) -> impl Iterator<Item = usize> {
        let first = match self.place {
            Place::Loop(l) => Some(l),
            _ => None,
        };
        first.into_iter().chain(self.remat.iter().copied())
    }
}

/// Lists the loops that rematerialise each node.
fn remat(plan: &Plan) -> FxHashMap<NodeId, Vec<usize>> {
    let mut remat: FxHashMap<NodeId, Vec<usize>> = FxHashMap::default();
    for (at, l) in plan.loops.iter().enumerate() {
        for id in &l.copies {
            remat.entry(*id).or_default().push(at);
        }
    }
    remat
}

/// A consumer of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum User {
    Call(usize),
    InLoop(usize),
    Any,
}

/// Lists the nodes whose results a node reads.
///
/// An operand that the node recomputes is replaced by that operand's own producers.
fn producers(plan: &Plan, id: NodeId) -> Vec<NodeId> {
    let (needs, uses) = (
        &plan.demand.needs[id.index()],
        &plan.demand.uses[id.index()],
    );
    let is_taken = |f: &&FieldRef| plan.loop_of[f.0.index()].is_none() || uses.contains(f);
    let mut taken: Vec<NodeId> = needs.iter().filter(is_taken).map(|f| f.0).collect();
    if taken.len() < needs.len() {
        taken.extend(uses.iter().map(|f| f.0));
    }
    taken
}

fn because(graph: &Graph, crossing: &Crossing) -> String {
    match crossing.between {
        Some(id) => {
            let node = graph.node(id);
            let at = super::text::short(node.loc);
            format!("{}: `{}` at {at}", crossing.reason, node.name)
        }
        None => crossing.reason.to_string(),
    }
}

/// Returns the place and first loop of every node that is computed, or in memory and used.
fn places(graph: &Graph, plan: &Plan) -> (Vec<Option<Place>>, Vec<Option<usize>>) {
    let mut first_loops = plan.loop_of.clone();
    let mut used: Vec<Option<UsePlace>> = vec![None; graph.nodes.len()];
    for r in &graph.roots {
        for (n, _) in graph.fields(*r) {
            used[n.index()] = Some(UsePlace::Several);
        }
    }
    let mut places = vec![None; graph.nodes.len()];
    for id in graph.ids().rev() {
        let entry = &graph.nodes[id.index()];
        let node = &entry.node;
        let place = match plan.loop_of[id.index()] {
            Some(l) => Some(Place::Loop(l)),
            None if used[id.index()].is_none() => None,
            None if entry.leaf => Some(Place::Input),
            None if node.kind.facts().names() => None,
            None => match used[id.index()] {
                Some(UsePlace::In(place)) => Some(place),
                _ => Some(Place::Free),
            },
        };
        places[id.index()] = place;
        if let Some(place) = place {
            let first_loop = first_loops[id.index()];
            for n in producers(plan, id) {
                if plan.loop_of[n.index()].is_none() {
                    let first = &mut first_loops[n.index()];
                    *first = (*first).into_iter().chain(first_loop).min();
                }
                let known = &mut used[n.index()];
                *known = match known {
                    None => Some(UsePlace::In(place)),
                    Some(UsePlace::In(other)) if *other == place => continue,
                    Some(_) => Some(UsePlace::Several),
                };
            }
        }
    }
    (places, first_loops)
}

/// The places of a node's uses.
#[derive(Clone, Copy)]
enum UsePlace {
    In(Place),
    Several,
}
