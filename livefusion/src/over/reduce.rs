//! Folds that everyone knows: `sum`, `product`, `min`, `max`, `any`, `all`, `count`, `mean`, `var`, `std`.

use super::moments::Statistic;
use super::{Along, Axes, Domain, over};
use crate::array::up_to_first;
use crate::array::{Array, Dim, Ix0};
use crate::ast::{Body, BodyBuilder, Builder, Field, Fold, Node, TermId, fits, show_types, trace};
use crate::elt::{Elt, Num};
use crate::error::ErrorKind;
use crate::exp::{ToExp, closure};
use crate::segmented::Segmented;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Elements that are not one number each are a mistake; a test takes the fields of an element.
impl Builder {
    /// Sums the elements, from 0.
    pub fn sum<'a>(self, of: impl Into<Domain<'a>>) -> Arc<Node> {
        self.joined(of.into(), |ty| by(Op::Add, Const::zero(ty)))
    }

    /// Multiplies the elements, from 1.
    pub fn product<'a>(self, of: impl Into<Domain<'a>>) -> Arc<Node> {
        self.joined(of.into(), |ty| by(Op::Mul, one(ty)))
    }

    /// Finds the smallest element; an error if there are none.
    pub fn min<'a>(self, of: impl Into<Domain<'a>>) -> Arc<Node> {
        self.chosen(of.into(), Op::Min)
    }

    /// Finds the largest element; an error if there are none.
    pub fn max<'a>(self, of: impl Into<Domain<'a>>) -> Arc<Node> {
        self.chosen(of.into(), Op::Max)
    }

    /// Divides the sum by the number of elements: floats of the elements' type, of integers `f64`s.
    pub fn mean<'a>(self, of: impl Into<Domain<'a>>) -> Arc<Node> {
        self.measured(of.into(), Statistic::mean, |xs, axes| {
            self.mean_along(xs, axes)
        })
    }

    /// Averages the squares of the distances from the mean; of the types that means have.
    pub fn var<'a>(self, of: impl Into<Domain<'a>>) -> Arc<Node> {
        self.measured(of.into(), Statistic::var, |xs, axes| {
            self.var_along(xs, axes)
        })
    }

    /// Takes the square root of the variance.
    pub fn std<'a>(self, of: impl Into<Domain<'a>>) -> Arc<Node> {
        self.measured(of.into(), Statistic::std, |xs, axes| {
            let loc = self.loc();
            let variances = self.var_along(xs, axes);
            let root = trace(&variances.types, |x| {
                x.iter().map(|x| Field::op(Op::Sqrt, &[*x], loc)).collect()
            });
            match variances.error {
                Some(_) => variances,
                None => self.map(&[variances], root),
            }
        })
    }

    /// Tells whether a test is true for some element.
    pub fn any<'a>(self, of: impl Into<Domain<'a>>, test: Body) -> Arc<Node> {
        let of = of.into();
        let tags = self.tags_up_to(of, test, true);
        self.fold(of.with(&tags), by(Op::Or, Const::bool(false)))
    }

    /// Tells whether a test is true for every element.
    pub fn all<'a>(self, of: impl Into<Domain<'a>>, test: Body) -> Arc<Node> {
        let of = of.into();
        let tags = self.tags_up_to(of, test, false);
        self.fold(of.with(&tags), by(Op::And, Const::bool(true)))
    }

    /// Counts the elements for which a test is true (`u64`).
    pub fn count<'a>(self, of: impl Into<Domain<'a>>, test: Body) -> Arc<Node> {
        let of = of.into();
        let ones = match of {
            Domain::All(xs) => self.ones(&self.row_by_row(xs), test),
            of => self.ones(of.data(), test),
        };
        self.fold(of.with(&ones), by(Op::Add, Const::u64(0)))
    }

    /// A fold of numbers by a single operator, which lowering recognises.
    fn joined(self, of: Domain<'_>, fold: impl FnOnce(Ty) -> Fold) -> Arc<Node> {
        let like = (&of.data().types[..], of.rank());
        self.numbers(of.data(), like, |ty| self.fold(of, fold(ty)))
    }

    /// A fold of numbers without a start, by an operator that gives one of its operands.
    fn chosen(self, of: Domain<'_>, op: Op) -> Arc<Node> {
        let like = (&of.data().types[..], of.rank());
        self.numbers(of.data(), like, |ty| self.fold_chosen(of, step_of(op, ty)))
    }

    /// A fold without a start, by a step of which an element joined with itself is itself.
    pub(super) fn fold_chosen(self, of: Domain<'_>, step: Body) -> Arc<Node> {
        match of {
            Domain::Along(xs, axes) => self.chosen_along(xs, axes, step),
            of => self.fold(of, Fold::first(step)),
        }
    }

    /// A statistic of numbers. Along axes it has an order of its own.
    fn measured(
        self,
        of: Domain<'_>,
        statistic: fn(Ty) -> Statistic,
        along: impl FnOnce(&Arc<Node>, &[usize]) -> Arc<Node>,
    ) -> Arc<Node> {
        let like = (&of.data().types[..], of.rank());
        self.numbers(of.data(), like, |ty| match of {
            Domain::All(xs) => self.statistic(&self.row_by_row(xs), &statistic(ty)),
            Domain::Along(xs, axes) => along(xs, axes),
            Domain::Segments(lengths, data) => {
                self.statistic_of_each(lengths, data, &statistic(ty))
            }
        })
    }

    /// A statistic of each segment.
    fn statistic_of_each(
        self,
        lengths: &Arc<Node>,
        data: &Arc<Node>,
        statistic: &Statistic,
    ) -> Arc<Node> {
        let floats = self.floats(data);
        let states = self.fold(Domain::Segments(lengths, &floats), statistic.fold.clone());
        let mut b = BodyBuilder::new(&[&states.types[..], &[Ty::U64]].concat());
        b.locate(Some(self.loc()));
        let state: Vec<TermId> = (0..statistic.width()).map(|k| b.param(k)).collect();
        let n = b.param(statistic.width());
        let result = statistic.result(&mut b, &state, n);
        self.map(&[states, lengths.clone()], b.finish(&result))
    }

    /// The results of a test; of all elements those up to the first that decides.
    fn tags_up_to(self, of: Domain<'_>, test: Body, decides: bool) -> Arc<Node> {
        match of {
            Domain::All(xs) => up_to_first(self, &self.tags(&self.row_by_row(xs), test), decides),
            of => self.tags(of.data(), test),
        }
    }

    /// The numbers that add up to the count of the elements of which a test is true.
    pub(crate) fn ones(self, xs: &Arc<Node>, test: Body) -> Arc<Node> {
        if fits(&test, "a test", &xs.types, Some(&[Ty::Bool])).is_err() {
            return self.tags(xs, test);
        }
        let loc = self.loc();
        let one = trace(&xs.types, |x| {
            let tags = Field::apply(&test, x, loc).into_iter();
            tags.map(|tag| tag.cast(Ty::U64, loc)).collect()
        });
        self.map(std::slice::from_ref(xs), one)
    }

    /// What is made of elements that are one number each, of this type; of others a mistake, of these types and this
    /// rank.
    pub(crate) fn numbers(
        self,
        xs: &Arc<Node>,
        like: (&[Ty], u8),
        make: impl FnOnce(Ty) -> Arc<Node>,
    ) -> Arc<Node> {
        match number(xs) {
            Ok(ty) => make(ty),
            Err(kind) => self.instead(&[xs], like, kind),
        }
    }

    /// The result of a test for each element.
    pub(crate) fn tags(self, xs: &Arc<Node>, test: Body) -> Arc<Node> {
        let tags = self.map(std::slice::from_ref(xs), test);
        match *tags.types == [Ty::Bool] {
            true => tags,
            false => self.unfit(&tags, &[Ty::Bool], tags.rank, "a test to bool"),
        }
    }

    /// An array of several axes as one of its elements, row by row.
    pub(crate) fn row_by_row(self, xs: &Arc<Node>) -> Arc<Node> {
        match xs.rank {
            0 | 1 => xs.clone(),
            _ => self.renamed("flatten").reshape(xs, None),
        }
    }
}

/// The one type of an array's elements, which are numbers.
pub(crate) fn number(node: &Node) -> Result<Ty, ErrorKind> {
    match node.types[..] {
        [ty] if ty.is_num() => Ok(ty),
        _ => Err(ErrorKind::Malformed {
            expected: NUMBERS.to_string(),
            got: show_types(&node.types),
        }),
    }
}

/// What elements of a combinator on numbers are.
pub(crate) const NUMBERS: &str = "elements of one number each";

/// Elements that can be added up: numbers, and complex ones.
#[diagnostic::on_unimplemented(
    message = "only numbers are added up, and `{Self}` is none",
    note = "to count with a `bool`, `.cast::<u64>()` it; of tuples and structs, take the fields"
)]
pub trait Summed: Elt {
    /// Sums such elements.
    fn sum_of(builder: Builder, of: Domain<'_>) -> Arc<Node>;
}

impl<T: Num> Summed for T {
    fn sum_of(builder: Builder, of: Domain<'_>) -> Arc<Node> {
        builder.sum(of)
    }
}

over! { folds T: Summed;
    /// Sums the elements.
    ///
    /// Sums go from 0, which is that of no elements; integers wrap. Floats are added in several lanes, see
    /// [`fold`](Array::fold), or, along another axis than the last one, from left to right.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1.0f64, 2.0, 3.5]);
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// let rows = Segmented::from_vecs(vec![vec![3u32, 1], vec![], vec![2]]);
    /// assert_eq!(xs.sum().force()?, 6.5);
    /// assert_eq!((m.along(0).sum().to_vec()?, m.along(1).sum().to_vec()?), (vec![4, 6], vec![3, 7]));
    /// assert_eq!(rows.sum().force()?, [4, 0, 2]);
    /// let cube = generate((2, 3, 2), |(i, j, k)| 100 * i + 10 * j + k);
    /// assert_eq!(cube.along([0, 2]).sum().force()?, [202, 242, 282]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* One pass, which fuses as [`fold`](Array::fold) does.
    #[doc(alias("sum_axis", "sum_axes", "sum_s", "add.reduceat"))]
    pub fn sum() -> T, "Sums the elements" => |builder, of| T::sum_of(builder, of);
}

over! { folds T: Num;
    /// Multiplies the elements.
    ///
    /// Products go from 1, which is that of no elements; integers wrap. Otherwise as [`sum`](Array::sum).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![]]);
    /// assert_eq!((m.product().force()?, m.along(0).product().to_vec()?), (24, vec![3, 8]));
    /// assert_eq!(rows.product().force()?, [3, 1]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("prod", "product_axis", "product_axes", "product_s"))]
    pub fn product() -> T, "Multiplies the elements" => |builder, of| builder.product(of);

    /// Finds the smallest element.
    ///
    /// Floats: NaN is ignored (of NaN alone it is NaN), -0.0 is below +0.0. Memory is read in order, along whatever
    /// axis.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![2.0f64, f64::NAN, -1.0]);
    /// assert_eq!((&xs.min(), &xs.max()).force()?, (-1.0, 2.0));
    /// let m = Array::from([[1.0f64, -2.0], [f64::NAN, 4.0]]);
    /// assert_eq!((m.along(0).min().to_vec()?, m.along(1).max().to_vec()?), (vec![1.0, -2.0], vec![1.0, 4.0]));
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![2]]);
    /// assert_eq!((rows.min().to_vec()?, rows.max().to_vec()?), (vec![1, 2], vec![3, 2]));
    /// assert!(Segmented::from_vecs(vec![Vec::<i64>::new()]).max().force().is_err());
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are no elements.
    #[doc(alias("amin", "nanmin", "min_axis", "min_axes", "min_s", "minimum.reduceat"))]
    pub fn min() -> T, "Finds the smallest element" => |builder, of| builder.min(of);

    /// Finds the largest element.
    ///
    /// Otherwise as [`min`](Array::min), which has examples.
    ///
    /// # Errors
    /// When forced: if there are no elements.
    #[doc(alias("amax", "nanmax", "max_axis", "max_axes", "max_s", "maximum.reduceat"))]
    pub fn max() -> T, "Finds the largest element" => |builder, of| builder.max(of);

    /// Averages the elements.
    ///
    /// Of `f32` elements it is summed up in `f64`, of others as a pair of `f64`s: a sum, and the rounding errors of
    /// its additions. Of integers it is an `f64`, so nothing wraps. One pass, which fuses as [`sum`](Array::sum) does.
    /// Along another axis than the last one, pairs of `f64`s are added to element by element, without vectors.
    ///
    /// *Accuracy.* Let `c` be the mean of the absolute values over the absolute value of the mean; of elements of one
    /// sign it is 1. Of `f64` the relative error is at most `(2 + 2 c) / 2^53`, however many elements there are. Of
    /// `f32` the result is within an ulp where `c` is below 4000, of up to `10^9` elements; along another axis than
    /// the last one, where `c` times the length is below `2^28`. Integers beyond `2^53` are rounded first.
    ///
    /// It is NaN if there are no elements, or a NaN, or infinities of both signs; infinite with infinities of one
    /// sign. A sum of `f64`s that is beyond the largest one has an infinite mean, or NaN.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![1.0f32, 2.0, 6.0]).mean().force()?, 3.0f32);
    /// assert_eq!(Array::from(vec![i64::MAX, i64::MAX]).mean().force()?, i64::MAX as f64);
    /// assert!(Array::<f64>::from(vec![]).mean().force()?.is_nan());
    /// let m = Array::from([[1i64, 2], [3, 5]]);
    /// assert_eq!((m.along(0).mean().to_vec()?, m.along(1).mean().to_vec()?), (vec![2.0, 3.5], vec![1.5, 4.0]));
    /// let rows = Segmented::from_vecs(vec![vec![3.0f64, 1.0], vec![2.0]]);
    /// assert_eq!(rows.mean().force()?, [2.0, 2.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("average", "mean_axis", "mean_axes", "mean_s"))]
    pub fn mean() -> T::Mean, "Averages the elements" => |builder, of| builder.mean(of);

    /// Averages the squares of the elements' distances from the mean.
    ///
    /// The divisor is `n`, not `n - 1` as of a sample. Of integers it is an `f64`. It is computed in one pass, in
    /// which nothing goes to memory, and which fuses as [`sum`](Array::sum) does: distances from an element of the
    /// array are added up, and their squares, so that no squares are taken of numbers that are large beside their
    /// spread.
    ///
    /// *Along axes* it takes two passes, of which the first finds a number near each mean. Its error is taken back, so
    /// that results are as accurate. Along the last axis both passes are over a row while it is in the cache. An array
    /// that is not in memory is kept there between them, or computed twice, if that is cheap.
    ///
    /// *Accuracy.* Elements are `f64`s on the way. Where no element is far outside of the others, results are within
    /// two ulps, however far from 0 the elements are. Let `k` be 1 and the square of an element's distance from the
    /// mean, over the variance: the relative error is at most `16 k / 2^53` for the greatest `k` there is, and never
    /// more than for `k = 2049`.
    ///
    /// It is 0 of one element; NaN of none, and if one is infinite or NaN. Distances above `1e154` have an infinite
    /// variance.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![2i64, 4, 4, 4, 5, 5, 7, 9]);
    /// assert_eq!((&xs.var(), &xs.std()).force()?, (4.0, 2.0));
    /// // Far from 0 no digit is lost.
    /// assert_eq!(Array::from(vec![1e9f64, 1e9 + 1.0]).var().force()?, 0.25);
    /// let m = Array::from([[1i64, 2], [3, 6]]);
    /// assert_eq!((m.along(0).var().to_vec()?, m.along(1).var().to_vec()?), (vec![1.0, 4.0], vec![0.25, 2.25]));
    /// let rows = Segmented::from_vecs(vec![vec![1i64, 3], vec![2]]);
    /// assert_eq!(rows.var().force()?, [1.0, 0.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("variance", "var_axis", "var_axes"))]
    pub fn var() -> T::Mean, "Computes the variance" => |builder, of| builder.var(of);

    /// Takes the square root of the variance: the standard deviation.
    ///
    /// It costs what the [variance](Array::var) does. It is NaN if there are no elements.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![1.0f64, 5.0]).std().force()?, 2.0);
    /// let m = Array::from([[1i64, 2], [3, 6]]);
    /// assert_eq!((m.along(0).std().to_vec()?, m.along(1).std().to_vec()?), (vec![1.0, 2.0], vec![0.5, 1.5]));
    /// assert_eq!(m.to_segmented().std().force()?, [0.5, 1.5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("stddev", "std_axis", "std_axes"))]
    pub fn std() -> T::Mean, "Computes the standard deviation" => |builder, of| builder.std(of);
}

over! { folds T: Elt;
    /// Tells whether `test` is true for some element.
    ///
    /// It is false if there are no elements. A loop over all elements in which nothing else is left to do ends at the
    /// first such one.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 5]);
    /// assert!(xs.any(|x| x.gt(4)).force()? && !xs.all(|x| x.gt(4)).force()?);
    /// let m = Array::from([[1i64, 2], [3, 0]]);
    /// assert_eq!(m.along(0).any(|x| x.gt(2)).force()?, [true, false]);
    /// assert_eq!(m.along(1).all(|x| x.gt(0)).force()?, [true, false]);
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![], vec![2]]);
    /// assert_eq!(rows.any(|x| x.gt(2)).force()?, [true, false, false]);
    /// assert_eq!(rows.all(|x| x.gt(1)).force()?, [false, true, true]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("or", "any_axis", "any_axes", "any_s"))]
    pub fn any(test: impl FnOnce(T::Exp) -> R) [R: ToExp<bool>] -> bool,
        "Tells whether a test is true for some element" => |builder, of| {
            builder.any(of, closure::<T, bool>(|x| test(x).to_exp()))
        };

    /// Tells whether `test` is true for every element.
    ///
    /// It is true if there are no elements. A loop over all elements in which nothing else is left to do ends at the
    /// first one for which the test is false. [`any`](Array::any) has examples.
    #[doc(alias("and", "all_axis", "all_axes", "all_s"))]
    pub fn all(test: impl FnOnce(T::Exp) -> R) [R: ToExp<bool>] -> bool,
        "Tells whether a test is true for every element" => |builder, of| {
            builder.all(of, closure::<T, bool>(|x| test(x).to_exp()))
        };

    /// Counts the elements for which `test` is true.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![1i64, 5, 7]).count(|x| x.gt(4)).force()?, 2);
    /// let m = Array::from([[1i64, 2], [3, 0]]);
    /// assert_eq!(m.along(1).count(|x| x.gt(0)).force()?, [2, 1]);
    /// assert_eq!(m.to_segmented().count(|x| x.gt(0)).force()?, [2, 1]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("count_nonzero", "count_axis", "count_axes", "count_s"))]
    pub fn count(test: impl FnOnce(T::Exp) -> R) [R: ToExp<bool>] -> u64,
        "Counts the elements for which a test is true" => |builder, of| {
            builder.count(of, closure::<T, bool>(|x| test(x).to_exp()))
        };
}

/// The number 1.
pub(crate) fn one(ty: Ty) -> Const {
    match ty {
        Ty::F64 => Const::f64(1.0),
        Ty::F32 => Const::f32(1.0),
        _ => Const::int(ty, 1),
    }
}

/// A fold by a single operator, which lowering recognises.
pub(crate) fn by(op: Op, start: Const) -> Fold {
    let mut b = BodyBuilder::new(&[]);
    let value = b.lit(start);
    Fold::associative(b.finish(&[value]), step_of(op, start.ty))
}

/// The step that is a single operator on numbers of a type.
pub(crate) fn step_of(op: Op, ty: Ty) -> Body {
    let mut b = BodyBuilder::new(&[ty, ty]);
    let args = [b.param(0), b.param(1)];
    let result = b.op(op, &args);
    b.finish(&[result])
}
