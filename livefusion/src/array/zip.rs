//! Arrays side by side: `zip`, `zip_shortest`, `unzip`, `zip_with`, `enumerate`.

use crate::array::{Array, Dim, Ix1, Join, Rank};
use crate::ast::{BodyBuilder, Builder, Len, Node};
use crate::elt::Elt;
use crate::exp::{Field, Fields, IntoExp, exp_of, fields_of, trace};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Untyped forms besides [`Builder::zip`]. For `zip_with` use [`Builder::map`] of several arrays.
impl Builder {
    /// Pairs each element with its index, which comes first.
    ///
    /// The index has one part (`u64`) per axis.
    pub fn enumerate(self, xs: &Arc<Node>) -> Arc<Node> {
        match xs.rank {
            0 | 1 => self.zip(&[self.places(xs), xs.clone()]),
            _ => self.enumerate_axes(xs),
        }
    }

    /// Zips arrays, cut to the length of the shortest.
    ///
    /// If an input is a stream, the result is in order too.
    pub fn zip_cut(self, arrays: &[Arc<Node>]) -> Arc<Node> {
        let lens = arrays.iter().map(|n| n.known_len());
        let known: Option<Vec<u64>> = lens.collect();
        let Some(least) = known.and_then(|lens| lens.into_iter().min()) else {
            return match arrays.iter().any(|n| n.comes_in_order()) {
                true => self.zip_shortest(arrays),
                false => shortest_by_index(self, arrays),
            };
        };
        let part = |node: &Arc<Node>| match node.known_len() {
            Some(n) if n == least => node.clone(),
            _ => cut(self, std::slice::from_ref(node), Len::Known(least)),
        };
        self.zip(&arrays.iter().map(part).collect::<Vec<_>>())
    }
}

/// Describes tuples of 2 to 6 arrays of one rank.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be zipped",
    note = "give a tuple of 2 to 6 references to arrays of one rank: `zip((&xs, &ys))`"
)]
pub trait ZipArgs {
    /// Names the tuple of the element types.
    type Elt: Elt;
    /// Names the rank of all arrays.
    type Rank: Rank;
    /// Returns the nodes of the arrays.
    fn nodes(self) -> Vec<Arc<Node>>;
}

/// Zips arrays into one array of tuples.
///
/// Copies nothing, and fuses with every producer and consumer.
///
/// ```
/// use livefusion::prelude::*;
/// let (xs, ns) = (Array::from(vec![1.5f64, 2.5]), Array::from(vec![true, false]));
/// assert_eq!(zip((&xs, &ns)).to_vec()?, [(1.5, true), (2.5, false)]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// When forced: if lengths differ.
#[track_caller]
pub fn zip<Z: ZipArgs>(arrays: Z) -> Array<Z::Elt, Z::Rank> {
    Array::wrap(Builder::named("zip").zip(&arrays.nodes()))
}

impl<T: Elt> Array<T> {
    /// Pairs each element with its index, which comes first.
    ///
    /// Copies nothing, and fuses with every producer and consumer.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![0.5f64, 1.5]);
    /// assert_eq!(xs.enumerate().to_vec()?, [(0, 0.5), (1, 1.5)]);
    /// let late = xs.enumerate().filter(|(i, _)| i.gt(0)).map(|(_, x)| x);
    /// assert_eq!(late.force()?, [1.5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("ndenumerate", "indexed"))]
    #[track_caller]
    pub fn enumerate(&self) -> Array<(u64, T)> {
        let builder = Builder::named("enumerate");
        Array::wrap(builder.enumerate(self.node()))
    }
}

/// Zips arrays into one array of tuples, as long as the shortest.
///
/// Extra elements of longer arrays are left out.
///
/// Fuses with streams whose length is known only at their end (filters, elements of segments, early
/// exits). One loop advances each stream to its next element, in argument order, and ends when a
/// stream ends. By then, earlier arguments have computed at most one extra element, and later
/// arguments none. Another consumer of such a stream needs all of its elements, so that stream goes
/// through memory.
///
/// If all arrays are known to have the same length at the call, this is [`zip()`]. Otherwise the
/// longer arrays are read at random if no input is a stream, or all lengths are known. Then index
/// functions of arrays in memory are computed in place; other computed inputs go through memory.
///
/// ```
/// use livefusion::prelude::*;
/// let (xs, ys) = (Array::from(vec![1.5f64, 2.5, 3.5]), iota(2));
/// assert_eq!(zip_shortest((&xs, &ys)).to_vec()?, [(1.5, 0), (2.5, 1)]);
/// let (late, odd) = (xs.filter(|x| x.gt(2.0)), iota(100).filter(|i| (i % 2).eq(1)));
/// assert_eq!(zip_shortest((&late, &odd)).to_vec()?, [(2.5, 1), (3.5, 3)]);
/// # Ok::<(), livefusion::Error>(())
/// ```
#[track_caller]
pub fn zip_shortest<Z: ZipArgs<Rank = Ix1>>(arrays: Z) -> Array<Z::Elt> {
    Array::wrap(Builder::named("zip_shortest").zip_cut(&arrays.nodes()))
}

/// Zips arrays, cut to the shortest, by reading each element at its index.
pub(crate) fn shortest_by_index(builder: Builder, nodes: &[Arc<Node>]) -> Arc<Node> {
    cut(builder, nodes, Len::Delayed(least(builder, nodes)))
}

/// Returns the smallest length.
fn least(builder: Builder, nodes: &[Arc<Node>]) -> Arc<Node> {
    let lens: Vec<_> = nodes.iter().map(|n| builder.len(n)).collect();
    let mut b = BodyBuilder::new(&[]);
    let mut least = b.locate(Some(builder.loc())).lit(Const::u64(u64::MAX));
    for len in &lens {
        let len = b.scalar(len, 0);
        least = b.op(Op::Min, &[least, len]);
    }
    builder.compute(b.finish(&[least]))
}

/// Zips the first `len` elements of arrays that all have at least that many.
fn cut(builder: Builder, nodes: &[Arc<Node>], len: Len) -> Arc<Node> {
    let mut b = BodyBuilder::new(&[Ty::U64]);
    let i = b.locate(Some(builder.loc())).param(0);
    let mut values = Vec::new();
    for node in nodes {
        values.extend((0..node.types.len() as u32).map(|f| b.at(node, f, i, false)));
    }
    builder.generate(len, b.finish(&values))
}

impl<T: Elt> Array<T, Ix1> {
    /// Zips two arrays, cut to the length of the shorter, as [`zip_shortest()`].
    #[track_caller]
    pub fn zip_shortest<U: Elt>(&self, other: &Array<U>) -> Array<(T, U)> {
        let nodes = [self.node().clone(), other.node().clone()];
        Array::wrap(Builder::named("zip_shortest").zip_cut(&nodes))
    }
}

impl<T: Elt, D: Rank> Array<T, D> {
    /// Zips two arrays into pairs, as [`zip()`].
    ///
    /// Copies nothing, and fuses with every producer and consumer.
    ///
    /// # Errors
    /// When forced: if lengths or shapes differ.
    #[track_caller]
    pub fn zip<U: Elt>(&self, other: &Array<U, D>) -> Array<(T, U), D>
    where
        D: Dim,
    {
        Array::wrap(Builder::named("zip").zip(&[self.node().clone(), other.node().clone()]))
    }

    /// Applies `f` to the elements of two arrays in step.
    ///
    /// For up to six arrays see [`ZipWith3`] and so on. Fuses with every producer and consumer.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (xs, ys) = (Array::from(vec![1.0f64, 2.0]), Array::from(vec![3.0f64, 4.0]));
    /// assert_eq!(xs.zip_with(&ys, |x, y| x * y).sum().force()?, 11.0);
    /// let (a, b) = (Array::from([[1.0f64, 2.0]]), Array::from([[3.0f64, 4.0]]));
    /// assert_eq!(a.zip_with(&b, |x, y| x * y).force()?, [[3.0, 8.0]]);
    /// assert_eq!(a.zip(&b).map(|(x, y)| y - x).force()?, [[2.0, 2.0]]);
    /// // A delayed scalar meets each element. It is computed once.
    /// assert_eq!(xs.zip_with(&ys.sum(), |x, s| x / s).sum().force()?, 3.0 / 7.0);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if lengths or shapes differ.
    #[doc(alias("map2", "azip"))]
    #[track_caller]
    pub fn zip_with<U: Elt, E: Rank, R: IntoExp>(
        &self,
        other: &Array<U, E>,
        f: impl FnOnce(T::Exp, U::Exp) -> R,
    ) -> Array<R::Elt, D>
    where
        D: Dim + Join<E>,
    {
        let nodes = [self.node().clone(), other.node().clone()];
        Array::wrap(zipped_with(&nodes, |all| {
            let (x, y) = exp_of::<(T, U)>(all);
            fields_of::<R::Elt>(f(x, y).to_exp())
        }))
    }
}

/// Applies a function to the fields of arrays in step. Delayed scalars next to an array are
/// captured, so that each is read once.
#[track_caller]
fn zipped_with(nodes: &[Arc<Node>], f: impl FnOnce(&[Field]) -> Fields) -> Arc<Node> {
    let builder = Builder::named("zip_with");
    let rank = nodes.iter().map(|n| n.rank).max().unwrap_or(0);
    let is_input = |n: &Arc<Node>| n.rank > 0 || rank == 0;
    let inputs: Vec<Arc<Node>> = nodes.iter().filter(|n| is_input(n)).cloned().collect();
    let types: Vec<Ty> = inputs
        .iter()
        .flat_map(|n| n.types.iter().copied())
        .collect();
    let body = trace::trace(&types, |params| {
        let (mut all, mut rest) = (Fields::new(), params);
        for node in nodes {
            match rest.split_at_checked(node.types.len()) {
                Some((own, others)) if is_input(node) => {
                    all.extend_from_slice(own);
                    rest = others;
                }
                _ => all.extend(Field::value(node, builder.loc())),
            }
        }
        f(&all)
    });
    builder.map(&inputs, body)
}

/// Gives the rank of arrays in step, some of which may be delayed scalars.
pub trait InStep {
    /// Names the largest of the ranks.
    type Joined: Rank;
}

/// Describes arrays of tuples, which can be split.
pub trait Unzip {
    /// Names one array per field of the tuple.
    type Parts;
    /// Splits an array of tuples into one array per field.
    ///
    /// Copies nothing. Unused parts are not computed.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (ns, xs) = Array::from(vec![(1i64, 0.5f64), (2, 1.5)]).unzip();
    /// assert_eq!((ns.sum().force()?, xs.sum().force()?), (3, 2.0));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    fn unzip(&self) -> Self::Parts;
}

macro_rules! arity {
    ($With:ident; $($T:ident $v:ident $i:tt $D:ident),*) => {
        impl<Of: Rank, $($T: Elt),*> ZipArgs for ($(&Array<$T, Of>,)*) {
            type Elt = ($($T,)*);
            type Rank = Of;
            fn nodes(self) -> Vec<Arc<Node>> {
                vec![$(self.$i.node().clone()),*]
            }
        }

        impl<Of: Rank, $($T: Elt),*> Unzip for Array<($($T,)*), Of> {
            type Parts = ($(Array<$T, Of>,)*);
            #[track_caller]
            fn unzip(&self) -> Self::Parts {
                let builder = Builder::named("unzip");
                let mut end = 0;
                ($({
                    let start = end;
                    end += $T::FIELDS;
                    Array::<$T, Of>::wrap(builder.fields(self.node(), start..end))
                },)*)
            }
        }

        /// Applies functions to a tuple of references to arrays.
        ///
        /// The arrays have one rank. Delayed scalars are combined with each element.
        pub trait $With: Sized {
            $(
                /// Names an element type.
                type $T: Elt;
            )*
            /// Names the rank of the arrays.
            type Rank: Rank;
            /// Applies a function to the elements of arrays in step.
            ///
            /// Delayed scalars are computed once. Fuses with every producer and consumer. If
            /// lengths differ, forcing fails.
            ///
            /// ```
            /// use livefusion::prelude::*;
            /// let (a, b, c) = (Array::from([1i64, 2]), Array::from([3i64, 4]), Array::from([5i64, 6]));
            /// assert_eq!((&a, &b, &c).zip_with(|a, b, c| a * b + c).force()?, [8, 14]);
            /// let (low, high) = (a.min(), b.max());
            /// assert_eq!((&a, &low, &high).zip_with(|a, l, h| (a - l) * h).force()?, [0, 4]);
            /// # Ok::<(), livefusion::Error>(())
            /// ```
            #[doc(alias = "map2")]
            #[track_caller]
            fn zip_with<R: IntoExp>(
                self,
                f: impl FnOnce($(<Self::$T as Elt>::Exp),*) -> R,
            ) -> Array<R::Elt, Self::Rank>;
        }

        impl<$($T: Elt, $D: Rank),*> $With for ($(&Array<$T, $D>,)*)
        where
            ($($D,)*): InStep,
        {
            $(type $T = $T;)*
            type Rank = <($($D,)*) as InStep>::Joined;
            #[track_caller]
            fn zip_with<R: IntoExp>(
                self,
                f: impl FnOnce($($T::Exp),*) -> R,
            ) -> Array<R::Elt, Self::Rank> {
                Array::wrap(zipped_with(&[$(self.$i.node().clone()),*], |all| {
                    let ($($v,)*) = exp_of::<($($T,)*)>(all);
                    fields_of::<R::Elt>(f($($v),*).to_exp())
                }))
            }
        }
    };
}

arity!(ZipWith2; A a 0 D0, B b 1 D1);
arity!(ZipWith3; A a 0 D0, B b 1 D1, C c 2 D2);
arity!(ZipWith4; A a 0 D0, B b 1 D1, C c 2 D2, D d 3 D3);
arity!(ZipWith5; A a 0 D0, B b 1 D1, C c 2 D2, D d 3 D3, E e 4 D4);
arity!(ZipWith6; A a 0 D0, B b 1 D1, C c 2 D2, D d 3 D3, E e 4 D4, F f5 5 D5);

impl<A: Join<B>, B> InStep for (A, B) {
    type Joined = A::Joined;
}

/// The rank of several arrays, computed from that of all but the last one.
macro_rules! in_step {
    ($($($A:ident)* + $B:ident;)*) => {$(
        impl<$($A,)* $B> InStep for ($($A,)* $B)
        where
            ($($A,)*): InStep,
            <($($A,)*) as InStep>::Joined: Join<$B>,
        {
            type Joined = <<($($A,)*) as InStep>::Joined as Join<$B>>::Joined;
        }
    )*};
}

in_step! {
    A B + C;
    A B C + D;
    A B C D + E;
    A B C D E + F;
}
