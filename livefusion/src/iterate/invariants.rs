//! Chooses the loop-invariant nodes of a step to compute once, before the first step.
//!
//! A captured node is written once and read in each step. Any other invariant node is computed in
//! each step, fused with its consumers. The choice compares the bytes of both, with the price of
//! operators from [`remat`](crate::fusion::remat):
//!
//! * Combinators that pass over their inputs, and costly elementwise ones, are captured.
//! * The largest invariant node is captured, not its operands, unless a step uses these too.
//! * An array with more elements than arrays in memory is computed in each step. Such an array
//!   would take memory that the program never asked for.
//! * A node that may trap is captured only if each step computes all its elements.

use super::captures::Marked;
use super::price::{Price, Pricing};
use super::sources_in;
use crate::ast::{After, ArrayLoop, Body, Capture, Ends, Kind, Len, Node, Shape, Term, Value};
use crate::fusion::inline::is_fixed;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The number of steps that must pay for a captured array, if the loop makes as many.
const STEPS: u64 = 4;

/// Describes the use of a loop-invariant node by steps.
#[derive(Clone, Copy, Default)]
struct Uses {
    /// Whether a step reads more than a single element.
    many: bool,
    /// Whether each step computes all elements.
    all: bool,
    /// Whether it is as long as an array in memory.
    as_memory: bool,
}

impl Uses {
    const SCALAR: Uses = Uses {
        many: true,
        all: true,
        as_memory: false,
    };

    fn or(self, other: Uses) -> Uses {
        Uses {
            many: self.many || other.many,
            all: self.all || other.all,
            as_memory: self.as_memory || other.as_memory,
        }
    }

    /// The use of an operand, if its user is not captured.
    fn of_operand(self, operand: Uses) -> Uses {
        Uses {
            many: self.many && operand.many,
            all: self.all && operand.all,
            as_memory: operand.as_memory,
        }
    }
}

/// The loop-invariant nodes of a step.
pub(super) struct Invariants<'a> {
    of: &'a ArrayLoop,
    marked: &'a Marked<'a>,
    /// Whether steps may leave elements uncomputed.
    ends: bool,
    /// The nodes as long as an array in memory, by elementwise combinators or by their shape.
    as_memory: FxHashSet<*const Node>,
    /// The largest known length of an array of the first state.
    most: u64,
    /// The uses by nodes that vary, through names of fields.
    uses: FxHashMap<*const Node, Uses>,
    decided: FxHashSet<*const Node>,
    captured: FxHashSet<*const Node>,
    captures: Vec<Arc<Node>>,
}

impl<'a> Invariants<'a> {
    pub(super) fn of(of: &'a ArrayLoop, marked: &'a Marked<'a>) -> Invariants<'a> {
        let ends = marked.order.iter().any(|node| {
            let varies = marked.varies.contains(&Arc::as_ptr(node));
            varies && (node.kind.facts().ends || matches!(node.kind, Kind::ZipShortest))
        });
        let mut found = Invariants {
            of,
            marked,
            ends,
            as_memory: FxHashSet::default(),
            most: of
                .start
                .iter()
                .filter_map(|n| n.known_len())
                .max()
                .unwrap_or(0),
            uses: FxHashMap::default(),
            decided: FxHashSet::default(),
            captured: FxHashSet::default(),
            captures: Vec::new(),
        };
        found.find_lengths();
        found.find_uses();
        found
    }

    /// Decides on all invariant nodes, operands first.
    pub(super) fn captures(mut self) -> Vec<Arc<Node>> {
        let marked = self.marked;
        for node in &marked.order {
            let uses = self.uses.get(&Arc::as_ptr(node)).copied();
            if let Some(uses) = uses.filter(|_| !self.varies(node)) {
                self.decide(node, uses);
            }
        }
        self.captures
    }

    fn varies(&self, node: &Arc<Node>) -> bool {
        self.marked.varies.contains(&Arc::as_ptr(node))
    }

    fn find_lengths(&mut self) {
        let marked = self.marked;
        let mut shapes: Vec<&Shape> = Vec::new();
        for node in &marked.order {
            let is_long = node.kind.facts().in_step() && self.is_long(node);
            let known = |shape: &Shape| shapes.iter().any(|other| shape.is(other));
            match &node.shape {
                Some(shape) if known(shape) => {}
                Some(shape) if is_long => shapes.push(shape),
                None if is_long => {}
                _ => continue,
            }
            self.as_memory.insert(Arc::as_ptr(node));
        }
    }

    fn is_as_memory(&self, node: &Arc<Node>) -> bool {
        node.rank > 0 && (node.is_leaf() || self.as_memory.contains(&Arc::as_ptr(node)))
    }

    /// Collects the uses by nodes that vary. Users come before their operands.
    fn find_uses(&mut self) {
        let (of, marked) = (self.of, self.marked);
        for root in &of.step {
            self.add(root, Uses::SCALAR);
        }
        for node in marked.order.iter().rev() {
            let own = self.uses.get(&Arc::as_ptr(node)).copied();
            for (operand, uses) in self.operands(node) {
                match own {
                    _ if self.varies(node) => self.add(operand, uses),
                    Some(own) if node.kind.facts().names() => self.add(operand, own),
                    _ => {}
                }
            }
        }
    }

    fn add(&mut self, node: &Arc<Node>, uses: Uses) {
        let known = self.uses.entry(Arc::as_ptr(node)).or_default();
        *known = known.or(uses);
    }

    /// The operands of a node, each with its use.
    fn operands(&self, node: &'a Node) -> Vec<(&'a Arc<Node>, Uses)> {
        let many = Uses {
            many: true,
            ..Uses::default()
        };
        if let After::Apart(..) = node.after {
            let sources = sources_in(self.of, node).into_iter();
            return sources.map(|n| (n, many)).collect();
        }
        let element = Uses {
            as_memory: node.kind.facts().in_step() && self.is_long(node),
            all: !self.ends,
            ..many
        };
        let mut all: Vec<_> = node.inputs.iter().map(|n| (n, element)).collect();
        for body in node.kind.bodies() {
            for (number, capture) in body.captures.iter().enumerate() {
                let uses = match capture {
                    Capture::Scalar(_) => Uses::SCALAR,
                    Capture::Array(_) if reads_once(&node.kind, body, number) => Uses::default(),
                    Capture::Array(_) => many,
                };
                all.push((capture.node(), uses));
            }
        }
        if let Kind::Generate(Len::Delayed(n), _) = &node.kind {
            all.push((n, Uses::SCALAR));
        }
        all
    }

    /// Whether an elementwise combinator has an operand as long as an array in memory.
    fn is_long(&self, node: &Node) -> bool {
        node.inputs.iter().any(|n| self.is_as_memory(n))
    }

    /// Captures a node, or the nodes below that steps need.
    fn decide(&mut self, node: &'a Arc<Node>, uses: Uses) {
        let mut stack = vec![(node, uses)];
        while let Some((node, uses)) = stack.pop() {
            let at = Arc::as_ptr(node);
            if node.value.get().is_some() || !self.decided.insert(at) {
                continue;
            }
            if matches!(node.kind, Kind::Input(_)) || self.is_better_captured(node, uses) {
                self.captured.insert(at);
                self.captures.push(node.clone());
                continue;
            }
            let below = self.operands(node).into_iter();
            stack.extend(below.map(|(n, of)| (n, uses.of_operand(of))));
        }
    }

    /// Whether a node costs less to read than to compute in each step.
    fn is_better_captured(&self, node: &Arc<Node>, uses: Uses) -> bool {
        let facts = node.kind.facts();
        if facts.names() || self.steps() < 2 {
            return false;
        }
        let pricing = Pricing {
            is_there: &|n| n.value.get().is_some() || self.captured.contains(&Arc::as_ptr(n)),
            is_read: &|n| self.uses.contains_key(&Arc::as_ptr(n)),
        };
        if !pricing.is_computed_at_use(node) {
            return true;
        }
        if node.rank == 0 {
            return pricing.has_pass(node);
        }
        let price = pricing.of(node);
        let is_small = || {
            let known = node.known_len().is_some_and(|len| len <= self.most);
            known || uses.as_memory || self.is_as_memory(node)
        };
        let is_allowed =
            uses.many && (uses.all || !price.may_trap) && (!price.expands || is_small());
        is_allowed && self.is_worth_it(&price)
    }

    fn is_worth_it(&self, price: &Price) -> bool {
        let Some(compute) = price.compute else {
            return true;
        };
        let steps = self.steps();
        (steps - 1).saturating_mul(compute) > (steps + 1).saturating_mul(price.read)
    }

    /// The number of steps, as far as it matters.
    fn steps(&self) -> u64 {
        let Ends::After(times) = &self.of.ends else {
            return STEPS;
        };
        match times.literal() {
            Some(Value::Scalar(fields)) => fields.first().map_or(STEPS, |n| n.bits.min(STEPS)),
            _ => STEPS,
        }
    }
}

/// Whether a body reads a captured array at fixed indices only, a few times per step.
fn reads_once(kind: &Kind, body: &Body, number: usize) -> bool {
    let is_scalar = matches!(kind, Kind::Compute(_)) && body.loops.is_empty();
    let mut terms = body.terms.iter();
    is_scalar
        || terms.all(|data| match data.term {
            Term::At { capture, index, .. } => capture as usize != number || is_fixed(body, index),
            _ => true,
        })
}
