//! From an innermost loop and its schedule to a tile.
//!
//! The order of the Loop's statements stays. What a schedule says is how many steps each of them does at a time, and
//! how what is rejected is kept without effect.
//!
//! | module | contents |
//! | --- | --- |
//! | `frame` | entries, what goes in and out, the loop over the range |
//! | `goes` | whether vectors go on where the guard has exits |
//! | `nest` | segments in the steps of a root |
//! | `segment` | segments in vectors |
//! | `unroll_jam` | one segment for several steps of a root |
//! | `partition` | segments in three parts |
//! | `capacities` | what must be there of the arrays that segments access |
//! | `subs` | subrates, and what is counted in them |
//! | `packed` | subrates over the steps that they admit |
//! | `lanes` | the lanes of groups |
//! | `stmt` | statements, one or several steps at a time |
//! | `recurrence` | what goes from one element to the next, lane by lane |
//! | `fast_min_max` | extrema by one instruction, and again by the rules |
//! | `joins` | what is joined onto elements anywhere |
//! | `scans` | what scans come to, step by step or a block at a time |
//! | `apart` | runs side by side, each in a lane |
//! | `runs` | what each element sees of what those before it have come to |
//! | `regions` | arms and scalar loops |
//! | `cases` | what follows from comparisons with the counter |
//! | `literals` | what is known at a place, and so is not computed |
//! | `names` | names of values |
//! | `clean` | what nobody needs goes |
//! | `fission` | long bodies in pieces |
//! | `zip` | cursors through buffers |

mod apart;
mod capacities;
mod cases;
mod clean;
mod fast_min_max;
mod fission;
mod frame;
mod goes;
mod joins;
mod lanes;
mod literals;
mod names;
mod nest;
mod packed;
mod partition;
mod recurrence;
mod regions;
mod runs;
mod scans;
mod segment;
mod stmt;
mod subs;
mod unroll_jam;
mod zip;

pub(crate) use apart::ACROSS;
pub use zip::zip;

use crate::ir::{
    Entry, Kept, MAX_DEPTH, MAX_LANES, Operand, Origin, Shape, Stmt, StmtKind, Tile, Value, dry_run,
};
use crate::region::{Case, Extremum, Flags, InnerLoop, Nest, Recurrence, Region};
use crate::schedule::{Admit, Refused, Schedule, legal_in};
use capacities::{Capacities, Proofs};
use cases::Known;
use loop_lang::ir::{Atom, CombId, RateId, StmtKind as LoopStmt, Type, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use names::Names;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;
use std::fmt;

/// Where vectors may not go on, the steps up to a multiple of this are taken one by one.
const ONE_BY_ONE: u64 = 256;

/// Why an innermost loop has no tile under a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoTile {
    /// Decisions that are not legal.
    Illegal(Vec<Refused>),
    /// The tile language has no words for it yet; the state machine does it.
    Unsupported(&'static str),
}

impl fmt::Display for NoTile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoTile::Illegal(refused) => {
                let lines: Vec<String> = refused.iter().map(ToString::to_string).collect();
                f.write_str(&lines.join("; "))
            }
            NoTile::Unsupported(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for NoTile {}

/// The tiles of an innermost loop under a schedule, in the order in which they are tried: one, or, where it is
/// partitioned, one for each case, or, in vectors that exits end, that for the steps where these may not go on, or,
/// where runs are side by side, that for what is no whole run.
///
/// Errors: decisions for the innermost loop that are not legal, an innermost loop that tiles cannot say.
pub fn tiles(
    region: &Region,
    inner_loop: &InnerLoop,
    schedule: &Schedule,
) -> Result<Vec<Tile>, NoTile> {
    legal_in(region, schedule, inner_loop).map_err(NoTile::Illegal)?;
    supported(inner_loop).map_err(NoTile::Unsupported)?;
    let tile = |schedule: &Schedule, known: Known, version: usize| {
        let mut lower = Lower::of(region, inner_loop, schedule);
        lower.known_case = known;
        if !matches!(known, Known::Nothing) {
            // Proofs by sums know the loop's variables by their names.
            lower.lengths.clear();
        }
        lower.fast_min_max = schedule.fast_min_max(region, inner_loop);
        if lower.lanes > 1 {
            // The judge has seen to it that these are there if they are needed.
            lower.flags = region.flags(inner_loop).unwrap_or_default();
            lower.recurrence = region.recurrence(inner_loop).ok().flatten();
        }
        if version > 0 {
            lower.tile.name += &format!("_{version}");
        }
        lower.write();
        lower.fission();
        lower.tile
    };
    let write =
        |schedule: &Schedule, known: Known, version: usize| finish(tile(schedule, known, version));
    let slowly = schedule.step_by_step(inner_loop.rate);
    if let (Some(lanes), Some(run)) = (
        schedule.runs(inner_loop.rate),
        inner_loop.run(region.program),
    ) {
        let mut lower = Lower::of(region, inner_loop, schedule);
        (lower.lanes, lower.unroll) = (lanes, run);
        lower.write_runs(run);
        // Where no run begins, and where there are too few of them.
        let rest = write(&slowly, Known::Nothing, 1)?;
        return Ok(vec![finish(lower.tile)?, rest]);
    }
    let is_legal = || legal_in(region, &slowly, inner_loop).is_ok();
    if !schedule.partitions(inner_loop.rate) {
        let case = region.in_segments(inner_loop);
        let known = case.as_ref().map_or(Known::Nothing, Known::Case);
        let mut tiles = vec![write(schedule, known, 0)?];
        // Where vectors may not go on, since an exit is near, or little capacity is left of what it bounds.
        let granule = tiles[0].granule();
        if granule > 1 && !inner_loop.exits.is_empty() && is_legal() {
            let mut rest = tile(&slowly, Known::Nothing, 1);
            rest.entries.push(Entry::Before(granule.max(ONE_BY_ONE)));
            tiles.push(finish(rest)?);
        }
        return Ok(tiles);
    }
    let cases = region.cases(inner_loop);
    let each = (1..).zip(&cases.cases);
    let tiles = each.map(|(k, case)| write(schedule, Known::Case(case), k));
    let mut tiles = tiles.collect::<Result<Vec<Tile>, NoTile>>()?;
    if let Some((stops, defs)) = &cases.general {
        // Few steps at either end.
        if is_legal() {
            tiles.push(write(&slowly, Known::UpTo(stops, defs), tiles.len() + 1)?);
        }
    }
    Ok(tiles)
}

/// The tiles of a rate with loops inside of its steps, in the order in which they are tried: that of a step at a time
/// comes last.
///
/// Errors: decisions for the innermost loops in it that are not legal, a nest that tiles cannot say.
pub fn nest(region: &Region, nest: &Nest, schedule: &Schedule) -> Result<Vec<Tile>, NoTile> {
    for inner_loop in nest.inner_loops(region) {
        legal_in(region, schedule, inner_loop).map_err(NoTile::Illegal)?;
    }
    nest::supported(region, nest, schedule).map_err(NoTile::Unsupported)?;
    let inner_loops = nest.inner_loops(region).into_iter();
    let partition = inner_loops.filter(|inner_loop| schedule.partitions(inner_loop.rate));
    let middles =
        partition.map(|inner_loop| Some((inner_loop.rate, region.middle_of_row(inner_loop)?)));
    let middles: Option<Vec<(RateId, Case)>> = middles.collect();
    let middles = middles.ok_or(NoTile::Unsupported("segments that ask too much"))?;
    let mut lower = Lower::of(region, &nest.outer, schedule);
    lower.nest = Some(nest);
    lower.middles = &middles;
    lower.write();
    let tile = finish(lower.tile)?;
    check_dry_runs(&tile).map_err(NoTile::Unsupported)?;
    let steps = schedule.unroll_jam(nest.outer.rate);
    let unroll_jammed = steps.and_then(|steps| unroll_jam::unroll_jam(&tile, steps));
    let unroll_jammed = unroll_jammed.and_then(|tile| finish(tile).ok());
    Ok(unroll_jammed.into_iter().chain([tile]).collect())
}

/// Whether each dry run can be done.
fn check_dry_runs(tile: &Tile) -> Result<(), &'static str> {
    let mut all = Ok(());
    tile.each_stmt(&mut |s| {
        if let StmtKind::DryRun { body } = &s.kind {
            all = all.and(dry_run(tile, body).map(|_| ()));
        }
    });
    all
}

/// A tile that is not too deep, without what nobody needs.
fn finish(mut tile: Tile) -> Result<Tile, NoTile> {
    if tile.depth() > MAX_DEPTH {
        return Err(NoTile::Unsupported(
            "bodies that are in each other too deep",
        ));
    }
    clean::clean(&mut tile);
    Ok(tile)
}

/// Whether there are words for all that an innermost loop does.
fn supported(inner_loop: &InnerLoop) -> Result<(), &'static str> {
    let mut all = inner_loop.statements.iter();
    match all.any(|s| matches!(s.stmt.kind, LoopStmt::Carry(..))) {
        true => Err("the start of an inner loop"),
        false => Ok(()),
    }
}

/// A subrate that statements are in.
struct Sub {
    /// Which steps it admits.
    mask: Operand,
    /// How many, of a vector that counts them.
    count: Option<Operand>,
    how: Admit,
    /// The step that enters it.
    step: usize,
    /// The statements before it, where it is jumped over.
    outer: Option<Vec<Stmt>>,
    /// What was known before it of values that are literals in it.
    before: Vec<(Var, Option<Operand>)>,
}

/// A tile under construction.
struct Lower<'r, 'a> {
    region: &'r Region<'a>,
    inner_loop: &'r InnerLoop<'a>,
    /// What is around and inside of it, if it is a root with innermost loops in it.
    nest: Option<&'r Nest<'a>>,
    schedule: &'r Schedule,
    /// Lanes of vectors, and vectors in a turn.
    lanes: u32,
    unroll: u32,
    tile: Tile,
    /// What is taken for granted.
    known_case: Known<'r>,
    /// Of segments that are partitioned: what holds in the middle of them.
    middles: &'r [(RateId, Case)],
    names: Names,
    /// What each variable of the loop is at this place.
    now: FxHashMap<Var, Operand>,
    /// The register or state of what is carried, and what it is next where that waits.
    carried: FxHashMap<Var, Value>,
    next: FxHashMap<Var, Value>,
    /// What else scans keep.
    kept: FxHashMap<(Var, Kept), Value>,
    /// What goes from vector to vector, in all lanes.
    wide: FxHashMap<Var, Vec<(Value, Value)>>,
    /// The first counter of the vector, and those of its lanes.
    at: Option<Operand>,
    /// The first counter of the turn of vectors, and where in it the vector is.
    turn: Option<(Operand, Operand)>,
    positions: Option<Operand>,
    /// Of the last turn of a segment: how many of its steps are before its end, and before its begin.
    within: Option<(Operand, Option<Operand>)>,
    /// Which lanes are there, in such a turn.
    here: Option<Operand>,
    /// Groups have no more lanes than this in a short segment.
    most: u32,
    /// Lengths that are known before, of arrays that are read anywhere: what is held against one twice is held against
    /// the same.
    lengths: FxHashMap<Var, Var>,
    /// By which each access at an index cannot miss.
    proofs: Proofs,
    capacities: Capacities,
    subs: Vec<Sub>,
    /// Those that run behind the vectors of a turn.
    packed: Vec<packed::PackedSub>,
    /// Whether the steps of one are written.
    is_unpacking: bool,
    /// What variables that run are next.
    run_to: FxHashSet<Var>,
    /// What vectors go on by.
    flags: Flags,
    /// What goes from one element to the next beside vectors.
    recurrence: Option<Recurrence>,
    /// Extrema that take one instruction.
    fast_min_max: Vec<Extremum>,
    /// The extrema that the range is gone through again for.
    again: Option<Vec<Extremum>>,
    /// Whether the segment that is written is known to fit.
    fits: bool,
    /// What scalar loops define that is the same in all lanes, and computed before it is asked which lanes need it.
    known: FxHashSet<Var>,
    /// What is at a distance from the counter, in the first lane.
    firsts: FxHashMap<Var, Operand>,
    /// Masks of the arms and scalar loops around, where these have one.
    regions: Vec<Operand>,
    /// Runs that are taken side by side.
    runs: Option<apart::Runs>,
    /// Where a segment ends that has exits.
    stop: Option<Value>,
    /// What the lanes of a segment are joined onto.
    starts: FxHashMap<Var, Value>,
    /// What a segment of steps one by one keeps in lanes, and in the tree of a scan: it is known in that alone.
    buffers: FxHashMap<Var, Value>,
    /// The last lane that such a segment has of so many.
    lasts: FxHashMap<u64, Operand>,
    /// Where the vector's lanes of each group's variable are.
    lane_places: FxHashMap<Var, Operand>,
    /// Lanes that segments share, and that are in registers while one is gone through.
    held: FxHashSet<Var>,
    /// Statements of the body that is written.
    out: Vec<Stmt>,
    comb: CombId,
    /// Whose the rate is, and so what belongs to none of its statements.
    owner: CombId,
}

impl<'r, 'a> Lower<'r, 'a> {
    /// A mask that is set in all lanes, and one that is set in none.
    const ALL: Operand = Operand::Const(Const {
        ty: Ty::Bool,
        bits: 1,
    });
    const NONE: Operand = Operand::Const(Const {
        ty: Ty::Bool,
        bits: 0,
    });

    fn of(
        region: &'r Region<'a>,
        inner_loop: &'r InnerLoop<'a>,
        schedule: &'r Schedule,
    ) -> Lower<'r, 'a> {
        let (lanes, unroll) = schedule.vectors(inner_loop.rate);
        let rate = &region.program.rate(inner_loop.rate).name;
        let owner = inner_loop.statements.first();
        let owner = owner.map_or(CombId::new(0), |s| s.stmt.comb);
        let vars = region.program.vars.iter();
        let arrays = vars.filter(|v| matches!(v.ty, Type::Array(_)));
        Lower {
            region,
            inner_loop,
            nest: None,
            schedule,
            lanes,
            unroll,
            tile: Tile {
                name: format!("{}_{rate}", region.program.name),
                rate: inner_loop.rate,
                counter: inner_loop.counter,
                entries: Vec::new(),
                stream: None,
                values: Vec::new(),
                body: Vec::new(),
            },
            // Arrays keep theirs.
            names: Names::of(arrays.map(|v| &v.name)),
            now: FxHashMap::default(),
            carried: FxHashMap::default(),
            next: FxHashMap::default(),
            kept: FxHashMap::default(),
            wide: FxHashMap::default(),
            at: None,
            turn: None,
            positions: None,
            within: None,
            here: None,
            most: MAX_LANES,
            lengths: region.lengths(),
            proofs: Proofs::new(),
            capacities: Capacities::default(),
            subs: Vec::new(),
            packed: Vec::new(),
            is_unpacking: false,
            run_to: FxHashSet::default(),
            flags: Flags::default(),
            recurrence: None,
            fast_min_max: Vec::new(),
            again: None,
            fits: false,
            known_case: Known::Nothing,
            middles: &[],
            known: FxHashSet::default(),
            firsts: FxHashMap::default(),
            regions: Vec::new(),
            runs: None,
            stop: None,
            starts: FxHashMap::default(),
            buffers: FxHashMap::default(),
            lasts: FxHashMap::default(),
            lane_places: FxHashMap::default(),
            held: FxHashSet::default(),
            out: Vec::new(),
            comb: owner,
            owner,
        }
    }

    /// A value with a name of its own, like the one that is wanted.
    fn add(&mut self, name: &str, shape: Shape, origin: Origin) -> Value {
        let own = self.names.own(name);
        self.tile.add(own, shape, origin)
    }

    fn push(&mut self, kind: StmtKind) {
        self.out.push(Stmt {
            comb: self.comb,
            kind,
        });
    }

    fn shape(&self, a: Operand) -> Shape {
        self.tile.operand_shape(a)
    }

    /// How many lanes the result of operands has.
    fn lanes_of(&self, of: &[Operand]) -> u32 {
        let lanes = of.iter().map(|a| self.shape(*a).lanes);
        lanes.max().unwrap_or(1)
    }

    /// `let name = op args`, in as many lanes as the operands have.
    fn op(&mut self, name: &str, ty: Ty, op: Op, args: &[Operand]) -> Operand {
        let shape = Shape::of(ty, self.lanes_of(args));
        let to = self.add(name, shape, Origin::Let);
        self.push(StmtKind::Let {
            to,
            op,
            args: args.iter().copied().collect(),
        });
        to.into()
    }

    fn u64(x: u64) -> Operand {
        Const::u64(x).into()
    }

    /// What a value of the loop is at this place; the counter is that of each lane.
    fn operand(&mut self, a: Atom) -> Operand {
        let v = match a {
            Atom::Const(c) => return c.into(),
            Atom::Var(v) => v,
        };
        if v == self.inner_loop.counter {
            let counters = self.positions.or(self.at);
            return counters.unwrap_or(Lower::u64(0));
        }
        if let Some(now) = self.now.get(&v) {
            return *now;
        }
        // What no step defines comes from outside.
        let program = self.region.program;
        if let Some(array) = self.lengths.get(&v).copied()
            && self.inner_loop.checked.contains(&array)
        {
            let to = self.add(program.name(v), Shape::scalar(Ty::U64), Origin::Let);
            self.push(StmtKind::Length { to, array });
            return to.into();
        }
        let shape = Shape::scalar(program.ty(v).elem());
        let given = self.add(program.name(v), shape, Origin::Given(v));
        self.now.insert(v, given.into());
        given.into()
    }

    /// Which lanes what is written next counts for; none if for all.
    fn mask(&self) -> Option<Operand> {
        if let Some(mask) = self.regions.last() {
            return Some(*mask);
        }
        match self.subs.last() {
            Some(sub) if (sub.how, self.lanes) == (Admit::Branch, 1) => None,
            Some(sub) => Some(sub.mask).filter(|mask| *mask != Lower::ALL),
            None => self.here,
        }
    }

    /// `new` where the mask is set, `old` elsewhere.
    fn select(&mut self, mask: Option<Operand>, new: Operand, old: Operand) -> Operand {
        let Some(mask) = mask else {
            return new;
        };
        let ty = self.shape(new).ty;
        self.op("kept", ty, Op::Select, &[mask, new, old])
    }

    /// Both masks.
    fn both(&mut self, a: Option<Operand>, b: Operand) -> Operand {
        match a {
            Some(a) => self.and(a, b),
            None => b,
        }
    }

    fn set(&mut self, to: Value, value: Operand) {
        // What a scalar loop takes along as it is.
        if value != Operand::Value(to) {
            self.push(StmtKind::Set { to, value });
        }
    }

    /// Takes what was written since as a body of its own.
    fn body(&mut self, outer: Vec<Stmt>) -> Vec<Stmt> {
        std::mem::replace(&mut self.out, outer)
    }
}

/// An operator's operands.
fn args(of: &[Operand]) -> smallvec::SmallVec<[Operand; 3]> {
    let mut args = smallvec![];
    args.extend(of.iter().copied());
    args
}
