//! Benchmarks: a comparison with hand-written C and Rust, and criterion benches.
//!
//! The comparison is a program; the criterion benches measure single stages.
//!
//! | module | contents |
//! | --- | --- |
//! | [`alone`] | kernels without the calls around them |
//! | [`calls`] | the cost of a call |
//! | [`cases`] | the compared programs: data, our version, hand-written versions |
//! | [`cores`] | 1 to 256 cores, simulated |
//! | [`data`] | columns of numbers |
//! | `device` | the cases on a GPU (feature `cuda`) |
//! | [`growth`] | the cost of each stage as graphs grow |
//! | [`kernels`] | hand-written C, compiled and called |

pub mod agreement;
pub mod alone;
pub mod backends;
pub mod calls;
pub mod cases;
pub mod compare;
pub mod cores;
pub mod data;
#[cfg(feature = "cuda")]
pub mod device;
pub mod growth;
pub mod kernels;
pub mod latency;
pub mod machine;
pub mod measure;
pub mod memory;
pub mod repeat;
pub mod roof;

use livefusion::prelude::*;

/// Generates uniform numbers from 0 to 1.
///
/// They are the same in every run.
pub fn uniform(n: usize) -> Vec<f64> {
    let mut state = 88_172_645_463_325_252u64;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        })
        .collect()
}

/// Builds a chain of `n` maps and a sum.
pub fn chain(xs: &Array<f64>, n: usize) -> Array<f64, Ix0> {
    let mut ys = xs.clone();
    for _ in 1..n {
        ys = ys.map(|y| 2.0 * y + 1.0);
    }
    ys.sum()
}

/// Builds a `filter` and its largest element.
///
/// It has two consumers of one filtered stream.
pub fn filter_max(xs: &Array<f64>) -> (Array<f64>, Array<f64, Ix0>) {
    let kept = xs.map(|x| x + 1.0).filter(|x| x.gt(1.5));
    let largest = kept.fold(0.0, |a, b| a.max(b));
    (kept, largest)
}

/// Builds a `filter` and the sums before and after it.
pub fn filter_sum(xs: &Array<f64>) -> (Array<f64>, Array<f64, Ix0>, Array<f64, Ix0>) {
    let kept = xs.filter(|x| x.gt(0.5));
    let (before, after) = (xs.sum(), kept.sum());
    (kept, before, after)
}

/// Doubles each element, then adds a constant and subtracts it.
///
/// The result has two arrays.
pub fn map_map(xs: &Array<f64>) -> (Array<f64>, Array<f64>) {
    let twice = xs.map(|x| 2.0 * x);
    (twice.map(|x| x + 50.0), twice.map(|x| x - 50.0))
}
