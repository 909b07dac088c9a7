//! Rate inference: visits the nodes in the order of the graph.

use super::{ClassId, ClassKind, Rates, Selector, apart, indexed_array};
use crate::ast::{AsLong, Kind, Len};
use crate::custom::Output;
use crate::fusion::sides::{self, NodeUsers};
use crate::sharing::algebra::Length;
use crate::sharing::{FieldRef, Graph, KnownLengths, NodeId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Infers the classes of a graph.
///
/// Only the equality pattern of the known lengths matters.
/// If `on_demand` is set, zips may advance their inputs on demand.
pub fn infer(graph: &Graph, lengths: &KnownLengths, on_demand: bool) -> Rates {
    let n = graph.nodes.len();
    let mut inference = Inference {
        graph,
        rates: Rates {
            output: vec![None; n],
            runs_at: vec![None; n],
            fresh: vec![false; n],
            ..Rates::default()
        },
        by_length: FxHashMap::default(),
        rows: lengths.of_rows().collect(),
        by_delayed: FxHashMap::default(),
        subs: FxHashMap::default(),
        nested: FxHashMap::default(),
        apart: apart::counts(graph),
        users: on_demand.then(|| NodeUsers::of(graph)),
        appends: Vec::new(),
        by_parts: FxHashMap::default(),
    };
    let delayed: FxHashMap<NodeId, u64> = lengths.of_generators().collect();
    for id in graph.ids() {
        let length = lengths.arrays[id.index()].or_else(|| delayed.get(&id).copied());
        inference.node(id, length);
    }
    inference.rates.apart = !inference.apart.is_empty();
    let appends = std::mem::take(&mut inference.appends);
    inference.rates.finish(graph, &appends);
    inference.rates
}

/// The maximal number of maps that move to their consumer's class.
const MOST_ALONG: usize = 16;

pub(super) struct Inference<'g> {
    pub(super) graph: &'g Graph,
    pub(super) rates: Rates,
    by_length: FxHashMap<u64, ClassId>,
    /// The known row lengths of descriptors.
    pub(super) rows: FxHashMap<FieldRef, u64>,
    by_delayed: FxHashMap<Length, ClassId>,
    subs: FxHashMap<Selector, Vec<ClassId>>,
    nested: FxHashMap<FieldRef, Vec<ClassId>>,
    /// The counts of kept elements whose segments have a nested class, too.
    pub(super) apart: FxHashSet<NodeId>,
    /// The classes of appends, each after the classes of its parts, with the appends of each.
    appends: Vec<(ClassId, Vec<NodeId>)>,
    /// Maps the parts of an append to an index of `appends`. Appends of parts with equal lengths
    /// share a class.
    by_parts: FxHashMap<Vec<ClassId>, usize>,
    /// The users of each node, if zips may advance their inputs on demand.
    users: Option<NodeUsers>,
}

impl Inference<'_> {
    fn node(&mut self, id: NodeId, length: Option<u64>) {
        let node = &self.graph.nodes[id.index()];
        let input = |i: usize| node.inputs[i];
        let (runs_at, output) = if node.leaf {
            let class = (node.node.rank > 0).then(|| self.root_of_length(length));
            (class, class)
        } else {
            match &node.node.kind {
                Kind::Manifest | Kind::Input(_) => (None, None),
                // Such nodes are aliases of delayed scalars.
                Kind::Zip | Kind::Fields(_) if node.node.rank == 0 => (None, None),
                Kind::Generate(len, _) => {
                    let class = self.generator(id, len, length);
                    (Some(class), Some(class))
                }
                Kind::Map(_) | Kind::Zip if self.rates.equal_zip(id).is_some() => {
                    let first = self.rates.equal_zip(id);
                    let class = first.map(|zip| self.class(zip));
                    self.rates
                        .unfused
                        .extend((0..node.inputs.len()).map(|k| (id, k)));
                    (class, class)
                }
                Kind::Map(_) | Kind::Zip | Kind::ZipShortest | Kind::Merge(_) | Kind::Fields(_) => {
                    let class = self.in_step(id);
                    let output = match self.rates.sides(id) {
                        Some(_) => self.sub(class, Selector::Zip(id)),
                        None => class,
                    };
                    (Some(class), Some(output))
                }
                Kind::Filter(_) => {
                    let class = self.class(input(0));
                    let sub = self.sub(class, Selector::Filter(id));
                    (Some(class), Some(sub))
                }
                Kind::Pack => {
                    let class = self.in_step(id);
                    let tags = self.graph.resolve(input(1), 0);
                    let sub = self.sub(class, Selector::Tags(tags));
                    (Some(class), Some(sub))
                }
                Kind::Scan(..) => {
                    let class = self.class(input(0));
                    (Some(class), Some(class))
                }
                Kind::Fold(_) | Kind::Len => (Some(self.class(input(0))), None),
                Kind::ScanTotal => (self.rates.runs_at(input(0)), None),
                Kind::Scatter(..) => {
                    let class = self.in_step_of(id, 1);
                    (Some(class), Some(self.class(input(0))))
                }
                Kind::ScanByIndex(..) => {
                    let class = self.in_step_of(id, 1);
                    (Some(class), Some(class))
                }
                Kind::TakeWhile { .. } | Kind::Take(_) => {
                    let class = self.class(input(0));
                    let sub = self.sub(class, Selector::While(id));
                    (Some(class), Some(sub))
                }
                Kind::Append => {
                    let class = self.append(id);
                    (Some(class), Some(class))
                }
                Kind::Expand(_) => {
                    self.per_segment(id);
                    let class = self.elements(input(0));
                    (Some(class), Some(class))
                }
                Kind::FoldS(fold) => {
                    let lengths = self.innermost(id, fold).unwrap_or(input(0));
                    let class = self.segmented(id, lengths, input(1));
                    (Some(class), Some(self.class(input(0))))
                }
                Kind::MoveS(_) if self.counted(input(0)).is_some() => {
                    self.rates.unfused.insert((id, 1));
                    let class = self.elements(input(0));
                    (Some(class), Some(class))
                }
                Kind::ScanS(..) | Kind::SortS(_) | Kind::MoveS(_) => {
                    let class = self.segmented(id, input(0), input(1));
                    (Some(class), Some(class))
                }
                Kind::CountS => {
                    let class = self.segmented(id, input(0), input(1));
                    let tags = self.graph.resolve(input(1), 0);
                    let sub = self.sub(class, Selector::Tags(tags));
                    (Some(sub), Some(self.class(input(0))))
                }
                Kind::Custom(custom) => {
                    let class = self.class(input(0));
                    let output = match custom.output {
                        Output::InStep(_) => Some(class),
                        Output::Some(_) => Some(self.sub(class, Selector::Custom(id))),
                        Output::Scalar(_) => None,
                    };
                    (Some(class), output)
                }
                Kind::Compute(_) => (None, None),
            }
        };
        self.rates.runs_at[id.index()] = runs_at;
        self.rates.output[id.index()] = self.own_of(id, output);
    }

    /// The class of a node before unifications. An elementwise node shares that of its input.
    fn own_of(&self, id: NodeId, output: Option<ClassId>) -> Option<ClassId> {
        let node = &self.graph.nodes[id.index()];
        let in_step = match node.node.kind.facts().length {
            AsLong::Own => None,
            AsLong::Inputs | AsLong::Base => node.inputs.first(),
            AsLong::Input(k) => node.inputs.get(k),
        };
        let own = in_step
            .filter(|_| !node.leaf)
            .and_then(|i| self.rates.own(*i));
        own.filter(|own| Some(self.rates.find(*own)) == output.map(|c| self.rates.find(c)))
            .or(output)
    }

    pub(super) fn class(&mut self, id: NodeId) -> ClassId {
        match self.rates.output(id) {
            Some(c) => c,
            // A delayed scalar has no length. The builder rejects it as an array.
            None => self.rates.new_class(ClassKind::Root),
        }
    }

    /// The class of an append.
    fn append(&mut self, id: NodeId) -> ClassId {
        let parts = self.graph.nodes[id.index()].inputs.iter();
        let parts: Vec<ClassId> = parts
            .map(|part| {
                let class = self.class(*part);
                self.rates.own(*part).unwrap_or(class)
            })
            .collect();
        let known = self.by_parts.get(&parts).map(|at| &mut self.appends[*at]);
        // An append that a zip advances does not share its class.
        if let Some((class, alike)) = known.filter(|(_, a)| self.rates.side_of(a[0]).is_none()) {
            alike.push(id);
            self.rates.sides.remove(&alike[0]);
            return *class;
        }
        let class = self.rates.new_class(ClassKind::Append(id));
        self.by_parts.insert(parts, self.appends.len());
        self.appends.push((class, vec![id]));
        // The sides are used if a zip later has the append on a side.
        let users = self.users.as_ref();
        if let Some(sides) = users.and_then(|u| sides::parts(self.graph, &self.rates, u, id)) {
            self.rates.sides.insert(id, sides);
        }
        class
    }

    fn root_of_length(&mut self, length: Option<u64>) -> ClassId {
        let Some(n) = length else {
            return self.rates.new_class(ClassKind::Root);
        };
        if let Some(c) = self.by_length.get(&n) {
            return *c;
        }
        let class = self.rates.new_class(ClassKind::Root);
        self.by_length.insert(n, class);
        class
    }

    fn generator(&mut self, id: NodeId, len: &Len, length: Option<u64>) -> ClassId {
        match (len, self.graph.nodes[id.index()].length) {
            (Len::Known(_), _) => self.root_of_length(length),
            (Len::Delayed(_), Some(_)) => {
                if let Some(array) = indexed_array(self.graph, id) {
                    let class = self.class(array);
                    let own = self.rates.own(array).unwrap_or(class);
                    match self.rates.kind(self.rates.top(class)) {
                        // An append that a zip advances does not share its class. If a generator
                        // shares the class, the append is on no side.
                        ClassKind::Append(a) if self.rates.side_of(a).is_none() => {
                            self.rates.sides.remove(&a);
                            return own;
                        }
                        ClassKind::Append(_) => {}
                        _ => return own,
                    }
                }
                let size = self.graph.algebra.length(id);
                let class = match (self.by_delayed.get(&size), length) {
                    (Some(class), _) => return *class,
                    (None, Some(_)) => self.root_of_length(length),
                    (None, None) => self.rates.new_class(ClassKind::Root),
                };
                self.by_delayed.insert(size, class);
                class
            }
            _ => self.rates.new_class(ClassKind::Root),
        }
    }

    fn sub(&mut self, parent: ClassId, by: Selector) -> ClassId {
        // Parents may have been unified since.
        let mut known = self.subs.get(&by).into_iter().flatten().copied();
        if let Some(c) = known.find(|c| self.rates.parent(*c) == Some(parent)) {
            return c;
        }
        let class = self.rates.new_class(ClassKind::Sub(parent, by));
        self.subs.entry(by).or_default().push(class);
        class
    }

    /// Unifies arrays with one element per segment with the lengths, or reads them from memory.
    fn per_segment(&mut self, id: NodeId) {
        let graph = self.graph;
        let inputs = &graph.nodes[id.index()].inputs;
        for (k, values) in inputs.iter().enumerate().skip(1) {
            let (segments, own) = (self.class(inputs[0]), self.class(*values));
            let is_root = self.rates.kind(own) == ClassKind::Root;
            let kind = self.rates.kind(segments);
            let is_sub = matches!(kind, ClassKind::Sub(..)) || self.rates.is_appended(segments);
            if own == segments {
                continue;
            }
            if is_root && !is_sub && !self.rates.is_within(segments, own) {
                self.rates.join(own, segments, id);
            } else {
                self.rates.unfused.insert((id, k));
            }
        }
    }

    /// The class of the elements of segments with these lengths.
    pub(super) fn elements(&mut self, lengths: NodeId) -> ClassId {
        let field = self.graph.resolve(lengths, 0);
        if let Some(class) = self.counted(lengths)
            && !self.apart.contains(&field.0)
        {
            return class;
        }
        // One array of lengths may be read at the rates of several classes. Each has its own class
        // of elements.
        let parent = self.class(lengths);
        let mut known = self.nested.get(&field).into_iter().flatten().copied();
        if let Some(c) = known.find(|c| self.rates.parent(*c) == Some(parent)) {
            return self.rates.find(c);
        }
        let class = self.rates.new_class(ClassKind::Nested(parent, field));
        self.nested.entry(field).or_default().push(class);
        class
    }

    /// The class at which data is used with these lengths. The data's own class is unified with it,
    /// if possible. Maps without other users move to it, and read their operands from memory.
    fn segmented(&mut self, id: NodeId, lengths: NodeId, data: NodeId) -> ClassId {
        let own = self.class(data);
        if self.counted(lengths) == Some(own) {
            return own;
        }
        let elements = self.elements(lengths);
        if own == elements {
            return elements;
        }
        let is_root = self.rates.kind(own) == ClassKind::Root;
        let is_nested = matches!(self.rates.kind(elements), ClassKind::Nested(..))
            && !self.rates.is_appended(elements);
        if is_root && is_nested && !self.rates.is_within(elements, own) {
            self.rates.join(own, elements, id);
        } else if is_nested && self.are_rows_alike(own, elements) {
            self.join_rows(own, elements, id);
        } else if !is_nested || !self.run_along((data, lengths), id, elements) {
            self.rates.unfused.insert((id, 1));
        }
        elements
    }

    /// Moves maps of arrays in memory to the class of a node's segments. The node must be the only
    /// user of the maps, and use them only as data.
    fn run_along(
        &mut self,
        (data, lengths): (NodeId, NodeId),
        user: NodeId,
        class: ClassId,
    ) -> bool {
        let graph = self.graph;
        let Some(users) = &self.users else {
            return false;
        };
        let (mut maps, mut next) = (vec![data], 0);
        while let Some(id) = maps.get(next).copied() {
            let node = &graph.nodes[id.index()];
            let is_map = node.node.kind.facts().in_step();
            if node.leaf || !is_map || self.rates.is_fresh(id) || maps.len() > MOST_ALONG {
                return false;
            }
            let computed = node.inputs.iter().filter(|i| !graph.nodes[i.index()].leaf);
            let new: Vec<NodeId> = computed.filter(|i| !maps.contains(i)).copied().collect();
            maps.extend(new);
            next += 1;
        }
        let here = |n: NodeId| n == user || maps.contains(&n);
        let cut_by = [lengths, graph.resolve(lengths, 0).0];
        let exclusive = maps.iter().all(|n| users.are_all(*n, here));
        if !exclusive || cut_by.iter().any(|n| maps.contains(n)) {
            return false;
        }
        for id in maps {
            let inputs = graph.nodes[id.index()].inputs.iter().enumerate();
            let leaves = inputs.filter(|(_, i)| graph.nodes[i.index()].leaf);
            self.rates.unfused.extend(leaves.map(|(k, _)| (id, k)));
            self.rates.runs_at[id.index()] = Some(class);
            self.rates.output[id.index()] = Some(class);
        }
        true
    }

    fn in_step(&mut self, id: NodeId) -> ClassId {
        match sides::advances(self.graph, id) {
            true => self.fresh(id, 0),
            false => self.in_step_of(id, 0),
        }
    }

    /// Unifies the classes of inputs from `first` on, which are consumed together.
    ///
    /// Roots are unified with each other, and so are rows with equal lengths. Roots consumed with
    /// the elements of segments are unified with these. Arrays in memory consumed with a subrate
    /// are read at its counter. All other inputs are made manifest first.
    fn in_step_of(&mut self, id: NodeId, first: usize) -> ClassId {
        let graph = self.graph;
        let inputs = &graph.nodes[id.index()].inputs;
        let all: Vec<ClassId> = inputs[first..].iter().map(|i| self.class(*i)).collect();
        let mut classes = all.clone();
        classes.sort_unstable();
        classes.dedup();
        let is_root = |c: &ClassId| self.rates.kind(*c) == ClassKind::Root;
        let is_apart = |kept, class: &ClassId| self.rates.is_apart(graph, kept, *class);
        let stored = |c: &ClassId| classes.iter().any(|class| is_apart(*c, class));
        let stored: Vec<ClassId> = classes.iter().filter(|c| stored(c)).copied().collect();
        classes.retain(|c| !stored.contains(c));
        let (roots, others): (Vec<_>, Vec<_>) = classes.into_iter().partition(is_root);
        let target = match (others.as_slice(), roots.first()) {
            ([], Some(root)) => *root,
            ([one], _) => *one,
            ([one, rest @ ..], _) if rest.iter().all(|c| self.are_rows_alike(*c, *one)) => {
                let one = *one;
                rest.iter().for_each(|c| self.join_rows(*c, one, id));
                one
            }
            _ => return self.fresh(id, first),
        };
        let (apart, rest): (Vec<usize>, Vec<usize>) =
            (first..inputs.len()).partition(|k| stored.contains(&all[k - first]));
        self.rates
            .unfused
            .extend(apart.into_iter().map(|k| (id, k)));
        let joins = match self.rates.kind(target) {
            ClassKind::Root => true,
            _ if self.rates.is_appended(target) => false,
            ClassKind::Nested(..) => !roots.iter().any(|r| self.rates.is_within(target, *r)),
            ClassKind::Sub(..) | ClassKind::Append(_) | ClassKind::Phases => false,
        };
        if joins {
            for c in roots.into_iter().filter(|c| *c != target) {
                self.rates.join(c, target, id);
            }
            return target;
        }
        let off: Vec<usize> = rest
            .into_iter()
            .filter(|k| all[k - first] != target)
            .collect();
        let is_leaf = |k: &usize| {
            let mut fields = graph.fields(inputs[*k]).into_iter();
            fields.all(|(n, _)| graph.nodes[n.index()].leaf)
        };
        if !off.iter().all(is_leaf) {
            return self.fresh(id, first);
        }
        self.rates.unfused.extend(off.into_iter().map(|k| (id, k)));
        target
    }

    /// A fresh class for a node whose inputs are all made manifest.
    fn fresh(&mut self, id: NodeId, first: usize) -> ClassId {
        self.rates.fresh[id.index()] = true;
        let inputs = first..self.graph.nodes[id.index()].inputs.len();
        self.rates.unfused.extend(inputs.map(|k| (id, k)));
        self.find_sides(id);
        self.rates.new_class(ClassKind::Root)
    }

    /// Finds the inputs that a zip can advance on demand.
    fn find_sides(&mut self, id: NodeId) {
        let advances = sides::advances(self.graph, id);
        let Some(users) = self.users.as_ref() else {
            // The zip's loop counts the elements, even if all inputs are in memory.
            if advances {
                self.rates.sides.insert(id, Vec::new());
            }
            return;
        };
        let is_zip = matches!(self.graph.node(id).kind, Kind::Map(_) | Kind::Zip);
        if !(is_zip || advances) {
            return;
        }
        let Some(found) = sides::find(self.graph, &self.rates, users, id) else {
            return;
        };
        for later in sides::equal_zips(self.graph, users, id) {
            self.rates.equal_zip.insert(later, id);
            self.rates.has_equal.insert(id);
        }
        self.rates.sides.insert(id, found);
        let mut new = vec![id];
        while let Some(id) = new.pop() {
            for (k, side) in self.rates.sides[&id].iter().enumerate() {
                let nodes = side.nodes.iter().map(|n| (*n, (id, k)));
                self.rates.side_of.extend(nodes);
                let co_consumers = side.co_consumers.iter().map(|n| (*n, (id, k)));
                self.rates.fused_into.extend(co_consumers);
                // The sides of nested zips are registered already; those of appends are not.
                let is_append = |n: &&NodeId| matches!(self.graph.node(**n).kind, Kind::Append);
                new.extend(side.nodes.iter().filter(is_append));
            }
        }
    }
}
