//! Where a body is cut: where what waits for each other has become long, or there is much to do, and few values cross.

use super::Limits;
use super::parts::Parts;
use crate::ir::Value;
use crate::region::cost::{Cost, busy};
use loop_lang::types::Ty;
use rustc_hash::FxHashMap;

/// Truth that crosses has to become a mask again.
const MASK: u64 = 3;

impl Parts<'_> {
    /// The statements of each piece; one piece, if it is within the limits.
    pub(super) fn cut(&self, limits: Limits) -> Vec<Vec<usize>> {
        let live = self.live();
        let (mut pieces, mut from) = (Vec::new(), 0);
        while from < self.parts.len() {
            let fits = |cost: &Cost| fill(*cost, limits) <= 1.0;
            let costs: Vec<Cost> = self.costs(from).take_while(fits).collect();
            let mut end = from + costs.len().max(1);
            if end < self.parts.len() {
                let full = costs.last().map_or(0.0, |c| fill(*c, limits));
                let full_enough = |at: &usize| {
                    let cost = costs.get(at - from - 1).copied().unwrap_or_default();
                    2.0 * fill(cost, limits) >= full
                };
                let cuts = (from + 1..=end).rev().filter(full_enough);
                end = cuts.min_by_key(|at| live[*at]).unwrap_or(end);
            }
            let some = self.parts[from..end].iter();
            pieces.push(some.flatten().copied().collect());
            from = end;
        }
        pieces
    }

    /// What the first part from one on costs, the first two, ...
    fn costs(&self, from: usize) -> impl Iterator<Item = Cost> {
        let mut ready: FxHashMap<Value, u64> = FxHashMap::default();
        let mut sum = Cost::default();
        self.parts[from..].iter().map(move |part| {
            for i in part {
                let s = &self.statements[*i];
                let starts = s.uses.iter().filter_map(|v| ready.get(v)).max();
                let ends = starts.copied().unwrap_or(0) + s.cost.wait;
                ready.extend(s.defs.iter().map(|d| (d.0, ends)));
                sum.work += s.cost.work;
                sum.wait = sum.wait.max(ends);
            }
            sum
        })
    }

    /// How many values would cross at a cut before each part.
    fn live(&self) -> Vec<u64> {
        let mut last: FxHashMap<Value, usize> = FxHashMap::default();
        for (at, part) in self.parts.iter().enumerate() {
            let uses = part.iter().flat_map(|i| &self.statements[*i].uses);
            last.extend(uses.map(|v| (*v, at)));
        }
        let count = self.parts.len() + 1;
        let (mut starts, mut ends) = (vec![0; count], vec![0; count]);
        for (at, part) in self.parts.iter().enumerate() {
            let defs = part.iter().flat_map(|i| &self.statements[*i].defs);
            for (v, shape) in defs {
                let weight = if shape.ty == Ty::Bool { MASK } else { 1 };
                if let Some(last) = last.get(v).filter(|last| **last > at) {
                    starts[at + 1] += weight;
                    ends[last + 1] += weight;
                }
            }
        }
        let mut crossing = 0;
        let each = starts.iter().zip(&ends).map(|(starts, ends)| {
            crossing += starts;
            crossing -= ends;
            crossing
        });
        each.collect()
    }
}

/// How much of a piece so much takes; more than 1 does not fit.
pub(super) fn fill(cost: Cost, limits: Limits) -> f64 {
    let wait = cost.wait as f64 / busy(cost).max(limits.wait).max(1) as f64;
    wait.max(cost.work as f64 / limits.work.max(1) as f64)
}
