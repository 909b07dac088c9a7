//! The Tile language's data: one scheduled sweep, with vectors and masks of explicit width.
//!
//! A [`Tile`] is what a kernel does between two visits of one guard: it is entered at the guard of its rate
//! with a range of the rate's counter, and left at the same guard with the counter at the end of the range
//! (or at an exit within it). Its statements are structured; nothing in it allocates, and it
//! pauses nowhere. What it means is said by [`eval`](crate::eval).
//!
//! * A value has a type and a number of *lanes*. One lane is a scalar, `bool` of several is a *mask*. A scalar
//!   operand stands for all lanes where several are asked for.
//! * A value is *given* (a scalar that no step changes), *state* (a carried variable: it begins as what the frame
//!   holds, and at the end the frame holds it; a scan keeps more than one such word), a *register* (zero, then set any number of times) or defined once, by a
//!   `let`. A register may have more lanes than a machine's: then it is several, and some lanes at a time are loaded and stored.
//!   A *buffer* is no operand, but memory of as many elements as it has lanes.
//! * An access that is not checked names its [`Proof`], and [`verify`](crate::verify) checks it.

mod entry;
mod rehearse;
mod rename;
mod stmt;
mod zip;

pub(crate) use entry::letter;
pub use entry::{Asked, Entry, Proof, Sum};
pub use rehearse::rehearsal;
pub use stmt::{Memory, Operand, Stmt, StmtKind, arrays, changed, each_stmt, named};
pub use zip::{Side, Zip};

use loop_lang::ir::{RateId, Var};
use loop_lang::types::Ty;
use rustc_hash::FxHashSet;
use std::fmt;

/// No more bodies than this are in each other.
pub const MAX_DEPTH: usize = 256;
/// More lanes than this are in no value: an accumulator has 256 bytes in lanes.
pub const MAX_LANES: u32 = 256;

/// The type and the number of lanes of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// The type of each lane.
    pub ty: Ty,
    /// How many; 1 for a scalar.
    pub lanes: u32,
}

impl Shape {
    /// A scalar.
    pub fn scalar(ty: Ty) -> Shape {
        Shape { ty, lanes: 1 }
    }

    /// So many lanes of a type.
    pub fn of(ty: Ty, lanes: u32) -> Shape {
        Shape { ty, lanes }
    }

    /// Whether it is a scalar.
    pub fn is_scalar(self) -> bool {
        self.lanes == 1
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.lanes, self.ty) {
            (1, ty) => write!(f, "{}", ty.name()),
            (lanes, Ty::Bool) => write!(f, "mask{lanes}"),
            (lanes, ty) => write!(f, "{}x{lanes}", ty.name()),
        }
    }
}

/// A value of a tile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Value(pub u32);

impl Value {
    /// Its position among the tile's values.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// The first counter of the range.
    From,
    /// The counter behind the range.
    End,
    /// A scalar of the loop that no step of the sweep changes.
    Given(Var),
    /// A carried variable: read at entry, kept at exit. Of a scan, what it has come to.
    State(Var),
    /// What else a scan keeps: read at entry, and kept at exit if steps change it.
    Scan(Var, Kept),
    /// Set by statements.
    Register,
    /// Elements that steps leave for later steps of the same range: memory that statements load from and store to.
    Buffer,
    /// Defined by one statement.
    Let,
}

/// What a scan keeps of a variable beside what it has come to: see [`loop_lang::state`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kept {
    /// What the chunks before have come to. No step changes it.
    Prefix,
    /// What the finished blocks of the chunk have come to.
    Total,
    /// What the chunk has come to.
    Last,
}

impl Kept {
    /// Every kind.
    pub const ALL: [Kept; 3] = [Kept::Prefix, Kept::Total, Kept::Last];

    /// Its name in text.
    pub fn name(self) -> &'static str {
        match self {
            Kept::Prefix => "prefix",
            Kept::Total => "total",
            Kept::Last => "last",
        }
    }
}

impl Origin {
    /// Whether the frame holds at the end what a value is then.
    pub fn is_state(self) -> bool {
        match self {
            Origin::State(_) | Origin::Scan(_, Kept::Total | Kept::Last) => true,
            Origin::From
            | Origin::End
            | Origin::Given(_)
            | Origin::Scan(_, Kept::Prefix)
            | Origin::Register
            | Origin::Buffer
            | Origin::Let => false,
        }
    }
}

/// What is known of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueData {
    /// Its name: that of the loop's variable where it is one.
    pub name: String,
    /// Its type and lanes.
    pub shape: Shape,
    /// Where it comes from.
    pub origin: Origin,
}

/// Results that go past the caches of a long loop: who reads them next would not find them there anyway. A tile stores
/// them in step, and does nothing else with them, so whoever calls it may have it write so many steps' elements elsewhere
/// first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stream {
    /// From how many steps on, of the whole root.
    pub least: u64,
    /// The arrays.
    pub arrays: Vec<Var>,
}

/// A scheduled sweep.
#[derive(Clone, PartialEq, Debug)]
pub struct Tile {
    /// Its name, an identifier.
    pub name: String,
    /// The rate whose steps it takes.
    pub rate: RateId,
    /// That rate's counter.
    pub counter: Var,
    /// What must hold where it is entered, and for how many steps it does.
    pub entries: Vec<Entry>,
    /// What goes past the caches.
    pub stream: Option<Stream>,
    /// Values by [`Value`].
    pub values: Vec<ValueData>,
    /// What it does.
    pub body: Vec<Stmt>,
}

/// Arrays in which a segment asks for elements from one place on.
#[derive(Clone, Debug)]
pub struct Room {
    /// The place.
    pub at: Operand,
    /// Whether for whole turns, not for its steps alone.
    pub whole: bool,
    /// The arrays; at least one.
    pub arrays: Vec<Var>,
}

impl Tile {
    /// The value's data.
    pub fn value(&self, v: Value) -> &ValueData {
        &self.values[v.index()]
    }

    /// The value's type and lanes.
    pub fn shape(&self, v: Value) -> Shape {
        self.value(v).shape
    }

    /// Whether a statement is a loop over the tile's range.
    pub fn is_range(&self, kind: &StmtKind) -> bool {
        let StmtKind::For { from, to, .. } = kind else {
            return false;
        };
        let origin = |a: &Operand| a.value().map(|v| self.value(v).origin);
        (origin(from), origin(to)) == (Some(Origin::From), Some(Origin::End))
    }

    /// Whether a room of a segment that begins at `from` is one for whole turns: what is packed at a count is written with
    /// something behind it.
    pub fn asks_whole_turns(&self, from: Operand, room: Operand) -> bool {
        let counts = |v: Value| self.value(v).origin.is_state();
        room != from && room.value().is_some_and(counts)
    }

    /// The rooms of a segment that begins at `from`, by their places: of arrays that are asked for at one place the shortest decides.
    pub fn rooms_by_place(&self, from: Operand, rooms: &[(Var, Operand)]) -> Vec<Room> {
        let mut all: Vec<Room> = Vec::new();
        for (array, at) in rooms {
            match all.iter_mut().find(|room| room.at == *at) {
                Some(room) => room.arrays.push(*array),
                None => all.push(Room {
                    at: *at,
                    whole: self.asks_whole_turns(from, *at),
                    arrays: vec![*array],
                }),
            }
        }
        all
    }

    /// Whether it may be left within its range.
    pub fn leaves(&self) -> bool {
        let mut leaves = self.has_segments();
        self.each_stmt(&mut |s| leaves |= matches!(s.kind, StmtKind::Leave { .. }));
        leaves
    }

    /// Whether its steps have steps of inner rates in them, so that how far it came does not say how many it took.
    pub fn has_segments(&self) -> bool {
        let mut has = false;
        self.each_stmt(&mut |s| has |= matches!(s.kind, StmtKind::Segment { .. }));
        has
    }

    /// Whether each turn over the range, if none is left within it, asks whether its steps are there: it has a segment, whatever
    /// branch it takes.
    pub fn each_turn_asks(&self) -> bool {
        let mut asks = false;
        self.each_stmt(&mut |s| {
            let range = self.is_range(&s.kind);
            asks |= range && s.kind.bodies().iter().any(|body| asks_for_steps(body));
        });
        asks
    }

    /// How many lanes its vectors have. What is only joined in the end, as lanes that steps one by one have left, is no vector
    /// beside others.
    pub fn lanes(&self) -> u32 {
        let mut halved = FxHashSet::default();
        self.each_stmt(&mut |s| {
            if let StmtKind::Halves { of, .. } = &s.kind {
                halved.extend(of.value());
            }
        });
        let (mut lanes, mut joined) = (1, 1);
        self.each_stmt(&mut |s| match &s.kind {
            StmtKind::Halves { of, .. } => joined = joined.max(self.operand_shape(*of).lanes),
            StmtKind::Load { to, .. } if halved.contains(to) => {}
            StmtKind::Set { .. } | StmtKind::For { .. } => {}
            kind => lanes = lanes.max(kind.target().map_or(1, |to| self.shape(to).lanes)),
        });
        match lanes {
            1 => joined,
            lanes => lanes,
        }
    }

    /// The type and lanes of an operand.
    pub fn operand_shape(&self, a: Operand) -> Shape {
        match a {
            Operand::Value(v) => self.shape(v),
            Operand::Const(c) => Shape::scalar(c.ty),
        }
    }

    /// Adds a value.
    pub fn add(&mut self, name: impl Into<String>, shape: Shape, origin: Origin) -> Value {
        self.values.push(ValueData {
            name: name.into(),
            shape,
            origin,
        });
        Value(self.values.len() as u32 - 1)
    }

    /// The first value of an origin.
    pub fn of_origin(&self, origin: Origin) -> Option<Value> {
        let at = self.values.iter().position(|d| d.origin == origin)?;
        Some(Value(at as u32))
    }

    /// Values with their origins, in order.
    pub fn each_value(&self) -> impl Iterator<Item = (Value, &ValueData)> {
        (self.values.iter().enumerate()).map(|(i, d)| (Value(i as u32), d))
    }

    /// Calls `f` on every statement, outer ones first.
    pub fn each_stmt<'s>(&'s self, f: &mut impl FnMut(&'s Stmt)) {
        each_stmt(&self.body, f);
    }

    /// How many bodies are in each other, its own counted.
    pub fn depth(&self) -> usize {
        let mut deepest = 0;
        let mut open: Vec<(&[Stmt], usize)> = vec![(&self.body, 1)];
        while let Some((stmts, depth)) = open.pop() {
            deepest = deepest.max(depth);
            for s in stmts {
                open.extend(s.kind.bodies().into_iter().map(|b| (b, depth + 1)));
            }
        }
        deepest
    }

    /// The arrays that it reads or writes: see [`arrays`].
    pub fn arrays(&self) -> Vec<(Var, bool)> {
        arrays(&self.body)
    }

    /// What the counter must be a multiple of where it is entered.
    pub fn alignment(&self) -> u64 {
        let aligned = self.entries.iter().filter_map(|e| match e {
            Entry::Aligned(steps) => Some(*steps),
            _ => None,
        });
        aligned.max().unwrap_or(1)
    }

    /// How many steps a run has, if it is entered only where one begins.
    pub fn runs(&self) -> Option<u64> {
        self.entries.iter().find_map(|e| match e {
            Entry::Runs(steps) => Some(*steps),
            _ => None,
        })
    }

    /// How many of so many steps it takes from here on, given variables and the lengths of arrays. Whether a run begins here is
    /// not asked.
    pub fn allows(&self, most: u64, word: impl Fn(Var) -> u64, length: impl Fn(Var) -> u64) -> u64 {
        let mut count = most;
        for entry in &self.entries {
            count = count.min(entry.allows(self.counter, &word, &length));
        }
        for entry in &self.entries {
            match entry {
                Entry::Room { .. } | Entry::Keeps { .. } => {}
                Entry::Most(_) | Entry::Before(_) | Entry::Runs(_) => {}
                Entry::Whole(steps) => count &= !(steps - 1),
                Entry::Aligned(steps) if word(self.counter) & (steps - 1) == 0 => {}
                Entry::Aligned(_) => count = 0,
            }
        }
        count
    }

    /// How many steps it takes at a time: its ranges are multiples of it.
    pub fn granule(&self) -> u64 {
        let whole = self.entries.iter().filter_map(|e| match e {
            Entry::Whole(steps) => Some(*steps),
            _ => None,
        });
        whole.max().unwrap_or(1)
    }
}

/// Whether statements have a segment that was not gone through before, whatever branch they take.
fn asks_for_steps(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|s| match &s.kind {
        StmtKind::Segment { again, .. } => !again,
        StmtKind::If { then, other, .. } => asks_for_steps(then) && asks_for_steps(other),
        StmtKind::Rehearse { body } => asks_for_steps(body),
        _ => false,
    })
}
