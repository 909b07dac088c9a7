//! The state machine: the loop's blocks and gotos as they are, with a stop at every guard of a loop
//! rate. It can begin and pause at any of them, and does what tiles leave.

use super::tile::{Writer, Zipper};
use super::unit::{Unit, comment};
use crate::facts::Placed;
use crate::names::{Facet, Unique};
use livefusion_tile::ir::{Tile, Zip};
use livefusion_tile::target::Extension;
use loop_lang::ir::{
    Atom, CHUNK, End, Group, Label, Order, Place, RateId, RateKind, Section, Type, Var,
};
use loop_lang::state::Layout;
use rustc_hash::FxHashMap;

/// Lanes beyond this many bytes live in memory that the host brings, not on the stack.
const MAX_STACK_LANES: usize = 64 << 10;

/// Bytes of a line of the caches: vectors of lanes that lie in two take twice as long.
pub const LINE: usize = 64;

/// Statements of a block that make the state machine's function a long one. Budgets keep loops below this; a
/// closure of many terms makes a longer block.
const MANY: usize = 500;

/// The state machine's function, being written.
pub struct Machine<'u, 'a> {
    pub(super) unit: &'u mut Unit<'a>,
    pub(super) layout: &'u Layout,
    pub(super) tiles: &'u [Tile],
    pub(super) zips: &'u [Zip],
    symbol: &'u str,
    /// C labels by block.
    labels: Vec<String>,
    summary: bool,
    pub(super) held: FxHashMap<Var, usize>,
    /// Whether a loop rate that updates lanes has others below it.
    joins_above: bool,
}

/// Bytes that a loop's lanes take outside of the stack.
pub fn scratch_bytes(program: &loop_lang::Loop) -> usize {
    let lanes = |g: &Group| g.order.lanes().unwrap_or(0) as usize;
    let groups = program.groups.iter();
    let bytes: usize = groups.map(|g| g.vars.len() * 8 * lanes(g)).sum();
    match bytes > MAX_STACK_LANES {
        true => bytes + LINE,
        false => 0,
    }
}

/// Writes the exported function `symbol`. In a summary pass the returning block does not run. Gives whether it
/// runs seldom: other functions do the most of the work.
pub fn write(
    unit: &mut Unit,
    layout: &Layout,
    (zips, tiles): (&[Zip], &[Tile]),
    symbol: &str,
    summary: bool,
) -> bool {
    let mut unique = Unique::default();
    for word in ["event", "resume", "out", "no_memory"] {
        unique.pick(word);
    }
    let labels = unit
        .facts
        .blocks
        .iter()
        .map(|b| unique.pick(&label_name(unit.program, b.labels[0])))
        .collect();
    let held = layout.held.iter().copied().collect();
    let mut machine = Machine {
        unit,
        layout,
        zips,
        tiles,
        symbol,
        labels,
        summary,
        held,
        joins_above: false,
    };
    machine.joins_above = machine.any_joins_above();
    machine.function();
    machine.is_cold()
}

/// Whether a group of this order has a local part.
pub(super) fn is_local(order: Order) -> bool {
    order.is_local()
}

fn label_name(program: &loop_lang::Loop, l: Label) -> String {
    format!("{}_{}", l.section.name(), program.comb(l.comb).name)
}

impl Machine<'_, '_> {
    pub(super) fn line(&mut self, text: impl AsRef<str>) {
        self.unit.line(text);
    }

    fn function(&mut self) {
        if self.is_cold() {
            let blocks = self.unit.facts.blocks.iter();
            let longest = blocks.map(|b| b.block.stmts.len()).max();
            self.line(match longest.unwrap_or(0) {
                0..=MANY => "LF_COLD",
                _ => "LF_LONG",
            });
        }
        self.unit
            .open(format!("i32 {}(lf_run *run) {{", self.symbol));
        self.declarations();
        self.frame(true);
        self.line("u64 position = run->words[0];");
        self.line("u64 steps = run->words[1];");
        self.line("const u64 limit = steps + run->budget;");
        self.line("u64 event = 0; /* the step at which to stop and look */");
        self.line("u64 trapped = 0;");
        self.line("i32 outcome = LF_DONE;");
        self.next_values(true);
        self.line("goto resume;");
        self.line("");
        for i in 0..self.unit.facts.blocks.len() {
            self.block(i);
        }
        self.event();
        self.resume();
        self.leave();
        self.unit.close();
        self.line("");
    }

    /// Whether tiles do nearly all of the work, those over segments included.
    fn is_cold(&self) -> bool {
        let tiled = |i| self.tiles.iter().any(|t| t.rate == RateId::new(i));
        let zipped = |i| self.zips.iter().any(|z| z.rate == RateId::new(i));
        let mut rates = self.unit.program.rates.iter().enumerate();
        rates.all(|(i, rate)| match rate.kind {
            RateKind::Root { .. } => tiled(i) || zipped(i),
            RateKind::Nested { .. } => tiled(i),
            RateKind::Sub { .. } | RateKind::Cursor { .. } => true,
        })
    }

    fn block(&mut self, i: usize) {
        let facts = self.unit.facts;
        let Placed {
            labels,
            block,
            place,
        } = &facts.blocks[i];
        self.unit.place = *place;
        self.unit.comb = None;
        let others: Vec<String> = labels
            .iter()
            .skip(1)
            .map(|l| label_name(self.unit.program, *l))
            .collect();
        let synonyms = match others.is_empty() {
            true => String::new(),
            false => format!(" {}", comment(&format!("/* {} */", others.join(", ")))),
        };
        self.unit.depth -= 1;
        self.line(format!("{}:;{synonyms}", self.labels[i]));
        self.unit.depth += 1;
        if let Some(rate) = self.guarded(*place) {
            self.stop(rate);
            self.join_for_tiles(rate);
            for zip in self.zips.iter().filter(|z| z.rate == rate) {
                Zipper::new(self.unit, zip, self.symbol).call(&self.labels[i]);
            }
            let tiles = self.tiles.iter().filter(|t| t.rate == rate);
            for (version, tile) in tiles.enumerate() {
                let bound = self.unit.program.rate(rate).kind.bound();
                let mut writer = Writer::new(self.unit, tile, version);
                bound
                    .into_iter()
                    .for_each(|b| writer.call(self.symbol, b, &self.labels[i]));
            }
        }
        if *place == Place::Return {
            self.returning(i);
            return;
        }
        self.join_for_readers(i);
        self.unit.stmts(&block.stmts);
        for exit in &block.exits {
            let unless = self.unit.atom(exit.unless);
            if let Some(target) = exit.target {
                self.unit.open(format!("if (!{unless}) {{"));
                self.go(*place, target);
                self.unit.close();
            }
        }
        if let Some(rate) = self.guarded(*place) {
            self.admit(rate);
        }
        match &block.end {
            End::Goto(l) => self.go(*place, *l),
            End::Branch(c, yes, no) => {
                let cond = self.unit.atom(*c);
                self.unit.open(format!("if ({cond}) {{"));
                self.go(*place, *yes);
                self.unit.close();
                self.go(*place, *no);
            }
            End::Open | End::Return(_) => self.line("goto out;"),
        }
        self.line("");
    }

    /// The loop rate whose guard this place is.
    fn guarded(&self, place: Place) -> Option<RateId> {
        match place {
            Place::At {
                rate,
                section: Section::Guard,
                ..
            } if !self.unit.program.rate(rate).kind.is_sub() => Some(rate),
            _ => None,
        }
    }

    /// The stop at a loop rate's guard.
    fn stop(&mut self, rate: RateId) {
        let position = self
            .layout
            .resume
            .iter()
            .position(|r| *r == rate)
            .unwrap_or(0)
            + 1;
        self.line(format!(
            "if (steps >= event || trapped) {{ position = {position}; goto event; }}"
        ));
    }

    /// An iteration begins.
    fn admit(&mut self, rate: RateId) {
        self.line("steps += 1;");
        for v in self
            .unit
            .facts
            .pending
            .get(&rate)
            .cloned()
            .unwrap_or_default()
        {
            if let Some((g, _, Order::Lanes(_) | Order::Runs(_))) =
                self.unit.facts.local_group(self.unit.program, v)
            {
                let (next, lane) = (self.unit.names.facet(v, Facet::Next), self.unit.lane(g, v));
                self.line(format!("{next} = {lane};"));
            }
        }
    }

    /// Whether this way leaves a root other than by its guard.
    fn is_early(&self, from: Place, to: Place) -> bool {
        let program = self.unit.program;
        let root = match to {
            Place::Return => program.roots.last().copied(),
            Place::At {
                rate,
                section: Section::Done,
                ..
            } => program.rate(rate).kind.parent().is_none().then_some(rate),
            _ => None,
        };
        let Place::At { rate, section, .. } = from else {
            return false;
        };
        root.is_some_and(|r| (rate, section) != (r, Section::Guard))
    }

    /// A jump, with the updates that take effect on the way.
    fn go(&mut self, from: Place, to: Label) {
        let program = self.unit.program;
        let target = self.unit.facts.tree.place(program, to);
        let committed = self.unit.facts.committed(program, from, target);
        let left = committed.iter().any(|q| self.guarded(target) != Some(*q));
        if left && self.joins_above {
            // A full chunk may have groups to join at the outer guard as well.
            self.line(format!("if (steps % {CHUNK} == 0) event = steps;"));
        }
        for v in self.unit.facts.taking_effect(program, from, target) {
            let next = self.unit.names.facet(v, Facet::Next).to_string();
            let current = self.unit.current(v);
            self.line(format!("{current} = {next};"));
        }
        if self.is_early(from, target) {
            self.line("outcome = LF_EXITED;");
        }
        match self.unit.facts.at.get(&target) {
            Some(i) => self.line(format!("goto {};", self.labels[*i])),
            None => self.line("goto out;"),
        }
    }

    fn resume(&mut self) {
        self.unit.depth -= 1;
        self.line("resume:");
        self.unit.depth += 1;
        self.unit.open("switch (position) {");
        for (k, rate) in self.layout.resume.iter().enumerate() {
            let guard = Place::At {
                rate: *rate,
                stage: 0,
                section: Section::Guard,
            };
            if let Some(i) = self.unit.facts.at.get(&guard) {
                self.line(format!("case {}: goto {};", k + 1, self.labels[*i]));
            }
        }
        if let Some(i) = self.unit.facts.at.get(&Place::Init) {
            self.line(format!("default: goto {};", self.labels[*i]));
        }
        self.unit.close();
        self.line("");
    }

    /// The returning block.
    fn returning(&mut self, i: usize) {
        let block = self.unit.facts.blocks[i].block;
        self.line("if (trapped) goto event;");
        self.line("position = LF_END;");
        if !self.summary {
            self.join_for_readers(i);
            self.unit.stmts(&block.stmts);
            self.line("if (trapped) goto event;");
            if let End::Return(results) = &block.end {
                for (k, a) in results.iter().enumerate() {
                    self.result(k, *a);
                }
            }
        }
        self.line("goto out;");
        self.line("");
    }

    fn result(&mut self, k: usize, a: Atom) {
        if let Atom::Var(v) = a
            && let Type::Array(_) = self.unit.program.ty(v)
        {
            let length = self.unit.length(v);
            self.line(format!("run->results[{k}] = {length};"));
            return;
        }
        let (ty, value) = (self.unit.program.atom_ty(a), self.unit.atom(a));
        let word = self.unit.helpers.word_of(ty, &value);
        self.line(format!("run->results[{k}] = {word};"));
    }

    /// Saves the frame and leaves.
    fn leave(&mut self) {
        self.unit.depth -= 1;
        self.line("no_memory: __attribute__((unused));");
        self.unit.depth += 1;
        self.line("outcome = trapped ? LF_TRAPPED : LF_NO_MEMORY;");
        self.unit.depth -= 1;
        self.line("out:");
        self.unit.depth += 1;
        self.line("run->words[0] = position;");
        self.line("run->words[1] = steps;");
        self.next_values(false);
        self.frame(false);
        for slot in 0..self.unit.made.len() {
            let length = self.unit.length(self.unit.made[slot]);
            self.line(format!("run->made[{slot}].length = {length};"));
        }
        if self.unit.helpers.target.has(Extension::Avx) {
            // Compilers may leave the upper halves of vectors in use: gcc 12 does behind copies of whole vectors. That
            // slows down all code without AVX that runs next, anybody's.
            self.line("__builtin_ia32_vzeroupper();");
        }
        self.line("return outcome;");
    }
}
