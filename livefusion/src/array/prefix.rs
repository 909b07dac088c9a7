//! Prefixes and suffixes by a test: `take_while`, `drop_while`.

use crate::array::Array;
use crate::array::filter::negated;
use crate::ast::{Body, Builder, Node, ScanKind};
use crate::elt::Elt;
use crate::exp::{ToExp, closure};
use crate::over::by;
use loop_lang::op::Op;
use loop_lang::types::Const;
use std::sync::Arc;

impl Builder {
    /// Drops the elements before the first one that fails the test.
    pub fn drop_while(self, xs: &Arc<Node>, test: Body) -> Arc<Node> {
        let fails = self.tags(xs, negated(test));
        let any = by(Op::Or, Const::bool(false));
        let failed = self.scan(&fails, any, ScanKind::Inclusive);
        self.pack(xs, &failed)
    }
}

impl<T: Elt> Array<T> {
    /// Takes the elements before the first one for which `test` is false.
    ///
    /// The loop that makes the elements ends there, unless it has other consumers that continue.
    /// This holds for filters, scans and walks over segments too. If other consumers continue, they
    /// do so without the computations needed for these elements alone. So later elements are
    /// neither computed nor can fail, unless another consumer needs them.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![8i64, 4, 2, 0, 5]);
    /// assert_eq!(xs.take_while(|x| x.ne(0)).map(|x| 8 / x).force()?, [1, 2, 4]);
    /// // One of these is a division by zero, but it is behind the end.
    /// let ratios = xs.map(|x| 8 / x).take_while(|r| r.lt(4));
    /// assert_eq!(ratios.force()?, [1, 2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn take_while<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<T> {
        let builder = Builder::named("take_while");
        let body = closure::<T, bool>(|x| test(x).to_exp());
        Array::wrap(builder.take_while(self.node(), body, false))
    }

    /// Drops the elements before the first one for which `test` is false.
    ///
    /// If no element fails the test, the result is empty.
    ///
    /// `test` is called on every element, even after the first failure, so that threads can share
    /// the work. It must therefore guard operations that can fail. The result has a rate of its
    /// own, as that of [`filter`](Array::filter). Fuses with its producer and its consumers.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![0i64, 0, 7, 0, 4]);
    /// assert_eq!(xs.drop_while(|x| x.eq(0)).force()?, [7, 0, 4]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "skip_while")]
    #[track_caller]
    pub fn drop_while<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<T> {
        let builder = Builder::named("drop_while");
        let test = closure::<T, bool>(|x| test(x).to_exp());
        Array::wrap(builder.drop_while(self.node(), test))
    }
}
