//! Kernel forms: how a loop's steps combine, and the sizes of its tiles.

use crate::threads::near::Near;
use crate::threads::plan::Work;
use crate::threads::shape::{Refusal, Shape};
use crate::threads::streams::Streams;
use crate::threads::{Threads, Who};
use loop_lang::ir::{Atom, Combine, Group, GroupId, Stmt, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::walk;
use rustc_hash::FxHashSet;

/// Lists the ways in which a loop's steps combine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Form {
    /// Steps are independent, except for groups read only at the end, with commutative combines.
    #[default]
    SideBySide,
    /// Groups are read only at the end and combined in order: a block processes consecutive tiles.
    OneByOne,
    /// Steps read groups: tiles use decoupled look-back.
    InOrder,
    /// Look-back over several levels, as groups depend on the values of others: a block has one
    /// tile at a time.
    LevelByLevel,
    /// Look-back, and steps may exit the loop.
    UntilLeft,
    /// Rates are nested, and [the plan](crate::threads::plan::Work) maps their iterations to
    /// threads. The plan also applies to wide groups, where a step counts as a row.
    Nested,
}

impl Form {
    /// Returns the staging buffers per block. Look-back needs three: for the current tile and the
    /// next two.
    fn rooms(self) -> u32 {
        match self {
            Form::SideBySide | Form::UntilLeft | Form::Nested => 0,
            Form::OneByOne => 2,
            Form::InOrder => 3,
            Form::LevelByLevel => 1,
        }
    }
}

/// Classifies a loop's groups by how steps use them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Groups {
    /// The resulting form.
    pub form: Form,
    /// Groups read by steps, level by level.
    pub known: Vec<Vec<GroupId>>,
    /// Groups read only at the end.
    pub ends: Vec<GroupId>,
}

impl Groups {
    /// Classifies the groups of a loop.
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
            // An exit publishes the current value of every group.
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
        // Ordered groups are combined with the rest.
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

    /// Returns the groups read by steps, by level, then those read at the end.
    pub fn levels(&self) -> Vec<Vec<GroupId>> {
        let ends = Some(self.ends.clone()).filter(|e| !e.is_empty());
        self.known.iter().cloned().chain(ends).collect()
    }
}

/// Tells whether a group's partial results may be combined in any order.
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

/// Describes how a loop's elements are distributed to blocks and threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tiles {
    /// The form.
    pub form: Form,
    /// The threads of a block: a power of two, in whole warps.
    pub threads: u32,
    /// The elements of a tile per thread.
    pub elements: u32,
    /// The number of these that are consecutive in memory.
    pub piece: u32,
    /// Whether a block processes several tiles, so that resident blocks suffice. Blocks without a
    /// result at their end are faster with one tile each.
    pub goes_on: bool,
}

/// The threads of a block for nested rates.
const NESTED: u32 = 128;
/// The maximum bytes per thread in a staging buffer, for ordered tiles.
const ROOM: u32 = 80;
/// The maximum shared memory of a block in bytes.
const SHARED: u32 = 48 << 10;
/// The maximum bytes per thread that an ordered tile reads and writes; they are in registers.
const HELD: u32 = 160;
/// The bytes that a thread of a looping block requests at once.
const AT_ONCE: u32 = 64;
/// The elements per thread if any step may exit the loop.
const FEW: u32 = 8;
/// The steps per thread on a merge path. Larger tiles wait less for each other: with eight steps
/// they waited most of the time.
const ON_PATH: u32 = 20;
/// The minimum resident threads per multiprocessor: each may then use 80 registers.
const AT_LEAST: u32 = 768;
/// The same for nested rates: 96 registers.
const AT_LEAST_NESTED: u32 = 640;
/// The same for rows with staged elements: 72 registers. Others can work while some threads wait
/// for memory or for another tile.
const AT_LEAST_NEAR: u32 = 896;
/// The range of threads per block; the minimum is a warp.
const BLOCK: std::ops::RangeInclusive<u32> = 32..=1024;
/// The maximum steps per thread in a tile.
const MOST_EACH: u32 = 64;

impl Tiles {
    /// Returns the minimum resident blocks per multiprocessor.
    pub fn blocks(&self, near: &Near) -> u32 {
        let threads = match self.form {
            Form::Nested if !near.is_empty() => AT_LEAST_NEAR,
            Form::Nested => AT_LEAST_NESTED,
            _ => AT_LEAST,
        };
        (threads / self.threads.max(1)).max(1)
    }

    /// Returns the staging buffers per block.
    pub fn rooms(&self) -> u32 {
        self.form.rooms()
    }

    /// Chooses the sizes for a loop, as measured on an H200.
    pub(super) fn of(shape: &Shape<'_>, streams: &mut Streams, near: &mut Near) -> Tiles {
        let groups = &shape.groups;
        let form = groups.form;
        let (threads, elements, piece) = match form {
            Form::SideBySide => {
                let piece = 16 / streams.widest(shape);
                // Without block results, one contiguous piece per thread in as many blocks as
                // needed is fastest.
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

    /// Takes the requested sizes.
    ///
    /// # Errors
    ///
    /// Returns the reason if they are not possible.
    pub(super) fn requested(
        shape: &Shape<'_>,
        streams: &mut Streams,
        near: &mut Near,
        requested: Threads,
    ) -> Result<Tiles, Refusal> {
        let no = |why: &str| Err(Refusal::Requested(why.into()));
        let Threads { who, block, each } = requested;
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

/// Returns the maximum shared memory for partial results of groups: two per warp and one per tile.
/// Wide groups are not shared.
fn parts(shape: &Shape<'_>) -> u32 {
    if shape.is_wide() {
        return 0;
    }
    let vars = shape.levels.iter().map(|l| shape.vars(l).len() as u32);
    65 * 8 * vars.sum::<u32>()
}

/// Removes arrays from staging until a block's shared memory suffices. Row positions, partial
/// results and 1 KiB also need space.
fn shrink(shape: &Shape<'_>, near: &mut Near, steps: u32) {
    let left = SHARED.saturating_sub(parts(shape) + 1024) / steps;
    near.shrink(shape, left.saturating_sub(3));
}

/// Returns the elements per thread of an ordered tile. The count makes the stride between threads
/// odd, so accesses use all banks.
fn elements(shape: &Shape<'_>, streams: &mut Streams, form: Form, threads: u32) -> u32 {
    let room = ROOM.min(room(shape, form, threads));
    streams.shrink(shape, room);
    let bytes = streams.room_bytes(shape).max(4);
    let held = streams.read_bytes(shape) + streams.write_bytes(shape);
    let fits = |e: &u32| e * bytes <= room && e * held <= HELD;
    [20, 12, 10, 6, 5, 3, 2].into_iter().find(fits).unwrap_or(1)
}

/// Returns the maximum bytes per thread in a staging buffer.
fn room(shape: &Shape<'_>, form: Form, threads: u32) -> u32 {
    let each = SHARED.saturating_sub(parts(shape)) / (form.rooms() * threads);
    each.saturating_sub(1)
}

fn steps<'a>(shape: &'a Shape<'_>) -> impl Iterator<Item = &'a [Stmt]> {
    shape.steps().map(|b| &b.block.stmts[..])
}

/// Tells whether a step uses a group only for the group's next value.
fn is_read_at_end(shape: &Shape<'_>, id: GroupId) -> bool {
    let own = &shape.group(id).vars;
    let mut of_it: FxHashSet<Var> = own.iter().copied().collect();
    let mut stmts = steps(shape).flatten();
    let exits = shape.steps().flat_map(|b| &b.block.exits);
    let mut tests = exits.filter_map(|e| e.unless.var());
    stmts.all(|s| stays(s, id, own, &mut of_it)) && tests.all(|v| !of_it.contains(&v))
}

/// Tells whether a statement uses a group only for its next values. `of_it` collects the variables
/// that depend on the group.
fn stays(s: &Stmt, id: GroupId, own: &[Var], of_it: &mut FxHashSet<Var>) -> bool {
    let regions = walk::regions(&s.kind);
    // All regions are visited, because they may add dependent variables.
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
            // Effects of an arm would reveal its condition.
            within && !regions.iter().any(|r| has_effects(r))
        }
        _ => false,
    }
}

/// Tells whether statements have effects besides definitions.
fn has_effects(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|s| match &s.kind {
        StmtKind::Let(..) | StmtKind::ReadArray(..) | StmtKind::ArrayLength(..) => false,
        StmtKind::If { .. } | StmtKind::While { .. } => {
            walk::regions(&s.kind).iter().any(|r| has_effects(r))
        }
        _ => true,
    })
}
