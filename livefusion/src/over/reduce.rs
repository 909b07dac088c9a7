//! Common folds: `sum`, `product`, `min`, `max`, `any`, `all`, `count`, `mean`, `var`, `std`.

use super::moments::Statistic;
use super::{Along, Axes, Domain, over};
use crate::array::up_to_first;
use crate::array::{Array, Dim, Ix0};
use crate::ast::{
    Body, BodyBuilder, Builder, Field, Fold, Node, OperandTerm, TermId, fits, literal, operator,
    show_types, trace,
};
use crate::elt::{Elt, Num};
use crate::error::ErrorKind;
use crate::exp::{ToExp, closure};
use crate::segmented::Segmented;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Untyped forms. Elements must be one number each. A test takes the fields of an element.
impl Builder {
    /// Sums the elements, from 0.
    pub fn sum<'a>(self, of: impl Into<Domain<'a>>) -> Arc<Node> {
        self.joined(of.into(), |ty| by(Op::Add, Const::zero(ty)))
    }

    /// Multiplies the elements, from 1.
    pub fn product<'a>(self, of: impl Into<Domain<'a>>) -> Arc<Node> {
        self.joined(of.into(), |ty| by(Op::Mul, one(ty)))
    }

    /// Finds the smallest element.
    ///
    /// Fails if there are no elements.
    pub fn min<'a>(self, of: impl Into<Domain<'a>>) -> Arc<Node> {
        self.chosen(of.into(), Op::Min)
    }

    /// Finds the largest element.
    ///
    /// Fails if there are no elements.
    pub fn max<'a>(self, of: impl Into<Domain<'a>>) -> Arc<Node> {
        self.chosen(of.into(), Op::Max)
    }

    /// Divides the sum by the number of elements.
    ///
    /// The result has the type of float elements, and is `f64` for integers.
    pub fn mean<'a>(self, of: impl Into<Domain<'a>>) -> Arc<Node> {
        self.measured(of.into(), Statistic::mean, |xs, axes| {
            self.mean_along(xs, axes)
        })
    }

    /// Averages the squared distances from the mean.
    ///
    /// The result type is that of a mean.
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

    /// Tests if any element passes a test.
    pub fn any<'a>(self, of: impl Into<Domain<'a>>, test: Body) -> Arc<Node> {
        let of = of.into();
        let tags = self.tags_up_to(of, test, true);
        self.fold(of.with(&tags), by(Op::Or, Const::bool(false)))
    }

    /// Tests if every element passes a test.
    pub fn all<'a>(self, of: impl Into<Domain<'a>>, test: Body) -> Arc<Node> {
        let of = of.into();
        let tags = self.tags_up_to(of, test, false);
        self.fold(of.with(&tags), by(Op::And, Const::bool(true)))
    }

    /// Counts the elements that pass a test (`u64`).
    pub fn count<'a>(self, of: impl Into<Domain<'a>>, test: Body) -> Arc<Node> {
        let of = of.into();
        let ones = match of {
            Domain::All(xs) => self.ones(&self.row_by_row(xs), test),
            of => self.ones(of.data(), test),
        };
        self.fold(of.with(&ones), by(Op::Add, Const::u64(0)))
    }

    /// Folds numbers by a single operator, which lowering recognises.
    fn joined(self, of: Domain<'_>, fold: impl FnOnce(Ty) -> Fold) -> Arc<Node> {
        let like = (&of.data().types[..], of.rank());
        self.numbers(of.data(), like, |ty| self.fold(of, fold(ty)))
    }

    /// Folds numbers without a start, by an operator that returns one of its operands.
    fn chosen(self, of: Domain<'_>, op: Op) -> Arc<Node> {
        let like = (&of.data().types[..], of.rank());
        self.numbers(of.data(), like, |ty| self.fold_chosen(of, step_of(op, ty)))
    }

    /// Folds without a start, by an idempotent step.
    pub(super) fn fold_chosen(self, of: Domain<'_>, step: Body) -> Arc<Node> {
        match of {
            Domain::Along(xs, axes) => self.chosen_along(xs, axes, step),
            of => self.fold(of, Fold::first(step)),
        }
    }

    /// Computes a statistic of numbers. Along axes it uses another algorithm.
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

    /// Computes a statistic of each segment.
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

    /// Returns the results of a test. Over all elements they end at the first decisive one.
    fn tags_up_to(self, of: Domain<'_>, test: Body, decides: bool) -> Arc<Node> {
        match of {
            Domain::All(xs) => up_to_first(self, &self.tags(&self.row_by_row(xs), test), decides),
            of => self.tags(of.data(), test),
        }
    }

    /// Maps each element to 1 if it passes the test, else 0. Their sum is the count.
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

    /// Applies `make` to the type of elements that are one number each. For other elements it
    /// returns a mistake with the types and rank of `like`.
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

    /// Returns the result of a test for each element.
    pub(crate) fn tags(self, xs: &Arc<Node>, test: Body) -> Arc<Node> {
        let tags = self.map(std::slice::from_ref(xs), test);
        match *tags.types == [Ty::Bool] {
            true => tags,
            false => self.unfit(&tags, &[Ty::Bool], tags.rank, "a test to bool"),
        }
    }

    /// Flattens an array of several axes, row by row.
    pub(crate) fn row_by_row(self, xs: &Arc<Node>) -> Arc<Node> {
        match xs.rank {
            0 | 1 => xs.clone(),
            _ => self.renamed("flatten").reshape(xs, None),
        }
    }
}

/// Returns the type of elements that are one number each.
pub(crate) fn number(node: &Node) -> Result<Ty, ErrorKind> {
    match node.types[..] {
        [ty] if ty.is_num() => Ok(ty),
        _ => Err(ErrorKind::Malformed {
            expected: NUMBERS.to_string(),
            got: show_types(&node.types),
        }),
    }
}

/// The requirement on the elements of a numeric combinator.
pub(crate) const NUMBERS: &str = "elements of one number each";

/// Describes elements that can be summed: numbers and complex numbers.
#[diagnostic::on_unimplemented(
    message = "only numbers are added up, and `{Self}` is none",
    note = "to count with a `bool`, `.cast::<u64>()` it; of tuples and structs, take the fields"
)]
pub trait Summed: Elt {
    /// Sums the elements of a domain.
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
    /// A sum starts from 0, so without elements it is 0. Integers wrap. Floats are added in several
    /// lanes, see [`fold`](Array::fold). Along an axis other than the last, they are added from
    /// left to right.
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
    /// A product starts from 1, so without elements it is 1. Integers wrap. Otherwise as
    /// [`sum`](Array::sum).
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
    /// For floats NaN is ignored (if all are NaN, the result is NaN), and -0.0 is below +0.0.
    /// Memory is read in order, along every axis.
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
    /// `f32` elements are summed in `f64`. Other elements are summed in a pair of `f64`s: a sum,
    /// and the rounding errors of its additions. The mean of integers is an `f64`, so nothing
    /// wraps. One pass, which fuses as [`sum`](Array::sum) does. Along an axis other than the last,
    /// the pairs are updated element by element, without vectors.
    ///
    /// *Accuracy.* Let `c` be the mean of the absolute values divided by the absolute value of the
    /// mean. If all elements have one sign, `c` is 1. For `f64` the relative error is at most
    /// `(2 + 2 c) / 2^53`, for any number of elements. For `f32` the result is within an ulp for up
    /// to `10^9` elements if `c` is below 4000. Along an axis other than the last, this holds if
    /// `c` times the length is below `2^28`. Integers beyond `2^53` are rounded first.
    ///
    /// The mean is NaN without elements, with a NaN, or with infinities of both signs. With
    /// infinities of one sign it is infinite. If the sum exceeds the largest `f64`, the mean is
    /// infinite or NaN.
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

    /// Averages the squared distances of the elements from the mean.
    ///
    /// The divisor is `n`, not `n - 1` as for a sample. For integers the result is an `f64`. It
    /// takes one pass, stores nothing, and fuses as [`sum`](Array::sum) does. The pass sums the
    /// distances from an element of the array, and their squares. So it never squares numbers that
    /// are large compared with their spread.
    ///
    /// *Along axes* it takes two passes. The first finds a number near each mean, and the second
    /// corrects for its error, so the results are as accurate. Along the last axis both passes read
    /// a row while it is in the cache. An array that is not in memory is stored between the passes,
    /// or computed twice if that is cheap.
    ///
    /// *Accuracy.* Elements are converted to `f64`. Without far outliers, results are within two
    /// ulps, however far from 0 the elements are. Let `k` be the largest value of
    /// `1 + d^2 / variance`, where `d` is an element's distance from the mean. The relative error
    /// is at most `16 k / 2^53`, and never above its value for `k = 2049`.
    ///
    /// The variance of one element is 0. It is NaN without elements, or if an element is infinite
    /// or NaN. Distances above `1e154` give an infinite variance.
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

    /// Takes the square root of the variance.
    ///
    /// This is the standard deviation. It costs as much as the [variance](Array::var). Without
    /// elements it is NaN.
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
    /// Tests if `test` is true for any element.
    ///
    /// Without elements the result is false. A loop over all elements ends at the first such
    /// element if it has no other work.
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

    /// Tests if `test` is true for every element.
    ///
    /// Without elements the result is true. A loop over all elements ends at the first failure if
    /// it has no other work. [`any`](Array::any) has examples.
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
    Fold::associative(literal(start), step_of(op, start.ty))
}

/// A step that is a single operator on numbers of a type.
pub(crate) fn step_of(op: Op, ty: Ty) -> Body {
    operator(op, &[OperandTerm::Param(ty), OperandTerm::Param(ty)], None)
}
