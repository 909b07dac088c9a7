//! What combinators along axes are made of.

use crate::array::{Array, Dim, Rank, shape_of};
use crate::ast::{Axis, Body, BodyBuilder, Builder, Node, Shape, TermId, flat_index, identity};
use crate::elt::Elt;
use crate::error::ErrorKind;
use crate::exp::{Field, Fields, closure, fields_of, trace, types_of};
use crate::loc::Loc;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// The array of a node, unless an input or this call has a mistake.
pub(super) fn built<T: Elt, D: Rank>(
    builder: Builder,
    inputs: &[&Arc<Node>],
    make: impl FnOnce() -> Result<Arc<Node>, ErrorKind>,
) -> Array<T, D> {
    let types = types_of::<T>();
    if let Some(wrong) = inputs.iter().find(|n| n.error.is_some()) {
        return Array::wrap(builder.mistaken(wrong, &types, D::RANK));
    }
    match make() {
        Ok(node) => Array::checked(builder, node),
        Err(kind) => Array::wrap(builder.fault(&types, D::RANK, kind)),
    }
}

/// An array that is a function of the index.
pub(crate) fn generated<T: Elt, D: Dim>(
    builder: Builder,
    shape: Result<Shape, ErrorKind>,
    f: impl FnOnce(D::Index) -> T::Exp,
) -> Array<T, D> {
    built(builder, &[], || {
        let shape = shape?;
        let made = traced(builder, &shape, |parts| fields_of::<T>(f(D::index(parts))));
        Ok(shaped(builder, &made, &shape))
    })
}

/// One value, as often as a shape has elements: in no memory, and what a scatter fills its buffer with.
pub(crate) fn repeated<T: Elt, D: Dim>(
    builder: Builder,
    shape: Result<Shape, ErrorKind>,
    value: impl FnOnce() -> T::Exp,
) -> Array<T, D> {
    built(builder, &[], || {
        let shape = shape?;
        let body = closure::<u64, T>(|_| value());
        let made = builder.generate(builder.size(shape.axes()).len(), body);
        Ok(shaped(builder, &made, &shape))
    })
}

/// The same elements under another shape.
pub(crate) fn reshaped<T: Elt, D: Dim>(
    builder: Builder,
    input: &Arc<Node>,
    shape: Result<Shape, ErrorKind>,
) -> Array<T, D> {
    built(builder, &[input], || {
        let (shape, elements) = (shape?, flat(builder, input));
        let [axis] = shape.axes() else {
            return Ok(shaped(builder, &elements, &shape));
        };
        match (input.known_len(), axis.known()) {
            (Some(expected), Some(got)) if expected != got => {
                Err(ErrorKind::LengthMismatch { expected, got })
            }
            (Some(_), Some(_)) => Ok(elements),
            // An array of rank 1 has no shape that would say a length: it is one that is held beside.
            _ => Ok(builder.held(&elements, axis.len())),
        }
    })
}

/// The elements row by row, as an array of rank 1. Costs nothing.
pub(super) fn flat(builder: Builder, node: &Arc<Node>) -> Arc<Node> {
    builder.reshape(node, None)
}

/// Elements of rank 1 under a shape of one axis or more. Costs nothing.
pub(super) fn shaped(builder: Builder, elements: &Arc<Node>, shape: &Shape) -> Arc<Node> {
    match shape.rank() {
        0 | 1 => elements.clone(),
        _ => builder.reshape(elements, Some(shape.clone())),
    }
}

/// Elements that are functions of the index, traced: of rank 1, row by row; of a shape without axes a delayed scalar.
pub(super) fn traced(
    builder: Builder,
    shape: &Shape,
    f: impl FnOnce(&[Field]) -> Fields,
) -> Arc<Node> {
    let body = trace::trace(&vec![Ty::U64; shape.rank()], |params| {
        let mut parts = params.to_vec();
        // The index along the last axis is the first parameter.
        if !parts.is_empty() {
            parts.rotate_left(1);
        }
        f(&parts)
    });
    spread(builder, shape, body)
}

/// As [`traced`], written with terms.
pub(super) fn computed(
    builder: Builder,
    shape: &Shape,
    f: impl FnOnce(&mut BodyBuilder, &[TermId]) -> Vec<TermId>,
) -> Arc<Node> {
    let mut b = BodyBuilder::new(&vec![Ty::U64; shape.rank()]);
    b.locate(Some(builder.loc()));
    let mut parts: Vec<TermId> = (0..shape.rank() as u32).map(|k| b.param(k)).collect();
    if !parts.is_empty() {
        parts.rotate_left(1);
    }
    let results = f(&mut b, &parts);
    spread(builder, shape, b.finish(&results))
}

/// Elements by a body whose parameters are the index along the last axis, then those along the others.
fn spread(builder: Builder, shape: &Shape, body: Body) -> Arc<Node> {
    match shape.axes() {
        [] => builder.compute(body),
        [n] => builder.generate(n.len(), body),
        [outer @ .., _] => {
            let outer = builder.indices(&Shape::new(outer.iter().cloned()));
            match builder.descriptors(shape).last() {
                Some(rows) => builder.expand(rows, &[outer], body),
                None => builder.generate(shape.axes()[0].len(), body),
            }
        }
    }
}

/// Elements read from others: `index` gives the place of each, in the source's flat data, which is in range.
pub(super) fn reading(
    builder: Builder,
    source: &Arc<Node>,
    shape: &Shape,
    index: impl FnOnce(&mut BodyBuilder, &[TermId]) -> TermId,
) -> Arc<Node> {
    let source = flat(builder, source);
    computed(builder, shape, |b, parts| {
        let at = index(b, parts);
        read(b, &source, at)
    })
}

/// Elements with their axes in another order: axis `k` of the result, whose shape comes with it, is axis `order[k]` of the
/// source.
pub(super) fn rearranged(
    builder: Builder,
    source: &Arc<Node>,
    shape: &Shape,
    order: &[usize],
) -> (Arc<Node>, Shape) {
    let to = chosen(shape, order.iter().copied());
    let made = reading(builder, source, &to, |b, parts| {
        let mut from = parts.to_vec();
        for (axis, part) in order.iter().zip(parts) {
            from[*axis] = *part;
        }
        flat_index(b, &from, shape)
    });
    (made, to)
}

/// The elements of a shape with all axes in the opposite order, as an array of rank 2 or more.
#[cfg(feature = "io")]
pub(crate) fn transposed(builder: Builder, source: &Arc<Node>, shape: &Shape) -> Arc<Node> {
    let order: Vec<usize> = (0..shape.rank()).rev().collect();
    let (made, to) = rearranged(builder, source, shape, &order);
    shaped(builder, &made, &to)
}

/// All fields of an element of flat data, at an index that is in range.
pub(super) fn read(b: &mut BodyBuilder, source: &Arc<Node>, at: TermId) -> Vec<TermId> {
    (0..source.types.len() as u32)
        .map(|f| b.at(source, f, at, false))
        .collect()
}

/// The element at an index, each part of which is checked against its axis.
pub(super) fn element<T: Elt>(
    source: &Arc<Node>,
    shape: &Shape,
    parts: &[Field],
    loc: Loc,
) -> T::Exp {
    element_at::<T>(source, place(shape, parts, loc), loc)
}

/// Where an element lies in flat data. Each part of its index is checked against its axis.
pub(crate) fn place(shape: &Shape, parts: &[Field], loc: Loc) -> Field {
    if parts.len() != shape.rank() {
        let expected = format!("an index of {} parts", shape.rank());
        return trace::malformed(Ty::U64, expected, format!("one of {}", parts.len()), loc);
    }
    let mut at = Field::literal(Const::u64(0));
    for (part, axis) in parts.iter().zip(shape.axes()) {
        let n = trace::scalar(axis.node(), 0, Ty::U64, loc);
        at = trace::flat([at, *part, n], true, loc);
    }
    at
}

/// The element at a place of flat data, which is in range.
pub(super) fn element_at<T: Elt>(source: &Arc<Node>, at: Field, loc: Loc) -> T::Exp {
    let mut field = 0;
    T::of_fields(&mut |ty| {
        field += 1;
        trace::at_unchecked(source, field - 1, ty, at, loc)
    })
}

/// A map of the elements, row by row.
pub(super) fn mapped(builder: Builder, input: &Arc<Node>, body: Body) -> Arc<Node> {
    builder.map(std::slice::from_ref(input), body)
}

/// The index along one axis, of each element row by row.
pub(super) fn index_along(builder: Builder, shape: &Shape, axis: usize) -> Arc<Node> {
    computed(builder, shape, |_, parts| vec![parts[axis]])
}

/// A length computed from others.
pub(super) fn length(builder: Builder, f: impl FnOnce(&mut BodyBuilder) -> TermId) -> Axis {
    let mut b = BodyBuilder::new(&[]);
    let n = f(b.locate(Some(builder.loc())));
    Axis::delayed(builder.compute(b.finish(&[n])))
}

/// An axis of a shape.
pub(super) fn axis_of(shape: &Shape, axis: usize) -> Result<usize, ErrorKind> {
    match axis < shape.rank() {
        true => Ok(axis),
        false => Err(ErrorKind::Malformed {
            expected: format!("an axis of an array of rank {}", shape.rank()),
            got: format!("axis {axis}"),
        }),
    }
}

/// Some axes of a shape, each once.
pub(super) fn axes_of(shape: &Shape, axes: &[usize]) -> Result<(), ErrorKind> {
    for (k, axis) in axes.iter().enumerate() {
        axis_of(shape, *axis)?;
        if axes[..k].contains(axis) {
            return Err(ErrorKind::Malformed {
                expected: "axes that differ".to_string(),
                got: format!("{axes:?}"),
            });
        }
    }
    Ok(())
}

/// A shape with its axes chosen by number.
pub(super) fn chosen(shape: &Shape, axes: impl IntoIterator<Item = usize>) -> Shape {
    Shape::new(
        axes.into_iter()
            .filter_map(|a| shape.axes().get(a).cloned()),
    )
}

/// The axes of an array that are not among these.
pub(super) fn others(shape: &Shape, axes: &[usize]) -> Vec<usize> {
    (0..shape.rank()).filter(|a| !axes.contains(a)).collect()
}

/// A shape of known and delayed lengths, of an array.
pub(super) fn shape<T: Elt, D: Rank>(builder: Builder, array: &Array<T, D>) -> Shape {
    shape_of(builder, array.node())
}

/// An element that is read by its index, axis by axis.
pub(super) struct Element<'b, 's> {
    b: &'b mut BodyBuilder,
    source: &'s Arc<Node>,
    shape: &'s Shape,
    at: Option<TermId>,
}

impl<'b, 's> Element<'b, 's> {
    pub(super) fn new(
        b: &'b mut BodyBuilder,
        source: &'s Arc<Node>,
        shape: &'s Shape,
    ) -> Element<'b, 's> {
        let at = None;
        Element {
            b,
            source,
            shape,
            at,
        }
    }

    /// The next part of the index, which is below the axis's length.
    pub(super) fn inside(&mut self, axis: usize, part: TermId) {
        self.at = Some(match self.at {
            None => part,
            Some(outer) => {
                let n = self.shape.axes()[axis].term(self.b);
                self.b.flat(outer, part, n)
            }
        });
    }

    /// The next part of the index, which is checked.
    pub(super) fn checked(&mut self, axis: usize, part: TermId) {
        let outer = self.at.unwrap_or_else(|| self.b.lit(Const::u64(0)));
        let n = self.shape.axes()[axis].term(self.b);
        self.at = Some(self.b.flat_checked(outer, part, n));
    }

    /// The next part of the index is 0, checked unless it is known that this is inside.
    pub(super) fn first(&mut self, axis: usize) {
        let zero = self.b.lit(Const::u64(0));
        match self.shape.axes()[axis].known() {
            Some(0) | None => self.checked(axis, zero),
            Some(_) => self.inside(axis, zero),
        }
    }

    /// The element's fields.
    pub(super) fn read(self) -> Vec<TermId> {
        let at = self.at.unwrap_or_else(|| self.b.lit(Const::u64(0)));
        read(self.b, self.source, at)
    }

    /// Terms beside the index.
    pub(super) fn with<R>(&mut self, f: impl FnOnce(&mut BodyBuilder) -> R) -> R {
        f(self.b)
    }
}

/// The one length of arrays, which is checked when it is asked for.
pub(super) fn checked_length(builder: Builder, arrays: &[Arc<Node>]) -> Axis {
    let all = match arrays {
        [one] => one.clone(),
        all => builder.zip(all),
    };
    Axis::delayed(builder.len(&all))
}

/// The length of axes that must be equally long, as far as it can be said which that is.
pub(super) fn agreed(builder: Builder, axes: &[&Axis]) -> Result<Axis, ErrorKind> {
    let known = axes.iter().filter_map(|a| a.known());
    let (least, most) = (known.clone().min(), known.max());
    if let (Some(expected), Some(got)) = (least, most)
        && expected != got
    {
        return Err(ErrorKind::LengthMismatch { expected, got });
    }
    let Some((first, rest)) = axes.split_first() else {
        return Ok(builder.length(0));
    };
    if rest.iter().all(|axis| axis.is(first)) {
        return Ok((*first).clone());
    }
    let one = |axis: &&Axis| builder.generate(axis.len(), identity(&[Ty::U64]));
    Ok(checked_length(
        builder,
        &axes.iter().map(one).collect::<Vec<_>>(),
    ))
}
