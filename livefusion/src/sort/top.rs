//! `top_k`, `argtop_k`: folds whose state is the sorted largest elements.
//!
//! Each element is compared with the last one of the state, and most are rejected. Such a fold runs
//! at the speed of that comparison. The state is ordered by [keys](super::order) and then by
//! places, so no two entries are equal. Its result is therefore the same for any partition of the
//! input.

use super::order;
use crate::array::Array;
use crate::ast::{Body, Builder, Fold, Len, Node, Types};
use crate::elt::Elt;
use crate::exp::{Field, Fields, trace};
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// The maximum fields of a fold's state. Larger requests are sorted.
const MOST: usize = 32;

/// The untyped methods.
impl Builder {
    /// Returns the first `k` elements in descending order.
    ///
    /// There are fewer if the array has fewer.
    pub fn top_k(self, xs: &Arc<Node>, k: usize) -> Arc<Node> {
        let keys = self.keys_by(xs, order::falling_keys);
        let found = match self.fits(&keys, k) {
            true => self.smallest(&keys, k),
            false => self.first_few(&self.sorted(&keys), k),
        };
        self.map(&[found], order::falling_elements(&xs.types, self.loc()))
    }

    /// Returns the places of the first `k` elements in descending order (`u64`).
    ///
    /// Ties go to the first places.
    pub fn argtop_k(self, xs: &Arc<Node>, k: usize) -> Arc<Node> {
        let keys = self.keys_by(xs, order::falling_keys);
        let width = keys.types.len() as u32;
        let placed = self.zip(&[keys.clone(), self.places(&keys)]);
        match self.fits(&placed, k) {
            true => self.fields(&self.smallest(&placed, k), width..width + 1),
            false => self.first_few(&self.order_of(&keys), k),
        }
    }

    /// Whether the state of a fold holds the first `k` keys.
    pub(super) fn fits(self, keys: &Node, k: usize) -> bool {
        keys.error.is_none() && k > 0 && k.saturating_mul(keys.types.len()) <= MOST
    }

    fn first_few(self, xs: &Arc<Node>, k: usize) -> Arc<Node> {
        let k = Field::literal(Const::u64(k as u64));
        self.take(xs, trace::trace(&[], |_| Fields::from_slice(&[k])))
    }

    /// Folds the `k` smallest keys in order.
    fn smallest(self, keys: &Arc<Node>, k: usize) -> Arc<Node> {
        let few = Few::of(keys, k, self.loc());
        let kept = self.fold(keys, Fold::exact(few.none(), few.step(), few.join()));
        let len = self.renamed("len").len(keys);
        let there = trace::trace(&[], |_| {
            let most = Field::literal(Const::u64(k as u64));
            let len = Field::value(&len, few.loc);
            Fields::from_slice(&[Field::op(Op::Min, &[len[0], most], few.loc)])
        });
        let there = Len::Delayed(self.compute(there));
        self.generate(there, few.rows(&kept))
    }
}

/// The state: `k` rows of these fields, in order.
pub(super) struct Few {
    types: Types,
    k: usize,
    loc: Loc,
}

type Row = Fields;

impl Few {
    pub(super) fn of(keys: &Node, k: usize, loc: Loc) -> Few {
        let types = keys.types.clone();
        Few { types, k, loc }
    }

    fn op(&self, op: Op, args: &[Field]) -> Field {
        Field::op(op, args, self.loc)
    }

    fn state(&self) -> Vec<Ty> {
        self.types.repeat(self.k)
    }

    fn split(&self, fields: &[Field]) -> Vec<Row> {
        let rows = fields.chunks(self.types.len());
        rows.map(Fields::from_slice).collect()
    }

    /// The state of no elements: the last possible keys.
    pub(super) fn none(&self) -> Body {
        trace::trace(&[], |_| {
            order::last_keys(&self.state()).into_iter().collect()
        })
    }

    /// Inserts one more element, if it belongs to the state.
    pub(super) fn step(&self) -> Body {
        let params = [&self.state()[..], &self.types].concat();
        trace::trace(&params, |fields| {
            let mut rows = self.split(fields);
            let new = rows.pop().unwrap_or_default();
            let before: Vec<Field> = rows
                .iter()
                .map(|row| order::is_before(&new, row, self.loc))
                .collect();
            let last = self.k - 1;
            let moved = |j: usize| match j.checked_sub(1) {
                Some(above) => self.pick(before[above], &rows[above], &new),
                None => new.clone(),
            };
            let taken = (0..self.k).map(|j| match j == last {
                true => moved(j),
                false => self.pick(before[j], &moved(j), &rows[j]),
            });
            let taken: Vec<Row> = taken.collect();
            before[last].cond(&taken.concat(), &rows.concat(), self.loc)
        })
    }

    /// Merges two states and keeps the first `k` rows. The smaller of each left row and its
    /// mirrored right row form a bitonic sequence. A bitonic merge sorts it, padded in front to a
    /// power of two.
    fn join(&self) -> Body {
        let both = [self.state(), self.state()].concat();
        trace::trace(&both, |fields| {
            let rows = self.split(fields);
            let (left, right) = rows.split_at(self.k);
            let len = self.k.next_power_of_two();
            let mut all: Vec<Option<Row>> = vec![None; len - self.k];
            let pairs = left.iter().zip(right.iter().rev());
            all.extend(pairs.map(|(a, b)| Some(self.in_order(a, b).0)));
            let mut half = len / 2;
            while half > 0 {
                for i in (0..len).filter(|i| i & half == 0) {
                    let (a, b) = (all[i].take(), all[i + half].take());
                    (all[i], all[i + half]) = match (a, b) {
                        (Some(a), Some(b)) => {
                            let (first, second) = self.in_order(&a, &b);
                            (Some(first), Some(second))
                        }
                        (a, b) => (None, a.or(b)),
                    };
                }
                half /= 2;
            }
            all.into_iter().flatten().flatten().collect()
        })
    }

    /// Returns a body that maps an index to a row.
    fn rows(&self, kept: &Arc<Node>) -> Body {
        trace::trace(&[Ty::U64], |index| {
            let rows = self.split(&Field::value(kept, self.loc));
            self.at(index[0], 0, &rows)
        })
    }

    /// Returns a body that maps an index and a state to a row.
    pub(super) fn row_of_state(&self) -> Body {
        let params = [&[Ty::U64], &self.state()[..]].concat();
        trace::trace(&params, |fields| {
            self.at(fields[0], 0, &self.split(&fields[1..]))
        })
    }

    /// Selects the row with an index by halving. `first` is the index of the first row.
    fn at(&self, index: Field, first: usize, rows: &[Row]) -> Row {
        if let [row] = rows {
            return row.clone();
        }
        let (low, high) = rows.split_at(rows.len() / 2);
        let middle = first + low.len();
        let bound = Field::literal(Const::u64(middle as u64));
        let is_low = self.op(Op::Lt, &[index, bound]);
        self.pick(
            is_low,
            &self.at(index, first, low),
            &self.at(index, middle, high),
        )
    }

    fn pick(&self, which: Field, yes: &[Field], no: &[Field]) -> Row {
        let pairs = yes.iter().zip(no);
        pairs
            .map(|(yes, no)| self.op(Op::Select, &[which, *yes, *no]))
            .collect()
    }

    fn in_order(&self, a: &[Field], b: &[Field]) -> (Row, Row) {
        let turned = order::is_before(b, a, self.loc);
        (self.pick(turned, b, a), self.pick(turned, a, b))
    }
}

impl<T: Elt> Array<T> {
    /// Returns the `k` largest elements in descending order.
    ///
    /// There are fewer if the array has fewer. Tuples and structs are compared field by field. As
    /// in [`sort`](Array::sort), `-0.0` is below `0.0`. All NaN come after all numbers.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3.0f64, 9.0, f64::NAN, 4.0, 9.0]);
    /// assert_eq!(xs.top_k(3).force()?, [9.0, 9.0, 4.0]);
    /// // What comes before it, and what else folds these elements, is in one loop with it.
    /// let squares = xs.filter(|x| x.lt(9.0)).map(|x| x * x);
    /// let (two, sum) = (&squares.top_k(2), &squares.sum()).force()?;
    /// assert_eq!((&two[..], sum), (&[16.0, 9.0][..], 25.0));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* A fold: one pass, which fuses with its input and with other folds of
    /// arrays in step, and runs on several threads. Elements are compared with the last one of the
    /// `k`, and few are inserted. This holds for up to 32 fields together (32 numbers, 16 pairs).
    /// Larger requests are [sorted](Array::sort).
    ///
    /// # Errors
    /// None of its own up to 32 fields; beyond that, as for [`sort`](Array::sort).
    #[doc(alias("nlargest", "largest", "max_k", "partition"))]
    #[track_caller]
    pub fn top_k(&self, k: usize) -> Array<T> {
        Array::wrap(Builder::named("top_k").top_k(self.node(), k))
    }

    /// Returns the places of the `k` largest elements in descending order.
    ///
    /// Ties go to the first places. So `xs.gather(&xs.argtop_k(k))` is
    /// `xs.top_k(k)`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let name = Array::from(vec![70u32, 71, 72, 73]);
    /// let age = Array::from(vec![41u8, 52, 29, 52]);
    /// assert_eq!(age.argtop_k(2).force()?, [1, 3]);
    /// assert_eq!(name.gather(&age.argtop_k(2)).force()?, [71, 73]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* As for [`top_k`](Array::top_k), with one more field for the place.
    ///
    /// # Errors
    /// As for [`top_k`](Array::top_k).
    #[doc(alias("argpartition", "nlargest_index"))]
    #[track_caller]
    pub fn argtop_k(&self, k: usize) -> Array<u64> {
        Array::wrap(Builder::named("argtop_k").argtop_k(self.node(), k))
    }
}
