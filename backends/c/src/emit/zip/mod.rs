//! Zips of streams that advance differently (filters, say), tile by tile.
//!
//! A cursor steps from element to element, with a branch at each that is as good as random. So each side
//! has a loop of its own here, in the straight form or in vectors, that packs what the side delivers from a
//! tile of its input into a buffer in the first cache; and what runs behind the cursors becomes a straight
//! loop over as many elements as all buffers have.
//!
//! ```text
//! for (;;) {
//!   fill each buffer that is empty from the next tile of its side
//!   n = the fewest elements that a buffer has
//!   run n iterations of what is behind the cursors
//! }
//! where the last element that was used lay: count again from the beginning of its tile
//! ```
//!
//! | module | room for |
//! | --- | --- |
//! | `look` | what cursors do, and whether that is no more than to deliver |
//! | `derive` | the loops of the sides, and the one behind them |
//! | `call` | the tiles, in the state machine |

mod call;
mod derive;
mod look;

use super::ideas::Idea;
use super::plan::{self, Plan, plan};
use super::straight::Passed;
use super::strips::Aside;
use super::unit::{Mode, Unit, comment};
use super::vector;
use crate::facts::Facts;
use derive::Buffers;
use look::Cursor;
use loop_lang::Loop;
use loop_lang::ir::{Atom, Order, Rate, RateId, RateKind, Var};

/// Elements per tile.
const TILE: u64 = 1024;
/// Bytes that all buffers take at most: they are on the stack, and stay in the first cache.
const ROOM: u64 = 32 << 10;

/// A zip of cursors that runs tile by tile.
pub struct Zip {
    /// The root rate of the zip.
    pub rate: RateId,
    sides: Vec<Side>,
    behind: Straight,
    /// What the zip's counter stays below.
    limits: Vec<Atom>,
    tile: u64,
}

/// A side: its cursor, and the loop that packs what it delivers.
struct Side {
    cursor: Cursor,
    buffers: Buffers,
    straight: Straight,
}

/// A derived loop in its best form, and element by element.
struct Straight {
    program: Loop,
    made: Vec<Var>,
    best: Plan,
    each: Plan,
}

/// The zips of a loop, with the loop as it is with their variables; none if there are none.
pub fn zips(program: &Loop, facts: &Facts, made: &[Var]) -> Option<(Loop, Vec<Zip>)> {
    let cursor = |r: &Rate| matches!(r.kind, RateKind::Cursor { .. });
    if !program.rates.iter().any(cursor) {
        return None;
    }
    let mut named = program.clone();
    let roots = program.roots.iter();
    let zips: Vec<Zip> = roots
        .filter_map(|r| zip(program, &mut named, facts, made, *r))
        .collect();
    (!zips.is_empty()).then_some((named, zips))
}

fn zip(program: &Loop, named: &mut Loop, facts: &Facts, made: &[Var], root: RateId) -> Option<Zip> {
    let cursors = look::cursors(program, facts, root)?;
    let bytes = |c: &Cursor| -> u64 {
        let sizes = c.values.iter().map(|v| program.ty(*v).elem().size() as u64);
        sizes.sum()
    };
    let each: u64 = cursors.iter().map(bytes).sum();
    let fits = |tile: &u64| tile * each <= ROOM;
    let tile = [TILE, TILE / 2, TILE / 4].into_iter().find(fits)?;
    let sides: Vec<(Cursor, Buffers)> = cursors
        .into_iter()
        .map(|c| {
            let buffers = Buffers::of(named, &c);
            (c, buffers)
        })
        .collect();
    let (behind, limits) = derive::behind(named, facts, root, &sides)?;
    let behind = Straight::of(behind, made.to_vec(), root)?;
    let mut all = Vec::new();
    for (cursor, buffers) in sides {
        let program = derive::side(named, facts, &cursor, &buffers)?;
        let made = made.iter().chain(&buffers.arrays).copied().collect();
        let straight = Straight::of(program, made, cursor.rate)?;
        let side = Side {
            cursor,
            buffers,
            straight,
        };
        all.push(side.packs()?);
    }
    Some(Zip {
        rate: root,
        sides: all,
        behind,
        limits,
        tile,
    })
}

impl Straight {
    fn of(program: Loop, made: Vec<Var>, rate: RateId) -> Option<Straight> {
        let facts = Facts::of(&program, &made, &[]).ok()?;
        let steps = plan::steps(&program, &facts, rate)?;
        let (each, _) = plan(&program, &facts, &made, rate, steps)?;
        let scans = |v: &Var| {
            matches!(
                facts.local_group(&program, *v),
                Some((_, _, Order::Prefix(_)))
            )
        };
        if each.scalars.iter().any(scans) {
            return None;
        }
        let mut best = each.clone();
        best.vectors = vector::fit(&program, &facts, &made, &best);
        if best.vectors.is_some() {
            best.strip = 1;
        }
        drop(facts);
        let mut each = each;
        each.strip = 1;
        Some(Straight {
            program,
            made,
            best,
            each,
        })
    }

    /// Whether the best form takes any number of elements from anywhere on.
    fn is_plain(&self) -> bool {
        self.best.vectors.is_none() && self.best.strip == 1
    }

    /// Writes both functions, or one if that is all there is.
    fn write<'a>(&'a self, unit: &mut Unit<'a>, symbol: &str, until: Option<Var>) {
        let Ok(facts) = Facts::of(&self.program, &self.made, &[]) else {
            return;
        };
        for (version, plan) in [&self.best, &self.each].into_iter().enumerate() {
            let mut straight = Unit {
                program: &self.program,
                facts: &facts,
                made: &self.made,
                names: unit.names,
                helpers: &mut *unit.helpers,
                out: String::new(),
                depth: 0,
                mode: Mode::Straight(plan),
                place: unit.place,
                comb: None,
                admits: false,
                plain: Vec::new(),
                stops: unit.stops,
                aside: Aside::default(),
            };
            match (version, until) {
                (0, _) => plan.write(&mut straight, symbol, version),
                (_, Some(count)) => find(plan, &mut straight, symbol, version, count),
                _ if self.is_plain() => {}
                _ => plan.write(&mut straight, symbol, version),
            }
            let text = straight.out;
            unit.out.push_str(&text);
        }
    }
}

impl Side {
    /// The side, if its loop does nothing but pack.
    fn packs(self) -> Option<Side> {
        let (best, counter) = (&self.straight.best, self.cursor.counter);
        let in_step = |(a, i): &(Var, Var)| self.buffers.arrays.contains(a) || *i == counter;
        let packs = best.groups.is_empty()
            && best.carried.contains(&self.buffers.count)
            && best.proven.iter().all(in_step);
        packs.then_some(self)
    }

    /// Variables that go on from element to element, the counter first.
    fn carried(&self) -> Vec<Var> {
        let carried = self.straight.best.carried.iter().copied();
        let others = carried.filter(|v| *v != self.buffers.count && *v != self.cursor.counter);
        std::iter::once(self.cursor.counter).chain(others).collect()
    }
}

impl Zip {
    /// Writes the functions of the loops.
    pub fn write<'a>(&'a self, unit: &mut Unit<'a>, symbol: &str) {
        unit.uses(Idea::Zips);
        for side in &self.sides {
            side.straight.write(unit, symbol, Some(side.buffers.count));
        }
        self.behind.write(unit, symbol, None);
    }
}

/// Writes the function that runs a side element by element until it has delivered `wanted`, and gives
/// the counter behind the last one.
fn find(plan: &Plan, unit: &mut Unit, symbol: &str, version: usize, count: Var) {
    let passed = plan.passed(unit);
    let names = unit.names;
    let (counter, count) = (names.var(plan.counter), names.var(count));
    let parameters: Vec<&str> = ["const u64 from", "const u64 end", "const u64 lf_wanted"]
        .into_iter()
        .chain(passed.iter().map(|p| p.declaration.as_str()))
        .collect();
    let rate = &unit.program.rate(plan.rate).name;
    let head = format!("/* Rate {rate}: {counter} from `from`, until so many are kept. */");
    unit.line(comment(&head));
    unit.line("static __attribute__((noinline)) u64");
    let function = plan.function(unit, symbol, version);
    unit.open(format!("{function}({}) {{", parameters.join(", ")));
    unit.line("u64 trapped = 0;");
    let locals: Vec<_> = passed
        .iter()
        .filter_map(|p: &Passed| p.local.as_ref())
        .collect();
    for (ty, name) in &locals {
        unit.line(format!("{} {name} = *lf_{name};", ty.name()));
    }
    unit.line(format!("u64 {counter} = from;"));
    unit.open(format!(
        "for (; {counter} < end && {count} < lf_wanted; {counter}++) {{"
    ));
    plan.write_body(unit, None);
    unit.close();
    for (_, name) in &locals {
        unit.line(format!("*lf_{name} = {name};"));
    }
    unit.line(format!("return {counter};"));
    unit.close();
    unit.line("");
}
