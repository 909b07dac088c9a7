//! Rates: a tree of length classes, inferred by unification.
//!
//! Two arrays share a class if their lengths are known to be equal. There are four such cases:
//!
//! * One is computed elementwise from the other (`map`, `scan`).
//! * Both are in memory with equal lengths.
//! * Both are generated with equal lengths ([`crate::sharing::algebra`]).
//! * The user zipped them. If their lengths are not known to be equal, the loop checks them at its
//!   start.
//!
//! A filter opens a class below its input's class. So the map in `xs.filter(p).map(f)` runs at that
//! class. Packs by one tag array share a class.
//!
//! A zip of arrays whose classes cannot be unified opens a *fresh* root. Its inputs are made
//! manifest, or are advanced on demand through cursors (see [`sides`]). In the second case, the
//! zip's elements are a subrate of that root. The elements of a merge always are, for any classes
//! of its inputs.
//!
//! The elements of segments are a class *nested* in the class of the segments. An array that is
//! used with segment lengths gets this class: `class(data)` becomes
//! `Nested(class(lengths), lengths)`. So all elementwise producers of the data run in the inner loop as
//! well.
//!
//! This is impossible if the data has another descriptor already, or is elementwise with the
//! lengths themselves. Then the data is made manifest. If it is a map of arrays in memory without
//! other uses, the map gets the class instead and reads memory at the loop's counter. Lengths that
//! come from [`CountS`](Kind::CountS) describe the subrate that its tags admit.

mod apart;
mod columns;
mod infer;
pub mod kept;
mod rows;

pub use infer::infer;

use super::phases::Families;
use super::sides::Side;
use crate::ast::{Kind, Makes};
use crate::sharing::{FieldRef, Graph, NodeId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;

/// Identifies a class by its position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ClassId(pub(super) u32);

impl fmt::Display for ClassId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}

/// Describes the relation of a class to other classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClassKind {
    /// An independent length.
    Root,
    /// A subset of the parent's elements.
    Sub(ClassId, Selector),
    /// The elements of the parent's segments, with this field of lengths.
    Nested(ClassId, FieldRef),
    /// The elements of this append's parts, in order.
    Append(NodeId),
    /// The root of a loop over several roots, one after the other, for parts of appends.
    Phases,
}

impl ClassKind {
    /// Returns the array that determines the elements, if there is one.
    ///
    /// It holds the lengths of segments, or tags.
    pub fn decided_by(self) -> Option<FieldRef> {
        match self {
            ClassKind::Nested(_, lengths) => Some(lengths),
            ClassKind::Sub(_, Selector::Tags(tags)) => Some(tags),
            ClassKind::Sub(..) | ClassKind::Root | ClassKind::Append(_) | ClassKind::Phases => None,
        }
    }
}

/// Names the node or field that selects the elements of a subrate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Selector {
    /// This filter's predicate.
    Filter(NodeId),
    /// This array of tags, shared by all packs that use it.
    Tags(FieldRef),
    /// The test of this `take_while`, until it fails.
    While(NodeId),
    /// The filter of this user-defined combinator.
    Custom(NodeId),
    /// The attempts at which all cursors of this zip have a further element.
    Zip(NodeId),
}

impl Selector {
    /// Returns the selecting combinator, unless an array selects.
    pub fn combinator(self) -> Option<NodeId> {
        match self {
            Selector::Filter(id) | Selector::While(id) => Some(id),
            Selector::Custom(id) | Selector::Zip(id) => Some(id),
            Selector::Tags(_) => None,
        }
    }
}

/// Holds the classes of a graph.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    kinds: Vec<ClassKind>,
    joined: Vec<ClassId>,
    /// The class that each class was first unified with, and the node that required it.
    joins: FxHashMap<ClassId, (ClassId, NodeId)>,
    /// The class of each node's elements; none for delayed scalars.
    output: Vec<Option<ClassId>>,
    /// The class in whose iterations each node runs; none for delayed scalars computed from
    /// scalars.
    runs_at: Vec<Option<ClassId>>,
    /// Nodes that open a class of their own, because their inputs' classes cannot be unified.
    fresh: Vec<bool>,
    /// Unfused inputs, by node and position: they are read from memory at the node's own counter.
    unfused: FxHashSet<(NodeId, usize)>,
    /// The inputs that zips compute on demand, and appends in such inputs.
    sides: FxHashMap<NodeId, Vec<Side>>,
    /// The zip that computes a node on demand, and the side.
    side_of: FxHashMap<NodeId, (NodeId, usize)>,
    /// The zip that a co-consumer of a side is fused into, and the side.
    fused_into: FxHashMap<NodeId, (NodeId, usize)>,
    /// Folds of segments of segments, with the lengths of the innermost segments.
    innermost: FxHashMap<NodeId, NodeId>,
    /// The earlier equal zip whose cursors deliver a zip's elements.
    equal_zip: FxHashMap<NodeId, NodeId>,
    /// Zips with later equal zips.
    has_equal: FxHashSet<NodeId>,
    /// The (first) array in memory of each class, if there is one.
    in_memory: FxHashMap<ClassId, NodeId>,
    /// The roots that a loop may run over, one after the other.
    families: Families,
    /// Whether some kept segments have a class of their own.
    apart: bool,
}

impl Rates {
    /// Returns the class of a node's elements.
    pub fn output(&self, n: NodeId) -> Option<ClassId> {
        self.output[n.index()].map(|c| self.find(c))
    }

    /// Returns the class in whose iterations a node runs.
    pub fn runs_at(&self, n: NodeId) -> Option<ClassId> {
        self.runs_at[n.index()].map(|c| self.find(c))
    }

    /// Returns whether a node opens a class of its own over manifest inputs.
    pub fn is_fresh(&self, n: NodeId) -> bool {
        self.fresh[n.index()]
    }

    /// Returns whether an input is unfused.
    ///
    /// Such an input is in memory and is read at the node's own counter instead of its own class's.
    /// Arrays that it was zipped with or segmented by do not advance with it.
    pub fn is_unfused(&self, n: NodeId, input: usize) -> bool {
        self.unfused.contains(&(n, input))
    }

    /// Returns the sides that a zip's loop advances on demand.
    ///
    /// The zip's other inputs are in memory. For an append on such a side, these are its parts.
    /// None for other nodes.
    pub fn sides(&self, n: NodeId) -> Option<&[Side]> {
        self.sides.get(&n).map(Vec::as_slice)
    }

    /// Returns whether a merge reads an input at a position, not from a side.
    pub fn is_at_position(&self, graph: &Graph, n: NodeId, input: usize) -> bool {
        let merges = matches!(graph.node(n).kind, Kind::Merge(_)) && !graph.nodes[n.index()].leaf;
        let sides = self.sides(n).unwrap_or_default();
        merges && !sides.iter().any(|s| s.inputs.contains(&input))
    }

    /// Returns whether any zip computes on demand.
    pub fn has_sides(&self) -> bool {
        !self.sides.is_empty()
    }

    /// Returns the zip and the side that compute a node on demand.
    pub fn side_of(&self, n: NodeId) -> Option<(NodeId, usize)> {
        self.side_of.get(&n).copied()
    }

    /// Returns the zip and the side that a co-consumer may be fused into.
    pub fn fused_into(&self, n: NodeId) -> Option<(NodeId, usize)> {
        self.fused_into.get(&n).copied()
    }

    /// Returns the zip and the side in whose cursors a node runs.
    ///
    /// The node is computed on demand, or is a co-consumer.
    pub fn cursors_of(&self, n: NodeId) -> Option<(NodeId, usize)> {
        self.side_of(n).or(self.fused_into(n))
    }

    /// Returns the earlier zip of the same inputs whose cursors deliver a zip's elements.
    pub fn equal_zip(&self, n: NodeId) -> Option<NodeId> {
        self.equal_zip.get(&n).copied()
    }

    /// Returns the lengths that cut the data of a fold or scan of segments.
    ///
    /// If each segment has segments of its own, these are the lengths of the innermost ones.
    pub fn cuts(&self, graph: &Graph, n: NodeId) -> NodeId {
        let own = || graph.nodes[n.index()].inputs[0];
        self.innermost.get(&n).copied().unwrap_or_else(own)
    }

    /// Returns whether a fold goes on from one inner segment to the next.
    pub fn is_across(&self, n: NodeId) -> bool {
        self.innermost.contains_key(&n)
    }

    /// Returns whether later equal zips use a zip's cursors.
    pub fn has_equal_zips(&self, zip: NodeId) -> bool {
        self.has_equal.contains(&zip)
    }

    /// Returns the zip whose loop runs a co-consumer or a later equal zip.
    pub fn loop_of_zip(&self, n: NodeId) -> Option<NodeId> {
        let zip = self.fused_into(n).map(|(zip, _)| zip);
        zip.or(self.equal_zip(n)).map(|zip| self.outermost(zip))
    }

    /// Returns the outermost zip that has another on a side.
    ///
    /// It is the zip itself if it is on none.
    pub fn outermost(&self, mut zip: NodeId) -> NodeId {
        while let Some((outer, _)) = self.side_of(zip) {
            zip = outer;
        }
        zip
    }

    /// Returns the side in whose cursors a node runs.
    pub fn side(&self, n: NodeId) -> Option<&Side> {
        let (zip, side) = self.cursors_of(n)?;
        self.sides.get(&zip)?.get(side)
    }

    /// Returns the class that a node creates for its consumers.
    ///
    /// Its elements are those that the node keeps of its input, that its tags admit, or that its
    /// sides or parts have.
    pub fn makes(&self, graph: &Graph, n: NodeId) -> Option<ClassId> {
        match graph.node(n).kind.facts().makes {
            Makes::Nothing => None,
            Makes::Elements => self.output(n),
            Makes::OfSides => self.output(n).filter(|_| self.sides(n).is_some()),
            Makes::Tagged => self.runs_at(n),
        }
    }

    /// Returns the class at whose counter a node reads unfused inputs.
    pub fn consumes_at(&self, graph: &Graph, n: NodeId) -> Option<ClassId> {
        match graph.node(n).kind {
            // An expansion consumes one element per segment.
            Kind::Expand(_) => self.output(graph.nodes[n.index()].inputs[0]),
            // A count of tags runs at the true tags, but consumes one tag per element.
            Kind::CountS => self.runs_at(n).and_then(|c| self.parent(c)),
            _ if self.sides(n).is_some() => self.output(n),
            _ => self.runs_at(n),
        }
    }

    /// Returns whether two lengths are known to be equal without a run-time check.
    pub fn known_equal(&self, a: NodeId, b: NodeId) -> bool {
        self.own(a) == self.own(b)
    }

    /// Returns the class of a node's elements before any unification.
    ///
    /// All nodes with one such class have equal lengths without a run-time check.
    pub fn own(&self, n: NodeId) -> Option<ClassId> {
        self.output[n.index()]
    }

    /// Returns the nodes that unified two original classes.
    ///
    /// They are in order from the first class to the second. Empty if the classes were always equal.
    pub fn joined_by(&self, a: ClassId, b: ClassId) -> Vec<NodeId> {
        let path = |c: ClassId| self.joins_above(c).collect::<Vec<_>>();
        let (mut from_a, mut from_b) = (path(a), path(b));
        // Both paths end at the common class.
        while let (Some(x), Some(y)) = (from_a.last(), from_b.last())
            && x == y
        {
            from_a.pop();
            from_b.pop();
        }
        let down = from_b.into_iter().rev();
        from_a.into_iter().chain(down).map(|(_, by)| by).collect()
    }

    /// Returns the class that a class belonged to before a node's unifications.
    pub fn before(&self, own: ClassId, joins: NodeId) -> ClassId {
        let earlier = self.joins_above(own).take_while(|(_, by)| *by < joins);
        earlier.last().map_or(own, |(to, _)| to)
    }

    /// The steps by which a class was unified: each with the target and the responsible node.
    fn joins_above(&self, c: ClassId) -> impl Iterator<Item = (ClassId, NodeId)> {
        let next = |(to, _): &(ClassId, NodeId)| self.joins.get(to).copied();
        std::iter::successors(self.joins.get(&c).copied(), next)
    }

    /// Returns the kind of a class, if the class exists.
    pub fn get(&self, c: ClassId) -> Option<ClassKind> {
        ((c.0 as usize) < self.kinds.len()).then(|| self.kind(c))
    }

    /// Returns the kind of a class.
    pub fn kind(&self, c: ClassId) -> ClassKind {
        match self.kinds[self.find(c).0 as usize] {
            ClassKind::Sub(parent, by) => ClassKind::Sub(self.find(parent), by),
            ClassKind::Nested(parent, by) => ClassKind::Nested(self.find(parent), by),
            other => other,
        }
    }

    /// Returns the class above another.
    ///
    /// A root has none.
    pub fn parent(&self, c: ClassId) -> Option<ClassId> {
        match self.kind(c) {
            ClassKind::Root | ClassKind::Append(_) | ClassKind::Phases => None,
            ClassKind::Sub(parent, _) | ClassKind::Nested(parent, _) => Some(parent),
        }
    }

    /// Returns the root above a class.
    pub fn top(&self, mut c: ClassId) -> ClassId {
        while let Some(above) = self.parent(c) {
            c = above;
        }
        c
    }

    /// Returns the unified class that a class belongs to.
    pub fn now(&self, c: ClassId) -> ClassId {
        self.find(c)
    }

    /// Returns the nearest class, from this one upwards, that is not a subset.
    pub fn loop_class(&self, mut c: ClassId) -> ClassId {
        while let ClassKind::Sub(parent, _) = self.kind(c) {
            c = parent;
        }
        c
    }

    /// Returns whether a class is at or below an append whose parts are phases.
    pub fn is_appended(&self, c: ClassId) -> bool {
        match self.kind(self.top(c)) {
            ClassKind::Append(id) => self.side_of(id).is_none(),
            _ => false,
        }
    }

    /// Returns the roots that a loop may run over, one after the other.
    pub fn families(&self) -> &Families {
        &self.families
    }

    /// Returns whether a class equals another or is below it.
    pub fn is_within(&self, c: ClassId, above: ClassId) -> bool {
        let mut at = Some(c);
        while let Some(c) = at {
            if c == above {
                return true;
            }
            at = self.parent(c);
        }
        false
    }

    /// Lists the arrays that determine a node's iterations in a loop with this root.
    ///
    /// They are lengths of the surrounding segments and tags of filters, innermost first. A node in
    /// cursors depends on those of its side only.
    pub fn deciding_above(&self, n: NodeId, root: Option<ClassId>) -> Vec<NodeId> {
        let decided_by = self
            .classes_below(n, root)
            .map(|c| self.kind(c).decided_by());
        decided_by.flatten().map(|(maker, _)| maker).collect()
    }

    /// Lists the combinators that select a node's elements in a loop with this root.
    ///
    /// A node in cursors depends on those of its side only.
    pub fn selecting_below(
        &self,
        n: NodeId,
        root: Option<ClassId>,
    ) -> impl Iterator<Item = NodeId> {
        let selector = |c: ClassId| match self.kind(c) {
            ClassKind::Sub(_, by) => by.combinator(),
            _ => None,
        };
        self.classes_below(n, root).filter_map(selector)
    }

    /// The class of a node and its ancestors, below a loop's root and within a cursor's side.
    fn classes_below(&self, n: NodeId, root: Option<ClassId>) -> impl Iterator<Item = ClassId> {
        let class = self.runs_at(n).or(self.output(n));
        let levels = self.side(n).map(|side| &side.levels);
        let flat = levels.and_then(|l| l.last()).map(|l| self.find(l.class));
        let classes = std::iter::successors(class, |c| self.parent(*c));
        classes.take_while(move |c| ![root, flat].contains(&Some(*c)))
    }

    /// Lists the combinators that select a node's elements.
    pub fn selecting_above(&self, n: NodeId) -> impl Iterator<Item = NodeId> {
        let class = self.runs_at(n).or(self.output(n));
        let classes = std::iter::successors(class, |c| self.parent(*c));
        classes.filter_map(|c| match self.kind(c) {
            ClassKind::Sub(_, by) => by.combinator(),
            _ => None,
        })
    }

    /// Returns an array in memory of this class.
    pub fn in_memory(&self, c: ClassId) -> Option<NodeId> {
        self.in_memory.get(&c).copied()
    }

    /// Compresses the paths to unified classes, and records the arrays in memory of each class.
    fn finish(&mut self, graph: &Graph, appends: &[(ClassId, Vec<NodeId>)]) {
        let all = 0..self.joined.len() as u32;
        self.joined = all.map(|c| self.find(ClassId(c))).collect();
        for id in graph.ids().filter(|id| graph.nodes[id.index()].leaf) {
            if let Some(class) = self.output(id) {
                self.in_memory.entry(class).or_insert(id);
            }
        }
        let on_demand = |id: &NodeId| self.side_of.contains_key(id);
        let is_append = |id: &NodeId| matches!(graph.node(*id).kind, Kind::Append);
        self.sides.retain(|id, _| !is_append(id) || on_demand(id));
        let phases = appends.iter().filter(|(_, alike)| !on_demand(&alike[0]));
        let phases: Vec<(ClassId, Vec<NodeId>)> = phases.cloned().collect();
        self.families = Families::of(graph, self, &phases);
    }

    fn find(&self, mut c: ClassId) -> ClassId {
        while self.joined[c.0 as usize] != c {
            c = self.joined[c.0 as usize];
        }
        c
    }

    /// Unifies a class with another, on behalf of a node.
    fn join(&mut self, class: ClassId, to: ClassId, by: NodeId) {
        self.joined[class.0 as usize] = to;
        self.joins.insert(class, (to, by));
    }

    pub(super) fn new_class(&mut self, kind: ClassKind) -> ClassId {
        let id = ClassId(self.kinds.len() as u32);
        self.kinds.push(kind);
        self.joined.push(id);
        id
    }
}

/// Returns the array whose indices a generator counts.
///
/// Such a generator takes its length from the array, so it has the array's rate for any length.
pub fn indexed_array(graph: &Graph, generator: NodeId) -> Option<NodeId> {
    let by = &graph.nodes[graph.nodes[generator.index()].length?.index()];
    match by.node.kind {
        Kind::Len if !by.leaf => Some(by.inputs[0]),
        _ => None,
    }
}
