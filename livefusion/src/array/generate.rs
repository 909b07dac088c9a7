//! Arrays that are functions of the index: `generate`, `iota`, `enum_from_step`, `replicate`.

use crate::array::length::IntoLen;
use crate::array::{Array, Dim, IntoShape, Ix1};
use crate::ast::{Body, BodyBuilder, Builder, Node, TermId};
use crate::elt::{Elt, Num};
use crate::exp::{IntoExp, ToExp, apply, closure, types_of};
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::sync::Arc;

/// `n` elements `f(0), f(1), ...`. Costs nothing where it is fused: it is computed where it is used.
///
/// ```
/// use livefusion::prelude::*;
/// assert_eq!(generate(4, |i| i * i).force()?, [0, 1, 4, 9]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// With a tuple of lengths (or an array of them, or a `Vec` for rank [`IxDyn`](crate::array::IxDyn)) it is an array of
/// higher rank, and the function gets a tuple of indices. Each length is a number or a delayed scalar.
///
/// ```
/// use livefusion::prelude::*;
/// let table = generate((2, 3), |(i, j)| 10 * i + j);
/// assert_eq!(table.force()?, [[0, 1, 2], [10, 11, 12]]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// When forced: if a length is negative, or the result is beyond the memory limit.
#[track_caller]
pub fn generate<S: IntoShape, R: IntoExp>(
    shape: S,
    f: impl FnOnce(<S::Rank as Dim>::Index) -> R,
) -> Array<R::Elt, S::Rank> {
    let builder = Builder::named("generate");
    crate::ranked::generated(builder, shape.into_shape(builder), |index| {
        f(index).to_exp()
    })
}

/// `0, 1, ..., n - 1`.
///
/// ```
/// use livefusion::prelude::*;
/// let xs = Array::from(vec![7.0f64, 8.0]);
/// assert_eq!(iota(xs.len()).force()?, [0, 1]);
/// # Ok::<(), livefusion::Error>(())
/// ```
#[track_caller]
pub fn iota(n: impl IntoLen) -> Array<u64> {
    build(Builder::named("iota"), n, crate::ast::identity(&[Ty::U64]))
}

/// `start, start + step, ...`: `n` elements. Integers wrap; a float element is `start + i * step`,
/// so errors do not add up.
///
/// ```
/// use livefusion::prelude::*;
/// assert_eq!(enum_from_step(4, 10, -3).force()?, [10, 7, 4, 1]);
/// # Ok::<(), livefusion::Error>(())
/// ```
#[track_caller]
pub fn enum_from_step<S: IntoExp>(
    n: impl IntoLen,
    start: S,
    step: impl ToExp<S::Elt>,
) -> Array<S::Elt>
where
    S::Elt: Num,
{
    let loc = Loc::caller();
    let body = closure::<u64, S::Elt>(|i| {
        let (start, step) = (start.to_exp().field(), step.to_exp().field());
        let i = apply::<S::Elt>(Op::Cast, &[i.field()], loc).field();
        let way = apply::<S::Elt>(Op::Mul, &[i, step], loc).field();
        apply(Op::Add, &[start, way], loc)
    });
    build(Builder::at("enum_from_step", loc), n, body)
}

/// `n` times the same element: a value, a delayed scalar, a tuple of such.
///
/// ```
/// use livefusion::prelude::*;
/// let total = Array::from(vec![1.0f64, 2.0]).sum();
/// assert_eq!(replicate(2, &total).force()?, [3.0, 3.0]);
/// assert_eq!(replicate((2, 2), 1u8).force()?, [[1, 1], [1, 1]]);
/// # Ok::<(), livefusion::Error>(())
/// ```
#[track_caller]
pub fn replicate<S: IntoShape, R: IntoExp>(shape: S, x: R) -> Array<R::Elt, S::Rank> {
    let builder = Builder::named("replicate");
    crate::ranked::repeated(builder, shape.into_shape(builder), || x.to_exp())
}

fn build<T: Elt>(builder: Builder, n: impl IntoLen, body: Body) -> Array<T, Ix1> {
    Array::wrap(match n.into_len().0.len() {
        Ok(len) => builder.generate(len, body),
        Err(kind) => builder.fault(&types_of::<T>(), 1, kind),
    })
}

/// The body that reads all fields of an element of `source` at an index made from its parameter. The
/// index is in range by construction.
pub(crate) fn reading(
    builder: Builder,
    source: &Arc<Node>,
    index: impl FnOnce(&mut BodyBuilder, TermId) -> TermId,
) -> Body {
    let mut b = BodyBuilder::new(&[Ty::U64]);
    let i = b.locate(Some(builder.loc())).param(0);
    let index = index(&mut b, i);
    let fields: Vec<TermId> = (0..source.types.len() as u32)
        .map(|f| b.at(source, f, index, false))
        .collect();
    b.finish(&fields)
}
