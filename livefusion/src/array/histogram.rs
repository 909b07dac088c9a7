//! How many elements are where: `bincount`, `histogram`, `histogram_uniform`.

use crate::array::{Array, IntoLen, extent, number, one, spread_at, step_of};
use crate::ast::{Axis, Body, BodyBuilder, Builder, Field, Fields, Len, Node, fits, trace};
use crate::elt::{Float, Int, Num};
use crate::exp::{ToExp, value};
use crate::sort::places_before;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Untyped forms.
impl Builder {
    /// How often each index (an integer) below a number is there (`u64`).
    pub fn bincount(self, indices: &Arc<Node>, n: Len) -> Arc<Node> {
        let ones = self.each_once(indices);
        let zero = self.zero();
        self.reduce_by_index((n, &zero), indices, &ones, step_of(Op::Add, Ty::U64))
    }

    /// How many elements, of one number each, are between neighbours of ascending edges (`u64`). An element at an edge is above it, but
    /// at the last one below.
    pub fn histogram(self, xs: &Arc<Node>, edges: &Arc<Node>) -> Arc<Node> {
        if let Err(kind) = number(xs) {
            return self.instead(&[xs], (&[Ty::U64], 1), kind);
        }
        if edges.types != xs.types || edges.rank != 1 {
            return self.unfit(edges, &[Ty::U64], 1, "edges of the elements' type");
        }
        let (loc, len) = (self.loc(), Axis::delayed(self.len(edges)));
        let op = |op, args: &[Field]| Field::op(op, args, loc);
        let [outside, one] = [u64::MAX, 1].map(|n| Field::literal(Const::u64(n)));
        let bin = trace(&xs.types, |x| {
            let n = len.value(loc);
            let is_before = |edge: &[Field], x: &[Field]| op(Op::Le, &[edge[0], x[0]]);
            let before = places_before(edges, n, x, is_before, loc);
            // Behind all edges is what is at the last one, and what is outside.
            let behind = op(Op::Eq, &[before, n]);
            let some = op(Op::Ne, &[before, Field::literal(Const::u64(0))]);
            let bin = op(Op::Sub, &[before, one]);
            let at_last = op(Op::And, &[behind, some]).cond(
                &[bin_of_last(edges, x[0], bin, loc)],
                &[bin],
                loc,
            );
            Fields::from_slice(&[op(Op::Select, &[some, at_last[0], outside])])
        });
        let bins = self.computed(edges.known_len().map(|n| n.saturating_sub(1)), || {
            let some = op(Op::Max, &[len.value(loc), one]);
            op(Op::Sub, &[some, one])
        });
        self.counted(&self.map(std::slice::from_ref(xs), bin), &bins)
    }

    /// How many elements, of one float each, are in each of so many bins of one width from a number to another (`u64`): bodies without
    /// parameters.
    pub fn histogram_uniform(self, xs: &Arc<Node>, low: &Body, high: &Body, n: Axis) -> Arc<Node> {
        let ty = match xs.types[..] {
            [ty] if ty.is_float() => ty,
            _ => return self.unfit(xs, &[Ty::U64], 1, "elements of one float each"),
        };
        let ends = [low, high].map(|end| fits(end, "a float", &[], Some(&[ty])));
        if let Some(kind) = ends.into_iter().find_map(Result::err) {
            return self.instead(&[xs], (&[Ty::U64], 1), kind);
        }
        let loc = self.loc();
        let op = |op, args: &[Field]| Field::op(op, args, loc);
        let [outside, one] = [u64::MAX, 1].map(|n| Field::literal(Const::u64(n)));
        let bin = trace(&xs.types, |x| {
            let x = x[0];
            let ends = [low, high].map(|end| Field::apply(end, &[], loc)[0]);
            let bins = op(Op::Max, &[n.value(loc), one]);
            let scale = op(
                Op::Div,
                &[bins.cast(ty, loc), op(Op::Sub, &[ends[1], ends[0]])],
            );
            let near = op(Op::Mul, &[op(Op::Sub, &[x, ends[0]]), scale]).cast(Ty::U64, loc);
            let near = op(Op::Min, &[near, op(Op::Sub, &[bins, one])]);
            // What is rounded is one off at most: the edges themselves decide.
            let edge = |k| spread_at(k, bins, ends, loc);
            let next = op(Op::Add, &[near, one]);
            let below = op(Op::Lt, &[x, edge(near)]);
            let is_last = op(Op::Eq, &[next, bins]);
            let above = op(
                Op::And,
                &[op(Op::Ge, &[x, edge(next)]), op(Op::Not, &[is_last])],
            );
            let up = op(Op::Add, &[near, above.cast(Ty::U64, loc)]);
            let bin = op(Op::Sub, &[up, below.cast(Ty::U64, loc)]);
            let inside = op(
                Op::And,
                &[op(Op::Ge, &[x, ends[0]]), op(Op::Le, &[x, ends[1]])],
            );
            Fields::from_slice(&[op(Op::Select, &[inside, bin, outside])])
        });
        self.counted(&self.map(std::slice::from_ref(xs), bin), &n)
    }

    /// How often each bin is there; what is in none is left out.
    fn counted(self, bins: &Arc<Node>, n: &Axis) -> Arc<Node> {
        let counts = self.bins(n.len(), &self.zero());
        let ones = self.each_once(bins);
        self.scatter_within(&counts, bins, &ones, Some(step_of(Op::Add, Ty::U64)))
    }

    /// A one for each element.
    fn each_once(self, xs: &Arc<Node>) -> Arc<Node> {
        let mut b = BodyBuilder::new(&xs.types);
        let one = b.lit(one(Ty::U64));
        self.map(std::slice::from_ref(xs), b.finish(&[one]))
    }

    fn zero(self) -> Body {
        crate::ast::zeros(&[Ty::U64])
    }
}

/// The bin of an element that is behind all edges: the last one if it is at the last edge, else none.
fn bin_of_last(edges: &Arc<Node>, x: Field, last: Field, loc: crate::Loc) -> Field {
    let op = |op, args: &[Field]| Field::op(op, args, loc);
    let [outside, one] = [u64::MAX, 1].map(|n| Field::literal(Const::u64(n)));
    let edge = Field::at_unchecked(edges, last, loc);
    let at = op(Op::Eq, &[x, edge[0]]);
    op(Op::Select, &[at, op(Op::Sub, &[last, one]), outside])
}

impl<T: Int> Array<T> {
    /// How often each number from 0 on and below `n` is there.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![2u8, 0, 2, 3]);
    /// assert_eq!(xs.bincount(4).force()?, [1, 0, 2, 1]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* A [`reduce_by_index`](crate::prelude::reduce_by_index), which is there for weights and other operators: it
    /// fuses with what makes the numbers.
    ///
    /// # Errors
    /// When forced: if an element is negative, or not below `n`.
    #[doc(alias("value_counts", "tabulate"))]
    #[track_caller]
    pub fn bincount(&self, n: impl IntoLen) -> Array<u64> {
        let builder = Builder::named("bincount");
        Array::wrap(match n.into_len().0.len() {
            Ok(n) => builder.bincount(self.node(), n),
            Err(kind) => builder.fault(&[Ty::U64], 1, kind),
        })
    }
}

impl<T: Num> Array<T> {
    /// How many elements are in each bin between neighbours of `edges`, which are in ascending order. A bin has its lower edge in it, the
    /// last one its upper edge, too. What is outside of all, and NaN, is left out.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![0.5f64, 1.0, 2.5, 10.0, 11.0]);
    /// let edges = Array::from(vec![0.0f64, 1.0, 2.0, 10.0]);
    /// assert_eq!(xs.histogram(&edges).force()?, [1, 1, 2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* For each element a search by halves, and an addition, in the loop that makes the element.
    /// [`histogram_uniform`](Array::histogram_uniform) does without the search.
    ///
    /// # Errors
    /// None of its own. With edges that are not in order the counts are of no use.
    #[doc(alias("hist", "cut"))]
    #[track_caller]
    pub fn histogram(&self, edges: &Array<T>) -> Array<u64> {
        let builder = Builder::named("histogram");
        Array::wrap(builder.histogram(self.node(), edges.node()))
    }
}

impl<T: Float> Array<T> {
    /// How many elements are in each of `n` bins of one width from `low` to `high`: the [`histogram`](Array::histogram) with the edges
    /// `linspace(low, high, n + 1)`, which it has without a search.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![0.5f64, 1.0, 2.5, 3.0, 11.0]);
    /// assert_eq!(xs.histogram_uniform(0.0, 3.0, 3).force()?, [1, 1, 2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* A few operators and an addition for each element, in the loop that makes it: no element is in memory.
    ///
    /// # Errors
    /// When forced: if `n` is negative.
    #[doc(alias = "hist")]
    #[track_caller]
    pub fn histogram_uniform(
        &self,
        low: impl ToExp<T>,
        high: impl ToExp<T>,
        n: impl IntoLen,
    ) -> Array<u64> {
        let builder = Builder::named("histogram_uniform");
        let low = value::<T>(|| low.to_exp());
        let high = value::<T>(|| high.to_exp());
        Array::wrap(match extent(builder, n) {
            Ok(n) => builder.histogram_uniform(self.node(), &low, &high, n),
            Err(kind) => builder.fault(&[Ty::U64], 1, kind),
        })
    }
}
