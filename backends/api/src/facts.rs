//! Analysis of a loop for compilers.
//!
//! It finds the order of blocks, the memory of each array, and the assignments that must be
//! deferred.

mod cuts;
mod guards;
mod pending;

use loop_lang::gotos::Tree;
use loop_lang::ir::{
    Atom, Block, End, GroupId, Label, Loop, Order, ParamKind, Place, RateId, Section, Stmt,
    StmtKind, Type, Var,
};
use loop_lang::steps::Steps;
use loop_lang::types::Ty;
use loop_lang::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// Describes the source of an array's memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// A parameter, by position.
    Param(usize),
    /// An array that the loop makes, by slot of the layout.
    Made(usize),
}

/// Holds a block with its place.
pub struct Placed<'a> {
    /// Its labels; never empty.
    pub labels: &'a [Label],
    /// The block.
    pub block: &'a Block,
    /// Its place in the rate tree.
    pub place: Place,
}

/// Holds facts about one loop.
pub struct Facts<'a> {
    /// The rate tree.
    pub tree: Tree,
    /// Blocks in execution order.
    pub blocks: Vec<Placed<'a>>,
    /// Block by place.
    pub at: FxHashMap<Place, usize>,
    /// The group of each carried variable and its position therein.
    pub group: FxHashMap<Var, (GroupId, usize)>,
    /// The memory of each array. A slice shares its array's memory.
    pub source: FxHashMap<Var, Source>,
    /// Variables with deferred updates, by the loop rate at whose guard they take effect.
    pub pending: FxHashMap<RateId, Vec<Var>>,
    /// Variables whose updates in a loop rate's `done` must wait for its end.
    pub ending: FxHashMap<Place, Vec<Var>>,
    /// Scalar variables that `carry` statements declare, in order.
    pub carried: Vec<Var>,
    /// The loop rates around each rate, innermost first, including the rate itself if it is one.
    chains: Vec<Vec<RateId>>,
    /// The loop rate at which each phase updates each group.
    steps: Steps,
    /// The count that each array is cut to, if it is written there and not used otherwise.
    cut_to: FxHashMap<Var, Option<Var>>,
    waits: FxHashSet<(RateId, Var)>,
    waiting: FxHashSet<Var>,
}

impl<'a> Facts<'a> {
    /// Gathers the facts.
    ///
    /// `made` lists the arrays that the loop makes, in the layout's order. `held` lists the
    /// layout's held variables, and is empty for code that never pauses.
    ///
    /// # Errors
    ///
    /// Names the construct that the compilers cannot write.
    pub fn of(program: &'a Loop, made: &[Var], held: &[(Var, usize)]) -> Result<Facts<'a>, String> {
        let tree = Tree::of(program);
        let mut by_place: FxHashMap<Place, Placed> = FxHashMap::default();
        for (labels, block) in program.blocks.iter() {
            let Some(first) = labels.first() else {
                continue;
            };
            let place = tree.place(program, *first);
            by_place.insert(
                place,
                Placed {
                    labels,
                    block,
                    place,
                },
            );
        }
        let blocks: Vec<Placed> = tree
            .places()
            .iter()
            .filter_map(|p| by_place.remove(p))
            .collect();
        let at: FxHashMap<Place, usize> = blocks
            .iter()
            .enumerate()
            .map(|(i, b)| (b.place, i))
            .collect();
        for place in [Place::Init, Place::Return] {
            if !at.contains_key(&place) {
                return Err(format!("no block at {place:?}"));
            }
        }
        let mut facts = Facts {
            chains: chains(program, &tree),
            steps: Steps::of(program, &tree),
            tree,
            blocks,
            at,
            group: FxHashMap::default(),
            source: FxHashMap::default(),
            pending: FxHashMap::default(),
            ending: FxHashMap::default(),
            carried: Vec::new(),
            cut_to: FxHashMap::default(),
            waits: FxHashSet::default(),
            waiting: FxHashSet::default(),
        };
        for (i, g) in program.groups.iter().enumerate() {
            for (k, v) in g.vars.iter().enumerate() {
                facts.group.insert(*v, (GroupId::new(i), k));
            }
        }
        facts.find_sources(program, made)?;
        facts.find_cuts(program);
        facts.find_pending(program, held);
        Ok(facts)
    }

    /// Returns the loop rates around an iteration at `place`, innermost first.
    ///
    /// `nest` and `done` of a loop rate are outside of it. Its guard is inside.
    pub fn chain(&self, program: &Loop, place: Place) -> &[RateId] {
        let Place::At { rate, section, .. } = place else {
            return &[];
        };
        let chain = &self.chains[rate.index()];
        let outside = matches!(section, Section::Nest | Section::Done);
        if outside && !program.rate(rate).kind.is_sub() {
            &chain[1..]
        } else {
            chain
        }
    }

    /// Returns the loop rates whose deferred updates take effect between `from` and `to`.
    pub fn committed(&self, program: &Loop, from: Place, to: Place) -> Vec<RateId> {
        let inside = self.chain(program, to);
        let guard_of = match to {
            Place::At {
                rate,
                section: Section::Guard,
                ..
            } => Some(rate),
            _ => None,
        };
        let left = |q: &RateId| guard_of == Some(*q) || !inside.contains(q);
        self.chain(program, from)
            .iter()
            .copied()
            .filter(left)
            .collect()
    }

    /// Returns the variables whose deferred updates take effect between `from` and `to`.
    ///
    /// They come in order.
    pub fn taking_effect(&self, program: &Loop, from: Place, to: Place) -> Vec<Var> {
        let mut all = Vec::new();
        for rate in self.committed(program, from, to) {
            // Lanes are updated in iterations, and none has begun at the guard.
            let idle = from == guard_of(rate);
            let lanes = |v: &&Var| {
                let group = self.local_group(program, **v);
                group.is_some_and(|(_, _, order)| order.lanes().is_some())
            };
            let pending = self.pending.get(&rate).into_iter().flatten();
            all.extend(pending.filter(|v| !(idle && lanes(v))));
        }
        all.extend(self.ending.get(&from).into_iter().flatten());
        all
    }

    /// Returns whether an update of `v` must wait in a block of `rate`.
    ///
    /// `rate` is the innermost loop rate around the block.
    pub fn waits(&self, rate: Option<RateId>, v: Var) -> bool {
        rate.is_some_and(|r| self.waits.contains(&(r, v)))
    }

    /// Returns whether an update of `v` in a loop rate's `done` must wait.
    ///
    /// Returns `None` at other places.
    pub fn waits_at_end(&self, place: Place, v: Var) -> Option<bool> {
        is_end(place).then(|| self.ending.get(&place).is_some_and(|all| all.contains(&v)))
    }

    /// Returns whether updates of `v` ever wait, so that it has a next value.
    pub fn ever_waits(&self, v: Var) -> bool {
        self.waiting.contains(&v)
    }

    /// Returns the group and position of a variable if its group's order is local.
    pub fn local_group(&self, program: &Loop, v: Var) -> Option<(GroupId, usize, Order)> {
        let (g, i) = *self.group.get(&v)?;
        let order = program.groups[g.index()].order;
        order.is_local().then_some((g, i, order))
    }

    /// Returns the parameter or made array behind an array variable.
    ///
    /// A slice belongs to the array that it was cut from.
    pub fn owner(&self, program: &Loop, made: &[Var], a: Var) -> Var {
        match self.source.get(&a) {
            Some(Source::Param(i)) => program.params[*i].var,
            Some(Source::Made(slot)) => made[*slot],
            None => a,
        }
    }

    /// Returns the loop rate whose counter deals a group's elements to lanes.
    ///
    /// The rate belongs to the phase of `rate`. Returns `None` if that phase does not update the
    /// group.
    pub fn lane_rate(&self, g: GroupId, rate: RateId) -> Option<RateId> {
        self.steps.at(g, rate)
    }

    /// Returns whether `place` is inside of the loop that updates `g` in its phase.
    ///
    /// There the group's variables stand for lanes.
    pub fn inside(&self, program: &Loop, g: GroupId, place: Place) -> bool {
        let around = self.chain(program, place);
        around
            .first()
            .and_then(|rate| self.lane_rate(g, *rate))
            .is_some_and(|rate| around.contains(&rate))
    }

    /// Returns whether `at` is strictly below the loop rate that updates `g`.
    ///
    /// A stop at `at` then interrupts an iteration that would update the group.
    pub fn is_below(&self, program: &Loop, g: GroupId, at: RateId) -> bool {
        self.lane_rate(g, at)
            .is_some_and(|rate| at != rate && program.is_within(at, rate))
    }

    /// Returns the counter that indexes a variable of lanes or blocks, for code inside of `rate`.
    fn lane_counter(&self, program: &Loop, v: Var, rate: RateId) -> Option<Var> {
        let (g, ..) = self.local_group(program, v)?;
        program.rate(self.lane_rate(g, rate)?).kind.counter()
    }

    fn find_sources(&mut self, program: &Loop, made: &[Var]) -> Result<(), String> {
        for (i, p) in program.params.iter().enumerate() {
            if p.kind != ParamKind::Scalar {
                self.source.insert(p.var, Source::Param(i));
            }
        }
        for (slot, v) in made.iter().enumerate() {
            self.source.insert(*v, Source::Made(slot));
        }
        let mut faults = Vec::new();
        for placed in &self.blocks {
            let source = &mut self.source;
            each_stmt(&placed.block.stmts, &mut |s| match &s.kind {
                StmtKind::SliceArray(b, a, _) => match source.get(a).copied() {
                    Some(from @ Source::Made(_)) => {
                        source.insert(*b, from);
                    }
                    _ => faults.push(format!("slice of {}, not made here", program.name(*a))),
                },
                StmtKind::Carry(v, _) => {
                    if let Type::Scalar(_) = program.ty(*v) {
                        self.carried.push(*v);
                    }
                }
                StmtKind::WriteArray(a, ..) => check_written(program, source, *a, &mut faults),
                StmtKind::ScatterArray { arrays, .. } | StmtKind::SortArrays(arrays, _) => {
                    arrays
                        .iter()
                        .for_each(|a| check_written(program, source, *a, &mut faults));
                }
                _ => {}
            });
        }
        let mut seen = FxHashSet::default();
        self.carried.retain(|v| seen.insert(*v));
        if faults.is_empty() {
            Ok(())
        } else {
            Err(faults.join("\n"))
        }
    }
}

/// Returns the place of a rate's guard.
pub fn guard_of(rate: RateId) -> Place {
    Place::At {
        rate,
        stage: 0,
        section: Section::Guard,
    }
}

/// Returns whether a place is the `done` of a loop rate.
fn is_end(place: Place) -> bool {
    matches!(
        place,
        Place::At {
            section: Section::Done,
            ..
        }
    )
}

/// Returns the loop rates around each rate. Parents come before their children.
fn chains(program: &Loop, tree: &Tree) -> Vec<Vec<RateId>> {
    let mut chains: Vec<Vec<RateId>> = Vec::with_capacity(program.rates.len());
    for (i, rate) in program.rates.iter().enumerate() {
        let above = rate.kind.parent().and_then(|p| chains.get(p.index()));
        let mut chain = above.cloned().unwrap_or_default();
        if tree.loop_rate(RateId::new(i)).index() == i {
            chain.insert(0, RateId::new(i));
        }
        chains.push(chain);
    }
    chains
}

fn check_written(
    program: &Loop,
    source: &FxHashMap<Var, Source>,
    a: Var,
    faults: &mut Vec<String>,
) {
    if !matches!(source.get(&a), Some(Source::Made(_))) {
        faults.push(format!(
            "write to {}, which the loop did not make",
            program.name(a)
        ));
    }
}

/// Calls `f` on every statement, outer ones first.
///
/// Statements of regions are included.
pub fn each_stmt<'s>(stmts: &'s [Stmt], f: &mut impl FnMut(&'s Stmt)) {
    stmts.iter().for_each(|s| walk::each(s, f));
}

/// Calls `f` on every variable that the statement itself reads.
///
/// Statements of its regions are excluded.
pub fn each_use(s: &Stmt, f: &mut impl FnMut(Var)) {
    let mut atom = |a: Atom| a.var().into_iter().for_each(&mut *f);
    walk::operands(&s.kind, &mut atom);
    walk::handed_out(&s.kind, &mut atom);
}

/// Calls `f` on every variable that the statement defines.
///
/// Statements of its regions are excluded.
pub fn each_def(s: &Stmt, f: &mut impl FnMut(Var)) {
    walk::definitions(&s.kind, f);
}

/// Calls `f` on every carried variable that the statement updates.
pub fn each_update(program: &Loop, s: &Stmt, f: &mut impl FnMut(Var)) {
    match &s.kind {
        StmtKind::Assign(v, _) => f(*v),
        StmtKind::Scan { group, .. } => {
            program.groups[group.index()]
                .vars
                .iter()
                .for_each(|v| f(*v));
        }
        _ => {}
    }
}

/// Calls `f` on the variables that decide a block's successor, and on results.
pub fn each_leaving_use(block: &Block, f: &mut impl FnMut(Var)) {
    walk::leaving(block, &mut |a| a.var().into_iter().for_each(&mut *f));
}

/// Returns the labels of a block's successors.
pub fn targets(block: &Block) -> impl Iterator<Item = Label> + '_ {
    let end: [Option<Label>; 2] = match &block.end {
        End::Goto(l) => [Some(*l), None],
        End::Branch(_, a, b) => [Some(*a), Some(*b)],
        End::Open | End::Return(_) => [None, None],
    };
    block
        .exits
        .iter()
        .filter_map(|e| e.target)
        .chain(end.into_iter().flatten())
}

/// Returns the element type of an array variable, or the type of a scalar.
pub fn elem(program: &Loop, v: Var) -> Ty {
    program.ty(v).elem()
}

/// Returns the target labels of a block's exits.
pub fn targets_of_exits(block: &Block) -> impl Iterator<Item = Label> + '_ {
    block.exits.iter().filter_map(|e| e.target)
}
