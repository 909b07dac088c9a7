//! Pressure of a fluid: Jacobi steps with a source that is costly to compute.

use crate::harness::{Bench, Measured};
use crate::numbers::Numbers;
use livefusion::prelude::*;
use livefusion_examples::Outcome;

/// The number of steps.
const STEPS: usize = 20;

/// Computes the pressure after all steps by array combinators.
pub fn fused(density: &Array<f64, Ix2>) -> Array<f64, Ix2> {
    let source = density.map(|d| (-d * d).exp() * (3.0 * d).sin());
    let [height, width] = density.shape();
    let start = replicate((height, width), 0.0);
    iterate_n(STEPS, &start, |pressure| {
        let near = pressure.stencil2(Boundary::Clamp, |[[_, n, _], [w, _, e], [_, s, _]]| {
            n + s + w + e
        });
        near.zip_with(&source, |near, source| 0.25 * (near - source))
    })
}

/// Computes the same in plain Rust.
pub fn plain(density: &[f64], width: usize) -> Vec<f64> {
    let source: Vec<f64> = density
        .iter()
        .map(|d| (-d * d).exp() * (3.0 * d).sin())
        .collect();
    let mut pressure = vec![0.0; density.len()];
    let mut next = pressure.clone();
    for _ in 0..STEPS {
        step(&pressure, &source, width, &mut next);
        std::mem::swap(&mut pressure, &mut next);
    }
    pressure
}

/// Computes the next pressure.
fn step(pressure: &[f64], source: &[f64], width: usize, next: &mut [f64]) {
    let rows: Vec<&[f64]> = pressure.chunks_exact(width).collect();
    let outs = next.chunks_exact_mut(width).zip(source.chunks_exact(width));
    for (y, (out, source)) in outs.enumerate() {
        let (up, down) = (rows[y.saturating_sub(1)], rows[(y + 1).min(rows.len() - 1)]);
        let (here, last) = (rows[y], width - 1);
        let relaxed = |x: usize, w: f64, e: f64| 0.25 * (up[x] + down[x] + w + e - source[x]);
        out[0] = relaxed(0, here[0], here[1]);
        for x in 1..last {
            out[x] = relaxed(x, here[x - 1], here[x + 1]);
        }
        out[last] = relaxed(last, here[last - 1], here[last]);
    }
}

/// Compares both forms.
pub fn compare(bench: &Bench) -> Outcome<Measured> {
    let side = bench.size(1024, 20);
    let density = Numbers::new(10).uniforms(side * side);
    let array = Array::from_vec((side, side), density.clone());
    let cells = density.len() * STEPS;
    bench.compare(cells, 1e-9, || fused(&array), || plain(&density, side))
}

#[cfg(test)]
mod tests {
    use crate::harness::{Plan, check};

    #[test]
    fn fluid__small_input__agrees_with_plain_rust() {
        let most = Plan {
            loops: 3,
            arrays: 3,
            calls: 0,
        };
        check(super::compare, most);
    }
}
