//! Folds and scans of each segment.
//!
//! Their operator or start may capture per-segment values. These values are added to the folded
//! elements, and to the state if the operator joins states.

use super::ends::{end_of, is_in_memory};
use super::lift::Lift;
use super::reads::{BodyPlace, Reads, all_params};
use crate::ast::{
    Body, BodyBuilder, Builder, Fold, FoldStyle, Node, ScanKind, TermId, Types, zeros,
};
use crate::error::ErrorKind;
use crate::over::Domain;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Selects the segments to fold.
pub(super) struct FoldLevel {
    lengths: Arc<Node>,
    /// The place of their elements.
    elements: BodyPlace,
    /// The place with one value per segment.
    each: BodyPlace,
}

impl FoldLevel {
    /// Segments of these lengths.
    pub(super) fn outer(lengths: Arc<Node>) -> FoldLevel {
        FoldLevel {
            elements: BodyPlace::Element(lengths.clone()),
            each: BodyPlace::Segment,
            lengths,
        }
    }

    /// The inner segments of each segment, with outer and inner lengths.
    pub(super) fn inner(outer: Arc<Node>, inner: Arc<Node>) -> FoldLevel {
        FoldLevel {
            lengths: inner.clone(),
            each: BodyPlace::Element(outer.clone()),
            elements: BodyPlace::Inner(outer, inner),
        }
    }
}

/// A fold under construction.
struct SegmentFold<'a> {
    builder: Builder,
    fold: &'a Fold,
    level: &'a FoldLevel,
    data: &'a Arc<Node>,
    /// None for a fold.
    scan: Option<ScanKind>,
    state: Types,
    element: Types,
}

impl Lift {
    /// Folds or scans each segment.
    pub(super) fn fold(
        &mut self,
        builder: Builder,
        fold: &Fold,
        level: &FoldLevel,
        data: &Arc<Node>,
        scan: Option<ScanKind>,
    ) -> Arc<Node> {
        let end = end_of(fold).filter(|_| scan.is_none() && is_in_memory(data));
        if let Some(end) = end {
            return self.read_end(builder, end, &level.lengths, data);
        }
        let start = self.reads(builder, &[&fold.start], &level.each);
        let step = self.reads(builder, &[&fold.step], &level.elements);
        let mut alike = fold.clone();
        if start.is_empty() {
            alike.start = start.behind(&fold.start, &[]);
        }
        if step.is_empty() {
            alike.step = step.behind(&fold.step, &fold.step.params);
        }
        let fold = &alike;
        let state = match fold.style {
            FoldStyle::Associative | FoldStyle::First => data.types.clone(),
            FoldStyle::Sequential
            | FoldStyle::Aggregate(_)
            | FoldStyle::Exact(_)
            | FoldStyle::Dealt(_) => fold.start.result_types(),
        };
        let folding = SegmentFold {
            builder,
            fold,
            level,
            data,
            scan,
            state,
            element: data.types.clone(),
        };
        if let Some(join) = fold.style.join()
            && join.captures.iter().any(|c| !self.is_same(c.node()))
        {
            let rank = 1;
            return builder.fault(&folding.state, rank, ErrorKind::NotNested);
        }
        if start.is_empty() && step.is_empty() {
            return folding.run(data, fold.clone());
        }
        match (&fold.style, start.is_empty()) {
            (FoldStyle::Associative | FoldStyle::First, true) => folding.carrying(&step),
            (FoldStyle::Associative | FoldStyle::First, false) => self.started(&folding, &step),
            (
                FoldStyle::Sequential
                | FoldStyle::Aggregate(_)
                | FoldStyle::Exact(_)
                | FoldStyle::Dealt(_),
                true,
            ) => folding.stepping(&step),
            (FoldStyle::Sequential, false) => self.started_in_order(&folding),
            (
                FoldStyle::Aggregate(join) | FoldStyle::Exact(join) | FoldStyle::Dealt(join),
                false,
            ) => self.started_states(&folding, join),
        }
    }

    /// An associative operator with a per-segment start. A flag marks nonempty states, and the
    /// start is joined last.
    fn started(&mut self, f: &SegmentFold<'_>, step: &Reads) -> Arc<Node> {
        let SegmentFold {
            builder,
            fold,
            level,
            ..
        } = *f;
        // Flag, element, per-segment operands.
        let (n, more) = (f.element.len(), step.types.len());
        let flag = [Ty::Bool];
        let state: Types = flag
            .iter()
            .chain(&f.element)
            .chain(&step.types)
            .copied()
            .collect();
        let width = state.len();
        let mut b = BodyBuilder::new(&state[1..]);
        let mut fields = vec![b.lit(Const::bool(true))];
        fields.extend(all_params(&mut b, 0..n + more));
        let inputs = inputs(f.data, &step.columns);
        let elements = builder.map(&inputs, b.finish(&fields));
        let mut b = BodyBuilder::new(&[&state[..], &state[..]].concat());
        let own = all_params(&mut b, 0..2 * width);
        let (left, right) = own.split_at(width);
        let params: Vec<TermId> = left[1..=n].iter().chain(&right[1..=n]).copied().collect();
        let joined = step.embed(&mut b, &fold.step, &params, width + 1 + n);
        let any = b.op(Op::Or, &[left[0], right[0]]);
        let mut results = vec![any];
        for (x, y) in joined.iter().zip(&right[1..=n]) {
            results.push(b.cond(left[0], *x, *y));
        }
        results.extend(&right[1 + n..]);
        let joined = f.run(
            &elements,
            Fold {
                start: zeros(&state),
                step: b.finish(&results),
                style: FoldStyle::Associative,
            },
        );
        // Joins the start on the left.
        let place = match f.scan {
            Some(_) => &level.elements,
            None => &level.each,
        };
        let reads = self.reads(builder, &[&fold.start, &fold.step], place);
        let types: Types = state.iter().chain(&reads.types).copied().collect();
        let mut b = BodyBuilder::new(&types);
        let own = all_params(&mut b, 0..width);
        let start = reads.embed(&mut b, &fold.start, &[], width);
        let params: Vec<TermId> = start.iter().chain(&own[1..=n]).copied().collect();
        let joined_all = reads.embed(&mut b, &fold.step, &params, width);
        let results: Vec<TermId> = joined_all
            .into_iter()
            .zip(start)
            .map(|(x, s)| b.cond(own[0], x, s))
            .collect();
        builder.map(&self::inputs(&joined, &reads.columns), b.finish(&results))
    }

    /// A sequential operator with a per-segment start, which is joined with the first element.
    fn started_in_order(&mut self, f: &SegmentFold<'_>) -> Arc<Node> {
        let SegmentFold {
            builder,
            fold,
            level,
            ..
        } = *f;
        let (n, m) = (f.state.len(), f.element.len());
        let indices = self.indices(builder, &level.lengths);
        let reads = self.reads(builder, &[&fold.start, &fold.step], &level.elements);
        let data = [f.data.clone(), indices.clone()];
        let elements: Vec<Arc<Node>> = data.iter().chain(&reads.columns).cloned().collect();
        let index = [Ty::U64];
        let types: Vec<Ty> = [&f.state[..], &f.element, &index, &reads.types].concat();
        let mut b = BodyBuilder::new(&types);
        let own = all_params(&mut b, 0..n + m + 1);
        let from = begun(&mut b, &reads, fold, (own[n + m], n + m + 1), &own[..n]);
        let params: Vec<TermId> = from.iter().chain(&own[n..n + m]).copied().collect();
        let results = reads.embed(&mut b, &fold.step, &params, n + m + 1);
        let folded = f.run(
            &builder.zip(&elements),
            Fold {
                start: zeros(&f.state),
                step: b.finish(&results),
                style: FoldStyle::Sequential,
            },
        );
        // A state without elements is the start.
        let (place, counts) = match f.scan {
            Some(ScanKind::Inclusive) => return folded,
            Some(ScanKind::Exclusive) => (&level.elements, indices),
            None => (&level.each, level.lengths.clone()),
        };
        let reads = self.reads(builder, &[&fold.start], place);
        let types: Vec<Ty> = [&f.state[..], &index, &reads.types].concat();
        let mut b = BodyBuilder::new(&types);
        let own = all_params(&mut b, 0..n + 1);
        let results = begun(&mut b, &reads, fold, (own[n], n + 1), &own[..n]);
        let inputs: Vec<Arc<Node>> = [folded, counts]
            .iter()
            .chain(&reads.columns)
            .cloned()
            .collect();
        builder.map(&inputs, b.finish(&results))
    }

    /// Joined states with a per-segment start. A flag marks nonempty states.
    fn started_states(&mut self, f: &SegmentFold<'_>, join: &Body) -> Arc<Node> {
        let SegmentFold {
            builder,
            fold,
            level,
            ..
        } = *f;
        let (n, m) = (f.state.len(), f.element.len());
        let reads = self.reads(builder, &[&fold.start, &fold.step], &level.elements);
        let elements = builder.zip(&inputs(f.data, &reads.columns));
        let state: Vec<Ty> = [&[Ty::Bool], &f.state[..]].concat();
        let mut b = BodyBuilder::new(&[&state[..], &f.element, &reads.types].concat());
        let own = all_params(&mut b, 0..1 + n + m);
        let start = reads.embed(&mut b, &fold.start, &[], 1 + n + m);
        let mut params = Vec::new();
        for (x, s) in own[1..=n].iter().zip(&start) {
            params.push(b.cond(own[0], *x, *s));
        }
        params.extend(&own[1 + n..]);
        let mut results = vec![b.lit(Const::bool(true))];
        results.extend(reads.embed(&mut b, &fold.step, &params, 1 + n + m));
        let step = b.finish(&results);
        let mut b = BodyBuilder::new(&[&state[..], &state[..]].concat());
        let own = all_params(&mut b, 0..2 * (n + 1));
        let (left, right) = own.split_at(n + 1);
        let params: Vec<TermId> = left[1..].iter().chain(&right[1..]).copied().collect();
        let joined = b.embed(join, &params).unwrap_or_default();
        let any = b.op(Op::Or, &[left[0], right[0]]);
        let mut results = vec![any];
        for k in 0..joined.len() {
            let here = b.cond(right[0], joined[k], left[1 + k]);
            results.push(b.cond(left[0], here, right[1 + k]));
        }
        let join = b.finish(&results);
        let folded = f.run(
            &elements,
            Fold {
                start: zeros(&state),
                step,
                style: FoldStyle::Aggregate(join),
            },
        );
        let reads = self.reads(builder, &[&fold.start], &level.each);
        let mut b = BodyBuilder::new(&[&state[..], &reads.types].concat());
        let own = all_params(&mut b, 0..1 + n);
        let start = reads.embed(&mut b, &fold.start, &[], 1 + n);
        let results = own[1..].iter().zip(start);
        let results: Vec<TermId> = results.map(|(x, s)| b.cond(own[0], *x, s)).collect();
        builder.map(&inputs(&folded, &reads.columns), b.finish(&results))
    }
}

impl SegmentFold<'_> {
    fn run(&self, data: &Arc<Node>, fold: Fold) -> Arc<Node> {
        let lengths = &self.level.lengths;
        match self.scan {
            Some(kind) => self
                .builder
                .scan(Domain::Segments(lengths, data), fold, kind),
            None => self.builder.fold(Domain::Segments(lengths, data), fold),
        }
    }

    /// An associative operator with per-segment operands. They are part of the state, and the right
    /// operand supplies them.
    fn carrying(&self, step: &Reads) -> Arc<Node> {
        let (b, n) = (self.builder, self.element.len());
        let elements = b.zip(&inputs(self.data, &step.columns));
        let state = elements.types.clone();
        let width = state.len();
        let start = match self.fold.style {
            FoldStyle::First => Body::default(),
            _ => {
                let mut b = BodyBuilder::new(&[]);
                let mut fields = b.embed(&self.fold.start, &[]).unwrap_or_default();
                fields.extend(step.types.iter().map(|t| b.lit(Const::zero(*t))));
                b.finish(&fields)
            }
        };
        let mut body = BodyBuilder::new(&[&state[..], &state[..]].concat());
        let own = all_params(&mut body, 0..2 * width);
        let (left, right) = own.split_at(width);
        let params: Vec<TermId> = left[..n].iter().chain(&right[..n]).copied().collect();
        let mut results = step.embed(&mut body, &self.fold.step, &params, width + n);
        results.extend(&right[n..]);
        let folded = self.run(
            &elements,
            Fold {
                start,
                step: body.finish(&results),
                style: self.fold.style.clone(),
            },
        );
        b.fields(&folded, 0..n as u32)
    }

    /// A step that adds elements to a state, with per-segment operands.
    fn stepping(&self, step: &Reads) -> Arc<Node> {
        let params: Vec<Ty> = [&self.state[..], &self.element].concat();
        let fold = Fold {
            start: self.fold.start.clone(),
            step: step.behind(&self.fold.step, &params),
            style: self.fold.style.clone(),
        };
        self.run(&self.builder.zip(&inputs(self.data, &step.columns)), fold)
    }
}

/// The state, or the start if the count is zero.
fn begun(
    b: &mut BodyBuilder,
    reads: &Reads,
    fold: &Fold,
    (count, first): (TermId, usize),
    state: &[TermId],
) -> Vec<TermId> {
    let start = reads.embed(b, &fold.start, &[], first);
    let zero = b.lit(Const::u64(0));
    let none = b.op(Op::Eq, &[count, zero]);
    let both = start.into_iter().zip(state);
    both.map(|(s, x)| b.cond(none, s, *x)).collect()
}

fn inputs(data: &Arc<Node>, columns: &[Arc<Node>]) -> Vec<Arc<Node>> {
    [data].into_iter().chain(columns).cloned().collect()
}
