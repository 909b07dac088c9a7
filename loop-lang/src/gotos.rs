//! Control flow from the rate tree: the target of each block, and the order of blocks.

use crate::ir::{BlockId, CombId, End, Label, Loop, Part, Place, RateId, RateKind, Section, Slot};
use rustc_hash::{FxHashMap, FxHashSet};

/// Caches frequent queries on the rate tree, each in constant time.
///
/// It is a snapshot: rebuild it after changes to rates, combinators' slots or roots. It accepts
/// malformed trees, so that the verifier can use it.
#[derive(Clone, Debug)]
pub struct Tree {
    loop_rate: Vec<RateId>,
    /// The position of each rate among its parent's parts.
    position: Vec<usize>,
    stage_position: FxHashMap<(RateId, u32), usize>,
    next_root: FxHashMap<RateId, RateId>,
    order: Vec<Place>,
}

impl Tree {
    /// Reads a loop's rate tree.
    pub fn of(program: &Loop) -> Tree {
        let mut tree = Tree {
            loop_rate: Vec::with_capacity(program.rates.len()),
            position: vec![0; program.rates.len()],
            stage_position: FxHashMap::default(),
            next_root: FxHashMap::default(),
            order: Vec::new(),
        };
        for (i, rate) in program.rates.iter().enumerate() {
            let above = match rate.kind {
                RateKind::Sub { parent, .. } => tree.loop_rate.get(parent.index()).copied(),
                _ => None,
            };
            tree.loop_rate.push(above.unwrap_or(RateId::new(i)));
            for (position, part) in rate.parts.iter().enumerate() {
                match *part {
                    Part::Stage(s) => {
                        tree.stage_position.insert((RateId::new(i), s), position);
                    }
                    Part::Child(c) => {
                        if let Some(slot) = tree.position.get_mut(c.index()) {
                            *slot = position;
                        }
                    }
                }
            }
        }
        let pairs = program.roots.windows(2).map(|w| (w[0], w[1]));
        tree.next_root = pairs.collect();
        tree.order = tree.walk(program);
        tree
    }

    /// Lists every place of the loop in execution order.
    ///
    /// The order is `init`, the rate tree depth first, and the block that returns.
    pub fn places(&self) -> &[Place] {
        &self.order
    }

    /// Returns `rate` or its nearest ancestor that is a loop.
    pub fn loop_rate(&self, rate: RateId) -> RateId {
        self.loop_rate.get(rate.index()).copied().unwrap_or(rate)
    }

    /// Returns the innermost loop rate with iterations that contain a place.
    ///
    /// A loop rate's `nest` and `done` belong to the enclosing rate. The result is none outside of
    /// loops.
    pub fn iteration(&self, program: &Loop, place: Place) -> Option<RateId> {
        let Place::At { rate, section, .. } = place else {
            return None;
        };
        let kind = program.rates.get(rate.index())?.kind;
        match section {
            Section::Nest | Section::Done if !kind.is_sub() => {
                kind.parent().map(|p| self.loop_rate(p))
            }
            _ => Some(self.loop_rate(rate)),
        }
    }

    /// Returns a label's place, as [`Loop::place`] does.
    pub fn place(&self, program: &Loop, label: Label) -> Place {
        let slot = program.combs.get(label.comb.index()).and_then(|c| c.slot);
        match (label.section, slot) {
            (Section::Init, _) => Place::Init,
            (_, None) => Place::Return,
            (Section::Done, Some(h)) => self.done(program, h.rate),
            (Section::Nest, Some(h)) => at(self.loop_rate(h.rate), Section::Nest),
            (section @ (Section::Body | Section::Yield), Some(h)) => Place::At {
                rate: h.rate,
                stage: h.stage,
                section,
            },
            (section, Some(h)) => at(h.rate, section),
        }
    }

    /// Returns the place after the nearest loop rate of `rate`.
    pub fn done(&self, program: &Loop, rate: RateId) -> Place {
        let rate = self.loop_rate(rate);
        if program.roots.last() == Some(&rate) {
            Place::Return
        } else {
            at(rate, Section::Done)
        }
    }

    /// Counts the jumps to the end of a loop rate.
    pub fn ways_out(&self, program: &Loop, rate: RateId) -> usize {
        let end = self.done(program, rate);
        let mut ways = 0;
        for (_, block) in program.blocks.iter() {
            let mut goes = |l: Label| ways += usize::from(self.place(program, l) == end);
            let exits = block.exits.iter().filter_map(|e| e.target);
            exits.for_each(&mut goes);
            if let End::Goto(l) = block.end {
                goes(l);
            }
        }
        ways
    }

    /// Returns the place that follows `place` in control flow.
    ///
    /// The result is none for the block that returns. A cursor that ends also ends its consumer's
    /// loop, unless its `done` says otherwise.
    pub fn next(&self, program: &Loop, place: Place) -> Option<Place> {
        let (rate, stage, section) = match place {
            Place::Return => return None,
            Place::Init => {
                let first = program.roots.first();
                return Some(first.map_or(Place::Return, |r| at(*r, Section::Guard)));
            }
            Place::At {
                rate,
                stage,
                section,
            } => (rate, stage, section),
        };
        let kind = program.rates.get(rate.index())?.kind;
        Some(match section {
            Section::Guard => self.part(program, rate, 0),
            Section::Body => Place::At {
                rate,
                stage,
                section: Section::Yield,
            },
            Section::Yield => {
                let position = self.stage_position.get(&(rate, stage))?;
                self.part(program, rate, position + 1)
            }
            Section::Bottom if kind.is_sub() => self.after(program, rate)?,
            Section::Bottom | Section::Nest => at(rate, Section::Guard),
            Section::Done => match kind {
                RateKind::Root { .. } => at(*self.next_root.get(&rate)?, Section::Guard),
                RateKind::Cursor { parent, .. } => self.done(program, parent),
                _ => self.after(program, rate)?,
            },
            Section::Init => return None,
        })
    }

    /// Returns the target of a guard's exit.
    ///
    /// It is `done` for a loop, and `bottom` for a subrate.
    pub fn way_out(&self, program: &Loop, rate: RateId) -> Place {
        match program.rates.get(rate.index()) {
            Some(r) if r.kind.is_sub() => at(rate, Section::Bottom),
            _ => self.done(program, rate),
        }
    }

    /// Returns the place after a child rate in its parent's iteration.
    ///
    /// The result is none for roots.
    pub fn after(&self, program: &Loop, rate: RateId) -> Option<Place> {
        let parent = program.rates.get(rate.index())?.kind.parent()?;
        Some(self.part(program, parent, self.position[rate.index()] + 1))
    }

    /// Returns the first place of a rate's part at `position`, or `bottom` after the last part.
    fn part(&self, program: &Loop, rate: RateId, position: usize) -> Place {
        match part_at(program, rate, position) {
            None => at(rate, Section::Bottom),
            Some(Part::Stage(stage)) => Place::At {
                rate,
                stage,
                section: Section::Body,
            },
            Some(Part::Child(c)) => match program.rates.get(c.index()) {
                Some(r) if r.kind.is_sub() => at(c, Section::Guard),
                _ => at(c, Section::Nest),
            },
        }
    }

    /// Walks depth first with an explicit stack: chained filters make deep rate trees.
    fn walk(&self, program: &Loop) -> Vec<Place> {
        let mut order = vec![Place::Init];
        let mut entered = vec![false; program.rates.len()];
        let mut stack: Vec<(RateId, usize)> = Vec::new();
        for &root in &program.roots {
            enter(program, root, &mut entered, &mut stack, &mut order);
            while let Some(&(rate, position)) = stack.last() {
                match part_at(program, rate, position) {
                    Some(part) => {
                        if let Some(top) = stack.last_mut() {
                            top.1 += 1;
                        }
                        match part {
                            Part::Stage(stage) => {
                                for section in [Section::Body, Section::Yield] {
                                    order.push(Place::At {
                                        rate,
                                        stage,
                                        section,
                                    });
                                }
                            }
                            Part::Child(c) => {
                                enter(program, c, &mut entered, &mut stack, &mut order);
                            }
                        }
                    }
                    None => {
                        stack.pop();
                        order.push(at(rate, Section::Bottom));
                        if !program.rate(rate).kind.is_sub()
                            && self.done(program, rate) != Place::Return
                        {
                            order.push(at(rate, Section::Done));
                        }
                    }
                }
            }
        }
        order.push(Place::Return);
        order
    }
}

/// Starts the walk through a rate, once.
fn enter(
    program: &Loop,
    rate: RateId,
    entered: &mut [bool],
    stack: &mut Vec<(RateId, usize)>,
    order: &mut Vec<Place>,
) {
    match entered.get_mut(rate.index()) {
        Some(seen) if !*seen => *seen = true,
        _ => return,
    }
    if matches!(
        program.rate(rate).kind,
        RateKind::Nested { .. } | RateKind::Cursor { .. }
    ) {
        order.push(at(rate, Section::Nest));
    }
    order.push(at(rate, Section::Guard));
    stack.push((rate, 0));
}

fn part_at(program: &Loop, rate: RateId, position: usize) -> Option<Part> {
    program
        .rates
        .get(rate.index())?
        .parts
        .get(position)
        .copied()
}

/// Returns the place of a section that is not per stage.
fn at(rate: RateId, section: Section) -> Place {
    Place::At {
        rate,
        stage: 0,
        section,
    }
}

/// Fills open ends and missing exit targets, and orders the blocks.
///
/// The targets follow from the rate tree; for the order, see [`order_blocks`]. Existing gotos stay,
/// since cursor rates have their own. An exit without a target is filled in guards only, with the
/// guard's default exit.
pub fn derive_gotos(program: &mut Loop) {
    let tree = Tree::of(program);
    order_with(program, &tree);
    let first = first_labels(program, &tree);
    let places: Vec<Option<Place>> = program
        .blocks
        .iter()
        .map(|(labels, _)| labels.first().map(|l| tree.place(program, *l)))
        .collect();
    let mut blocks = std::mem::take(&mut program.blocks);
    for (block, place) in blocks.values_mut().zip(places) {
        let Some(place) = place else { continue };
        if let Place::At {
            rate,
            section: Section::Guard,
            ..
        } = place
        {
            let out = first.get(&tree.way_out(program, rate)).copied();
            for exit in block.exits.iter_mut().filter(|e| e.target.is_none()) {
                exit.target = out;
            }
        }
        if block.end == End::Open {
            let next = tree.next(program, place);
            if let Some(label) = next.and_then(|p| first.get(&p)) {
                block.end = End::Goto(*label);
            }
        }
    }
    program.blocks = blocks;
}

/// Numbers blocks densely in execution order.
///
/// The order is `init`, the rate tree depth first, and the returning block. Synonyms are sorted by
/// combinator.
pub fn order_blocks(program: &mut Loop) {
    let tree = Tree::of(program);
    order_with(program, &tree);
}

fn order_with(program: &mut Loop, tree: &Tree) {
    let places = tree.places().iter().enumerate();
    let number: FxHashMap<Place, usize> = places.map(|(i, p)| (*p, i)).collect();
    let mut blocks = std::mem::take(&mut program.blocks);
    blocks.reorder(
        |labels, _| {
            let place = labels.first().map(|l| tree.place(program, *l));
            place
                .and_then(|p| number.get(&p).copied())
                .unwrap_or(usize::MAX)
        },
        |label| (label.comb, label.section),
    );
    program.blocks = blocks;
}

/// Returns the label used in gotos for each place's block.
fn first_labels(program: &Loop, tree: &Tree) -> FxHashMap<Place, Label> {
    let labels = program
        .blocks
        .iter()
        .filter_map(|(labels, _)| labels.first());
    labels.map(|l| (tree.place(program, *l), *l)).collect()
}

/// Inserts an empty block for every place of the rate tree without one.
///
/// The block gets the labels of the combinators with their slot in that place. A place without any stays
/// without a block, which the verifier reports.
pub fn complete_blocks(program: &mut Loop) {
    let tree = Tree::of(program);
    let present: FxHashSet<Place> = first_labels(program, &tree).into_keys().collect();
    let missing = tree.places().iter().filter(|p| !present.contains(p));
    let mut labels: FxHashMap<Place, Vec<Label>> = missing.map(|p| (*p, Vec::new())).collect();
    for (i, comb) in program.combs.iter().enumerate() {
        for &section in sections(comb.slot) {
            let label = Label {
                section,
                comb: CombId::new(i),
            };
            if let Some(set) = labels.get_mut(&tree.place(program, label)) {
                set.push(label);
            }
        }
    }
    for place in tree.places() {
        let mut set = labels.remove(place).unwrap_or_default();
        set.retain(|l| program.blocks.get(*l).is_none());
        if !set.is_empty() {
            // The labels are new, so this cannot fail.
            let _ = program.blocks.insert(set, Default::default());
        }
    }
}

/// Lists the sections allowed in a combinator's labels.
fn sections(slot: Option<Slot>) -> &'static [Section] {
    match slot {
        Some(_) => &Section::ALL,
        None => &[Section::Init, Section::Done],
    }
}

/// Lists the blocks of a rate and of all rates below it.
///
/// They are in slot order.
///
/// The block that returns belongs to no rate.
pub fn blocks_within(program: &Loop, rate: RateId) -> Vec<BlockId> {
    let tree = Tree::of(program);
    let mut inside = vec![false; program.rates.len()];
    for (i, r) in program.rates.iter().enumerate() {
        let parent = r.kind.parent().map(RateId::index);
        inside[i] = i == rate.index() || parent.is_some_and(|p| p < i && inside[p]);
    }
    let belongs = |label: &Label| match tree.place(program, *label) {
        Place::At { rate, .. } => inside.get(rate.index()).copied().unwrap_or(false),
        _ => false,
    };
    let sets = program
        .blocks
        .iter()
        .filter_map(|(labels, _)| labels.first());
    let ids = sets
        .filter(|l| belongs(l))
        .filter_map(|l| program.block_id(*l));
    ids.collect()
}
