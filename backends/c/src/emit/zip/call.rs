//! The tiles of a zip, in the state machine: at the zip's guard, for as many iterations as are sure.
//!
//! What a side's variables hold is the state at the beginning of the tile from which the last element was
//! used; `lf_tile_` and `lf_ahead_` are the states around the tile that is in the buffer. At the end a side
//! runs once more from there, up to the last element that was used.

use super::{Side, Straight, Zip};
use crate::emit::plan::Plan;
use crate::emit::unit::Unit;
use crate::facts;
use crate::names::Part;
use loop_lang::ir::Var;

/// Elements of a buffer behind those of a tile: a whole register may be stored.
const SPARE: u64 = 64;
/// Fewer steps than this are not worth the way.
const FEW: u64 = 64;

impl Zip<'_> {
    /// Writes the tiles.
    pub fn call(&self, unit: &mut Unit, symbol: &str, guard: &str) {
        let counter = unit.names.var(self.behind.best.sweep.counter).to_string();
        let bound = unit.atom(self.behind.best.sweep.bound);
        let mut conditions = vec![
            format!("{counter} < {bound}"),
            format!("event - steps >= {FEW}"),
        ];
        for v in self.sides.iter().flat_map(|s| &s.cursor.ends) {
            if let Some(start) = super::look::start(unit.program, *v) {
                let start = unit.atom(start.into());
                conditions.push(format!("{} == {start}", unit.names.var(*v)));
            }
        }
        unit.open(format!("if ({}) {{", conditions.join(" && ")));
        self.declare(unit);
        unit.open("for (;;) {");
        for (k, side) in self.sides.iter().enumerate() {
            self.fill(unit, symbol, k, side);
        }
        self.run(unit, symbol, &counter, &bound);
        unit.close();
        unit.depth -= 1;
        unit.line(format!("{}:;", self.settle()));
        unit.depth += 1;
        for (k, side) in self.sides.iter().enumerate() {
            side.settle(unit, symbol, k);
        }
        unit.open("if (lf_made != 0) {");
        self.behind.best.follow_updates(unit);
        unit.line("steps += lf_made;");
        unit.line(format!("goto {guard};"));
        unit.close();
        unit.close();
    }

    fn settle(&self) -> String {
        format!("lf_settle_{}", self.rate.index())
    }

    fn declare(&self, unit: &mut Unit) {
        for (k, side) in self.sides.iter().enumerate() {
            for a in &side.buffers.arrays {
                let (ty, name) = (facts::elem(unit.program, *a).name(), unit.names.var(*a));
                let text = format!(
                    "{ty} {name}[{}] __attribute__((aligned(64)));",
                    self.tile + SPARE
                );
                unit.line(text);
            }
            let count = unit.names.var(side.buffers.count).to_string();
            unit.line(format!(
                "u64 {count} = 0, lf_first_{k} = 0, lf_taken_{k} = 0;"
            ));
            for v in side.carried() {
                let (ty, name) = (facts::elem(unit.program, v).name(), unit.names.var(v));
                let text = format!("{ty} lf_tile_{name} = {name}, lf_ahead_{name} = {name};");
                unit.line(text);
            }
            let counter = unit.names.var(side.cursor.counter).to_string();
            unit.line(format!("const u64 lf_start_{k} = {counter};"));
        }
        unit.line("u64 lf_made = 0;");
    }

    /// Fills a side's buffer if it is empty. Every element that is tested counts as a step, and may make
    /// an iteration, of as many as are left before the next stop.
    fn fill(&self, unit: &mut Unit, symbol: &str, k: usize, side: &Side) {
        let best = &side.straight.best;
        let (count, counter) = (
            unit.names.var(side.buffers.count).to_string(),
            unit.names.var(side.cursor.counter).to_string(),
        );
        let bound = unit.atom(side.cursor.bound);
        unit.open(format!("while (lf_first_{k} == {count}) {{"));
        let tested = self.sides.iter().enumerate().map(|(k, side)| {
            let name = unit.names.var(side.cursor.counter);
            format!("(lf_ahead_{name} - lf_start_{k})")
        });
        let tested: Vec<String> = tested.collect();
        unit.line(format!(
            "u64 lf_n = lf_room(event - steps, {} + lf_made) / 2;",
            tested.join(" + ")
        ));
        let mut rooms = vec![
            self.tile.to_string(),
            format!("lf_room({bound}, lf_ahead_{counter})"),
        ];
        let mut proven: Vec<&(Var, Var)> = best.proven.iter().collect();
        proven.sort();
        for (a, _) in proven
            .iter()
            .filter(|(a, _)| !side.buffers.arrays.contains(a))
        {
            let length = unit.length(*a);
            rooms.push(format!("lf_room({length}, lf_ahead_{counter})"));
        }
        for room in rooms {
            unit.line(format!("lf_n = lf_least(lf_n, {room});"));
        }
        if let Some(vectors) = &best.vectors {
            let granule = vectors.granule(unit);
            unit.line(format!("lf_n &= ~{}ul;", granule - 1));
        }
        unit.line(format!("if (lf_n == 0) goto {};", self.settle()));
        unit.open(format!("if (lf_first_{k} != 0) {{"));
        side.advance(unit, k);
        unit.close();
        for v in side.carried() {
            let name = unit.names.var(v).to_string();
            unit.line(format!("lf_tile_{name} = lf_ahead_{name};"));
        }
        unit.line(format!("lf_first_{k} = {count} = 0;"));
        let ahead = format!("lf_ahead_{counter}");
        let range = [ahead.clone(), format!("{ahead} + lf_n")];
        let call = side.call(unit, symbol, 0, &range, "lf_ahead_");
        // What has trapped may not be needed at all: the state machine goes there.
        unit.open(format!("if ({call}) {{"));
        unit.line(format!("{count} = 0;"));
        unit.line(format!("goto {};", self.settle()));
        unit.close();
        unit.line(format!("{ahead} += lf_n;"));
        unit.close();
    }

    /// Runs what is behind the cursors for as many elements as all have.
    fn run(&self, unit: &mut Unit, symbol: &str, counter: &str, bound: &str) {
        unit.line(format!("u64 lf_n = lf_room({bound}, {counter});"));
        let mut rooms = Vec::new();
        for (k, side) in self.sides.iter().enumerate() {
            let count = unit.names.var(side.buffers.count);
            rooms.push(format!("{count} - lf_first_{k}"));
        }
        for limit in self.limits {
            let limit = unit.atom(*limit);
            rooms.push(format!("lf_room({limit}, {counter})"));
        }
        let mut proven: Vec<&(Var, Var)> = self.behind.best.proven.iter().collect();
        proven.sort();
        for (a, i) in proven.iter().filter(|(a, _)| self.buffer(*a).is_none()) {
            let (length, index) = (unit.length(*a), unit.names.var(*i).to_string());
            rooms.push(format!("lf_room({length}, {index})"));
        }
        for room in rooms {
            unit.line(format!("lf_n = lf_least(lf_n, {room});"));
        }
        unit.line(format!("if (lf_n == 0) goto {};", self.settle()));
        unit.line(format!("const u64 lf_at = {counter};"));
        let call = |unit: &Unit, version: usize, n: &str| {
            let end = format!("{counter} + {n}");
            self.call_behind(unit, symbol, version, &[counter.to_string(), end])
        };
        match self.behind.granule(unit) {
            None => {
                let text = format!("trapped |= {};", call(unit, 0, "lf_n"));
                unit.line(text);
                unit.line(format!("{counter} += lf_n;"));
            }
            Some((granule, aligned)) => {
                unit.open("for (u64 lf_left = lf_n, lf_some; lf_left != 0; lf_left -= lf_some) {");
                unit.line(format!("const u64 lf_odd = {counter} & {};", aligned - 1));
                unit.line(format!(
                    "lf_some = lf_odd ? 0 : lf_left & ~{}ul;",
                    granule - 1
                ));
                unit.open("if (lf_some != 0) {");
                let text = format!("trapped |= {};", call(unit, 0, "lf_some"));
                unit.line(text);
                unit.depth -= 1;
                unit.open("} else {");
                unit.line(format!("lf_some = lf_least(lf_left, {granule} - lf_odd);"));
                let text = format!("trapped |= {};", call(unit, 1, "lf_some"));
                unit.line(text);
                unit.close();
                unit.line(format!("{counter} += lf_some;"));
                unit.close();
            }
        }
        for k in 0..self.sides.len() {
            unit.line(format!("lf_first_{k} += lf_n;"));
        }
        unit.line("lf_made += lf_n;");
        unit.line(format!("if (trapped) goto {};", self.settle()));
    }

    /// The side whose buffer an array is.
    fn buffer(&self, a: Var) -> Option<usize> {
        self.sides
            .iter()
            .position(|s| s.buffers.arrays.contains(&a))
    }

    fn call_behind(&self, unit: &Unit, symbol: &str, version: usize, range: &[String]) -> String {
        let plan = self.behind.plan(version);
        let passed = plan.passed(unit).into_iter().map(|p| {
            let Some((a, k)) = p.array.and_then(|a| Some((a, self.buffer(a)?))) else {
                return p.argument;
            };
            let (ty, name) = (facts::elem(unit.program, a), unit.names.var(a));
            let size = ty.size();
            format!(
                "({} *)((u64){name} + (lf_first_{k} - lf_at) * {size})",
                ty.name()
            )
        });
        let arguments: Vec<String> = range.iter().cloned().chain(passed).collect();
        format!(
            "{}({})",
            plan.function(unit, symbol, version),
            arguments.join(", ")
        )
    }
}

impl Straight<'_> {
    fn plan(&self, version: usize) -> &Plan<'_> {
        match version {
            0 => &self.best,
            _ => &self.each,
        }
    }

    /// Of how many elements the best form takes a multiple, and from which multiples on; none if any
    /// number does.
    fn granule(&self, unit: &Unit) -> Option<(u64, u64)> {
        let Some(vectors) = &self.best.vectors else {
            let strip = self.best.strip;
            return (strip > 1).then_some((strip, strip));
        };
        let aligned = match vectors.lanes.is_empty() {
            true => 1,
            false => vectors.elements(unit) as u64,
        };
        Some((vectors.granule(unit) as u64, aligned))
    }
}

impl Side<'_> {
    /// A call of the side's function on a range, and on variables with a prefix.
    fn call(
        &self,
        unit: &Unit,
        symbol: &str,
        version: usize,
        range: &[String],
        prefix: &str,
    ) -> String {
        let plan = self.straight.plan(version);
        let count = unit.names.var(self.buffers.count);
        let passed = plan.passed(unit).into_iter().map(|p| match p.local {
            Some((_, name)) if name != count => format!("&{prefix}{name}"),
            _ => p.argument,
        });
        let arguments: Vec<String> = range.iter().cloned().chain(passed).collect();
        format!(
            "{}({})",
            plan.function(unit, symbol, version),
            arguments.join(", ")
        )
    }

    /// The tile in the buffer is the one from which the last element was used.
    fn advance(&self, unit: &mut Unit, k: usize) {
        for v in self.carried() {
            let name = unit.names.var(v).to_string();
            unit.line(format!("{name} = lf_tile_{name};"));
        }
        unit.line(format!("lf_taken_{k} = lf_first_{k};"));
    }

    /// The state behind the last element that was used.
    fn settle(&self, unit: &mut Unit, symbol: &str, k: usize) {
        let counter = unit.names.var(self.cursor.counter).to_string();
        let count = unit.names.var(self.buffers.count).to_string();
        unit.open(format!("if (lf_first_{k} != 0) {{"));
        self.advance(unit, k);
        unit.close();
        unit.open(format!("if (lf_taken_{k} != 0) {{"));
        unit.line(format!("{count} = 0;"));
        let range = [
            counter.clone(),
            format!("lf_ahead_{counter}"),
            format!("lf_taken_{k}"),
        ];
        let call = self.call(unit, symbol, 1, &range, "");
        unit.line(format!("{counter} = {call};"));
        for (v, a) in self.cursor.values.iter().zip(&self.buffers.arrays) {
            let (name, buffer) = (unit.names.var(*v), unit.names.var(*a));
            let text = format!("{name} = {buffer}[lf_taken_{k} - 1];");
            unit.line(text);
        }
        for v in self.carried().iter().chain(&self.cursor.values) {
            if unit.facts.ever_waits(*v) {
                let (next, name) = (unit.names.part(*v, Part::Next), unit.names.var(*v));
                let text = format!("{next} = {name};");
                unit.line(text);
            }
        }
        unit.line(format!("steps += {counter} - lf_start_{k};"));
        unit.close();
    }
}
