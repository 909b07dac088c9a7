//! Single elements: `first`, `last`, and the first of a kind: `find`, `position`.

use crate::array::fold::operator;
use crate::array::slice::reversed;
use crate::array::{Array, Ix0};
use crate::ast::{Body, BodyBuilder, Builder, Fold, FoldStyle, Len, Node, identity};
use crate::elt::Elt;
use crate::exp::{ToExp, closure};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

impl<T: Elt> Array<T> {
    /// The first element. Fuses with its input and with other consumers of it; a loop in which nothing else
    /// is left to do ends there.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3i64, 5, 8]);
    /// let odd = xs.filter(|x| (x % 2).eq(1));
    /// assert_eq!((&odd.first(), &odd.last()).force()?, (3, 5));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are no elements.
    #[track_caller]
    pub fn first(&self) -> Array<T, Ix0> {
        Array::wrap(first_of::<T>(Builder::named("first"), self.node()))
    }

    /// The last element. Of an array in memory it is read there; else it is a fold that fuses with what
    /// makes the elements.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3i64, 5, 8]);
    /// assert_eq!(xs.last().force()?, 8);
    /// assert!(xs.drop(3).last().force().is_err());
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are no elements.
    #[track_caller]
    pub fn last(&self) -> Array<T, Ix0> {
        let builder = Builder::named("last");
        if self.node().is_leaf() {
            return Array::wrap(first_of::<T>(builder, &reversed(builder, self.node())));
        }
        let step = operator::<T, T::Exp>(|_, b| b);
        self.fold_by(builder, Body::default(), step, FoldStyle::First)
    }

    /// The first element for which `test` is true. Fuses with its input and with other consumers of it;
    /// a loop in which nothing else is left to do ends there.
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
        Array::wrap(first::<T>(builder, self.node(), self.node(), body))
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
        let body = closure::<T, bool>(|x| test(x).to_exp());
        Array::wrap(first::<u64>(builder, self.node(), &indices, body))
    }
}

/// The first element, as a fold that keeps what it has, over nothing behind it.
fn first_of<T: Elt>(builder: Builder, xs: &Arc<Node>) -> Arc<Node> {
    let mut b = BodyBuilder::new(&xs.types);
    let goes_on = b.lit(Const::bool(false));
    let until = builder.take_while(xs, b.finish(&[goes_on]), true);
    kept::<T>(builder, &until)
}

/// The first of some values for whose element the test is true, as a fold that keeps what it has, over
/// nothing behind it.
fn first<T: Elt>(builder: Builder, of: &Arc<Node>, values: &Arc<Node>, test: Body) -> Arc<Node> {
    let tags = builder.map(std::slice::from_ref(of), test);
    let pairs = builder.zip(&[values.clone(), tags]);
    let width = values.types.len() as u32;
    let until = up_to_first(builder, &pairs, true);
    let found = builder.pack(
        &builder.fields(&until, 0..width),
        &builder.fields(&until, width..width + 1),
    );
    kept::<T>(builder, &found)
}

/// A fold that keeps what it has.
fn kept<T: Elt>(builder: Builder, xs: &Arc<Node>) -> Arc<Node> {
    let fold = Fold {
        start: Body::default(),
        step: operator::<T, T::Exp>(|a, _| a),
        style: FoldStyle::First,
    };
    builder.fold(xs, fold)
}

/// The elements up to and with the first one whose last field is `wanted`.
pub(super) fn up_to_first(builder: Builder, xs: &Arc<Node>, wanted: bool) -> Arc<Node> {
    let mut b = BodyBuilder::new(&xs.types);
    let tag = b.param(xs.types.len() as u32 - 1);
    let goes_on = if wanted { b.op(Op::Not, &[tag]) } else { tag };
    builder.take_while(xs, b.finish(&[goes_on]), true)
}
