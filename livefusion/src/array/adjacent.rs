//! Neighbouring elements: `unique`, `unique_by`, `group`, `group_by`, `diff`.

use crate::array::merge::{test, truth};
use crate::array::{Array, length_of};
use crate::ast::{Body, Builder, Field, Fields, Fold, Len, Node, ScanKind, trace, zeros};
use crate::elt::{Elt, Num};
use crate::exp::{ToExp, closure, trace as exp};
use crate::loc::Loc;
use crate::over::by;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Untyped forms. A test takes (predecessor, element).
impl Builder {
    /// Returns the elements that differ from their predecessor.
    pub fn unique(self, xs: &Arc<Node>) -> Arc<Node> {
        self.unique_by(xs, &equal(&xs.types, self.loc()))
    }

    /// Returns the first element and all elements for which the test is false.
    pub fn unique_by(self, xs: &Arc<Node>, same: &Body) -> Arc<Node> {
        let (before, indices) = self.beside(xs);
        let all = self.zip(&[xs.clone(), before, indices]);
        let firsts = self.filter(&all, begins(&xs.types, same, self.loc()));
        self.fields(&firsts, 0..xs.types.len() as u32)
    }

    /// Returns the difference of each element and its predecessor.
    ///
    /// The result is one element shorter. Each element must be one number.
    pub fn diff(self, xs: &Arc<Node>) -> Arc<Node> {
        self.numbers(xs, (&xs.types, 1), |ty| match xs.comes_in_order() {
            true => self.diff_in_order(xs, ty),
            false => self.diff_by_index(xs),
        })
    }

    fn diff_in_order(self, xs: &Arc<Node>, ty: Ty) -> Arc<Node> {
        let before = self.before(xs, &zeros(&xs.types));
        let pairs = self.zip(&[xs.clone(), before]);
        let less = trace(&[ty, ty], |p| {
            Fields::from_slice(&[Field::op(Op::Sub, &p[..2], self.loc())])
        });
        self.map(&[self.without_first(&pairs, xs)], less)
    }

    fn diff_by_index(self, xs: &Arc<Node>) -> Arc<Node> {
        let (loc, one) = (self.loc(), Field::literal(Const::u64(1)));
        let op = |op, args: &[Field]| Field::op(op, args, loc);
        let all = length_of(self, xs);
        let n = self.computed(all.known().map(|n| n.saturating_sub(1)), || {
            op(Op::Sub, &[op(Op::Max, &[all.value(loc), one]), one])
        });
        let less = trace(&[Ty::U64], |i| {
            let at = |i| Field::at_unchecked(xs, i, loc)[0];
            Fields::from_slice(&[op(Op::Sub, &[at(op(Op::Add, &[i[0], one])), at(i[0])])])
        });
        self.generate(n.len(), less)
    }

    /// Returns the element and the length (`u64`) of each run of equal neighbours.
    pub fn group(self, xs: &Arc<Node>) -> (Arc<Node>, Arc<Node>) {
        // Only floats can be equal and still differ, as the zeros do. In other types any element of
        // a run represents it.
        let any = !xs.types.iter().any(|t| t.is_float());
        self.runs(xs, any, &equal(&xs.types, self.loc()))
    }

    /// Returns the runs of neighbours that pass the test.
    ///
    /// The results are the first element and the length (`u64`) of each run.
    pub fn group_by(self, xs: &Arc<Node>, same: &Body) -> (Arc<Node>, Arc<Node>) {
        self.runs(xs, false, same)
    }

    /// Emits each run when the next run begins, and the last run after all elements.
    ///
    /// A run consists of one element and a length. The element is the first of the run, or an
    /// arbitrary one if `any` is set.
    fn runs(self, xs: &Arc<Node>, any: bool, same: &Body) -> (Arc<Node>, Arc<Node>) {
        let (loc, types) = (self.loc(), &xs.types);
        let width = types.len() as u32;
        let (before, indices) = self.beside(xs);
        let all = self.zip(&[xs.clone(), before.clone(), indices.clone()]);
        let begins = self.map(&[all], begins(types, same, loc));
        // The start of the current run, and an element of it.
        let latest = by(Op::Max, Const::u64(0));
        let at = trace(&[Ty::Bool, Ty::U64], |p| {
            p[0].cond(&p[1..], &[Field::literal(Const::u64(0))], loc)
        });
        let at = self.map(&[begins.clone(), indices.clone()], at);
        let at = self.scan(&at, latest, ScanKind::Exclusive);
        let element = match any {
            true => before,
            false => self.first_of_run(xs, &begins),
        };
        let fields = (element.types.len() as u32).saturating_sub(width);
        let of_run = self.fields(&element, fields..fields + width);
        let all = self.zip(&[of_run, at.clone(), begins, indices]);
        let run = [&types[..], &[Ty::U64, Ty::Bool, Ty::U64]].concat();
        let ends = trace(&run, |p| {
            let (begins, i) = (p[p.len() - 2], p[p.len() - 1]);
            let later = Field::op(Op::Ne, &[i, Field::literal(Const::u64(0))], loc);
            begins.cond(&[later], &[truth(false)], loc)
        });
        let ended = self.filter(&all, ends);
        let run = trace(&run, |p| {
            let (at, i) = (p[p.len() - 3], p[p.len() - 1]);
            let length = Field::op(Op::Sub, &[i, at], loc);
            p[..p.len() - 3].iter().copied().chain([length]).collect()
        });
        let ended = self.map(&[ended], run);
        let last = [element, at].map(|scan| self.scan_total(&scan));
        let last = self.last_run(xs, &last);
        let runs = self.append(&[ended, last]);
        (
            self.fields(&runs, 0..width),
            self.fields(&runs, width..width + 1),
        )
    }

    /// Returns a flag that tells if a run has begun, then the first element of that run.
    fn first_of_run(self, xs: &Arc<Node>, begins: &Arc<Node>) -> Arc<Node> {
        let state = [&[Ty::Bool], &xs.types[..]].concat();
        let latest = trace(&[&state[..], &state[..]].concat(), |p| {
            let (a, b) = p.split_at(state.len());
            b[0].cond(b, a, self.loc())
        });
        let latest = Fold::associative(zeros(&state), latest);
        let all = self.zip(&[begins.clone(), xs.clone()]);
        self.scan(&all, latest, ScanKind::Exclusive)
    }

    /// Returns the last run, if there is one.
    fn last_run(self, xs: &Arc<Node>, [element, at]: &[Arc<Node>; 2]) -> Arc<Node> {
        let (n, loc, width) = (self.len(xs), self.loc(), xs.types.len());
        let one = trace(&[Ty::U64], |_| {
            let first = element.types.len().saturating_sub(width);
            let fields = (0..).zip(&element.types).skip(first);
            let fields = fields.map(|(k, ty)| exp::scalar(element, k, *ty, loc));
            let mut run: Fields = fields.collect();
            let [n, at] = [&n, at].map(|n| exp::scalar(n, 0, Ty::U64, loc));
            run.push(Field::op(Op::Sub, &[n, at], loc));
            run
        });
        let one = self.generate(Len::Known(1), one);
        // A run of length zero means that there are no elements.
        let is_run = trace(&[&xs.types[..], &[Ty::U64]].concat(), |p| {
            let none = Field::literal(Const::u64(0));
            Fields::from_slice(&[Field::op(Op::Ne, &[p[p.len() - 1], none], loc)])
        });
        self.filter(&one, is_run)
    }
}

/// Tests if an element starts a run, given (element, predecessor, index).
fn begins(types: &[Ty], same: &Body, loc: Loc) -> Body {
    trace(&[types, types, &[Ty::U64]].concat(), |p| {
        let (x, rest) = p.split_at(types.len());
        let (before, i) = rest.split_at(types.len());
        let is_first = Field::op(Op::Eq, &[i[0], Field::literal(Const::u64(0))], loc);
        let same = test(same, &[before, x].concat(), loc);
        let differs = Field::op(Op::Not, &[same], loc);
        is_first.cond(&[truth(true)], &[differs], loc)
    })
}

/// Tests if all fields are equal.
fn equal(types: &[Ty], loc: Loc) -> Body {
    trace(&[types, types].concat(), |p| {
        let (a, b) = p.split_at(types.len());
        let fields = a.iter().zip(b);
        let fields = fields.map(|(a, b)| Field::op(Op::Eq, &[*a, *b], loc));
        let all = fields.reduce(|a, b| Field::op(Op::And, &[a, b], loc));
        Fields::from_slice(&[all.unwrap_or(truth(true))])
    })
}

impl<T: Elt> Array<T> {
    /// Returns the elements that differ from their predecessor.
    ///
    /// Each run of equal neighbours keeps its first element. Tuples and structs are equal if all of
    /// their fields are equal. Floats are compared by `==`: the two zeros are equal, and NaN equals
    /// nothing, so every NaN stays.
    ///
    /// The result has a rate of its own, as that of [`filter`](Array::filter). It fuses with its
    /// producer and its consumers. There is no random access.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3i64, 3, 1, 3, 3, 3]);
    /// assert_eq!(xs.unique().force()?, [3, 1, 3]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "dedup")]
    #[track_caller]
    pub fn unique(&self) -> Array<T> {
        let builder = Builder::named("unique");
        Array::wrap(builder.unique(self.node()))
    }

    /// Returns the first element and all elements that fail `same(predecessor, element)`.
    ///
    /// The predecessor is the neighbour in this array, even if `unique_by` drops it. Fuses as
    /// [`unique`](Array::unique) does.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![10i64, 17, 23, 28, 31]);
    /// assert_eq!(xs.unique_by(|a, b| (a / 10).eq(b / 10)).force()?, [10, 23, 31]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "dedup_by")]
    #[track_caller]
    pub fn unique_by<R: ToExp<bool>>(&self, same: impl FnOnce(T::Exp, T::Exp) -> R) -> Array<T> {
        let builder = Builder::named("unique_by");
        let same = closure::<(T, T), bool>(|(a, b)| same(a, b).to_exp());
        Array::wrap(builder.unique_by(self.node(), &same))
    }

    /// Returns the element and the length of each run of equal neighbours.
    ///
    /// This is a run-length encoding. Equality is that of [`unique`](Array::unique).
    ///
    /// Fuses with its producer and with the consumers of both results. Each run is emitted when the
    /// next run begins. The last run is emitted in a phase after all elements, as in an
    /// [`append`](Array::append). If only the elements are needed, `unique` is cheaper.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (values, lengths) = Array::from(vec![3i64, 3, 1, 3]).group();
    /// let (values, lengths) = (&values, &lengths).force()?;
    /// assert_eq!((&values[..], &lengths[..]), (&[3, 1, 3][..], &[2, 1, 1][..]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("groupby", "chunk_by", "rle"))]
    #[track_caller]
    pub fn group(&self) -> (Array<T>, Array<u64>) {
        let (values, lengths) = Builder::named("group").group(self.node());
        (Array::wrap(values), Array::wrap(lengths))
    }

    /// Returns the runs of neighbours for which `same(predecessor, element)` is true.
    ///
    /// Each run is represented by its first element and its length. Otherwise this is
    /// [`group`](Array::group).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// // Runs of rising numbers.
    /// let xs = Array::from(vec![1i64, 2, 5, 3, 4, 1]);
    /// let (_, lengths) = xs.group_by(|a, b| a.lt(b));
    /// assert_eq!(lengths.force()?, [3, 2, 1]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("groupby", "chunk_by"))]
    #[track_caller]
    pub fn group_by<R: ToExp<bool>>(
        &self,
        same: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> (Array<T>, Array<u64>) {
        let builder = Builder::named("group_by");
        let same = closure::<(T, T), bool>(|(a, b)| same(a, b).to_exp());
        let (values, lengths) = builder.group_by(self.node(), &same);
        (Array::wrap(values), Array::wrap(lengths))
    }
}

impl<T: Num> Array<T> {
    /// Returns the difference of each element and its predecessor.
    ///
    /// The elements are `xs[1] - xs[0], xs[2] - xs[1], ..`, one fewer than in this array. Integers
    /// wrap.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 4, 9, 16]);
    /// assert_eq!(xs.diff().force()?, [3, 5, 7]);
    /// assert_eq!(xs.diff().diff().force()?, [2, 2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* The result is an index function, as for [`windows`](Array::windows). For
    /// a stream the result is a stream that remembers the preceding element.
    #[doc(alias("ediff1d", "adjacent_difference"))]
    #[track_caller]
    pub fn diff(&self) -> Array<T> {
        Array::wrap(Builder::named("diff").diff(self.node()))
    }
}
