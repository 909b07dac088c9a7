//! Stencils of 5, 9 and 25 points with every boundary, and two in sequence.

use super::{Case, Data, Input, Square, by_index, case, fused, on};
use livefusion::prelude::*;
use std::array::from_fn;

const FILE: &str = "rank_stencils.c";

/// Combines each point with its four neighbours.
///
/// At a border the point itself replaces a missing neighbour.
pub const GRID5: Case = case::<Square>(
    "grid5",
    FILE,
    |i| five(i, clamp),
    |e, i| on::<Square, _>(e, i, |m| five_points(&m, Boundary::Clamp).flatten()),
    &[fused(|i| five(i, clamp))],
);

/// Uses one constant for all neighbours outside.
pub const GRID5_CONSTANT: Case = case::<Square>(
    "grid5Constant",
    FILE,
    |i| five(i, constant),
    |e, i| {
        on::<Square, _>(e, i, |m| {
            five_points(&m, Boundary::Constant(OUTSIDE)).flatten()
        })
    },
    &[fused(|i| five(i, constant))],
);

/// Wraps around at the borders.
pub const GRID5_WRAP: Case = case::<Square>(
    "grid5Wrap",
    FILE,
    |i| five(i, wrap),
    |e, i| on::<Square, _>(e, i, |m| five_points(&m, Boundary::Wrap).flatten()),
    &[fused(|i| five(i, wrap))],
);

/// Mirrors the neighbours at the borders.
pub const GRID5_MIRROR: Case = case::<Square>(
    "grid5Mirror",
    FILE,
    |i| five(i, mirror),
    |e, i| on::<Square, _>(e, i, |m| five_points(&m, Boundary::Mirror).flatten()),
    &[fused(|i| five(i, mirror))],
);

/// Weighs neighbours, three by three.
pub const GRID9: Case = case::<Square>(
    "grid9",
    FILE,
    weighted::<3>,
    |e, i| on::<Square, _>(e, i, |m| weighted_points::<3>(&m).flatten()),
    &[fused(weighted::<3>)],
);

/// Weighs neighbours, five by five.
pub const GRID25: Case = case::<Square>(
    "grid25",
    FILE,
    weighted::<5>,
    |e, i| on::<Square, _>(e, i, |m| weighted_points::<5>(&m).flatten()),
    &[fused(weighted::<5>)],
);

/// Blurs five points along the rows, then along the columns.
pub const BLUR: Case = case::<Square>(
    "blurSeparable",
    FILE,
    blur,
    |e, i| {
        on::<Square, _>(e, i, |m| {
            let across = m.stencil2(Boundary::Clamp, |[row]: [[Exp<f64>; 5]; 1]| blurred(row));
            let down = across.stencil2(Boundary::Clamp, |column: [[Exp<f64>; 1]; 5]| {
                blurred(column.map(|[x]| x))
            });
            down.flatten()
        })
    },
    &[fused(blur)],
);

/// Computes a stencil of a stencil.
pub const STENCIL_TWICE: Case = case::<Square>(
    "stencilTwice",
    FILE,
    twice,
    |e, i| {
        on::<Square, _>(e, i, |m| {
            let once = five_points(&m, Boundary::Clamp);
            five_points(&once, Boundary::Clamp).flatten()
        })
    },
    &[fused(twice)],
);

/// The constant outside the grid.
const OUTSIDE: f64 = 0.25;

fn five_points(m: &Array<f64, Ix2>, edges: Boundary<f64>) -> Array<f64, Ix2> {
    m.stencil2(edges, |[[_, n, _], [w, here, e], [_, s, _]]| {
        0.5 * here + 0.125 * ((n + s) + (w + e))
    })
}

/// The weight of a neighbour of `N` by `N`. All weights differ and sum to 1.
const fn weight<const N: usize>(i: usize, j: usize) -> f64 {
    let all = N * N * (N * N + 1) / 2;
    (i * N + j + 1) as f64 / all as f64
}

fn weighted_points<const N: usize>(m: &Array<f64, Ix2>) -> Array<f64, Ix2> {
    m.stencil2(Boundary::Clamp, |near: [[Exp<f64>; N]; N]| {
        let row = |i: usize| (0..N).map(move |j| weight::<N>(i, j) * near[i][j]);
        let sum_of = |terms: Vec<Exp<f64>>| terms.into_iter().reduce(|a, b| a + b);
        let rows = (0..N).filter_map(|i| sum_of(row(i).collect())).collect();
        sum_of(rows).unwrap_or(near[0][0])
    })
}

fn blurred<T>([a, b, c, d, e]: [T; 5]) -> T
where
    T: std::ops::Add<Output = T>,
    f64: std::ops::Mul<T, Output = T>,
{
    0.0625 * (a + e) + 0.25 * (b + d) + 0.375 * c
}

/// The index within `n` that replaces an index; none for the constant boundary.
type Edge = fn(isize, usize) -> Option<usize>;

fn clamp(at: isize, n: usize) -> Option<usize> {
    Some(at.clamp(0, n as isize - 1) as usize)
}

fn constant(at: isize, n: usize) -> Option<usize> {
    usize::try_from(at).ok().filter(|at| *at < n)
}

fn wrap(at: isize, n: usize) -> Option<usize> {
    Some(at.rem_euclid(n as isize) as usize)
}

fn mirror(at: isize, n: usize) -> Option<usize> {
    let last = n as isize - 1;
    Some((last - (last - at.abs()).abs()).max(0) as usize)
}

/// A function of each point's neighbours, `N` rows of `M`.
fn stencil<const N: usize, const M: usize>(
    xs: &[f64],
    edge: impl Fn(isize, usize) -> Option<usize>,
    f: impl Fn([[f64; M]; N]) -> f64,
) -> Vec<f64> {
    let side = xs.len().isqrt();
    let near = |at: usize, k: usize, size: usize| at as isize + k as isize - size as isize / 2;
    let at = |i, j| {
        let place = edge(i, side).zip(edge(j, side));
        place.map_or(OUTSIDE, |(i, j)| xs[i * side + j])
    };
    let inside = |at: usize, size: usize| at >= size / 2 && at + size / 2 < side;
    by_index(side, |i, j| {
        f(match inside(i, N) && inside(j, M) {
            true => from_fn(|k| from_fn(|l| xs[(i + k - N / 2) * side + j + l - M / 2])),
            false => from_fn(|k| from_fn(|l| at(near(i, k, N), near(j, l, M)))),
        })
    })
}

fn five_of(xs: &[f64], edge: Edge) -> Vec<f64> {
    stencil(xs, edge, |[[_, n, _], [w, here, e], [_, s, _]]| {
        0.5 * here + 0.125 * ((n + s) + (w + e))
    })
}

fn five(input: &Input, edge: Edge) -> Vec<Data> {
    vec![Data::result(five_of(input[0].of::<f64>(), edge))]
}

fn weighted<const N: usize>(input: &Input) -> Vec<Data> {
    let sum = stencil(input[0].of::<f64>(), clamp, |near: [[f64; N]; N]| {
        let row = |i: usize| (0..N).map(move |j| weight::<N>(i, j) * near[i][j]);
        (0..N).flat_map(row).sum()
    });
    vec![Data::result(sum)]
}

fn blur(input: &Input) -> Vec<Data> {
    let across = stencil(input[0].of::<f64>(), clamp, |[row]: [[f64; 5]; 1]| {
        blurred(row)
    });
    let down = stencil(&across, clamp, |column: [[f64; 1]; 5]| {
        blurred(column.map(|[x]| x))
    });
    vec![Data::result(down)]
}

fn twice(input: &Input) -> Vec<Data> {
    let once = five_of(input[0].of::<f64>(), clamp);
    vec![Data::result(five_of(&once, clamp))]
}
