//! Heat in a rod: a hundred steps of diffusion.

use crate::harness::{Bench, Measured};
use crate::numbers::Numbers;
use livefusion::prelude::*;
use livefusion_examples::Outcome;

/// The number of steps.
const STEPS: usize = 100;
/// The share of a difference that flows in a step.
const FLOW: f64 = 0.2;

/// Computes the heat after all steps by array combinators.
pub fn fused(heat: &Array<f64>) -> Array<f64> {
    iterate_n(STEPS, heat, |heat| {
        heat.windows(Boundary::Clamp, |[left, here, right]| {
            here + FLOW * (left - 2.0 * here + right)
        })
    })
}

/// Computes the same in plain Rust.
pub fn plain(heat: &[f64]) -> Vec<f64> {
    let flow = |[left, here, right]: [f64; 3]| here + FLOW * (left - 2.0 * here + right);
    let (mut heat, last) = (heat.to_vec(), heat.len() - 1);
    let mut next = heat.clone();
    for _ in 0..STEPS {
        next[0] = flow([heat[0], heat[0], heat[1]]);
        for (next, near) in next[1..last].iter_mut().zip(heat.array_windows()) {
            *next = flow(*near);
        }
        next[last] = flow([heat[last - 1], heat[last], heat[last]]);
        std::mem::swap(&mut heat, &mut next);
    }
    heat
}

/// Compares both forms.
pub fn compare(bench: &Bench) -> Outcome<Measured> {
    let heat = Numbers::new(9).uniforms(bench.size(1_000_000, 50));
    let array = Array::from(&heat);
    bench.compare(heat.len() * STEPS, 0.0, || fused(&array), || plain(&heat))
}

#[cfg(test)]
mod tests {
    use crate::harness::{Plan, check};

    #[test]
    fn heat__small_input__agrees_with_plain_rust() {
        let most = Plan {
            loops: 1,
            arrays: 1,
            calls: 0,
        };
        check(super::compare, most);
    }
}
