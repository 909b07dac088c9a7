//! The call of a tile: at its rate's guard, for as many steps as its entries allow.

use super::Writer;
use super::passed::Passed;
use super::stream::TILE;
use crate::emit::ideas::Idea;
use crate::emit::unit::Unit;
use crate::names::Facet;
use livefusion_tile::ir::{Entry, Origin, Sum, Tile};
use loop_lang::ir::{Atom, CHUNK, Order, Var};

impl Writer<'_, '_, '_> {
    /// Writes it.
    pub fn call(&mut self, symbol: &str, bound: Atom, guard: &str) {
        let counter = self.unit.names.var(self.tile.counter).to_string();
        let bound = self.unit.atom(bound);
        let conditions = self.conditions();
        self.unit
            .open(format!("if ({counter} < {bound}{conditions}) {{"));
        // The last step around segments leaves what else a frame keeps, and is the machine's.
        let last = match self.has_segments {
            true => " - 1",
            false => "",
        };
        // Whole runs are joined on the way.
        let runs = self.tile.runs().is_some();
        let stop = if runs { "limit" } else { "event" };
        self.unit.line(format!(
            "u64 count = lf_least({bound} - {counter}{last}, {stop} - steps);"
        ));
        for entry in &self.tile.entries {
            if let Some(most) = self.allows(entry) {
                self.unit.line(format!("count = lf_least(count, {most});"));
            }
        }
        self.whole_turns();
        self.unit.open("if (count != 0) {");
        let leaves = self.leaves;
        let end = match leaves {
            true => {
                self.unit.line(format!("u64 left = {counter} + count;"));
                "&left".to_string()
            }
            false => format!("{counter} + count"),
        };
        let segments = self.has_segments;
        if segments {
            self.unit.line("u64 rest = event - steps;");
        }
        let rest = segments.then(|| "&rest".to_string());
        let (passed, function) = (self.passed(&self.tile.body), self.function(symbol));
        let call = |end: &str, rest: Option<String>, instead: &dyn Fn(Var) -> Option<String>| {
            let range = [counter.clone(), end.to_string()].into_iter().chain(rest);
            text(&function, range, &passed, instead)
        };
        if let Some(stream) = &self.tile.stream {
            self.unit.uses(Idea::Streaming);
            // There is a step; compilers warn of what is always so.
            let least = stream.least.max(1);
            self.unit.open(format!("if ({bound} >= {least}) {{"));
            let index = |a: &Var| (*a, self.begins(*a));
            let streamed: Vec<_> = stream.arrays.iter().map(index).collect();
            let tile = TILE.max(self.tile.granule());
            let end = format!("{counter} + n");
            self.unit.stream(&counter, tile, &streamed, &|_, instead| {
                call(&end, None, instead)
            });
            self.unit.close();
            self.unit.open("else {");
        }
        let all = format!("trapped |= {};", call(&end, rest, &|_| None));
        self.unit.line(all);
        if leaves {
            // It has taken nothing where its first step ends the loop.
            self.unit.line(format!("count = left - {counter};"));
            self.unit.open("if (count != 0) {");
        }
        self.unit.line(format!("{counter} += count;"));
        if self.tile.stream.is_some() {
            self.unit.close();
        }
        follow(self.unit, &updated(self.tile));
        self.unit.line(match (segments, runs) {
            (true, _) => "steps = event - rest;",
            (_, true) => "event = steps += count;",
            (false, false) => "steps += count;",
        });
        self.unit.line(format!("goto {guard};"));
        if leaves {
            self.unit.close();
        }
        self.unit.close();
        self.unit.close();
    }

    /// As many of `count` steps as its turns take.
    pub(super) fn whole_turns(&mut self) {
        let counter = self.unit.names.var(self.tile.counter);
        for entry in &self.tile.entries {
            match entry {
                Entry::Capacity { .. } | Entry::Keeps { .. } => {}
                Entry::Most(_) | Entry::Before(_) | Entry::Runs(_) => {}
                Entry::Whole(1) | Entry::Aligned(1) => {}
                Entry::Whole(steps) => self.unit.line(format!("count &= ~{}ul;", steps - 1)),
                Entry::Aligned(steps) => {
                    let mask = steps - 1;
                    self.unit
                        .line(format!("if ({counter} & {mask}) count = 0;"));
                }
            }
        }
    }

    /// The text of a call for a range, given what to pass for the arrays.
    pub(super) fn call_of(
        &self,
        symbol: &str,
        range: &[String],
        instead: &dyn Fn(Var) -> Option<String>,
    ) -> String {
        let passed = self.passed(&self.tile.body);
        text(
            &self.function(symbol),
            range.iter().cloned(),
            &passed,
            instead,
        )
    }

    /// A sum, as the caller computes it.
    fn sum(&self, sum: &Sum) -> String {
        let mut terms = sum.terms.clone();
        // What is added comes first.
        terms.sort_by_key(|(times, _)| *times < 0);
        let mut text = String::new();
        for (times, v) in terms {
            let sign = match (times < 0, text.is_empty()) {
                (true, true) => "-",
                (true, false) => " - ",
                (false, true) => "",
                (false, false) => " + ",
            };
            let often = match times.unsigned_abs() {
                1 => String::new(),
                n => format!("{n} * "),
            };
            text += &format!("{sign}{often}{}", self.unit.names.var(v));
        }
        match (text.is_empty(), sum.plus as i64) {
            (true, _) => format!("{}ul", sum.plus),
            (_, 0) => text,
            (_, plus @ 1..) => format!("{text} + {plus}"),
            (_, plus) => format!("{text} - {}", plus.unsigned_abs()),
        }
    }

    /// How many steps an entry allows, if it is not any number.
    pub(super) fn allows(&self, entry: &Entry) -> Option<String> {
        let down = |sum: &Sum| sum.times(self.tile.counter) < 0;
        match entry {
            Entry::Capacity { array, index } => {
                let (length, at) = (self.unit.length(*array), self.sum(index));
                Some(match down(index) {
                    true => format!("{at} < {length} ? {at} + 1 : 0"),
                    false => format!("lf_capacity({length}, {at})"),
                })
            }
            Entry::Keeps { comparison, .. } => {
                let way = if down(&comparison.moving) {
                    "down"
                } else {
                    "up"
                };
                let edge = comparison
                    .edge
                    .plus(1, &Sum::number(comparison.inclusive.into()));
                let (moving, edge) = (self.sum(&comparison.moving), self.sum(&edge));
                Some(format!("lf_same_{way}({moving}, {edge})"))
            }
            Entry::Most(steps) => Some(format!("{steps}ul")),
            Entry::Before(steps) => {
                let counter = self.unit.names.var(self.tile.counter);
                Some(format!("{steps}ul - ({counter} & {})", steps - 1))
            }
            Entry::Runs(_) => Some(format!("{CHUNK} - steps % {CHUNK}")),
            Entry::Whole(_) | Entry::Aligned(_) => None,
        }
    }

    /// Answers that are wanted, and whether a run begins, as further conditions.
    pub(super) fn conditions(&self) -> String {
        let wanted = |entry: &Entry| {
            if let Entry::Runs(steps) = entry {
                return Some(format!(" && steps % {steps} == 0"));
            }
            let Entry::Keeps { comparison, holds } = entry else {
                return None;
            };
            let sign = match (comparison.inclusive, (*holds)?) {
                (false, true) => "<",
                (true, true) => "<=",
                (false, false) => ">=",
                (true, false) => ">",
            };
            let (moving, edge) = (self.sum(&comparison.moving), self.sum(&comparison.edge));
            Some(format!(" && {moving} {sign} {edge}"))
        };
        self.tile.entries.iter().filter_map(wanted).collect()
    }

    /// Where in an array a tile that streams it begins to write.
    fn begins(&self, array: Var) -> String {
        let index = self.tile.entries.iter().find_map(|entry| match entry {
            Entry::Capacity { array: a, index } if *a == array => Some(index),
            _ => None,
        });
        index.map_or(String::new(), |index| self.sum(index))
    }
}

/// The text of a call.
fn text(
    function: &str,
    range: impl Iterator<Item = String>,
    passed: &[Passed],
    instead: &dyn Fn(Var) -> Option<String>,
) -> String {
    let argument = |p: &Passed| {
        let other = p.array.and_then(instead);
        other.unwrap_or_else(|| p.argument.clone())
    };
    let arguments: Vec<String> = range.chain(passed.iter().map(argument)).collect();
    format!("{function}({})", arguments.join(", "))
}

/// What a tile updates: its counter, and its state.
pub(super) fn updated(tile: &Tile) -> Vec<Var> {
    let states = tile.each_value().filter_map(|(_, d)| match d.origin {
        Origin::State(v) => Some(v),
        _ => None,
    });
    std::iter::once(tile.counter).chain(states).collect()
}

/// Next values of what was updated.
pub(super) fn follow(unit: &mut Unit, updated: &[Var]) {
    let mut seen: Vec<Var> = Vec::new();
    for v in updated {
        let local = unit.facts.local_group(unit.program, *v);
        let plain = !matches!(local, Some((_, _, Order::Lanes(_) | Order::Runs(_))));
        if plain && unit.facts.ever_waits(*v) && !seen.contains(v) {
            seen.push(*v);
            let now = match local {
                Some(_) => unit.names.facet(*v, Facet::Now),
                None => unit.names.var(*v),
            };
            let line = format!("{} = {now};", unit.names.facet(*v, Facet::Next));
            unit.line(line);
        }
    }
}
