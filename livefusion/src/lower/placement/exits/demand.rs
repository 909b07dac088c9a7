//! Demand: the live ranges of combinators and of their fields.

use crate::ast::{Body, BySegments, Consumes};
use crate::fusion::ClassId;
use crate::fusion::rates::indexed_array;
use crate::lower::body;
use crate::lower::scope::LoopScope;
use crate::sharing::{FieldRef, NodeId};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// Describes a live range.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Needed {
    /// It has no consumer.
    #[default]
    Never,
    /// Until all of these classes have ended.
    While(SmallVec<[ClassId; 1]>),
    /// To the end of the loop.
    Always,
}

impl Needed {
    pub fn join(&mut self, other: &Needed) {
        match (&mut *self, other) {
            (Needed::Always, _) | (_, Needed::Never) => {}
            (_, Needed::Always) | (Needed::Never, _) => *self = other.clone(),
            (Needed::While(mine), Needed::While(theirs)) => {
                mine.extend_from_slice(theirs);
                mine.sort_unstable();
                mine.dedup();
            }
        }
    }

    /// Limits the live range to a class with an early exit.
    pub fn within(self, ends: Option<ClassId>) -> Needed {
        match (self, ends) {
            (Needed::Always, Some(class)) => Needed::While(smallvec![class]),
            (needed, _) => needed,
        }
    }
}

/// Holds the demand on each combinator and on each of its fields.
#[derive(Default)]
pub struct FieldDemand {
    pub nodes: FxHashMap<NodeId, Needed>,
    /// For pure producers of elements: the live range of their count.
    counts: FxHashMap<NodeId, Needed>,
    pub fields: FxHashMap<FieldRef, Needed>,
}

impl FieldDemand {
    pub fn field(&mut self, field: FieldRef, needed: &Needed) {
        if *needed == Needed::Never {
            return;
        }
        self.fields.entry(field).or_default().join(needed);
        self.node(field.0, needed);
    }

    pub fn node(&mut self, id: NodeId, needed: &Needed) {
        self.nodes.entry(id).or_default().join(needed);
    }

    /// Adds demand on the producers of an input, for any of its fields.
    ///
    /// A zip that checks lengths is demanded with its fields. An array is demanded with a generator
    /// that counts it.
    pub fn makers(&mut self, scope: &LoopScope<'_>, input: NodeId, needed: &Needed) {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            if scope.graph.node(input).kind.facts().names() {
                self.node(input, needed);
                inputs.extend(scope.inputs(input));
            }
            for (maker, _) in scope.graph.fields(input) {
                match scope.graph.node(maker).kind.facts().scans {
                    true => self.counts.entry(maker).or_default().join(needed),
                    false => self.node(maker, needed),
                }
                inputs.extend(indexed_array(scope.graph, maker));
            }
        }
    }

    /// Returns the demand on some combinators and on their elements.
    ///
    /// Each is limited to its class with an early exit in this phase, if there is one.
    pub fn of(
        &self,
        nodes: &[NodeId],
        ends: impl Fn(&NodeId) -> Option<ClassId>,
        elements_end: impl Fn(&NodeId) -> Option<ClassId>,
    ) -> FieldDemand {
        let mut demand = FieldDemand::default();
        for id in nodes {
            let node = self.nodes.get(id).cloned();
            let needed = node.map(|needed| (*id, needed.within(ends(id))));
            demand.nodes.extend(needed);
        }
        for (field, needed) in &self.fields {
            if demand.nodes.contains_key(&field.0) {
                let needed = needed.clone().within(elements_end(&field.0));
                demand.fields.insert(*field, needed);
            }
        }
        demand
    }

    /// Returns how long the inputs of a node must be counted.
    pub fn counted(&self, id: NodeId) -> Needed {
        let mut needed = self.nodes.get(&id).cloned().unwrap_or_default();
        needed.join(self.counts.get(&id).unwrap_or(&Needed::Never));
        needed
    }

    /// Adds demand on all fields of an input.
    pub fn all(&mut self, scope: &LoopScope<'_>, input: NodeId, needed: &Needed) {
        self.makers(scope, input, needed);
        for field in scope.graph.fields(input) {
            self.field(field, needed);
        }
    }

    /// Adds the demand of a node on the elements of its inputs.
    ///
    /// It lasts as long as the node is needed, or as long as the fields that are computed from the
    /// elements.
    pub fn elements(&mut self, scope: &LoopScope<'_>, id: NodeId, ends: Option<ClassId>) {
        let node = scope.graph.node(id);
        let needed = self.nodes.get(&id).cloned().unwrap_or_default();
        for field in scope.taken(id).at_an_index {
            self.field(field, &needed);
        }
        let of_field = |demand: &FieldDemand, f: usize| {
            let needed = demand.fields.get(&(id, f as u32));
            needed.cloned().unwrap_or_default().within(ends)
        };
        let inputs = scope.inputs(id).iter();
        let columns: Vec<FieldRef> = inputs.flat_map(|i| scope.graph.fields(*i)).collect();
        if let Some(body) = by_field(scope, id) {
            // An expansion's first parameter is an index. It stands in the place of the lengths.
            if node.kind.facts().by_segments == BySegments::Makes {
                self.field(columns[0], &needed);
            }
            for f in 0..node.types.len() {
                let needed = of_field(self, f);
                for k in body::used_params(body, Some(&only(f, node.types.len()))) {
                    self.field(columns[k], &needed);
                }
            }
            return;
        }
        let facts = node.kind.facts();
        match facts.consumes {
            Consumes::Own if facts.passes_on => {
                let (own, tags) = columns.split_at(node.types.len());
                for (f, field) in own.iter().enumerate() {
                    self.field(*field, &of_field(self, f));
                }
                let tests = node.kind.bodies().into_iter();
                let tested = tests.flat_map(|test| body::used_params(test, None));
                let tested = tested.map(|k| &own[k]).chain(tags);
                tested.for_each(|f| self.field(*f, &needed));
            }
            Consumes::Parts => {
                for f in 0..node.types.len() {
                    let needed = of_field(self, f);
                    for part in scope.inputs(id) {
                        self.field(scope.graph.resolve(*part, f as u32), &needed);
                    }
                }
            }
            // Uses lengths only.
            Consumes::Names | Consumes::Number => {}
            Consumes::All | Consumes::Own | Consumes::Lengths | Consumes::Bodies => {
                columns.iter().for_each(|f| self.field(*f, &needed));
                if let Some(source) = scope.plan.inlining.reversals.source(id) {
                    self.all(scope, source, &needed);
                }
            }
        }
    }
}

/// Returns a mask with one field set.
pub fn only(field: usize, of: usize) -> Vec<bool> {
    (0..of).map(|f| f == field).collect()
}

/// Returns the body of a node that computes its fields separately.
pub fn by_field<'g>(scope: &LoopScope<'g>, id: NodeId) -> Option<&'g Body> {
    let rates = &scope.plan.rates;
    let kind = &scope.graph.node(id).kind;
    let facts = kind.facts();
    let alone = rates.sides(id).is_none() && rates.cursors_of(id).is_none();
    let by_field = facts.by_field && facts.columns.is_some() && alone;
    kind.bodies().pop().filter(|_| by_field)
}
