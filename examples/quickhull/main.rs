//! The convex hull of the US airports: computed with livefusion, checked against a plain Rust hull,
//! printed, and drawn as an SVG map.
//!
//! ```text
//! cargo run --release --example quickhull [MAP.svg]
//! ```
//!
//! The map is written to `target/quickhull.svg` if no other file is given.

mod airports;
mod hull;
mod map;
mod plain;

use airports::Airport;
use hull::Point;
use livefusion::prelude::*;
use livefusion_examples::{Outcome, best_of, data, timed};

fn main() -> Outcome {
    let path = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "target/quickhull.svg".to_string());
    let airports = airports::read(&data("airports.csv"))?;
    let engine = Engine::builder().build();

    let (result, first) = timed(|| compute(&engine, &airports));
    let (points, corners) = result?;
    let counters = engine.counters();
    let again = best_of(20, || compute(&engine, &airports))?;
    let expected = plain::hull(&points);
    let plain_time = best_of(20, || Ok(plain::hull(&points)))?;
    check(&corners, &expected)?;
    let loops = explain_cut(&engine, &points)?;

    println!(
        "{} airports, {} of them corners of the hull:\n",
        airports.len(),
        corners.len()
    );
    for corner in &corners {
        if let Some(a) = airports
            .iter()
            .zip(&points)
            .find(|(_, p)| *p == corner)
            .map(|(a, _)| a)
        {
            println!("  {:<4} {:<40} {}", a.iata, a.name, a.place());
        }
    }
    println!("\nThe plain Rust hull has the same corners.");
    println!(
        "A cut (map, filter, farthest point) is {loops} loop on the {} backend.",
        backend(&engine)
    );
    println!("  first run, with compiling  {first:>10.1?}  kernel cache: {counters}");
    println!("  cached (best of 20)        {again:>10.1?}");
    println!("  plain Rust (best of 20)    {plain_time:>10.1?}  (monotone chain, sorts)");

    let labels: Vec<(Point, &Airport)> = points
        .iter()
        .copied()
        .zip(&airports)
        .filter(|(p, _)| corners.contains(p))
        .collect();
    if let Some(folder) = std::path::Path::new(&path).parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&path, map::svg(&points, &corners, &labels))?;
    println!("\nThe map is in {path}.");
    Ok(())
}

/// Reads nothing that is cached but the kernels: new arrays, a new graph.
fn compute(engine: &Engine, airports: &[Airport]) -> Outcome<(Vec<Point>, Vec<Point>)> {
    let longitudes: Array<f64> = airports.iter().map(|a| a.longitude).collect();
    let latitudes: Array<f64> = airports.iter().map(|a| a.latitude).collect();
    // What is east of the date line continues in the west, so that the Pacific is in one piece.
    let points = longitudes.zip_with(&latitudes, |lon, lat| {
        (lon.gt(0.0).cond(lon - 360.0, lon), lat)
    });
    let corners = hull::quickhull(engine, &points)?;
    Ok((points.to_vec()?, corners))
}

/// The backend that runs, which is another one where there is no C compiler.
fn backend(engine: &Engine) -> &'static str {
    if engine.fallback().is_some() {
        "interp"
    } else {
        engine.backend_name()
    }
}

/// The number of loops that a cut takes, which must be one.
fn explain_cut(engine: &Engine, points: &[Point]) -> Outcome<usize> {
    let cut = hull::cut(&Array::from(points), (-180.0, 20.0), (-80.0, 20.0));
    let mut nodes = Vec::new();
    (&cut.kept, &cut.farthest).nodes(&mut nodes);
    let explanation = engine.explain(&nodes)?;
    assert_eq!(
        explanation.loops.len(),
        1,
        "a cut did not fuse:\n{explanation}"
    );
    Ok(explanation.loops.len())
}

/// Both hulls must have the same corners, in whatever order.
fn check(got: &[Point], expected: &[Point]) -> Outcome {
    let sorted = |corners: &[Point]| {
        let mut corners = corners.to_vec();
        corners.sort_by(plain::order);
        corners
    };
    if sorted(got) != sorted(expected) {
        return Err(format!("livefusion's hull is {got:?}, the plain one {expected:?}").into());
    }
    Ok(())
}
