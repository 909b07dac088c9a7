//! Arrays that are cut to the count that they are written at.
//!
//! Elements written beyond the final count are dead.

use super::{Facts, Source, each_leaving_use, each_stmt, each_use};
use loop_lang::Loop;
use loop_lang::ir::{Place, RateId, Section, StmtKind, Var};
use rustc_hash::{FxHashMap, FxHashSet};

impl Facts<'_> {
    /// Returns whether an array is only written at a count and cut to it.
    ///
    /// The loop must make the array, and must write an element wherever the count advances. Then
    /// elements written beyond the final count are dead.
    pub fn is_cut_to(&self, array: Var, count: Var) -> bool {
        let made = matches!(self.source.get(&array), Some(Source::Made(_)));
        made && self.cut_to.get(&array) == Some(&Some(count))
    }

    /// Finds the arrays that are cut to the only variable that they are written at.
    ///
    /// An array with any other use is excluded.
    pub(super) fn find_cuts(&mut self, program: &Loop) {
        let mut cut_to: FxHashMap<Var, Option<Var>> = FxHashMap::default();
        let (mut cut, mut other) = (FxHashSet::default(), Vec::new());
        let mut written: FxHashSet<(Var, RateId)> = FxHashSet::default();
        let mut counted: FxHashMap<Var, Vec<RateId>> = FxHashMap::default();
        for placed in &self.blocks {
            each_leaving_use(placed.block, &mut |v| other.push(v));
            let rate = match placed.place {
                Place::At { rate, .. } => Some(rate),
                Place::Init | Place::Return => None,
            };
            let mut at = |array: Var, index: Option<Var>| {
                let known = cut_to.entry(array).or_insert(index);
                *known = known.filter(|v| index == Some(*v));
            };
            each_stmt(&placed.block.stmts, &mut |s| match s.kind {
                StmtKind::WriteArray(array, index, _) => {
                    at(array, index.var());
                    written.extend(rate.map(|r| (array, r)));
                }
                StmtKind::SliceArray(_, array, n) => {
                    at(array, n.var());
                    cut.insert(array);
                }
                StmtKind::Assign(v, _) => {
                    counted.entry(v).or_default().extend(rate);
                    each_use(s, &mut |v| other.push(v));
                }
                _ => each_use(s, &mut |v| other.push(v)),
            });
        }
        let left = self.left_in_the_middle(program);
        let filled = |array: Var, count: Option<Var>| {
            let rates = count.and_then(|v| counted.get(&v)).into_iter().flatten();
            rates
                .into_iter()
                .all(|r| written.contains(&(array, *r)) && !left.contains(r))
        };
        cut_to.retain(|array, count| cut.contains(array) && filled(*array, *count));
        for v in other {
            cut_to.remove(&v);
        }
        self.cut_to = cut_to;
    }

    /// Returns the rates whose iterations may end early.
    fn left_in_the_middle(&self, program: &Loop) -> FxHashSet<RateId> {
        let mut left = FxHashSet::default();
        for placed in &self.blocks {
            let Place::At { rate, section, .. } = placed.place else {
                continue;
            };
            for exit in &placed.block.exits {
                let to = exit.target.map(|t| self.tree.place(program, t));
                let to = match to {
                    Some(Place::At { rate, .. }) => Some(rate),
                    _ => None,
                };
                // A guard that does not admit ends the iteration around its rate.
                let mut at = match section {
                    Section::Guard if to == Some(rate) => None,
                    Section::Guard => program.rate(rate).kind.parent(),
                    _ => Some(rate),
                };
                while let Some(r) = at {
                    left.insert(r);
                    at = program.rate(r).kind.parent().filter(|_| to != Some(r));
                }
            }
        }
        left
    }
}
