//! The rate tree: the open rates of a loop, with their parts.
//!
//! One iteration of a rate runs its *parts* in order: stages of its own and child rates. A value is
//! known from a program point on (a [`Point`]). This is the stage that computes it, or the end of
//! the child rate that folds it. A consumer of values of a rate and of its children runs in a later
//! stage. A second pass over a segment runs in a second *instance* of the segment's class, for
//! example to divide by a sum from the first pass. Instances and stages are added on first use, at
//! the end of an iteration.

use super::{LengthSource, Lives, Total};
use crate::fusion::ClassId;
use crate::lower::scope::InputColumn;
use crate::sharing::{FieldRef, NodeId};
use loop_lang::ir::{Part, RateId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Describes a program point.
///
/// A program point is a part of a rate's iteration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Point {
    /// The rate.
    pub rate: RateId,
    /// The index of the part.
    pub position: usize,
}

impl Point {
    /// Returns the first stage of a rate, in which its elements are read.
    pub fn first(rate: RateId) -> Point {
        Point { rate, position: 0 }
    }
}

/// Describes a rate of a loop.
///
/// A rate is an instance of a class.
#[derive(Clone, Debug)]
pub struct PlacedRate {
    /// The class of its elements. `None` for a root without a class.
    pub class: Option<ClassId>,
    /// The classes of appends to which it contributes a part.
    pub appends: SmallVec<[ClassId; 1]>,
    /// The parent rate.
    pub parent: Option<RateId>,
    /// The node that opens it, or over which it runs.
    pub node: NodeId,
    /// The way in which it is opened.
    pub opening: Opening,
    /// Stages and child rates in the order of one iteration.
    pub parts: Vec<Part>,
}

/// Describes the way in which a rate is opened.
#[derive(Clone, Debug)]
pub enum Opening {
    /// A root over an array in memory.
    Array(FieldRef),
    /// A root over a generator's indices.
    Indices(LengthSource),
    /// A root over a zip's attempts to get an element of every side.
    Attempts,
    /// A subrate with a test of these columns in its guard.
    Test(Vec<InputColumn>),
    /// A subrate whose test is known already: from an earlier instance, or from the node itself.
    Decided,
    /// A subrate of a class that runs while one class of a live set is live.
    While(Lives),
    /// An inner loop over segments of these lengths. Each length is checked against the rest of the
    /// total.
    Segments(InputColumn, Total),
    /// Like [`Segments`](Opening::Segments), with one length for all segments. One check before the
    /// first segment covers all of them; the rate around gives their number.
    Rows(InputColumn, Total),
    /// An inner loop over segments whose lengths are checked already.
    SameSegments,
    /// A cursor that is advanced on demand, over a known number of elements. Without a length it
    /// runs over the attempts of a zip or over an append's parts.
    Cursor(Sided, Option<LengthSource>),
    /// A cursor that is advanced on demand, over the elements of segments. A further cursor
    /// delivers the segments.
    Elements(Sided),
    /// A subrate in which a merge asks a side for the next element, because it took the last one.
    Needed(Sided),
    /// A subrate that runs while this part of an append is the current one. The parts are advanced
    /// on demand.
    Part(usize),
    /// A subrate of an [`Elements`](Opening::Elements) cursor that asks for the next segment when
    /// the current one is exhausted.
    UsedUp,
    /// A subrate that starts a segment that is not empty, for the given rate over its elements. The
    /// lengths of all segments add up to at most the total.
    Begins(RateId, InputColumn, Total),
}

/// Identifies a cursor of a zip, or of an append.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sided {
    /// The zip, or the append.
    pub zip: NodeId,
    /// The index of the side, or of the part.
    pub side: usize,
    /// The level of the cursor within the side. Level 0 delivers to the zip, every other level to
    /// the one below.
    pub level: usize,
}

impl Opening {
    /// Returns whether it opens a subrate.
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

    /// Returns whether its number of elements is found by counting them.
    pub fn is_counted(&self) -> bool {
        self.is_sub() || matches!(self, Opening::Cursor(_, None))
    }

    /// Returns whether it opens a loop over the elements of each segment.
    pub fn is_nested(&self) -> bool {
        matches!(
            self,
            Opening::Segments(..)
                | Opening::Rows(..)
                | Opening::SameSegments
                | Opening::Elements(_)
        )
    }

    /// Returns the cursor that it opens, if any.
    pub fn sided(&self) -> Option<Sided> {
        match self {
            Opening::Cursor(sided, _) | Opening::Elements(sided) => Some(*sided),
            _ => None,
        }
    }
}

/// Holds the rates of a loop.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    rates: Vec<PlacedRate>,
    /// The rates of each class, in the order of one iteration.
    instances: FxHashMap<ClassId, SmallVec<[RateId; 1]>>,
    /// The position of each rate among its parent's parts.
    position: Vec<usize>,
    /// The depth of each rate below the root.
    depth: Vec<u32>,
    /// The number of stages of each rate.
    stages: Vec<u32>,
    /// The root above each rate.
    roots: Vec<RateId>,
}

impl Tree {
    /// Returns all rates.
    ///
    /// Parents come before their children.
    pub fn rates(&self) -> &[PlacedRate] {
        &self.rates
    }

    /// Returns a rate.
    pub fn rate(&self, rate: RateId) -> &PlacedRate {
        &self.rates[rate.index()]
    }

    /// Returns the root of a rate's tree.
    pub fn root_of(&self, rate: RateId) -> RateId {
        self.roots[rate.index()]
    }

    /// Notes that a rate has the elements of an append's part.
    pub fn append(&mut self, rate: RateId, append: ClassId) {
        self.rates[rate.index()].appends.push(append);
        self.instances.entry(append).or_default().push(rate);
    }

    /// Adds a rate, with one stage, after all parts of its parent.
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

    /// Moves a rate's children before its first stage.
    pub fn put_children_first(&mut self, rate: RateId) {
        let parts = &mut self.rates[rate.index()].parts;
        parts.rotate_left(1);
        for (position, part) in parts.iter().enumerate() {
            if let Part::Child(child) = part {
                self.position[child.index()] = position;
            }
        }
    }

    /// Returns the identifier of the next rate to be opened.
    pub fn next(&self) -> RateId {
        RateId::new(self.rates.len())
    }

    /// Returns the rates of a class, in the order of one iteration.
    pub fn instances(&self, class: ClassId) -> SmallVec<[RateId; 1]> {
        self.instances.get(&class).cloned().unwrap_or_default()
    }

    /// Returns whether a class has an instance.
    pub fn is_open(&self, class: ClassId) -> bool {
        self.instances.contains_key(&class)
    }

    /// Returns the parent of a rate.
    ///
    /// A root has none.
    pub fn parent(&self, rate: RateId) -> Option<RateId> {
        self.rate(rate).parent
    }

    /// Returns the innermost loop rate at or around a rate.
    pub fn loop_rate(&self, mut rate: RateId) -> RateId {
        while let (true, Some(parent)) = (self.rate(rate).opening.is_sub(), self.parent(rate)) {
            rate = parent;
        }
        rate
    }

    /// Returns the rate whose elements a rate has.
    ///
    /// This is the rate around a liveness guard, else the rate itself.
    pub fn elements_of(&self, mut rate: RateId) -> RateId {
        while let (Opening::While(_), Some(parent)) = (&self.rate(rate).opening, self.parent(rate))
        {
            rate = parent;
        }
        rate
    }

    /// Returns whether a rate is another one or below it.
    pub fn is_within(&self, rate: RateId, above: RateId) -> bool {
        self.ancestor(rate, self.depth[above.index()]) == Some(above)
    }

    /// The ancestor of a rate at a depth below the root.
    fn ancestor(&self, mut rate: RateId, depth: u32) -> Option<RateId> {
        while self.depth[rate.index()] > depth {
            rate = self.parent(rate)?;
        }
        (self.depth[rate.index()] == depth).then_some(rate)
    }

    /// The lowest common ancestor of two rates.
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

    /// The child of `above` that contains `rate`; `None` if they are the same.
    fn below(&self, rate: RateId, above: RateId) -> Option<RateId> {
        (rate != above)
            .then(|| self.ancestor(rate, self.depth[above.index()] + 1))
            .flatten()
    }

    /// Returns whether a rate comes last in the iterations of a rate around it.
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

    /// Returns the position in a rate's iterations from which these points are known.
    ///
    /// `None` if they never are.
    pub fn fits(&self, rate: RateId, needs: &[Point]) -> Option<usize> {
        let mut from = 0;
        for need in needs {
            // Values of another phase are known in memory only.
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

    /// Returns whether a value defined at `point` is visible at `at`.
    ///
    /// It is visible in the same iteration, and in the iterations of rates within it.
    pub fn is_visible(&self, point: Point, at: Point) -> bool {
        if !self.is_within(at.rate, point.rate) {
            return false;
        }
        match self.below(at.rate, point.rate) {
            None => point.position <= at.position,
            Some(child) => point.position < self.position[child.index()],
        }
    }

    /// Returns whether a definition precedes the whole segment of a rate.
    ///
    /// This holds if the value was complete for all elements of the segment before the rate's first
    /// iteration over it.
    pub fn is_behind(&self, rate: RateId, made: Point) -> bool {
        !self.is_within(made.rate, rate)
            && !self.is_within(rate, made.rate)
            && self.fits(rate, &[made]).is_some()
    }

    /// Returns the first stage of a rate at or after a position.
    ///
    /// Adds a stage if there is none.
    pub fn stage(&mut self, rate: RateId, from: usize) -> Point {
        let parts = &mut self.rates[rate.index()].parts;
        let stages = &mut self.stages[rate.index()];
        let found = (from..parts.len()).find(|p| matches!(parts[*p], Part::Stage(_)));
        let position = found.unwrap_or_else(|| {
            parts.push(Part::Stage(*stages));
            *stages += 1;
            parts.len() - 1
        });
        Point { rate, position }
    }

    /// Returns a stage at the end of a rate's iterations.
    ///
    /// Adds a stage if a child rate comes last.
    pub fn behind_all(&mut self, rate: RateId) -> Point {
        let last = self.rate(rate).parts.len().saturating_sub(1);
        self.stage(rate, last)
    }

    /// Returns the position after all parts of a rate's iterations.
    ///
    /// A new child goes there.
    pub fn end(&self, rate: RateId) -> Point {
        let position = self.rate(rate).parts.len();
        Point { rate, position }
    }

    /// Returns the position of a rate among its parent's parts.
    pub fn child_point(&self, rate: RateId) -> Option<Point> {
        let parent = self.parent(rate)?;
        let position = self.position[rate.index()];
        Some(Point {
            rate: parent,
            position,
        })
    }

    /// Returns the first stage after a program point.
    pub fn stage_behind(&self, point: Point) -> Option<Point> {
        let parts = &self.rate(point.rate).parts;
        let is_stage = |p: &usize| matches!(parts[*p], Part::Stage(_));
        let position = (point.position + 1..parts.len()).find(is_stage)?;
        Some(Point { position, ..point })
    }

    /// Returns the instance of a class that contains a rate.
    pub fn around(&self, rate: RateId, class: ClassId) -> Option<RateId> {
        let up = |r: &RateId| self.parent(*r);
        let is_instance = |r: &RateId| {
            let rate = self.rate(*r);
            rate.class == Some(class) || rate.appends.contains(&class)
        };
        std::iter::successors(Some(rate), up).find(is_instance)
    }

    /// Returns the number of the stage at a program point.
    ///
    /// Returns 0 at a child rate.
    pub fn stage_at(&self, point: Point) -> u32 {
        match self.rate(point.rate).parts.get(point.position) {
            Some(Part::Stage(s)) => *s,
            _ => 0,
        }
    }
}
