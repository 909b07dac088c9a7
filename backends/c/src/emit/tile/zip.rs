//! Zips through buffers: their functions, and at the zip's guard what calls these, for as many steps as are sure.
//!
//! The variables of a side are where it is ahead. `lf_packed_` and `lf_used_` hold what they were where the buffers
//! begin that are there, and where those begin from which the last element was used. At the end a side goes once more
//! from there, up to the last element that was used.

use super::Writer;
use super::call::follow;
use crate::emit::ideas::Idea;
use crate::emit::unit::Unit;
use crate::facts;
use livefusion_tile::ir::{Entry, Side, Tile, Zip};
use loop_lang::ir::Var;

/// Fewer steps than this are not worth the way.
const FEW: u64 = 64;

/// A zip's code, being written.
pub struct Zipper<'u, 'a, 't> {
    unit: &'u mut Unit<'a>,
    zip: &'t Zip,
    symbol: &'t str,
}

impl<'u, 'a, 't> Zipper<'u, 'a, 't> {
    /// The writer of a zip.
    pub fn new(unit: &'u mut Unit<'a>, zip: &'t Zip, symbol: &'t str) -> Zipper<'u, 'a, 't> {
        Zipper { unit, zip, symbol }
    }

    fn tile<'s>(&'s mut self, tile: &'t Tile, version: usize) -> Writer<'s, 'a, 't> {
        Writer::new(self.unit, tile, version)
    }

    /// Writes the functions of the tiles.
    pub fn write(&mut self) {
        self.unit.uses(Idea::Zips);
        let symbol = self.symbol;
        for side in &self.zip.sides {
            for (version, tile) in side.packs.iter().chain(&side.finds).enumerate() {
                self.tile(tile, version).write(symbol);
            }
        }
        for (version, tile) in self.zip.behind.iter().enumerate() {
            self.tile(tile, version).write(symbol);
        }
    }

    /// Writes what calls them.
    pub fn call(&mut self, guard: &str) {
        let counter = self.name(self.zip.counter);
        let bound = self.unit.atom(self.zip.bound);
        let mut conditions = vec![
            format!("{counter} < {bound}"),
            format!("event - steps >= {FEW}"),
        ];
        for (v, start) in &self.zip.ends {
            let start = self.unit.helpers.constant(*start);
            conditions.push(format!("{} == {start}", self.name(*v)));
        }
        self.unit
            .open(format!("if ({}) {{", conditions.join(" && ")));
        self.declare();
        self.unit.open("for (;;) {");
        for (k, side) in self.zip.sides.iter().enumerate() {
            self.fill(k, side);
        }
        self.behind(&counter, &bound);
        self.unit.close();
        self.unit.depth -= 1;
        self.unit.line(format!("{}:;", self.settle_label()));
        self.unit.depth += 1;
        for (k, side) in self.zip.sides.iter().enumerate() {
            self.settle(k, side);
        }
        self.unit.open("if (lf_made != 0) {");
        let states: Vec<Var> = self
            .zip
            .behind
            .iter()
            .flat_map(super::call::updated)
            .collect();
        follow(self.unit, &states);
        self.unit.line("steps += lf_made;");
        self.unit.line(format!("goto {guard};"));
        self.unit.close();
        self.unit.close();
    }

    fn name(&self, v: Var) -> String {
        self.unit.names.var(v).to_string()
    }

    fn settle_label(&self) -> String {
        format!("lf_settle_{}", self.zip.rate.index())
    }

    fn declare(&mut self) {
        for (k, side) in self.zip.sides.iter().enumerate() {
            for a in side.buffers() {
                let ty = facts::elem(self.unit.program, a).name();
                let (name, elements) = (self.name(a), self.zip.elements);
                let text = format!("{ty} {name}[{elements}] __attribute__((aligned(64)));");
                self.unit.line(text);
                // What a side packs step by step at a count that it may not reach is held against it.
                let mut tiles = side.packs.iter().chain(&side.finds);
                if tiles.any(|tile| tile.arrays().contains(&(a, true))) {
                    let length = self.unit.length(a);
                    self.unit.line(format!("const u64 {length} = {elements};"));
                }
            }
            let count = self.name(side.count);
            let text = format!("u64 {count} = 0, lf_first_{k} = 0, lf_taken_{k} = 0;");
            self.unit.line(text);
            for v in side.carried() {
                let (ty, name) = (facts::elem(self.unit.program, v).name(), self.name(v));
                let text = format!("{ty} lf_packed_{name} = {name}, lf_used_{name} = {name};");
                self.unit.line(text);
            }
            let counter = self.name(side.counter);
            self.unit
                .line(format!("const u64 lf_start_{k} = {counter};"));
        }
        self.unit.line("u64 lf_made = 0;");
    }

    /// Fills a side's buffers if they have no elements left. Every element that is tested counts as a step, and may
    /// make one behind, of as many as are left before the next stop.
    fn fill(&mut self, k: usize, side: &'t Side) {
        let (count, counter) = (self.name(side.count), self.name(side.counter));
        let bound = self.unit.atom(side.bound);
        let settle = self.settle_label();
        self.unit
            .open(format!("while (lf_first_{k} == {count}) {{"));
        let sides = self.zip.sides.iter().enumerate();
        let tested = sides.map(|(k, side)| format!("({} - lf_start_{k})", self.name(side.counter)));
        let tested: Vec<String> = tested.collect();
        let tested = tested.join(" + ");
        self.unit.line(format!(
            "u64 lf_left = lf_capacity(event - steps, {tested} + lf_made) / 2;"
        ));
        let elements = self.zip.elements;
        self.unit.line(format!(
            "lf_left = lf_least(lf_least(lf_left, {elements}), lf_capacity({bound}, {counter}));"
        ));
        self.unit.line("u64 lf_some = 0;");
        for (version, tile) in side.packs.iter().enumerate() {
            let depth = self.enter(tile, version);
            self.use_up(k, side);
            for v in side.carried() {
                let name = self.name(v);
                self.unit.line(format!("lf_packed_{name} = {name};"));
            }
            self.unit.line(format!("lf_first_{k} = {count} = 0;"));
            let call = self.take(tile, version, &|_, _| None);
            // What has trapped may not be needed at all: the state machine goes there.
            self.unit.open(format!("if ({call}) {{"));
            for v in side.carried() {
                let name = self.name(v);
                self.unit.line(format!("{name} = lf_packed_{name};"));
            }
            self.unit.line(format!("{count} = 0;"));
            self.unit.line(format!("goto {settle};"));
            self.unit.close();
            self.taken(tile, &counter);
            (0..depth).for_each(|_| self.unit.close());
        }
        self.unit.line(format!("if (lf_some == 0) goto {settle};"));
        self.unit.close();
    }

    /// Takes as many steps behind the cursors as all sides have elements.
    fn behind(&mut self, counter: &str, bound: &str) {
        let settle = self.settle_label();
        self.unit
            .line(format!("u64 lf_left = lf_capacity({bound}, {counter});"));
        let mut capacities = Vec::new();
        for (k, side) in self.zip.sides.iter().enumerate() {
            capacities.push(format!("{} - lf_first_{k}", self.name(side.count)));
        }
        for limit in &self.zip.limits {
            let limit = self.unit.atom(*limit);
            capacities.push(format!("lf_capacity({limit}, {counter})"));
        }
        for capacity in capacities {
            self.unit
                .line(format!("lf_left = lf_least(lf_left, {capacity});"));
        }
        self.unit.line(format!("if (lf_left == 0) goto {settle};"));
        self.unit.line(format!("const u64 lf_at = {counter};"));
        self.unit.open("while (lf_left != 0) {");
        self.unit.line("u64 lf_some = 0;");
        let zip = self.zip;
        let instead = |unit: &Unit, a: Var| {
            let k = zip.buffer(a)?;
            let (ty, name) = (facts::elem(unit.program, a), unit.names.var(a));
            let (size, ty) = (ty.size(), ty.name());
            Some(format!(
                "({ty} *)((u64){name} + (lf_first_{k} - lf_at) * {size})"
            ))
        };
        let mut granule = 1;
        let mut depth = 0;
        for (version, tile) in zip.behind.iter().enumerate() {
            if version > 0 {
                self.unit.open("if (lf_some == 0) {");
                depth += 1;
            }
            if granule > 1 {
                // No further than to where those before may be entered.
                self.unit.line(format!(
                    "const u64 lf_near = lf_least(lf_left, {granule} - ({counter} & {}));",
                    granule - 1
                ));
            }
            let within = if granule > 1 { "lf_near" } else { "lf_left" };
            let inner = self.enter_within(tile, version, within);
            let call = self.take(tile, version, &instead);
            self.unit.line(format!("trapped |= {call};"));
            self.taken(tile, counter);
            (0..inner).for_each(|_| self.unit.close());
            granule = granule.max(tile.granule()).max(tile.alignment());
        }
        (0..depth).for_each(|_| self.unit.close());
        self.unit.line("if (lf_some == 0 || trapped) break;");
        self.unit.line("lf_left -= lf_some;");
        self.unit.close();
        for k in 0..zip.sides.len() {
            self.unit
                .line(format!("lf_first_{k} += {counter} - lf_at;"));
        }
        self.unit.line(format!("lf_made += {counter} - lf_at;"));
        self.unit
            .line(format!("if (lf_left != 0 || trapped) goto {settle};"));
    }

    fn enter(&mut self, tile: &'t Tile, version: usize) -> usize {
        if version > 0 {
            self.unit.open("if (lf_some == 0) {");
        }
        usize::from(version > 0) + self.enter_within(tile, version, "lf_left")
    }

    /// Begins what a tile does for `count` steps, if it may take some of so many; how many braces it opens.
    fn enter_within(&mut self, tile: &'t Tile, version: usize, most: &str) -> usize {
        let zip = self.zip;
        let writer = self.tile(tile, version);
        let conditions = writer.conditions();
        let of_buffer = |e: &&Entry| match e {
            Entry::Capacity { array, .. } => zip.buffer(*array).is_some(),
            _ => false,
        };
        let entries = tile.entries.iter().filter(|e| !of_buffer(e));
        let allowed: Vec<String> = entries.filter_map(|e| writer.allows(e)).collect();
        self.unit.line(format!("u64 count = {most};"));
        for most in allowed {
            self.unit.line(format!("count = lf_least(count, {most});"));
        }
        self.tile(tile, version).whole_turns();
        self.unit.open(format!("if (count != 0{conditions}) {{"));
        1
    }

    /// The call of a tile for `count` steps.
    fn take(
        &mut self,
        tile: &'t Tile,
        version: usize,
        instead: &dyn Fn(&Unit, Var) -> Option<String>,
    ) -> String {
        let symbol = self.symbol;
        let counter = self.name(tile.counter);
        let end = match tile.leaves() {
            true => {
                self.unit.line(format!("u64 left = {counter} + count;"));
                "&left".to_string()
            }
            false => format!("{counter} + count"),
        };
        let writer = self.tile(tile, version);
        let instead = |a: Var| instead(writer.unit, a);
        writer.call_of(symbol, &[counter, end], &instead)
    }

    /// Notes how many steps a tile has taken.
    fn taken(&mut self, tile: &Tile, counter: &str) {
        self.unit.line(match tile.leaves() {
            true => format!("lf_some = left - {counter};"),
            false => "lf_some = count;".to_string(),
        });
        self.unit.line(format!("{counter} += lf_some;"));
    }

    /// If an element of the buffers that are there was used, that is the last one.
    fn use_up(&mut self, k: usize, side: &Side) {
        self.unit.open(format!("if (lf_first_{k} != 0) {{"));
        for v in side.carried() {
            let name = self.name(v);
            self.unit
                .line(format!("lf_used_{name} = lf_packed_{name};"));
        }
        self.unit.line(format!("lf_taken_{k} = lf_first_{k};"));
        for (v, a) in &side.values {
            let (name, buffer) = (self.name(*v), self.name(*a));
            self.unit
                .line(format!("{name} = {buffer}[lf_first_{k} - 1];"));
        }
        self.unit.close();
    }

    /// The state behind the last element that was used.
    fn settle(&mut self, k: usize, side: &'t Side) {
        let (count, counter) = (self.name(side.count), self.name(side.counter));
        self.use_up(k, side);
        self.unit.line(format!("const u64 lf_end_{k} = {counter};"));
        for v in side.carried() {
            let name = self.name(v);
            self.unit.line(format!("{name} = lf_used_{name};"));
        }
        self.unit.open(format!("if (lf_taken_{k} != 0) {{"));
        self.unit.line(format!("{count} = 0;"));
        let wanted = self.name(side.wanted);
        self.unit
            .line(format!("const u64 {wanted} = lf_taken_{k};"));
        for (version, tile) in (side.packs.len()..).zip(&side.finds) {
            self.unit.open("{");
            self.enter_within(tile, version, &format!("lf_end_{k} - {counter}"));
            let call = self.take(tile, version, &|_, _| None);
            self.unit.line(format!("{call};"));
            self.unit.line(format!("{counter} = left;"));
            self.unit.close();
            self.unit.close();
        }
        let mut found = side.carried();
        found.extend(side.values.iter().map(|(v, _)| *v));
        follow(self.unit, &found);
        self.unit
            .line(format!("steps += {counter} - lf_start_{k};"));
        self.unit.close();
    }
}
