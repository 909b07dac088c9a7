//! The first stage: the graph, with each computation once.

use super::{FieldRef, Plan, ast, ast_of};
use crate::ast::{Body, Kind, Node};
use crate::error::Result;
use crate::force::Force;
use crate::fusion::{self, Clustering};
use crate::sharing::{self, GraphNode, KnownLengths, NodeId};
use std::fmt;
use std::sync::Arc;

/// Returns the graph of a force, with external parts as inputs.
///
/// # Errors
/// The first error made while the program was built.
pub fn graph(program: &(impl Force + ?Sized)) -> Result<Graph> {
    ast(program).graph()
}

/// Works as [`graph`], for untyped nodes.
///
/// # Errors
/// As for [`graph`].
pub fn graph_of(roots: &[Arc<Node>]) -> Result<Graph> {
    ast_of(roots).graph()
}

/// Holds a program with each computation once.
///
/// Values in memory are leaves. Its text has one line per node, and closures as nested lets.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::stages;
/// let xs = Array::from(vec![1.0f64, 2.0]);
/// let twice = |xs: &Array<f64>| xs.map(|x| x * 2.0);
/// let graph = stages::graph(&(&twice(&xs), &twice(&xs)))?;
/// assert_eq!(graph.roots()[0], graph.roots()[1]);
/// let names = graph.ids().filter_map(|id| Some(graph.node(id)?.name));
/// assert_eq!(names.collect::<Vec<_>>(), ["manifest", "map"]);
/// # Ok::<(), livefusion::Error>(())
/// ```
#[derive(Clone)]
pub struct Graph(pub(super) Arc<Recovered>);

pub(super) struct Recovered {
    pub graph: sharing::Graph,
    pub lengths: KnownLengths,
}

impl Graph {
    /// Creates a graph with the lengths known before a force.
    pub(super) fn known(graph: sharing::Graph) -> Graph {
        let lengths = KnownLengths::of(&graph, &[]);
        Graph(Arc::new(Recovered { graph, lengths }))
    }

    /// Copies the graph that a force is about to plan.
    pub(crate) fn of(graph: &sharing::Graph, lengths: &KnownLengths) -> Graph {
        Graph(Arc::new(Recovered {
            graph: graph.clone(),
            lengths: lengths.clone(),
        }))
    }

    /// Lists every node, inputs and captures before their uses.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        self.0.graph.ids()
    }

    /// Returns a node by its id.
    ///
    /// Equal nodes are represented by the first one met. It is none for an id of another, larger graph.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        Some(&self.0.graph.nodes.get(id.index())?.node)
    }

    /// Returns the requested results, in the order of the request.
    pub fn roots(&self) -> &[NodeId] {
        &self.0.graph.roots
    }

    /// Lists the fields of the requested results.
    ///
    /// Each is given by the node that computes it or holds it in memory. A `zip` only renames the
    /// fields of its inputs.
    pub fn results(&self) -> Vec<FieldRef> {
        let graph = &self.0.graph;
        let roots = graph.roots.iter();
        roots.flat_map(|root| graph.fields(*root)).collect()
    }

    /// Tells whether two graphs can share compiled code.
    ///
    /// They may differ only in constants, arrays and lengths that are arguments of kernels.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// use livefusion::stages;
    /// let (xs, ys) = (Array::from(vec![1.0f64, 2.0]), Array::from(vec![3.0f64]));
    /// let more = |xs: &Array<f64>, by: f64| stages::graph(&xs.map(|x| x + by));
    /// assert!(more(&xs, 1.0)?.is_like(&more(&ys, 2.0)?));
    /// assert!(!more(&xs, 1.0)?.is_like(&stages::graph(&xs.sum())?));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn is_like(&self, other: &Graph) -> bool {
        let pattern = |g: &Graph| g.0.lengths.pattern();
        self.0.graph.key == other.0.graph.key && pattern(self) == pattern(other)
    }

    /// Plans the loops, the next stage.
    pub fn plan(&self, clustering: Clustering) -> Plan {
        self.planned(fusion::plan(&self.0.graph, &self.0.lengths, clustering))
    }

    /// Wraps a plan made of this graph.
    pub(crate) fn planned(&self, plan: fusion::Plan) -> Plan {
        Plan {
            plan,
            graph: self.clone(),
        }
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Graph({} nodes)", self.0.graph.nodes.len())
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for id in self.ids() {
            write_node(f, id, &self.0.graph.nodes[id.index()])?;
        }
        writeln!(f, "results: {}", List(self.roots()))
    }
}

/// Shows a list like `n1, n2`.
pub(super) struct List<'a>(pub &'a [NodeId]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, id) in self.0.iter().enumerate() {
            write!(f, "{}{id}", if k > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

fn write_node(f: &mut fmt::Formatter<'_>, id: NodeId, entry: &GraphNode) -> fmt::Result {
    let node = &entry.node;
    write!(f, "{id} = ")?;
    write_what(f, entry.leaf, node)?;
    if !entry.inputs.is_empty() {
        write!(f, " {}", List(&entry.inputs))?;
    }
    if let Some(length) = entry.length {
        write!(f, " of length {length}")?;
    }
    writeln!(f, ": {}", node.show_shape())?;
    if entry.leaf {
        return Ok(());
    }
    let all = node.kind.bodies_by_role();
    let several = all.len() > 1;
    let mut all = all.into_iter().zip(&entry.captures);
    all.try_for_each(|((role, body), captures)| {
        let role = if several { role.name() } else { "" };
        write_body(f, role, body, captures)
    })
}

/// Writes the name of a call, or the kind of a leaf.
pub(super) fn write_what(f: &mut fmt::Formatter<'_>, leaf: bool, node: &Node) -> fmt::Result {
    match (leaf, &node.kind) {
        (true, Kind::Input(input)) => write!(f, "input {}", input.number),
        (true, _) => f.write_str("in memory"),
        (false, _) => f.write_str(node.name),
    }
}

fn write_body(
    f: &mut fmt::Formatter<'_>,
    role: &str,
    body: &Body,
    captures: &[NodeId],
) -> fmt::Result {
    if !role.is_empty() {
        writeln!(f, "  {role}")?;
    }
    if !captures.is_empty() {
        writeln!(f, "  captures {}", List(captures))?;
    }
    let text = body.to_string();
    text.lines().try_for_each(|line| writeln!(f, "  {line}"))
}
