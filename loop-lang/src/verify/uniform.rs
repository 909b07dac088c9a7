//! Uniform rates: each inner loop has the same length.

use super::Faults;
use super::view::View;
use crate::Op;
use crate::ir::*;
use crate::types::Const;
use crate::walk;
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) fn check(view: &View, faults: &mut Faults) {
    if !view.l.rates.iter().any(|r| r.kind.is_uniform()) {
        return;
    }
    let lengths = Lengths::of(view);
    for (i, rate) in view.l.rates.iter().enumerate() {
        if let RateKind::Nested {
            parent,
            counter,
            bound,
            uniform: true,
        } = rate.kind
        {
            let found = lengths.of_rate(RateId::new(i), parent, counter, bound);
            (found.into_iter()).for_each(|message| faults.add(&rate.name, message));
        }
    }
}

/// Holds the facts that determine lengths of rates.
struct Lengths<'a> {
    view: &'a View<'a>,
    /// The place and the statement of each definition.
    defined: FxHashMap<Var, (Place, &'a StmtKind)>,
    /// Carried variables with the roots that change them.
    changed: FxHashSet<(Var, RateId)>,
}

impl<'a> Lengths<'a> {
    fn of(view: &'a View<'a>) -> Lengths<'a> {
        let (mut defined, mut changed) = (FxHashMap::default(), FxHashSet::default());
        for placed in &view.blocks {
            for stmt in &placed.block.stmts {
                walk::definitions(&stmt.kind, &mut |v| {
                    defined.insert(v, (placed.place, &stmt.kind));
                });
                let updated = match &stmt.kind {
                    StmtKind::Assign(v, _) => std::slice::from_ref(v),
                    StmtKind::Scan { group, .. } => &view.l.groups[group.index()].vars,
                    _ => &[],
                };
                if let Place::At { rate, .. } = placed.place {
                    changed.extend(updated.iter().map(|v| (*v, view.root_of(rate))));
                }
            }
        }
        Lengths {
            view,
            defined,
            changed,
        }
    }

    /// Returns the faults of a uniform rate. The `scope` check reports variables without a
    /// definition, and `groups` reports counters that are not carried.
    fn of_rate(&self, rate: RateId, parent: RateId, counter: Var, bound: Atom) -> Vec<String> {
        let l = self.view.l;
        let name = l.name(counter);
        let nest = Place::At {
            rate,
            stage: 0,
            section: Section::Nest,
        };
        let mut found = Vec::new();
        match self.defined.get(&counter) {
            Some((place, StmtKind::Carry(_, start))) if *place == nest => {
                if *start != Atom::Const(Const::u64(0)) {
                    found.push(format!(
                        "is uniform, but its counter `{name}` starts elsewhere than at 0"
                    ));
                }
                if !self.stays(bound, rate) {
                    found.push(
                        "is uniform, but its bound may change from one inner loop to the next"
                            .into(),
                    );
                }
            }
            Some((_, StmtKind::Carry(..))) if !self.is_ahead(bound, (rate, parent), counter) => {
                found.push(format!(
                    "is uniform and `{name}` runs on, but its bound is not `{name}` plus what does not change, set in \
                     the iteration around it"
                ));
            }
            _ => {}
        }
        found
    }

    /// Tells whether a value is constant while the root above a rate runs.
    fn stays(&self, a: Atom, rate: RateId) -> bool {
        let Atom::Var(v) = a else { return true };
        let Some((place, _)) = self.defined.get(&v) else {
            return true;
        };
        let once = self.view.tree.iteration(self.view.l, *place).is_none();
        once && !self.changed.contains(&(v, self.view.root_of(rate)))
    }

    /// Tells whether a bound always has the same distance from the counter when the inner loop
    /// begins. A length of zero may have been folded.
    fn is_ahead(&self, bound: Atom, (rate, parent): (RateId, RateId), counter: Var) -> bool {
        let Atom::Var(v) = bound else { return false };
        let Some((place, kind)) = self.defined.get(&v) else {
            return true;
        };
        let (tree, counter) = (&self.view.tree, Atom::Var(counter));
        let here = tree.iteration(self.view.l, *place) == Some(tree.loop_rate(parent));
        here && match kind {
            StmtKind::Let(_, Op::Copy, args) => args[..] == [counter],
            StmtKind::Let(_, Op::Add, args) => match args[..] {
                [x, y] => {
                    x == counter && self.stays(y, rate) || y == counter && self.stays(x, rate)
                }
                _ => false,
            },
            _ => false,
        }
    }
}
