//! Pictures of graphs whose nodes are in boxes: DOT for graphviz, and an SVG that needs no other program.
//!
//! | file | room for |
//! | --- | --- |
//! | [`dot`](mod@dot) | the DOT text |
//! | [`layout`] | where nodes, boxes and lines are |
//! | [`svg`](mod@svg) | the SVG text |

mod dot;
mod layout;
mod svg;

pub(crate) use dot::dot;
pub(crate) use svg::svg;

/// A graph to be drawn. Nodes without a box stand above the first box that needs them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Picture {
    /// One line over the whole.
    pub title: String,
    /// What is said about each box, in lines. They stand one below the other, in this order.
    pub boxes: Vec<Vec<String>>,
    pub nodes: Vec<Node>,
    /// Lines go to the same box or to a later one, and not in circles.
    pub lines: Vec<Line>,
}

/// A node: two lines of text.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub name: String,
    pub detail: String,
    /// The box that it is in.
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
    /// Computed wherever it is needed.
    Free,
}

/// A line from node to node.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub from: usize,
    pub to: usize,
    pub style: LineStyle,
    /// Said about the line.
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
