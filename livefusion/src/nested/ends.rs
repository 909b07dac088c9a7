//! `take` and `take_while` in segments. Elements after the end are not computed if that could trap:
//! see [`super::stream`].

use super::lift::{Lift, Lifted, rows};
use super::reads::{BodyPlace, all_params};
use super::stream::Follow;
use crate::array::by;
use crate::ast::{Body, BodyBuilder, Builder, Kind, Node, ScanKind, TermId};
use crate::over::Domain;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

impl Lift {
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
