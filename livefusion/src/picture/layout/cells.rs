//! Cells: route nets through the layers, order them, and assign x positions.

use super::bands::Bands;
use super::{BETWEEN_LINES, BETWEEN_NODES, LayoutGraph, SWEEPS};
use std::collections::BTreeMap;

/// A place in a layer, of a node or of a passing net.
pub(super) struct Cell {
    pub(super) layer: usize,
    pub(super) width: f64,
    pub(super) node: Option<usize>,
    pub(super) x: f64,
}

/// A stop on a net's route.
#[derive(Clone, Copy)]
pub(super) enum Stop {
    Cell(usize),
    /// In this lane, below this band.
    Lane(usize, usize),
}

/// A part of a net between two stops.
pub(super) struct NetLink {
    pub(super) from: Stop,
    pub(super) to: Stop,
    pub(super) style: u8,
    pub(super) ends: Option<usize>,
}

/// A net's route beside the boxes of some bands.
pub(super) struct Lane {
    pub(super) bands: std::ops::RangeInclusive<usize>,
    pub(super) style: u8,
    /// The cells before and after.
    pub(super) before: usize,
    pub(super) after: Vec<usize>,
}

/// Cells in their layers. The first cells are the nodes.
pub(super) struct LayoutCells {
    pub(super) cells: Vec<Cell>,
    pub(super) layers: Vec<Vec<usize>>,
    /// Neighbours above and below, also through lanes.
    pub(super) above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
    pub(super) links: Vec<NetLink>,
    pub(super) lanes: Vec<Lane>,
    /// Cells of a net in successive layers of a band.
    chains: Vec<Vec<usize>>,
}

/// The edges of a net: its targets by band.
type Net = BTreeMap<usize, Vec<usize>>;

impl LayoutCells {
    pub(super) fn new(graph: &LayoutGraph, bands: &Bands) -> LayoutCells {
        let nodes = graph.widths.iter().zip(&bands.layer).enumerate();
        let mut cells = LayoutCells {
            cells: Vec::new(),
            layers: vec![Vec::new(); bands.first.last().copied().unwrap_or(0)],
            above: Vec::new(),
            below: Vec::new(),
            links: Vec::new(),
            lanes: Vec::new(),
            chains: Vec::new(),
        };
        for (node, (width, layer)) in nodes {
            cells.add(*layer, *width, Some(node));
        }
        let mut nets: BTreeMap<(usize, u8), Net> = BTreeMap::new();
        for e in &bands.edges {
            let (from, to, style) = graph.edges[*e];
            let net = nets.entry((from, style)).or_default();
            net.entry(bands.band[to]).or_default().push(*e);
        }
        for ((from, style), net) in &nets {
            cells.route(graph, bands, (*from, *style), net);
        }
        cells.pack();
        cells
    }

    fn add(&mut self, layer: usize, width: f64, node: Option<usize>) -> usize {
        let at = self.cells.len();
        self.cells.push(Cell {
            layer,
            width,
            node,
            x: 0.0,
        });
        self.layers[layer].push(at);
        self.above.push(Vec::new());
        self.below.push(Vec::new());
        at
    }

    /// Routes a net from its node through all bands with targets.
    fn route(&mut self, graph: &LayoutGraph, bands: &Bands, (from, style): (usize, u8), net: &Net) {
        let Some(last) = net.keys().next_back().copied() else {
            return;
        };
        let home = bands.band[from];
        // The current stop of the net, and the last cell on its route.
        let (mut stop, mut cell) = (Stop::Cell(from), from);
        for band in home..=last {
            let targets = net.get(&band).map_or(&[][..], Vec::as_slice);
            let lowest = targets.iter().map(|e| bands.layer[graph.edges[*e].1]).max();
            let first = if band == home {
                bands.layer[from] + 1
            } else {
                bands.first[band]
            };
            let beside = band != home && band != last && bands.boxes[band].is_some();
            let end = match lowest {
                _ if band != last && !beside => bands.last(band) + 1,
                Some(lowest) => lowest,
                None => first,
            };
            let (mut here, mut at) = (stop, cell);
            let mut chain = Vec::new();
            for layer in first..=end {
                for e in targets {
                    if bands.layer[graph.edges[*e].1] == layer {
                        self.link(here, at, graph.edges[*e].1, style, Some(*e));
                    }
                }
                if layer < end {
                    let next = self.add(layer, 2.0, None);
                    self.link(here, at, next, style, None);
                    (here, at) = (Stop::Cell(next), next);
                    chain.push(next);
                }
            }
            self.chains.push(chain);
            if beside {
                stop = self.pass(stop, cell, band, style);
            } else {
                (stop, cell) = (here, at);
            }
        }
    }

    /// Routes a net past a box.
    fn pass(&mut self, stop: Stop, cell: usize, band: usize, style: u8) -> Stop {
        if let Stop::Lane(l, _) = stop {
            self.lanes[l].bands = *self.lanes[l].bands.start()..=band;
            return Stop::Lane(l, band);
        }
        let lane = Stop::Lane(self.lanes.len(), band);
        self.lanes.push(Lane {
            bands: band..=band,
            style,
            before: cell,
            after: Vec::new(),
        });
        self.links.push(NetLink {
            from: stop,
            to: lane,
            style,
            ends: None,
        });
        lane
    }

    fn link(&mut self, from: Stop, cell: usize, to: usize, style: u8, ends: Option<usize>) {
        if let Stop::Lane(l, _) = from {
            self.lanes[l].after.push(to);
        }
        self.links.push(NetLink {
            from,
            to: Stop::Cell(to),
            style,
            ends,
        });
        self.below[cell].push(to);
        self.above[to].push(cell);
    }

    /// The minimal distance of two neighbours in a layer.
    fn distance(&self, a: usize, b: usize) -> f64 {
        let (a, b) = (&self.cells[a], &self.cells[b]);
        let gap = match (a.node, b.node) {
            (Some(_), Some(_)) => BETWEEN_NODES,
            _ => BETWEEN_LINES,
        };
        (a.width + b.width) / 2.0 + gap
    }

    /// Puts every layer's cells side by side, around 0.
    fn pack(&mut self) {
        for layer in 0..self.layers.len() {
            let mut x = 0.0;
            for at in 0..self.layers[layer].len() {
                let cell = self.layers[layer][at];
                if at > 0 {
                    x += self.distance(self.layers[layer][at - 1], cell);
                }
                self.cells[cell].x = x;
            }
            for cell in &self.layers[layer] {
                self.cells[*cell].x -= x / 2.0;
            }
        }
    }

    /// Orders every layer.
    pub(super) fn order(&mut self) {
        let mut best = (self.crossings(), self.layers.clone());
        for sweep in 0..SWEEPS {
            let down = sweep % 2 == 0;
            let n = self.layers.len();
            for at in 0..n {
                let layer = if down { at } else { n - 1 - at };
                let mut keyed: Vec<(f64, usize)> = self.layers[layer]
                    .iter()
                    .map(|c| {
                        let near = if down { &self.above } else { &self.below };
                        (self.mean(&near[*c]).unwrap_or(self.cells[*c].x), *c)
                    })
                    .collect();
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                self.layers[layer] = keyed.iter().map(|(_, c)| *c).collect();
                let wanted: Vec<f64> = keyed.iter().map(|(x, _)| *x).collect();
                self.settle(layer, &wanted);
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.layers.clone());
            }
        }
        self.layers = best.1;
        self.pack();
    }

    /// Moves cells towards their neighbours without changing the order.
    pub(super) fn position(&mut self) {
        for sweep in 0..2 * SWEEPS {
            let n = self.layers.len();
            for at in 0..n {
                let layer = if sweep % 2 == 0 { at } else { n - 1 - at };
                let wanted: Vec<f64> = self.layers[layer]
                    .iter()
                    .map(|c| {
                        let near: Vec<usize> = self.above[*c]
                            .iter()
                            .chain(&self.below[*c])
                            .copied()
                            .collect();
                        self.mean(&near).unwrap_or(self.cells[*c].x)
                    })
                    .collect();
                self.settle(layer, &wanted);
            }
        }
        for _ in 0..3 {
            self.straighten();
        }
    }

    /// Straightens lines through several layers as far as their neighbours allow.
    fn straighten(&mut self) {
        let mut place = vec![0; self.cells.len()];
        for layer in &self.layers {
            for (at, cell) in layer.iter().enumerate() {
                place[*cell] = at;
            }
        }
        let chains = std::mem::take(&mut self.chains);
        for chain in &chains {
            let mut rest = chain.as_slice();
            while !rest.is_empty() {
                let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
                let mut n = 0;
                for cell in rest {
                    let (left, right) = self.room(*cell, place[*cell]);
                    if left.max(low) > right.min(high) {
                        break;
                    }
                    (low, high) = (left.max(low), right.min(high));
                    n += 1;
                }
                // The order of a layer leaves room for every cell at its position.
                let (straight, others) = rest.split_at(n.max(1));
                let ends = straight.first().into_iter().flat_map(|c| &self.above[*c]);
                let ends = ends.chain(straight.last().into_iter().flat_map(|c| &self.below[*c]));
                let ends: Vec<usize> = ends.copied().collect();
                if let Some(x) = self.mean(&ends).filter(|_| n > 0) {
                    for cell in straight {
                        self.cells[*cell].x = x.max(low).min(high);
                    }
                }
                rest = others;
            }
        }
        self.chains = chains;
    }

    /// The positions of a cell at which it does not touch its neighbours.
    fn room(&self, cell: usize, place: usize) -> (f64, f64) {
        let layer = &self.layers[self.cells[cell].layer];
        let left = place.checked_sub(1).and_then(|p| layer.get(p));
        let right = layer.get(place + 1);
        (
            left.map_or(f64::NEG_INFINITY, |l| {
                self.cells[*l].x + self.distance(*l, cell)
            }),
            right.map_or(f64::INFINITY, |r| {
                self.cells[*r].x - self.distance(cell, *r)
            }),
        )
    }

    fn mean(&self, cells: &[usize]) -> Option<f64> {
        let sum: f64 = cells.iter().map(|c| self.cells[*c].x).sum();
        (!cells.is_empty()).then(|| sum / cells.len() as f64)
    }

    /// The positions nearest to the wanted ones (least squares) that keep the order and the
    /// distances. Without the distances it is a monotone regression. Lines weigh more, because they
    /// should be straight.
    fn settle(&mut self, layer: usize, wanted: &[f64]) {
        let cells = &self.layers[layer];
        let mut offset = 0.0;
        let mut offsets = Vec::with_capacity(cells.len());
        // Runs of touching cells: (weighted sum of wishes, weight, cells).
        let mut runs: Vec<(f64, f64, usize)> = Vec::new();
        for (at, cell) in cells.iter().enumerate() {
            if at > 0 {
                offset += self.distance(cells[at - 1], *cell);
            }
            offsets.push(offset);
            let weight = if self.cells[*cell].node.is_some() {
                1.0
            } else {
                4.0
            };
            let mut run = ((wanted[at] - offset) * weight, weight, 1);
            while let Some(left) = runs.last().copied() {
                if left.0 / left.1 <= run.0 / run.1 {
                    break;
                }
                run = (left.0 + run.0, left.1 + run.1, left.2 + run.2);
                runs.pop();
            }
            runs.push(run);
        }
        let mut at = 0;
        for (sum, weight, n) in runs {
            for _ in 0..n {
                self.cells[self.layers[layer][at]].x = sum / weight + offsets[at];
                at += 1;
            }
        }
    }

    /// Counts the crossings of links between each layer and those above it.
    fn crossings(&self) -> usize {
        let mut place = vec![0; self.cells.len()];
        for layer in &self.layers {
            for (at, cell) in layer.iter().enumerate() {
                place[*cell] = at;
            }
        }
        let mut total = 0;
        for layer in &self.layers {
            let mut ends: Vec<(usize, usize)> = Vec::new();
            for cell in layer {
                ends.extend(self.above[*cell].iter().map(|a| (place[*a], place[*cell])));
            }
            ends.sort_unstable();
            let mut sorted: Vec<usize> = Vec::with_capacity(ends.len());
            for (_, to) in ends {
                let at = sorted.partition_point(|t| *t <= to);
                total += sorted.len() - at;
                sorted.insert(at, to);
            }
        }
        total
    }
}
