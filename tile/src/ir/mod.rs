//! The Tile language's data: one scheduled innermost loop with explicit vectors and masks.
//!
//! A [`Tile`] is the code a kernel runs between two visits of one guard. The kernel enters it at
//! the guard of its rate with a range of the rate's counter. The tile returns to the same guard
//! with the counter at the end of the range, or at an exit within it. Statements are structured. A
//! tile neither allocates nor pauses. [`eval`](crate::eval) defines its semantics.
//!
//! * A value has a type and a number of *lanes*. One lane is a scalar; a `bool` with several lanes
//!   is a *mask*. Where several lanes are required, a scalar operand is broadcast.
//!
//! * A value's [`Origin`] has one of four kinds.
//!   - *given*: a scalar that is constant within the loop.
//!   - *state*: a loop-carried variable, read from the frame at entry and written back at exit. A
//!     scan has several such words.
//!   - a *register*: initially zero, then set any number of times.
//!   - *let*: defined once by a `let`.
//!
//! * A register may have more lanes than a machine register. Loads and stores then access some of
//!   its lanes at a time. A *buffer* is memory with one element per lane, never an operand.
//!
//! * Each unchecked access names its [`Proof`]. [`verify`](crate::verify) checks the proof.

mod dry_run;
mod entry;
mod rename;
mod stmt;
mod zip;

pub use dry_run::dry_run;
pub(crate) use entry::letter;
pub use entry::{Comparison, Entry, Proof, Sum};
pub use stmt::{Memory, Operand, Stmt, StmtKind, arrays, changed, each_stmt, named};
pub use zip::{Side, Zip};

use loop_lang::ir::{RateId, Var};
use loop_lang::types::Ty;
use rustc_hash::FxHashSet;
use std::fmt;

/// Limits the nesting depth of statement bodies.
pub const MAX_DEPTH: usize = 256;
/// Limits the lanes of a value.
///
/// An accumulator has 256 bytes in lanes.
pub const MAX_LANES: u32 = 256;

/// Describes the type and the lane count of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// The type of each lane.
    pub ty: Ty,
    /// The number of lanes; 1 for a scalar.
    pub lanes: u32,
}

impl Shape {
    /// Returns the shape of a scalar.
    pub fn scalar(ty: Ty) -> Shape {
        Shape { ty, lanes: 1 }
    }

    /// Returns the shape of a vector with the given type and lane count.
    pub fn of(ty: Ty, lanes: u32) -> Shape {
        Shape { ty, lanes }
    }

    /// Tells whether the shape is a scalar.
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

/// Identifies a value of a tile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Value(pub u32);

impl Value {
    /// Returns its position among the tile's values.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Describes the source of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// The first counter of the range.
    From,
    /// The exclusive end of the counter's range.
    End,
    /// A loop scalar that is constant in the innermost loop.
    Given(Var),
    /// A loop-carried variable: read at entry, written at exit. For a scan, its running result.
    State(Var),
    /// Another word of a scan's state: read at entry, and written at exit if steps change it.
    Scan(Var, Kept),
    /// Set by statements.
    Register,
    /// Memory for elements that pass from earlier to later steps of one range.
    Buffer,
    /// Defined by one statement.
    Let,
}

/// Lists the extra state words of a scan variable.
///
/// See [`loop_lang::state`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kept {
    /// The result of all earlier chunks. No step changes it.
    Prefix,
    /// The result of the finished blocks of this chunk.
    Total,
    /// The result of this chunk.
    Last,
}

impl Kept {
    /// Lists every kind.
    pub const ALL: [Kept; 3] = [Kept::Prefix, Kept::Total, Kept::Last];

    /// Returns its name in text.
    pub fn name(self) -> &'static str {
        match self {
            Kept::Prefix => "prefix",
            Kept::Total => "total",
            Kept::Last => "last",
        }
    }
}

impl Origin {
    /// Tells whether the final value is written back to the frame.
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

/// Holds the name, shape and origin of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueData {
    /// Its name: the loop variable's name if it represents one.
    pub name: String,
    /// Its type and lanes.
    pub shape: Shape,
    /// Its source.
    pub origin: Origin,
}

/// Describes results that bypass the caches in a long loop.
///
/// A later consumer would miss the cache for them anyway. The tile only stores these arrays, at the
/// counter. The caller may therefore redirect the elements of a number of steps to other memory
/// first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stream {
    /// The minimum number of steps of the whole root.
    pub least: u64,
    /// The arrays.
    pub arrays: Vec<Var>,
}

/// Holds a scheduled innermost loop.
#[derive(Clone, PartialEq, Debug)]
pub struct Tile {
    /// Its name, an identifier.
    pub name: String,
    /// The rate that it executes.
    pub rate: RateId,
    /// That rate's counter.
    pub counter: Var,
    /// Entry conditions. Each also limits the number of steps.
    pub entries: Vec<Entry>,
    /// Results that bypass the caches.
    pub stream: Option<Stream>,
    /// Values by [`Value`].
    pub values: Vec<ValueData>,
    /// Its statements.
    pub body: Vec<Stmt>,
}

/// Describes arrays whose capacity a segment checks from one index on.
#[derive(Clone, Debug)]
pub struct CapacityCheck {
    /// The first index.
    pub at: Operand,
    /// Whether the capacity must cover whole iterations, not only the segment's steps.
    pub whole: bool,
    /// The arrays; at least one.
    pub arrays: Vec<Var>,
}

impl Tile {
    /// Returns the value's data.
    pub fn value(&self, v: Value) -> &ValueData {
        &self.values[v.index()]
    }

    /// Returns the value's type and lanes.
    pub fn shape(&self, v: Value) -> Shape {
        self.value(v).shape
    }

    /// Tells whether a statement is a loop over the tile's range.
    pub fn is_range(&self, kind: &StmtKind) -> bool {
        let StmtKind::For { from, to, .. } = kind else {
            return false;
        };
        let origin = |a: &Operand| a.value().map(|v| self.value(v).origin);
        (origin(from), origin(to)) == (Some(Origin::From), Some(Origin::End))
    }

    /// Tells whether a capacity check of a segment covers whole iterations.
    ///
    /// `from` is the segment's first index. Packed writes at a count store extra elements past the
    /// packed ones, so they need the capacity of whole iterations.
    pub fn asks_whole_turns(&self, from: Operand, capacity: Operand) -> bool {
        let counts = |v: Value| self.value(v).origin.is_state();
        capacity != from && capacity.value().is_some_and(counts)
    }

    /// Groups a segment's capacity checks by index.
    ///
    /// `from` is the segment's first index. Arrays checked at the same index share one check; the
    /// shortest array decides.
    pub fn capacities_by_place(
        &self,
        from: Operand,
        capacities: &[(Var, Operand)],
    ) -> Vec<CapacityCheck> {
        let mut all: Vec<CapacityCheck> = Vec::new();
        for (array, at) in capacities {
            match all.iter_mut().find(|capacity| capacity.at == *at) {
                Some(capacity) => capacity.arrays.push(*array),
                None => all.push(CapacityCheck {
                    at: *at,
                    whole: self.asks_whole_turns(from, *at),
                    arrays: vec![*array],
                }),
            }
        }
        all
    }

    /// Tells whether it may exit within its range.
    pub fn leaves(&self) -> bool {
        let mut leaves = self.has_segments();
        self.each_stmt(&mut |s| leaves |= matches!(s.kind, StmtKind::Leave { .. }));
        leaves
    }

    /// Tells whether its steps contain steps of inner rates.
    ///
    /// The counter then does not determine the number of steps taken.
    pub fn has_segments(&self) -> bool {
        let mut has = false;
        self.each_stmt(&mut |s| has |= matches!(s.kind, StmtKind::Segment { .. }));
        has
    }

    /// Tells whether it has several loops over the range, one after the other.
    pub fn is_in_pieces(&self) -> bool {
        self.body.iter().filter(|s| self.is_range(&s.kind)).count() > 1
    }

    /// Tells whether each complete iteration over the range checks the step limit.
    ///
    /// This holds if every branch contains a segment.
    pub fn each_turn_asks(&self) -> bool {
        let mut asks = false;
        self.each_stmt(&mut |s| {
            let range = self.is_range(&s.kind);
            asks |= range && s.kind.bodies().iter().any(|body| asks_for_steps(body));
        });
        asks
    }

    /// Returns the lane count of its vectors.
    ///
    /// Values that are only loaded for a final reduction do not count if the tile has other
    /// vectors. An example is lanes left by scalar steps.
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

    /// Returns the type and lanes of an operand.
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

    /// Returns the first value of an origin.
    pub fn of_origin(&self, origin: Origin) -> Option<Value> {
        let at = self.values.iter().position(|d| d.origin == origin)?;
        Some(Value(at as u32))
    }

    /// Lists values in order.
    pub fn each_value(&self) -> impl Iterator<Item = (Value, &ValueData)> {
        (self.values.iter().enumerate()).map(|(i, d)| (Value(i as u32), d))
    }

    /// Calls `f` on every statement, outer statements first.
    pub fn each_stmt<'s>(&'s self, f: &mut impl FnMut(&'s Stmt)) {
        each_stmt(&self.body, f);
    }

    /// Returns the nesting depth of its bodies, its own included.
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

    /// Lists the arrays that it reads or writes.
    ///
    /// See [`arrays`].
    pub fn arrays(&self) -> Vec<(Var, bool)> {
        arrays(&self.body)
    }

    /// Returns the required alignment of the counter at entry.
    pub fn alignment(&self) -> u64 {
        let aligned = self.entries.iter().filter_map(|e| match e {
            Entry::Aligned(steps) => Some(*steps),
            _ => None,
        });
        aligned.max().unwrap_or(1)
    }

    /// Returns the number of steps in a run.
    ///
    /// The result is present only if the tile must be entered where a run begins.
    pub fn runs(&self) -> Option<u64> {
        self.entries.iter().find_map(|e| match e {
            Entry::Runs(steps) => Some(*steps),
            _ => None,
        })
    }

    /// Returns how many of `most` steps it can take from here.
    ///
    /// The arguments give the values of variables and the lengths of arrays. The result does not
    /// check whether a run begins here.
    pub fn allows(&self, most: u64, word: impl Fn(Var) -> u64, length: impl Fn(Var) -> u64) -> u64 {
        let mut count = most;
        for entry in &self.entries {
            count = count.min(entry.allows(self.counter, &word, &length));
        }
        for entry in &self.entries {
            match entry {
                Entry::Capacity { .. } | Entry::Keeps { .. } => {}
                Entry::Most(_) | Entry::Before(_) | Entry::Runs(_) => {}
                Entry::Whole(steps) => count &= !(steps - 1),
                Entry::Aligned(steps) if word(self.counter) & (steps - 1) == 0 => {}
                Entry::Aligned(_) => count = 0,
            }
        }
        count
    }

    /// Returns the step granularity.
    ///
    /// Each range is a multiple of it.
    pub fn granule(&self) -> u64 {
        let whole = self.entries.iter().filter_map(|e| match e {
            Entry::Whole(steps) => Some(*steps),
            _ => None,
        });
        whole.max().unwrap_or(1)
    }
}

/// Tells whether every path through statements contains a segment that is not a repeat.
fn asks_for_steps(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|s| match &s.kind {
        StmtKind::Segment { again, .. } => !again,
        StmtKind::If { then, other, .. } => asks_for_steps(then) && asks_for_steps(other),
        StmtKind::DryRun { body } => asks_for_steps(body),
        _ => false,
    })
}
