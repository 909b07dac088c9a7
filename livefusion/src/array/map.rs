//! `map`: applies a function to each element.

use crate::array::{Array, Rank};
use crate::ast::Builder;
use crate::elt::Elt;
use crate::exp::{IntoExp, closure};

impl<T: Elt, D: Rank> Array<T, D> {
    /// Applies `f` to each element, or to a delayed scalar.
    ///
    /// The closure runs once, on expressions. Fuses with every producer and consumer.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1.0f64, 2.0, 3.0]);
    /// let (ys, n) = (&xs.map(|x| (x, x * x)), &xs.sum().map(|s| s / 3.0)).force()?;
    /// assert_eq!((ys.to_vec()?, n), (vec![(1.0, 1.0), (2.0, 4.0), (3.0, 9.0)], 2.0));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if `f` divides an integer by zero, or reads at an index out of range.
    #[doc(alias("mapv", "vectorize"))]
    #[track_caller]
    pub fn map<R: IntoExp>(&self, f: impl FnOnce(T::Exp) -> R) -> Array<R::Elt, D> {
        let builder = Builder::named("map");
        let body = closure::<T, R::Elt>(|x| f(x).to_exp());
        Array::wrap(builder.map(std::slice::from_ref(self.node()), body))
    }
}
