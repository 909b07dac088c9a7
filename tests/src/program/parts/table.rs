//! The inputs of parts, row by row, and the order of rows.

use crate::naive::Data;
use crate::scalar::{is_nan, to_f64, to_i128};
use loop_lang::types::{Const, Ty};
use std::cmp::Ordering;

/// Holds an array or a delayed scalar, with its field types.
pub struct Table<'a> {
    pub types: &'a [Ty],
    pub data: &'a Data,
}

impl<'a> Table<'a> {
    pub fn of((types, data): (&'a [Ty], &'a Data)) -> Table<'a> {
        Table { types, data }
    }

    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Returns a field of an array.
    pub fn column(&self, field: usize) -> &'a [u64] {
        self.data.columns().get(field).map_or(&[], |c| &c[..])
    }

    /// Returns a field of an array, converted.
    pub fn converted(&self, field: usize, to: Ty) -> impl Iterator<Item = u64> + 'a {
        let from = self.types[field];
        let words = self.column(field).iter();
        words.map(move |word| super::convert(from, to, *word))
    }

    /// Returns the first field as `i64`.
    pub fn integers(&self) -> Vec<i64> {
        self.converted(0, Ty::I64).map(|w| w as i64).collect()
    }

    /// Returns a field as `f64`.
    pub fn floats(&self, field: usize) -> Vec<f64> {
        self.converted(field, Ty::F64).map(f64::from_bits).collect()
    }

    /// Selects elements by index.
    pub fn rows(&self, places: &[usize]) -> Data {
        let column = |c: &Vec<u64>| places.iter().map(|i| c[*i]).collect();
        Data::Array(
            self.data.columns().iter().map(column).collect(),
            places.len(),
        )
    }

    /// Pairs its elements with those of another table, by index.
    pub fn pairs(&self, other: &Table<'_>, places: &[(usize, usize)]) -> Data {
        let (left, right): (Vec<usize>, Vec<usize>) = places.iter().copied().unzip();
        let rows = [self.rows(&left), other.rows(&right)];
        let columns = rows.iter().flat_map(|rows| rows.columns().iter().cloned());
        Data::Array(columns.collect(), places.len())
    }

    /// Returns the ranges of segments with these lengths.
    pub fn segments(&self) -> Vec<std::ops::Range<usize>> {
        let ends = self.column(0).iter().scan(0, |end, length| {
            let begin = *end;
            *end += *length as usize;
            Some(begin..*end)
        });
        ends.collect()
    }

    /// Returns whether these lengths describe segments of `len` elements.
    pub fn describes(&self, len: usize) -> bool {
        let mut lengths = self.column(0).iter();
        let all = lengths.try_fold(0u64, |n, length| n.checked_add(*length));
        self.types == [Ty::U64] && all == Some(len as u64)
    }

    /// Sorts indices by their elements.
    pub fn in_order(&self, mut places: Vec<usize>) -> Vec<usize> {
        places.sort_by(|a, b| self.to(*a, self, *b));
        places
    }

    /// Returns the first index of each group of equal elements, and the counts.
    pub fn groups(&self) -> (Vec<usize>, Vec<u64>) {
        let (mut first, mut counts): (Vec<usize>, Vec<u64>) = (vec![], vec![]);
        for i in self.in_order((0..self.len()).collect()) {
            match (first.last(), counts.last_mut()) {
                (Some(j), Some(n)) if self.to(i, self, *j).is_eq() => *n += 1,
                _ => {
                    first.push(i);
                    counts.push(1);
                }
            }
        }
        (first, counts)
    }

    pub fn compare_field(&self, k: usize, a: usize, b: usize) -> Ordering {
        let column = self.column(k);
        compare(self.types[k], column[a], column[b])
    }

    /// Compares an element with one of another table of these types.
    pub fn to(&self, a: usize, other: &Table<'_>, b: usize) -> Ordering {
        let columns = self.data.columns().iter().zip(other.data.columns());
        let fields = columns.zip(self.types);
        let orders = fields.map(|((x, y), ty)| compare(*ty, x[a], y[b]));
        orders.fold(Ordering::Equal, Ordering::then)
    }

    /// Compares in descending order, with NaN last like in `to`.
    pub fn falls(&self, a: usize, b: usize) -> Ordering {
        let fields = self.data.columns().iter().zip(self.types);
        let orders = fields.map(|(x, ty)| match [x[a], x[b]].map(|w| is_nan(*ty, w)) {
            [false, false] => compare(*ty, x[b], x[a]),
            nans => nans[0].cmp(&nans[1]),
        });
        orders.fold(Ordering::Equal, Ordering::then)
    }
}

/// The order of two words: NaN last, `-0.0` before `0.0`.
fn compare(ty: Ty, a: u64, b: u64) -> Ordering {
    if !ty.is_float() {
        let number = |bits| to_i128(Const { ty, bits });
        return number(a).cmp(&number(b));
    }
    match [a, b].map(|w| is_nan(ty, w)) {
        [false, false] => to_f64(ty, a).total_cmp(&to_f64(ty, b)),
        nans => nans[0].cmp(&nans[1]),
    }
}
