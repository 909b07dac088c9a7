//! Arrays of several axes with their indices: `enumerate`.

use super::make::{built, computed, shaped};
use crate::array::{Array, Multi};
use crate::ast::{Builder, Node, Types};
use crate::elt::Elt;
use crate::exp::IntoExp;
use loop_lang::types::Ty;
use std::sync::Arc;

impl Builder {
    /// Implements [`enumerate`](Builder::enumerate) for several axes. The index comes first, with
    /// one `u64` field per axis.
    ///
    /// ```
    /// use livefusion::ast::Builder;
    /// use livefusion::prelude::*;
    /// let m = Array::from([[0.5f64, 1.5], [2.5, 3.5]]);
    /// let numbered = Builder::named("enumerate").enumerate(m.node());
    /// let numbered: Array<((u64, u64), f64), Ix2> = Array::from_node(numbered)?;
    /// assert_eq!(numbered.force()?.get((1, 0)), Some(((1, 0), 2.5)));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub(crate) fn enumerate_axes(self, xs: &Arc<Node>) -> Arc<Node> {
        let index = (0..xs.rank).map(|_| Ty::U64);
        let types: Types = index.chain(xs.types.iter().copied()).collect();
        built(self, &[xs], (&types, xs.rank), || {
            let shape = self.shape(xs);
            let indices = computed(self, &shape, |_, parts| parts.to_vec());
            Ok(self.zip(&[shaped(self, &indices, &shape), xs.clone()]))
        })
    }
}

impl<T: Elt, D: Multi> Array<T, D> {
    /// Pairs each element with its index, which comes first.
    ///
    /// The index is a tuple of one `u64` per axis. Copies nothing, and fuses with every producer
    /// and consumer. For rank [`IxDyn`](crate::IxDyn), convert with [`into_rank`](Array::into_rank)
    /// first.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[0.5f64, 1.5], [2.5, 3.5]]);
    /// assert_eq!(m.enumerate().force()?.get((1, 0)), Some(((1, 0), 2.5)));
    /// let lower = m.enumerate().map(|((i, j), x)| j.le(i).cond(x, 0.0));
    /// assert_eq!(lower.force()?, [[0.5, 0.0], [2.5, 3.5]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("ndenumerate", "indexed_iter"))]
    #[track_caller]
    pub fn enumerate(&self) -> Array<(<D::Index as IntoExp>::Elt, T), D>
    where
        D::Index: IntoExp,
    {
        let builder = Builder::named("enumerate");
        Array::checked(builder, builder.enumerate(self.node()))
    }
}
