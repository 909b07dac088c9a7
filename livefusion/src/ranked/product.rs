//! Products: `outer`, `dot`.

use super::fold::Folded;
use super::make::{agreed, built, computed, flat, shape, shaped};
use crate::array::{Array, Dim, Ix0, Ix1, Ix2, Rank, literal, operator};
use crate::ast::{BodyBuilder, Builder, Fold, FoldStyle, Shape, flat_index};
use crate::elt::{Elt, Num};
use crate::error::ErrorKind;
use crate::exp::{IntoExp, exp_of, fields_of, trace, types_of};
use loop_lang::op::Op;
use loop_lang::types::Ty;

impl<T: Elt> Array<T> {
    /// `f` of each pair of an element here and one of `other`: a matrix. Fuses with what makes the elements here, and with
    /// what uses the result; `other` is in memory, or computed where it is read.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (xs, ys) = (Array::from(vec![1i64, 2]), Array::from(vec![10i64, 20, 30]));
    /// assert_eq!(xs.outer(&ys, |x, y| x * y).force()?, [[10, 20, 30], [20, 40, 60]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn outer<U: Elt, R: IntoExp>(
        &self,
        other: &Array<U>,
        f: impl FnOnce(T::Exp, U::Exp) -> R,
    ) -> Array<R::Elt, Ix2> {
        let builder = Builder::named("outer");
        let loc = builder.loc();
        built(builder, &[self.node(), other.node()], || {
            let axes = [shape(builder, self), shape(builder, other)];
            let shape = Shape::new(axes.iter().flat_map(|s| s.axes().iter().cloned()));
            let params: Vec<Ty> = [Ty::U64].into_iter().chain(types_of::<T>()).collect();
            let body = trace::trace(&params, |params| {
                let y = super::make::element_at::<U>(other.node(), params[0], loc);
                fields_of::<R::Elt>(f(exp_of::<T>(&params[1..]), y).to_exp())
            });
            let rows = builder.descriptors(&shape).pop();
            let made = rows.map(|rows| builder.expand(&rows, &[self.node().clone()], body));
            Ok(shaped(builder, &made.ok_or(ErrorKind::Empty)?, &shape))
        })
    }
}

/// Ranks whose product is a sum over the last axis of one and the first axis of the other.
#[diagnostic::on_unimplemented(
    message = "there is no product of arrays of rank `{Self}` and `{E}`"
)]
pub trait Dot<E>: Dim {
    /// The rank of the product.
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
    /// The product of two vectors, of a matrix and a vector, or of two matrices: the sums of the products along the last
    /// axis here and the first one of `other`. It is one loop, and the products are in no memory. The elements of a vector
    /// or matrix that stands first fuse with what makes them only if `other` is a vector; what is read across is in memory,
    /// or computed where it is read. Where `other` is a vector, floats are added in several lanes, see [`fold`](Array::fold);
    /// where it is a matrix, each sum goes from left to right: the loop over its columns is the inner one, so that memory is
    /// read in order, and rows of sums are joined side by side (what "A T2 Graph-Reduction Approach To Fusion", section 4.2,
    /// calls IRWIM would bring each sum inside, and is not done).
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
    /// When forced: if these two axes are not equally long.
    #[track_caller]
    pub fn dot<E: Dim>(&self, other: &Array<T, E>) -> Array<T, D::Product>
    where
        D: Dot<E>,
    {
        product(Builder::named("dot"), self, other)
    }
}

impl<T: Num> Array<T, Ix2> {
    /// The product of two matrices, as [`dot`](Array::dot).
    ///
    /// # Errors
    /// When forced: if there are not as many columns here as rows of `other`.
    #[track_caller]
    pub fn matmul(&self, other: &Array<T, Ix2>) -> Array<T, Ix2> {
        product(Builder::named("matmul"), self, other)
    }
}

fn product<T: Num, D: Dim, E: Dim, P: Rank>(
    builder: Builder,
    left: &Array<T, D>,
    right: &Array<T, E>,
) -> Array<T, P> {
    built(builder, &[left.node(), right.node()], || {
        let shapes = [shape(builder, left), shape(builder, right)];
        let [(Some((last, rows)), a), (Some((first, columns)), b)] = [
            (shapes[0].axes().split_last(), flat(builder, left.node())),
            (shapes[1].axes().split_first(), flat(builder, right.node())),
        ] else {
            return Err(ErrorKind::Empty);
        };
        let inner = agreed(builder, &[last, first]).map_err(|_| ErrorKind::ShapeMismatch {
            expected: shapes[0].to_string(),
            got: shapes[1].to_string(),
        })?;
        let fold = Fold {
            start: literal(T::from_word(0)),
            step: operator(Op::Add, T::TY),
            style: FoldStyle::Associative,
        };
        // The axis that is folded stands before the columns: these are neighbours, in memory and among the sums.
        let order = rows.iter().cloned().chain([inner]);
        let all = Shape::new(order.chain(columns.iter().cloned()));
        let products = match columns {
            [] => {
                // The elements on the left come in order.
                let others = match rows {
                    [] => b,
                    _ => computed(builder, &all, |t, parts| {
                        parts
                            .last()
                            .map(|k| t.at(&b, 0, *k, false))
                            .into_iter()
                            .collect()
                    }),
                };
                let mut t = BodyBuilder::new(&[T::TY, T::TY]);
                let sides = [t.param(0), t.param(1)];
                let product = t.op(Op::Mul, &sides);
                builder.map(&[a, others], t.finish(&[product]))
            }
            _ => computed(builder, &all, |t, parts| {
                let (from, to) = (&parts[..=rows.len()], &parts[rows.len()..]);
                let from = flat_index(t, from, &shapes[0]);
                let to = flat_index(t, to, &shapes[1]);
                let sides = [t.at(&a, 0, from, false), t.at(&b, 0, to, false)];
                vec![t.op(Op::Mul, &sides)]
            }),
        };
        let folded = Folded::new(&all, &[rows.len()])?;
        let sums = folded.fold(builder, &products, fold);
        Ok(folded.result(builder, &sums))
    })
}
