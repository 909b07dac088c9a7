//! Bands and layers: assigns everything a vertical position.

use super::LayoutGraph;
use std::collections::BTreeMap;

/// The bands, and each node's band and layer.
pub(super) struct Bands {
    /// The box of each band. None for nodes outside of boxes.
    pub(super) boxes: Vec<Option<usize>>,
    /// The first layer of each band, and the total number of layers.
    pub(super) first: Vec<usize>,
    pub(super) band: Vec<usize>,
    /// Layers are counted over all bands.
    pub(super) layer: Vec<usize>,
    /// The edges that lead down, by position. Each cycle loses an edge.
    pub(super) edges: Vec<usize>,
}

impl Bands {
    pub(super) fn new(graph: &LayoutGraph) -> Bands {
        let order = in_order(graph);
        let mut rank = vec![0; order.len()];
        for (at, n) in order.iter().enumerate() {
            rank[*n] = at;
        }
        // A box has an odd slot. The even slot before it holds the nodes above the box.
        let last = 2 * graph.boxes.len();
        let mut slot: Vec<usize> = graph
            .boxed
            .iter()
            .map(|b| b.map_or(last, |b| 2 * b + 1))
            .collect();
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
        for (from, to, _) in &graph.edges {
            if rank[*from] < rank[*to] {
                users[*from].push(*to);
            }
        }
        for n in order.iter().rev().filter(|n| graph.boxed[**n].is_none()) {
            // The even slot of the first user: above the user's box, or the user's own.
            let first = users[*n].iter().map(|u| slot[*u] & !1).min();
            slot[*n] = first.unwrap_or(last);
        }
        let mut used: Vec<usize> = slot.clone();
        used.sort_unstable();
        used.dedup();
        let band: Vec<usize> = slot
            .iter()
            .map(|s| used.binary_search(s).unwrap_or(0))
            .collect();
        let leads_down = |e: &usize| {
            let (from, to, _) = graph.edges[*e];
            rank[from] < rank[to] && band[from] <= band[to]
        };
        let edges: Vec<usize> = (0..graph.edges.len()).filter(leads_down).collect();
        let mut bands = Bands {
            boxes: used.iter().map(|s| (s % 2 == 1).then_some(s / 2)).collect(),
            first: Vec::new(),
            layer: vec![0; order.len()],
            band,
            edges,
        };
        bands.find_layers(graph, &order);
        bands
    }

    fn find_layers(&mut self, graph: &LayoutGraph, order: &[usize]) {
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
        for e in &self.edges {
            let (from, to, _) = graph.edges[*e];
            if self.band[from] == self.band[to] {
                users[from].push(to);
            }
        }
        let mut heights = vec![1; self.boxes.len()];
        for n in order {
            let below = self.layer[*n] + 1;
            for user in &users[*n] {
                self.layer[*user] = self.layer[*user].max(below);
            }
            let height = &mut heights[self.band[*n]];
            *height = below.max(*height);
        }
        let mut first = 0;
        for height in heights {
            self.first.push(first);
            first += height;
        }
        self.first.push(first);
        for (layer, band) in self.layer.iter_mut().zip(&self.band) {
            *layer += self.first[*band];
        }
    }

    /// The maximal number of cells of nodes and nets.
    pub(super) fn cells(&self, graph: &LayoutGraph) -> usize {
        let mut ends: BTreeMap<(usize, u8), usize> = BTreeMap::new();
        for e in &self.edges {
            let (from, to, style) = graph.edges[*e];
            let end = ends.entry((from, style)).or_default();
            *end = self.layer[to].max(*end);
        }
        let passed = ends.iter().map(|((from, _), end)| end - self.layer[*from]);
        graph.widths.len() + passed.sum::<usize>()
    }

    pub(super) fn last(&self, band: usize) -> usize {
        self.first[band + 1] - 1
    }
}

/// Orders producers before consumers. Nodes on cycles come last.
fn in_order(graph: &LayoutGraph) -> Vec<usize> {
    let n = graph.widths.len();
    let mut missing = vec![0; n];
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (from, to, _) in &graph.edges {
        missing[*to] += 1;
        users[*from].push(*to);
    }
    let mut order: Vec<usize> = (0..n).filter(|n| missing[*n] == 0).collect();
    let mut at = 0;
    while let Some(next) = order.get(at).copied() {
        at += 1;
        for user in &users[next] {
            missing[*user] -= 1;
            if missing[*user] == 0 {
                order.push(*user);
            }
        }
    }
    order.extend((0..n).filter(|n| missing[*n] > 0));
    order
}
