//! Elements made per segment: `replicate_s`, `indices_s`, `enum_from_step_s`; `map_s`.

use super::{Segmented, Segments};
use crate::array::Array;
use crate::ast::{Body, BodyBuilder, Builder, Node, identity, levels};
use crate::elt::{Elt, Int, Num};
use crate::exp::{IntoExp, closure};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::sync::Arc;

/// Untyped forms. Lengths are of one integer each.
impl Builder {
    /// Segments of these lengths whose elements are all the segment's value.
    pub fn replicate_s(self, lengths: &Arc<Node>, values: &Arc<Node>) -> Segments {
        let lengths = self.lengths(lengths);
        let data = self.spread(&lengths, values);
        Segments { lengths, data }
    }

    /// Each segment's value for each of its elements; of segments of segments level by level.
    pub(crate) fn spread(self, lengths: &Arc<Node>, values: &Arc<Node>) -> Arc<Node> {
        if let Some((outer, inner)) = levels(lengths) {
            return self.spread(inner, &self.spread(outer, values));
        }
        let types = values.types.iter().copied();
        let params: Vec<Ty> = [Ty::U64].into_iter().chain(types).collect();
        let mut b = BodyBuilder::new(&params);
        let fields: Vec<_> = (1..params.len() as u32).map(|k| b.param(k)).collect();
        self.expand(lengths, std::slice::from_ref(values), b.finish(&fields))
    }

    /// Segments of these lengths whose elements are their indices within the segment.
    pub fn indices_s(self, lengths: &Arc<Node>) -> Segments {
        let lengths = self.lengths(lengths);
        let data = self.expand(&lengths, &[], identity(&[Ty::U64]));
        Segments { lengths, data }
    }

    /// Segments of these lengths that count from the segment's first value by its step, both one number of one type.
    pub fn enum_from_step_s(
        self,
        from: &Arc<Node>,
        step: &Arc<Node>,
        lengths: &Arc<Node>,
    ) -> Segments {
        let lengths = self.lengths(lengths);
        let data = self.numbers(from, (&from.types, 1), |ty| {
            let mut b = BodyBuilder::new(&[Ty::U64, ty, ty]);
            let [i, from_i, step_i] = [0, 1, 2].map(|k| b.param(k));
            let i = b.cast(i, ty);
            let way = b.op(Op::Mul, &[i, step_i]);
            let value = b.op(Op::Add, &[from_i, way]);
            let values = [from.clone(), step.clone()];
            self.expand(&lengths, &values, b.finish(&[value]))
        });
        Segments { lengths, data }
    }

    /// `f` of every element and the value of its segment, whose fields are its parameters.
    pub fn map_s(self, of: &Segments, values: &Arc<Node>, f: Body) -> Segments {
        let spread = self.spread(&of.lengths, values);
        of.with_data(self.map(&[of.data.clone(), spread], f))
    }
}

/// Segments of these lengths whose elements are all the segment's value.
///
/// ```
/// use livefusion::prelude::*;
/// let (lengths, xs) = (Array::from(vec![2u64, 0, 3]), Array::from(vec![1.5f64, 2.5, 3.5]));
/// assert_eq!(replicate_s(&lengths, &xs).data().force()?, [1.5, 1.5, 3.5, 3.5, 3.5]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// Fuses with everything. If nothing but the lengths says how many elements there are, and they are
/// wanted in memory, a first loop adds the lengths up.
///
/// # Errors
/// When forced: if a length is negative, or there are not as many values as lengths.
#[doc(alias = "repeat")]
#[track_caller]
pub fn replicate_s<I: Int, T: Elt>(lengths: &Array<I>, values: &Array<T>) -> Segmented<T> {
    Segmented::wrap(Builder::named("replicate_s").replicate_s(lengths.node(), values.node()))
}

/// Segments of these lengths whose elements are their indices within the segment.
///
/// ```
/// use livefusion::prelude::*;
/// assert_eq!(indices_s(&Array::from(vec![2u64, 0, 3])).data().force()?, [0, 1, 0, 1, 2]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// When forced: if a length is negative.
#[doc(alias = "expand")]
#[track_caller]
pub fn indices_s<I: Int>(lengths: &Array<I>) -> Segmented<u64> {
    Segmented::wrap(Builder::named("indices_s").indices_s(lengths.node()))
}

/// Segments of these lengths that count from the segment's first value by its step.
///
/// ```
/// use livefusion::prelude::*;
/// let (from, step) = (Array::from(vec![1i64, 10]), Array::from(vec![2i64, -1]));
/// let counted = enum_from_step_s(&from, &step, &Array::from(vec![2u64, 3]));
/// assert_eq!(counted.to_vecs()?, [vec![1, 3], vec![10, 9, 8]]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// When forced: if a length is negative, or there are not as many values as lengths.
#[track_caller]
pub fn enum_from_step_s<I: Int, T: Num>(
    from: &Array<T>,
    step: &Array<T>,
    lengths: &Array<I>,
) -> Segmented<T> {
    let builder = Builder::named("enum_from_step_s");
    Segmented::wrap(builder.enum_from_step_s(from.node(), step.node(), lengths.node()))
}

impl<T: Elt> Segmented<T> {
    /// Each element's segment's value: [`replicate_s`] by these segments' lengths.
    ///
    /// # Errors
    /// When forced: if there are not as many values as segments.
    #[doc(alias = "repeat")]
    #[track_caller]
    pub fn replicate_s<U: Elt>(&self, values: &Array<U>) -> Array<U> {
        replicate_s(&self.lengths, values).data
    }

    /// Each element's index within its segment.
    #[doc(alias = "expand")]
    #[track_caller]
    pub fn indices_s(&self) -> Array<u64> {
        indices_s(&self.lengths).data
    }

    /// `f` of every element and the value of its segment. The values may come from folds of the segments
    /// themselves: then the loop runs over each segment twice, while it is in the cache.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3.0f64, 1.0], vec![], vec![5.0]]);
    /// let shares = rows.map_s(&rows.sum_s(), |x, sum| x / sum);
    /// assert_eq!(shares.data().force()?, [0.75, 0.25, 1.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are not as many values as segments, or the lengths do not match the data.
    #[track_caller]
    pub fn map_s<U: Elt, R: IntoExp>(
        &self,
        values: &Array<U>,
        f: impl FnOnce(T::Exp, U::Exp) -> R,
    ) -> Segmented<R::Elt> {
        let builder = Builder::named("map_s");
        let body = closure::<(T, U), R::Elt>(|(x, s)| f(x, s).to_exp());
        Segmented::wrap(builder.map_s(&self.nodes(), values.node(), body))
    }
}
