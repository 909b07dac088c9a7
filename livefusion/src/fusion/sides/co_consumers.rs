//! Co-consumers of a zip side: finds them, and checks that all can be fused.
//!
//! A co-consumer consumes nodes of the side, or other co-consumers, at one of the side's classes.
//! Its other inputs are arrays in memory. Some co-consumers come later than the zip in the graph,
//! so their classes are not inferred yet. They follow from the classes of their inputs.

use super::{MOST_CO_CONSUMERS, NodeUsers, Side, end_apart};
use crate::ast::Kind;
use crate::fusion::rates::{ClassId, ClassKind, Rates, Selector};
use crate::sharing::{Graph, NodeId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximal number of nodes to visit in deciding whether a zip waits for co-consumers of its
/// sides.
const MOST_BEFORE: usize = 1024;

impl Side {
    /// Finds the co-consumers of a side. Returns false if one cannot run in its cursors, or if the
    /// zip waits for one.
    pub(super) fn find_co_consumers(
        &mut self,
        graph: &Graph,
        rates: &Rates,
        users: &NodeUsers,
        (zip, equal_zips): (NodeId, &[NodeId]),
    ) -> bool {
        let is_zip = |n: NodeId| n == zip || equal_zips.contains(&n);
        let here = |n: NodeId| is_zip(n) || self.nodes.binary_search(&n).is_ok();
        let used: Vec<NodeId> = self
            .nodes
            .iter()
            .copied()
            .filter(|n| !users.are_all(*n, here))
            .collect();
        let inside = Companion::of(self, rates);
        let shared_inside = inside.is_shared || inside.has_equal_zips(rates);
        self.is_shared = !used.is_empty();
        if !self.is_shared && equal_zips.is_empty() && !shared_inside {
            return true;
        }
        // A shared side must deliver all its elements, so all sides must end together.
        if end_apart(graph, zip) {
            return false;
        }
        // After an early exit, the side has no further elements for other consumers.
        let ends = self
            .nodes
            .iter()
            .filter(|n| graph.node(**n).kind.facts().ends);
        let ended: Vec<ClassId> = ends.filter_map(|n| rates.output(*n)).collect();
        let has_all = |n: NodeId| {
            let is_behind =
                |end: &ClassId| rates.output(n).is_some_and(|c| rates.is_within(c, *end));
            ended.iter().all(is_behind)
        };
        // The number of filtered elements of a segment is unknown here.
        let has = |n: &NodeId| has_all(*n) && !matches!(graph.node(*n).kind, Kind::CountS);
        let captured = self.nodes.iter().any(|n| users.is_captured[n.index()]);
        if captured || !used.iter().all(has) || shared_inside && !ended.is_empty() {
            return false;
        }
        let others = used.iter().flat_map(|n| {
            users.of[n.index()]
                .iter()
                .copied()
                .filter(|user| !here(*user))
                .take(MOST_CO_CONSUMERS + 1)
        });
        let Some(co_consumers) = behind(graph, users, others.collect()) else {
            return false;
        };
        if !Classes::of(graph, rates, self).are_known(&co_consumers) {
            return false;
        }
        self.co_consumers = co_consumers;
        // An early exit of the zip's consumer may leave the loop while co-consumers still need the
        // sides.
        let ends = |n: &NodeId| users.may_end[n.index()];
        let may_end = ends(&zip) || self.co_consumers.iter().chain(equal_zips).any(ends);
        !may_end && !self.waits(graph, rates, equal_zips, zip)
    }

    /// Whether a zip depends on an equal zip, or on co-consumers of a side or of a nested zip. Also
    /// true if the search takes too long.
    fn waits(&self, graph: &Graph, rates: &Rates, equal_zips: &[NodeId], zip: NodeId) -> bool {
        let along = Companion::of(self, rates);
        let (mut seen, mut stack): (FxHashSet<NodeId>, _) = (FxHashSet::default(), vec![zip]);
        while let Some(id) = stack.pop() {
            if !seen.insert(id) {
                continue;
            }
            if seen.len() > MOST_BEFORE || equal_zips.contains(&id) || along.has(rates, id) {
                return true;
            }
            let node = &graph.nodes[id.index()];
            if !node.leaf {
                stack.extend(node.inputs.iter().chain(node.captures.iter().flatten()));
                stack.extend(node.length);
                stack.extend(rates.loop_of_zip(id));
            }
        }
        false
    }
}

/// Some nodes and all their dependents with elements, in dependency order. None if one cannot run
/// in cursors.
fn behind(graph: &Graph, users: &NodeUsers, mut co_consumers: Vec<NodeId>) -> Option<Vec<NodeId>> {
    let (mut seen, mut next): (FxHashSet<NodeId>, _) = (FxHashSet::default(), 0);
    co_consumers.retain(|n| seen.insert(*n));
    while let Some(id) = co_consumers.get(next).copied() {
        let node = &graph.nodes[id.index()];
        let goes_on = node.node.rank > 0;
        next += 1;
        let too_many = co_consumers.len() > MOST_CO_CONSUMERS;
        if too_many
            || node.leaf
            || !node.node.kind.facts().runs_along
            || goes_on && users.is_captured[id.index()]
        {
            return None;
        }
        if goes_on {
            let users = users.of[id.index()]
                .iter()
                .copied()
                .take(MOST_CO_CONSUMERS + 1);
            co_consumers.extend(users.filter(|n| seen.insert(*n)));
        }
    }
    co_consumers.sort_unstable();
    Some(co_consumers)
}

/// The class of a co-consumer's elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum ElementClass {
    /// An inferred class.
    Known(ClassId),
    /// A class that is not inferred yet, by position.
    New(usize),
}

/// The classes of a side's nodes and of its co-consumers.
struct Classes<'g> {
    graph: &'g Graph,
    rates: &'g Rates,
    side: &'g Side,
    co_consumers: FxHashMap<NodeId, Option<ElementClass>>,
    /// The subrates of a class.
    subs: FxHashMap<(ElementClass, Selector), ElementClass>,
}

impl<'g> Classes<'g> {
    /// The classes of a side's nodes.
    fn of(graph: &'g Graph, rates: &'g Rates, side: &'g Side) -> Classes<'g> {
        let mut classes = Classes {
            graph,
            rates,
            side,
            co_consumers: FxHashMap::default(),
            subs: FxHashMap::default(),
        };
        side.nodes
            .iter()
            .filter_map(|n| rates.output(*n))
            .for_each(|c| classes.know(c));
        classes
    }

    fn know(&mut self, class: ClassId) {
        if let ClassKind::Sub(parent, by) = self.rates.kind(class) {
            self.subs.insert(
                (ElementClass::Known(parent), by),
                ElementClass::Known(class),
            );
        }
    }

    /// Finds the classes of co-consumers, in dependency order. Returns false if a co-consumer's
    /// inputs do not share a class.
    fn are_known(&mut self, co_consumers: &[NodeId]) -> bool {
        co_consumers.iter().all(|id| {
            let Some(runs_at) = self.runs_at(*id) else {
                return false;
            };
            let output = self.output(*id, runs_at);
            self.co_consumers.insert(*id, output);
            true
        })
    }

    /// The common class of a co-consumer's inputs. All others must be arrays in memory.
    fn runs_at(&self, id: NodeId) -> Option<ElementClass> {
        let mut one: Option<ElementClass> = None;
        for input in &self.graph.nodes[id.index()].inputs {
            let class = if let Some(class) = self.co_consumers.get(input) {
                (*class)?
            } else if self.side.nodes.binary_search(input).is_ok() {
                ElementClass::Known(self.rates.output(*input)?)
            } else {
                let mut fields = self.graph.fields(*input).into_iter();
                match fields.all(|(n, _)| self.graph.nodes[n.index()].leaf) {
                    true => continue,
                    false => return None,
                }
            };
            if one.is_some_and(|one| one != class) {
                return None;
            }
            one = Some(class);
        }
        one
    }

    /// The class of a co-consumer's elements, if it has any.
    fn output(&mut self, id: NodeId, runs_at: ElementClass) -> Option<ElementClass> {
        let node = &self.graph.nodes[id.index()];
        if let Some(class) = self.rates.output(id) {
            self.know(class);
            return Some(ElementClass::Known(class));
        }
        let by = match node.node.kind {
            Kind::Filter(_) => Selector::Filter(id),
            Kind::Pack => Selector::Tags(self.graph.resolve(node.inputs[1], 0)),
            _ => return (node.node.rank > 0).then_some(runs_at),
        };
        let new = ElementClass::New(self.subs.len());
        Some(*self.subs.entry((runs_at, by)).or_insert(new))
    }
}

/// The nodes of a side and of nested zips' sides, and their co-consumers.
#[derive(Default)]
struct Companion {
    inside: FxHashSet<NodeId>,
    co_consumers: FxHashSet<NodeId>,
    is_shared: bool,
}

impl Companion {
    fn of(side: &Side, rates: &Rates) -> Companion {
        let (mut along, mut sides) = (Companion::default(), vec![side]);
        while let Some(side) = sides.pop() {
            along.inside.extend(&side.nodes);
            along.co_consumers.extend(&side.co_consumers);
            along.is_shared |= side.is_shared;
            let zips = side.nodes.iter().filter_map(|n| rates.sides(*n));
            sides.extend(zips.flatten());
        }
        along
    }

    /// Whether a nested zip has equal zips.
    fn has_equal_zips(&self, rates: &Rates) -> bool {
        self.inside.iter().any(|n| rates.has_equal_zips(*n))
    }

    /// Whether a node is a co-consumer, or an equal zip of a nested zip.
    fn has(&self, rates: &Rates, id: NodeId) -> bool {
        let is_equal = rates
            .equal_zip(id)
            .is_some_and(|z| self.inside.contains(&z));
        self.co_consumers.contains(&id) || is_equal && !self.inside.contains(&id)
    }
}
