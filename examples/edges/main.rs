//! Edge detection by Canny's method on a photograph.
//!
//! livefusion computes the edges, plain Rust checks every pixel, and the result is written as a
//! picture.
//!
//! ```text
//! cargo run --release --features png --example edges [EDGES.png] [PHOTO.png]
//! ```
//!
//! The picture is written to `target/edges.png` by default. The photograph is `data/camera.png`, or
//! another one with 8-bit gray pixels.
//!
//! A stencil reads its input many times, so the input must be in memory. The blur along rows, the
//! blur along columns, the gradient, and the thin edges with their thresholds are one loop each. A
//! step of hysteresis is prepared once and called until nothing changes. The test stops at the
//! first changed pixel.

mod detect;
mod plain;
#[cfg(test)]
mod tests;

use detect::{Detector, Gray};
use livefusion::prelude::*;
use livefusion_examples::picture::{self, Plane};
use livefusion_examples::{Outcome, best_of, data, timed};
use std::path::PathBuf;

/// No edge.
const NONE: u8 = 0;
/// An edge if it is connected to a strong one.
const WEAK: u8 = 1;
/// An edge.
const STRONG: u8 = 2;
/// The gradient size from which a pixel is weak.
const LOW: f32 = 60.0;
/// The gradient size from which a pixel is strong.
const HIGH: f32 = 160.0;
/// The tangent of 22.5 degrees, half the angle between two directions.
const TAN_22: f32 = 0.414_213_57;
/// The blur's standard deviation in pixels.
const SIGMA: f32 = 1.4;

/// The blur's weights of pixels at distance 2, 1 and 0.
fn taps() -> [f32; 3] {
    let of = |distance: f32| (-distance * distance / (2.0 * SIGMA * SIGMA)).exp();
    let sum = 2.0 * of(2.0) + 2.0 * of(1.0) + of(0.0);
    [of(2.0) / sum, of(1.0) / sum, of(0.0) / sum]
}

fn main() -> Outcome {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let to = args.next().unwrap_or_else(|| "target/edges.png".into());
    let photo = picture::read(&args.next().unwrap_or_else(|| data("camera.png")))?;
    if photo.pixels.is_empty() {
        return Err("the picture is empty".into());
    }
    let engine = Engine::builder().build();
    let gray = array(&photo);

    let (detector, compiling) = timed(|| Detector::new(&engine));
    let detector = detector?;
    let marks = detector.marks(&gray)?;
    let (edges, steps) = detector.link(marks.clone())?;
    let marks_time = best_of(20, || Ok(detector.marks(&gray)?))?;
    let link_time = best_of(20, || Ok(detector.link(marks.clone())?))?;

    let plain_marks = plain::marks(&photo);
    let plain_edges = plain::link(plain_marks.clone());
    let plain_marks_time = best_of(20, || Ok(plain::marks(&photo)))?;
    let plain_link_time = best_of(20, || Ok(plain::link(plain_marks.clone())))?;
    assert_eq!(marks.to_vec()?, plain_marks.pixels, "marks differ");
    assert!(*edges == plain_edges.pixels[..], "edges differ");

    let [height, width] = edges.shape();
    let [of_marks, of_step, of_test] = detect::explain(&engine, &gray)?.map(|e| e.loops.len());
    let count = |mark: u8| plain_marks.pixels.iter().filter(|m| **m == mark).count();
    let kept = edges.iter().filter(|e| **e == 0).count();
    println!(
        "{width} x {height} pixels: {} are strong, {} weak, {kept} edges in the end.",
        count(STRONG),
        count(WEAK)
    );
    println!("Plain Rust finds the same pixels.\n");
    println!(
        "Blur, gradient, thin edges and thresholds are {of_marks} loops; a step of hysteresis is {of_step}, its test {of_test}."
    );
    println!("  compiling                          {compiling:>9.1?}");
    println!(
        "  to thresholds (best of 20)         {marks_time:>9.1?}   plain Rust {plain_marks_time:>9.1?}"
    );
    println!(
        "  hysteresis, {steps:>3} steps (best of 20) {link_time:>9.1?}   plain Rust {plain_link_time:>9.1?}, with a stack"
    );
    picture::write(
        &to,
        &Plane {
            width,
            pixels: edges.to_vec()?,
        },
    )?;
    println!("\nThe picture is in {}.", to.display());
    Ok(())
}

/// A picture as an array.
fn array(photo: &Plane<u8>) -> Gray {
    let height = photo.pixels.len() / photo.width;
    Array::from_vec((height, photo.width), photo.pixels.clone())
}
