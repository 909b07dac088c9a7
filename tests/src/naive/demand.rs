//! Demanded fields of each node.
//!
//! A field without demand is not computed, and cannot trap.

use super::{Key, links, reachable};
use livefusion::ast::{Body, Consumes, Kind, Len, MERGE_CHECK, Node, Term, TermId};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Holds demanded fields by node.
#[derive(Default, Debug)]
pub struct Demand {
    fields: HashMap<Key, HashSet<u32>>,
    reached: HashSet<Key>,
    /// Whether a node that only counts elements demands the first field of its input. A plan may
    /// compute that field to count.
    generous: bool,
}

impl Demand {
    /// Follows demand from the roots down.
    ///
    /// With `generous`, it includes fields that a plan may compute only to count elements.
    pub fn of(roots: &[Arc<Node>], generous: bool) -> Demand {
        let mut demand = Demand {
            generous,
            ..Demand::default()
        };
        for r in roots {
            demand.add_all(r);
        }
        // Consumers come before their operands.
        for node in reachable(roots) {
            demand.reached.insert(Arc::as_ptr(&node));
            demand.node(&node);
        }
        demand
    }

    /// Returns whether counting demands the first field.
    pub fn is_generous(&self) -> bool {
        self.generous
    }

    /// Returns whether a field is demanded.
    pub fn wants(&self, node: &Arc<Node>, field: u32) -> bool {
        self.fields
            .get(&Arc::as_ptr(node))
            .is_some_and(|f| f.contains(&field))
    }

    /// Returns whether the roots depend on a node.
    pub fn reaches(&self, node: &Arc<Node>) -> bool {
        self.reached.contains(&Arc::as_ptr(node))
    }

    fn add(&mut self, node: &Arc<Node>, field: u32) {
        self.fields
            .entry(Arc::as_ptr(node))
            .or_default()
            .insert(field);
    }

    fn add_all(&mut self, node: &Arc<Node>) {
        (0..node.types.len() as u32).for_each(|f| self.add(node, f));
    }

    /// A column of a node's inputs, counted over all of them.
    fn add_column(&mut self, node: &Node, mut column: u32) {
        for input in &node.inputs {
            let width = input.types.len() as u32;
            if column < width {
                return self.add(input, column);
            }
            column -= width;
        }
    }

    fn node(&mut self, node: &Arc<Node>) {
        let mine: Vec<u32> = self
            .fields
            .get(&Arc::as_ptr(node))
            .into_iter()
            .flatten()
            .copied()
            .collect();
        let facts = node.kind.facts();
        match facts.consumes {
            Consumes::Names | Consumes::Own => {
                let first = match &node.kind {
                    Kind::Fields(range) => range.start,
                    _ => 0,
                };
                mine.iter().for_each(|f| self.add_column(node, first + f));
            }
            Consumes::Parts => mine
                .iter()
                .for_each(|f| node.inputs.iter().for_each(|i| self.add(i, *f))),
            Consumes::All => node.inputs.iter().for_each(|i| self.add_all(i)),
            Consumes::Number if self.generous => self.add(&node.inputs[0], 0),
            Consumes::Lengths => self.add_all(&node.inputs[0]),
            // The operands of their bodies follow below.
            Consumes::Bodies | Consumes::Number => {}
        }
        if self.generous {
            node.inputs.iter().for_each(|i| self.add(i, 0));
        }
        if facts.passes_on {
            node.inputs
                .iter()
                .skip(1)
                .for_each(|tags| self.add_all(tags));
        }
        if let Kind::Generate(Len::Delayed(n), _) = &node.kind {
            self.add_all(n);
        }
        let all = node.kind.bodies();
        for (i, body) in all.iter().enumerate() {
            let by_field = facts.by_field && i + 1 == all.len();
            // The inputs that a merge selects from are always demanded.
            let always = match node.kind {
                Kind::Merge(_) => node.inputs.len() + MERGE_CHECK,
                _ if by_field => 0,
                _ => body.results.len(),
            };
            let field = |result: usize| result.checked_sub(always).map(|f| f as u32);
            let wanted: Vec<TermId> = body
                .results
                .iter()
                .enumerate()
                .filter(|(r, _)| field(*r).is_none_or(|f| mine.contains(&f)))
                .map(|(_, r)| *r)
                .collect();
            self.body(node, body, &wanted);
        }
        debug_assert!(links(node).len() >= node.inputs.len());
    }

    fn body(&mut self, node: &Arc<Node>, body: &Body, wanted: &[TermId]) {
        let columns = node.kind.facts().columns;
        for t in live(body, wanted) {
            match body.terms[t.index()].term {
                Term::Param(k) if columns.is_some_and(|first| k >= first) => {
                    self.add_column(node, k);
                }
                Term::Scalar { capture, field } | Term::At { capture, field, .. } => {
                    self.add(body.captures[capture as usize].node(), field);
                }
                _ => {}
            }
        }
    }
}

/// All terms that some terms need.
fn live(body: &Body, wanted: &[TermId]) -> HashSet<TermId> {
    let mut live = HashSet::new();
    let mut stack = wanted.to_vec();
    while let Some(t) = stack.pop() {
        if !live.insert(t) {
            continue;
        }
        match &body.terms[t.index()].term {
            Term::Op(_, args) | Term::Flat(args) | Term::Assert(_, args) => {
                stack.extend(args.iter())
            }
            Term::Cond(c, a, b) => stack.extend([c, a, b]),
            Term::At { index, .. } => stack.push(*index),
            Term::LoopResult(l, _) => {
                let s = &body.loops[*l as usize];
                stack.extend(s.start.iter().chain(&s.next).chain([&s.test]));
            }
            _ => {}
        }
    }
    live
}
