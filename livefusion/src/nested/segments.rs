//! Segments in the closure, which become segments of segments; scatters in segments.

use super::align::asserted;
use super::lift::{Lift, Lifted, Rows, no_rule, rows};
use super::reads::BodyPlace;
use crate::ast::{Assert, Body, BodyBuilder, Builder, Node, Places, ScanKind};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::sync::Arc;

impl Lift {
    /// The elements of the inner segments of each segment.
    pub(super) fn expand(&mut self, b: Builder, node: &Node, body: &Body) -> Lifted {
        let (outer, inner) = self.inner_lengths(b, &node.inputs[0]);
        let values = node.inputs.iter().skip(1).map(|n| self.lifted(n));
        let values: Vec<Lifted> = values.collect();
        let mut inputs: Vec<Arc<Node>> = Vec::new();
        for values in &values {
            inputs.push(self.aligned(b, values, &outer));
        }
        let reads = self.reads(b, &[body], &BodyPlace::Element(outer.clone()));
        inputs.extend(reads.columns.iter().cloned());
        let body = reads.behind(body, &body.params.clone());
        let data = b.expand(&inner, &inputs, body);
        rows(self.total(b, &outer, &inner), data)
    }

    /// Scatters values into each segment's array.
    pub(super) fn scatter(&mut self, b: Builder, node: &Node, combine: Option<&Body>) -> Lifted {
        match self.by_index(b, node, combine) {
            None => no_rule(node),
            Some(ByIndex { base, at, values }) => {
                let data = b.scatter(&base.data, &at.data, &values, combine.cloned());
                rows(base.lengths, data)
            }
        }
    }

    /// Running folds at indices of each segment's base.
    pub(super) fn scan_by_index(
        &mut self,
        b: Builder,
        node: &Node,
        step: &Body,
        kind: ScanKind,
    ) -> Lifted {
        match self.by_index(b, node, Some(step)) {
            None => no_rule(node),
            Some(ByIndex { base, at, values }) => {
                let inputs = [&base.data, &at.data, &values];
                let data = b.scan_by_index(inputs, step.clone(), kind, Places::Anywhere);
                rows(at.lengths, data)
            }
        }
    }

    /// The operands of a scatter or a scan by index over all segments. Bases are concatenated, and
    /// indices point into the concatenation. None if the step depends on the segment.
    fn by_index(&mut self, b: Builder, node: &Node, step: Option<&Body>) -> Option<ByIndex> {
        let mut captures = step.into_iter().flat_map(|body| &body.captures);
        if captures.any(|c| !self.is_same(c.node())) {
            return None;
        }
        let base = self.rows_of(b, &node.inputs[0]);
        let Rows { lengths, data } = self.rows_of(b, &node.inputs[1]);
        let values = self.lifted(&node.inputs[2]);
        let values = self.aligned(b, &values, &lengths);
        let begin = self.offsets(b, &base);
        let place = BodyPlace::Element(lengths.clone());
        let (begin, len) = (
            self.at(b, &place, &begin),
            self.at(b, &place, &base.lengths),
        );
        let mut body = BodyBuilder::new(&[Ty::U64; 3]);
        body.locate(Some(b.loc()));
        let [index, begin_at, len_at] = [0, 1, 2].map(|k| body.param(k));
        let index = body.ensure(Assert::Below, &[index, len_at]);
        let there = body.op(Op::Add, &[begin_at, index]);
        let data = b.map(&[data, begin, len], body.finish(&[there]));
        let at = Rows { lengths, data };
        Some(ByIndex { base, at, values })
    }

    /// Returns `others`, with a check that both arrays of lengths agree.
    pub(crate) fn agreed(b: Builder, lengths: &Arc<Node>, others: &Arc<Node>) -> Arc<Node> {
        asserted(b, Assert::Equal, &[others.clone(), lengths.clone()])
    }
}

/// The operands of a scatter or a scan by index over all segments.
struct ByIndex {
    base: Rows,
    /// Indices into the concatenated bases.
    at: Rows,
    values: Arc<Node>,
}
