//! The code budget: limits the code size of a loop.
//!
//! Compilers take superlinear time for long loops, and long loops run out of registers. So a loop
//! with twice the code takes more than twice the time. Each loop therefore gets a budget. Heavier
//! code is cut into several loops, at points where little data crosses.
//!
//! A combinator weighs about one per statement that it lowers to. Loop-carried values weigh more,
//! because each occupies a register throughout the loop. Weights depend on the graph only, so plans
//! depend neither on the machine nor on the backend.
//!
//! A combinator that weighs more than the budget gets a loop of its own.

use super::problem::{ClusterItem, Problem};
use crate::ast::{Body, BodyRole, Kind, Side, Term, kept_side};
use crate::fusion::inline::Inlining;
use crate::sharing::{Graph, NodeId};
use smallvec::SmallVec;

/// Limits the total weight of one loop.
pub const BUDGET: u32 = 256;

/// Limits the weight of merged items, small enough that loops can be filled well.
pub const PIECE: u32 = BUDGET / 4;

/// The weight of a loop-carried value.
const CARRIED: u32 = 5;

/// The weight of a scan, which computes blocks of elements by a tree.
const SCAN: u32 = 10;

/// Weighs one cursor of a zip input that the zip advances on demand.
///
/// Its loop-carried values are a position, a pending element and a flag for that element. It also
/// has the loop to the next element.
pub const SIDE: u32 = 3 * CARRIED + 8;

/// Weighs a test, or an array that is a result.
pub const EFFECT: u32 = 2;

/// Returns whether an item fits beside others of this weight.
pub fn fits(weight: u32, item: &ClusterItem) -> bool {
    weight.saturating_add(item.weight) <= BUDGET
}

/// Returns whether the budget of a single loop suffices for the whole problem.
pub fn holds(problem: &Problem) -> bool {
    let weights = problem.items.iter().map(|i| i.weight);
    weights.fold(0, u32::saturating_add) <= BUDGET
}

/// Returns the weight of each node.
///
/// It includes inlined code: index functions read at an index, and generators that belong to no
/// loop.
pub fn weights(graph: &Graph, inlining: &Inlining, free: &[bool]) -> Vec<u32> {
    let mut weights: Vec<u32> = Vec::with_capacity(graph.nodes.len());
    // The weight of computing one element inline.
    let mut inline: Vec<u32> = Vec::with_capacity(graph.nodes.len());
    for id in graph.ids() {
        let node = &graph.nodes[id.index()];
        let add = |sum: u32, more: u32| sum.saturating_add(more);
        let inlined = |n: &NodeId| match free[n.index()] || inlining.is_inlined(*n) {
            true => inline[n.index()],
            false => 0,
        };
        let mut weight = own(&node.node.kind, node.node.types.len() as u32);
        if !node.leaf {
            let all = in_loop(&node.node.kind);
            let all = all.iter().zip(&node.captures);
            weight = all.fold(weight, |sum, (body, captures)| {
                let read = |capture: u32, field| graph.resolve(captures[capture as usize], field).0;
                add(
                    sum,
                    of_body(body, |capture, field| inlined(&read(capture, field))),
                )
            });
        }
        let inputs = node.inputs.iter().map(inlined);
        weight = inputs.fold(weight, add);
        inline.push(weight);
        weights.push(weight);
    }
    weights
}

/// Returns the weight of a node without inlined code.
pub fn alone(graph: &Graph, id: NodeId) -> u32 {
    let node = graph.node(id);
    let own = own(&node.kind, node.types.len() as u32);
    let bodies = in_loop(&node.kind);
    let bodies = bodies.iter().map(|body| of_body(body, |_, _| 0));
    bodies.fold(own, u32::saturating_add)
}

/// The bodies of a kind that its loop computes. A function that joins states runs only where parts
/// meet.
fn in_loop(kind: &Kind) -> SmallVec<[&Body; 3]> {
    let all = kind.bodies_by_role().into_iter();
    let here = all.filter(|(role, _)| *role != BodyRole::Join || kind.facts().scans);
    here.map(|(_, body)| body).collect()
}

/// The weight that a kind adds to the terms of its bodies.
fn own(kind: &Kind, fields: u32) -> u32 {
    if let Kind::Scan(fold, _) = kind
        && kept_side(&fold.step) == Some(Side::Right)
    {
        // A delay slides.
        return CARRIED * fields;
    }
    let effort = kind.facts().effort;
    let once = CARRIED * effort.carried + SCAN * effort.scans + EFFECT * effort.effects;
    if effort.each_field {
        once * fields
    } else {
        once
    }
}

/// The weight of a body. A read at an index weighs `read` plus one.
fn of_body(body: &Body, read: impl Fn(u32, u32) -> u32) -> u32 {
    let weight = |term: &Term| match term {
        Term::Op(..) | Term::Flat(_) | Term::Cond(..) | Term::LoopResult(..) | Term::Assert(..) => {
            1
        }
        Term::At { capture, field, .. } => read(*capture, *field).saturating_add(1),
        Term::Param(_) | Term::Lit(_) | Term::Scalar { .. } | Term::LoopVar(..) => 0,
    };
    let weights = body.terms.iter().map(|t| weight(&t.term));
    weights.fold(0, u32::saturating_add)
}
