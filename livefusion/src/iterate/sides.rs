//! Sides of choices: their captures, and the work that they share with the program around them.
//!
//! A side captures as little as possible, since its work must not run if the other side is chosen.
//! It captures placeholders, and costly values that its test or its start need.

use super::captures::depth;
use super::price::Pricing;
use super::{sources, waits};
use crate::ast::{After, ArrayLoop, ExternalPart, Kind, Node};
use crate::sharing::links;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Returns the captures of a side, and the depth of the deepest loop in it.
pub(super) fn captures(of: &ArrayLoop) -> (Vec<Arc<Node>>, u32) {
    let before = Below::of(of.begin());
    let (mut captures, mut deepest) = (Vec::new(), 0);
    let mut seen: FxHashSet<*const Node> = of.inputs.iter().map(Arc::as_ptr).collect();
    let mut stack: Vec<&Arc<Node>> = of.step.iter().collect();
    while let Some(node) = stack.pop() {
        if node.value.get().is_some() || !seen.insert(Arc::as_ptr(node)) {
            continue;
        }
        let is_placeholder = matches!(node.kind, Kind::Input(_)) && !is_apart(node);
        if is_placeholder || before.has(node) && (is_apart(node) || is_stored(node)) {
            captures.push(node.clone());
        } else {
            deepest = deepest.max(depth(node));
            stack.extend(sources(node));
        }
    }
    (captures, deepest)
}

/// Whether a node is a pending result of a loop over arrays or of an external function.
pub(super) fn is_apart(node: &Node) -> bool {
    node.value.get().is_none() && matches!(node.after, After::Apart(..))
}

/// Whether consumers before and after a side share a node in memory. Otherwise computing it again
/// costs less.
pub(super) fn is_stored(node: &Arc<Node>) -> bool {
    let pricing = Pricing {
        is_there: &|n| n.value.get().is_some(),
        is_read: &|_| false,
    };
    if node.kind.facts().names() {
        return false;
    }
    if !pricing.is_computed_at_use(node) {
        return true;
    }
    if node.rank == 0 {
        return matches!(&node.kind, Kind::Compute(body) if !body.loops.is_empty());
    }
    let price = pricing.of(node);
    let stored = 2 * price.read;
    !price.may_trap && !price.expands && price.compute.is_none_or(|again| again > stored)
}

/// The nodes that certain nodes are computed from, up to results of external parts.
pub(super) struct Below<'a> {
    pub(super) order: Vec<&'a Arc<Node>>,
    seen: FxHashSet<*const Node>,
}

impl<'a> Below<'a> {
    pub(super) fn of(roots: impl IntoIterator<Item = &'a Arc<Node>>) -> Below<'a> {
        let (mut order, mut seen) = (Vec::new(), FxHashSet::default());
        let mut stack: Vec<&Arc<Node>> = roots.into_iter().collect();
        while let Some(node) = stack.pop() {
            if node.value.get().is_none() && seen.insert(Arc::as_ptr(node)) {
                order.push(node);
                stack.extend(links(node));
            }
        }
        Below { order, seen }
    }

    pub(super) fn has(&self, node: &Arc<Node>) -> bool {
        self.seen.contains(&Arc::as_ptr(node))
    }
}

/// The work that sides of choices share with the program around them. It is done before the choice.
#[derive(Default)]
pub(crate) struct CommonWork {
    /// The nodes of each side, by its address.
    of_sides: FxHashMap<usize, Vec<Arc<Node>>>,
}

impl CommonWork {
    /// Finds the shared work in the program of these roots. Nodes that are there need no work.
    pub(crate) fn below(roots: &[Arc<Node>], is_there: &dyn Fn(&Arc<Node>) -> bool) -> CommonWork {
        let mut shared = CommonWork::default();
        let sides = pending_sides(roots, is_there);
        if sides.is_empty() {
            return shared;
        }
        let needed = needed(roots, is_there);
        for of in sides {
            let work = of_side(of, &needed, is_there);
            if !work.is_empty() {
                shared.of_sides.insert(std::ptr::from_ref(of).addr(), work);
            }
        }
        shared
    }

    /// The nodes that an external part needs before it begins, beside its own.
    pub(crate) fn of(&self, part: &ExternalPart) -> &[Arc<Node>] {
        self.of_sides
            .get(&part.address())
            .map_or(&[], Vec::as_slice)
    }

    /// The operands of a node, with the work before an external part.
    pub(crate) fn sources<'a>(&'a self, node: &'a Node) -> Vec<&'a Arc<Node>> {
        let mut all = sources(node);
        if let After::Apart(of, _) = &node.after {
            all.extend(self.of(of));
        }
        all
    }
}

/// The pending sides of choices in a program.
fn pending_sides<'a>(
    roots: &'a [Arc<Node>],
    is_there: &dyn Fn(&Arc<Node>) -> bool,
) -> Vec<&'a ArrayLoop> {
    let mut sides: Vec<&ArrayLoop> = Vec::new();
    let (mut seen, mut parts) = (FxHashSet::default(), FxHashSet::default());
    // Roots that wait for nothing allocate nothing here.
    let mut stack: Vec<&Arc<Node>> = roots.iter().filter(|n| waits(n)).collect();
    while let Some(node) = stack.pop() {
        if !waits(node) || is_there(node) || !seen.insert(Arc::as_ptr(node)) {
            continue;
        }
        if let After::Apart(ExternalPart::Loop(of), _) = &node.after
            && of.is_side()
            && parts.insert(Arc::as_ptr(of))
        {
            sides.push(of);
        }
        stack.extend(sources(node));
    }
    sides
}

/// The nodes that a program computes for any choices and any number of steps.
fn needed(roots: &[Arc<Node>], is_there: &dyn Fn(&Arc<Node>) -> bool) -> FxHashSet<*const Node> {
    let mut needed = FxHashSet::default();
    let mut stack: Vec<&Arc<Node>> = roots.iter().collect();
    while let Some(node) = stack.pop() {
        if node.value.get().is_some() || is_there(node) || !needed.insert(Arc::as_ptr(node)) {
            continue;
        }
        match &node.after {
            After::Apart(of, _) => {
                stack.extend(of.begin());
                stack.extend(of.captures().iter().filter(|n| is_apart(n)));
            }
            After::Nothing | After::Sources => stack.extend(links(node)),
        }
    }
    needed
}

/// The costly nodes of a side that the program needs in any case.
fn of_side(
    of: &ArrayLoop,
    needed: &FxHashSet<*const Node>,
    is_there: &dyn Fn(&Arc<Node>) -> bool,
) -> Vec<Arc<Node>> {
    let mut work = Vec::new();
    // The state and the test are there before the step.
    let known = of.inputs.iter().chain(of.begin());
    let mut seen: FxHashSet<*const Node> = known.map(Arc::as_ptr).collect();
    let mut stack: Vec<&Arc<Node>> = of.step.iter().chain(&of.captures).collect();
    while let Some(node) = stack.pop() {
        let is_done = node.value.get().is_some() || is_there(node);
        if is_done || !seen.insert(Arc::as_ptr(node)) {
            continue;
        }
        let is_placeholder = matches!(node.kind, Kind::Input(_)) && !is_apart(node);
        let is_needed = needed.contains(&Arc::as_ptr(node));
        if is_needed && !is_placeholder && (is_apart(node) || is_stored(node)) {
            work.push(node.clone());
        } else {
            stack.extend(sources(node));
        }
    }
    work
}
