//! Streams that advance independently (`merge`, `interleave`, `combine`).
//!
//! Each becomes a scan over the indices of its result. The scan's state counts the elements taken
//! from each input.

use crate::ast::{
    Assert, Body, BodyBuilder, Builder, Fold, FoldStyle, Len, MERGE_CHECK, Node, ScanKind, TermId,
    identity,
};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// A merge that reads its inputs at positions.
pub(super) fn by_position(builder: Builder, inputs: &[Arc<Node>], step: &Body) -> Arc<Node> {
    // Each step takes at least one element. One more step finds that none is left.
    let lengths: Vec<Arc<Node>> = inputs.iter().map(|n| builder.len(n)).collect();
    let mut b = BodyBuilder::new(&[]);
    let mut most = b.lit(Const::u64(1));
    for len in &lengths {
        let len = b.scalar(len, 0);
        most = b.op(Op::Add, &[most, len]);
    }
    let most = builder.compute(b.finish(&[most]));
    let indices = builder.generate(Len::Delayed(most), identity(&[Ty::U64]));

    // The positions, a flag for the end, and the element.
    let k = inputs.len();
    let types = step.result_types();
    let element = types.get(k + MERGE_CHECK..).unwrap_or_default();
    let state: Vec<Ty> = [&vec![Ty::U64; k][..], &[Ty::Bool], element].concat();
    let mut b = BodyBuilder::new(&[&state[..], &[Ty::U64]].concat());
    b.locate(Some(builder.loc()));
    let positions: Vec<TermId> = (0..k as u32).map(|k| b.param(k)).collect();
    let index = b.param(state.len() as u32);
    let (mut params, mut more) = (Vec::new(), Vec::new());
    for ((input, len), at) in inputs.iter().zip(&lengths).zip(&positions) {
        let len = b.scalar(len, 0);
        let is_left = b.op(Op::Lt, &[*at, len]);
        for (field, ty) in (0..).zip(&input.types) {
            let (x, none) = (b.at(input, field, *at, false), b.lit(Const::zero(*ty)));
            params.push(b.cond(is_left, x, none));
        }
        more.push(is_left);
    }
    params.extend(more.iter().copied());
    params.push(index);
    let results = b.embed(step, &params).unwrap_or_default();
    let (taken, rest) = results.split_at(k.min(results.len()));
    let mut next = Vec::new();
    let mut ended = b.lit(Const::bool(true));
    for ((taken, is_left), at) in taken.iter().zip(more).zip(&positions) {
        // No element can be taken from an exhausted input.
        let taken = b.op(Op::And, &[*taken, is_left]);
        let one = b.cast(taken, Ty::U64);
        next.push(b.op(Op::Add, &[*at, one]));
        let not = b.op(Op::Not, &[taken]);
        ended = b.op(Op::And, &[ended, not]);
    }
    if let [fits, got, expected, element @ ..] = rest {
        let checked = b.ensure(Assert::Equal, &[*got, *expected]);
        let differ = b.op(Op::Ne, &[checked, *expected]);
        next.push(b.cond(*fits, ended, differ));
        next.extend(element);
    }
    let mut start = BodyBuilder::new(&[]);
    let zeros: Vec<TermId> = state.iter().map(|t| start.lit(Const::zero(*t))).collect();
    let fold = Fold {
        start: start.finish(&zeros),
        step: b.finish(&next),
        style: FoldStyle::Sequential,
    };
    let scanned = builder.scan(&indices, fold, ScanKind::Inclusive);
    let mut test = BodyBuilder::new(&state);
    let ended = test.param(k as u32);
    let goes_on = test.op(Op::Not, &[ended]);
    let all = builder.take_while(&scanned, test.finish(&[goes_on]), false);
    builder.fields(&all, k as u32 + 1..state.len() as u32)
}
