//! Concatenation along axes: `concatenate`, `stack`.

use super::axes::sum;
use super::make::{IndexedElement, agreed, axis_of, built, chosen, computed, shaped};
use crate::array::{Array, Dim, Part, nodes_of};
use crate::ast::{Axis, BodyBuilder, Builder, Kind, Node, Shape, TermId, Types, show_types};
use crate::elt::Elt;
use crate::error::ErrorKind;
use loop_lang::op::Op;
use loop_lang::types::Const;
use std::sync::Arc;

impl Builder {
    /// Concatenates arrays of one type along an axis.
    ///
    /// There must be at least one array, the axis must exist, and the lengths of other axes must
    /// agree.
    ///
    /// ```
    /// use livefusion::ast::Builder;
    /// use livefusion::prelude::*;
    /// let (a, b) = (Array::from([[1i64, 2], [3, 4]]), Array::from([[5i64], [6]]));
    /// let both = [a.node().clone(), b.node().clone()];
    /// let joined = Builder::named("concatenate").concatenate(1, &both);
    /// assert_eq!(Array::<i64, Ix2>::from_node(joined)?.force()?, [[1, 2, 5], [3, 4, 6]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn concatenate(self, axis: usize, arrays: &[Arc<Node>]) -> Arc<Node> {
        let rank = arrays.first().map_or(1, |a| a.rank);
        self.behind_each_other(arrays, rank, axis, |shape| shape)
    }

    /// Stacks arrays of one type and shape along a new axis.
    ///
    /// The new axis is axis `axis` of the result. There must be at least one array, and `axis` must
    /// be at most their rank.
    pub fn stack(self, axis: usize, arrays: &[Arc<Node>]) -> Arc<Node> {
        let rank = arrays.first().map_or(1, |a| a.rank);
        self.behind_each_other(arrays, rank.saturating_add(1), axis, |shape| {
            let mut axes = shape.axes().to_vec();
            if axis <= axes.len() {
                axes.insert(axis, self.length(1));
            }
            Shape::new(axes)
        })
    }

    /// Concatenates arrays, after `seen` has adapted the shape of each.
    fn behind_each_other(
        self,
        arrays: &[Arc<Node>],
        rank: u8,
        axis: usize,
        seen: impl Fn(Shape) -> Shape,
    ) -> Arc<Node> {
        let nodes: Vec<&Arc<Node>> = arrays.iter().collect();
        let types = arrays.first().map_or_else(Types::new, |a| a.types.clone());
        built(self, &nodes, (&types, rank), || {
            if let Some(odd) = arrays.iter().find(|a| a.types != types) {
                return Err(malformed(
                    &format!("elements of type {}", show_types(&types)),
                    show_types(&odd.types),
                ));
            }
            let shapes: Vec<Shape> = arrays.iter().map(|a| seen(self.shape(a))).collect();
            joined(self, &nodes, &shapes, axis)
        })
    }
}

/// Concatenates arrays along an axis.
///
/// Their other axes must have the same lengths. Along axis 0 the result is an append. It fuses with
/// its producers, and with consumers that are maps, zips, or folds of all elements. Folds and scans
/// along an axis read it from memory.
///
/// Along another axis each element is read from its array, or recomputed at each read if it is a
/// cheap index function. So it is if the axes are reordered (`transpose`, `permute_axes`), unless an
/// array is a stream.
///
/// ```
/// use livefusion::prelude::*;
/// let (a, b) = (Array::from([[1i64, 2], [3, 4]]), Array::from([[5i64], [6]]));
/// assert_eq!(concatenate(1, &[&a, &b]).force()?, [[1, 2, 5], [3, 4, 6]]);
/// assert_eq!(concatenate(0, [&a, &a]).along(0).sum().force()?, [8, 12]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// When forced: if there are no arrays, there is no such axis, or lengths of other axes differ.
#[doc(alias("concat_axis", "vstack", "hstack"))]
#[track_caller]
pub fn concatenate<T: Elt, D: Dim>(
    axis: usize,
    arrays: impl IntoIterator<Item = impl Part<T, D>>,
) -> Array<T, D> {
    let builder = Builder::named("concatenate");
    Array::checked(builder, builder.concatenate(axis, &nodes_of(arrays)))
}

/// Stacks arrays of one shape along a new axis.
///
/// The new axis is axis `axis` of the result. Costs as much as [`concatenate`].
///
/// ```
/// use livefusion::prelude::*;
/// let (a, b) = (Array::from(vec![1i64, 2]), Array::from(vec![3i64, 4]));
/// assert_eq!(stack(0, &[&a, &b]).force()?, [[1, 2], [3, 4]]);
/// assert_eq!(stack(1, [a, b]).force()?, [[1, 3], [2, 4]]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// When forced: if there are no arrays, the axis is above their rank, or shapes differ.
#[doc(alias = "dstack")]
#[track_caller]
pub fn stack<T: Elt, D: Dim>(
    axis: usize,
    arrays: impl IntoIterator<Item = impl Part<T, D>>,
) -> Array<T, D::Larger> {
    let builder = Builder::named("stack");
    Array::checked(builder, builder.stack(axis, &nodes_of(arrays)))
}

fn malformed(expected: &str, got: String) -> ErrorKind {
    ErrorKind::Malformed {
        expected: expected.to_string(),
        got,
    }
}

/// Concatenates arrays under these shapes.
fn joined(
    builder: Builder,
    nodes: &[&Arc<Node>],
    shapes: &[Shape],
    axis: usize,
) -> Result<Arc<Node>, ErrorKind> {
    let Some(first) = shapes.first() else {
        return Err(malformed("at least one array", "none".to_string()));
    };
    axis_of(first, axis)?;
    if let Some(odd) = shapes.iter().find(|s| s.rank() != first.rank()) {
        return Err(malformed(
            &format!("arrays of rank {}", first.rank()),
            format!("rank {}", odd.rank()),
        ));
    }
    let mut to = Vec::new();
    for k in 0..first.rank() {
        let all: Vec<&Axis> = shapes.iter().map(|s| &s.axes()[k]).collect();
        to.push(match k == axis {
            true => sum(builder, &all)?,
            false => agreed(builder, &all).map_err(|e| differ(shapes, k, e))?,
        });
    }
    let to = Shape::new(to);
    let parts: Vec<Arc<Node>> = nodes.iter().map(|n| builder.flatten(n)).collect();
    if axis == 0 {
        let all = match parts.as_slice() {
            [one] => one.clone(),
            all => builder.append(all),
        };
        return Ok(shaped(builder, &all, &to));
    }
    let made = computed(builder, &to, |b, at| read(b, &parts, shapes, axis, at));
    Ok(shaped(builder, &made, &to))
}

/// Reads the element of concatenated parts at an index with one part per axis.
fn read(
    b: &mut BodyBuilder,
    parts: &[Arc<Node>],
    shapes: &[Shape],
    axis: usize,
    at: &[TermId],
) -> Vec<TermId> {
    // For each part: the test that the index is before its end, and its element at that index.
    let mut fields: Vec<(TermId, Vec<TermId>)> = Vec::new();
    let mut start = b.lit(Const::u64(0));
    for (part, shape) in parts.iter().zip(shapes) {
        let n = shape.axes()[axis].term(b);
        let end = b.op(Op::Add, &[start, n]);
        let before = b.op(Op::Lt, &[at[axis], end]);
        let here = b.op(Op::Sub, &[at[axis], start]);
        let mut element = IndexedElement::new(b, part, shape);
        for (k, index) in at.iter().enumerate() {
            element.inside(k, if k == axis { here } else { *index });
        }
        fields.push((before, element.read()));
        start = end;
    }
    let Some((_, last)) = fields.pop() else {
        return Vec::new();
    };
    let choose = |other: Vec<TermId>, (before, here): (TermId, Vec<TermId>)| {
        let both = here.into_iter().zip(other);
        both.map(|(x, y)| b.cond(before, x, y)).collect()
    };
    fields.into_iter().rev().fold(last, choose)
}

/// Reorders the axes of a concatenation along axis 0. Each element is read from its array.
///
/// None for other arrays, and if the elements of an array come in order.
pub(super) fn reordered_join(
    builder: Builder,
    xs: &Arc<Node>,
    shape: &Shape,
    order: &[usize],
) -> Option<(Arc<Node>, Shape)> {
    let (Kind::Zip, [all], false) = (&xs.kind, xs.inputs.as_slice(), xs.is_leaf()) else {
        return None;
    };
    if !matches!(all.kind, Kind::Append) || all.is_leaf() || order.is_sorted() {
        return None;
    }
    let parts = &all.inputs[..];
    let shapes: Vec<Shape> = parts
        .iter()
        .map(|part| part_shape(builder, part, shape))
        .collect::<Option<_>>()?;
    let lengths = shapes.iter().map(|s| s.axes()[0].known());
    let length: Option<u64> = lengths.sum();
    if length != shape.axes()[0].known() || parts.iter().any(|part| part.comes_in_order()) {
        return None;
    }
    let to = chosen(shape, order.iter().copied());
    let made = computed(builder, &to, |b, at| {
        let mut own = at.to_vec();
        for (k, index) in order.iter().zip(at) {
            own[*k] = *index;
        }
        read(b, parts, &shapes, 0, &own)
    });
    Some((made, to))
}

/// The shape that a part has in a concatenation of this shape along axis 0, if it is known.
fn part_shape(builder: Builder, part: &Arc<Node>, whole: &Shape) -> Option<Shape> {
    let own = match (&part.kind, part.inputs.as_slice()) {
        (Kind::Zip, [of]) if of.rank > 1 => of.shape.clone()?,
        _ => Shape::new([builder.length(part.known_len()?)]),
    };
    let own = match own.rank() + 1 == whole.rank() {
        true => Shape::new(
            [builder.length(1)]
                .into_iter()
                .chain(own.axes().iter().cloned()),
        ),
        false => own,
    };
    let mut others = own.axes().iter().zip(whole.axes()).skip(1);
    let fits = own.rank() == whole.rank() && others.all(|(a, b)| a.is(b));
    fits.then_some(own)
}

/// Finds the first shape that differs from the first one in an axis.
fn differ(shapes: &[Shape], axis: usize, other: ErrorKind) -> ErrorKind {
    let of = |s: &&Shape| s.axes()[axis].known();
    let first = shapes.iter().find(|s| of(s).is_some());
    let odd = first.and_then(|f| shapes.iter().find(|s| of(s).is_some() && of(s) != of(&f)));
    match (first, odd) {
        (Some(first), Some(odd)) => ErrorKind::ShapeMismatch {
            expected: first.to_string().into(),
            got: odd.to_string().into(),
        },
        _ => other,
    }
}
