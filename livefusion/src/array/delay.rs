//! Delays: earlier elements of a stream, carried from element to element.
//!
//! A stream's loop makes elements in order. A consumer of elements a few places earlier runs in that
//! loop, if the loop carries its last few elements.

use crate::array::Boundary;
use crate::array::search::side;
use crate::ast::{
    AsLong, Body, Builder, Field, Fields, Fold, Kind, Len, Node, ScanKind, StreamPart, Term, trace,
    zeros,
};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// The most elements that a loop carries. Neighbours further apart are read from memory.
const MOST_CARRIED: usize = 8;

/// The most delayed scalars that are followed from a length.
const MOST_COMPUTED: usize = 8;

/// Tells whether a loop can carry so many elements of an array.
fn carries(xs: &Node, elements: usize) -> bool {
    xs.rank == 1 && xs.comes_in_order() && (1..=MOST_CARRIED).contains(&elements)
}

/// Tells whether a length is that of a stream less `by`.
///
/// A delayed one may wrap around, to all elements of a shorter stream. If `by` is one, that is
/// empty, as is the stream without its first element.
fn ends_before(xs: &Node, length: &Len, by: u64) -> bool {
    let node = match length {
        Len::Known(n) => return n.checked_add(by).is_some_and(|n| xs.known_len() == Some(n)),
        Len::Delayed(node) if by == 1 => node,
        Len::Delayed(_) | Len::Checked(_) => return false,
    };
    length_less(node, 0)
        .is_some_and(|(of, less)| less == by && std::ptr::eq(as_long(of), as_long(xs)))
}

/// Returns the array whose length a delayed number is, less a number.
fn length_less(node: &Node, depth: usize) -> Option<(&Node, u64)> {
    let body = match &node.kind {
        Kind::Len => return Some((node.inputs.first()?, 0)),
        Kind::Compute(body) if depth < MOST_COMPUTED => body,
        _ => return None,
    };
    let (mut at, mut less) = (*body.results.first()?, 0u64);
    loop {
        at = match &body.terms.get(at.index())?.term {
            Term::Op(Op::Sub, args) => match body.terms.get(args[1].index())?.term {
                Term::Lit(n) => {
                    less = less.checked_add(n.bits)?;
                    args[0]
                }
                _ => return None,
            },
            Term::Op(Op::Cast, args) if [at, args[0]].iter().all(|t| is_wide(body.ty(*t))) => {
                args[0]
            }
            Term::Scalar { capture, field: 0 } => {
                let all = body.captures.get(*capture as usize)?.node();
                let (of, more) = length_less(all, depth + 1)?;
                return Some((of, less.checked_add(more)?));
            }
            _ => return None,
        };
    }
}

fn is_wide(ty: Ty) -> bool {
    matches!(ty, Ty::U64 | Ty::I64)
}

/// Returns the array that determines an array's length.
fn as_long(mut xs: &Node) -> &Node {
    loop {
        let input = match xs.kind.facts().length {
            AsLong::Inputs => xs.inputs.first(),
            AsLong::Input(k) => xs.inputs.get(k),
            AsLong::Own | AsLong::Base => return xs,
        };
        match input.filter(|_| !xs.is_leaf()) {
            Some(input) => xs = input,
            None => return xs,
        }
    }
}

impl Builder {
    /// Moves the elements of a stream to higher indices; the first `by` results are `fill`.
    ///
    /// None if a loop cannot carry the elements, or if an unused `fill` would fail.
    pub(super) fn delay(self, xs: &Arc<Node>, by: usize, fill: &Body) -> Option<Arc<Node>> {
        let may = carries(xs, by) && !fill.may_trap();
        may.then(|| (0..by).fold(xs.clone(), |xs, _| self.before(&xs, fill)))
    }

    /// Returns the predecessor of each element. The first element has `first` instead.
    pub(super) fn before(self, xs: &Arc<Node>, first: &Body) -> Arc<Node> {
        // The scan keeps its right operand, so its value before an element is the predecessor.
        let last = Fold::associative(first.clone(), side(&xs.types, 1));
        self.scan(xs, last, ScanKind::Exclusive)
    }

    /// Applies `f` to the predecessor and the element of each place of a stream.
    ///
    /// The boundary gives the first predecessor. Gives `f` back if that element comes later, or if
    /// the array is no stream.
    pub(super) fn pairs_in_order<F: FnOnce(&[Fields]) -> Fields>(
        self,
        xs: &Arc<Node>,
        boundary: &Boundary<Body>,
        f: F,
    ) -> Result<Arc<Node>, F> {
        let comes_later = matches!(boundary, Boundary::Mirror | Boundary::Wrap);
        if comes_later || !carries(xs, 1) {
            return Err(f);
        }
        let (before, indices) = self.beside(xs);
        let all = self.zip(&[before, xs.clone(), indices]);
        let body = trace(&all.types, |p| {
            let (before, rest) = p.split_at(xs.types.len());
            let (here, i) = rest.split_at(xs.types.len());
            let first = match boundary {
                Boundary::Constant(c) => Field::apply(c, &[], self.loc()),
                _ => Fields::from_slice(here),
            };
            let zero = Field::literal(Const::u64(0));
            let inside = Field::op(Op::Ne, &[i[0], zero], self.loc());
            f(&[
                inside.cond(before, &first, self.loc()),
                Fields::from_slice(here),
            ])
        });
        Ok(self.map(&[all], body))
    }

    /// Replaces the parts of one stream among arrays in lockstep by fields of one stream.
    ///
    /// The parts are a stream without its first elements, and its first elements up to as many
    /// before its end. The second one is the first one, delayed. None if there are no such parts, or
    /// if all arrays are index functions of known length: these fuse with each other.
    pub(crate) fn delayed_parts(self, arrays: &[Arc<Node>]) -> Option<Vec<Arc<Node>>> {
        let parts = arrays.iter().map(|n| n.part.as_deref());
        let (xs, by) = parts.clone().flatten().find_map(|part| match part {
            StreamPart::Rest(xs, by) => Some((xs, *by)),
            StreamPart::First(..) => None,
        })?;
        let is_late = |part: Option<&StreamPart>| match part? {
            StreamPart::Rest(of, n) if Arc::ptr_eq(of, xs) && *n == by => Some(false),
            StreamPart::First(of, n) if Arc::ptr_eq(of, xs) && ends_before(xs, n, by) => Some(true),
            _ => None,
        };
        let late: Vec<Option<bool>> = parts.map(is_late).collect();
        let fuse = xs.known_len().is_some() && !arrays.iter().any(|n| n.comes_in_order());
        if fuse || !late.contains(&Some(true)) {
            return None;
        }
        let before = self.delay(xs, usize::try_from(by).ok()?, &zeros(&xs.types))?;
        // Streams of one length are packed by the same flags, and then have one rate.
        let is_there = trace(&[Ty::U64], |p| {
            let first = Field::literal(Const::u64(by));
            Fields::from_slice(&[Field::op(Op::Le, &[first, p[0]], self.loc())])
        });
        let flags = self.map(&[self.places(xs)], is_there);
        let all = self.pack(&self.zip(&[xs.clone(), before]), &flags);
        let width = xs.types.len() as u32;
        let replaced = arrays.iter().zip(late).map(|(array, late)| match late {
            Some(false) => self.fields(&all, 0..width),
            Some(true) => self.fields(&all, width..2 * width),
            None => array.clone(),
        });
        Some(replaced.collect())
    }

    /// Pairs the predecessor of each element with the element's index.
    pub(super) fn beside(self, xs: &Arc<Node>) -> (Arc<Node>, Arc<Node>) {
        (self.before(xs, &zeros(&xs.types)), self.places(xs))
    }
}
