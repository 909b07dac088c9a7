//! Building blocks of the combinators along axes.

use crate::array::{Array, Dim, as_indices};
use crate::ast::{
    Axis, Body, BodyBuilder, Builder, Len, Node, Shape, TermId, fits, flat_index, identity,
    show_node, show_types,
};
use crate::elt::Elt;
use crate::error::ErrorKind;
use crate::exp::{Field, Fields, fields_of, trace, types_of};
use crate::loc::Loc;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Builds a node from arrays. If an input or `make` has an error, the result is a node of these
/// types and rank that carries it.
pub(super) fn built(
    builder: Builder,
    inputs: &[&Arc<Node>],
    (types, rank): (&[Ty], u8),
    make: impl FnOnce() -> Result<Arc<Node>, ErrorKind>,
) -> Arc<Node> {
    if let Some(wrong) = inputs.iter().find(|n| n.error.is_some()) {
        return builder.mistaken(wrong, types, rank);
    }
    let made = match inputs.iter().find(|n| n.rank == 0) {
        Some(scalar) => Err(ErrorKind::Malformed {
            expected: "an array".to_string(),
            got: show_node(scalar),
        }),
        None => make(),
    };
    made.unwrap_or_else(|kind| builder.fault(types, rank, kind))
}

/// Builds an array from inputs and a shape, which may be an error.
pub(super) fn under<T: Elt, D: Dim>(
    builder: Builder,
    inputs: &[&Arc<Node>],
    shape: Result<Shape, ErrorKind>,
    make: impl FnOnce(&Shape) -> Arc<Node>,
) -> Array<T, D> {
    let like = (&types_of::<T>()[..], D::RANK);
    let node = built(builder, inputs, like, || Ok(make(&shape?)));
    Array::checked(builder, node)
}

impl Builder {
    /// Computes each element of a shape as a function of its index.
    ///
    /// The index has one part (`u64`) per axis. A shape without axes gives a delayed scalar. This
    /// is [`generate`](crate::prelude::generate()) for any rank.
    ///
    /// ```
    /// use livefusion::ast::{Builder, Shape};
    /// let builder = Builder::named("generate");
    /// let shape = Shape::new([builder.length(2), builder.length(3)]);
    /// let indices = builder.generate_in(&shape, |index| index.iter().copied().collect());
    /// assert_eq!((indices.rank, indices.types.len(), indices.error.clone()), (2, 2, None));
    /// ```
    pub fn generate_in(self, shape: &Shape, f: impl FnOnce(&[Field]) -> Fields) -> Arc<Node> {
        shaped(self, &traced(self, shape, f), shape)
    }

    /// Fills a shape with one value, a body without parameters.
    ///
    /// The result is never stored. A scatter into it fills its buffer with the value.
    pub fn replicate(self, shape: &Shape, value: Body) -> Arc<Node> {
        let made = self.repeated(self.size(shape.axes()).len(), &value);
        shaped(self, &made, shape)
    }

    /// Repeats the value of a body without parameters.
    pub(crate) fn repeated(self, n: Len, value: &Body) -> Arc<Node> {
        let loc = self.loc();
        self.generate(
            n,
            trace::trace(&[Ty::U64], |_| Field::apply(value, &[], loc)),
        )
    }
}

/// Builds an index function.
pub(crate) fn generated<T: Elt, D: Dim>(
    builder: Builder,
    shape: Result<Shape, ErrorKind>,
    f: impl FnOnce(D::Index) -> T::Exp,
) -> Array<T, D> {
    under(builder, &[], shape, |shape| {
        builder.generate_in(shape, |parts| fields_of::<T>(f(D::index(parts))))
    })
}

/// Fills a shape with one value.
pub(crate) fn repeated<T: Elt, D: Dim>(
    builder: Builder,
    shape: Result<Shape, ErrorKind>,
    value: impl FnOnce() -> T::Exp,
) -> Array<T, D> {
    under(builder, &[], shape, |shape| {
        builder.replicate(shape, crate::exp::value::<T>(value))
    })
}

/// Gives the same elements another shape.
pub(crate) fn reshaped<T: Elt, D: Dim>(
    builder: Builder,
    input: &Arc<Node>,
    shape: Result<Shape, ErrorKind>,
) -> Array<T, D> {
    under(builder, &[input], shape, |shape| {
        builder.reshape(input, Some(shape.clone()))
    })
}

/// Gives elements of rank 1 a shape of one axis or more. Costs nothing.
pub(super) fn shaped(builder: Builder, elements: &Arc<Node>, shape: &Shape) -> Arc<Node> {
    match shape.rank() {
        0 | 1 => elements.clone(),
        _ => builder.reshape(elements, Some(shape.clone())),
    }
}

/// Traces an index function. The result has rank 1, row by row; a shape without axes gives a
/// delayed scalar.
pub(super) fn traced(
    builder: Builder,
    shape: &Shape,
    f: impl FnOnce(&[Field]) -> Fields,
) -> Arc<Node> {
    let body = trace::trace(&vec![Ty::U64; shape.rank()], |params| {
        let mut parts = params.to_vec();
        // The first parameter is the index along the last axis.
        if !parts.is_empty() {
            parts.rotate_left(1);
        }
        f(&parts)
    });
    spread(builder, shape, body)
}

/// As [`traced`], built from terms.
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

/// Evaluates a body at each index. Its parameters are the index along the last axis, then those
/// along the others.
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

/// Reads each element from the flat source at the position that `index` returns, which must be in
/// range.
pub(super) fn reading(
    builder: Builder,
    source: &Arc<Node>,
    shape: &Shape,
    index: impl FnOnce(&mut BodyBuilder, &[TermId]) -> TermId,
) -> Arc<Node> {
    let source = builder.flatten(source);
    computed(builder, shape, |b, parts| {
        let at = index(b, parts);
        read(b, &source, at)
    })
}

/// Reorders the axes: axis `k` of the result is axis `order[k]` of the source. Also returns the new
/// shape.
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

/// Reverses the axes of an array of rank 2 or more.
#[cfg(feature = "io")]
pub(crate) fn transposed(builder: Builder, source: &Arc<Node>, shape: &Shape) -> Arc<Node> {
    let order: Vec<usize> = (0..shape.rank()).rev().collect();
    let (made, to) = rearranged(builder, source, shape, &order);
    shaped(builder, &made, &to)
}

/// Reads all fields of an element of flat data, at an index that is in range.
pub(super) fn read(b: &mut BodyBuilder, source: &Arc<Node>, at: TermId) -> Vec<TermId> {
    (0..source.types.len() as u32)
        .map(|f| b.at(source, f, at, false))
        .collect()
}

/// Returns the position of an element in flat data. Each part of its index is checked against its
/// axis.
pub(crate) fn place(shape: &Shape, parts: &[Field], loc: Loc) -> Field {
    if parts.len() != shape.rank() {
        let expected = format!("an index of {} parts", shape.rank());
        return trace::malformed(Ty::U64, expected, format!("one of {}", parts.len()), loc);
    }
    if let Some(odd) = parts.iter().find(|part| !part.ty().is_int()) {
        let expected = "an index of integers".to_string();
        return trace::malformed(Ty::U64, expected, show_types(&[odd.ty()]), loc);
    }
    let mut at = Field::literal(Const::u64(0));
    for (part, axis) in parts.iter().zip(shape.axes()) {
        let n = trace::scalar(axis.node(), 0, Ty::U64, loc);
        at = trace::flat([at, *part, n], true, loc);
    }
    at
}

/// Checks that a body without parameters gives an element of these types.
pub(super) fn one_of(types: &[Ty], value: &Body) -> Result<(), ErrorKind> {
    fits(value, "a value", &[], Some(types))
}

/// Converts an array of rank 1 of integers to indices.
pub(super) fn indices(builder: Builder, node: &Arc<Node>) -> Result<Arc<Node>, ErrorKind> {
    match (&node.types[..], node.rank) {
        ([ty], 1) if ty.is_int() => Ok(as_indices(builder, node)),
        _ => Err(ErrorKind::Malformed {
            expected: "integers of rank 1".to_string(),
            got: show_node(node),
        }),
    }
}

/// Maps the elements, row by row.
pub(super) fn mapped(builder: Builder, input: &Arc<Node>, body: Body) -> Arc<Node> {
    builder.map(std::slice::from_ref(input), body)
}

/// Computes a length from others.
pub(super) fn length(builder: Builder, f: impl FnOnce(&mut BodyBuilder) -> TermId) -> Axis {
    let mut b = BodyBuilder::new(&[]);
    let n = f(b.locate(Some(builder.loc())));
    Axis::delayed(builder.compute(b.finish(&[n])))
}

/// Checks that a shape has this axis.
pub(super) fn axis_of(shape: &Shape, axis: usize) -> Result<usize, ErrorKind> {
    match axis < shape.rank() {
        true => Ok(axis),
        false => Err(ErrorKind::Malformed {
            expected: format!("an axis of an array of rank {}", shape.rank()),
            got: format!("axis {axis}"),
        }),
    }
}

/// Checks that a shape has these axes and that none occurs twice.
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

/// Selects axes of a shape by number.
pub(super) fn chosen(shape: &Shape, axes: impl IntoIterator<Item = usize>) -> Shape {
    Shape::new(
        axes.into_iter()
            .filter_map(|a| shape.axes().get(a).cloned()),
    )
}

/// Returns the axes of a shape that are not in the list.
pub(super) fn others(shape: &Shape, axes: &[usize]) -> Vec<usize> {
    (0..shape.rank()).filter(|a| !axes.contains(a)).collect()
}

/// An element whose index is given axis by axis.
pub(super) struct IndexedElement<'b, 's> {
    b: &'b mut BodyBuilder,
    source: &'s Arc<Node>,
    shape: &'s Shape,
    at: Option<TermId>,
}

impl<'b, 's> IndexedElement<'b, 's> {
    pub(super) fn new(
        b: &'b mut BodyBuilder,
        source: &'s Arc<Node>,
        shape: &'s Shape,
    ) -> IndexedElement<'b, 's> {
        let at = None;
        IndexedElement {
            b,
            source,
            shape,
            at,
        }
    }

    /// Adds the next part of the index, which is in range.
    pub(super) fn inside(&mut self, axis: usize, part: TermId) {
        self.at = Some(match self.at {
            None => part,
            Some(outer) => {
                let n = self.shape.axes()[axis].term(self.b);
                self.b.flat(outer, part, n)
            }
        });
    }

    /// Adds the next part of the index, with a bounds check.
    pub(super) fn checked(&mut self, axis: usize, part: TermId) {
        let outer = self.at.unwrap_or_else(|| self.b.lit(Const::u64(0)));
        let n = self.shape.axes()[axis].term(self.b);
        self.at = Some(self.b.flat_checked(outer, part, n));
    }

    /// Adds a 0 as the next part of the index. It is checked unless the axis is known not to be
    /// empty.
    pub(super) fn first(&mut self, axis: usize) {
        let zero = self.b.lit(Const::u64(0));
        match self.shape.axes()[axis].known() {
            Some(0) | None => self.checked(axis, zero),
            Some(_) => self.inside(axis, zero),
        }
    }

    /// Reads the fields of the element.
    pub(super) fn read(self) -> Vec<TermId> {
        let at = self.at.unwrap_or_else(|| self.b.lit(Const::u64(0)));
        read(self.b, self.source, at)
    }

    /// Builds other terms with the same builder.
    pub(super) fn with<R>(&mut self, f: impl FnOnce(&mut BodyBuilder) -> R) -> R {
        f(self.b)
    }
}

/// Returns the common length of arrays. It is checked when computed.
pub(super) fn checked_length(builder: Builder, arrays: &[Arc<Node>]) -> Axis {
    let all = match arrays {
        [one] => one.clone(),
        all => builder.zip(all),
    };
    Axis::delayed(builder.len(&all))
}

/// Returns the common length of axes. Known lengths are compared at once, others when the length is
/// computed.
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
