//! Products: `outer`, `meshgrid`, `dot`, `matmul`.

use super::fold::Folded;
use super::make::{agreed, built, computed, shaped};
use crate::array::{Array, Dim, Ix0, Ix1, Ix2, Rank, by, length_of, number};
use crate::ast::{
    Body, BodyBuilder, Builder, Node, Shape, fits, flat_index, show_node, show_types,
};
use crate::elt::{Elt, Num};
use crate::error::ErrorKind;
use crate::exp::{Field, IntoExp, closure, trace};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

impl Builder {
    /// Returns the coordinates of a grid as two matrices.
    ///
    /// The first array runs along the rows, and the second along the columns.
    pub fn meshgrid(self, xs: &Arc<Node>, ys: &Arc<Node>) -> (Arc<Node>, Arc<Node>) {
        let loc = self.loc();
        let along = |of: &Arc<Node>, axis: usize| {
            built(self, &[xs, ys], (&of.types, 2), || {
                one_axis([xs, ys])?;
                let shape = Shape::new([ys, xs].map(|a| length_of(self, a)));
                Ok(self.generate_in(&shape, |at| Field::at_unchecked(of, at[axis], loc)))
            })
        };
        (along(xs, 1), along(ys, 0))
    }

    /// Applies `f` to each pair of elements of `xs` and `ys`.
    ///
    /// Both arrays have rank 1, and the result is a matrix. The parameters of the body are the
    /// fields of both elements.
    ///
    /// ```
    /// use livefusion::ast::{BodyBuilder, Builder, Op, Ty};
    /// use livefusion::prelude::*;
    /// let (xs, ys) = (Array::from(vec![1i64, 2]), Array::from(vec![10i64, 20, 30]));
    /// let mut f = BodyBuilder::new(&[Ty::I64, Ty::I64]);
    /// let both = [f.param(0), f.param(1)];
    /// let product = f.op(Op::Mul, &both);
    /// let table = Builder::named("outer").outer(xs.node(), ys.node(), &f.finish(&[product]));
    /// assert_eq!(Array::<i64, Ix2>::from_node(table)?.force()?, [[10, 20, 30], [20, 40, 60]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn outer(self, xs: &Arc<Node>, ys: &Arc<Node>, f: &Body) -> Arc<Node> {
        let loc = self.loc();
        let types = f.result_types_or_none();
        built(self, &[xs, ys], (&types, 2), || {
            one_axis([xs, ys])?;
            let both = [&xs.types[..], &ys.types[..]].concat();
            fits(f, "a function", &both, None)?;
            let axes = [self.shape(xs), self.shape(ys)];
            let shape = Shape::new(axes.iter().flat_map(|s| s.axes().iter().cloned()));
            let params: Vec<Ty> = [Ty::U64].iter().chain(&xs.types).copied().collect();
            let body = trace::trace(&params, |params| {
                let mut both = params[1..].to_vec();
                both.extend(Field::at_unchecked(ys, params[0], loc));
                Field::apply(f, &both, loc)
            });
            let rows = self.descriptors(&shape).pop();
            let made = rows.map(|rows| self.expand(&rows, std::slice::from_ref(xs), body));
            Ok(shaped(self, &made.ok_or(ErrorKind::Empty)?, &shape))
        })
    }

    /// Multiplies two vectors, a matrix and a vector, or two matrices.
    ///
    /// The result is the sums of products along the last axis of `left` and the first one of
    /// `right`. These axes must have the same length. Elements are one number each, of the same
    /// type.
    pub fn dot(self, left: &Arc<Node>, right: &Arc<Node>) -> Arc<Node> {
        let rank = left.rank.saturating_add(right.rank).saturating_sub(2);
        built(self, &[left, right], (&left.types, rank), || {
            let ty = number(left)?;
            if right.types != left.types {
                return Err(ErrorKind::Malformed {
                    expected: format!("elements of type {}", ty.name()),
                    got: show_types(&right.types),
                });
            }
            if let Some(odd) = [left, right].into_iter().find(|n| n.rank > 2) {
                let (expected, got) = ("a vector or a matrix".to_string(), show_node(odd));
                return Err(ErrorKind::Malformed { expected, got });
            }
            let shapes = [self.shape(left), self.shape(right)];
            let [(Some((last, rows)), a), (Some((first, columns)), b)] = [
                (shapes[0].axes().split_last(), self.flatten(left)),
                (shapes[1].axes().split_first(), self.flatten(right)),
            ] else {
                return Err(ErrorKind::Empty);
            };
            let inner = agreed(self, &[last, first]).map_err(|_| ErrorKind::ShapeMismatch {
                expected: shapes[0].to_string().into(),
                got: shapes[1].to_string().into(),
            })?;
            let fold = by(Op::Add, Const::zero(ty));
            // The folded axis precedes the columns, which are adjacent in memory and in the sums.
            let order = rows.iter().cloned().chain([inner]);
            let all = Shape::new(order.chain(columns.iter().cloned()));
            let products = match columns {
                [] => {
                    // The elements of the left operand come in order.
                    let others = match rows {
                        [] => b,
                        _ => computed(self, &all, |t, parts| {
                            parts
                                .last()
                                .map(|k| t.at(&b, 0, *k, false))
                                .into_iter()
                                .collect()
                        }),
                    };
                    let mut t = BodyBuilder::new(&[ty, ty]);
                    let sides = [t.param(0), t.param(1)];
                    let product = t.op(Op::Mul, &sides);
                    self.map(&[a, others], t.finish(&[product]))
                }
                _ => computed(self, &all, |t, parts| {
                    let (from, to) = (&parts[..=rows.len()], &parts[rows.len()..]);
                    let from = flat_index(t, from, &shapes[0]);
                    let to = flat_index(t, to, &shapes[1]);
                    let sides = [t.at(&a, 0, from, false), t.at(&b, 0, to, false)];
                    vec![t.op(Op::Mul, &sides)]
                }),
            };
            let folded = Folded::new(&all, &[rows.len()])?;
            let sums = folded.fold(self, &products, fold);
            Ok(folded.result(self, &sums))
        })
    }
}

/// Checks that both arrays have one axis.
fn one_axis(arrays: [&Arc<Node>; 2]) -> Result<(), ErrorKind> {
    match arrays.into_iter().find(|n| n.rank != 1) {
        Some(odd) => {
            let (expected, got) = ("an array of rank 1".to_string(), show_node(odd));
            Err(ErrorKind::Malformed { expected, got })
        }
        None => Ok(()),
    }
}

impl<T: Elt> Array<T> {
    /// Returns the coordinates of a grid as two matrices.
    ///
    /// They have a row per element of `ys`, and a column per element of this array. The first
    /// matrix holds the elements of this array, the second those of `ys`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (x, y) = linspace(0.0, 1.0, 3).meshgrid(&Array::from(vec![10.0, 20.0]));
    /// assert_eq!(x.force()?, [[0.0, 0.5, 1.0], [0.0, 0.5, 1.0]]);
    /// assert_eq!((&x + &y).force()?, [[10.0, 10.5, 11.0], [20.0, 20.5, 21.0]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* Both are index functions, which are never stored. To apply a function to
    /// both coordinates, use [`outer`](Array::outer).
    #[doc(alias("mgrid", "ogrid"))]
    #[track_caller]
    pub fn meshgrid<U: Elt>(&self, ys: &Array<U>) -> (Array<T, Ix2>, Array<U, Ix2>) {
        let (x, y) = Builder::named("meshgrid").meshgrid(self.node(), ys.node());
        (Array::wrap(x), Array::wrap(y))
    }

    /// Applies `f` to each pair of elements of this array and `other`.
    ///
    /// The result is a matrix. Fuses with the producer of this array and the consumers of the
    /// result. `other` is in memory, or recomputed at each read.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (xs, ys) = (Array::from(vec![1i64, 2]), Array::from(vec![10i64, 20, 30]));
    /// assert_eq!(xs.outer(&ys, |x, y| x * y).force()?, [[10, 20, 30], [20, 40, 60]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "multiply.outer")]
    #[track_caller]
    pub fn outer<U: Elt, R: IntoExp>(
        &self,
        other: &Array<U>,
        f: impl FnOnce(T::Exp, U::Exp) -> R,
    ) -> Array<R::Elt, Ix2> {
        let builder = Builder::named("outer");
        let f = closure::<(T, U), R::Elt>(|(x, y)| f(x, y).to_exp());
        Array::wrap(builder.outer(self.node(), other.node(), &f))
    }
}

/// Describes ranks that can be multiplied.
///
/// The product sums over the last axis of one and the first axis of the other.
#[diagnostic::on_unimplemented(
    message = "there is no product of arrays of rank `{Self}` and `{E}`"
)]
pub trait Dot<E>: Dim {
    /// Names the rank of the product.
    type Product: Rank;
}

impl Dot<Ix1> for Ix1 {
    type Product = Ix0;
}
impl Dot<Ix1> for Ix2 {
    type Product = Ix1;
}
impl Dot<Ix2> for Ix1 {
    type Product = Ix1;
}
impl Dot<Ix2> for Ix2 {
    type Product = Ix2;
}

impl<T: Num, D: Dim> Array<T, D> {
    /// Multiplies two vectors, a matrix and a vector, or two matrices.
    ///
    /// The result is the sums of products along the last axis of this array and the first one of
    /// `other`. It is one loop, and the products are not stored.
    ///
    /// This array fuses with its producer only if `other` is a vector. An operand that is read
    /// across rows is in memory, or recomputed at each read. If `other` is a vector, floats are
    /// added in several lanes, see [`fold`](Array::fold). If it is a matrix, each sum goes from
    /// left to right. Then the loop over its columns is the innermost one, so memory is read in
    /// order, and rows of sums are combined elementwise. The rewrite IRWIM ("A T2 Graph-Reduction
    /// Approach To Fusion", section 4.2) would make each sum the inner loop, and is not used.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (m, v) = (Array::from([[1i64, 2], [3, 4]]), Array::from(vec![1i64, 10]));
    /// assert_eq!((v.dot(&v).force()?, m.dot(&v).to_vec()?, v.dot(&m).to_vec()?), (101, vec![21, 43], vec![31, 42]));
    /// assert_eq!(m.matmul(&m).force()?, [[7, 10], [15, 22]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if these two axes do not have the same length.
    #[doc(alias("inner", "vdot"))]
    #[track_caller]
    pub fn dot<E: Dim>(&self, other: &Array<T, E>) -> Array<T, D::Product>
    where
        D: Dot<E>,
    {
        let builder = Builder::named("dot");
        Array::wrap(builder.dot(self.node(), other.node()))
    }
}

impl<T: Num> Array<T, Ix2> {
    /// Multiplies two matrices, as [`dot`](Array::dot).
    ///
    /// # Errors
    /// When forced: if this matrix does not have as many columns as `other` has rows.
    #[doc(alias = "dot")]
    #[track_caller]
    pub fn matmul(&self, other: &Array<T, Ix2>) -> Array<T, Ix2> {
        let builder = Builder::named("matmul");
        Array::wrap(builder.dot(self.node(), other.node()))
    }
}
