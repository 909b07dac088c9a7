//! The board: state shared by the threads of one loop.
//!
//! It holds the next unit, the prefix of each unit, and the sums joined after all units.

use super::restart::{Found, Restart};
use super::shape::ChunkedLoop;
use crate::runtime::sync::{AtomicBool, AtomicUsize, Mutex, Ordering, into_inner, lock};
use livefusion_backend::{Arg, Buffer, Frame, Held, Kernel, Outcome, Pass};
use loop_lang::ir::GroupId;
use std::collections::BTreeMap;

/// Shares a loop among threads, starting from a paused frame.
///
/// The frame is paused at the end of a chunk. A thread takes one *unit* at a time. A unit is one
/// chunk, or several chunks if nothing is joined at their ends.
pub struct Board<'a> {
    pub shape: &'a ChunkedLoop,
    pub kernel: &'a dyn Kernel,
    pub args: &'a [Arg<'a>],
    /// Minimum steps of a unit.
    pub unit: u64,
    /// How to cut units at segment beginnings, or none to cut them anywhere.
    restart: Option<&'a Restart>,
    /// Whether a segment was too long for such units.
    too_long: AtomicBool,
    /// Units that fit the capacity of arrays that begin short.
    capacity: usize,
    /// Frames over the loop's arrays, one for each thread.
    frames: Mutex<Vec<Frame<'a>>>,
    claims: Mutex<Claims<'a>>,
    /// Progress of each level of groups with prefixes.
    chains: Vec<Chain>,
    later: Mutex<Later>,
    /// The first unit that does not count.
    over: AtomicUsize,
    /// The first failed unit, and the words at its beginning.
    broken: Mutex<Option<(usize, Vec<u64>)>>,
    stopped: AtomicBool,
    /// Number of units run.
    run: AtomicUsize,
}

/// The beginning of the next unit.
struct Claims<'a> {
    next: usize,
    /// Number of units, if known.
    units: Option<usize>,
    ended: bool,
    /// The words at its beginning, with the groups that determine its place.
    frame: Frame<'a>,
}

/// The prefix of one level, known up to the beginning of unit `at`.
struct Chain {
    at: AtomicUsize,
    links: Mutex<Links>,
}

struct Links {
    /// The words there, with all groups of this level and the levels below.
    words: Vec<u64>,
    /// The words at the ends of later units, whose groups began as identities.
    sums: BTreeMap<usize, Vec<u64>>,
    /// The words at the beginnings and ends of units after the join, for their threads.
    joined: BTreeMap<usize, (Vec<u64>, Vec<u64>)>,
}

/// The groups that are joined after their units have run.
struct Later {
    /// Units joined so far.
    at: usize,
    values: Vec<Vec<u64>>,
    /// Sums of units that wait for earlier ones.
    waiting: BTreeMap<usize, Vec<Vec<u64>>>,
    /// Destinations of the elements that units appended to private arrays.
    places: BTreeMap<usize, Vec<u64>>,
}

/// Describes a unit that a thread has to run.
pub struct WorkUnit {
    /// Its number.
    pub k: usize,
    /// Its number of steps.
    pub steps: u64,
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

/// Limits the units of a segment.
///
/// Longer segments are cut, or run in order if they must not be cut.
pub const LONG_SEGMENT: u64 = 16;

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
        (unit, capacity): (u64, u64),
        mut frames: Vec<Frame<'a>>,
    ) -> Option<Board<'a>> {
        let frame = frames.pop()?;
        let words = &frame.words;
        let value = |id: &GroupId| shape.joined_value(kernel, *id, words);
        let flat = shape.flat.as_ref();
        let left = flat.map(|f| f.left(&shape.plan.program, words, args));
        let chain = |_| Chain {
            at: AtomicUsize::new(0),
            links: Mutex::new(Links {
                words: words.to_vec(),
                sums: BTreeMap::new(),
                joined: BTreeMap::new(),
            }),
        };
        Some(Board {
            chains: match restart {
                Some(_) => Vec::new(),
                None => shape.levels.iter().map(chain).collect(),
            },
            restart,
            too_long: AtomicBool::new(false),
            capacity: usize::try_from(capacity).unwrap_or(usize::MAX),
            later: Mutex::new(Later {
                at: 0,
                values: shape.later.iter().map(value).collect(),
                waiting: BTreeMap::new(),
                places: BTreeMap::new(),
            }),
            claims: Mutex::new(Claims {
                next: 0,
                units: left.map(|left| (left / unit) as usize),
                ended: false,
                frame,
            }),
            shape,
            kernel,
            args,
            unit,
            frames: Mutex::new(frames),
            over: AtomicUsize::new(usize::MAX),
            broken: Mutex::new(None),
            stopped: AtomicBool::new(false),
            run: AtomicUsize::new(0),
        })
    }

    /// Takes a frame for one more thread.
    pub fn frame(&self) -> Option<Frame<'a>> {
        lock(&self.frames).pop()
    }

    /// Claims the next unit.
    pub fn claim(&self) -> Option<WorkUnit> {
        let mut claims = lock(&self.claims);
        let Claims {
            next,
            units,
            ended,
            frame,
        } = &mut *claims;
        let none = *next >= self.capacity || units.is_some_and(|n| *next >= n);
        if *ended || none || self.is_over(*next) {
            return None;
        }
        let words = frame.words.to_vec();
        match &self.shape.flat {
            Some(flat) => flat.advance(&mut frame.words, self.unit),
            None if self.pass_over(frame) => {}
            None => {
                frame.words = words.into();
                *ended = true;
                return None;
            }
        }
        let k = *next;
        *next += 1;
        Some(WorkUnit {
            k,
            steps: frame.words[1] - words[1],
            words,
            level: match self.restart {
                Some(_) => self.shape.levels.len(),
                None => 0,
            },
            sum: Sum::Unknown,
            end: match self.shape.limited.is_empty() {
                true => Vec::new(),
                false => frame.words.to_vec(),
            },
        })
    }

    /// Moves a frame from the beginning of a unit to its end, computing only its place.
    ///
    /// Returns false if no whole unit is left.
    fn pass_over(&self, frame: &mut Frame) -> bool {
        let level = self.shape.plan.place_level;
        let pass = Pass::Summary { level };
        let mut run =
            |steps, frame: &mut Frame<'_>| super::run(self.kernel, pass, steps, frame, self.args);
        if run(self.unit, frame) != Outcome::Paused {
            return false;
        }
        let Some(restart) = self.restart else {
            return true;
        };
        let of = (&self.shape.plan.program, self.args);
        match restart.find(of, LONG_SEGMENT * self.unit, frame, &mut run) {
            Found::Beginning => {
                restart.begin(self.shape, self.kernel, &mut frame.words, self.args);
                true
            }
            Found::Far => {
                self.too_long.store(true, Ordering::Relaxed);
                false
            }
            Found::Ended(_) => false,
        }
    }

    /// Tells whether a segment was too long for such units.
    pub fn too_long(&self) -> bool {
        self.too_long.load(Ordering::Relaxed)
    }

    /// Tells whether the capacity allowed no more units.
    pub fn is_full(&self) -> bool {
        let claims = lock(&self.claims);
        let broken = self.over.load(Ordering::Acquire) != usize::MAX;
        !claims.ended && !broken && claims.next >= self.capacity
    }

    /// Tells whether the whole prefix of unit `k` is known.
    pub fn all_known(&self, k: usize) -> bool {
        let last = self.chains.last();
        last.is_none_or(|c| c.at.load(Ordering::Acquire) == k)
    }

    /// Returns the words at the end of the known prefix.
    pub fn known(&self) -> Option<Vec<u64>> {
        self.chains.last().map(|c| lock(&c.links).words.clone())
    }

    /// Records the words at a unit's end as its sum of the next level.
    pub fn offer(&self, unit: &mut WorkUnit, end: &[u64]) {
        let Some(chain) = self.chains.get(unit.level) else {
            return;
        };
        let mut links = lock(&chain.links);
        links.sums.insert(unit.k, end.to_vec());
        let at = chain.at.load(Ordering::Acquire);
        self.link(unit.level, chain, &mut links, at);
        unit.sum = Sum::Offered;
    }

    /// Joins consecutive sums from unit `at` onto the words before them.
    ///
    /// The level's progress becomes visible only after all of these are joined.
    fn link(&self, level: usize, chain: &Chain, links: &mut Links, mut at: usize) {
        let (_, ids) = &self.shape.levels[level];
        while let Some(mut end) = links.sums.remove(&at) {
            for id in ids {
                self.shape.join(self.kernel, *id, &links.words, &mut end);
            }
            let start = std::mem::replace(&mut links.words, end.clone());
            links.joined.insert(at, (start, end));
            at += 1;
        }
        chain.at.store(at, Ordering::Release);
    }

    /// Raises a unit to its next level, if its sum was joined.
    pub fn lift(&self, unit: &mut WorkUnit) -> bool {
        let (Some(chain), Sum::Offered) = (self.chains.get(unit.level), &unit.sum) else {
            return false;
        };
        if chain.at.load(Ordering::Acquire) <= unit.k {
            return false;
        }
        let Some((start, end)) = lock(&chain.links).joined.remove(&unit.k) else {
            return false;
        };
        (unit.words, unit.end, unit.sum) = (start, end, Sum::Unknown);
        unit.level += 1;
        true
    }

    /// Publishes the words at the end of unit `k`, which ran from known words.
    pub fn publish(&self, k: usize, words: &[u64]) {
        for (level, chain) in self.chains.iter().enumerate() {
            if chain.at.load(Ordering::Acquire) == k {
                let mut links = lock(&chain.links);
                links.words.copy_from_slice(words);
                self.link(level, chain, &mut links, k + 1);
            }
        }
    }

    /// Records the sums of a unit that has run.
    pub fn deliver(&self, k: usize, words: &[u64]) {
        self.run.fetch_add(1, Ordering::Relaxed);
        let ChunkedLoop {
            later: ids,
            own,
            plan,
            ..
        } = self.shape;
        if ids.is_empty() {
            return;
        }
        let value = |id: &GroupId| self.shape.joined_value(self.kernel, *id, words);
        let sums = ids.iter().map(value).collect();
        let later = &mut *lock(&self.later);
        later.waiting.insert(k, sums);
        while let Some(sums) = later.waiting.remove(&later.at) {
            if !own.is_empty() {
                let count = |(_, i): &(usize, usize)| later.values[*i].first().copied();
                let at = own.iter().map(|o| count(o).unwrap_or(0)).collect();
                later.places.insert(later.at, at);
            }
            for ((id, value), sum) in ids.iter().zip(&mut later.values).zip(&sums) {
                *value = plan.join(*id, value, sum);
            }
            later.at += 1;
        }
    }

    /// Returns the destinations of a unit's appended elements, once known.
    pub fn place(&self, k: usize) -> Option<Vec<u64>> {
        lock(&self.later).places.remove(&k)
    }

    /// Records a unit that did not reach its end.
    ///
    /// The loop later continues in order from its beginning.
    pub fn give_up(&self, k: usize, words: Vec<u64>) {
        let mut broken = lock(&self.broken);
        self.over.fetch_min(k, Ordering::AcqRel);
        if broken.as_ref().is_none_or(|b| k < b.0) {
            *broken = Some((k, words));
        }
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
    }

    /// Makes all threads leave.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Tells whether all threads should leave.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Counts the units run so far.
    pub fn units_run(&self) -> usize {
        self.run.load(Ordering::Relaxed)
    }

    /// Returns the words from which the loop continues in order.
    ///
    /// All threads must have left.
    pub fn rest(self) -> Vec<u64> {
        let known = self.known();
        let broken = into_inner(self.broken);
        let claims = into_inner(self.claims);
        let later = into_inner(self.later);
        let mut words = match broken {
            Some((_, words)) => words,
            None => known.unwrap_or_else(|| claims.frame.words.to_vec()),
        };
        let shape = self.shape;
        shape.clear(self.kernel, &shape.later, &mut words, self.args);
        for (id, value) in shape.later.iter().zip(&later.values) {
            shape.set(self.kernel, *id, &mut words, value);
        }
        words
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
