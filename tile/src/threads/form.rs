//! In which form a loop runs, and how large its tiles are.

use crate::threads::near::Near;
use crate::threads::plan::Work;
use crate::threads::shape::{Refusal, Shape};
use crate::threads::streams::Streams;
use crate::threads::{Threads, Who};
use loop_lang::ir::{Atom, Combine, Group, GroupId, Stmt, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::walk;
use rustc_hash::FxHashSet;

/// How the steps of a loop go together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Form {
    /// None needs to know of another, but for groups that are read at the end, whose joins commute.
    #[default]
    SideBySide,
    /// Groups are read at the end, and joined in order: a block has tiles that follow each other.
    OneByOne,
    /// Steps read groups: tiles look back.
    InOrder,
    /// So they do, for groups that hang on others' values: a block has one tile at a time.
    LevelByLevel,
    /// They look back, and steps may leave the loop.
    UntilLeft,
    /// Rates are nested: [the plan](crate::threads::plan::Work) says who has which of their iterations. So it does where groups
    /// are wide: a step is a row then.
    Nested,
}

impl Form {
    /// The rooms that a block has: for tiles that look back, one that does, the next one, and the one after that.
    fn rooms(self) -> u32 {
        match self {
            Form::SideBySide | Form::UntilLeft | Form::Nested => 0,
            Form::OneByOne => 2,
            Form::InOrder => 3,
            Form::LevelByLevel => 1,
        }
    }
}

/// A loop's groups, by what steps know of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Groups {
    /// The form that follows.
    pub form: Form,
    /// Those that a step must know, level by level.
    pub known: Vec<Vec<GroupId>>,
    /// Those that nobody reads before the end.
    pub ends: Vec<GroupId>,
}

impl Groups {
    /// Those of a loop.
    pub fn of(shape: &Shape<'_>) -> Groups {
        let all = |form| Groups {
            form,
            known: shape.levels.clone(),
            ends: Vec::new(),
        };
        if shape.work != Work::Steps || shape.is_wide() {
            return all(Form::Nested);
        }
        if shape.exits.any {
            // Whoever leaves gives what all of them are then.
            return all(Form::UntilLeft);
        }
        let groups: Vec<GroupId> = shape.levels.iter().flatten().copied().collect();
        let at_end = groups.iter().copied();
        let at_end = at_end.filter(|g| is_read_at_end(shape, *g));
        let (commuting, ordered): (Vec<_>, Vec<_>) =
            at_end.partition(|g| commutes(shape.group(*g)));
        if commuting.len() + ordered.len() == groups.len() {
            let form = if ordered.is_empty() {
                Form::SideBySide
            } else {
                Form::OneByOne
            };
            return Groups {
                form,
                known: Vec::new(),
                ends: groups,
            };
        }
        // What is joined in order goes with the rest.
        let rest = shape.levels.iter().map(|level| {
            let rest = level.iter().filter(|g| !commuting.contains(g));
            rest.copied().collect::<Vec<_>>()
        });
        let known: Vec<_> = rest.filter(|level| !level.is_empty()).collect();
        Groups {
            form: match known.len() {
                1 => Form::InOrder,
                _ => Form::LevelByLevel,
            },
            known,
            ends: commuting,
        }
    }

    /// The levels that are known, and behind them what is read at the end.
    pub fn levels(&self) -> Vec<Vec<GroupId>> {
        let ends = Some(self.ends.clone()).filter(|e| !e.is_empty());
        self.known.iter().cloned().chain(ends).collect()
    }
}

/// Whether what a group's parts come to may be joined in any order.
pub(super) fn commutes(group: &Group) -> bool {
    match group.combine {
        Some(Combine::Op(op)) => {
            matches!(
                op,
                Op::Add | Op::Mul | Op::Min | Op::Max | Op::And | Op::Or | Op::Xor
            )
        }
        _ => false,
    }
}

/// How a loop's elements are dealt out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tiles {
    /// The form.
    pub form: Form,
    /// The threads of a block: a power of two of warps.
    pub threads: u32,
    /// The elements of a tile that each thread has.
    pub elements: u32,
    /// How many of these follow each other, side by side.
    pub piece: u32,
    /// Whether a block goes on to further tiles, so that there need be no more than are held at once: else it has nothing to
    /// give at its end, and as many as there are tiles are quicker.
    pub goes_on: bool,
}

/// The threads of a block where rates are nested.
const NESTED: u32 = 128;
/// The bytes that a thread of a tile in order may have in a room.
const ROOM: u32 = 80;
/// The bytes that a block may share at most.
const SHARED: u32 = 48 << 10;
/// The bytes of all that a thread reads and writes of a tile in order, which it has in registers.
const HELD: u32 = 160;
/// The bytes that a thread asks for at once where it goes on and on.
const AT_ONCE: u32 = 64;
/// The elements of a thread where the loop may be left at any.
const FEW: u32 = 8;
/// The steps of a thread on a path. The more a tile has, the fewer tiles wait for each other: with eight they did for most of
/// the time.
const ON_PATH: u32 = 20;
/// The threads that a processor of a device is to hold at once, at least: each may then have 80 registers.
const AT_LEAST: u32 = 768;
/// As many where rates are nested: it may then have 96.
const AT_LEAST_NESTED: u32 = 640;
/// As many where elements of rows come by rooms: it may then have 72. While some wait for memory, or for others, the rest have work.
const AT_LEAST_NEAR: u32 = 896;
/// The threads of a block at least, a warp, and at most.
const BLOCK: std::ops::RangeInclusive<u32> = 32..=1024;
/// The steps of a thread in a tile at most.
const MOST_EACH: u32 = 64;

impl Tiles {
    /// The blocks that a processor of a device is to hold at once, at least.
    pub fn blocks(&self, near: &Near) -> u32 {
        let threads = match self.form {
            Form::Nested if !near.is_empty() => AT_LEAST_NEAR,
            Form::Nested => AT_LEAST_NESTED,
            _ => AT_LEAST,
        };
        (threads / self.threads.max(1)).max(1)
    }

    /// The rooms that a block has.
    pub fn rooms(&self) -> u32 {
        self.form.rooms()
    }

    /// Those of a loop, as measured on an H200.
    pub(super) fn of(shape: &Shape<'_>, streams: &mut Streams, near: &mut Near) -> Tiles {
        let groups = &shape.groups;
        let form = groups.form;
        let (threads, elements, piece) = match form {
            Form::SideBySide => {
                let piece = 16 / streams.widest(shape);
                // A piece for each thread of as many blocks as that takes is quickest where blocks come to nothing.
                let pieces = match groups.ends.is_empty() {
                    true => 1,
                    false => (AT_ONCE / (streams.read_bytes(shape).max(1) * piece)).clamp(1, 4),
                };
                (
                    if groups.ends.is_empty() { 256 } else { 512 },
                    piece * pieces,
                    piece,
                )
            }
            Form::OneByOne | Form::InOrder | Form::LevelByLevel => {
                (128, elements(shape, streams, form, 128), 1)
            }
            Form::UntilLeft => (256, FEW, 1),
            Form::Nested => match shape.work {
                Work::Rows { .. } | Work::Teams { .. } => (NESTED, 1, 1),
                _ if near.has_runs() => {
                    let each = near.fits();
                    shrink(shape, near, NESTED * each);
                    (NESTED, each, 1)
                }
                _ => (NESTED, ON_PATH, 1),
            },
        };
        Tiles::new(shape, threads, elements, piece)
    }

    /// Those that are asked for.
    ///
    /// # Errors
    /// Why they cannot be.
    pub(super) fn asked(
        shape: &Shape<'_>,
        streams: &mut Streams,
        near: &mut Near,
        asked: Threads,
    ) -> Result<Tiles, Refusal> {
        let no = |why: &str| Err(Refusal::Asked(why.into()));
        let Threads { who, block, each } = asked;
        if !block.is_power_of_two() || !BLOCK.contains(&block) {
            return no("a block has a power of two of threads, from 32 to 1024");
        }
        if !(1..=MOST_EACH).contains(&each) {
            return no("a thread has from 1 to 64 steps of a tile");
        }
        let form = shape.groups.form;
        let mut piece = 1;
        match form {
            Form::SideBySide => {
                piece = 16 / streams.widest(shape);
                if each % piece != 0 {
                    return no("a thread has whole pieces of 16 bytes");
                }
            }
            Form::OneByOne | Form::InOrder | Form::LevelByLevel => {
                let room = room(shape, form, block);
                streams.shrink(shape, room);
                if each * streams.room_bytes(shape).max(4) > room {
                    return no("a block shares 48 KiB at most");
                }
            }
            Form::UntilLeft => {}
            Form::Nested if who == Who::Teams && each > 1 => {
                return no("a team has one row of a tile");
            }
            Form::Nested if who == Who::Path && block * each * 8 + parts(shape) > SHARED => {
                return no("a block shares 48 KiB at most");
            }
            Form::Nested if near.has_runs() => shrink(shape, near, block * each),
            Form::Nested => {}
        }
        Ok(Tiles::new(shape, block, each, piece))
    }

    fn new(shape: &Shape<'_>, threads: u32, elements: u32, piece: u32) -> Tiles {
        let form = shape.groups.form;
        let plain = shape.groups.ends.is_empty() && shape.scatters.is_empty();
        Tiles {
            form,
            threads,
            elements,
            piece,
            goes_on: form != Form::SideBySide || !plain,
        }
    }
}

/// The bytes that a block shares for the parts of groups at most: twice one of each warp, and one of a tile. What is wide is not
/// shared.
fn parts(shape: &Shape<'_>) -> u32 {
    if shape.is_wide() {
        return 0;
    }
    let vars = shape.levels.iter().map(|l| shape.vars(l).len() as u32);
    65 * 8 * vars.sum::<u32>()
}

/// Leaves out of rooms what a block has no place for, beside where rows lie, parts of groups, and some more.
fn shrink(shape: &Shape<'_>, near: &mut Near, steps: u32) {
    let left = SHARED.saturating_sub(parts(shape) + 1024) / steps;
    near.shrink(shape, left.saturating_sub(3));
}

/// The elements that a thread of a tile in order has: an odd number of pieces of memory, for threads that read their own then
/// use all banks.
fn elements(shape: &Shape<'_>, streams: &mut Streams, form: Form, threads: u32) -> u32 {
    let room = ROOM.min(room(shape, form, threads));
    streams.shrink(shape, room);
    let bytes = streams.room_bytes(shape).max(4);
    let held = streams.read_bytes(shape) + streams.write_bytes(shape);
    let fits = |e: &u32| e * bytes <= room && e * held <= HELD;
    [20, 12, 10, 6, 5, 3, 2].into_iter().find(fits).unwrap_or(1)
}

/// The bytes that a thread may have in a room.
fn room(shape: &Shape<'_>, form: Form, threads: u32) -> u32 {
    let each = SHARED.saturating_sub(parts(shape)) / (form.rooms() * threads);
    each.saturating_sub(1)
}

fn steps<'a>(shape: &'a Shape<'_>) -> impl Iterator<Item = &'a [Stmt]> {
    shape.steps().map(|b| &b.block.stmts[..])
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
