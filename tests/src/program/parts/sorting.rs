//! Sorts and combinators built on them, against the standard stable sort.

use super::table::Table;
use super::{Made, Part, literal, one};
use crate::exact;
use crate::naive::Data;
use crate::program::Step;
use crate::program::random::Making;
use crate::scalar;
use livefusion::ast::{Axis, Buffer, Builder, Const, Field, Fields, Node, Op, Ty, trace};
use livefusion::segmented::Segments;
use std::sync::Arc;

/// Lists these parts.
#[derive(Clone, Copy, Debug)]
pub enum Sorting {
    /// The sorted elements.
    Sort,
    /// Their original indices.
    Argsort,
    /// Values in the order of keys.
    ByKey,
    /// The elements in descending order of their first field, an integer.
    By,
    /// The largest elements, up to this number.
    TopK(usize),
    /// Their indices.
    ArgtopK(usize),
    /// A percentile of numbers.
    Quantile(u8),
    /// The minimum, a percentile and the maximum together.
    Quantiles(u8),
    /// A percentile of each segment: lengths and data.
    QuantileS(u8),
    /// Each distinct element with its count.
    UniqueCounts,
    /// The codes of elements.
    Codes,
    /// The largest elements, up to a number, of each code of an array beside: the elements.
    TopByCode(usize),
    /// The components of a graph with an edge from each place to the code of its element.
    Components,
    /// The elements of the codes.
    Found,
    /// The keys of groups.
    GroupKeys,
    /// The values of groups.
    GroupValues,
    /// Insertion indices of values in the sorted elements.
    Search,
    /// Bin numbers of values between the sorted elements.
    Digitize,
    /// Pairs of indices of equal elements.
    Join,
    /// Like `Join`, with one pair for each unmatched element.
    LeftJoin,
    /// Lengths and data: each segment sorted.
    SortS,
    /// Lengths and data: original indices within segments.
    ArgsortS,
}

/// The quantiles 0, a percentile, and 1.
fn shares(hundredths: u8) -> [f64; 3] {
    [0.0, share(hundredths), 1.0]
}

/// A percentile as a fraction.
fn share(hundredths: u8) -> f64 {
    f64::from(hundredths) / 100.0
}

/// The quantile of numbers at this fraction, interpolated between neighbours.
fn quantile(mut xs: Vec<f64>, share: f64) -> f64 {
    if xs.iter().any(|x| x.is_nan()) {
        return f64::NAN;
    }
    xs.sort_by(f64::total_cmp);
    let place = share * (xs.len() - 1) as f64;
    let (at, part) = (place.floor() as usize, place.fract());
    match xs.get(at + 1) {
        Some(above) => exact::between(xs[at], *above, part),
        None => xs[at],
    }
}

impl Made for Sorting {
    fn build(&self, b: Builder, inputs: &[Arc<Node>]) -> Arc<Node> {
        let (first, last) = (&inputs[0], &inputs[inputs.len() - 1]);
        let segments = || Segments {
            lengths: first.clone(),
            data: last.clone(),
        };
        match *self {
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
            Sorting::Quantile(hundredths) => {
                b.quantile(first, &literal(Const::f64(share(hundredths))))
            }
            Sorting::Quantiles(hundredths) => {
                let shares = Buffer::from_vec(shares(hundredths).to_vec());
                b.quantiles(first, &b.manifest(vec![Arc::new(shares)]))
            }
            Sorting::QuantileS(hundredths) => {
                segments().quantile(b, &literal(Const::f64(share(hundredths))))
            }
            Sorting::UniqueCounts => b.unique_counts(first),
            Sorting::Codes => b.factorize(first).0,
            Sorting::TopByCode(k) => b.top_k_by_key(first, last, k).1.data,
            Sorting::Components => {
                let n = Axis::delayed(b.len(first));
                b.components(&b.enumerate(&b.factorize(first).0), &n)
            }
            Sorting::Found => b.factorize(first).1,
            Sorting::GroupKeys => b.group_by_key(first, last).0,
            Sorting::GroupValues => b.group_by_key(first, last).1.data,
            Sorting::Search => b.searchsorted(&b.sort(first), last),
            Sorting::Digitize => b.searchsorted_right(&b.sort(first), last),
            Sorting::Join => b.join(first, last),
            Sorting::LeftJoin => b.left_join(first, last),
            Sorting::SortS => segments().sort(b).data,
            Sorting::ArgsortS => segments().argsort(b).data,
        }
    }

    fn fits(&self, inputs: &[Table<'_>]) -> bool {
        let (first, last) = (&inputs[0], &inputs[inputs.len() - 1]);
        let is_number = matches!(last.types, [ty] if *ty != Ty::Bool);
        match self {
            Sorting::ByKey | Sorting::GroupKeys | Sorting::GroupValues | Sorting::TopByCode(_) => {
                first.len() == last.len()
            }
            Sorting::SortS | Sorting::ArgsortS => first.describes(last.len()),
            Sorting::Quantile(_) | Sorting::Quantiles(_) => is_number && last.len() > 0,
            Sorting::QuantileS(_) => {
                is_number && first.describes(last.len()) && !first.column(0).contains(&0)
            }
            _ => true,
        }
    }

    fn value(&self, inputs: &[Table<'_>]) -> Data {
        let (of, last) = (&inputs[0], &inputs[inputs.len() - 1]);
        let places = |table: &Table<'_>| table.in_order((0..table.len()).collect());
        let words = |places: &[usize]| -> Vec<u64> { places.iter().map(|i| *i as u64).collect() };
        let falling = |k: usize| {
            let mut all: Vec<usize> = (0..of.len()).collect();
            all.sort_by(|a, b| of.falls(*a, *b));
            all.truncate(k);
            all
        };
        let in_order_s = |origin: &dyn Fn(usize) -> usize| -> Vec<usize> {
            let segments = of.segments().into_iter();
            let sorted = segments.flat_map(|segment| {
                let begin = segment.start;
                let places = last.in_order(segment.collect()).into_iter();
                places.map(move |i| i - origin(begin))
            });
            sorted.collect()
        };
        // The index of the first equal element for each element, and the first index of each group.
        let equal = |i: usize| (0..i).find(|j| of.to(i, of, *j).is_eq()).unwrap_or(i);
        let found = || -> Vec<usize> { (0..of.len()).filter(|i| equal(*i) == *i).collect() };
        // The place of each element's value among the distinct values.
        let codes = || -> Vec<usize> {
            let found = found();
            let code = |of| found.iter().position(|first| *first == of).unwrap_or(0);
            (0..of.len()).map(|i| code(equal(i))).collect()
        };
        let places_of = |is_before: &dyn Fn(std::cmp::Ordering) -> bool| {
            let before = |j: usize| {
                let before = (0..of.len()).filter(|i| is_before(of.to(*i, last, j)));
                before.count() as u64
            };
            one((0..last.len()).map(before).collect())
        };
        match *self {
            Sorting::Sort => of.rows(&places(of)),
            Sorting::Argsort => one(words(&places(of))),
            Sorting::ByKey | Sorting::GroupValues => of.rows(&places(last)),
            Sorting::By => {
                let mut all: Vec<usize> = (0..of.len()).collect();
                all.sort_by(|a, b| of.compare_field(0, *b, *a));
                of.rows(&all)
            }
            Sorting::TopK(k) => of.rows(&falling(k)),
            Sorting::ArgtopK(k) => one(words(&falling(k))),
            Sorting::Quantile(hundredths) => {
                let found = quantile(of.floats(0), share(hundredths));
                Data::Scalar(vec![found.to_bits()])
            }
            Sorting::Quantiles(hundredths) => {
                let found = |share| quantile(of.floats(0), share).to_bits();
                one(shares(hundredths).map(found).to_vec())
            }
            Sorting::QuantileS(hundredths) => {
                let (xs, segments) = (last.floats(0), of.segments().into_iter());
                let found = segments.map(|s| quantile(xs[s].to_vec(), share(hundredths)).to_bits());
                one(found.collect())
            }
            Sorting::UniqueCounts => {
                let (first, counts) = of.groups();
                let mut columns = of.rows(&first).columns().to_vec();
                columns.push(counts);
                Data::Array(columns, first.len())
            }
            Sorting::Codes => one(codes().into_iter().map(|code| code as u64).collect()),
            Sorting::TopByCode(k) => {
                let equal = |i: usize| (0..i).find(|j| last.to(i, last, *j).is_eq()).unwrap_or(i);
                let first: Vec<usize> = (0..last.len()).map(equal).collect();
                let keys = (0..last.len()).filter(|i| first[*i] == *i);
                let (all, first) = (falling(of.len()), &first);
                let of_key = |key| {
                    all.iter()
                        .copied()
                        .filter(move |i| first[*i] == key)
                        .take(k)
                };
                of.rows(&keys.flat_map(of_key).collect::<Vec<_>>())
            }
            Sorting::Components => {
                let mut labels: Vec<u64> = (0..of.len() as u64).collect();
                for (i, code) in codes().into_iter().enumerate() {
                    let (a, b) = (labels[i], labels[code]);
                    let joined = labels.iter_mut().filter(|label| **label == a.max(b));
                    joined.for_each(|label| *label = a.min(b));
                }
                one(labels)
            }
            Sorting::Found => of.rows(&found()),
            Sorting::GroupKeys => last.rows(&last.groups().0),
            Sorting::Search => places_of(&|order| order.is_lt()),
            Sorting::Digitize => places_of(&|order| order.is_le()),
            Sorting::Join | Sorting::LeftJoin => {
                let mut columns = vec![vec![], vec![], vec![]];
                for i in 0..of.len() {
                    let equal = (0..last.len()).filter(|j| of.to(i, last, *j).is_eq());
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
            Sorting::SortS => last.rows(&in_order_s(&|_| 0)),
            Sorting::ArgsortS => one(words(&in_order_s(&|begin| begin))),
        }
    }
}

impl Making {
    /// Floats whose differences overflow, vanish, or are undefined: huge and tiny numbers,
    /// infinities, and equal ones.
    fn extremes(&mut self) -> Option<usize> {
        let ty = self.rng.pick(&[Ty::F32, Ty::F64]);
        let n = self.rng.range(1, 9);
        let most = if ty == Ty::F32 {
            f64::from(f32::MAX)
        } else {
            f64::MAX
        };
        let some = [
            0.0,
            most,
            most / 3.0,
            f64::INFINITY,
            1.0 / most,
            2.0 / most,
            1.0,
        ];
        let kinds = self.rng.range(1, some.len());
        let mut float = || {
            let size = match self.rng.chance(80) {
                true => some[self.rng.below(kinds)],
                false => scalar::to_f64(ty, scalar::rounding(&mut self.rng, ty)),
            };
            scalar::float(ty, if self.rng.chance(40) { -size } else { size })
        };
        let words = (0..n).map(|_| float()).collect();
        self.add(Step::Data(vec![(ty, words)]))
    }

    pub(super) fn sorting_part(&mut self) -> Option<(Part, Vec<usize>)> {
        let first = self.array()?;
        let types = self.types(first).to_vec();
        let k = self.rng.below(7);
        let share = self.rng.below(101) as u8;
        let beside = self.as_long_as(first);
        let mut alike = self.arrays();
        alike.retain(|a| self.types(*a) == types);
        let (beside, alike) = (self.rng.pick(&beside), self.rng.pick(&alike));
        let (sorting, inputs) = match self.rng.below(21) {
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
            13 => (
                Sorting::ArgsortS,
                vec![self.descriptor(first, true)?, first],
            ),
            14 => (Sorting::Codes, vec![first]),
            15 => (Sorting::Found, vec![first]),
            16 => (Sorting::Digitize, vec![first, alike]),
            17 => (Sorting::TopByCode(k), vec![first, beside]),
            18 => (Sorting::Components, vec![first]),
            k => {
                let number = match self.rng.chance(50) {
                    true => self.extremes()?,
                    false => self.number(first)?,
                };
                match k {
                    19 if share < 70 => (Sorting::Quantile(share), vec![number]),
                    19 => (Sorting::Quantiles(share), vec![number]),
                    _ if share < 30 => (Sorting::Quantiles(share), vec![number]),
                    _ => (
                        Sorting::QuantileS(share),
                        vec![self.filled(number)?, number],
                    ),
                }
            }
        };
        Some((Part::Sorting(sorting), inputs))
    }
}
