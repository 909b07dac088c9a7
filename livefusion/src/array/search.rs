//! The first element of a kind: `find`, `position`.

use crate::array::fold::operator;
use crate::array::{Array, Ix0};
use crate::ast::{Body, Builder, Fold, FoldStyle, Len, Node, identity};
use crate::elt::Elt;
use crate::exp::{ToExp, closure};
use loop_lang::types::Ty;
use std::sync::Arc;

impl<T: Elt> Array<T> {
    /// The first element for which `test` is true; `test` may be asked about elements behind it.
    /// Fuses with its input and with other folds.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 5, 7]);
    /// assert_eq!(xs.find(|x| x.gt(3)).force()?, 5);
    /// assert!(xs.find(|x| x.gt(9)).force().is_err());
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such element.
    #[track_caller]
    pub fn find<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<T, Ix0> {
        let builder = Builder::named("find");
        let body = closure::<T, bool>(|x| test(x).to_exp());
        Array::wrap(first::<T>(builder, &builder.filter(self.node(), body)))
    }

    /// The index of the first element for which `test` is true. Fuses as [`find`](Array::find)
    /// does.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 5, 7]);
    /// assert_eq!(xs.position(|x| x.gt(3)).force()?, 1);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such element.
    #[track_caller]
    pub fn position<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<u64, Ix0> {
        let builder = Builder::named("position");
        let len = Len::Delayed(builder.len(self.node()));
        let indices = builder.generate(len, identity(&[Ty::U64]));
        let pairs = builder.zip(&[self.node().clone(), indices]);
        let body = closure::<(T, u64), bool>(|(x, _)| test(x).to_exp());
        let found = builder.filter(&pairs, body);
        let places = builder.fields(&found, T::FIELDS..T::FIELDS + 1);
        Array::wrap(first::<u64>(builder, &places))
    }
}

/// The first element, as a fold that keeps what it has.
fn first<T: Elt>(builder: Builder, xs: &Arc<Node>) -> Arc<Node> {
    let fold = Fold {
        start: Body::default(),
        step: operator::<T, T::Exp>(|a, _| a),
        style: FoldStyle::First,
    };
    builder.fold(xs, fold)
}
