//! Selection of elements: `filter`, `pack`, `partition`.

use crate::array::Array;
use crate::ast::{Args, Body, Builder, Node, Term, TermData, TermId};
use crate::elt::Elt;
use crate::exp::{ToExp, closure};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::sync::Arc;

impl Builder {
    /// Splits the elements into those that pass the test and the rest.
    pub fn partition(self, xs: &Arc<Node>, test: Body) -> (Arc<Node>, Arc<Node>) {
        let others = negated(test.clone());
        (self.filter(xs, test), self.filter(xs, others))
    }
}

impl<T: Elt> Array<T> {
    /// Keeps the elements for which `keep` is true, in order.
    ///
    /// Consumers of a filter neither compute nor fail on dropped elements. Fuses with its producer
    /// and its consumers.
    ///
    /// *Memory.* Only the kept elements count towards the limit, not the input. See
    /// [`memory_limit`](crate::runtime::EngineBuilder::memory_limit).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![4i64, 0, 2]);
    /// assert_eq!(xs.filter(|x| x.ne(0)).map(|x| 8 / x).force()?, [2, 4]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("retain", "extract"))]
    #[track_caller]
    pub fn filter<R: ToExp<bool>>(&self, keep: impl FnOnce(T::Exp) -> R) -> Array<T> {
        let builder = Builder::named("filter");
        let body = closure::<T, bool>(|x| keep(x).to_exp());
        Array::wrap(builder.filter(self.node(), body))
    }

    /// Keeps the elements whose tag is true, in order.
    ///
    /// Fuses as [`filter`](Array::filter) does.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec!['a', 'b', 'c'].iter().map(|c| *c as u32).collect::<Vec<_>>());
    /// assert_eq!(xs.pack(&Array::from(vec![true, false, true])).force()?, [97, 99]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if lengths differ.
    #[doc(alias("compress", "boolean_mask"))]
    #[track_caller]
    pub fn pack(&self, tags: &Array<bool>) -> Array<T> {
        Array::wrap(Builder::named("pack").pack(self.node(), tags.node()))
    }

    /// Splits the elements into those for which `keep` is true and the rest.
    ///
    /// Both results keep the order. They are two filters that share a loop.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (even, odd) = iota(5).partition(|i| (i % 2).eq(0));
    /// let (even, odd) = (&even, &odd).force()?;
    /// assert_eq!((&even[..], &odd[..]), (&[0, 2, 4][..], &[1, 3][..]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "split")]
    #[track_caller]
    pub fn partition<R: ToExp<bool>>(
        &self,
        keep: impl FnOnce(T::Exp) -> R,
    ) -> (Array<T>, Array<T>) {
        let builder = Builder::named("partition");
        let body = closure::<T, bool>(|x| keep(x).to_exp());
        let (kept, others) = builder.partition(self.node(), body);
        (Array::wrap(kept), Array::wrap(others))
    }
}

/// Negates a test.
pub(super) fn negated(mut test: Body) -> Body {
    if *test.result_types_or_none() != [Ty::Bool] {
        // The combinator that checks the test reports the error.
        return test;
    }
    let parts = &mut *test;
    for r in &mut parts.results {
        parts.terms.push(TermData {
            term: Term::Op(Op::Not, Args::new(&[*r])),
            ty: Ty::Bool,
            loc: None,
            power: None,
        });
        *r = TermId(parts.terms.len() as u32 - 1);
    }
    test
}
