//! Quantiles of two elements against the exact value, rounded once.

use livefusion::prelude::*;
use livefusion_tests::exact;
use livefusion_tests::rng::Rng;

/// A float of any size, or one at the ends of the range.
fn float(rng: &mut Rng) -> f64 {
    let size = match rng.below(5) {
        0 => rng.pick(&[
            0.0,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::from_bits(1),
            f64::INFINITY,
            1.0,
        ]),
        1 => f64::from_bits(rng.word() % 100),
        2 => rng.below(9) as f64,
        _ => f64::from_bits(rng.word() >> 1),
    };
    let size = if size.is_nan() { 1.5 } else { size };
    if rng.chance(50) { -size } else { size }
}

/// A fraction of any size: halves, thirds, values near the ends.
fn part(rng: &mut Rng) -> f64 {
    let part = (rng.word() >> 11) as f64 / (1u64 << 53) as f64;
    match rng.below(4) {
        0 => rng.pick(&[0.0, 0.5, 0.25, 1.0, 1.0f64.next_down(), f64::from_bits(1)]),
        1 => part * 2f64.powi(-(rng.below(1074) as i32)),
        _ => part,
    }
}

#[test]
fn quantile_of_two_elements_is_the_exact_value_rounded_once() {
    let mut rng = Rng::new(1);
    let mut ends: Vec<[f64; 2]> = (0..4000)
        .map(|_| [(); 2].map(|()| float(&mut rng)))
        .collect();
    // Adjacent floats.
    for _ in 0..500 {
        let x = float(&mut rng);
        ends.push([x, x.next_up()]);
    }
    let engine = Engine::interp();
    // One segment per pair, so that one call computes all.
    for _ in 0..4 {
        let share = part(&mut rng);
        let pairs: Array<f64> = ends.iter().flatten().copied().collect();
        let got = pairs
            .chunks(2)
            .quantile(share)
            .force_with(&engine)
            .expect("quantiles");
        for ([a, b], got) in ends.iter().zip(&got) {
            let [low, high] = if a.total_cmp(b).is_lt() {
                [*a, *b]
            } else {
                [*b, *a]
            };
            let expected = exact::between(low, high, share);
            assert!(
                *got == expected || got.is_nan() && expected.is_nan(),
                "{share} of {low:e} and {high:e}: {got:e}, not {expected:e}"
            );
        }
    }
}
