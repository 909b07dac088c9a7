//! Captures of loops over arrays: the values that steps need from outside.

use super::invariants::Invariants;
use super::{sides, sources, sources_in};
use crate::ast::{After, ArrayLoop, ExternalPart, Node};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Lists the values from outside that must be ready before the first step.
///
/// These are placeholders for later values, results of loops, and the largest loop-invariant nodes
/// that cost less to read than to compute in each step. Nested loops already have lists of their
/// own, so the walk enters no step. A side of a choice captures less: see [`sides`].
///
/// Also returns the depth of the deepest loop in a step, which is 0 without one.
pub(super) fn of(of: &ArrayLoop) -> (Vec<Arc<Node>>, u32) {
    if of.is_side() {
        return sides::captures(of);
    }
    let is_state = |node: &Arc<Node>| of.inputs.iter().any(|own| Arc::ptr_eq(own, node));
    let marked = marked(&of.step, &is_state, &|node| sources_in(of, node));
    let in_steps = marked
        .order
        .iter()
        .filter(|n| marked.varies.contains(&Arc::as_ptr(n)));
    let depth = in_steps.map(|node| depth(node)).max().unwrap_or(0);
    (Invariants::of(of, &marked).captures(), depth)
}

/// The depth of the loop that gives a node, or 0.
pub(super) fn depth(node: &Node) -> u32 {
    match &node.after {
        After::Apart(ExternalPart::Loop(of), _) => of.depth,
        _ => 0,
    }
}

/// The nodes among the roots and their operands that depend on certain nodes, including these.
pub(crate) fn varying(
    roots: &[Arc<Node>],
    is_one: &dyn Fn(&Arc<Node>) -> bool,
) -> FxHashSet<*const Node> {
    marked(roots, is_one, &|node| sources(node)).varies
}

/// The nodes without a value below some roots.
pub(super) struct Marked<'a> {
    /// All but the certain nodes, operands first.
    pub(super) order: Vec<&'a Arc<Node>>,
    /// The nodes that depend on certain nodes, including these.
    pub(super) varies: FxHashSet<*const Node>,
}

fn marked<'a>(
    roots: &'a [Arc<Node>],
    is_one: &dyn Fn(&Arc<Node>) -> bool,
    sources: &dyn Fn(&'a Node) -> Vec<&'a Arc<Node>>,
) -> Marked<'a> {
    let mut seen: FxHashSet<*const Node> = FxHashSet::default();
    let mut varies: FxHashSet<*const Node> = FxHashSet::default();
    let mut order = Vec::new();
    let mut stack: Vec<(&Arc<Node>, bool)> = roots.iter().map(|root| (root, false)).collect();
    while let Some((node, below)) = stack.pop() {
        let at = Arc::as_ptr(node);
        if below {
            order.push(node);
            let mut sources = sources(node).into_iter();
            if sources.any(|from| varies.contains(&Arc::as_ptr(from))) {
                varies.insert(at);
            }
        } else if node.value.get().is_none() && seen.insert(at) {
            if is_one(node) {
                varies.insert(at);
                continue;
            }
            stack.push((node, true));
            stack.extend(sources(node).into_iter().map(|from| (from, false)));
        }
    }
    Marked { order, varies }
}
