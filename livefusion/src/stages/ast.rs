//! The calls, before all stages: the nodes that they have made.

use super::Graph;
use super::graph::write_what;
use crate::ast::{After, Capture, Input, Kind, Len, Node};
use crate::error::Result;
use crate::force::Force;
use crate::sharing::{address, links, recover};
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

/// Returns the nodes that a force would compute, and all nodes below.
pub fn ast(program: &(impl Force + ?Sized)) -> Ast {
    let mut roots = Vec::new();
    program.nodes(&mut roots);
    Ast(roots)
}

/// Works as [`ast`], for untyped nodes.
pub fn ast_of(roots: &[Arc<Node>]) -> Ast {
    Ast(roots.to_vec())
}

/// Holds a program as its calls have made it.
///
/// Its text has one line per node with the location of the call. Inputs come before their uses,
/// down to arrays in memory. An error is shown below the call that made it. The text of the
/// [`Graph`] shows closures.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::stages;
/// let xs = Array::from(vec![1.0f64, 2.0]);
/// let twice = |xs: &Array<f64>| xs.map(|x| x * 2.0);
/// let ast = stages::ast(&(&twice(&xs), &twice(&xs)));
/// let text = ast.to_string();
/// assert!(text.starts_with("a0 = in memory: f64[2], at "));
/// assert!(text.contains("\na1 = map a0: f64[2], at "));
/// // Two calls are two nodes, and become one in the graph.
/// assert!(text.contains("\na2 = map a0: f64[2], at "));
/// assert!(text.ends_with("\nresults: a1, a2\n"));
/// assert_eq!(ast.graph()?.ids().count(), 2);
/// # Ok::<(), livefusion::Error>(())
/// ```
#[derive(Clone)]
pub struct Ast(Vec<Arc<Node>>);

impl Ast {
    /// Recovers the graph, the first stage, with each computation once.
    ///
    /// Pending external parts (a sort, a loop over arrays) are inputs of the graph.
    ///
    /// # Errors
    /// The first error made while the program was built.
    pub fn graph(&self) -> Result<Graph> {
        let mut number = 0;
        let graph = recover(&self.0, &mut |node| {
            let is_apart = matches!(node.after, After::Apart(..)) && node.value.get().is_none();
            is_apart.then(|| {
                let consumed = false;
                number += 1;
                Input { number, consumed }.instead_of(node)
            })
        });
        Ok(Graph::known(graph?))
    }

    /// Numbers every node once. Inputs and captures come before their uses.
    fn numbered(&self) -> (Vec<&Arc<Node>>, NodeNumbers) {
        let (mut order, mut numbers) = (Vec::new(), NodeNumbers::default());
        let mut stack: Vec<(&Arc<Node>, bool)> = Vec::new();
        stack.extend(self.0.iter().rev().map(|n| (n, false)));
        while let Some((node, ready)) = stack.pop() {
            if numbers.0.contains_key(&address(node)) {
                continue;
            }
            if ready || node.is_leaf() {
                numbers.0.insert(address(node), order.len());
                order.push(node);
            } else {
                stack.push((node, true));
                stack.extend(links(node).into_iter().rev().map(|n| (n, false)));
            }
        }
        (order, numbers)
    }
}

/// The numbers of nodes, by their addresses.
#[derive(Default)]
struct NodeNumbers(FxHashMap<usize, usize>);

impl NodeNumbers {
    /// Shows a list like `a1, a2`.
    fn list<'a>(&self, nodes: impl IntoIterator<Item = &'a Arc<Node>>) -> String {
        let number = |n: &Arc<Node>| self.0.get(&address(n)).map(|k| format!("a{k}"));
        let names: Vec<String> = nodes.into_iter().filter_map(number).collect();
        names.join(", ")
    }

    /// Shows a node's operands: inputs, then captures, then a delayed length.
    fn operands(&self, node: &Node) -> String {
        let mut text = self.list(&node.inputs);
        let all = node.kind.bodies().into_iter();
        let captures = all.flat_map(|b| b.captures.iter()).map(Capture::node);
        let captures = self.list(captures);
        if !captures.is_empty() {
            text += &format!(" captures {captures}");
        }
        if let Kind::Generate(Len::Delayed(n), _) = &node.kind {
            text += &format!(" of length {}", self.list([n]));
        }
        text.trim_start().to_string()
    }
}

impl fmt::Debug for Ast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ast({} results)", self.0.len())
    }
}

impl fmt::Display for Ast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (order, numbers) = self.numbered();
        for (k, node) in order.into_iter().enumerate() {
            write!(f, "a{k} = ")?;
            // Another thread may force a node meanwhile. Then it is in memory.
            let leaf = node.is_leaf();
            write_what(f, leaf, node)?;
            let operands = numbers.operands(node);
            if !leaf && !operands.is_empty() {
                write!(f, " {operands}")?;
            }
            writeln!(f, ": {}, at {}", node.show_shape(), node.loc)?;
            let inherited = || links(node).iter().any(|n| n.error.is_some());
            if let Some(mistake) = node.error.as_ref().filter(|_| !inherited()) {
                writeln!(f, "  mistake: {}", mistake.kind)?;
            }
        }
        writeln!(f, "results: {}", numbers.list(&self.0))
    }
}
