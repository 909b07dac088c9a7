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
pub use lengths::{Length, Of, Room, Total};
pub use show::show;
pub use tree::{Opening, PlacedRate, Spot, Tree};

use super::Lower;
use super::scope::{Column, Scope};
use crate::error::ErrorKind;
use crate::fusion::ClassId;
use crate::sharing::{FieldRef, NodeId};
use exits::Exits;
pub use exits::Lives;
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
    /// The sides of each zip that advances streams on demand.
    sides: FxHashMap<NodeId, Vec<Side>>,
    /// Fields that are written to memory element by element, and where.
    kept: FxHashMap<FieldRef, Spot>,
}

/// One thing that a combinator does in a loop.
#[derive(Clone, Debug)]
pub enum Act {
    /// A rate is opened.
    Open(RateId),
    /// The loop of a zip gets a bound: so many attempts as the shortest of these can need.
    Bound(Vec<Length>),
    /// The element of a column is read from memory at a rate's counter.
    Read(Column, Spot),
    /// Elements of a generator are computed from a rate's counter. Its own length, if that is to be had.
    Generate(Column, Spot, Option<Length>),
    /// A field is written to memory where its elements are made. Room for no more is needed than each of these
    /// combinators takes.
    Keep(u32, Spot, Room, Vec<NodeId>),
    /// A field that is kept is read again, in a later pass.
    Reread(u32, Spot),
    /// What a cursor delivers is handed on to what is behind it.
    Deliver(Column, Side),
    /// The sides of a zip are held against each other, and against arrays in memory of these lengths.
    Align(Spot, Vec<(usize, Length)>),
    /// The combinator's own work, in iterations.
    Run(Spot),
    /// Of the combinator's own work, what makes these fields.
    Make(Spot, Vec<bool>),
    /// The combinator's own work, once, behind the loop.
    Finish,
    /// A length is checked.
    Check(Check),
    /// A rate is left unless, of one of these groups of combinators, the elements of all go on.
    Leave(RateId, Vec<Vec<NodeId>>),
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

/// One side of a zip that advances its inputs on demand.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// The rate of what it runs over.
    pub rate: RateId,
    /// Where what it delivers is known.
    pub delivers: Spot,
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

    /// Where a field is written to memory, element by element.
    pub fn kept(&self, field: FieldRef) -> Option<Spot> {
        self.kept.get(&field).copied()
    }

    /// All sides of zips that advance streams on demand.
    pub fn all_sides(&self) -> impl Iterator<Item = Side> {
        self.sides.values().flatten().copied()
    }

    /// The sides of a zip that advances streams on demand.
    pub fn sides(&self, zip: NodeId) -> &[Side] {
        self.sides.get(&zip).map_or(&[], Vec::as_slice)
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
    /// From which spots on each column is known, in the order in which that was found.
    known: FxHashMap<Column, SmallVec<[Spot; 1]>>,
    /// What decides over the elements of a class in a rate's iterations is known.
    decided: FxHashSet<(ClassId, RateId)>,
    /// Lengths and their checks.
    lengths: Lengths,
    /// Generators whose indices the root may run over, while it is looked what they count.
    pub opening: FxHashSet<NodeId>,
    /// In what the combinator that is placed runs.
    inside: Option<Context>,
    /// What each rate is in.
    contexts: Vec<Option<Context>>,
    /// How long combinators are needed.
    exits: Exits,
}

impl<'g> Placer<'g> {
    /// Nothing is placed yet of a loop, whose combinators these are, each behind what it needs.
    pub fn new(scope: Scope<'g>, order: &[NodeId]) -> Placer<'g> {
        Placer {
            scope,
            placed: Placement::default(),
            known: FxHashMap::default(),
            decided: FxHashSet::default(),
            lengths: Lengths::default(),
            opening: FxHashSet::default(),
            inside: None,
            contexts: Vec::new(),
            exits: Exits::of(&scope, order),
        }
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
        let own = match rate.opening {
            Opening::Cursor { .. } => Some(Context::Cursor(self.placed.tree.next())),
            Opening::While(lives) => Some(Context::While(lives)),
            _ => None,
        };
        let id = self.placed.tree.open(rate);
        self.contexts.push(own.or(around));
        self.act(node, Act::Open(id));
        id
    }

    /// The root, which is open.
    pub fn root(&self) -> Lower<RateId> {
        self.placed.tree.root().ok_or_else(no_root)
    }

    /// The sides of a zip become cursors.
    pub fn set_sides(&mut self, zip: NodeId, sides: Vec<Side>) {
        self.placed.sides.insert(zip, sides);
    }

    /// Says where what a side delivers is known.
    pub fn set_delivery(&mut self, zip: NodeId, side: usize, spot: Spot) {
        let sides = self.placed.sides.get_mut(&zip);
        if let Some(side) = sides.and_then(|all| all.get_mut(side)) {
            side.delivers = spot;
        }
    }

    /// In what a node of this loop runs.
    pub fn context_of(&self, id: NodeId) -> Option<Context> {
        if let Some((zip, side)) = self.scope.plan.rates.side_of(id) {
            let side = self.placed.sides(zip).get(side);
            return side.map(|s| Context::Cursor(s.rate));
        }
        self.exits.alone(id).map(Context::While)
    }

    /// What is placed next runs in this. The result is in what that ran before.
    pub fn go_inside(&mut self, context: Option<Context>) -> Option<Context> {
        std::mem::replace(&mut self.inside, context)
    }

    /// Whether it is known what decides over the elements of a class in the iterations of a rate.
    pub fn is_decided(&self, class: ClassId, rate: RateId) -> bool {
        self.decided.contains(&(class, rate))
    }

    /// Notes that it is known what decides over the elements of a class in the iterations of a rate: a
    /// subrate's test, the length of a segment.
    pub fn set_decided(&mut self, class: ClassId, rate: RateId) {
        self.decided.insert((class, rate));
    }

    /// Whether a rate is in what the combinator that is placed runs in.
    fn is_here(&self, rate: RateId) -> bool {
        self.contexts[rate.index()] == self.inside
    }
}

/// No rate is open where one must be.
pub fn no_root() -> ErrorKind {
    ErrorKind::Malformed {
        expected: "an array to run over".into(),
        got: "none".into(),
    }
}
