//! The tiles of a sweep in front of its guard: which is entered, and for how many steps.

use super::Printer;
use crate::emit::straight::Straight;
use crate::emit::{Emit, Part};
use cranelift_codegen::ir::{InstBuilder, Value};
use livefusion_tile::ir::{Entry, Kept, Origin, Stmt, StmtKind, Tile};
use livefusion_tile::region::Sweep;
use loop_lang::ir::Var;
use rustc_hash::FxHashSet;

impl<'a> Emit<'a, '_> {
    /// Takes steps of a sweep in its tiles, and goes on at the guard; where none may be entered, it goes on here. A tile is
    /// entered only where those before it cannot be, and no further than to where they may be again.
    pub(in crate::emit) fn run_tiles(&mut self, straight: &'a Straight<'a>, guard: usize) {
        let (sweep, tiles) = (straight.sweep, &straight.tiles);
        let counter = self.get(sweep.counter, Part::Value);
        let most = self.steps_left(sweep, tiles, counter);
        let some = self.builder.create_block();
        let slowly = self.builder.create_block();
        let done = self.builder.create_block();
        self.builder.ins().brif(most, some, &[], slowly, &[]);
        self.begin(some);
        let mut asked: FxHashSet<Var> = FxHashSet::default();
        let mut asks = |s: &Stmt| match s.kind {
            StmtKind::Gather { array, .. }
            | StmtKind::Put { array, .. }
            | StmtKind::Length { array, .. } => asked.extend([array]),
            _ => {}
        };
        tiles.iter().for_each(|t| t.each_stmt(&mut asks));
        self.bring_near(straight.all(), |a| asked.contains(&a));
        let mut aligned = 1;
        for tile in tiles {
            let count = self.steps_of(tile, counter, most, aligned);
            let enter = self.builder.create_block();
            let other = self.builder.create_block();
            match count == most {
                true => self.builder.ins().jump(enter, &[]),
                false => self.builder.ins().brif(count, enter, &[], other, &[]),
            };
            self.begin(enter);
            let taken = self.take(straight, tile, (counter, count));
            match tile.leaves() {
                // It has taken nothing where its first step ends the loop.
                true => self.builder.ins().brif(taken, done, &[], other, &[]),
                false => self.builder.ins().jump(done, &[]),
            };
            self.begin(other);
            aligned = aligned.max(alignment(tile));
        }
        self.near.clear();
        self.builder.ins().jump(slowly, &[]);
        self.begin(done);
        self.jump(guard);
        self.begin(slowly);
    }

    /// How many steps there are before the bound, the next event, and the end of what tiles access.
    fn steps_left(&mut self, sweep: &Sweep, tiles: &[Tile], counter: Value) -> Value {
        let mut rooms: Vec<(Var, Var)> = Vec::new();
        for entry in tiles.iter().flat_map(|t| &t.entries) {
            if let Entry::Room { array, index } = entry
                && !rooms.contains(&(*array, *index))
            {
                rooms.push((*array, *index));
            }
        }
        // The last step around segments leaves what else a frame keeps, and is the machine's.
        let last = i64::from(tiles.iter().any(Tile::has_segments));
        let behind = self.builder.ins().iadd_imm_u(counter, last);
        self.steps_with_room(sweep, &rooms, behind)
    }

    /// How many of so many steps a tile takes. Tiles before it may be entered at multiples of `aligned`.
    fn steps_of(&mut self, tile: &Tile, counter: Value, most: Value, aligned: u64) -> Value {
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
        let aligned = alignment(tile);
        if aligned > 1 {
            let ins = self.builder.ins();
            let into = ins.band_imm_u(counter, aligned as i64 - 1);
            let zero = self.u64(0);
            count = self.builder.ins().select(into, zero, count);
        }
        count
    }

    /// Takes so many steps from a counter on, or fewer where the tile is left before. How many it took.
    fn take(
        &mut self,
        straight: &'a Straight<'a>,
        tile: &Tile,
        (from, count): (Value, Value),
    ) -> Value {
        let place = self.place;
        // What segments have come to, the tile joins.
        if straight.inner.is_empty() {
            for i in straight.sweep.blocks() {
                self.totals_for_block(i);
            }
        }
        let end = self.builder.ins().iadd(from, count);
        let event = self.builder.use_var(self.event);
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
        self.set(tile.counter, Part::Value, end);
        // Nothing waits at the guard.
        let states = tile.each_value().filter_map(|(_, data)| match data.origin {
            Origin::State(v) => Some(v),
            _ => None,
        });
        for v in states.chain([tile.counter]) {
            if self.facts.ever_waits(v) {
                let now = self.get(v, self.seen(v));
                self.set(v, Part::Next, now);
            }
        }
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
        count
    }
}

/// What holds what a scan keeps.
pub(super) fn part_of(kept: Kept) -> Part {
    match kept {
        Kept::Prefix => Part::Value,
        Kept::Total => Part::Total,
        Kept::Last => Part::Last,
    }
}

/// What a counter must be a multiple of where a tile is entered.
fn alignment(tile: &Tile) -> u64 {
    let aligned = tile.entries.iter().filter_map(|e| match e {
        Entry::Aligned(steps) => Some(*steps),
        _ => None,
    });
    aligned.max().unwrap_or(1)
}
