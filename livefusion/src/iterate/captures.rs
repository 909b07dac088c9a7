//! Captures of loops over arrays: the values that steps need from outside.

use super::{sources, sources_in};
use crate::ast::{ArrayLoop, Kind, Node};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Lists the values from outside that must be ready before the first step. These are placeholders
/// for later values, results of loops, and loop-invariant folds, scans, filters and scatters.
/// Loop-invariant maps are computed at their use, as everywhere.
///
/// Nested loops already have lists of their own, so the walk enters no step.
pub(super) fn of(of: &ArrayLoop) -> Vec<Arc<Node>> {
    let is_state = |node: &Arc<Node>| of.inputs.iter().any(|own| Arc::ptr_eq(own, node));
    let varies = marked(&of.step, &is_state, &|node| sources_in(of, node));
    let mut seen: FxHashSet<*const Node> = FxHashSet::default();
    let mut captures = Vec::new();
    let mut stack: Vec<&Arc<Node>> = of.step.iter().collect();
    while let Some(node) = stack.pop() {
        if node.value.get().is_some() || !seen.insert(Arc::as_ptr(node)) || is_state(node) {
            continue;
        }
        let is_ready = matches!(node.kind, Kind::Input(_)) || node.kind.facts().passes_over;
        match is_ready && !varies.contains(&Arc::as_ptr(node)) {
            true => captures.push(node.clone()),
            false => stack.extend(sources(node)),
        }
    }
    captures
}

/// The nodes among the roots and their operands that depend on certain nodes, including these.
pub(crate) fn varying(
    roots: &[Arc<Node>],
    is_one: &dyn Fn(&Arc<Node>) -> bool,
) -> FxHashSet<*const Node> {
    marked(roots, is_one, &|node| sources(node))
}

fn marked<'a>(
    roots: &'a [Arc<Node>],
    is_one: &dyn Fn(&Arc<Node>) -> bool,
    sources: &dyn Fn(&'a Node) -> Vec<&'a Arc<Node>>,
) -> FxHashSet<*const Node> {
    let mut seen: FxHashSet<*const Node> = FxHashSet::default();
    let mut varies: FxHashSet<*const Node> = FxHashSet::default();
    let mut stack: Vec<(&Arc<Node>, bool)> = roots.iter().map(|root| (root, false)).collect();
    while let Some((node, below)) = stack.pop() {
        let at = Arc::as_ptr(node);
        if below {
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
    varies
}
