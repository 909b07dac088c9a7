//! Pictures of graphs with boxed nodes: DOT for graphviz, and standalone SVG.
//!
//! | file | contents |
//! | --- | --- |
//! | [`dot`](mod@dot) | the DOT text |
//! | [`layout`] | positions of nodes, boxes and lines |
//! | [`svg`](mod@svg) | the SVG text |

mod dot;
mod layout;
mod svg;

pub(crate) use dot::dot;
pub(crate) use svg::svg;

/// Describes a graph to draw.
///
/// Nodes without a box stand above the first box that uses them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Picture {
    /// The title, above the whole picture.
    pub title: String,
    /// The text of each box, in lines. Boxes stand one below the other, in this order.
    pub boxes: Vec<Vec<String>>,
    pub nodes: Vec<PictureNode>,
    /// The lines. They are acyclic and lead to the same box or to a later one.
    pub lines: Vec<Line>,
}

/// A node with two lines of text.
#[derive(Clone, Debug)]
pub(crate) struct PictureNode {
    pub name: String,
    pub detail: String,
    /// The box of the node.
    pub boxed: Option<usize>,
    pub style: NodeStyle,
    /// Whether it is drawn with emphasis.
    pub is_result: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NodeStyle {
    /// Computed in a loop.
    Computed,
    /// In memory.
    Input,
    /// Recomputed at each use.
    Free,
}

/// A line from node to node.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub from: usize,
    pub to: usize,
    pub style: LineStyle,
    /// The label of the line.
    pub label: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum LineStyle {
    /// In registers.
    Fused,
    /// Read from an input.
    Input,
    /// Computed in the consumer's loop.
    Free,
    /// Through memory, from loop to loop.
    Memory,
}
