//! The reference interpreter for zips through buffers.

use super::{Fault, Left, World, run};
use crate::ir::{Kept, Memory, Side, Tile, Zip};
use loop_lang::ir::{Atom, Var};
use rustc_hash::FxHashMap;

type Words = FxHashMap<Var, u64>;

/// Runs a zip for at most the given number of steps.
///
/// The result's counter is the root's.
///
/// # Errors
///
/// Fails on an out-of-bounds access.
pub fn zip(zip: &Zip, most: u64, world: &mut dyn World) -> Result<Left, Fault> {
    let begin = |side: &Side| {
        let words = |v: &Var| (*v, world.scalar(*v));
        let here: Words = side.carried().iter().map(words).collect();
        Buffered {
            start: here[&side.counter],
            used: here.clone(),
            packed: here.clone(),
            ahead: here,
            ..Buffered::default()
        }
    };
    let mut run = ZipRun {
        sides: zip.sides.iter().map(begin).collect(),
        at: world.scalar(zip.counter),
        zip,
        most,
        made: 0,
        trapped: false,
        world,
    };
    let ended = (zip.ends.iter()).any(|(v, c)| run.world.scalar(*v) != c.bits);
    while !ended && !run.trapped && run.fill()? && run.behind()? {}
    run.settle()
}

/// Holds the buffers of an input.
#[derive(Default)]
struct Buffered {
    /// Its first counter.
    start: u64,
    /// Its carried values at three points: at the begin of the buffer with the last used element,
    /// at the begin of the present buffer, and at its end.
    used: Words,
    packed: Words,
    ahead: Words,
    /// The number of elements, of used elements, and of used elements of the buffer before.
    count: u64,
    first: u64,
    taken: u64,
    /// The last produced values.
    delivered: Words,
    /// The elements.
    buffers: FxHashMap<Var, Vec<u64>>,
}

struct ZipRun<'r> {
    zip: &'r Zip,
    world: &'r mut dyn World,
    sides: Vec<Buffered>,
    /// The root's counter.
    at: u64,
    most: u64,
    /// The steps taken by the consumer.
    made: u64,
    trapped: bool,
}

impl ZipRun<'_> {
    fn word(&self, a: Atom) -> u64 {
        match a {
            Atom::Const(c) => c.bits,
            Atom::Var(v) => self.world.scalar(v),
        }
    }

    /// Returns the steps taken so far; the inputs' steps count up to the end of their buffers.
    fn steps(&self) -> u64 {
        let counters = self.zip.sides.iter().zip(&self.sides);
        let tested = counters.map(|(side, b)| b.ahead[&side.counter] - b.start);
        tested.sum::<u64>() + self.made
    }

    /// Fills the empty buffers. Returns false if that is not possible.
    fn fill(&mut self) -> Result<bool, Fault> {
        let zip = self.zip;
        for (k, side) in zip.sides.iter().enumerate() {
            while self.sides[k].first == self.sides[k].count {
                // Each tested element is a step, and may cause one of the consumer.
                let left = self.most.saturating_sub(self.steps()) / 2;
                let at = self.sides[k].ahead[&side.counter];
                let left = left.min(self.word(side.bound).saturating_sub(at));
                let b = &mut self.sides[k];
                b.use_up(side);
                (b.first, b.count) = (0, 0);
                b.packed = b.ahead.clone();
                let mut words = b.ahead.clone();
                words.insert(side.count, 0);
                let empty = |a: &Var| (*a, vec![0; zip.elements as usize]);
                let mut inside = Inside {
                    words,
                    buffers: side.values.iter().map(|(_, a)| empty(a)).collect(),
                    shift: 0,
                    keeps: true,
                    world: self.world,
                };
                let Some((tile, count)) = inside.enter(&side.packs, left.min(zip.elements)) else {
                    return Ok(false);
                };
                let left = run(tile, at..at + count, 0, &mut inside)?;
                if left.trapped {
                    return Ok(false);
                }
                b.count = inside.words.remove(&side.count).unwrap_or(0);
                inside.words.insert(side.counter, left.at);
                (b.ahead, b.buffers) = (inside.words, inside.buffers);
                for all in b.buffers.values_mut() {
                    all.truncate(b.count as usize);
                }
                if left.at == at {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Runs the consumer. Returns false if it could not take all steps.
    fn behind(&mut self) -> Result<bool, Fault> {
        let zip = self.zip;
        let mut most = self.word(zip.bound).saturating_sub(self.at);
        for limit in &zip.limits {
            most = most.min(self.word(*limit).saturating_sub(self.at));
        }
        for b in &self.sides {
            most = most.min(b.count - b.first);
        }
        // A buffer appears with its first unused element at the counter.
        let mut buffers = FxHashMap::default();
        for b in &self.sides {
            let rest = |all: &Vec<u64>| all[b.first as usize..].to_vec();
            buffers.extend(b.buffers.iter().map(|(a, all)| (*a, rest(all))));
        }
        let mut inside = Inside {
            words: Words::default(),
            buffers,
            shift: self.at,
            keeps: false,
            world: self.world,
        };
        let mut taken = 0;
        while taken < most && !self.trapped {
            let Some((tile, count)) = inside.enter(&zip.behind, most - taken) else {
                break;
            };
            let left = run(tile, self.at..self.at + count, 0, &mut inside)?;
            taken += left.at - self.at;
            self.at = left.at;
            inside.world.keep(zip.counter, self.at);
            self.trapped |= left.trapped;
            if left.steps < count {
                break;
            }
        }
        self.made += taken;
        for b in &mut self.sides {
            b.first += taken;
        }
        Ok(taken == most && taken > 0)
    }

    /// Restores the state after the last used elements.
    fn settle(mut self) -> Result<Left, Fault> {
        let mut steps = self.made;
        for (side, b) in self.zip.sides.iter().zip(&mut self.sides) {
            b.use_up(side);
            if b.taken == 0 {
                continue;
            }
            let mut words = std::mem::take(&mut b.used);
            words.extend([(side.count, 0), (side.wanted, b.taken)]);
            let mut inside = Inside {
                words,
                buffers: FxHashMap::default(),
                shift: 0,
                keeps: true,
                world: self.world,
            };
            for tile in &side.finds {
                let at = inside.scalar(side.counter);
                let (_, count) = inside.may_take(tile, b.ahead[&side.counter] - at);
                if count > 0 {
                    let left = run(tile, at..at + count, 0, &mut inside)?;
                    inside.words.insert(side.counter, left.at);
                }
            }
            let words = inside.words;
            for v in side.carried() {
                self.world.keep(v, words[&v]);
            }
            for (v, word) in &b.delivered {
                self.world.keep(*v, *word);
            }
            steps += words[&side.counter] - b.start;
        }
        Ok(Left {
            at: self.at,
            steps,
            trapped: self.trapped,
        })
    }
}

impl Buffered {
    /// Records the last used element of the present buffers, if any.
    fn use_up(&mut self, side: &Side) {
        let Some(last) = self.first.checked_sub(1) else {
            return;
        };
        self.used = self.packed.clone();
        self.taken = self.first;
        for (v, a) in &side.values {
            self.delivered.insert(*v, self.buffers[a][last as usize]);
        }
    }
}

/// Provides the memory for a part of a zip: buffers, and the input's carried values.
struct Inside<'w> {
    world: &'w mut dyn World,
    words: Words,
    buffers: FxHashMap<Var, Vec<u64>>,
    /// The index of a buffer's first element.
    shift: u64,
    /// Whether it keeps carried values itself.
    keeps: bool,
}

impl Inside<'_> {
    /// Returns the first tile that may take some steps, with their number.
    fn enter<'t>(&self, tiles: &'t [Tile], most: u64) -> Option<(&'t Tile, u64)> {
        let mut tiles = tiles.iter().map(|t| self.may_take(t, most));
        tiles.find(|(_, count)| *count > 0)
    }

    /// Returns a tile with the number of steps that it may take.
    fn may_take<'t>(&self, tile: &'t Tile, most: u64) -> (&'t Tile, u64) {
        let count = tile.allows(most, |v| self.scalar(v), |a| self.length(a));
        (tile, count)
    }
}

impl World for Inside<'_> {
    fn scalar(&self, v: Var) -> u64 {
        let here = self.words.get(&v).copied();
        here.unwrap_or_else(|| self.world.scalar(v))
    }

    fn keep(&mut self, v: Var, word: u64) {
        match self.keeps {
            true => _ = self.words.insert(v, word),
            false => self.world.keep(v, word),
        }
    }

    fn scanned(&self, v: Var, kept: Kept) -> u64 {
        self.world.scanned(v, kept)
    }

    fn keep_scanned(&mut self, v: Var, kept: Kept, word: u64) {
        self.world.keep_scanned(v, kept, word);
    }

    fn length(&self, array: Var) -> u64 {
        match self.buffers.get(&array) {
            Some(all) => self.shift + all.len() as u64,
            None => self.world.length(array),
        }
    }

    fn read(&self, from: Memory, at: u64) -> Option<u64> {
        if let Memory::Array(a) = from
            && let Some(all) = self.buffers.get(&a)
        {
            let at = at.checked_sub(self.shift)?;
            return all.get(usize::try_from(at).ok()?).copied();
        }
        self.world.read(from, at)
    }

    fn write(&mut self, into: Memory, at: u64, word: u64) -> bool {
        if let Memory::Array(a) = into
            && let Some(all) = self.buffers.get_mut(&a)
        {
            let place = usize::try_from(at).ok().and_then(|at| all.get_mut(at));
            return place.map(|place| *place = word).is_some();
        }
        self.world.write(into, at, word)
    }
}
