//! The reference interpreter for tiles, for tests at any vector width.
//!
//! It runs a tile over a range, value by value and lane by lane, with the operators of
//! [`loop_lang::eval`]. An out-of-bounds access is a [`Fault`], even with a proof. So the
//! interpreter detects wrong proofs that the verifier missed.

mod zip;

pub use zip::zip;

use crate::ir::{Kept, Memory, Operand, Origin, Shape, Stmt, StmtKind, Tile, Value, dry_run};
use loop_lang::eval::eval;
use loop_lang::ir::Var;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::fmt;

/// Describes the scalars, arrays and group lanes of a tile.
///
/// All values are canonical words.
pub trait World {
    /// Returns a loop scalar at entry.
    fn scalar(&self, v: Var) -> u64;
    /// Stores a carried variable at exit.
    fn keep(&mut self, v: Var, word: u64);
    /// Returns an extra state word of a scan at entry.
    fn scanned(&self, v: Var, kept: Kept) -> u64;
    /// Stores it at exit.
    fn keep_scanned(&mut self, v: Var, kept: Kept, word: u64);
    /// Returns an array's length.
    fn length(&self, array: Var) -> u64;
    /// Returns an element of an array or of the frame; none if out of bounds.
    fn read(&self, from: Memory, at: u64) -> Option<u64>;
    /// Sets an element. Returns false if out of bounds.
    fn write(&mut self, into: Memory, at: u64, word: u64) -> bool;
}

/// Describes an out-of-bounds access or a malformed tile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The fault.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Fault {}

/// Describes how a tile exited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Left {
    /// The counter: the end of the range, or the exit's position.
    pub at: u64,
    /// The number of steps taken, including those of segments.
    pub steps: u64,
    /// Whether it trapped.
    pub trapped: bool,
}

/// Runs a tile over a range of its counter.
///
/// A tile with segments takes fewer than `most` steps. For other tiles, the range determines the
/// number of steps.
///
/// # Errors
///
/// Fails on an out-of-bounds access.
pub fn run(
    tile: &Tile,
    range: std::ops::Range<u64>,
    most: u64,
    world: &mut dyn World,
) -> Result<Left, Fault> {
    let values = tile.each_value().map(|(_, data)| {
        let start = match data.origin {
            Origin::From => range.start,
            Origin::End => range.end,
            Origin::Given(v) | Origin::State(v) => world.scalar(v),
            Origin::Scan(v, kept) => world.scanned(v, kept),
            Origin::Register | Origin::Let => 0,
            // Rests of an earlier range: here a yes, or the number one.
            Origin::Buffer => 1,
        };
        vec![start; data.shape.lanes as usize]
    });
    let mut run = Run {
        values: values.collect(),
        tile,
        world,
        left: None,
        leaving: false,
        stop: None,
        rest: most,
        turn: tile.has_segments().then(Turn::default),
        dry_run_passed: false,
        trapped: false,
    };
    run.stmts(&tile.body)?;
    let Run {
        values,
        world,
        left,
        rest,
        turn,
        trapped,
        ..
    } = run;
    for (v, data) in tile.each_value() {
        let word = values[v.index()][0];
        match data.origin {
            Origin::State(var) => world.keep(var, word),
            Origin::Scan(var, kept) => world.keep_scanned(var, kept, word),
            _ => {}
        }
    }
    let at = left.unwrap_or(range.end);
    let steps = match turn {
        Some(_) => most - rest,
        None => at - range.start,
    };
    Ok(Left { at, steps, trapped })
}

struct Run<'a> {
    tile: &'a Tile,
    world: &'a mut dyn World,
    values: Vec<Vec<u64>>,
    /// The position of an early exit.
    left: Option<u64>,
    /// Whether the range loop or a segment is exiting.
    leaving: bool,
    /// The exit position in the current segment.
    stop: Option<u64>,
    /// The steps available for remaining work.
    rest: u64,
    /// The current iteration of the range loop, for a tile with segments.
    turn: Option<Turn>,
    /// Whether a dry run has shown that its segments fit.
    dry_run_passed: bool,
    trapped: bool,
}

/// Holds an iteration of the range loop that may be rolled back.
#[derive(Default)]
struct Turn {
    /// The counter.
    at: u64,
    /// All values at its begin.
    before: Vec<Vec<u64>>,
    /// The steps available after it so far.
    rest: u64,
}

impl Run<'_> {
    /// Returns a lane of an operand; scalars are broadcast.
    fn lane(&self, a: Operand, lane: usize) -> u64 {
        match a {
            Operand::Const(c) => c.bits,
            Operand::Value(v) => {
                let words = &self.values[v.index()];
                words[if words.len() == 1 { 0 } else { lane }]
            }
        }
    }

    fn scalar(&self, a: Operand) -> u64 {
        self.lane(a, 0)
    }

    fn shape(&self, a: Operand) -> Shape {
        self.tile.operand_shape(a)
    }

    fn lanes(&self, v: Value) -> usize {
        self.tile.shape(v).lanes as usize
    }

    /// Tells whether a lane is active under an optional mask.
    fn is_set(&self, under: Option<Operand>, lane: usize) -> bool {
        under.is_none_or(|m| self.lane(m, lane) != 0)
    }

    fn set(&mut self, to: Value, word: impl Fn(&Self, usize) -> u64) {
        let words = (0..self.lanes(to)).map(|k| word(self, k)).collect();
        self.values[to.index()] = words;
    }

    fn read(&self, from: Memory, at: u64) -> Option<u64> {
        match from {
            Memory::Register(v) | Memory::Buffer(v) => {
                self.values[v.index()].get(at as usize).copied()
            }
            _ => self.world.read(from, at),
        }
    }

    fn write(&mut self, into: Memory, at: u64, word: u64) -> bool {
        let (Memory::Register(v) | Memory::Buffer(v)) = into else {
            return self.world.write(into, at, word);
        };
        let place = self.values[v.index()].get_mut(at as usize);
        place.map(|place| *place = word).is_some()
    }

    fn stmts(&mut self, stmts: &[Stmt]) -> Result<(), Fault> {
        for s in stmts {
            self.stmt(&s.kind)?;
            if self.leaving {
                break;
            }
        }
        Ok(())
    }

    fn stmt(&mut self, kind: &StmtKind) -> Result<(), Fault> {
        match kind {
            StmtKind::Let { to, op, args } => {
                let typed = args.get(usize::from(*op == Op::Select)).or(args.first());
                let from = typed.map_or(Ty::Bool, |a| self.shape(*a).ty);
                let ty = self.tile.shape(*to).ty;
                self.set(*to, |run, k| {
                    let words: Vec<u64> = args.iter().map(|a| run.lane(*a, k)).collect();
                    eval(*op, from, ty, &words)
                });
            }
            StmtKind::Positions { to, from } => {
                self.set(*to, |run, k| run.scalar(*from).wrapping_add(k as u64));
            }
            StmtKind::Until { to, at, end } => {
                let left = self.scalar(*end).saturating_sub(self.scalar(*at));
                self.set(*to, |_, k| u64::from((k as u64) < left));
            }
            StmtKind::Load {
                to,
                from,
                at,
                under,
                ..
            } => {
                let first = self.scalar(*at);
                let elsewhere = match self.stop {
                    Some(_) => anything(self.tile.shape(*to).ty),
                    None => 0,
                };
                let mut words = Vec::new();
                for k in 0..self.lanes(*to) {
                    let at = first.wrapping_add(k as u64);
                    words.push(match self.is_set(*under, k) {
                        true => self.read(*from, at).ok_or_else(|| outside("load", at))?,
                        false => elsewhere,
                    });
                }
                self.values[to.index()] = words;
            }
            StmtKind::Gather { to, array, at } => {
                self.set(*to, |run, k| {
                    let at = run.lane(*at, k);
                    run.world.read(Memory::Array(*array), at).unwrap_or(0)
                });
            }
            StmtKind::Across {
                into,
                array,
                at,
                lanes,
                apart,
                steps,
                ..
            } => {
                let first = self.scalar(*at);
                for j in 0..u64::from(*steps) {
                    for l in 0..u64::from(*lanes) {
                        let at = first.wrapping_add(l.wrapping_mul(*apart)).wrapping_add(j);
                        let word = self.read(Memory::Array(*array), at);
                        let word = word.ok_or_else(|| outside("across", at))?;
                        let place = j * u64::from(*lanes) + l;
                        if !self.write(Memory::Buffer(*into), place, word) {
                            return Err(outside("across", place));
                        }
                    }
                }
            }
            StmtKind::Store {
                into,
                at,
                value,
                under,
                lanes,
                ..
            } => {
                let first = self.scalar(*at);
                for k in 0..*lanes as usize {
                    let (at, word) = (first.wrapping_add(k as u64), self.lane(*value, k));
                    if self.is_set(*under, k) && !self.write(*into, at, word) {
                        return Err(outside("store", at));
                    }
                }
            }
            StmtKind::Put {
                array,
                at,
                value,
                by,
                under,
                lanes,
            } => {
                let (memory, ty) = (Memory::Array(*array), self.shape(*value).ty);
                for k in 0..*lanes as usize {
                    let (at, word) = (self.lane(*at, k), self.lane(*value, k));
                    let old = self.world.read(memory, at);
                    if let Some(old) = old.filter(|_| self.is_set(*under, k)) {
                        let joined = by.map_or(word, |op| eval(op, ty, ty, &[old, word]));
                        self.world.write(memory, at, joined);
                    }
                }
            }
            StmtKind::Compress {
                into,
                at,
                value,
                under,
                ..
            } => {
                let lanes = 0..self.shape(*under).lanes as usize;
                let kept = lanes.clone().filter(|k| self.lane(*under, *k) != 0);
                // Elements after the packed ones are unspecified; the first lane's value serves.
                let mut words: Vec<u64> = kept.map(|k| self.lane(*value, k)).collect();
                words.resize(lanes.len(), self.lane(*value, 0));
                let first = self.scalar(*at);
                for (k, word) in words.into_iter().enumerate() {
                    let at = first.wrapping_add(k as u64);
                    if !self.write(*into, at, word) {
                        return Err(outside("compress", at));
                    }
                }
            }
            StmtKind::Sort { arrays, rows } => {
                let lengths = arrays.iter().map(|a| self.world.length(*a));
                let rows = lengths.fold(self.scalar(*rows), u64::min);
                let row = |k: u64| {
                    let words = arrays.iter().map(|a| self.world.read(Memory::Array(*a), k));
                    words
                        .collect::<Option<Vec<u64>>>()
                        .ok_or_else(|| outside("sort", k))
                };
                let mut all = (0..rows).map(row).collect::<Result<Vec<_>, _>>()?;
                all.sort();
                for (k, row) in (0..).zip(all) {
                    for (array, word) in arrays.iter().zip(row) {
                        self.world.write(Memory::Array(*array), k, word);
                    }
                }
            }
            StmtKind::Length { to, array } => {
                let length = self.world.length(*array);
                self.set(*to, |_, _| length);
            }
            StmtKind::Count { to, of } => {
                let lanes = self.shape(*of).lanes as usize;
                let set = (0..lanes).filter(|k| self.lane(*of, *k) != 0).count();
                self.set(*to, |_, _| set as u64);
            }
            StmtKind::Any { to, of } => {
                let lanes = self.shape(*of).lanes as usize;
                let any = (0..lanes).any(|k| self.lane(*of, k) != 0);
                self.set(*to, |_, _| u64::from(any));
            }
            StmtKind::Scan { to, op, of } => {
                let Shape { ty, lanes } = self.tile.shape(*to);
                self.set(*to, |run, k| run.lane(*of, k));
                let sums = &mut self.values[to.index()];
                for step in 0..lanes.trailing_zeros() {
                    for k in (0..lanes as usize).filter(|k| k >> step & 1 == 1) {
                        let before = (k >> step << step) - 1;
                        sums[k] = eval(*op, ty, ty, &[sums[before], sums[k]]);
                    }
                }
            }
            StmtKind::Beat { to, op, new, old } => {
                let ty = self.tile.shape(*to).ty;
                self.set(*to, |run, k| {
                    beat(*op, ty, run.lane(*new, k), run.lane(*old, k))
                });
            }
            StmtKind::Lane { to, of, at } => {
                let lane = self.lane(*of, self.scalar(*at) as usize);
                self.set(*to, |_, _| lane);
            }
            StmtKind::SetLane { to, at, value } => {
                let (at, word) = (self.scalar(*at) as usize, self.scalar(*value));
                if let Some(lane) = self.values[to.index()].get_mut(at) {
                    *lane = word;
                }
            }
            StmtKind::Last { to, of } => {
                let last = self.shape(*of).lanes as usize - 1;
                self.set(*to, |run, _| run.lane(*of, last));
            }
            StmtKind::Slide { to, first, of } => self.set(*to, |run, k| match k {
                0 => run.lane(*first, run.shape(*first).lanes as usize - 1),
                k => run.lane(*of, k - 1),
            }),
            StmtKind::Reverse { to, of } => {
                let last = self.shape(*of).lanes as usize - 1;
                self.set(*to, |run, k| run.lane(*of, last - k.min(last)));
            }
            StmtKind::Halves { to, op, beats, of } => {
                let Shape { ty, lanes } = self.shape(*of);
                let mut words: Vec<u64> = (0..lanes as usize).map(|k| self.lane(*of, k)).collect();
                while words.len() > 1 {
                    let behind = words.split_off(words.len() / 2);
                    for (word, other) in words.iter_mut().zip(behind) {
                        *word = match beats {
                            true => beat(*op, ty, other, *word),
                            false => eval(*op, ty, ty, &[*word, other]),
                        };
                    }
                }
                self.set(*to, |_, _| words[0]);
            }
            StmtKind::Set { to, value } => self.set(*to, |run, k| run.lane(*value, k)),
            StmtKind::Trap { unless } => {
                let lanes = self.shape(*unless).lanes as usize;
                self.trapped |= (0..lanes).any(|k| self.lane(*unless, k) == 0);
            }
            StmtKind::Leave { at, unless } => {
                if self.scalar(*unless) == 0 {
                    let at = self.scalar(*at);
                    match &mut self.stop {
                        Some(stop) => *stop = at,
                        None => self.left = Some(at),
                    }
                    self.leaving = true;
                }
            }
            StmtKind::For {
                counter,
                from,
                to,
                step,
                body,
                ..
            } => {
                let (mut at, to) = (self.scalar(*from), self.scalar(*to));
                let range = self.tile.is_range(kind);
                while at < to && !self.leaving {
                    self.set(*counter, |_, _| at);
                    if range && !self.begin_turn(at, *step) {
                        break;
                    }
                    self.stmts(body)?;
                    if let Some(turn) = self.turn.as_ref().filter(|_| range && !self.leaving) {
                        self.rest = turn.rest;
                    }
                    at = at.saturating_add(*step);
                }
                self.leaving &= !range;
            }
            StmtKind::Segment {
                counter,
                from,
                to,
                step,
                aligned,
                single_trip,
                again,
                capacities,
                body,
                epilogue,
                scalar_epilogue,
            } => {
                let begins = *from;
                let (from, to) = (self.scalar(*from), self.scalar(*to));
                let before = if *aligned { from & (*step - 1) } else { 0 };
                let range = (to.wrapping_sub(from), *step);
                let whole =
                    |capacity: &(Var, Operand)| self.tile.asks_whole_turns(begins, capacity.1);
                let capacities: Vec<_> = capacities
                    .iter()
                    .map(|capacity| (*capacity, whole(capacity)))
                    .collect();
                if (from < to || *single_trip)
                    && (*again || self.enter_segment(range, *single_trip, &capacities)?)
                {
                    let mut at = from - before;
                    let around = self.stop.replace(to);
                    if *single_trip && to.wrapping_sub(from) > *step {
                        return Err(Fault {
                            what: "a single-trip segment has more steps".to_string(),
                        });
                    }
                    if *single_trip {
                        self.set(*counter, |_, _| from);
                        self.stmts(epilogue)?;
                        at = to;
                    }
                    while at < to && !self.leaving {
                        self.set(*counter, |_, _| at);
                        let is_epilogue = *step > 1 && (to - at <= *step || at < from);
                        self.stmts(if is_epilogue { epilogue } else { body })?;
                        at = at.saturating_add(*step);
                    }
                    if *step > 1 && self.leaving && self.left.is_none() {
                        self.leaving = false;
                        let mut at = self.stop.replace(to).unwrap_or(from).max(from);
                        while at < to && !self.leaving {
                            self.set(*counter, |_, _| at);
                            self.stmts(scalar_epilogue)?;
                            at += 1;
                        }
                    }
                    self.leave_segment(to);
                    self.stop = around;
                }
            }
            StmtKind::DryRun { body } => self.dry_run(body)?,
            StmtKind::If { cond, then, other } => match self.scalar(*cond) != 0 {
                true => self.stmts(then)?,
                false => self.stmts(other)?,
            },
            StmtKind::While { test, cond, body } => loop {
                self.stmts(test)?;
                // A trapped loop may rely on the trapped condition, and its results are discarded.
                if self.scalar(*cond) == 0 || self.trapped || self.leaving {
                    break;
                }
                self.stmts(body)?;
            },
        }
        Ok(())
    }
}

impl Run<'_> {
    /// Begins an iteration of the range loop. Returns false, and exits, if a tile with segments has
    /// too few steps.
    fn begin_turn(&mut self, at: u64, step: u64) -> bool {
        let Some(turn) = &mut self.turn else {
            return true;
        };
        if self.rest <= step {
            self.left = Some(at);
            return false;
        }
        *turn = Turn {
            at,
            before: self.values.clone(),
            rest: self.rest - step,
        };
        true
    }

    /// Ends a segment. Steps that it did not take become available.
    fn leave_segment(&mut self, to: u64) {
        if let (Some(stop), Some(turn)) = (self.stop.take(), &mut self.turn) {
            turn.rest += to - stop;
        }
        // After a rollback in the segment, the enclosing iteration does not continue.
        self.leaving &= self.left.is_some();
    }

    /// Makes a dry run of statements, and executes them unless the iteration was rolled back.
    fn dry_run(&mut self, body: &[Stmt]) -> Result<(), Fault> {
        let dry_run = dry_run(self.tile, body);
        let dry_run = dry_run.map_err(|why| Fault {
            what: why.to_string(),
        })?;
        let steps = |run: &Self| run.turn.as_ref().map(|turn| turn.rest);
        let before = (self.values.clone(), steps(self));
        self.stmts(&dry_run)?;
        if self.leaving {
            return Ok(());
        }
        self.values = before.0;
        let after = steps(self);
        if let (Some(turn), Some(rest)) = (&mut self.turn, before.1) {
            turn.rest = rest;
        }
        self.dry_run_passed = true;
        self.stmts(body)?;
        self.dry_run_passed = false;
        match steps(self) == after {
            true => Ok(()),
            false => Err(Fault {
                what: "other steps are taken than in the dry run".to_string(),
            }),
        }
    }

    /// Takes the steps of a segment, or rolls back the iteration.
    fn enter_segment(
        &mut self,
        (size, step): (u64, u64),
        single_trip: bool,
        capacities: &[((Var, Operand), bool)],
    ) -> Result<bool, Fault> {
        let turns = size
            .max(u64::from(single_trip))
            .checked_next_multiple_of(step);
        let capacity = |((array, index), whole): &((Var, Operand), bool)| {
            let capacity = (self.world.length(*array)).saturating_sub(self.scalar(*index));
            match whole {
                true => turns.is_some_and(|turns| capacity >= turns),
                false => capacity >= size,
            }
        };
        let fits = capacities.iter().all(capacity);
        let Some(turn) = &mut self.turn else {
            return Ok(false);
        };
        if fits && size < turn.rest {
            turn.rest -= size;
            return Ok(true);
        }
        if self.dry_run_passed {
            return Err(Fault {
                what: "a segment does not fit that had a dry run".to_string(),
            });
        }
        self.values = std::mem::take(&mut turn.before);
        self.left = Some(turn.at);
        self.leaving = true;
        Ok(false)
    }
}

/// Returns the new value if it is larger or smaller, as `op` says, otherwise the old one.
fn beat(op: Op, ty: Ty, new: u64, old: u64) -> u64 {
    let wins = if op == Op::Max { Op::Gt } else { Op::Lt };
    match eval(wins, ty, Ty::Bool, &[new, old]) {
        0 => old,
        _ => new,
    }
}

/// Returns a nonzero value for lanes of an epilogue without a step.
fn anything(ty: Ty) -> u64 {
    match ty {
        Ty::F32 => u64::from(f32::NAN.to_bits()),
        Ty::F64 => f64::NAN.to_bits(),
        ty => eval(Op::Not, ty, ty, &[0]),
    }
}

fn outside(what: &str, at: u64) -> Fault {
    Fault {
        what: format!("{what} outside, at {at}"),
    }
}
