//! What a tile is entered with: its rate, its range, its entries, and what it has from the loop.

use super::Faults;
use crate::ir::{Entry, Memory, Origin, Tile, Value, ValueData};
use loop_lang::Loop;
use loop_lang::ir::{Type, Var};
use loop_lang::types::Ty;
use rustc_hash::FxHashSet;

/// Checks them. Whether there is no fault.
pub(super) fn check(tile: &Tile, program: &Loop, faults: &mut Faults<'_>) -> bool {
    let before = faults.all.len();
    let rate = program.rates.get(tile.rate.index());
    if rate.and_then(|r| r.kind.counter()) != Some(tile.counter) {
        faults.add("its counter is not its rate's");
    }
    for origin in [Origin::From, Origin::End] {
        if tile
            .each_value()
            .filter(|(_, d)| d.origin == origin)
            .count()
            != 1
        {
            faults.add("a tile has one range, from one value to another");
        }
    }
    let mut once = FxHashSet::default();
    for (_, data) in tile.each_value() {
        match data.origin {
            Origin::Given(v) | Origin::State(v) if !once.insert(v) => {
                faults.add(format!("{} is two values", data.name));
            }
            Origin::State(v) if v == tile.counter || !is_plain(program, v) => {
                faults.add(format!("{} is no plain carried variable", data.name));
            }
            _ => {}
        }
    }
    for entry in &tile.entries {
        match entry {
            Entry::Room { array, index } => {
                let ty = |v: Var| program.vars.get(v.index()).map(|d| d.ty);
                let is_array = matches!(ty(*array), Some(Type::Array(_)));
                if !is_array || ty(*index) != Some(Type::Scalar(Ty::U64)) {
                    faults.add("an entry for room in what is no array, or at what is no index");
                }
            }
            Entry::Whole(n) | Entry::Aligned(n) if !n.is_power_of_two() => {
                faults.add(format!("an entry for {n} steps, which is no power of two"));
            }
            Entry::Whole(_) | Entry::Aligned(_) | Entry::Holds(_) => {}
        }
    }
    if !is_known(tile, program) {
        faults.add("it names what is not there");
    }
    faults.all.len() == before
}

/// Whether all is there that statements name: values, variables of the loop, combinators.
fn is_known(tile: &Tile, program: &Loop) -> bool {
    let value = |v: Value| v.index() < tile.values.len();
    let var = |v: Var| v.index() < program.vars.len();
    let outer = |d: &ValueData| match d.origin {
        Origin::Given(v) | Origin::State(v) => var(v),
        _ => true,
    };
    let mut known = tile.values.iter().all(outer);
    known &= tile.arrays().into_iter().all(|(a, _)| var(a));
    tile.each_stmt(&mut |s| {
        known &= s.comb.index() < program.combs.len();
        known &= s.kind.target().is_none_or(value);
        known &= match s.kind.memory() {
            Some(Memory::Array(v) | Memory::Lanes(v)) => var(v),
            Some(Memory::Register(v)) => value(v),
            None => true,
        };
        s.kind
            .each_operand(&mut |a| known &= a.value().is_none_or(value));
    });
    known
}

/// Whether a variable is carried as one word: lanes, runs and prefixes are memory.
fn is_plain(program: &Loop, v: Var) -> bool {
    let group = program.group_of(v).map(|g| &program.groups[g.index()]);
    group.is_some_and(|g| !g.order.is_local())
}
