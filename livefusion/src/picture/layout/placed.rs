//! Places: computes lanes, heights, and the drawing.

use super::bands::Bands;
use super::cells::{LayoutCells, Stop};
use super::{BETWEEN_LINES, Curve, Drawing, GAP, LayoutGraph, MARGIN, NODE, PAD, Rect};
use std::collections::BTreeMap;

/// Everything with its place.
pub(super) struct PlacedLayout<'a> {
    graph: &'a LayoutGraph,
    bands: &'a Bands,
    cells: &'a LayoutCells,
    /// The top of every layer.
    tops: Vec<f64>,
    /// The area of each band, including a box's padding.
    rects: Vec<Rect>,
    /// The x of every lane.
    lanes: Vec<f64>,
}

impl<'a> PlacedLayout<'a> {
    pub(super) fn new(graph: &'a LayoutGraph, bands: &'a Bands, cells: &'a LayoutCells) -> Self {
        let mut placed = PlacedLayout {
            graph,
            bands,
            cells,
            tops: Vec::new(),
            rects: Vec::new(),
            lanes: Vec::new(),
        };
        placed.find_widths();
        placed.find_lanes();
        placed.find_heights();
        placed
    }

    fn is_box(&self, band: usize) -> bool {
        self.bands.boxes[band].is_some()
    }

    fn find_widths(&mut self) {
        for band in 0..self.bands.boxes.len() {
            let layers = &self.cells.layers[self.bands.first[band]..self.bands.first[band + 1]];
            let mut ends = (f64::INFINITY, f64::NEG_INFINITY);
            for cell in layers.iter().flatten().map(|c| &self.cells.cells[*c]) {
                ends.0 = ends.0.min(cell.x - cell.width / 2.0);
                ends.1 = ends.1.max(cell.x + cell.width / 2.0);
            }
            let mut rect = Rect {
                x: ends.0,
                w: ends.1 - ends.0,
                ..Rect::default()
            };
            if let Some(b) = self.bands.boxes[band] {
                let left = PAD + self.graph.boxes.get(b).copied().unwrap_or(0.0);
                rect.x -= left;
                rect.w += left + PAD;
            }
            self.rects.push(rect);
        }
    }

    /// Places lanes beside boxes. Short lanes come first, so they are the nearest.
    fn find_lanes(&mut self) {
        let lanes = &self.cells.lanes;
        self.lanes = vec![0.0; lanes.len()];
        let mut order: Vec<usize> = (0..lanes.len()).collect();
        order.sort_by_key(|l| (lanes[*l].bands.end() - lanes[*l].bands.start(), *l));
        let mut done: Vec<usize> = Vec::new();
        for l in order {
            let lane = &lanes[l];
            let rects = &self.rects[lane.bands.clone()];
            let left = rects.iter().map(|r| r.x).fold(f64::INFINITY, f64::min);
            let right = rects
                .iter()
                .map(|r| r.x + r.w)
                .fold(f64::NEG_INFINITY, f64::max);
            let near = |x: f64| {
                let ends = lane.after.iter().chain([&lane.before]);
                ends.map(|c| (self.cells.cells[*c].x - x).abs())
                    .sum::<f64>()
            };
            let is_left = near(left) <= near(right);
            let (mut x, step) = if is_left {
                (left - BETWEEN_LINES, -BETWEEN_LINES)
            } else {
                (right + BETWEEN_LINES, BETWEEN_LINES)
            };
            let meets = |other: &usize, x: f64| {
                let (a, b) = (&lane.bands, &lanes[*other].bands);
                a.start() <= b.end()
                    && b.start() <= a.end()
                    && (self.lanes[*other] - x).abs() < BETWEEN_LINES
            };
            while done.iter().any(|other| meets(other, x)) {
                x += step;
            }
            self.lanes[l] = x;
            done.push(l);
        }
    }

    /// Adds height to layers with far horizontal lines.
    fn find_heights(&mut self) {
        let mut far = vec![0.0f64; self.cells.layers.len()];
        for (cell, above) in self.cells.cells.iter().zip(&self.cells.above) {
            for a in above {
                let dx = (self.cells.cells[*a].x - cell.x).abs();
                far[cell.layer] = far[cell.layer].max(dx);
            }
        }
        for lane in &self.cells.lanes {
            let first = self.bands.first[*lane.bands.start()];
            far[first] = far[first].max(160.0);
        }
        let mut y = 0.0;
        for band in 0..self.bands.boxes.len() {
            let padding = if self.is_box(band) { PAD } else { 0.0 };
            let layers = self.bands.first[band]..self.bands.first[band + 1];
            for layer in layers.clone() {
                if layer > 0 {
                    y += GAP + (far[layer] * 0.06).min(50.0);
                }
                if layer == layers.start {
                    self.rects[band].y = y;
                    y += padding;
                }
                self.tops.push(y);
                y += NODE;
            }
            y += padding;
            self.rects[band].h = y - self.rects[band].y;
        }
    }

    pub(super) fn drawing(self) -> Drawing {
        let nodes = self.graph.widths.iter().enumerate().map(|(n, w)| Rect {
            x: self.cells.cells[n].x - w / 2.0,
            y: self.tops[self.cells.cells[n].layer],
            w: *w,
            h: NODE,
        });
        let nodes = nodes.collect();
        let mut boxes = vec![None; self.graph.boxes.len()];
        for (b, rect) in self.bands.boxes.iter().zip(&self.rects) {
            if let Some(place) = b.and_then(|b| boxes.get_mut(b)) {
                *place = Some(*rect);
            }
        }
        let mut drawing = Drawing {
            nodes,
            boxes,
            curves: self.curves(),
            ..Drawing::default()
        };
        drawing.frame();
        drawing
    }

    fn curves(&self) -> Vec<Curve> {
        let mut curves = Vec::new();
        let (into, out_of) = self.ports();
        for (at, link) in self.cells.links.iter().enumerate() {
            let from = match link.from {
                Stop::Cell(c) => (out_of[at], self.tops[self.cells.cells[c].layer] + NODE),
                Stop::Lane(l, band) => {
                    let r = self.rects[band];
                    (self.lanes[l], r.y + r.h)
                }
            };
            let to = match link.to {
                Stop::Cell(c) => (into[at], self.tops[self.cells.cells[c].layer]),
                Stop::Lane(l, _) => {
                    let first = *self.cells.lanes[l].bands.start();
                    (self.lanes[l], self.rects[first].y)
                }
            };
            let (style, ends) = (link.style, link.ends);
            curves.push(Curve {
                from,
                to,
                style,
                ends,
            });
            // A passing line goes straight on.
            if let Stop::Cell(_) = link.to
                && link.ends.is_none()
            {
                let (from, to) = (to, (to.0, to.1 + NODE));
                curves.push(Curve {
                    from,
                    to,
                    style,
                    ends,
                });
            }
        }
        for (lane, x) in self.cells.lanes.iter().zip(&self.lanes) {
            let (first, last) = (
                self.rects[*lane.bands.start()],
                self.rects[*lane.bands.end()],
            );
            curves.push(Curve {
                from: (*x, first.y),
                to: (*x, last.y + last.h),
                style: lane.style,
                ends: None,
            });
        }
        curves
    }

    /// The x at which each link leaves and arrives. Arrivals are spread over a node's upper side,
    /// and outgoing styles over its lower side.
    fn ports(&self) -> (Vec<f64>, Vec<f64>) {
        let x_of = |stop: Stop| match stop {
            Stop::Cell(c) => self.cells.cells[c].x,
            Stop::Lane(l, _) => self.lanes[l],
        };
        let links = &self.cells.links;
        let mut arriving: Vec<Vec<usize>> = vec![Vec::new(); self.cells.cells.len()];
        let mut leaving: Vec<BTreeMap<u8, (f64, usize)>> = vec![BTreeMap::new(); arriving.len()];
        for (at, link) in links.iter().enumerate() {
            if let Stop::Cell(c) = link.to {
                arriving[c].push(at);
            }
            if let Stop::Cell(c) = link.from {
                let sum = leaving[c].entry(link.style).or_insert((0.0, 0));
                *sum = (sum.0 + x_of(link.to), sum.1 + 1);
            }
        }
        let mut into: Vec<f64> = links.iter().map(|l| x_of(l.to)).collect();
        for (cell, mut arriving) in self.cells.cells.iter().zip(arriving) {
            arriving.sort_by(|a, b| x_of(links[*a].from).total_cmp(&x_of(links[*b].from)));
            let n = arriving.len();
            for (at, link) in arriving.into_iter().enumerate() {
                into[link] += spread(at, n, cell.width);
            }
        }
        let out_of = links.iter().map(|l| {
            let Stop::Cell(c) = l.from else {
                return x_of(l.from);
            };
            let mut styles: Vec<(f64, u8)> = leaving[c]
                .iter()
                .map(|(s, (sum, n))| (sum / *n as f64, *s))
                .collect();
            styles.sort_by(|a, b| a.0.total_cmp(&b.0));
            let at = styles.iter().position(|(_, s)| *s == l.style).unwrap_or(0);
            x_of(l.from) + spread(at, styles.len(), self.cells.cells[c].width)
        });
        let out_of = out_of.collect();
        (into, out_of)
    }
}

/// The offset of port `at` of `n` on a side of this width.
fn spread(at: usize, n: usize, width: f64) -> f64 {
    let step = ((width - 16.0).max(0.0) / n as f64).min(18.0);
    (at as f64 - (n as f64 - 1.0) / 2.0) * step
}

impl Drawing {
    /// Moves everything into the first quadrant, with a margin around.
    fn frame(&mut self) {
        let rects = self.nodes.iter().chain(self.boxes.iter().flatten());
        let mut left: Vec<f64> = rects.clone().map(|r| r.x).collect();
        let mut right: Vec<f64> = rects.clone().map(|r| r.x + r.w).collect();
        for c in &self.curves {
            left.extend([c.from.0, c.to.0]);
            right.extend([c.from.0, c.to.0]);
        }
        let bottom = rects.map(|r| r.y + r.h).fold(0.0, f64::max);
        let left = left.into_iter().fold(f64::INFINITY, f64::min);
        let left = if left.is_finite() { left } else { 0.0 };
        let right = right.into_iter().fold(left, f64::max);
        let (dx, dy) = (MARGIN - left, MARGIN);
        for r in self.nodes.iter_mut().chain(self.boxes.iter_mut().flatten()) {
            (r.x, r.y) = (r.x + dx, r.y + dy);
        }
        for c in &mut self.curves {
            c.from = (c.from.0 + dx, c.from.1 + dy);
            c.to = (c.to.0 + dx, c.to.1 + dy);
        }
        self.width = right - left + 2.0 * MARGIN;
        self.height = bottom + 2.0 * MARGIN;
    }
}
