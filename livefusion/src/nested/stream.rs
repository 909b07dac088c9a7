//! Streams: fuses code before an early exit of a segment into one guarded scan.
//!
//! A stream consists of maps, filters, scans and early exits over one segment. As a sequential scan
//! it computes an element only while no exit was taken. The scan's state has a flag or a count for
//! each exit, the state of each inner scan, and the current output element with a validity flag.
//! All trapping code is in the arm of a condition. The condition holds while no exit was taken and
//! the preceding filters pass the element.

use super::lift::{Lift, Lifted, Name};
use super::reads::{BodyPlace, Reads, all_params};
use crate::ast::{
    Body, BodyBuilder, Builder, Fold, FoldStyle, Kind, Node, RowLevel, ScanKind, Term, TermId,
    Types,
};
use crate::over::Domain;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The maximal number of combinators in one scan.
const MOST: usize = 64;

/// Selects the kinds of nodes that belong to a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Follow {
    /// Maps only.
    Maps,
    /// Index functions, too. Then any element can be computed from its index.
    Functions,
    /// Filters, scans and early exits, too.
    Streams,
}

/// A stream of elements of each segment.
pub(super) struct SegmentStream {
    /// In dependency order; the last one is the result. Empty if the result is a source.
    nodes: Vec<Arc<Node>>,
    sources: Vec<Arc<Node>>,
    /// The lengths of the segments of some source.
    lengths: Option<Arc<Node>>,
}

/// An element at one point of a stream.
#[derive(Clone)]
struct StreamElement {
    fields: Vec<TermId>,
    /// Whether the element exists.
    present: TermId,
}

impl SegmentStream {
    /// All bodies that the stream computes.
    pub(super) fn bodies(&self) -> Vec<&Body> {
        let mut all = Vec::new();
        for node in &self.nodes {
            match &node.kind {
                // The length is known before the stream runs.
                Kind::Generate(_, body) => all.push(body),
                kind => all.extend(kind.bodies()),
            }
        }
        all
    }

    pub(super) fn sources(&self) -> &[Arc<Node>] {
        &self.sources
    }

    /// Whether the stream computes nothing.
    pub(super) fn is_source(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Whether computing an element may trap.
    pub(super) fn may_trap(&self) -> bool {
        self.bodies().into_iter().any(Body::may_trap)
    }

    /// The fields of each source, split from the fields of all sources.
    fn of_sources(&self, fields: &[TermId]) -> FxHashMap<Name, Vec<TermId>> {
        let mut rest = fields;
        let mut split = |source: &Arc<Node>| {
            let (own, others) = rest.split_at(source.types.len().min(rest.len()));
            rest = others;
            (Arc::as_ptr(source), own.to_vec())
        };
        self.sources.iter().map(&mut split).collect()
    }

    /// Whether an element is too costly to compute twice.
    pub(super) fn is_costly(&self) -> bool {
        let mut terms = self.bodies().into_iter().flat_map(|body| &body.terms);
        terms.any(|t| match t.term {
            Term::Op(op, _) => op.is_costly(),
            Term::LoopResult(..) => true,
            _ => false,
        })
    }

    /// Whether the stream contains an index function.
    pub(super) fn has_function(&self) -> bool {
        let mut kinds = self.nodes.iter().map(|n| &n.kind);
        kinds.any(|kind| matches!(kind, Kind::Generate(..)))
    }

    /// The fields of the result of maps and index functions, from the sources' fields at that
    /// index.
    pub(super) fn mapped(
        &self,
        b: &mut BodyBuilder,
        reads: &Reads,
        sources: &[TermId],
        (first, index): (usize, Option<TermId>),
    ) -> Vec<TermId> {
        let mut known = self.of_sources(sources);
        let mut last = sources.to_vec();
        for node in &self.nodes {
            let fields = node
                .inputs
                .iter()
                .filter_map(|i| known.get(&Arc::as_ptr(i)));
            let fields: Vec<TermId> = fields.flatten().copied().collect();
            last = match (&node.kind, index) {
                (Kind::Generate(_, body), Some(index)) => reads.embed(b, body, &[index], first),
                _ => map(b, reads, node, fields, first),
            };
            known.insert(Arc::as_ptr(node), last.clone());
        }
        last
    }
}

/// The fields of a map, or of a selection of fields.
fn map(
    b: &mut BodyBuilder,
    reads: &Reads,
    node: &Node,
    fields: Vec<TermId>,
    first: usize,
) -> Vec<TermId> {
    match &node.kind {
        Kind::Map(body) => reads.embed(b, body, &fields, first),
        Kind::Fields(range) => {
            let range = range.start as usize..range.end as usize;
            fields.get(range).unwrap_or_default().to_vec()
        }
        _ => fields,
    }
}

impl Lift {
    /// The stream that ends in a node.
    pub(super) fn stream(&self, of: &Arc<Node>, follow: Follow) -> SegmentStream {
        let mut stream = SegmentStream {
            nodes: Vec::new(),
            sources: Vec::new(),
            lengths: None,
        };
        // For each visited node: the node that selects its elements.
        let mut selectors: FxHashMap<Name, Option<Name>> = FxHashMap::default();
        let mut stack = vec![(of.clone(), false)];
        let mut entered = 0;
        while let Some((node, ready)) = stack.pop() {
            let name = Arc::as_ptr(&node);
            if selectors.contains_key(&name) {
                continue;
            }
            let is_first = Arc::ptr_eq(&node, of);
            let is_met = !ready && entered < MOST && (is_first || !self.is_same(&node));
            if is_met && self.follows(&node, follow) {
                entered += 1;
                let inputs: Vec<Arc<Node>> = node.inputs.iter().cloned().collect();
                stack.push((node, true));
                stack.extend(inputs.into_iter().rev().map(|n| (n, false)));
                continue;
            }
            let mut by = node.inputs.iter().map(|i| selectors.get(&Arc::as_ptr(i)));
            let first = by.next().flatten().copied().flatten();
            if ready && by.all(|other| other == Some(&first)) {
                let selects = matches!(
                    node.kind,
                    Kind::Filter(_) | Kind::Pack | Kind::TakeWhile { .. } | Kind::Take(_)
                );
                selectors.insert(name, if selects { Some(name) } else { first });
                stream.nodes.push(node);
            } else {
                selectors.insert(name, None);
                stream.sources.push(node);
            }
        }
        self.needed(of, &mut stream);
        stream
    }

    /// Removes nodes that the result does not need. An index function with other lengths than the
    /// stream becomes a source.
    fn needed(&self, of: &Arc<Node>, stream: &mut SegmentStream) {
        let mut needed = vec![Arc::as_ptr(of)];
        let mut nodes = Vec::new();
        while let Some(node) = stream.nodes.pop() {
            if needed.contains(&Arc::as_ptr(&node)) {
                needed.extend(node.inputs.iter().map(Arc::as_ptr));
                nodes.push(node);
            }
        }
        nodes.reverse();
        stream.nodes = nodes;
        stream.sources.retain(|s| needed.contains(&Arc::as_ptr(s)));
        let is_function = |n: &&Arc<Node>| matches!(n.kind, Kind::Generate(..));
        let functions: Vec<Arc<Node>> = stream.nodes.iter().filter(is_function).cloned().collect();
        let mut lengths = stream.sources.iter().chain(&functions);
        stream.lengths = lengths.find_map(|n| self.own_lengths(n));
        for function in functions {
            let in_step = match (&stream.lengths, self.own_lengths(&function)) {
                (Some(lengths), Some(own)) => Arc::ptr_eq(lengths, &own),
                _ => true,
            };
            if !in_step {
                stream.nodes.retain(|n| !Arc::ptr_eq(n, &function));
                stream.sources.push(function);
            }
        }
    }

    fn own_lengths(&self, node: &Arc<Node>) -> Option<Arc<Node>> {
        match self.lifted(node) {
            Lifted::Rows(rows) => Some(rows.lengths),
            _ => None,
        }
    }

    /// Whether the stream includes a node and continues to its inputs.
    fn follows(&self, node: &Arc<Node>, follow: Follow) -> bool {
        let streams = follow == Follow::Streams;
        let functions = follow != Follow::Maps;
        match &node.kind {
            _ if node.is_leaf() || node.error.is_some() || self.is_given(node) => false,
            Kind::Map(_) | Kind::Zip | Kind::Fields(_) => true,
            Kind::Generate(..) => functions,
            Kind::Filter(_) | Kind::Pack => streams,
            Kind::TakeWhile { .. } | Kind::Take(_) => streams,
            Kind::Scan(fold, _) => {
                let mut captures = fold.start.captures.iter();
                streams && captures.all(|c| self.is_same(c.node()))
            }
            _ => false,
        }
    }

    /// The sources of a stream, aligned elementwise, and the lengths of their segments.
    pub(super) fn sources(
        &mut self,
        b: Builder,
        stream: &SegmentStream,
    ) -> (Arc<Node>, Vec<Arc<Node>>) {
        let lengths = match (&stream.lengths, stream.sources.first()) {
            (Some(lengths), _) => lengths.clone(),
            (None, Some(source)) => self.rows_of(b, source).lengths,
            (None, None) => self.segments.clone(),
        };
        let mut sources = Vec::new();
        for source in &stream.sources {
            let lifted = self.lifted(source);
            sources.push(self.aligned(b, &lifted, &lengths));
        }
        (lengths, sources)
    }

    /// Builds the scan of a stream. Returns its valid output elements.
    pub(super) fn in_order(&mut self, builder: Builder, stream: &SegmentStream) -> Lifted {
        let (lengths, mut sources) = self.sources(builder, stream);
        sources.push(self.indices(builder, &lengths));
        let reads = self.reads(
            builder,
            &stream.bodies(),
            &BodyPlace::Element(lengths.clone()),
        );
        let inputs: Vec<Arc<Node>> = sources.iter().chain(&reads.columns).cloned().collect();
        let elements = builder.zip(&inputs);
        let Some(result) = stream.nodes.last() else {
            return Lifted::Same(builder.zip(&sources));
        };
        let own = |node: &Arc<Node>| -> Types {
            match &node.kind {
                Kind::TakeWhile { .. } => Types::from_slice(&[Ty::Bool]),
                Kind::Take(_) => Types::from_slice(&[Ty::U64]),
                Kind::Scan(..) => node.types.clone(),
                _ => Types::new(),
            }
        };
        // The validity flag of the output, its fields, then the states of nodes.
        let out = 1 + result.types.len();
        let mut state = Types::from_slice(&[Ty::Bool]);
        state.extend_from_slice(&result.types);
        stream.nodes.iter().for_each(|n| state.extend(own(n)));
        let width = elements.types.len() - reads.types.len();
        let first = state.len() + width;

        let mut b = BodyBuilder::new(&[&state[..], &elements.types].concat());
        let remembered = all_params(&mut b, 0..state.len());
        let given = all_params(&mut b, state.len()..first);
        let (given, index) = given.split_at(width - 1);
        let (yes, no) = (b.lit(Const::bool(true)), b.lit(Const::bool(false)));
        // Whether no exit was taken yet.
        let mut goes_on = yes;
        let mut at = out;
        for node in &stream.nodes {
            let more = match &node.kind {
                Kind::TakeWhile { .. } => remembered[at],
                Kind::Take(n) => {
                    let n = reads.embed(&mut b, n, &[], first);
                    let few: Vec<TermId> = [remembered[at]].into_iter().chain(n).collect();
                    b.op(Op::Lt, &few)
                }
                _ => yes,
            };
            goes_on = if goes_on == yes {
                more
            } else {
                b.cond(goes_on, more, no)
            };
            at += own(node).len();
        }
        let of_source = |(name, fields)| {
            let present = goes_on;
            (name, StreamElement { fields, present })
        };
        let known = stream.of_sources(given).into_iter().map(of_source);
        let mut known: FxHashMap<Name, StreamElement> = known.collect();
        let mut next = Vec::new();
        let mut last = StreamElement {
            fields: Vec::new(),
            present: goes_on,
        };
        let mut at = out;
        for node in &stream.nodes {
            let inputs = node
                .inputs
                .iter()
                .filter_map(|i| known.get(&Arc::as_ptr(i)));
            let inputs: Vec<StreamElement> = inputs.cloned().collect();
            let present = inputs.first().map_or(goes_on, |i| i.present);
            let fields: Vec<TermId> = inputs.iter().flat_map(|i| &i.fields).copied().collect();
            let mine = &remembered[at..at + own(node).len()];
            at += mine.len();
            last = match &node.kind {
                Kind::Generate(_, body) => StreamElement {
                    fields: reads.embed(&mut b, body, index, first),
                    present,
                },
                Kind::Filter(test) => {
                    let passes = one(&mut b, &reads, test, &fields, first);
                    let present = b.cond(present, passes, no);
                    StreamElement { fields, present }
                }
                Kind::Pack => {
                    let (tags, data) = fields.split_last().map_or((no, &[][..]), |(t, d)| (*t, d));
                    let fields = data.to_vec();
                    let present = b.cond(present, tags, no);
                    StreamElement { fields, present }
                }
                Kind::TakeWhile { test, inclusive } => {
                    let passes = one(&mut b, &reads, test, &fields, first);
                    next.push(b.cond(present, passes, mine[0]));
                    let present = match inclusive {
                        true => present,
                        false => b.cond(present, passes, no),
                    };
                    StreamElement { fields, present }
                }
                Kind::Take(_) => {
                    let step = b.lit(Const::u64(1));
                    let more = b.op(Op::Add, &[mine[0], step]);
                    next.push(b.cond(present, more, mine[0]));
                    StreamElement { fields, present }
                }
                Kind::Scan(fold, kind) => {
                    let params: Vec<TermId> = mine.iter().chain(&fields).copied().collect();
                    let joined = reads.embed(&mut b, &fold.step, &params, first);
                    for (new, old) in joined.iter().zip(mine) {
                        next.push(b.cond(present, *new, *old));
                    }
                    let fields = match kind {
                        ScanKind::Inclusive => joined,
                        ScanKind::Exclusive => mine.to_vec(),
                    };
                    StreamElement { fields, present }
                }
                _ => StreamElement {
                    fields: map(&mut b, &reads, node, fields, first),
                    present,
                },
            };
            known.insert(Arc::as_ptr(node), last.clone());
        }
        let mut results = vec![last.present];
        for (x, ty) in last.fields.iter().zip(&result.types) {
            let none = b.lit(Const::zero(*ty));
            results.push(b.cond(last.present, *x, none));
        }
        results.extend(next);
        let fold = Fold {
            start: stream.start(&state[..out]),
            step: b.finish(&results),
            style: FoldStyle::Sequential,
        };
        let mut scanned = builder.scan(
            Domain::Segments(&lengths, &elements),
            fold,
            ScanKind::Inclusive,
        );
        self.of_rows(&mut scanned, RowLevel::Element, Some(&lengths));
        let kept = builder.fields(&scanned, 0..1);
        let data = builder.fields(&scanned, 1..out as u32);
        self.packed(builder, &lengths, &data, &kept)
    }
}

impl SegmentStream {
    /// The state before the first element.
    fn start(&self, out: &[Ty]) -> Body {
        let mut b = BodyBuilder::new(&[]);
        let mut fields: Vec<TermId> = out.iter().map(|t| b.lit(Const::zero(*t))).collect();
        for node in &self.nodes {
            match &node.kind {
                Kind::TakeWhile { .. } => fields.push(b.lit(Const::bool(true))),
                Kind::Take(_) => fields.push(b.lit(Const::u64(0))),
                Kind::Scan(fold, _) => {
                    fields.extend(b.embed(&fold.start, &[]).unwrap_or_default());
                }
                _ => {}
            }
        }
        b.finish(&fields)
    }
}

/// The single result of a body.
fn one(b: &mut BodyBuilder, reads: &Reads, body: &Body, params: &[TermId], first: usize) -> TermId {
    let results = reads.embed(b, body, params, first);
    let none = b.lit(Const::bool(false));
    results.first().copied().unwrap_or(none)
}
