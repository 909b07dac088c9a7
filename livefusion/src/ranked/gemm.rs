//! Products of large matrices by a library: `matmul_apart` (feature `matmul`).

use super::make::{agreed, built, shaped};
use crate::array::{Array, Ix2, number};
use crate::ast::{Buffer, Builder, Function, Gives, Node, Shape, Value, show_types};
use crate::elt::Float;
use crate::error::ErrorKind;
use livefusion_backend::Prim;
use loop_lang::types::Ty;
use std::sync::Arc;

/// Untyped forms.
impl Builder {
    /// Multiplies two matrices of floats of one type, by a library.
    pub fn matmul_apart(self, left: &Arc<Node>, right: &Arc<Node>) -> Arc<Node> {
        built(self, &[left, right], (&left.types, 2), || {
            let shapes = [self.shape(left), self.shape(right)];
            let ([rows, inner], [first, columns]) = (shapes[0].axes(), shapes[1].axes()) else {
                return Err(unfit(left));
            };
            if !number(left)?.is_float() || left.types != right.types {
                return Err(unfit(right));
            }
            let inner = agreed(self, &[inner, first]).map_err(|_| ErrorKind::ShapeMismatch {
                expected: shapes[0].to_string().into(),
                got: shapes[1].to_string().into(),
            })?;
            let axes = [rows, &inner, columns].map(|axis| axis.node().clone());
            let [n, k, m] = axes;
            let inputs = [self.flatten(left), self.flatten(right), n, k, m];
            let gives = Gives {
                types: left.types.clone(),
                rank: 1,
                like: None,
            };
            let made = self.external(&inputs, gives, Arc::new(Product));
            let shape = Shape::new([rows.clone(), columns.clone()]);
            Ok(shaped(self, &made, &shape))
        })
    }
}

fn unfit(node: &Node) -> ErrorKind {
    ErrorKind::Malformed {
        expected: "two matrices of f32 or of f64".into(),
        got: format!("{} of rank {}", show_types(&node.types), node.rank),
    }
}

/// The product of two matrices, row by row. Their three lengths are the last inputs.
struct Product;

impl Function for Product {
    fn call(&self, inputs: &[Value], _: usize) -> Result<Value, ErrorKind> {
        let [
            Value::Array(a),
            Value::Array(b),
            Value::Scalar(n),
            Value::Scalar(k),
            Value::Scalar(m),
        ] = inputs
        else {
            return Err(wrong());
        };
        let lengths = [n, k, m].map(|length| length.first().map(|c| c.bits as usize));
        let ([Some(n), Some(k), Some(m)], [a, b]) = (lengths, [a.first(), b.first()]) else {
            return Err(wrong());
        };
        let (a, b) = (a.ok_or_else(wrong)?, b.ok_or_else(wrong)?);
        let product = match a.ty() {
            Ty::F32 => product::<f32>([a, b], [n, k, m], |[n, k, m], [a, b], c| {
                let (k_step, m_step) = (k as isize, m as isize);
                // SAFETY: `product` has checked that the three buffers have the sizes of matrices with these lengths.
                unsafe {
                    matrixmultiply::sgemm(
                        n, k, m, 1.0, a, k_step, 1, b, m_step, 1, 0.0, c, m_step, 1,
                    )
                }
            }),
            Ty::F64 => product::<f64>([a, b], [n, k, m], |[n, k, m], [a, b], c| {
                let (k_step, m_step) = (k as isize, m as isize);
                // SAFETY: as above.
                unsafe {
                    matrixmultiply::dgemm(
                        n, k, m, 1.0, a, k_step, 1, b, m_step, 1, 0.0, c, m_step, 1,
                    )
                }
            }),
            _ => None,
        };
        Ok(Value::Array(vec![Arc::new(product.ok_or_else(wrong)?)]))
    }

    fn why(&self) -> &str {
        "a library computes large products block by block, for the caches"
    }
}

fn wrong() -> ErrorKind {
    ErrorKind::Malformed {
        expected: "two matrices and their lengths".into(),
        got: "something else".into(),
    }
}

/// Allocates a product and computes it. `None` if the lengths do not match the matrices.
fn product<T: Prim>(
    [a, b]: [&Buffer; 2],
    [n, k, m]: [usize; 3],
    multiply: impl FnOnce([usize; 3], [*const T; 2], *mut T),
) -> Option<Buffer> {
    let (a, b) = (a.as_slice::<T>()?, b.as_slice::<T>()?);
    if n.checked_mul(k)? != a.len() || k.checked_mul(m)? != b.len() {
        return None;
    }
    let len = n.checked_mul(m)?;
    let mut made = Buffer::zeroed(T::TY, len)?;
    let c = made.as_mut_slice::<T>()?;
    // Lengths are also strides.
    let fits = [k, m].iter().all(|n| isize::try_from(*n).is_ok());
    if c.len() != len || !fits {
        return None;
    }
    multiply([n, k, m], [a.as_ptr(), b.as_ptr()], c.as_mut_ptr());
    Some(made)
}

impl<T: Float> Array<T, Ix2> {
    /// Multiplies two matrices by the library `matrixmultiply`.
    ///
    /// It computes the product block by block, which suits the caches. [`matmul`](Array::matmul) is
    /// a loop that fuses, and reads large matrices repeatedly.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1.0f64, 2.0], [3.0, 4.0]]);
    /// // Twice each element is made by the loop before the product, what is added is added by the one behind it.
    /// let product = m.map(|x| 2.0 * x).matmul_apart(&m).map(|x| x + 1.0);
    /// assert_eq!(product.force()?, [[15.0, 21.0], [31.0, 45.0]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* It runs outside of fused loops, on one thread. Nothing fuses across it,
    /// as [`explain`](crate::Force::explain) shows. The producers are in the loops before, and the
    /// consumers in the loop after. The order of the additions differs from that of `matmul` and
    /// depends on the machine. So the last bits do too.
    ///
    /// # Errors
    /// When forced: if this matrix does not have as many columns as `other` has rows.
    #[doc(alias("gemm", "dot", "blas"))]
    #[track_caller]
    pub fn matmul_apart(&self, other: &Array<T, Ix2>) -> Array<T, Ix2> {
        let builder = Builder::named("matmul_apart");
        Array::wrap(builder.matmul_apart(self.node(), other.node()))
    }
}
