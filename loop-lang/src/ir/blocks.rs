//! Basic blocks: where they are, their statements and operands, how they end.

use super::{CombId, Combine, GroupId, RateId, TrapId, Var};
use crate::op::Op;
use crate::types::Const;
use smallvec::SmallVec;

/// The sections of a loop's anatomy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Section {
    /// Once: allocations, lengths, starting values.
    Init,
    /// Before each iteration: the test that ends the loop; in a subrate, the test that admits.
    Guard,
    /// Before each inner loop.
    Nest,
    /// Reading and computing elements.
    Body,
    /// Entered only when an element exists.
    Yield,
    /// End of each iteration, skipped or not.
    Bottom,
    /// After the loop.
    Done,
}

impl Section {
    /// Every section in the order of a loop's life.
    pub const ALL: [Section; 7] = [
        Section::Init,
        Section::Guard,
        Section::Nest,
        Section::Body,
        Section::Yield,
        Section::Bottom,
        Section::Done,
    ];
    /// The name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Section::Init => "init",
            Section::Guard => "guard",
            Section::Nest => "nest",
            Section::Body => "body",
            Section::Yield => "yield",
            Section::Bottom => "bottom",
            Section::Done => "done",
        }
    }
}

/// A block's label: a section of a combinator's anatomy (`body_3`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Label {
    /// The section.
    pub section: Section,
    /// The combinator.
    pub comb: CombId,
}

/// A basic block.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Block {
    /// Statements in order.
    pub stmts: Vec<Stmt>,
    /// `unless cond | target`: left through here, in order, if `cond` is false.
    pub exits: Vec<Exit>,
    /// Where it goes otherwise. Open until gotos are derived.
    pub end: End,
}

/// A conditional exit of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exit {
    /// The combinator that tests.
    pub comb: CombId,
    /// Leave if this is false.
    pub unless: Atom,
    /// Where to; none until gotos are derived (the guard's own way out).
    pub target: Option<Label>,
}

/// How a block ends.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum End {
    /// Not yet decided; [`crate::gotos`] fills it in.
    #[default]
    Open,
    /// `goto l`.
    Goto(Label),
    /// `if c | l1 l2`.
    Branch(Atom, Label, Label),
    /// `return v...`: the loop's results.
    Return(Vec<Atom>),
}

/// An operand: a variable or a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Atom {
    /// A variable.
    Var(Var),
    /// A constant.
    Const(Const),
}

impl Atom {
    /// The variable, if it is one.
    pub fn var(self) -> Option<Var> {
        match self {
            Atom::Var(v) => Some(v),
            Atom::Const(_) => None,
        }
    }
}

impl From<Var> for Atom {
    fn from(v: Var) -> Atom {
        Atom::Var(v)
    }
}
impl From<Const> for Atom {
    fn from(c: Const) -> Atom {
        Atom::Const(c)
    }
}

/// Operands of an operator; three or fewer.
pub type Args = SmallVec<[Atom; 3]>;

/// A statement and the combinator that it came from.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// The combinator.
    pub comb: CombId,
    /// What it does.
    pub kind: StmtKind,
}

/// What a statement does.
#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// `let v = op a b`. The target type of casts is the variable's type.
    Let(Var, Op, Args),
    /// `v := a`: the carried variable's next value.
    Assign(Var, Atom),
    /// `carry v = a`: declares and starts a carried variable; in `init` or `nest` only.
    Carry(Var, Atom),
    /// `let s, t = scan acc, bcc with x, y`: joins an element onto a `Prefix` group's right and gives
    /// the inclusive values; the group takes these values next.
    Scan {
        /// Inclusive results.
        results: Vec<Var>,
        /// The group, named in text by its variables.
        group: GroupId,
        /// The element's contribution.
        elems: Vec<Atom>,
    },
    /// `let a = newArray t n`: uninitialised, of n elements. `let a = scratchArray t n` if it is
    /// [scratch](super::VarData::scratch).
    NewArray(Var, Atom),
    /// `let a = fillArray t n v`: n elements, each `v`.
    FillArray(Var, Atom, Atom),
    /// `let a = copyArray b`.
    CopyArray(Var, Var),
    /// `let x = readArray a i`: zero if `i` is outside.
    ReadArray(Var, Var, Atom),
    /// `writeArray a i x`: dropped if `i` is outside.
    WriteArray(Var, Atom, Atom),
    /// `scatterArray a, b i x, y with add`: joins values onto what the arrays hold at `i`, left to
    /// right; without an operator it overwrites. Dropped if `i` is outside.
    ScatterArray {
        /// The arrays, one per field.
        arrays: Vec<Var>,
        /// The index.
        index: Atom,
        /// The values, one per field.
        values: Vec<Atom>,
        /// The operator: (what is there, value).
        combine: Option<Combine>,
    },
    /// `sortArrays a, b n`: puts the first n rows, all of them if there are fewer, in ascending order: by their elements of
    /// the first array, where these are equal by those of the next. The arrays are of unsigned integers.
    SortArrays(Vec<Var>, Atom),
    /// `let n = arrayLength a`.
    ArrayLength(Var, Var),
    /// `let b = sliceArray a n`: the first n elements of `a`; `a` is not used afterwards.
    SliceArray(Var, Var, Atom),
    /// `trap unless ok, t0 (got, expected)`. Sticky: the iteration goes on with safe operands, and
    /// the trap that counts is the one with the fewest steps before it, then the lowest combinator,
    /// then the lowest trap id.
    Trap {
        /// Trap if false.
        unless: Atom,
        /// Which.
        trap: TrapId,
        /// What is reported with it, at most two values.
        payload: SmallVec<[Atom; 2]>,
    },
    /// `if c { ... } else { ... } -> v = a | b`: computes one arm only.
    If {
        /// The condition.
        cond: Atom,
        /// Arm if true.
        then: Vec<Stmt>,
        /// Arm if false.
        other: Vec<Stmt>,
        /// Each result with its value from either arm.
        results: Vec<(Var, Atom, Atom)>,
    },
    /// `while v = start { test; body } next a`: a scalar loop. After it the state variables hold the
    /// values for which the test failed.
    While {
        /// State variables with their starting values.
        state: Vec<(Var, Atom)>,
        /// Statements that compute the test.
        test: Vec<Stmt>,
        /// Goes on while true.
        cond: Atom,
        /// Statements of one iteration.
        body: Vec<Stmt>,
        /// Next values of the state.
        next: Vec<Atom>,
    },
}

/// Where a block is in the rate tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Place {
    /// The loop's `init`.
    Init,
    /// A block of a rate. `stage` is 0 except for `body` and `yield`.
    At {
        /// The rate.
        rate: RateId,
        /// The stage of a `body` or `yield`.
        stage: u32,
        /// The section: guard, nest, body, yield, bottom, or done (of loop rates).
        section: Section,
    },
    /// The loop's last block, which returns.
    Return,
}
