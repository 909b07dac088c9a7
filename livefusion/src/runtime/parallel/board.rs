//! The board: state shared by the threads of one loop.
//!
//! It holds the next unit, the prefix of each unit, and the sums joined after all units.

mod blocks;
mod links;
mod sums;

use super::restart::Restart;
use super::shape::ChunkedLoop;
use super::survey::{INNER, Surveyed};
use crate::runtime::sync::{AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering, lock};
pub use blocks::Claim;
use blocks::{KnownPlace, UnitPlaces};
use links::Chain;
use livefusion_backend::{Arg, Buffer, Frame, Held, Kernel};
use loop_lang::ir::GroupId;
use std::collections::BTreeMap;
use std::ops::Range;

/// Shares a loop among threads, starting from a paused frame.
///
/// The frame is paused at the end of a chunk. A thread takes one *unit* at a time. A unit is one
/// chunk, or several chunks if nothing is joined at their ends. It may also be some iterations of
/// the root.
pub struct Board<'a> {
    pub shape: &'a ChunkedLoop,
    pub kernel: &'a dyn Kernel,
    pub args: &'a [Arg<'a>],
    /// Steps of a unit, or about as many if it begins with a segment.
    pub unit: u64,
    /// Maximum steps of a unit that ends where a segment begins.
    longest: u64,
    /// How to cut units at segment beginnings, or none to cut them anywhere.
    restart: Option<&'a Restart>,
    /// How threads find the places of units together, if they can.
    survey: Option<&'a Surveyed>,
    /// The most elements of its inner loops.
    limits: [u64; INNER],
    /// Units that fit the capacity of arrays that begin short.
    capacity: usize,
    /// Frames over the loop's arrays, one for each thread.
    frames: Mutex<Vec<Frame<'a>>>,
    claims: Mutex<Claims<'a>>,
    /// Changes that a thread may wait for that could claim nothing.
    news: AtomicUsize,
    /// Progress of each level of groups with prefixes.
    chains: Vec<Chain>,
    later: Mutex<Later>,
    /// The place of each of these groups' values.
    later_at: Vec<usize>,
    /// Units joined so far.
    delivered: AtomicUsize,
    /// The first unit that does not count.
    over: AtomicUsize,
    /// The first failed unit, and the words at its beginning if they are known.
    broken: Mutex<Option<(usize, Option<Vec<u64>>)>>,
    stopped: AtomicBool,
    /// The sums of threads that have left, but for those that another thread adds to its own.
    sums: Mutex<Option<Vec<Held<'a>>>>,
    /// Number of steps run.
    run: AtomicU64,
    /// The words at the beginning of the first unit.
    base: Vec<u64>,
}

/// The next unit.
struct Claims<'a> {
    next: usize,
    /// Number of units, if known.
    units: Option<usize>,
    ended: bool,
    /// Where it begins, in a loop without a single counter.
    places: UnitPlaces<'a>,
}

/// The groups that are joined after their units have run.
struct Later {
    /// Units joined so far.
    at: usize,
    values: Vec<u64>,
    /// Sums of units that wait for earlier ones.
    waiting: BTreeMap<usize, Vec<u64>>,
    /// Destinations of the elements that units appended to private arrays.
    places: BTreeMap<usize, Vec<u64>>,
}

/// Describes a unit that a thread has to run.
pub struct WorkUnit {
    /// Its number.
    pub k: usize,
    /// Its number of steps.
    pub steps: u64,
    /// Places near its beginning and its end, each with an iteration behind these, until it is
    /// located.
    begin: Option<(KnownPlace, u64)>,
    limit: Option<(KnownPlace, u64)>,
    /// The words at its beginning, with the groups of `level` levels.
    pub words: Vec<u64>,
    pub level: usize,
    pub sum: Sum,
    /// The words at its end, up to `level`.
    pub end: Vec<u64>,
}

/// Describes a unit's sum of the next level.
pub enum Sum {
    Unknown,
    /// It waits to be joined.
    Offered,
    /// It depends on earlier units.
    Bound,
}

/// Gives the size of units.
pub struct UnitSize {
    /// Steps of a unit.
    pub unit: u64,
    /// Maximum steps of a unit that ends where a segment begins. Longer segments are cut, or run in
    /// order if they must not be cut.
    pub longest: u64,
    /// Units that fit the capacity of arrays that begin short.
    pub capacity: u64,
}

impl<'a> Board<'a> {
    /// Creates a board for a paused frame.
    ///
    /// The frame is at the end of a chunk, or at a segment's beginning if units must begin there.
    /// `frames` has one frame more than the maximum number of threads.
    pub fn new(
        shape: &'a ChunkedLoop,
        restart: Option<&'a Restart>,
        kernel: &'a dyn Kernel,
        args: &'a [Arg<'a>],
        size: UnitSize,
        mut frames: Vec<Frame<'a>>,
    ) -> Option<Board<'a>> {
        let frame = frames.pop()?;
        let words = &frame.words;
        let UnitSize {
            unit,
            longest,
            capacity,
        } = size;
        let value = |id: &GroupId| shape.joined_value(kernel, *id, words);
        let later_at = shape.later.iter().scan(0, |next, id| {
            let at = *next;
            *next += shape.plan.group(*id).vars.len();
            Some(at)
        });
        let flat = shape.flat.as_ref();
        let units = flat.map(|f| f.left(&shape.plan.program, words, args) / unit);
        let survey = shape.survey.as_ref();
        let base = match survey.filter(|_| restart.is_some()) {
            Some(survey) => survey.guard(words),
            None => words.to_vec(),
        };
        let chain = |(_, ids): &(u32, Vec<GroupId>)| {
            let value = |id: &GroupId| shape.value(kernel, *id, &base);
            Chain::new(&base, ids.iter().map(value).collect())
        };
        let chains = match restart {
            Some(_) => Vec::new(),
            None => shape.levels.iter().map(chain).collect(),
        };
        let later = Later {
            at: 0,
            values: shape.later.iter().flat_map(value).collect(),
            waiting: BTreeMap::new(),
            places: BTreeMap::new(),
        };
        let bound = |s: &'a Surveyed| (s, s.bound(&shape.plan.program, words, args));
        let bound = survey.map(bound);
        let known = (&shape.plan.program, &base[..], args);
        let limits = survey.map_or([u64::MAX; INNER], |s| s.limits(known));
        Some(Board {
            chains,
            restart,
            survey,
            limits,
            capacity: usize::try_from(capacity).unwrap_or(usize::MAX),
            later_at: later_at.collect(),
            delivered: AtomicUsize::new(0),
            later: Mutex::new(later),
            news: AtomicUsize::new(0),
            claims: Mutex::new(Claims {
                next: 0,
                units: units.map(|n| n as usize),
                ended: false,
                places: UnitPlaces::new(&base, bound, unit, frame),
            }),
            shape,
            kernel,
            args,
            unit,
            longest,
            frames: Mutex::new(frames),
            over: AtomicUsize::new(usize::MAX),
            broken: Mutex::new(None),
            stopped: AtomicBool::new(false),
            sums: Mutex::default(),
            run: AtomicU64::new(0),
            base,
        })
    }

    /// Takes a frame for one more thread.
    pub fn frame(&self) -> Option<Frame<'a>> {
        lock(&self.frames).pop()
    }

    /// Claims the next unit, or a part of the search for it.
    pub fn claim(&self) -> Claim<'a> {
        let mut claims = lock(&self.claims);
        let k = claims.next;
        let none = k >= self.capacity || claims.units.is_some_and(|n| k >= n);
        if claims.ended || none || self.is_over(k) {
            return Claim::Nothing;
        }
        let mut unit = WorkUnit {
            k,
            steps: self.unit,
            begin: None,
            limit: None,
            words: Vec::new(),
            level: 0,
            sum: Sum::Unknown,
            end: Vec::new(),
        };
        let Some(flat) = &self.shape.flat else {
            let claim = self.claim_place(&mut claims.places, unit);
            claims.next += usize::from(matches!(claim, Claim::Unit(_)));
            return claim;
        };
        claims.next += 1;
        drop(claims);
        unit.words = self.base.clone();
        flat.advance(&mut unit.words, k as u64 * self.unit);
        if !self.shape.limited.is_empty() {
            unit.end = unit.words.clone();
            flat.advance(&mut unit.end, self.unit);
        }
        Claim::Unit(unit)
    }

    /// Counts the changes that a thread may wait for that could claim nothing.
    pub fn news(&self) -> usize {
        self.news.load(Ordering::Acquire)
    }

    /// Tells whether a segment was too long for such units.
    pub fn is_too_long(&self) -> bool {
        lock(&self.claims).places.is_too_long()
    }

    /// Tells whether the capacity allowed no more units.
    pub fn is_full(&self) -> bool {
        let claims = lock(&self.claims);
        let broken = self.over.load(Ordering::Acquire) != usize::MAX;
        !claims.ended && !broken && claims.next >= self.capacity
    }

    /// Returns the number of levels of a unit's prefix.
    pub fn levels(&self) -> usize {
        self.chains.len()
    }

    /// Records the sums of a unit that has run.
    pub fn deliver(&self, k: usize, steps: u64, words: &[u64]) {
        self.run.fetch_add(steps, Ordering::Relaxed);
        let ids = &self.shape.later;
        if ids.is_empty() {
            return;
        }
        let value = |id: &GroupId| self.shape.joined_value(self.kernel, *id, words);
        let sums: Vec<u64> = ids.iter().flat_map(value).collect();
        let later = &mut *lock(&self.later);
        let mut next = Some(sums);
        if later.at != k {
            later.waiting.extend(next.take().map(|sums| (k, sums)));
        }
        while let Some(sums) = next {
            if !self.shape.own.is_empty() {
                let own = self.shape.own.iter();
                let place = own.map(|(_, i)| later.values[self.later_at[*i]]);
                later.places.insert(later.at, place.collect());
            }
            for (id, range) in self.later_ranges() {
                let value = &mut later.values[range.clone()];
                self.shape.plan.join_onto(id, value, &sums[range]);
            }
            later.at += 1;
            next = later.waiting.remove(&later.at);
        }
        self.delivered.store(later.at, Ordering::Release);
    }

    /// Lists the groups that are joined later, with the places of their values.
    fn later_ranges(&self) -> impl Iterator<Item = (GroupId, Range<usize>)> {
        let of =
            |(id, at): (&GroupId, &usize)| (*id, *at..*at + self.shape.plan.group(*id).vars.len());
        self.shape.later.iter().zip(&self.later_at).map(of)
    }

    /// Returns the destinations of a unit's appended elements, once known.
    pub fn place(&self, k: usize) -> Option<Vec<u64>> {
        let known = k < self.delivered.load(Ordering::Acquire);
        known.then(|| lock(&self.later).places.remove(&k)).flatten()
    }

    /// Records a unit that did not reach its end.
    ///
    /// The loop later continues in order from its beginning, or from that of all units.
    pub fn give_up(&self, k: usize, words: Option<Vec<u64>>) {
        let mut broken = lock(&self.broken);
        self.over.fetch_min(k, Ordering::AcqRel);
        if broken.as_ref().is_none_or(|b| k < b.0) {
            *broken = Some((k, words));
        }
        self.news.fetch_add(1, Ordering::Release);
    }

    /// Tells whether a unit does not count any more.
    pub fn is_over(&self, k: usize) -> bool {
        k >= self.over.load(Ordering::Acquire) || self.stopped()
    }

    /// Stops giving out units.
    ///
    /// Units already taken still run.
    pub fn close(&self) {
        lock(&self.claims).ended = true;
        self.news.fetch_add(1, Ordering::Release);
    }

    /// Makes all threads leave.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Tells whether all threads should leave.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Counts the steps run so far.
    pub fn steps_run(&self) -> u64 {
        self.run.load(Ordering::Relaxed)
    }

    /// Returns the words from which the loop continues in order.
    ///
    /// All threads must have left.
    pub fn rest(self) -> Vec<u64> {
        let broken = lock(&self.broken).take();
        let words = match broken {
            // Units behind the broken one have added to sums.
            Some(_) if !self.shape.sums.is_empty() => None,
            Some((_, words)) => words,
            None => self.end(),
        };
        let Some(mut words) = words else {
            return self.base;
        };
        self.add_up();
        let (shape, later) = (self.shape, lock(&self.later));
        shape.clear(self.kernel, &shape.later, &mut words, self.args);
        for (id, range) in self.later_ranges() {
            shape.set(self.kernel, id, &mut words, &later.values[range]);
        }
        words
    }

    /// Returns the words at the end of all units, if each reached its end.
    fn end(&self) -> Option<Vec<u64>> {
        let claims = &mut *lock(&self.claims);
        if let Some(words) = self.known().filter(|words| words[1] != self.base[1]) {
            return Some(words);
        }
        if let Some(flat) = &self.shape.flat {
            let mut words = self.base.clone();
            flat.advance(&mut words, claims.next as u64 * self.unit);
            return Some(words);
        }
        self.next_place(&mut claims.places, claims.next)
    }

    /// Allocates the private arrays of a unit, if memory allows.
    pub fn own_arrays(&self, whole: &[Option<Held<'_>>]) -> Option<Vec<Buffer>> {
        // Kernels may write a vector beyond the last element.
        let capacity = self.unit as usize + 64;
        let like = |(slot, _): &(usize, usize)| {
            let ty = whole.get(*slot)?.as_ref()?.ty();
            Buffer::uncleared(ty, capacity)
        };
        self.shape.own.iter().map(like).collect()
    }
}
