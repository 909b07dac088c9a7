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
use super::plan::Plan;
use super::straight::Passed;
use super::unit::{Mode, Unit, comment};
use super::vector;
use derive::Buffers;
use livefusion_tile::region::Region;
use look::Cursor;
use loop_lang::Loop;
use loop_lang::ir::{Atom, Rate, RateId, RateKind, Var};

/// Elements per tile.
const TILE: u64 = 1024;
/// Bytes that all buffers take at most: they are on the stack, and stay in the first cache.
const ROOM: u64 = 32 << 10;

/// The loops that are derived from a loop's zips.
pub struct Derived {
    /// The loop as it is, with their variables.
    pub named: Loop,
    zips: Vec<DerivedZip>,
}

struct DerivedZip {
    rate: RateId,
    sides: Vec<(Cursor, Buffers)>,
    /// A loop for each side.
    loops: Vec<DerivedLoop>,
    behind: DerivedLoop,
    limits: Vec<Atom>,
    tile: u64,
}

/// A loop with the arrays that it makes, and the rate that is run.
struct DerivedLoop {
    program: Loop,
    made: Vec<Var>,
    rate: RateId,
}

/// What is known of a zip's loops: of the sides', and of what is behind them.
pub struct Known<'d> {
    derived: &'d DerivedZip,
    sides: Vec<Region<'d>>,
    behind: Region<'d>,
}

/// A zip of cursors that runs tile by tile.
pub struct Zip<'r> {
    /// The root rate of the zip.
    pub rate: RateId,
    sides: Vec<Side<'r>>,
    behind: Straight<'r>,
    /// What the zip's counter stays below.
    limits: &'r [Atom],
    tile: u64,
}

/// A side: its cursor, and the loop that packs what it delivers.
struct Side<'r> {
    cursor: &'r Cursor,
    buffers: &'r Buffers,
    straight: Straight<'r>,
}

/// A derived loop in its best form, and element by element.
struct Straight<'r> {
    region: &'r Region<'r>,
    best: Plan<'r>,
    each: Plan<'r>,
}

/// The loops of a loop's zips; none if there are none.
pub fn derive(region: &Region) -> Option<Derived> {
    let program = region.program;
    let cursor = |r: &Rate| matches!(r.kind, RateKind::Cursor { .. });
    if !program.rates.iter().any(cursor) {
        return None;
    }
    let mut named = program.clone();
    let roots = program.roots.iter();
    let zips = roots.filter_map(|r| derive_zip(region, &mut named, *r));
    let zips = zips.collect();
    Some(Derived { named, zips })
}

fn derive_zip(region: &Region, named: &mut Loop, root: RateId) -> Option<DerivedZip> {
    let (program, facts, made) = (region.program, &region.facts, region.made);
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
    let loops = sides.iter().map(|(cursor, buffers)| {
        Some(DerivedLoop {
            program: derive::side(named, facts, cursor, buffers)?,
            made: made.iter().chain(&buffers.arrays).copied().collect(),
            rate: cursor.rate,
        })
    });
    Some(DerivedZip {
        rate: root,
        loops: loops.collect::<Option<_>>()?,
        behind: DerivedLoop {
            program: behind,
            made: made.to_vec(),
            rate: root,
        },
        sides,
        limits,
        tile,
    })
}

impl Derived {
    /// What is known of the loops of each zip that can be written down.
    pub fn known(&self) -> Vec<Known<'_>> {
        self.zips.iter().filter_map(Known::of).collect()
    }
}

impl DerivedLoop {
    fn region(&self) -> Option<Region<'_>> {
        Region::of(&self.program, &self.made, &[]).ok()
    }
}

impl<'d> Known<'d> {
    fn of(derived: &'d DerivedZip) -> Option<Known<'d>> {
        let sides = derived.loops.iter().map(DerivedLoop::region);
        Some(Known {
            sides: sides.collect::<Option<_>>()?,
            behind: derived.behind.region()?,
            derived,
        })
    }
}

/// The zips that have a form tile by tile.
pub fn zips<'r>(known: &'r [Known<'r>]) -> Vec<Zip<'r>> {
    known.iter().filter_map(zip).collect()
}

fn zip<'r>(known: &'r Known<'r>) -> Option<Zip<'r>> {
    let derived = known.derived;
    let regions = known.sides.iter().zip(&derived.loops);
    let sides = regions.zip(&derived.sides).map(|((region, l), side)| {
        let side = Side {
            cursor: &side.0,
            buffers: &side.1,
            straight: Straight::of(region, l.rate)?,
        };
        side.packs()
    });
    Some(Zip {
        rate: derived.rate,
        sides: sides.collect::<Option<_>>()?,
        behind: Straight::of(&known.behind, derived.behind.rate)?,
        limits: &derived.limits,
        tile: derived.tile,
    })
}

impl<'r> Straight<'r> {
    fn of(region: &'r Region<'r>, rate: RateId) -> Option<Straight<'r>> {
        let mut each = Plan::part(region, region.sweep(rate)?)?;
        if each.needs_scans(region) {
            return None;
        }
        let mut best = each.clone();
        best.vectors = vector::fit(region, best.sweep);
        if best.vectors.is_some() {
            best.strip = 1;
        }
        each.strip = 1;
        Some(Straight { region, best, each })
    }

    /// Whether the best form takes any number of elements from anywhere on.
    fn is_plain(&self) -> bool {
        self.best.vectors.is_none() && self.best.strip == 1
    }

    /// Writes both functions, or one if that is all there is.
    fn write<'a>(&'a self, unit: &mut Unit<'a>, symbol: &str, until: Option<Var>) {
        let region = self.region;
        for (version, plan) in [&self.best, &self.each].into_iter().enumerate() {
            let mut straight = Unit {
                program: region.program,
                facts: &region.facts,
                made: region.made,
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

impl<'r> Side<'r> {
    /// The side, if its loop does nothing but pack.
    fn packs(self) -> Option<Side<'r>> {
        let (best, counter) = (&self.straight.best, self.cursor.counter);
        let in_step = |(a, i): &(Var, Var)| self.buffers.arrays.contains(a) || *i == counter;
        let packs = best.sweep.groups.is_empty()
            && best.sweep.carried.contains(&self.buffers.count)
            && best.proven.iter().all(in_step);
        packs.then_some(self)
    }

    /// Variables that go on from element to element, the counter first.
    fn carried(&self) -> Vec<Var> {
        let carried = self.straight.best.sweep.carried.iter().copied();
        let others = carried.filter(|v| *v != self.buffers.count && *v != self.cursor.counter);
        std::iter::once(self.cursor.counter).chain(others).collect()
    }
}

impl Zip<'_> {
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
    let (counter, count) = (names.var(plan.sweep.counter), names.var(count));
    let parameters: Vec<&str> = ["const u64 from", "const u64 end", "const u64 lf_wanted"]
        .into_iter()
        .chain(passed.iter().map(|p| p.declaration.as_str()))
        .collect();
    let rate = &unit.program.rate(plan.sweep.rate).name;
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
