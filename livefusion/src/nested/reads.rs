//! Bodies over all segments: their captures of a segment become extra parameters.

use super::lift::{Lift, Lifted, Name, Rows};
use super::stream::{Follow, SegmentStream};
use crate::ast::{Assert, Axis, Body, BodyBuilder, Builder, Node, RowLevel, Term, TermId, Types};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The maximal number of arrays that are inlined into a body.
const MOST: usize = 8;
/// The maximal number of terms of an inlined array.
const MOST_TERMS: usize = 256;

/// Selects the place where a body runs.
#[derive(Clone)]
pub(super) enum BodyPlace {
    /// Once for each segment.
    Segment,
    /// For each element of segments of these lengths.
    Element(Arc<Node>),
    /// For each element of nested segments, with outer and inner lengths.
    Inner(Arc<Node>, Arc<Node>),
}

/// Holds the per-segment captures of bodies as extra parameters.
pub(super) struct Reads {
    /// The arrays of these parameters, at the place of the bodies.
    pub(super) columns: Vec<Arc<Node>>,
    /// The types of their fields.
    pub(super) types: Types,
    entries: FxHashMap<Name, CapturedForm>,
}

/// The form of a captured node. Parameters are numbered from the first extra one.
enum CapturedForm {
    /// The fields of a delayed scalar, from this parameter on.
    Each(u32),
    /// A number that all segments have.
    Uniform(Axis),
    /// An array, with its offset and its length.
    Rows {
        offset: u32,
        len: ReadLength,
        data: Arc<Node>,
    },
    /// Maps of arrays and index functions. Each element is computed at its read, so an element
    /// without a read cannot trap.
    Computed {
        stream: SegmentStream,
        offsets: Vec<u32>,
        len: ReadLength,
        data: Vec<Arc<Node>>,
    },
}

/// The length of a captured array.
#[derive(Clone)]
enum ReadLength {
    Param(u32),
    /// All segments have it.
    Uniform(Axis),
}

impl Lift {
    /// Collects the per-segment captures of bodies at a place.
    pub(super) fn reads(&mut self, b: Builder, bodies: &[&Body], place: &BodyPlace) -> Reads {
        let mut reads = Reads {
            columns: Vec::new(),
            types: Types::new(),
            entries: FxHashMap::default(),
        };
        let mut known: Vec<Body> = bodies.iter().map(|body| (*body).clone()).collect();
        let mut computed_so_far = 0;
        let captures = bodies.iter().flat_map(|body| &body.captures);
        let mut rest: Vec<Arc<Node>> = captures.map(|c| c.node().clone()).collect();
        rest.reverse();
        while let Some(node) = rest.pop() {
            let name = Arc::as_ptr(&node);
            if reads.entries.contains_key(&name) {
                continue;
            }
            let computed = match computed_so_far < MOST {
                true => self.computed(&known, &node),
                false => None,
            };
            let entry = match self.lifted(&node) {
                Lifted::Same(_) => continue,
                Lifted::Each(each) => match Axis::of_rows(&each) {
                    Some(one) => CapturedForm::Uniform(one),
                    None => CapturedForm::Each(reads.column(self.at(b, place, &each))),
                },
                Lifted::Rows(rows) if let Some((stream, data)) = computed => {
                    computed_so_far += 1;
                    for body in stream.bodies() {
                        rest.extend(body.captures.iter().map(|c| c.node().clone()));
                        known.push(body.clone());
                    }
                    let mut offsets = Vec::new();
                    for data in &data {
                        let rows = Rows {
                            lengths: rows.lengths.clone(),
                            data: data.clone(),
                        };
                        let begin = self.offsets(b, &rows);
                        offsets.push(reads.column(self.at(b, place, &begin)));
                    }
                    CapturedForm::Computed {
                        stream,
                        offsets,
                        len: self.read_length(b, place, &rows.lengths, &mut reads),
                        data,
                    }
                }
                Lifted::Rows(rows) => {
                    let offsets = self.offsets(b, &rows);
                    CapturedForm::Rows {
                        offset: reads.column(self.at(b, place, &offsets)),
                        len: self.read_length(b, place, &rows.lengths, &mut reads),
                        data: rows.data,
                    }
                }
            };
            reads.entries.insert(name, entry);
        }
        reads
    }

    /// The lengths of captured arrays: a column, or one number.
    fn read_length(
        &mut self,
        b: Builder,
        place: &BodyPlace,
        lengths: &Arc<Node>,
        reads: &mut Reads,
    ) -> ReadLength {
        match Axis::of_rows(lengths) {
            Some(one) => ReadLength::Uniform(one),
            None => ReadLength::Param(reads.column(self.at(b, place, lengths))),
        }
    }

    /// The stream and the data of an array that should be inlined. Bodies must read it at one
    /// index. Storing its elements first could trap, or need another loop.
    pub(super) fn computed(
        &self,
        bodies: &[Body],
        array: &Arc<Node>,
    ) -> Option<(SegmentStream, Vec<Arc<Node>>)> {
        let mut indices: Vec<(usize, TermId)> = Vec::new();
        for (k, body) in bodies.iter().enumerate() {
            for data in &body.terms {
                if let Term::At { capture, index, .. } = data.term
                    && Arc::ptr_eq(body.captures[capture as usize].node(), array)
                {
                    indices.push((k, index));
                }
            }
        }
        indices.dedup();
        let stream = self.stream(array, Follow::Functions);
        let serves = stream.may_trap() || stream.has_function() && !stream.is_costly();
        let terms: usize = stream.bodies().iter().map(|b| b.terms.len()).sum();
        if indices.len() != 1 || stream.is_source() || !serves || terms > MOST_TERMS {
            return None;
        }
        let Lifted::Rows(rows) = self.lifted(array) else {
            return None;
        };
        let is_own = |lengths: &Arc<Node>| Arc::ptr_eq(lengths, &rows.lengths);
        let data = stream.sources().iter().map(|s| match self.lifted(s) {
            Lifted::Rows(of) if is_own(&of.lengths) => Some(of.data),
            _ => None,
        });
        let data: Option<Vec<Arc<Node>>> = data.collect();
        Some((stream, data?))
    }

    /// Per-segment values at a place.
    pub(super) fn at(&mut self, b: Builder, place: &BodyPlace, each: &Arc<Node>) -> Arc<Node> {
        match place {
            BodyPlace::Segment => each.clone(),
            BodyPlace::Element(lengths) => self.spread(b, lengths, each),
            BodyPlace::Inner(outer, inner) => {
                let each = self.spread(b, outer, each);
                self.spread(b, inner, &each)
            }
        }
    }

    /// A map at a place, with inputs of that place. Without inputs it maps the captures of its
    /// body.
    pub(super) fn map_at(
        &mut self,
        b: Builder,
        place: &BodyPlace,
        inputs: &[Arc<Node>],
        body: &Body,
    ) -> Arc<Node> {
        let reads = self.reads(b, &[body], place);
        let body = reads.behind(body, &body.params.clone());
        let inputs: Vec<Arc<Node>> = inputs.iter().chain(&reads.columns).cloned().collect();
        let mut mapped = b.map(&inputs, body);
        match place {
            BodyPlace::Segment => self.of_rows(&mut mapped, RowLevel::Row, None),
            BodyPlace::Element(lengths) => {
                self.of_rows(&mut mapped, RowLevel::Element, Some(lengths));
            }
            BodyPlace::Inner(..) => self.of_rows(&mut mapped, RowLevel::Inner, None),
        }
        mapped
    }
}

impl Reads {
    /// The first parameter of a column, which is added if it is new.
    fn column(&mut self, column: Arc<Node>) -> u32 {
        let mut first = 0;
        for known in &self.columns {
            if Arc::ptr_eq(known, &column) {
                return first;
            }
            first += known.types.len() as u32;
        }
        self.types.extend_from_slice(&column.types);
        self.columns.push(column);
        first
    }

    /// Whether there are no extra parameters.
    pub(super) fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// A body with these parameters, followed by the extra ones.
    pub(super) fn behind(&self, body: &Body, params: &[Ty]) -> Body {
        if self.entries.is_empty() {
            return body.clone();
        }
        let types: Types = params.iter().chain(&self.types).copied().collect();
        let mut b = BodyBuilder::new(&types);
        let own = all_params(&mut b, 0..params.len());
        let results = self.embed(&mut b, body, &own, params.len());
        b.finish(&results)
    }

    /// Embeds a body into another. The extra parameters begin at `first`.
    pub(super) fn embed(
        &self,
        b: &mut BodyBuilder,
        body: &Body,
        params: &[TermId],
        first: usize,
    ) -> Vec<TermId> {
        let first = first as u32;
        let results = b.embed_with(body, params, &mut |b, capture, field, at| {
            let entry = self.entries.get(&Arc::as_ptr(capture.node()));
            match (entry, at) {
                (Some(CapturedForm::Each(k)), None) => b.param(first + k + field),
                (Some(CapturedForm::Uniform(one)), None) => one.number(b),
                (Some(CapturedForm::Rows { offset, len, data }), Some((index, checked))) => {
                    let index = inside(b, index, len, first, checked);
                    let begin = b.param(first + offset);
                    let there = b.op(Op::Add, &[begin, index]);
                    b.at(data, field, there, false)
                }
                (
                    Some(CapturedForm::Computed {
                        stream,
                        offsets,
                        len,
                        data,
                    }),
                    Some((index, checked)),
                ) => {
                    let index = inside(b, index, len, first, checked);
                    let mut fields = Vec::new();
                    for (offset, data) in offsets.iter().zip(data) {
                        let begin = b.param(first + offset);
                        let there = b.op(Op::Add, &[begin, index]);
                        let all = 0..data.types.len() as u32;
                        fields.extend(all.map(|f| b.at(data, f, there, false)));
                    }
                    let results = stream.mapped(b, self, &fields, (first as usize, Some(index)));
                    let none = index;
                    results.get(field as usize).copied().unwrap_or(none)
                }
                (_, None) => b.scalar(capture.node(), field),
                (_, Some((index, checked))) => b.at(capture.node(), field, index, checked),
            }
        });
        results.unwrap_or_default()
    }
}

/// An index, with a bounds check against a length if `checked` is set. The extra parameters begin
/// at `first`.
fn inside(
    b: &mut BodyBuilder,
    index: TermId,
    len: &ReadLength,
    first: u32,
    checked: bool,
) -> TermId {
    if !checked {
        return index;
    }
    let len = match len {
        ReadLength::Param(k) => b.param(first + k),
        ReadLength::Uniform(one) => one.number(b),
    };
    b.ensure(Assert::Below, &[index, len])
}

/// A range of a body's parameters.
pub(super) fn all_params(b: &mut BodyBuilder, range: std::ops::Range<usize>) -> Vec<TermId> {
    range.map(|k| b.param(k as u32)).collect()
}
