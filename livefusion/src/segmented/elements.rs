//! Elements per segment: counts, copies and indices.

use super::{Segmented, Segments};
use crate::array::Array;
use crate::ast::{Body, BodyBuilder, Builder, Node, identity, levels};
use crate::elt::{Elt, Int, Num};
use crate::exp::{IntoExp, closure};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::sync::Arc;

impl Builder {
    /// Repeats the value of each segment over its elements. Nested segments are expanded level by
    /// level.
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
}

/// Untyped forms. Lengths are one integer each.
impl Segments {
    /// Repeats the value of each segment over its length.
    pub fn replicate(builder: Builder, lengths: &Arc<Node>, values: &Arc<Node>) -> Segments {
        let lengths = builder.lengths(lengths);
        let data = builder.spread(&lengths, values);
        Segments { lengths, data }
    }

    /// Counts the elements within each segment of these lengths.
    pub fn indices(builder: Builder, lengths: &Arc<Node>) -> Segments {
        let lengths = builder.lengths(lengths);
        let data = builder.expand(&lengths, &[], identity(&[Ty::U64]));
        Segments { lengths, data }
    }

    /// Counts within each segment from its start by its step.
    ///
    /// Start and step are one number each, of the same type.
    pub fn enum_from_step(
        builder: Builder,
        from: &Arc<Node>,
        step: &Arc<Node>,
        lengths: &Arc<Node>,
    ) -> Segments {
        let lengths = builder.lengths(lengths);
        let data = builder.numbers(from, (&from.types, 1), |ty| {
            let mut b = BodyBuilder::new(&[Ty::U64, ty, ty]);
            let [i, from_i, step_i] = [0, 1, 2].map(|k| b.param(k));
            let i = b.cast(i, ty);
            let way = b.op(Op::Mul, &[i, step_i]);
            let value = b.op(Op::Add, &[from_i, way]);
            let values = [from.clone(), step.clone()];
            builder.expand(&lengths, &values, b.finish(&[value]))
        });
        Segments { lengths, data }
    }

    /// Combines every element with the value of its segment.
    ///
    /// `f` takes the fields of both.
    pub fn zip_with_each(&self, builder: Builder, values: &Arc<Node>, f: Body) -> Segments {
        let spread = builder.spread(&self.lengths, values);
        self.with_data(builder.map(&[self.data.clone(), spread], f))
    }
}

impl<T: Elt> Segmented<T> {
    /// Repeats the value of each segment over its length.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (lengths, xs) = (Array::from(vec![2u64, 0, 3]), Array::from(vec![1.5f64, 2.5, 3.5]));
    /// assert_eq!(Segmented::replicate(&lengths, &xs).data().force()?, [1.5, 1.5, 3.5, 3.5, 3.5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* Fuses with every producer and consumer. If the result goes to memory and
    /// only the lengths give its size, a first loop adds up the lengths.
    ///
    /// # Errors
    /// When forced: if a length is negative, or there are not as many values as lengths.
    #[doc(alias("repeat", "replicate_s"))]
    #[track_caller]
    pub fn replicate<I: Int>(lengths: &Array<I>, values: &Array<T>) -> Segmented<T> {
        let builder = Builder::named("replicate");
        Segmented::wrap(Segments::replicate(builder, lengths.node(), values.node()))
    }

    /// Repeats the value of each segment over its elements.
    ///
    /// It is [`replicate`](Segmented::replicate) with the lengths of these segments.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3.0f64, 1.0], vec![], vec![5.0]]);
    /// assert_eq!(rows.broadcast(&Array::from(vec![7u8, 8, 9])).force()?, [7, 7, 9]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are not as many values as segments.
    #[doc(alias("repeat", "replicate_s"))]
    #[track_caller]
    pub fn broadcast<U: Elt>(&self, values: &Array<U>) -> Array<U> {
        let builder = Builder::named("broadcast");
        Array::wrap(Segments::replicate(builder, self.lengths.node(), values.node()).data)
    }

    /// Returns the index of each element within its segment.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3.0f64, 1.0], vec![], vec![5.0]]);
    /// assert_eq!(rows.local_indices().force()?, [0, 1, 0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("expand", "indices_s", "local_index"))]
    #[track_caller]
    pub fn local_indices(&self) -> Array<u64> {
        let builder = Builder::named("local_indices");
        Array::wrap(Segments::indices(builder, self.lengths.node()).data)
    }

    /// Combines every element with the value of its segment, by `f`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3.0f64, 1.0], vec![], vec![5.0]]);
    /// let shares = rows.zip_with_each(&rows.sum(), |x, sum| x / sum);
    /// assert_eq!(shares.data().force()?, [0.75, 0.25, 1.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* Fuses as a `zip_with` does. If the values come from folds of the segments
    /// themselves, the loop runs over each segment twice, while it is in the cache.
    ///
    /// # Errors
    /// When forced: if there are not as many values as segments, or the lengths do not match the data.
    #[doc(alias = "map_s")]
    #[track_caller]
    pub fn zip_with_each<U: Elt, R: IntoExp>(
        &self,
        values: &Array<U>,
        f: impl FnOnce(T::Exp, U::Exp) -> R,
    ) -> Segmented<R::Elt> {
        let builder = Builder::named("zip_with_each");
        let body = closure::<(T, U), R::Elt>(|(x, s)| f(x, s).to_exp());
        Segmented::wrap(self.nodes().zip_with_each(builder, values.node(), body))
    }
}

impl Segmented<u64> {
    /// Counts the elements within each segment of these lengths, from 0.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Segmented::indices(&Array::from(vec![2u64, 0, 3])).data().force()?, [0, 1, 0, 1, 2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if a length is negative.
    #[doc(alias("expand", "indices_s"))]
    #[track_caller]
    pub fn indices<I: Int>(lengths: &Array<I>) -> Segmented<u64> {
        Segmented::wrap(Segments::indices(Builder::named("indices"), lengths.node()))
    }
}

impl<T: Num> Segmented<T> {
    /// Counts within each segment from its start by its step.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (from, step) = (Array::from(vec![1i64, 10]), Array::from(vec![2i64, -1]));
    /// let counted = Segmented::enum_from_step(&from, &step, &Array::from(vec![2u64, 3]));
    /// assert_eq!(counted.to_vecs()?, [vec![1, 3], vec![10, 9, 8]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if a length is negative, or there are not as many values as lengths.
    #[doc(alias = "enum_from_step_s")]
    #[track_caller]
    pub fn enum_from_step<I: Int>(
        from: &Array<T>,
        step: &Array<T>,
        lengths: &Array<I>,
    ) -> Segmented<T> {
        let builder = Builder::named("enum_from_step");
        let (from, step, lengths) = (from.node(), step.node(), lengths.node());
        Segmented::wrap(Segments::enum_from_step(builder, from, step, lengths))
    }
}
