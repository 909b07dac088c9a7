//! Extremes, means and variances along axes, with their own algorithms.

use super::fold::{Folded, along};
use super::make::{computed, mapped};
use crate::array::{
    Array, Ix0, Multi, Statistic, as_pair, corrected, float, number, pairs, pairs_in_order,
    plain_sum,
};
use crate::ast::{Body, BodyBuilder, Builder, Fold, Node, TermId, identities};
use crate::elt::Elt;
use crate::error::ErrorKind;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::sync::Arc;

impl Builder {
    /// Folds along axes without a start, by an idempotent step.
    pub(crate) fn chosen_along(self, xs: &Arc<Node>, axes: &[usize], step: Body) -> Arc<Node> {
        along(self, xs, axes, &xs.types, |folded, elements| {
            first_or(self, folded, elements, step)
        })
    }

    /// Computes the means along axes.
    pub(crate) fn mean_along(self, xs: &Arc<Node>, axes: &[usize]) -> Arc<Node> {
        self.statistics_along(xs, axes, |folded, floats, ty| {
            means(self, folded, floats, ty)
        })
    }

    /// Computes the variances along axes.
    pub(crate) fn var_along(self, xs: &Arc<Node>, axes: &[usize]) -> Arc<Node> {
        self.statistics_along(xs, axes, |folded, floats, ty| {
            variances(self, folded, floats, ty)
        })
    }

    /// Computes a statistic of the elements cast to `f64`. The result has the type of a mean.
    fn statistics_along(
        self,
        xs: &Arc<Node>,
        axes: &[usize],
        make: impl FnOnce(&Folded<'_>, &Arc<Node>, Ty) -> Arc<Node>,
    ) -> Arc<Node> {
        let types = [number(xs).map_or(Ty::F64, float)];
        along(self, xs, axes, &types, |folded, elements| {
            let ty = number(xs)?;
            Ok(make(folded, &self.floats(elements), ty))
        })
    }

    /// Finds the index along one axis of the element that a step on pairs (value, index) selects.
    pub(crate) fn extremum_along(
        self,
        xs: &Arc<Node>,
        axes: &[usize],
        step: impl FnOnce(&Arc<Node>) -> Result<Body, ErrorKind>,
    ) -> Arc<Node> {
        along(self, xs, axes, &[Ty::U64], |folded, elements| {
            let (axis, step) = (one_of(axes)?, step(xs)?);
            let indices = computed(self, folded.shape, |_, parts| vec![parts[axis]]);
            let pairs = self.zip(&[elements.clone(), indices]);
            let found = first_or(self, folded, &pairs, step)?;
            Ok(self.fields(&found, 1..2))
        })
    }
}

/// Returns the axis of a combinator that accepts only one.
pub(super) fn one_of(axes: &[usize]) -> Result<usize, ErrorKind> {
    match axes {
        [axis] => Ok(*axis),
        _ => Err(ErrorKind::Malformed {
            expected: "one axis".to_string(),
            got: axes.len().to_string(),
        }),
    }
}

impl<T: Elt, D: Multi> Array<T, D> {
    /// Counts all elements.
    ///
    /// The elements are not computed unless a length depends on them.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = generate((2, 3), |(i, j)| i * j);
    /// assert_eq!((m.len().force()?, m.slice((.., 1..)).len().force()?), (6, 4));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn len(&self) -> Array<u64, Ix0> {
        let flat = Builder::named("flatten").flatten(self.node());
        Array::wrap(Builder::named("len").len(&flat))
    }
}

/// Folds without a start, by an idempotent step.
fn first_or(
    b: Builder,
    folded: &Folded<'_>,
    elements: &Arc<Node>,
    step: Body,
) -> Result<Arc<Node>, ErrorKind> {
    if folded.is_last() {
        return Ok(folded.fold(b, elements, Fold::first(step)));
    }
    let base = match identities(&step) {
        Some(identity) => folded.starts_of_some(b, &identity)?,
        None => folded.first(b, elements)?,
    };
    Ok(folded.onto(b, &base, elements, step))
}

/// Computes the means of folds of `f64`s, row by row.
fn means(builder: Builder, folded: &Folded<'_>, floats: &Arc<Node>, ty: Ty) -> Arc<Node> {
    let mean = Statistic::mean(ty);
    let sums = match mean.width() {
        1 => folded.fold(builder, floats, plain_sum()),
        _ => in_pairs(builder, folded, floats),
    };
    per_fold(builder, folded, &sums, |b, state, n| {
        mean.result(b, state, n)
    })
}

/// Sums with accumulated rounding errors. Folds from left to right add the elements to buffers of
/// pairs.
fn in_pairs(builder: Builder, folded: &Folded<'_>, floats: &Arc<Node>) -> Arc<Node> {
    match folded.is_last() {
        true => folded.fold(builder, floats, pairs()),
        false => {
            let elements = mapped(builder, floats, as_pair());
            folded.fold(builder, &elements, pairs_in_order())
        }
    }
}

/// Computes the variances of folds of `f64`s, from the distances to a number near the mean and
/// their squares.
fn variances(builder: Builder, folded: &Folded<'_>, floats: &Arc<Node>, ty: Ty) -> Arc<Node> {
    let sums = folded.fold(builder, floats, plain_sum());
    let near = per_fold(builder, folded, &sums, |b, sum, n| {
        let n = b.cast(n, Ty::F64);
        vec![b.op(Op::Div, &[sum[0], n])]
    });
    let away = distances(builder, folded, floats, &near);
    let mut b = BodyBuilder::new(&[Ty::F64]);
    let x = b.param(0);
    let square = b.op(Op::Mul, &[x, x]);
    let squares = mapped(builder, &away, b.finish(&[square]));
    let sum = folded.fold(builder, &away, plain_sum());
    let squares = match ty {
        Ty::F32 => as_pairs(builder, folded.fold(builder, &squares, plain_sum())),
        _ => in_pairs(builder, folded, &squares),
    };
    let corrected = corrected();
    per_fold(
        builder,
        folded,
        &builder.zip(&[sum, squares]),
        |b, sums, n| {
            let found = b.embed(&corrected, &[sums, &[n]].concat());
            let found = found.unwrap_or_default().into_iter();
            found.map(|x| b.cast(x, float(ty))).collect()
        },
    )
}

/// Converts exact numbers to pairs.
fn as_pairs(builder: Builder, xs: Arc<Node>) -> Arc<Node> {
    mapped(builder, &xs, as_pair())
}

/// Applies a function to the result of each fold and its number of elements.
fn per_fold(
    builder: Builder,
    folded: &Folded<'_>,
    results: &Arc<Node>,
    make: impl FnOnce(&mut BodyBuilder, &[TermId], TermId) -> Vec<TermId>,
) -> Arc<Node> {
    let size = folded.size(builder);
    let mut b = BodyBuilder::new(&results.types);
    let fields: Vec<TermId> = (0..results.types.len() as u32)
        .map(|k| b.param(k))
        .collect();
    let n = size.term(&mut b);
    let made = make(&mut b, &fields, n);
    mapped(builder, results, b.finish(&made))
}

/// Subtracts a number per fold from the elements.
fn distances(
    builder: Builder,
    folded: &Folded<'_>,
    floats: &Arc<Node>,
    from: &Arc<Node>,
) -> Arc<Node> {
    let mut b = BodyBuilder::new(&[Ty::F64, Ty::F64]);
    let sides = [b.param(0), b.param(1)];
    let away = b.op(Op::Sub, &sides);
    let away = b.finish(&[away]);
    let spread = match (from.rank, folded.rows(builder)) {
        (0, _) => computed(builder, folded.shape, |b, _| vec![b.scalar(from, 0)]),
        (_, Some(rows)) if folded.is_last() => builder.spread(&rows, from),
        _ => computed(builder, folded.shape, |b, parts| {
            let at = folded.place(b, parts);
            vec![b.at(from, 0, at, false)]
        }),
    };
    builder.map(&[floats.clone(), spread], away)
}
