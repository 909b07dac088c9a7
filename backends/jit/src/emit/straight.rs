//! A sweep without stops, in front of its guard: as many iterations as are sure to meet no
//! pause, no end of a chunk, and no end of the arrays that are read and written in step.

use super::{Emit, Part};
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use livefusion_backend::facts;
use livefusion_tile::ir::{Entry, Tile};
use livefusion_tile::lower;
use livefusion_tile::region::{Region, Step, Sweep};
use livefusion_tile::schedule::{Admit, Aim, Schedule, choose};
use livefusion_tile::target::Target;
use loop_lang::ir::{Place, Section, Type, Var};
use rustc_hash::FxHashSet;

/// Loops with more statements than this are not written a second time.
const MAX_STATEMENTS: usize = 4096;
/// Parameters that are floats and in registers: some are left for what is computed.
const FLOATS: usize = 10;
/// Addresses, lengths and other parameters that are in registers.
const WORDS: usize = 8;

/// A sweep that runs without stops.
pub(super) struct Straight<'r> {
    /// The sweep, or what a root does around its inner sweeps.
    pub sweep: &'r Sweep<'r>,
    /// The inner sweeps of a root. Its steps may be too long for a span, or for what they access; then they are the machine's.
    pub inner: Vec<&'r Sweep<'r>>,
    /// Its tiles, in the order in which they are tried; none if tiles have no words for what it does.
    pub tiles: Vec<Tile>,
    /// Steps that enter sub rates which need no branch: what is rejected is computed and written too, because the
    /// next element overwrites it and the array is cut to its count in the end.
    branchless: FxHashSet<usize>,
}

/// The sweeps that run without stops: those that are not long, and read no lanes that a loop around them still
/// folds. What another loop has folded, and ended, is there as a total.
pub(super) fn sweeps<'r>(region: &'r Region<'r>, schedule: &Schedule) -> Vec<Straight<'r>> {
    let (program, facts) = (region.program, &region.facts);
    let folded_around = |sweep: &Sweep, v: &Var| {
        let group = facts.local_group(program, *v);
        let lanes = group.filter(|(_, _, order)| order.lanes().is_some());
        let by = lanes.and_then(|(g, ..)| facts.lane_rate(g, sweep.rate));
        by.is_some_and(|r| r != sweep.rate && program.is_within(sweep.rate, r))
    };
    let fits = |sweep: &&Sweep| {
        sweep.statements.len() <= MAX_STATEMENTS
            && !sweep.uses.iter().any(|v| folded_around(sweep, v))
    };
    let roots = &region.program.roots;
    let nested = region.nests().iter();
    let nested = nested.filter(|nest| roots.contains(&nest.outer.rate));
    let nested = nested.filter_map(|nest| {
        let all = nest.sweeps(region).into_iter();
        let all = all.map(|sweep| Some(sweep).filter(fits));
        Some(Straight {
            sweep: &nest.outer,
            inner: all.collect::<Option<Vec<_>>>()?,
            tiles: vec![lower::nest(region, nest, schedule).ok()?],
            branchless: FxHashSet::default(),
        })
    });
    let plain = std::cell::OnceCell::new();
    let plain = || plain.get_or_init(|| choose(region, &Target::plain(), Aim::Start));
    let straight = |sweep| {
        let mut tiles = lower::tiles(region, sweep, schedule).unwrap_or_default();
        // Vectors take whole turns; what is left is taken step by step, by one of the tiles where that takes whatever is left.
        let takes_all = |t: &Tile| t.entries.iter().all(|e| matches!(e, Entry::Room { .. }));
        if tiles.iter().any(|t| t.granule() > 1) && !tiles.iter().any(takes_all) {
            tiles.extend(lower::tiles(region, sweep, plain()).unwrap_or_default());
        }
        let branchless = match tiles.is_empty() {
            true => branchless(region, sweep, plain()),
            false => FxHashSet::default(),
        };
        Straight {
            sweep,
            inner: Vec::new(),
            tiles,
            branchless,
        }
    };
    let sweeps = region.sweeps().filter(fits).map(straight);
    sweeps.chain(nested).collect()
}

impl<'r> Straight<'r> {
    /// The sweep, and those inside of it.
    pub fn all(&self) -> impl Iterator<Item = &'r Sweep<'r>> {
        std::iter::once(self.sweep).chain(self.inner.iter().copied())
    }
}

/// The steps that enter sub rates which need no branch.
fn branchless(region: &Region, sweep: &Sweep, plain: &Schedule) -> FxHashSet<usize> {
    let compact = |i: usize| {
        let rate = region.rate_of_block(i);
        rate.is_some_and(|r| plain.admits(r) == Admit::Compact)
    };
    let steps = sweep.steps.iter().enumerate();
    let entered = steps.filter(|(_, step)| matches!(step, Step::Enter(i) if compact(*i)));
    entered.map(|(k, _)| k).collect()
}

impl<'a> Emit<'a, '_> {
    /// Writes the loop. Where it ends, and where it cannot be entered, the guard decides.
    pub(super) fn run_sweep(&mut self, straight: &'a Straight<'a>, guard: usize) {
        let sweep = straight.sweep;
        let counter = self.get(sweep.counter, Part::Value);
        let mut proven: Vec<_> = sweep.proven.iter().copied().collect();
        proven.sort();
        let count = self.steps_with_room(sweep, &proven, counter);
        let enter = self.builder.create_block();
        let slowly = self.builder.create_block();
        self.builder.ins().brif(count, enter, &[], slowly, &[]);
        self.begin(enter);
        self.bring_near(straight.all(), |_| true);
        let end = self.builder.ins().iadd(counter, count);
        let head = self.builder.create_block();
        self.builder.ins().jump(head, &[]);
        self.builder.switch_to_block(head);
        self.sweep = Some(sweep);
        let place = self.place;
        let exit = match sweep.exits.is_empty() {
            true => None,
            false => Some(self.builder.create_block()),
        };
        self.iteration(straight, exit);
        self.place = place;
        self.sweep = None;
        self.near.clear();
        let now = self.get(sweep.counter, Part::Value);
        let more = self.less(now, end);
        let leave = self.builder.create_block();
        self.builder.ins().brif(more, head, &[], leave, &[]);
        self.builder.seal_block(head);
        self.begin(leave);
        let steps = self.builder.use_var(self.steps);
        let steps = self.builder.ins().iadd(steps, count);
        self.builder.def_var(self.steps, steps);
        self.jump(guard);
        if let Some(exit) = exit {
            // It is left to the guard, which takes it: there are steps left.
            self.begin(exit);
            let now = self.get(sweep.counter, Part::Value);
            let taken = self.builder.ins().isub(now, counter);
            let steps = self.builder.use_var(self.steps);
            let steps = self.builder.ins().iadd(steps, taken);
            self.builder.def_var(self.steps, steps);
            self.builder.ins().jump(slowly, &[]);
        }
        self.begin(slowly);
    }

    /// How many steps there are before the bound, the next event, and the ends of arrays at these indices.
    pub(super) fn steps_with_room(
        &mut self,
        sweep: &Sweep,
        rooms: &[(Var, Var)],
        counter: Value,
    ) -> Value {
        let (steps, event) = (
            self.builder.use_var(self.steps),
            self.builder.use_var(self.event),
        );
        let calm = self.builder.ins().isub(event, steps);
        self.calm_steps(sweep, rooms, (counter, calm))
    }

    /// The same, given how many there are before the next event.
    pub(super) fn calm_steps(
        &mut self,
        sweep: &Sweep,
        rooms: &[(Var, Var)],
        (counter, calm): (Value, Value),
    ) -> Value {
        let bound = self.atom(sweep.bound);
        let left = self.room(bound, counter);
        let mut count = self.builder.ins().umin(left, calm);
        for (array, index) in rooms {
            let (length, index) = (self.length(*array), self.get(*index, Part::Value));
            let room = self.room(length, index);
            count = self.builder.ins().umin(count, room);
        }
        count
    }

    /// How far it is to an end; 0 behind it.
    pub(super) fn room(&mut self, end: Value, at: Value) -> Value {
        let furthest = self.builder.ins().umax(end, at);
        self.builder.ins().isub(furthest, at)
    }

    /// Takes the parameters and arrays that a loop uses into registers, as far as there are some; others are
    /// read where they are used. Of some arrays nobody asks the length.
    pub(super) fn bring_near<'s>(
        &mut self,
        sweeps: impl Iterator<Item = &'s Sweep<'s>>,
        asks_length: impl Fn(Var) -> bool,
    ) {
        let (mut floats, mut words) = (0, 0);
        let used: FxHashSet<Var> = sweeps
            .flat_map(|s| &s.uses)
            .map(|v| self.owner(*v))
            .collect();
        let params = self.program.params.iter().map(|p| &p.var);
        let from_outside = params.chain(&self.layout.arrays);
        for v in from_outside.filter(|v| used.contains(v)) {
            let scalar = matches!(self.program.ty(*v), Type::Scalar(_));
            let float = scalar && facts::elem(self.program, *v).is_float();
            let (taken, most, parts): (_, _, &[Part]) = match (scalar, float) {
                (true, true) => (&mut floats, FLOATS, &[Part::Value]),
                (true, false) => (&mut words, WORDS, &[Part::Value]),
                (false, _) if asks_length(*v) => (&mut words, WORDS, &[Part::Data, Part::Length]),
                (false, _) => (&mut words, WORDS, &[Part::Data]),
            };
            *taken += parts.len();
            if *taken > most {
                continue;
            }
            for part in parts {
                let value = self.get(*v, *part);
                self.near.insert((*v, *part), value);
            }
        }
    }

    /// One iteration, or a jump to `exit` in front of it.
    fn iteration(&mut self, straight: &Straight, exit: Option<Block>) {
        let sweep = straight.sweep;
        let mut skips: Vec<Block> = Vec::new();
        for (k, step) in sweep.steps.iter().enumerate() {
            match *step {
                Step::Block(i) => {
                    self.place = self.facts.blocks[i].place;
                    self.totals_for_block(i);
                    self.stmts(&self.facts.blocks[i].block.stmts);
                    if k == 0 {
                        for (a, exit) in sweep.exits.iter().zip(exit.iter().cycle()) {
                            let unless = self.atom(*a);
                            let on = self.builder.create_block();
                            self.builder.ins().brif(unless, on, &[], *exit, &[]);
                            self.begin(on);
                        }
                        self.begin_lanes(sweep.rate);
                    }
                }
                Step::Enter(i) => {
                    let block = self.facts.blocks[i].block;
                    self.place = self.facts.blocks[i].place;
                    self.totals_for_block(i);
                    self.stmts(&block.stmts);
                    if straight.branchless.contains(&k) {
                        let mut admitted = self.builder.ins().iconst(types::I8, 1);
                        for exit in &block.exits {
                            let unless = self.atom(exit.unless);
                            admitted = self.builder.ins().band(admitted, unless);
                        }
                        self.admitted = Some(admitted);
                        continue;
                    }
                    let skip = self.builder.create_block();
                    for exit in &block.exits {
                        let unless = self.atom(exit.unless);
                        let on = self.builder.create_block();
                        self.builder.ins().brif(unless, on, &[], skip, &[]);
                        self.begin(on);
                    }
                    skips.push(skip);
                }
                // What needs no branch has nothing inside.
                Step::Leave if self.admitted.take().is_some() => {}
                Step::Leave => {
                    if let Some(skip) = skips.pop() {
                        self.builder.ins().jump(skip, &[]);
                        self.begin(skip);
                    }
                }
            }
        }
        let at = |section| Place::At {
            rate: sweep.rate,
            stage: 0,
            section,
        };
        self.commit(at(Section::Bottom), at(Section::Guard));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loop_lang::ir::{RateId, RateKind};
    use loop_lang::state::Layout;

    /// A loop over segments that folds each, and then reads what it came to for each element.
    #[test]
    fn loops_that_read_what_others_have_folded_run_without_stops() {
        let text = include_str!("../../../c/tests/loops/shares.loop");
        let mut program = loop_lang::parse::parse(text).unwrap();
        loop_lang::gotos::derive_gotos(&mut program);
        loop_lang::verify::verify(&program).unwrap();
        let layout = Layout::of(&program);
        let region = Region::of(&program, &layout.arrays, &layout.held).unwrap();
        let plans = sweeps(&region, &Schedule::new());
        let nested = |r: &RateId| matches!(program.rate(*r).kind, RateKind::Nested { .. });
        let rates: Vec<RateId> = (0..program.rates.len()).map(RateId::new).collect();
        let innermost: Vec<RateId> = rates.into_iter().filter(nested).collect();
        let (roots, sweeps): (Vec<_>, Vec<_>) = plans.iter().partition(|p| !p.inner.is_empty());
        let rates = |all: &[&Straight]| all.iter().map(|p| p.sweep.rate).collect::<Vec<_>>();
        assert_eq!(rates(&sweeps), innermost);
        assert_eq!(rates(&roots), program.roots);
        assert!(innermost.len() > 1);
    }
}
