//! Zips that advance their inputs on demand.
//!
//! Nodes in the input cursors belong to the zip's item. Other consumers of such an input may be
//! fused into the zip's loop.
//!
//! The loop iterates over the zip's attempts, so an input's classes are numbered anew there. They
//! are subrates of the attempts, and the zip makes them. A co-consumer therefore joins the loop
//! like a consumer of a filter.

use super::super::budget;
use super::super::free::is_alias;
use super::super::problem::{Class, ClusterItem};
use super::super::reason::Reason;
use super::ProblemBuilder;
use crate::ast::Kind;
use crate::fusion::rates::{ClassId, ClassKind};
use crate::fusion::sides::Side;
use crate::sharing::NodeId;

impl ProblemBuilder<'_> {
    /// Adds the nodes that a zip computes on demand to its item, including nested zips. All other
    /// operands are in memory.
    pub(super) fn sides(&mut self, zip: NodeId, item: &mut ClusterItem) {
        let (mut zips, mut nodes) = (vec![zip], Vec::<NodeId>::new());
        while let Some(zip) = zips.pop() {
            for (k, side) in self.rates.sides(zip).unwrap_or_default().iter().enumerate() {
                if !side.co_consumers.is_empty() {
                    self.side_classes((zip, k), side, item);
                }
                let cursors = side.levels.len() as u32 * budget::SIDE;
                item.weight = item.weight.saturating_add(cursors);
                nodes.extend(&side.nodes);
                zips.extend(&side.nodes);
            }
        }
        for id in &nodes {
            for (k, input) in self.graph.nodes[id.index()].inputs.iter().enumerate() {
                self.link_to(*input, Some(Reason::RatesDiffer), item);
                self.link_position(*id, k, item);
                self.link_free(*input, *id, item);
                // Each part is as long as the class that it iterates over.
                if let Kind::Append = self.graph.node(*id).kind {
                    self.link_lengths_before(*input, item);
                }
            }
            self.link_captures(*id, item);
            self.link_length(*id, item);
            item.weight = item.weight.saturating_add(self.weights[id.index()]);
        }
        let unless = |id: &&NodeId| {
            let alias = is_alias(self.graph, self.rates, **id);
            !alias && !self.free[id.index()] && !self.inlining.is_in_no_loop(**id)
        };
        let new = self.built.nodes.len();
        for id in nodes.iter().filter(unless).collect::<Vec<_>>() {
            self.built.item_of[id.index()] = Some(new);
        }
    }

    /// Makes the classes of a zip input, for its co-consumers.
    fn side_classes(&mut self, on: (NodeId, usize), side: &Side, item: &mut ClusterItem) {
        for level in &side.levels {
            let mut class = self.rates.now(level.delivers);
            loop {
                let made = self.class_on(on, class);
                if !item.makes.contains(&made) {
                    item.makes.push(made);
                }
                match self.rates.parent(class) {
                    Some(parent) if class != self.rates.now(level.class) => class = parent,
                    _ => break,
                }
            }
        }
    }

    /// The problem's number of a class, for a node at it. In the cursors of a zip input, the zip
    /// makes a class of its own, because the loop iterates over attempts.
    pub(super) fn class_for(&mut self, id: NodeId, class: ClassId) -> usize {
        let has_co_consumers = self
            .rates
            .side(id)
            .is_some_and(|s| !s.co_consumers.is_empty());
        match self.rates.cursors_of(id).filter(|_| has_co_consumers) {
            Some(on) => self.class_on(on, class),
            None => self.class(class),
        }
    }

    /// The problem's number of a class in the cursors of a zip input. Numbers its ancestors first.
    fn class_on(&mut self, on: (NodeId, usize), class: ClassId) -> usize {
        let side = self.rates.sides(on.0).and_then(|s| s.get(on.1));
        let is_level = |c: ClassId| {
            let mut levels = side.iter().flat_map(|s| &s.levels);
            levels.any(|l| self.rates.now(l.class) == c)
        };
        let (mut unknown, mut at) = (Vec::new(), class);
        let mut above = loop {
            if let Some(known) = self.on_sides.get(&(on, at)) {
                break *known;
            }
            unknown.push(at);
            match self.rates.parent(at).filter(|_| !is_level(at)) {
                Some(parent) => at = parent,
                None => {
                    let attempts = self.rates.runs_at(self.rates.outermost(on.0));
                    break self.class(attempts.unwrap_or(class));
                }
            }
        };
        for c in unknown.into_iter().rev() {
            let plain = self.class(c);
            let new = match self.rates.kind(c) {
                ClassKind::Nested(_, lengths) if !is_level(c) => Class::Nested {
                    parent: above,
                    lengths: self.field(lengths),
                },
                _ => Class::Sub(above),
            };
            above = self.add_class(c, new, (self.lengths[plain], self.copies[above]));
            self.on_sides.insert((on, c), above);
        }
        above
    }
}
