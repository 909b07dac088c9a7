//! CSV tables of airports: both computations of their hull must terminate.
#![no_main]
#![allow(dead_code, reason = "the example has more than is called here")]

#[path = "../../../examples/quickhull/airports.rs"]
mod airports;
#[path = "../../../examples/quickhull/hull.rs"]
mod hull;
#[path = "../../../examples/quickhull/lines.rs"]
mod lines;

use livefusion::prelude::*;

libfuzzer_sys::fuzz_target!(|table: &[u8]| {
    let Ok(airports) = airports::read(livefusion::io::csv_text(table)) else {
        return;
    };
    let points: Vec<hull::Point> = airports.iter().map(|a| (a.longitude, a.latitude)).collect();
    let (points, engine): (Array<hull::Point>, _) = (points.into_iter().collect(), Engine::interp());
    let _ = hull::quickhull(&engine, &points);
    let _ = lines::quickhull(&engine, &points);
});
