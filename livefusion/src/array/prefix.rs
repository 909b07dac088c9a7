//! Parts that a test begins or ends: `take_while`, `drop_while`.

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
    /// The elements from the first one on for which the test is false.
    pub fn drop_while(self, xs: &Arc<Node>, test: Body) -> Arc<Node> {
        let fails = self.tags(xs, negated(test));
        let any = by(Op::Or, Const::bool(false));
        let failed = self.scan(&fails, any, ScanKind::Inclusive);
        self.pack(xs, &failed)
    }
}

impl<T: Elt> Array<T> {
    /// The elements before the first one for which `test` is false.
    ///
    /// The loop that makes the elements ends there, whether a filter, a scan or a walk over segments makes them,
    /// if nobody else in it goes on. Where others do, they go on without what is needed for these elements alone. So
    /// what comes behind is neither computed nor can it fail, unless somebody else asks for it.
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

    /// The elements from the first one on for which `test` is false; none if there is no such
    /// element.
    ///
    /// `test` is asked about every element, also behind the first one that fails, so that the work
    /// can be shared among threads: guard in it what can fail. At a rate of its own, as a
    /// [`filter`](Array::filter): fuses with its input and with what uses the result.
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
