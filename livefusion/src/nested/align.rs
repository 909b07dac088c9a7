//! Alignment: per-segment values of elements, per-segment copies of invariants, elementwise arrays.

use super::lift::{Lift, Lifted, Rows, SharedNode};
use super::reads::{BodyPlace, Reads};
use crate::array::by;
use crate::ast::{
    Assert, Axis, Body, BodyBuilder, Builder, Fold, Len, Node, TermId, Types, identity, levels,
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
                let key = SharedNode::Again(Arc::as_ptr(&node));
                let data = self.once(key, &[&node], |lift| match uniform(b, &node) {
                    // Descriptors of equal rows stay such descriptors.
                    Some(one) => b.expand(&lengths, &[], one),
                    None => lift.aligned(b, &Lifted::Same(node.clone()), &lengths),
                });
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

    /// An invariant length for each segment, as a constant if it is known.
    pub(super) fn constant_axis(&mut self, b: Builder, axis: &Axis) -> Arc<Node> {
        match axis.known() {
            Some(n) => self.constant_known(b, n),
            None => self.constant_scalar(b, axis.node()),
        }
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
            Lifted::Rows(rows) if are_alike(&rows.lengths, lengths) => rows.data.clone(),
            Lifted::Rows(rows) if let Some(both) = Axis::of_both(&rows.lengths, lengths) => {
                match self.checked_zero(builder, &both, Assert::Equal) {
                    Some(zero) => masked_by(builder, &rows.data, &zero),
                    None => rows.data.clone(),
                }
            }
            Lifted::Rows(rows) => {
                let both = [rows.lengths.clone(), lengths.clone()];
                let checked = asserted(builder, Assert::Equal, &both);
                let checked = self.spread(builder, lengths, &checked);
                masked(builder, &rows.data, &checked)
            }
            Lifted::Same(array) | Lifted::Each(array) => {
                if let Some((outer, inner)) = levels(lengths)
                    && let Some(rows) = self.rows_again(builder, array, outer, inner)
                {
                    return rows;
                }
                let own = self.constant_len(builder, array);
                if let Some(both) = Axis::of_both(&own, lengths) {
                    let zero = self.checked_zero(builder, &both, Assert::Equal);
                    return read_at(builder, array, lengths, &[], |b| {
                        let at = b.param(0);
                        behind(b, at, zero.as_ref())
                    });
                }
                let checked = [asserted(builder, Assert::Equal, &[own, lengths.clone()])];
                read_at(builder, array, lengths, &checked, |b| {
                    // The index is below the length. The minimum only adds a dependency on the
                    // check.
                    let [at, checked] = [0, 1].map(|k| b.param(k));
                    b.op(Op::Min, &[at, checked])
                })
            }
        }
    }

    /// Whether there are no segments.
    fn is_empty(&self, builder: Builder, b: &mut BodyBuilder) -> TermId {
        let segments = match self.segments.known_len() {
            Some(n) => b.lit(Const::u64(n)),
            None => b.scalar(&builder.len(&self.segments), 0),
        };
        let none = b.lit(Const::u64(0));
        b.op(Op::Eq, &[segments, none])
    }

    /// Checks two lengths that all segments have, once. Returns a zero that depends on the check,
    /// or none if they are certainly equal. Without segments there is no check.
    fn checked_zero(
        &self,
        builder: Builder,
        [own, expected]: &[Axis; 2],
        assert: Assert,
    ) -> Option<Arc<Node>> {
        if own.is(expected) {
            return None;
        }
        let mut b = BodyBuilder::new(&[]);
        b.locate(Some(builder.loc()));
        let [own, expected] = [own, expected].map(|axis| axis.number(&mut b));
        let checked = b.ensure(assert, &[own, expected]);
        let zero = b.op(Op::Sub, &[checked, expected]);
        let (is_empty, none) = (self.is_empty(builder, &mut b), b.lit(Const::u64(0)));
        let zero = b.cond(is_empty, none, zero);
        Some(builder.compute(b.finish(&[zero])))
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
            |lift| {
                let of_rows = lift.offsets_of_rows(builder, rows);
                of_rows.unwrap_or_else(|| builder.offsets_within(&rows.lengths, &rows.data))
            },
        )
    }

    /// The offset of each row, for rows of one length that lie within their data for certain.
    fn offsets_of_rows(&self, builder: Builder, rows: &Rows) -> Option<Arc<Node>> {
        let length = Axis::of_rows(&rows.lengths)?;
        let (count, all) = (rows.lengths.known_len()?, rows.data.known_len()?);
        let fits = count.checked_mul(length.known()?)? <= all;
        fits.then(|| {
            let mut b = BodyBuilder::new(&[Ty::U64]);
            b.locate(Some(builder.loc()));
            let (row, first) = (b.param(0), b.lit(Const::u64(0)));
            let length = length.term(&mut b);
            let begin = b.flat(row, first, length);
            builder.map(&[builder.places(&rows.lengths)], b.finish(&[begin]))
        })
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
        self.mapped(builder, &reads, body)
    }

    /// The result of a body without parameters, for each segment.
    pub(super) fn computed_each(&mut self, b: Builder, body: &Body) -> Arc<Node> {
        let reads = self.reads(b, &[body], &BodyPlace::Segment);
        let body = reads.behind(body, &[]);
        self.mapped(b, &reads, body)
    }

    /// The results of a body of extra parameters.
    fn mapped(&mut self, builder: Builder, reads: &Reads, body: Body) -> Arc<Node> {
        match self.of_all_alike(builder, reads, &body) {
            Some(one) => one,
            None => builder.map(&reads.columns, body),
        }
    }

    /// The result of a body that reads nothing of a segment but lengths of rows. All segments have
    /// the same lengths there, so the result is computed once. A result length is then known to be
    /// equal for all. If there are no segments, trapping code is skipped.
    fn of_all_alike(&mut self, builder: Builder, reads: &Reads, body: &Body) -> Option<Arc<Node>> {
        let axes = reads.columns.iter().map(Axis::of_rows);
        let axes: Vec<Axis> = axes.collect::<Option<_>>()?;
        let types = body.result_types_or_none();
        let computed = |is_guarded: bool| {
            let mut b = BodyBuilder::new(&[]);
            b.locate(Some(builder.loc()));
            let lengths: Vec<TermId> = axes.iter().map(|axis| axis.number(&mut b)).collect();
            let mut results = b.embed(body, &lengths)?;
            if is_guarded {
                let is_empty = self.is_empty(builder, &mut b);
                for (result, ty) in results.iter_mut().zip(&types) {
                    let none = b.lit(Const::zero(*ty));
                    *result = b.cond(is_empty, none, *result);
                }
            }
            Some(builder.compute(b.finish(&results)))
        };
        let mut one = computed(false)?;
        if body.may_trap() && one.literal().is_none() {
            one = computed(true)?;
        }
        Some(match *types == [Ty::U64] {
            true => self.constant_axis(builder, &Axis::delayed(one)),
            false => self.repeated(builder, &one),
        })
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
        let lifted = self.lifted(data);
        // Rows of rows: one check for all segments.
        if let Lifted::Rows(Rows { lengths, data }) = &lifted
            && let Some(all) = Axis::of_rows(lengths)
            && let Some(both) = Axis::of_both(outer, inner)
        {
            let sizes = [builder.size(&both), all];
            let zero = self.checked_zero(builder, &sizes, Assert::Fills);
            return Rows {
                lengths: lengths.clone(),
                data: zero.map_or(data.clone(), |zero| masked_by(builder, data, &zero)),
            };
        }
        let total = self.total(builder, outer, inner);
        let rows = match lifted {
            Lifted::Rows(rows) => rows,
            same => {
                let data = self.aligned(builder, &same, &total);
                return Rows {
                    lengths: total,
                    data,
                };
            }
        };
        if are_alike(&rows.lengths, &total) {
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

    /// Reads an array from its begin for each segment, cut into rows of one length. None for inner
    /// segments of other lengths.
    fn rows_again(
        &mut self,
        builder: Builder,
        array: &Arc<Node>,
        outer: &Arc<Node>,
        inner: &Arc<Node>,
    ) -> Option<Arc<Node>> {
        let (count, length) = (Axis::of_rows(outer)?, Axis::of_rows(inner)?);
        let all = match array.known_len() {
            Some(n) => builder.length(n),
            None => Axis::delayed(builder.len(array)),
        };
        let sizes = [builder.size(&[count, length.clone()]), all];
        let zero = self.checked_zero(builder, &sizes, Assert::Fills);
        let rows = [self.indices(builder, outer)];
        Some(read_at(builder, array, inner, &rows, |b| {
            let [k, row] = [0, 1].map(|k| b.param(k));
            let length = length.term(b);
            let at = b.flat(row, k, length);
            behind(b, at, zero.as_ref())
        }))
    }
}

/// Reads an element of an array for each element of segments, without a check. The parameters of
/// `index` are the index within the segment, and the values of the segment.
pub(super) fn read_at(
    builder: Builder,
    array: &Arc<Node>,
    lengths: &Arc<Node>,
    values: &[Arc<Node>],
    index: impl FnOnce(&mut BodyBuilder) -> TermId,
) -> Arc<Node> {
    let params = values.iter().flat_map(|values| &values.types);
    let params: Types = [Ty::U64].iter().chain(params).copied().collect();
    let mut b = BodyBuilder::new(&params);
    let at = index(b.locate(Some(builder.loc())));
    let fields = 0..array.types.len() as u32;
    let fields: Vec<TermId> = fields.map(|f| b.at(array, f, at, false)).collect();
    builder.expand(lengths, values, b.finish(&fields))
}

/// An index that depends on the check of a zero, so that no read comes before the check.
fn behind(b: &mut BodyBuilder, at: TermId, zero: Option<&Arc<Node>>) -> TermId {
    match zero {
        Some(zero) => {
            let zero = b.scalar(zero, 0);
            b.op(Op::Add, &[at, zero])
        }
        None => at,
    }
}

/// Whether two arrays of lengths are certainly equal.
fn are_alike(a: &Arc<Node>, b: &Arc<Node>) -> bool {
    let equal = |a, b| Axis::of_both(a, b).is_some_and(|[a, b]| a.is(&b));
    let of_levels = || {
        let ((outer, inner), (other_outer, other_inner)) = levels(a).zip(levels(b))?;
        Some(equal(outer, other_outer) && equal(inner, other_inner))
    };
    Arc::ptr_eq(a, b) || equal(a, b) || of_levels().unwrap_or(false)
}

/// The body that gives the common value of an array of equal lengths.
fn uniform(builder: Builder, array: &Arc<Node>) -> Option<Body> {
    let length = Axis::of_rows(array)?;
    let mut b = BodyBuilder::new(&[Ty::U64]);
    let length = length.term(b.locate(Some(builder.loc())));
    Some(b.finish(&[length]))
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
    let types: Types = data.types.iter().chain(&[Ty::U64]).copied().collect();
    let mut b = BodyBuilder::new(&types);
    b.locate(Some(builder.loc()));
    let length = b.param(data.types.len() as u32);
    let fields = b.all_if_nonzero(length, &data.types);
    builder.map(&[data.clone(), checked.clone()], b.finish(&fields))
}

/// Data that depends on the check of a zero.
fn masked_by(builder: Builder, data: &Arc<Node>, zero: &Arc<Node>) -> Arc<Node> {
    let mut b = BodyBuilder::new(&data.types);
    let (zero, one) = (
        b.locate(Some(builder.loc())).scalar(zero, 0),
        b.lit(Const::u64(1)),
    );
    let one = b.op(Op::Add, &[one, zero]);
    let fields = b.all_if_nonzero(one, &data.types);
    builder.map(std::slice::from_ref(data), b.finish(&fields))
}
