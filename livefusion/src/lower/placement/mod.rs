//! Placement: assigns each combinator a program point in the rate tree.
//!
//! For each combinator of a planned loop, placement finds the rate and the stage in which it runs.
//! It opens a rate when its first combinator needs it. It finds a source for each element that is
//! used. This is a register, memory at a rate's counter, a function of the index, a cursor's
//! delivery, or an array of an earlier pass. It also finds a source for each length, and adds the
//! length checks. The result is a [`Placement`]: the tree of rates, and a list of acts in
//! dependency order. Emission turns it into code.
//!
//! | module | places |
//! | --- | --- |
//! | [`tree`] | rates, their stages and instances; visibility of values |
//! | [`elements`] | the source of each element |
//! | [`points`] | the program point of each combinator; opens rates |
//! | [`lengths`] | the source of each length |
//! | [`exits`] | the live range of each combinator; loop exits |
//! | [`show`] | the text of a placement |

mod elements;
mod exits;
mod lengths;
mod points;
mod show;
mod tree;

pub use elements::DECISION;
pub use lengths::{Capacity, CountOf, LengthSource, Most, Total};
pub use show::show;
pub use tree::{Opening, PlacedRate, Point, Sided, Tree};

use super::Lower;
use super::scope::{InputColumn, LoopScope};
use crate::error::ErrorKind;
use crate::fusion::{ClassId, Rates};
use crate::sharing::{FieldRef, NodeId};
pub use exits::Lives;
use exits::{Exits, LoopDemand};
use lengths::Lengths;
use loop_lang::ir::{RateId, TrapKind};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Holds the placement of one loop.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// The rates, and the parts of their iterations.
    pub tree: Tree,
    /// The acts, each with its combinator, in dependency order.
    pub acts: Vec<(NodeId, Act)>,
    /// For each column used at a program point: the column it is read as, and the point of its
    /// definition.
    origins: FxHashMap<(InputColumn, Point), (InputColumn, Point)>,
    /// Columns in memory that are read in step with one rate. `None` if they have several.
    streams: FxHashMap<FieldRef, Option<RateId>>,
    /// The zips that advance inputs on demand, outer ones first, and their rates.
    zips: Vec<(NodeId, Zipped)>,
    /// The program point at which control leaves each cursor with an element.
    deliveries: FxHashMap<RateId, Point>,
    /// Fields that are written to memory element by element: one program point for each phase.
    kept: FxHashMap<FieldRef, SmallVec<[Point; 1]>>,
    /// Exit conditions of rates with an early exit. A rate continues while, in one of these groups,
    /// all combinators continue.
    ends: FxHashMap<RateId, Vec<Vec<NodeId>>>,
    /// Subrates whose test defines the end of their elements: those at the program point of the
    /// ending combinator.
    telling: FxHashSet<RateId>,
}

/// Describes one act of a combinator in a loop.
#[derive(Clone, Debug)]
pub enum Act {
    /// Opens a rate.
    Open(RateId),
    /// Bounds the loop of a zip or a merge, or the cursor over an append. The attempts are bounded
    /// by this number of elements, if there is a bound.
    Bound(Option<Most>),
    /// Reads a column's element from memory at a rate's counter.
    Read(InputColumn, Point),
    /// Computes a generator's elements from a rate's counter. Holds its own length, if known.
    Generate(InputColumn, Point, Option<LengthSource>),
    /// Writes a field to new memory of this capacity, where its elements are defined. Each `take`
    /// in the list limits the capacity.
    Keep(u32, Point, Option<Capacity>, Vec<NodeId>),
    /// Allocates memory for a field that several phases write. The capacity is the sum over the
    /// phases. Each phase is limited by its own takes, and the sum by the last list.
    Memory(u32, Vec<(Capacity, Vec<NodeId>)>, Vec<NodeId>),
    /// Reads a kept column again, in a later pass.
    Reread(InputColumn, Point),
    /// Passes a column's element through scratch memory, from its definition to a later use.
    Contract(InputColumn, Over, Point, Point),
    /// Writes a field to scratch memory, for reads at an index within the segment.
    Scratch(u32, Over, Point),
    /// Delivers a cursor's element to later program points.
    Deliver(Delivery),
    /// Checks that a zip's inputs end together, including arrays in memory of these lengths. A
    /// merge takes from its inputs here.
    Align(Point, Vec<(usize, LengthSource)>),
    /// Runs the combinator's own work in each iteration.
    Run(Point),
    /// Runs the part of the combinator's work that makes these fields.
    Make(Point, Vec<bool>),
    /// Runs the combinator's own work between two passes over each segment.
    Sort(Passes),
    /// Runs the combinator's own work once, before the loop.
    Enter,
    /// Runs the combinator's own work once, after the loop.
    Finish,
    /// Checks a length.
    Check(Check),
    /// Leaves a rate when all of its exit groups have ended.
    Leave(RateId),
}

/// Describes the lifetime of an element in scratch memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Over {
    /// One iteration: a later subrate reads it. The buffer holds one element.
    Iteration,
    /// One segment: a later pass reads it, in the same iteration of the outer rate. The buffer
    /// holds one segment, of this capacity.
    Segment(Capacity),
    /// The kept elements of one segment, in the same iteration of the outer rate. The buffer is as
    /// long as the whole segment, of this capacity.
    Kept(Capacity),
}

/// Describes two passes over each segment, with a sort between them.
#[derive(Clone, Copy, Debug)]
pub struct Passes {
    /// The program point at which the first pass has elements.
    pub from: Point,
    /// The program point between the passes.
    pub between: Point,
    /// The program point from which the second pass has elements.
    pub to: Point,
    /// The capacity for the elements of a segment.
    pub capacity: Capacity,
}

/// Describes a check of a length.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// Two lengths known at loop entry are equal: the actual one, and the expected one.
    Same(LengthSource, LengthSource),
    /// A nested rate visits this number of elements in total.
    Visited(RateId, LengthSource),
    /// An array that is read at a subrate's count has a further element.
    There(Count),
    /// The array and the subrate have the same number of elements at the end.
    Counted(Count),
}

/// Describes a subrate's count and an array that is read at it.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    /// The program point of the read.
    pub at: Point,
    /// The array's length.
    pub len: LengthSource,
    /// The kind of trap on a difference.
    pub kind: TrapKind,
    /// Whether the array's length is the expected one.
    pub expects_array: bool,
}

/// Holds the rates of a zip that advances its inputs on demand.
///
/// An append that is an input of such a zip has them too.
#[derive(Clone, Debug)]
pub struct Zipped {
    /// The attempts: each gets an element of every side, or of the current part.
    pub attempts: RateId,
    /// The cursors of each side: the one over its elements, then the one over their segments, and
    /// so on.
    pub sides: Vec<Vec<RateId>>,
}

/// Describes an element that a cursor delivers.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// The cursor.
    pub cursor: RateId,
    /// The column as known after the cursor.
    pub column: InputColumn,
    /// The same column as known inside the cursor.
    pub inside: InputColumn,
    /// The program point of its definition inside.
    pub from: Point,
    /// The program point from which it is known outside.
    pub behind: Point,
}

impl Placement {
    /// Returns the definition of a column that is used at a program point.
    pub fn origin(&self, column: InputColumn, at: Point) -> Option<(InputColumn, Point)> {
        self.origins.get(&(column, at)).copied()
    }

    /// Returns the one rate with which a column in memory is read in step.
    pub fn stream(&self, field: FieldRef) -> Option<RateId> {
        self.streams.get(&field).copied().flatten()
    }

    /// Returns the program points at which a field is written, phase by phase.
    pub fn kept(&self, field: FieldRef) -> &[Point] {
        self.kept.get(&field).map_or(&[], |points| points)
    }

    /// Returns the zips that advance inputs on demand, outer ones first.
    pub fn zips(&self) -> &[(NodeId, Zipped)] {
        &self.zips
    }

    /// Returns the rates of a zip that advances inputs on demand.
    pub fn zipped(&self, zip: NodeId) -> Option<&Zipped> {
        self.zips.iter().find(|z| z.0 == zip).map(|z| &z.1)
    }

    /// Returns the exit groups of a rate with an early exit.
    ///
    /// The rate continues while, in one of the groups, all combinators continue.
    pub fn ends(&self, rate: RateId) -> Option<&[Vec<NodeId>]> {
        self.ends.get(&rate).map(|groups| groups.as_slice())
    }

    /// Returns whether a subrate's test defines the end of its elements.
    pub fn tells(&self, rate: RateId) -> bool {
        self.telling.contains(&rate)
    }

    /// Returns whether a rate completes before a rate of another phase runs.
    ///
    /// Then it has had all elements whenever the other rate runs. Each liveness guard around the
    /// first rate must last long enough. It must last as long as a guard around the other rate, or
    /// as long as the first rate's elements.
    pub fn outlasts(&self, rates: &Rates, rate: RateId, other: RateId) -> bool {
        let tree = &self.tree;
        let around = |r: RateId| std::iter::successors(Some(r), |r| tree.parent(*r));
        let visits = |id: &NodeId| {
            let ended = rates.output(*id);
            ended.is_some_and(|c| tree.around(rate, c).is_some())
        };
        let apart = around(rate).filter(|r| matches!(tree.rate(*r).opening, Opening::While(_)));
        apart.filter_map(|r| self.ends(r)).all(|mine| {
            // A group lives as long as its first member, because the others are around it.
            let firsts = || mine.iter().filter_map(|group| group.first());
            let with = |group: &Vec<NodeId>| firsts().any(|id| group.contains(id));
            let mut theirs = around(other).filter_map(|r| self.ends(r));
            firsts().any(visits) || theirs.any(|groups| groups.iter().all(with))
        })
    }

    /// Returns the program point at which control leaves a cursor with an element.
    pub fn delivery(&self, cursor: RateId) -> Option<Point> {
        self.deliveries.get(&cursor).copied()
    }
}

/// Describes the region in which a combinator runs, apart from others of its class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Context {
    /// A cursor, which is advanced on demand.
    Cursor(RateId),
    /// A subrate that is guarded by a live set of ending classes.
    While(Lives),
}

/// Builds a placement.
pub struct Placer<'g> {
    /// The loop.
    pub scope: LoopScope<'g>,
    /// The placement so far.
    pub placed: Placement,
    /// The program points from which columns delivered by cursors are known.
    delivered: FxHashMap<InputColumn, SmallVec<[Point; 1]>>,
    /// For a class and a rate: the part from which the class's selection (a test or a segment's
    /// length) is known.
    decided: FxHashMap<(ClassId, RateId), usize>,
    /// Lengths and their checks.
    lengths: Lengths,
    /// Generators whose indexed array is being searched for a root. Guards against recursion.
    pub opening: FxHashSet<NodeId>,
    /// The state of each phase; one entry for a loop without phases.
    phases: Vec<InPhase>,
    /// The phase that is being placed.
    current: usize,
    /// The context of the combinator that is being placed.
    inside: Option<Context>,
    /// The context of each rate.
    contexts: Vec<Option<Context>>,
    /// The cursor that each rate is, or is in.
    cursors: Vec<Option<RateId>>,
    /// The fields that each node takes from scratch memory, where its segment's kept elements are.
    taken: FxHashMap<NodeId, Vec<FieldRef>>,
    /// The definitions of such fields.
    scratch: FxHashMap<FieldRef, (Over, Point)>,
}

/// The state of one phase during placement.
#[derive(Default)]
struct InPhase {
    /// Its root, once open.
    root: Option<RateId>,
    /// The program points from which each column is known, in order of discovery.
    known: FxHashMap<InputColumn, SmallVec<[Point; 1]>>,
    /// The live ranges of its combinators.
    exits: Exits,
}

impl<'g> Placer<'g> {
    /// Creates an empty placement of a loop.
    ///
    /// `order` lists its combinators in dependency order.
    pub fn new(scope: LoopScope<'g>, order: &[NodeId]) -> Placer<'g> {
        let loop_demand = LoopDemand::of(&scope, order);
        let (mut phases, mut lives): (Vec<InPhase>, u32) = (Vec::new(), 0);
        for phase in &scope.plan.loops[scope.at].phases {
            let exits = Exits::of(&scope.in_phase(phase), &loop_demand, order, lives);
            lives = exits.lives(lives);
            phases.push(InPhase {
                exits,
                ..InPhase::default()
            });
        }
        if phases.is_empty() {
            phases.push(InPhase::default());
        }
        Placer {
            scope,
            placed: Placement::default(),
            delivered: FxHashMap::default(),
            decided: FxHashMap::default(),
            lengths: Lengths::default(),
            opening: FxHashSet::default(),
            inside: None,
            contexts: Vec::new(),
            phases,
            current: 0,
            cursors: Vec::new(),
            taken: order
                .iter()
                .map(|id| (*id, scope.taken(*id).all()))
                .collect(),
            scratch: FxHashMap::default(),
        }
    }

    /// Returns the number of the loop's phases.
    pub fn phases(&self) -> usize {
        self.scope.plan.loops[self.scope.at].phases.len()
    }

    /// Makes a phase the current one.
    pub fn go_to_phase(&mut self, phase: usize) {
        self.current = phase;
        self.scope.phase = self.scope.plan.loops[self.scope.at].phases.get(phase);
        self.inside = None;
    }

    /// Makes the phase of a rate the current one.
    pub fn go_to_phase_of(&mut self, rate: RateId) {
        let root = Some(self.placed.tree.root_of(rate));
        if let Some(phase) = self.phases.iter().position(|p| p.root == root) {
            self.go_to_phase(phase);
        }
    }

    /// Returns the root of the current phase, if it is open.
    pub fn open_root(&self) -> Option<RateId> {
        self.phases[self.current].root
    }

    fn set_root(&mut self, root: RateId) {
        self.phases[self.current].root = Some(root);
    }

    fn exits(&self) -> &Exits {
        &self.phases[self.current].exits
    }

    /// The program points of this phase from which a column is known.
    fn known(&self, column: &InputColumn) -> Option<&[Point]> {
        let known = self.phases[self.current].known.get(column);
        known.map(|points| points.as_slice())
    }

    /// Adds an act of a combinator.
    pub fn act(&mut self, node: NodeId, act: Act) {
        self.placed.acts.push((node, act));
    }

    /// Adds a combinator's own work at a program point.
    pub fn run(&mut self, node: NodeId, point: Point) {
        self.act(node, Act::Run(point));
    }

    /// Opens a rate after all parts of its parent.
    pub fn open(&mut self, rate: PlacedRate) -> RateId {
        let node = rate.node;
        let around = rate.parent.and_then(|p| self.contexts[p.index()]);
        let within = rate.parent.and_then(|p| self.cursors[p.index()]);
        let cursor = rate.opening.sided().map(|_| self.placed.tree.next());
        let own = match rate.opening {
            Opening::While(lives) => Some(Context::While(lives)),
            _ => cursor.map(Context::Cursor),
        };
        let id = self.placed.tree.open(rate);
        self.contexts.push(own.or(around));
        self.cursors.push(cursor.or(within));
        self.act(node, Act::Open(id));
        id
    }

    /// Returns the root of the current phase.
    ///
    /// # Errors
    ///
    /// If the root is not open.
    pub fn root(&self) -> Lower<RateId> {
        self.open_root().ok_or_else(no_root)
    }

    /// Registers the cursors of a zip's sides.
    pub fn set_zipped(&mut self, zip: NodeId, zipped: Zipped) {
        self.placed.zips.push((zip, zipped));
    }

    /// Sets the program point at which control leaves a cursor with an element.
    pub fn set_delivery(&mut self, cursor: RateId, point: Point) {
        self.placed.deliveries.insert(cursor, point);
    }

    /// Returns the context in which a node of this loop runs.
    pub fn context_of(&self, id: NodeId) -> Option<Context> {
        let rates = &self.scope.plan.rates;
        let here = |(zip, _): &(NodeId, usize)| self.scope.plan.computes(self.scope.at, *zip);
        let cursors = rates.cursors_of(id).filter(here);
        let Some(((zip, k), side)) = cursors.zip(rates.side(id)) else {
            return self.exits().alone(id).map(Context::While);
        };
        let level = side.level(rates, rates.runs_at(id)?)?;
        let cursors = self.placed.zipped(zip)?.sides.get(k)?;
        cursors.get(level).copied().map(Context::Cursor)
    }

    /// Sets the context for the next placements, and returns the previous one.
    pub fn go_inside(&mut self, context: Option<Context>) -> Option<Context> {
        std::mem::replace(&mut self.inside, context)
    }

    /// Returns whether the selection of a class is known in a rate.
    ///
    /// The selection is a subrate's test or a segment's length. A subrate with a liveness guard
    /// inherits it from the rate around.
    pub fn is_decided(&self, class: ClassId, rate: RateId) -> bool {
        let (tree, mut rate, mut before) = (&self.placed.tree, rate, usize::MAX);
        loop {
            let from = self.decided.get(&(class, rate));
            if from.is_some_and(|from| *from < before) {
                return true;
            }
            match (&tree.rate(rate).opening, tree.child_point(rate)) {
                (Opening::While(_), Some(at)) => (rate, before) = (at.rate, at.position),
                _ => return false,
            }
        }
    }

    /// Notes that the selection of a class is known from a program point on.
    ///
    /// The selection is a subrate's test or a segment's length.
    pub fn set_decided(&mut self, class: ClassId, at: Point) {
        self.decided.insert((class, at.rate), at.position);
    }

    /// Returns whether a rate is a cursor, or in one.
    pub fn is_in_cursor(&self, rate: RateId) -> bool {
        self.cursors[rate.index()].is_some()
    }

    /// Whether a rate belongs to this phase and to the current context.
    fn is_here(&self, rate: RateId) -> bool {
        let root = self.placed.tree.root_of(rate);
        Some(root) == self.open_root() && self.contexts[rate.index()] == self.inside
    }
}

/// Returns the error for a missing root rate.
pub fn no_root() -> ErrorKind {
    ErrorKind::Malformed {
        expected: "an array to run over".into(),
        got: "none".into(),
    }
}
