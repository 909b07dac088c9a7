//! Delays: earlier elements of a stream, carried from element to element.
//!
//! A stream's loop makes elements in order. A consumer of elements a few places earlier runs in that
//! loop, if the loop carries its last few elements.

use crate::array::Boundary;
use crate::array::search::side;
use crate::ast::{
    AsLong, Body, Builder, Field, Fields, Fold, Kind, Late, Len, Node, ScanKind, StreamPart, Term,
    trace, zeros,
};
use crate::exp::trace as exp;
use crate::nested::is_placeholder;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// The most elements that a loop carries. Neighbours further apart are read from memory.
const MOST_CARRIED: usize = 8;

/// The most steps that a loop is late. More carried elements exceed the limit on its code.
const MOST_LATE: u64 = 2;

/// The most maps between a part of a stream and its user.
const MOST_MAPS: usize = 8;

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
fn ends_before(xs: &Arc<Node>, length: &Len, by: u64) -> bool {
    let node = match length {
        Len::Known(n) => return n.checked_add(by).is_some_and(|n| xs.known_len() == Some(n)),
        Len::Delayed(node) if by == 1 => node,
        Len::Delayed(_) | Len::Checked(_) => return false,
    };
    length_less(node, 0)
        .is_some_and(|(of, less)| less == by && Arc::ptr_eq(as_long(of), as_long(xs)))
}

/// Returns the array whose length a delayed number is, less a number.
fn length_less(node: &Arc<Node>, depth: usize) -> Option<(&Arc<Node>, u64)> {
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
fn as_long(mut xs: &Arc<Node>) -> &Arc<Node> {
    loop {
        let input = match (xs.late(), xs.kind.facts().length) {
            (Some(late), _) if late.padded => Some(&late.of),
            (_, AsLong::Own) => match &xs.kind {
                Kind::Generate(Len::Delayed(n), _) if matches!(n.kind, Kind::Len) => {
                    n.inputs.first()
                }
                _ => return xs,
            },
            (_, AsLong::Inputs) => xs.inputs.first(),
            (_, AsLong::Input(k)) => xs.inputs.get(k),
            (_, AsLong::Base) => return xs,
        };
        match input.filter(|_| !xs.is_leaf()) {
            Some(input) => xs = input,
            None => return xs,
        }
    }
}

/// Tells whether two arrays are equally long by construction.
fn are_as_long(a: &Arc<Node>, b: &Arc<Node>) -> bool {
    let known = a.known_len().is_some_and(|n| b.known_len() == Some(n));
    known || Arc::ptr_eq(as_long(a), as_long(b))
}

/// Tells whether a loop makes an element of a stream in each of its steps, outside of closures on
/// rows.
///
/// A filter's elements are carried one by one, which is slower than an array of them.
fn is_dense(xs: &Arc<Node>) -> bool {
    let of = as_long(xs);
    let every = of.is_leaf() || matches!(of.kind, Kind::Generate(..));
    xs.rank == 1 && xs.comes_in_order() && xs.late().is_none() && every && !is_placeholder(of)
}

impl Node {
    /// Returns how late it is, if its loop makes it later than other arrays.
    pub(crate) fn late(&self) -> Option<&Late> {
        match self.part.as_deref() {
            Some(StreamPart::Late(late)) if !self.is_leaf() => Some(late),
            _ => None,
        }
    }
}

impl Late {
    fn is(&self, other: &Late) -> bool {
        let alike = (self.by, self.padded) == (other.by, other.padded);
        alike && are_as_long(&self.of, &other.of)
    }

    /// Tells whether an array is as long as a late one.
    fn is_as_long(&self, xs: &Arc<Node>) -> bool {
        match (self.padded, self.of.known_len(), xs.known_len()) {
            (true, ..) => are_as_long(xs, &self.of),
            (false, Some(all), Some(n)) => n.checked_add(self.by) == Some(all),
            (false, ..) => false,
        }
    }
}

/// Decides how late arrays in lockstep are made.
///
/// It is as late as the latest of those that are late already, or else as their parts of streams
/// need.
fn lateness(arrays: &[Arc<Node>]) -> Option<Late> {
    let mut parts = Vec::new();
    arrays
        .iter()
        .for_each(|n| parts_of(n, &mut { MOST_MAPS }, &mut parts));
    // Most arrays are none of these.
    if parts.is_empty() {
        return None;
    }
    let late = |of: &Arc<Node>, by: u64, padded: bool| Late {
        of: as_long(of).clone(),
        by,
        padded,
    };
    let needs = parts.iter().filter_map(|part| match part {
        StreamPart::Rest(of, by) if is_dense(of) || goes_before(&parts, of, *by) => {
            Some(late(of, *by, false))
        }
        StreamPart::Ahead(of, by, _) if is_dense(of) => Some(late(of, *by, true)),
        _ => None,
    });
    let latest = |all: &mut dyn Iterator<Item = Late>| all.max_by_key(|late| late.by);
    let mut made = arrays.iter().filter_map(|n| n.late().cloned());
    let mut needs = needs.filter(|late| (1..=MOST_LATE).contains(&late.by));
    latest(&mut made).or_else(|| latest(&mut needs))
}

/// Lists the parts of streams that an array is made of, by up to `maps` maps.
fn parts_of<'a>(xs: &'a Arc<Node>, maps: &mut usize, out: &mut Vec<&'a StreamPart>) {
    match (&xs.part, &xs.kind) {
        _ if xs.is_leaf() => {}
        (Some(part), _) => out.push(part),
        (None, Kind::Map(_)) if *maps > 0 && !xs.comes_in_order() => {
            *maps -= 1;
            xs.inputs.iter().for_each(|xs| parts_of(xs, maps, out));
        }
        _ => {}
    }
}

/// Tells whether an array is made of parts of streams, by few maps.
fn has_parts(xs: &Arc<Node>) -> bool {
    let (mut maps, mut parts) = (MOST_MAPS, Vec::new());
    parts_of(xs, &mut maps, &mut parts);
    maps > 0 && !parts.is_empty()
}

/// Tells whether a part is the elements of a stream but its last ones.
fn goes_before(parts: &[&StreamPart], of: &Arc<Node>, by: u64) -> bool {
    let is_first = |part: &&StreamPart| match part {
        StreamPart::First(xs, _, n) => Arc::ptr_eq(xs, of) && ends_before(xs, n, by),
        _ => false,
    };
    parts.iter().any(is_first)
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

    /// Applies `f` to the `size` neighbours of each element of a stream.
    ///
    /// Neighbours behind an element make the result late. Gives `f` back if a loop cannot carry the
    /// neighbours, or if the boundary needs elements that are further away.
    pub(super) fn windows_in_order<F: FnOnce(&[Fields]) -> Fields>(
        self,
        xs: &Arc<Node>,
        size: usize,
        boundary: &Boundary<Body>,
        f: F,
    ) -> Result<Arc<Node>, F> {
        let before = size / 2;
        let Some(after) = size.checked_sub(before + 1) else {
            return Err(f);
        };
        let outside = match boundary {
            Boundary::Clamp => None,
            Boundary::Constant(c) if !c.may_trap() => Some(c),
            _ => return Err(f),
        };
        if !carries(xs, size - 1) || after > 0 && !is_dense(xs) || after as u64 > MOST_LATE {
            return Err(f);
        }
        let of = match (after, outside) {
            (0, _) => xs.clone(),
            (_, Some(c)) => self.padded(xs, after as u64, c),
            (_, None) => self.padded(xs, after as u64, &self.last_of(xs)),
        };
        let nothing = zeros(&xs.types);
        let mut all = vec![of];
        for k in 1..size {
            all.push(self.before(&all[k - 1], outside.unwrap_or(&nothing)));
        }
        all.reverse();
        let late = Late {
            of: as_long(xs).clone(),
            by: after as u64,
            padded: true,
        };
        let all = self.zip(&all);
        let (all, places) = match after {
            0 => (all, self.places(xs)),
            _ => (self.made_late(&all, &late), self.late_places(&late)),
        };
        let all = self.zip(&[all, places]);
        let body = trace(&all.types, |p| {
            let width = xs.types.len();
            let (elements, i) = p.split_at(width * size);
            let mut window: Vec<Fields> = elements.chunks(width).map(Fields::from_slice).collect();
            // The first element is also those before it.
            let clamped = if outside.is_none() { before } else { 0 };
            for k in (0..clamped).rev() {
                let far = Field::literal(Const::u64((before - k) as u64));
                let inside = Field::op(Op::Ge, &[i[0], far], self.loc());
                window[k] = inside.cond(&window[k], &window[k + 1], self.loc());
            }
            f(&window)
        });
        Ok(self.map(&[all], body))
    }

    /// The last element of a stream, or zero, as a body.
    fn last_of(self, xs: &Arc<Node>) -> Body {
        let last = self.scan_total(&self.before(xs, &zeros(&xs.types)));
        trace(&[], |_| Field::value(&last, self.loc()))
    }

    /// Appends `by` times the value of a body.
    fn padded(self, xs: &Arc<Node>, by: u64, value: &Body) -> Arc<Node> {
        let value = trace(&[Ty::U64], |_| Field::apply(value, &[], self.loc()));
        self.append(&[xs.clone(), self.generate(Len::Known(by), value)])
    }

    /// The numbers of the steps of a late array's loop.
    fn steps(self, late: &Late) -> Arc<Node> {
        let places = self.places(&late.of);
        if !late.padded {
            return places;
        }
        let len = self.len(&late.of);
        let behind = trace(&[Ty::U64], |i| {
            let n = exp::scalar(&len, 0, Ty::U64, self.loc());
            Fields::from_slice(&[Field::op(Op::Add, &[n, i[0]], self.loc())])
        });
        self.append(&[places, self.generate(Len::Known(late.by), behind)])
    }

    /// Makes an array of all steps of a loop late: it leaves out the first steps.
    fn made_late(self, all: &Arc<Node>, late: &Late) -> Arc<Node> {
        // Streams of one length are packed by the same flags, and then have one rate.
        let is_there = trace(&[Ty::U64], |p| {
            let first = Field::literal(Const::u64(late.by));
            Fields::from_slice(&[Field::op(Op::Le, &[first, p[0]], self.loc())])
        });
        let flags = self.map(&[self.steps(late)], is_there);
        let mut made = self.pack(all, &flags);
        if let Some(new) = Arc::get_mut(&mut made) {
            let less = if late.padded { 0 } else { late.by };
            let known = late.of.known_len();
            new.len = known.map(|n| n.saturating_sub(less));
            new.part = Some(Arc::new(StreamPart::Late(late.clone())));
        }
        made
    }

    /// Makes an array in lockstep with a stream late by one: it leaves out the first element.
    pub(super) fn without_first(self, all: &Arc<Node>, xs: &Arc<Node>) -> Arc<Node> {
        let late = Late {
            of: as_long(xs).clone(),
            by: 1,
            padded: false,
        };
        self.made_late(all, &late)
    }

    /// The index of each element of a late array.
    fn late_places(self, late: &Late) -> Arc<Node> {
        let by = Field::literal(Const::u64(late.by));
        let index = trace(&[Ty::U64], |p| {
            Fields::from_slice(&[Field::op(Op::Sub, &[p[0], by], self.loc())])
        });
        let places = self.made_late(&self.steps(late), late);
        self.map(&[places], index)
    }

    /// Replaces arrays in lockstep by late ones, if some are parts of a stream.
    ///
    /// A loop makes the elements of a stream in order. It runs late for arrays that begin later than
    /// others. None if no array is such a part, or if a computed array is not of the stream's length:
    /// then parts stay index functions, which fuse with each other.
    pub(crate) fn all_late(self, arrays: &[Arc<Node>]) -> Option<Vec<Arc<Node>>> {
        if arrays.len() < 2 || arrays.iter().any(|n| n.rank != 1 || n.error.is_some()) {
            return None;
        }
        let late = lateness(arrays)?;
        arrays.iter().map(|n| self.as_late(n, &late)).collect()
    }

    /// The elements of an array, as late as others. None if it has another length.
    fn as_late(self, xs: &Arc<Node>, late: &Late) -> Option<Arc<Node>> {
        let delayed = |of: &Arc<Node>, by: u64, fill: &Body| {
            let by = usize::try_from(by).ok()?;
            match by {
                0 => Some(of.clone()),
                _ => self.delay(of, by, fill),
            }
        };
        let nothing = zeros(&xs.types);
        let along = |of: &Arc<Node>| of.comes_in_order() && are_as_long(of, &late.of);
        let all = match xs.part.as_deref().filter(|_| !xs.is_leaf()) {
            _ if xs.late().is_some_and(|l| l.is(late)) => return Some(xs.clone()),
            Some(StreamPart::Rest(of, by)) if *by == late.by && !late.padded && along(of) => {
                of.clone()
            }
            Some(StreamPart::First(of, skip, n))
                if !late.padded && along(of) && *skip <= late.by && ends_before(of, n, late.by) =>
            {
                delayed(of, late.by - skip, &nothing)?
            }
            Some(StreamPart::Ahead(of, by, fill))
                if late.padded && along(of) && is_dense(of) && *by <= late.by =>
            {
                let all = self.padded(of, late.by, fill);
                delayed(&all, late.by - by, fill)?
            }
            _ if late.padded && along(xs) && is_dense(xs) => {
                delayed(&self.padded(xs, late.by, &nothing), late.by, &nothing)?
            }
            None if has_parts(xs) => {
                let Kind::Map(body) = &xs.kind else {
                    return None;
                };
                let inputs: Option<Vec<_>> =
                    (xs.inputs.iter()).map(|n| self.as_late(n, late)).collect();
                return Some(Builder::like(xs).map(&inputs?, body.clone()));
            }
            _ if !xs.comes_in_order() && late.is_as_long(xs) => {
                let read = trace(&[Ty::U64], |i| Field::at_unchecked(xs, i[0], self.loc()));
                return Some(self.map(&[self.late_places(late)], read));
            }
            // Memory is read in place, with a check of its length.
            _ if xs.is_leaf() => return Some(xs.clone()),
            _ if !late.padded && late.of.known_len().is_none() => return Some(xs.clone()),
            _ => return None,
        };
        Some(self.made_late(&all, late))
    }

    /// Pairs the predecessor of each element with the element's index.
    pub(super) fn beside(self, xs: &Arc<Node>) -> (Arc<Node>, Arc<Node>) {
        (self.before(xs, &zeros(&xs.types)), self.places(xs))
    }
}
