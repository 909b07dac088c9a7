//! The detector in plain Rust: a loop per pass, a stack for hysteresis.

use crate::{HIGH, LOW, NONE, STRONG, TAN_22, WEAK, taps};
use livefusion_examples::picture::Plane;

/// Marks each pixel.
pub fn marks(photo: &Plane<u8>) -> Plane<u8> {
    let [far, near, here] = taps();
    let weigh = |[a, b, c, d, e]: [f32; 5]| far * (a + e) + near * (b + d) + here * c;
    let last = photo.width - 1;
    let across = photo.map(|x, [row]| {
        let at = |x: usize| f32::from(row[x.min(last)]);
        weigh([
            at(x.saturating_sub(2)),
            at(x.saturating_sub(1)),
            at(x),
            at(x + 1),
            at(x + 2),
        ])
    });
    let blurred = across.map(|x, rows: [&[f32]; 5]| weigh(rows.map(|row| row[x])));
    let gradient = blurred.map(|x, rows: [&[f32]; 3]| {
        let [left, right] = [x.saturating_sub(1), (x + 1).min(last)];
        let [[a, b, c], [d, _, e], [f, g, h]] = rows.map(|row| [row[left], row[x], row[right]]);
        let x = (c - a) + 2.0 * (e - d) + (h - f);
        let y = (f - a) + 2.0 * (g - b) + (h - c);
        let direction = if y.abs() <= TAN_22 * x.abs() {
            0
        } else if x.abs() < TAN_22 * y.abs() {
            2
        } else if x * y > 0.0 {
            1
        } else {
            3
        };
        ((x * x + y * y).sqrt(), direction)
    });
    mark(&gradient)
}

/// The marks of local maxima along the gradient's direction.
fn mark(gradient: &Plane<(f32, u8)>) -> Plane<u8> {
    let (width, height) = (gradient.width, gradient.height());
    let outside = vec![(0.0, 0); width];
    let mut pixels = Vec::with_capacity(gradient.pixels.len());
    for y in 0..height {
        let above = if y == 0 {
            &outside[..]
        } else {
            gradient.row(y - 1)
        };
        let row = gradient.row(y);
        let below = if y + 1 == height {
            &outside[..]
        } else {
            gradient.row(y + 1)
        };
        for (x, (size, direction)) in row.iter().enumerate() {
            let left = |row: &[(f32, u8)]| if x == 0 { 0.0 } else { row[x - 1].0 };
            let right = |row: &[(f32, u8)]| if x + 1 == width { 0.0 } else { row[x + 1].0 };
            let (before, after) = match direction {
                0 => (left(row), right(row)),
                1 => (left(above), right(below)),
                2 => (above[x].0, below[x].0),
                _ => (right(above), left(below)),
            };
            pixels.push(match *size {
                size if !(size > before && size >= after) => NONE,
                size if size >= HIGH => STRONG,
                size if size >= LOW => WEAK,
                _ => NONE,
            });
        }
    }
    Plane { width, pixels }
}

/// Keeps the weak pixels that are connected to strong ones.
///
/// The result is black on white.
pub fn link(mut marks: Plane<u8>) -> Plane<u8> {
    let (width, height) = (marks.width, marks.height());
    let mut stack: Vec<usize> = (0..marks.pixels.len())
        .filter(|p| marks.pixels[*p] == STRONG)
        .collect();
    while let Some(p) = stack.pop() {
        let (x, y) = (p % width, p / width);
        for y in y.saturating_sub(1)..(y + 2).min(height) {
            for x in x.saturating_sub(1)..(x + 2).min(width) {
                if marks.pixels[y * width + x] == WEAK {
                    marks.pixels[y * width + x] = STRONG;
                    stack.push(y * width + x);
                }
            }
        }
    }
    let pixels = marks
        .pixels
        .iter()
        .map(|m| if *m == STRONG { 0 } else { 255 })
        .collect();
    Plane { width, pixels }
}
