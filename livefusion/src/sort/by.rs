//! `sort_by`: a merge sort with a user's comparison, as a loop over arrays.
//!
//! A step merges neighbouring runs pairwise in one loop. Each output element is the smaller head of
//! its left and right run.

use crate::array::Array;
use crate::ast::{Body, Builder, Fold, Len, Node, ScanKind, fits, identity};
use crate::elt::Elt;
use crate::exp::{Field, Fields, ToExp, closure, trace};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// The untyped methods.
impl Builder {
    /// Sorts the elements by a comparison body.
    ///
    /// The body tells of two elements whether the first one comes before the second. Elements
    /// without an order between them keep their relative order.
    pub fn sort_by(self, xs: &Arc<Node>, is_before: &Body) -> Arc<Node> {
        let both = [&xs.types[..], &xs.types[..]].concat();
        if let Err(kind) = fits(is_before, "a comparison", &both, Some(&[Ty::Bool])) {
            return self.instead(&[xs], (&xs.types, 1), kind);
        }
        let one = trace::trace(&[], |_| number(1).into_iter().collect());
        let start = [xs.clone(), self.compute(one)];
        let merged = self.iterate_while(
            &start,
            |state| self.compute(self.is_run(&state[0], &state[1])),
            |state| {
                let sources = self.merged(&state[0], &state[1], is_before);
                let twice = trace::trace(&[], |_| self.twice(&state[1]).into_iter().collect());
                vec![self.gather(&state[0], &sources), self.compute(twice)]
            },
        );
        merged[0].clone()
    }

    /// Tells whether runs of this length leave any to be merged.
    fn is_run(self, xs: &Arc<Node>, length: &Arc<Node>) -> Body {
        let len = self.renamed("len").len(xs);
        trace::trace(&[], |_| {
            let [run, all] = [length, &len].map(|n| Field::value(n, self.loc())[0]);
            Fields::from_slice(&[Field::op(Op::Lt, &[run, all], self.loc())])
        })
    }

    fn twice(self, length: &Arc<Node>) -> Option<Field> {
        let run = Field::value(length, self.loc())[0];
        Some(Field::op(Op::Add, &[run, run], self.loc()))
    }

    /// Computes the source of each element for a pairwise merge of runs of this length.
    fn merged(self, xs: &Arc<Node>, length: &Arc<Node>, is_before: &Body) -> Arc<Node> {
        let loc = self.loc();
        let len = self.renamed("len").len(xs);
        let op = |op, args: &[Field]| Field::op(op, args, loc);
        // The state: elements taken from the left and right run, and the last source. Then the
        // output place.
        let step = trace::trace(&[Ty::U64; 4], |fields| {
            let [left, right, _, place] = [0, 1, 2, 3].map(|k| fields[k]);
            let [zero, one] = [0, 1].map(|n| Field::literal(Const::u64(n)));
            let [run, all] = [length, &len].map(|n| Field::value(n, loc)[0]);
            let within = op(Op::Sub, &[op(Op::Add, &[run, run]), one]);
            let within = op(Op::And, &[place, within]);
            let begin = op(Op::Sub, &[place, within]);
            let begins = op(Op::Eq, &[within, zero]);
            let [left, right] = [left, right].map(|n| op(Op::Select, &[begins, zero, n]));
            let middle = op(Op::Min, &[op(Op::Add, &[begin, run]), all]);
            let end = op(Op::Min, &[op(Op::Add, &[middle, run]), all]);
            let [from_left, from_right] =
                [op(Op::Add, &[begin, left]), op(Op::Add, &[middle, right])];
            let has_left = op(Op::Lt, &[from_left, middle]);
            let has_right = op(Op::Lt, &[from_right, end]);
            let has_both = op(Op::And, &[has_left, has_right]);
            let [a, b] = [from_left, from_right].map(|at| Field::at(xs, &[at], loc));
            let compared = Field::apply(is_before, &[b, a].concat(), loc);
            let takes_right = has_both.cond(&compared, &[has_right], loc)[0];
            let more = |of, taken| op(Op::Add, &[of, op(Op::Select, &[taken, one, zero])]);
            let takes_left = op(Op::Not, &[takes_right]);
            let source = op(Op::Select, &[takes_right, from_right, from_left]);
            Fields::from_slice(&[more(left, takes_left), more(right, takes_right), source])
        });
        let start = trace::trace(&[], |_| [0; 3].into_iter().flat_map(number).collect());
        let places = self.generate(Len::Delayed(len.clone()), identity(&[Ty::U64]));
        let fold = Fold::sequential(start, step);
        let taken = self.scan(&places, fold, ScanKind::Inclusive);
        self.fields(&taken, 2..3)
    }
}

fn number(n: u64) -> Option<Field> {
    Some(Field::literal(Const::u64(n)))
}

impl<T: Elt> Array<T> {
    /// Sorts the elements by a comparison of your own.
    ///
    /// `is_before` tells whether its first element comes before the second one. The sort is stable:
    /// elements without an order between them keep their relative order.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let points = Array::from(vec![(3.0f64, 4.0f64), (1.0, 0.0), (0.0, 2.0)]);
    /// let near = points.sort_by(|(x, y), (u, v)| (x * x + y * y).lt(u * u + v * v));
    /// assert_eq!(near.force()?, [(1.0, 0.0), (0.0, 2.0), (3.0, 4.0)]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// If a key gives the order, [`sort_by_key`](Array::sort_by_key) is faster: it sorts by radix.
    ///
    /// *Cost and fusion.* A merge sort as a [loop over arrays](crate::iterate::iterate_while). The
    /// comparison is compiled into its step, which reads and writes all elements. `n` elements take
    /// `log2(n)` steps, rounded up. The sort is external to loops, on one thread: nothing fuses
    /// across it. Producers of the elements run in a loop before it, and consumers in a loop after
    /// it.
    ///
    /// # Errors
    /// When forced: an error in the comparison. If the comparison is no order (`a` before `b` and
    /// `b` before `a`), the result is some permutation of the elements.
    ///
    /// *Source.* Bottom-up merging, as in Knuth, "Sorting and Searching", 5.2.4.
    #[doc(alias("sort_with", "sort_unstable_by", "cmp"))]
    #[track_caller]
    pub fn sort_by<R: ToExp<bool>>(&self, is_before: impl FnOnce(T::Exp, T::Exp) -> R) -> Array<T> {
        let builder = Builder::named("sort_by");
        let is_before = closure::<(T, T), bool>(|(a, b)| is_before(a, b).to_exp());
        Array::wrap(builder.sort_by(self.node(), &is_before))
    }
}
