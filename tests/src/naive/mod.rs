//! The naive evaluator: one node after another over `Vec`s, without fusion.
//!
//! Values are canonical words, one column per field. It collects *all* traps; [`order`] selects the
//! reported one once the schedule of loops is known. Floats that a backend may reassociate have an
//! error bound.

mod body;
mod demand;
mod demanded;
mod fold;
mod inlined;
mod nodes;
pub mod order;
mod segments;

pub use demand::Demand;
pub use order::{Expected, Schedule};

use livefusion::ast::{Capture, Kind, Len, Node};
use loop_lang::ir::TrapKind;
use loop_lang::types::Const;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// Identifies a node by its address.
pub type Key = *const Node;

/// Holds the result of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// A delayed scalar's fields.
    Scalar(Vec<u64>),
    /// An array's fields, and its length.
    Array(Vec<Vec<u64>>, usize),
}

impl Data {
    /// Returns the columns of an array, or none for a scalar.
    pub fn columns(&self) -> &[Vec<u64>] {
        match self {
            Data::Array(c, _) => c,
            Data::Scalar(_) => &[],
        }
    }
    /// Returns the length of an array, or 0 for a scalar.
    pub fn len(&self) -> usize {
        match self {
            Data::Array(_, n) => *n,
            Data::Scalar(_) => 0,
        }
    }
    /// Returns whether this is an array without elements.
    pub fn is_empty(&self) -> bool {
        matches!(self, Data::Array(_, 0))
    }
}

/// Describes a time in the run of a loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum When {
    /// Before the first iteration.
    Init,
    /// At an element.
    Element(usize),
    /// After the last iteration.
    Done,
}

/// Describes a trap that a node may raise.
#[derive(Clone, PartialEq, Debug)]
pub struct Trap {
    /// Its time, in elements of the node's rate.
    pub when: When,
    /// Its kind.
    pub kind: TrapKind,
    /// Its payload.
    pub payload: Vec<Const>,
    /// The field whose computation traps, or `None` if the shared part does.
    pub field: Option<u32>,
}

/// Describes a read of an element's field at an index.
#[derive(Clone, Debug)]
pub struct Read {
    /// Its time, in elements of the reader's rate.
    pub when: When,
    /// The reader's field that needs it, or `None` for the shared part.
    pub field: Option<u32>,
    /// The array and its field.
    pub array: (Arc<Node>, u32),
    /// The index, which is in bounds.
    pub index: usize,
}

/// Bounds the distance from the naive value.
#[derive(Clone, PartialEq, Debug)]
pub enum Bound {
    /// No difference.
    Exact,
    /// At most this difference, per element (one entry for scalars). Infinity allows any value.
    Within(Vec<f64>),
}

/// Holds the evaluation of a node.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// Its value, with safe operands substituted where it trapped.
    pub data: Data,
    /// Per field: the bound for a float fold or scan that backends may reassociate.
    pub bounds: Vec<Bound>,
    /// All traps.
    pub traps: Vec<Trap>,
    /// Its reads at an index, of arrays whose computation may trap.
    pub reads: Vec<Read>,
    /// Whether it or one of its dependencies traps.
    pub may_trap: bool,
    /// For selectors: the input index of each element.
    pub origin: Vec<usize>,
    /// For merges: the number of elements taken from each input before each attempt to take
    /// another.
    pub taken: Vec<Vec<usize>>,
    /// For early exits: the number of input elements inspected.
    pub looked_at: Option<usize>,
    /// Whether it depends on a value that is not exact to the bit.
    pub tainted: bool,
}

impl Evaluated {
    /// Adds traps without duplicates.
    fn add_traps(&mut self, traps: Vec<Trap>) {
        for trap in traps {
            if !self.traps.iter().rev().take(16).any(|t| *t == trap) {
                self.traps.push(trap);
            }
        }
    }
}

/// Evaluates nodes, and caches the results.
#[derive(Default, Debug)]
pub struct Naive {
    /// The node is kept, so that its address stays in use.
    memo: HashMap<Key, (Arc<Node>, Rc<Evaluated>)>,
    /// Engine values of reassociated nodes, used instead of the naive ones after a comparison.
    anchors: HashMap<Key, Data>,
    /// Reads of the node under evaluation.
    reads: RefCell<Vec<Read>>,
}

impl Naive {
    /// Creates an evaluator with these values for reassociated nodes.
    pub fn with_anchors(anchors: HashMap<Key, Data>) -> Naive {
        Naive {
            anchors,
            ..Naive::default()
        }
    }

    /// Returns the evaluation of a node.
    pub fn get(&self, node: &Arc<Node>) -> Option<&Rc<Evaluated>> {
        self.memo.get(&Arc::as_ptr(node)).map(|(_, e)| e)
    }

    /// Evaluates a node and its dependencies.
    pub fn eval(&mut self, root: &Arc<Node>) -> Rc<Evaluated> {
        let mut stack = vec![(root.clone(), false)];
        while let Some((node, ready)) = stack.pop() {
            if self.memo.contains_key(&Arc::as_ptr(&node)) {
                continue;
            }
            if ready {
                let evaluated = self.node(&node);
                self.memo
                    .insert(Arc::as_ptr(&node), (node, Rc::new(evaluated)));
            } else {
                let below = links(&node);
                stack.push((node, true));
                stack.extend(below.into_iter().map(|n| (n, false)));
            }
        }
        self.memo[&Arc::as_ptr(root)].1.clone()
    }

    fn data(&self, node: &Arc<Node>) -> &Data {
        &self.memo[&Arc::as_ptr(node)].1.data
    }

    fn node(&self, node: &Arc<Node>) -> Evaluated {
        let mut e = nodes::evaluate(self, node);
        e.reads = self.reads.take();
        let below = |n: &Arc<Node>| self.memo[&Arc::as_ptr(n)].1.may_trap;
        e.may_trap = !e.traps.is_empty() || links(node).iter().any(below);
        e.tainted |= links(node).iter().any(|n| {
            let below = &self.memo[&Arc::as_ptr(n)].1;
            let loose = below.bounds.iter().any(|b| *b != Bound::Exact);
            below.tainted || (loose && !self.anchors.contains_key(&Arc::as_ptr(n)))
        });
        e
    }

    /// Notes a read of an element whose computation may trap.
    fn read(&self, read: Read) {
        if self.get(&read.array.0).is_some_and(|e| e.may_trap) {
            self.reads.borrow_mut().push(read);
        }
    }

    /// The value that consumers of a node see.
    fn seen(&self, node: &Arc<Node>) -> &Data {
        self.anchors
            .get(&Arc::as_ptr(node))
            .unwrap_or_else(|| self.data(node))
    }
}

/// Lists the dependencies of a node.
pub fn links(node: &Node) -> Vec<Arc<Node>> {
    let mut out = node.inputs.to_vec();
    for body in node.kind.bodies() {
        out.extend(body.captures.iter().map(Capture::node).cloned());
    }
    if let Kind::Generate(Len::Delayed(n), _) = &node.kind {
        out.push(n.clone());
    }
    out
}

/// Lists the nodes below some roots, consumers before their operands.
pub fn reachable(roots: &[Arc<Node>]) -> Vec<Arc<Node>> {
    let mut order = Vec::new();
    let mut entered: HashMap<Key, ()> = HashMap::new();
    let mut stack: Vec<(Arc<Node>, bool)> = roots.iter().map(|r| (r.clone(), false)).collect();
    while let Some((node, ready)) = stack.pop() {
        if ready {
            order.push(node);
        } else if entered.insert(Arc::as_ptr(&node), ()).is_none() {
            let below = links(&node);
            stack.push((node, true));
            stack.extend(below.into_iter().map(|n| (n, false)));
        }
    }
    order.reverse();
    order
}
