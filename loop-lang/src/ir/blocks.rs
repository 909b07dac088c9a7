//! Basic blocks: places, statements, operands and control flow.

use super::{CombId, Combine, GroupId, RateId, TrapId, Var};
use crate::op::Op;
use crate::types::Const;
use smallvec::SmallVec;

/// Lists the sections of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Section {
    /// Runs once: allocations, lengths, starting values.
    Init,
    /// Runs before each iteration: the test that ends the loop, or in a subrate the test that
    /// admits.
    Guard,
    /// Runs before each inner loop.
    Nest,
    /// Reads and computes elements.
    Body,
    /// Runs only when an element exists.
    Yield,
    /// Ends each iteration, skipped or not.
    Bottom,
    /// Runs after the loop.
    Done,
}

impl Section {
    /// Lists every section in execution order.
    pub const ALL: [Section; 7] = [
        Section::Init,
        Section::Guard,
        Section::Nest,
        Section::Body,
        Section::Yield,
        Section::Bottom,
        Section::Done,
    ];
    /// Returns the name in the text form.
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

/// Identifies a block by a section and a combinator (`body_3`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Label {
    /// The section.
    pub section: Section,
    /// The combinator.
    pub comb: CombId,
}

/// Holds a basic block.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Block {
    /// Statements in order.
    pub stmts: Vec<Stmt>,
    /// `unless cond | target`: exits in order, taken if `cond` is false.
    pub exits: Vec<Exit>,
    /// The final jump. Open until gotos are derived.
    pub end: End,
}

/// Describes a conditional exit of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exit {
    /// The combinator of the test.
    pub comb: CombId,
    /// The condition to stay.
    pub unless: Atom,
    /// The target; none until gotos are derived (the guard's default exit).
    pub target: Option<Label>,
}

/// Describes the end of a block.
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

/// Represents a variable or a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Atom {
    /// A variable.
    Var(Var),
    /// A constant.
    Const(Const),
}

impl Atom {
    /// Returns the variable, if it is one.
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

/// Holds up to three operands of an operator.
pub type Args = SmallVec<[Atom; 3]>;

/// Holds a statement and its source combinator.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// The combinator.
    pub comb: CombId,
    /// The operation.
    pub kind: StmtKind,
}

/// Lists the operations of statements.
#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// `let v = op a b`. The target type of a cast is the variable's type.
    Let(Var, Op, Args),
    /// `v := a`: sets the carried variable's next value.
    Assign(Var, Atom),
    /// `carry v = a`: declares and starts a carried variable; in `init` or `nest` only.
    Carry(Var, Atom),
    /// `let s, t = scan acc, bcc with x, y`: combines a `Prefix` group with an element on the
    /// right. The inclusive results become the group's next values.
    Scan {
        /// The inclusive results.
        results: Vec<Var>,
        /// The group, named in text by its variables.
        group: GroupId,
        /// The element's contribution.
        elems: Vec<Atom>,
    },
    /// `let a = newArray t n`: uninitialised, of n elements. For [scratch](super::VarData::scratch)
    /// arrays, `let a = scratchArray t n`.
    NewArray(Var, Atom),
    /// `let a = fillArray t n v`: n elements, each `v`.
    FillArray(Var, Atom, Atom),
    /// `let a = copyArray b`.
    CopyArray(Var, Var),
    /// `let x = readArray a i`: zero if `i` is out of bounds.
    ReadArray(Var, Var, Atom),
    /// `writeArray a i x`: dropped if `i` is out of bounds.
    WriteArray(Var, Atom, Atom),
    /// `scatterArray a, b i x, y with add`: combines the elements at `i` with values, left to
    /// right. Without an operator it overwrites. It is dropped if `i` is out of bounds.
    ScatterArray {
        /// The arrays, one per field.
        arrays: Vec<Var>,
        /// The index.
        index: Atom,
        /// The values, one per field.
        values: Vec<Atom>,
        /// The operator: (present element, value).
        combine: Option<Combine>,
    },
    /// `sortArrays a, b n`: sorts the first n rows (at most all) in ascending order. Rows compare
    /// by the first array, then by the next. The arrays have unsigned integers.
    SortArrays(Vec<Var>, Atom),
    /// `let n = arrayLength a`.
    ArrayLength(Var, Var),
    /// `let b = sliceArray a n`: the first n elements of `a`; `a` has no later use.
    SliceArray(Var, Var, Atom),
    /// `trap unless ok, t0 (got, expected)`. The trap is sticky: the iteration continues with safe
    /// operands. The reported trap has the fewest steps before it, then the lowest combinator, then
    /// the lowest trap id.
    Trap {
        /// The condition that must hold.
        unless: Atom,
        /// The trap.
        trap: TrapId,
        /// The reported values, at most two.
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
    /// `while v = start { test; body } next a`: a scalar loop. Afterwards, the state variables hold
    /// the values for which the test failed.
    While {
        /// State variables with their starting values.
        state: Vec<(Var, Atom)>,
        /// Statements that compute the test.
        test: Vec<Stmt>,
        /// The condition to continue.
        cond: Atom,
        /// Statements of one iteration.
        body: Vec<Stmt>,
        /// The next values of the state.
        next: Vec<Atom>,
    },
}

/// Locates a block in the rate tree.
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
