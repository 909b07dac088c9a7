//! The tiles of an innermost loop in front of its guard: which is entered, and for how many steps.

use super::Printer;
use super::calls::Call;
use super::nest::Turns;
use crate::emit::{Emit, Facet};
use cranelift_codegen::ir::{InstBuilder, Value};
use livefusion_tile::ir::{Entry, Kept, Origin, Sum, Tile};
use livefusion_tile::region::InnerLoop;
use loop_lang::ir::{CHUNK, Var};

impl<'a> Emit<'a, '_> {
    /// Takes steps of an innermost loop in its tiles, and goes on at the guard; where none may be entered, it goes on
    /// here. A tile is entered only where those before it cannot be, and no further than to where they may be again.
    pub(in crate::emit) fn run_tiles(&mut self, call: &'a Call<'a>, guard: usize) {
        let (inner_loop, tiles) = (call.inner_loop, &call.tiles);
        let counter = self.get(inner_loop.counter, Facet::Value);
        let all = self.steps_left(inner_loop, tiles, counter);
        let some = self.builder.create_block();
        let slowly = self.builder.create_block();
        let done = self.builder.create_block();
        self.builder.ins().brif(all, some, &[], slowly, &[]);
        self.begin(some);
        self.bring_near(tiles.iter());
        let mut aligned = 1;
        for tile in tiles {
            let most = match tile.runs() {
                Some(run) => self.whole_runs(inner_loop, tile, (run, counter)),
                None => {
                    let own = tile.entries.iter();
                    self.allowed(tile, own.filter(|e| common(tiles, e).is_none()), all)
                }
            };
            let count = self.steps_of(tile, counter, most, aligned);
            let enter = self.builder.create_block();
            let other = self.builder.create_block();
            match count == all {
                true => self.builder.ins().jump(enter, &[]),
                false => self.builder.ins().brif(count, enter, &[], other, &[]),
            };
            self.begin(enter);
            let taken = self.take(call, tile, (counter, count));
            match tile.leaves() {
                // It has taken nothing where its first step ends the loop.
                true => self.builder.ins().brif(taken, done, &[], other, &[]),
                false => self.builder.ins().jump(done, &[]),
            };
            self.begin(other);
            aligned = aligned.max(tile.alignment());
        }
        self.near.clear();
        self.builder.ins().jump(slowly, &[]);
        self.begin(done);
        self.jump(guard);
        self.begin(slowly);
    }

    /// How many steps there are before the bound, the next event, and the end of what tiles access.
    fn steps_left(&mut self, inner_loop: &InnerLoop, tiles: &[Tile], counter: Value) -> Value {
        let mut capacities: Vec<(Var, Var)> = Vec::new();
        for entry in tiles.iter().flat_map(|t| &t.entries) {
            if let Some(capacity) = common(tiles, entry)
                && !capacities.contains(&capacity)
            {
                capacities.push(capacity);
            }
        }
        // The last step around segments leaves what else a frame keeps, and is the machine's.
        let last = i64::from(tiles.iter().any(Tile::has_segments));
        let behind = self.builder.ins().iadd_imm_u(counter, last);
        self.steps_with_capacity(inner_loop, &capacities, behind)
    }

    /// How many steps there are before the bound, the end of the span and of the chunk, and the end of what the tile
    /// reads in step; none where no run begins.
    fn whole_runs(
        &mut self,
        inner_loop: &InnerLoop,
        tile: &Tile,
        (run, counter): (u64, Value),
    ) -> Value {
        let steps = self.builder.use_var(self.steps);
        let rest = self.builder.ins().isub(self.limit, steps);
        let into = self.builder.ins().band_imm_u(steps, CHUNK as i64 - 1);
        let whole = self.u64(CHUNK);
        let chunk = self.builder.ins().isub(whole, into);
        let calm = self.builder.ins().umin(rest, chunk);
        let capacities = tile.entries.iter().filter_map(|e| match e {
            Entry::Capacity { array, index } => Some((*array, index.single()?)),
            _ => None,
        });
        let capacities: Vec<(Var, Var)> = capacities.collect();
        let count = self.calm_steps(inner_loop, &capacities, (counter, calm));
        let into = self.builder.ins().band_imm_u(steps, run as i64 - 1);
        let none = self.u64(0);
        self.builder.ins().select(into, none, count)
    }

    /// How many of so many steps a tile takes. Tiles before it may be entered at multiples of `aligned`.
    pub(super) fn steps_of(
        &mut self,
        tile: &Tile,
        counter: Value,
        most: Value,
        aligned: u64,
    ) -> Value {
        let mut count = most;
        if aligned > 1 {
            let ins = self.builder.ins();
            let into = ins.band_imm_u(counter, aligned as i64 - 1);
            let whole = self.u64(aligned);
            let before = self.builder.ins().isub(whole, into);
            count = self.builder.ins().umin(count, before);
        }
        let whole = tile.granule();
        if whole > 1 {
            count = self.builder.ins().band_imm_s(count, -(whole as i64));
        }
        let aligned = tile.alignment();
        if aligned > 1 {
            let ins = self.builder.ins();
            let into = ins.band_imm_u(counter, aligned as i64 - 1);
            let zero = self.u64(0);
            count = self.builder.ins().select(into, zero, count);
        }
        count
    }

    /// How many steps there are before the bound, the next event, and the ends of arrays at these indices.
    fn steps_with_capacity(
        &mut self,
        inner_loop: &InnerLoop,
        capacities: &[(Var, Var)],
        counter: Value,
    ) -> Value {
        let (steps, event) = (
            self.builder.use_var(self.steps),
            self.builder.use_var(self.event),
        );
        let calm = self.builder.ins().isub(event, steps);
        self.calm_steps(inner_loop, capacities, (counter, calm))
    }

    /// The same, given how many there are before the next event.
    fn calm_steps(
        &mut self,
        inner_loop: &InnerLoop,
        capacities: &[(Var, Var)],
        (counter, calm): (Value, Value),
    ) -> Value {
        let bound = self.atom(inner_loop.bound);
        let left = self.capacity(bound, counter);
        let mut count = self.builder.ins().umin(left, calm);
        for (array, index) in capacities {
            let (length, index) = (self.length(*array), self.get(*index, Facet::Value));
            let capacity = self.capacity(length, index);
            count = self.builder.ins().umin(count, capacity);
        }
        count
    }

    /// How far it is to an end; 0 behind it.
    pub(super) fn capacity(&mut self, end: Value, at: Value) -> Value {
        let furthest = self.builder.ins().umax(end, at);
        self.builder.ins().isub(furthest, at)
    }

    /// How many of so many steps some of a tile's entries allow.
    pub(super) fn allowed<'t>(
        &mut self,
        tile: &Tile,
        entries: impl Iterator<Item = &'t Entry>,
        all: Value,
    ) -> Value {
        let mut count = all;
        for entry in entries {
            let more = match entry {
                Entry::Capacity { array, index } => {
                    let (at, length) = (self.sum(index), self.length(*array));
                    match index.times(tile.counter) < 0 {
                        true => {
                            let inside = self.less(at, length);
                            let down = self.builder.ins().iadd_imm_u(at, 1);
                            let none = self.u64(0);
                            self.builder.ins().select(inside, down, none)
                        }
                        false => self.capacity(length, at),
                    }
                }
                Entry::Keeps { comparison, holds } => {
                    let (at, edge) = (self.sum(&comparison.moving), self.sum(&comparison.edge));
                    let less = match comparison.inclusive {
                        true => self.less(edge, at),
                        false => self.less(at, edge),
                    };
                    let edge = self
                        .builder
                        .ins()
                        .iadd_imm_u(edge, i64::from(comparison.inclusive));
                    let below = self.less(at, edge);
                    let (yes, no) = match comparison.moving.times(tile.counter) < 0 {
                        true => {
                            let down = self.builder.ins().iadd_imm_u(at, 1);
                            (down, self.builder.ins().isub(down, edge))
                        }
                        false => {
                            let up = self.builder.ins().isub(edge, at);
                            // From zero it is on its side of zero for ever.
                            let wraps = self.builder.ins().ineg(at);
                            let ever = self.u64(u64::MAX);
                            (up, self.builder.ins().select(at, wraps, ever))
                        }
                    };
                    let same = self.builder.ins().select(below, yes, no);
                    let none = self.u64(0);
                    match holds.map(|holds| holds != comparison.inclusive) {
                        None => same,
                        Some(true) => self.builder.ins().select(less, same, none),
                        Some(false) => self.builder.ins().select(less, none, same),
                    }
                }
                Entry::Most(steps) => self.u64(*steps),
                Entry::Before(steps) => {
                    let counter = self.get(tile.counter, Facet::Value);
                    let ins = self.builder.ins();
                    let into = ins.band_imm_u(counter, *steps as i64 - 1);
                    let whole = self.u64(*steps);
                    self.builder.ins().isub(whole, into)
                }
                Entry::Whole(_) | Entry::Aligned(_) | Entry::Runs(_) => continue,
            };
            count = self.builder.ins().umin(count, more);
        }
        count
    }

    /// A sum, at a guard.
    fn sum(&mut self, sum: &Sum) -> Value {
        let mut value = self.u64(sum.plus);
        for (times, v) in &sum.terms {
            let term = self.get(*v, Facet::Value);
            let term = match times {
                1 => term,
                _ => self.builder.ins().imul_imm_s(term, *times),
            };
            value = self.builder.ins().iadd(value, term);
        }
        value
    }

    /// Takes so many steps from a counter on, or fewer where the tile is left before. How many it took.
    fn take(&mut self, call: &Call, tile: &Tile, (from, count): (Value, Value)) -> Value {
        // What segments have come to, the tile joins.
        if call.inner.is_empty() {
            for i in call.inner_loop.blocks() {
                self.totals_for_block(i);
            }
        }
        let event = self.builder.use_var(self.event);
        let (count, turns) = self.print(tile, (from, count));
        self.follow(tile);
        let steps = match turns {
            Some(turns) => {
                let rest = self.builder.use_var(turns.rest);
                self.builder.ins().isub(event, rest)
            }
            None => {
                let steps = self.builder.use_var(self.steps);
                self.builder.ins().iadd(steps, count)
            }
        };
        self.builder.def_var(self.steps, steps);
        if tile.runs().is_some() {
            // It went beyond where the machine looked next.
            self.builder.def_var(self.event, steps);
        }
        count
    }

    /// Writes a tile for so many steps from a counter on, and where that is then. How many steps of its rate it took,
    /// and of one with segments what it knows of theirs.
    pub(super) fn print(
        &mut self,
        tile: &Tile,
        (from, count): (Value, Value),
    ) -> (Value, Option<Turns>) {
        let place = self.place;
        let end = self.builder.ins().iadd(from, count);
        let mut printer = Printer::of(self, tile, (from, end));
        if tile.has_segments() {
            printer.count_steps();
        }
        printer.stmts(&tile.body);
        let (range, turns) = (printer.range, printer.turns);
        self.place = place;
        let (end, count) = match range.filter(|_| tile.leaves()) {
            Some((counter, _)) => {
                let end = self.builder.use_var(counter);
                (end, self.builder.ins().isub(end, from))
            }
            None => (end, count),
        };
        self.set(tile.counter, Facet::Value, end);
        (count, turns)
    }

    /// Nothing that a tile updates waits at the guard.
    pub(super) fn follow(&mut self, tile: &Tile) {
        let states = tile.each_value().filter_map(|(_, data)| match data.origin {
            Origin::State(v) => Some(v),
            _ => None,
        });
        for v in states.chain([tile.counter]) {
            self.follow_one(v);
        }
    }

    /// A variable's next value is its value.
    pub(super) fn follow_one(&mut self, v: Var) {
        if self.facts.ever_waits(v) {
            let now = self.get(v, self.seen(v));
            self.set(v, Facet::Next, now);
        }
    }
}

/// The capacity that an entry asks for, if all tiles do, at one variable.
fn common(tiles: &[Tile], entry: &Entry) -> Option<(Var, Var)> {
    let Entry::Capacity { array, index } = entry else {
        return None;
    };
    let all = tiles.iter().all(|t| t.entries.contains(entry));
    index.single().filter(|_| all).map(|index| (*array, index))
}

/// What holds what a scan keeps.
pub(super) fn facet_of(kept: Kept) -> Facet {
    match kept {
        Kept::Prefix => Facet::Value,
        Kept::Total => Facet::Total,
        Kept::Last => Facet::Last,
    }
}
