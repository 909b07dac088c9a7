//! Blocks: collects statements by place, then makes one block of each place.

use super::Emission;
use crate::ast::Kind;
use crate::fusion::sides;
use crate::lower::operators;
use crate::lower::placement::Point;
use loop_lang::gotos::Tree;
use loop_lang::ir::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// Holds the statements and exits of each place of a loop.
#[derive(Default)]
pub struct Blocks {
    sections: FxHashMap<Place, Vec<Stmt>>,
    exits: FxHashMap<Place, Vec<Exit>>,
    /// Statements that come after all others of a place.
    last: Vec<(Place, Stmt)>,
}

impl Blocks {
    /// Adds statements to a place.
    pub fn push(&mut self, place: Place, stmts: Vec<Stmt>) {
        self.sections.entry(place).or_default().extend(stmts);
    }

    /// Adds statements at the start of a place.
    pub fn push_first(&mut self, place: Place, stmts: Vec<Stmt>) {
        self.sections.entry(place).or_default().splice(0..0, stmts);
    }

    /// Adds a statement at the end of a place.
    pub fn push_last(&mut self, place: Place, stmt: Stmt) {
        self.last.push((place, stmt));
    }

    /// Adds an exit to a place.
    pub fn exit(&mut self, place: Place, comb: CombId, unless: Atom, target: Option<Label>) {
        let exit = Exit {
            comb,
            unless,
            target,
        };
        self.exits.entry(place).or_default().push(exit);
    }

    /// Gives a loop its blocks: makes synonyms of all labels of one place, and gives each place its
    /// statements.
    fn fill(mut self, program: &mut Loop) {
        for (place, stmt) in std::mem::take(&mut self.last) {
            self.sections.entry(place).or_default().push(stmt);
        }
        let mut first: FxHashMap<Place, Label> = FxHashMap::default();
        for (i, comb) in program.combs.iter().enumerate() {
            for &section in sections(program, comb.slot) {
                let label = Label {
                    section,
                    comb: CombId::new(i),
                };
                let place = program.place(label);
                match first.get(&place) {
                    Some(of) => {
                        program.blocks.add_synonym(*of, label);
                    }
                    None => {
                        first.insert(place, label);
                        let block = Block {
                            stmts: self.sections.remove(&place).unwrap_or_default(),
                            exits: self.exits.remove(&place).unwrap_or_default(),
                            end: End::Open,
                        };
                        // The label is new, so this cannot fail.
                        let _ = program.blocks.insert([label], block);
                    }
                }
            }
        }
        debug_assert!(self.sections.is_empty(), "{:?}", self.sections);
    }
}

impl Emission<'_> {
    /// Gives the loop its blocks.
    pub(super) fn make_blocks(&mut self) {
        let cursors = (0..self.program.rates.len()).map(RateId::new);
        let left: Vec<(RateId, Point)> = cursors
            .filter_map(|r| Some((r, self.placed.delivery(r)?)))
            .collect();
        for (cursor, delivers) in &left {
            // A cursor without code after its last rate still needs a block to leave from.
            let slot = Some(self.slot(*delivers));
            if self.program.combs.iter().all(|c| c.slot != slot) {
                self.comb_at(self.placed.tree.rate(*cursor).node, *delivers);
            }
        }
        let blocks = std::mem::take(&mut self.blocks);
        blocks.fill(&mut self.program);
        let stages = drop_empty_stages(&mut self.program);
        if left.is_empty() {
            return;
        }
        let labels = self.program.blocks.iter().filter_map(|(l, _)| l.first());
        let labels = labels.map(|l| (self.program.place(*l), *l)).collect();
        let tree = Tree::of(&self.program);
        for (cursor, delivers) in left {
            let slot = self.slot(delivers);
            let stage = stages.get(&slot).copied().unwrap_or_default();
            self.connect(cursor, Slot { stage, ..slot }, &tree, &labels);
        }
    }

    /// Connects a cursor's delivery to its continuation. If a cursor of a zip ends, control goes to
    /// the zip, unless the sides of the zip may end apart. If a part of an append ends and it is
    /// not the last, control goes to the append. If segments end, their elements end. All updates
    /// are in `yield`, because a cursor that delivers skips its `bottom`.
    fn connect(
        &mut self,
        cursor: RateId,
        delivers: Slot,
        tree: &Tree,
        labels: &FxHashMap<Place, Label>,
    ) {
        let at = |rate, stage, section| Place::At {
            rate,
            stage,
            section,
        };
        let delivers = match self.program.rate(delivers.rate).kind {
            RateKind::Sub { .. } => at(delivers.rate, delivers.stage, Section::Yield),
            _ => at(cursor, 0, Section::Bottom),
        };
        let after = tree.after(&self.program, cursor);
        let Some(to) = after.and_then(|p| labels.get(&p)) else {
            return;
        };
        let sided = self.placed.tree.rate(cursor).opening.sided();
        let ends_all = sided.is_some_and(|s| {
            let sides = self.scope.plan.rates.sides(s.zip).unwrap_or_default();
            match self.scope.graph.node(s.zip).kind {
                Kind::Append => s.side + 1 == sides.len(),
                _ => sides::end_apart(self.scope.graph, s.zip),
            }
        });
        let ends = self.values.live.contains_key(&cursor) && !ends_all;
        let ends = ends.then(|| at(cursor, 0, Section::Done));
        for place in [delivers].into_iter().chain(ends) {
            let block = labels.get(&place).copied();
            if let Some(block) = block.and_then(|l| self.program.blocks.get_mut(l)) {
                block.end = End::Goto(*to);
            }
        }
    }
}

/// Returns the label of the block that returns.
pub(super) fn returning(program: &Loop) -> Option<Label> {
    let mut all = (0..program.combs.len()).map(|i| Label {
        section: Section::Done,
        comb: CombId::new(i),
    });
    all.find(|l| program.place(*l) == Place::Return)
}

/// Gives a loop its results, its gotos and the levels of its groups.
pub(super) fn finish(program: &mut Loop, results: Vec<Atom>) {
    let last = returning(program);
    if let Some(block) = last.and_then(|l| program.blocks.get_mut(l)) {
        block.end = End::Return(results);
    }
    loop_lang::gotos::derive_gotos(program);
    loop_lang::levels::set_levels(program);
    operators::set_runs(program);
}

/// Drops stages without a combinator, and renumbers the others. Returns the new numbers.
fn drop_empty_stages(program: &mut Loop) -> FxHashMap<Slot, u32> {
    let slots: FxHashSet<Slot> = program.combs.iter().filter_map(|c| c.slot).collect();
    let mut number: FxHashMap<Slot, u32> = FxHashMap::default();
    for (i, rate) in program.rates.iter_mut().enumerate() {
        let slot = |stage| Slot {
            rate: RateId::new(i),
            stage,
        };
        rate.parts
            .retain(|p| !matches!(p, Part::Stage(s) if *s > 0 && !slots.contains(&slot(*s))));
        let mut next = 0;
        for part in &mut rate.parts {
            if let Part::Stage(s) = part {
                number.insert(slot(*s), next);
                *s = next;
                next += 1;
            }
        }
    }
    for slot in program.combs.iter_mut().filter_map(|c| c.slot.as_mut()) {
        if let Some(n) = number.get(slot) {
            slot.stage = *n;
        }
    }
    number
}

/// The sections of a combinator in a slot.
fn sections(program: &Loop, slot: Option<Slot>) -> &'static [Section] {
    let Some(slot) = slot else {
        return &[Section::Init, Section::Done];
    };
    let rate = program.loop_rate(slot.rate);
    match program.rate(rate).kind {
        RateKind::Root { .. } => &[
            Section::Init,
            Section::Guard,
            Section::Body,
            Section::Yield,
            Section::Bottom,
            Section::Done,
        ],
        _ => &Section::ALL,
    }
}
