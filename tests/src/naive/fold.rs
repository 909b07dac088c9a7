//! Folds from left to right, and error bounds for other orders.

use super::body::Runner;
use super::nodes::row;
use super::{Bound, Data, Naive, Trap, When};
use crate::scalar::{epsilon, to_f64};
use livefusion::ast::{Fold, FoldStyle, Node, Term, TermId};
use loop_lang::ir::TrapKind;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::ops::Range;
use std::sync::Arc;

/// The reassociation that a field of a float fold allows: an operator and a field.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Loose {
    No,
    Sum(usize),
    Product(usize),
    /// A state dealt to lanes: its fields depend on the lanes, and only functions of all fields do
    /// not.
    Dealt,
}

impl Loose {
    pub(super) fn bound(self, error: Vec<f64>) -> Bound {
        // Small whole numbers have the same sum in any order.
        if self == Loose::No || error.iter().all(|e| *e == 0.0) {
            Bound::Exact
        } else {
            Bound::Within(error)
        }
    }
}

/// A fold in progress.
pub(super) struct Folding<'a> {
    step: Runner<'a>,
    start: Runner<'a>,
    data: &'a Data,
    types: &'a [Ty],
    first: bool,
    pub(super) state: Vec<u64>,
    pub(super) loose: Vec<Loose>,
    /// Per field: the sum of magnitudes, or of their logarithms.
    size: Vec<f64>,
    /// Per field: whether all contributions are multiples of 1/64.
    whole: Vec<bool>,
    terms: usize,
    /// Traps of empty folds that need an element.
    empty: Vec<Trap>,
}

impl<'a> Folding<'a> {
    pub(super) fn new(
        naive: &'a Naive,
        fold: &'a Fold,
        node: &'a Arc<Node>,
        data: &'a Data,
    ) -> Folding<'a> {
        let mut start = Runner::new(naive, &fold.start);
        let state = start.run(&[], When::Init);
        let first = matches!(fold.style, FoldStyle::First);
        let types = node.types.as_slice();
        let mut f = Folding {
            step: Runner::new(naive, &fold.step),
            start,
            data,
            types,
            first,
            state: vec![],
            loose: loose(fold, types),
            size: vec![0.0; types.len()],
            whole: vec![true; types.len()],
            terms: 0,
            empty: vec![],
        };
        if !first {
            f.join(&state.clone());
            f.state = state;
        }
        f
    }

    /// A fold of all elements.
    pub(super) fn run(
        naive: &'a Naive,
        fold: &'a Fold,
        node: &'a Arc<Node>,
        data: &'a Data,
        traps: &mut Vec<Trap>,
    ) -> Folding<'a> {
        let mut f = Folding::new(naive, fold, node, data);
        f.all(0..data.len(), When::Done);
        *traps = f.finish();
        f
    }

    /// Folds some elements. A missing first element is reported at `when`.
    pub(super) fn all(&mut self, of: Range<usize>, when: When) {
        of.for_each(|i| self.step(i));
        if self.state.is_empty() {
            self.empty.push(Trap {
                when,
                kind: TrapKind::Empty,
                payload: vec![],
                field: None,
            });
            self.state = vec![0; self.types.len()];
        }
    }

    /// Folds one element.
    pub(super) fn step(&mut self, i: usize) {
        let element = row(&[self.data], i);
        if self.first && self.state.is_empty() {
            self.join(&element);
            self.state = element;
            return;
        }
        let contribution: Vec<u64> = self
            .loose
            .iter()
            .map(|l| match l {
                Loose::No | Loose::Dealt => 0,
                Loose::Sum(k) | Loose::Product(k) => element[*k],
            })
            .collect();
        self.join(&contribution);
        self.state = self
            .step
            .run(&[self.state.clone(), element].concat(), When::Element(i));
    }

    /// Adds a contribution to the error bound.
    fn join(&mut self, contribution: &[u64]) {
        self.terms += 1;
        for (k, l) in self.loose.iter().enumerate() {
            let x = to_f64(self.types[k], contribution[k]).abs();
            self.whole[k] &= (x * 64.0).fract() == 0.0;
            match l {
                Loose::Sum(_) if x.is_finite() => self.size[k] += x,
                Loose::Product(_) if x.is_finite() && x > 0.0 => self.size[k] += x.log2().abs(),
                _ => {}
            }
        }
    }

    /// The reassociation error of a field so far.
    pub(super) fn error(&self, k: usize) -> f64 {
        let ty = self.types[k];
        let n = self.terms as f64 + 2.0;
        let (greatest, range) = if ty == Ty::F32 {
            (f32::MAX as f64, 100.0)
        } else {
            (f64::MAX, 900.0)
        };
        match self.loose[k] {
            Loose::No => 0.0,
            Loose::Dealt => f64::INFINITY,
            // Partial sums may overflow in one order and not in another.
            Loose::Sum(_) if self.whole[k] && self.size[k] * epsilon(ty) < 1.0 / 64.0 => 0.0,
            Loose::Sum(_) if self.size[k] >= greatest / 2.0 => f64::INFINITY,
            Loose::Sum(_) => 2.0 * n * epsilon(ty) * self.size[k],
            Loose::Product(_) if self.size[k] >= range => f64::INFINITY,
            Loose::Product(_) => 2.0 * n * epsilon(ty) * to_f64(ty, self.state[k]).abs(),
        }
    }

    /// The error bounds of its fields.
    pub(super) fn bounds(&self, entry: impl Fn(f64) -> Vec<f64>) -> Vec<Bound> {
        if self.state.is_empty() {
            return vec![Bound::Exact; self.types.len()];
        }
        (0..self.types.len())
            .map(|k| self.loose[k].bound(entry(self.error(k))))
            .collect()
    }

    /// All traps.
    pub(super) fn finish(&mut self) -> Vec<Trap> {
        let mut traps = std::mem::take(&mut self.start.traps);
        traps.append(&mut self.step.traps);
        traps.append(&mut self.empty);
        traps
    }
}

/// The fields that are float sums or products, which backends may reassociate.
fn loose(fold: &Fold, types: &[Ty]) -> Vec<Loose> {
    let step = &fold.step;
    let width = types.len();
    let param = |t: TermId| match step.terms[t.index()].term {
        Term::Param(k) => Some(k as usize),
        _ => None,
    };
    let field = |(k, r): (usize, &TermId)| {
        if !types[k].is_float() || matches!(fold.style, FoldStyle::Sequential) {
            return Loose::No;
        }
        if matches!(fold.style, FoldStyle::Dealt(_)) {
            return Loose::Dealt;
        }
        let Term::Op(op @ (Op::Add | Op::Mul), args) = &step.terms[r.index()].term else {
            return Loose::No;
        };
        let other = match (param(args[0]), param(args[1])) {
            (Some(s), Some(x)) if s == k && x >= width => x - width,
            (Some(x), Some(s)) if s == k && x >= width => x - width,
            _ => return Loose::No,
        };
        if *op == Op::Add {
            Loose::Sum(other)
        } else {
            Loose::Product(other)
        }
    };
    step.results.iter().enumerate().map(field).collect()
}
