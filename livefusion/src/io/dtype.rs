//! Element types of NPY files: scalars, complex numbers and 16-bit floats.

use super::error::ErrorKind;
use crate::array::length_of;
use crate::ast::{Builder, Field, Fields, Len, Node, Shape, show_types};
use crate::elt::{Elt, Float, Scalar};
use crate::exp::trace::{scalar, trace};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::fmt;
use std::sync::Arc;

/// Describes an element type of an NPY file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dtype {
    /// A scalar.
    Scalar(Ty),
    /// A complex number, two floats of this type.
    Complex(Ty),
    /// A 16-bit float, `f16`.
    #[cfg(feature = "half")]
    Half,
}

/// Lists the element types that NPY files support.
///
/// They are scalars, `Complex` (with feature `complex`), `f16` (with feature `half`), and pairs of
/// floats of one type. A pair is a complex number in a file.
#[diagnostic::on_unimplemented(
    message = "NPY has no type for `{Self}`",
    note = "it has scalars, complex numbers and `f16`; of other tuples write the fields, each to a file"
)]
pub trait Stored: Elt {
    /// The type in a file.
    const DTYPE: Dtype;
}

impl<T: Scalar> Stored for T {
    const DTYPE: Dtype = Dtype::Scalar(T::TY);
}

impl<T: Float> Stored for (T, T) {
    const DTYPE: Dtype = Dtype::Complex(T::TY);
}

#[cfg(feature = "complex")]
impl<T: Float> Stored for crate::complex::Complex<T> {
    const DTYPE: Dtype = Dtype::Complex(T::TY);
}

#[cfg(feature = "half")]
impl Stored for crate::half::f16 {
    const DTYPE: Dtype = Dtype::Half;
}

/// NumPy's type names, without the byte order.
const NAMES: &[(&str, Dtype)] = &[
    ("b1", Dtype::Scalar(Ty::Bool)),
    ("i1", Dtype::Scalar(Ty::I8)),
    ("i2", Dtype::Scalar(Ty::I16)),
    ("i4", Dtype::Scalar(Ty::I32)),
    ("i8", Dtype::Scalar(Ty::I64)),
    ("u1", Dtype::Scalar(Ty::U8)),
    ("u2", Dtype::Scalar(Ty::U16)),
    ("u4", Dtype::Scalar(Ty::U32)),
    ("u8", Dtype::Scalar(Ty::U64)),
    #[cfg(feature = "half")]
    ("f2", Dtype::Half),
    ("f4", Dtype::Scalar(Ty::F32)),
    ("f8", Dtype::Scalar(Ty::F64)),
    ("c8", Dtype::Complex(Ty::F32)),
    ("c16", Dtype::Complex(Ty::F64)),
];

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dtype::Scalar(ty) => ty.fmt(f),
            Dtype::Complex(ty) => write!(f, "Complex<{ty}>"),
            #[cfg(feature = "half")]
            Dtype::Half => f.write_str("f16"),
        }
    }
}

impl Dtype {
    /// The type with a name.
    pub(super) fn find(name: &str) -> Option<Dtype> {
        let name = if name == "?" { "b1" } else { name };
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, dtype)| *dtype)
    }

    /// All names.
    pub(super) fn names() -> String {
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }

    /// NumPy's name of the type.
    pub(super) fn name(self) -> &'static str {
        let found = NAMES.iter().find(|(_, dtype)| *dtype == self);
        found.map_or("", |(name, _)| name)
    }

    /// The scalar type of an element in memory, and the number of scalars per element.
    pub(super) fn parts(self) -> (Ty, usize) {
        match self {
            Dtype::Scalar(ty) => (ty, 1),
            Dtype::Complex(ty) => (ty, 2),
            #[cfg(feature = "half")]
            Dtype::Half => (Ty::U16, 1),
        }
    }

    /// The size of an element in bytes.
    pub(super) fn size(self) -> usize {
        let (ty, parts) = self.parts();
        ty.size() * parts
    }

    /// The file type of a node's elements, by the node's types alone.
    pub(super) fn of(node: &Node) -> Result<Dtype, ErrorKind> {
        match node.types[..] {
            [ty] => Ok(Dtype::Scalar(ty)),
            [re, im] if re == im && re.is_float() => Ok(Dtype::Complex(re)),
            _ => Err(ErrorKind::malformed(
                "an array of scalars or complex numbers",
                show_types(&node.types),
            )),
        }
    }

    /// Builds elements from the scalars of a file, which are interleaved.
    pub(super) fn elements(self, builder: Builder, parts: &Arc<Node>, len: u64) -> Arc<Node> {
        let Dtype::Complex(_) = self else {
            return parts.clone();
        };
        let loc = builder.loc();
        let op = |op, x, by| Field::op(op, &[x, Field::literal(Const::u64(by))], loc);
        let pair = trace(&[Ty::U64], |i| {
            let re = op(Op::Mul, i[0], 2);
            let places = [re, op(Op::Add, re, 1)];
            let parts = places.map(|at| Field::at_unchecked(parts, at, loc));
            parts.into_iter().flatten().collect()
        });
        builder.generate(Len::Known(len), pair)
    }

    /// Builds the scalars to write. The parts of complex numbers are interleaved on an additional
    /// last axis.
    pub(super) fn written(self, node: &Arc<Node>) -> Arc<Node> {
        let Dtype::Complex(ty) = self else {
            return node.clone();
        };
        let builder = Builder::like(node);
        let (flat, mut axes) = match (node.rank, &node.shape) {
            (0, _) => {
                let one = trace(&[Ty::U64], |_| {
                    let part = |k| scalar(node, k, ty, builder.loc());
                    Fields::from_slice(&[part(0), part(1)])
                });
                (builder.generate(Len::Known(1), one), Vec::new())
            }
            (_, Some(shape)) => (builder.reshape(node, None), shape.axes().to_vec()),
            (_, None) => (node.clone(), vec![length_of(builder, node)]),
        };
        let [re, im] = [0..1, 1..2].map(|part| builder.fields(&flat, part));
        let parts = builder.interleave(&re, &im);
        axes.push(builder.length(2));
        builder.reshape(&parts, (axes.len() > 1).then(|| Shape::new(axes)))
    }
}
