//! User-style programs over segments and streams, run in chunks.

use livefusion::ast::Node;
use livefusion::prelude::*;
use livefusion_tests::rng::Rng;
use std::sync::Arc;

/// Holds segments and their data.
pub struct Input {
    lengths: Vec<u64>,
    data: Vec<f64>,
    counts: Vec<i64>,
    per_segment: Vec<f64>,
}

impl Input {
    /// Creates short segments, sometimes with empty or very long ones.
    ///
    /// The long ones span several chunks.
    pub fn random(rng: &mut Rng) -> Input {
        let segments = rng.range(0, 60);
        let least = u64::from(rng.chance(70));
        let mut length = |_| match rng.below(20) {
            0 => 50,
            n => least + n as u64 % 4,
        };
        let lengths: Vec<u64> = (0..segments).map(&mut length).collect();
        let n = lengths.iter().sum::<u64>() as usize;
        let mut float = |_| rng.below(2001) as f64 / 64.0 - 15.0;
        let data = (0..n).map(&mut float).collect();
        let per_segment = (0..segments).map(&mut float).collect();
        Input {
            lengths,
            data,
            per_segment,
            counts: (0..n).map(|_| rng.below(4) as i64 - 1).collect(),
        }
    }

    fn rows(&self) -> Segmented<f64> {
        let data = Array::from(self.data.clone()).map(|x| 0.5 * x + 1.0);
        Segmented::new(&Array::from(self.lengths.clone()), &data)
    }

    fn ints(&self) -> Array<i64> {
        Array::from(self.counts.clone())
    }
}

/// Builds the nodes of a program to force.
pub type Make = fn(&Input) -> Vec<Arc<Node>>;

macro_rules! nodes {
    ($($x:expr),* $(,)?) => { vec![$($x.node().clone()),*] };
}

/// Lists the programs by name.
pub const ALL: &[(&str, Make)] = &[
    ("folds", |input| {
        let rows = input.rows();
        let positive = rows.count(|x| x.gt(0.0));
        let least = rows.fold(f64::INFINITY, |a, b| a.min(b));
        nodes![rows.sum(), least, positive, rows.mean()]
    }),
    ("extremes", |input| {
        let rows = input.rows();
        nodes![rows.min(), rows.max_index(), rows.data().max()]
    }),
    ("scans", |input| {
        let rows = input.rows();
        let sums = rows.scan(0.25, |a, b| a + b);
        let before = rows.scan_exclusive(f64::NEG_INFINITY, |a, b| a.max(b));
        nodes![sums.data(), before.data(), sums.sum()]
    }),
    ("softmax", |input| {
        let rows = input.rows();
        let shifted = rows.zip_with_each(&rows.max(), |x, most| (x - most).exp());
        let shares = shifted.zip_with_each(&shifted.sum(), |x, sum| x / sum);
        nodes![shares.data()]
    }),
    ("kept", |input| {
        let rows = input.rows();
        let kept = rows.filter(|x| x.gt(1.5));
        nodes![kept.data(), kept.lengths(), kept.sum()]
    }),
    ("around", |input| {
        // Folds, a scan and a filter over segment sums.
        let sums = input.rows().sum();
        let running = sums.scan(0.0, |a, b| a + b);
        let large = sums.filter(|x| x.gt(2.0));
        nodes![sums.max(), running, large, large.sum(), sums.sum()]
    }),
    ("spread", |input| {
        let lengths = Array::from(input.lengths.clone());
        let values = Array::from(input.per_segment.clone()).scan(0.0, |a, b| a + b);
        let spread = Segmented::replicate(&lengths, &values);
        let indices = Segmented::indices(&lengths);
        nodes![
            spread.data(),
            indices.data(),
            spread.sum(),
            indices.data().sum()
        ]
    }),
    ("joined", |input| {
        let rows = input.rows();
        let both = rows.append(&rows.map(|x| -x));
        nodes![both.data(), both.sum()]
    }),
    ("nested", |input| {
        let rows = input.rows();
        let outer: Vec<u64> = input.lengths.chunks(3).map(|c| c.len() as u64).collect();
        let sums = Segmented::new(&Array::from(outer), &rows.sum());
        nodes![
            sums.sum(),
            sums.scan(0.0, |a, b| a + b).data(),
            sums.max().sum()
        ]
    }),
    ("streams", |input| {
        let xs = input.ints();
        let rest = xs.drop_while(|x| x.lt(1));
        let pairs = xs.append(&xs.map(|x| x * 3));
        let firsts = xs.unique();
        nodes![rest, pairs, pairs.sum(), firsts, xs.position(|x| x.gt(7))]
    }),
    ("levels", |input| {
        // A filter on a running sum into a scan into a filter into a fold.
        let sums = input.ints().scan(0, |a, b| a + b);
        let odd = sums.filter(|x| (x % 2).ne(0));
        let most = odd.scan(0, |a, b| a.max(b));
        let rising = most.filter(|x| (x % 3).eq(0));
        nodes![sums, odd, rising, rising.sum()]
    }),
    ("runs", |input| {
        let (values, lengths) = input.ints().group();
        let flags = input.ints().map(|x| x.gt(0));
        let (yes, no) = (
            input.ints().filter(|x| x.gt(0)),
            input.ints().filter(|x| x.le(0)),
        );
        nodes![values, lengths, flags.combine(&yes, &no)]
    }),
];
