//! Neighbours that are equal: `unique`, `unique_by`, `group`, `group_by`.

use crate::array::fold::operator;
use crate::array::{Array, Ix0};
use crate::ast::{Builder, Fold, FoldStyle, Len, Node, ScanKind, identity};
use crate::elt::Elt;
use crate::error::Loc;
use crate::exp::{Exp, ToExp, apply, closure, exp_of, fields_of, value};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::sync::Arc;

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
    #[track_caller]
    pub fn unique(&self) -> Array<T> {
        let builder = Builder::named("unique");
        let firsts = self.firsts(builder, |a, b| equal::<T>(a, b, builder.loc()));
        Array::wrap(builder.fields(&firsts, 0..T::FIELDS))
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
    #[track_caller]
    pub fn unique_by<R: ToExp<bool>>(&self, same: impl FnOnce(T::Exp, T::Exp) -> R) -> Array<T> {
        let builder = Builder::named("unique_by");
        let firsts = self.firsts(builder, same);
        Array::wrap(builder.fields(&firsts, 0..T::FIELDS))
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
    #[track_caller]
    pub fn group(&self) -> (Array<T>, Array<u64>) {
        let builder = Builder::named("group");
        self.runs(builder, |a, b| equal::<T>(a, b, builder.loc()))
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
    #[track_caller]
    pub fn group_by<R: ToExp<bool>>(
        &self,
        same: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> (Array<T>, Array<u64>) {
        let builder = Builder::named("group_by");
        self.runs(builder, same)
    }

    /// The first elements of runs, as triples: element, the one before, index.
    fn firsts<R: ToExp<bool>>(
        &self,
        builder: Builder,
        same: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Arc<Node> {
        let is_first =
            closure::<(T, T, u64), bool>(|(x, before, i)| i.eq(0).or(!same(before, x).to_exp()));
        builder.filter(&self.beside_those_before(builder), is_first)
    }

    /// Triples of all elements: element, the one before, index.
    fn beside_those_before(&self, builder: Builder) -> Arc<Node> {
        // The last element of what came before: a scan, so that a stream needs no memory.
        let last = Fold {
            start: value::<T>(|| exp_of::<T>(&[])),
            step: operator::<T, T::Exp>(|_, b| b),
            style: FoldStyle::Associative,
        };
        let before = builder.scan(self.node(), last, ScanKind::Exclusive);
        let len = Len::Delayed(builder.len(self.node()));
        let indices = builder.generate(len, identity(&[Ty::U64]));
        builder.zip(&[self.node().clone(), before, indices])
    }

    /// The first elements of runs, and the runs' lengths: of each run when the next one begins, and of the last one
    /// behind all elements.
    fn runs<R: ToExp<bool>>(
        &self,
        builder: Builder,
        same: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> (Array<T>, Array<u64>) {
        let all = self.beside_those_before(builder);
        let begins = closure::<(T, T, u64), (bool, T, u64)>(|(x, before, i)| {
            (i.eq(0).or(!same(before, x.clone()).to_exp()), x, i)
        });
        let begins = builder.map(&[all], begins);
        // Where the run under way began, and with which element.
        let latest = Fold {
            start: value::<(bool, T, u64)>(|| exp_of::<(bool, T, u64)>(&[])),
            step: operator::<(bool, T, u64), <(bool, T, u64) as Elt>::Exp>(|a, b| {
                b.0.clone().cond(b, a)
            }),
            style: FoldStyle::Associative,
        };
        let run = builder.scan(&begins, latest, ScanKind::Exclusive);
        let last = builder.scan_total(&run);
        let both = builder.zip(&[run, begins]);
        type Both<T> = ((bool, T, u64), (bool, T, u64));
        let ends = closure::<Both<T>, bool>(|(_, (begins, _, i))| begins.and(i.ne(0)));
        let ended = builder.filter(&both, ends);
        let of_run = closure::<Both<T>, (T, u64)>(|((_, x, begin), (_, _, i))| (x, i - begin));
        let ended = builder.map(&[ended], of_run);
        let last = self.last_run(builder, &last);
        let runs = builder.append(&[ended, last]);
        (
            Array::wrap(builder.fields(&runs, 0..T::FIELDS)),
            Array::wrap(builder.fields(&runs, T::FIELDS..T::FIELDS + 1)),
        )
    }

    /// The run that nothing follows, if there is any.
    fn last_run(&self, builder: Builder, last: &Arc<Node>) -> Arc<Node> {
        let n = Array::<u64, Ix0>::wrap(builder.len(self.node()));
        let last = Array::<(bool, T, u64), Ix0>::wrap(last.clone());
        let one = closure::<u64, (T, u64)>(|_| {
            let (_, x, begin) = last.value();
            (x, n.value() - begin)
        });
        let one = builder.generate(Len::Known(1), one);
        // A run has elements.
        let any = closure::<(T, u64), bool>(|(_, length)| length.ne(0));
        builder.filter(&one, any)
    }
}

/// Whether all fields are equal.
fn equal<T: Elt>(a: T::Exp, b: T::Exp, loc: Loc) -> Exp<bool> {
    let pairs = fields_of::<T>(a).into_iter().zip(fields_of::<T>(b));
    let fields = pairs.map(|(a, b)| apply::<bool>(Op::Eq, &[a, b], loc));
    let all = fields.reduce(|a, b| apply(Op::And, &[a.field(), b.field()], loc));
    all.unwrap_or(Exp::lit(true))
}
