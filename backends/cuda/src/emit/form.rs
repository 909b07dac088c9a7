//! In which form a loop runs, and how large its tiles are.

use super::streams::Streams;
use crate::plan::Work;
use crate::shape::Shape;
use loop_lang::ir::{Atom, Combine, GroupId, Stmt, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::walk;
use rustc_hash::FxHashSet;

/// How the steps of a loop go together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// None needs to know of another, but for groups that are read at the end, whose joins commute.
    SideBySide,
    /// Groups are read at the end, and joined in order: a block has tiles that follow each other.
    OneByOne,
    /// Steps read groups: tiles look back.
    InOrder,
    /// So they do, and steps may leave the loop.
    UntilLeft,
    /// Rates are nested: [the plan](crate::plan::Work) says who has which of their iterations.
    Nested,
}

/// How a loop's elements are dealt out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tiles {
    /// The form.
    pub form: Form,
    /// The threads of a block: a power of two of warps.
    pub threads: u32,
    /// The elements of a tile that each thread has.
    pub elements: u32,
    /// How many of these follow each other, side by side.
    pub piece: u32,
}

/// The threads of a block.
const THREADS: u32 = 256;
/// Those where rates are nested.
pub const NESTED: u32 = 128;
/// The bytes that a thread of a tile in order may have in a room: two rooms for five blocks are what a processor shares.
const ROOM: u32 = 80;
/// The bytes that a block may share at most.
const SHARED: u32 = 48 << 10;
/// The bytes of all that a thread reads and writes of a tile in order, which it has in registers.
const HELD: u32 = 96;
/// The bytes that a thread asks for at once.
const AT_ONCE: u32 = 64;
/// The elements of a thread where the loop may be left at any, or rates are nested.
const FEW: u32 = 8;
/// Statements of a step from which on there is more to compute than to wait for.
const HEAVY: usize = 64;

impl Tiles {
    /// Those of a loop.
    pub fn of(shape: &Shape<'_>, streams: &mut Streams) -> Tiles {
        let form = form(shape);
        let threads = if form == Form::Nested {
            NESTED
        } else {
            THREADS
        };
        let (elements, piece) = match form {
            Form::Nested => match shape.work {
                Work::Rows { .. } | Work::Teams { .. } => (1, 1),
                _ => (FEW, 1),
            },
            Form::SideBySide => side_by_side(shape, streams),
            Form::UntilLeft => (FEW, 1),
            Form::OneByOne | Form::InOrder => {
                let room = ROOM.min((SHARED - parts(shape)) / (2 * THREADS) - 1);
                streams.shrink(shape, room);
                let bytes = streams.room_bytes(shape).max(4);
                // An odd number of pieces of memory: threads that read their own then use all banks.
                let held = streams.read_bytes(shape) + streams.write_bytes(shape);
                let fits = |e: &u32| e * bytes <= room && e * held <= HELD;
                (
                    [20, 12, 10, 6, 5, 3, 2].into_iter().find(fits).unwrap_or(1),
                    1,
                )
            }
        };
        Tiles {
            form,
            threads,
            elements,
            piece,
        }
    }
}

/// The bytes that a block shares for the parts of groups at most: twice one of each warp, and one of a tile.
fn parts(shape: &Shape<'_>) -> u32 {
    let vars = shape.levels.iter().map(|l| shape.vars(l).len() as u32);
    65 * 8 * vars.sum::<u32>()
}

fn side_by_side(shape: &Shape<'_>, streams: &Streams) -> (u32, u32) {
    let piece = 16 / streams.widest(shape);
    let bytes = streams
        .read_bytes(shape)
        .max(streams.write_bytes(shape))
        .max(1);
    let statements: usize = steps(shape).map(|s| s.len()).sum();
    let pieces = match statements > HEAVY {
        true => 1,
        false => (AT_ONCE / (bytes * piece)).clamp(1, 4),
    };
    (piece * pieces, piece)
}

fn steps<'a>(shape: &'a Shape<'_>) -> impl Iterator<Item = &'a [Stmt]> {
    shape.steps().map(|b| &b.block.stmts[..])
}

fn form(shape: &Shape<'_>) -> Form {
    if shape.work != Work::Steps {
        return Form::Nested;
    }
    let groups: Vec<GroupId> = shape.levels.iter().flatten().copied().collect();
    if shape.exits.any {
        return Form::UntilLeft;
    }
    if shape.levels.len() > 1 || !groups.iter().all(|g| is_read_at_end(shape, *g)) {
        return Form::InOrder;
    }
    let commutes = |c: &Option<Combine>| match c {
        Some(Combine::Op(op)) => matches!(
            op,
            Op::Add | Op::Mul | Op::Min | Op::Max | Op::And | Op::Or | Op::Xor
        ),
        _ => false,
    };
    match groups.iter().all(|g| commutes(&shape.group(*g).combine)) {
        true => Form::SideBySide,
        false => Form::OneByOne,
    }
}

/// Whether nothing comes of a group in a step but its own next value.
fn is_read_at_end(shape: &Shape<'_>, id: GroupId) -> bool {
    let own = &shape.group(id).vars;
    let mut of_it: FxHashSet<Var> = own.iter().copied().collect();
    let mut stmts = steps(shape).flatten();
    let exits = shape.steps().flat_map(|b| &b.block.exits);
    let mut tests = exits.filter_map(|e| e.unless.var());
    stmts.all(|s| stays(s, id, own, &mut of_it)) && tests.all(|v| !of_it.contains(&v))
}

/// Whether a statement takes the values of a group to nothing but its next ones. `of_it` has the variables that depend on it.
fn stays(s: &Stmt, id: GroupId, own: &[Var], of_it: &mut FxHashSet<Var>) -> bool {
    let regions = walk::regions(&s.kind);
    // Each is looked at, as it may tell which variables depend on the group.
    let inner = regions.iter().flat_map(|r| r.iter());
    let leaving = inner.filter(|s| !stays(s, id, own, of_it)).count();
    let within = leaving == 0;
    let mut reads = false;
    let mut look = |a: Atom| reads |= a.var().is_some_and(|v| of_it.contains(&v));
    walk::operands(&s.kind, &mut look);
    walk::handed_out(&s.kind, &mut look);
    match &s.kind {
        StmtKind::Scan { results, group, .. } if *group == id => {
            of_it.extend(results);
            !reads
        }
        StmtKind::Assign(v, _) => !reads || own.contains(v),
        _ if !reads => within,
        StmtKind::Let(..) | StmtKind::If { .. } | StmtKind::While { .. } => {
            walk::definitions(&s.kind, &mut |v| {
                of_it.insert(v);
            });
            // What an arm does would tell which arm it is.
            within && !regions.iter().any(|r| has_effects(r))
        }
        _ => false,
    }
}

/// Whether statements do more than define variables.
fn has_effects(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|s| match &s.kind {
        StmtKind::Let(..) | StmtKind::ReadArray(..) | StmtKind::ArrayLength(..) => false,
        StmtKind::If { .. } | StmtKind::While { .. } => {
            walk::regions(&s.kind).iter().any(|r| has_effects(r))
        }
        _ => true,
    })
}
