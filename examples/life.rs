//! Conway's Game of Life: the R-pentomino, five cells that settle after 1103 generations.
//!
//! A loop over arrays computes it. Plain Rust checks every cell, and a picture shows the traces of
//! life.
//!
//! ```text
//! cargo run --release --features png --example life [LIFE.png]
//! ```
//!
//! The picture is written to `target/life.png` by default. The world is a torus, too large for
//! anything to wrap around before the end.

use livefusion::prelude::*;
use livefusion::runtime::Explanation;
use livefusion_examples::picture::{self, Plane};
use livefusion_examples::{Outcome, best_of, timed};

/// Rows and columns of the world.
const SIZE: usize = 640;
/// The generations until only blinkers and gliders change.
const GENERATIONS: usize = 1103;
/// The trace of a live cell.
const FRESH: u8 = 255;
/// The faintest trace. Where no cell ever lived, the trace is 0.
const FAINT: u8 = 70;

/// Cells, 1 if alive, and their traces, which fade with each generation.
type World = (Array<u8, Ix2>, Array<u8, Ix2>);

fn main() -> Outcome {
    let to = std::env::args_os()
        .nth(1)
        .unwrap_or_else(|| "target/life.png".into());
    let engine = Engine::builder().build();
    let start = r_pentomino(SIZE);

    let (first, first_time) = timed(|| live(&engine, &start, GENERATIONS));
    let (cells, traces) = first?;
    let time = best_of(3, || Ok(live(&engine, &start, GENERATIONS)?))?;
    let (plain, plain_time) = timed(|| plain(&start, GENERATIONS));
    let (plain_cells, plain_traces) = plain;
    assert!(*cells == plain_cells.pixels[..], "cells differ");
    assert!(*traces == plain_traces.pixels[..], "traces differ");

    let alive = cells.iter().filter(|c| **c == 1).count();
    println!("After {GENERATIONS} generations {alive} cells of {SIZE} x {SIZE} are alive.");
    println!("Plain Rust has the same cells alive, and the same traces.\n");
    println!(
        "A generation is {} loop on the {} backend.",
        explain(&engine, &start)?.loops.len(),
        engine.backend_name()
    );
    println!("  the first time, with compiling     {first_time:>9.1?}");
    println!("  all generations (best of 3)        {time:>9.1?}   plain Rust {plain_time:>9.1?}");
    let pixels = traces.iter().map(|t| FRESH - t).collect();
    let width = SIZE;
    picture::write(to.as_ref(), &Plane { width, pixels })?;
    println!("\nThe picture is in {}.", to.display());
    Ok(())
}

/// Five cells in the middle of a world.
fn r_pentomino(size: usize) -> Plane<u8> {
    let mut cells = Plane {
        width: size,
        pixels: vec![0; size * size],
    };
    for (x, y) in [(1, 0), (2, 0), (0, 1), (1, 1), (1, 2)] {
        cells.pixels[(size / 2 + y) * size + size / 2 + x] = 1;
    }
    cells
}

/// The next generation.
fn next((cells, traces): World) -> World {
    let cells = cells.stencil2(Boundary::Wrap, |[[a, b, c], [d, here, e], [f, g, h]]| {
        let near = a + b + c + d + e + f + g + h;
        (near.eq(3) | (near.eq(2) & here.eq(1))).cast::<u8>()
    });
    let traces = traces.zip_with(&cells, |trace, cell| {
        cell.eq(1).cond(FRESH, trace - trace.gt(FAINT).cast::<u8>())
    });
    (cells, traces)
}

/// A world as arrays, without traces.
fn world(start: &Plane<u8>) -> World {
    let shape = (start.height(), start.width);
    let cells = Array::from_vec(shape, start.pixels.clone());
    (cells, replicate(shape, 0u8))
}

/// The world after a number of generations.
fn live(
    engine: &Engine,
    start: &Plane<u8>,
    generations: usize,
) -> livefusion::Result<(Manifest<u8, Ix2>, Manifest<u8, Ix2>)> {
    iterate_n(generations, world(start), next).force_with(engine)
}

/// The loops of a generation.
fn explain(engine: &Engine, start: &Plane<u8>) -> livefusion::Result<Explanation> {
    let (cells, traces) = world(start);
    let traces = traces.force_with(engine)?.into();
    next((cells, traces)).explain_with(engine)
}

/// The same in plain Rust, with two alternating worlds.
fn plain(start: &Plane<u8>, generations: usize) -> (Plane<u8>, Plane<u8>) {
    let (width, height) = (start.width, start.height());
    let mut old = start.clone();
    let mut new = start.clone();
    let mut traces = Plane {
        width,
        pixels: vec![0; width * height],
    };
    for _ in 0..generations {
        for y in 0..height {
            let rows = [(y + height - 1) % height, y, (y + 1) % height].map(|y| old.row(y));
            let here = y * width..(y + 1) * width;
            let new = &mut new.pixels[here.clone()];
            for (x, cell) in new.iter_mut().enumerate() {
                let left = if x == 0 { width - 1 } else { x - 1 };
                let right = if x + 1 == width { 0 } else { x + 1 };
                *cell = grown(rows, [left, x, right]);
            }
            for (trace, cell) in traces.pixels[here].iter_mut().zip(new) {
                *trace = match cell {
                    1 => FRESH,
                    _ => *trace - u8::from(*trace > FAINT),
                };
            }
        }
        std::mem::swap(&mut old, &mut new);
    }
    (old, traces)
}

/// A cell of the next generation, from the rows and columns around it.
fn grown(rows: [&[u8]; 3], columns: [usize; 3]) -> u8 {
    let [[a, b, c], [d, here, e], [f, g, h]] = rows.map(|row| columns.map(|x| row[x]));
    let near = a + b + c + d + e + f + g + h;
    u8::from(near == 3 || (near == 2 && here == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engines() -> [Engine; 2] {
        [Engine::interp(), Engine::builder().build()]
    }

    #[test]
    fn the_same_world() {
        // These worlds are small enough for life to wrap around.
        for (width, height) in [(9, 7), (5, 12), (3, 2), (1, 4)] {
            let mut pixels = vec![0; width * height];
            for (p, cell) in (0u8..).zip(&mut pixels) {
                *cell = u8::from(p % 7 % 3 == 0);
            }
            let start = Plane { width, pixels };
            for engine in engines() {
                let (cells, traces) = live(&engine, &start, 20).unwrap();
                let (plain_cells, plain_traces) = plain(&start, 20);
                assert_eq!(
                    cells.to_vec().unwrap(),
                    plain_cells.pixels,
                    "{width} x {height}"
                );
                assert_eq!(
                    traces.to_vec().unwrap(),
                    plain_traces.pixels,
                    "{width} x {height}"
                );
            }
        }
    }

    /// A known fact: 116 cells are alive after it settles.
    #[test]
    fn the_r_pentomino_settles() {
        let alive = |generations| {
            let (cells, _) = live(&engines()[1], &r_pentomino(SIZE), generations).unwrap();
            cells.iter().filter(|c| **c == 1).count()
        };
        assert_eq!((alive(0), alive(1), alive(GENERATIONS)), (5, 6, 116));
    }

    #[test]
    fn one_loop_a_generation() {
        let explained = explain(&Engine::interp(), &r_pentomino(32)).unwrap();
        assert_eq!(explained.loops.len(), 1, "{explained}");
    }
}
