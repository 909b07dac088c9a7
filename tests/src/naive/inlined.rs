//! Inlined elements: their first computation per reader.

use super::order::{in_loop, resolve};
use super::{Demand, Key, Naive, Read, Schedule, Trap, When, reachable};
use livefusion::ast::{Kind, Node, Term};
use std::collections::HashMap;
use std::sync::Arc;

/// The first computation of an element's field: loop and time.
type First = HashMap<(usize, u32), (usize, When)>;

/// Holds the first computation of inlined nodes' fields.
///
/// Each entry is the loop and the time, per element and field.
#[derive(Default)]
pub struct Computed {
    first: HashMap<Key, First>,
}

/// Follows reads from the nodes of loops to inlined nodes.
///
/// Only reads that take place count.
pub fn computed(
    naive: &Naive,
    roots: &[Arc<Node>],
    schedule: &dyn Schedule,
    demand: &Demand,
    takes_place: impl Fn(&Arc<Node>, &Read) -> bool,
) -> Computed {
    let mut computed = Computed::default();
    // Consumers come before their operands.
    for node in reachable(roots) {
        let Some(e) = naive.get(&node) else { continue };
        let Some(built) = schedule.built(&node).filter(|b| demand.reaches(b)) else {
            continue;
        };
        if let Some((at, _)) = schedule.place(&node) {
            let wanted = |r: &&Read| {
                r.field.is_none_or(|f| demand.wants(&built, f)) && takes_place(&node, r)
            };
            for read in e.reads.iter().filter(wanted) {
                let when = in_loop(naive, &node, read.when, at, schedule);
                computed.add(schedule, &read.array, read.index, (at, when));
            }
        }
        computed.through(schedule, &node, &built, &e.reads);
    }
    computed
}

impl Computed {
    /// Returns the first time of an inlined node's trap for a reader.
    pub fn first(&self, node: &Arc<Node>, trap: &Trap) -> Option<(usize, When)> {
        let When::Element(i) = trap.when else {
            return None;
        };
        let times = self.first.get(&Arc::as_ptr(node))?;
        times.get(&(i, trap.field?)).copied()
    }

    fn add(
        &mut self,
        schedule: &dyn Schedule,
        array: &(Arc<Node>, u32),
        index: usize,
        time: (usize, When),
    ) {
        let Some((node, field)) = resolve(&array.0, array.1) else {
            return;
        };
        if schedule.is_inlined(&node) {
            let times = self.first.entry(Arc::as_ptr(&node)).or_default();
            let first = times.entry((index, field)).or_insert(time);
            *first = time.min(*first);
        }
    }

    /// Follows the operands of an inlined node's elements.
    fn through(&mut self, schedule: &dyn Schedule, node: &Arc<Node>, built: &Node, reads: &[Read]) {
        let Some(times) = self.first.get(&Arc::as_ptr(node)).cloned() else {
            return;
        };
        for ((element, field), time) in &times {
            for column in columns(node, built, *field) {
                self.add(schedule, &column, *element, *time);
            }
        }
        for read in reads {
            if let (When::Element(element), Some(field)) = (read.when, read.field)
                && let Some(time) = times.get(&(element, field))
            {
                self.add(schedule, &read.array, read.index, *time);
            }
        }
    }
}

/// The columns in step that a field of a map uses.
pub(super) fn columns(node: &Arc<Node>, built: &Node, field: u32) -> Vec<(Arc<Node>, u32)> {
    let Kind::Map(plain) = &node.kind else {
        return Vec::new();
    };
    let body = match &built.kind {
        Kind::Map(body) if body.params == plain.params => body,
        _ => plain,
    };
    let live = body.live_terms(body.results.get(field as usize).copied().into_iter());
    let all: Vec<(Arc<Node>, u32)> = node
        .inputs
        .iter()
        .flat_map(|i| (0..i.types.len() as u32).map(|f| (i.clone(), f)))
        .collect();
    let terms = body.terms.iter().zip(live).filter(|(_, live)| *live);
    terms
        .filter_map(|(data, _)| match data.term {
            Term::Param(k) => all.get(k as usize).cloned(),
            _ => None,
        })
        .collect()
}
