//! Where things are: a layered drawing in which every box is a band of its own.
//!
//! * Boxes stand one below the other; nodes without a box are bands between them. Within a band, a node's
//!   layer is its longest way from the band's top. So a layer belongs to one band, and boxes never meet.
//! * A *net* is what leaves one node in one style. It goes down layer by layer; where it passes a layer it
//!   has a *cell* there like a node, which keeps nodes out of its way. Past a box in which it has no
//!   business it goes in a *lane* beside the box.
//! * Cells are ordered by the mean of their neighbours' positions, down and up in turn; the order with the
//!   fewest crossings stays. Positions are the least squares solution that keeps order and distances.
//!
//! Curves only run between layers, where there is nothing else.

mod bands;
mod cells;
mod placed;
#[cfg(test)]
mod tests;

use bands::Bands;
use cells::Cells;
use placed::Placed;

/// What is laid out.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    /// Width of every node.
    pub widths: Vec<f64>,
    /// The box of every node.
    pub boxed: Vec<Option<usize>>,
    /// The room that every box keeps free at its left side.
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

/// A part of a net, that goes from the first point to the last, or straight down if they are aligned.
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
/// Between layers and between bands, at least.
const GAP: f64 = 40.0;
const BETWEEN_NODES: f64 = 26.0;
const BETWEEN_LINES: f64 = 14.0;
const MARGIN: f64 = 24.0;
const SWEEPS: usize = 12;

/// More cells are not laid out: nobody could read the picture.
const MOST_CELLS: usize = 40_000;

/// Lays a graph out; none that are too large.
pub(super) fn layout(graph: &Graph) -> Option<Drawing> {
    let bands = Bands::new(graph);
    if bands.cells(graph) > MOST_CELLS {
        return None;
    }
    let mut cells = Cells::new(graph, &bands);
    cells.order();
    cells.position();
    Some(Placed::new(graph, &bands, &cells).drawing())
}
