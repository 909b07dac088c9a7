//! Shared queries of passes: blocks in execution order, dominance, and value ranges of carried
//! variables.

use crate::dominators::Dominators;
use crate::gotos::Tree;
use crate::ir::{Atom, Block, End, Label, Loop, Place, RateId, Section, StmtKind, Var};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Holds a snapshot of a loop's blocks. A block's *rank* is its position in execution order. Only
/// gotos to loop rates' guards lead to lower ranks.
pub(super) struct Context {
    /// Places by rank.
    pub(super) places: Vec<Place>,
    /// The position of each rank among the alias map's values.
    position: Vec<usize>,
    dominators: Dominators,
    /// The ranks from guard to bottom of each loop rate.
    inside: Vec<Option<(usize, usize)>>,
    /// The loop rate around each loop rate.
    around: Vec<Option<RateId>>,
    carried: FxHashMap<Var, Carried>,
}

/// Describes a carried variable.
#[derive(Default)]
struct Carried {
    /// The rank of its `carry`.
    rank: usize,
    /// Loop rates that change it: at their guards, or at their entry or exit.
    loops: SmallVec<[(RateId, When); 2]>,
    /// Whether it also changes outside of loops.
    elsewhere: bool,
}

/// Describes the part of a loop rate that changes a variable.
#[derive(Clone, Copy, PartialEq)]
enum When {
    /// Its iterations: visible from the next guard on, and after the loop.
    Turning,
    /// Its `nest` or `done`: visible from its guard on, or after its `done`.
    Passing,
}

impl Context {
    /// Reads a loop.
    pub(super) fn of(program: &Loop) -> Context {
        let tree = Tree::of(program);
        let ranks = tree.places().iter().enumerate();
        let rank: FxHashMap<Place, usize> = ranks.map(|(i, p)| (*p, i)).collect();
        let mut blocks: Vec<(Place, usize, &Block)> = Vec::with_capacity(program.blocks.len());
        for (i, (labels, block)) in program.blocks.iter().enumerate() {
            let place = labels
                .first()
                .map_or(Place::Return, |l| tree.place(program, *l));
            blocks.push((place, i, block));
        }
        blocks.sort_by_key(|(place, ..)| rank.get(place).copied().unwrap_or(usize::MAX));
        let mut context = Context {
            places: blocks.iter().map(|b| b.0).collect(),
            position: blocks.iter().map(|b| b.1).collect(),
            dominators: Dominators::of(&successors(program, &blocks)),
            inside: vec![None; program.rates.len()],
            around: Vec::with_capacity(program.rates.len()),
            carried: FxHashMap::default(),
        };
        let guards = context.places.iter().enumerate();
        let guards: Vec<(usize, RateId)> = guards
            .filter_map(|(i, p)| Some((i, guarded(program, *p)?)))
            .collect();
        for (first, rate) in guards {
            let bottom = Place::At {
                rate,
                stage: 0,
                section: Section::Bottom,
            };
            context.inside[rate.index()] = rank.get(&bottom).map(|last| (first, *last));
        }
        for rate in &program.rates {
            context
                .around
                .push(rate.kind.parent().map(|p| tree.loop_rate(p)));
        }
        context.carried(program, &tree, &blocks);
        context
    }

    fn carried(&mut self, program: &Loop, tree: &Tree, blocks: &[(Place, usize, &Block)]) {
        let mut changed: Vec<(Var, Option<(RateId, When)>)> = Vec::new();
        for (rank, (place, _, block)) in blocks.iter().enumerate() {
            let around = tree.iteration(program, *place);
            let changes = around.map(|around| match *place {
                Place::At {
                    rate,
                    section: Section::Nest | Section::Done,
                    ..
                } => (tree.loop_rate(rate), When::Passing),
                _ => (around, When::Turning),
            });
            for stmt in &block.stmts {
                match &stmt.kind {
                    StmtKind::Carry(v, _) => {
                        self.carried.entry(*v).or_default().rank = rank;
                    }
                    StmtKind::Assign(v, _) => changed.push((*v, changes)),
                    StmtKind::Scan { group, .. } => {
                        let vars = &program.groups[group.index()].vars;
                        changed.extend(vars.iter().map(|v| (*v, changes)));
                    }
                    _ => {}
                }
            }
        }
        for (v, changes) in changed {
            let Some(carried) = self.carried.get_mut(&v) else {
                continue;
            };
            match changes {
                Some(at) if !carried.loops.contains(&at) => carried.loops.push(at),
                Some(_) => {}
                None => carried.elsewhere = true,
            }
        }
    }

    /// Returns the ranks of an inner loop's `nest`, guard and bottom.
    pub(super) fn inner_loop(&self, rate: RateId) -> Option<(usize, usize, usize)> {
        let (first, last) = self.inside[rate.index()]?;
        let nest = Place::At {
            rate,
            stage: 0,
            section: Section::Nest,
        };
        let nest = self.places[..first].iter().rposition(|p| *p == nest)?;
        Some((nest, first, last))
    }

    /// Returns the number of blocks.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the blocks by rank.
    pub(super) fn blocks<'a>(&self, program: &'a Loop) -> Vec<&'a Block> {
        let all: Vec<&Block> = program.blocks.iter().map(|(_, b)| b).collect();
        self.position.iter().map(|i| all[*i]).collect()
    }

    /// Returns the mutable blocks by rank.
    pub(super) fn blocks_mut<'a>(&self, program: &'a mut Loop) -> Vec<&'a mut Block> {
        let mut all: Vec<Option<&mut Block>> = program.blocks.values_mut().map(Some).collect();
        // Positions are distinct, so nothing is filtered out.
        self.position
            .iter()
            .filter_map(|i| all[*i].take())
            .collect()
    }

    /// Tells whether every path to block `b` goes through block `a`, by their ranks.
    pub(super) fn dominates(&self, a: usize, b: usize) -> bool {
        self.dominators.dominates(a, b)
    }

    /// Tells whether a variable is carried.
    pub(super) fn is_carried(&self, v: Var) -> bool {
        self.carried.contains_key(&v)
    }

    /// Tells whether an operand read by block `from` has the same value in block `to`, which `from`
    /// dominates.
    ///
    /// A variable that is not carried never changes. A carried variable changes at its `carry`. It
    /// also changes where control reaches the guards of its assigning loops, leaves their
    /// iterations, or passes their `done`. Between `from` and `to`, control does not pass the guard
    /// of a loop around both, since it would pass `from` again. So both must be on the same side of
    /// each assigning loop (before, in, or after it), within one iteration of the loop around it.
    pub(super) fn keeps_value(&self, a: Atom, from: usize, to: usize) -> bool {
        let Atom::Var(v) = a else { return true };
        let Some(carried) = self.carried.get(&v) else {
            return true;
        };
        let restarted = from < carried.rank && carried.rank <= to;
        from == to
            || !carried.elsewhere
                && !restarted
                && (carried.loops.iter()).all(|(rate, when)| self.same_side(*rate, *when, from, to))
    }

    fn same_side(&self, rate: RateId, when: When, from: usize, to: usize) -> bool {
        let Some((first, bottom)) = self.inside[rate.index()] else {
            return false;
        };
        // The loop's `done` follows the bottom and reads the value from before its own changes.
        let last = bottom + usize::from(when == When::Passing);
        let side = |rank| (rank >= first, rank > last);
        let both_in = |rate: RateId| {
            let inside = self.inside[rate.index()];
            inside.is_some_and(|(a, b)| (a..=b).contains(&from) && (a..=b).contains(&to))
        };
        side(from) == side(to) && (both_in(rate) || self.around[rate.index()].is_none_or(both_in))
    }

    /// Tells whether the place is the guard of a loop rate.
    pub(super) fn is_loop_guard(&self, program: &Loop, rank: usize) -> bool {
        guarded(program, self.places[rank]).is_some()
    }

    /// Returns the conditions of loop rates' guards. Their definitions must stay unchanged:
    /// backends and the verifier identify the loop by them.
    pub(super) fn loop_tests(&self, program: &Loop) -> FxHashSet<Var> {
        let blocks = self.blocks(program);
        let guards = (0..self.len()).filter(|i| self.is_loop_guard(program, *i));
        let exits = guards.flat_map(|i| &blocks[i].exits);
        exits.filter_map(|e| variable(e.unless)).collect()
    }
}

/// Returns the loop rate of a guard.
fn guarded(program: &Loop, place: Place) -> Option<RateId> {
    match place {
        Place::At {
            rate,
            section: Section::Guard,
            ..
        } if !program.rate(rate).kind.is_sub() => Some(rate),
        _ => None,
    }
}

fn successors(program: &Loop, blocks: &[(Place, usize, &Block)]) -> Vec<Vec<usize>> {
    let mut rank_of: FxHashMap<usize, usize> = FxHashMap::default();
    let slots: Vec<Option<usize>> = program
        .blocks
        .iter()
        .map(|(labels, _)| program.blocks.slot(*labels.first()?))
        .collect();
    for (rank, (_, position, _)) in blocks.iter().enumerate() {
        rank_of.extend(slots[*position].map(|slot| (slot, rank)));
    }
    let target = |l: Label| rank_of.get(&program.blocks.slot(l)?).copied();
    let of = |block: &Block| {
        let mut to: Vec<usize> = block
            .exits
            .iter()
            .filter_map(|e| e.target.and_then(target))
            .collect();
        match block.end {
            End::Goto(l) => to.extend(target(l)),
            End::Branch(_, yes, no) => to.extend([yes, no].into_iter().filter_map(target)),
            End::Open | End::Return(_) => {}
        }
        to
    };
    blocks.iter().map(|(_, _, block)| of(block)).collect()
}

/// Returns the variable of an atom.
pub(super) fn variable(a: Atom) -> Option<Var> {
    match a {
        Atom::Var(v) => Some(v),
        Atom::Const(_) => None,
    }
}
