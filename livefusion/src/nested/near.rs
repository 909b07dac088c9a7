//! Neighbours in a segment: index functions that read an array some places away.
//!
//! Windows and shifts are such functions. The elements of a scan or of a costly map go from one pass
//! over a segment to the next. So an index function of them becomes a map of moved elements, and no
//! array is stored.

use super::lift::{Lift, Lifted, Name, rows};
use super::reads::BodyPlace;
use super::stream::Follow;
use crate::ast::{
    Axis, Body, BodyBuilder, Builder, Len, Move, Node, Term, TermId, Types, is_length, reversed,
};
use loop_lang::op::Op;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The most moved elements of an index function. More of them are read from memory.
const MOST: usize = 32;

/// The moved arrays of an index function.
#[derive(Default)]
struct Moved {
    /// The arrays, each with the first parameter of its fields.
    arrays: Vec<(Name, i64, u32)>,
    nodes: Vec<Arc<Node>>,
}

impl Lift {
    /// Lifts an index function of a segment's length, if it reads scans or costly maps at fixed
    /// distances.
    pub(super) fn neighbours(&mut self, b: Builder, len: &Len, body: &Body) -> Option<Lifted> {
        let Len::Delayed(n) = len else {
            return None;
        };
        let axis = Axis::delayed(n.clone());
        let reads = body.terms.iter().filter_map(|data| match data.term {
            Term::Scalar { .. } => Some(None),
            Term::At {
                capture,
                index,
                checked,
                ..
            } => {
                let by = distance(body, index, &axis).filter(|_| !checked);
                Some(Some((body.captures[capture as usize].node(), by)))
            }
            _ => None,
        });
        let reads: Vec<Option<(&Arc<Node>, Option<i64>)>> = reads.collect();
        let far = reads.iter().flatten().filter(|(_, by)| by.is_none());
        let far: FxHashSet<Name> = far.map(|(of, _)| Arc::as_ptr(of)).collect();
        let lengths = self.length(b, len);
        let mut params: Types = body.params.clone();
        let mut moved = Moved::default();
        for (of, by) in reads.iter().flatten() {
            let by = by.filter(|_| !far.contains(&Arc::as_ptr(of)));
            if let Some(by) = by
                && moved.first(of, by).is_none()
                && let Some(data) = self.passed(body, of, &lengths)
            {
                moved
                    .arrays
                    .push((Arc::as_ptr(of), by, params.len() as u32));
                moved.nodes.push(b.move_each(&lengths, &data, Move::By(by)));
                params.extend_from_slice(&data.types);
            }
            if params.len() > MOST {
                return None;
            }
        }
        if moved.arrays.is_empty() {
            return None;
        }
        let firsts = reads
            .iter()
            .map(|read| moved.first(read.as_ref()?.0, read.as_ref()?.1?));
        let mut firsts = firsts.collect::<Vec<Option<u32>>>().into_iter();
        let mut own = BodyBuilder::new(&params);
        let index = own.param(0);
        let results = own.embed_with(body, &[index], &mut |b, capture, field, at| match (
            firsts.next().flatten(),
            at,
        ) {
            (Some(first), _) => b.param(first + field),
            (None, Some((index, checked))) => b.at(capture.node(), field, index, checked),
            (None, None) => b.scalar(capture.node(), field),
        })?;
        let body = own.finish(&results);
        let mut inputs = vec![self.indices(b, &lengths)];
        inputs.append(&mut moved.nodes);
        let place = BodyPlace::Element(lengths.clone());
        let data = self.map_at(b, &place, &inputs, &body);
        Some(rows(lengths, data))
    }

    /// The elements of a scan, or of a costly map, in segments of these lengths. None for an array
    /// that is computed at its reads.
    fn passed(&self, body: &Body, of: &Arc<Node>, lengths: &Arc<Node>) -> Option<Arc<Node>> {
        let is_passed = || is_scanned(of) || self.stream(of, Follow::Functions).is_costly();
        match self.lifted(of) {
            Lifted::Rows(rows) if Arc::ptr_eq(&rows.lengths, lengths) && is_passed() => {
                let computed = self.computed(std::slice::from_ref(body), of);
                computed.is_none().then_some(rows.data)
            }
            _ => None,
        }
    }
}

impl Moved {
    /// The first parameter of an array's elements at a distance.
    fn first(&self, of: &Arc<Node>, by: i64) -> Option<u32> {
        let is = |(name, far, _): &&(Name, i64, u32)| (*name, *far) == (Arc::as_ptr(of), by);
        self.arrays.iter().find(is).map(|(.., first)| *first)
    }
}

/// How many places behind its own index an index function reads, in an array of a length. An index
/// outside of the array may be that of the nearest element.
fn distance(body: &Body, index: TermId, length: &Axis) -> Option<i64> {
    let term = |t: TermId| body.terms[t.index()].term;
    let op = |t: TermId, of: Op| match term(t) {
        Term::Op(op, args) if op == of => Some([args[0], args[1]]),
        _ => None,
    };
    let number = |t: TermId| match term(t) {
        Term::Lit(n) => i64::try_from(n.bits).ok(),
        _ => None,
    };
    let is_own = |t: TermId| matches!(term(t), Term::Param(0));
    let either = |[x, y]: [TermId; 2]| [[x, y], [y, x]];
    let ahead = |t: TermId| {
        let sums = op(t, Op::Add).into_iter().flat_map(either);
        sums.filter(|[i, _]| is_own(*i))
            .find_map(|[_, by]| number(by))
    };
    let is_last = |t: TermId| {
        let of = op(t, Op::Sub).filter(|[_, one]| number(*one) == Some(1));
        of.is_some_and(|[n, _]| is_length(body, n, length))
    };
    if is_own(index) {
        return Some(0);
    }
    if let Some([_, back]) = op(index, Op::Sub).filter(|[i, _]| is_own(*i)) {
        let mut clamped = op(back, Op::Min).into_iter().flat_map(either);
        let far = clamped.find(|[_, i]| is_own(*i));
        return number(far.map_or(back, |[far, _]| far)).map(|by| -by);
    }
    let mut clamped = op(index, Op::Min).into_iter().flat_map(either);
    let there = clamped.find(|[_, last]| is_last(*last));
    ahead(there.map_or(index, |[there, _]| there))
}

/// Tells whether an array is a scan, or is computed from one or its reversal element by element.
pub(super) fn is_scanned(node: &Arc<Node>) -> bool {
    let mut seen: FxHashSet<Name> = FxHashSet::default();
    let mut stack = vec![node];
    while let Some(node) = stack.pop() {
        if node.is_leaf() || !seen.insert(Arc::as_ptr(node)) {
            continue;
        }
        let facts = node.kind.facts();
        if facts.scans {
            return true;
        }
        match reversed(node) {
            Some(of) => stack.push(of),
            None if facts.in_step() => stack.extend(&node.inputs),
            None => {}
        }
    }
    false
}
