//! Where each length comes from, and which are known to be equal.

use super::{Check, Context, Opening, Placer, no_root};
use crate::ast::{AsLong, Kind};
use crate::fusion::ClassId;
use crate::fusion::rates::indexed_array;
use crate::lower::{Lower, Source, generate};
use crate::sharing::{FieldRef, NodeId};
use loop_lang::ir::RateId;
use rustc_hash::{FxHashMap, FxHashSet};

/// A length that is there when a loop starts, by where it comes from: two that are the same have one value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Length {
    /// That of an array in memory.
    Array(FieldRef),
    /// A parameter of the loop.
    Param(Source),
    /// A delayed scalar.
    Scalar(FieldRef),
    /// Each row of these lengths, which are one number.
    Row(FieldRef),
    /// All rows of these lengths, which are one number.
    Rows(FieldRef),
    /// That of a generator which checks it.
    Checked(NodeId),
    /// Of what an earlier loop made and nobody keeps: its elements are no elements here.
    Nothing,
}

/// How much room an array needs whose elements a rate makes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Room {
    /// So much as the root or the cursor around has steps.
    Bound(RateId),
    /// So much as all rows have that this rate runs over.
    Rows(RateId),
    /// So much as each of these rows has.
    Row(RateId),
    /// As much as an array in memory has, which is segmented like this.
    Array(NodeId),
    /// What a loop before it counts.
    Counted(RateId),
}

/// How many elements segments may have in all.
#[derive(Clone, Copy, Debug)]
pub enum Total {
    /// So many.
    Length(Length),
    /// Their elements are nowhere in memory.
    Any,
}

/// How many elements something can have that is advanced on demand.
#[derive(Clone, Debug)]
pub enum Most {
    /// So many.
    Length(Length),
    /// As many as that of these which can have least.
    Least(Vec<Most>),
    /// As many as all of these together.
    Sum(Vec<Most>),
}

/// What is known of lengths while a loop is placed.
#[derive(Debug, Default)]
pub struct Lengths {
    /// Generators whose length was asked for.
    generators: FxHashSet<NodeId>,
    /// Lengths that segments were checked against, by class of their elements.
    checked: FxHashMap<(ClassId, Option<Context>), FxHashSet<Length>>,
    /// Arrays whose lengths were taken for the numbers of segments' elements.
    pub told: Vec<Told>,
    /// What a rate runs over: arrays in memory, generators, and what it keeps in memory.
    pub run_over: Vec<(NodeId, RateId)>,
    /// Lengths that are equal wherever this loop comes to its end.
    pub agreed: Agreed,
    /// Attempts of zips that no length bounds.
    pub unbounded: FxHashSet<RateId>,
    /// Checks that can be made at the end only.
    pub at_the_end: Vec<(NodeId, Check)>,
    /// Inputs whose numbers of elements are counted, by phases.
    counted: FxHashSet<(NodeId, usize)>,
    /// Rows that were held against those that a rate runs over.
    rows: FxHashSet<(FieldRef, FieldRef)>,
}

/// The length of an array in memory, taken for the number of a rate's elements.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// The array.
    pub leaf: NodeId,
    /// The rate.
    pub rate: RateId,
    /// Who needs the number.
    pub by: NodeId,
}

impl Lengths {
    /// Notes a check of a class's elements against a length, by what runs in a context; false if it was made
    /// before.
    pub fn first_check(&mut self, class: (ClassId, Option<Context>), len: Length) -> bool {
        self.checked.entry(class).or_default().insert(len)
    }

    /// Notes that the elements of an input are counted; false if an earlier phase does so.
    pub fn first_count(&mut self, input: (NodeId, usize)) -> bool {
        self.counted.insert(input)
    }

    /// Notes that rows are held against others; false if they were before.
    pub fn first_rows(&mut self, own: FieldRef, rows: FieldRef) -> bool {
        self.rows.insert((own, rows))
    }

    /// Whether a class's elements are checked against the length of an array in memory.
    pub fn is_checked(&self, class: (ClassId, Option<Context>), leaf: NodeId) -> bool {
        let lengths = self.checked.get(&class).into_iter().flatten();
        let mut arrays = lengths.filter(|l| matches!(l, Length::Array((n, _)) if *n == leaf));
        arrays.next().is_some()
    }
}

impl Placer<'_> {
    /// What is known of lengths.
    pub fn lengths(&mut self) -> &mut Lengths {
        &mut self.lengths
    }

    /// The length of an array, as this loop knows it when it starts: that of the memory or of the
    /// generator at the far end of what is computed in step. None for the elements of segments, whose
    /// number only the segments' lengths say.
    pub fn len(&mut self, input: NodeId) -> Option<Length> {
        let graph = self.scope.graph;
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        let mut stack = vec![input];
        let mut nowhere = false;
        let mut follows = None;
        while let Some(at) = stack.pop() {
            let Some((first, field)) = self.scope.existing_field(at) else {
                // What an earlier loop made and nobody keeps: another input may tell.
                nowhere = true;
                continue;
            };
            if !seen.insert(first) {
                continue;
            }
            if self.scope.is_in_memory(first) {
                return Some(Length::Array((first, field)));
            }
            let node = &graph.nodes[first.index()];
            if let Kind::Generate(..) = node.node.kind {
                let asked = self.lengths.generators.contains(&first);
                let array = indexed_array(graph, first).filter(|_| !asked);
                match array.filter(|a| self.scope.existing_field(*a).is_some()) {
                    Some(array) => {
                        follows.get_or_insert(first);
                        stack.push(array);
                    }
                    None => return Some(self.generator_len(first)),
                }
            }
            match node.node.kind.facts().length {
                // Whichever input has a length of its own.
                AsLong::Inputs => stack.extend(node.inputs.iter().rev()),
                AsLong::Input(k) => stack.push(node.inputs[k]),
                // A run tells, or this loop does at its end.
                AsLong::Own | AsLong::Base => {}
            }
        }
        // What counts an array is as long, whether anybody keeps the array or not.
        let counts = follows.filter(|g| generate::is_told(&self.scope, *g));
        match counts.filter(|_| nowhere) {
            Some(generator) => Some(self.generator_len(generator)),
            None => nowhere.then_some(Length::Nothing),
        }
    }

    /// The length of a generator, as the loop knows it when it starts.
    pub fn generator_len(&mut self, id: NodeId) -> Length {
        self.lengths.generators.insert(id);
        generate::length(&self.scope, id)
    }

    /// How many elements a root or a cursor runs over, if that is the length of something.
    pub fn bound(&self, rate: RateId) -> Option<Length> {
        match self.placed.tree.rate(rate).opening {
            Opening::Array(field) => Some(Length::Array(field)),
            Opening::Indices(len) => Some(len),
            Opening::Cursor(_, len) => len,
            _ => None,
        }
    }

    /// The room for a rate's elements: an upper bound of their number, known when the loop starts.
    pub fn room(&mut self, rate: RateId, by: NodeId) -> Lower<Room> {
        let rate = self.placed.tree.loop_rate(rate);
        let placed = self.placed.tree.rate(rate);
        let unbounded = self.lengths.unbounded.contains(&rate);
        if !placed.opening.is_nested() && !unbounded {
            return Ok(Room::Bound(rate));
        }
        let class = placed.class.ok_or_else(no_root)?;
        if let Some(rows) = self.rows(rate) {
            return Ok(Room::Rows(rows));
        }
        // An array in memory that is segmented like this tells, for it is checked to be as long.
        Ok(match self.scope.plan.rates.in_memory(class) {
            Some(leaf) => {
                self.lengths.told.push(Told { leaf, rate, by });
                Room::Array(leaf)
            }
            None => Room::Counted(rate),
        })
    }

    /// The first pass over the rows that a rate runs over, if they are such: a later one has as many elements.
    pub fn rows(&self, rate: RateId) -> Option<RateId> {
        let tree = &self.placed.tree;
        let placed = tree.rate(rate);
        let is_rows = |r: &RateId| matches!(tree.rate(*r).opening, Opening::Rows(..));
        let over = |r: &RateId| tree.parent(*r) == placed.parent && is_rows(r);
        let passes = tree.instances(placed.class?).into_iter();
        passes.filter(|_| placed.opening.is_nested()).find(over)
    }

    /// A rate's class, and in what it runs.
    pub fn class_in_context(&self, rate: RateId) -> Option<(ClassId, Option<Context>)> {
        let class = self.placed.tree.rate(rate).class?;
        Some((class, self.contexts[rate.index()]))
    }

    /// Notes that a column of memory is read: in step with a rate, or anywhere.
    pub fn reads(&mut self, field: FieldRef, rate: Option<RateId>) {
        let known = self.placed.streams.entry(field).or_insert(rate);
        if *known != rate {
            *known = None;
        }
    }
}

/// A number of elements that a loop deals with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Of {
    /// Of all nodes that had this class before it was joined to another.
    Own(ClassId),
    /// Of this class, as the loop counts them, in what runs like this: what is left early has fewer.
    Class(ClassId, Option<Context>),
}

/// Which lengths are equal, because that was known or is checked.
#[derive(Debug, Default)]
pub struct Agreed(FxHashMap<Of, Of>);

impl Agreed {
    /// Whether two lengths are equal.
    pub fn are_equal(&mut self, a: Of, b: Of) -> bool {
        self.find(a) == self.find(b)
    }

    /// Notes that two lengths are equal.
    pub fn unite(&mut self, a: Option<Of>, b: Option<Of>) {
        if let (Some(a), Some(b)) = (a, b) {
            let (a, b) = (self.find(a), self.find(b));
            if a != b {
                self.0.insert(a, b);
            }
        }
    }

    /// What stands for all lengths that are equal to one. The ways there are shortened.
    fn find(&mut self, mut length: Of) -> Of {
        while let Some(to) = self.0.get(&length).copied() {
            let beyond = self.0.get(&to).copied().unwrap_or(to);
            self.0.insert(length, beyond);
            length = beyond;
        }
        length
    }
}
