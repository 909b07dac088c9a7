//! How many elements are where: `bincount`, `histogram`, `histogram_uniform`.

use crate::array::{Array, Bins, IntoLen, Spread, extent, number, one, step_of};
use crate::ast::{Axis, Body, BodyBuilder, Builder, Field, Fields, Len, Node, fits, trace};
use crate::elt::{Float, Int, Num};
use crate::exp::{ToExp, value};
use crate::loc::Loc;
use crate::sort::places_before;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Bins of `f32` whose places are computed: so many times the rounding error of an `f32` is a quarter of a bin.
const MOST_OF_F32: u64 = 1 << 20;

/// Untyped forms.
impl Builder {
    /// How often each index (an integer) below a number is there (`u64`).
    pub fn bincount(self, indices: &Arc<Node>, n: Len) -> Arc<Node> {
        let ones = self.each_once(indices);
        let zero = self.zero();
        let bins = Bins {
            count: n,
            start: &zero,
        };
        self.reduce_by_index(&ones, indices, bins, step_of(Op::Add, Ty::U64))
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
        // Of so many bins, the place of an `f32` may be more than one bin off.
        if ty == Ty::F32 && n.known().is_none_or(|n| n > MOST_OF_F32) {
            let known = n.known().map(|n| n.saturating_add(1));
            let edges = self.computed(known, || {
                let one = Field::literal(Const::u64(1));
                Field::op(Op::Add, &[n.value(self.loc()), one], self.loc())
            });
            return self.histogram(xs, &self.linspace(edges, low, high));
        }
        let loc = self.loc();
        let bin = trace(&xs.types, |x| {
            let ends = [low, high].map(|end| Field::apply(end, &[], loc)[0]);
            let bins = Field::op(Op::Max, &[n.value(loc), Field::literal(Const::u64(1))], loc);
            let edges = Spread::new(bins, ends, loc);
            Fields::from_slice(&[bin_between(&edges, ends, x[0], loc)])
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

/// The bin of an element that is behind all edges: the last one if it lies between its edges, else none.
fn bin_of_last(edges: &Arc<Node>, x: Field, last: Field, loc: Loc) -> Field {
    let op = |op, args: &[Field]| Field::op(op, args, loc);
    let [outside, one] = [u64::MAX, 1].map(|n| Field::literal(Const::u64(n)));
    // Of one edge there is no bin, and this is none.
    let bin = op(Op::Sub, &[last, one]);
    let lower = op(Op::Min, &[bin, last]);
    let [lower, upper] = [lower, last].map(|k| Field::at_unchecked(edges, k, loc)[0]);
    let at = op(Op::And, &[op(Op::Le, &[lower, x]), op(Op::Eq, &[x, upper])]);
    op(Op::Select, &[at, bin, outside])
}

/// The bin of an element between even edges, of which there are two at least; a bin is not below its lower edge, and below its upper
/// one, but for the last bin.
///
/// It is the last edge that is not above the element: the last one that is rounded to this float, or to one below. So it is looked
/// for halfway to the next float, and one bin off at most. Counted from the end, it is the last bin where the edges are all equal, or
/// no numbers.
fn bin_between(edges: &Spread, [low, high]: [Field; 2], x: Field, loc: Loc) -> Field {
    let op = |op, args: &[Field]| Field::op(op, args, loc);
    let ty = x.ty();
    let [outside, one] = [u64::MAX, 1].map(|n| Field::literal(Const::u64(n)));
    let last = op(Op::Sub, &[edges.steps, one]);
    let [left, half] = edges.to_end(x);
    let scale = op(Op::Div, &[edges.steps.cast(ty, loc), edges.width]);
    let behind = op(Op::Mul, &[op(Op::Sub, &[left, half]), scale]).cast(Ty::U64, loc);
    let near = op(Op::Sub, &[last, op(Op::Min, &[behind, last])]);
    // The edges themselves decide.
    let next = op(Op::Add, &[near, one]);
    let below = op(Op::Lt, &[x, edges.at(near)]);
    let is_last = op(Op::Eq, &[near, last]);
    let reaches = op(Op::Ge, &[x, edges.at(next)]);
    let above = op(Op::And, &[reaches, op(Op::Not, &[is_last])]);
    let up = op(Op::Add, &[near, above.cast(Ty::U64, loc)]);
    let bin = op(Op::Sub, &[up, below.cast(Ty::U64, loc)]);
    // With a bound that is infinite or NaN, edges are NaN: the last bin alone may have both of its own.
    let first = op(Op::Select, &[edges.is_finite(), low, edges.at(last)]);
    let inside = op(Op::And, &[op(Op::Ge, &[x, first]), op(Op::Le, &[x, high])]);
    op(Op::Select, &[inside, bin, outside])
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
    /// *Cost and fusion.* A [`reduce_by_index`](Array::reduce_by_index), which is there for weights and other operators: it
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
    /// Counts the elements in each of `n` bins of one width from `low` to `high`.
    ///
    /// It is the [`histogram`](Array::histogram) with the edges `linspace(low, high, n + 1)`, element by element, without a search.
    /// Where bins are narrower than floats are apart, several edges are one float, and the last bin of these has its elements. So
    /// with `low == high` the last bin has the elements equal to both. With `low` above `high` no element is counted. An infinite or NaN bound
    /// makes edges NaN, and at most the last bin has elements: those equal to an infinite `high`. Without bins there are no counts.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![0.5f64, 1.0, 2.5, 3.0, 11.0]);
    /// assert_eq!(xs.histogram_uniform(0.0, 3.0, 3).force()?, [1, 1, 2]);
    /// assert_eq!(xs.histogram_uniform(1.0, 1.0, 3).force()?, [0, 0, 1]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* Some operators and an addition for each element, in the loop that makes it: no element is in memory. Of `f32`
    /// there is a search where `n` is above 2^20, or known only when it is forced.
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
