//! The rates of a loop: which are open, and what one iteration of each runs, part by part.
//!
//! One iteration of a rate runs its *parts* in order: stages of its own and child rates. A value is known
//! from a [`Spot`] on: in the stage that computes it, or behind the child rate that folds it. What needs
//! values of a rate and of its children runs in a later stage; what runs over the elements of a segment
//! again, knowing what a first pass over them found, runs in a second *instance* of their class. Instances
//! and stages are added when something first needs them, at the end of an iteration.

use super::{Length, Lives, Total};
use crate::fusion::ClassId;
use crate::lower::scope::Column;
use crate::sharing::{FieldRef, NodeId};
use loop_lang::ir::{Part, RateId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A part of a rate's iteration, by position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Spot {
    /// The rate.
    pub rate: RateId,
    /// Which of its parts.
    pub position: usize,
}

impl Spot {
    /// The first stage of a rate, where its elements are read.
    pub fn first(rate: RateId) -> Spot {
        Spot { rate, position: 0 }
    }
}

/// A rate of a loop: an instance of a class.
#[derive(Clone, Debug)]
pub struct PlacedRate {
    /// The class whose elements it visits; none for a root that no class has.
    pub class: Option<ClassId>,
    /// The classes of appends of which it has a part.
    pub appends: SmallVec<[ClassId; 1]>,
    /// The rate around it.
    pub parent: Option<RateId>,
    /// The node over or by which it is opened.
    pub node: NodeId,
    /// How it is opened.
    pub opening: Opening,
    /// Stages and child rates in the order in which one iteration runs them.
    pub parts: Vec<Part>,
}

/// How a rate is opened.
#[derive(Clone, Debug)]
pub enum Opening {
    /// A root over an array in memory.
    Array(FieldRef),
    /// A root over a generator's indices.
    Indices(Length),
    /// A root over a zip's attempts to get an element of every side.
    Attempts,
    /// A subrate, by a test that is made in its guard. These columns are what it tests.
    Test(Vec<Column>),
    /// A subrate, by what was decided before: in an earlier instance, or by the node itself.
    Decided,
    /// A subrate in which an instance of a class runs while one of these, which end, lives.
    While(Lives),
    /// An inner loop over segments of these lengths, each checked to leave no more elements than the total.
    Segments(Column, Total),
    /// As [`Segments`](Opening::Segments), of one length: that is checked before the first of them, together with the number
    /// of segments, which this rate around says.
    Rows(Column, Total),
    /// An inner loop over segments whose lengths are checked already.
    SameSegments,
    /// A stream that is advanced on demand, over so many elements; or over the attempts of a zip, as many as it
    /// makes, or an append's parts.
    Cursor(Sided, Option<Length>),
    /// A stream that is advanced on demand, over the elements of segments that a further one delivers.
    Elements(Sided),
    /// Where a merge has taken the last element that a side delivered: there the side is asked for the next one.
    Needed(Sided),
    /// Where this part of an append is under way whose parts are advanced on demand.
    Part(usize),
    /// What of such elements come when a segment is used up: there the next one is asked for.
    UsedUp,
    /// A segment that is not empty: its elements are next, those of this rate. All together have no more than the total.
    Begins(RateId, Column, Total),
}

/// A cursor of a zip, or of an append.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sided {
    /// The zip, or the append.
    pub zip: NodeId,
    /// Which of its sides, or parts.
    pub side: usize,
    /// Which cursor of that: 0 delivers to the zip, each other one to that before.
    pub level: usize,
}

impl Opening {
    /// Whether it opens a subrate.
    pub fn is_sub(&self) -> bool {
        matches!(
            self,
            Opening::Test(_)
                | Opening::Decided
                | Opening::While(_)
                | Opening::Needed(_)
                | Opening::Part(_)
                | Opening::UsedUp
                | Opening::Begins(..)
        )
    }

    /// Whether how many elements it has is found by counting them.
    pub fn is_counted(&self) -> bool {
        self.is_sub() || matches!(self, Opening::Cursor(_, None))
    }

    /// Whether it opens a loop over the elements of segments, one segment after the other.
    pub fn is_nested(&self) -> bool {
        matches!(
            self,
            Opening::Segments(..)
                | Opening::Rows(..)
                | Opening::SameSegments
                | Opening::Elements(_)
        )
    }

    /// Which cursor it opens, if it does.
    pub fn sided(&self) -> Option<Sided> {
        match self {
            Opening::Cursor(sided, _) | Opening::Elements(sided) => Some(*sided),
            _ => None,
        }
    }
}

/// The rates of a loop.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    rates: Vec<PlacedRate>,
    /// The rates of each class, in the order in which one iteration runs them.
    instances: FxHashMap<ClassId, SmallVec<[RateId; 1]>>,
    /// Position of each rate among its parent's parts.
    position: Vec<usize>,
    /// How many rates each is below the root.
    depth: Vec<u32>,
    /// How many stages each has.
    stages: Vec<u32>,
    /// The root above each.
    roots: Vec<RateId>,
}

impl Tree {
    /// All rates; parents come before their children.
    pub fn rates(&self) -> &[PlacedRate] {
        &self.rates
    }

    /// A rate.
    pub fn rate(&self, rate: RateId) -> &PlacedRate {
        &self.rates[rate.index()]
    }

    /// The root that a rate is below, or is.
    pub fn root_of(&self, rate: RateId) -> RateId {
        self.roots[rate.index()]
    }

    /// Notes that a rate has the elements of an append's part.
    pub fn append(&mut self, rate: RateId, append: ClassId) {
        self.rates[rate.index()].appends.push(append);
        self.instances.entry(append).or_default().push(rate);
    }

    /// Adds a rate, with one stage, behind all parts of its parent.
    pub fn open(&mut self, mut rate: PlacedRate) -> RateId {
        rate.parts = vec![Part::Stage(0)];
        let id = RateId::new(self.rates.len());
        let (mut position, mut depth) = (0, 0);
        if let Some(parent) = rate.parent {
            let parts = &mut self.rates[parent.index()].parts;
            position = parts.len();
            parts.push(Part::Child(id));
            depth = self.depth[parent.index()] + 1;
        }
        if let Some(class) = rate.class {
            self.instances.entry(class).or_default().push(id);
        }
        let root = rate.parent.map_or(id, |p| self.root_of(p));
        self.roots.push(root);
        self.position.push(position);
        self.depth.push(depth);
        self.stages.push(1);
        self.rates.push(rate);
        id
    }

    /// A rate with children runs these first, and then its stage.
    pub fn put_children_first(&mut self, rate: RateId) {
        let parts = &mut self.rates[rate.index()].parts;
        parts.rotate_left(1);
        for (position, part) in parts.iter().enumerate() {
            if let Part::Child(child) = part {
                self.position[child.index()] = position;
            }
        }
    }

    /// The rate that is opened next.
    pub fn next(&self) -> RateId {
        RateId::new(self.rates.len())
    }

    /// The rates of a class, in the order in which one iteration runs them.
    pub fn instances(&self, class: ClassId) -> SmallVec<[RateId; 1]> {
        self.instances.get(&class).cloned().unwrap_or_default()
    }

    /// Whether a class has an instance.
    pub fn is_open(&self, class: ClassId) -> bool {
        self.instances.contains_key(&class)
    }

    /// The rate around another; none around a root.
    pub fn parent(&self, rate: RateId) -> Option<RateId> {
        self.rate(rate).parent
    }

    /// The nearest rate, from this one upwards, that is a loop.
    pub fn loop_rate(&self, mut rate: RateId) -> RateId {
        while let (true, Some(parent)) = (self.rate(rate).opening.is_sub(), self.parent(rate)) {
            rate = parent;
        }
        rate
    }

    /// The rate whose elements a rate has: that around it, if it only runs while a class lives.
    pub fn elements_of(&self, mut rate: RateId) -> RateId {
        while let (Opening::While(_), Some(parent)) = (&self.rate(rate).opening, self.parent(rate))
        {
            rate = parent;
        }
        rate
    }

    /// Whether a rate is another or below it.
    pub fn is_within(&self, rate: RateId, above: RateId) -> bool {
        self.ancestor(rate, self.depth[above.index()]) == Some(above)
    }

    /// What a rate is within at so many rates below the root.
    fn ancestor(&self, mut rate: RateId, depth: u32) -> Option<RateId> {
        while self.depth[rate.index()] > depth {
            rate = self.parent(rate)?;
        }
        (self.depth[rate.index()] == depth).then_some(rate)
    }

    /// The lowest rate that both are within.
    fn meeting(&self, a: RateId, b: RateId) -> RateId {
        let mut at = a;
        while !self.is_within(b, at) {
            match self.parent(at) {
                Some(p) => at = p,
                None => return at,
            }
        }
        at
    }

    /// The child of `above` that `rate` is within; none if they are the same.
    fn below(&self, rate: RateId, above: RateId) -> Option<RateId> {
        (rate != above)
            .then(|| self.ancestor(rate, self.depth[above.index()] + 1))
            .flatten()
    }

    /// Whether nothing comes behind a rate in the iterations of one around it.
    pub fn is_last(&self, mut rate: RateId, around: RateId) -> bool {
        while rate != around {
            let Some(parent) = self.parent(rate) else {
                return false;
            };
            if self.position[rate.index()] + 1 < self.rate(parent).parts.len() {
                return false;
            }
            rate = parent;
        }
        true
    }

    /// The position from which on all of these are known in a rate's iterations; none if they never are.
    pub fn fits(&self, rate: RateId, needs: &[Spot]) -> Option<usize> {
        let mut from = 0;
        for need in needs {
            // What another phase made is in memory, if anywhere.
            if self.root_of(need.rate) != self.root_of(rate) {
                return None;
            }
            let meets = self.meeting(rate, need.rate);
            let position = |r: RateId| Some(self.position[self.below(r, meets)?.index()]);
            let known_from = position(need.rate).unwrap_or(need.position);
            match position(rate) {
                None => from = from.max(known_from),
                Some(mine) if known_from < mine => {}
                Some(_) => return None,
            }
        }
        Some(from)
    }

    /// Whether a value known from `spot` on is known at `at`: in the same iteration, or in one of a rate
    /// within it.
    pub fn is_visible(&self, spot: Spot, at: Spot) -> bool {
        if !self.is_within(at.rate, spot.rate) {
            return false;
        }
        match self.below(at.rate, spot.rate) {
            None => spot.position <= at.position,
            Some(child) => spot.position < self.position[child.index()],
        }
    }

    /// Whether what is known from a spot on was complete for all elements of a rate's segment before its
    /// first iteration over that segment.
    pub fn is_behind(&self, rate: RateId, made: Spot) -> bool {
        !self.is_within(made.rate, rate)
            && !self.is_within(rate, made.rate)
            && self.fits(rate, &[made]).is_some()
    }

    /// The first stage of a rate at or behind a position, made if there is none.
    pub fn stage(&mut self, rate: RateId, from: usize) -> Spot {
        let parts = &mut self.rates[rate.index()].parts;
        let stages = &mut self.stages[rate.index()];
        let found = (from..parts.len()).find(|p| matches!(parts[*p], Part::Stage(_)));
        let position = found.unwrap_or_else(|| {
            parts.push(Part::Stage(*stages));
            *stages += 1;
            parts.len() - 1
        });
        Spot { rate, position }
    }

    /// The last stage of a rate's iterations, behind everything that is there.
    pub fn behind_all(&mut self, rate: RateId) -> Spot {
        let last = self.rate(rate).parts.len().saturating_sub(1);
        self.stage(rate, last)
    }

    /// Behind all parts of a rate's iterations, where a new child goes.
    pub fn end(&self, rate: RateId) -> Spot {
        let position = self.rate(rate).parts.len();
        Spot { rate, position }
    }

    /// The spot of a rate among its parent's parts.
    pub fn child_spot(&self, rate: RateId) -> Option<Spot> {
        let parent = self.parent(rate)?;
        let position = self.position[rate.index()];
        Some(Spot {
            rate: parent,
            position,
        })
    }

    /// The first stage behind a spot.
    pub fn stage_behind(&self, spot: Spot) -> Option<Spot> {
        let parts = &self.rate(spot.rate).parts;
        let is_stage = |p: &usize| matches!(parts[*p], Part::Stage(_));
        let position = (spot.position + 1..parts.len()).find(is_stage)?;
        Some(Spot { position, ..spot })
    }

    /// The instance of a class that a rate is within.
    pub fn around(&self, rate: RateId, class: ClassId) -> Option<RateId> {
        let up = |r: &RateId| self.parent(*r);
        let is_instance = |r: &RateId| {
            let rate = self.rate(*r);
            rate.class == Some(class) || rate.appends.contains(&class)
        };
        std::iter::successors(Some(rate), up).find(is_instance)
    }

    /// The number of the stage at a spot; that of the first where a child is.
    pub fn stage_at(&self, spot: Spot) -> u32 {
        match self.rate(spot.rate).parts.get(spot.position) {
            Some(Part::Stage(s)) => *s,
            _ => 0,
        }
    }
}
