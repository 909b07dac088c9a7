//! Liveness guards: skip combinators after an early exit while others continue.
//!
//! Each runs in a subrate whose guard tests that one of its own ending classes is live. There are
//! at most as many such live sets as computed fields. The operands of a guarded combinator live at
//! least as long. So guards nest: a guard is placed inside the strictest guard that it implies. A
//! value from another guard, one that is not around it, goes through a scratch buffer. A loop with
//! such buffers runs its chunks in order.

use super::Exits;
use super::demand::{FieldDemand, Needed, by_field};
use crate::fusion::{ClassId, ClassKind};
use crate::lower::scope::LoopScope;
use crate::sharing::{FieldRef, NodeId};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// Identifies a live set, by position.
///
/// A live set is a set of ending classes; it is live while one of them is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lives(u32);

/// Classes of a live set; none is within another.
type Set = SmallVec<[ClassId; 1]>;

/// Holds the combinators that need a liveness guard, because others continue.
#[derive(Debug, Default)]
pub struct GuardedCombs {
    /// The number of live sets in earlier phases.
    earlier: u32,
    sets: Vec<Set>,
    /// The class of which each guard's subrate is an instance, if any combinator runs in it.
    tops: FxHashMap<Lives, ClassId>,
    nodes: FxHashMap<NodeId, Lives>,
    /// For nodes with separate fields: the fields with a consumer, and the guard of each.
    fields: FxHashMap<FieldRef, Option<Lives>>,
}

/// A candidate for a guard: a combinator or one of its fields, its class, and its live set.
struct GuardCandidate {
    id: NodeId,
    field: Option<u32>,
    own: ClassId,
    lives: Set,
}

impl GuardedCombs {
    /// Finds the guarded combinators in a loop.
    pub fn of(
        scope: &LoopScope<'_>,
        order: &[NodeId],
        demand: &FieldDemand,
        exits: &Exits,
        earlier: u32,
    ) -> GuardedCombs {
        let rates = &scope.plan.rates;
        let mut guarded = GuardedCombs {
            earlier,
            ..GuardedCombs::default()
        };
        let mut runs = Vec::new();
        for id in order {
            // A combinator that a zip computes on demand stays in its cursor.
            let own = rates
                .runs_at(*id)
                .filter(|_| rates.cursors_of(*id).is_none());
            let Some(own) = own else {
                continue;
            };
            let mut add = |field, needed: Option<&Needed>| {
                if let Some(Needed::While(classes)) = needed {
                    let (id, lives) = (*id, outermost(scope, classes));
                    runs.push(GuardCandidate {
                        id,
                        field,
                        own,
                        lives,
                    });
                }
            };
            add(None, demand.nodes.get(id));
            let count = by_field(scope, *id).map_or(0, |body| body.results.len() as u32);
            for f in 0..count {
                let needed = demand.fields.get(&(*id, f));
                add(Some(f), needed);
                guarded.fields.extend(needed.map(|_| ((*id, f), None)));
            }
        }
        for run in &runs {
            let mut all = longer(scope, exits, &run.lives);
            let lives = all.find(|lives| !is_left(scope, exits, run.own, lives));
            lives.into_iter().for_each(|lives| guarded.add(lives));
        }
        for run in runs {
            guarded.place(scope, run);
        }
        guarded
    }

    /// Adds a live set.
    fn add(&mut self, new: Set) {
        if !self.sets.contains(&new) {
            self.sets.push(new);
        }
    }

    /// Chooses the guard of a candidate: the strictest one that admits all of its iterations.
    fn place(&mut self, scope: &LoopScope<'_>, run: GuardCandidate) {
        let Some(lives) = self.least(scope, |set| is_least(scope, &run.lives, set)) else {
            return;
        };
        match run.field {
            Some(f) => _ = self.fields.insert((run.id, f), Some(lives)),
            None => _ = self.nodes.insert(run.id, lives),
        }
        if self
            .classes(lives)
            .iter()
            .any(|c| scope.is_within(run.own, *c))
        {
            return;
        }
        let top = self.tops.entry(lives).or_insert(run.own);
        while !scope.is_within(run.own, *top) {
            let Some(above) = scope.above(*top) else {
                break;
            };
            *top = above;
        }
    }

    /// The smallest of the live sets that satisfy a condition.
    fn least(&self, scope: &LoopScope<'_>, of: impl Fn(&Set) -> bool) -> Option<Lives> {
        let all = (0..self.sets.len()).filter(|s| of(&self.sets[*s]));
        let least = all.reduce(|a, b| match is_least(scope, &self.sets[b], &self.sets[a]) {
            true => b,
            false => a,
        });
        least.map(|s| Lives(self.earlier + s as u32))
    }

    /// Returns the guard around another.
    ///
    /// It admits more iterations. Its class is the other's own or around it.
    pub fn around(&self, scope: &LoopScope<'_>, lives: Lives) -> Option<Lives> {
        let (mine, top) = (self.set(lives), self.top(lives)?);
        let is_around = |(l, class): (&Lives, &ClassId)| {
            let set = self.set(*l);
            (set != mine && is_least(scope, mine, set) && scope.is_within(top, *class))
                .then_some(set)
        };
        let around: SmallVec<[&Set; 2]> = self.tops.iter().filter_map(is_around).collect();
        self.least(scope, |set| around.contains(&set))
    }

    /// Returns the classes of a live set.
    pub fn classes(&self, lives: Lives) -> &[ClassId] {
        self.set(lives)
    }

    fn set(&self, lives: Lives) -> &Set {
        &self.sets[(lives.0 - self.earlier) as usize]
    }

    /// Returns the number of live sets.
    pub fn count(&self) -> u32 {
        self.sets.len() as u32
    }

    /// Returns the class of which a guard's subrate is an instance.
    pub fn top(&self, lives: Lives) -> Option<ClassId> {
        self.tops.get(&lives).copied()
    }

    /// Returns the guard of a combinator.
    pub fn node(&self, id: NodeId) -> Option<Lives> {
        self.nodes.get(&id).copied()
    }

    /// Returns the guard of a field.
    ///
    /// The outer `None` means that the field has no consumer.
    pub fn field(&self, field: FieldRef) -> Option<Option<Lives>> {
        self.fields.get(&field).copied()
    }
}

/// The classes that are within no other.
fn outermost(scope: &LoopScope<'_>, classes: &[ClassId]) -> Set {
    let mut outermost = Set::new();
    for class in classes {
        if !outermost.iter().any(|c| scope.is_within(*class, *c)) {
            outermost.retain(|c| !scope.is_within(*c, *class));
            outermost.push(*class);
        }
    }
    outermost.sort_unstable();
    outermost
}

/// Whether one of `these` is live whenever one of `first` is.
fn is_least(scope: &LoopScope<'_>, first: &[ClassId], these: &[ClassId]) -> bool {
    let lives = |c: &ClassId| these.iter().any(|t| scope.is_within(*c, *t));
    first.iter().all(lives)
}

/// A live set, and then the ending classes around all of it, innermost first. Each lives at least
/// as long.
fn longer<'s>(
    scope: &'s LoopScope<'_>,
    exits: &'s Exits,
    lives: &'s Set,
) -> impl Iterator<Item = Set> + 's {
    let around = std::iter::successors(lives.first().copied(), |c| scope.above(*c)).skip(1);
    let around = around.filter(|c| exits.end_of(scope, *c).is_some());
    let around = around.filter(|c| lives.iter().all(|l| scope.is_within(*l, *c)));
    std::iter::once(lives.clone()).chain(around.map(|c| smallvec![c]))
}

/// Whether an exit makes the guard redundant. The enclosing loop rate is then left once all of
/// `lives` have ended. It is within a class with an early exit, or around these classes.
fn is_left(scope: &LoopScope<'_>, exits: &Exits, own: ClassId, lives: &Set) -> bool {
    let rates = &scope.plan.rates;
    let from = match lives.iter().find(|c| scope.is_within(own, **c)) {
        Some(inside) => scope.above(*inside),
        None => Some(own),
    };
    let is_loop = |c: &ClassId| {
        let kind = rates.kind(*c);
        !matches!(kind, ClassKind::Sub(..) | ClassKind::Append(_))
    };
    let mut around = std::iter::successors(from, |c| scope.above(*c));
    let needed = match around.find(is_loop) {
        Some(around) if Some(around) != scope.root() => exits.needed.get(&around),
        _ => Some(&exits.all),
    };
    matches!(needed, Some(Needed::While(all)) if is_least(scope, all, lives))
}
