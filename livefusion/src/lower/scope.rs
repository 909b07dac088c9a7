//! What one loop of a plan sees: which nodes are in memory when it starts, and which field of which node each
//! input of a combinator is.

use crate::ast::Kind;
use crate::fusion::phases::Phase;
use crate::fusion::{ClassId, Plan};
use crate::sharing::uniform::is_uniform;
use crate::sharing::{FieldRef, Graph, NodeId};
use std::ops::Range;

/// One loop of a plan.
#[derive(Clone, Copy)]
pub struct Scope<'g> {
    /// The recovered graph.
    pub graph: &'g Graph,
    /// The schedule.
    pub plan: &'g Plan,
    /// Which loop of the schedule this is.
    pub at: usize,
    /// Which of its phases, if it is one of them that is looked at.
    pub phase: Option<&'g Phase>,
}

/// A field as an input of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Column {
    /// The field, resolved.
    pub field: FieldRef,
    /// The class at whose counter it is read from memory, if that is not its own.
    pub beside: Option<ClassId>,
    /// Whether it is had from the end on: by what runs against the loop.
    pub mirrored: bool,
}

impl From<FieldRef> for Column {
    fn from(field: FieldRef) -> Column {
        Column {
            field,
            beside: None,
            mirrored: false,
        }
    }
}

impl<'g> Scope<'g> {
    /// The class that the loop, or the phase, runs over.
    pub fn root(&self) -> Option<ClassId> {
        let root = self.plan.loops[self.at].root;
        self.phase.map_or(root, |p| Some(p.root))
    }

    /// One of the loop's phases.
    pub fn in_phase(self, phase: &'g Phase) -> Scope<'g> {
        Scope {
            phase: Some(phase),
            ..self
        }
    }

    /// The class above one, in this phase.
    pub fn above(&self, class: ClassId) -> Option<ClassId> {
        let rates = &self.plan.rates;
        match self.phase {
            Some(phase) => phase.above(rates, class),
            None => rates.parent(class),
        }
    }

    /// Whether a class is another or below it, in this phase.
    pub fn is_within(&self, class: ClassId, above: ClassId) -> bool {
        std::iter::successors(Some(class), |c| self.above(*c)).any(|c| c == above)
    }

    /// The class at whose rate a column has its elements.
    pub fn class_of(&self, column: Column) -> Option<ClassId> {
        column.beside.or(self.plan.rates.output(column.field.0))
    }

    /// Whether elements of a class are counted through all phases: it is that of an append, or below it, and not
    /// what a phase reads from memory.
    pub fn is_appended(&self, class: ClassId) -> bool {
        let rates = &self.plan.rates;
        let read = self.root().is_some_and(|root| rates.is_within(class, root));
        !read && rates.is_appended(class)
    }

    /// A node's inputs.
    pub fn inputs(&self, id: NodeId) -> &'g [NodeId] {
        &self.graph.nodes[id.index()].inputs
    }

    /// The parts of appends of which this phase has the elements.
    pub fn parts(&self) -> Vec<NodeId> {
        let Some(phase) = self.phase else {
            return Vec::new();
        };
        let part = |append: &NodeId| {
            let class = self.plan.rates.output(*append)?;
            self.inputs(*append).get(phase.part(class)?.0).copied()
        };
        let nodes = phase.nodes.iter();
        let appends = nodes.filter(|n| matches!(self.graph.node(**n).kind, Kind::Append));
        appends.filter_map(part).collect()
    }

    /// Whether a node is in memory when this loop starts.
    pub fn is_in_memory(&self, id: NodeId) -> bool {
        self.graph.nodes[id.index()].leaf
            || self.plan.loop_of[id.index()].is_some_and(|l| l < self.at)
                && !self.plan.computes(self.at, id)
    }

    /// Whether lengths of segments are one number, known when the loop starts.
    pub fn is_uniform(&self, lengths: Column) -> bool {
        is_uniform(self.graph, lengths.field) && !self.is_in_memory(lengths.field.0)
    }

    /// A field of an array that tells its length: one that this loop makes, or one that is in memory.
    pub fn existing_field(&self, input: NodeId) -> Option<FieldRef> {
        let exists = |f: &FieldRef| {
            let leaf = self.graph.nodes[f.0.index()].leaf;
            leaf || !self.is_in_memory(f.0) || self.plan.stored.contains(f)
        };
        self.graph.fields(input).into_iter().find(exists)
    }

    /// The columns of some of a node's inputs.
    pub fn columns(&self, id: NodeId, inputs: Range<usize>) -> Vec<Column> {
        let all = self.inputs(id);
        let width = |i: usize| self.graph.node(all[i]).types.len() as u32;
        inputs
            .flat_map(|i| (0..width(i)).map(move |f| (i, f)))
            .map(|(i, f)| self.column(id, i, f))
            .collect()
    }

    /// The columns of all of a node's inputs.
    pub fn all_columns(&self, id: NodeId) -> Vec<Column> {
        self.columns(id, 0..self.inputs(id).len())
    }

    /// The class at whose counter a node consumes what is beside it.
    pub fn consumes_at(&self, id: NodeId) -> Option<ClassId> {
        self.plan.rates.consumes_at(self.graph, id)
    }

    /// A field of a node's input: through `Zip` and `Fields` to what computes it.
    pub fn column(&self, id: NodeId, input: usize, field: u32) -> Column {
        let used = self.plan.rates.consumed(self.graph, id, input, field);
        let mirrored = self.runs_against(id) && !self.is_made_once(used.field.0);
        Column {
            field: used.field,
            beside: used.beside,
            mirrored,
        }
    }

    /// Whether a node's elements are made in the opposite order of the loop.
    pub fn runs_against(&self, id: NodeId) -> bool {
        self.plan.pulls.mirrors.is_against(id)
    }

    /// The columns of which a node has the mirrored elements, if the loop that makes these makes them, too. What this
    /// loop makes, it makes in the opposite order; what can be had anywhere is had in that order.
    pub fn mirrored(&self, id: NodeId) -> Option<Vec<Column>> {
        let source = self.plan.pulls.mirrors.source(id)?;
        let fields = self.graph.fields(source).into_iter();
        let column = |field: FieldRef| Column {
            mirrored: !self.runs_against(id) && !self.is_made_once(field.0),
            ..field.into()
        };
        Some(fields.map(column).collect())
    }

    /// The column of its input that a filter passes on, or an append in this phase.
    pub fn passed_on(&self, column: Column) -> Option<Column> {
        let (id, field) = column.field;
        if let Kind::Append = self.graph.node(id).kind {
            let class = self.plan.rates.output(id)?;
            let (part, _) = self.phase?.part(class)?;
            let here = column.beside.is_none() && !self.is_in_memory(id);
            return here.then(|| self.column(id, part, field));
        }
        let passes = self.graph.node(id).kind.facts().passes_on;
        (passes && column.beside.is_none() && !self.is_in_memory(id))
            .then(|| self.column(id, 0, field))
    }

    /// Whether a node's elements are made in one place of this loop, and kept in memory for all that is
    /// behind: those of arrays in memory and of generators can be had anywhere.
    pub fn is_made_once(&self, id: NodeId) -> bool {
        let mirrors = &self.plan.pulls.mirrors;
        let is_function = matches!(self.graph.node(id).kind, Kind::Generate(..));
        let anywhere = is_function && mirrors.source(id).is_none();
        !anywhere && !self.is_in_memory(id)
    }

    /// Whether a node's elements are put into memory by its own updates.
    pub fn is_scattered(&self, id: NodeId) -> bool {
        matches!(self.graph.node(id).kind, Kind::Scatter(..)) && !self.is_in_memory(id)
    }

    /// Which fields of a node anything asks for.
    pub fn demanded(&self, id: NodeId) -> Vec<bool> {
        let fields = &self.plan.demand.fields[id.index()];
        let width = self.graph.node(id).types.len() as u32;
        (0..width).map(|f| fields.contains(&f)).collect()
    }
}
