//! The convex hull of the US airports, printed and drawn as a map.
//!
//! livefusion computes it with all lines at once and one by one, and plain Rust checks it.
//!
//! ```text
//! cargo run --release --example quickhull [MAP.svg]
//! cargo run --release --example quickhull -- --explain [PLAN.svg]
//! ```
//!
//! The map is written to `target/quickhull.svg` by default. With `--explain` the example prints the
//! schedule of a level instead, and draws it in `target/quickhull-plan.svg`.

mod airports;
mod hull;
mod lines;
mod map;
mod plain;
#[cfg(test)]
mod tests;

use airports::Airport;
use hull::Point;
use lines::Lines;
use livefusion::io;
use livefusion::prelude::*;
use livefusion::runtime::Explanation;
use livefusion_examples::{Outcome, best_of, data, timed, write_svg};

fn main() -> Outcome {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let engine = Engine::builder().build();
    let airports = airports::read(io::csv(data("airports.csv")))?;
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--explain"] => explain(&engine, &airports, "target/quickhull-plan.svg"),
        ["--explain", path] => explain(&engine, &airports, path),
        [] => run(&engine, &airports, "target/quickhull.svg"),
        [path] => run(&engine, &airports, path),
        _ => Err("usage: quickhull [MAP.svg] or quickhull --explain [PLAN.svg]".into()),
    }
}

/// A function that computes a hull.
type Quickhull = fn(&Engine, &Array<Point>) -> livefusion::Result<Vec<Point>>;

/// Computes, checks, measures and draws the hull.
fn run(engine: &Engine, airports: &[Airport], path: &str) -> Outcome {
    let (result, first) = timed(|| compute(engine, airports, lines::quickhull));
    let (points, corners) = result?;
    let counters = engine.counters();
    let again = best_of(20, || compute(engine, airports, lines::quickhull))?;
    let (_, one_by_one) = compute(engine, airports, hull::quickhull)?;
    let single_time = best_of(20, || compute(engine, airports, hull::quickhull))?;
    let expected = plain::hull(&points);
    let plain_time = best_of(20, || Ok(plain::hull(&points)))?;
    check("one line at a time", &corners, &one_by_one)?;
    check("plain Rust", &corners, &expected)?;

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
    println!("\nOne line at a time and plain Rust give the same corners in the same order.");
    println!(
        "The core of a level (all its lines) is {} on the {} backend.",
        one_loop(&core(engine, &second_level(engine, &points)?)?)?,
        backend(engine)
    );
    println!("  first run, with compiling  {first:>10.1?}  kernel cache: {counters}");
    println!("  cached (best of 20)        {again:>10.1?}");
    println!("  one line at a time         {single_time:>10.1?}");
    println!("  plain Rust (best of 20)    {plain_time:>10.1?}  (monotone chain, sorts)");

    let labels: Vec<(Point, &Airport)> = points
        .iter()
        .copied()
        .zip(airports)
        .filter(|(p, _)| corners.contains(p))
        .collect();
    write_svg(path, &map::svg(&points, &corners, &labels))?;
    println!("\nThe map is in {path}.");
    Ok(())
}

/// Prints the schedules of a level and of its core, and draws the core's.
fn explain(engine: &Engine, airports: &[Airport], path: &str) -> Outcome {
    let (points, _) = compute(engine, airports, lines::quickhull)?;
    let lines = second_level(engine, &points)?;
    let core = core(engine, &lines)?;
    println!("The core of a level, the points outside the halves of all lines, is\n\n{core}");
    println!("A whole level, with the new lines in order, is\n");
    println!("{}", lines.split().explain(engine)?);
    println!("The core is {}.", one_loop(&core)?);
    write_svg(path, &core.svg())?;
    println!("Its picture is in {path}.");
    Ok(())
}

/// The two lines that the second level splits.
fn second_level(engine: &Engine, points: &[Point]) -> Outcome<Lines> {
    let (left, right) = hull::extremes(engine, &Array::from(points))?;
    let lines = Lines::between(left, right, &Array::from(points)).split();
    lines.force(engine)?;
    Ok(lines)
}

/// The loops of the core of a level.
fn core(engine: &Engine, lines: &Lines) -> livefusion::Result<Explanation> {
    let (first, second) = lines.halves();
    let (p, q) = (&first.points, &second.points);
    let results = (
        p.data(),
        p.lengths(),
        &first.peak,
        q.data(),
        q.lengths(),
        &second.peak,
    );
    results.explain_with(engine)
}

/// Describes the core, which must be one loop.
fn one_loop(core: &Explanation) -> Outcome<&'static str> {
    match core.loops.len() {
        1 => Ok("one nested loop"),
        n => Err(format!("the core became {n} loops:\n{core}").into()),
    }
}

/// Computes a hull from new arrays and a new graph. Only kernels are cached.
fn compute(
    engine: &Engine,
    airports: &[Airport],
    quickhull: Quickhull,
) -> Outcome<(Vec<Point>, Vec<Point>)> {
    let longitudes: Array<f64> = airports.iter().map(|a| a.longitude).collect();
    let latitudes: Array<f64> = airports.iter().map(|a| a.latitude).collect();
    // Points east of the date line continue in the west, so that the Pacific is in one piece.
    let points = longitudes.zip_with(&latitudes, |lon, lat| {
        (lon.gt(0.0).cond(lon - 360.0, lon), lat)
    });
    let corners = quickhull(engine, &points)?;
    Ok((points.to_vec()?, corners))
}

/// The backend that runs. Without a C compiler it is a fallback.
fn backend(engine: &Engine) -> &'static str {
    if engine.fallback().is_some() {
        "interp"
    } else {
        engine.backend_name()
    }
}

/// Checks that both hulls have the same corners in the same order.
fn check(other: &str, got: &[Point], expected: &[Point]) -> Outcome {
    if got != expected {
        return Err(format!("all lines at once give {got:?}, {other} {expected:?}").into());
    }
    Ok(())
}
