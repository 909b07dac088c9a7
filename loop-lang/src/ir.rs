//! The Loop language's data: one fused cluster is one [`Loop`].
//!
//! A loop is a set of basic blocks (each under a set of synonymous labels), a *rate tree* that gives
//! every block its place, *carried groups*, parameters and traps. Semantics, in short (the
//! interpreter is the full statement):
//!
//! * Control starts in `init`. Blocks end in gotos, which [`crate::gotos`] derives from the rate tree.
//! * A *step* is one admitted iteration of a loop rate (root, nested or cursor; not sub). A span may
//!   end at any loop rate's guard, before its test.
//! * Only carried variables are assigned. Reads see the old value; an update takes effect when control
//!   goes to the guard or `done` of the nearest enclosing loop rate, or leaves that rate's subtree.
//! * Operators are total, reads outside of an array give zero, writes outside are dropped; whoever
//!   builds a loop places `trap unless` in front where that is an error.
//! * A loop rate's `nest` and `done` belong to it: what `nest` assigns takes effect at its guard, what
//!   `done` assigns on the way out.
//! * After every [`CHUNK`] steps, on arrival at a loop rate's guard, the lanes of `Lanes` and `Runs` groups
//!   and the local part of `Prefix` groups are joined into the group's prefix: the chunk grid is part of the
//!   meaning and fixes the bits. Groups whose step's loop rate is strictly above that guard's rate are
//!   left as they are: an iteration that would update them is under way.

mod blocks;
mod groups;

pub use blocks::{Args, Atom, Block, End, Exit, Label, Place, Section, Stmt, StmtKind};
pub use groups::{Combine, Group, Order};

use crate::alias_map::AliasMap;
pub use crate::entity::{BlockId, CombId, FnId, GroupId, RateId, TrapId, Var};
use crate::types::Ty;

/// Steps per chunk. Chunks form a fixed grid over a loop's steps (leaves and outer iterations);
/// float folds and scans are reassociated along it, so changing it changes bits.
pub const CHUNK: u64 = 16384;

/// How deep `if` and `while` regions may nest: what walks over them may recurse. Deeper conditions
/// become `select`.
pub const MAX_REGION_DEPTH: usize = 100;

/// One fused loop.
#[derive(Clone, Debug, Default)]
pub struct Loop {
    /// Name, an identifier; becomes the C function's name.
    pub name: String,
    /// Combinators that took part, by [`CombId`].
    pub combs: Vec<Comb>,
    /// Variables by [`Var`].
    pub vars: Vec<VarData>,
    /// Parameters in calling order.
    pub params: Vec<Param>,
    /// Combine functions by [`FnId`].
    pub functions: Vec<Function>,
    /// Rates by [`RateId`]; every parent comes before its children.
    pub rates: Vec<Rate>,
    /// The phases: root rates that run one after the other, sharing groups and results.
    pub roots: Vec<RateId>,
    /// Carried groups by [`GroupId`].
    pub groups: Vec<Group>,
    /// Traps by [`TrapId`].
    pub traps: Vec<Trap>,
    /// Basic blocks under their labels. `BlockId` is the slot number.
    pub blocks: AliasMap<Label, Block>,
}

/// A combinator's part in a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comb {
    /// What labels and variables are postfixed with: a number, or a short name (`mfst`).
    pub name: String,
    /// What the user called: `map`, `filter`, `sum`, ...
    pub kind: String,
    /// The rate and stage where its blocks live; none for delayed scalars computed in `done`.
    pub home: Option<Home>,
}

/// A rate and one of its stages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Home {
    /// The rate.
    pub rate: RateId,
    /// The stage, counted from 0; only `body` and `yield` blocks are per stage.
    pub stage: u32,
}

/// A variable's name and type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VarData {
    /// Complete name, by convention `base_comb`: `elt_3`, `ix_mfst`.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Of an array: it is *scratch*. What an iteration of a root reads of it, the same iteration has written before, so
    /// that its content is of no use to others. Whoever makes it promises that.
    pub scratch: bool,
}

/// The type of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// A scalar.
    Scalar(Ty),
    /// An array of scalars.
    Array(Ty),
}

impl Type {
    /// The scalar or element type.
    pub fn elem(self) -> Ty {
        match self {
            Type::Scalar(t) | Type::Array(t) => t,
        }
    }
}

/// A parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// The variable that holds it.
    pub var: Var,
    /// How it is used.
    pub kind: ParamKind,
}

/// What a parameter is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ParamKind {
    /// A scalar value.
    Scalar,
    /// An array that is read at a rate's counter (plus nothing else), in step.
    Stream(RateId),
    /// An array that is read anywhere.
    Random,
}

/// A rate: a node of the rate tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rate {
    /// Name: `r0`, or a combinator's name.
    pub name: String,
    /// How it runs.
    pub kind: RateKind,
    /// Stages and child rates in the order in which one iteration runs them.
    pub parts: Vec<Part>,
}

/// How a rate runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RateKind {
    /// A top-level loop: `counter` goes from its start to `bound`.
    Root {
        /// Carried `u64` counter.
        counter: Var,
        /// Scalar `u64` bound.
        bound: Atom,
    },
    /// At most one element per iteration of the parent.
    Sub {
        /// The parent rate.
        parent: RateId,
        /// Carried `u64` count of admitted elements, if anything needs it.
        count: Option<Var>,
    },
    /// An inner loop per iteration of the parent.
    Nested {
        /// The parent rate.
        parent: RateId,
        /// Carried `u64` counter; started in `init` (running on over all inner loops) or in `nest`.
        counter: Var,
        /// Scalar `u64` bound, set in `nest`, or before where it does not change.
        bound: Atom,
        /// Whether the inner loop is as long in every iteration around it, as the rows of an array of higher
        /// rank are. To run it is to run any nested rate; what knows that the length is always the same may
        /// make more of it.
        ///
        /// The length is a literal, a parameter, or a variable that is set outside of all iterations. Either
        /// the counter starts at 0 in the rate's `nest` and the length is the bound, or the counter runs on and
        /// the bound is set before each inner loop to the counter plus the length. A guard's further exits may
        /// still leave an inner loop early.
        uniform: bool,
    },
    /// A stream that is advanced until it delivers one element per iteration of the parent. Its
    /// blocks bring their own gotos: to what follows the cursor, where there is an element or an end, and
    /// forwards or to the guard elsewhere. What is known of the element is carried out.
    ///
    /// When control comes again it goes on at the guard; what a cursor must remember, it carries. So no place
    /// but a guard is ever part of the state, and a nested rate in a cursor always runs to its end. Any
    /// rate may be the parent:
    ///
    /// * a sub rate, if the stream is advanced only where its last element was taken (`merge`) or one of it is
    ///   asked for (`combine`): the sub rate tests that;
    /// * a cursor, if the side of a zip is a zip or a merge itself, over whose attempts that cursor runs;
    /// * a sub rate of a cursor, for the elements of segments (or of runs): the outer cursor is over elements,
    ///   the sub rate tests whether the segment is used up, and the inner cursor delivers the next one;
    /// * a nested rate, for streams within a segment.
    Cursor {
        /// The parent rate.
        parent: RateId,
        /// Carried `u64` counter; started in `init` (running on), or in a `nest` around the cursor.
        counter: Var,
        /// Scalar `u64` bound.
        bound: Atom,
    },
}

impl RateKind {
    /// The parent rate; none for roots.
    pub fn parent(self) -> Option<RateId> {
        match self {
            RateKind::Root { .. } => None,
            RateKind::Sub { parent, .. }
            | RateKind::Nested { parent, .. }
            | RateKind::Cursor { parent, .. } => Some(parent),
        }
    }

    /// The counter of a loop rate; none for sub rates.
    pub fn counter(self) -> Option<Var> {
        match self {
            RateKind::Root { counter, .. }
            | RateKind::Nested { counter, .. }
            | RateKind::Cursor { counter, .. } => Some(counter),
            RateKind::Sub { .. } => None,
        }
    }

    /// The bound of a loop rate; none for sub rates.
    pub fn bound(self) -> Option<Atom> {
        match self {
            RateKind::Root { bound, .. }
            | RateKind::Nested { bound, .. }
            | RateKind::Cursor { bound, .. } => Some(bound),
            RateKind::Sub { .. } => None,
        }
    }

    /// Whether this is a nested rate that says that it is uniform.
    pub fn is_uniform(self) -> bool {
        matches!(self, RateKind::Nested { uniform: true, .. })
    }

    /// Whether this is a sub rate.
    pub fn is_sub(self) -> bool {
        matches!(self, RateKind::Sub { .. })
    }
}

/// A part of a rate's iteration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// `body` and `yield` of a stage.
    Stage(u32),
    /// A child rate.
    Child(RateId),
}

/// A pure function of scalars, used to combine.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Name, by convention `join_3`.
    pub name: String,
    /// The combinator that it belongs to.
    pub comb: CombId,
    /// Parameters.
    pub params: Vec<Var>,
    /// Statements: `let`, `trap`, and regions of these.
    pub body: Vec<Stmt>,
    /// Results.
    pub results: Vec<Atom>,
}

/// A place where the loop may trap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trap {
    /// The combinator at fault.
    pub comb: CombId,
    /// What went wrong.
    pub kind: TrapKind,
}

/// What a trap means. The payload of the `trap` statement is (got, expected) where it says so.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum TrapKind {
    /// An index outside of an array: payload (index, length).
    OutOfRange,
    /// An integer division or remainder by zero, or `MIN / -1`: payload (dividend, divisor).
    Division,
    /// Two lengths that must be equal differ: payload (got, expected).
    LengthMismatch,
    /// An operation that needs an element met an empty array.
    Empty,
    /// A slice outside of its array, or one that runs backwards: payload (start, end, length).
    SliceRange,
    /// A segment descriptor that does not match its data: payload (segment length, room).
    Segments,
    /// A sum of lengths that is above the largest `u64`: payload (one, other).
    LongSum,
    /// A product of lengths that is above the largest `u64`: payload (one, other).
    LongProduct,
}

impl TrapKind {
    /// Every kind.
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
    /// The name in the text form.
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
    /// Steps after which a pass stops to join runs or chunks; none if it has nothing to join.
    pub fn grid(&self) -> Option<u64> {
        let grids = self.groups.iter().filter_map(|g| match g.order {
            Order::Runs(n) => Some(u64::from(n)),
            order => order.is_local().then_some(CHUNK),
        });
        grids.min()
    }

    /// The combinator's data.
    pub fn comb(&self, c: CombId) -> &Comb {
        &self.combs[c.index()]
    }
    /// The rate's data.
    pub fn rate(&self, r: RateId) -> &Rate {
        &self.rates[r.index()]
    }
    /// The variable's name.
    pub fn name(&self, v: Var) -> &str {
        &self.vars[v.index()].name
    }
    /// The variable's type.
    pub fn ty(&self, v: Var) -> Type {
        self.vars[v.index()].ty
    }
    /// Whether a variable is a [scratch](VarData::scratch) array.
    pub fn is_scratch(&self, v: Var) -> bool {
        self.vars[v.index()].scratch
    }
    /// The scalar type of an operand (element type, should it name an array).
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
    /// The nearest rate, from `r` upwards, that is a loop (not a sub rate).
    pub fn loop_rate(&self, mut r: RateId) -> RateId {
        while let RateKind::Sub { parent, .. } = self.rate(r).kind {
            r = parent;
        }
        r
    }
    /// Whether `r` is `ancestor` or below it.
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
    /// The root above `r`.
    pub fn root_of(&self, mut r: RateId) -> RateId {
        while let Some(p) = self.rate(r).kind.parent() {
            r = p;
        }
        r
    }
    /// The group that a carried variable belongs to.
    pub fn group_of(&self, v: Var) -> Option<GroupId> {
        self.groups
            .iter()
            .position(|g| g.vars.contains(&v))
            .map(GroupId::new)
    }

    /// The place of a label: its combinator's home, with `init` shared by all, `nest` and `done`
    /// belonging to the nearest loop rate, and `done` of the last root (and of combinators without a
    /// home) being the block that returns.
    pub fn place(&self, label: Label) -> Place {
        let home = self.comb(label.comb).home;
        match (label.section, home) {
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

    /// The id of a label's block.
    pub fn block_id(&self, label: Label) -> Option<BlockId> {
        self.blocks.slot(label).map(BlockId::new)
    }
    /// A block by id.
    pub fn block(&self, id: BlockId) -> Option<&Block> {
        self.blocks.at(id.index()).map(|(_, b)| b)
    }
}
