//! Alignment: per-segment values of elements, per-segment copies of invariants, elementwise arrays.

use super::lift::{Lift, Lifted, Rows, SharedNode};
use super::reads::{BodyPlace, Reads};
use crate::array::by;
use crate::ast::{
    Assert, Axis, Body, BodyBuilder, Builder, Fold, Len, Node, Term, TermId, Types, identity,
    levels,
};
use crate::over::Domain;
use crate::segmented::Segments;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// A sum of `u64`.
fn sum() -> Fold {
    by(Op::Add, Const::u64(0))
}

impl Lift {
    /// The array of a node for each segment. An invariant is repeated for each.
    pub(super) fn rows_of(&mut self, b: Builder, node: &Arc<Node>) -> Rows {
        match self.lifted(node) {
            Lifted::Rows(rows) => rows,
            Lifted::Same(node) | Lifted::Each(node) => {
                let lengths = self.constant_len(b, &node);
                let data = self.aligned(b, &Lifted::Same(node), &lengths);
                Rows { lengths, data }
            }
        }
    }

    /// As [`rows_of`](Lift::rows_of), for a node that may not have been lifted.
    pub(crate) fn segments(&mut self, b: Builder, node: &Arc<Node>) -> Rows {
        self.lift(node);
        self.rows_of(b, node)
    }

    /// Segments in each segment: their numbers per segment, and all of them.
    pub(crate) fn nested(&mut self, b: Builder, of: &Segments) -> (Arc<Node>, Segments) {
        self.lift(&of.lengths);
        self.lift(&of.data);
        let (counts, lengths) = self.inner_lengths(b, &of.lengths);
        let data = self.within(b, &of.data, &counts, &lengths).data;
        (counts, Segments { lengths, data })
    }

    /// The delayed scalar of a node for each segment.
    pub(crate) fn each_of(&mut self, b: Builder, node: &Arc<Node>) -> Arc<Node> {
        match self.lift(node) {
            Lifted::Each(each) => each,
            Lifted::Same(node) | Lifted::Rows(Rows { data: node, .. }) => self.repeated(b, &node),
        }
    }

    /// A delayed scalar that is the same for each segment.
    pub(super) fn repeated(&mut self, b: Builder, node: &Arc<Node>) -> Arc<Node> {
        self.repeating(b, node.types.len(), |b, f| b.scalar(node, f))
    }

    /// Values that are the same for each segment.
    fn repeating(
        &mut self,
        builder: Builder,
        fields: usize,
        field: impl Fn(&mut BodyBuilder, u32) -> TermId,
    ) -> Arc<Node> {
        let len = Len::Delayed(builder.len(&self.segments));
        let mut b = BodyBuilder::new(&[Ty::U64]);
        let fields: Vec<TermId> = (0..fields as u32).map(|f| field(&mut b, f)).collect();
        builder.generate(len, b.finish(&fields))
    }

    /// A known length for each segment.
    pub(super) fn constant_known(&mut self, b: Builder, n: u64) -> Arc<Node> {
        self.once(SharedNode::Known(n), &[], |lift| {
            lift.repeating(b, 1, |b, _| b.lit(Const::u64(n)))
        })
    }

    /// An invariant length for each segment.
    pub(super) fn constant_scalar(&mut self, b: Builder, n: &Arc<Node>) -> Arc<Node> {
        self.once(SharedNode::Scalar(Arc::as_ptr(n)), &[n], |lift| {
            lift.repeated(b, n)
        })
    }

    /// The length of an invariant array for each segment.
    pub(super) fn constant_len(&mut self, b: Builder, array: &Arc<Node>) -> Arc<Node> {
        if let Some(n) = array.known_len() {
            return self.constant_known(b, n);
        }
        self.once(SharedNode::LenOf(Arc::as_ptr(array)), &[array], |lift| {
            let len = b.len(array);
            lift.repeated(b, &len)
        })
    }

    /// The elements of an array for each segment, aligned elementwise with segments of these
    /// lengths. Lengths that are not known to be equal are checked segment by segment.
    pub(super) fn aligned(
        &mut self,
        builder: Builder,
        lifted: &Lifted,
        lengths: &Arc<Node>,
    ) -> Arc<Node> {
        match lifted {
            Lifted::Rows(rows) if Arc::ptr_eq(&rows.lengths, lengths) => rows.data.clone(),
            Lifted::Rows(rows) => {
                let both = [rows.lengths.clone(), lengths.clone()];
                let checked = asserted(builder, Assert::Equal, &both);
                let checked = self.spread(builder, lengths, &checked);
                masked(builder, &rows.data, &checked)
            }
            Lifted::Same(array) | Lifted::Each(array) => {
                let own = self.constant_len(builder, array);
                let mut values = Vec::new();
                let mut params = vec![Ty::U64];
                if !Arc::ptr_eq(&own, lengths) {
                    values.push(asserted(builder, Assert::Equal, &[own, lengths.clone()]));
                    params.push(Ty::U64);
                }
                let mut b = BodyBuilder::new(&params);
                b.locate(Some(builder.loc()));
                let mut at = b.param(0);
                if !values.is_empty() {
                    // The index is below the length. The minimum only adds a dependency on the
                    // check.
                    let checked = b.param(1);
                    at = b.op(Op::Min, &[at, checked]);
                }
                let fields = 0..array.types.len() as u32;
                let fields: Vec<TermId> = fields.map(|f| b.at(array, f, at, false)).collect();
                builder.expand(lengths, &values, b.finish(&fields))
            }
        }
    }

    /// Repeats each segment's value for each of its elements.
    pub(super) fn spread(
        &mut self,
        builder: Builder,
        lengths: &Arc<Node>,
        values: &Arc<Node>,
    ) -> Arc<Node> {
        self.once(
            SharedNode::Spread(Arc::as_ptr(lengths), Arc::as_ptr(values)),
            &[lengths, values],
            |_| builder.spread(lengths, values),
        )
    }

    /// Each element's index within its segment.
    pub(super) fn indices(&mut self, builder: Builder, lengths: &Arc<Node>) -> Arc<Node> {
        self.once(
            SharedNode::Indices(Arc::as_ptr(lengths)),
            &[lengths],
            |_| builder.expand(lengths, &[], identity(&[Ty::U64])),
        )
    }

    /// The offset of each segment. A segment outside of the data is an error.
    pub(super) fn offsets(&mut self, builder: Builder, rows: &Rows) -> Arc<Node> {
        self.once(
            SharedNode::Offsets(Arc::as_ptr(&rows.lengths), Arc::as_ptr(&rows.data)),
            &[&rows.lengths, &rows.data],
            |_| builder.offsets_within(&rows.lengths, &rows.data),
        )
    }

    /// The lengths of slices, each checked to be inside of its array.
    pub(super) fn checked_length(&mut self, builder: Builder, body: &Body) -> Arc<Node> {
        let reads = self.reads(builder, &[body], &BodyPlace::Segment);
        let mut b = BodyBuilder::new(&reads.types);
        b.locate(Some(builder.loc()));
        let results = reads.embed(&mut b, body, &[], 0);
        let &[len, _, start, end, all] = results.as_slice() else {
            return builder.map(&reads.columns, b.finish(&[]));
        };
        let inside = b.ensure(Assert::Inside, &[start, end, all]);
        let more = b.op(Op::Sub, &[inside, start]);
        let len = b.op(Op::Add, &[len, more]);
        let body = b.finish(&[len]);
        if let Some(one) = self.of_all_alike(builder, &reads, &body) {
            return one;
        }
        if reads.is_empty() {
            let len = builder.compute(body);
            return self.constant_scalar(builder, &len);
        }
        builder.map(&reads.columns, body)
    }

    /// The result of a body without parameters, for each segment.
    pub(super) fn computed_each(&mut self, b: Builder, body: &Body) -> Arc<Node> {
        let reads = self.reads(b, &[body], &BodyPlace::Segment);
        let body = reads.behind(body, &[]);
        self.of_all_alike(b, &reads, &body)
            .unwrap_or_else(|| b.map(&reads.columns, body))
    }

    /// The result of a body that reads only lengths of rows. All segments have the same lengths
    /// there, so one number is computed once. Then all result lengths are known to be equal. If
    /// there are no segments, trapping code is skipped.
    fn of_all_alike(&mut self, builder: Builder, reads: &Reads, body: &Body) -> Option<Arc<Node>> {
        let is_length = |column: &Arc<Node>| *column.types == [Ty::U64];
        let gives = |body: &Body| Some(&body.terms[body.results.first()?.index()]).cloned();
        if reads.is_empty() || !reads.columns.iter().all(is_length) || gives(body)?.ty != Ty::U64 {
            return None;
        }
        let axes: Option<Vec<Axis>> = reads.columns.iter().map(Axis::of_rows).collect();
        let mut b = BodyBuilder::new(&[]);
        b.locate(Some(builder.loc()));
        let axes = axes?;
        let lengths = axes.iter().map(|axis| match axis.known() {
            Some(n) => b.lit(Const::u64(n)),
            None => axis.term(&mut b),
        });
        let lengths: Vec<TermId> = lengths.collect();
        let results = b.embed(body, &lengths)?;
        let &[mut one] = results.as_slice() else {
            return None;
        };
        if body.may_trap() {
            let segments = builder.len(&self.segments);
            let (segments, none) = (b.scalar(&segments, 0), b.lit(Const::u64(0)));
            let is_empty = b.op(Op::Eq, &[segments, none]);
            one = b.cond(is_empty, none, one);
        }
        let body = b.finish(&[one]);
        if let Term::Lit(n) = gives(&body)?.term {
            return Some(self.constant_known(builder, n.bits));
        }
        let one = builder.compute(body);
        Some(self.constant_scalar(builder, &one))
    }

    /// Lengths of inner segments: their numbers per segment, and their lengths.
    pub(super) fn inner_lengths(
        &mut self,
        b: Builder,
        lengths: &Arc<Node>,
    ) -> (Arc<Node>, Arc<Node>) {
        let Rows { lengths, data } = self.rows_of(b, lengths);
        (lengths, data)
    }

    /// The total length of the inner segments of each segment.
    pub(super) fn total(&mut self, b: Builder, outer: &Arc<Node>, inner: &Arc<Node>) -> Arc<Node> {
        let key = SharedNode::Total(Arc::as_ptr(outer), Arc::as_ptr(inner));
        self.once(key, &[outer, inner], |_| {
            b.fold(Domain::Segments(outer, inner), sum())
        })
    }

    /// The number of true tags in each segment. Segments of segments keep their structure.
    pub(super) fn counted(
        &mut self,
        b: Builder,
        lengths: &Arc<Node>,
        tags: &Arc<Node>,
    ) -> Arc<Node> {
        match levels(lengths) {
            Some((outer, inner)) => {
                let inner = self.counted(b, inner, tags);
                self.total(b, outer, &inner)
            }
            None => {
                let key = SharedNode::Count(Arc::as_ptr(lengths), Arc::as_ptr(tags));
                self.once(key, &[lengths, tags], |_| b.count_tags(lengths, tags))
            }
        }
    }

    /// The elements of segments with true tags.
    pub(super) fn packed(
        &mut self,
        b: Builder,
        lengths: &Arc<Node>,
        data: &Arc<Node>,
        tags: &Arc<Node>,
    ) -> Lifted {
        let lengths = self.counted(b, lengths, tags);
        let data = b.pack(data, tags);
        Lifted::Rows(Rows { lengths, data })
    }

    /// Data for the inner segments of each segment. Both must have equally many elements.
    pub(crate) fn within(
        &mut self,
        builder: Builder,
        data: &Arc<Node>,
        outer: &Arc<Node>,
        inner: &Arc<Node>,
    ) -> Rows {
        let total = self.total(builder, outer, inner);
        let rows = match self.lifted(data) {
            Lifted::Rows(rows) => rows,
            same => {
                let data = self.aligned(builder, &same, &total);
                return Rows {
                    lengths: total,
                    data,
                };
            }
        };
        if Arc::ptr_eq(&rows.lengths, &total) {
            return rows;
        }
        let checked = asserted(builder, Assert::Fills, &[total, rows.lengths.clone()]);
        let place = BodyPlace::Inner(outer.clone(), inner.clone());
        let checked = self.at(builder, &place, &checked);
        Rows {
            lengths: rows.lengths,
            data: masked(builder, &rows.data, &checked),
        }
    }
}

/// The first of two lengths per segment, checked against the second.
pub(super) fn asserted(builder: Builder, assert: Assert, lengths: &[Arc<Node>; 2]) -> Arc<Node> {
    let mut b = BodyBuilder::new(&[Ty::U64; 2]);
    b.locate(Some(builder.loc()));
    let [x, y] = [0, 1].map(|k| b.param(k));
    let checked = b.ensure(assert, &[x, y]);
    builder.map(lengths, b.finish(&[checked]))
}

/// Data that depends on the check of its segment's length. A segment with an element has a nonzero
/// length.
fn masked(builder: Builder, data: &Arc<Node>, checked: &Arc<Node>) -> Arc<Node> {
    let types: Types = [Ty::U64].iter().chain(&data.types).copied().collect();
    let mut b = BodyBuilder::new(&types);
    b.locate(Some(builder.loc()));
    let (length, zero) = (b.param(0), b.lit(Const::u64(0)));
    let is_there = b.op(Op::Ne, &[length, zero]);
    let fields: Vec<TermId> = (1..types.len())
        .map(|k| {
            let (x, none) = (b.param(k as u32), b.lit(Const::zero(types[k])));
            b.cond(is_there, x, none)
        })
        .collect();
    builder.map(&[checked.clone(), data.clone()], b.finish(&fields))
}
