//! Problem construction: translates a graph and its rates into a clustering problem.
//!
//! An item is a node that runs in a loop. Free generators and aliases are not items; their operands
//! become operands of their users. The total of a scan belongs to the scan's item. Nodes that a zip
//! computes on demand belong to the zip's item.

mod consumers;
mod links;
mod on_demand;

use super::budget;
use super::free::{free_generators, is_alias};
use super::order::Order;
use super::problem::{Class, ClusterItem, DataField, Problem};
use super::remat;
use crate::ast::Kind;
use crate::fusion::demand::{self, Demand};
use crate::fusion::inline::Inlining;
use crate::fusion::rates::{ClassId, ClassKind, Rates};
use crate::sharing::{FieldRef, Graph, NodeId};
use rustc_hash::FxHashMap;

/// Holds a problem with its ties to the graph.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// The problem.
    pub problem: Problem,
    /// The item that each node belongs to.
    pub item_of: Vec<Option<usize>>,
    /// The (first) node of each item.
    pub nodes: Vec<NodeId>,
    /// The graph's class of each class of the problem.
    pub classes: Vec<ClassId>,
    /// The columns that each item's nodes use, by node.
    pub uses: Vec<(NodeId, FieldRef)>,
    /// The fields that have a consumer.
    pub demand: Demand,
}

/// The nominal number of elements of a root class, for comparing schedules. Plans are cached by
/// structure, so they cannot depend on the lengths of one run.
const ROOT_LENGTH: u64 = 1024;

/// The nominal number of elements of a segment.
const SEGMENT: u64 = 8;

/// Builds the problem.
///
/// Items can be rematerialised only if `remat` is set.
pub fn build(graph: &Graph, rates: &Rates, inlining: &Inlining, remat: bool) -> Built {
    let free = free_generators(graph, inlining);
    let mut b = ProblemBuilder {
        graph,
        rates,
        inlining,
        weights: budget::weights(graph, inlining, &free),
        free,
        built: Built {
            item_of: vec![None; graph.nodes.len()],
            ..Built::default()
        },
        lengths: Vec::new(),
        trees: Vec::new(),
        decided: Vec::new(),
        copies: Vec::new(),
        class_of: FxHashMap::default(),
        on_sides: FxHashMap::default(),
        field_of: FxHashMap::default(),
        order: Order::of(graph, rates),
        stays: Vec::new(),
    };
    for id in b.order.nodes.clone() {
        b.item(id);
    }
    b.makers();
    b.built.demand = demand::demand(graph, rates, &b.built.item_of, inlining);
    for id in graph.ids() {
        b.uses(id);
    }
    b.stays = vec![false; b.built.nodes.len()];
    b.consumers();
    b.results();
    if remat {
        b.allow_remat();
    }
    b.built
}

struct ProblemBuilder<'g> {
    graph: &'g Graph,
    rates: &'g Rates,
    inlining: &'g Inlining,
    /// The code size of each node.
    weights: Vec<u32>,
    free: Vec<bool>,
    built: Built,
    /// Nominal length of each class.
    lengths: Vec<u64>,
    /// The root above each class.
    trees: Vec<usize>,
    /// The nearest class, from each one upwards, whose elements an array selects.
    decided: Vec<Option<usize>>,
    /// How often the code of each class occurs in a loop: once for every part of an append.
    copies: Vec<u32>,
    class_of: FxHashMap<ClassId, usize>,
    /// The numbers of classes in the cursors of zip inputs.
    on_sides: FxHashMap<((NodeId, usize), ClassId), usize>,
    field_of: FxHashMap<FieldRef, usize>,
    order: Order,
    /// Items that are never rematerialised, because a later scatter overwrites their operands.
    stays: Vec<bool>,
}

impl ProblemBuilder<'_> {
    /// Adds the item of a node, if it runs in a loop.
    fn item(&mut self, id: NodeId) {
        let node = &self.graph.nodes[id.index()];
        let by_users = self.free[id.index()] || self.inlining.is_in_no_loop(id);
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
        let mut item = ClusterItem {
            weight: self.weights[id.index()],
            ..ClusterItem::default()
        };
        self.classes_of(id, &mut item);
        self.link_inputs(id, &mut item);
        match self.inlining.reversals.source(id) {
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
        match self.rates.fused_into(id) {
            Some(_) => {
                for decides in self.rates.deciding_above(id, None) {
                    self.link_to_maker(decides, None, &mut item);
                }
            }
            None => self.link_deciding(&mut item),
        }
        self.sides(id, &mut item);
        if let Some(class) = self.rates.runs_at(id) {
            let class = self.class(class);
            item.weight = item.weight.saturating_mul(self.copies[class]);
        }
        // An item that opens a subrate reads memory at that subrate's counter.
        item.streams.retain(|s| !item.makes.contains(&s.class));
        self.built.item_of[id.index()] = Some(self.built.nodes.len());
        self.built.nodes.push(id);
        self.built.problem.items.push(item);
    }

    /// The classes that a node's loop must have: its own, and the classes above it of its operands
    /// and its result.
    fn classes_of(&mut self, id: NodeId, item: &mut ClusterItem) {
        let node = &self.graph.nodes[id.index()];
        let Some(own) = self.rates.runs_at(id) else {
            return;
        };
        let output = self.rates.output(id);
        if let Kind::Append = node.node.kind {
            // An append has a root for each part, even if the part comes from memory.
            let family = self.rates.families().family(own);
            item.at.extend(family.map(|c| self.class(c)));
            item.makes.push(self.class(own));
            return;
        }
        let makes = self.rates.makes(self.graph, id);
        let in_step = node.inputs.iter().enumerate();
        // A scatter's base, and therefore its result, may be of any class.
        let scatters = matches!(node.node.kind, Kind::Scatter(..));
        let in_step = in_step
            .skip(usize::from(node.node.kind.facts().has_base))
            .filter(|(i, _)| !self.rates.is_unfused(id, *i));
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

    /// Adds the subrates between the classes of an item. The item opens these itself, by tags.
    fn opens(&self, item: &mut ClusterItem) {
        let classes = &self.built.problem.classes;
        // A parent class has a smaller number than its children.
        let Some(least) = item.at.iter().copied().min() else {
            return;
        };
        let up = |c: &usize| classes[*c].parent().filter(|above| *above >= least);
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

    /// The problem's number of a class. Numbers its ancestors first.
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

    /// The class above a class. Above the roots of phases, this is the class that represents all of
    /// them.
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
        let decided = match self.rates.kind(class).decided_by() {
            Some(_) => Some(number),
            None => new.parent().and_then(|p| self.decided[p]),
        };
        self.decided.push(decided);
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
        let field = DataField {
            bytes: length.saturating_mul(size),
            maker: self.built.item_of[f.0.index()],
            stored: false,
        };
        self.built.problem.fields.push(field);
        let new = self.built.problem.fields.len() - 1;
        self.field_of.insert(f, new);
        new
    }

    /// Sets the makers of lengths that were numbered before their makers.
    fn makers(&mut self) {
        for ((n, _), field) in &self.field_of {
            self.built.problem.fields[*field].maker = self.built.item_of[n.index()];
        }
    }

    /// The columns that a node of an item needs, including those of free generators that it
    /// computes.
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

    /// Sets the prices of rematerialisation.
    fn allow_remat(&mut self) {
        let price = |n: &NodeId| {
            let class = self.class_of[&self.rates.runs_at(*n)?];
            let operated = remat::operated(self.graph, self.rates, self.inlining, &self.free, *n)?;
            Some(remat::worth(operated, self.lengths[class]))
        };
        let prices = self.built.nodes.iter().zip(&self.stays);
        let prices = prices.map(|(n, stays)| price(n).filter(|_| !stays));
        let prices: Vec<Option<u64>> = prices.collect();
        remat::allow(&mut self.built.problem, &prices);
    }
}
