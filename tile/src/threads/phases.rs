//! Phases: consecutive roots of a loop, each planned as a loop with one root.
//!
//! For a phase, all earlier code is part of `init`, and the variables carried by other phases have
//! their final values.

use super::Requested;
use super::shape::{Refusal, Shape};
use loop_lang::gotos::Tree;
use loop_lang::ir::{
    Atom, Group, GroupId, Loop, Place, RateId, RateKind, Section, Stmt, StmtKind, Var,
};
use loop_lang::state::Layout;
use loop_lang::walk;
use rustc_hash::FxHashSet;
use std::borrow::Cow;

/// Holds a loop and its phases.
pub struct Phases<'a> {
    whole: &'a Loop,
    layout: Layout,
    alone: Vec<Cow<'a, Loop>>,
}

impl<'a> Phases<'a> {
    /// Splits a loop into its phases, in order.
    pub fn of(whole: &'a Loop) -> Phases<'a> {
        let alone = match whole.roots.len() {
            1 => vec![Cow::Borrowed(whole)],
            phases => (0..phases).map(|k| Cow::Owned(alone(whole, k))).collect(),
        };
        Phases {
            whole,
            layout: Layout::of(whole),
            alone,
        }
    }

    /// Returns a shape for each phase, chosen by heuristics.
    ///
    /// # Errors
    ///
    /// Returns the reason if a phase cannot run in parallel on a device.
    pub fn shapes(&self) -> Result<Vec<Shape<'_>>, Refusal> {
        self.under(|_| Requested::default())
    }

    /// Returns a shape for each phase under the requested mappings.
    ///
    /// Heuristics choose all other decisions.
    ///
    /// # Errors
    ///
    /// Returns the reason if a phase cannot run in parallel on a device, or not in the requested
    /// way.
    pub fn under(
        &self,
        requested: impl Fn(RateId) -> Requested,
    ) -> Result<Vec<Shape<'_>>, Refusal> {
        match self.alone.len() {
            0 => Err(Refusal::Roots(0)),
            phases => (0..phases)
                .map(|k| self.at(k, requested(self.whole.roots[k])))
                .collect(),
        }
    }

    /// Returns the shape of one phase.
    ///
    /// # Errors
    ///
    /// Returns the reason if it cannot run in parallel on a device, or not in the requested way.
    pub fn at(&self, phase: usize, requested: Requested) -> Result<Shape<'_>, Refusal> {
        let none = || Refusal::Roots(self.alone.len());
        let alone = self.alone.get(phase).ok_or_else(none)?;
        Shape::at(self.whole, alone, phase, self.layout.clone(), requested)
    }
}

/// Extracts a phase as a loop.
fn alone(whole: &Loop, phase: usize) -> Loop {
    let tree = Tree::of(whole);
    let root = whole.roots[phase];
    let is_own = |rate: RateId| whole.root_of(rate) == root;
    let mut program = whole.clone();
    program.roots = vec![root];
    program.blocks.retain(|labels, _| {
        let place = labels.first().map(|l| tree.place(whole, *l));
        match place {
            Some(Place::At { rate, .. }) => is_own(rate),
            Some(Place::Return) => whole.roots.last() == Some(&root),
            _ => true,
        }
    });
    // Code between earlier phases moves to `init`.
    let before: Vec<Place> = whole.roots[..phase].iter().map(|r| done(*r)).collect();
    let between = whole.blocks.iter().filter(|(labels, _)| {
        let place = labels.first().map(|l| tree.place(whole, *l));
        place.is_some_and(|p| before.contains(&p))
    });
    let between = between.flat_map(|(_, block)| block.stmts.iter().cloned());
    let mut labels = whole.blocks.iter().filter_map(|(l, _)| l.first().copied());
    let init = labels.find(|l| tree.place(whole, *l) == Place::Init);
    if let Some(init) = init.and_then(|l| program.blocks.get_mut(l)) {
        init.stmts.extend(between);
    }
    for (i, rate) in program.rates.iter_mut().enumerate() {
        if !is_own(RateId::new(i)) {
            // The rate is unreachable now, and nested in no other rate.
            rate.parts.clear();
            if let (Some(counter), Some(bound)) = (rate.kind.counter(), rate.kind.bound()) {
                rate.kind = RateKind::Root { counter, bound };
            }
        }
    }
    let other = whole.roots.iter().find(|r| **r != root);
    let blocks = program.blocks.iter().filter_map(|(labels, block)| {
        match tree.place(whole, *labels.first()?) {
            Place::At { rate, .. } => Some((rate, &block.stmts[..])),
            _ => None,
        }
    });
    let blocks: Vec<(RateId, &[Stmt])> = blocks.collect();
    let mut groups = whole.groups.clone();
    for (i, group) in groups.iter_mut().enumerate() {
        match updated(GroupId::new(i), group, &blocks) {
            Some((step, next)) => {
                (group.step, group.next) = (step, next);
                if whole.roots.contains(&group.owner) {
                    group.owner = root;
                }
            }
            None => {
                group.vars.clear();
                group.owner = other.copied().unwrap_or(root);
            }
        }
    }
    program.groups = groups;
    program
}

/// Lists the variables used by other phases and by the code after this one.
pub(super) fn elsewhere(whole: &Loop, alone: &Loop) -> FxHashSet<Var> {
    let mut all = FxHashSet::default();
    for (labels, block) in whole.blocks.iter() {
        if labels.iter().any(|l| alone.blocks.get(*l).is_some()) {
            continue;
        }
        let mut of = |a: Atom| all.extend(a.var());
        walk::leaving(block, &mut of);
        for stmt in &block.stmts {
            walk::each(stmt, &mut |s| {
                walk::operands(&s.kind, &mut of);
                walk::handed_out(&s.kind, &mut of);
            });
        }
    }
    all
}

fn done(root: RateId) -> Place {
    Place::At {
        rate: root,
        stage: 0,
        section: Section::Done,
    }
}

/// Returns the rate that updates a group, and its next values.
fn updated(
    id: GroupId,
    group: &Group,
    blocks: &[(RateId, &[Stmt])],
) -> Option<(RateId, Vec<Atom>)> {
    let (mut step, mut next) = (None, group.next.clone());
    for (rate, stmts) in blocks {
        for stmt in *stmts {
            match &stmt.kind {
                StmtKind::Assign(v, a) => {
                    let Some(k) = group.vars.iter().position(|of| of == v) else {
                        continue;
                    };
                    step = step.or(Some(*rate));
                    if let Some(place) = next.get_mut(k) {
                        *place = *a;
                    }
                }
                StmtKind::Scan { group, results, .. } if *group == id => {
                    step = step.or(Some(*rate));
                    next = results.iter().map(|v| Atom::Var(*v)).collect();
                }
                _ => {}
            }
        }
    }
    Some((step?, next))
}
