//! Numbers as a picture in a file: lines, histograms, clouds of points, matrices.

use super::pixels;
use plotters::coord::Shift;
use plotters::prelude::{
    ChartBuilder, Circle, DrawingArea, DrawingAreaErrorKind, DrawingBackend, IntoDrawingArea,
    LineSeries, RGBColor, Rectangle, SVGBackend, TRANSPARENT, WHITE,
};
use plotters::style::{Color, IntoFont};
use std::ops::Range;

/// How wide and high a picture is, in pixels.
const SIZE: (u32, u32) = (800, 500);

/// A line has no more points than this: of more numbers, the least and the largest of neighbours.
const MOST_OF_LINE: usize = 4096;

/// So many points of a cloud, and of a matrix so many rows and columns, are drawn one by one.
const MOST_POINTS: usize = 20_000;
const MOST_CELLS: usize = 128;

const INK: RGBColor = RGBColor(31, 90, 150);

/// What a picture is of.
#[derive(Clone, PartialEq, Debug)]
pub enum Chart {
    /// Numbers over their indices.
    Line(Vec<f64>),
    /// How many numbers lie in each of equal parts of their range.
    Histogram(Vec<f64>),
    /// Points.
    Scatter(Vec<(f64, f64)>),
    /// The rows of a matrix, each with so many numbers.
    Image(Vec<f64>, usize),
}

/// What files of pictures are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Format {
    Svg,
    Png,
}

impl Chart {
    /// The bytes of a file; or why there are none.
    ///
    /// ```
    /// use livefusion_repl::plot::{Chart, Format};
    /// let line = Chart::Line(vec![1.0, 4.0, 9.0]);
    /// let svg = String::from_utf8(line.file(Format::Svg).unwrap()).unwrap();
    /// assert!(svg.starts_with("<svg ") && svg.contains("<polyline"));
    /// assert!(line.file(Format::Png).unwrap().starts_with(b"\x89PNG"));
    /// assert_eq!(Chart::Line(vec![f64::NAN]).file(Format::Svg), Err("nothing to plot".into()));
    /// ```
    pub fn file(&self, format: Format) -> Result<Vec<u8>, String> {
        match format {
            Format::Svg => {
                let mut text = String::new();
                let backend = SVGBackend::with_string(&mut text, SIZE);
                self.drawn_on(&backend.into_drawing_area())?;
                Ok(text.into_bytes())
            }
            Format::Png => pixels::png(SIZE, |area| self.drawn_on(&area.into_drawing_area())),
        }
    }

    /// Its numbers as heights of bars, where it has one for each: how many there are in each part, of a histogram.
    pub fn heights(&self) -> Vec<f64> {
        match self {
            Chart::Line(numbers) | Chart::Image(numbers, _) => numbers.clone(),
            Chart::Histogram(numbers) => match binned(numbers) {
                Ok((_, counts)) => counts,
                Err(_) => Vec::new(),
            },
            Chart::Scatter(points) => points.iter().map(|p| p.1).collect(),
        }
    }

    fn drawn_on<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), String> {
        let shapes = self.shapes()?;
        draw(area, &shapes).map_err(|e| e.to_string())
    }

    fn shapes(&self) -> Result<Shapes, String> {
        match self {
            Chart::Line(numbers) => line(numbers),
            Chart::Histogram(numbers) => histogram(numbers),
            Chart::Scatter(points) => scatter(points),
            Chart::Image(numbers, width) => image(numbers, *width),
        }
    }
}

/// What is drawn, in the coordinates of the axes.
struct Shapes {
    x: Range<f64>,
    y: Range<f64>,
    /// Lines, cut where numbers are none.
    lines: Vec<Vec<(f64, f64)>>,
    dots: Vec<(f64, f64)>,
    /// Two corners, and the colour.
    boxes: Vec<([(f64, f64); 2], RGBColor)>,
}

fn draw<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    shapes: &Shapes,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(area)
        .margin(16)
        .x_label_area_size(32)
        .y_label_area_size(120)
        .build_cartesian_2d(shapes.x.clone(), shapes.y.clone())?;
    let font = || ("sans-serif", 14).into_font();
    chart
        .configure_mesh()
        .x_labels(8)
        .y_labels(8)
        .x_label_formatter(&|x| short(*x, &shapes.x))
        .y_label_formatter(&|y| short(*y, &shapes.y))
        .label_style(font())
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(225, 225, 225))
        .draw()?;
    let boxes = shapes.boxes.iter();
    chart.draw_series(boxes.map(|(corners, colour)| Rectangle::new(*corners, colour.filled())))?;
    for line in &shapes.lines {
        chart.draw_series(LineSeries::new(line.iter().copied(), INK.stroke_width(2)))?;
    }
    let dots = shapes.dots.iter();
    chart.draw_series(dots.map(|at| Circle::new(*at, 2, INK.filled())))?;
    area.present()
}

/// A number at an axis: not longer than there is room for, and in ASCII.
fn short(x: f64, axis: &Range<f64>) -> String {
    // Steps along an axis miss zero by a little.
    let is_zero = x.abs() < (axis.end - axis.start).abs() * 1e-9;
    let x = if is_zero { 0.0 } else { x };
    let size = x.abs();
    match size == 0.0 || (1e-4..1e6).contains(&size) {
        true => {
            let text = format!("{x:.4}");
            let text = text.trim_end_matches('0').trim_end_matches('.');
            text.to_string()
        }
        false => {
            let text = format!("{x:.3e}");
            match text.split_once('e') {
                Some((digits, power)) => {
                    let digits = digits.trim_end_matches('0').trim_end_matches('.');
                    format!("{digits}e{power}")
                }
                None => text,
            }
        }
    }
}

/// The range of numbers, of those that are some, and never an empty one: an axis is cut into parts.
fn range(numbers: impl Iterator<Item = f64>) -> Result<Range<f64>, String> {
    let finite = numbers.filter(|x| x.is_finite());
    let ends = finite.fold(None, |ends: Option<(f64, f64)>, x| match ends {
        Some((low, high)) => Some((low.min(x), high.max(x))),
        None => Some((x, x)),
    });
    let Some((low, high)) = ends else {
        return Err("nothing to plot".into());
    };
    let size = low.abs().max(high.abs());
    if size > 1e300 {
        return Err("expected numbers below 1e300".into());
    }
    let least = (size * 1e-9).max(1e-300);
    match high - low < least {
        true => Ok(low - least..high + least),
        false => Ok(low..high),
    }
}

fn line(numbers: &[f64]) -> Result<Shapes, String> {
    let y = range(numbers.iter().copied())?;
    let indexed = |(k, y): (usize, &f64)| (k as f64, *y);
    let points: Vec<(f64, f64)> = match numbers.len() > MOST_OF_LINE {
        false => numbers.iter().enumerate().map(indexed).collect(),
        true => {
            let size = numbers.len().div_ceil(MOST_OF_LINE / 2);
            let ends = |(k, part): (usize, &[f64])| {
                let at = (k * size) as f64;
                let low = part.iter().copied().fold(f64::NAN, f64::min);
                let high = part.iter().copied().fold(f64::NAN, f64::max);
                [(at, low), (at, high)]
            };
            numbers.chunks(size).enumerate().flat_map(ends).collect()
        }
    };
    let is_there = |p: &(f64, f64)| p.1.is_finite();
    let parts = points.split(|p| !is_there(p)).filter(|p| !p.is_empty());
    let (alone, lines): (Vec<_>, Vec<_>) = parts.map(<[_]>::to_vec).partition(|p| p.len() == 1);
    Ok(Shapes {
        x: 0.0..(numbers.len().max(2) - 1) as f64,
        y,
        lines,
        dots: alone.concat(),
        boxes: Vec::new(),
    })
}

fn histogram(numbers: &[f64]) -> Result<Shapes, String> {
    let (x, counts) = binned(numbers)?;
    let size = (x.end - x.start) / counts.len() as f64;
    let bar = |(k, count): (usize, &f64)| {
        let start = x.start + k as f64 * size;
        ([(start, 0.0), (start + size, *count)], INK)
    };
    let boxes = counts.iter().enumerate().map(bar).collect();
    let most = counts.iter().copied().fold(1.0, f64::max);
    Ok(Shapes {
        x,
        y: 0.0..most,
        lines: Vec::new(),
        dots: Vec::new(),
        boxes,
    })
}

/// The range of numbers, and how many of them there are in each of its equal parts.
fn binned(numbers: &[f64]) -> Result<(Range<f64>, Vec<f64>), String> {
    let x = range(numbers.iter().copied())?;
    let finite = || numbers.iter().filter(|x| x.is_finite());
    let bins = (finite().count() as f64).sqrt().ceil().clamp(1.0, 64.0) as usize;
    let size = (x.end - x.start) / bins as f64;
    let mut counts = vec![0.0; bins];
    for n in finite() {
        let bin = ((n - x.start) / size) as usize;
        counts[bin.min(bins - 1)] += 1.0;
    }
    Ok((x, counts))
}

fn scatter(points: &[(f64, f64)]) -> Result<Shapes, String> {
    let finite = points.iter().copied();
    let finite: Vec<(f64, f64)> = finite
        .filter(|(x, y)| x.is_finite() && y.is_finite())
        .collect();
    let every = finite.len().div_ceil(MOST_POINTS).max(1);
    Ok(Shapes {
        x: range(finite.iter().map(|p| p.0))?,
        y: range(finite.iter().map(|p| p.1))?,
        lines: Vec::new(),
        dots: finite.into_iter().step_by(every).collect(),
        boxes: Vec::new(),
    })
}

/// Cells from white for the least number to ink for the largest; the first row is the topmost. What is none has no cell.
fn image(numbers: &[f64], width: usize) -> Result<Shapes, String> {
    let shades = range(numbers.iter().copied())?;
    let height = numbers.len() / width.max(1);
    let block = |n: usize| n.div_ceil(MOST_CELLS).max(1);
    let (tall, wide) = (block(height), block(width));
    let mut boxes = Vec::new();
    for top in (0..height).step_by(tall) {
        for left in (0..width).step_by(wide) {
            let (bottom, right) = ((top + tall).min(height), (left + wide).min(width));
            let rows = (top..bottom).flat_map(|row| &numbers[row * width..][left..right]);
            let finite: Vec<f64> = rows.copied().filter(|x| x.is_finite()).collect();
            if finite.is_empty() {
                continue;
            }
            let mean = finite.iter().map(|x| x / finite.len() as f64).sum::<f64>();
            let shade = (mean - shades.start) / (shades.end - shades.start);
            let mix = |ink: u8| (255.0 + (f64::from(ink) - 255.0) * shade).round() as u8;
            let colour = RGBColor(mix(INK.0), mix(INK.1), mix(INK.2));
            let first = (left as f64, top as f64);
            boxes.push(([first, (right as f64, bottom as f64)], colour));
        }
    }
    Ok(Shapes {
        x: 0.0..width as f64,
        y: height as f64..0.0,
        lines: Vec::new(),
        dots: Vec::new(),
        boxes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anything_is_drawn_or_refused() {
        let odd = [
            vec![],
            vec![0.0],
            vec![1.0, 1.0 + f64::EPSILON],
            vec![f64::NAN, 1.0, f64::INFINITY, 2.0],
            vec![1e-320, 3e-320],
            vec![f64::MIN, f64::MAX],
            vec![1e15, 1e15 + 0.25],
            (0..10_000).map(f64::from).collect(),
        ];
        for numbers in odd {
            let points = numbers.iter().map(|x| (*x, -x)).collect();
            for chart in [
                Chart::Line(numbers.clone()),
                Chart::Histogram(numbers.clone()),
                Chart::Scatter(points),
                Chart::Image(numbers.clone(), 1),
                Chart::Image(numbers.clone(), numbers.len()),
            ] {
                for format in [Format::Svg, Format::Png] {
                    let file = chart.file(format);
                    assert!(file.is_ok_and(|f| f.len() < 4 << 20) || numbers.len() < 3);
                }
            }
        }
    }

    #[test]
    fn numbers_at_axes() {
        let shown = [1e-17, 1.5, -2.0, 1e-7, 123456.0, 2.5e12].map(|x| short(x, &(0.0..1e-6)));
        assert_eq!(shown, ["0", "1.5", "-2", "1e-7", "123456", "2.5e12"]);
    }
}
