//! Mixtures: several kernel features in one loop.
//!
//! Each result is exact, or a sum of floats.

use super::{Agreement, Case, Ours, fused, prepared};
use crate::data::{Data, Input, Random, uniform};
use livefusion::prelude::*;

const fn mixture(
    name: &'static str,
    agreement: Agreement,
    input: fn(usize) -> Input,
    reference: fn(&Input) -> Vec<Data>,
    ours: fn(&Engine, &Input) -> livefusion::Result<Ours>,
    rust: &'static [super::Rust],
) -> Case {
    Case {
        name,
        file: "mixtures.c",
        large: 1_000_000,
        agreement,
        input,
        reference,
        ours,
        rust,
    }
}

/// Combines a `while` with a fold.
///
/// It counts the steps of numbers to 1 by Collatz' rule, 64 at most, and sums the numbers.
pub const WHILE_SUM: Case = mixture(
    "whileSum",
    Agreement::Exact,
    |n| vec![Data::input(integers(n, 1, 1_000_000))],
    while_sum,
    |engine, input| {
        prepared(engine, input[0].array::<i64>(), |xs: Array<i64>| {
            let steps = xs.map(|x| {
                let (_, n) = while_loop(
                    (x, 0i64),
                    |(x, n)| x.gt(1) & n.lt(LIMIT),
                    |(x, n)| ((x & 1).eq(1).cond(x * 3 + 1, x >> 1), n + 1),
                );
                n
            });
            (steps, xs.sum())
        })
    },
    &[fused(while_sum)],
);

const LIMIT: i64 = 64;

fn while_sum(input: &Input) -> Vec<Data> {
    let steps = |x: &i64| {
        let (mut x, mut n) = (*x, 0);
        while x > 1 && n < LIMIT {
            x = if x & 1 == 1 { x * 3 + 1 } else { x >> 1 };
            n += 1;
        }
        n
    };
    let xs = input[0].of::<i64>();
    let all: Vec<i64> = xs.iter().map(steps).collect();
    vec![
        Data::result(all),
        Data::result(vec![xs.iter().sum::<i64>()]),
    ]
}

/// Filters within segments, with a fold and a written result.
///
/// It keeps the elements above 0.5, and sums them in each segment.
pub const SEGMENT_FILTER: Case = mixture(
    "segmentFilter",
    Agreement::Within(1e-12),
    |n| vec![uniform(1, n), lengths(n)],
    segment_filter,
    |engine, input| {
        let columns = (input[0].array::<f64>(), input[1].array::<u64>());
        prepared(engine, columns, |(data, lens)| {
            let kept = Segmented::new(&lens, &data).filter(|x| x.gt(0.5));
            (kept.sum(), kept.data().clone())
        })
    },
    &[fused(segment_filter)],
);

fn segment_filter(input: &Input) -> Vec<Data> {
    let mut kept = Vec::new();
    let sums = segments(input, |range| {
        let mut sum = 0.0;
        for x in &input[0].of::<f64>()[range] {
            if *x > 0.5 {
                sum += x;
                kept.push(*x);
            }
        }
        sum
    });
    vec![Data::result(sums), Data::result(kept)]
}

/// Takes a maximum over checked reads.
///
/// It reads elements at given indices and finds the largest.
pub const MAX_TRAP: Case = mixture(
    "maxTrap",
    Agreement::Exact,
    |n| vec![uniform(1, TABLE), places(n)],
    max_trap,
    |engine, input| {
        let columns = (input[0].array::<f64>(), input[1].array::<u32>());
        prepared(
            engine,
            columns,
            |(table, places): (Array<f64>, Array<u32>)| {
                let found = table.gather(&places);
                let most = found.max();
                (found, most)
            },
        )
    },
    &[fused(max_trap)],
);

/// The elements of the table that is read at given indices: half of a first-level cache.
const TABLE: usize = 2048;

fn max_trap(input: &Input) -> Vec<Data> {
    let table = input[0].of::<f64>();
    let found = input[1].of::<u32>().iter().map(|i| table[*i as usize]);
    let found: Vec<f64> = found.collect();
    let most = found.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    vec![Data::result(found), Data::result(vec![most])]
}

/// Scans a filtered stream with a cast.
///
/// It sums up the positive ones of small integers as large integers.
pub const FILTER_CAST_SCAN: Case = mixture(
    "filterCastScan",
    Agreement::Exact,
    |n| {
        let numbers = integers(n, -1000, 1001).into_iter().map(|x| x as i32);
        vec![Data::input(numbers.collect())]
    },
    filter_cast_scan,
    |engine, input| {
        prepared(engine, input[0].array::<i32>(), |xs: Array<i32>| {
            let positive = xs.filter(|x| x.gt(0)).map(|x| x.cast::<i64>());
            positive.scan(0i64, |a, b| a + b)
        })
    },
    &[fused(filter_cast_scan)],
);

fn filter_cast_scan(input: &Input) -> Vec<Data> {
    let (mut sum, mut sums) = (0, Vec::new());
    for x in input[0].of::<i32>() {
        if *x > 0 {
            sum += i64::from(*x);
            sums.push(sum);
        }
    }
    vec![Data::result(sums)]
}

/// Builds a histogram and a fold.
///
/// It counts keys in 256 bins and sums the keys.
pub const HISTOGRAM_SUM: Case = mixture(
    "histogramSum",
    Agreement::Exact,
    |n| {
        let keys = integers(n, 0, BINS as i64).into_iter().map(|k| k as u32);
        vec![Data::input(keys.collect())]
    },
    histogram_sum,
    |engine, input| {
        prepared(engine, input[0].array::<u32>(), |keys: Array<u32>| {
            let ones = keys.map(|_| Exp::lit(1u64));
            let counts = ones.reduce_by_index(
                &keys,
                Bins {
                    count: BINS,
                    start: 0u64,
                },
                |a, b| a + b,
            );
            (counts, keys.map(|k| k.cast::<u64>()).sum())
        })
    },
    &[fused(histogram_sum)],
);

const BINS: u64 = 256;

fn histogram_sum(input: &Input) -> Vec<Data> {
    let (mut counts, mut sum) = (vec![0u64; BINS as usize], 0);
    for k in input[0].of::<u32>() {
        counts[*k as usize] += 1;
        sum += u64::from(*k);
    }
    vec![Data::result(counts), Data::result(vec![sum])]
}

/// Gathers in segments.
///
/// It reads elements at given indices and sums them in each segment.
pub const SEGMENT_GATHER: Case = mixture(
    "segmentGather",
    Agreement::Within(1e-12),
    |n| vec![uniform(1, TABLE), lengths(n), places(n)],
    segment_gather,
    |engine, input| {
        let columns = (
            input[0].array::<f64>(),
            input[1].array::<u64>(),
            input[2].array::<u32>(),
        );
        prepared(engine, columns, |(table, lens, places)| {
            let found = table.gather(&places);
            (Segmented::new(&lens, &found).sum(), found)
        })
    },
    &[fused(segment_gather)],
);

fn segment_gather(input: &Input) -> Vec<Data> {
    let (table, places) = (input[0].of::<f64>(), input[2].of::<u32>());
    let mut found = Vec::with_capacity(places.len());
    let sums = segments(input, |range| {
        let first = found.len();
        found.extend(places[range].iter().map(|i| table[*i as usize]));
        found[first..].iter().sum()
    });
    vec![Data::result(sums), Data::result(found)]
}

/// Combines two filters, a scan and three folds.
///
/// It keeps large and small elements, sums each kind, scans all sums, and finds the largest.
pub const MANY: Case = mixture(
    "filtersScanFolds",
    Agreement::Within(1e-9),
    |n| vec![uniform(1, n)],
    many,
    |engine, input| {
        prepared(engine, input[0].array::<f64>(), |xs: Array<f64>| {
            let (large, small) = (xs.filter(|x| x.gt(0.5)), xs.filter(|x| x.lt(0.25)));
            let folds = (large.sum(), small.sum(), xs.max());
            ((large, small, xs.scan(0.0, |a, b| a + b)), folds)
        })
    },
    &[fused(many)],
);

fn many(input: &Input) -> Vec<Data> {
    let xs = input[0].of::<f64>();
    let [mut large, mut small, mut sums] = [const { Vec::new() }; 3];
    let [mut above, mut below, mut sum] = [0.0; 3];
    let mut most = f64::NEG_INFINITY;
    for &x in xs {
        if x > 0.5 {
            above += x;
            large.push(x);
        }
        if x < 0.25 {
            below += x;
            small.push(x);
        }
        sum += x;
        sums.push(sum);
        most = most.max(x);
    }
    let folds = [above, below, most].map(|x| vec![x]);
    let columns = [large, small, sums].into_iter().chain(folds);
    columns.map(Data::result).collect()
}

/// `n` integers in a half-open range.
fn integers(n: usize, from: i64, to: i64) -> Vec<i64> {
    let mut random = Random::new(5);
    let below = to.abs_diff(from);
    (0..n).map(|_| from + random.below(below) as i64).collect()
}

/// Indices into a table.
fn places(n: usize) -> Data {
    let places = integers(n, 0, TABLE as i64).into_iter().map(|i| i as u32);
    Data::input(places.collect())
}

/// Draws lengths of segments of up to 64 elements.
///
/// They sum to `n`.
pub fn lengths(n: usize) -> Data {
    let (mut random, mut lens, mut left) = (Random::new(3), Vec::new(), n as u64);
    while left > 0 {
        let len = random.below(65).min(left);
        lens.push(len);
        left -= len;
    }
    Data::input(lens)
}

/// Applies a function to the range of each segment.
///
/// The second column has the segments' lengths.
pub fn segments(input: &Input, mut of: impl FnMut(std::ops::Range<usize>) -> f64) -> Vec<f64> {
    let mut from = 0;
    let lens = input[1].of::<u64>().iter();
    let one = |len: &u64| {
        let range = from..from + *len as usize;
        from = range.end;
        of(range)
    };
    lens.map(one).collect()
}
