//! Placement: where everything of a loop happens. What its code is, is said by emission, which follows it.
//!
//! For each combinator of a planned loop this finds the rate and the stage in which it runs, opens rates
//! where they are first needed, and finds for each element that is used where it comes from: it is in a
//! register from some spot on, it is read from memory at a rate's counter, it is computed at the index, a
//! cursor delivers it, or it was made in an earlier pass and is kept. Lengths come from somewhere, too, and
//! some have to be checked. The result is a [`Placement`]: the tree of rates, and acts in an order in which
//! each has what it needs.
//!
//! | room | what it places |
//! | --- | --- |
//! | [`tree`] | rates, their stages and instances; what is known where |
//! | [`elements`] | where each element comes from |
//! | [`spots`] | where a combinator can run: rates are opened here |
//! | [`lengths`] | where each length comes from |
//! | [`exits`] | how long each combinator is needed; where rates are left |
//! | [`show`] | the text of a placement |

mod elements;
mod exits;
mod lengths;
mod show;
mod spots;
mod tree;

pub use elements::DECISION;
pub use lengths::{Length, Most, Of, Room, Total};
pub use show::show;
pub use tree::{Opening, PlacedRate, Sided, Spot, Tree};

use super::Lower;
use super::scope::{Column, Scope};
use crate::error::ErrorKind;
use crate::fusion::{ClassId, Rates};
use crate::sharing::{FieldRef, NodeId};
pub use exits::Lives;
use exits::{Asking, Exits};
use lengths::Lengths;
use loop_lang::ir::{RateId, TrapKind};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Where everything of a loop happens.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// The rates, and the parts of their iterations.
    pub tree: Tree,
    /// What is to be done and by which combinator, each act behind those that it needs.
    pub acts: Vec<(NodeId, Act)>,
    /// Of each column that is used at a spot: which column's element it is, and from where on it is known.
    origins: FxHashMap<(Column, Spot), (Column, Spot)>,
    /// Columns of memory that are read in step with one rate.
    streams: FxHashMap<FieldRef, Option<RateId>>,
    /// The zips that advance streams on demand, outer ones first, and their rates.
    zips: Vec<(NodeId, Zipped)>,
    /// Where control leaves each cursor with an element.
    deliveries: FxHashMap<RateId, Spot>,
    /// Fields that are written to memory element by element, and where, phase by phase.
    kept: FxHashMap<FieldRef, SmallVec<[Spot; 1]>>,
    /// For what rates go on that are left before their end: while, of one of these groups of combinators, the elements
    /// of all go on.
    ends: FxHashMap<RateId, Vec<Vec<NodeId>>>,
    /// Subrates whose test tells when elements end: those that run where the combinator does that ends them.
    telling: FxHashSet<RateId>,
}

/// One thing that a combinator does in a loop.
#[derive(Clone, Debug)]
pub enum Act {
    /// A rate is opened.
    Open(RateId),
    /// The loop of a zip or a merge gets a bound, or the cursor over an append: as many attempts as so many elements can
    /// need, if there is a most.
    Bound(Option<Most>),
    /// The element of a column is read from memory at a rate's counter.
    Read(Column, Spot),
    /// Elements of a generator are computed from a rate's counter. Its own length, if that is to be had.
    Generate(Column, Spot, Option<Length>),
    /// A field is written to memory where its elements are made, into new memory of this room. No more is needed than
    /// each of these combinators takes.
    Keep(u32, Spot, Option<Room>, Vec<NodeId>),
    /// Memory for a field that several phases write is made: as much as these need together, each no more than its
    /// takes say, and all no more than the last ones say.
    Memory(u32, Vec<(Room, Vec<NodeId>)>, Vec<NodeId>),
    /// A field that is kept is read again, in a later pass.
    Reread(u32, Spot),
    /// A field's element is handed on, from where it was made to what comes behind that.
    Hand(u32, Over, Spot, Spot),
    /// What a cursor delivers is handed on to what is behind it.
    Deliver(Delivery),
    /// The sides of a zip are held against each other, and against arrays in memory of these lengths; those of a merge are
    /// taken from.
    Align(Spot, Vec<(usize, Length)>),
    /// The combinator's own work, in iterations.
    Run(Spot),
    /// Of the combinator's own work, what makes these fields.
    Make(Spot, Vec<bool>),
    /// The combinator's own work, between two passes over each segment.
    Sort(Passes),
    /// The combinator's own work, once, behind the loop.
    Finish,
    /// A length is checked.
    Check(Check),
    /// A rate is left when what it goes on for has ended.
    Leave(RateId),
}

/// Over what an element is handed on: so long it stays in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Over {
    /// An iteration: to another subrate. There is memory for one.
    Iteration,
    /// A segment: to a later pass over it, in the same iteration of the rate around. There is memory of this room for the
    /// elements of one.
    Segment(Room),
}

/// Two passes over each segment: what the first one hands on to the second is put in order between them.
#[derive(Clone, Copy, Debug)]
pub struct Passes {
    /// Where the first one has elements.
    pub from: Spot,
    /// Between them.
    pub between: Spot,
    /// From where on the second one has elements.
    pub to: Spot,
    /// The room for the elements of a segment.
    pub room: Room,
}

/// A check of a length.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// Two lengths that are there when the loop starts are equal: what is got, what is expected.
    Same(Length, Length),
    /// A nested rate visits so many elements in all.
    Visited(RateId, Length),
    /// An array that is read at a subrate's count has a further element.
    There(Count),
    /// It has as many elements as the subrate in the end.
    Counted(Count),
}

/// How many elements a subrate has, and an array that is read at its count.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    /// Where it is read.
    pub at: Spot,
    /// The array's length.
    pub len: Length,
    /// What a difference is.
    pub kind: TrapKind,
    /// Whether the array's length is what is expected.
    pub expects_array: bool,
}

/// The rates of a zip that advances its inputs on demand, or of an append on its side.
#[derive(Clone, Debug)]
pub struct Zipped {
    /// Its attempts to get an element of every side, or of the part that is under way.
    pub attempts: RateId,
    /// The cursors of each side: that over its elements, then that over their segments, and so on.
    pub sides: Vec<Vec<RateId>>,
}

/// An element that a cursor delivers.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// The cursor.
    pub cursor: RateId,
    /// The column, as it is known behind the cursor.
    pub column: Column,
    /// The same as it is known inside.
    pub inside: Column,
    /// Where it is known inside.
    pub from: Spot,
    /// From where on it is known outside.
    pub behind: Spot,
}

impl Placement {
    /// Where the element of a column that is used at a spot comes from.
    pub fn origin(&self, column: Column, at: Spot) -> Option<(Column, Spot)> {
        self.origins.get(&(column, at)).copied()
    }

    /// The rate with which a column of memory is read in step, if it is only one.
    pub fn stream(&self, field: FieldRef) -> Option<RateId> {
        self.streams.get(&field).copied().flatten()
    }

    /// Where a field is written to memory, element by element, phase by phase.
    pub fn kept(&self, field: FieldRef) -> &[Spot] {
        self.kept.get(&field).map_or(&[], |spots| spots)
    }

    /// The zips that advance streams on demand, outer ones first, and their rates.
    pub fn zips(&self) -> &[(NodeId, Zipped)] {
        &self.zips
    }

    /// The rates of a zip that advances streams on demand.
    pub fn zipped(&self, zip: NodeId) -> Option<&Zipped> {
        self.zips.iter().find(|z| z.0 == zip).map(|z| &z.1)
    }

    /// For what a rate goes on that is left before its end: while, of one of these groups of combinators, the elements
    /// of all go on.
    pub fn ends(&self, rate: RateId) -> Option<&[Vec<NodeId>]> {
        self.ends.get(&rate).map(|groups| groups.as_slice())
    }

    /// Whether the test of a subrate tells when its elements end.
    pub fn tells(&self, rate: RateId) -> bool {
        self.telling.contains(&rate)
    }

    /// Whether a rate has had all its elements whenever another, of another phase, runs: what it runs apart for goes on
    /// as long as what that one runs for, or as the elements that it visits.
    pub fn outlasts(&self, rates: &Rates, rate: RateId, other: RateId) -> bool {
        let tree = &self.tree;
        let around = |r: RateId| std::iter::successors(Some(r), |r| tree.parent(*r));
        let visits = |id: &NodeId| {
            let ended = rates.output(*id);
            ended.is_some_and(|c| tree.around(rate, c).is_some())
        };
        let apart = around(rate).filter(|r| matches!(tree.rate(*r).opening, Opening::While(_)));
        apart.filter_map(|r| self.ends(r)).all(|mine| {
            // A group goes on as long as the first of it, within those of the others.
            let firsts = || mine.iter().filter_map(|group| group.first());
            let with = |group: &Vec<NodeId>| firsts().any(|id| group.contains(id));
            let mut theirs = around(other).filter_map(|r| self.ends(r));
            firsts().any(visits) || theirs.any(|groups| groups.iter().all(with))
        })
    }

    /// Where control leaves a cursor with an element.
    pub fn delivery(&self, cursor: RateId) -> Option<Spot> {
        self.deliveries.get(&cursor).copied()
    }
}

/// In what a combinator runs, apart from others of its class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Context {
    /// A cursor, which is advanced on demand.
    Cursor(RateId),
    /// What runs while one of these classes, which end, lives.
    While(Lives),
}

/// A placement in the making.
pub struct Placer<'g> {
    /// The loop.
    pub scope: Scope<'g>,
    /// What is placed so far.
    pub placed: Placement,
    /// From which spots on columns are known that cursors deliver.
    delivered: FxHashMap<Column, SmallVec<[Spot; 1]>>,
    /// From which part on it is known what decides over the elements of a class in a rate's iterations.
    decided: FxHashMap<(ClassId, RateId), usize>,
    /// Lengths and their checks.
    lengths: Lengths,
    /// Generators whose indices the root may run over, while it is looked what they count.
    pub opening: FxHashSet<NodeId>,
    /// What is known of each phase; of the loop as a whole, if it has none.
    phases: Vec<InPhase>,
    /// Which of them is placed.
    current: usize,
    /// In what the combinator that is placed runs.
    inside: Option<Context>,
    /// What each rate is in.
    contexts: Vec<Option<Context>>,
    /// The cursor that each rate is, or is in.
    cursors: Vec<Option<RateId>>,
}

/// What is known of a phase while it is placed.
#[derive(Default)]
struct InPhase {
    /// Its root, once that is open.
    root: Option<RateId>,
    /// From which spots on each column is known, in the order in which that was found.
    known: FxHashMap<Column, SmallVec<[Spot; 1]>>,
    /// How long combinators are needed.
    exits: Exits,
}

impl<'g> Placer<'g> {
    /// Nothing is placed yet of a loop, whose combinators these are, each behind what it needs.
    pub fn new(scope: Scope<'g>, order: &[NodeId]) -> Placer<'g> {
        let asking = Asking::of(&scope, order);
        let (mut phases, mut lives): (Vec<InPhase>, u32) = (Vec::new(), 0);
        for phase in &scope.plan.loops[scope.at].phases {
            let exits = Exits::of(&scope.in_phase(phase), &asking, order, lives);
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
        }
    }

    /// How many phases the loop has.
    pub fn phases(&self) -> usize {
        self.scope.plan.loops[self.scope.at].phases.len()
    }

    /// What is placed next is of this phase.
    pub fn go_to_phase(&mut self, phase: usize) {
        self.current = phase;
        self.scope.phase = self.scope.plan.loops[self.scope.at].phases.get(phase);
        self.inside = None;
    }

    /// What is placed next is of the phase that a rate is in.
    pub fn go_to_phase_of(&mut self, rate: RateId) {
        let root = Some(self.placed.tree.root_of(rate));
        if let Some(phase) = self.phases.iter().position(|p| p.root == root) {
            self.go_to_phase(phase);
        }
    }

    /// The root of this phase, if it is open.
    pub fn open_root(&self) -> Option<RateId> {
        self.phases[self.current].root
    }

    fn set_root(&mut self, root: RateId) {
        self.phases[self.current].root = Some(root);
    }

    fn exits(&self) -> &Exits {
        &self.phases[self.current].exits
    }

    /// From which spots of this phase on a column is known.
    fn known(&self, column: &Column) -> Option<&[Spot]> {
        let known = self.phases[self.current].known.get(column);
        known.map(|spots| spots.as_slice())
    }

    /// Adds an act of a combinator.
    pub fn act(&mut self, node: NodeId, act: Act) {
        self.placed.acts.push((node, act));
    }

    /// Adds a combinator's own work at a spot.
    pub fn run(&mut self, node: NodeId, spot: Spot) {
        self.act(node, Act::Run(spot));
    }

    /// Opens a rate behind all parts of its parent.
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

    /// The root of this phase, which is open.
    pub fn root(&self) -> Lower<RateId> {
        self.open_root().ok_or_else(no_root)
    }

    /// The sides of a zip become cursors.
    pub fn set_zipped(&mut self, zip: NodeId, zipped: Zipped) {
        self.placed.zips.push((zip, zipped));
    }

    /// Says where control leaves a cursor with an element.
    pub fn set_delivery(&mut self, cursor: RateId, spot: Spot) {
        self.placed.deliveries.insert(cursor, spot);
    }

    /// In what a node of this loop runs.
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

    /// What is placed next runs in this. The result is in what that ran before.
    pub fn go_inside(&mut self, context: Option<Context>) -> Option<Context> {
        std::mem::replace(&mut self.inside, context)
    }

    /// Whether it is known what decides over the elements of a class in the iterations of a rate: from those of the rate
    /// around, too, where this one only runs while something lives.
    pub fn is_decided(&self, class: ClassId, rate: RateId) -> bool {
        let (tree, mut rate, mut before) = (&self.placed.tree, rate, usize::MAX);
        loop {
            let from = self.decided.get(&(class, rate));
            if from.is_some_and(|from| *from < before) {
                return true;
            }
            match (&tree.rate(rate).opening, tree.child_spot(rate)) {
                (Opening::While(_), Some(at)) => (rate, before) = (at.rate, at.position),
                _ => return false,
            }
        }
    }

    /// Notes that from a spot on it is known what decides over the elements of a class in the iterations there: a
    /// subrate's test, the length of a segment.
    pub fn set_decided(&mut self, class: ClassId, at: Spot) {
        self.decided.insert((class, at.rate), at.position);
    }

    /// Whether a rate is a cursor, or in one.
    pub fn is_in_cursor(&self, rate: RateId) -> bool {
        self.cursors[rate.index()].is_some()
    }

    /// Whether a rate is of this phase, and in what the combinator that is placed runs in.
    fn is_here(&self, rate: RateId) -> bool {
        let root = self.placed.tree.root_of(rate);
        Some(root) == self.open_root() && self.contexts[rate.index()] == self.inside
    }
}

/// No rate is open where one must be.
pub fn no_root() -> ErrorKind {
    ErrorKind::Malformed {
        expected: "an array to run over".into(),
        got: "none".into(),
    }
}
