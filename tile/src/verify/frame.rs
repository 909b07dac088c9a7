//! The tile's interface: its rate, range, entries, and values from the loop.

use super::Faults;
use crate::ir::{Entry, Memory, Origin, Sum, Tile, Value, ValueData};
use livefusion_backend::facts;
use loop_lang::gotos::Tree;
use loop_lang::ir::{Order, StmtKind, Type, Var};
use loop_lang::types::Ty;
use loop_lang::{Loop, walk};
use rustc_hash::FxHashSet;

/// Checks the interface. Returns whether it has no fault.
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
    let inside = made_inside(tile, program);
    let (mut once, mut kept_once) = (FxHashSet::default(), FxHashSet::default());
    for (_, data) in tile.each_value() {
        match data.origin {
            Origin::Given(v) | Origin::State(v) if !once.insert(v) => {
                faults.add(format!("{} is two values", data.name));
            }
            Origin::Given(v) if inside.contains(&v) => {
                faults.add(format!("{} is made by the rate itself", data.name));
            }
            Origin::State(v) if v == tile.counter || !is_word(program, v) => {
                faults.add(format!("{} is no carried variable of one word", data.name));
            }
            Origin::Scan(v, _) if !scans(program, v) => {
                faults.add(format!("{} is kept by no scan", data.name));
            }
            Origin::Scan(v, kept) if !kept_once.insert((v, kept)) => {
                faults.add(format!("{} is two values", data.name));
            }
            _ => {}
        }
    }
    for entry in &tile.entries {
        match entry {
            Entry::Capacity { array, index } => {
                let ty = |v: Var| program.vars.get(v.index()).map(|d| d.ty);
                let is_array = matches!(ty(*array), Some(Type::Array(_)));
                if !is_array || !is_index(tile, program, &inside, index) {
                    faults.add("an entry for capacity in what is no array, or at what is no index");
                }
            }
            Entry::Keeps { comparison, .. } => {
                let moves = goes(tile, program, &inside, &comparison.moving);
                let edge = goes(tile, program, &inside, &comparison.edge);
                if !matches!((moves, edge), (Some(1 | -1), Some(0))) {
                    faults.add("an entry for a comparison that does not go with the counter");
                }
            }
            Entry::Most(n)
            | Entry::Before(n)
            | Entry::Whole(n)
            | Entry::Aligned(n)
            | Entry::Runs(n) => {
                if !n.is_power_of_two() {
                    faults.add(format!("an entry for {n} steps, which is no power of two"));
                } else if tile.runs() == Some(*n) && !tile.granule().is_multiple_of(*n) {
                    faults.add(format!("no entry says that the range is whole runs of {n}"));
                }
            }
        }
    }
    if !is_known(tile, program) {
        faults.add("it names what is not there");
    }
    faults.all.len() == before
}

/// Tells whether an entry's index is a word of the frame, or follows the counter.
fn is_index(tile: &Tile, program: &Loop, inside: &FxHashSet<Var>, index: &Sum) -> bool {
    match index.single() {
        Some(v) => is_u64(program, v) && !scans(program, v),
        None => matches!(goes(tile, program, inside, index), Some(1 | -1)),
    }
}

/// Returns the counter's coefficient in a sum, if the rate itself changes no other term.
fn goes(tile: &Tile, program: &Loop, inside: &FxHashSet<Var>, sum: &Sum) -> Option<i64> {
    let known = |v: Var| {
        is_u64(program, v) && is_plain(program, v) && (v == tile.counter || !inside.contains(&v))
    };
    let all = sum.terms.iter().all(|(_, v)| known(*v));
    all.then(|| sum.times(tile.counter))
}

fn is_u64(program: &Loop, v: Var) -> bool {
    let ty = program.vars.get(v.index()).map(|d| d.ty);
    ty == Some(Type::Scalar(Ty::U64))
}

/// Tells whether a variable is one word.
fn is_plain(program: &Loop, v: Var) -> bool {
    order(program, v).is_none_or(|o| !o.is_local())
}

/// Collects the variables that an iteration of the tile's rate defines or assigns.
fn made_inside(tile: &Tile, program: &Loop) -> FxHashSet<Var> {
    let tree = Tree::of(program);
    let mut made = FxHashSet::default();
    for (labels, block) in program.blocks.iter() {
        let place = labels.first().map(|label| tree.place(program, *label));
        let around = place.and_then(|place| tree.iteration(program, place));
        if around != Some(tile.rate) {
            continue;
        }
        facts::each_stmt(&block.stmts, &mut |s| {
            walk::definitions(&s.kind, &mut |v| {
                made.insert(v);
            });
            if let StmtKind::Assign(v, _) = s.kind {
                made.insert(v);
            }
        });
    }
    made
}

/// Tells whether all mentioned values, variables and combinators exist.
fn is_known(tile: &Tile, program: &Loop) -> bool {
    let value = |v: Value| v.index() < tile.values.len();
    let var = |v: Var| v.index() < program.vars.len();
    let outer = |d: &ValueData| match d.origin {
        Origin::Given(v) | Origin::State(v) | Origin::Scan(v, _) => var(v),
        _ => true,
    };
    let mut known = tile.values.iter().all(outer);
    known &= tile.stream.iter().flat_map(|s| &s.arrays).all(|a| var(*a));
    known &= tile.arrays().into_iter().all(|(a, _)| var(a));
    tile.each_stmt(&mut |s| {
        known &= s.comb.index() < program.combs.len();
        known &= s.kind.target().is_none_or(value);
        known &= match s.kind.memory() {
            Some(Memory::Array(v) | Memory::Lanes(v) | Memory::Tree(v)) => var(v),
            Some(Memory::Register(_) | Memory::Buffer(_)) | None => true,
        };
        known &= s.kind.own().is_none_or(value);
        s.kind
            .each_operand(&mut |a| known &= a.value().is_none_or(value));
    });
    known
}

/// Returns the order of a carried variable.
fn order(program: &Loop, v: Var) -> Option<Order> {
    program.group_of(v).map(|g| program.groups[g.index()].order)
}

/// Tells whether reads of a variable see one word, as for counters: lanes and runs are memory.
fn is_word(program: &Loop, v: Var) -> bool {
    let counts = |r: &loop_lang::ir::Rate| r.kind.counter() == Some(v);
    let plain = order(program, v).is_some_and(|o| !o.is_local());
    plain || scans(program, v) || program.rates.iter().any(counts)
}

fn scans(program: &Loop, v: Var) -> bool {
    matches!(order(program, v), Some(Order::Prefix(_)))
}
