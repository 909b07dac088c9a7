//! What the threads that run one loop share: which unit is next, what is known at each unit's beginning,
//! and what comes after all of them.

use super::restart::{Found, Restart};
use super::shape::Shape;
use crate::runtime::sync::{AtomicBool, AtomicUsize, Mutex, Ordering, into_inner, lock};
use livefusion_backend::{Arg, Buffer, Frame, Held, Kernel, Outcome, Pass};
use loop_lang::ir::GroupId;
use std::collections::BTreeMap;

/// A loop that several threads run from a frame at the end of a chunk. A *unit* is what a thread takes at
/// a time: one chunk, or several where nothing is joined at their ends.
pub struct Board<'a> {
    pub shape: &'a Shape,
    pub kernel: &'a dyn Kernel,
    pub args: &'a [Arg<'a>],
    /// Steps of a unit, at least.
    pub unit: u64,
    /// How units are cut where segments begin; else they are cut anywhere.
    restart: Option<&'a Restart>,
    /// Whether a segment was too long for that.
    too_long: AtomicBool,
    /// For how many units there is room in arrays that begin short.
    room: usize,
    /// Frames over the loop's arrays, one for each thread.
    frames: Mutex<Vec<Frame<'a>>>,
    claims: Mutex<Claims<'a>>,
    /// For each level of groups that must be known: how far it is.
    chains: Vec<Chain>,
    later: Mutex<Later>,
    /// Units from here on do not count.
    over: AtomicUsize,
    /// The first of those, and the words that it began from.
    broken: Mutex<Option<(usize, Vec<u64>)>>,
    stopped: AtomicBool,
    /// Units that were run.
    run: AtomicUsize,
}

/// Where the next unit begins.
struct Claims<'a> {
    next: usize,
    /// How many there are, where that is known.
    units: Option<usize>,
    ended: bool,
    /// The words at its beginning: place, and what decides over places.
    frame: Frame<'a>,
}

/// How far one level is known: up to the beginning of unit `at`.
struct Chain {
    at: AtomicUsize,
    links: Mutex<Links>,
}

struct Links {
    /// The words there, with all groups of the level and of those below.
    words: Vec<u64>,
    /// The words at the ends of later units, whose groups began as identities.
    sums: BTreeMap<usize, Vec<u64>>,
    /// The words at the beginnings and ends of units whose sums were joined: for those who run them.
    joined: BTreeMap<usize, (Vec<u64>, Vec<u64>)>,
}

/// The groups that are joined after units have run.
struct Later {
    /// Units joined so far.
    at: usize,
    values: Vec<Vec<u64>>,
    /// Sums of units that wait for earlier ones.
    waiting: BTreeMap<usize, Vec<Vec<u64>>>,
    /// Where units that append to arrays of their own belong.
    places: BTreeMap<usize, Vec<u64>>,
}

/// A unit that a thread has to run.
pub struct Unit {
    /// Its number.
    pub k: usize,
    /// How many steps it has.
    pub steps: u64,
    /// The words at its beginning, with the groups of `level` levels.
    pub words: Vec<u64>,
    pub level: usize,
    pub sum: Sum,
    /// The words at its end, as far as `level` goes.
    pub end: Vec<u64>,
}

/// A unit's sum of the next level.
pub enum Sum {
    Unknown,
    /// It waits to be joined.
    Offered,
    /// It cannot be told apart from what comes before.
    Bound,
}

/// Segments of more units than this are cut, or run in order if they must not be.
pub const LONG_SEGMENT: u64 = 16;

impl<'a> Board<'a> {
    /// A board for a frame that is paused at the end of a chunk, or where a segment begins if units must begin so.
    /// `frames` has one frame more than there may be threads.
    pub fn new(
        shape: &'a Shape,
        restart: Option<&'a Restart>,
        kernel: &'a dyn Kernel,
        args: &'a [Arg<'a>],
        (unit, room): (u64, u64),
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
                words: words.clone(),
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
            room: usize::try_from(room).unwrap_or(usize::MAX),
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

    /// A frame for one more thread.
    pub fn frame(&self) -> Option<Frame<'a>> {
        lock(&self.frames).pop()
    }

    /// The next unit.
    pub fn claim(&self) -> Option<Unit> {
        let mut claims = lock(&self.claims);
        let Claims {
            next,
            units,
            ended,
            frame,
        } = &mut *claims;
        let none = *next >= self.room || units.is_some_and(|n| *next >= n);
        if *ended || none || self.is_over(*next) {
            return None;
        }
        let words = frame.words.clone();
        match &self.shape.flat {
            Some(flat) => flat.advance(&mut frame.words, self.unit),
            None if self.pass_over(frame) => {}
            None => {
                frame.words = words;
                *ended = true;
                return None;
            }
        }
        let k = *next;
        *next += 1;
        Some(Unit {
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
                false => frame.words.clone(),
            },
        })
    }

    /// Brings a frame from the beginning of a unit to its end, as far as places go; false if there is no
    /// whole unit.
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

    /// Whether a segment was too long for units that end with one.
    pub fn too_long(&self) -> bool {
        self.too_long.load(Ordering::Relaxed)
    }

    /// Whether there was no room for more units.
    pub fn is_full(&self) -> bool {
        let claims = lock(&self.claims);
        let broken = self.over.load(Ordering::Acquire) != usize::MAX;
        !claims.ended && !broken && claims.next >= self.room
    }

    /// Whether everything before unit `k` is known.
    pub fn all_known(&self, k: usize) -> bool {
        let last = self.chains.last();
        last.is_none_or(|c| c.at.load(Ordering::Acquire) == k)
    }

    /// The words at the beginning of the unit before which everything is known.
    pub fn known(&self) -> Option<Vec<u64>> {
        self.chains.last().map(|c| lock(&c.links).words.clone())
    }

    /// Takes in a unit's sum of its next level: the words at its end.
    pub fn offer(&self, unit: &mut Unit, end: &[u64]) {
        let Some(chain) = self.chains.get(unit.level) else {
            return;
        };
        let mut links = lock(&chain.links);
        links.sums.insert(unit.k, end.to_vec());
        let at = chain.at.load(Ordering::Acquire);
        self.link(unit.level, chain, &mut links, at);
        unit.sum = Sum::Offered;
    }

    /// Joins sums onto the words before them, which are those of unit `at`, as far as there are sums.
    /// Nobody sees how far the level is before all of these are joined.
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

    /// Brings a unit to its next level, if its sum was joined.
    pub fn lift(&self, unit: &mut Unit) -> bool {
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

    /// Tells the words at the end of unit `k`, which ran from known ones.
    pub fn publish(&self, k: usize, words: &[u64]) {
        for (level, chain) in self.chains.iter().enumerate() {
            if chain.at.load(Ordering::Acquire) == k {
                let mut links = lock(&chain.links);
                links.words.copy_from_slice(words);
                self.link(level, chain, &mut links, k + 1);
            }
        }
    }

    /// Takes in the sums of a unit that has run.
    pub fn deliver(&self, k: usize, words: &[u64]) {
        self.run.fetch_add(1, Ordering::Relaxed);
        let Shape {
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

    /// Where the elements that a unit appended belong, once that is known.
    pub fn place(&self, k: usize) -> Option<Vec<u64>> {
        lock(&self.later).places.remove(&k)
    }

    /// A unit did not come to its end: the loop does, from its beginning on, in order.
    pub fn give_up(&self, k: usize, words: Vec<u64>) {
        let mut broken = lock(&self.broken);
        self.over.fetch_min(k, Ordering::AcqRel);
        if broken.as_ref().is_none_or(|b| k < b.0) {
            *broken = Some((k, words));
        }
    }

    /// Whether a unit does not count any more.
    pub fn is_over(&self, k: usize) -> bool {
        k >= self.over.load(Ordering::Acquire) || self.stopped()
    }

    /// Gives out no more units: those that were taken are run, the rest is left.
    pub fn close(&self) {
        lock(&self.claims).ended = true;
    }

    /// Makes all threads leave.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Whether all threads are to leave.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Units that were run so far.
    pub fn units_run(&self) -> usize {
        self.run.load(Ordering::Relaxed)
    }

    /// The words from which the rest of the loop runs in order, when all threads have left.
    pub fn rest(self) -> Vec<u64> {
        let known = self.known();
        let broken = into_inner(self.broken);
        let claims = into_inner(self.claims);
        let later = into_inner(self.later);
        let mut words = match broken {
            Some((_, words)) => words,
            None => known.unwrap_or(claims.frame.words),
        };
        let shape = self.shape;
        shape.clear(self.kernel, &shape.later, &mut words, self.args);
        for (id, value) in shape.later.iter().zip(&later.values) {
            shape.set(self.kernel, *id, &mut words, value);
        }
        words
    }

    /// Arrays that a unit appends to; none if there is no memory for them.
    pub fn own_arrays(&self, whole: &[Option<Held<'_>>]) -> Option<Vec<Buffer>> {
        // Kernels may write a vector beyond the last element.
        let room = self.unit as usize + 64;
        let like = |(slot, _): &(usize, usize)| {
            let ty = whole.get(*slot)?.as_ref()?.ty();
            Buffer::uncleared(ty, room)
        };
        self.shape.own.iter().map(like).collect()
    }
}
