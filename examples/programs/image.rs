//! Edges of an image: a blur, the magnitude of the gradient, and a histogram of it.

use crate::harness::{Bench, Measured};
use crate::numbers::Numbers;
use livefusion::prelude::*;
use livefusion_examples::Outcome;

/// The bins of the histogram, from 0 to 1.
const BINS: usize = 64;

/// Computes the gradients and their histogram by array combinators.
pub fn fused(image: &Array<f32, Ix2>) -> (Array<f32, Ix2>, Array<u64>) {
    let blurred = image.stencil2(Boundary::Clamp, |[[a, b, c], [d, e, f], [g, h, i]]| {
        (a + b + c + d + e + f + g + h + i) / 9.0
    });
    let gradient = blurred.stencil2(Boundary::Clamp, |[[_, n, _], [w, _, e], [_, s, _]]| {
        let (x, y) = (e - w, s - n);
        (x * x + y * y).sqrt()
    });
    let counts = gradient.flatten().histogram_uniform(0.0, 1.0, BINS);
    (gradient, counts)
}

/// Computes the same in plain Rust.
pub fn plain(image: &[f32], width: usize) -> (Vec<f32>, Vec<u64>) {
    let blurred = stencil(image, width, |[[a, b, c], [d, e, f], [g, h, i]]| {
        (a + b + c + d + e + f + g + h + i) / 9.0
    });
    let gradient = stencil(&blurred, width, |[[_, n, _], [w, _, e], [_, s, _]]| {
        let (x, y) = (e - w, s - n);
        (x * x + y * y).sqrt()
    });
    let mut counts = vec![0; BINS];
    for x in &gradient {
        if *x <= 1.0 {
            counts[((x * BINS as f32) as usize).min(BINS - 1)] += 1;
        }
    }
    (gradient, counts)
}

/// Applies a function to each pixel and its neighbours. The border repeats outside.
fn stencil(image: &[f32], width: usize, f: impl Fn([[f32; 3]; 3]) -> f32) -> Vec<f32> {
    let rows: Vec<&[f32]> = image.chunks_exact(width).collect();
    let mut out = Vec::with_capacity(image.len());
    for (y, row) in rows.iter().enumerate() {
        let near = [
            rows[y.saturating_sub(1)],
            row,
            rows[(y + 1).min(rows.len() - 1)],
        ];
        let at = |columns: [usize; 3]| near.map(|row| columns.map(|x| row[x]));
        out.push(f(at([0, 0, 1])));
        let [up, here, down] = near.map(|row| row.array_windows::<3>());
        let inner = up.zip(here).zip(down);
        out.extend(inner.map(|((up, here), down)| f([*up, *here, *down])));
        out.push(f(at([width - 2, width - 1, width - 1])));
    }
    out
}

/// Compares both forms.
pub fn compare(bench: &Bench) -> Outcome<Measured> {
    let (height, width) = (bench.size(1250, 20), bench.size(1600, 30));
    let mut numbers = Numbers::new(2);
    let pixels = numbers.uniforms(height * width);
    let pixels: Vec<f32> = pixels.into_iter().map(|x| 4.0 * x as f32).collect();
    let image = Array::from_vec((height, width), pixels.clone());
    bench.compare(
        pixels.len(),
        0.0,
        || fused(&image),
        || plain(&pixels, width),
    )
}

#[cfg(test)]
mod tests {
    use crate::harness::{Plan, check};

    #[test]
    fn image__small_input__agrees_with_plain_rust() {
        let most = Plan {
            loops: 2,
            arrays: 3,
            calls: 0,
        };
        check(super::compare, most);
    }
}
