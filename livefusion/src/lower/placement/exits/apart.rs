//! What runs apart: combinators that are needed while some classes live, at whose end others go on.
//!
//! Each runs in a subrate that admits iterations while one of its own classes lives: there are no more such sets of classes
//! than fields that are computed. What it needs itself is needed at least as long, so a subrate that admits less is within
//! one that admits more, the one that admits least of these. What comes of others, which may admit something else beside, is
//! handed on; so chunks of a loop that does this go in order.

use super::Exits;
use super::asked::{Asked, Needed, by_field};
use crate::fusion::{ClassId, ClassKind};
use crate::lower::scope::Scope;
use crate::sharing::{FieldRef, NodeId};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// Some classes of which one lives at least, by position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lives(u32);

/// Classes, none within another.
type Set = SmallVec<[ClassId; 1]>;

/// What runs apart from others that go on.
#[derive(Debug, Default)]
pub struct Apart {
    /// How many sets there are in earlier phases.
    earlier: u32,
    sets: Vec<Set>,
    /// Of which class each subrate is an instance, if any runs in it.
    tops: FxHashMap<Lives, ClassId>,
    nodes: FxHashMap<NodeId, Lives>,
    /// Of combinators that compute each field for itself: which anybody asks for, and what runs apart of these.
    fields: FxHashMap<FieldRef, Option<Lives>>,
}

/// What may run apart: a combinator or one of its fields, the class at which it runs, and while which live.
struct Run {
    id: NodeId,
    field: Option<u32>,
    own: ClassId,
    lives: Set,
}

impl Apart {
    /// Finds what runs apart in a loop of these combinators.
    pub fn of(
        scope: &Scope<'_>,
        order: &[NodeId],
        asked: &Asked,
        exits: &Exits,
        earlier: u32,
    ) -> Apart {
        let rates = &scope.plan.rates;
        let mut apart = Apart {
            earlier,
            ..Apart::default()
        };
        let mut runs = Vec::new();
        for id in order {
            // What a zip computes on demand is not apart from its cursor.
            let own = rates
                .runs_at(*id)
                .filter(|_| rates.cursors_of(*id).is_none());
            let Some(own) = own else {
                continue;
            };
            let mut add = |field, needed: Option<&Needed>| {
                if let Some(Needed::While(classes)) = needed {
                    let (id, lives) = (*id, outermost(scope, classes));
                    runs.push(Run {
                        id,
                        field,
                        own,
                        lives,
                    });
                }
            };
            add(None, asked.nodes.get(id));
            let count = by_field(scope, *id).map_or(0, |body| body.results.len() as u32);
            for f in 0..count {
                let needed = asked.fields.get(&(*id, f));
                add(Some(f), needed);
                apart.fields.extend(needed.map(|_| ((*id, f), None)));
            }
        }
        for run in &runs {
            let mut all = longer(scope, exits, &run.lives);
            let lives = all.find(|lives| !is_left(scope, exits, run.own, lives));
            lives.into_iter().for_each(|lives| apart.add(lives));
        }
        for run in runs {
            apart.place(scope, run);
        }
        apart
    }

    /// Adds a subrate's classes.
    fn add(&mut self, new: Set) {
        if !self.sets.contains(&new) {
            self.sets.push(new);
        }
    }

    /// Says in which subrate something runs: the one that admits least of those that admit enough.
    fn place(&mut self, scope: &Scope<'_>, run: Run) {
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

    /// Of these sets, the one that lives least.
    fn least(&self, scope: &Scope<'_>, of: impl Fn(&Set) -> bool) -> Option<Lives> {
        let all = (0..self.sets.len()).filter(|s| of(&self.sets[*s]));
        let least = all.reduce(|a, b| match is_least(scope, &self.sets[b], &self.sets[a]) {
            true => b,
            false => a,
        });
        least.map(|s| Lives(self.earlier + s as u32))
    }

    /// The subrate around another: it admits more, of a class that is the other's own or around that.
    pub fn around(&self, scope: &Scope<'_>, lives: Lives) -> Option<Lives> {
        let (mine, top) = (self.set(lives), self.top(lives)?);
        let is_around = |(l, class): (&Lives, &ClassId)| {
            let set = self.set(*l);
            (set != mine && is_least(scope, mine, set) && scope.is_within(top, *class))
                .then_some(set)
        };
        let around: SmallVec<[&Set; 2]> = self.tops.iter().filter_map(is_around).collect();
        self.least(scope, |set| around.contains(&set))
    }

    /// The classes of which one lives.
    pub fn classes(&self, lives: Lives) -> &[ClassId] {
        self.set(lives)
    }

    fn set(&self, lives: Lives) -> &Set {
        &self.sets[(lives.0 - self.earlier) as usize]
    }

    /// How many sets of classes live.
    pub fn count(&self) -> u32 {
        self.sets.len() as u32
    }

    /// Of which class a subrate is an instance.
    pub fn top(&self, lives: Lives) -> Option<ClassId> {
        self.tops.get(&lives).copied()
    }

    /// In which subrate a combinator runs.
    pub fn node(&self, id: NodeId) -> Option<Lives> {
        self.nodes.get(&id).copied()
    }

    /// In which subrate a field is computed; none if nobody asks for it.
    pub fn field(&self, field: FieldRef) -> Option<Option<Lives>> {
        self.fields.get(&field).copied()
    }
}

/// Of some classes, those that are within no other.
fn outermost(scope: &Scope<'_>, classes: &[ClassId]) -> Set {
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

/// Whether one of these lives whenever one of the first does.
fn is_least(scope: &Scope<'_>, first: &[ClassId], these: &[ClassId]) -> bool {
    let lives = |c: &ClassId| these.iter().any(|t| scope.is_within(*c, *t));
    first.iter().all(lives)
}

/// Some classes, and then those around them that end and live whenever they do, innermost first.
fn longer<'s>(
    scope: &'s Scope<'_>,
    exits: &'s Exits,
    lives: &'s Set,
) -> impl Iterator<Item = Set> + 's {
    let around = std::iter::successors(lives.first().copied(), |c| scope.above(*c)).skip(1);
    let around = around.filter(|c| exits.end_of(scope, *c).is_some());
    let around = around.filter(|c| lives.iter().all(|l| scope.is_within(*l, *c)));
    std::iter::once(lives.clone()).chain(around.map(|c| smallvec![c]))
}

/// Whether the loop rate in whose iterations something of a class runs, within one that ends or around these, is left
/// when none of them lives.
fn is_left(scope: &Scope<'_>, exits: &Exits, own: ClassId, lives: &Set) -> bool {
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
