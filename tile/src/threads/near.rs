//! What the elements of rows have to do with memory, as far as it is known.
//!
//! What finds where rows lie has a run of rows for each thread, and reads and writes by rooms what it has of each.
//!
//! Where tiles look back, a thread has elements that follow each other: of arrays in which these lie side by side, what a tile reads
//! and writes comes and goes by a room. Where no step needs to know of another, neighbours have neighbouring elements, and it is
//! arrays that lie the other way that are turned around in a room, square by square: those in which the elements of a column lie
//! side by side.

use super::form::Tiles;
use super::path::Path;
use super::plan::Work;
use super::shape::{Scatter, Shape};
use super::streams::{Access, bytes, in_places};
use loop_lang::ir::{Atom, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// The bytes of a room that a thread may have.
const ROOM: u32 = 176;
/// The elements of a square, with a place more in each line.
const SQUARE: u32 = 32 * 33;
/// The bytes of an element in all rooms at most.
const MOST: u32 = ROOM / 4;
/// The same of squares.
const MOST_TURNED: u32 = 24;
/// The threads whose rows have room, where teams have them.
const IN_TEAMS: u32 = 128;
/// The words of groups that a block of teams may share beside rooms.
const WORDS_OF_TEAM: usize = 16;
/// The elements of a row that a thread of a team has at most where they come by a room.
const OF_TEAM: u32 = 16;

/// Arrays of which elements come and go by rooms.
#[derive(Clone, Debug, Default)]
pub struct Near {
    /// Those that elements may read where they lie, and none writes.
    pub reads: Vec<Var>,
    /// Those that each element writes where it lies, and none reads.
    pub writes: Vec<Var>,
    /// Those that each row writes at its end, where it lies, and which of the others' room they have: elements and ends are no more than
    /// steps, so that there is place for both.
    pub ends: Vec<(Var, Var)>,
    /// Bytes of an element in all of them.
    bytes: u32,
    /// Whose elements these are.
    pub path: Option<Path>,
    /// Whether it is rows that have these, and where each of them lies is written there, too.
    pub of_rows: bool,
    /// How far the elements of a row lie from each other, of arrays that lie the other way.
    pub turned: FxHashMap<Var, Atom>,
}

impl Near {
    /// Those of a loop whose threads share the elements of rows.
    pub(super) fn of(shape: &Shape<'_>) -> Near {
        let mut near = Near::default();
        let path = match &shape.work {
            // A loop that is left has done some of what is in a room.
            Work::Path(_) if shape.exits.any => return near,
            Work::Path(path) => path,
            Work::Places(_) => return Near::of_rows(shape),
            _ => return near,
        };
        let every = shape.admits(path.rate).count() == 1;
        let places = in_places(shape);
        for all in &places {
            near.add(shape, path, every, all);
        }
        for all in &places {
            near.add_end(shape, all);
        }
        near.path = Some(path.clone());
        near
    }

    /// Those of what finds where rows lie: what it reads of each, and where each lies.
    fn of_rows(shape: &Shape<'_>) -> Near {
        let mut near = Near {
            of_rows: true,
            bytes: 8,
            ..Near::default()
        };
        let counter = Atom::Var(shape.counter);
        let is_wanted = |v: &Var| {
            shape
                .nests
                .only
                .as_ref()
                .is_none_or(|only| only.contains(v))
        };
        let mut wanted = FxHashSet::default();
        for stmt in shape.steps().flat_map(|b| &b.block.stmts) {
            walk::each(stmt, &mut |s| {
                if let StmtKind::ReadArray(v, array, at) = s.kind
                    && at == counter
                    && is_wanted(&v)
                {
                    wanted.insert(array);
                }
            });
        }
        for all in in_places(shape) {
            let is_read = all.iter().all(|a| !a.is_write);
            let found = all.iter().find(|a| wanted.contains(&a.array));
            let Some(array) = found.map(|a| a.array).filter(|_| is_read) else {
                continue;
            };
            let size = bytes(shape, array);
            if near.is_plain(shape, array) && near.bytes + size <= MOST {
                near.reads.push(array);
                near.bytes += size;
            }
        }
        near
    }

    /// Whether an array is one that all have together, and nobody joins values onto.
    fn is_plain(&self, shape: &Shape<'_>, array: Var) -> bool {
        let source = shape.facts.source.get(&array);
        let is_joined = |s: &Scatter| shape.facts.source.get(&s.array) == source;
        !shape.handed.has(array) && !shape.scatters.iter().any(is_joined)
    }

    /// The accesses of one piece of memory.
    fn add(&mut self, shape: &Shape<'_>, path: &Path, every: bool, all: &[Access]) {
        let Some(array) = all.first().map(|a| a.array) else {
            return;
        };
        let size = bytes(shape, array);
        let most = match shape.levels.is_empty() {
            true => MOST_TURNED,
            false => MOST,
        };
        if self.bytes + size > most || !self.is_plain(shape, array) {
            return;
        }
        if all.iter().all(|a| !a.is_write) {
            for a in all {
                let is_new = !self.reads.contains(&a.array) && self.bytes + size <= most;
                if is_new && self.lies(shape, path, a) {
                    self.reads.push(a.array);
                    self.bytes += size;
                }
            }
            return;
        }
        let own = |a: &Access| a.is_write && a.array == array && a.always == Some(path.rate);
        let lies = |a: &Access| lies_there(shape, path, a.at);
        if every && !shape.levels.is_empty() && all.iter().all(|a| own(a) && lies(a)) {
            self.writes.push(array);
            self.bytes += size;
        }
    }

    /// The same, if that is what rows write at their ends.
    fn add_end(&mut self, shape: &Shape<'_>, all: &[Access]) {
        let [a] = all else { return };
        let of_row = a.at == Atom::Var(shape.counter) && a.always == Some(shape.root);
        if !a.is_write || !of_row || !self.is_plain(shape, a.array) {
            return;
        }
        let size = bytes(shape, a.array);
        let is_free = |v: &&Var| self.ends.iter().all(|(_, room)| room != *v);
        let mut free = self.reads.iter().filter(is_free);
        if !shape.levels.is_empty()
            && let Some(room) = free.find(|v| bytes(shape, **v) == size)
        {
            self.ends.push((a.array, *room));
        }
    }

    /// Whether what is read is to come by a room.
    fn lies(&mut self, shape: &Shape<'_>, path: &Path, a: &Access) -> bool {
        if !shape.levels.is_empty() {
            return lies_there(shape, path, a.at);
        }
        let stride = turns(shape, path, a.at);
        stride.is_some_and(|stride| *self.turned.entry(a.array).or_insert(stride) == stride)
    }

    /// What rows have of it whose elements a team of threads shares: their passes fold, and write one by one.
    pub(super) fn of_team(&self, shape: &Shape<'_>) -> Near {
        let groups = shape.program.groups.iter();
        if groups.map(|g| g.vars.len()).sum::<usize>() > WORDS_OF_TEAM {
            return Near::default();
        }
        Near {
            reads: self.reads.clone(),
            bytes: self.reads.iter().map(|v| bytes(shape, *v)).sum(),
            path: self.path.clone(),
            ..Near::default()
        }
    }

    /// Leaves arrays out until an element needs no more than so many bytes.
    pub(super) fn shrink(&mut self, shape: &Shape<'_>, most: u32) {
        while self.bytes > most {
            let Some(array) = self.writes.pop().or_else(|| self.reads.pop()) else {
                return;
            };
            self.bytes -= bytes(shape, array);
            self.ends.retain(|(_, room)| *room != array);
        }
    }

    /// How many elements of each array there is room for, for each thread: an odd number, for threads that read their own then use all
    /// banks.
    pub(super) fn fits(&self) -> u32 {
        let most = ROOM / self.bytes.max(1);
        [21, 11, 7, 5].into_iter().find(|n| *n <= most).unwrap_or(3)
    }

    /// How many elements of each array a block has room for.
    pub fn places(&self, shape: &Shape<'_>, tiles: Tiles) -> u32 {
        match shape.work {
            Work::Teams { .. } => {
                (ROOM / self.bytes.max(1)).min(OF_TEAM) * tiles.threads.min(IN_TEAMS)
            }
            _ if self.turns(shape) => SQUARE,
            _ => tiles.elements * tiles.threads,
        }
    }

    /// Whether rooms are for squares that are turned around.
    pub fn turns(&self, shape: &Shape<'_>) -> bool {
        matches!(shape.work, Work::Path(_)) && shape.levels.is_empty()
    }

    /// How many bytes the rooms have, with gaps, whether there are any or not.
    pub fn room_bytes(&self, shape: &Shape<'_>, tiles: Tiles) -> usize {
        let sizes = self.reads.iter().chain(&self.writes);
        let sizes = sizes.map(|v| bytes(shape, *v));
        let rooms = sizes.chain(self.of_rows.then_some(8)).map(|size| {
            let bytes = (self.places(shape, tiles) * size) as usize;
            (bytes + 16).div_ceil(128) * 144
        });
        rooms.sum()
    }

    /// Whether threads have elements or rows that follow each other.
    pub(super) fn has_runs(&self) -> bool {
        !self.is_empty() && self.turned.is_empty()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

/// Whether an index is that of an element among all elements of all rows.
pub fn lies_there(shape: &Shape<'_>, path: &Path, at: Atom) -> bool {
    let counter = Atom::Var(path.counter);
    if path.running {
        return at == counter;
    }
    let Some(length) = path.length else {
        return false;
    };
    let Some((Op::Add, [a, b])) = defined(shape, at) else {
        return false;
    };
    let row = if a == counter { b } else { a };
    let Some((Op::Mul, factors)) = defined(shape, row) else {
        return false;
    };
    let of_row = [Atom::Var(shape.counter), length];
    (a == counter || b == counter)
        && (factors == of_row || factors == [length, Atom::Var(shape.counter)])
}

/// How far an element is from the next one in its row, where those of a column lie side by side.
pub fn turns(shape: &Shape<'_>, path: &Path, at: Atom) -> Option<Atom> {
    let (row, counter) = (Atom::Var(shape.counter), Atom::Var(path.counter));
    if path.running || path.length.is_none() {
        return None;
    }
    let (Op::Add, [a, b]) = defined(shape, at)? else {
        return None;
    };
    let far = if a == row { b } else { a };
    let (Op::Mul, [x, y]) = defined(shape, far)? else {
        return None;
    };
    let stride = if x == counter { y } else { x };
    let is_given = stride.var().is_none_or(|v| shape.given.contains(&v));
    let is_there = (a == row || b == row) && (x == counter || y == counter);
    (is_there && is_given).then_some(stride)
}

/// What a step computes by an operator of two operands.
fn defined(shape: &Shape<'_>, a: Atom) -> Option<(Op, [Atom; 2])> {
    let v = a.var()?;
    let mut found = None;
    for placed in shape.steps() {
        for s in &placed.block.stmts {
            walk::each(s, &mut |s| {
                if let StmtKind::Let(to, op, args) = &s.kind
                    && *to == v
                    && let [a, b] = args[..]
                {
                    found = Some((*op, [a, b]));
                }
            });
        }
    }
    found
}
