//! `take` and `take_while` in segments. What lies behind the end is not computed where computing it could fail: a test in
//! order decides first.

use super::folds::Level;
use super::lift::{Lift, Lifted, Name, packed, rows};
use super::reads::{Place, Reads, all_params};
use crate::array::{literal, operator};
use crate::ast::{
    Body, BodyBuilder, Builder, Fold, FoldStyle, Kind, Node, ScanKind, TermId, Types, may_trap,
};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What is computed of elements one by one, from arrays that are not.
struct Region {
    /// In order; the last one is the result. None if it is a source itself.
    nodes: Vec<Arc<Node>>,
    sources: Vec<Arc<Node>>,
}

impl Region {
    fn bodies(&self) -> Vec<&Body> {
        let body = self.nodes.iter().filter_map(|n| match &n.kind {
            Kind::Map(body) => Some(body),
            _ => None,
        });
        body.collect()
    }

    /// The fields of the result, from those of the sources.
    fn embed(
        &self,
        b: &mut BodyBuilder,
        reads: &Reads,
        sources: &[TermId],
        first: usize,
    ) -> Vec<TermId> {
        let mut known: FxHashMap<Name, Vec<TermId>> = FxHashMap::default();
        let mut rest = sources;
        for source in &self.sources {
            let (own, others) = rest.split_at(source.types.len().min(rest.len()));
            known.insert(Arc::as_ptr(source), own.to_vec());
            rest = others;
        }
        let mut last = sources.to_vec();
        for node in &self.nodes {
            let inputs = node.inputs.iter();
            let fields: Vec<TermId> = inputs
                .flat_map(|i| known.get(&Arc::as_ptr(i)).cloned().unwrap_or_default())
                .collect();
            last = match &node.kind {
                Kind::Map(body) => reads.embed(b, body, &fields, first),
                Kind::Fields(range) => fields[range.start as usize..range.end as usize].to_vec(),
                _ => fields,
            };
            known.insert(Arc::as_ptr(node), last.clone());
        }
        last
    }
}

impl Lift {
    fn region(&self, of: &Arc<Node>) -> Region {
        let mut region = Region {
            nodes: Vec::new(),
            sources: Vec::new(),
        };
        let mut seen: FxHashMap<Name, ()> = FxHashMap::default();
        let mut stack = vec![(of.clone(), false)];
        while let Some((node, ready)) = stack.pop() {
            if ready {
                region.nodes.push(node);
                continue;
            }
            if seen.insert(Arc::as_ptr(&node), ()).is_some() {
                continue;
            }
            let is_map = matches!(node.kind, Kind::Map(_) | Kind::Zip | Kind::Fields(_));
            if !is_map || node.is_leaf() || self.is_same(&node) {
                region.sources.push(node);
                continue;
            }
            let inputs: Vec<Arc<Node>> = node.inputs.iter().cloned().collect();
            stack.push((node, true));
            stack.extend(inputs.into_iter().map(|n| (n, false)));
        }
        region
    }

    /// The sources of a region in step, and the lengths.
    fn sources(
        &mut self,
        b: Builder,
        of: &Arc<Node>,
        region: &Region,
    ) -> (Arc<Node>, Vec<Arc<Node>>) {
        let lengths = self.rows_of(b, of).lengths;
        let sources = region.sources.iter();
        let sources = sources.map(|s| {
            let lifted = self.lifted(s);
            self.aligned(b, &lifted, &lengths)
        });
        (lengths.clone(), sources.collect())
    }

    /// The elements before the first one of each segment that fails a test.
    pub(super) fn take_while(
        &mut self,
        b: Builder,
        of: &Arc<Node>,
        test: &Body,
        inclusive: bool,
    ) -> Lifted {
        let region = self.region(of);
        let traps = |body: &&Body| {
            let mut terms = body.terms.iter();
            terms.any(|t| may_trap(&t.term, t.ty, |_| false))
        };
        if region.bodies().iter().chain([&test]).any(traps) {
            return self.take_while_in_order(b, of, &region, test, inclusive);
        }
        let all = self.rows_of(b, of);
        let place = Place::Element(all.lengths.clone());
        let goes_on = self.map_at(b, &place, std::slice::from_ref(&all.data), test);
        let both = Fold {
            start: literal(true),
            step: operator(Op::And, Ty::Bool),
            style: FoldStyle::Associative,
        };
        let kind = match inclusive {
            true => ScanKind::Exclusive,
            false => ScanKind::Inclusive,
        };
        let kept = b.scan_s(&all.lengths, &goes_on, both, kind);
        packed(b, &all.lengths, &all.data, &kept)
    }

    /// As [`Lift::take_while`], where what lies behind may fail: elements are computed in order, as long as the segment
    /// goes on.
    fn take_while_in_order(
        &mut self,
        builder: Builder,
        of: &Arc<Node>,
        region: &Region,
        test: &Body,
        inclusive: bool,
    ) -> Lifted {
        let (lengths, sources) = self.sources(builder, of, region);
        let mut bodies = region.bodies();
        bodies.push(test);
        let reads = self.reads(builder, &bodies, &Place::Element(lengths.clone()));
        let inputs: Vec<Arc<Node>> = sources.iter().chain(&reads.columns).cloned().collect();
        let elements = builder.zip(&inputs);
        // Whether it goes on, whether this element is one, its fields.
        let state: Types = [Ty::Bool; 2].iter().chain(&of.types).copied().collect();
        let (n, width) = (state.len(), elements.types.len() - reads.types.len());
        let mut b = BodyBuilder::new(&[&state[..], &elements.types].concat());
        let own = all_params(&mut b, 0..n + width);
        let goes_on = own[0];
        let fields = region.embed(&mut b, &reads, &own[n..], n + width);
        let tested = reads.embed(&mut b, test, &fields, n + width);
        let no = b.lit(Const::bool(false));
        let next: Vec<TermId> = tested.into_iter().map(|t| b.cond(goes_on, t, no)).collect();
        let kept = match (inclusive, next.as_slice()) {
            (false, [next]) => *next,
            _ => goes_on,
        };
        let mut results = next;
        results.push(kept);
        for (x, ty) in fields.into_iter().zip(&of.types) {
            let none = b.lit(Const::zero(*ty));
            results.push(b.cond(goes_on, x, none));
        }
        let mut start = BodyBuilder::new(&[]);
        let mut from = vec![start.lit(Const::bool(true))];
        from.extend(state[1..].iter().map(|t| start.lit(Const::zero(*t))));
        let start = start.finish(&from);
        let fold = Fold {
            start,
            step: b.finish(&results),
            style: FoldStyle::Sequential,
        };
        let level = Level::outer(lengths.clone());
        let scanned = self.fold(builder, &fold, &level, &elements, Some(ScanKind::Inclusive));
        let kept = builder.fields(&scanned, 1..2);
        let data = builder.fields(&scanned, 2..n as u32);
        packed(builder, &lengths, &data, &kept)
    }

    /// The first elements of each segment. What is computed of elements one by one is computed behind.
    pub(super) fn take(&mut self, builder: Builder, of: &Arc<Node>, n: &Body) -> Lifted {
        let region = self.region(of);
        let (lengths, sources) = self.sources(builder, of, &region);
        let reads = self.reads(builder, &[n], &Place::Segment);
        let types: Vec<Ty> = [&[Ty::U64], &reads.types[..]].concat();
        let mut b = BodyBuilder::new(&types);
        let index = b.param(0);
        let n = reads.embed(&mut b, n, &[], 1);
        let args: Vec<TermId> = [index].into_iter().chain(n).collect();
        let is_first = b.op(Op::Lt, &args);
        let tags = builder.expand(&lengths, &reads.columns, b.finish(&[is_first]));
        let all = builder.zip(&sources);
        let (data, taken) = (builder.pack(&all, &tags), builder.count_s(&lengths, &tags));
        if region.nodes.is_empty() {
            return rows(taken, data);
        }
        let bodies = region.bodies();
        let reads = self.reads(builder, &bodies, &Place::Element(taken.clone()));
        let mut b = BodyBuilder::new(&[&all.types[..], &reads.types].concat());
        let own = all_params(&mut b, 0..all.types.len());
        let results = region.embed(&mut b, &reads, &own, all.types.len());
        let inputs: Vec<Arc<Node>> = [&data].into_iter().chain(&reads.columns).cloned().collect();
        let data = builder.map(&inputs, b.finish(&results));
        rows(taken, data)
    }
}
