//! The function of a tile.

use super::masks::Masks;
use super::memory::{Neighbours, neighbours};
use super::nest::Out;
use super::passed::{scanned, seen};
use crate::emit::ideas::Idea;
use crate::emit::unit::{Unit, comment};
use crate::facts::Source;
use crate::names::{Facet, Unique, identifier};
use livefusion_tile::ir::{Entry, Operand, Origin, Shape, Stmt, StmtKind, Tile, Value, changed};
use loop_lang::ir::CombId;
use loop_lang::types::Ty;
use rustc_hash::{FxHashMap, FxHashSet};

/// Pieces of a body that make the function that calls them a long one.
const MANY: usize = 16;

/// A tile's function, being written.
pub struct Writer<'u, 'a, 't> {
    pub(super) unit: &'u mut Unit<'a>,
    pub(super) tile: &'t Tile,
    /// Its number among the tiles of its rate.
    pub(super) version: usize,
    pub(super) masks: Masks,
    /// Whether it may be left within its range, and whether there are segments in its steps.
    pub(super) leaves: bool,
    pub(super) has_segments: bool,
    /// Whether segments ask for the steps of the turns that they are in.
    pub(super) segments_ask: bool,
    /// Names of the least of several lengths.
    pub(super) least: FxHashMap<Vec<String>, String>,
    /// Whether segments are put in order.
    pub(super) sorts: bool,
    /// Whether what is written had a dry run, so that its segments fit.
    pub(super) dry_run_passed: bool,
    /// What a dry run sets, and so is kept meanwhile, whether it was set before or not.
    kept: FxHashSet<Value>,
    pub(super) names: Vec<String>,
    /// Whose lanes lie side by side in memory.
    pub(super) neighbours: FxHashMap<Value, Neighbours>,
    /// Words of which the upper half is zero, and what has the same lower half: that word itself, or the one that it
    /// was cut off.
    pub(super) halves: FxHashMap<Value, Operand>,
    /// Which part of values that have more lanes than a vector is written.
    pub(super) part: u32,
    /// How the segment that is written is left.
    pub(super) segment: Option<Out>,
    /// Whether its turns take one of two values by a mask.
    pub(super) picks: bool,
    /// The combinator that the last comment named.
    pub(super) comb: Option<CombId>,
}

impl<'u, 'a, 't> Writer<'u, 'a, 't> {
    /// The writer of a tile.
    pub fn new(unit: &'u mut Unit<'a>, tile: &'t Tile, version: usize) -> Writer<'u, 'a, 't> {
        let mut unique = Unique::beside_words();
        for word in [
            "trapped", "rest", "after", "first", "size", "last", "lf_halt", "l", "k", "x", "y", "m",
        ] {
            unique.pick(word);
        }
        for (a, _) in tile.arrays() {
            unique.pick(unit.names.var(a));
            unique.pick(unit.names.facet(a, Facet::Length));
        }
        for (_, data) in tile.each_value() {
            match data.origin {
                Origin::Given(v) => _ = unique.pick(unit.names.var(v)),
                Origin::State(v) => _ = unique.pick(&seen(unit, v)),
                Origin::Scan(v, kept) => _ = unique.pick(scanned(unit, v, kept)),
                Origin::From | Origin::End | Origin::Register | Origin::Buffer | Origin::Let => {}
            }
        }
        let masks = Masks::of(tile, &unit.helpers.target);
        let names = (tile.each_value())
            .map(|(_, data)| match data.origin {
                Origin::From => "from".to_string(),
                Origin::End => "end".to_string(),
                Origin::Given(v) => unit.names.var(v).to_string(),
                Origin::State(v) => seen(unit, v),
                Origin::Scan(v, kept) => scanned(unit, v, kept).to_string(),
                Origin::Register | Origin::Buffer | Origin::Let => {
                    let name = unique.pick(&identifier(&data.name));
                    for part in 0..data.shape.lanes / masks.lanes {
                        unique.pick(&format!("{name}_p{part}"));
                    }
                    name
                }
            })
            .collect();
        let source = &unit.facts.source;
        let is_given = |a| matches!(source.get(&a), Some(Source::Param(_)));
        let neighbours = neighbours(tile, is_given);
        let (mut kept, mut sorts) = (FxHashSet::default(), false);
        tile.each_stmt(&mut |s| {
            sorts |= matches!(s.kind, StmtKind::Sort { .. });
            if let StmtKind::DryRun { body } = &s.kind {
                kept.extend(changed(body).iter().filter(|v| tile.shape(**v).is_scalar()));
            }
        });
        Writer {
            sorts,
            neighbours,
            halves: FxHashMap::default(),
            unit,
            tile,
            version,
            leaves: tile.leaves(),
            has_segments: tile.has_segments(),
            segments_ask: false,
            least: FxHashMap::default(),
            dry_run_passed: false,
            kept,
            masks,
            names,
            part: 0,
            segment: None,
            picks: false,
            comb: None,
        }
    }

    /// Writes the function.
    pub fn write(&mut self, symbol: &str) {
        self.ideas();
        let passed = self.passed(&self.tile.body);
        let (leaves, segments) = (self.leaves, self.has_segments);
        let end = match leaves {
            true => "u64 *restrict lf_left",
            false => "const u64 end",
        };
        let steps = segments.then_some("u64 *restrict lf_rest");
        let parameters: Vec<&str> = ["const u64 from", end]
            .into_iter()
            .chain(steps)
            .chain(passed.iter().map(|p| p.declaration.as_str()))
            .collect();
        let rate = &self.unit.program.rate(self.tile.rate).name;
        self.unit.line(comment(&format!("/* Rate {rate} */")));
        let function = self.function(symbol);
        let pieces = self.pieces(&function);
        let long = match pieces.len() > MANY {
            true => "LF_LONG ",
            false => "",
        };
        self.unit
            .line(format!("{long}static __attribute__((noinline)) u64"));
        self.unit
            .open(format!("{function}({}) {{", parameters.join(", ")));
        self.unit.line("u64 trapped = 0;");
        if leaves {
            self.unit.line("const u64 end = *lf_left;");
        }
        if segments {
            self.unit.line("u64 rest = *lf_rest;");
            self.lengths_of_arrays();
        }
        let states: Vec<Value> = passed.iter().filter_map(|p| p.state).collect();
        for v in &states {
            let (ty, name) = (self.shape(*v).ty.name(), self.name(*v));
            self.unit.line(format!("{ty} {name} = *lf_{name};"));
        }
        for (v, data) in self.tile.each_value() {
            match data.origin {
                Origin::Register => self.register(v),
                Origin::Buffer => self.buffer(v),
                _ => {}
            }
        }
        for (k, s) in self.tile.body.iter().enumerate() {
            match pieces.get(&k) {
                Some(call) => self.unit.line(call),
                None => self.stmts(std::slice::from_ref(s)),
            }
        }
        for v in &states {
            let name = self.name(*v);
            self.unit.line(format!("*lf_{name} = {name};"));
        }
        if segments {
            self.unit.line("*lf_rest = rest;");
        }
        self.unit.line("return trapped;");
        self.unit.close();
        self.unit.line("");
    }

    /// Notes which ideas its words make use of.
    fn ideas(&mut self) {
        self.unit.uses(Idea::Tiles);
        let keeps = |e: &Entry| matches!(e, Entry::Keeps { .. });
        if self.tile.entries.iter().any(keeps) {
            self.unit.uses(Idea::Cases);
        }
        let tile = self.tile;
        tile.each_stmt(&mut |s| {
            let idea = match &s.kind {
                StmtKind::Compress { .. } => Idea::Packing,
                StmtKind::Beat { .. } => Idea::Extrema,
                StmtKind::Scan { .. } => Idea::Scans,
                StmtKind::Leave { .. } => Idea::Exits,
                StmtKind::Across { .. } => Idea::Runs,
                StmtKind::Segment { .. } => Idea::Nests,
                _ => return,
            };
            self.unit.uses(idea);
        });
    }

    fn register(&mut self, v: Value) {
        let (ty, name) = (self.vector(self.shape(v)), &self.names[v.index()]);
        let text = match self.parts(self.tile.shape(v).lanes) {
            1 if self.kept.contains(&v) => format!("{ty} {name} = 0;"),
            1 => format!("{ty} {name};"),
            parts => format!("{ty} {name}[{parts}];"),
        };
        self.unit.line(text);
    }

    /// Declares memory for a buffer: truth takes a byte there.
    fn buffer(&mut self, v: Value) {
        let (shape, name, ty) = (self.tile.shape(v), self.whole(v), self.element(v));
        let aligned = self.unit.helpers.target.vector_bytes();
        let text = format!(
            "{ty} {name}[{}] __attribute__((aligned({aligned})));",
            shape.lanes
        );
        self.unit.line(text);
    }

    /// The type of a buffer's elements.
    pub(super) fn element(&self, v: Value) -> &'static str {
        match self.tile.shape(v).ty {
            Ty::Bool => Ty::U8.name(),
            ty => ty.name(),
        }
    }

    /// A scalar, or a vector as it is.
    pub(super) fn operand(&mut self, a: Operand) -> String {
        match a {
            Operand::Const(c) => self.unit.helpers.constant(c),
            Operand::Value(v) => self.name(v),
        }
    }

    /// An operand in so many lanes of a part.
    pub(super) fn in_lanes(&mut self, a: Operand, lanes: u32) -> String {
        let shape = self.operand_shape(a);
        let text = self.operand(a);
        match (shape.lanes == lanes, shape.ty) {
            (true, _) => text,
            (false, Ty::Bool) => self.all_or_none(&text),
            (false, ty) => {
                let all = self.all(Shape::of(ty, lanes));
                format!("{all}({text})")
            }
        }
    }

    /// Defines a value.
    pub(super) fn define(&mut self, to: Value, text: &str) {
        let (ty, name) = (self.vector(self.shape(to)), self.name(to));
        self.unit.line(format!("const {ty} {name} = {text};"));
    }

    /// Bodies are nested no deeper than their innermost loop's regions, which is little.
    pub(super) fn stmts(&mut self, stmts: &[Stmt]) {
        let mut rest = stmts;
        while let Some((first, behind)) = rest.split_first() {
            let some = rest.iter().take_while(|s| self.is_lane_wise(&s.kind));
            let (some, others) = rest.split_at(some.count());
            if some.is_empty() {
                self.say(first.comb, &first.kind);
                self.stmt(&first.kind);
                rest = behind;
            } else {
                self.lane_wise(some);
                rest = others;
            }
        }
    }

    /// Sets the part of a register.
    pub(super) fn set(&mut self, to: Value, value: Operand) {
        let lanes = self.shape(to).lanes;
        let (name, value) = (self.name(to), self.in_lanes(value, lanes));
        self.unit.line(format!("{name} = {value};"));
    }

    /// A comment with the combinator's name and kind, where it changes.
    pub(super) fn say(&mut self, comb: CombId, kind: &StmtKind) {
        let structure = matches!(kind, StmtKind::For { .. });
        if self.comb != Some(comb) && !structure {
            self.comb = Some(comb);
            let data = self.unit.program.comb(comb);
            let text = format!("/* {}: {} */", data.name, data.kind);
            self.unit.line(comment(&text));
        }
    }

    fn stmt(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Let { to, op, args } => self.let_op(*to, *op, args),
            StmtKind::Positions { to, from } => {
                let lanes = self.tile.shape(*to).lanes;
                self.each_part(lanes, |w| {
                    let (shape, before) = (w.shape(*to), w.before());
                    let (all, at) = (w.all(shape), w.operand(*from));
                    let positions = w.positions(shape);
                    w.define(*to, &format!("{all}({at}{before}) + {positions}()"));
                });
            }
            StmtKind::Until { to, at, end } => {
                let lanes = self.tile.shape(*to).lanes;
                self.each_part(lanes, |w| w.until(*to, *at, *end));
            }
            StmtKind::Load {
                to,
                from,
                at,
                under,
                ..
            } => {
                let lanes = self.tile.shape(*to).lanes;
                self.each_part(lanes, |w| w.load(*to, *from, *at, *under));
            }
            StmtKind::Gather { to, array, at } => {
                let lanes = self.tile.shape(*to).lanes;
                self.each_part(lanes, |w| w.gather(*to, *array, *at));
            }
            StmtKind::Across {
                into,
                array,
                at,
                lanes,
                apart,
                steps,
                ..
            } => self.across(*into, (*array, *at), *lanes, (*apart, *steps)),
            StmtKind::Store {
                into,
                at,
                value,
                under,
                lanes,
                ..
            } => self.each_part(*lanes, |w| {
                let lanes = (*lanes).min(w.masks.lanes);
                w.store(*into, *at, *value, *under, lanes);
            }),
            StmtKind::Put {
                array,
                at,
                value,
                by,
                under,
                lanes,
            } => self.each_part(*lanes, |w| {
                let lanes = (*lanes).min(w.masks.lanes);
                w.put(*array, (*at, *value), *by, *under, lanes);
            }),
            StmtKind::Compress {
                into,
                at,
                value,
                under,
                ..
            } => self.compress(*into, *at, *value, *under),
            StmtKind::Sort { arrays, rows } => {
                let rows = self.operand(*rows);
                let line = self.unit.sorts(arrays, rows);
                self.unit.line(line);
            }
            StmtKind::Length { to, array } => {
                let n = self.unit.length(*array);
                self.define(*to, &n);
            }
            StmtKind::Count { to, of } => {
                let counts = self.bits_of_parts(*of).into_iter();
                let counts = counts.map(|bits| format!("__builtin_popcountl({bits})"));
                let counts: Vec<String> = counts.collect();
                self.define(*to, &counts.join(" + "));
            }
            StmtKind::Any { to, of } => {
                let any = self.any_of_parts(*of);
                self.define(*to, &format!("{any} != 0"));
            }
            StmtKind::Scan { to, op, of } => self.scan(*to, *op, *of),
            StmtKind::Beat { to, op, new, old } => {
                let lanes = self.tile.shape(*to).lanes;
                self.each_part(lanes, |w| w.beat(*to, *op, *new, *old));
            }
            StmtKind::Lane { to, of, at } => self.one_lane(*to, *of, *at),
            StmtKind::SetLane { to, at, value } => self.set_lane(*to, *at, *value),
            StmtKind::Last { to, of } => self.last(*to, *of),
            StmtKind::Slide { to, first, of } => self.slide(*to, *first, *of),
            StmtKind::Reverse { to, of } => self.reverse(*to, *of),
            StmtKind::Halves { to, op, beats, of } => self.halves(*to, (*op, *beats), *of),
            StmtKind::Set { to, value } => self.set(*to, *value),
            StmtKind::Trap { unless } => {
                let lanes = self.tile.operand_shape(*unless).lanes;
                self.each_part(lanes, |w| {
                    let ok = w.operand(*unless);
                    let text = match w.operand_shape(*unless).is_scalar() {
                        true => format!("!{ok}"),
                        false => w.lacks(&ok),
                    };
                    w.unit.line(format!("trapped |= {text};"));
                });
            }
            StmtKind::Leave { at, unless } => {
                let (at, unless) = (self.operand(*at), self.operand(*unless));
                let out = match &self.segment {
                    Some(Out::Behind(label)) => {
                        format!("after += first + size - {at}; goto {label};")
                    }
                    Some(Out::ScalarEpilogue(label)) => format!("goto {label};"),
                    None => format!("*lf_left = {at}; goto left;"),
                };
                self.unit.line(format!("if (!{unless}) {{ {out} }}"));
            }
            StmtKind::For {
                counter,
                from,
                to,
                step,
                unroll,
                body,
            } => {
                let range = self.tile.is_range(kind);
                self.turns(*counter, (*from, *to), *step, *unroll);
                if range && self.has_segments {
                    self.begin_turn(*counter, *step);
                    self.stmts(body);
                    self.end_turn();
                } else {
                    self.stmts(body);
                }
                self.unit.close();
                if range && self.leaves {
                    self.unit.depth -= 1;
                    self.unit.line("left:;");
                    self.unit.depth += 1;
                }
            }
            StmtKind::Segment { .. } => self.segment(kind),
            StmtKind::DryRun { body } => self.dry_run(body),
            StmtKind::If { cond, then, other } => {
                let cond = self.operand(*cond);
                self.unit.open(format!("if ({cond}) {{"));
                self.stmts(then);
                if !other.is_empty() {
                    self.unit.depth -= 1;
                    self.unit.open("} else {");
                    self.stmts(other);
                }
                self.unit.close();
            }
            StmtKind::While { test, cond, body } => {
                self.unit.open("for (;;) {");
                self.stmts(test);
                let cond = self.operand(*cond);
                // A trapped loop may count on what trapped; its results are not wanted.
                let traps = !self.unit.program.traps.is_empty();
                let trapped = if traps { " || trapped" } else { "" };
                self.unit
                    .line(format!("if (!({cond}){trapped} || *lf_halt) break;"));
                self.stmts(body);
                self.unit.close();
            }
        }
    }

    /// The head of a loop.
    fn turns(&mut self, counter: Value, (from, to): (Operand, Operand), step: u64, unroll: bool) {
        if unroll && let (Operand::Const(from), Operand::Const(to)) = (from, to) {
            let turns = (to.bits - from.bits) / step.max(1);
            self.unit.line(format!("#pragma GCC unroll {turns}"));
        }
        let (from, to) = (self.operand(from), self.operand(to));
        let name = self.name(counter);
        self.unit.open(format!(
            "for (u64 {name} = {from}; {name} < {to}; {name} += {step}) {{"
        ));
    }
}
