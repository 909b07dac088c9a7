//! Edges of a picture by Canny's method: blur, gradient, thinning, thresholds.
//!
//! The numbers are chosen such that nothing is rounded: weights are powers of two, and the size of
//! a gradient is the sum of its parts' sizes.

use super::{Case, Data, Input, Ours, Random, Square, by_index, case, fused, side};
use crate::cases::{Agreement, prepared};
use livefusion::prelude::*;

/// Marks each pixel.
///
/// A pixel is no edge, a weak one, or a strong one.
pub const EDGES: Case = Case {
    agreement: Agreement::Exact,
    input: |n| vec![picture(n.isqrt())],
    ..case::<Square>("edges", "rank_edges.c", marks, ours, &[fused(marks)])
};

/// The gradient sizes from which a pixel is weak, and strong.
const WEAK: f32 = 40.0;
const STRONG: f32 = 120.0;
/// The tangent of 22.5 degrees, half the angle between two directions.
const TAN_22: f32 = 0.414_213_57;

/// A bright disk in every square of 50 pixels, and noise.
fn picture(side: usize) -> Data {
    let mut random = Random::new(1);
    let noise: Vec<u8> = (0..side * side).map(|_| random.below(16) as u8).collect();
    let away = |at: usize| (at % 50).abs_diff(25).pow(2);
    let light = |i, j| if away(i) + away(j) < 200 { 160 } else { 40 };
    Data::input(by_index(side, |i, j| light(i, j) + noise[i * side + j]))
}

fn ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let side = side(input);
    prepared(engine, input[0].array::<u8>(), |xs: Array<u8>| {
        let picture = xs.reshape((side, side)).map(|x| x.cast::<f32>());
        thresholds(&thin(&gradient(&blur(&picture)))).flatten()
    })
}

fn blurred<T>([a, b, c, d, e]: [T; 5]) -> T
where
    T: std::ops::Add<Output = T>,
    f32: std::ops::Mul<T, Output = T>,
{
    0.0625 * (a + e) + 0.25 * (b + d) + 0.375 * c
}

fn blur(picture: &Array<f32, Ix2>) -> Array<f32, Ix2> {
    let across = picture.stencil2(Boundary::Clamp, |[row]: [[Exp<f32>; 5]; 1]| blurred(row));
    across.stencil2(Boundary::Clamp, |column: [[Exp<f32>; 1]; 5]| {
        blurred(column.map(|[x]| x))
    })
}

/// The gradient's size and direction: 0 along the row, 1 down and right, 2 along the column, 3 down
/// and left.
fn gradient(picture: &Array<f32, Ix2>) -> Array<(f32, u8), Ix2> {
    picture.stencil2(Boundary::Clamp, |[[a, b, c], [d, _, e], [f, g, h]]| {
        let x = (c - a) + 2.0 * (e - d) + (h - f);
        let y = (f - a) + 2.0 * (g - b) + (h - c);
        let diagonal = (x * y).gt(0.0).cond(1u8, 3u8);
        let (x, y) = (x.abs(), y.abs());
        let is_row = y.le(TAN_22 * x);
        let is_column = x.lt(TAN_22 * y);
        (x + y, is_row.cond(0u8, is_column.cond(2u8, diagonal)))
    })
}

/// The sizes of local maxima along the gradient's direction; 0 elsewhere.
fn thin(gradient: &Array<(f32, u8), Ix2>) -> Array<f32, Ix2> {
    let nothing = Boundary::Constant((0.0, 0));
    gradient.stencil2(nothing, |[[a, b, c], [d, here, e], [f, g, h]]| {
        let (size, direction) = here;
        let along = |k: u8, before: Exp<f32>, after: Exp<f32>| {
            direction.eq(k) & size.gt(before) & size.ge(after)
        };
        let is_top =
            along(0, d.0, e.0) | along(1, a.0, h.0) | along(2, b.0, g.0) | along(3, c.0, f.0);
        is_top.cond(size, 0.0)
    })
}

fn thresholds(thin: &Array<f32, Ix2>) -> Array<u8, Ix2> {
    thin.map(|size| size.ge(STRONG).cond(2u8, size.ge(WEAK).cond(1u8, 0u8)))
}

fn marks(input: &Input) -> Vec<Data> {
    let (side, picture) = (side(input), input[0].of::<u8>());
    let near = |at: usize, k: usize| (at + k).saturating_sub(2).min(side - 1);
    let five = [0, 1, 2, 3, 4];
    let across = by_index(side, |i, j| {
        blurred(five.map(|k| f32::from(picture[i * side + near(j, k)])))
    });
    let blur = by_index(side, |i, j| {
        blurred(five.map(|k| across[near(i, k) * side + j]))
    });
    let gradient = by_index(side, |i, j| {
        let at = |k, l| blur[near(i, k) * side + near(j, l)];
        let x = (at(1, 3) - at(1, 1)) + 2.0 * (at(2, 3) - at(2, 1)) + (at(3, 3) - at(3, 1));
        let y = (at(3, 1) - at(1, 1)) + 2.0 * (at(3, 2) - at(1, 2)) + (at(3, 3) - at(1, 3));
        let diagonal = if x * y > 0.0 { 1 } else { 3 };
        let direction = match (x.abs(), y.abs()) {
            (x, y) if y <= TAN_22 * x => 0,
            (x, y) if x < TAN_22 * y => 2,
            _ => diagonal,
        };
        (x.abs() + y.abs(), direction)
    });
    let marks = by_index(side, |i, j| {
        let at = |k: usize, l: usize| {
            let is_inside = (1..=side).contains(&(i + k)) && (1..=side).contains(&(j + l));
            is_inside.then(|| gradient[(i + k - 1) * side + j + l - 1].0)
        };
        let (size, direction) = gradient[i * side + j];
        let (before, after) = match direction {
            0 => (at(1, 0), at(1, 2)),
            1 => (at(0, 0), at(2, 2)),
            2 => (at(0, 1), at(2, 1)),
            _ => (at(0, 2), at(2, 0)),
        };
        match size > before.unwrap_or(0.0) && size >= after.unwrap_or(0.0) {
            true if size >= STRONG => 2u8,
            true if size >= WEAK => 1,
            _ => 0,
        }
    });
    vec![Data::result(marks)]
}
