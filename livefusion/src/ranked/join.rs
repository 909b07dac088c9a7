//! Arrays beside each other: `concat_axis`, `stack`.

use super::axes::sum;
use super::make::{Element, agreed, axis_of, built, computed, flat, shape, shaped};
use crate::array::{Array, Dim, Multi};
use crate::ast::{Axis, Builder, Node, Shape, TermId};
use crate::elt::Elt;
use crate::error::ErrorKind;
use loop_lang::op::Op;
use loop_lang::types::Const;
use std::sync::Arc;

/// Arrays one behind the other along an axis. Their other axes are equally long. Along axis 0 it is an append: it fuses with
/// what makes the arrays, and with maps, zips, and folds of all elements; folds and scans along an axis read it from memory.
/// Along another axis each element is read from its array, or computed where it is read, if it is a cheap function of its
/// index.
///
/// ```
/// use livefusion::prelude::*;
/// let (a, b) = (Array::from([[1i64, 2], [3, 4]]), Array::from([[5i64], [6]]));
/// assert_eq!(concat_axis(1, &[&a, &b]).force()?, [[1, 2, 5], [3, 4, 6]]);
/// assert_eq!(concat_axis(0, &[&a, &a]).sum_axis(0).force()?, [8, 12]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// When forced: if there are no arrays, there is no such axis, or lengths of other axes differ.
#[track_caller]
pub fn concat_axis<T: Elt, D: Dim>(axis: usize, arrays: &[&Array<T, D>]) -> Array<T, D> {
    let builder = Builder::named("concat_axis");
    let nodes: Vec<&Arc<Node>> = arrays.iter().map(|a| a.node()).collect();
    built(builder, &nodes, || {
        let shapes: Vec<Shape> = arrays.iter().map(|a| shape(builder, a)).collect();
        joined(builder, &nodes, &shapes, axis)
    })
}

/// Arrays of one shape one behind the other along a new axis, which is axis `axis` of the result. Costs what
/// [`concat_axis`] does.
///
/// ```
/// use livefusion::prelude::*;
/// let (a, b) = (Array::from(vec![1i64, 2]), Array::from(vec![3i64, 4]));
/// assert_eq!(stack(0, &[&a, &b]).force()?, [[1, 2], [3, 4]]);
/// assert_eq!(stack(1, &[&a, &b]).force()?, [[1, 3], [2, 4]]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// When forced: if there are no arrays, there would be no such axis, or shapes differ.
#[track_caller]
pub fn stack<T: Elt, D: Dim>(axis: usize, arrays: &[&Array<T, D>]) -> Array<T, D::Larger>
where
    D::Larger: Multi,
{
    let builder = Builder::named("stack");
    let nodes: Vec<&Arc<Node>> = arrays.iter().map(|a| a.node()).collect();
    built(builder, &nodes, || {
        let longer = |a: &&Array<T, D>| {
            let mut axes = shape(builder, a).axes().to_vec();
            if axis <= axes.len() {
                axes.insert(axis, builder.length(1));
            }
            Shape::new(axes)
        };
        let shapes: Vec<Shape> = arrays.iter().map(longer).collect();
        joined(builder, &nodes, &shapes, axis)
    })
}

/// Arrays, which are seen with these shapes, one behind the other.
fn joined(
    builder: Builder,
    nodes: &[&Arc<Node>],
    shapes: &[Shape],
    axis: usize,
) -> Result<Arc<Node>, ErrorKind> {
    let malformed = |expected: &str, got: String| ErrorKind::Malformed {
        expected: expected.to_string(),
        got,
    };
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
    let parts: Vec<Arc<Node>> = nodes.iter().map(|n| flat(builder, n)).collect();
    if axis == 0 {
        let all = match parts.as_slice() {
            [one] => one.clone(),
            all => builder.append(all),
        };
        return Ok(shaped(builder, &all, &to));
    }
    let made = computed(builder, &to, |b, at| {
        // Each part with the index behind which it ends, and its element, where that is.
        let mut fields: Vec<(TermId, Vec<TermId>)> = Vec::new();
        let mut start = b.lit(Const::u64(0));
        for (part, shape) in parts.iter().zip(shapes) {
            let n = shape.axes()[axis].term(b);
            let end = b.op(Op::Add, &[start, n]);
            let before = b.op(Op::Lt, &[at[axis], end]);
            let here = b.op(Op::Sub, &[at[axis], start]);
            let mut element = Element::new(b, part, shape);
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
    });
    Ok(shaped(builder, &made, &to))
}

/// The first shape that does not fit the first one in an axis.
fn differ(shapes: &[Shape], axis: usize, other: ErrorKind) -> ErrorKind {
    let of = |s: &&Shape| s.axes()[axis].known();
    let first = shapes.iter().find(|s| of(s).is_some());
    let odd = first.and_then(|f| shapes.iter().find(|s| of(s).is_some() && of(s) != of(&f)));
    match (first, odd) {
        (Some(first), Some(odd)) => ErrorKind::ShapeMismatch {
            expected: first.to_string(),
            got: odd.to_string(),
        },
        _ => other,
    }
}
