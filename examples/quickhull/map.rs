//! The map as SVG: points, hull, graticule and labels.
//!
//! Longitude and latitude are drawn unchanged (equirectangular), so the hull's edges are straight.

use crate::airports::Airport;
use crate::hull::Point;
use std::fmt::Write;

/// Pixels per degree.
const SCALE: f64 = 6.0;
/// Free degrees around the points, for names: at the sides, and above and below.
const MARGIN: (f64, f64) = (25.0, 8.0);
/// Degrees between the lines of the graticule.
const GRID: i32 = 15;
/// The width of a name in pixels.
const NAME: f64 = 120.0;
/// The height of the title in pixels.
const HEAD: f64 = 70.0;

/// The mapping from degrees to the page.
struct Frame {
    west: f64,
    north: f64,
    width: f64,
    height: f64,
}

impl Frame {
    fn around(points: &[Point]) -> Frame {
        let range = |f: fn(&Point) -> f64| {
            points
                .iter()
                .map(f)
                .fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(x), b.max(x)))
        };
        let ((west, east), (south, north)) = (range(|p| p.0), range(|p| p.1));
        Frame {
            west: west - MARGIN.0,
            north: north + MARGIN.1,
            width: (east - west + 2.0 * MARGIN.0) * SCALE,
            height: (north - south + 2.0 * MARGIN.1) * SCALE,
        }
    }

    fn x(&self, longitude: f64) -> f64 {
        (longitude - self.west) * SCALE
    }

    fn y(&self, latitude: f64) -> f64 {
        HEAD + (self.north - latitude) * SCALE
    }
}

/// Draws the map as an SVG document.
pub fn svg(points: &[Point], corners: &[Point], labels: &[(Point, &Airport)]) -> String {
    let frame = Frame::around(points);
    let (width, height) = (frame.width, frame.height + HEAD);
    let head = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" font-family="Helvetica, Arial, sans-serif">
<rect width="{width:.0}" height="{height:.0}" fill="#fbfaf7"/>
<text x="24" y="34" font-size="24" font-weight="bold" fill="#22303c">The convex hull of {} US airports</text>
<text x="24" y="58" font-size="15" fill="#5c6b78">{} corners, found by QuickHull with livefusion: the cuts of a level are one fused loop</text>
"##,
        points.len(),
        corners.len(),
    );
    [
        head,
        graticule(&frame),
        outline(&frame, corners),
        dots(&frame, points),
        marks(&frame, corners, labels),
        "</svg>\n".to_string(),
    ]
    .concat()
}

/// Meridians and parallels with their degrees.
fn graticule(frame: &Frame) -> String {
    let (east, south) = (
        frame.west + frame.width / SCALE,
        frame.north - frame.height / SCALE,
    );
    let (bottom, right) = (frame.y(south), frame.width);
    let (mut lines, mut names) = (String::new(), String::new());
    for degree in multiples(frame.west, east) {
        let x = frame.x(f64::from(degree));
        let _ = write!(lines, "M{x:.1} {HEAD}V{bottom:.1}");
        // West of the date line, longitudes are east again.
        let (shown, side) = if degree < -180 {
            (degree + 360, 'E')
        } else {
            (-degree, 'W')
        };
        let _ = writeln!(
            names,
            r#"<text x="{x:.1}" y="{:.1}">{shown}°{side}</text>"#,
            bottom - 6.0
        );
    }
    for degree in multiples(south, frame.north) {
        let y = frame.y(f64::from(degree));
        let _ = write!(lines, "M0 {y:.1}H{right:.1}");
        let _ = writeln!(
            names,
            r#"<text x="22" y="{:.1}">{degree}°N</text>"#,
            y - 4.0
        );
    }
    format!(
        "<path d=\"{lines}\" stroke=\"#dcdfe0\" fill=\"none\"/>\n<g font-size=\"11\" fill=\"#98a2a9\" text-anchor=\"middle\">\n{names}</g>\n"
    )
}

fn multiples(low: f64, high: f64) -> impl Iterator<Item = i32> {
    let step = f64::from(GRID);
    ((low / step).ceil() as i32..=(high / step).floor() as i32).map(|k| k * GRID)
}

fn outline(frame: &Frame, corners: &[Point]) -> String {
    let path: Vec<String> = corners
        .iter()
        .map(|p| format!("{:.1},{:.1}", frame.x(p.0), frame.y(p.1)))
        .collect();
    format!(
        "<polygon points=\"{}\" fill=\"#e4572e\" fill-opacity=\"0.07\" stroke=\"#e4572e\" stroke-width=\"2\" stroke-linejoin=\"round\"/>\n",
        path.join(" ")
    )
}

/// All airports as one path of dots, which keeps the file small.
fn dots(frame: &Frame, points: &[Point]) -> String {
    let mut path = String::new();
    for p in points {
        let _ = write!(path, "M{:.1} {:.1}h0", frame.x(p.0), frame.y(p.1));
    }
    format!(
        "<path d=\"{path}\" stroke=\"#2a6f97\" stroke-opacity=\"0.6\" stroke-width=\"2.4\" stroke-linecap=\"round\" fill=\"none\"/>\n"
    )
}

/// The corners with their names, written away from the hull.
fn marks(frame: &Frame, corners: &[Point], labels: &[(Point, &Airport)]) -> String {
    let mut out = String::from("<g font-size=\"12\" fill=\"#22303c\">\n");
    let mut taken: Vec<(f64, f64)> = Vec::new();
    // In clockwise order, displaced names climb as their corners do.
    for (i, p) in corners.iter().enumerate().rev() {
        let (x, y) = (frame.x(p.0), frame.y(p.1));
        let _ = writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"#e4572e\"/>"
        );
        let Some((_, airport)) = labels.iter().find(|(q, _)| q == p) else {
            continue;
        };
        let (east, north) = outwards(corners, i);
        let (x, middle, anchor) = if east < 0.0 {
            (x - 8.0, x - 8.0 - 0.5 * NAME, "end")
        } else {
            (x + 8.0, x + 8.0 + 0.5 * NAME, "start")
        };
        let mut row = y + 4.0 - 10.0 * north;
        // Neighbours would cover each other's names.
        while taken
            .iter()
            .any(|(u, v)| (u - middle).abs() < NAME && (v - row).abs() < 13.0)
        {
            row += if north > 0.0 { -1.0 } else { 1.0 };
        }
        taken.push((middle, row));
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{row:.1}\" text-anchor=\"{anchor}\"><tspan font-weight=\"bold\">{}</tspan> {}</text>",
            airport.iata,
            escaped(&airport.place())
        );
    }
    out + "</g>\n"
}

/// The direction (east, north) away from the hull at a corner, of length 1 or less. Corners are
/// counter-clockwise, so outside is on the right of each edge.
fn outwards(corners: &[Point], at: usize) -> (f64, f64) {
    let n = corners.len();
    let (before, here, after) = (
        corners[(at + n - 1) % n],
        corners[at],
        corners[(at + 1) % n],
    );
    let normal = |p: Point, q: Point| {
        let (dx, dy) = (q.0 - p.0, q.1 - p.1);
        let length = dx.hypot(dy).max(f64::MIN_POSITIVE);
        (dy / length, -dx / length)
    };
    let (u, v) = (normal(before, here), normal(here, after));
    (0.5 * (u.0 + v.0), 0.5 * (u.1 + v.1))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
