//! Segments: elements generated for them, and folds, scans and sorts of them.

use crate::array::by;
use crate::ast::draft::{Draft, show_node};
use crate::ast::{
    Axis, Body, Builder, Fold, Inputs, Kind, Move, Node, Rewrite, ScanKind, Sorted, Types, nests,
    own_index, red_flat,
};
use crate::over::Domain;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use smallvec::smallvec;
use std::sync::Arc;

impl Builder {
    /// Generates the elements of segments, `f(i, values)` for each `i` below each length.
    ///
    /// The body's parameters are the index within the segment (`u64`) and the fields of `values`,
    /// which have one element per segment.
    pub fn expand(self, lengths: &Arc<Node>, values: &[Arc<Node>], body: Body) -> Arc<Node> {
        let inputs: Inputs = [lengths].into_iter().chain(values).cloned().collect();
        let mut d = Draft::new(self, inputs);
        d.arrays();
        d.in_step();
        d.len = all_rows(lengths);
        d.lengths(lengths);
        let params: Types = [Ty::U64]
            .into_iter()
            .chain(values.iter().flat_map(|n| n.types.iter().copied()))
            .collect();
        d.body(&body, "a function", &params, None);
        let types = body.result_types_or_none();
        let body = d.simple(body);
        match own_index::expanded(d.inputs(), &body).filter(|_| d.error.is_none()) {
            Some(array) => array,
            None => d.array(Kind::Expand(body), types),
        }
    }

    /// Folds each segment's elements into one result per segment.
    ///
    /// Row folds of row folds become folds of longer rows, where the result is the same
    /// ([`Rewrite::RedFlat`]). A fold of nested segments, recognised by their lengths, becomes a
    /// fold of the inner segments and a fold of those results.
    pub(crate) fn fold_each(self, lengths: &Arc<Node>, data: &Arc<Node>, fold: Fold) -> Arc<Node> {
        if let Some(folded) = nests::folded(self, lengths, data, &fold) {
            return folded;
        }
        match red_flat::rows(self, lengths, data, &fold) {
            Some((lengths, elements)) => {
                let builder = self.rewriting(Rewrite::RedFlat);
                builder.folded_each(&lengths, &elements, fold)
            }
            None => self.folded_each(lengths, data, fold),
        }
    }

    fn folded_each(self, lengths: &Arc<Node>, data: &Arc<Node>, fold: Fold) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![lengths.clone(), data.clone()]);
        d.arrays();
        d.lengths(lengths);
        d.meet_node(lengths);
        let state = d.fold(&fold, &data.types);
        let fold = d.simple_fold(fold);
        d.array(Kind::FoldS(fold), state)
    }

    /// Running folds that restart at each segment, for associative and sequential folds only.
    pub(crate) fn scan_each(
        self,
        lengths: &Arc<Node>,
        data: &Arc<Node>,
        fold: Fold,
        kind: ScanKind,
    ) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![lengths.clone(), data.clone()]);
        d.arrays();
        d.lengths(lengths);
        d.meet_node(data);
        let state = d.fold(&fold, &data.types);
        d.scannable(&fold);
        let fold = d.simple_fold(fold);
        d.array(Kind::ScanS(fold, kind), state)
    }

    /// Sorts each segment's elements in ascending order, as keys.
    ///
    /// They are compared by the first field, then by the next.
    pub fn sort_keys(self, lengths: &Arc<Node>, keys: &Arc<Node>, sorted: Sorted) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![lengths.clone(), keys.clone()]);
        d.arrays();
        d.lengths(lengths);
        d.meet_node(keys);
        d.expect(keys.types.iter().all(|ty| ty.is_unsigned()), || {
            ("unsigned integers".into(), show_node(keys))
        });
        let types = match sorted {
            Sorted::Elements => keys.types.clone(),
            Sorted::Places => smallvec![Ty::U64],
        };
        d.array(Kind::SortS(sorted), types)
    }

    /// Moves the elements of each segment.
    ///
    /// The loop that computes the data may run from the end of each segment, or pass over it again.
    /// A move by 0 places is the data.
    ///
    /// ```
    /// use livefusion::ast::{Builder, Move};
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![1i64, 2, 3], vec![4]]);
    /// let (lengths, data) = (rows.lengths(), rows.data());
    /// let moved = |to| Builder::named("move").move_each(lengths.node(), data.node(), to);
    /// assert_eq!(Array::<i64>::from_node(moved(Move::Turned))?.force()?, [3, 2, 1, 4]);
    /// assert_eq!(Array::<i64>::from_node(moved(Move::By(1)))?.force()?, [2, 3, 3, 4]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn move_each(self, lengths: &Arc<Node>, data: &Arc<Node>, to: Move) -> Arc<Node> {
        if to == Move::By(0) {
            return data.clone();
        }
        let mut d = Draft::new(self, smallvec![lengths.clone(), data.clone()]);
        d.arrays();
        d.lengths(lengths);
        d.meet_node(data);
        d.array(Kind::MoveS(to), data.types.clone())
    }

    /// Counts the true tags of each segment.
    ///
    /// The counts are the segment lengths after a [`pack`](Builder::pack) by these tags.
    /// [`count`](Builder::count) counts by a test.
    pub fn count_tags(self, lengths: &Arc<Node>, tags: &Arc<Node>) -> Arc<Node> {
        if let Some((outer, inner)) = nests::levels(lengths) {
            let counts = self.count_tags(inner, tags);
            return self.fold(Domain::Segments(outer, &counts), by(Op::Add, Const::u64(0)));
        }
        let mut d = Draft::new(self, smallvec![lengths.clone(), tags.clone()]);
        d.arrays();
        d.lengths(lengths);
        d.meet_node(lengths);
        d.expect(*tags.types == [Ty::Bool], || {
            ("tags of type bool".into(), show_node(tags))
        });
        d.array(Kind::CountS, smallvec![Ty::U64])
    }
}

/// The number of elements of segments of these lengths, if it is known and all have one length.
fn all_rows(lengths: &Arc<Node>) -> Option<u64> {
    let length = Axis::of_rows(lengths)?.known()?;
    lengths.len?.checked_mul(length)
}
