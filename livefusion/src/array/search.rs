//! Single elements: `first`, `last`, `find`, `position`.

use crate::array::{Array, Ix0};
use crate::ast::{Body, BodyBuilder, Builder, Fold, Node, TermId};
use crate::elt::Elt;
use crate::exp::{ToExp, closure};
use crate::nested::is_placeholder;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Untyped forms. Each fails if there is no such element.
impl Builder {
    /// Returns the first element.
    pub fn first(self, xs: &Arc<Node>) -> Arc<Node> {
        let mut b = BodyBuilder::new(&xs.types);
        let goes_on = b.lit(Const::bool(false));
        let until = self.take_while(xs, b.finish(&[goes_on]), true);
        self.kept(&until)
    }

    /// Returns the last element.
    pub fn last(self, xs: &Arc<Node>) -> Arc<Node> {
        match xs.is_leaf() && !is_placeholder(xs) {
            true => self.first(&self.reverse(xs)),
            false => self.fold(xs, Fold::first(side(&xs.types, 1))),
        }
    }

    /// Returns the first element that passes the test.
    pub fn find(self, xs: &Arc<Node>, test: Body) -> Arc<Node> {
        self.first_of(xs, xs, test)
    }

    /// Returns the index of the first element that passes the test.
    pub fn position(self, xs: &Arc<Node>, test: Body) -> Arc<Node> {
        self.first_of(xs, &self.places(xs), test)
    }

    /// Returns the value of the first element that passes the test. It is a fold that keeps its
    /// state, over a stream that ends at that element.
    fn first_of(self, xs: &Arc<Node>, values: &Arc<Node>, test: Body) -> Arc<Node> {
        let tags = self.tags(xs, test);
        let pairs = self.zip(&[values.clone(), tags]);
        let width = values.types.len() as u32;
        let until = up_to_first(self, &pairs, true);
        let found = self.pack(
            &self.fields(&until, 0..width),
            &self.fields(&until, width..width + 1),
        );
        self.kept(&found)
    }

    /// A fold that keeps its state.
    fn kept(self, xs: &Arc<Node>) -> Arc<Node> {
        self.fold(xs, Fold::first(side(&xs.types, 0)))
    }
}

/// The operator that returns one of its sides: 0 for the left one, 1 for the right one.
pub(super) fn side(types: &[Ty], side: usize) -> Body {
    let b = BodyBuilder::new(&[types, types].concat());
    let first = side * types.len();
    let fields = (first..first + types.len()).map(|k| TermId(k as u32));
    b.finish(&fields.collect::<Vec<_>>())
}

impl<T: Elt> Array<T> {
    /// Returns the first element.
    ///
    /// Fuses with its producer and with other consumers of it. The loop ends there if it has no
    /// other work.
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
    #[doc(alias = "head")]
    #[track_caller]
    pub fn first(&self) -> Array<T, Ix0> {
        Array::wrap(Builder::named("first").first(self.node()))
    }

    /// Returns the last element.
    ///
    /// It is read from an array in memory. Otherwise it is a fold that fuses with the producer.
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
        Array::wrap(Builder::named("last").last(self.node()))
    }

    /// Returns the first element for which `test` is true.
    ///
    /// Fuses with its producer and with other consumers of it. The loop ends there if it has no
    /// other work.
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
    #[doc(alias = "detect")]
    #[track_caller]
    pub fn find<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<T, Ix0> {
        let builder = Builder::named("find");
        let body = closure::<T, bool>(|x| test(x).to_exp());
        Array::wrap(builder.find(self.node(), body))
    }

    /// Returns the index of the first element for which `test` is true.
    ///
    /// Fuses as [`find`](Array::find) does.
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
    #[doc(alias("argwhere", "find_index"))]
    #[track_caller]
    pub fn position<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<u64, Ix0> {
        let builder = Builder::named("position");
        let body = closure::<T, bool>(|x| test(x).to_exp());
        Array::wrap(builder.position(self.node(), body))
    }
}

/// Takes the elements up to and including the first one whose last field is `wanted`.
pub(crate) fn up_to_first(builder: Builder, xs: &Arc<Node>, wanted: bool) -> Arc<Node> {
    let mut b = BodyBuilder::new(&xs.types);
    let tag = b.param(xs.types.len() as u32 - 1);
    let goes_on = if wanted { b.op(Op::Not, &[tag]) } else { tag };
    builder.take_while(xs, b.finish(&[goes_on]), true)
}
