//! Sorts, and what hangs on them, as steps: how they are built, and what they give, by std's stable sort.

use super::Step;
use super::random::Making;
use crate::naive::Data;
use crate::scalar::{is_nan, to_f64, to_i128};
use livefusion::ast::{Builder, Field, Fields, Node, Op, trace};
use livefusion::segmented::Segments;
use loop_lang::types::{Const, Ty};
use std::cmp::Ordering;
use std::sync::Arc;

/// What is made of the inputs, whose values are known to the bit and do not trap.
#[derive(Clone, Copy, Debug)]
pub enum Sorting {
    /// The elements in order.
    Sort,
    /// Their places.
    Argsort,
    /// Values in the order of keys.
    ByKey,
    /// The elements in descending order of their first field, which is an integer.
    By,
    /// The largest so many.
    TopK(usize),
    /// Their places.
    ArgtopK(usize),
    /// Each element with how often it is there.
    UniqueCounts,
    /// The keys of groups of values by keys.
    GroupKeys,
    /// Those values.
    GroupValues,
    /// Places of values in the sorted elements.
    Search,
    /// Pairs of places of equal elements.
    Join,
    /// As `Join`, with one for what is equal to nothing.
    LeftJoin,
    /// Lengths and data: each segment in order.
    SortS,
    /// Lengths and data: places within segments.
    ArgsortS,
}

impl Sorting {
    /// How it is built.
    pub fn build(self, b: Builder, inputs: &[Arc<Node>]) -> Arc<Node> {
        let (first, last) = (&inputs[0], &inputs[inputs.len() - 1]);
        let segments = || Segments {
            lengths: first.clone(),
            data: last.clone(),
        };
        match self {
            Sorting::Sort => b.sort(first),
            Sorting::Argsort => b.argsort(first),
            Sorting::ByKey => b.sort_by_key(first, last),
            Sorting::By => {
                let both = [&first.types[..], &first.types[..]].concat();
                let greater = trace(&both, |fields| {
                    let operands = [fields[0], fields[first.types.len()]];
                    Fields::from_slice(&[Field::op(Op::Gt, &operands, b.loc())])
                });
                b.sort_by(first, &greater)
            }
            Sorting::TopK(k) => b.top_k(first, k),
            Sorting::ArgtopK(k) => b.argtop_k(first, k),
            Sorting::UniqueCounts => b.unique_counts(first),
            Sorting::GroupKeys => b.group_by_key(first, last).0,
            Sorting::GroupValues => b.group_by_key(first, last).1.data,
            Sorting::Search => b.searchsorted(&b.sort(first), last),
            Sorting::Join => b.join(first, last),
            Sorting::LeftJoin => b.left_join(first, last),
            Sorting::SortS => b.sort_s(&segments()).data,
            Sorting::ArgsortS => b.argsort_s(&segments()).data,
        }
    }

    /// Whether lengths are as they must be: programs that are made smaller may have others.
    pub fn fits(self, inputs: &[(&[Ty], &Data)]) -> bool {
        let (first, last) = (inputs[0].1, inputs[inputs.len() - 1].1);
        match self {
            Sorting::ByKey | Sorting::GroupKeys | Sorting::GroupValues => first.len() == last.len(),
            Sorting::SortS | Sorting::ArgsortS => {
                let mut lengths = first.columns()[0].iter();
                let all = lengths.try_fold(0u64, |n, length| n.checked_add(*length));
                all == Some(last.len() as u64)
            }
            _ => true,
        }
    }

    /// What it gives.
    pub fn value(self, inputs: &[(&[Ty], &Data)]) -> Data {
        let (of, last) = (Table::of(inputs[0]), Table::of(inputs[inputs.len() - 1]));
        let places = |table: &Table| table.in_order((0..table.len()).collect());
        let words = |places: &[usize]| -> Vec<u64> { places.iter().map(|i| *i as u64).collect() };
        let one = |column: Vec<u64>| {
            let n = column.len();
            Data::Array(vec![column], n)
        };
        let falling = |k: usize| {
            let mut all: Vec<usize> = (0..of.len()).collect();
            all.sort_by(|a, b| of.falls(*a, *b));
            all.truncate(k);
            all
        };
        let by_segment = |each: &dyn Fn(usize, Vec<usize>) -> Vec<usize>| -> Vec<usize> {
            let mut begin = 0;
            let mut all = Vec::new();
            for length in &inputs[0].1.columns()[0] {
                let end = begin + *length as usize;
                all.extend(each(begin, last.in_order((begin..end).collect())));
                begin = end;
            }
            all
        };
        match self {
            Sorting::Sort => of.rows(&places(&of)),
            Sorting::Argsort => one(words(&places(&of))),
            Sorting::ByKey | Sorting::GroupValues => of.rows(&places(&last)),
            Sorting::By => {
                let mut all: Vec<usize> = (0..of.len()).collect();
                all.sort_by(|a, b| of.compare_field(0, *b, *a));
                of.rows(&all)
            }
            Sorting::TopK(k) => of.rows(&falling(k)),
            Sorting::ArgtopK(k) => one(words(&falling(k))),
            Sorting::UniqueCounts => {
                let (first, counts) = of.groups();
                let Data::Array(mut columns, n) = of.rows(&first) else {
                    return one(counts);
                };
                columns.push(counts);
                Data::Array(columns, n)
            }
            Sorting::GroupKeys => last.rows(&last.groups().0),
            Sorting::Search => {
                let below = |j: usize| {
                    let before = (0..of.len()).filter(|i| of.to(*i, &last, j).is_lt());
                    before.count() as u64
                };
                one((0..last.len()).map(below).collect())
            }
            Sorting::Join | Sorting::LeftJoin => {
                let mut columns = vec![vec![], vec![], vec![]];
                for i in 0..of.len() {
                    let equal = (0..last.len()).filter(|j| of.to(i, &last, *j).is_eq());
                    let mut pairs: Vec<[u64; 3]> = equal.map(|j| [i as u64, j as u64, 1]).collect();
                    if pairs.is_empty() && matches!(self, Sorting::LeftJoin) {
                        pairs.push([i as u64, 0, 0]);
                    }
                    for pair in pairs {
                        columns.iter_mut().zip(pair).for_each(|(c, x)| c.push(x));
                    }
                }
                if matches!(self, Sorting::Join) {
                    columns.pop();
                }
                let n = columns[0].len();
                Data::Array(columns, n)
            }
            Sorting::SortS => last.rows(&by_segment(&|_, places| places)),
            Sorting::ArgsortS => one(words(&by_segment(&|begin, places| {
                places.into_iter().map(|i| i - begin).collect()
            }))),
        }
    }
}

/// An array, row by row.
struct Table<'a> {
    types: &'a [Ty],
    data: &'a Data,
}

impl<'a> Table<'a> {
    fn of((types, data): (&'a [Ty], &'a Data)) -> Table<'a> {
        Table { types, data }
    }

    fn len(&self) -> usize {
        self.data.len()
    }

    fn rows(&self, places: &[usize]) -> Data {
        let column = |c: &Vec<u64>| places.iter().map(|i| c[*i]).collect();
        Data::Array(
            self.data.columns().iter().map(column).collect(),
            places.len(),
        )
    }

    fn in_order(&self, mut places: Vec<usize>) -> Vec<usize> {
        places.sort_by(|a, b| self.to(*a, self, *b));
        places
    }

    /// The first place of each group of equal elements, and how many these are.
    fn groups(&self) -> (Vec<usize>, Vec<u64>) {
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

    fn compare_field(&self, k: usize, a: usize, b: usize) -> Ordering {
        let column = &self.data.columns()[k];
        compare(self.types[k], column[a], column[b])
    }

    /// Whether an element comes before one of another table of these types.
    fn to(&self, a: usize, other: &Table<'_>, b: usize) -> Ordering {
        let columns = self.data.columns().iter().zip(other.data.columns());
        let fields = columns.zip(self.types);
        let orders = fields.map(|((x, y), ty)| compare(*ty, x[a], y[b]));
        orders.fold(Ordering::Equal, Ordering::then)
    }

    /// As `to`, in descending order, in which NaN comes last, too.
    fn falls(&self, a: usize, b: usize) -> Ordering {
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

impl Making {
    /// A sort of what is known to the bit and cannot trap: what runs apart runs before all else.
    pub(super) fn sorting(&mut self) -> Option<usize> {
        let first = self.array()?;
        let types = self.types(first).to_vec();
        let k = self.rng.below(7);
        let beside = self.as_long_as(first);
        let mut alike = self.arrays();
        alike.retain(|a| self.types(*a) == types);
        let (beside, alike) = (self.rng.pick(&beside), self.rng.pick(&alike));
        let (sorting, inputs) = match self.rng.below(14) {
            0 => (Sorting::Sort, vec![first]),
            1 => (Sorting::Argsort, vec![first]),
            2 => (Sorting::ByKey, vec![first, beside]),
            3 if !types[0].is_float() => (Sorting::By, vec![first]),
            3 | 4 => (Sorting::TopK(k), vec![first]),
            5 => (Sorting::ArgtopK(k), vec![first]),
            6 => (Sorting::UniqueCounts, vec![first]),
            7 => (Sorting::GroupKeys, vec![first, beside]),
            8 => (Sorting::GroupValues, vec![first, beside]),
            9 => (Sorting::Search, vec![first, alike]),
            10 => (Sorting::Join, vec![first, alike]),
            11 => (Sorting::LeftJoin, vec![first, alike]),
            12 => (Sorting::SortS, vec![self.descriptor(first, true)?, first]),
            _ => (
                Sorting::ArgsortS,
                vec![self.descriptor(first, true)?, first],
            ),
        };
        if inputs
            .iter()
            .any(|i| !self.is_exact(*i) || self.may_trap(*i))
        {
            return None;
        }
        self.add(Step::Sorted(sorting, inputs))
    }
}
