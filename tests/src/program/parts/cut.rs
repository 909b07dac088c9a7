//! Pairs of elements, flat maps, and operations within segments.

use super::table::Table;
use super::{Made, Part, convert, converted, literal, one};
use crate::naive::Data;
use crate::program::random::Making;
use livefusion::Boundary;
use livefusion::array::Amount;
use livefusion::ast::{Axis, Builder, Const, Field, Fields, Fold, Node, Op, ScanKind, Ty, trace};
use livefusion::nested::{OfAll, SegmentPart};
use livefusion::segmented::Segments;
use loop_lang::eval::eval;
use std::ops::Range;
use std::sync::Arc;

/// Lists these parts.
///
/// Segmented ones have lengths and data as inputs.
#[derive(Clone, Copy, Debug)]
pub enum Cut {
    /// All pairs of elements.
    Combinations,
    /// All pairs of an element and an element of a second input.
    Cartesian,
    /// Each element up to 3 times, as its first field says, with an index.
    FlatMap,
    /// All pairs within segments.
    CombinationsS,
    /// The number of these pairs.
    PairsS,
    /// All pairs within segments of elements with even indices.
    PairsOfKeptS,
    /// All pairs within segments of an element and an element of a third input with equal segments.
    CartesianS,
    /// The first elements of each segment, up to this number.
    TakeS(usize),
    /// Each segment reversed.
    ReverseS,
    /// The elements so many places before and behind each element of a scan of each segment, or the
    /// nearest ones.
    NearS(usize),
    /// All pairs of an element of a scan of each segment and its predecessor.
    StepsS,
    /// Elements of each segment at random indices.
    GatherS,
    /// The lengths of chunks of this size.
    Chunks(usize),
    /// The lengths of segments that begin where an element's first field is not 0.
    FromFlags,
    /// The first element, the last and the number of these segments, or of their elements with even
    /// indices.
    EndsOfRuns(bool),
    /// The lengths of segments, from offsets that begin with this number.
    FromOffsets(i32),
}

/// The number of copies of an element.
fn times(ty: Ty, word: u64) -> usize {
    convert(ty, Ty::U64, word) as usize % 4
}

/// All pairs of indices of a range, in order.
fn combinations(of: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
    let end = of.end;
    of.flat_map(move |i| (i + 1..end).map(move |j| (i, j)))
}

/// Begins a segment where the first field of an element is not 0.
fn runs(b: Builder, of: &Arc<Node>) -> Segments {
    let flag = trace(&of.types, |x| {
        let zero = Field::literal(Const::zero(x[0].ty()));
        Fields::from_slice(&[Field::op(Op::Ne, &[x[0], zero], b.loc())])
    });
    b.from_flags(&b.map(std::slice::from_ref(of), flag), of)
}

/// Keeps the elements of segments with even indices.
fn even(b: Builder, of: &Segments) -> Segments {
    let is_even = trace(&[Ty::U64], |i| {
        let [one, zero] = [1, 0].map(|n| Field::literal(Const::u64(n)));
        let bit = Field::op(Op::And, &[i[0], one], b.loc());
        Fields::from_slice(&[Field::op(Op::Eq, &[bit, zero], b.loc())])
    });
    let places = Segments::indices(b, &of.lengths).data;
    of.pack(b, &b.map(&[places], is_even))
}

/// The lengths of these segments.
fn lengths_of_runs(of: &Table<'_>) -> Vec<u64> {
    let ty = of.types[0];
    let mut lengths: Vec<u64> = vec![];
    for word in of.column(0) {
        let begins = eval(Op::Ne, ty, Ty::Bool, &[*word, Const::zero(ty).bits]) != 0;
        match lengths.last_mut() {
            Some(length) if !begins => *length += 1,
            _ => lengths.push(1),
        }
    }
    lengths
}

/// Applies a function to a scan of each segment, whose elements are those of the segment.
fn scanned(b: Builder, of: Segments, f: impl FnOnce(&Arc<Node>) -> Arc<Node>) -> Arc<Node> {
    let types = of.data.types.clone();
    let zeros = trace(&[], |_| {
        let zeros = types.iter().map(|ty| Field::literal(Const::zero(*ty)));
        zeros.collect()
    });
    let latest = trace(&[&types[..], &types[..]].concat(), |p| {
        Fields::from_slice(&p[types.len()..])
    });
    let of_all = b.map_segments(&[SegmentPart::Segments(of)], |row| {
        let latest = Fold::associative(zeros, latest);
        vec![SegmentPart::Array(f(&b.scan(
            &row[0],
            latest,
            ScanKind::Inclusive,
        )))]
    });
    match of_all.into_iter().next() {
        Some(OfAll::Segments(made)) => made.data,
        _ => unreachable!("an array of each segment"),
    }
}

impl Made for Cut {
    fn build(&self, b: Builder, inputs: &[Arc<Node>]) -> Arc<Node> {
        let loc = b.loc();
        let op = |op, args: &[Field]| Field::op(op, args, loc);
        let of = || Segments {
            lengths: inputs[0].clone(),
            data: inputs[1].clone(),
        };
        let first = &inputs[0];
        match *self {
            Cut::Combinations => b.combinations(first),
            Cut::Cartesian => b.cartesian(first, &inputs[1]),
            Cut::FlatMap => {
                let count = trace(&first.types, |x| {
                    let four = Field::literal(Const::u64(4));
                    Fields::from_slice(&[op(Op::Rem, &[x[0].cast(Ty::U64, loc), four])])
                });
                let params = [&first.types[..], &[Ty::U64]].concat();
                b.flat_map(first, count, &trace(&params, Fields::from_slice))
            }
            Cut::CombinationsS => of().combinations(b).data,
            Cut::PairsS => of().combinations(b).lengths,
            Cut::PairsOfKeptS => even(b, &of()).combinations(b).data,
            Cut::CartesianS => of().cartesian(b, &of().with_data(inputs[2].clone())).data,
            Cut::TakeS(n) => of().take(b, Amount::Known(n as u64)).data,
            Cut::ReverseS => of().reverse(b).data,
            Cut::NearS(by) => scanned(b, of(), |xs| {
                b.windows(xs, 2 * by + 1, &Boundary::Clamp, |window| {
                    let ends = window[0].iter().chain(&window[2 * by][..]);
                    ends.copied().collect()
                })
            }),
            Cut::StepsS => scanned(b, of(), |xs| {
                let less = trace(&[], |_| {
                    let one = Field::literal(Const::u64(1));
                    Fields::from_slice(&[op(Op::Sub, &[Field::value(&b.len(xs), loc)[0], one])])
                });
                let but_last = b.take_n(xs, Amount::Delayed(b.compute(less)));
                b.zip(&[b.drop(xs, Amount::Known(1)), but_last])
            }),
            Cut::GatherS => {
                let places = Segments::indices(b, first);
                let lengths = Segments::replicate(b, first, first);
                let square = trace(&[Ty::U64; 2], |p| {
                    let square = op(Op::Mul, &[p[0], p[0]]);
                    Fields::from_slice(&[op(Op::Rem, &[square, p[1]])])
                });
                let places = b.map(&[places.data, lengths.data], square);
                of().gather(b, &of().with_data(places)).data
            }
            Cut::Chunks(n) => b.chunks(first, Axis::from(n as u64)).lengths,
            Cut::FromFlags => runs(b, first).lengths,
            Cut::EndsOfRuns(all) => {
                let mut runs = runs(b, first);
                if !all {
                    runs = even(b, &runs);
                }
                let ends = b.map_segments(&[SegmentPart::Segments(runs)], |run| {
                    let ends = [b.first(&run[0]), b.last(&run[0]), b.len(&run[0])];
                    ends.map(SegmentPart::Array).to_vec()
                });
                let ends = ends.into_iter().map(|end| match end {
                    OfAll::Each(end) => end,
                    OfAll::Segments(_) | OfAll::Nested(..) => unreachable!("an end is a scalar"),
                });
                b.zip(&ends.collect::<Vec<_>>())
            }
            Cut::FromOffsets(begin) => {
                let start = literal(Const::int(Ty::I32, begin.into()));
                let sum = trace(&[Ty::I32; 2], |p| Fields::from_slice(&[op(Op::Add, p)]));
                let lengths = converted(b, first, 0, Ty::I32);
                b.from_offsets(&b.scan_with_start(&lengths, start, sum), &inputs[1])
                    .lengths
            }
        }
    }

    fn fits(&self, inputs: &[Table<'_>]) -> bool {
        let width: usize = inputs.iter().map(|input| input.types.len()).sum();
        match self {
            Cut::Combinations | Cut::Cartesian | Cut::FlatMap => width <= 6,
            Cut::Chunks(_) | Cut::FromFlags => true,
            Cut::EndsOfRuns(_) => width <= 4,
            _ => {
                let lengths = inputs.iter().skip(1).map(Table::len);
                width <= 8 && lengths.into_iter().all(|n| inputs[0].describes(n))
            }
        }
    }

    fn value(&self, inputs: &[Table<'_>]) -> Data {
        let first = &inputs[0];
        let in_segments = |places: &dyn Fn(Range<usize>) -> Vec<usize>| {
            let segments = inputs[0].segments().into_iter();
            inputs[1].rows(&segments.flat_map(places).collect::<Vec<_>>())
        };
        match *self {
            Cut::Combinations => {
                let pairs: Vec<_> = combinations(0..first.len()).collect();
                first.pairs(first, &pairs)
            }
            Cut::Cartesian => {
                let second = |i| (0..inputs[1].len()).map(move |j| (i, j));
                let pairs: Vec<_> = (0..first.len()).flat_map(second).collect();
                first.pairs(&inputs[1], &pairs)
            }
            Cut::FlatMap => {
                let (ty, column) = (first.types[0], first.column(0));
                let each = |i: usize| (0..times(ty, column[i])).map(move |k| (i, k as u64));
                let (places, numbers): (Vec<usize>, Vec<u64>) =
                    (0..first.len()).flat_map(each).unzip();
                let mut columns = first.rows(&places).columns().to_vec();
                columns.push(numbers);
                Data::Array(columns, places.len())
            }
            Cut::CombinationsS => {
                let segments = first.segments().into_iter();
                let pairs: Vec<_> = segments.flat_map(combinations).collect();
                inputs[1].pairs(&inputs[1], &pairs)
            }
            Cut::PairsS => {
                let counts = first.column(0).iter();
                one(counts.map(|n| n * n.saturating_sub(1) / 2).collect())
            }
            Cut::PairsOfKeptS => {
                let kept = |segment: Range<usize>| {
                    let begin = segment.start;
                    let pairs = combinations(0..segment.len().div_ceil(2));
                    pairs.map(move |(i, j)| (begin + 2 * i, begin + 2 * j))
                };
                let pairs: Vec<_> = first.segments().into_iter().flat_map(kept).collect();
                inputs[1].pairs(&inputs[1], &pairs)
            }
            Cut::CartesianS => {
                let all = |segment: Range<usize>| {
                    let seconds = segment.clone();
                    segment.flat_map(move |i| seconds.clone().map(move |j| (i, j)))
                };
                let pairs: Vec<_> = first.segments().into_iter().flat_map(all).collect();
                inputs[1].pairs(&inputs[2], &pairs)
            }
            Cut::TakeS(n) => in_segments(&|segment| segment.take(n).collect()),
            Cut::ReverseS => in_segments(&|segment| segment.rev().collect()),
            Cut::NearS(by) => {
                let near = |segment: Range<usize>| {
                    let ends = segment.clone();
                    let at = move |i: usize| i.clamp(ends.start, ends.end - 1);
                    segment.map(move |i| (at(i.saturating_sub(by)), at(i + by)))
                };
                let pairs: Vec<_> = first.segments().into_iter().flat_map(near).collect();
                inputs[1].pairs(&inputs[1], &pairs)
            }
            Cut::StepsS => {
                let steps = |segment: Range<usize>| segment.skip(1).map(|i| (i, i - 1));
                let pairs: Vec<_> = first.segments().into_iter().flat_map(steps).collect();
                inputs[1].pairs(&inputs[1], &pairs)
            }
            Cut::GatherS => in_segments(&|segment| {
                let (begin, n) = (segment.start, segment.len());
                (0..n).map(|i| begin + i * i % n).collect()
            }),
            Cut::Chunks(n) => {
                let chunks = (0..first.len()).step_by(n);
                one(chunks
                    .map(|begin| n.min(first.len() - begin) as u64)
                    .collect())
            }
            Cut::FromFlags => one(lengths_of_runs(first)),
            Cut::EndsOfRuns(all) => {
                let mut begin = 0;
                let (mut ends, mut counts) = (vec![], vec![]);
                for n in lengths_of_runs(first) {
                    let odd = usize::from(!all && n % 2 == 0);
                    ends.push((begin, begin + n as usize - 1 - odd));
                    counts.push(if all { n } else { n.div_ceil(2) });
                    begin += n as usize;
                }
                let ends = first.pairs(first, &ends);
                let columns = ends.columns().iter().cloned().chain([counts]);
                Data::Array(columns.collect(), ends.len())
            }
            Cut::FromOffsets(_) => one(first.column(0).to_vec()),
        }
    }
}

impl Cut {
    /// Tells whether its inputs have no lengths of segments.
    fn is_whole(self) -> bool {
        let of_runs = matches!(self, Cut::FromFlags | Cut::EndsOfRuns(_) | Cut::Chunks(_));
        of_runs || matches!(self, Cut::Combinations | Cut::Cartesian | Cut::FlatMap)
    }
}

impl Making {
    pub(super) fn cut_part(&mut self) -> Option<(Part, Vec<usize>)> {
        let array = self.array()?;
        let beside = self.as_long_as(array);
        let beside = self.rng.pick(&beside);
        // Arrays of all pairs must be short.
        let most = self.longest();
        let mut short = self.arrays();
        short.retain(|a| self.data[*a].len().pow(2) <= 4 * most);
        let n = self.rng.below(6);
        let begin = self.rng.pick(&[0, 1, 7, 1000]);
        let (cut, mut inputs) = match self.rng.below(18) {
            0 | 1 if short.is_empty() => return None,
            0 => (Cut::Combinations, vec![self.rng.pick(&short)]),
            1 => (
                Cut::Cartesian,
                [(); 2].map(|()| self.rng.pick(&short)).to_vec(),
            ),
            2 => (Cut::FlatMap, vec![array]),
            3 => (Cut::Chunks(n + 1), vec![array]),
            4 => (Cut::FromFlags, vec![array]),
            5 => (Cut::CombinationsS, vec![array]),
            6 => (Cut::PairsS, vec![array]),
            7 => (Cut::CartesianS, vec![array, beside]),
            8 => (Cut::TakeS(n), vec![array]),
            9 => (Cut::ReverseS, vec![array]),
            10 => (Cut::GatherS, vec![array]),
            11 => (Cut::EndsOfRuns(self.rng.below(2) == 0), vec![array]),
            12 => (Cut::PairsOfKeptS, vec![array]),
            13 | 14 => (Cut::NearS(n % 3 + 1), vec![array]),
            15 | 16 => (Cut::StepsS, vec![array]),
            _ => (Cut::FromOffsets(begin), vec![array]),
        };
        if !cut.is_whole() {
            inputs.insert(0, self.descriptor(array, true)?);
        }
        Some((Part::Cut(cut), inputs))
    }
}
