//! The naive evaluator: one node after the other over `Vec`s, nothing fused, nothing shared but nodes.
//!
//! Values are canonical words, one column per field. It collects *all* traps; [`order`] says which one
//! counts once the schedule of loops is known. Floats that a backend may reassociate come with a bound.

mod asked;
mod body;
mod demand;
mod fold;
mod nodes;
pub mod order;
mod pulled;
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

/// The stable name of a node.
pub type Key = *const Node;

/// A node's result.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// A delayed scalar's fields.
    Scalar(Vec<u64>),
    /// An array's fields, and its length.
    Array(Vec<Vec<u64>>, usize),
}

impl Data {
    /// The columns of an array; none for a scalar.
    pub fn columns(&self) -> &[Vec<u64>] {
        match self {
            Data::Array(c, _) => c,
            Data::Scalar(_) => &[],
        }
    }
    /// The length of an array; 0 for a scalar.
    pub fn len(&self) -> usize {
        match self {
            Data::Array(_, n) => *n,
            Data::Scalar(_) => 0,
        }
    }
    /// Whether this is an array without elements.
    pub fn is_empty(&self) -> bool {
        matches!(self, Data::Array(_, 0))
    }
}

/// When in the life of its loop something happens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum When {
    /// Before the first iteration.
    Init,
    /// At an element.
    Element(usize),
    /// After the last iteration.
    Done,
}

/// A trap that a node may raise.
#[derive(Clone, PartialEq, Debug)]
pub struct Trap {
    /// When, in elements of the rate at which the node runs.
    pub when: When,
    /// What went wrong.
    pub kind: TrapKind,
    /// What is reported with it.
    pub payload: Vec<Const>,
    /// The field whose computation it is; none if the node always does it.
    pub field: Option<u32>,
}

/// An element's field that is read at an index.
#[derive(Clone, Debug)]
pub struct Read {
    /// When, in elements of the rate at which the reader runs.
    pub when: When,
    /// The reader's field for whose computation it is; none if it always is.
    pub field: Option<u32>,
    /// The array and its field.
    pub array: (Arc<Node>, u32),
    /// The index, which is inside.
    pub index: usize,
}

/// How far a field may be from the naive value: per element for arrays.
#[derive(Clone, PartialEq, Debug)]
pub enum Bound {
    /// Not at all.
    Exact,
    /// At most this far, per element (one entry for scalars). Infinite: anything goes.
    Within(Vec<f64>),
}

/// What the evaluator knows of a node.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// Its value (of safe operands where it trapped).
    pub data: Data,
    /// Per field of a float fold or scan that backends may reassociate.
    pub bounds: Vec<Bound>,
    /// All traps.
    pub traps: Vec<Trap>,
    /// The elements that it reads at an index, of arrays whose computation may trap.
    pub reads: Vec<Read>,
    /// Whether it traps, or something that it depends on.
    pub may_trap: bool,
    /// For what keeps some elements: which element of the input each element was.
    pub origin: Vec<usize>,
    /// For a merge: how many elements of each input were taken before each attempt to take a further one.
    pub taken: Vec<Vec<usize>>,
    /// For what stops before the end: how many elements of the input it looked at.
    pub looked_at: Option<usize>,
    /// Whether it depends on a value that is not known to the bit.
    pub tainted: bool,
}

impl Evaluated {
    /// Adds traps that were not there before.
    fn add_traps(&mut self, traps: Vec<Trap>) {
        for trap in traps {
            if !self.traps.iter().rev().take(16).any(|t| *t == trap) {
                self.traps.push(trap);
            }
        }
    }
}

/// Evaluates nodes and remembers what they gave.
#[derive(Default, Debug)]
pub struct Naive {
    /// With the node, so that its address stays taken.
    memo: HashMap<Key, (Arc<Node>, Rc<Evaluated>)>,
    /// Values taken for reassociated nodes in place of the naive ones, once they were compared.
    anchors: HashMap<Key, Data>,
    /// What the node that is being evaluated has read.
    reads: RefCell<Vec<Read>>,
}

impl Naive {
    /// An evaluator that goes on with these values for reassociated nodes.
    pub fn with_anchors(anchors: HashMap<Key, Data>) -> Naive {
        Naive {
            anchors,
            ..Naive::default()
        }
    }

    /// What is known of a node that was evaluated.
    pub fn get(&self, node: &Arc<Node>) -> Option<&Rc<Evaluated>> {
        self.memo.get(&Arc::as_ptr(node)).map(|(_, e)| e)
    }

    /// Evaluates a node and all it depends on.
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

    /// Notes that an element is read, if computing it may trap.
    fn read(&self, read: Read) {
        if self.get(&read.array.0).is_some_and(|e| e.may_trap) {
            self.reads.borrow_mut().push(read);
        }
    }

    /// The value that users of a node see.
    fn seen(&self, node: &Arc<Node>) -> &Data {
        self.anchors
            .get(&Arc::as_ptr(node))
            .unwrap_or_else(|| self.data(node))
    }
}

/// Everything that a node depends on.
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

/// Every node below some roots, users before what they use.
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
