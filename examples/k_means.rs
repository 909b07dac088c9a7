//! K-means: eight clusters of the US airports, without storing the distance matrix.
//!
//! ```text
//! cargo run --release --example k_means
//! ```
//!
//! Distances are in degrees, as on a map with equal scales for longitude and latitude.

use livefusion::io;
use livefusion::prelude::*;
use livefusion::runtime::Explanation;
use livefusion_examples::{Outcome, best_of, data, timed};

/// The number of clusters.
const K: usize = 8;
/// The number of steps.
const STEPS: usize = 40;

/// Longitude and latitude.
type Point = (f64, f64);
/// The result of a step: the new centres, and the number of points nearest to each old one.
type Moved = (Array<Point>, Array<u64>);

fn main() -> Outcome {
    let (points, places) = read()?;
    let engine = Engine::builder().build();
    let array = Array::from(&points);

    let (first, first_time) = timed(|| k_means(&engine, &array));
    let (centres, sizes) = first?;
    let time = best_of(20, || Ok(k_means(&engine, &array)?))?;
    let (expected, expected_sizes) = plain(&points);
    let plain_time = best_of(20, || Ok(plain(&points)))?;
    assert_eq!(
        (&centres, &sizes),
        (&expected, &expected_sizes),
        "plain Rust"
    );

    println!(
        "{} airports, {K} clusters after {STEPS} steps:\n",
        points.len()
    );
    println!("  longitude latitude   airports   nearest to the centre");
    for ((x, y), n) in centres.iter().zip(&sizes) {
        let nearest = points
            .iter()
            .zip(&places)
            .min_by(|(p, _), (q, _)| distance(**p, (*x, *y)).total_cmp(&distance(**q, (*x, *y))));
        println!(
            "  {x:9.2} {y:8.2}   {n:8}   {}",
            nearest.map_or("", |(_, place)| place)
        );
    }
    println!("\nPlain Rust gives the same centres, to the last bit.");
    println!(
        "A step is {} loops on the {} backend.",
        explain(&engine, &array)?.loops.len(),
        engine.backend_name()
    );
    println!("  the first time, with compiling {first_time:>6.1?}");
    println!("  {STEPS} steps (best of 20)      {time:>9.1?}");
    println!("  plain Rust (best of 20)      {plain_time:>9.1?}");
    Ok(())
}

/// One step: assigns each point to the nearest centre, then moves each centre to the mean of its
/// points. A centre without points stays.
fn step(points: &Array<Point>, centres: &Array<Point>) -> Moved {
    let distances = points.outer(centres, |(x, y), (cx, cy)| {
        let (dx, dy) = (x - cx, y - cy);
        dx * dx + dy * dy
    });
    let nearest = distances.along(1).min_index();
    let ones = points.map(|(x, y)| (x, y, 1u64));
    let nothing = (0.0, 0.0, 0u64);
    let sums = ones.reduce_by_index(
        &nearest,
        Bins {
            count: centres.len(),
            start: nothing,
        },
        |(x, y, n), (p, q, m)| (x + p, y + q, n + m),
    );
    let moved = sums.zip_with(centres, |(x, y, n), old| {
        let count = n.cast::<f64>();
        n.gt(0).cond((x / count, y / count), old)
    });
    (moved, sums.map(|(_, _, n)| n))
}

/// The loops of a step.
fn explain(engine: &Engine, points: &Array<Point>) -> livefusion::Result<Explanation> {
    step(points, &Array::from(vec![(0.0, 0.0); K])).explain_with(engine)
}

/// The centres after all steps, and the sizes of their clusters. It is a loop over arrays, whose
/// step is compiled once.
fn k_means(engine: &Engine, points: &Array<Point>) -> livefusion::Result<(Vec<Point>, Vec<u64>)> {
    let first = Array::from(begin(&points.to_vec()?));
    let ended = iterate_n(STEPS, (&first, &replicate(K, 0u64)), |(centres, _)| {
        step(points, &centres)
    });
    let (centres, sizes) = ended.force_with(engine)?;
    Ok((centres.into_vec()?, sizes.into_vec()?))
}

/// The first centres: points at equal distances in the table.
fn begin(points: &[Point]) -> Vec<Point> {
    (0..K).map(|k| points[k * points.len() / K]).collect()
}

fn distance((x, y): Point, (cx, cy): Point) -> f64 {
    let (dx, dy) = (x - cx, y - cy);
    dx * dx + dy * dy
}

/// The same in plain Rust.
fn plain(points: &[Point]) -> (Vec<Point>, Vec<u64>) {
    let mut centres = begin(points);
    let mut sizes = Vec::new();
    for _ in 0..STEPS {
        let mut sums = [(0.0, 0.0, 0u64); K];
        for &(x, y) in points {
            let (mut nearest, mut least) = (0, f64::INFINITY);
            for (k, centre) in centres.iter().enumerate() {
                let d = distance((x, y), *centre);
                if d < least {
                    (nearest, least) = (k, d);
                }
            }
            let (p, q, n) = sums[nearest];
            sums[nearest] = (p + x, q + y, n + 1);
        }
        for (centre, (x, y, n)) in centres.iter_mut().zip(sums) {
            if n > 0 {
                *centre = (x / n as f64, y / n as f64);
            }
        }
        sizes = sums.map(|(_, _, n)| n).to_vec();
    }
    (centres, sizes)
}

/// The positions and names of the airports.
fn read() -> Outcome<(Vec<Point>, Vec<String>)> {
    let table = io::csv(data("airports.csv")).read()?;
    let [longitude, latitude] = ["longitude", "latitude"].map(|name| table.column::<f64>(name));
    let points = zip((&longitude?, &latitude?)).to_vec()?;
    let towns = table.text("city")?.zip(table.text("state")?);
    let places = table.text("name")?.zip(towns);
    let places = places.map(|(name, (city, state))| format!("{name}, {city}, {state}"));
    Ok((points, places.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_plain_rust() {
        let (points, _) = read().unwrap();
        // Points on a line have equal distances, and fewer positions than centres.
        let line: Vec<Point> = (0..30).map(|k| (f64::from(k % 6), 2.0)).collect();
        for engine in [Engine::interp(), Engine::builder().build()] {
            for points in [&points[..200], &line, &[(1.0, 2.0)]] {
                assert_eq!(
                    k_means(&engine, &Array::from(points)).unwrap(),
                    plain(points)
                );
            }
        }
    }

    #[test]
    fn distances_are_in_no_memory() {
        let explained = explain(&Engine::interp(), &Array::from(vec![(1.0, 2.0); 20])).unwrap();
        assert_eq!(explained.loops.len(), 2, "{explained}");
        let written: usize = explained.loops.iter().map(|l| l.arrays_written).sum();
        assert!(written <= 3 + 3, "{explained}");
    }
}
