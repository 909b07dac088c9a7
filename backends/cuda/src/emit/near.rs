//! What the elements of rows have to do with memory, as far as it is known.
//!
//! What finds where rows lie has a run of rows for each thread, and reads and writes by rooms what it has of each.
//!
//! Where tiles look back, a thread has elements that follow each other: of arrays in which these lie side by side, what a tile reads
//! and writes comes and goes by a room. Where no step needs to know of another, neighbours have neighbouring elements, and it is
//! arrays that lie the other way that are turned around in a room, square by square: those in which the elements of a column lie
//! side by side.

use super::Emit;
use super::streams::{Access, bytes, in_places};
use livefusion_tile::threads::path::Path;
use livefusion_tile::threads::plan::Work;
use livefusion_tile::threads::shape::{Scatter, Shape};
use loop_lang::ir::{Atom, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use loop_lang::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// The bytes of a room that a thread may have.
const ROOM: u32 = 176;
/// The elements of a square, with a place more in each line.
const SQUARE: u32 = 32 * 33;
/// The bytes of an element in all rooms at most.
const MOST: u32 = ROOM / 4;
/// The elements of a row that a thread of a team has at most where they come by a room.
const OF_TEAM: u32 = 16;

/// Arrays of which elements come and go by rooms.
#[derive(Clone, Debug, Default)]
pub struct Near {
    /// Those that elements may read where they lie, and none writes.
    pub reads: Vec<Var>,
    /// Those that each element writes where it lies, and none reads.
    pub writes: Vec<Var>,
    /// Bytes of an element in all of them.
    bytes: u32,
    /// Whose elements these are.
    path: Option<Path>,
    /// Whether it is rows that have these, which are written where they lie.
    of_rows: bool,
    /// How far the elements of a row lie from each other, of arrays that lie the other way.
    turned: FxHashMap<Var, Atom>,
}

impl Near {
    /// Those of a loop whose threads share the elements of rows.
    pub fn of(shape: &Shape<'_>) -> Near {
        let mut near = Near::default();
        let path = match &shape.work {
            Work::Path(path) => path,
            Work::Places(_) => return Near::of_rows(shape),
            _ => return near,
        };
        let every = shape.admits(path.rate).count() == 1;
        for all in in_places(shape) {
            near.add(shape, path, every, &all);
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
        if self.bytes + size > MOST || !self.is_plain(shape, array) {
            return;
        }
        if all.iter().all(|a| !a.is_write) {
            for a in all {
                if self.bytes + size <= MOST && self.lies(shape, path, a) {
                    if !self.reads.contains(&a.array) {
                        self.reads.push(a.array);
                        self.bytes += size;
                    }
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

    /// Whether what is read is to come by a room.
    fn lies(&mut self, shape: &Shape<'_>, path: &Path, a: &Access) -> bool {
        if !shape.levels.is_empty() {
            return lies_there(shape, path, a.at);
        }
        let stride = turns(shape, path, a.at);
        stride.is_some_and(|stride| *self.turned.entry(a.array).or_insert(stride) == stride)
    }

    /// What rows have of it whose elements a team of threads shares: their passes fold, and write one by one.
    pub fn of_team(&self, shape: &Shape<'_>) -> Near {
        Near {
            reads: self.reads.clone(),
            writes: Vec::new(),
            bytes: self.reads.iter().map(|v| bytes(shape, *v)).sum(),
            path: self.path.clone(),
            ..Near::default()
        }
    }

    /// How many elements of each array there is room for, for each thread: an odd number, for threads that read their own then use all
    /// banks.
    pub fn fits(&self) -> u32 {
        let most = ROOM / self.bytes.max(1);
        [21, 11, 7, 5].into_iter().find(|n| *n <= most).unwrap_or(3)
    }

    /// The same, for each thread of teams.
    pub fn of_teams(&self) -> u32 {
        (ROOM / self.bytes.max(1)).min(OF_TEAM)
    }

    /// Whether threads have elements or rows that follow each other.
    pub fn has_runs(&self) -> bool {
        !self.is_empty() && self.turned.is_empty()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

/// Whether an index is that of an element among all elements of all rows.
fn lies_there(shape: &Shape<'_>, path: &Path, at: Atom) -> bool {
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
fn turns(shape: &Shape<'_>, path: &Path, at: Atom) -> Option<Atom> {
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

impl Emit<'_> {
    /// What of arrays is near, and where that begins.
    pub(super) fn rooms(&mut self) {
        let near = self.near.clone();
        let arrays = near.reads.iter().chain(&near.writes);
        let (kind, room) = match self.turns() {
            true => ("lf_turned<", "lf_square<"),
            false => ("lf_near<", "lf_room<"),
        };
        // Threads of a path are an odd number of elements apart.
        let gaps = matches!(self.shape.work, Work::Teams { .. });
        let more = match self.turns() {
            true => String::new(),
            false => format!(", {gaps}"),
        };
        let places = near
            .of_rows
            .then(|| " lf_near<u64, false> lf_places;".to_string());
        let fields = arrays.clone().map(|v| {
            let ty = self.shape.program.ty(*v).elem();
            format!(" {kind}{ty}{more}> {};", self.names.var(*v))
        });
        let fields = fields.chain(places);
        let each = |emit: &Self, arrays: &[Var]| -> String {
            let calls = arrays.iter().map(|v| {
                let (name, array) = (emit.names.var(*v), emit.outside(Atom::Var(*v)));
                match near.turned.get(v) {
                    Some(stride) => {
                        format!(" each({array}, &Near::{name}, {});", emit.outside(*stride))
                    }
                    None => format!(" each({array}, &Near::{name});"),
                }
            });
            calls.collect()
        };
        let places = self.places();
        let types = arrays.map(|v| self.shape.program.ty(*v).elem());
        let types = types.chain(near.of_rows.then_some(Ty::U64));
        let rooms = types.map(|ty| format!("{room}{ty}, PLACES{more}>::bytes"));
        let rooms: Vec<String> = rooms.collect();
        let room = match rooms.is_empty() {
            true => "0".into(),
            false => rooms.join(" + "),
        };
        let lines = [
            format!("struct Near {{{} }};", fields.collect::<String>()),
            format!("static const u32 PLACES = {places}, ROOM = {room};"),
            format!(
                "static const bool STORES = {}, GAPS = {gaps};",
                near.of_rows || !near.writes.is_empty()
            ),
            "template <class Each>".into(),
            format!(
                "static LF_DEVICE void fetches(const Params &p, Each each) {{{} }}",
                each(self, &near.reads)
            ),
            "template <class Each>".into(),
            format!(
                "static LF_DEVICE void stores(const Params &p, Each each) {{{} }}",
                match near.of_rows {
                    true => " each(p.lf_places, &Near::lf_places);".into(),
                    false => each(self, &near.writes),
                }
            ),
        ];
        lines.iter().for_each(|l| self.line(l));
        if let Some(path) = near.path.filter(|_| !rooms.is_empty() && !self.turns()) {
            self.begins(&path);
        }
    }

    /// Whether rooms are for squares that are turned around.
    fn turns(&self) -> bool {
        matches!(self.shape.work, Work::Path(_)) && self.shape.levels.is_empty()
    }

    /// How many elements of each array there is room for.
    fn places(&self) -> u32 {
        match self.shape.work {
            Work::Teams { .. } => self.near.of_teams() * self.tiles.threads,
            _ if self.turns() => SQUARE,
            _ => self.tiles.elements * self.tiles.threads,
        }
    }

    /// How many bytes the rooms have, as `lf_room` counts them.
    pub(super) fn room_bytes(&self) -> usize {
        let arrays = self.near.reads.iter().chain(&self.near.writes);
        let sizes = arrays.map(|v| self.ty(*v).size());
        let rooms = sizes.chain(self.near.of_rows.then_some(8)).map(|size| {
            let bytes = self.places() as usize * size;
            match self.turns() {
                true => bytes,
                false => (bytes + 16).div_ceil(128) * 144,
            }
        });
        rooms.sum()
    }

    /// Where in these arrays the first row begins, and how many elements rows have, if that is known.
    fn begins(&mut self, path: &Path) {
        let length = path.length.map(|a| self.outside(a));
        let begins = match &length {
            _ if path.running => format!("p.start_{}", self.names.var(path.counter)),
            Some(length) => format!("launch.first * {length}"),
            None => "0".into(),
        };
        self.line(&format!(
            "static LF_DEVICE u64 begins(const Params &p, const lf_launch &launch) {{ return {begins}; }}"
        ));
        if let Some(length) = length.filter(|_| matches!(self.shape.work, Work::Teams { .. })) {
            self.line(&format!(
                "static LF_DEVICE u64 length(const Params &p) {{ return {length}; }}"
            ));
        }
    }

    /// What an element reads of an array of which some are near.
    pub(super) fn read_near(&self, array: Var, at: Atom) -> Option<String> {
        if !self.near.reads.contains(&array) {
            return None;
        }
        let (name, index) = (self.names.var(array), self.value(at));
        if self.near.of_rows {
            let is_own = at == Atom::Var(self.shape.counter);
            return is_own.then(|| format!("lf_take(near.{name}, lf_k)"));
        }
        // What is outside of elements has none of them.
        if self.open.len() < 2 {
            return None;
        }
        let Work::Path(path) = &self.shape.work else {
            return Some(format!("lf_read(near.{name}, {index})"));
        };
        let stride = self.near.turned.get(&array);
        if stride.is_some() {
            let is_turned = turns(self.shape, path, at).as_ref() == stride;
            return is_turned.then(|| format!("lf_take(near.{name}, lf_k, {index})"));
        }
        Some(match lies_there(self.shape, path, at) {
            true => format!("lf_take(near.{name}, lf_k)"),
            false => format!("lf_read(near.{name}, {index})"),
        })
    }

    /// What an element does to write to an array that goes out side by side.
    pub(super) fn write_near(&self, array: Var, x: &str) -> Option<String> {
        let name = self.names.var(array);
        let is_near = self.near.writes.contains(&array);
        is_near.then(|| format!("if (EMIT) lf_give(near.{name}, lf_k, {x});"))
    }
}
