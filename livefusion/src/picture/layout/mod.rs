//! Layout: a layered drawing in which every box is a band of its own.
//!
//! * Boxes stand one below the other, and nodes without a box form bands between them. A node's
//!   layer within its band is its longest path from the top. Each layer belongs to one band, so
//!   boxes never overlap.
//!
//! * A *net* consists of the edges that leave one node in one style. It descends layer by layer. In
//!   each layer on its way it has a *cell*, as nodes do, which keeps nodes off the line. Past a box
//!   without its targets, it runs in a *lane* next to the box.
//!
//! * Cells are ordered by the mean of their neighbours' positions, alternately downwards and
//!   upwards. The order with the fewest crossings wins. Positions are a least-squares solution that
//!   keeps the order and minimal distances.
//!
//! Curves run only in the empty space between layers.

mod bands;
mod cells;
mod placed;
#[cfg(test)]
mod tests;

use bands::Bands;
use cells::LayoutCells;
use placed::PlacedLayout;

/// The input of the layout.
#[derive(Clone, Debug, Default)]
pub(super) struct LayoutGraph {
    /// The width of every node.
    pub widths: Vec<f64>,
    /// The box of every node.
    pub boxed: Vec<Option<usize>>,
    /// The space that every box reserves at its left side.
    pub boxes: Vec<f64>,
    /// (from, to, style).
    pub edges: Vec<(usize, usize, u8)>,
}

/// A drawing. Coordinates begin at (0, 0) and grow to the right and down.
#[derive(Clone, Debug, Default)]
pub(super) struct Drawing {
    pub nodes: Vec<Rect>,
    /// None for a box without nodes.
    pub boxes: Vec<Option<Rect>>,
    pub curves: Vec<Curve>,
    pub width: f64,
    pub height: f64,
}

/// A rectangle.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Rect {
    pub x: f64,
    pub y: f64,
    pub w: f64,
    pub h: f64,
}

/// A part of a net, from the first point to the last. It is straight if they are aligned.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Curve {
    pub from: (f64, f64),
    pub to: (f64, f64),
    pub style: u8,
    /// The edge that ends here.
    pub ends: Option<usize>,
}

/// The height of a node.
pub(super) const NODE: f64 = 44.0;
const PAD: f64 = 16.0;
/// The minimal distance between layers and between bands.
const GAP: f64 = 40.0;
const BETWEEN_NODES: f64 = 26.0;
const BETWEEN_LINES: f64 = 14.0;
const MARGIN: f64 = 24.0;
const SWEEPS: usize = 12;

/// The maximal number of cells. Larger pictures would be unreadable.
const MOST_CELLS: usize = 40_000;

/// Lays a graph out. None if it is too large.
pub(super) fn layout(graph: &LayoutGraph) -> Option<Drawing> {
    let bands = Bands::new(graph);
    if bands.cells(graph) > MOST_CELLS {
        return None;
    }
    let mut cells = LayoutCells::new(graph, &bands);
    cells.order();
    cells.position();
    Some(PlacedLayout::new(graph, &bands, &cells).drawing())
}
