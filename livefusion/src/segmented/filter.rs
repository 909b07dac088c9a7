//! Some of each segment's elements: `filter_s`, `pack_s`.

use super::Segmented;
use crate::array::Array;
use crate::ast::Builder;
use crate::elt::Elt;
use crate::exp::ToExp;

impl<T: Elt> Segmented<T> {
    /// The elements for which `keep` is true, in as many segments as before. Gives the data and the new
    /// lengths from one pass, and fuses with what uses either.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1, 4], vec![1], vec![5]]);
    /// let large = rows.filter_s(|x| x.gt(2));
    /// assert_eq!(large.to_vecs()?, [vec![3, 4], vec![], vec![5]]);
    /// assert_eq!(large.sum_s().force()?, [7, 0, 5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[track_caller]
    pub fn filter_s<R: ToExp<bool>>(&self, keep: impl FnOnce(T::Exp) -> R) -> Segmented<T> {
        let builder = Builder::named("filter_s");
        let tags = self.tested(builder, keep).data;
        self.packed(builder, &tags)
    }

    /// The elements whose tag is true, in as many segments as before.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![4]]);
    /// let kept = rows.pack_s(&Array::from(vec![false, true, true]));
    /// assert_eq!(kept.to_vecs()?, [vec![1], vec![4]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are not as many tags as elements, or the lengths do not match the data.
    #[track_caller]
    pub fn pack_s(&self, tags: &Array<bool>) -> Segmented<T> {
        self.packed(Builder::named("pack_s"), tags)
    }

    fn packed(&self, builder: Builder, tags: &Array<bool>) -> Segmented<T> {
        Segmented {
            lengths: Array::wrap(builder.count_s(self.lengths.node(), tags.node())),
            data: Array::wrap(builder.pack(self.data.node(), tags.node())),
        }
    }
}
