//! Statements of tiles.

use super::{Proof, Value};
use loop_lang::ir::{CombId, Var};
use loop_lang::op::Op;
use loop_lang::types::Const;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// A value or a literal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// A value.
    Value(Value),
    /// A literal.
    Const(Const),
}

impl Operand {
    /// The value, if it is one.
    pub fn value(self) -> Option<Value> {
        match self {
            Operand::Value(v) => Some(v),
            Operand::Const(_) => None,
        }
    }
}

impl From<Value> for Operand {
    fn from(v: Value) -> Operand {
        Operand::Value(v)
    }
}

impl From<Const> for Operand {
    fn from(c: Const) -> Operand {
        Operand::Const(c)
    }
}

/// Memory that loads and stores go to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Memory {
    /// An array of the loop.
    Array(Var),
    /// The lanes of a group's variable, in the frame.
    Lanes(Var),
    /// The tree of a scan's variable, in the frame: the elements of the block under way, joined by twos, fours, ...
    Tree(Var),
    /// The lanes of a register.
    Register(Value),
    /// The elements of a buffer.
    Buffer(Value),
}

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
    /// `let v = op a b`, lane by lane. The target of casts is the value's type.
    Let {
        /// The result.
        to: Value,
        /// The operator.
        op: Op,
        /// Its operands; scalars stand for all lanes.
        args: SmallVec<[Operand; 3]>,
    },
    /// `let v = beat max x y`: x where it is larger, or smaller, y elsewhere, where either is NaN too. Machines have this.
    Beat {
        /// The result.
        to: Value,
        /// `max` or `min`.
        op: Op,
        /// What is taken where it wins.
        new: Operand,
        /// What is kept.
        old: Operand,
    },
    /// `let v = positions i`: i, i + 1, ... in the lanes.
    Positions {
        /// The result.
        to: Value,
        /// The first.
        from: Operand,
    },
    /// `let m = until i n`: set in the lanes `k` for which `i + k` is below `n`.
    Until {
        /// The mask.
        to: Value,
        /// Where the first lane is.
        at: Operand,
        /// What the others are below.
        end: Operand,
    },
    /// `let v = load a[i]`: neighbours from `i` on, one a lane; under a mask only where it is set, zero elsewhere, or, in a segment,
    /// anything.
    Load {
        /// The result.
        to: Value,
        /// Where from.
        from: Memory,
        /// The first.
        at: Operand,
        /// The mask.
        under: Option<Operand>,
        /// Why it stays inside.
        proof: Proof,
    },
    /// `let v = gather a[i]`: each lane at an index of its own; zero where that is outside.
    Gather {
        /// The result.
        to: Value,
        /// Where from.
        array: Var,
        /// The indices.
        at: Operand,
    },
    /// `across b = a[i] x8 apart 128 steps 4`: what lies apart comes side by side. Of each of so many lanes, the first at `i`
    /// and the others so far apart, the elements of so many steps are brought into a buffer, those of a step together.
    Across {
        /// The buffer: the element of lane `l` in step `j` is its element `j * lanes + l`.
        into: Value,
        /// Where from.
        array: Var,
        /// The first element of the first lane.
        at: Operand,
        /// How many lanes.
        lanes: u32,
        /// How far from each other they are.
        apart: u64,
        /// How many elements each has, side by side.
        steps: u32,
        /// Why it stays inside.
        proof: Proof,
    },
    /// `store a[i] = v`: neighbours from `i` on; under a mask only where it is set.
    Store {
        /// Where to.
        into: Memory,
        /// The first.
        at: Operand,
        /// What.
        value: Operand,
        /// The mask.
        under: Option<Operand>,
        /// How many lanes: a scalar is written to all of them.
        lanes: u32,
        /// Why it stays inside.
        proof: Proof,
    },
    /// `put a[i] = v`: each lane in turn, at an index of its own; nothing where that is outside, nor where a mask is not
    /// set. `put add a[i] = v` joins it onto what is there.
    Put {
        /// Where to.
        array: Var,
        /// The index.
        at: Operand,
        /// What.
        value: Operand,
        /// How it is joined, what is there on the left; without it, it is written.
        by: Option<Op>,
        /// The mask.
        under: Option<Operand>,
        /// How many lanes: a scalar stands for all of them.
        lanes: u32,
    },
    /// `compress m v -> a[i]`: the lanes under the mask, side by side, from `i` on. What lies behind them, up to as many
    /// elements as there are lanes, is written too, with whatever.
    Compress {
        /// Where to.
        array: Var,
        /// The first.
        at: Operand,
        /// What.
        value: Operand,
        /// Which lanes.
        under: Operand,
        /// Why it stays inside.
        proof: Proof,
    },
    /// `sort a, b n`: puts the first rows in ascending order, as many of them as all arrays have: see
    /// [`SortArrays`](loop_lang::ir::StmtKind::SortArrays).
    Sort {
        /// The arrays.
        arrays: Vec<Var>,
        /// How many rows.
        rows: Operand,
    },
    /// `let n = length a`.
    Length {
        /// The result.
        to: Value,
        /// The array.
        array: Var,
    },
    /// `let n = count m`: how many lanes are set.
    Count {
        /// The result.
        to: Value,
        /// The mask.
        of: Operand,
    },
    /// `let b = any m`: whether a lane is set.
    Any {
        /// The result.
        to: Value,
        /// The mask.
        of: Operand,
    },
    /// `let s = scan op v`: each lane joined with those before it, in the order of a block's tree: see
    /// [`loop_lang::state`].
    Scan {
        /// The result.
        to: Value,
        /// The operator.
        op: Op,
        /// The lanes.
        of: Operand,
    },
    /// `let x = last v`: the last lane, as a scalar or in all lanes.
    Last {
        /// The result.
        to: Value,
        /// The lanes.
        of: Operand,
    },
    /// `let x = lane v k`: one lane, by its number.
    Lane {
        /// The result.
        to: Value,
        /// The lanes.
        of: Operand,
        /// Which of them.
        at: Operand,
    },
    /// `set lane r k = x`: one lane of a register.
    SetLane {
        /// The register.
        to: Value,
        /// Which of its lanes.
        at: Operand,
        /// What it is from here on.
        value: Operand,
    },
    /// `let w = slide x v`: in each lane the one before it, in the first `x`, or the last lane of it.
    Slide {
        /// The result.
        to: Value,
        /// What comes in.
        first: Operand,
        /// The lanes; the last one goes.
        of: Operand,
    },
    /// `let w = reverse v`: the last lane first.
    Reverse {
        /// The result.
        to: Value,
        /// The lanes.
        of: Operand,
    },
    /// `let s = halves op v`: the first half of the lanes joined with the second, lane by lane, until one is left.
    ///
    /// `let s = halves beat max v`: by what machines have, where a lane of the second half is taken if it beats that of the
    /// first.
    Halves {
        /// The result.
        to: Value,
        /// The operator.
        op: Op,
        /// Whether it is `max` or `min` as machines have it.
        beats: bool,
        /// The lanes.
        of: Operand,
    },
    /// `set r = v`.
    Set {
        /// The register or state.
        to: Value,
        /// What it is from here on.
        value: Operand,
    },
    /// `trap unless ok`: of a mask, unless all lanes are set. Sticky, as in the Loop.
    Trap {
        /// Trap if false.
        unless: Operand,
    },
    /// `leave at i unless ok`: where it is false, the tile's range ends here, at the counter. What stands behind the loop
    /// over the range is done; the step that begins here is whoever's who goes on. In a segment that one ends, at its counter,
    /// and the steps from there on are not taken.
    Leave {
        /// The counter.
        at: Operand,
        /// Leave if false.
        unless: Operand,
    },
    /// `for i in a .. b step s`: the counter is defined in the body. `b - a` is a multiple of the step.
    For {
        /// The counter.
        counter: Value,
        /// Where it begins.
        from: Operand,
        /// Where it ends.
        to: Operand,
        /// What it goes up by.
        step: u64,
        /// Whether the body is written out for each turn; from and to are literals then.
        unroll: bool,
        /// What is done.
        body: Vec<Stmt>,
    },
    /// `segment i in a .. b room x at i`: the steps of an inner rate in a step of the loop over the range; the counter is
    /// defined in the bodies. They count as steps of the span. Where these would not leave one of those that the
    /// tile may take, or an array has no room for all of them, the step around is undone: state is as it was when that began,
    /// and the range ends there.
    ///
    /// `segment i in a .. b step s`: so many steps are taken in a turn, and the last turn, which may have fewer, is the
    /// tail's. What the tail accesses by a room is under a mask of the steps that it has.
    ///
    /// `segment i in a .. b step s aligned`: turns begin at multiples of their steps. The first one may then have fewer, too: it
    /// begins before the segment does, and is the tail's.
    ///
    /// A turn of several steps may be left, with nothing done in it yet: its steps and those behind are the rest's, one by one.
    ///
    /// `segment i in a .. b step s once`: there are no more steps than one turn takes, and it is the tail's, if there are none, too.
    ///
    /// `segment i in a .. b again`: one that was gone through before in this turn, and so fits. Its steps are no further ones.
    Segment {
        /// The counter.
        counter: Value,
        /// Where it begins.
        from: Operand,
        /// Where it ends; no step is taken if that is not behind where it begins.
        to: Operand,
        /// What the counter goes up by, a power of two.
        step: u64,
        /// Whether turns begin at multiples of their steps.
        aligned: bool,
        /// Whether there is one turn, whatever its steps.
        once: bool,
        /// Whether it was gone through before.
        again: bool,
        /// Arrays with indices, from whose values on there must be as many elements as the segment has steps; as whole turns
        /// have, where [`asks_whole_turns`](super::Tile::asks_whole_turns) says so. An index is where the counter begins, a count that goes up by at most
        /// one in a step, or what steps add to how far the counter has come; of aligned turns the first.
        rooms: Vec<(Var, Operand)>,
        /// What is done in each turn; but for one that has not all of its steps, or is the last, if turns have several.
        body: Vec<Stmt>,
        /// What is done in such a turn.
        tail: Vec<Stmt>,
        /// What is done in each step from the turn on that was left, if turns have several.
        rest: Vec<Stmt>,
    },
    /// `rehearse { .. }`: what is in it is done once all of its segments are known to fit. Before, it is gone through without
    /// what it changes ([`rehearsal`](super::rehearsal)); if a segment does not fit then, the turn is undone, as ever. Its
    /// segments are not asked again when it is done. What it defines is known behind it.
    Rehearse {
        /// What is done.
        body: Vec<Stmt>,
    },
    /// `if c { .. } else { .. }`, of a scalar condition.
    If {
        /// The condition.
        cond: Operand,
        /// Arm if true.
        then: Vec<Stmt>,
        /// Arm if false.
        other: Vec<Stmt>,
    },
    /// `while { test } c { .. }`: goes on while a scalar condition holds that the test computes.
    While {
        /// Statements that compute the test.
        test: Vec<Stmt>,
        /// Goes on while true.
        cond: Operand,
        /// Statements of a turn.
        body: Vec<Stmt>,
    },
}

impl StmtKind {
    /// The statements within it, in order.
    pub fn bodies(&self) -> Vec<&[Stmt]> {
        match self {
            StmtKind::For { body, .. } | StmtKind::Rehearse { body } => vec![body],
            StmtKind::Segment {
                body, tail, rest, ..
            } => vec![body, tail, rest],
            StmtKind::If { then, other, .. } => vec![then, other],
            StmtKind::While { test, body, .. } => vec![test, body],
            _ => Vec::new(),
        }
    }

    /// The value that it defines or sets.
    pub fn target(&self) -> Option<Value> {
        match self {
            StmtKind::Let { to, .. }
            | StmtKind::Beat { to, .. }
            | StmtKind::Positions { to, .. }
            | StmtKind::Until { to, .. }
            | StmtKind::Load { to, .. }
            | StmtKind::Gather { to, .. }
            | StmtKind::Length { to, .. }
            | StmtKind::Count { to, .. }
            | StmtKind::Any { to, .. }
            | StmtKind::Scan { to, .. }
            | StmtKind::Last { to, .. }
            | StmtKind::Lane { to, .. }
            | StmtKind::SetLane { to, .. }
            | StmtKind::Slide { to, .. }
            | StmtKind::Reverse { to, .. }
            | StmtKind::Halves { to, .. }
            | StmtKind::Set { to, .. } => Some(*to),
            StmtKind::For { counter, .. } | StmtKind::Segment { counter, .. } => Some(*counter),
            StmtKind::Across { .. }
            | StmtKind::Store { .. }
            | StmtKind::Put { .. }
            | StmtKind::Compress { .. }
            | StmtKind::Sort { .. }
            | StmtKind::Trap { .. }
            | StmtKind::Leave { .. }
            | StmtKind::Rehearse { .. }
            | StmtKind::If { .. }
            | StmtKind::While { .. } => None,
        }
    }

    /// The memory that it reads or writes without a check.
    pub fn memory(&self) -> Option<Memory> {
        match self {
            StmtKind::Load { from, .. } => Some(*from),
            StmtKind::Store { into, .. } => Some(*into),
            StmtKind::Across { array, .. } | StmtKind::Compress { array, .. } => {
                Some(Memory::Array(*array))
            }
            _ => None,
        }
    }

    /// The register or buffer that it reads or writes as memory.
    pub fn own(&self) -> Option<Value> {
        match (self, self.memory()) {
            (StmtKind::Across { into, .. }, _) => Some(*into),
            (_, Some(Memory::Register(v) | Memory::Buffer(v))) => Some(v),
            _ => None,
        }
    }

    /// Calls `f` on every array that it reads, writes or asks about itself, and whether it asks for its length.
    pub fn each_array(&self, f: &mut impl FnMut(Var, bool)) {
        match self {
            StmtKind::Gather { array, .. }
            | StmtKind::Put { array, .. }
            | StmtKind::Length { array, .. } => f(*array, true),
            StmtKind::Sort { arrays, .. } => arrays.iter().for_each(|a| f(*a, true)),
            StmtKind::Segment { rooms, .. } => rooms.iter().for_each(|(a, _)| f(*a, true)),
            kind => {
                if let Some(Memory::Array(array)) = kind.memory() {
                    f(array, false);
                }
            }
        }
    }

    /// Calls `f` on every array that it changes itself.
    pub fn each_written(&self, f: &mut impl FnMut(Var)) {
        match self {
            StmtKind::Store {
                into: Memory::Array(array),
                ..
            }
            | StmtKind::Put { array, .. }
            | StmtKind::Compress { array, .. } => f(*array),
            StmtKind::Sort { arrays, .. } => arrays.iter().for_each(|a| f(*a)),
            _ => {}
        }
    }

    /// Calls `f` on every operand that it reads itself, its bodies aside.
    pub fn each_operand(&self, f: &mut impl FnMut(Operand)) {
        match self {
            StmtKind::Let { args, .. } => args.iter().for_each(|a| f(*a)),
            StmtKind::Beat { new, old, .. } => {
                f(*new);
                f(*old);
            }
            StmtKind::Positions { from, .. } => f(*from),
            StmtKind::Until { at, end, .. } => {
                f(*at);
                f(*end);
            }
            StmtKind::Load { at, under, .. } => {
                f(*at);
                under.iter().for_each(|a| f(*a));
            }
            StmtKind::Gather { at, .. } | StmtKind::Across { at, .. } => f(*at),
            StmtKind::Store {
                at, value, under, ..
            } => {
                f(*at);
                f(*value);
                under.iter().for_each(|a| f(*a));
            }
            StmtKind::Put {
                at, value, under, ..
            } => {
                f(*at);
                f(*value);
                under.iter().for_each(|a| f(*a));
            }
            StmtKind::Compress {
                at, value, under, ..
            } => {
                f(*at);
                f(*value);
                f(*under);
            }
            StmtKind::Length { .. } | StmtKind::Rehearse { .. } => {}
            StmtKind::Sort { rows, .. } => f(*rows),
            StmtKind::Count { of, .. }
            | StmtKind::Any { of, .. }
            | StmtKind::Scan { of, .. }
            | StmtKind::Last { of, .. }
            | StmtKind::Reverse { of, .. }
            | StmtKind::Halves { of, .. } => f(*of),
            StmtKind::Slide { first, of, .. } => {
                f(*first);
                f(*of);
            }
            StmtKind::Lane { of, at, .. } => {
                f(*of);
                f(*at);
            }
            StmtKind::SetLane { at, value, .. } => {
                f(*at);
                f(*value);
            }
            StmtKind::Set { value, .. } => f(*value),
            StmtKind::Trap { unless } => f(*unless),
            StmtKind::Leave { at, unless } => {
                f(*at);
                f(*unless);
            }
            StmtKind::For { from, to, .. } => {
                f(*from);
                f(*to);
            }
            StmtKind::Segment {
                from, to, rooms, ..
            } => {
                f(*from);
                f(*to);
                rooms.iter().for_each(|(_, index)| f(*index));
            }
            StmtKind::If { cond, .. } | StmtKind::While { cond, .. } => f(*cond),
        }
    }
}

/// Calls `f` on statements and those in their bodies, outer ones first.
pub fn each_stmt<'s>(stmts: &'s [Stmt], f: &mut impl FnMut(&'s Stmt)) {
    let mut open: Vec<&'s [Stmt]> = vec![stmts];
    while let Some(stmts) = open.pop() {
        let Some((first, rest)) = stmts.split_first() else {
            continue;
        };
        open.push(rest);
        f(first);
        open.extend(first.kind.bodies().into_iter().rev());
    }
}

/// What statements name, and those in their bodies: operands, what they define and set, registers and buffers as memory.
pub fn named(stmts: &[Stmt]) -> FxHashSet<Value> {
    let mut all = FxHashSet::default();
    each_stmt(stmts, &mut |s| {
        s.kind.each_operand(&mut |a| all.extend(a.value()));
        all.extend(s.kind.target());
        all.extend(s.kind.own());
    });
    all
}

/// What statements set, those in their bodies included: registers, and what is carried.
pub fn changed(stmts: &[Stmt]) -> Vec<Value> {
    let mut all = Vec::new();
    each_stmt(stmts, &mut |s| match s.kind {
        StmtKind::Set { to, .. } | StmtKind::SetLane { to, .. } => all.push(to),
        StmtKind::Store {
            into: Memory::Register(r),
            ..
        } => all.push(r),
        _ => {}
    });
    all
}

/// The arrays that statements read or write, in the order of their first use, and whether they ask for their length: by a
/// check, or as a value.
pub fn arrays(stmts: &[Stmt]) -> Vec<(Var, bool)> {
    let mut arrays: Vec<(Var, bool)> = Vec::new();
    let mut see = |array: Var, length| match arrays.iter_mut().find(|(b, _)| *b == array) {
        Some((_, known)) => *known |= length,
        None => arrays.push((array, length)),
    };
    each_stmt(stmts, &mut |s| s.kind.each_array(&mut see));
    arrays
}
