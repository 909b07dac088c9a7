//! Sharing recovery: from `Arc`ed nodes to one graph in which every computation stands once.
//!
//! Two levels, after McDonell et al., "Optimising Purely Functional GPU Programs" (2013), "Sharing Recovery":
//!
//! * the AST: pointer identity is a node's stable name, and structurally equal nodes are unified while
//!   the graph's key is computed ([`recover`]);
//! * scalar bodies: terms are hash-consed while they are traced; [`place`] finds, for each term, the
//!   lowest region that dominates all of its uses, where it is let-bound.
//!
//! Delayed lengths are one node if they are equal by [`algebra`], too.
//!
//! Recovery also splits what shapes the code (the key) from what may change from force to force: the
//! constants, the arrays and their lengths. Lengths enter a kernel's key as an equality pattern only.

pub mod algebra;
mod key;
pub mod place;
mod skeleton;
pub mod uniform;

use crate::ast::{Capture, Kind, Len, Node, Rewrite};
use crate::error::{Error, ErrorKind, Result};
use crate::loc::Loc;
use crate::nested;
use algebra::Algebra;
use loop_lang::types::Const;
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

pub use key::GraphKey;
pub use skeleton::{Met, Skeleton};

/// A node of a recovered graph, by position. Inputs and captures come before their users.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// Its position among the graph's nodes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

/// One field of a node.
pub type FieldRef = (NodeId, u32);

/// A node with its links resolved.
#[derive(Clone, Debug)]
pub struct GraphNode {
    /// The (first) AST node that this stands for.
    pub node: Arc<Node>,
    /// Whether it already has its value, or is an input of a prepared program.
    pub leaf: bool,
    /// Inputs; empty for leaves.
    pub inputs: Vec<NodeId>,
    /// Captures of each body, in the order of [`Kind::bodies`]; empty for leaves.
    pub captures: Vec<Vec<NodeId>>,
    /// The delayed length of a `Generate`.
    pub length: Option<NodeId>,
    /// First constant slot of each body's parameters: [`Graph::constants`] holds the values.
    pub constants: Vec<BodyConstants>,
}

/// Which literals of a body are parameters of the kernel: term index and constant slot.
pub type BodyConstants = FxHashMap<u32, u32>;

/// The recovered graph.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Nodes in dependency order.
    pub nodes: Vec<GraphNode>,
    /// What was asked for, in the order in which it was asked for.
    pub roots: Vec<NodeId>,
    /// Values of the constants that became parameters.
    pub constants: Vec<Const>,
    /// The structure: equal keys give equal code.
    pub key: GraphKey,
    /// The rewrites that AST nodes come from, with what was called where: those of unified nodes, too.
    pub rewrites: Vec<(Rewrite, &'static str, Loc)>,
    /// Which delayed lengths are equal.
    pub algebra: Algebra,
    /// The id of every AST node, by its address: unified nodes share one.
    pub by_address: FxHashMap<usize, NodeId>,
}

impl Graph {
    /// The AST node behind an id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()].node
    }

    /// Every id, in dependency order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// Follows `Zip` and `Fields` to the node that computes a field.
    pub fn resolve(&self, id: NodeId, field: u32) -> FieldRef {
        let mut at = (id, field);
        while let Some((_, next)) = self.alias_of(at) {
            at = next;
        }
        at
    }

    /// Of which of its inputs, and of which of that input's fields, a `Zip`'s or `Fields`' field is an alias. None
    /// for a node that computes its fields or has them in memory.
    pub fn alias_of(&self, (id, mut field): FieldRef) -> Option<(usize, FieldRef)> {
        let node = &self.nodes[id.index()];
        match &node.node.kind {
            _ if node.leaf => None,
            Kind::Zip => {
                for (k, input) in node.inputs.iter().enumerate() {
                    let width = self.node(*input).types.len() as u32;
                    if field < width {
                        return Some((k, (*input, field)));
                    }
                    field -= width;
                }
                None
            }
            Kind::Fields(range) => Some((0, (*node.inputs.first()?, field + range.start))),
            _ => None,
        }
    }

    /// All fields of a node, resolved.
    pub fn fields(&self, id: NodeId) -> Vec<FieldRef> {
        (0..self.node(id).types.len() as u32)
            .map(|f| self.resolve(id, f))
            .collect()
    }
}

/// Everything that a node depends on: inputs, then captures, then a delayed length.
pub fn links(node: &Node) -> Vec<&Arc<Node>> {
    let mut out: Vec<&Arc<Node>> = node.inputs.iter().collect();
    for body in node.kind.bodies() {
        out.extend(body.captures.iter().map(Capture::node));
    }
    if let Kind::Generate(Len::Delayed(n), _) = &node.kind {
        out.push(n);
    }
    out
}

/// Recovers the graph below `roots`: one visit per node, on an explicit stack. Instead of nodes that are there already it has inputs.
///
/// Errors: the first mistake that was made while a root's graph was built.
pub fn recover(
    roots: &[Arc<Node>],
    instead: &mut dyn FnMut(&Arc<Node>) -> Option<Arc<Node>>,
) -> Result<Graph> {
    for root in roots {
        if let Some(e) = &root.error {
            return Err((**e).clone());
        }
    }
    let mut recovery = Recovery {
        roots,
        graph: Graph::default(),
        keys: key::Keys::default(),
        algebra: Algebra::default(),
    };
    for root in roots {
        recovery.visit(root, instead)?;
    }
    let Recovery {
        mut graph,
        keys,
        algebra,
        ..
    } = recovery;
    graph.roots = roots
        .iter()
        .map(|r| graph.by_address[&address(r)])
        .collect();
    graph.key = keys.finish(&graph.roots, algebra.found());
    graph.algebra = algebra;
    Ok(graph)
}

struct Recovery<'r> {
    roots: &'r [Arc<Node>],
    graph: Graph,
    keys: key::Keys,
    algebra: Algebra,
}

impl Recovery<'_> {
    fn visit(
        &mut self,
        root: &Arc<Node>,
        instead: &mut dyn FnMut(&Arc<Node>) -> Option<Arc<Node>>,
    ) -> Result<()> {
        let mut stack: Vec<(&Arc<Node>, bool)> = vec![(root, false)];
        while let Some((node, ready)) = stack.pop() {
            if self.graph.by_address.contains_key(&address(node)) {
                continue;
            }
            if ready {
                self.add(node, node)?;
            } else if let Some(input) = instead(node) {
                self.add(node, &input)?;
            } else if node.is_leaf() {
                self.add(node, node)?;
            } else {
                stack.push((node, true));
                stack.extend(links(node).into_iter().rev().map(|n| (n, false)));
            }
        }
        Ok(())
    }

    /// Adds a node in the place of `at`, which is itself or what it stands for.
    fn add(&mut self, at: &Arc<Node>, node: &Arc<Node>) -> Result<()> {
        if let Some(e) = &node.error {
            return Err((**e).clone());
        }
        let leaf = node.is_leaf();
        if let Kind::Input(input) = node.kind
            && nested::is_placeholder(input.number)
            && node.value.get().is_none()
        {
            return Err(Error::new(node.name, node.loc, ErrorKind::LeakedArray));
        }
        let id_of = |n: &Arc<Node>| self.graph.by_address[&address(n)];
        let mut entry = GraphNode {
            node: node.clone(),
            leaf,
            inputs: vec![],
            captures: vec![],
            length: None,
            constants: vec![],
        };
        if !leaf {
            let rewrite = node.rewrite.map(|r| (r, node.name, node.loc));
            self.graph.rewrites.extend(rewrite);
            entry.inputs = node.inputs.iter().map(id_of).collect();
            for body in node.kind.bodies() {
                if let Some(e) = &body.error {
                    return Err((**e).clone());
                }
                entry
                    .captures
                    .push(body.captures.iter().map(|c| id_of(c.node())).collect());
            }
            if let Kind::Generate(Len::Delayed(n), _) = &node.kind {
                entry.length = Some(id_of(n));
            }
        }
        let (size, same) = self.algebra.meet(&self.graph, &entry);
        // What is asked for has its own value.
        let same = same.filter(|_| !self.roots.iter().any(|r| Arc::ptr_eq(r, at)));
        let interned = self
            .keys
            .intern(&mut entry, same, &mut self.graph.constants);
        let id = match interned {
            key::Interned::Known(id) => id,
            key::Interned::Same(id) => {
                self.algebra.absorb(at);
                id
            }
            key::Interned::New(id) => {
                self.graph.nodes.push(entry);
                self.algebra.add(&self.graph, id, size);
                id
            }
        };
        self.graph.by_address.insert(address(at), id);
        Ok(())
    }
}

/// A node's stable name.
pub fn address(node: &Arc<Node>) -> usize {
    Arc::as_ptr(node) as usize
}

/// The length of a leaf or of a generator that is known now; none for delayed scalars and inputs.
pub fn known_length(node: &GraphNode) -> Option<u64> {
    use crate::ast::Value;
    // What was no leaf when the graph was recovered is none, even if it has its value now.
    match node.node.value.get().filter(|_| node.leaf) {
        Some(Value::Array(fields)) => fields.first().map(|b| b.len() as u64),
        Some(Value::Scalar(_)) => None,
        None => match &node.node.kind {
            Kind::Generate(Len::Known(n), _) if !node.leaf => Some(*n),
            _ => None,
        },
    }
}

/// Of the lengths that are known, each one's number.
pub fn numbered(lengths: &[Option<u64>]) -> Vec<Option<usize>> {
    let mut next = 0..;
    let number = |l: &Option<u64>| l.and_then(|_| next.next());
    lengths.iter().map(number).collect()
}

/// An error that this node is to blame for.
pub fn error_at(graph: &Graph, id: NodeId, kind: crate::error::ErrorKind) -> Error {
    let node = graph.node(id);
    Error::new(node.name, node.loc, kind)
}
