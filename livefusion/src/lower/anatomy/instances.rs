//! Instances: where in the rate tree a combinator runs.
//!
//! One iteration of a rate runs its *parts* in order: stages of its own and child rates. A value is known
//! from a [`Spot`] on: in the stage that computes it, or behind the child rate that folds it. What needs
//! values of a rate and of its children runs in a later stage; what runs over the elements of a segment
//! again, knowing what a first pass over them found, runs in a second *instance* of their rate. Instances
//! and stages are added when something first needs them, at the end of an iteration.

use super::{Anatomy, Column, Lower};
use crate::ast::Kind;
use crate::error::ErrorKind;
use crate::fusion::{ClassId, ClassKind};
use crate::sharing::NodeId;
use loop_lang::ir::*;

/// A part of a rate's iteration, by position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spot {
    /// The rate.
    pub rate: RateId,
    /// Which of its parts.
    pub position: usize,
}

impl Anatomy<'_> {
    /// The stage at a spot, as a combinator's home.
    pub fn home(&self, spot: Spot) -> Home {
        let stage = match self.program.rate(spot.rate).parts.get(spot.position) {
            Some(Part::Stage(s)) => *s,
            _ => 0,
        };
        Home {
            rate: spot.rate,
            stage,
        }
    }

    /// Where a node of a class can run that needs these values: the first instance of the class behind
    /// all of them, made if there is none.
    pub fn spot(&mut self, id: NodeId, class: ClassId, needs: &[Spot]) -> Lower<Spot> {
        let instances = self.instances.get(&class).cloned().unwrap_or_default();
        for rate in instances.into_iter().filter(|r| self.is_here(*r)) {
            if let Some(position) = self.fits(rate, needs) {
                return Ok(self.stage(rate, position));
            }
        }
        match self.plan.rates.kind(class) {
            ClassKind::Sub(parent, by) => {
                crate::lower::filter::open(self, id, class, (parent, by), needs)
            }
            ClassKind::Nested(parent, lengths) => {
                crate::lower::segments::open(self, id, class, (parent, lengths), needs)
            }
            // Classes that are one only at run time: what is checked to be as long as the root.
            ClassKind::Root => {
                let root = self.inside.or(self.root).ok_or_else(no_root)?;
                let position = self.fits(root, needs).unwrap_or(0);
                Ok(self.stage(root, position))
            }
        }
    }

    /// The spot at the end of an iteration of the parent's class, where a new child rate goes.
    pub fn spot_for_child(&mut self, id: NodeId, parent: ClassId, needs: &[Spot]) -> Lower<Spot> {
        let instances = self.instances.get(&parent).cloned().unwrap_or_default();
        let at_end = |a: &Self, rate: RateId| Spot {
            rate,
            position: a.program.rate(rate).parts.len(),
        };
        for rate in instances.into_iter().filter(|r| self.is_here(*r)) {
            let outside: Vec<Spot> = needs
                .iter()
                .filter(|n| !self.program.is_within(n.rate, rate))
                .copied()
                .collect();
            if self.fits(rate, &outside).is_some() {
                return Ok(at_end(self, rate));
            }
        }
        let spot = self.spot(id, parent, needs)?;
        Ok(at_end(self, spot.rate))
    }

    /// The position from which on all of these are known in a rate's iterations; none if they never are.
    fn fits(&self, rate: RateId, needs: &[Spot]) -> Option<usize> {
        let mut from = 0;
        for need in needs {
            let meets = self.meeting(rate, need.rate);
            let position = |r: RateId| -> Option<usize> {
                let child = self.below(r, meets)?;
                let parts = &self.program.rate(meets).parts;
                parts.iter().position(|p| *p == Part::Child(child))
            };
            let known_from = position(need.rate).unwrap_or(need.position);
            match position(rate) {
                None => from = from.max(known_from),
                Some(mine) if known_from < mine => {}
                Some(_) => return None,
            }
        }
        Some(from)
    }

    /// The first stage of a rate at or behind a position.
    pub(super) fn stage(&mut self, rate: RateId, from: usize) -> Spot {
        let parts = &mut self.program.rates[rate.index()].parts;
        let found = (from..parts.len()).find(|p| matches!(parts[*p], Part::Stage(_)));
        let position = found.unwrap_or_else(|| {
            let stages = parts.iter().filter(|p| matches!(p, Part::Stage(_)));
            let next = stages.count() as u32;
            parts.push(Part::Stage(next));
            parts.len() - 1
        });
        Spot { rate, position }
    }

    /// The lowest rate that both are within.
    fn meeting(&self, a: RateId, b: RateId) -> RateId {
        let mut at = a;
        while !self.program.is_within(b, at) {
            match self.program.rate(at).kind.parent() {
                Some(p) => at = p,
                None => return at,
            }
        }
        at
    }

    /// The child of `above` that `rate` is within; none if they are the same.
    fn below(&self, rate: RateId, above: RateId) -> Option<RateId> {
        let (mut at, mut child) = (rate, None);
        while at != above {
            child = Some(at);
            at = self.program.rate(at).kind.parent()?;
        }
        child
    }

    /// Whether a value known from `spot` on is known at `at`: in the same iteration, or in one of a rate
    /// within it.
    pub fn is_visible(&self, spot: Spot, at: Spot) -> bool {
        if !self.program.is_within(at.rate, spot.rate) {
            return false;
        }
        match self.below(at.rate, spot.rate) {
            None => spot.position <= at.position,
            Some(child) => {
                let parts = &self.program.rate(spot.rate).parts;
                let mine = parts.iter().position(|p| *p == Part::Child(child));
                mine.is_some_and(|mine| spot.position < mine)
            }
        }
    }

    /// The spot of a rate among its parent's parts.
    pub fn child_spot(&self, rate: RateId) -> Option<Spot> {
        let parent = self.program.rate(rate).kind.parent()?;
        let parts = &self.program.rate(parent).parts;
        let position = parts.iter().position(|p| *p == Part::Child(rate))?;
        Some(Spot {
            rate: parent,
            position,
        })
    }

    /// Whether a class has an instance.
    pub fn is_open(&self, class: ClassId) -> bool {
        self.instances.contains_key(&class)
    }

    /// The instance of a class that a rate is within.
    pub fn around(&self, mut rate: RateId, class: ClassId) -> Option<RateId> {
        let all = self.instances.get(&class)?;
        loop {
            if all.contains(&rate) {
                return Some(rate);
            }
            rate = self.program.rate(rate).kind.parent()?;
        }
    }

    /// From where on the fields of these inputs are known. What was made in this loop is known behind its
    /// making only, wherever it was read again since; what can be had anywhere needs nothing, unless it was
    /// read in one place, which serves further users there.
    pub fn needs(&self, columns: &[Column]) -> Vec<Spot> {
        let mut needs = Vec::new();
        for column in columns {
            let mut at = Some(*column);
            while let Some(c) = at {
                let Some(known) = self.elts.get(&c) else {
                    at = self.passed_on(c);
                    continue;
                };
                needs.extend(match known.as_slice() {
                    [(made, _), ..] if self.is_made_once(c.field.0) => Some(*made),
                    [(read, _)] if self.is_here(read.rate) => Some(*read),
                    _ => None,
                });
                break;
            }
        }
        needs
    }

    /// Whether a node's elements are made in one place of this loop, and kept in memory for all that is
    /// behind: those of arrays in memory and of generators can be had anywhere.
    pub(super) fn is_made_once(&self, id: NodeId) -> bool {
        let anywhere = matches!(self.graph.node(id).kind, Kind::Generate(..));
        !anywhere && !self.is_in_memory(id)
    }

    /// Whether what is known from a spot on was complete for all elements of a rate's segment before its
    /// first iteration over that segment.
    pub(super) fn is_behind(&self, rate: RateId, made: Spot) -> bool {
        !self.program.is_within(made.rate, rate)
            && !self.program.is_within(rate, made.rate)
            && self.fits(rate, &[made]).is_some()
    }
}

pub(super) fn no_root() -> ErrorKind {
    ErrorKind::Malformed {
        expected: "an array to run over".into(),
        got: "none".into(),
    }
}
