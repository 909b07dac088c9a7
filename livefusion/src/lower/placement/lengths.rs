//! Length sources: where each length comes from, and which lengths are equal.

use super::{Check, Context, Opening, Placer, no_root};
use crate::ast::{AsLong, Kind};
use crate::fusion::ClassId;
use crate::fusion::rates::indexed_array;
use crate::lower::{Lower, Source, generate};
use crate::sharing::{FieldRef, NodeId};
use loop_lang::ir::RateId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Describes a length that is known at loop entry.
///
/// Two equal sources have the same value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LengthSource {
    /// The length of an array in memory.
    Array(FieldRef),
    /// A parameter of the loop.
    Param(Source),
    /// A delayed scalar.
    Scalar(FieldRef),
    /// The length of each row. The lengths are one number.
    Row(FieldRef),
    /// The number of elements of all rows. The lengths are one number.
    Rows(FieldRef),
    /// The length of a generator that checks it.
    Checked(NodeId),
    /// The length of an array that an earlier loop made and did not keep. Its elements are not used
    /// here.
    Nothing,
}

/// Describes the capacity of an array that a rate fills.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Capacity {
    /// The bound of the root or of the cursor around.
    Bound(RateId),
    /// The number of elements of all rows that this rate runs over.
    Rows(RateId),
    /// The length of one row.
    Row(RateId),
    /// The length of an array in memory with the same segments.
    Array(NodeId),
    /// A count from a sizing loop that runs first.
    Counted(RateId),
}

/// Describes an upper bound of the elements of all segments.
#[derive(Clone, Copy, Debug)]
pub enum Total {
    /// This length.
    Length(LengthSource),
    /// No bound: their elements are nowhere in memory.
    Any,
}

/// Describes an upper bound of the elements that are advanced on demand.
#[derive(Clone, Debug)]
pub enum Most {
    /// This length.
    Length(LengthSource),
    /// The minimum of these.
    Least(Vec<Most>),
    /// The sum of these.
    Sum(Vec<Most>),
}

/// Holds the facts about lengths while a loop is placed.
#[derive(Debug, Default)]
pub struct Lengths {
    /// Generators whose length was requested.
    generators: FxHashSet<NodeId>,
    /// Lengths that segments were checked against, by class of their elements.
    checked: FxHashMap<(ClassId, Option<Context>), FxHashSet<LengthSource>>,
    /// Arrays whose lengths were assumed to be the number of elements of segments.
    pub assumed: Vec<AssumedLength>,
    /// The nodes that a rate runs over: arrays in memory, generators, and arrays that it keeps in
    /// memory.
    pub run_over: Vec<(NodeId, RateId)>,
    /// Lengths that are equal wherever this loop comes to its end.
    pub agreed: Agreed,
    /// The attempts of zips that no length bounds.
    pub unbounded: FxHashSet<RateId>,
    /// Checks that need the loop to be complete.
    pub at_the_end: Vec<(NodeId, Check)>,
    /// Inputs whose elements are counted. The first phase to count one claims it.
    counted: FxHashSet<(NodeId, usize)>,
    /// Pairs of row lengths that were compared.
    rows: FxHashSet<(FieldRef, FieldRef)>,
}

/// Describes an array length that was assumed to be a rate's number of elements.
#[derive(Clone, Copy, Debug)]
pub struct AssumedLength {
    /// The array.
    pub leaf: NodeId,
    /// The rate.
    pub rate: RateId,
    /// The node that uses the number.
    pub by: NodeId,
}

impl Lengths {
    /// Notes a check of a class's elements against a length, in a context.
    ///
    /// Returns false if it was made before.
    pub fn first_check(&mut self, class: (ClassId, Option<Context>), len: LengthSource) -> bool {
        self.checked.entry(class).or_default().insert(len)
    }

    /// Notes that the elements of an input are counted.
    ///
    /// Returns false if an earlier phase counts them.
    pub fn first_count(&mut self, input: (NodeId, usize)) -> bool {
        self.counted.insert(input)
    }

    /// Notes that row lengths are compared with others.
    ///
    /// Returns false if they were before.
    pub fn first_rows(&mut self, own: FieldRef, rows: FieldRef) -> bool {
        self.rows.insert((own, rows))
    }

    /// Returns whether a class is checked against the length of an array in memory.
    pub fn is_checked(&self, class: (ClassId, Option<Context>), leaf: NodeId) -> bool {
        let lengths = self.checked.get(&class).into_iter().flatten();
        let mut arrays = lengths.filter(|l| matches!(l, LengthSource::Array((n, _)) if *n == leaf));
        arrays.next().is_some()
    }
}

impl Placer<'_> {
    /// Returns the facts about lengths.
    pub fn lengths(&mut self) -> &mut Lengths {
        &mut self.lengths
    }

    /// Returns the length of an array as known at loop entry.
    ///
    /// Follows operands in step to an array in memory or a generator. Returns `None` for the
    /// elements of segments: only the lengths of the segments define their number.
    pub fn len(&mut self, input: NodeId) -> Option<LengthSource> {
        let graph = self.scope.graph;
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        let mut stack = vec![input];
        let mut nowhere = false;
        let mut follows = None;
        while let Some(at) = stack.pop() {
            let Some((first, field)) = self.scope.existing_field(at) else {
                // An earlier loop made this array and did not keep it. Another operand may have a
                // length.
                nowhere = true;
                continue;
            };
            if !seen.insert(first) {
                continue;
            }
            if self.scope.is_in_memory(first) {
                return Some(LengthSource::Array((first, field)));
            }
            let node = &graph.nodes[first.index()];
            if let Kind::Generate(..) = node.node.kind {
                let is_known = self.lengths.generators.contains(&first);
                let array = indexed_array(graph, first).filter(|_| !is_known);
                match array.filter(|a| self.scope.existing_field(*a).is_some()) {
                    Some(array) => {
                        follows.get_or_insert(first);
                        stack.push(array);
                    }
                    None => return Some(self.generator_len(first)),
                }
            }
            match node.node.kind.facts().length {
                // The first operand with a known length.
                AsLong::Inputs => stack.extend(node.inputs.iter().rev()),
                AsLong::Input(k) => stack.push(node.inputs[k]),
                // Known only after an earlier run, or at the end of this loop.
                AsLong::Own | AsLong::Base => {}
            }
        }
        // A generator that counts an array is as long as the array, even if the array is not kept.
        let counts = follows.filter(|g| generate::is_known_at_entry(&self.scope, *g));
        match counts.filter(|_| nowhere) {
            Some(generator) => Some(self.generator_len(generator)),
            None => nowhere.then_some(LengthSource::Nothing),
        }
    }

    /// Returns the length of a generator as known at loop entry.
    pub fn generator_len(&mut self, id: NodeId) -> LengthSource {
        self.lengths.generators.insert(id);
        generate::length(&self.scope, id)
    }

    /// Returns the length that bounds a root or a cursor.
    ///
    /// `None` if no known length does.
    pub fn bound(&self, rate: RateId) -> Option<LengthSource> {
        match self.placed.tree.rate(rate).opening {
            Opening::Array(field) => Some(LengthSource::Array(field)),
            Opening::Indices(len) => Some(len),
            Opening::Cursor(_, len) => len,
            _ => None,
        }
    }

    /// Returns a capacity for a rate's elements.
    ///
    /// It is an upper bound of their number, known at loop entry.
    pub fn capacity(&mut self, rate: RateId, by: NodeId) -> Lower<Capacity> {
        let rate = self.placed.tree.loop_rate(rate);
        let placed = self.placed.tree.rate(rate);
        let unbounded = self.lengths.unbounded.contains(&rate);
        if !placed.opening.is_nested() && !unbounded {
            return Ok(Capacity::Bound(rate));
        }
        let class = placed.class.ok_or_else(no_root)?;
        if let Some(rows) = self.rows(rate) {
            return Ok(Capacity::Rows(rows));
        }
        // Uses an array in memory with the same segments. Its length is checked elsewhere.
        Ok(match self.scope.plan.rates.in_memory(class) {
            Some(leaf) => {
                self.lengths.assumed.push(AssumedLength { leaf, rate, by });
                Capacity::Array(leaf)
            }
            None => Capacity::Counted(rate),
        })
    }

    /// Returns the first pass over the rows that a rate runs over.
    ///
    /// A later pass has as many elements. Returns `None` if the rate does not run over rows.
    pub fn rows(&self, rate: RateId) -> Option<RateId> {
        let tree = &self.placed.tree;
        let placed = tree.rate(rate);
        let is_rows = |r: &RateId| matches!(tree.rate(*r).opening, Opening::Rows(..));
        let over = |r: &RateId| tree.parent(*r) == placed.parent && is_rows(r);
        let passes = tree.instances(placed.class?).into_iter();
        passes.filter(|_| placed.opening.is_nested()).find(over)
    }

    /// Returns a rate's class and context.
    pub fn class_in_context(&self, rate: RateId) -> Option<(ClassId, Option<Context>)> {
        let class = self.placed.tree.rate(rate).class?;
        Some((class, self.contexts[rate.index()]))
    }

    /// Notes a read of a column in memory.
    ///
    /// It is in step with `rate`, or at random without one.
    pub fn reads(&mut self, field: FieldRef, rate: Option<RateId>) {
        let known = self.placed.streams.entry(field).or_insert(rate);
        if *known != rate {
            *known = None;
        }
    }
}

/// Identifies a number of elements in a loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CountOf {
    /// The number of elements of all nodes that had this class before it was unified with another.
    Own(ClassId),
    /// The number of elements of this class in a context, as counted by the loop. An early exit
    /// makes it smaller.
    Class(ClassId, Option<Context>),
}

/// Holds the lengths that are equal, by analysis or by a check.
///
/// A union-find structure.
#[derive(Debug, Default)]
pub struct Agreed(FxHashMap<CountOf, CountOf>);

impl Agreed {
    /// Returns whether two lengths are equal.
    pub fn are_equal(&mut self, a: CountOf, b: CountOf) -> bool {
        self.find(a) == self.find(b)
    }

    /// Notes that two lengths are equal.
    pub fn unite(&mut self, a: Option<CountOf>, b: Option<CountOf>) {
        if let (Some(a), Some(b)) = (a, b) {
            let (a, b) = (self.find(a), self.find(b));
            if a != b {
                self.0.insert(a, b);
            }
        }
    }

    /// The representative of a length. Shortens the paths to it.
    fn find(&mut self, mut length: CountOf) -> CountOf {
        while let Some(to) = self.0.get(&length).copied() {
            let beyond = self.0.get(&to).copied().unwrap_or(to);
            self.0.insert(length, beyond);
            length = beyond;
        }
        length
    }
}
