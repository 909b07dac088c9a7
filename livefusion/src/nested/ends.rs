//! Ends of segments: `take`, `take_while`, first and last elements.
//!
//! Elements after an end are not computed if that could trap: see [`super::stream`].

use super::lift::{Lift, Lifted, Rows, rows};
use super::reads::{BodyPlace, all_params};
use super::stream::Follow;
use crate::array::by;
use crate::ast::{
    Assert, Body, BodyBuilder, Builder, Fold, FoldStyle, Kind, Node, ScanKind, Side, TermId,
    kept_side,
};
use crate::over::Domain;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The end of an array that a fold returns.
pub(super) fn end_of(fold: &Fold) -> Option<Side> {
    match fold.style {
        FoldStyle::First => kept_side(&fold.step),
        _ => None,
    }
}

/// Whether an array is in memory, or only renames fields or axes of such arrays.
pub(super) fn is_in_memory(data: &Arc<Node>) -> bool {
    let mut seen = FxHashSet::default();
    let mut stack = vec![data];
    while let Some(node) = stack.pop() {
        if node.is_leaf() || !seen.insert(Arc::as_ptr(node)) {
            continue;
        }
        if !node.kind.facts().names() {
            return false;
        }
        stack.extend(&node.inputs);
    }
    true
}

impl Lift {
    /// The operand of a fold. A fold to the first element needs no early end behind that element.
    pub(super) fn up_to_end(&self, fold: &Fold, of: &Arc<Node>) -> Arc<Node> {
        match (&of.kind, of.inputs.first()) {
            (
                Kind::TakeWhile {
                    inclusive: true, ..
                },
                Some(all),
            ) if end_of(fold) == Some(Side::Left)
                && !self.stream(of, Follow::Streams).may_trap() =>
            {
                all.clone()
            }
            _ => of.clone(),
        }
    }

    /// Reads the first or last element of each segment at its index, from data in memory.
    pub(super) fn read_end(
        &mut self,
        builder: Builder,
        end: Side,
        lengths: &Arc<Node>,
        data: &Arc<Node>,
    ) -> Arc<Node> {
        let rows = Rows {
            lengths: lengths.clone(),
            data: data.clone(),
        };
        let begins = self.offsets(builder, &rows);
        let mut b = BodyBuilder::new(&[Ty::U64; 2]);
        b.locate(Some(builder.loc()));
        let ([begin, len], one) = ([0, 1].map(|k| b.param(k)), b.lit(Const::u64(1)));
        let index = match end {
            Side::Left => b.lit(Const::u64(0)),
            Side::Right => b.op(Op::Sub, &[len, one]),
        };
        let index = b.ensure(Assert::Nonempty, &[index, len]);
        let at = b.op(Op::Add, &[begin, index]);
        let fields = 0..data.types.len() as u32;
        let fields: Vec<TermId> = fields.map(|f| b.at(data, f, at, false)).collect();
        builder.map(&[begins, lengths.clone()], b.finish(&fields))
    }

    /// The first elements of each segment, up to an end.
    pub(super) fn ends(&mut self, b: Builder, node: &Arc<Node>) -> Lifted {
        let stream = self.stream(node, Follow::Streams);
        if stream.may_trap() {
            return self.in_order(b, &stream);
        }
        let of = &node.inputs[0];
        match &node.kind {
            Kind::TakeWhile { test, inclusive } => self.take_while(b, of, test, *inclusive),
            Kind::Take(n) => self.take(b, of, n),
            _ => super::lift::no_rule(node),
        }
    }

    /// The elements of each segment before the first one that fails a test. All elements are
    /// tested.
    fn take_while(&mut self, b: Builder, of: &Arc<Node>, test: &Body, inclusive: bool) -> Lifted {
        let all = self.rows_of(b, of);
        let place = BodyPlace::Element(all.lengths.clone());
        let goes_on = self.map_at(b, &place, std::slice::from_ref(&all.data), test);
        let both = by(Op::And, Const::bool(true));
        let kind = match inclusive {
            true => ScanKind::Exclusive,
            false => ScanKind::Inclusive,
        };
        let kept = b.scan(Domain::Segments(&all.lengths, &goes_on), both, kind);
        self.packed(b, &all.lengths, &all.data, &kept)
    }

    /// The first elements of each segment. Maps of the data run after the selection.
    fn take(&mut self, builder: Builder, of: &Arc<Node>, n: &Body) -> Lifted {
        let stream = self.stream(of, Follow::Maps);
        let (lengths, sources) = self.sources(builder, &stream);
        let reads = self.reads(builder, &[n], &BodyPlace::Segment);
        let types: Vec<Ty> = [&[Ty::U64], &reads.types[..]].concat();
        let mut b = BodyBuilder::new(&types);
        let index = b.param(0);
        let n = reads.embed(&mut b, n, &[], 1);
        let args: Vec<TermId> = [index].into_iter().chain(n).collect();
        let is_first = b.op(Op::Lt, &args);
        let tags = builder.expand(&lengths, &reads.columns, b.finish(&[is_first]));
        let all = builder.zip(&sources);
        let (data, taken) = (
            builder.pack(&all, &tags),
            self.counted(builder, &lengths, &tags),
        );
        let reads = self.reads(
            builder,
            &stream.bodies(),
            &BodyPlace::Element(taken.clone()),
        );
        let width = all.types.len();
        let mut b = BodyBuilder::new(&[&all.types[..], &reads.types].concat());
        let own = all_params(&mut b, 0..width);
        let results = stream.mapped(&mut b, &reads, &own, (width, None));
        let inputs: Vec<Arc<Node>> = [&data].into_iter().chain(&reads.columns).cloned().collect();
        rows(taken, builder.map(&inputs, b.finish(&results)))
    }
}
