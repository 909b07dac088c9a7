//! The budget of a loop: how much code one may be.
//!
//! Compilers take more than linear time for long loops, and the processor runs out of registers, so
//! that a loop of twice the code takes more than twice the time. So no loop gets more than a budget: what
//! weighs more is cut into several, where little crosses. A combinator weighs about as many statements
//! as it lowers to, and what is carried from iteration to iteration weighs more, for it occupies a register
//! all the time. All this is read off the graph: plans depend neither on the machine nor on the backend.
//!
//! A combinator that weighs more than the budget by itself has a loop of its own.

use super::problem::{Item, Problem};
use crate::ast::{Body, BodyRole, Kind, Term};
use crate::fusion::pull::Pulls;
use crate::sharing::{Graph, NodeId};
use smallvec::SmallVec;

/// What the combinators of one loop weigh together at most.
pub const BUDGET: u32 = 256;

/// What items that are never parted weigh together at most: small enough that loops can be filled well.
pub const PIECE: u32 = BUDGET / 4;

/// What a carried variable weighs.
const CARRIED: u32 = 5;

/// What a scan weighs: it computes blocks of elements by a tree.
const SCAN: u32 = 10;

/// What a zip weighs for each side that it advances on demand: a position, an element that waits and whether
/// there is one, which are carried, and the loop to the next element.
pub const SIDE: u32 = 3 * CARRIED + 8;

/// What a test weighs, or an array that is a result.
pub const EFFECT: u32 = 2;

/// Whether an item may join others that weigh this much.
pub fn has_room(weight: u32, item: &Item) -> bool {
    weight.saturating_add(item.weight) <= BUDGET
}

/// Whether a single loop could hold all of a problem.
pub fn holds(problem: &Problem) -> bool {
    let weights = problem.items.iter().map(|i| i.weight);
    weights.fold(0, u32::saturating_add) <= BUDGET
}

/// What each node weighs, with what it computes on the spot: pulled arrays that it reads at an index, and
/// generators that belong to no loop.
pub fn weights(graph: &Graph, pulls: &Pulls, free: &[bool]) -> Vec<u32> {
    let mut weights: Vec<u32> = Vec::with_capacity(graph.nodes.len());
    // What computing an element on the spot weighs.
    let mut spot: Vec<u32> = Vec::with_capacity(graph.nodes.len());
    for id in graph.ids() {
        let node = &graph.nodes[id.index()];
        let add = |sum: u32, more: u32| sum.saturating_add(more);
        let on_the_spot = |n: &NodeId| match free[n.index()] || pulls.is_pulled(*n) {
            true => spot[n.index()],
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
                    of_body(body, |capture, field| on_the_spot(&read(capture, field))),
                )
            });
        }
        let inputs = node.inputs.iter().map(on_the_spot);
        weight = inputs.fold(weight, add);
        spot.push(weight);
        weights.push(weight);
    }
    weights
}

/// What a node weighs without what it computes on the spot.
pub fn alone(graph: &Graph, id: NodeId) -> u32 {
    let node = graph.node(id);
    let own = own(&node.kind, node.types.len() as u32);
    let bodies = in_loop(&node.kind);
    let bodies = bodies.iter().map(|body| of_body(body, |_, _| 0));
    bodies.fold(own, u32::saturating_add)
}

/// The bodies of a kind that are computed in its loop: a function that joins states is called where parts meet.
fn in_loop(kind: &Kind) -> SmallVec<[&Body; 3]> {
    let all = kind.bodies_by_role().into_iter();
    let here = all.filter(|(role, _)| *role != BodyRole::Join || kind.facts().scans);
    here.map(|(_, body)| body).collect()
}

/// What a kind adds to the terms of its bodies.
fn own(kind: &Kind, fields: u32) -> u32 {
    let effort = kind.facts().effort;
    let once = CARRIED * effort.carried + SCAN * effort.scans + EFFECT * effort.effects;
    if effort.each_field {
        once * fields
    } else {
        once
    }
}

/// What a body weighs, of which reads at an index weigh what `read` says, and one besides.
fn of_body(body: &Body, read: impl Fn(u32, u32) -> u32) -> u32 {
    let weight = |term: &Term| match term {
        Term::Op(..) | Term::Flat(_) | Term::Cond(..) | Term::LoopResult(..) | Term::Ensure(..) => {
            1
        }
        Term::At { capture, field, .. } => read(*capture, *field).saturating_add(1),
        Term::Param(_) | Term::Lit(_) | Term::Scalar { .. } | Term::LoopVar(..) => 0,
    };
    let weights = body.terms.iter().map(|t| weight(&t.term));
    weights.fold(0, u32::saturating_add)
}
