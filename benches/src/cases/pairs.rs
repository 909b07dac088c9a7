//! Pairs within segments: a histogram of distances between each event's particles.

use super::{Agreement, Case, Ours, fused, prepared};
use crate::data::{Data, Input, Random, uniform};
use livefusion::prelude::*;

const BINS: usize = 100;
/// The longest distance is the square root of 3.
const BINS_PER_UNIT: f64 = 57.0;

/// Counts distances in events of 0 to 16 particles in a cube.
pub const CASE: Case = Case {
    name: "segmentPairs",
    file: "pairs.c",
    large: 1_000_000,
    agreement: Agreement::Exact,
    input: |n| {
        let (mut random, mut lens, mut left) = (Random::new(3), Vec::new(), n as u64);
        while left > 0 {
            let len = random.below(17).min(left);
            lens.push(len);
            left -= len;
        }
        let [x, y, z] = [1, 2, 4].map(|seed| uniform(seed, n));
        vec![x, y, z, Data::input(lens)]
    },
    reference: by_loops,
    ours,
    rust: &[fused(by_loops)],
};

fn ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let [x, y, z] = [0, 1, 2].map(|k| input[k].array::<f64>());
    let columns = (x, y, z, input[3].array::<u64>());
    prepared(engine, columns, |(x, y, z, lens)| {
        let events = Segmented::new(&lens, &zip((&x, &y, &z)));
        let bins = events.combinations().map(|((ax, ay, az), (bx, by, bz))| {
            let (x, y, z) = (ax - bx, ay - by, az - bz);
            let apart = (x * x + y * y + z * z).sqrt();
            (apart * BINS_PER_UNIT).cast::<u64>()
        });
        bins.data().bincount(BINS)
    })
}

fn by_loops(input: &Input) -> Vec<Data> {
    let [x, y, z] = [0, 1, 2].map(|k| input[k].of::<f64>());
    let (mut counts, mut begin) = (vec![0u64; BINS], 0);
    for len in input[3].of::<u64>() {
        let end = begin + *len as usize;
        for i in begin..end {
            for j in i + 1..end {
                let (x, y, z) = (x[i] - x[j], y[i] - y[j], z[i] - z[j]);
                let apart = (x * x + y * y + z * z).sqrt();
                counts[(apart * BINS_PER_UNIT) as usize] += 1;
            }
        }
        begin = end;
    }
    vec![Data::result(counts)]
}
