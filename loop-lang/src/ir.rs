//! The Loop language's data: one fused cluster is one [`Loop`].
//!
//! A loop consists of basic blocks, a *rate tree*, *carried groups*, parameters and traps. Each
//! block has a set of synonymous labels and a place in the rate tree. The semantics in brief (the
//! interpreter is the full statement):
//!
//! * Control starts in `init`. Blocks end in gotos, which [`crate::gotos`] derives from the rate
//!   tree.
//! * A *step* is one admitted iteration of a loop rate (root, nested or cursor; not sub). A span
//!   may end at any loop rate's guard, before its test.
//!
//! * Only carried variables are assigned. Reads see the old value. An update takes effect when
//!   control reaches the guard or `done` of the nearest enclosing loop rate, or leaves that rate's
//!   subtree.
//!
//! * Operators are total, out-of-bounds reads give zero, and out-of-bounds writes are dropped.
//!   Where that is an error, the loop's builder places a `trap unless` before it.
//!
//! * A loop rate's `nest` and `done` belong to it: assignments in `nest` take effect at its guard,
//!   assignments in `done` at its exit.
//!
//! * After every [`CHUNK`] steps, on arrival at a loop rate's guard, the lanes of `Lanes` and
//!   `Runs` groups and the local part of `Prefix` groups are combined into the group's prefix. The
//!   chunk grid is part of the semantics and fixes the bits. A group is skipped if its step's loop
//!   rate is strictly above that guard's rate: an iteration that would update it is in progress.

mod blocks;
mod groups;

pub use blocks::{Args, Atom, Block, End, Exit, Label, Place, Section, Stmt, StmtKind};
pub use groups::{Combine, Group, Order};

use crate::alias_map::AliasMap;
pub use crate::entity::{BlockId, CombId, FnId, GroupId, RateId, TrapId, Var};
use crate::types::Ty;

/// Holds the number of steps per chunk.
///
/// Chunks form a fixed grid over a loop's steps (leaves and outer iterations). Float folds and
/// scans are reassociated along it, so a change to it changes bits.
pub const CHUNK: u64 = 16384;

/// Limits the nesting depth of `if` and `while` regions.
///
/// So code that walks over regions may recurse. Deeper conditions become `select`.
pub const MAX_REGION_DEPTH: usize = 100;

/// Holds one fused loop.
#[derive(Clone, Debug, Default)]
pub struct Loop {
    /// Its name, an identifier; becomes the C function's name.
    pub name: String,
    /// The contributing combinators, by [`CombId`].
    pub combs: Vec<Comb>,
    /// Variables by [`Var`].
    pub vars: Vec<VarData>,
    /// Parameters in calling order.
    pub params: Vec<Param>,
    /// Combine functions by [`FnId`].
    pub functions: Vec<Function>,
    /// Rates by [`RateId`]; every parent comes before its children.
    pub rates: Vec<Rate>,
    /// The phases: root rates that run in sequence, sharing groups and results.
    pub roots: Vec<RateId>,
    /// Carried groups by [`GroupId`].
    pub groups: Vec<Group>,
    /// Traps by [`TrapId`].
    pub traps: Vec<Trap>,
    /// Basic blocks under their labels. `BlockId` is the slot number.
    pub blocks: AliasMap<Label, Block>,
}

/// Describes a combinator of a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comb {
    /// The suffix of its labels and variables: a number, or a short name (`mfst`).
    pub name: String,
    /// The user's function: `map`, `filter`, `sum`, ...
    pub kind: String,
    /// The rate and stage of its blocks; none for delayed scalars computed in `done`.
    pub slot: Option<Slot>,
}

/// Identifies a rate and one of its stages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Slot {
    /// The rate.
    pub rate: RateId,
    /// The stage, counted from 0; only `body` and `yield` blocks are per stage.
    pub stage: u32,
}

/// Holds a variable's name and type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VarData {
    /// The complete name, by convention `base_comb`: `elt_3`, `ix_mfst`.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Whether an array is *scratch*: an iteration of a root reads only elements that it has
    /// written itself, so its content is dead afterwards. The builder of the loop guarantees that.
    pub scratch: bool,
}

/// Describes the type of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// A scalar.
    Scalar(Ty),
    /// An array of scalars.
    Array(Ty),
}

impl Type {
    /// Returns the scalar or element type.
    pub fn elem(self) -> Ty {
        match self {
            Type::Scalar(t) | Type::Array(t) => t,
        }
    }
}

/// Describes a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Its variable.
    pub var: Var,
    /// Its use.
    pub kind: ParamKind,
}

/// Lists the kinds of parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ParamKind {
    /// A scalar value.
    Scalar,
    /// An array that is read only at a rate's counter.
    Stream(RateId),
    /// An array that is read at arbitrary indices.
    Random,
}

/// Describes a node of the rate tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rate {
    /// Its name: `r0`, or a combinator's name.
    pub name: String,
    /// Its kind.
    pub kind: RateKind,
    /// Stages and child rates in the execution order of one iteration.
    pub parts: Vec<Part>,
}

/// Lists the kinds of rates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RateKind {
    /// A top-level loop: `counter` goes from its start to `bound`.
    Root {
        /// The carried `u64` counter.
        counter: Var,
        /// The scalar `u64` bound.
        bound: Atom,
    },
    /// At most one element per iteration of the parent.
    Sub {
        /// The parent rate.
        parent: RateId,
        /// The carried `u64` count of admitted elements, if it is needed.
        count: Option<Var>,
    },
    /// An inner loop per iteration of the parent.
    Nested {
        /// The parent rate.
        parent: RateId,
        /// The carried `u64` counter; started in `init` (continuing over all inner loops) or in
        /// `nest`.
        counter: Var,
        /// The scalar `u64` bound, set in `nest`, or earlier if it is constant.
        bound: Atom,
        /// Whether the inner loop has the same trip count in every outer iteration, like the rows
        /// of an array of higher rank. Execution does not differ from other nested rates;
        /// optimisations may use the constant length.
        ///
        /// The length is a literal, a parameter, or a variable that is set outside of all
        /// iterations. There are two forms. Either the counter starts at 0 in the rate's `nest`,
        /// and the length is the bound. Or the counter continues, and the bound is set before each
        /// inner loop to the counter plus the length. A guard's further exits may still leave an
        /// inner loop early.
        uniform: bool,
    },
    /// A stream that is advanced until it produces one element per iteration of the parent. Its
    /// blocks have their own gotos. They lead to the code after the cursor with an element or at
    /// the end, and otherwise forwards or to the guard. The element's values are visible after the
    /// cursor.
    ///
    /// On the next entry, it continues at the guard, with carried variables as its only memory. So
    /// only guards are part of the state, and a nested rate in a cursor always runs to its end. Any
    /// rate may be the parent:
    ///
    /// * a subrate, if the stream is advanced only where its last element was taken (`merge`) or
    ///   an element is requested (`combine`): the subrate tests that.
    /// * a cursor, if an input of a zip is a zip or a merge itself; that cursor runs over its
    ///   attempts.
    /// * a subrate of a cursor, for the elements of segments (or of runs): the outer cursor runs
    ///   over elements, the subrate tests for the end of the segment, and the inner cursor
    ///   produces the next segment.
    /// * a nested rate, for streams within a segment.
    Cursor {
        /// The parent rate.
        parent: RateId,
        /// The carried `u64` counter; started in `init` (continuing), or in a `nest` around the
        /// cursor.
        counter: Var,
        /// The scalar `u64` bound.
        bound: Atom,
    },
}

impl RateKind {
    /// Returns the parent rate, or none for roots.
    pub fn parent(self) -> Option<RateId> {
        match self {
            RateKind::Root { .. } => None,
            RateKind::Sub { parent, .. }
            | RateKind::Nested { parent, .. }
            | RateKind::Cursor { parent, .. } => Some(parent),
        }
    }

    /// Returns the counter of a loop rate, or none for subrates.
    pub fn counter(self) -> Option<Var> {
        match self {
            RateKind::Root { counter, .. }
            | RateKind::Nested { counter, .. }
            | RateKind::Cursor { counter, .. } => Some(counter),
            RateKind::Sub { .. } => None,
        }
    }

    /// Returns the bound of a loop rate, or none for subrates.
    pub fn bound(self) -> Option<Atom> {
        match self {
            RateKind::Root { bound, .. }
            | RateKind::Nested { bound, .. }
            | RateKind::Cursor { bound, .. } => Some(bound),
            RateKind::Sub { .. } => None,
        }
    }

    /// Tells whether this is a nested rate marked as uniform.
    pub fn is_uniform(self) -> bool {
        matches!(self, RateKind::Nested { uniform: true, .. })
    }

    /// Tells whether this is a subrate.
    pub fn is_sub(self) -> bool {
        matches!(self, RateKind::Sub { .. })
    }
}

/// Lists the parts of a rate's iteration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// `body` and `yield` of a stage.
    Stage(u32),
    /// A child rate.
    Child(RateId),
}

/// Describes a pure function of scalars, used as a combine.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Its name, by convention `join_3`.
    pub name: String,
    /// Its combinator.
    pub comb: CombId,
    /// Parameters.
    pub params: Vec<Var>,
    /// Statements: `let`, `trap`, and regions of these.
    pub body: Vec<Stmt>,
    /// Results.
    pub results: Vec<Atom>,
}

/// Describes a possible trap of the loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trap {
    /// The combinator at fault.
    pub comb: CombId,
    /// The error.
    pub kind: TrapKind,
}

/// Lists the errors that trap.
///
/// Each variant names the payload of its `trap` statement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum TrapKind {
    /// An index is out of bounds: payload (index, length).
    OutOfRange,
    /// An integer division or remainder by zero, or `MIN / -1`: payload (dividend, divisor).
    Division,
    /// Two lengths that must be equal differ: payload (got, expected).
    LengthMismatch,
    /// An operation that needs an element has an empty array.
    Empty,
    /// A slice is out of bounds, or its end is before its start: payload (start, end, length).
    SliceRange,
    /// A segment descriptor that does not match its data: payload (segment length, remaining
    /// elements).
    Segments,
    /// A sum of lengths exceeds the largest `u64`: payload (one, other).
    LongSum,
    /// A product of lengths exceeds the largest `u64`: payload (one, other).
    LongProduct,
}

impl TrapKind {
    /// Lists every kind.
    pub const ALL: [TrapKind; 8] = [
        TrapKind::OutOfRange,
        TrapKind::Division,
        TrapKind::LengthMismatch,
        TrapKind::Empty,
        TrapKind::SliceRange,
        TrapKind::Segments,
        TrapKind::LongSum,
        TrapKind::LongProduct,
    ];
    /// Returns the name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            TrapKind::OutOfRange => "outOfRange",
            TrapKind::Division => "division",
            TrapKind::LengthMismatch => "lengthMismatch",
            TrapKind::Empty => "empty",
            TrapKind::SliceRange => "sliceRange",
            TrapKind::Segments => "segments",
            TrapKind::LongSum => "longSum",
            TrapKind::LongProduct => "longProduct",
        }
    }
}

impl Loop {
    /// Returns the steps between two stops to combine runs or chunks.
    ///
    /// The result is none if there is nothing to combine.
    pub fn grid(&self) -> Option<u64> {
        let grids = self.groups.iter().filter_map(|g| match g.order {
            Order::Runs(n) => Some(u64::from(n)),
            order => order.is_local().then_some(CHUNK),
        });
        grids.min()
    }

    /// Returns the combinator's data.
    pub fn comb(&self, c: CombId) -> &Comb {
        &self.combs[c.index()]
    }
    /// Returns the rate's data.
    pub fn rate(&self, r: RateId) -> &Rate {
        &self.rates[r.index()]
    }
    /// Returns the variable's name.
    pub fn name(&self, v: Var) -> &str {
        &self.vars[v.index()].name
    }
    /// Returns the variable's type.
    pub fn ty(&self, v: Var) -> Type {
        self.vars[v.index()].ty
    }
    /// Tells whether a variable is a [scratch](VarData::scratch) array.
    pub fn is_scratch(&self, v: Var) -> bool {
        self.vars[v.index()].scratch
    }
    /// Returns the scalar type of an operand, or an array's element type.
    pub fn atom_ty(&self, a: Atom) -> Ty {
        match a {
            Atom::Var(v) => self.ty(v).elem(),
            Atom::Const(c) => c.ty,
        }
    }
    /// Adds a variable.
    pub fn new_var(&mut self, name: impl Into<String>, ty: Type) -> Var {
        self.vars.push(VarData {
            name: name.into(),
            ty,
            scratch: false,
        });
        Var::new(self.vars.len() - 1)
    }
    /// Returns `r` or its nearest ancestor that is a loop (not a subrate).
    pub fn loop_rate(&self, mut r: RateId) -> RateId {
        while let RateKind::Sub { parent, .. } = self.rate(r).kind {
            r = parent;
        }
        r
    }
    /// Tells whether `r` is `ancestor` or below it.
    pub fn is_within(&self, r: RateId, ancestor: RateId) -> bool {
        let mut at = Some(r);
        while let Some(r) = at {
            if r == ancestor {
                return true;
            }
            at = self.rate(r).kind.parent();
        }
        false
    }
    /// Returns the root above `r`.
    pub fn root_of(&self, mut r: RateId) -> RateId {
        while let Some(p) = self.rate(r).kind.parent() {
            r = p;
        }
        r
    }
    /// Returns the group of a carried variable.
    pub fn group_of(&self, v: Var) -> Option<GroupId> {
        self.groups
            .iter()
            .position(|g| g.vars.contains(&v))
            .map(GroupId::new)
    }

    /// Returns the place of a label.
    ///
    /// It is its combinator's slot. All combinators share `init`; `nest` and `done` belong to the
    /// nearest loop rate. For the last root, and for combinators without a slot, `done` is the
    /// block that returns.
    pub fn place(&self, label: Label) -> Place {
        let slot = self.comb(label.comb).slot;
        match (label.section, slot) {
            (Section::Init, _) => Place::Init,
            (_, None) => Place::Return,
            (Section::Done, Some(h)) => {
                let rate = self.loop_rate(h.rate);
                if self.roots.last() == Some(&rate) {
                    Place::Return
                } else {
                    Place::At {
                        rate,
                        stage: 0,
                        section: Section::Done,
                    }
                }
            }
            (Section::Nest, Some(h)) => Place::At {
                rate: self.loop_rate(h.rate),
                stage: 0,
                section: Section::Nest,
            },
            (section @ (Section::Body | Section::Yield), Some(h)) => Place::At {
                rate: h.rate,
                stage: h.stage,
                section,
            },
            (section, Some(h)) => Place::At {
                rate: h.rate,
                stage: 0,
                section,
            },
        }
    }

    /// Returns the id of a label's block.
    pub fn block_id(&self, label: Label) -> Option<BlockId> {
        self.blocks.slot(label).map(BlockId::new)
    }
    /// Returns a block by id.
    pub fn block(&self, id: BlockId) -> Option<&Block> {
        self.blocks.at(id.index()).map(|(_, b)| b)
    }
}
