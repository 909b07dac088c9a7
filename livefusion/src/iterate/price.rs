//! The price of an element of a loop-invariant array in each step.

use crate::ast::{Body, Capture, Kind, Node, Sequence, Term, TermId};
use crate::fusion::inline::{is_fixed, is_shifted};
use crate::fusion::remat;
use loop_lang::op::Op;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The price of an array, in bytes of memory per element.
pub(super) struct Price {
    /// The price of computing it. None if it is costly.
    pub(super) compute: Option<u64>,
    /// The price of reading it.
    pub(super) read: u64,
    /// Whether computing an element may trap.
    pub(super) may_trap: bool,
    /// Whether it may have more elements than the arrays that it is computed from.
    pub(super) expands: bool,
}

/// Prices nodes of a step.
pub(super) struct Pricing<'p> {
    /// Whether a node is in memory in each step.
    pub(super) is_there: &'p dyn Fn(&Arc<Node>) -> bool,
    /// Whether a step reads a node anyway.
    pub(super) is_read: &'p dyn Fn(&Arc<Node>) -> bool,
}

impl Pricing<'_> {
    /// Whether consumers may compute a node's elements where they use them.
    pub(super) fn is_computed_at_use(&self, node: &Node) -> bool {
        let facts = node.kind.facts();
        facts.by_field || facts.in_step() || matches!(node.kind, Kind::Len)
    }

    /// Prices an array.
    pub(super) fn of(&self, node: &Arc<Node>) -> Price {
        let mut price = Price {
            compute: Some(0),
            read: width(node),
            may_trap: false,
            expands: false,
        };
        let mut operated = 0;
        let mut seen: FxHashSet<*const Node> = FxHashSet::default();
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            if node.rank == 0 || !seen.insert(Arc::as_ptr(node)) {
                continue;
            }
            if (self.is_there)(node) || matches!(node.kind, Kind::Input(_)) {
                let bytes = if (self.is_read)(node) { 0 } else { width(node) };
                price.compute = price.compute.map(|sum| sum + bytes);
                continue;
            }
            if !self.is_computed_at_use(node) {
                price.compute = None;
                continue;
            }
            if let Some(body) = node.kind.bodies().pop() {
                price.may_trap |= body.may_trap();
                let own = remat::of_body(body, |_, _, index| is_in_order(&node.kind, body, index));
                match own {
                    Some(own) => operated += own,
                    None => price.compute = None,
                }
                stack.extend(read_once_each(body));
            }
            match node.kind {
                // An element of its inputs serves several of its elements.
                Kind::Expand(_) => price.expands = true,
                _ => stack.extend(&node.inputs),
            }
        }
        price.compute = price.compute.map(|sum| sum + remat::worth(operated, 1));
        price
    }

    /// Whether a delayed scalar is the result of a loop, or of a combinator that passes over its
    /// input.
    pub(super) fn has_pass(&self, scalar: &Arc<Node>) -> bool {
        let mut seen: FxHashSet<*const Node> = FxHashSet::default();
        let mut stack = vec![scalar];
        while let Some(node) = stack.pop() {
            let is_ready = (self.is_there)(node) || matches!(node.kind, Kind::Input(_));
            if is_ready || !seen.insert(Arc::as_ptr(node)) {
                continue;
            }
            let has_loop = |body: &&Body| node.rank == 0 && !body.loops.is_empty();
            if !self.is_computed_at_use(node) || node.kind.bodies().iter().any(has_loop) {
                return true;
            }
            stack.extend(crate::sharing::links(node));
        }
        false
    }
}

/// The bytes of an element.
fn width(node: &Node) -> u64 {
    node.types.iter().map(|t| t.size() as u64).sum()
}

/// The arrays of which a body reads one element each for its own.
fn read_once_each(body: &Body) -> impl Iterator<Item = &Arc<Node>> {
    body.terms.iter().filter_map(|data| match data.term {
        Term::At { capture, index, .. } if is_shifted(body, index) => {
            body.captures.get(capture as usize).map(Capture::node)
        }
        _ => None,
    })
}

/// Whether a body's reads at an index traverse memory in order, as neighbours do.
fn is_in_order(kind: &Kind, body: &Body, index: TermId) -> bool {
    if kind.facts().order == Sequence::AsInputs {
        return is_fixed(body, index);
    }
    // The first parameter is the index that changes fastest.
    let is_slow = |t: TermId| !body.live_terms([t].into_iter()).first().is_some_and(|l| *l);
    let mut stack = vec![index];
    while let Some(t) = stack.pop() {
        match &body.terms[t.index()].term {
            _ if is_slow(t) => {}
            Term::Param(_) => {}
            Term::Op(Op::Add | Op::Sub | Op::Min | Op::Max, args) => stack.extend(args.iter()),
            Term::Flat(args) if is_slow(args[0]) => stack.push(args[1]),
            _ => return false,
        }
    }
    true
}
