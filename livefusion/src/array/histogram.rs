//! Counting: `bincount`, `histogram`, `histogram_uniform`.

use crate::array::{Array, Bins, IntoLen, Spread, extent, number, one, step_of};
use crate::ast::{Axis, Body, BodyBuilder, Builder, Field, Fields, Len, Node, Term, fits, trace};
use crate::elt::{Float, Int, Num};
use crate::exp::{ToExp, value};
use crate::loc::Loc;
use crate::sort::places_before;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Most bins for which the bin of an `f32` is computed. With this many bins the rounding error is a
/// quarter of a bin.
const MOST_OF_F32: u64 = 1 << 20;

/// Untyped forms.
impl Builder {
    /// Counts the occurrences of each index below a bound (`u64`).
    pub fn bincount(self, indices: &Arc<Node>, n: Len) -> Arc<Node> {
        let ones = self.each_once(indices);
        let zero = self.zero();
        let bins = Bins {
            count: n,
            start: &zero,
        };
        self.reduce_by_index(&ones, indices, bins, step_of(Op::Add, Ty::U64))
    }

    /// Counts the elements between neighbouring ascending edges (`u64`).
    ///
    /// Each element is one number. An element equal to an edge belongs to the bin above it; one
    /// equal to the last edge belongs to the last bin.
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
            // Elements after all edges: those equal to the last edge, and those outside.
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

    /// Counts the floats in each of `n` bins of equal width (`u64`).
    ///
    /// Elements are one float each. `low` and `high` are bodies without parameters.
    pub fn histogram_uniform(self, xs: &Arc<Node>, low: &Body, high: &Body, n: Axis) -> Arc<Node> {
        let ty = match xs.types[..] {
            [ty] if ty.is_float() => ty,
            _ => return self.unfit(xs, &[Ty::U64], 1, "elements of one float each"),
        };
        let ends = [low, high].map(|end| fits(end, "a float", &[], Some(&[ty])));
        if let Some(kind) = ends.into_iter().find_map(Result::err) {
            return self.instead(&[xs], (&[Ty::U64], 1), kind);
        }
        // With more bins, the computed bin of an `f32` may be off by more than one.
        if ty == Ty::F32 && n.known().is_none_or(|n| n > MOST_OF_F32) {
            let known = n.known().map(|n| n.saturating_add(1));
            let edges = self.computed(known, || {
                let one = Field::literal(Const::u64(1));
                Field::op(Op::Add, &[n.value(self.loc()), one], self.loc())
            });
            return self.histogram(xs, &self.linspace(edges, low, high));
        }
        let loc = self.loc();
        let wide = wide_bins(low, high, &n, loc);
        let bin = trace(&xs.types, |x| {
            if let Some(edges) = &wide {
                return Fields::from_slice(&[bin_of_wide(edges, x[0], loc)]);
            }
            let ends = [low, high].map(|end| Field::apply(end, &[], loc)[0]);
            let bins = Field::op(Op::Max, &[n.value(loc), Field::literal(Const::u64(1))], loc);
            let edges = Spread::new(bins, ends, loc);
            Fields::from_slice(&[bin_between(&edges, ends, x[0], loc)])
        });
        self.counted(&self.map(std::slice::from_ref(xs), bin), &n)
    }

    /// Counts the occurrences of each bin. Elements outside all bins are left out.
    fn counted(self, bins: &Arc<Node>, n: &Axis) -> Arc<Node> {
        let counts = self.bins(n.len(), &self.zero());
        let ones = self.each_once(bins);
        self.scatter_within(&counts, bins, &ones, Some(step_of(Op::Add, Ty::U64)))
    }

    /// Maps each element to a one.
    fn each_once(self, xs: &Arc<Node>) -> Arc<Node> {
        let mut b = BodyBuilder::new(&xs.types);
        let one = b.lit(one(Ty::U64));
        self.map(std::slice::from_ref(xs), b.finish(&[one]))
    }

    fn zero(self) -> Body {
        crate::ast::zeros(&[Ty::U64])
    }
}

/// Returns the bin of an element after all edges: the last bin if it contains the element, else
/// none.
fn bin_of_last(edges: &Arc<Node>, x: Field, last: Field, loc: Loc) -> Field {
    let op = |op, args: &[Field]| Field::op(op, args, loc);
    let [outside, one] = [u64::MAX, 1].map(|n| Field::literal(Const::u64(n)));
    // With a single edge there is no bin, and this wraps to a number out of range.
    let bin = op(Op::Sub, &[last, one]);
    let lower = op(Op::Min, &[bin, last]);
    let [lower, upper] = [lower, last].map(|k| Field::at_unchecked(edges, k, loc)[0]);
    let at = op(Op::And, &[op(Op::Le, &[lower, x]), op(Op::Eq, &[x, upper])]);
    op(Op::Select, &[at, bin, outside])
}

/// Returns the edges of bins that are literals, if each bin is much wider than a gap of floats.
fn wide_bins(low: &Body, high: &Body, n: &Axis, loc: Loc) -> Option<Spread> {
    let literal = |body: &Body| match body.terms.get(body.results.first()?.index())?.term {
        Term::Lit(c) => Some(Field::literal(c)),
        _ => None,
    };
    let bins = Field::literal(Const::u64(n.known()?.max(1)));
    let edges = Spread::new(bins, [literal(low)?, literal(high)?], loc);
    edges.is_wide().then_some(edges)
}

/// Returns the bin of an element as [`bin_between`] does, from one edge: it begins the bin, or the
/// one above.
fn bin_of_wide(edges: &Spread, x: Field, loc: Loc) -> Field {
    let op = |op, args: &[Field]| Field::op(op, args, loc);
    let [outside, one] = [u64::MAX, 1].map(|n| Field::literal(Const::u64(n)));
    let near = edges.nearest(x);
    let below = op(Op::Lt, &[x, edges.before_end(near)]);
    let bin = op(Op::Sub, &[near, below.cast(Ty::U64, loc)]);
    let bin = op(Op::Min, &[bin, op(Op::Sub, &[edges.steps, one])]);
    let ends = [op(Op::Ge, &[x, edges.start]), op(Op::Le, &[x, edges.stop])];
    op(Op::Select, &[op(Op::And, &ends), bin, outside])
}

/// Returns the bin of an element between two or more even edges. A bin includes its lower edge and
/// excludes its upper edge, but the last bin includes both.
///
/// The result is the last edge that is at most the element, that is, the last edge that rounds to
/// this float or a lower one. The estimate therefore uses the midpoint to the next float, and is
/// off by at most one bin. The estimate counts from the end. So if all edges are equal, or are NaN,
/// it gives the last bin.
fn bin_between(edges: &Spread, [low, high]: [Field; 2], x: Field, loc: Loc) -> Field {
    let op = |op, args: &[Field]| Field::op(op, args, loc);
    let ty = x.ty();
    let [outside, one] = [u64::MAX, 1].map(|n| Field::literal(Const::u64(n)));
    let last = op(Op::Sub, &[edges.steps, one]);
    let [left, half] = edges.to_end(x);
    let scale = op(Op::Div, &[edges.steps.cast(ty, loc), edges.width]);
    let behind = op(Op::Mul, &[op(Op::Sub, &[left, half]), scale]).cast(Ty::U64, loc);
    let near = op(Op::Sub, &[last, op(Op::Min, &[behind, last])]);
    // Compare with the actual edges to correct the estimate.
    let next = op(Op::Add, &[near, one]);
    let below = op(Op::Lt, &[x, edges.at(near)]);
    let is_last = op(Op::Eq, &[near, last]);
    let reaches = op(Op::Ge, &[x, edges.at(next)]);
    let above = op(Op::And, &[reaches, op(Op::Not, &[is_last])]);
    let up = op(Op::Add, &[near, above.cast(Ty::U64, loc)]);
    let bin = op(Op::Sub, &[up, below.cast(Ty::U64, loc)]);
    // An infinite or NaN bound makes edges NaN. Then only the last bin may have two valid edges.
    let first = op(Op::Select, &[edges.is_finite(), low, edges.at(last)]);
    let inside = op(Op::And, &[op(Op::Ge, &[x, first]), op(Op::Le, &[x, high])]);
    op(Op::Select, &[inside, bin, outside])
}

impl<T: Int> Array<T> {
    /// Counts the occurrences of each number below `n`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![2u8, 0, 2, 3]);
    /// assert_eq!(xs.bincount(4).force()?, [1, 0, 2, 1]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* A [`reduce_by_index`](Array::reduce_by_index), which also supports
    /// weights and other operators. Fuses with the producer of the numbers.
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
    /// Counts the elements in each bin between neighbouring `edges`.
    ///
    /// The edges are in ascending order. A bin includes its lower edge, and the last bin its upper
    /// edge too. Elements outside all bins, and NaN, are not counted.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![0.5f64, 1.0, 2.5, 10.0, 11.0]);
    /// let edges = Array::from(vec![0.0f64, 1.0, 2.0, 10.0]);
    /// assert_eq!(xs.histogram(&edges).force()?, [1, 1, 2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* One binary search and one addition per element, in the loop that makes
    /// the element. [`histogram_uniform`](Array::histogram_uniform) avoids the search.
    ///
    /// # Errors
    /// None of its own. If the edges are not in order, the counts are meaningless.
    #[doc(alias("hist", "cut"))]
    #[track_caller]
    pub fn histogram(&self, edges: &Array<T>) -> Array<u64> {
        let builder = Builder::named("histogram");
        Array::wrap(builder.histogram(self.node(), edges.node()))
    }
}

impl<T: Float> Array<T> {
    /// Counts the elements in each of `n` equally wide bins from `low` to `high`.
    ///
    /// The counts equal those of [`histogram`](Array::histogram) with the edges
    /// `linspace(low, high, n + 1)`, but need no search.
    ///
    /// Bins can be narrower than the spacing of floats. Then several edges are the same float, and
    /// the last of these bins gets the elements. So if `low == high`, the last bin counts the
    /// elements equal to both. If `low` is above `high`, nothing is counted. An infinite or NaN
    /// bound makes edges NaN. Then only the last bin can have elements: those equal to an infinite
    /// `high`. If `n` is 0, the result is empty.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![0.5f64, 1.0, 2.5, 3.0, 11.0]);
    /// assert_eq!(xs.histogram_uniform(0.0, 3.0, 3).force()?, [1, 1, 2]);
    /// assert_eq!(xs.histogram_uniform(1.0, 1.0, 3).force()?, [0, 0, 1]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* A few operators and an addition per element, in the loop that makes the
    /// element. Elements are not stored. For `f32` there is a search if `n` is above 2^20, or known
    /// only when forced.
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
