//! Neighbours: what is equal of them (`unique`, `unique_by`, `group`, `group_by`), and how they differ (`diff`).

use crate::array::merge::{test, truth};
use crate::array::search::side;
use crate::array::{Array, length_of};
use crate::ast::{Body, Builder, Field, Fields, Fold, Len, Node, ScanKind, trace, zeros};
use crate::elt::{Elt, Num};
use crate::exp::{ToExp, closure, trace as exp};
use crate::loc::Loc;
use crate::over::by;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Tests are of (the one before, the element).
impl Builder {
    /// The elements that differ from the one before them.
    pub fn unique(self, xs: &Arc<Node>) -> Arc<Node> {
        self.unique_by(xs, &equal(&xs.types, self.loc()))
    }

    /// The elements for which the test is false, and the first.
    pub fn unique_by(self, xs: &Arc<Node>, same: &Body) -> Arc<Node> {
        let (before, indices) = self.before(xs);
        let all = self.zip(&[xs.clone(), before, indices]);
        let firsts = self.filter(&all, begins(&xs.types, same, self.loc()));
        self.fields(&firsts, 0..xs.types.len() as u32)
    }

    /// How much each element is more than the one before it: one less than there are elements, which are one number each.
    pub fn diff(self, xs: &Arc<Node>) -> Arc<Node> {
        self.numbers(xs, (&xs.types, 1), |ty| match xs.comes_in_order() {
            true => self.diff_in_order(xs, ty),
            false => self.diff_by_index(xs),
        })
    }

    fn diff_in_order(self, xs: &Arc<Node>, ty: Ty) -> Arc<Node> {
        let loc = self.loc();
        let (before, indices) = self.before(xs);
        let all = self.zip(&[xs.clone(), before, indices]);
        let types = [ty, ty, Ty::U64];
        let has_one = trace(&types, |p| {
            let first = Field::literal(Const::u64(0));
            Fields::from_slice(&[Field::op(Op::Ne, &[p[2], first], loc)])
        });
        let less = trace(&types, |p| {
            Fields::from_slice(&[Field::op(Op::Sub, &p[..2], loc)])
        });
        self.map(&[self.filter(&all, has_one)], less)
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

    /// The runs of equal neighbours: the element of each, and how often it stands there (`u64`).
    pub fn group(self, xs: &Arc<Node>) -> (Arc<Node>, Arc<Node>) {
        // Zeros of either sign are equal; of other types, equal elements are the same.
        let any = !xs.types.iter().any(|t| t.is_float());
        self.runs(xs, any, &equal(&xs.types, self.loc()))
    }

    /// The runs of neighbours for which the test is true: the first element of each, and its length (`u64`).
    pub fn group_by(self, xs: &Arc<Node>, same: &Body) -> (Arc<Node>, Arc<Node>) {
        self.runs(xs, false, same)
    }

    /// For each element the one before it, and its index.
    fn before(self, xs: &Arc<Node>) -> (Arc<Node>, Arc<Node>) {
        // The last element of what came before: a scan, so that a stream needs no memory.
        let last = Fold::associative(zeros(&xs.types), side(&xs.types, 1));
        let before = self.scan(xs, last, ScanKind::Exclusive);
        (before, self.places(xs))
    }

    /// Runs, each with its first element, or any, and its length: when the next one begins, and the last one behind all
    /// elements.
    fn runs(self, xs: &Arc<Node>, any: bool, same: &Body) -> (Arc<Node>, Arc<Node>) {
        let (loc, types) = (self.loc(), &xs.types);
        let width = types.len() as u32;
        let (before, indices) = self.before(xs);
        let all = self.zip(&[xs.clone(), before.clone(), indices.clone()]);
        let begins = self.map(&[all], begins(types, same, loc));
        // Where the run under way began, and an element of it.
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

    /// The first element of the run under way, behind whether there is one.
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

    /// The run that nothing follows, if there is any.
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
        // A run has elements.
        let is_run = trace(&[&xs.types[..], &[Ty::U64]].concat(), |p| {
            let none = Field::literal(Const::u64(0));
            Fields::from_slice(&[Field::op(Op::Ne, &[p[p.len() - 1], none], loc)])
        });
        self.filter(&one, is_run)
    }
}

/// Whether an element, of (element, the one before, index), is the first of a run.
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

/// Whether all fields are equal.
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
    /// The elements that differ from the one before them: of each run of equal neighbours the
    /// first. Tuples and structs are equal if all of their fields are. Floats are compared by `==`:
    /// the zeros are equal, and NaN equals nothing, so every NaN stays.
    ///
    /// At a rate of its own, as a [`filter`](Array::filter): fuses with its input, whatever makes
    /// it, and with what uses the result. Nothing is read at random.
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

    /// The elements for which `same(the one before, the element)` is false, and the first. The one
    /// before is the neighbour in this array, whether it stays or not. Fuses as
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

    /// The runs of equal neighbours: the element of each, and how often it stands there (a
    /// run-length code). Equality is that of [`unique`](Array::unique).
    ///
    /// Fuses with its input, whatever makes it, and with what uses the results: a run comes out when the next one begins,
    /// and the last one in a phase behind all elements, as in an [`append`](Array::append). For the elements alone,
    /// `unique` is cheaper.
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

    /// As [`group`](Array::group), with runs of neighbours for which `same(the one before, the
    /// element)` is true; of each the first element.
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
    /// How much each element is more than the one before it: `xs[1] - xs[0], xs[2] - xs[1], ..`, one less than there are elements.
    /// Integers wrap.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 4, 9, 16]);
    /// assert_eq!(xs.diff().force()?, [3, 5, 7]);
    /// assert_eq!(xs.diff().diff().force()?, [2, 2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* A function of the index, as [`windows`](Array::windows); of what comes as a stream, a stream that remembers
    /// the element before.
    #[doc(alias("ediff1d", "adjacent_difference"))]
    #[track_caller]
    pub fn diff(&self) -> Array<T> {
        Array::wrap(Builder::named("diff").diff(self.node()))
    }
}
