//! Pictures: charts on axes with titles, legends and colour bars, as file contents.

use crate::axis::{LARGE, LETTER, fitted, range, short};
use crate::chart::{Chart, Shape, axes, shapes};
use crate::{Error, pixels, thin};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::{
    Cartesian2d, ChartBuilder, ChartContext, Circle, DrawingArea, DrawingAreaErrorKind,
    DrawingBackend, IntoDrawingArea, LabelAreaPosition, LineSeries, RGBColor, Rectangle,
    SVGBackend, TRANSPARENT, Text, WHITE,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{BLACK, Color, IntoFont, IntoTextStyle, TextStyle};
use std::ops::Range;

/// The width and height of a picture in pixels.
const SIZE: (u32, u32) = (800, 500);

/// Margins: around the picture, and between the axes and its edges, for numbers and axis names.
const MARGIN: u32 = 16;
const LEFT: u32 = 120;
const BOTTOM: u32 = 56;
const TITLE: u32 = 36;

/// The width of a colour bar and of its numbers.
const BAR: u32 = 20;
const BAR_LABELS: u32 = 110;

/// The maximal width of a legend, and the minimal side of a matrix.
const LEGEND: u32 = 220;
const SHORTEST: u32 = 40;

/// The maximal rows and columns of colours. In a larger matrix, a colour is the mean of neighbours.
const MOST_CELLS: usize = 128;

/// The colours of the charts in one picture, in order.
const INKS: [RGBColor; 8] = [
    RGBColor(31, 90, 150),
    RGBColor(214, 110, 20),
    RGBColor(40, 140, 70),
    RGBColor(190, 40, 50),
    RGBColor(125, 85, 170),
    RGBColor(120, 85, 70),
    RGBColor(205, 100, 175),
    RGBColor(90, 90, 90),
];

/// Names the formats of picture files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Format {
    Svg,
    Png,
}

/// Combines charts in one pair of axes with their texts.
#[derive(Clone, Debug)]
#[must_use = "nothing is drawn before `file`"]
pub struct Picture {
    charts: Vec<Chart>,
    title: String,
    x: String,
    y: String,
    legend: Vec<String>,
}

type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;
type Area<B> = DrawingArea<B, Shift>;
type Axes<'a, B> = ChartContext<'a, B, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

impl Picture {
    /// Creates a picture of charts that share their axes.
    ///
    /// A matrix must be alone. Points that are denser than pixels are thinned: lines keep their
    /// peaks, clouds keep their outermost points.
    pub fn of(charts: impl IntoIterator<Item = Chart>) -> Picture {
        Picture {
            charts: charts.into_iter().collect(),
            title: String::new(),
            x: String::new(),
            y: String::new(),
            legend: Vec::new(),
        }
    }

    /// Sets the title above the picture.
    pub fn title(mut self, text: impl Into<String>) -> Picture {
        self.title = text.into();
        self
    }

    /// Names the horizontal axis.
    pub fn x(mut self, text: impl Into<String>) -> Picture {
        self.x = text.into();
        self
    }

    /// Names the vertical axis.
    pub fn y(mut self, text: impl Into<String>) -> Picture {
        self.y = text.into();
        self
    }

    /// Names the charts, in order.
    ///
    /// For a matrix it names the colours.
    pub fn legend<S: Into<String>>(mut self, texts: impl IntoIterator<Item = S>) -> Picture {
        self.legend = texts.into_iter().map(S::into).collect();
        self
    }

    /// Draws the picture and returns the contents of a file.
    ///
    /// In a PNG file, letters beyond ASCII are boxes, except for a few signs such as `°`. Texts
    /// that are too long are cut.
    ///
    /// ```
    /// use livefusion_plot::{Chart, Format, Picture};
    /// let squares = Picture::of([Chart::Line(vec![1.0, 4.0, 9.0])]);
    /// let svg = String::from_utf8(squares.file(Format::Svg)?).unwrap();
    /// assert!(svg.starts_with("<svg ") && svg.contains("<polyline"));
    /// assert!(squares.file(Format::Png)?.starts_with(b"\x89PNG"));
    /// let nothing = Picture::of([Chart::Line(vec![f64::NAN])]).file(Format::Svg);
    /// assert_eq!(nothing.unwrap_err().to_string(), "expected finite numbers to plot, got none");
    /// # Ok::<(), livefusion_plot::Error>(())
    /// ```
    ///
    /// # Errors
    /// If no number is finite, or if one is beyond `1e300`. Also if a matrix or a histogram is
    /// combined with another kind of chart, or if the legend does not have a text for each chart.
    pub fn file(&self, format: Format) -> Result<Vec<u8>, Error> {
        let (charts, names) = (self.charts.len(), self.legend.len());
        if names != 0 && names != charts {
            let expected = format!("a legend of {charts}, one for each chart");
            return Err(Error::new(expected, names.to_string()));
        }
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

    /// Shows the picture in a notebook of [evcxr](https://github.com/evcxr/evcxr).
    ///
    /// The notebook calls this for the last value of a cell.
    pub fn evcxr_display(&self) {
        let shown = match self.file(Format::Svg) {
            Ok(svg) => String::from_utf8_lossy(&svg).into_owned(),
            Err(e) => e.to_string(),
        };
        println!("EVCXR_BEGIN_CONTENT text/html\n{shown}\nEVCXR_END_CONTENT");
    }

    fn drawn_on<B: DrawingBackend>(&self, area: &Area<B>) -> Result<(), Error> {
        let wrong = |e: DrawingAreaErrorKind<B::ErrorType>| {
            Error::new("a picture that can be drawn", e.to_string())
        };
        area.fill(&WHITE).map_err(wrong)?;
        let below = self.below_title(area).map_err(wrong)?;
        match self.charts.as_slice() {
            [Chart::Image(numbers, width)] => {
                let shades = range(numbers.iter().copied())?;
                self.image_on(&below, numbers, (*width).max(1), &shades)
            }
            charts => {
                let shapes = shapes(charts)?;
                let (x, y) = axes(&shapes)?;
                self.series_on(&below, &shapes, (x, y))
            }
        }
        .map_err(wrong)?;
        area.present().map_err(wrong)
    }

    /// Draws the title and returns the area below it.
    fn below_title<B: DrawingBackend>(
        &self,
        area: &Area<B>,
    ) -> Result<Area<B>, DrawingAreaErrorKind<B::ErrorType>> {
        if self.title.is_empty() {
            return Ok(area.clone());
        }
        let (text, size) = fitted(&self.title, SIZE.0 - 2 * MARGIN, 20);
        let at = (SIZE.0 as i32 / 2, TITLE as i32 / 2 + 4);
        area.draw(&Text::new(text, at, style(size, HPos::Center, area)))?;
        Ok(area.clone().shrink((0, TITLE), (SIZE.0, SIZE.1 - TITLE)))
    }

    fn series_on<B: DrawingBackend>(
        &self,
        area: &Area<B>,
        shapes: &[Shape],
        (x, y): (Range<f64>, Range<f64>),
    ) -> Drawn<B> {
        let legend = self.legend_on(area)?;
        let mut chart = ChartBuilder::on(area)
            .margin(MARGIN)
            .margin_right(MARGIN + 32 + legend)
            .x_label_area_size(BOTTOM)
            .y_label_area_size(LEFT)
            .build_cartesian_2d(x.clone(), y.clone())?;
        self.mesh(&mut chart, (&x, &y), true)?;
        let pixels = chart.plotting_area().dim_in_pixel();
        for (shape, ink) in shapes.iter().zip(INKS.iter().cycle()) {
            match shape {
                Shape::Line(points) => {
                    for line in thin::line(points, &x, pixels.0) {
                        match line.as_slice() {
                            [alone] => chart.plotting_area().draw(&dot(*alone, *ink))?,
                            _ => {
                                chart.draw_series(LineSeries::new(line, ink.stroke_width(2)))?;
                            }
                        }
                    }
                }
                Shape::Dots(points) => {
                    let dots = thin::dots(points, (&x, &y), pixels);
                    chart.draw_series(dots.into_iter().map(|at| dot(at, *ink)))?;
                }
                Shape::Bars(bars) => {
                    let bars = bars.iter();
                    let corners = |(x, y): &(Range<f64>, f64)| [(x.start, 0.0), (x.end, *y)];
                    chart.draw_series(bars.map(|b| Rectangle::new(corners(b), ink.filled())))?;
                }
            }
        }
        Ok(())
    }

    /// Draws the legend at the right edge and returns its width.
    fn legend_on<B: DrawingBackend>(
        &self,
        area: &Area<B>,
    ) -> Result<u32, DrawingAreaErrorKind<B::ErrorType>> {
        const SAMPLE: u32 = 28;
        let longest = self.legend.iter().map(|text| text.chars().count()).max();
        let Some(longest) = longest else {
            return Ok(0);
        };
        let wide = (SAMPLE + longest as u32 * LETTER).min(LEGEND);
        let (width, height) = area.dim_in_pixel();
        let left = (width - MARGIN - wide) as i32;
        let step = (height.saturating_sub(2 * MARGIN) / self.legend.len() as u32).min(24);
        let names = self.legend.iter().zip(INKS.iter().cycle()).enumerate();
        for (k, (name, ink)) in names {
            let middle = (MARGIN + 10 + k as u32 * step) as i32;
            let sample = [(left, middle - 2), (left + 18, middle + 2)];
            area.draw(&Rectangle::new(sample, ink.filled()))?;
            let (text, size) = fitted(name, wide - SAMPLE, LARGE);
            let at = (left + SAMPLE as i32, middle);
            area.draw(&Text::new(text, at, style(size, HPos::Left, area)))?;
        }
        Ok(wide)
    }

    /// Draws cells from white for the least number to ink for the largest, and a colour bar. NaN
    /// has no cell.
    fn image_on<B: DrawingBackend>(
        &self,
        area: &Area<B>,
        numbers: &[f64],
        width: usize,
        shades: &Range<f64>,
    ) -> Drawn<B> {
        let height = (numbers.len() / width).max(1);
        let (wide, high) = area.dim_in_pixel();
        let room = (
            wide - 4 * MARGIN - LEFT - BAR - BAR_LABELS,
            high - 2 * MARGIN - BOTTOM,
        );
        let cell = (f64::from(room.0) / width as f64).min(f64::from(room.1) / height as f64);
        // A very short side is made longer than its cells' squares require.
        let side = |n: usize, room: u32| ((cell * n as f64) as u32).clamp(SHORTEST, room);
        let (pixels_x, pixels_y) = (side(width, room.0), side(height, room.1));
        let main = (LEFT + pixels_x, pixels_y + BOTTOM);
        let left = (wide - main.0 - 2 * MARGIN - BAR - BAR_LABELS) / 2;
        let top = (high - main.1) / 2;
        let at = area.clone().shrink((left, top), main);
        let (x, y) = (0.0..width as f64, height as f64..0.0);
        let mut chart = ChartBuilder::on(&at)
            .x_label_area_size(BOTTOM)
            .y_label_area_size(LEFT)
            .build_cartesian_2d(x.clone(), y.clone())?;
        self.mesh(&mut chart, (&x, &y), false)?;
        let cells = cells(numbers, width, shades).into_iter();
        chart.draw_series(cells.map(|(at, ink)| Rectangle::new(at, ink.filled())))?;
        let start = (left + main.0 + 2 * MARGIN, top);
        let bar = area.clone().shrink(start, (BAR + BAR_LABELS, main.1));
        self.colour_bar(&bar, shades)
    }

    fn colour_bar<B: DrawingBackend>(&self, area: &Area<B>, shades: &Range<f64>) -> Drawn<B> {
        const STEPS: usize = 64;
        let (_, high) = area.dim_in_pixel();
        let mut chart = ChartBuilder::on(area)
            .margin_bottom(BOTTOM)
            .set_label_area_size(LabelAreaPosition::Right, BAR_LABELS)
            .build_cartesian_2d(0.0..1.0, shades.clone())?;
        let format = |y: &f64| short(*y, shades);
        let mut mesh = chart.configure_mesh();
        mesh.disable_mesh()
            .y_labels(most(high - BOTTOM, 40))
            .set_tick_mark_size(LabelAreaPosition::Right, 5)
            .y_label_formatter(&format)
            .label_style(("sans-serif", LARGE).into_font());
        mesh.draw()?;
        let edge = |k: usize| shades.start + (shades.end - shades.start) * k as f64 / STEPS as f64;
        let part = |k: usize| {
            let corners = [(0.0, edge(k)), (1.0, edge(k + 1))];
            Rectangle::new(corners, shade((k as f64 + 0.5) / STEPS as f64).filled())
        };
        chart.draw_series((0..STEPS).map(part))?;
        let Some(name) = self.legend.first() else {
            return Ok(());
        };
        let (text, size) = fitted(name, BAR + BAR_LABELS, LARGE);
        let at = (0, (high - BOTTOM / 2) as i32);
        area.draw(&Text::new(text, at, style(size, HPos::Left, area)))
    }

    fn mesh<B: DrawingBackend>(
        &self,
        chart: &mut Axes<'_, B>,
        (x, y): (&Range<f64>, &Range<f64>),
        has_grid: bool,
    ) -> Drawn<B> {
        let (wide, high) = chart.plotting_area().dim_in_pixel();
        let names = [
            fitted(&self.x, wide + LEFT / 2, LARGE),
            fitted(&self.y, high + BOTTOM / 2, LARGE),
        ];
        let size = names.iter().map(|(_, size)| *size).min().unwrap_or(LARGE);
        let numbers = ("sans-serif", LARGE).into_font();
        let (x_format, y_format) = (|n: &f64| short(*n, x), |n: &f64| short(*n, y));
        let mut mesh = chart.configure_mesh();
        mesh.x_labels(most(wide, 9 * LETTER))
            .y_labels(most(high, 40))
            .x_label_formatter(&x_format)
            .y_label_formatter(&y_format)
            .label_style(numbers)
            .axis_desc_style(("sans-serif", size).into_font())
            .x_desc(&names[0].0)
            .y_desc(&names[1].0)
            .light_line_style(TRANSPARENT)
            .bold_line_style(RGBColor(225, 225, 225));
        if !has_grid {
            mesh.disable_mesh();
        }
        mesh.draw()
    }
}

/// The number of labels that fit along an axis, given the pixels of each.
fn most(pixels: u32, each: u32) -> usize {
    (pixels / each).clamp(2, 8) as usize
}

fn style<'a, B: DrawingBackend>(size: u32, side: HPos, area: &Area<B>) -> TextStyle<'a> {
    let style = ("sans-serif", size).into_text_style(area).color(&BLACK);
    style.pos(Pos::new(side, VPos::Center))
}

fn dot(at: (f64, f64), ink: RGBColor) -> Circle<(f64, f64), u32> {
    Circle::new(at, 2, ink.filled())
}

/// A colour from white for 0 to ink for 1.
fn shade(part: f64) -> RGBColor {
    let mix = |ink: u8| (255.0 + (f64::from(ink) - 255.0) * part).round() as u8;
    let [ink, ..] = INKS;
    RGBColor(mix(ink.0), mix(ink.1), mix(ink.2))
}

/// Two corners and the colour of each cell.
fn cells(numbers: &[f64], width: usize, shades: &Range<f64>) -> Vec<([(f64, f64); 2], RGBColor)> {
    let height = numbers.len() / width;
    let block = |n: usize| n.div_ceil(MOST_CELLS).max(1);
    let (tall, wide) = (block(height), block(width));
    let mut cells = Vec::new();
    for top in (0..height).step_by(tall) {
        for left in (0..width).step_by(wide) {
            let (bottom, right) = ((top + tall).min(height), (left + wide).min(width));
            let rows = (top..bottom).flat_map(|row| &numbers[row * width..][left..right]);
            let finite: Vec<f64> = rows.copied().filter(|x| x.is_finite()).collect();
            if finite.is_empty() {
                continue;
            }
            let mean = finite.iter().map(|x| x / finite.len() as f64).sum::<f64>();
            let part = (mean - shades.start) / (shades.end - shades.start);
            let corners = [(left as f64, top as f64), (right as f64, bottom as f64)];
            cells.push((corners, shade(part)));
        }
    }
    cells
}
