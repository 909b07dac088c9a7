//! Zip cursors: plans the inputs that a zip advances on demand.
//!
//! Inputs that advance at different rates need cursors of their own.
//!
//! For example, a zip of `filter p xs` and `filter q ys` needs the next element of each input,
//! however many steps that takes. Inputs of one class form one *side* and advance together. The
//! zip's own loop computes a side if all nodes between memory and the zip allow it. Allowed are
//! maps, filters, packs, scans, elements of segments, early exits and further zips. Other inputs
//! are read from memory, one element at a time.
//!
//! Other consumers of a side run in its cursors, as *co-consumers* ([`co_consumers`](Side::co_consumers)). All
//! sides of a zip end together, so co-consumers see all elements. A later zip of the same inputs is
//! an *equal zip* ([`equal_zips`]). It reads the elements that the first zip's cursors deliver. The
//! sides of a `zip_shortest` [end apart](end_apart), so it has neither.
//!
//! A merge is a zip with independent sides. Each advances by itself, even if two have one class,
//! and resumes after the last element taken. All sides end together, because a merge ends when no
//! side has an element left. An append on a side has its parts as sides of its own. They are
//! advanced one after the other.
//!
//! A side is a cursor over the source of its elements. For elements of segments, it is a cursor
//! over the elements with an inner cursor over the segments. The inner cursor advances when a
//! segment is used up. So cursors are nested in the reverse order of the class tree. Each of these
//! cursors is a [`CursorLevel`].

mod co_consumers;
mod users;

pub use users::NodeUsers;

use super::cluster::budget;
use super::cluster::free::is_cheap;
use super::rates::{ClassId, ClassKind, Rates, Selector, indexed_array};
use crate::ast::{Kind, OnSide};
use crate::sharing::{FieldRef, Graph, NodeId};
use rustc_hash::FxHashSet;

/// The maximal number of cursors of one side. A side with more goes through memory.
const MOST_CURSORS: usize = 8;

/// The maximal weight of all sides of a zip. They are in one loop that cannot be cut, so heavier
/// sides go through memory.
const MOST_CODE: u32 = 2 * budget::BUDGET;

/// The maximal number of nodes of one side. More would not fit any loop, and each side is searched
/// separately.
const MOST_NODES: usize = 1024;

/// The maximal number of co-consumers of a side.
const MOST_CO_CONSUMERS: usize = 64;

/// Describes inputs of a zip that its loop computes and advances together.
#[derive(Clone, Debug)]
pub struct Side {
    /// The class of the inputs' elements.
    pub class: ClassId,
    /// The positions of the inputs.
    pub inputs: Vec<usize>,
    /// The nodes that compute the inputs, in dependency order.
    pub nodes: Vec<NodeId>,
    /// The co-consumers: other consumers of these nodes, without equal zips.
    pub co_consumers: Vec<NodeId>,
    /// Whether the side has another use: co-consumers, or a result.
    pub is_shared: bool,
    /// Its cursors: first over its elements, then over their segments, and so on.
    pub levels: Vec<CursorLevel>,
}

/// Describes one cursor of a side.
#[derive(Clone, Copy, Debug)]
pub struct CursorLevel {
    /// The class that the cursor iterates over: a root, or the elements of segments.
    pub class: ClassId,
    /// The class of the delivered elements: `class`, or a subset that filters leave.
    pub delivers: ClassId,
    /// The lengths of the segments that the cursor iterates over; the next level delivers them.
    /// None for the last level. Its source is in memory, is an index function, or has sides of its
    /// own (a zip or an append).
    pub segments: Option<FieldRef>,
}

/// Returns the sides of a zip whose inputs have different classes.
///
/// None if no subrate can be computed in the zip's loop. Also none if there are equal zips and an
/// input is in memory.
pub fn find(graph: &Graph, rates: &Rates, users: &NodeUsers, id: NodeId) -> Option<Vec<Side>> {
    let inputs = &graph.nodes[id.index()].inputs;
    let mut sides: Vec<Side> = Vec::new();
    for (k, input) in inputs.iter().enumerate() {
        let class = rates.output(*input)?;
        // A merge takes elements of each input independently, even if their classes are equal.
        let together = !matches!(graph.node(id).kind, Kind::Merge(_));
        match sides.iter_mut().find(|s| together && s.class == class) {
            Some(side) => side.inputs.push(k),
            None => sides.push(Side::of(class, k)),
        }
    }
    let equal_zips = equal_zips(graph, users, id);
    let mut weight = 0u32;
    sides.retain_mut(|side| {
        let is_on_demand = side.is_on_demand(graph, rates, users, (id, &equal_zips));
        let more = weight.saturating_add(side.weight(graph, rates));
        let fits = is_on_demand && more <= MOST_CODE;
        weight = if fits { more } else { weight };
        fits
    });
    // Equal zips take all their operands from the sides.
    let on_sides = |k| sides.iter().any(|s| s.inputs.contains(&k));
    if !equal_zips.is_empty() && !(0..inputs.len()).all(on_sides) {
        return None;
    }
    let is_root = |s: &Side| rates.kind(s.class) == ClassKind::Root;
    (advances(graph, id) || !sides.iter().all(is_root)).then_some(sides)
}

/// Returns whether a node's loop discovers its length by advancing its inputs.
pub fn advances(graph: &Graph, n: NodeId) -> bool {
    matches!(graph.node(n).kind, Kind::ZipShortest | Kind::Merge(_))
}

/// Returns the parts of an append as sides.
///
/// They serve a zip with the append on a side.
///
/// Parts that cannot be computed there are in memory.
pub fn parts(graph: &Graph, rates: &Rates, users: &NodeUsers, id: NodeId) -> Option<Vec<Side>> {
    let inputs = graph.nodes[id.index()].inputs.iter().enumerate();
    let part = |(k, input): (usize, &NodeId)| {
        let mut part = Side::of(rates.output(*input)?, k);
        if !part.is_on_demand(graph, rates, users, (id, &[])) {
            part = Side::of(part.class, k);
            part.levels = vec![CursorLevel {
                class: part.class,
                delivers: part.class,
                segments: None,
            }];
        }
        Some(part)
    };
    inputs.map(part).collect()
}

/// Returns whether one side of a zip may end before the others.
///
/// The first side to end then ends the zip.
pub fn end_apart(graph: &Graph, zip: NodeId) -> bool {
    matches!(graph.node(zip).kind, Kind::ZipShortest)
}

impl Side {
    /// An empty side for one input.
    fn of(class: ClassId, input: usize) -> Side {
        Side {
            class,
            inputs: vec![input],
            nodes: Vec::new(),
            co_consumers: Vec::new(),
            is_shared: false,
            levels: Vec::new(),
        }
    }

    /// Finds the nodes of the side and its co-consumers. Returns false if the side goes through
    /// memory.
    fn is_on_demand(
        &mut self,
        graph: &Graph,
        rates: &Rates,
        users: &NodeUsers,
        zip: (NodeId, &[NodeId]),
    ) -> bool {
        // A side with aliases only is in memory.
        let computes = |n: &NodeId| {
            let names = graph.node(*n).kind.facts().names();
            !names || rates.sides(*n).is_some()
        };
        let computed = self.collect(graph, rates, zip.0) && self.nodes.iter().any(computes);
        let fits = computed && self.weight(graph, rates) <= MOST_CODE;
        fits && self.find_co_consumers(graph, rates, users, zip)
    }

    /// Returns the level that runs the nodes of a class.
    pub fn level(&self, rates: &Rates, class: ClassId) -> Option<usize> {
        let mut levels = self.levels.iter();
        levels.position(|l| rates.is_within(class, rates.now(l.class)))
    }

    /// Collects the nodes to compute. Returns false if one cannot be computed on demand.
    fn collect(&mut self, graph: &Graph, rates: &Rates, zip: NodeId) -> bool {
        let inputs = &graph.nodes[zip.index()].inputs;
        let wanted = self.inputs.iter().map(|k| Need::Elements(inputs[*k]));
        let mut collecting = Collecting {
            graph,
            rates,
            levels: levels(rates, self.class),
            depth: 0,
            seen: FxHashSet::default(),
            counts: FxHashSet::default(),
            stack: wanted.collect(),
        };
        // Inputs on other sides or in memory have positions of their own.
        let others = (0..inputs.len()).filter(|k| !self.inputs.contains(k));
        let mut others = others.flat_map(|k| graph.fields(inputs[k]));
        if !collecting.all() || others.any(|(maker, _)| collecting.seen.contains(&maker)) {
            return false;
        }
        let mut nodes: Vec<NodeId> = collecting
            .seen
            .into_iter()
            .chain(collecting.counts)
            .collect();
        nodes.sort_unstable();
        self.nodes = nodes;
        self.levels = collecting.levels;
        self.levels.truncate(collecting.depth + 1);
        if let Some(last) = self.levels.last_mut() {
            last.segments = None;
        }
        self.cursors(rates) <= MOST_CURSORS
    }

    /// Returns the nodes that end a cursor's elements before their source ends.
    pub fn ends(&self, rates: &Rates, level: &CursorLevel) -> Vec<NodeId> {
        let up = |c: &ClassId| rates.parent(*c);
        let around = std::iter::successors(Some(rates.now(level.delivers)), up);
        let inside = around.take_while(|c| *c != rates.now(level.class));
        let ends = inside.filter_map(|c| match rates.kind(c) {
            ClassKind::Sub(_, Selector::While(id)) => Some(id),
            _ => None,
        });
        ends.filter(|id| self.nodes.binary_search(id).is_ok())
            .collect()
    }

    /// The code size of the side, including nested zips.
    fn weight(&self, graph: &Graph, rates: &Rates) -> u32 {
        let cursors = (self.levels.len() as u32).saturating_mul(budget::SIDE);
        let own = self.nodes.iter().map(|n| budget::alone(graph, *n));
        let zips = self.nodes.iter().filter_map(|n| rates.sides(*n)).flatten();
        let zips = zips.map(|side| side.weight(graph, rates));
        own.chain(zips).fold(cursors, u32::saturating_add)
    }

    /// The number of cursors of the side, including nested zips.
    fn cursors(&self, rates: &Rates) -> usize {
        let zips = self.nodes.iter().filter_map(|n| rates.sides(*n)).flatten();
        zips.fold(self.levels.len(), |sum, side| sum + side.cursors(rates))
    }
}

/// Returns the later zips with the same inputs, in any order.
pub fn equal_zips(graph: &Graph, users: &NodeUsers, zip: NodeId) -> Vec<NodeId> {
    if advances(graph, zip) {
        return Vec::new();
    }
    let inputs = &graph.nodes[zip.index()].inputs;
    let number_of_users = |n: &&NodeId| users.of[n.index()].len();
    let Some(rarest) = inputs.iter().min_by_key(number_of_users) else {
        return Vec::new();
    };
    let is_equal = |n: &NodeId| {
        let node = &graph.nodes[n.index()];
        let zips = matches!(node.node.kind, Kind::Map(_) | Kind::Zip) && !node.leaf;
        let same = inputs.iter().all(|i| node.inputs.contains(i));
        zips && *n > zip && same && node.inputs.iter().all(|i| inputs.contains(i))
    };
    let mut equal_zips: Vec<NodeId> = users.of[rarest.index()].clone();
    equal_zips.retain(is_equal);
    equal_zips.dedup();
    equal_zips.truncate(MOST_CO_CONSUMERS);
    equal_zips
}

/// The levels of a stream of elements of a class, if it iterates over all surrounding segments.
fn levels(rates: &Rates, class: ClassId) -> Vec<CursorLevel> {
    let mut levels = Vec::new();
    let mut next = Some(class);
    while let Some(delivers) = next {
        let class = rates.loop_class(delivers);
        let (above, segments) = match rates.kind(class) {
            ClassKind::Nested(parent, lengths) => (Some(parent), Some(lengths)),
            _ => (None, None),
        };
        levels.push(CursorLevel {
            class,
            delivers,
            segments,
        });
        next = above;
    }
    levels
}

/// A requirement of a side on a node.
#[derive(Clone, Copy)]
enum Need {
    /// The node's elements.
    Elements(NodeId),
    /// The node as lengths of segments: only the elements of the segments are needed.
    Lengths(NodeId),
}

/// The search for the nodes of a side.
struct Collecting<'g> {
    graph: &'g Graph,
    rates: &'g Rates,
    levels: Vec<CursorLevel>,
    /// The innermost level that is needed.
    depth: usize,
    seen: FxHashSet<NodeId>,
    /// Nodes that count the elements that filters leave of segments. Their values are not needed.
    counts: FxHashSet<NodeId>,
    stack: Vec<Need>,
}

impl Collecting<'_> {
    fn all(&mut self) -> bool {
        while let Some(need) = self.stack.pop() {
            let fine = match need {
                Need::Elements(id) => self.elements(id),
                Need::Lengths(id) => self.lengths(id),
            };
            if !fine || self.seen.len() > MOST_NODES {
                return false;
            }
        }
        // Arrays read from memory cannot be produced on the same side.
        let mut makers = self.seen.iter().flat_map(|id| self.read_from_memory(*id));
        let mut equal_zips = self.seen.iter().filter_map(|id| self.rates.equal_zip(*id));
        makers.all(|maker| !self.seen.contains(&maker))
            && equal_zips.all(|zip| self.seen.contains(&zip))
    }

    /// The producers of the arrays that a node reads from memory.
    fn read_from_memory(&self, id: NodeId) -> Vec<NodeId> {
        if self.rates.equal_zip(id).is_some() {
            return Vec::new();
        }
        let sides = self.rates.sides(id).unwrap_or_default();
        let inputs = self.graph.nodes[id.index()].inputs.iter().enumerate();
        let read = inputs.filter(|(k, _)| {
            self.rates.is_unfused(id, *k) && !sides.iter().any(|s| s.inputs.contains(k))
        });
        let fields = read.flat_map(|(_, input)| self.graph.fields(*input));
        fields.map(|(maker, _)| maker).collect()
    }

    /// Whether the elements of a node can be computed on demand.
    fn elements(&mut self, id: NodeId) -> bool {
        let (graph, rates) = (self.graph, self.rates);
        let node = &graph.nodes[id.index()];
        // A counter of filtered elements runs at the filter's rate, which the side does not have.
        let class = rates.output(id);
        let is_sub = class.is_some_and(|c| rates.loop_class(c) != c);
        if node.leaf || is_cheap(node) && !is_sub {
            return true;
        }
        if self.counts.contains(&id) {
            return false;
        }
        if !self.seen.insert(id) {
            return true;
        }
        let (Some(runs_at), Some(output)) = (rates.runs_at(id), rates.output(id)) else {
            return false;
        };
        let within = |level: &CursorLevel| rates.is_within(runs_at, level.class);
        let Some(at) = self.levels.iter().position(within) else {
            return false;
        };
        let level = self.levels[at];
        // A loop over elements of other segments runs to its end before the cursor advances.
        let aside = rates.loop_class(runs_at) != level.class;
        if !aside && !rates.is_within(level.delivers, output) {
            return false;
        }
        self.depth = self.depth.max(at);
        let inputs = node.inputs.iter().enumerate();
        let in_step = inputs.filter(|(k, _)| !rates.is_unfused(id, *k));
        let mut needs: Vec<Need> = in_step.map(|(_, n)| Need::Elements(*n)).collect();
        let on_demand = match node.node.kind.facts().on_side {
            OnSide::Never => false,
            OnSide::Generated => indexed_array(graph, id).is_none(),
            // A zip on the side has sides of its own.
            OnSide::InStep if rates.sides(id).is_some() => !aside,
            OnSide::InStep => !rates.is_fresh(id),
            OnSide::AtLevel => !aside,
            // So has an append, unless other nodes share its class.
            OnSide::Parts => {
                needs.clear();
                !aside && rates.sides(id).is_some()
            }
            OnSide::Elements => {
                if !aside {
                    // The lengths are the first input and elementwise.
                    needs[0] = Need::Lengths(node.inputs[0]);
                    self.depth = self.depth.max(at + 1);
                }
                true
            }
            OnSide::Segments => aside,
        };
        self.stack.extend(needs);
        on_demand
    }

    /// Whether the elements of segments with these lengths can be delivered. For filtered segments
    /// the lengths themselves are not needed.
    fn lengths(&mut self, id: NodeId) -> bool {
        let node = &self.graph.nodes[id.index()];
        if node.leaf || !matches!(node.node.kind, Kind::CountS) {
            return self.elements(id);
        }
        if self.seen.contains(&id) {
            return false;
        }
        if self.counts.insert(id) {
            let tags = (!self.rates.is_unfused(id, 1)).then_some(Need::Elements(node.inputs[1]));
            self.stack.extend(tags);
            self.stack.push(Need::Lengths(node.inputs[0]));
        }
        true
    }
}
