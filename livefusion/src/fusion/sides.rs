//! Sides: what a zip advances on demand, because its inputs do not advance together.
//!
//! A zip of `filter p xs` and `filter q ys` needs of each input the next element, whatever that takes. Inputs
//! of one class are one side: they advance together. A side is computed in the zip's own loop if all between memory
//! and the zip can be: maps, filters, packs, scans, elements of segments, what ends early, further zips. The other inputs are
//! read from memory, one element at a time.
//!
//! What else uses a side runs along in its cursors, as a *guest*: all sides of a zip end together, so that guests see all
//! elements. A further zip of the same inputs is a *twin*: it has what the first one's sides deliver. The sides
//! of a `zip_shortest` [end apart](end_apart), so that it has neither.
//!
//! A merge is a zip whose sides are not asked together: each has a step of its own, even if two are of one class, and goes on
//! where its last element was taken. All end together, for a merge ends when none has an element any more.
//! An append on a side has sides of its own, its parts, which are advanced one after the other.
//!
//! A side is a cursor over what its elements are made of. Where that goes by segments, it is a cursor over
//! their elements, and in it one over the segments, which is advanced when a segment is used up: the tree of
//! classes, inside out. Each of these cursors is a [`Level`].

mod guests;
mod users;

pub use users::Users;

use super::cluster::budget;
use super::cluster::free::is_cheap;
use super::rates::{ClassId, ClassKind, Rates, Selector, indexed_array};
use crate::ast::{Kind, OnSide};
use crate::sharing::{FieldRef, Graph, NodeId};
use rustc_hash::FxHashSet;

/// More cursors than these are not put into one side: what is made of more goes through memory.
const MOST_CURSORS: usize = 8;

/// What the sides of a zip weigh together at most. They are in one loop, of which nothing can be cut: what weighs more goes
/// through memory.
const MOST_CODE: u32 = 2 * budget::BUDGET;

/// More than these are not computed for one side: no loop has room for them, and each side is looked for on its own.
const MOST_NODES: usize = 1024;

/// A side has no more guests than these.
const MOST_GUESTS: usize = 64;

/// Inputs of a zip that are computed in its loop, and advanced together.
#[derive(Clone, Debug)]
pub struct Side {
    /// The class of the inputs' elements.
    pub class: ClassId,
    /// Which inputs these are.
    pub inputs: Vec<usize>,
    /// What is computed for them, in dependency order.
    pub nodes: Vec<NodeId>,
    /// What else uses that, but for twins of the zip.
    pub guests: Vec<NodeId>,
    /// Whether anything else does: guests, or who wants it as a result.
    pub is_shared: bool,
    /// Its cursors: that over its elements, then that over their segments, and so on.
    pub levels: Vec<Level>,
}

/// One cursor of a side.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// The class over whose elements it runs: a root, or the elements of segments.
    pub class: ClassId,
    /// The class of what it delivers: that class, or what filters leave of it.
    pub delivers: ClassId,
    /// The lengths of the segments over whose elements it runs, which the next level delivers. None for the last level:
    /// what it runs over is in memory, can be told from an index, or is made of sides of its own, by a zip or an append.
    pub segments: Option<FieldRef>,
}

/// The sides of a zip whose inputs have different classes; none if no subrate can be computed there.
pub fn find(graph: &Graph, rates: &Rates, users: &Users, id: NodeId) -> Option<Vec<Side>> {
    let inputs = &graph.nodes[id.index()].inputs;
    let mut sides: Vec<Side> = Vec::new();
    for (k, input) in inputs.iter().enumerate() {
        let class = rates.output(*input)?;
        // What a merge takes of one input it does not take of another, whatever their classes.
        let together = !matches!(graph.node(id).kind, Kind::Merge(_));
        match sides.iter_mut().find(|s| together && s.class == class) {
            Some(side) => side.inputs.push(k),
            None => sides.push(Side::of(class, k)),
        }
    }
    let twins = twins(graph, users, id);
    let mut weight = 0u32;
    sides.retain_mut(|side| {
        let is_on_demand = side.is_on_demand(graph, rates, users, (id, &twins));
        let more = weight.saturating_add(side.weight(graph, rates));
        let has_room = is_on_demand && more <= MOST_CODE;
        weight = if has_room { more } else { weight };
        has_room
    });
    // Twins have all of what they zip from the sides.
    let on_sides = |k| sides.iter().any(|s| s.inputs.contains(&k));
    if !twins.is_empty() && !(0..inputs.len()).all(on_sides) {
        return None;
    }
    let is_root = |s: &Side| rates.kind(s.class) == ClassKind::Root;
    (advances(graph, id) || !sides.iter().all(is_root)).then_some(sides)
}

/// Whether a combinator finds in its loop how many elements it has, by advancing its inputs, wherever these are.
pub fn advances(graph: &Graph, n: NodeId) -> bool {
    matches!(graph.node(n).kind, Kind::ZipShortest | Kind::Merge(_))
}

/// The parts of an append as sides, for a zip that has it on one of its own. What cannot be computed there is in memory.
pub fn parts(graph: &Graph, rates: &Rates, users: &Users, id: NodeId) -> Option<Vec<Side>> {
    let inputs = graph.nodes[id.index()].inputs.iter().enumerate();
    let part = |(k, input): (usize, &NodeId)| {
        let mut part = Side::of(rates.output(*input)?, k);
        if !part.is_on_demand(graph, rates, users, (id, &[])) {
            part = Side::of(part.class, k);
            part.levels = vec![Level {
                class: part.class,
                delivers: part.class,
                segments: None,
            }];
        }
        Some(part)
    };
    inputs.map(part).collect()
}

/// Whether the sides of a zip may end apart, and so all others with the first that does.
pub fn end_apart(graph: &Graph, zip: NodeId) -> bool {
    matches!(graph.node(zip).kind, Kind::ZipShortest)
}

impl Side {
    /// A side of one input, of which nothing is known yet.
    fn of(class: ClassId, input: usize) -> Side {
        Side {
            class,
            inputs: vec![input],
            nodes: Vec::new(),
            guests: Vec::new(),
            is_shared: false,
            levels: Vec::new(),
        }
    }

    /// Finds what is computed for it, and what runs along; false if it goes through memory.
    fn is_on_demand(
        &mut self,
        graph: &Graph,
        rates: &Rates,
        users: &Users,
        zip: (NodeId, &[NodeId]),
    ) -> bool {
        // What has other names only is in memory.
        let computes = |n: &NodeId| {
            let names = graph.node(*n).kind.facts().names();
            !names || rates.sides(*n).is_some()
        };
        let computed = self.collect(graph, rates, zip.0) && self.nodes.iter().any(computes);
        let has_room = computed && self.weight(graph, rates) <= MOST_CODE;
        has_room && self.find_guests(graph, rates, users, zip)
    }

    /// The level at which what runs at a class does so.
    pub fn level(&self, rates: &Rates, class: ClassId) -> Option<usize> {
        let mut levels = self.levels.iter();
        levels.position(|l| rates.is_within(class, rates.now(l.class)))
    }

    /// Collects what has to be computed; false if something cannot be computed on demand.
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
        // What other sides deliver, or what is in memory, has places of its own.
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

    /// What ends the elements of one of its cursors before their source ends.
    pub fn ends(&self, rates: &Rates, level: &Level) -> Vec<NodeId> {
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

    /// How much code it is, with the sides of zips on it.
    fn weight(&self, graph: &Graph, rates: &Rates) -> u32 {
        let cursors = (self.levels.len() as u32).saturating_mul(budget::SIDE);
        let own = self.nodes.iter().map(|n| budget::alone(graph, *n));
        let zips = self.nodes.iter().filter_map(|n| rates.sides(*n)).flatten();
        let zips = zips.map(|side| side.weight(graph, rates));
        own.chain(zips).fold(cursors, u32::saturating_add)
    }

    /// How many cursors it takes, with those of zips on it.
    fn cursors(&self, rates: &Rates) -> usize {
        let zips = self.nodes.iter().filter_map(|n| rates.sides(*n)).flatten();
        zips.fold(self.levels.len(), |sum, side| sum + side.cursors(rates))
    }
}

/// The zips behind a zip that have the same inputs, in any order.
pub fn twins(graph: &Graph, users: &Users, zip: NodeId) -> Vec<NodeId> {
    if advances(graph, zip) {
        return Vec::new();
    }
    let inputs = &graph.nodes[zip.index()].inputs;
    let number_of_users = |n: &&NodeId| users.of[n.index()].len();
    let Some(rarest) = inputs.iter().min_by_key(number_of_users) else {
        return Vec::new();
    };
    let is_twin = |n: &NodeId| {
        let node = &graph.nodes[n.index()];
        let zips = matches!(node.node.kind, Kind::Map(_) | Kind::Zip) && !node.leaf;
        let same = inputs.iter().all(|i| node.inputs.contains(i));
        zips && *n > zip && same && node.inputs.iter().all(|i| inputs.contains(i))
    };
    let mut twins: Vec<NodeId> = users.of[rarest.index()].clone();
    twins.retain(is_twin);
    twins.dedup();
    twins.truncate(MOST_GUESTS);
    twins
}

/// The levels of a stream that delivers elements of a class, if it goes by segments wherever these are known.
fn levels(rates: &Rates, class: ClassId) -> Vec<Level> {
    let mut levels = Vec::new();
    let mut next = Some(class);
    while let Some(delivers) = next {
        let class = rates.loop_class(delivers);
        let (above, segments) = match rates.kind(class) {
            ClassKind::Nested(parent, lengths) => (Some(parent), Some(lengths)),
            _ => (None, None),
        };
        levels.push(Level {
            class,
            delivers,
            segments,
        });
        next = above;
    }
    levels
}

/// What a side needs of a node.
#[derive(Clone, Copy)]
enum Need {
    /// Its elements.
    Elements(NodeId),
    /// As lengths of segments: over which elements these run.
    Lengths(NodeId),
}

/// The search for what a side consists of.
struct Collecting<'g> {
    graph: &'g Graph,
    rates: &'g Rates,
    levels: Vec<Level>,
    /// The innermost level that is needed.
    depth: usize,
    seen: FxHashSet<NodeId>,
    /// What counts the elements that filters leave of segments. Nobody asks how many.
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
        // What is read from memory beside others is not made here.
        let mut makers = self.seen.iter().flat_map(|id| self.read_from_memory(*id));
        let mut twins = self.seen.iter().filter_map(|id| self.rates.twin_of(*id));
        makers.all(|maker| !self.seen.contains(&maker)) && twins.all(|zip| self.seen.contains(&zip))
    }

    /// What makes the arrays that a node reads from memory.
    fn read_from_memory(&self, id: NodeId) -> Vec<NodeId> {
        if self.rates.twin_of(id).is_some() {
            return Vec::new();
        }
        let sides = self.rates.sides(id).unwrap_or_default();
        let inputs = self.graph.nodes[id.index()].inputs.iter().enumerate();
        let read = inputs.filter(|(k, _)| {
            self.rates.is_beside(id, *k) && !sides.iter().any(|s| s.inputs.contains(k))
        });
        let fields = read.flat_map(|(_, input)| self.graph.fields(*input));
        fields.map(|(maker, _)| maker).collect()
    }

    /// Whether the elements of a node can be had on demand.
    fn elements(&mut self, id: NodeId) -> bool {
        let (graph, rates) = (self.graph, self.rates);
        let node = &graph.nodes[id.index()];
        // What counts the elements that a filter leaves is at the filter's rate, which the side has not.
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
        let within = |level: &Level| rates.is_within(runs_at, level.class);
        let Some(at) = self.levels.iter().position(within) else {
            return false;
        };
        let level = self.levels[at];
        // Elements of other segments are run over before the cursor goes on.
        let aside = rates.loop_class(runs_at) != level.class;
        if !aside && !rates.is_within(level.delivers, output) {
            return false;
        }
        self.depth = self.depth.max(at);
        let inputs = node.inputs.iter().enumerate();
        let in_step = inputs.filter(|(k, _)| !rates.is_beside(id, *k));
        let mut needs: Vec<Need> = in_step.map(|(_, n)| Need::Elements(*n)).collect();
        let on_demand = match node.node.kind.facts().on_side {
            OnSide::Never => false,
            OnSide::Generated => indexed_array(graph, id).is_none(),
            // A zip on the side has sides of its own.
            OnSide::InStep if rates.sides(id).is_some() => !aside,
            OnSide::InStep => !rates.is_fresh(id),
            OnSide::AtLevel => !aside,
            // So has an append, unless its class is that of others, too.
            OnSide::Parts => {
                needs.clear();
                !aside && rates.sides(id).is_some()
            }
            OnSide::Elements => {
                if !aside {
                    // The lengths are an input in step, and the first one.
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

    /// Whether a node says over which elements segments run. Those of what a filter leaves of each segment do so
    /// without being known: nobody waits for their number.
    fn lengths(&mut self, id: NodeId) -> bool {
        let node = &self.graph.nodes[id.index()];
        if node.leaf || !matches!(node.node.kind, Kind::CountS) {
            return self.elements(id);
        }
        if self.seen.contains(&id) {
            return false;
        }
        if self.counts.insert(id) {
            let tags = (!self.rates.is_beside(id, 1)).then_some(Need::Elements(node.inputs[1]));
            self.stack.extend(tags);
            self.stack.push(Need::Lengths(node.inputs[0]));
        }
        true
    }
}
