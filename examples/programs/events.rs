//! Pairs of particles: cuts, masses of pairs, a histogram, and the largest mass of each event.

use crate::harness::{Bench, Measured};
use crate::numbers::Numbers;
use livefusion::prelude::*;
use livefusion_examples::Outcome;

/// The energy and the three momenta of a particle.
type Particle = (f64, f64, f64, f64);

/// The least momentum across the beam, squared, and the least mass of a pair.
const LEAST: (f64, f64) = (400.0, 10.0);
/// The bins of the histogram, and its largest mass.
const BINS: (usize, f64) = (64, 128.0);

/// Computes the histogram and the largest masses by array combinators.
pub fn fused(events: &Segmented<Particle>) -> (Array<u64>, Array<f64>) {
    let kept = events.filter(|(_, x, y, _)| (x * x + y * y).gt(LEAST.0));
    let masses = kept.combinations().map(|((e, x, y, z), (f, u, v, w))| {
        let (e, x, y, z) = (e + f, x + u, y + v, z + w);
        (e * e - x * x - y * y - z * z).max(0.0).sqrt()
    });
    let heavy = masses.filter(|mass| mass.gt(LEAST.1));
    let counts = heavy.data().histogram_uniform(0.0, BINS.1, BINS.0);
    (counts, heavy.fold(0.0, |a, b| a.max(b)))
}

/// Computes the same in plain Rust.
pub fn plain(lengths: &[u64], particles: &[Particle]) -> (Vec<u64>, Vec<f64>) {
    let mut counts = vec![0; BINS.0];
    let (mut rest, mut kept) = (particles, Vec::new());
    let largest = lengths.iter().map(|n| {
        let (event, behind) = rest.split_at(*n as usize);
        rest = behind;
        kept.clear();
        kept.extend(event.iter().filter(|(_, x, y, _)| x * x + y * y > LEAST.0));
        let mut largest = 0.0f64;
        for (i, (e, x, y, z)) in kept.iter().enumerate() {
            for (f, u, v, w) in &kept[i + 1..] {
                let (e, x, y, z) = (e + f, x + u, y + v, z + w);
                let mass = (e * e - x * x - y * y - z * z).max(0.0).sqrt();
                if mass > LEAST.1 {
                    largest = largest.max(mass);
                    if mass <= BINS.1 {
                        let bin = (mass * (BINS.0 as f64 / BINS.1)) as usize;
                        counts[bin.min(BINS.0 - 1)] += 1;
                    }
                }
            }
        }
        largest
    });
    let largest = largest.collect();
    (counts, largest)
}

/// Compares both forms.
pub fn compare(bench: &Bench) -> Outcome<Measured> {
    let mut numbers = Numbers::new(7);
    let events = bench.size(300_000, 60);
    let lengths: Vec<u64> = (0..events).map(|_| numbers.below(9)).collect();
    let particle = |_| {
        let [x, y, z] = std::array::from_fn(|_| 30.0 * numbers.normal());
        ((x * x + y * y + z * z).sqrt(), x, y, z)
    };
    let particles: Vec<Particle> = (0..lengths.iter().sum()).map(particle).collect();
    let segments = Segmented::new(&Array::from(&lengths), &Array::from(&particles[..]));
    let pairs: u64 = lengths.iter().map(|n| n * n.saturating_sub(1) / 2).sum();
    bench.compare(
        pairs as usize,
        0.0,
        || fused(&segments),
        || plain(&lengths, &particles),
    )
}

#[cfg(test)]
mod tests {
    use crate::harness::{Plan, check};

    #[test]
    fn events__small_input__agrees_with_plain_rust() {
        let most = Plan {
            loops: 1,
            arrays: 2,
            calls: 0,
        };
        check(super::compare, most);
    }
}
