//! Kept elements that stay in their segment: one loop keeps them and reads them at an index.
//!
//! The segment's kept elements are in scratch memory while the loop is at the segment. That holds for
//! reads in step with the kept segments, and for reads at the segment's offset plus an index. The
//! library makes such reads for indices below the segment's length only.

use super::{ClassId, ClassKind, Rates};
use crate::ast::{Assert, Body, Capture, Kind, ScanKind, Term, TermId};
use crate::sharing::{FieldRef, Graph, NodeId};
use loop_lang::op::Op;
use std::iter;

/// The maximal number of maps and expansions from an offset to its use.
const MOST_STEPS: usize = 16;

/// Returns the index within a segment of a read at the segment's offset.
///
/// The second result has the lengths of the segments. An index of none is 0.
pub fn within_segment(
    graph: &Graph,
    id: NodeId,
    body: &Body,
    index: TermId,
) -> Option<(Option<TermId>, FieldRef)> {
    let begins = |t: TermId| match body.terms[t.index()].term {
        Term::Param(k) => column(graph, id, k).and_then(|field| cut_by(graph, field)),
        _ => None,
    };
    if let Some(lengths) = begins(index) {
        return Some((None, lengths));
    }
    let Term::Op(Op::Add, args) = body.terms[index.index()].term else {
        return None;
    };
    match [begins(args[0]), begins(args[1])] {
        [Some(lengths), None] => Some((Some(args[1]), lengths)),
        [None, Some(lengths)] => Some((Some(args[0]), lengths)),
        _ => None,
    }
}

/// The field of a node's inputs that a parameter of its last body stands for.
fn column(graph: &Graph, id: NodeId, param: u32) -> Option<FieldRef> {
    let node = &graph.nodes[id.index()];
    let first = node.node.kind.facts().columns?;
    let mut columns = node.inputs.iter().flat_map(|i| graph.fields(*i));
    let column = columns.nth(param as usize);
    column.filter(|_| param >= first)
}

/// The lengths of the segments whose offsets a field has.
///
/// The offsets are a running sum of the lengths. They may be checked, and repeated for elements.
fn cut_by(graph: &Graph, mut field: FieldRef) -> Option<FieldRef> {
    for _ in 0..MOST_STEPS {
        let node = &graph.nodes[field.0.index()];
        field = match &node.node.kind {
            _ if node.leaf => return None,
            Kind::Scan(fold, ScanKind::Exclusive) => {
                let step = &fold.step;
                let is_sum = matches!(step.results[..], [t] if is_op(step, t, Op::Add));
                return is_sum.then(|| graph.resolve(node.inputs[0], 0));
            }
            Kind::Map(body) | Kind::Expand(body) => {
                let result = *body.results.get(field.1 as usize)?;
                let Term::Param(k) = body.terms[checked(body, result).index()].term else {
                    return None;
                };
                column(graph, field.0, k)?
            }
            _ => return None,
        };
    }
    None
}

/// The offset behind a check that its segment fits: `offset + (fits(length, room) - length)`.
fn checked(body: &Body, offset: TermId) -> TermId {
    let term = |t: TermId| body.terms[t.index()].term;
    if let Term::Op(Op::Add, args) = term(offset)
        && let Term::Op(Op::Sub, more) = term(args[1])
        && let Term::Assert(Assert::Fits, fits) = term(more[0])
        && fits[0] == more[1]
    {
        return args[0];
    }
    offset
}

/// Holds the fields that a node takes from scratch memory.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    /// As its inputs, in step with the kept segments.
    pub in_step: Vec<FieldRef>,
    /// From its closure, at an index within the segment.
    pub at_an_index: Vec<FieldRef>,
}

impl Taken {
    /// Lists all of them.
    pub fn all(self) -> Vec<FieldRef> {
        [self.in_step, self.at_an_index].concat()
    }
}

fn is_op(body: &Body, t: TermId, op: Op) -> bool {
    matches!(body.terms[t.index()].term, Term::Op(own, _) if own == op)
}

impl Rates {
    /// Tells whether a loop may pass kept elements to a later pass.
    ///
    /// Scratch memory for one segment is as long as all segments together, which are in memory. The
    /// segments are in no other segments: several passes over these would use the memory in turn.
    pub fn passes(&self, graph: &Graph, kept: NodeId, class: ClassId) -> bool {
        let is_apart = |c: &ClassId| self.is_apart(graph, *c, class);
        self.output(kept).filter(is_apart).is_some_and(|made| {
            let all = self.loop_class(made);
            let around = self.parent(all).map(|c| self.loop_class(c));
            self.in_memory(all).is_some()
                && self.parent(all) == self.parent(class)
                && around.is_some_and(|c| self.parent(c).is_none())
                && !self.is_appended(all)
                && self.cursors_of(kept).is_none()
        })
    }

    /// Lists the fields that a node may take from scratch memory for a segment.
    pub fn taken(&self, graph: &Graph, id: NodeId) -> Taken {
        let node = &graph.nodes[id.index()];
        let mut taken = Taken::default();
        if !self.apart || node.leaf || self.cursors_of(id).is_some() {
            return taken;
        }
        for (k, input) in node.inputs.iter().enumerate() {
            for field in 0..graph.node(*input).types.len() as u32 {
                let named = self.consumed(graph, id, k, field);
                let is_kept = |c| self.passes(graph, named.field.0, c) && named.zip.is_none();
                let kept = named.unfused_at.filter(|c| is_kept(*c));
                taken.in_step.extend(kept.map(|_| named.field));
            }
        }
        if !node.node.kind.facts().by_field {
            return taken;
        }
        for (body, captures) in node.node.kind.bodies().into_iter().zip(&node.captures) {
            for (k, n) in (0..).zip(captures) {
                if let Capture::Array(_) = body.captures[k as usize] {
                    let stays = |f: &FieldRef| self.stays(graph, (id, body), k, f.0);
                    let fields = graph.fields(*n).into_iter().filter(stays);
                    taken.at_an_index.extend(fields);
                }
            }
        }
        taken
    }

    /// Whether all of a body's reads of an array of kept elements are in the current segment.
    fn stays(&self, graph: &Graph, (id, body): (NodeId, &Body), array: u32, kept: NodeId) -> bool {
        let is_around = |lengths: FieldRef| {
            let around = iter::successors(self.runs_at(id), |c| self.parent(*c));
            let mut nested = around.filter(|c| self.passes(graph, kept, *c));
            nested.any(|c| matches!(self.kind(c), ClassKind::Nested(_, by) if by == lengths))
        };
        body.terms.iter().all(|data| match data.term {
            Term::At {
                capture,
                index,
                checked,
                ..
            } if capture == array => {
                let within = within_segment(graph, id, body, index);
                !checked && within.is_some_and(|(_, lengths)| is_around(lengths))
            }
            _ => true,
        })
    }
}
