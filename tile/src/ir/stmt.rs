//! Statements of tiles.

use super::{Proof, Value};
use loop_lang::ir::{CombId, Var};
use loop_lang::op::Op;
use loop_lang::types::Const;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Describes a value or a literal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// A value.
    Value(Value),
    /// A literal.
    Const(Const),
}

impl Operand {
    /// Returns the value, if it is one.
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

/// Describes memory that loads and stores access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Memory {
    /// An array of the loop.
    Array(Var),
    /// The lanes of a group's variable, in the frame.
    Lanes(Var),
    /// The reduction tree of a scan's variable, in the frame: partial results of the current block
    /// at 2, 4, 8, ... elements.
    Tree(Var),
    /// The lanes of a register.
    Register(Value),
    /// The elements of a buffer.
    Buffer(Value),
}

/// Holds a statement and its source combinator.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// The source combinator.
    pub comb: CombId,
    /// The operation.
    pub kind: StmtKind,
}

/// Lists the operations of statements.
#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// `let v = op a b`, lane by lane. For a cast, the target type is the value's type.
    Let {
        /// The result.
        to: Value,
        /// The operator.
        op: Op,
        /// Its operands; scalars are broadcast.
        args: SmallVec<[Operand; 3]>,
    },
    /// `let v = beat max x y`: x where it is larger (`max`) or smaller (`min`), otherwise y. If
    /// either is NaN, the result is y. Machines have this instruction.
    Beat {
        /// The result.
        to: Value,
        /// `max` or `min`.
        op: Op,
        /// The candidate.
        new: Operand,
        /// The current value.
        old: Operand,
    },
    /// `let v = positions i`: the lanes hold i, i + 1, ...
    Positions {
        /// The result.
        to: Value,
        /// The first position.
        from: Operand,
    },
    /// `let m = until i n`: sets lane `k` if `i + k` is below `n`.
    Until {
        /// The mask.
        to: Value,
        /// The position of the first lane.
        at: Operand,
        /// The exclusive end.
        end: Operand,
    },
    /// `let v = load a[i]`: a contiguous load from index `i`. Under a mask, only set lanes are
    /// loaded. Unset lanes are zero, or unspecified within a segment.
    Load {
        /// The result.
        to: Value,
        /// The source.
        from: Memory,
        /// The first index.
        at: Operand,
        /// The mask.
        under: Option<Operand>,
        /// The proof that the access is in bounds.
        proof: Proof,
    },
    /// `let v = gather a[i]`: one index per lane; out-of-bounds lanes are zero.
    Gather {
        /// The result.
        to: Value,
        /// The source.
        array: Var,
        /// The indices.
        at: Operand,
    },
    /// `across b = a[i] x8 apart 128 steps 4`: a transposing copy into a buffer. Lane `l` reads
    /// `steps` contiguous elements from index `i + l * apart`. The buffer holds the elements of one
    /// step contiguously.
    Across {
        /// The buffer: its element `j * lanes + l` belongs to lane `l` in step `j`.
        into: Value,
        /// The source.
        array: Var,
        /// The first element of the first lane.
        at: Operand,
        /// The number of lanes.
        lanes: u32,
        /// The distance between two lanes' first elements.
        apart: u64,
        /// The number of contiguous elements per lane.
        steps: u32,
        /// The proof that the access is in bounds.
        proof: Proof,
    },
    /// `store a[i] = v`: a contiguous store from index `i`; under a mask, only set lanes are
    /// stored.
    Store {
        /// The destination.
        into: Memory,
        /// The first index.
        at: Operand,
        /// The stored value.
        value: Operand,
        /// The mask.
        under: Option<Operand>,
        /// The number of lanes; a scalar is broadcast.
        lanes: u32,
        /// The proof that the access is in bounds.
        proof: Proof,
    },
    /// `put a[i] = v`: scatters the lanes in order, each to its own index. Out-of-bounds lanes and
    /// lanes outside the mask are skipped. `put add a[i] = v` combines the lane with the present
    /// element.
    Put {
        /// The destination.
        array: Var,
        /// The indices.
        at: Operand,
        /// The stored value.
        value: Operand,
        /// The combining operator; the present element is the left operand. Without it, the lane
        /// overwrites.
        by: Option<Op>,
        /// The mask.
        under: Option<Operand>,
        /// The number of lanes; a scalar is broadcast.
        lanes: u32,
    },
    /// `compress m v -> a[i]`: stores the lanes under the mask contiguously from index `i`. It also
    /// overwrites the elements after them, up to the lane count, with unspecified values.
    Compress {
        /// The destination: an array or a buffer.
        into: Memory,
        /// The first index.
        at: Operand,
        /// The lanes.
        value: Operand,
        /// The mask.
        under: Operand,
        /// The proof that the access is in bounds.
        proof: Proof,
    },
    /// `sort a, b n`: sorts the first `n` rows in ascending order. All arrays have at least that
    /// many rows. See [`SortArrays`](loop_lang::ir::StmtKind::SortArrays).
    Sort {
        /// The arrays.
        arrays: Vec<Var>,
        /// The number of rows.
        rows: Operand,
    },
    /// `let n = length a`.
    Length {
        /// The result.
        to: Value,
        /// The array.
        array: Var,
    },
    /// `let n = count m`: the number of set lanes.
    Count {
        /// The result.
        to: Value,
        /// The mask.
        of: Operand,
    },
    /// `let b = any m`: whether any lane is set.
    Any {
        /// The result.
        to: Value,
        /// The mask.
        of: Operand,
    },
    /// `let s = scan op v`: an inclusive scan over the lanes, in the order of a block's tree. See
    /// [`loop_lang::state`].
    Scan {
        /// The result.
        to: Value,
        /// The operator.
        op: Op,
        /// The lanes.
        of: Operand,
    },
    /// `let x = last v`: the last lane, as a scalar or broadcast.
    Last {
        /// The result.
        to: Value,
        /// The lanes.
        of: Operand,
    },
    /// `let x = lane v k`: one lane by number.
    Lane {
        /// The result.
        to: Value,
        /// The lanes.
        of: Operand,
        /// The lane number.
        at: Operand,
    },
    /// `set lane r k = x`: sets one lane of a register.
    SetLane {
        /// The register.
        to: Value,
        /// The lane number.
        at: Operand,
        /// Its new value.
        value: Operand,
    },
    /// `let w = slide x v`: shifts each lane to the next one. The first lane becomes `x`, or the
    /// last lane of `x`.
    Slide {
        /// The result.
        to: Value,
        /// The incoming value.
        first: Operand,
        /// The lanes; the last one is dropped.
        of: Operand,
    },
    /// `let w = reverse v`: reverses the lanes.
    Reverse {
        /// The result.
        to: Value,
        /// The lanes.
        of: Operand,
    },
    /// `let s = halves op v`: a tree reduction. It combines the first half of the lanes with the
    /// second, lane by lane, until one lane is left.
    ///
    /// `let s = halves beat max v`: the same with the machine's instruction. A lane of the second
    /// half replaces its partner if it beats it.
    Halves {
        /// The result.
        to: Value,
        /// The operator.
        op: Op,
        /// Whether it is the machine's `max` or `min`.
        beats: bool,
        /// The lanes.
        of: Operand,
    },
    /// `set r = v`.
    Set {
        /// The register or state.
        to: Value,
        /// Its new value.
        value: Operand,
    },
    /// `trap unless ok`: traps unless all lanes are set. The trap flag is sticky, as in the Loop.
    Trap {
        /// Trap if false.
        unless: Operand,
    },
    /// `leave at i unless ok`: if `ok` is false, ends the tile's range at the counter `i`.
    /// Statements after the range's loop still run. The caller continues with the step at `i`.
    /// Within a segment, it ends that segment at its counter, and the remaining steps are not
    /// taken.
    Leave {
        /// The counter.
        at: Operand,
        /// Leave if false.
        unless: Operand,
    },
    /// `for i in a .. b step s`: a counted loop that defines its counter in the body. `b - a` is a
    /// multiple of the step.
    For {
        /// The counter.
        counter: Value,
        /// The first counter.
        from: Operand,
        /// The exclusive end.
        to: Operand,
        /// The increment.
        step: u64,
        /// Whether the body is fully unrolled; both bounds are then literals.
        unroll: bool,
        /// The loop body.
        body: Vec<Stmt>,
    },
    /// `segment i in a .. b capacity x at i`: the steps of an inner rate within one step of the range's
    /// loop. The bodies define the counter. These steps count towards the span. A segment fits if
    /// the tile may take all of its steps and one more, and each array has the capacity for them.
    /// If it does not fit, the enclosing step is rolled back: its state is restored and the range
    /// ends there.
    ///
    /// `segment i in a .. b step s`: each iteration takes `s` steps. The last iteration may have
    /// fewer and runs in `epilogue`. There, accesses that rely on a capacity check are masked to the
    /// remaining steps.
    ///
    /// `segment i in a .. b step s aligned`: iterations begin at multiples of `s`. The first
    /// iteration may then also be partial. It begins before the segment does and runs in `epilogue`.
    ///
    /// An iteration of several steps may exit before it has any effect. `scalar_epilogue` then takes its steps
    /// and all later ones one by one.
    ///
    /// `segment i in a .. b step s single`: a single trip. All steps fit in one iteration, which runs
    /// in `epilogue`, even if there are no steps.
    ///
    /// `segment i in a .. b again`: repeats a segment that already fitted in this iteration. Its
    /// steps do not count a second time.
    Segment {
        /// The counter.
        counter: Value,
        /// The first counter.
        from: Operand,
        /// The exclusive end. If it is not after `from`, no step is taken.
        to: Operand,
        /// The increment, a power of two.
        step: u64,
        /// Whether iterations begin at multiples of the step.
        aligned: bool,
        /// Whether there is exactly one iteration.
        single_trip: bool,
        /// Whether it repeats an earlier segment.
        again: bool,
        /// Capacity checks: arrays and first indices. From each index on, the array must have as
        /// many elements as the segment has steps. If
        /// [`asks_whole_turns`](super::Tile::asks_whole_turns) says so, whole iterations must fit.
        /// An index is the segment's begin, a count that grows by at most one per step, or the
        /// counter plus an invariant distance. For aligned iterations it is the first.
        capacities: Vec<(Var, Operand)>,
        /// The body of a full iteration. With several steps per iteration, it excludes the last
        /// one.
        body: Vec<Stmt>,
        /// The epilogue: the body of a partial or last iteration.
        epilogue: Vec<Stmt>,
        /// The scalar epilogue: runs each step after an iteration that exited, if iterations have
        /// several steps.
        scalar_epilogue: Vec<Stmt>,
    },
    /// `dryrun { .. }`: runs its body only if all of its segments fit. A dry run first executes a
    /// copy without side effects ([`dry_run`](super::dry_run)). If a segment does not fit, the
    /// iteration is rolled back. The real execution does not check the segments a second time.
    /// Definitions in the body stay visible after it.
    DryRun {
        /// The body.
        body: Vec<Stmt>,
    },
    /// `if c { .. } else { .. }`, with a scalar condition.
    If {
        /// The condition.
        cond: Operand,
        /// Arm if true.
        then: Vec<Stmt>,
        /// Arm if false.
        other: Vec<Stmt>,
    },
    /// `while { test } c { .. }`: loops while the scalar condition computed by the test holds.
    While {
        /// Statements that compute the test.
        test: Vec<Stmt>,
        /// The condition to continue.
        cond: Operand,
        /// The loop body.
        body: Vec<Stmt>,
    },
}

impl StmtKind {
    /// Returns the nested bodies, in order.
    pub fn bodies(&self) -> Vec<&[Stmt]> {
        match self {
            StmtKind::For { body, .. } | StmtKind::DryRun { body } => vec![body],
            StmtKind::Segment {
                body,
                epilogue,
                scalar_epilogue,
                ..
            } => vec![body, epilogue, scalar_epilogue],
            StmtKind::If { then, other, .. } => vec![then, other],
            StmtKind::While { test, body, .. } => vec![test, body],
            _ => Vec::new(),
        }
    }

    /// Returns the value that it defines or sets.
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
            | StmtKind::DryRun { .. }
            | StmtKind::If { .. }
            | StmtKind::While { .. } => None,
        }
    }

    /// Returns the memory that it accesses without a check.
    pub fn memory(&self) -> Option<Memory> {
        match self {
            StmtKind::Load { from, .. } => Some(*from),
            StmtKind::Store { into, .. } | StmtKind::Compress { into, .. } => Some(*into),
            StmtKind::Across { array, .. } => Some(Memory::Array(*array)),
            _ => None,
        }
    }

    /// Returns the register or buffer that it accesses as memory.
    pub fn own(&self) -> Option<Value> {
        match (self, self.memory()) {
            (StmtKind::Across { into, .. }, _) => Some(*into),
            (_, Some(Memory::Register(v) | Memory::Buffer(v))) => Some(v),
            _ => None,
        }
    }

    /// Calls `f` on every array that it uses itself.
    ///
    /// The second argument tells whether it needs the array's length. Nested statements are not
    /// visited.
    pub fn each_array(&self, f: &mut impl FnMut(Var, bool)) {
        match self {
            StmtKind::Gather { array, .. }
            | StmtKind::Put { array, .. }
            | StmtKind::Length { array, .. } => f(*array, true),
            StmtKind::Sort { arrays, .. } => arrays.iter().for_each(|a| f(*a, true)),
            StmtKind::Segment { capacities, .. } => {
                capacities.iter().for_each(|(a, _)| f(*a, true))
            }
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
            | StmtKind::Compress {
                into: Memory::Array(array),
                ..
            }
            | StmtKind::Put { array, .. } => f(*array),
            StmtKind::Sort { arrays, .. } => arrays.iter().for_each(|a| f(*a)),
            _ => {}
        }
    }

    /// Calls `f` on every operand that it reads itself, not in its bodies.
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
            StmtKind::Length { .. } | StmtKind::DryRun { .. } => {}
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
                from,
                to,
                capacities,
                ..
            } => {
                f(*from);
                f(*to);
                capacities.iter().for_each(|(_, index)| f(*index));
            }
            StmtKind::If { cond, .. } | StmtKind::While { cond, .. } => f(*cond),
        }
    }
}

/// Calls `f` on statements and nested statements, outer statements first.
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

/// Collects all values that statements and nested statements mention.
///
/// These are operands, definitions, set values, and registers or buffers used as memory.
pub fn named(stmts: &[Stmt]) -> FxHashSet<Value> {
    let mut all = FxHashSet::default();
    each_stmt(stmts, &mut |s| {
        s.kind.each_operand(&mut |a| all.extend(a.value()));
        all.extend(s.kind.target());
        all.extend(s.kind.own());
    });
    all
}

/// Lists the registers and state that statements and nested statements set.
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

/// Lists the arrays that statements use, in the order of first use.
///
/// The flag tells whether a statement needs the array's length, for a check or as a value.
pub fn arrays(stmts: &[Stmt]) -> Vec<(Var, bool)> {
    let mut arrays: Vec<(Var, bool)> = Vec::new();
    let mut see = |array: Var, length| match arrays.iter_mut().find(|(b, _)| *b == array) {
        Some((_, known)) => *known |= length,
        None => arrays.push((array, length)),
    };
    each_stmt(stmts, &mut |s| s.kind.each_array(&mut see));
    arrays
}
