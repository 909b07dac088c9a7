//! `map`: a function of each element.

use crate::array::{Array, Rank};
use crate::ast::Builder;
use crate::elt::Elt;
use crate::exp::{IntoExp, closure};

impl<T: Elt, D: Rank> Array<T, D> {
    /// `f` of each element; of a delayed scalar, `f` of it. The closure runs once, on expressions.
    /// Fuses with everything.
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
    /// When forced: integer division by zero and indices out of range that `f` meets.
    #[doc(alias("mapv", "vectorize"))]
    #[track_caller]
    pub fn map<R: IntoExp>(&self, f: impl FnOnce(T::Exp) -> R) -> Array<R::Elt, D> {
        let builder = Builder::named("map");
        let body = closure::<T, R::Elt>(|x| f(x).to_exp());
        Array::wrap(builder.map(std::slice::from_ref(self.node()), body))
    }
}
