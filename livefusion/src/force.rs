//! Forcing: computes one array, or several that share loops.

use crate::array::{Array, Dim, Rank, delayed_axes};
use crate::ast::{Node, Value};
use crate::elt::Elt;
use crate::error::Result;
use crate::loc::Loc;
use crate::manifest::{IntoIter, Manifest};
use crate::runtime::{Engine, Explanation, force_at};
use livefusion_backend::Buffer;
use smallvec::SmallVec;
use std::sync::Arc;

/// Holds arrays that results may be written into, the columns of each.
pub type Spare = SmallVec<[Vec<Arc<Buffer>>; 4]>;

/// Describes values that can be forced.
///
/// These are an array, a delayed scalar, a tuple of up to 8 of these, and a slice or `Vec` of them.
/// The results of one force share loops.
///
/// ```
/// use livefusion::prelude::*;
/// let xs = Array::from(vec![1.0f64, 2.0, 3.0]);
/// let squares = xs.map(|x| x * x);
/// let (ys, total, largest) = (&squares, &squares.sum(), &xs.max()).force()?;
/// assert_eq!((&ys[..], total, largest), (&[1.0, 4.0, 9.0][..], 14.0, 3.0));
/// let moments: Vec<f64> = [1, 2, 3].map(|k| xs.map(|x| x.powi(k)).sum()).force()?;
/// assert_eq!(moments, [6.0, 14.0, 36.0]);
/// # Ok::<(), livefusion::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be forced",
    note = "force a `&Array`, a tuple of up to 8 `&Array`s, or a slice of arrays"
)]
pub trait Force {
    /// The results: values of delayed scalars, a [`Manifest`] per array.
    type Out;
    /// Appends the requested nodes.
    fn nodes(&self, out: &mut Vec<Arc<Node>>);
    /// Takes their values, in the same order.
    fn take(&self, values: &mut dyn Iterator<Item = Value>) -> Result<Self::Out>;
    /// Moves the arrays of old results out, and appends them for each node, in the same order.
    ///
    /// New results may be written there. A node without an old result gets no arrays. The old
    /// results must be replaced.
    fn give(&self, out: Option<&mut Self::Out>, arrays: &mut Spare);

    /// Computes the results on the default engine.
    ///
    /// # Errors
    /// The first error made while building, or an error while running. It names the combinator and
    /// its location.
    #[doc(alias("compute", "run", "eval"))]
    #[track_caller]
    fn force(&self) -> Result<Self::Out> {
        self.force_with(Engine::default_engine())
    }

    /// Computes the results on an engine.
    ///
    /// # Errors
    /// As for [`force`](Force::force).
    #[track_caller]
    fn force_with(&self, engine: &Engine) -> Result<Self::Out> {
        let mut nodes = Vec::new();
        self.nodes(&mut nodes);
        let values = force_at(engine, &nodes, Loc::caller())?;
        self.take(&mut values.into_iter())
    }

    /// Explains the loops of a force on the default engine.
    ///
    /// It also tells why there are not fewer. Nothing runs; the compiled code is kept for the
    /// force. Consumers of a [loop over arrays](crate::iterate) may fuse otherwise in the force, if
    /// the lengths of the loop's results matter.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1.0f64, 2.0, 3.0]);
    /// let explained = (&xs.sum(), &xs.map(|x| x * 2.0)).explain()?;
    /// assert_eq!(explained.loops.len(), 1);
    /// println!("{explained}");
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first error made while building, or an error of the backend.
    fn explain(&self) -> Result<Explanation> {
        self.explain_with(Engine::default_engine())
    }

    /// Works as [`explain`](Force::explain), on an engine.
    ///
    /// # Errors
    /// As for [`explain`](Force::explain).
    fn explain_with(&self, engine: &Engine) -> Result<Explanation> {
        let mut nodes = Vec::new();
        self.nodes(&mut nodes);
        engine.explain(&nodes)
    }
}

impl<T: Elt, D: Rank> Force for Array<T, D> {
    type Out = D::Out<T>;
    fn nodes(&self, out: &mut Vec<Arc<Node>>) {
        out.push(self.node().clone());
        out.extend(delayed_axes(self.node()).cloned());
    }
    fn take(&self, values: &mut dyn Iterator<Item = Value>) -> Result<D::Out<T>> {
        D::take(self.node(), values)
    }
    fn give(&self, out: Option<&mut D::Out<T>>, arrays: &mut Spare) {
        arrays.push(out.map_or_else(Vec::new, D::columns));
        arrays.extend(delayed_axes(self.node()).map(|_| Vec::new()));
    }
}

impl<F: Force + ?Sized> Force for &F {
    type Out = F::Out;
    fn nodes(&self, out: &mut Vec<Arc<Node>>) {
        (**self).nodes(out);
    }
    fn take(&self, values: &mut dyn Iterator<Item = Value>) -> Result<F::Out> {
        (**self).take(values)
    }
    fn give(&self, out: Option<&mut F::Out>, arrays: &mut Spare) {
        (**self).give(out, arrays);
    }
}

impl<F: Force> Force for [F] {
    type Out = Vec<F::Out>;
    fn nodes(&self, out: &mut Vec<Arc<Node>>) {
        self.iter().for_each(|f| f.nodes(out));
    }
    fn take(&self, values: &mut dyn Iterator<Item = Value>) -> Result<Vec<F::Out>> {
        self.iter().map(|f| f.take(values)).collect()
    }
    fn give(&self, out: Option<&mut Vec<F::Out>>, arrays: &mut Spare) {
        let mut out = out.into_iter().flatten();
        self.iter().for_each(|f| f.give(out.next(), arrays));
    }
}

macro_rules! sequences {
    ($(<$($n:ident)?> $t:ty;)*) => {$(
        impl<F: Force $(, const $n: usize)?> Force for $t {
            type Out = Vec<F::Out>;
            fn nodes(&self, out: &mut Vec<Arc<Node>>) {
                self.as_slice().nodes(out);
            }
            fn take(&self, values: &mut dyn Iterator<Item = Value>) -> Result<Vec<F::Out>> {
                self.as_slice().take(values)
            }
            fn give(&self, out: Option<&mut Vec<F::Out>>, arrays: &mut Spare) {
                self.as_slice().give(out, arrays);
            }
        }
    )*};
}

sequences! {
    <> Vec<F>;
    <N> [F; N];
}

macro_rules! tuples {
    ($($($F:ident $i:tt),*;)*) => {$(
        impl<$($F: Force),*> Force for ($($F,)*) {
            type Out = ($($F::Out,)*);
            fn nodes(&self, out: &mut Vec<Arc<Node>>) {
                $(self.$i.nodes(out);)*
            }
            fn take(&self, values: &mut dyn Iterator<Item = Value>) -> Result<Self::Out> {
                Ok(($(self.$i.take(values)?,)*))
            }
            fn give(&self, given: Option<&mut Self::Out>, arrays: &mut Spare) {
                let mut out = ($(None::<&mut $F::Out>,)*);
                if let Some(given) = given {
                    out = ($(Some(&mut given.$i),)*);
                }
                $(self.$i.give(out.$i, arrays);)*
            }
        }
    )*};
}

crate::tuples::up_to_eight!(tuples);

impl<T: Elt, D: Rank> Array<T, D> {
    /// Computes the array in as few loops as possible, on the default engine.
    ///
    /// A delayed scalar gives its value, an array a [`Manifest`]. The result stays with the array.
    /// Forcing it again costs nothing, and a later graph that uses it finds it in memory.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 3]);
    /// assert_eq!(xs.map(|x| x * 2).force()?, [2, 4, 6]);
    /// assert_eq!(xs.sum().force()?, 6);
    /// // Mistakes come out here, with the combinator and the place where it was called.
    /// let error = xs.zip_with(&xs.take(2), |a, b| a + b).force().unwrap_err();
    /// assert!(error.to_string().starts_with("`zip_with` at "));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first error made while building, or an error while running.
    #[doc(alias("compute", "run", "eval"))]
    #[track_caller]
    pub fn force(&self) -> Result<D::Out<T>> {
        Force::force(self)
    }

    /// Works as [`force`](Array::force), on an engine.
    ///
    /// # Errors
    /// As for [`force`](Array::force).
    #[track_caller]
    pub fn force_with(&self, engine: &Engine) -> Result<D::Out<T>> {
        Force::force_with(self, engine)
    }
}

impl<T: Elt, D: Dim<Out<T> = Manifest<T, D>>> Array<T, D> {
    /// Forces the array, and returns a copy of its elements.
    ///
    /// # Errors
    /// As for [`force`](Array::force).
    #[doc(alias("tolist", "collect"))]
    #[track_caller]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.force()?.into_vec()
    }

    /// Forces the array, and returns its elements.
    ///
    /// An array of scalars that was made from a `Vec` returns it without a copy, if nothing else
    /// refers to it.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = vec![1.0, 2.0];
    /// let address = xs.as_ptr();
    /// assert_eq!(Array::from(xs).into_vec()?.as_ptr(), address);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`force`](Array::force).
    #[track_caller]
    pub fn into_vec(self) -> Result<Vec<T>> {
        let result = self.force()?;
        drop(self);
        result.into_vec()
    }

    /// Forces the array, and iterates over its elements.
    ///
    /// They are not copied as a whole.
    ///
    /// # Errors
    /// As for [`force`](Array::force).
    #[track_caller]
    pub fn iter(&self) -> Result<IntoIter<T>> {
        Ok(self.force()?.into_iter())
    }
}

impl<T: Elt> Array<T> {
    /// Forces the array, and returns one element, or none outside.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2]).map(|x| x + 1);
    /// assert_eq!((xs.get(1)?, xs.get(2)?), (Some(3), None));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`force`](Array::force).
    #[track_caller]
    pub fn get(&self, i: usize) -> Result<Option<T>> {
        Ok(self.force()?.row(i))
    }
}

/// Names the type of a forced array, for generic code.
pub type Forced<T, D> = <D as Rank>::Out<T>;

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Manifest<(f64, bool)>>();
};
