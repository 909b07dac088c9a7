//! Charts and their shapes in the coordinates of the axes.

use crate::Error;
use crate::axis::{padded, range};
use crate::thin::Point;
use std::ops::Range;

/// Describes one chart of a picture.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Chart {
    /// A line through numbers at their indices.
    Line(Vec<f64>),
    /// A line through points in order: y over x.
    Curve(Vec<(f64, f64)>),
    /// The counts of numbers in equal parts of their range.
    Histogram(Vec<f64>),
    /// Points.
    Scatter(Vec<(f64, f64)>),
    /// The rows of a matrix and their width. The first row is at the top; cells are squares.
    Image(Vec<f64>, usize),
}

/// Describes the shapes of a chart with axes.
pub enum Shape {
    Line(Vec<Point>),
    Dots(Vec<Point>),
    /// The range and height of each bar.
    Bars(Vec<(Range<f64>, f64)>),
}

impl Chart {
    /// Returns a number for each bar of a picture of characters.
    ///
    /// A histogram gives the counts of its parts.
    pub fn heights(&self) -> Vec<f64> {
        match self {
            Chart::Line(numbers) | Chart::Image(numbers, _) => numbers.clone(),
            Chart::Histogram(numbers) => match counted(&[numbers]) {
                Ok((_, mut counts)) => counts.pop().unwrap_or_default(),
                Err(_) => Vec::new(),
            },
            Chart::Scatter(points) | Chart::Curve(points) => points.iter().map(|p| p.1).collect(),
        }
    }
}

/// Computes the shapes of charts that share a pair of axes.
pub fn shapes(charts: &[Chart]) -> Result<Vec<Shape>, Error> {
    let numbers = |chart: &Chart| match chart {
        Chart::Histogram(numbers) => Some(numbers.clone()),
        _ => None,
    };
    let histograms: Vec<Vec<f64>> = charts.iter().filter_map(numbers).collect();
    if !histograms.is_empty() {
        return match histograms.len() == charts.len() {
            true => bars(&histograms.iter().collect::<Vec<_>>()),
            false => Err(Error::new("histograms beside histograms", "something else")),
        };
    }
    let shape = |chart: &Chart| match chart {
        Chart::Line(ys) => {
            let indexed = ys.iter().enumerate().map(|(k, y)| (k as f64, *y));
            Ok(Shape::Line(indexed.collect()))
        }
        Chart::Curve(points) => Ok(Shape::Line(points.clone())),
        Chart::Scatter(points) => Ok(Shape::Dots(points.clone())),
        Chart::Histogram(_) | Chart::Image(..) => {
            Err(Error::new("a matrix by itself", "something beside it"))
        }
    };
    charts.iter().map(shape).collect()
}

/// Bars of one histogram, or the outlines of several.
fn bars(all: &[&Vec<f64>]) -> Result<Vec<Shape>, Error> {
    let (x, counts) = counted(all)?;
    let shape = |counts: Vec<f64>| {
        let size = (x.end - x.start) / counts.len() as f64;
        let edge = |k: usize| x.start + k as f64 * size;
        let bars = counts.iter().enumerate();
        match all.len() {
            1 => Shape::Bars(bars.map(|(k, n)| (edge(k)..edge(k + 1), *n)).collect()),
            _ => {
                let tops = bars.flat_map(|(k, n)| [(edge(k), *n), (edge(k + 1), *n)]);
                let ends = [(x.start, 0.0), (x.end, 0.0)];
                let [first, last] = ends;
                Shape::Line([first].into_iter().chain(tops).chain([last]).collect())
            }
        }
    };
    Ok(counts.into_iter().map(shape).collect())
}

/// The range of all numbers, and for each list the counts in equal parts of the range.
fn counted(all: &[&Vec<f64>]) -> Result<(Range<f64>, Vec<Vec<f64>>), Error> {
    let finite = |list: &Vec<f64>| list.iter().filter(|x| x.is_finite()).count();
    let x = range(all.iter().copied().flatten().copied())?;
    let most = all.iter().map(|list| finite(list)).max().unwrap_or(0);
    let bins = (most as f64).sqrt().ceil().clamp(1.0, 64.0) as usize;
    let size = (x.end - x.start) / bins as f64;
    let count = |list: &&Vec<f64>| {
        let mut counts = vec![0.0; bins];
        for n in list.iter().filter(|x| x.is_finite()) {
            let bin = ((n - x.start) / size) as usize;
            if let Some(count) = counts.get_mut(bin.min(bins - 1)) {
                *count += 1.0;
            }
        }
        counts
    };
    let counts = all.iter().map(count).collect();
    Ok((x, counts))
}

/// Computes the axes of shapes.
///
/// They contain all finite points. Without bars they get a margin; bars start at zero.
pub fn axes(shapes: &[Shape]) -> Result<(Range<f64>, Range<f64>), Error> {
    let points = |shape: &Shape| -> Vec<Point> {
        match shape {
            Shape::Line(points) | Shape::Dots(points) => {
                let both = |p: &&Point| p.0.is_finite() && p.1.is_finite();
                points.iter().filter(both).copied().collect()
            }
            Shape::Bars(bars) => {
                let corners = |(x, y): &(Range<f64>, f64)| [(x.start, 0.0), (x.end, *y)];
                bars.iter().flat_map(corners).collect()
            }
        }
    };
    let points: Vec<Point> = shapes.iter().flat_map(points).collect();
    let x = range(points.iter().map(|p| p.0))?;
    let y = range(points.iter().map(|p| p.1))?;
    match shapes.iter().any(|s| matches!(s, Shape::Bars(_))) {
        true => Ok((x, y)),
        false => Ok((padded(x), padded(y))),
    }
}
