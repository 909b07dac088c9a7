//! Loops over arrays: ten steps on a grid, or one per matrix row.

use super::{Case, Data, Input, Ours, Random, Square, by_index, case, fused, side};
use crate::cases::{Agreement, traced};
use crate::data::uniform;
use livefusion::prelude::*;

const FILE: &str = "rank_steps.c";

/// The number of steps on grids.
const STEPS: usize = 10;

/// Runs the Game of Life on a torus.
///
/// An element is a cell.
pub const LIFE: Case = Case {
    agreement: Agreement::Exact,
    input: |n| {
        let mut random = Random::new(1);
        let side = n.isqrt();
        let cells = (0..side * side).map(|_| random.below(2) as u8);
        vec![Data::input(cells.collect())]
    },
    ..case::<Square>("lifeSteps", FILE, life, life_ours, &[fused(life)])
};

/// Spreads heat to four neighbours.
///
/// An element is a point.
pub const HEAT: Case = case::<Square>("heatSteps", FILE, heat, heat_ours, &[fused(heat)]);

/// Finds the shortest paths between all points.
///
/// Each step allows one more intermediate point. An element is a path through a point.
pub const FLOYD_WARSHALL: Case = Case {
    large: 512 * 512 * 512,
    input: |n| vec![uniform(1, cube(n) * cube(n))],
    ..case::<Square>("floydWarshall", FILE, ways, ways_ours, &[fused(ways)])
};

/// Factors a matrix in place.
///
/// Each step computes a column of one factor and a row of the other. An element is one of the
/// matrix in a step.
pub const LU: Case = Case {
    large: 512 * 512 * 512,
    input: |n| {
        let side = cube(n);
        let mut m = Random::new(1).between(side * side, 0.0, 1.0);
        m.iter_mut()
            .step_by(side + 1)
            .for_each(|x| *x += side as f64);
        vec![Data::input(m)]
    },
    ..case::<Square>("lu", FILE, lu, lu_ours, &[fused(lu)])
};

fn cube(n: usize) -> usize {
    (n as f64).cbrt().round() as usize
}

fn life_ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let (side, cells) = (side(input), input[0].array::<u8>());
    traced(engine, move || {
        let cells = cells.reshape((side, side));
        let last = iterate_n(STEPS as u64, &cells, |cells| {
            cells.stencil2(Boundary::Wrap, |[[a, b, c], [d, here, e], [f, g, h]]| {
                let near = a + b + c + d + e + f + g + h;
                (near.eq(3) | (here.eq(1) & near.eq(2))).cast::<u8>()
            })
        });
        last.flatten()
    })
}

fn heat_ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let (side, grid) = (side(input), input[0].array::<f64>());
    traced(engine, move || {
        let grid = grid.reshape((side, side));
        let last = iterate_n(STEPS as u64, &grid, |grid| {
            grid.stencil2(Boundary::Clamp, |[[_, n, _], [w, here, e], [_, s, _]]| {
                0.5 * here + 0.125 * ((n + s) + (w + e))
            })
        });
        last.flatten()
    })
}

fn ways_ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let (side, ways) = (side(input), input[0].array::<f64>());
    traced(engine, move || {
        let ways = ways.reshape((side, side));
        let start = (&ways, &Array::scalar(0u64));
        let (shortest, _) = iterate_n(side as u64, start, |(ways, k)| {
            let next = generate((side, side), |(i, j)| {
                let k = k.value();
                ways.at((i, j)).min(ways.at((i, k)) + ways.at((k, j)))
            });
            (next, k + 1)
        });
        shortest.flatten()
    })
}

fn lu_ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let (side, m) = (side(input), input[0].array::<f64>());
    traced(engine, move || {
        let m = m.reshape((side, side));
        let start = (&m, &Array::scalar(0u64));
        let (factors, _) = iterate_n(side as u64, start, |(m, k)| {
            let next = generate((side, side), |(i, j)| {
                let (here, k) = (m.at((i, j)), k.value());
                let factor = m.at((i, k)) / m.at((k, k));
                let rest = j.gt(k).cond(here - factor * m.at((k, j)), here);
                i.gt(k).cond(j.eq(k).cond(factor, rest), here)
            });
            (next, k + 1)
        });
        factors.flatten()
    })
}

fn life(input: &Input) -> Vec<Data> {
    let (side, mut cells) = (side(input), input[0].of::<u8>().to_vec());
    for _ in 0..STEPS {
        cells = by_index(side, |i, j| {
            let row = |k| &cells[(i + k + side - 1) % side * side..][..side];
            let around = |k| {
                let row = row(k);
                row[(j + side - 1) % side] + row[j] + row[(j + 1) % side]
            };
            let here = cells[i * side + j];
            let near = around(0) + around(1) + around(2) - here;
            u8::from(near == 3 || (here == 1 && near == 2))
        });
    }
    vec![Data::result(cells)]
}

fn heat(input: &Input) -> Vec<Data> {
    let (side, mut grid) = (side(input), input[0].of::<f64>().to_vec());
    for _ in 0..STEPS {
        grid = by_index(side, |i, j| {
            let at = |i: usize, j: usize| grid[i * side + j];
            let (north, south) = (at(i.saturating_sub(1), j), at((i + 1).min(side - 1), j));
            let (west, east) = (at(i, j.saturating_sub(1)), at(i, (j + 1).min(side - 1)));
            0.5 * at(i, j) + 0.125 * ((north + south) + (west + east))
        });
    }
    vec![Data::result(grid)]
}

fn ways(input: &Input) -> Vec<Data> {
    let (side, mut ways) = (side(input), input[0].of::<f64>().to_vec());
    for k in 0..side {
        let to = ways[k * side..][..side].to_vec();
        for row in ways.chunks_exact_mut(side) {
            let from = row[k];
            row.iter_mut()
                .zip(&to)
                .for_each(|(way, to)| *way = way.min(from + to));
        }
    }
    vec![Data::result(ways)]
}

fn lu(input: &Input) -> Vec<Data> {
    let (side, mut m) = (side(input), input[0].of::<f64>().to_vec());
    for k in 0..side {
        let (above, below) = m.split_at_mut((k + 1) * side);
        let pivots = &above[k * side + k..];
        for row in below.chunks_exact_mut(side) {
            let row = &mut row[k..];
            let factor = row[0] / pivots[0];
            row.iter_mut()
                .zip(pivots)
                .for_each(|(x, pivot)| *x -= factor * pivot);
            row[0] = factor;
        }
    }
    vec![Data::result(m)]
}
