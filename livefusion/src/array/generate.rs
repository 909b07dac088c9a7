//! Index functions: `generate`, `iota`, `enum_from_step`, `linspace`, `replicate`.

use crate::array::length::IntoLen;
use crate::array::{Array, Dim, IntoShape, Ix1, Spread, extent};
use crate::ast::{
    Axis, Body, BodyBuilder, Builder, Field, Fields, Len, Node, TermId, fits, identity, trace,
};
use crate::elt::{Elt, Float, Num};
use crate::exp::{IntoExp, ToExp, types_of, value};
use crate::over::NUMBERS;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Untyped forms besides [`Builder::generate`].
impl Builder {
    /// Returns the `n` numbers `0, 1, ...` of type `u64`.
    pub fn iota(self, n: Len) -> Arc<Node> {
        self.generate(n, identity(&[Ty::U64]))
    }

    /// Returns `n` numbers `start, start + step, ...`.
    ///
    /// `start` and `step` are bodies without parameters that give one number of the same type.
    pub fn enum_from_step(self, n: Len, start: &Body, step: &Body) -> Arc<Node> {
        let loc = self.loc();
        let body = trace(&[Ty::U64], |i| {
            let (start, step) = (Field::apply(start, &[], loc), Field::apply(step, &[], loc));
            let ([start], [step]) = (&start[..], &step[..]) else {
                let got = format!("{} and {} fields", start.len(), step.len());
                let wrong = Field::mistake(Ty::U64, NUMBERS.to_string(), got, loc);
                return Fields::from_slice(&[wrong]);
            };
            let way = Field::op(Op::Mul, &[i[0].cast(start.ty(), loc), *step], loc);
            Fields::from_slice(&[Field::op(Op::Add, &[*start, way], loc)])
        });
        self.generate(n, body)
    }

    /// Returns `n` floats evenly spread from `start` to `stop`, both included.
    ///
    /// `start` and `stop` are bodies without parameters.
    pub fn linspace(self, n: Axis, start: &Body, stop: &Body) -> Arc<Node> {
        let loc = self.loc();
        let ty = start
            .result_types_or_none()
            .first()
            .copied()
            .unwrap_or(Ty::F64);
        let ends = [start, stop].map(|end| fits(end, "a float", &[], Some(&[ty])));
        if let Some(kind) = ends.into_iter().find_map(Result::err) {
            return self.fault(&[ty], 1, kind);
        }
        let body = trace(&[Ty::U64], |i| {
            let ends = [start, stop].map(|end| Field::apply(end, &[], loc)[0]);
            let op = |op, args: &[Field]| Field::op(op, args, loc);
            let one = Field::literal(Const::u64(1));
            let all = n.value(loc);
            let steps = op(
                Op::Max,
                &[op(Op::Sub, &[op(Op::Max, &[all, one]), one]), one],
            );
            Fields::from_slice(&[Spread::new(steps, ends, loc).at(i[0])])
        });
        self.generate(n.len(), body)
    }
}

/// Returns the array of `f(0), f(1), ..., f(n - 1)`.
///
/// Fused elements cost nothing extra: each is computed where it is used.
///
/// ```
/// use livefusion::prelude::*;
/// assert_eq!(generate(4, |i| i * i).force()?, [0, 1, 4, 9]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// A tuple of lengths gives an array of higher rank, and the function gets a tuple of indices. An
/// array of lengths does the same, as does a `Vec` for rank [`IxDyn`](crate::array::IxDyn). Each
/// length is a number or a delayed scalar.
///
/// ```
/// use livefusion::prelude::*;
/// let table = generate((2, 3), |(i, j)| 10 * i + j);
/// assert_eq!(table.force()?, [[0, 1, 2], [10, 11, 12]]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// When forced: if a length is negative, or the result exceeds the memory limit.
#[doc(alias("fromfunction", "from_shape_fn", "from_fn", "tabulate"))]
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

/// Returns `0, 1, ..., n - 1`.
///
/// ```
/// use livefusion::prelude::*;
/// let xs = Array::from(vec![7.0f64, 8.0]);
/// assert_eq!(iota(xs.len()).force()?, [0, 1]);
/// # Ok::<(), livefusion::Error>(())
/// ```
#[doc(alias("arange", "range"))]
#[track_caller]
pub fn iota(n: impl IntoLen) -> Array<u64> {
    build(Builder::named("iota"), n, |b, n| b.iota(n))
}

/// Returns `n` elements `start, start + step, ...`.
///
/// Integers wrap. A float element is `start + i * step`, so errors do not accumulate.
///
/// ```
/// use livefusion::prelude::*;
/// assert_eq!(enum_from_step(4, 10, -3).force()?, [10, 7, 4, 1]);
/// # Ok::<(), livefusion::Error>(())
/// ```
#[doc(alias("arange", "step_by", "enumFromStepN"))]
#[track_caller]
pub fn enum_from_step<S: IntoExp>(
    n: impl IntoLen,
    start: S,
    step: impl ToExp<S::Elt>,
) -> Array<S::Elt>
where
    S::Elt: Num,
{
    let builder = Builder::named("enum_from_step");
    let start = value::<S::Elt>(|| start.to_exp());
    let step = value::<S::Elt>(|| step.to_exp());
    build(builder, n, |b, n| b.enum_from_step(n, &start, &step))
}

/// Spreads `n` numbers evenly from `start` to `stop`, both included.
///
/// If `n` is 1, the result is `start`. Between finite ends all numbers are finite and in order. An
/// infinite end makes numbers NaN.
///
/// ```
/// use livefusion::prelude::*;
/// assert_eq!(linspace(0.0, 1.0, 5).force()?, [0.0, 0.25, 0.5, 0.75, 1.0]);
/// // From the smallest element to the largest.
/// let xs = Array::from(vec![3.0f64, -1.0, 4.0]);
/// assert_eq!(linspace(&xs.min(), &xs.max(), 3).force()?, [-1.0, 1.5, 4.0]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// *Cost and fusion.* An index function, as is [`enum_from_step`], which takes the step instead of
/// the end. For `f64` the result is bitwise equal to NumPy's under two conditions: the spacing is a
/// normal number, and `stop - start` does not overflow.
///
/// # Errors
/// When forced: if `n` is negative.
#[track_caller]
pub fn linspace<S: IntoExp>(start: S, stop: impl ToExp<S::Elt>, n: impl IntoLen) -> Array<S::Elt>
where
    S::Elt: Float,
{
    let builder = Builder::named("linspace");
    let start = value::<S::Elt>(|| start.to_exp());
    let stop = value::<S::Elt>(|| stop.to_exp());
    Array::wrap(match extent(builder, n) {
        Ok(n) => builder.linspace(n, &start, &stop),
        Err(kind) => builder.fault(&types_of::<S::Elt>(), 1, kind),
    })
}

/// Repeats an element `n` times.
///
/// The element is a value, a delayed scalar, or a tuple of these.
///
/// ```
/// use livefusion::prelude::*;
/// let total = Array::from(vec![1.0f64, 2.0]).sum();
/// assert_eq!(replicate(2, &total).force()?, [3.0, 3.0]);
/// assert_eq!(replicate((2, 2), 1u8).force()?, [[1, 1], [1, 1]]);
/// # Ok::<(), livefusion::Error>(())
/// ```
#[doc(alias("full", "repeat", "ones", "zeros", "from_elem"))]
#[track_caller]
pub fn replicate<S: IntoShape, R: IntoExp>(shape: S, x: R) -> Array<R::Elt, S::Rank> {
    let builder = Builder::named("replicate");
    crate::ranked::repeated(builder, shape.into_shape(builder), || x.to_exp())
}

fn build<T: Elt>(
    builder: Builder,
    n: impl IntoLen,
    make: impl FnOnce(Builder, Len) -> Arc<Node>,
) -> Array<T, Ix1> {
    Array::wrap(match n.into_len().0.len() {
        Ok(len) => make(builder, len),
        Err(kind) => builder.fault(&types_of::<T>(), 1, kind),
    })
}

/// Builds a body that reads all fields of an element of `source`. The index is computed from the
/// parameter and is in range by construction.
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
