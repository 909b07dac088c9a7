//! Index functions that are an array: each element reads the array at its own index.
//!
//! An index function over another one reads at a composed index. So the reverse of a reverse and
//! the transpose of a transpose are found by simplification, like a part that is the whole.

use crate::ast::{
    Assert, Axis, Body, BodyBuilder, Capture, Kind, Len, Node, Shape, Term, TermId, simplify, view,
};
use loop_lang::op::Op;
use loop_lang::op::sums::{Sum, SumPart, collect};
use loop_lang::types::Const;
use std::sync::Arc;

/// The maximal number of index functions that are composed.
const MAX_COMPOSED: usize = 4;

/// The axes of an index function, outermost first, each with its parameter.
type OwnAxes = Vec<(u32, Axis)>;

/// Returns the array that a generator is, if it reads one at its own indices.
pub(super) fn generated(len: &Len, body: &Body) -> Option<Arc<Node>> {
    found(body, || axes_of_length(len))
}

/// Returns the array that an expansion is, if it reads one at its own indices.
pub(super) fn expanded(inputs: &[Arc<Node>], body: &Body) -> Option<Arc<Node>> {
    found(body, || axes_of_segments(inputs))
}

/// Returns the array that has these elements, if they have its shape already.
pub(super) fn reshaped(elements: &Arc<Node>, shape: &Shape) -> Option<Arc<Node>> {
    let (Kind::Zip, [of]) = (&elements.kind, elements.inputs.as_slice()) else {
        return None;
    };
    let is_whole = of.rank > 1 && of.types == elements.types;
    let same = of.shape.as_ref().filter(|_| is_whole)?.is(shape);
    same.then(|| of.clone())
}

fn found(body: &Body, axes: impl FnOnce() -> Option<OwnAxes>) -> Option<Arc<Node>> {
    let is_read = |t: &TermId| {
        let term = body.terms.get(t.index()).map(|data| data.term);
        matches!(term, Some(Term::At { .. } | Term::Cond(..)))
    };
    if body.error.is_some() || !body.results.iter().all(is_read) {
        return None;
    }
    let axes = axes()?;
    whole(&axes, within(body, &axes))
}

/// The body where each index is below the length of its axis.
fn within(body: &Body, axes: &OwnAxes) -> Body {
    let holds = |term: &Term| match term {
        Term::Op(Op::Lt, args) => axes.iter().any(|(param, axis)| {
            matches!(body.terms[args[0].index()].term, Term::Param(k) if k == *param)
                && is_length(body, args[1], axis)
        }),
        _ => false,
    };
    let known: Vec<usize> = (0..body.terms.len())
        .filter(|t| holds(&body.terms[*t].term))
        .collect();
    if known.is_empty() {
        return body.clone();
    }
    let mut body = body.clone();
    for t in known {
        body.terms[t].term = Term::Lit(Const::bool(true));
    }
    simplify(body)
}

fn whole(axes: &OwnAxes, body: Body) -> Option<Arc<Node>> {
    let mut composed = body;
    for _ in 0..MAX_COMPOSED {
        let (array, index, in_range) = reads(&composed)?;
        if array.error.is_some() {
            return None;
        }
        if is_own(&composed, index, axes) && has_axes(array, axes) {
            return Some(array.clone());
        }
        // The index must be in range of the array in between, too.
        if !in_range {
            return None;
        }
        composed = through(&composed, array, index)?;
    }
    None
}

/// The array of which a body reads all fields at one index, and whether the index is in range by
/// construction.
fn reads(body: &Body) -> Option<(&Arc<Node>, TermId, bool)> {
    let mut found = None;
    for (k, result) in body.results.iter().enumerate() {
        let Term::At {
            capture,
            field,
            index,
            checked,
        } = body.terms.get(result.index())?.term
        else {
            return None;
        };
        let one = (capture, index, checked);
        if field as usize != k || *found.get_or_insert(one) != one {
            return None;
        }
    }
    let (capture, index, checked) = found?;
    match body.captures.get(capture as usize)? {
        Capture::Array(n) if n.types.len() == body.results.len() => Some((n, index, !checked)),
        _ => None,
    }
}

/// The axes of a generator.
fn axes_of_length(len: &Len) -> Option<OwnAxes> {
    let axis = match len {
        Len::Known(n) => Axis::from(*n),
        Len::Delayed(n) => Axis::delayed(n.clone()),
        Len::Checked(_) => return None,
    };
    Some(vec![(0, axis)])
}

/// The axes of an expansion by equal rows, whose other parameters are the indices of the rows.
fn axes_of_segments(inputs: &[Arc<Node>]) -> Option<OwnAxes> {
    let [lengths, outer] = inputs else {
        return None;
    };
    let (last, rows) = (Axis::of_rows(lengths)?, axes_of_rows(lengths)?);
    if !are_indices(outer, &rows) {
        return None;
    }
    let mut axes: OwnAxes = (1..).zip(rows).collect();
    axes.push((0, last));
    Some(axes)
}

/// The axes of the rows whose lengths these are.
fn axes_of_rows(lengths: &Arc<Node>) -> Option<Vec<Axis>> {
    match &lengths.kind {
        Kind::Generate(len, _) => Some(vec![axes_of_length(len)?.pop()?.1]),
        Kind::Expand(_) => {
            let around = lengths.inputs.first()?;
            let mut axes = axes_of_rows(around)?;
            axes.push(Axis::of_rows(around)?);
            Some(axes)
        }
        _ => None,
    }
}

/// Whether an array has the indices of these axes as its elements.
fn are_indices(array: &Arc<Node>, axes: &[Axis]) -> bool {
    let Some((last, rows)) = axes.split_last() else {
        return false;
    };
    let returns = |body: &Body, params: &mut dyn Iterator<Item = u32>| {
        let results = body.results.iter().map(|r| body.terms[r.index()].term);
        results.eq(params.map(Term::Param))
    };
    match &array.kind {
        Kind::Generate(len, body) if rows.is_empty() => {
            let own = axes_of_length(len).and_then(|mut axes| axes.pop());
            own.is_some_and(|(_, own)| are_equal(&own, last)) && returns(body, &mut (0..1))
        }
        Kind::Expand(body) => {
            let [lengths, outer] = array.inputs.as_slice() else {
                return false;
            };
            let mut order = (1..axes.len() as u32).chain([0]);
            Axis::of_rows(lengths).is_some_and(|own| are_equal(&own, last))
                && are_indices(outer, rows)
                && returns(body, &mut order)
        }
        _ => false,
    }
}

/// Whether an index is that of the element itself.
fn is_own(body: &Body, index: TermId, axes: &[(u32, Axis)]) -> bool {
    let Some(((param, axis), rows)) = axes.split_last() else {
        return false;
    };
    match &body.terms[index.index()].term {
        Term::Param(k) => k == param && rows.is_empty(),
        // A length that cancels is that of the array, which fails if its length fails.
        Term::Op(op, args) if args.len() == 2 => {
            let (ty, args) = (body.ty(index), [args[0], args[1]]);
            match collect(*op, ty, args, |t| view(&body.terms, t), |_| true) {
                Some(Sum::One(SumPart::Of(t))) => is_own(body, t, axes),
                _ => false,
            }
        }
        // An index is below the length of its axis.
        Term::Assert(Assert::Below, args) => match args.as_slice() {
            [i, n] => is_own(body, *i, axes) && rows.is_empty() && is_length(body, *n, axis),
            _ => false,
        },
        Term::Flat(args) => match args.as_slice() {
            [outer, inner, _] if is_zero(body, *outer) => is_own(body, *inner, axes),
            [outer, inner, n] => {
                is_own(body, *outer, rows)
                    && is_own(body, *inner, std::slice::from_ref(&(*param, axis.clone())))
                    && is_length(body, *n, axis)
            }
            _ => false,
        },
        _ => false,
    }
}

fn is_zero(body: &Body, t: TermId) -> bool {
    matches!(body.terms[t.index()].term, Term::Lit(c) if c.bits == 0)
}

/// Tells whether a term is the length of an axis.
pub(crate) fn is_length(body: &Body, n: TermId, axis: &Axis) -> bool {
    match body.terms[n.index()].term {
        Term::Lit(c) => known(axis) == Some(c.bits),
        Term::Scalar { capture, field: 0 } => {
            let node = body.captures.get(capture as usize).map(Capture::node);
            node.is_some_and(|node| are_equal(&Axis::delayed(node.clone()), axis))
        }
        _ => false,
    }
}

/// Whether an array has these axes.
fn has_axes(array: &Arc<Node>, axes: &OwnAxes) -> bool {
    if let [(_, axis)] = axes.as_slice() {
        let lengths = array.known_len().zip(known(axis));
        return lengths.is_some_and(|(a, b)| a == b) || is_length_of(axis, array);
    }
    let own = match (&array.kind, array.inputs.as_slice()) {
        // The elements of an array of higher rank.
        (Kind::Zip, [of]) => of.shape.clone(),
        (Kind::Expand(_), inputs) => {
            let own = axes_of_segments(inputs);
            own.map(|axes| Shape::new(axes.into_iter().map(|(_, axis)| axis)))
        }
        (Kind::ScanS(..), [lengths, _]) => {
            let own = axes_of_rows(lengths).zip(Axis::of_rows(lengths));
            own.map(|(around, last)| Shape::new(around.into_iter().chain([last])))
        }
        _ => None,
    };
    let wanted = Shape::new(axes.iter().map(|(_, axis)| axis.clone()));
    own.is_some_and(|own| own.is(&wanted))
}

fn are_equal(a: &Axis, b: &Axis) -> bool {
    let of = |axis: &Axis, other| measured(axis).is_some_and(|array| is_length_of(other, array));
    a.is(b) || known(a).is_some_and(|n| known(b) == Some(n)) || of(a, b) || of(b, a)
}

/// The array whose length a delayed scalar is.
fn measured(axis: &Axis) -> Option<&Arc<Node>> {
    match axis.node().kind {
        Kind::Len => axis.node().inputs.first(),
        _ => None,
    }
}

fn known(axis: &Axis) -> Option<u64> {
    let of_array = || measured(axis)?.known_len();
    axis.known().or_else(of_array)
}

/// Whether a delayed scalar is the length of an array.
fn is_length_of(axis: &Axis, array: &Arc<Node>) -> bool {
    match (
        &axis.node().kind,
        axis.node().inputs.as_slice(),
        &array.kind,
    ) {
        (Kind::Len, [of], _) if Arc::ptr_eq(of, array) => true,
        (_, _, Kind::Generate(Len::Delayed(n), _)) => axis.is(&Axis::delayed(n.clone())),
        _ => false,
    }
}

/// A body that reads through an index function, at the composed index.
fn through(body: &Body, array: &Arc<Node>, index: TermId) -> Option<Body> {
    let mut function = array;
    while let (Kind::Zip, [of]) = (&function.kind, function.inputs.as_slice()) {
        function = of;
    }
    let (axes, inner) = match &function.kind {
        _ if function.is_leaf() => return None,
        Kind::Generate(len, inner) => (axes_of_length(len)?, inner),
        Kind::Expand(inner) => (axes_of_segments(&function.inputs)?, inner),
        _ => return None,
    };
    reads(inner)?;
    let mut indices = body.clone();
    indices.results = parts(body, index, &axes)?.into_iter().collect();
    let mut b = BodyBuilder::new(&body.params);
    let params: Vec<TermId> = (0..body.params.len() as u32).map(|k| b.param(k)).collect();
    let parts = b.embed(&simplify(indices), &params)?;
    let mut params: Vec<_> = axes.iter().map(|(param, _)| *param).zip(parts).collect();
    params.sort_unstable();
    let params: Vec<TermId> = params.into_iter().map(|(_, part)| part).collect();
    let results = b.embed(inner, &params)?;
    Some(simplify(b.finish(&results)))
}

/// The parts of an index along each axis.
fn parts(body: &Body, index: TermId, axes: &[(u32, Axis)]) -> Option<Vec<TermId>> {
    let ((_, axis), rows) = axes.split_last()?;
    if rows.is_empty() {
        return Some(vec![index]);
    }
    let Term::Flat(args) = &body.terms[index.index()].term else {
        return None;
    };
    let [outer, inner, n] = args.as_slice() else {
        return None;
    };
    let mut all = parts(body, *outer, rows)?;
    all.push(*inner);
    is_length(body, *n, axis).then_some(all)
}
