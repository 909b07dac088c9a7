//! Thinning: drops points that would not be visible.

use rustc_hash::FxHashSet;
use std::ops::Range;

pub type Point = (f64, f64);

fn is_there(p: &Point) -> bool {
    p.0.is_finite() && p.1.is_finite()
}

/// The index of the part that contains a number, if the range is divided into `parts`.
fn part(x: f64, range: &Range<f64>, parts: u32) -> i64 {
    ((x - range.start) / (range.end - range.start) * f64::from(parts)).floor() as i64
}

/// Splits a line at points that are not finite, and thins the parts.
///
/// Each column of pixels keeps its first, least, largest and last point, so that peaks stay.
pub fn line(points: &[Point], x: &Range<f64>, columns: u32) -> Vec<Vec<Point>> {
    let parts = points.split(|p| !is_there(p)).filter(|p| !p.is_empty());
    let column = |p: &Point| part(p.0, x, columns);
    let thinned = parts.map(|points| {
        let runs = points.chunk_by(|a, b| column(a) == column(b));
        runs.flat_map(ends).collect()
    });
    thinned.collect()
}

/// The first, the least, the largest and the last point, in order.
fn ends(run: &[Point]) -> Vec<Point> {
    let heights = || run.iter().map(|p| p.1).enumerate();
    let least = heights().min_by(|a, b| a.1.total_cmp(&b.1));
    let largest = heights().max_by(|a, b| a.1.total_cmp(&b.1));
    let (Some(least), Some(largest)) = (least, largest) else {
        return Vec::new();
    };
    let mut kept = vec![0, least.0, largest.0, run.len() - 1];
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter()
        .filter_map(|k| run.get(k).copied())
        .collect()
}

/// Keeps one point in each square of two by two pixels.
pub fn dots(
    points: &[Point],
    (x, y): (&Range<f64>, &Range<f64>),
    pixels: (u32, u32),
) -> Vec<Point> {
    let place = |p: &Point| (part(p.0, x, pixels.0 / 2), part(p.1, y, pixels.1 / 2));
    let mut seen = FxHashSet::default();
    let finite = points.iter().filter(|p| is_there(p));
    finite.filter(|p| seen.insert(place(p))).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_of_lines_stay() {
        let n = 1_000_000;
        let height = |k: usize| match k {
            271_828 => 7.0,
            314_159 => -7.0,
            k => (k % 2) as f64,
        };
        let points: Vec<Point> = (0..n).map(|k| (k as f64, height(k))).collect();
        let thinned = line(&points, &(0.0..n as f64), 600);
        assert_eq!(thinned.len(), 1);
        assert!(thinned[0].len() <= 4 * 600, "{}", thinned[0].len());
        assert!(thinned[0].contains(&(271_828.0, 7.0)) && thinned[0].contains(&(314_159.0, -7.0)));
        assert!(thinned[0].is_sorted_by(|a, b| a.0 < b.0));
        // If all points fit, all stay.
        assert_eq!(
            line(&points[..100], &(0.0..100.0), 600),
            [points[..100].to_vec()]
        );
    }

    #[test]
    fn lines_are_cut_where_numbers_are_none() {
        let points = [(0.0, 1.0), (1.0, f64::NAN), (2.0, 3.0), (3.0, 4.0)];
        let parts = line(&points, &(0.0..3.0), 600);
        assert_eq!(parts, [vec![(0.0, 1.0)], vec![(2.0, 3.0), (3.0, 4.0)]]);
    }

    #[test]
    fn dots_apart_from_others_stay() {
        let mut points = vec![(0.5, 0.5); 100_000];
        points.insert(77_777, (0.9, 0.1));
        points.push((f64::NAN, 0.0));
        let all = 0.0..1.0;
        assert_eq!(
            dots(&points, (&all, &all), (600, 400)),
            [(0.5, 0.5), (0.9, 0.1)]
        );
    }
}
