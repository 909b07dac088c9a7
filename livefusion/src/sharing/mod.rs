//! Sharing recovery: builds one graph that contains each computation once.
//!
//! The input is a graph of `Arc`ed nodes. Sharing is found on two levels, after McDonell et al.,
//! "Optimising Purely Functional GPU Programs" (2013), "Sharing Recovery":
//!
//! * the AST: pointer identity is a node's stable name. Structurally equal nodes are unified while
//!   the graph's key is computed ([`recover`]);
//! * scalar bodies: terms are hash-consed during tracing. [`place`] finds the lowest region that
//!   dominates all uses of a term and let-binds the term there.
//!
//! Delayed lengths that are equal by [`algebra`] also become one node.
//!
//! Recovery also separates the structure that determines the code (the key) from data that may
//! change between forces: the constants, the arrays and their lengths. A kernel's key contains
//! lengths only as an equality pattern.

pub mod algebra;
mod key;
mod lengths;
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
pub use lengths::{KnownLengths, Measure, Pattern, has_pattern, length_pattern, number};
pub use skeleton::{Met, Skeleton};

/// Identifies a node of a recovered graph by position.
///
/// Inputs and captures precede their users.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// Returns its position among the graph's nodes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

/// Refers to one field of a node.
pub type FieldRef = (NodeId, u32);

/// Holds a node with its links resolved.
#[derive(Clone, Debug)]
pub struct GraphNode {
    /// The (first) AST node that it represents.
    pub node: Arc<Node>,
    /// Whether it already has its value, or is an input of a prepared program.
    pub leaf: bool,
    /// Inputs; empty for leaves.
    pub inputs: Vec<NodeId>,
    /// Captures of each body, in the order of [`Kind::bodies`]; empty for leaves.
    pub captures: Vec<Vec<NodeId>>,
    /// The delayed length of a `Generate`.
    pub length: Option<NodeId>,
    /// The first constant slot of each body's parameters. [`Graph::constants`] holds the values.
    pub constants: Vec<BodyConstants>,
}

/// Maps the literals of a body that are kernel parameters to their slots.
///
/// A literal is identified by its term index.
pub type BodyConstants = FxHashMap<u32, u32>;

/// Holds the recovered graph.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Nodes in dependency order.
    pub nodes: Vec<GraphNode>,
    /// The requested nodes, in the order of the request.
    pub roots: Vec<NodeId>,
    /// Values of the constants that became parameters.
    pub constants: Vec<Const>,
    /// The structure. Equal keys give equal code.
    pub key: GraphKey,
    /// The rewrites behind AST nodes, with names and call sites. Unified nodes are included.
    pub rewrites: Vec<(Rewrite, &'static str, Loc)>,
    /// The equalities of delayed lengths.
    pub algebra: Algebra,
    /// The id of every AST node, by its address. Unified nodes share an id.
    pub by_address: FxHashMap<usize, NodeId>,
}

impl Graph {
    /// Returns the AST node of an id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()].node
    }

    /// Lists every id, in dependency order.
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

    /// Returns the input field that a `Zip`'s or `Fields`' field aliases.
    ///
    /// The first number is the position of the input. None for a node that computes its fields or
    /// has them in memory.
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

    /// Returns all fields of a node, resolved.
    pub fn fields(&self, id: NodeId) -> Vec<FieldRef> {
        (0..self.node(id).types.len() as u32)
            .map(|f| self.resolve(id, f))
            .collect()
    }
}

/// Lists the direct dependences of a node.
///
/// They are its inputs, then its captures, then a delayed length.
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

/// Recovers the graph below `roots`.
///
/// It visits each node once, on an explicit stack. `instead` replaces nodes that are already
/// computed by inputs.
///
/// Errors: the first mistake made while a root's graph was built.
pub fn recover(
    roots: &[Arc<Node>],
    instead: &mut dyn FnMut(&Arc<Node>) -> Option<Arc<Node>>,
) -> Result<Graph> {
    for root in roots {
        if let Some(e) = &root.error {
            return Err((**e).clone());
        }
    }
    let mut recovery = GraphRecovery {
        roots,
        graph: Graph::default(),
        keys: key::Keys::default(),
        algebra: Algebra::default(),
    };
    for root in roots {
        recovery.visit(root, instead)?;
    }
    let GraphRecovery {
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

struct GraphRecovery<'r> {
    roots: &'r [Arc<Node>],
    graph: Graph,
    keys: key::Keys,
    algebra: Algebra,
}

impl GraphRecovery<'_> {
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

    /// Adds a node. `at` is the node itself or the node that it replaces.
    fn add(&mut self, at: &Arc<Node>, node: &Arc<Node>) -> Result<()> {
        if let Some(e) = &node.error {
            return Err((**e).clone());
        }
        let leaf = node.is_leaf();
        if nested::is_placeholder(node) {
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
        // A requested node needs a value of its own.
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

/// Returns a node's stable name.
pub fn address(node: &Arc<Node>) -> usize {
    Arc::as_ptr(node) as usize
}

/// Returns the known length of a leaf or of a generator.
///
/// None for delayed scalars and inputs.
pub fn known_length(node: &GraphNode) -> Option<u64> {
    use crate::ast::Value;
    // A node that was not a leaf at recovery does not count as one, even if it has its value now.
    match node.node.value.get().filter(|_| node.leaf) {
        Some(Value::Array(fields)) => fields.first().map(|b| b.len() as u64),
        Some(Value::Scalar(_)) => None,
        None => match &node.node.kind {
            Kind::Generate(Len::Known(n), _) if !node.leaf => Some(*n),
            _ => None,
        },
    }
}

/// Numbers the known lengths.
pub fn numbered(lengths: &[Option<u64>]) -> Vec<Option<usize>> {
    let mut next = 0..;
    let number = |l: &Option<u64>| l.and_then(|_| next.next());
    lengths.iter().map(number).collect()
}

/// Creates an error that blames this node.
pub fn error_at(graph: &Graph, id: NodeId, kind: crate::error::ErrorKind) -> Error {
    let node = graph.node(id);
    Error::new(node.name, node.loc, kind)
}
