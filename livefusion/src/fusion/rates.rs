//! Rates: length classes, inferred by unification, in a tree.
//!
//! Two arrays have one class if their lengths are known to be equal: they are computed in step (`map`,
//! `scan`), they are in memory with equal lengths, they are generated with lengths of one size
//! ([`crate::sharing::algebra`]), or the user zipped them (then what is not known is checked when the loop
//! starts). A filter opens a class below its input's; packs by one tag array share theirs. A zip of arrays
//! whose classes cannot be one opens a *fresh* root: its inputs are made manifest, or have [`sides`] of their
//! own, which are advanced on demand; then its elements are a subrate of that root. So do those of a merge,
//! whatever the classes of its inputs.
//!
//! The elements of segments are a class *nested* in that of the segments. An array that is used with
//! segment lengths has this class: `class(data)` becomes `Nested(class(lengths), lengths)`, and so all that
//! is computed in step with the data runs in the inner loop as well. Where that cannot be (the data has
//! another descriptor already, or is in step with the lengths themselves) the data is made manifest; maps of arrays
//! in memory that nothing else needs have the class instead, and read memory beside it. Lengths
//! that come from [`CountS`](Kind::CountS) describe the subrate that its tags admit.

mod columns;
mod infer;

pub use infer::infer;

use super::phases::Families;
use super::sides::Side;
use crate::ast::{Kind, Makes};
use crate::sharing::{FieldRef, Graph, NodeId, known_length};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::fmt;

/// A class, by position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ClassId(pub(super) u32);

impl fmt::Display for ClassId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

/// What a class is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClassKind {
    /// Lengths of its own.
    Root,
    /// Some of the parent's elements.
    Sub(ClassId, Selector),
    /// The elements of the parent's segments, whose lengths this field has.
    Nested(ClassId, FieldRef),
    /// The elements of this append's parts, one part behind the other.
    Append(NodeId),
    /// What a loop runs over that has several roots, one after the other: those of parts of appends.
    Phases,
}

impl ClassKind {
    /// The array that says which elements there are, if one does: the lengths of segments, or tags.
    pub fn decided_by(self) -> Option<FieldRef> {
        match self {
            ClassKind::Nested(_, lengths) => Some(lengths),
            ClassKind::Sub(_, Selector::Tags(tags)) => Some(tags),
            ClassKind::Sub(..) | ClassKind::Root | ClassKind::Append(_) | ClassKind::Phases => None,
        }
    }
}

/// What selects the elements of a subrate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Selector {
    /// This filter's predicate.
    Filter(NodeId),
    /// This array of tags, shared by all packs that use it.
    Tags(FieldRef),
    /// The test of this `take_while`, until it fails.
    While(NodeId),
    /// What this combinator of a user's keeps.
    Custom(NodeId),
    /// Whether this zip's sides all have a further element.
    Zip(NodeId),
}

impl Selector {
    /// The combinator that selects; none if an array does.
    pub fn combinator(self) -> Option<NodeId> {
        match self {
            Selector::Filter(id) | Selector::While(id) => Some(id),
            Selector::Custom(id) | Selector::Zip(id) => Some(id),
            Selector::Tags(_) => None,
        }
    }
}

/// The classes of a graph.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    kinds: Vec<ClassKind>,
    joined: Vec<ClassId>,
    /// What a class was joined to first, and by which node.
    joins: FxHashMap<ClassId, (ClassId, NodeId)>,
    /// Class of each node's elements; none for delayed scalars.
    output: Vec<Option<ClassId>>,
    /// Class in whose iterations each node runs; none for delayed scalars computed from scalars.
    runs_at: Vec<Option<ClassId>>,
    /// Nodes that open a class of their own because those of their inputs cannot be one.
    fresh: Vec<bool>,
    /// Inputs, by node and position, that are read from memory at the node's own counter.
    beside: FxHashSet<(NodeId, usize)>,
    /// What zips compute on demand, and appends on their sides.
    sides: FxHashMap<NodeId, Vec<Side>>,
    /// The zip for which a node is computed on demand, and on which side.
    side_of: FxHashMap<NodeId, (NodeId, usize)>,
    /// The zip in whose side's cursors a node runs along, and which side that is.
    host_of: FxHashMap<NodeId, (NodeId, usize)>,
    /// The zip of whose sides a later zip has its elements.
    twin_of: FxHashMap<NodeId, NodeId>,
    /// Zips that have such twins.
    twinned: FxHashSet<NodeId>,
    /// The (first) array in memory of each class that has one.
    in_memory: FxHashMap<ClassId, NodeId>,
    /// Which roots a loop may run over, one after the other.
    families: Families,
}

impl Rates {
    /// The class of a node's elements.
    pub fn output(&self, n: NodeId) -> Option<ClassId> {
        self.output[n.index()].map(|c| self.find(c))
    }

    /// The class in whose iterations a node runs.
    pub fn runs_at(&self, n: NodeId) -> Option<ClassId> {
        self.runs_at[n.index()].map(|c| self.find(c))
    }

    /// Whether a node opens a class of its own over manifest inputs.
    pub fn is_fresh(&self, n: NodeId) -> bool {
        self.fresh[n.index()]
    }

    /// Whether a node's input is an array in memory that is read at the node's own counter, whatever
    /// class it has itself: what it was zipped with, or segmented by, does not advance with it.
    pub fn is_beside(&self, n: NodeId, input: usize) -> bool {
        self.beside.contains(&(n, input))
    }

    /// The sides of a zip that are advanced on demand in its own loop, its further inputs being in memory; or the parts
    /// of an append on such a side. None for other nodes.
    pub fn sides(&self, n: NodeId) -> Option<&[Side]> {
        self.sides.get(&n).map(Vec::as_slice)
    }

    /// Whether a merge has an element of an input by the position of that: none of its sides delivers it.
    pub fn is_at_position(&self, graph: &Graph, n: NodeId, input: usize) -> bool {
        let merges = matches!(graph.node(n).kind, Kind::Merge(_)) && !graph.nodes[n.index()].leaf;
        let sides = self.sides(n).unwrap_or_default();
        merges && !sides.iter().any(|s| s.inputs.contains(&input))
    }

    /// Whether any zip computes on demand.
    pub fn has_sides(&self) -> bool {
        !self.sides.is_empty()
    }

    /// The zip for which a node is computed on demand, and on which of its sides.
    pub fn side_of(&self, n: NodeId) -> Option<(NodeId, usize)> {
        self.side_of.get(&n).copied()
    }

    /// The zip in whose side's cursors a node may run along, as a guest, and which side that is.
    pub fn host_of(&self, n: NodeId) -> Option<(NodeId, usize)> {
        self.host_of.get(&n).copied()
    }

    /// The zip and the side in whose cursors a node runs: computed on demand, or along with what is.
    pub fn cursors_of(&self, n: NodeId) -> Option<(NodeId, usize)> {
        self.side_of(n).or(self.host_of(n))
    }

    /// The zip of whose sides a later zip of the same inputs has its elements.
    pub fn twin_of(&self, n: NodeId) -> Option<NodeId> {
        self.twin_of.get(&n).copied()
    }

    /// Whether later zips have their elements of a zip's sides.
    pub fn has_twins(&self, zip: NodeId) -> bool {
        self.twinned.contains(&zip)
    }

    /// The zip in whose loop a node runs along, as a guest or a twin.
    pub fn loop_of_host(&self, n: NodeId) -> Option<NodeId> {
        let host = self.host_of(n).map(|(zip, _)| zip);
        host.or(self.twin_of(n)).map(|zip| self.outermost(zip))
    }

    /// The zip on whose sides another is, or on sides of its sides; that itself, if it is on none.
    pub fn outermost(&self, mut zip: NodeId) -> NodeId {
        while let Some((outer, _)) = self.side_of(zip) {
            zip = outer;
        }
        zip
    }

    /// The side in whose cursors a node runs.
    pub fn side(&self, n: NodeId) -> Option<&Side> {
        let (zip, side) = self.cursors_of(n)?;
        self.sides.get(&zip)?.get(side)
    }

    /// The class that a node makes of others, for whoever runs at it: what it leaves of its input, the elements that
    /// its tags admit, those of its sides, or of its parts.
    pub fn makes(&self, graph: &Graph, n: NodeId) -> Option<ClassId> {
        match graph.node(n).kind.facts().makes {
            Makes::Nothing => None,
            Makes::Elements => self.output(n),
            Makes::OfSides => self.output(n).filter(|_| self.sides(n).is_some()),
            Makes::Tagged => self.runs_at(n),
        }
    }

    /// The class at whose counter a node consumes what is beside it.
    pub fn consumes_at(&self, graph: &Graph, n: NodeId) -> Option<ClassId> {
        match graph.node(n).kind {
            // Of what an expansion consumes there is one per segment.
            Kind::Expand(_) => self.output(graph.nodes[n.index()].inputs[0]),
            // A count of tags runs where they are true, and has one per element.
            Kind::CountS => self.runs_at(n).and_then(|c| self.parent(c)),
            _ if self.sides(n).is_some() => self.output(n),
            _ => self.runs_at(n),
        }
    }

    /// Whether the lengths of two nodes are known to be equal without looking at run time.
    pub fn known_equal(&self, a: NodeId, b: NodeId) -> bool {
        self.own(a) == self.own(b)
    }

    /// The class that a node's elements had before it was joined to any other: all nodes of one such class
    /// have one length, known to be so without looking at run time.
    pub fn own(&self, n: NodeId) -> Option<ClassId> {
        self.output[n.index()]
    }

    /// The nodes that made one class of two that nodes had on their own, on the way from the first to the
    /// second. None if they always were one.
    pub fn joined_by(&self, a: ClassId, b: ClassId) -> Vec<NodeId> {
        let path = |c: ClassId| self.joins_above(c).collect::<Vec<_>>();
        let (mut from_a, mut from_b) = (path(a), path(b));
        // Both come to the class that they are now.
        while let (Some(x), Some(y)) = (from_a.last(), from_b.last())
            && x == y
        {
            from_a.pop();
            from_b.pop();
        }
        let down = from_b.into_iter().rev();
        from_a.into_iter().chain(down).map(|(_, by)| by).collect()
    }

    /// What a class was when a node had not joined any yet.
    pub fn before(&self, own: ClassId, joins: NodeId) -> ClassId {
        let earlier = self.joins_above(own).take_while(|(_, by)| *by < joins);
        earlier.last().map_or(own, |(to, _)| to)
    }

    /// What a class was joined to, step by step, and by which nodes.
    fn joins_above(&self, c: ClassId) -> impl Iterator<Item = (ClassId, NodeId)> {
        let next = |(to, _): &(ClassId, NodeId)| self.joins.get(to).copied();
        std::iter::successors(self.joins.get(&c).copied(), next)
    }

    /// What a class is, if it is one of these.
    pub fn get(&self, c: ClassId) -> Option<ClassKind> {
        ((c.0 as usize) < self.kinds.len()).then(|| self.kind(c))
    }

    /// What a class is.
    pub fn kind(&self, c: ClassId) -> ClassKind {
        match self.kinds[self.find(c).0 as usize] {
            ClassKind::Sub(parent, by) => ClassKind::Sub(self.find(parent), by),
            ClassKind::Nested(parent, by) => ClassKind::Nested(self.find(parent), by),
            other => other,
        }
    }

    /// The class above one; none above a root.
    pub fn parent(&self, c: ClassId) -> Option<ClassId> {
        match self.kind(c) {
            ClassKind::Root | ClassKind::Append(_) | ClassKind::Phases => None,
            ClassKind::Sub(parent, _) | ClassKind::Nested(parent, _) => Some(parent),
        }
    }

    /// The class at the top of all that are above one.
    pub fn top(&self, mut c: ClassId) -> ClassId {
        while let Some(above) = self.parent(c) {
            c = above;
        }
        c
    }

    /// The class that another is one with by now.
    pub fn now(&self, c: ClassId) -> ClassId {
        self.find(c)
    }

    /// The nearest class, from this one upwards, whose elements are not some of another's.
    pub fn loop_class(&self, mut c: ClassId) -> ClassId {
        while let ClassKind::Sub(parent, _) = self.kind(c) {
            c = parent;
        }
        c
    }

    /// Whether a class is that of an append whose parts are phases, or below it.
    pub fn is_appended(&self, c: ClassId) -> bool {
        match self.kind(self.top(c)) {
            ClassKind::Append(id) => self.side_of(id).is_none(),
            _ => false,
        }
    }

    /// Which roots a loop may run over, one after the other.
    pub fn families(&self) -> &Families {
        &self.families
    }

    /// Whether a class is another or below it.
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

    /// Whose elements decide over a node's iterations, innermost first, in a loop with this root: the lengths of the
    /// segments that they are within, and the tags of what is left of them. What runs in cursors goes by those of its side
    /// only.
    pub fn deciding_above(&self, n: NodeId, root: Option<ClassId>) -> Vec<NodeId> {
        let decided_by = self
            .classes_below(n, root)
            .map(|c| self.kind(c).decided_by());
        decided_by.flatten().map(|(maker, _)| maker).collect()
    }

    /// The combinators that select the elements among which a node's are, in a loop with this root. Cursors go by those of
    /// their side only.
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

    /// The class of a node and those above it, below a loop's root, and within a cursor's side.
    fn classes_below(&self, n: NodeId, root: Option<ClassId>) -> impl Iterator<Item = ClassId> {
        let class = self.runs_at(n).or(self.output(n));
        let levels = self.side(n).map(|side| &side.levels);
        let flat = levels.and_then(|l| l.last()).map(|l| self.find(l.class));
        let classes = std::iter::successors(class, |c| self.parent(*c));
        classes.take_while(move |c| ![root, flat].contains(&Some(*c)))
    }

    /// The combinators that select the elements among which a node's are.
    pub fn selecting_above(&self, n: NodeId) -> impl Iterator<Item = NodeId> {
        let class = self.runs_at(n).or(self.output(n));
        let classes = std::iter::successors(class, |c| self.parent(*c));
        classes.filter_map(|c| match self.kind(c) {
            ClassKind::Sub(_, by) => by.combinator(),
            _ => None,
        })
    }

    /// An array in memory of this class.
    pub fn in_memory(&self, c: ClassId) -> Option<NodeId> {
        self.in_memory.get(&c).copied()
    }

    /// Shortens all ways to classes, and notes which arrays in memory have them.
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

    /// Makes a class one with another, which a node wants.
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

/// The known length of every node that brings one: leaves (from `inputs` for a prepared program's) and
/// generators of known length.
pub fn known_lengths(graph: &Graph, inputs: &[Option<u64>]) -> Vec<Option<u64>> {
    graph
        .nodes
        .iter()
        .map(|n| match n.node.kind {
            Kind::Input(input) if n.leaf && n.node.value.get().is_none() => {
                inputs.get(input.number as usize).copied().flatten()
            }
            _ => known_length(n),
        })
        .collect()
}

/// An equality pattern.
pub type Pattern = SmallVec<[u64; 8]>;

/// Up to this many different lengths are looked through one by one.
const FEW: usize = 16;

/// The equality pattern of lengths: each known one as the number of its first occurrence.
pub fn length_pattern(lengths: impl Iterator<Item = u64>) -> Pattern {
    let mut distinct: SmallVec<[u64; 8]> = SmallVec::new();
    let mut first: FxHashMap<u64, u64> = FxHashMap::default();
    let mut pattern = Pattern::new();
    for l in lengths {
        let next = distinct.len() as u64;
        let known = match distinct.len() {
            ..=FEW => distinct.iter().position(|d| *d == l).map(|at| at as u64),
            _ => first.get(&l).copied(),
        };
        pattern.push(known.unwrap_or(next));
        if known.is_none() {
            distinct.push(l);
            if distinct.len() > FEW {
                let missing = distinct.iter().zip(0..).skip(first.len());
                first.extend(missing.map(|(d, at)| (*d, at)));
            }
        }
    }
    pattern
}

/// The array whose indices a generator counts: one whose length is given as that of an array is at the
/// array's own rate, whatever the length turns out to be.
pub fn indexed_array(graph: &Graph, generator: NodeId) -> Option<NodeId> {
    let by = &graph.nodes[graph.nodes[generator.index()].length?.index()];
    match by.node.kind {
        Kind::Len if !by.leaf => Some(by.inputs[0]),
        _ => None,
    }
}
