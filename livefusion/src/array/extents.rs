//! Shapes: `shape`, `rank`, `into_dyn`, `into_rank`, and shapes as arguments.

use crate::array::length::Amount;
use crate::array::{Array, Dim, IntoLen, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn, length_of};
use crate::ast::{Axis, Builder, Node, Shape};
use crate::elt::Elt;
use crate::error::ErrorKind;
use std::sync::Arc;

impl Builder {
    /// Returns the lengths of an array's axes.
    ///
    /// For an array that carries an error all lengths may be zero.
    pub fn shape(self, xs: &Arc<Node>) -> Shape {
        if let Some(shape) = &xs.shape {
            return shape.clone();
        }
        match xs.rank {
            1 if xs.error.is_none() => Shape::new([length_of(self, xs)]),
            rank => Shape::new((0..rank).map(|_| self.length(0))),
        }
    }
}

impl<T: Elt, D: Dim> Array<T, D> {
    /// Returns the lengths of the axes, as delayed scalars.
    ///
    /// The result is an array of lengths, or a `Vec` for rank [`IxDyn`]. No elements are computed
    /// unless a length depends on them. Closures can use the lengths, and so can every function
    /// that takes a shape.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = generate((2, 3), |(i, j)| i * j);
    /// let [n, k] = m.shape();
    /// assert_eq!((&n, &k).force()?, (2, 3));
    /// assert_eq!(generate((&k, n), |(j, i)| m.at((i, j))).force()?, [[0, 0], [0, 1], [0, 2]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn shape(&self) -> D::Lens {
        let shape = Builder::named("shape").shape(self.node());
        let mut axes = shape.axes().iter();
        D::lens(&mut std::iter::from_fn(|| {
            axes.next().map(|axis| Array::wrap(axis.node().clone()))
        }))
    }

    /// Returns the number of axes.
    pub fn rank(&self) -> usize {
        self.node().rank as usize
    }

    /// Moves the rank from the type to run time.
    ///
    /// Costs nothing.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]).into_dyn();
    /// assert_eq!((m.rank(), m.along(0).sum().force()?.to_vec()?), (2, vec![4, 6]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn into_dyn(self) -> Array<T, IxDyn> {
        Array::wrap(self.node().clone())
    }

    /// Puts the rank into the type.
    ///
    /// Costs nothing.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = generate(vec![2u64, 3], |i| i[0] + i[1]); // of rank `IxDyn`
    /// assert_eq!(m.clone().into_rank::<Ix2>().force()?, [[0, 1, 2], [1, 2, 3]]);
    /// assert!(m.into_rank::<Ix3>().force().is_err());
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if the array has another rank.
    #[track_caller]
    pub fn into_rank<E: Dim>(self) -> Array<T, E> {
        Array::checked(Builder::named("into_rank"), self.node().clone())
    }
}

/// Describes a shape argument.
///
/// - A length gives rank 1.
/// - A tuple or an array of lengths gives the rank of its size.
/// - A `Vec` or a slice of lengths gives rank [`IxDyn`].
///
/// Each length is an integer or a delayed scalar, see [`IntoLen`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape",
    note = "a shape is a length, a tuple or an array of lengths, or a `Vec` of lengths; lengths are integers, or delayed scalars of an integer type"
)]
pub trait IntoShape {
    /// Names the rank of an array of this shape.
    type Rank: Dim;
    /// Returns the lengths of the axes, or the error in one of them.
    #[doc(hidden)]
    fn into_shape(self, builder: Builder) -> Result<Shape, ErrorKind>;
}

/// Converts a length to the length of an axis.
pub(crate) fn axis(builder: Builder, n: impl IntoLen) -> Result<Axis, ErrorKind> {
    match n.into_len().0 {
        Amount::Known(n) => Ok(builder.length(n)),
        Amount::Delayed(node) => match &node.error {
            Some(error) => Err(error.kind.clone()),
            None => Ok(Axis::delayed(node)),
        },
        negative @ Amount::Negative(_) => Err(negative.check().err().unwrap_or(ErrorKind::Empty)),
    }
}

/// Converts lengths to a shape of one axis or more.
fn all(builder: Builder, axes: impl IntoIterator<Item = impl IntoLen>) -> Result<Shape, ErrorKind> {
    let axes: Vec<Axis> = axes
        .into_iter()
        .map(|n| axis(builder, n))
        .collect::<Result<_, _>>()?;
    match axes.is_empty() {
        true => Err(ErrorKind::Malformed {
            expected: "a shape of one axis or more".to_string(),
            got: "()".to_string(),
        }),
        false => Ok(Shape::new(axes)),
    }
}

impl<N: IntoLen> IntoShape for N {
    type Rank = Ix1;
    fn into_shape(self, builder: Builder) -> Result<Shape, ErrorKind> {
        Ok(Shape::new([axis(builder, self)?]))
    }
}

macro_rules! tuples {
    ($($D:ident $n:literal: $($N:ident $k:tt),*;)*) => {$(
        impl<$($N: IntoLen),*> IntoShape for ($($N,)*) {
            type Rank = $D;
            fn into_shape(self, builder: Builder) -> Result<Shape, ErrorKind> {
                Ok(Shape::new([$(axis(builder, self.$k)?),*]))
            }
        }

        impl<N: IntoLen> IntoShape for [N; $n] {
            type Rank = $D;
            fn into_shape(self, builder: Builder) -> Result<Shape, ErrorKind> {
                all(builder, self)
            }
        }
    )*};
}

tuples! {
    Ix1 1: A 0;
    Ix2 2: A 0, B 1;
    Ix3 3: A 0, B 1, C 2;
    Ix4 4: A 0, B 1, C 2, D 3;
    Ix5 5: A 0, B 1, C 2, D 3, E 4;
    Ix6 6: A 0, B 1, C 2, D 3, E 4, F 5;
}

impl<N: IntoLen> IntoShape for Vec<N> {
    type Rank = IxDyn;
    fn into_shape(self, builder: Builder) -> Result<Shape, ErrorKind> {
        all(builder, self)
    }
}

impl<N: IntoLen + Clone> IntoShape for &[N] {
    type Rank = IxDyn;
    fn into_shape(self, builder: Builder) -> Result<Shape, ErrorKind> {
        all(builder, self.iter().cloned())
    }
}

impl<N: IntoLen + Clone> IntoShape for &Vec<N> {
    type Rank = IxDyn;
    fn into_shape(self, builder: Builder) -> Result<Shape, ErrorKind> {
        all(builder, self.iter().cloned())
    }
}
