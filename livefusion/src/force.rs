//! Computing results: one array, or several that share loops.

use crate::array::{Array, Dim, Rank, delayed_axes};
use crate::ast::{Node, Value};
use crate::elt::Elt;
use crate::error::Result;
use crate::manifest::{IntoIter, Manifest};
use crate::runtime::{Engine, Explanation, force_nodes};
use livefusion_backend::Buffer;
use std::sync::Arc;

/// What can be forced: an array, a delayed scalar, a tuple of up to 8 of these, a slice or `Vec` of
/// them. The results of one force share loops.
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
    /// Appends the nodes that are wanted.
    fn nodes(&self, out: &mut Vec<Arc<Node>>);
    /// Takes their values, in the same order.
    fn take(&self, values: &mut dyn Iterator<Item = Value>) -> Result<Self::Out>;
    /// Appends the arrays, for each node in the same order, of results that nobody needs any more: the next
    /// ones may be written there. Of a node without such a result, none.
    fn give(&self, out: Option<Self::Out>, arrays: &mut Vec<Vec<Arc<Buffer>>>);

    /// Computes the results on the default engine.
    ///
    /// # Errors
    /// The first mistake made while building, or what went wrong while running; the combinator and
    /// the place of its call are in it.
    #[doc(alias("compute", "run", "eval"))]
    fn force(&self) -> Result<Self::Out> {
        self.force_with(Engine::default_engine())
    }

    /// Computes the results on an engine.
    ///
    /// # Errors
    /// As [`force`](Force::force).
    fn force_with(&self, engine: &Engine) -> Result<Self::Out> {
        let mut nodes = Vec::new();
        self.nodes(&mut nodes);
        let values = force_nodes(engine, &nodes)?;
        self.take(&mut values.into_iter())
    }

    /// Says into which loops a force would fuse on the default engine, and why not into fewer. Nothing
    /// is run; what was compiled is there when the force comes. What comes behind a [loop over arrays](crate::iterate) may
    /// fuse otherwise then, where it matters how long the results of the loop are.
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
    /// The first mistake made while building, or what the backend says.
    fn explain(&self) -> Result<Explanation> {
        self.explain_with(Engine::default_engine())
    }

    /// As [`explain`](Force::explain), on an engine.
    ///
    /// # Errors
    /// As [`explain`](Force::explain).
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
    fn give(&self, out: Option<D::Out<T>>, arrays: &mut Vec<Vec<Arc<Buffer>>>) {
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
    fn give(&self, out: Option<F::Out>, arrays: &mut Vec<Vec<Arc<Buffer>>>) {
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
    fn give(&self, out: Option<Vec<F::Out>>, arrays: &mut Vec<Vec<Arc<Buffer>>>) {
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
            fn give(&self, out: Option<Vec<F::Out>>, arrays: &mut Vec<Vec<Arc<Buffer>>>) {
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
            fn give(&self, given: Option<Self::Out>, arrays: &mut Vec<Vec<Arc<Buffer>>>) {
                let mut out = ($(None::<$F::Out>,)*);
                if let Some(given) = given {
                    out = ($(Some(given.$i),)*);
                }
                $(self.$i.give(out.$i, arrays);)*
            }
        }
    )*};
}

crate::tuples::up_to_eight!(tuples);

impl<T: Elt, D: Rank> Array<T, D> {
    /// Computes the array and whatever it needs, in as few loops as possible, on the default engine.
    /// A delayed scalar gives its value, an array a [`Manifest`]. The result stays with the array:
    /// forcing it again costs nothing, and a later graph that uses it finds it in memory.
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
    /// The first mistake made while building, or what went wrong while running.
    #[doc(alias("compute", "run", "eval"))]
    pub fn force(&self) -> Result<D::Out<T>> {
        Force::force(self)
    }

    /// As [`force`](Array::force), on an engine.
    ///
    /// # Errors
    /// As [`force`](Array::force).
    pub fn force_with(&self, engine: &Engine) -> Result<D::Out<T>> {
        Force::force_with(self, engine)
    }
}

impl<T: Elt, D: Dim<Out<T> = Manifest<T, D>>> Array<T, D> {
    /// The elements, computed and copied.
    ///
    /// # Errors
    /// As [`force`](Array::force).
    #[doc(alias("tolist", "collect"))]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.force()?.into_vec()
    }

    /// The elements, computed. An array of scalars that was made from a `Vec` gives it back without a
    /// copy if nothing else refers to it.
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
    /// As [`force`](Array::force).
    pub fn into_vec(self) -> Result<Vec<T>> {
        let result = self.force()?;
        drop(self);
        result.into_vec()
    }

    /// The elements, computed, one by one. They are not copied as a whole.
    ///
    /// # Errors
    /// As [`force`](Array::force).
    pub fn iter(&self) -> Result<IntoIter<T>> {
        Ok(self.force()?.into_iter())
    }
}

impl<T: Elt> Array<T> {
    /// An element, computed with all others; none outside.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2]).map(|x| x + 1);
    /// assert_eq!((xs.get(1)?, xs.get(2)?), (Some(3), None));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`force`](Array::force).
    pub fn get(&self, i: usize) -> Result<Option<T>> {
        Ok(self.force()?.row(i))
    }
}

/// What a forced array is, for generic code.
pub type Forced<T, D> = <D as Rank>::Out<T>;

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Manifest<(f64, bool)>>();
};
