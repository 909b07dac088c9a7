//! Memory accesses of row elements, and their staging in shared memory.
//!
//! In the kernel that locates rows, each thread has consecutive rows. It stages its accesses per
//! row.
//!
//! With look-back, a thread has consecutive elements. Arrays with contiguous rows are then staged
//! per tile. Without dependences between steps, neighbouring threads have neighbouring elements.
//! Arrays with contiguous columns are then transposed through staging buffers, in squares.

use super::form::Tiles;
use super::path::Path;
use super::plan::Work;
use super::shape::{Scatter, Shape};
use super::streams::{ArrayAccess, bytes, in_places};
use loop_lang::ir::{Atom, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximum bytes per thread in a staging buffer.
const ROOM: u32 = 176;
/// The elements of a square, with one padding element per line.
const SQUARE: u32 = 32 * 33;
/// The maximum bytes per element over all buffers.
const MOST: u32 = ROOM / 4;
/// The same for squares.
const MOST_TURNED: u32 = 24;
/// The number of threads with staged rows, if teams execute rows.
const IN_TEAMS: u32 = 128;
/// The maximum words of groups that a block of teams shares besides its buffers.
const WORDS_OF_TEAM: usize = 16;
/// The maximum staged elements of a row per thread of a team.
const OF_TEAM: u32 = 16;

/// Lists arrays with elements that are staged.
#[derive(Clone, Debug, Default)]
pub struct Near {
    /// Arrays that elements may read at their own position, and that no element writes.
    pub reads: Vec<Var>,
    /// Arrays that each element writes at its own position, and that no element reads.
    pub writes: Vec<Var>,
    /// Arrays that each row writes at its end, at its own position, with the array that lends its
    /// buffer. Elements and ends together are at most the steps, so both fit.
    pub ends: Vec<(Var, Var)>,
    /// The bytes per element over all of them.
    bytes: u32,
    /// The merge path of these elements.
    pub path: Option<Path>,
    /// Whether rows are staged; each row's position is then written too.
    pub of_rows: bool,
    /// The stride between a row's elements, for arrays with contiguous columns.
    pub turned: FxHashMap<Var, Atom>,
}

impl Near {
    /// Finds the staged arrays of a loop with shared rows.
    pub(super) fn of(shape: &Shape<'_>) -> Near {
        let mut near = Near::default();
        let path = match &shape.work {
            // A loop that exits has used only part of a buffer.
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

    /// Finds the staged arrays of the kernel that locates rows: its reads per row, and the row
    /// positions.
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

    /// Tells whether an array is shared by all threads and no scatter updates it.
    fn is_plain(&self, shape: &Shape<'_>, array: Var) -> bool {
        let source = shape.facts.source.get(&array);
        let is_joined = |s: &Scatter| shape.facts.source.get(&s.array) == source;
        !shape.contracted.has(array) && !shape.scatters.iter().any(is_joined)
    }

    /// Adds the accesses to one piece of memory.
    fn add(&mut self, shape: &Shape<'_>, path: &Path, every: bool, all: &[ArrayAccess]) {
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
        let own = |a: &ArrayAccess| a.is_write && a.array == array && a.always == Some(path.rate);
        let lies = |a: &ArrayAccess| lies_there(shape, path, a.at);
        if every && !shape.levels.is_empty() && all.iter().all(|a| own(a) && lies(a)) {
            self.writes.push(array);
            self.bytes += size;
        }
    }

    /// Adds an array that rows write at their ends.
    fn add_end(&mut self, shape: &Shape<'_>, all: &[ArrayAccess]) {
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

    /// Tells whether a read is staged.
    fn lies(&mut self, shape: &Shape<'_>, path: &Path, a: &ArrayAccess) -> bool {
        if !shape.levels.is_empty() {
            return lies_there(shape, path, a.at);
        }
        let stride = turns(shape, path, a.at);
        stride.is_some_and(|stride| *self.turned.entry(a.array).or_insert(stride) == stride)
    }

    /// Returns the staged arrays for teams: their passes fold, and write elements directly.
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

    /// Removes arrays until an element needs at most this many bytes.
    pub(super) fn shrink(&mut self, shape: &Shape<'_>, most: u32) {
        while self.bytes > most {
            let Some(array) = self.writes.pop().or_else(|| self.reads.pop()) else {
                return;
            };
            self.bytes -= bytes(shape, array);
            self.ends.retain(|(_, room)| *room != array);
        }
    }

    /// Returns the buffered elements of each array per thread. The count is odd, so that threads
    /// reading their own elements use all banks.
    pub(super) fn fits(&self) -> u32 {
        let most = ROOM / self.bytes.max(1);
        [21, 11, 7, 5].into_iter().find(|n| *n <= most).unwrap_or(3)
    }

    /// Returns the buffered elements of each array per block.
    pub fn places(&self, shape: &Shape<'_>, tiles: Tiles) -> u32 {
        match shape.work {
            Work::Teams { .. } => {
                (ROOM / self.bytes.max(1)).min(OF_TEAM) * tiles.threads.min(IN_TEAMS)
            }
            _ if self.turns(shape) => SQUARE,
            _ => tiles.elements * tiles.threads,
        }
    }

    /// Tells whether buffers hold transposed squares.
    pub fn turns(&self, shape: &Shape<'_>) -> bool {
        matches!(shape.work, Work::Path(_)) && shape.levels.is_empty()
    }

    /// Returns the size of all buffers in bytes, with padding.
    pub fn room_bytes(&self, shape: &Shape<'_>, tiles: Tiles) -> usize {
        let sizes = self.reads.iter().chain(&self.writes);
        let sizes = sizes.map(|v| bytes(shape, *v));
        let rooms = sizes.chain(self.of_rows.then_some(8)).map(|size| {
            let bytes = (self.places(shape, tiles) * size) as usize;
            (bytes + 16).div_ceil(128) * 144
        });
        rooms.sum()
    }

    /// Tells whether threads have consecutive elements or rows.
    pub(super) fn has_runs(&self) -> bool {
        !self.is_empty() && self.turned.is_empty()
    }

    /// Tells whether no array is staged.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

/// Tells whether an index is an element's position among all rows.
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

/// Returns the stride between a row's elements, for contiguous columns.
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

/// Returns a step's definition of a value, if its operator has two operands.
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
