//! Neighbours that are equal: `unique`, `unique_by`, `group`, `group_by`.

use crate::array::fold::operator;
use crate::array::{Array, Ix0};
use crate::ast::{Builder, Fold, FoldStyle, Len, Node, ScanKind, identity};
use crate::elt::Elt;
use crate::exp::{Exp, ToExp, apply, closure, exp_of, fields_of, trace, types_of, value};
use crate::loc::Loc;
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
        // Zeros of either sign are equal; of other types, equal elements are the same.
        let any = !types_of::<T>().iter().any(|t| t.is_float());
        self.runs(builder, any, |a, b| equal::<T>(a, b, builder.loc()))
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
        self.runs(builder, false, same)
    }

    /// The first elements of runs, as triples: element, the one before, index.
    fn firsts<R: ToExp<bool>>(
        &self,
        builder: Builder,
        same: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Arc<Node> {
        let (before, indices) = self.before(builder);
        let all = builder.zip(&[self.node().clone(), before, indices]);
        let is_first =
            closure::<(T, T, u64), bool>(|(x, before, i)| i.eq(0).or(!same(before, x).to_exp()));
        builder.filter(&all, is_first)
    }

    /// For each element the one before it, and its index.
    fn before(&self, builder: Builder) -> (Arc<Node>, Arc<Node>) {
        // The last element of what came before: a scan, so that a stream needs no memory.
        let last = Fold {
            start: value::<T>(|| exp_of::<T>(&[])),
            step: operator::<T, T::Exp>(|_, b| b),
            style: FoldStyle::Associative,
        };
        let before = builder.scan(self.node(), last, ScanKind::Exclusive);
        let len = Len::Delayed(builder.len(self.node()));
        (before, builder.generate(len, identity(&[Ty::U64])))
    }

    /// Runs, each with its first element, or any, and its length: when the next one begins, and the last one behind all
    /// elements.
    fn runs<R: ToExp<bool>>(
        &self,
        builder: Builder,
        any: bool,
        same: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> (Array<T>, Array<u64>) {
        let (before, indices) = self.before(builder);
        let all = builder.zip(&[self.node().clone(), before.clone(), indices.clone()]);
        let begins =
            closure::<(T, T, u64), bool>(|(x, before, i)| i.eq(0).or(!same(before, x).to_exp()));
        let begins = builder.map(&[all], begins);
        // Where the run under way began, and an element of it.
        let latest = Fold {
            start: value::<u64>(|| Exp::lit(0)),
            step: operator::<u64, Exp<u64>>(|a, b| a.max(b)),
            style: FoldStyle::Associative,
        };
        let at = closure::<(bool, u64), u64>(|(begins, i)| begins.cond(i, 0));
        let at = builder.map(&[begins.clone(), indices.clone()], at);
        let at = builder.scan(&at, latest, ScanKind::Exclusive);
        let element = match any {
            true => before,
            false => self.first_of_run(builder, &begins),
        };
        let fields = element.types.len() as u32 - T::FIELDS;
        let of_run = builder.fields(&element, fields..fields + T::FIELDS);
        let all = builder.zip(&[of_run, at.clone(), begins, indices]);
        let ends = closure::<(T, u64, bool, u64), bool>(|(_, _, begins, i)| begins.and(i.ne(0)));
        let ended = builder.filter(&all, ends);
        let run = closure::<(T, u64, bool, u64), (T, u64)>(|(x, at, _, i)| (x, i - at));
        let ended = builder.map(&[ended], run);
        let last = [element, at].map(|scan| builder.scan_total(&scan));
        let last = self.last_run(builder, &last);
        let runs = builder.append(&[ended, last]);
        (
            Array::wrap(builder.fields(&runs, 0..T::FIELDS)),
            Array::wrap(builder.fields(&runs, T::FIELDS..T::FIELDS + 1)),
        )
    }

    /// The first element of the run under way, behind whether there is one.
    fn first_of_run(&self, builder: Builder, begins: &Arc<Node>) -> Arc<Node> {
        let latest = Fold {
            start: value::<(bool, T)>(|| exp_of::<(bool, T)>(&[])),
            step: operator::<(bool, T), <(bool, T) as Elt>::Exp>(|a, b| b.0.cond(b, a)),
            style: FoldStyle::Associative,
        };
        let all = builder.zip(&[begins.clone(), self.node().clone()]);
        builder.scan(&all, latest, ScanKind::Exclusive)
    }

    /// The run that nothing follows, if there is any.
    fn last_run(&self, builder: Builder, [element, at]: &[Arc<Node>; 2]) -> Arc<Node> {
        let n = Array::<u64, Ix0>::wrap(builder.len(self.node()));
        let at = Array::<u64, Ix0>::wrap(at.clone());
        let (first, loc) = (element.types.len() as u32 - T::FIELDS, builder.loc());
        let one = closure::<u64, (T, u64)>(|_| {
            let mut field = first;
            let x = T::of_fields(&mut |ty| {
                field += 1;
                trace::scalar(element, field - 1, ty, loc)
            });
            (x, n.value() - at.value())
        });
        let one = builder.generate(Len::Known(1), one);
        // A run has elements.
        let is_run = closure::<(T, u64), bool>(|(_, length)| length.ne(0));
        builder.filter(&one, is_run)
    }
}

/// Whether all fields are equal.
fn equal<T: Elt>(a: T::Exp, b: T::Exp, loc: Loc) -> Exp<bool> {
    let pairs = fields_of::<T>(a).into_iter().zip(fields_of::<T>(b));
    let fields = pairs.map(|(a, b)| apply::<bool>(Op::Eq, &[a, b], loc));
    let all = fields.reduce(|a, b| apply(Op::And, &[a.field(), b.field()], loc));
    all.unwrap_or(Exp::lit(true))
}
