//! From a graph and its rates to a clustering problem.
//!
//! An item is a node that runs in a loop. Generators that are free, and names for what others compute, are
//! none: what they need, their users need. The total of a scan is part of the scan's item, and what a zip
//! computes on demand is part of the zip's.

mod hosts;

use super::again;
use super::budget;
use super::free::{free_generators, is_alias};
use super::order::Order;
use super::problem::{Class, Field, Item, Problem, Stream};
use super::reason::Reason;
use crate::ast::{Capture, Kind, Len};
use crate::fusion::demand::{self, Demand};
use crate::fusion::pull::Pulls;
use crate::fusion::rates::{ClassId, ClassKind, Rates, indexed_array};
use crate::sharing::{FieldRef, Graph, NodeId, bodies};
use rustc_hash::FxHashMap;

/// A problem with its ties to the graph.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// The problem.
    pub problem: Problem,
    /// The item that each node belongs to.
    pub item_of: Vec<Option<usize>>,
    /// The (first) node of each item.
    pub nodes: Vec<NodeId>,
    /// The class behind each of the problem's.
    pub classes: Vec<ClassId>,
    /// The columns that each item's nodes use, by node.
    pub uses: Vec<(NodeId, FieldRef)>,
    /// Which fields anything asks for.
    pub demand: Demand,
}

/// Elements of a root class, for the sizes by which schedules are compared. Plans are kept by structure:
/// they cannot depend on the lengths of one run.
const ROOT_LENGTH: u64 = 1024;

/// Elements of a segment.
const SEGMENT: u64 = 8;

/// Builds the problem. Items are computed in several loops only if that is wanted (`again`).
pub fn build(graph: &Graph, rates: &Rates, pulls: &Pulls, again: bool) -> Built {
    let free = free_generators(graph, pulls);
    let mut b = Builder {
        graph,
        rates,
        pulls,
        weights: budget::weights(graph, pulls, &free),
        free,
        built: Built {
            item_of: vec![None; graph.nodes.len()],
            ..Built::default()
        },
        lengths: Vec::new(),
        trees: Vec::new(),
        copies: Vec::new(),
        class_of: FxHashMap::default(),
        hosted: FxHashMap::default(),
        field_of: FxHashMap::default(),
        order: Order::of(graph, rates),
    };
    for id in b.order.nodes.clone() {
        b.item(id);
    }
    b.makers();
    b.built.demand = demand::demand(graph, &b.built.item_of, pulls);
    for id in graph.ids() {
        b.uses(id);
    }
    b.results();
    if again {
        b.again();
    }
    b.built
}

struct Builder<'g> {
    graph: &'g Graph,
    rates: &'g Rates,
    pulls: &'g Pulls,
    /// How much code each node is.
    weights: Vec<u32>,
    free: Vec<bool>,
    built: Built,
    /// Nominal length of each class.
    lengths: Vec<u64>,
    /// The root above each class.
    trees: Vec<usize>,
    /// How often the code of each class stands in a loop: once for every part of an append.
    copies: Vec<u32>,
    class_of: FxHashMap<ClassId, usize>,
    /// The numbers of classes in the cursors of zips' sides.
    hosted: FxHashMap<((NodeId, usize), ClassId), usize>,
    field_of: FxHashMap<FieldRef, usize>,
    order: Order,
}

impl Builder<'_> {
    /// Adds the item of a node, if it runs in a loop.
    fn item(&mut self, id: NodeId) {
        let node = &self.graph.nodes[id.index()];
        let by_users = self.free[id.index()] || self.pulls.is_in_no_loop(id);
        let on_demand = self.rates.side_of(id).is_some();
        if node.leaf || by_users || on_demand || is_alias(self.graph, self.rates, id) {
            return;
        }
        if let Kind::ScanTotal = node.node.kind
            && let Some(scan) = self.built.item_of[node.inputs[0].index()]
        {
            self.built.item_of[id.index()] = Some(scan);
            return;
        }
        let mut item = Item {
            weight: self.weights[id.index()],
            ..Item::default()
        };
        self.classes_of(id, &mut item);
        self.link_inputs(id, &mut item);
        match self.pulls.mirrors.source(id) {
            Some(source) => {
                self.link_to(source, None, &mut item);
                let class = self.rates.output(source).map(|c| self.class(c));
                self.stream(source, class, &mut item);
            }
            None => {
                self.link_captures(id, &mut item);
                self.link_length(id, &mut item);
            }
        }
        item.floor = self.order.floor(self.rates, id).map(|c| self.class(c));
        match self.rates.host_of(id) {
            Some(_) => {
                for lengths in self.rates.lengths_above(id, None) {
                    self.link_to_maker(lengths, None, &mut item);
                }
            }
            None => self.link_segments(&mut item),
        }
        self.sides(id, &mut item);
        if let Some(class) = self.rates.runs_at(id) {
            let class = self.class(class);
            item.weight = item.weight.saturating_mul(self.copies[class]);
        }
        // Beside a subrate that it opens itself, memory is read at that one's count.
        item.streams.retain(|s| !item.makes.contains(&s.class));
        self.built.item_of[id.index()] = Some(self.built.nodes.len());
        self.built.nodes.push(id);
        self.built.problem.items.push(item);
    }

    /// The classes that a node's loop must have: its own and, above it, those of what it reads and makes.
    fn classes_of(&mut self, id: NodeId, item: &mut Item) {
        let node = &self.graph.nodes[id.index()];
        let Some(own) = self.rates.runs_at(id) else {
            return;
        };
        let output = self.rates.output(id);
        if let Kind::Append = node.node.kind {
            // It has a root for each part, wherever that comes from.
            let family = self.rates.families().family(own);
            item.at.extend(family.map(|c| self.class(c)));
            item.makes.push(self.class(own));
            return;
        }
        let makes = match node.node.kind {
            Kind::Filter(_) | Kind::Pack | Kind::TakeWhile { .. } | Kind::Take(_) => output,
            Kind::Custom(_) => output.filter(|c| *c != own),
            Kind::CountS => Some(own),
            _ if self.rates.sides(id).is_some() => output,
            Kind::Manifest
            | Kind::Input(_)
            | Kind::Generate(..)
            | Kind::Map(_)
            | Kind::Zip
            | Kind::Shortest
            | Kind::Fields(_)
            | Kind::Fold(_)
            | Kind::Scan(..)
            | Kind::ScanTotal
            | Kind::Expand(_)
            | Kind::FoldS(_)
            | Kind::ScanS(..)
            | Kind::Append
            | Kind::Scatter(_)
            | Kind::Compute(_)
            | Kind::Len => None,
        };
        let in_step = node.inputs.iter().enumerate();
        // What a scatter copies, and so what it makes, may be of any class.
        let scatters = matches!(node.node.kind, Kind::Scatter(_));
        let in_step = in_step
            .skip(usize::from(scatters))
            .filter(|(i, _)| !self.rates.is_beside(id, *i));
        let read = in_step.map(|(_, input)| self.rates.output(*input));
        let above = read.chain([output.filter(|_| !scatters)]).flatten();
        let above = above.filter(|c| {
            let known = *c == own || Some(*c) == makes;
            !known && self.rates.is_within(own, *c)
        });
        let own = Some(own).filter(|_| makes != Some(own));
        let classes: Vec<ClassId> = own.into_iter().chain(above).collect();
        for class in classes {
            let class = self.class_for(id, class);
            if !item.at.contains(&class) {
                item.at.push(class);
            }
        }
        item.makes.extend(makes.map(|c| self.class_for(id, c)));
        self.opens(item);
    }

    /// Adds the subrates between the classes of an item: it opens these itself, by tags.
    fn opens(&self, item: &mut Item) {
        let classes = &self.built.problem.classes;
        let up = |c: &usize| classes[*c].parent();
        let path = |c: usize| std::iter::successors(Some(c), up);
        let others = |c: usize| path(c).skip(1).any(|above| item.at.contains(&above));
        let low = item.at.iter().copied().filter(|c| others(*c));
        let between = low.flat_map(|c| path(c).take_while(|c| others(*c)));
        let subs = between.filter(|c| matches!(classes[*c], Class::Sub(_)));
        for class in subs.collect::<Vec<_>>() {
            if !item.makes.contains(&class) {
                item.makes.push(class);
            }
        }
    }

    fn link_inputs(&mut self, id: NodeId, item: &mut Item) {
        let node = &self.graph.nodes[id.index()];
        for (i, input) in node.inputs.iter().enumerate() {
            let base = matches!(node.node.kind, Kind::Scatter(_)) && i == 0;
            let beside = self.rates.is_beside(id, i);
            let appends = matches!(node.node.kind, Kind::Append);
            let in_order = || {
                let class = self.rates.output(id);
                class.is_some_and(|c| self.rates.families().may_compute(c, i))
            };
            let in_memory = appends && !in_order();
            let twin = self
                .rates
                .twin_of(id)
                .and_then(|z| self.built.item_of[z.index()]);
            let prevents = match (base, beside || in_memory) {
                (true, _) => Some(Reason::ScatterBase),
                (_, true) if twin.is_none() => Some(Reason::RatesDiffer),
                _ => None,
            };
            self.link_to(*input, prevents, item);
            // A zip that checks lengths does so before its elements are used.
            if let Some(checked) = self.built.item_of[input.index()] {
                item.link(checked, None);
            }
            // What another zip's sides deliver is had at that one's class.
            if let (Some(maker), Some(class)) = (twin, self.rates.runs_at(id)) {
                let class = self.class_for(id, class);
                item.link(maker, None);
                item.stream(Stream {
                    maker: Some(maker),
                    class,
                });
            }
            // What a node reads from memory at its own counter is in step with nothing.
            if !base && !beside && !appends {
                let class = self.rates.output(*input);
                let class = class.map(|c| self.class_for(id, c));
                self.stream(*input, class, item);
            }
            let runs_over = if appends { *input } else { id };
            self.link_free(*input, runs_over, item);
            // The copy of a base is made before the loop.
            if base || in_memory {
                for (n, _) in self.graph.fields(*input) {
                    self.link_length_before(n, item);
                }
            }
        }
    }

    /// Links an item to the makers of a node's fields.
    fn link_to(&self, n: NodeId, prevents: Option<Reason>, item: &mut Item) {
        for (n, _) in self.graph.fields(n) {
            self.link_to_maker(n, prevents, item);
        }
    }

    /// Links an item to the node that makes a field.
    fn link_to_maker(&self, n: NodeId, prevents: Option<Reason>, item: &mut Item) {
        if let Some(maker) = self.built.item_of[n.index()] {
            let scattered = matches!(self.graph.node(n).kind, Kind::Scatter(_));
            let complete = scattered.then_some(Reason::ScatterResult);
            item.link(maker, prevents.or(complete));
        }
    }

    /// An input that is consumed in step, at the class of this number.
    fn stream(&mut self, input: NodeId, at: Option<usize>, item: &mut Item) {
        let (Some(class), Some(at)) = (self.rates.output(input), at) else {
            return;
        };
        for (field, (n, _)) in self.graph.fields(input).into_iter().enumerate() {
            // What a zip advances on demand is had from the zip, at its class.
            let zip = self.rates.zipped_by(self.graph, input, field as u32);
            if let Some(maker) = zip.map(|z| self.built.item_of[z.index()]) {
                item.stream(Stream { maker, class: at });
                continue;
            }
            let maker = self.built.item_of[n.index()];
            let in_memory = self.graph.nodes[n.index()].leaf;
            let beside = in_memory && self.rates.output(n) != Some(class);
            if maker.is_none() && (self.free[n.index()] || beside) {
                continue;
            }
            // Under another name, columns may be used at another class than they are made at.
            if let (Some(maker), Some(made)) = (maker, self.rates.output(n))
                && self.class_for(n, made) != at
            {
                item.link(maker, Some(Reason::NoCommonRate));
            }
            item.stream(Stream { maker, class: at });
        }
    }

    /// A free generator brings along what it captures, and its length, to where another node runs.
    fn link_free(&self, input: NodeId, at: NodeId, item: &mut Item) {
        for (n, _) in self.graph.fields(input) {
            if self.free[n.index()] {
                let node = &self.graph.nodes[n.index()];
                for (k, captures) in node.captures.iter().enumerate() {
                    for captured in captures {
                        let prevents = match runs_for_elements(&node.node.kind, k) {
                            true => self.captured_scalar(*captured, at),
                            false => Some(self.scalar_reason(*captured)),
                        };
                        self.link_captured(*captured, prevents, item);
                    }
                }
                self.link_length(n, item);
            }
        }
    }

    fn link_captures(&self, id: NodeId, item: &mut Item) {
        let node = &self.graph.nodes[id.index()];
        let is_scalar = self.rates.runs_at(id).is_none();
        let kind = &node.node.kind;
        for (k, (body, captures)) in bodies(kind).iter().zip(&node.captures).enumerate() {
            for (capture, n) in body.captures.iter().zip(captures) {
                let prevents = match capture {
                    // A delayed scalar computed from others may be computed where they are.
                    Capture::Scalar(_) if is_scalar => None,
                    Capture::Scalar(_) if runs_for_elements(kind, k) => {
                        self.captured_scalar(*n, id)
                    }
                    Capture::Scalar(_) => Some(self.scalar_reason(*n)),
                    Capture::Array(_) => Some(Reason::RandomAccess),
                };
                self.link_captured(*n, prevents, item);
            }
        }
    }

    /// As [`link_to`](Self::link_to), of what a closure captures: what is pulled is computed where it is
    /// read, from what was made before.
    fn link_captured(&self, n: NodeId, prevents: Option<Reason>, item: &mut Item) {
        for (n, _) in self.graph.fields(n) {
            if !self.pulls.stands_for_others(n) {
                let costly = self.pulls.is_costly(n) && prevents == Some(Reason::RandomAccess);
                let prevents = if costly {
                    Some(Reason::Costly)
                } else {
                    prevents
                };
                self.link_to(n, prevents, item);
                continue;
            }
            for behind in self.pulls.behind(n) {
                let reason = match self.graph.node(*behind).rank {
                    0 => self.scalar_reason(*behind),
                    _ => Reason::RandomAccess,
                };
                self.link_to(*behind, Some(reason), item);
            }
        }
    }

    /// A delayed length is known before the loop; that of an array that a loop has to find out is known
    /// wherever the array is.
    fn link_length(&self, id: NodeId, item: &mut Item) {
        let mut generator = id;
        while let Some(length) = self.graph.nodes[generator.index()].length {
            match indexed_array(self.graph, generator) {
                Some(array) if !self.pulls.is_in_no_loop(length) => {
                    self.link_to(array, None, item);
                    if !self.free[array.index()] {
                        return;
                    }
                    // It is in no loop itself: whatever tells its length does.
                    generator = array;
                }
                _ => return self.link_captured(length, Some(Reason::Length), item),
            }
        }
    }

    /// As [`link_length`](Self::link_length) of a free generator whose length, whatever tells it, is needed
    /// before the loop.
    fn link_length_before(&self, generator: NodeId, item: &mut Item) {
        let length = self.graph.nodes[generator.index()].length;
        if let Some(length) = length.filter(|_| self.free[generator.index()]) {
            self.link_captured(length, Some(Reason::Length), item);
        }
    }

    /// The lengths of segments are there before their elements, and so are those of the segments around, up
    /// to where the item's loop knows of none. Those that depend on the item have no item yet.
    fn link_segments(&self, item: &mut Item) {
        let floor = item.floor.map(|c| self.built.classes[c]);
        for class in item.at.clone() {
            let mut at = Some(self.built.classes[class]);
            while let Some(c) = at.filter(|c| Some(*c) != floor) {
                if let ClassKind::Nested(_, (lengths, _)) = self.rates.kind(c) {
                    self.link_to_maker(lengths, None, item);
                }
                at = self.rates.parent(c);
            }
        }
    }

    /// Why a delayed scalar that a node captures must be there before its loop; none if it may be folded by an earlier
    /// phase of that.
    fn captured_scalar(&self, scalar: NodeId, by: NodeId) -> Option<Reason> {
        let class = self.rates.runs_at(by).or(self.rates.output(by));
        let over = class.map(|c| self.rates.top(c));
        let is_known = |n: NodeId| {
            let kind = &self.graph.node(n).kind;
            let folds = matches!(kind, Kind::Fold(_) | Kind::ScanTotal | Kind::Len);
            let root = self.rates.runs_at(n).map(|c| self.rates.top(c));
            let plain = |n: NodeId| self.rates.cursors_of(n).is_none();
            let both = root.zip(over).filter(|_| folds && plain(n) && plain(by));
            both.is_some_and(|(root, over)| self.rates.families().is_before(root, over))
        };
        let mut fields = self.graph.fields(scalar).into_iter();
        match fields.all(|(n, _)| is_known(n)) {
            true => None,
            false => Some(self.scalar_reason(scalar)),
        }
    }

    fn scalar_reason(&self, n: NodeId) -> Reason {
        let computed = |(n, _): &FieldRef| matches!(self.graph.node(*n).kind, Kind::Compute(_));
        if self.graph.fields(n).iter().all(computed) {
            Reason::Scalar
        } else {
            Reason::Fold
        }
    }

    /// The problem's number of a class; numbers those above it first.
    fn class(&mut self, class: ClassId) -> usize {
        let mut unknown = Vec::new();
        let mut at = Some(class);
        while let Some(c) = at.filter(|c| !self.class_of.contains_key(c)) {
            unknown.push(c);
            at = self.above(c);
        }
        for c in unknown.into_iter().rev() {
            self.new_class(c);
        }
        self.class_of[&class]
    }

    /// The class above one; above the roots of phases what stands for all of them.
    fn above(&self, class: ClassId) -> Option<ClassId> {
        let parent = self.rates.parent(class);
        parent.or_else(|| self.rates.families().family(class))
    }

    fn new_class(&mut self, class: ClassId) {
        let above = self.above(class).map(|c| self.class_of[&c]);
        let inherited = above.map_or(1, |c| self.copies[c]);
        let (new, length, copies) = match (self.rates.kind(class), above) {
            (ClassKind::Sub(..), Some(parent)) => {
                let length = (self.lengths[parent] / 2).max(1);
                (Class::Sub(parent), length, inherited)
            }
            (ClassKind::Nested(_, lengths), Some(parent)) => {
                let lengths = self.field(lengths);
                let length = self.lengths[parent].saturating_mul(SEGMENT);
                (Class::Nested { parent, lengths }, length, inherited)
            }
            (ClassKind::Append(id), Some(family)) => {
                let parts = self.graph.nodes[id.index()].inputs.iter();
                let parts = parts.filter_map(|i| self.rates.output(*i));
                let parts: Vec<usize> = parts.map(|c| self.class(c)).collect();
                let lengths = parts.iter().map(|c| self.lengths[*c]);
                let copies = parts.iter().map(|c| self.copies[*c]);
                let length = lengths.fold(0, u64::saturating_add);
                let copies = copies.fold(0, u32::saturating_add);
                (Class::Sub(family), length, copies)
            }
            (_, Some(family)) => (Class::Phase(family), ROOT_LENGTH, 1),
            (_, None) => (Class::Root, ROOT_LENGTH, 1),
        };
        let number = self.add_class(class, new, (length, copies));
        self.class_of.insert(class, number);
    }

    fn add_class(&mut self, class: ClassId, new: Class, (length, copies): (u64, u32)) -> usize {
        let number = self.built.problem.classes.len();
        let above = new.parent().map_or(number, |p| self.trees[p]);
        self.trees.push(above);
        self.built.problem.classes.push(new);
        self.built.classes.push(class);
        self.lengths.push(length);
        self.copies.push(copies);
        number
    }

    /// The problem's number of a field.
    fn field(&mut self, f: FieldRef) -> usize {
        if let Some(known) = self.field_of.get(&f) {
            return *known;
        }
        let length = match self.rates.output(f.0) {
            Some(class) => {
                let class = self.class(class);
                self.lengths[class]
            }
            None => 0,
        };
        let size = self.graph.node(f.0).types[f.1 as usize].size() as u64;
        let field = Field {
            bytes: length.saturating_mul(size),
            maker: self.built.item_of[f.0.index()],
            stored: false,
        };
        self.built.problem.fields.push(field);
        let new = self.built.problem.fields.len() - 1;
        self.field_of.insert(f, new);
        new
    }

    /// Says who makes the lengths that were met before their makers.
    fn makers(&mut self) {
        for ((n, _), field) in &self.field_of {
            self.built.problem.fields[*field].maker = self.built.item_of[n.index()];
        }
    }

    /// The columns that a node of an item needs, those of the free generators that it computes included.
    fn uses(&mut self, id: NodeId) {
        let Some(item) = self.built.item_of[id.index()] else {
            return;
        };
        let mut needs = self.built.demand.uses[id.index()].clone();
        for f in self.built.demand.uses[id.index()].iter() {
            if self.free[f.0.index()] {
                needs.extend(&self.built.demand.uses[f.0.index()]);
            }
        }
        needs.retain(|f| !self.free[f.0.index()]);
        needs.sort_unstable();
        needs.dedup();
        for f in needs {
            let field = self.field(f);
            let made_here = self.built.problem.fields[field].maker == Some(item);
            if !made_here && !self.built.problem.items[item].uses.contains(&field) {
                self.built.problem.items[item].uses.push(field);
            }
            self.built.uses.push((id, f));
        }
    }

    fn results(&mut self) {
        for f in self.graph.roots.iter().flat_map(|r| self.graph.fields(*r)) {
            let field = self.field(f);
            let field = &mut self.built.problem.fields[field];
            if let (Some(maker), false) = (field.maker, field.stored) {
                field.stored = true;
                let weight = &mut self.built.problem.items[maker].weight;
                *weight = weight.saturating_add(if field.bytes > 0 { budget::EFFECT } else { 0 });
            }
        }
    }

    /// Says what may be computed again.
    fn again(&mut self) {
        let price = |n: &NodeId| {
            let class = self.class_of[&self.rates.runs_at(*n)?];
            let operated = again::operated(self.graph, self.rates, self.pulls, &self.free, *n)?;
            Some(again::worth(operated, self.lengths[class]))
        };
        let prices: Vec<Option<u64>> = self.built.nodes.iter().map(price).collect();
        again::allow(&mut self.built.problem, &prices);
    }
}

/// Whether one of the bodies of a kind is run for elements. What a fold starts from, what a take takes, and a length
/// that is checked, are there before a loop.
fn runs_for_elements(kind: &Kind, body: usize) -> bool {
    match kind {
        Kind::Fold(_) | Kind::Scan(..) | Kind::FoldS(_) | Kind::ScanS(..) => body > 0,
        Kind::Generate(Len::Checked(_), _) => body > 0,
        Kind::Take(_) => false,
        Kind::Generate(..)
        | Kind::Map(_)
        | Kind::Filter(_)
        | Kind::TakeWhile { .. }
        | Kind::Expand(_)
        | Kind::Scatter(_)
        | Kind::Compute(_) => true,
        // These have no bodies.
        Kind::Manifest
        | Kind::Input(_)
        | Kind::Zip
        | Kind::Shortest
        | Kind::Fields(_)
        | Kind::Pack
        | Kind::ScanTotal
        | Kind::CountS
        | Kind::Append
        | Kind::Custom(_)
        | Kind::Len => false,
    }
}
