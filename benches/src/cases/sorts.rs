//! Sorts with equal keys, the largest few, the median, short segments, sums by groups.

use super::segments::cut;
use super::{Agreement, Case, Ours, Rust, fused, prepared};
use crate::data::{Data, Input, Random};
use livefusion::prelude::*;
use std::collections::BTreeMap;

const fn case(
    name: &'static str,
    input: fn(usize) -> Input,
    ours: fn(&Engine, &Input) -> livefusion::Result<Ours>,
    rust: &'static [Rust],
) -> Case {
    Case {
        name,
        file: "sorts.c",
        large: 10_000_000,
        agreement: Agreement::Exact,
        input,
        reference: rust[0].run,
        ours,
        rust,
    }
}

/// The standard library's sort, on one thread.
const fn std(run: fn(&Input) -> Vec<Data>) -> Rust {
    Rust {
        name: "Rust, std",
        parallel: false,
        run,
    }
}

/// Words of 40 bits. About half of `n` words occur at least twice.
fn words(n: usize) -> Input {
    let mut random = Random::new(1);
    let few = (n as u64).max(2) / 2;
    let keys = (0..n).map(|_| random.below(few) << 20);
    vec![Data::input(keys.collect())]
}

fn floats(n: usize) -> Input {
    let words = words(n);
    let middle = (n as u64 / 4) << 20;
    let floats = words[0].of::<u64>().iter();
    vec![Data::input(
        floats.map(|w| *w as f64 - middle as f64).collect(),
    )]
}

/// Keys and as many values.
fn beside(mut keys: Input) -> Input {
    let n = keys[0].len() as u64;
    keys.push(Data::input((0..n).collect()));
    keys
}

/// Sorts 64-bit integers.
pub const U64: Case = case(
    "sortU64",
    words,
    |engine, input| prepared(engine, input[0].array::<u64>(), |xs: Array<u64>| xs.sort()),
    &[std(|input| sorted::<u64, u64>(input, |x| x, |x| x))],
);

/// Sorts floats.
pub const F64: Case = case(
    "sortF64",
    floats,
    |engine, input| prepared(engine, input[0].array::<f64>(), |xs: Array<f64>| xs.sort()),
    &[std(|input| sorted(input, to_key, from_key))],
);

/// Sorts the indices of integers.
pub const PLACES_U64: Case = case(
    "argsortU64",
    words,
    |engine, input| {
        prepared(engine, input[0].array::<u64>(), |xs: Array<u64>| {
            xs.argsort()
        })
    },
    &[std(|input| places(input, |x: u64| x))],
);

/// Sorts the indices of floats.
pub const PLACES_F64: Case = case(
    "argsortF64",
    floats,
    |engine, input| {
        prepared(engine, input[0].array::<f64>(), |xs: Array<f64>| {
            xs.argsort()
        })
    },
    &[std(|input| places(input, to_key))],
);

/// Sorts values by integer keys.
pub const BY_U64: Case = case(
    "sortByKeyU64",
    |n| beside(words(n)),
    |engine, input| {
        let inputs = (input[0].array::<u64>(), input[1].array::<u64>());
        prepared(
            engine,
            inputs,
            |(keys, values): (Array<u64>, Array<u64>)| values.sort_by_key(&keys),
        )
    },
    &[std(|input| values(input, |x: u64| x))],
);

/// Sorts values by float keys.
pub const BY_F64: Case = case(
    "sortByKeyF64",
    |n| beside(floats(n)),
    |engine, input| {
        let inputs = (input[0].array::<f64>(), input[1].array::<u64>());
        prepared(
            engine,
            inputs,
            |(keys, values): (Array<f64>, Array<u64>)| values.sort_by_key(&keys),
        )
    },
    &[std(|input| values(input, to_key))],
);

/// Finds the largest ten.
pub const TOP: Case = case(
    "topTen",
    floats,
    |engine, input| {
        prepared(engine, input[0].array::<f64>(), |xs: Array<f64>| {
            xs.top_k(10)
        })
    },
    &[fused(|input| {
        let mut top: Vec<f64> = Vec::with_capacity(11);
        for x in input[0].of::<f64>() {
            if top.len() < 10 || *x > top[9] {
                top.insert(top.partition_point(|y| y >= x), *x);
                top.truncate(10);
            }
        }
        vec![Data::result(top)]
    })],
);

/// Finds the median.
pub const MEDIAN: Case = case(
    "median",
    floats,
    |engine, input| {
        prepared(engine, input[0].array::<f64>(), |xs: Array<f64>| {
            xs.median()
        })
    },
    &[fused(|input| {
        let mut xs = input[0].of::<f64>().to_vec();
        let (low, high) = ((xs.len() - 1) / 2, xs.len() / 2);
        let (_, middle, above) = xs.select_nth_unstable_by(low, f64::total_cmp);
        let above = above.iter().copied().fold(f64::INFINITY, f64::min);
        let other = if high > low { above } else { *middle };
        vec![Data::result(vec![*middle + (other - *middle) * 0.5])]
    })],
);

/// Sorts segments of 0 to 16 elements.
pub const SEGMENTS: Case = case(
    "sortSegments",
    |n| {
        let mut random = Random::new(1);
        let mut input = cut(n, |r| r.below(17));
        input[0] = Data::input((0..n).map(|_| random.word()).collect::<Vec<u64>>());
        input
    },
    |engine, input| {
        let inputs = (input[0].array::<u64>(), input[1].array::<u64>());
        prepared(
            engine,
            inputs,
            |(data, lengths): (Array<u64>, Array<u64>)| {
                let sorted = Segmented::new(&lengths, &data).sort();
                sorted.data().clone()
            },
        )
    },
    &[fused(|input| {
        let mut data = input[0].of::<u64>().to_vec();
        let mut rest = &mut data[..];
        for length in input[1].of::<u64>() {
            let (segment, behind) = rest.split_at_mut(*length as usize);
            segment.sort_unstable();
            rest = behind;
        }
        vec![Data::result(data)]
    })],
);

/// Computes three sums for each of a thousand keys.
pub const GROUPS_FEW: Case = groups("groupBy1k", |n| grouped(n, 1000));

/// Computes three sums for each of a million keys.
pub const GROUPS_MANY: Case = groups("groupBy1M", |n| grouped(n, 1_000_000));

/// The sums within closures.
type Three = (Exp<u64>, Exp<u64>, Exp<u64>);

const fn groups(name: &'static str, input: fn(usize) -> Input) -> Case {
    case(
        name,
        input,
        |engine, input| {
            let inputs = (input[0].array::<u64>(), input[1].array::<u64>());
            prepared(
                engine,
                inputs,
                |(keys, values): (Array<u64>, Array<u64>)| {
                    let three = values.map(|x| (x, x & 255, x >> 8));
                    let (codes, found) = keys.factorize();
                    let zero = (0u64, 0u64, 0u64);
                    let add = |(a, b, c): Three, (x, y, z)| (a + x, b + y, c + z);
                    let sums = three.reduce_by_index(
                        &codes,
                        Bins {
                            count: found.len(),
                            start: zero,
                        },
                        add,
                    );
                    let order = found.argsort();
                    (found.gather(&order), sums.gather(&order))
                },
            )
        },
        SUMS,
    )
}

const SUMS: &[Rust] = &[fused(|input| {
    let mut sums: BTreeMap<u64, [u64; 3]> = BTreeMap::new();
    let rows = input[0].of::<u64>().iter().zip(input[1].of::<u64>());
    for (key, x) in rows {
        let sum = sums.entry(*key).or_default();
        let more = [*x, *x & 255, *x >> 8];
        sum.iter_mut()
            .zip(more)
            .for_each(|(s, m)| *s = s.wrapping_add(m));
    }
    let keys = sums.keys().copied().collect();
    let column = |k: usize| Data::result(sums.values().map(|s| s[k]).collect());
    vec![Data::result(keys), column(0), column(1), column(2)]
})];

/// Large sparse keys, and values.
fn grouped(n: usize, groups: u64) -> Input {
    let mut random = Random::new(1);
    let keys: Vec<u64> = (0..n)
        .map(|_| random.below(groups).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .collect();
    let values = (0..n).map(|_| random.below(1 << 20)).collect();
    vec![Data::input(keys), Data::input(values)]
}

fn to_key(x: f64) -> u64 {
    let word = x.to_bits();
    word ^ if word >> 63 == 1 { u64::MAX } else { 1 << 63 }
}

fn from_key(key: u64) -> f64 {
    let word = key ^ if key >> 63 == 0 { u64::MAX } else { 1 << 63 };
    f64::from_bits(word)
}

fn sorted<T: livefusion_backend::Prim, U: livefusion_backend::Prim>(
    input: &Input,
    key: fn(T) -> u64,
    element: fn(u64) -> U,
) -> Vec<Data> {
    let mut keys: Vec<u64> = input[0].of::<T>().iter().map(|x| key(*x)).collect();
    keys.sort_unstable();
    vec![Data::result(keys.into_iter().map(element).collect())]
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    key: u64,
    place: u32,
}

fn placed<T: livefusion_backend::Prim>(input: &Input, key: fn(T) -> u64) -> Vec<Placed> {
    let keys = input[0].of::<T>().iter().zip(0u32..);
    let placed = keys.map(|(x, place)| Placed {
        key: key(*x),
        place,
    });
    let mut placed: Vec<Placed> = placed.collect();
    placed.sort_unstable();
    placed
}

fn places<T: livefusion_backend::Prim>(input: &Input, key: fn(T) -> u64) -> Vec<Data> {
    let placed = placed(input, key);
    let places = placed.iter().map(|p| u64::from(p.place));
    vec![Data::result(places.collect())]
}

fn values<T: livefusion_backend::Prim>(input: &Input, key: fn(T) -> u64) -> Vec<Data> {
    let (placed, values) = (placed(input, key), input[1].of::<u64>());
    let values = placed.iter().map(|p| values[p.place as usize]);
    vec![Data::result(values.collect())]
}
