//! A loop's view of its plan: the nodes in memory, the fields of inputs.

use crate::ast::{Kind, Move};
use crate::fusion::phases::Phase;
use crate::fusion::rates::kept::Taken;
use crate::fusion::{ClassId, Plan};
use crate::sharing::uniform::is_uniform;
use crate::sharing::{FieldRef, Graph, NodeId};
use std::ops::Range;

/// Describes one loop of a plan.
#[derive(Clone, Copy)]
pub struct LoopScope<'g> {
    /// The recovered graph.
    pub graph: &'g Graph,
    /// The schedule.
    pub plan: &'g Plan,
    /// The index of the loop in the schedule.
    pub at: usize,
    /// The phase in view, if any.
    pub phase: Option<&'g Phase>,
}

/// Describes a field as an input of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct InputColumn {
    /// The field, resolved.
    pub field: FieldRef,
    /// For an unfused input: the class at whose counter it is read from memory, if that is not its
    /// own class.
    pub unfused_at: Option<ClassId>,
    /// Whether it is read from the end, by a reversed loop.
    pub reversed: bool,
    /// How many steps later it is read in its segment, or in the nearest one.
    pub by: i64,
}

impl InputColumn {
    /// Returns whether it is read at another index than that of its consumer.
    pub fn is_elsewhere(self) -> bool {
        self.reversed || self.by != 0
    }
}

impl From<FieldRef> for InputColumn {
    fn from(field: FieldRef) -> InputColumn {
        InputColumn {
            field,
            unfused_at: None,
            reversed: false,
            by: 0,
        }
    }
}

impl<'g> LoopScope<'g> {
    /// Returns the class that the loop, or the phase, runs over.
    pub fn root(&self) -> Option<ClassId> {
        let root = self.plan.loops[self.at].root;
        self.phase.map_or(root, |p| Some(p.root))
    }

    /// Returns the view of one of the loop's phases.
    pub fn in_phase(self, phase: &'g Phase) -> LoopScope<'g> {
        LoopScope {
            phase: Some(phase),
            ..self
        }
    }

    /// Returns the class above a class, in this phase.
    pub fn above(&self, class: ClassId) -> Option<ClassId> {
        let rates = &self.plan.rates;
        match self.phase {
            Some(phase) => phase.above(rates, class),
            None => rates.parent(class),
        }
    }

    /// Returns whether a class is another or below it, in this phase.
    pub fn is_within(&self, class: ClassId, above: ClassId) -> bool {
        std::iter::successors(Some(class), |c| self.above(*c)).any(|c| c == above)
    }

    /// Returns the class at whose rate a column has its elements.
    pub fn class_of(&self, column: InputColumn) -> Option<ClassId> {
        column.unfused_at.or(self.plan.rates.output(column.field.0))
    }

    /// Returns whether elements of a class are counted through all phases.
    ///
    /// These are classes of appends or below them. A class that a phase reads from memory is
    /// excluded.
    pub fn is_appended(&self, class: ClassId) -> bool {
        let rates = &self.plan.rates;
        let read = self.root().is_some_and(|root| rates.is_within(class, root));
        !read && rates.is_appended(class)
    }

    /// Returns a node's inputs.
    pub fn inputs(&self, id: NodeId) -> &'g [NodeId] {
        &self.graph.nodes[id.index()].inputs
    }

    /// Returns the parts of appends whose elements belong to this phase.
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

    /// Returns whether a node is in memory when this loop starts.
    pub fn is_in_memory(&self, id: NodeId) -> bool {
        self.graph.nodes[id.index()].leaf
            || self.plan.loop_of[id.index()].is_some_and(|l| l < self.at)
                && !self.plan.computes(self.at, id)
    }

    /// Returns whether all segment lengths are one number, known at loop entry.
    pub fn is_uniform(&self, lengths: InputColumn) -> bool {
        is_uniform(self.graph, lengths.field) && !self.is_in_memory(lengths.field.0)
    }

    /// Returns a field of an array that defines its length.
    ///
    /// This loop makes the field, or it is in memory.
    pub fn existing_field(&self, input: NodeId) -> Option<FieldRef> {
        let exists = |f: &FieldRef| {
            let leaf = self.graph.nodes[f.0.index()].leaf;
            leaf || !self.is_in_memory(f.0) || self.plan.stored.contains(f)
        };
        self.graph.fields(input).into_iter().find(exists)
    }

    /// Returns the columns of some of a node's inputs.
    pub fn columns(&self, id: NodeId, inputs: Range<usize>) -> Vec<InputColumn> {
        let all = self.inputs(id);
        let width = |i: usize| self.graph.node(all[i]).types.len() as u32;
        inputs
            .flat_map(|i| (0..width(i)).map(move |f| (i, f)))
            .map(|(i, f)| self.column(id, i, f))
            .collect()
    }

    /// Returns the columns of all of a node's inputs.
    pub fn all_columns(&self, id: NodeId) -> Vec<InputColumn> {
        self.columns(id, 0..self.inputs(id).len())
    }

    /// Returns the class at whose counter a node reads its unfused inputs.
    pub fn consumes_at(&self, id: NodeId) -> Option<ClassId> {
        self.plan.rates.consumes_at(self.graph, id)
    }

    /// Returns a field of a node's input.
    ///
    /// Resolves it through `Zip` and `Fields` to its producer.
    pub fn column(&self, id: NodeId, input: usize, field: u32) -> InputColumn {
        let used = self.plan.rates.consumed(self.graph, id, input, field);
        let made_once = self.is_made_once(used.field.0);
        let kind = &self.graph.node(id).kind;
        let reversed = match kind {
            // Segments are visited in order.
            _ if kind.facts().by_segments.is_of_segments(input) => false,
            Kind::MoveS(to) => {
                let turns = *to == Move::Turned;
                let against =
                    self.runs_against(id) ^ (made_once && self.runs_against(used.field.0));
                turns ^ against
            }
            _ => self.runs_against(id) && !made_once,
        };
        InputColumn {
            field: used.field,
            unfused_at: used.unfused_at,
            reversed,
            by: match kind {
                Kind::MoveS(Move::By(by)) if input == 1 && self.runs_against(id) => {
                    by.saturating_neg()
                }
                Kind::MoveS(Move::By(by)) if input == 1 => *by,
                _ => 0,
            },
        }
    }

    /// Returns whether a node's elements are made in reverse loop order.
    pub fn runs_against(&self, id: NodeId) -> bool {
        self.plan.inlining.reversals.is_against(id)
    }

    /// Returns the source columns of a `reverse` that this loop computes.
    ///
    /// Elements made in this loop are read in the same iteration. Elements that can be read
    /// anywhere are read from the end, unless the node itself is reversed.
    pub fn reversed(&self, id: NodeId) -> Option<Vec<InputColumn>> {
        let source = self.plan.inlining.reversals.source(id)?;
        let fields = self.graph.fields(source).into_iter();
        let column = |field: FieldRef| InputColumn {
            reversed: !self.runs_against(id) && !self.is_made_once(field.0),
            ..field.into()
        };
        Some(fields.map(column).collect())
    }

    /// Returns the input column that a filter or an append passes on.
    ///
    /// For an append, it is the part of this phase.
    pub fn passed_on(&self, column: InputColumn) -> Option<InputColumn> {
        let (id, field) = column.field;
        if let Kind::Append = self.graph.node(id).kind {
            let class = self.plan.rates.output(id)?;
            let (part, _) = self.phase?.part(class)?;
            let here = column.unfused_at.is_none() && !self.is_in_memory(id);
            return here.then(|| self.column(id, part, field));
        }
        let passes = self.graph.node(id).kind.facts().passes_on;
        (passes && column.unfused_at.is_none() && !self.is_in_memory(id))
            .then(|| self.column(id, 0, field))
    }

    /// Returns whether a node's elements have one definition in this loop.
    ///
    /// Later uses read them from memory. Elements of arrays in memory and of generators can be read
    /// anywhere instead.
    pub fn is_made_once(&self, id: NodeId) -> bool {
        let reversals = &self.plan.inlining.reversals;
        let is_function = matches!(self.graph.node(id).kind, Kind::Generate(..));
        let anywhere = is_function && reversals.source(id).is_none();
        !anywhere && !self.is_in_memory(id)
    }

    /// Returns whether a node's updates write its elements to memory.
    pub fn is_scattered(&self, id: NodeId) -> bool {
        matches!(self.graph.node(id).kind, Kind::Scatter(..)) && !self.is_in_memory(id)
    }

    /// Lists the fields that a node takes from this loop's scratch memory.
    pub fn taken(&self, id: NodeId) -> Taken {
        let mut taken = self.plan.rates.taken(self.graph, id);
        let needs = &self.plan.demand.needs[id.index()];
        for fields in [&mut taken.in_step, &mut taken.at_an_index] {
            fields.retain(|f| needs.contains(f) && self.plan.computes(self.at, f.0));
        }
        taken
    }

    /// Returns a mask of the demanded fields of a node.
    pub fn demanded(&self, id: NodeId) -> Vec<bool> {
        let fields = &self.plan.demand.fields[id.index()];
        let width = self.graph.node(id).types.len() as u32;
        (0..width).map(|f| fields.contains(&f)).collect()
    }
}
