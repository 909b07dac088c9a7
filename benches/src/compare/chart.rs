//! Bar charts of the report: multiples of the best C's time.

use super::{Cell, Report};
use crate::compare::table::{least, size};
use std::fmt::Write;

/// The widths to the left of the bars, of the bars, and to the right of them.
const LABELS: f64 = 150.0;
const BARS: f64 = 560.0;
const VALUES: f64 = 70.0;
/// The height of a bar, the gap between cases, and the height of the heading.
const BAR: f64 = 13.0;
const GAP: f64 = 9.0;
const TOP: f64 = 74.0;

/// The ends of the scale. A longer bar is cut, and its value is printed.
const LEAST: f64 = 0.5;
const MOST: f64 = 32.0;

/// The bars of a case in order: names and colours.
const SERIES: &[(&str, &str)] = &[
    ("c", "#1f6fb4"),
    ("jit", "#3fa7d6"),
    ("default", "#5cc8ae"),
    ("interp", "#b8c4ce"),
    ("C, results allocated", "#8a8a8a"),
    ("best Rust by hand", "#d98032"),
];

/// Draws a chart for each size class and number of threads.
pub fn charts(report: &Report) -> Vec<(String, String)> {
    let is_small = |c: &Cell| c.n <= super::SMALL;
    let mut groups: Vec<(bool, usize)> = report
        .cells
        .iter()
        .map(|c| (is_small(c), c.threads))
        .collect();
    groups.sort_by_key(|(small, threads)| (!small, *threads));
    groups.dedup();
    let chart_of = |(small, threads)| {
        let belongs = |c: &&Cell| is_small(c) == small && c.threads == threads;
        let cells: Vec<&Cell> = report.cells.iter().filter(belongs).collect();
        let name = format!("{}-{threads}.svg", if small { "small" } else { "large" });
        (name, chart(report, &cells, threads))
    };
    groups.into_iter().map(chart_of).collect()
}

fn chart(report: &Report, cells: &[&Cell], threads: usize) -> String {
    let bars: Vec<Vec<(usize, f64)>> = cells.iter().map(|c| values(c)).collect();
    let rows: usize = bars.iter().map(Vec::len).sum();
    let height = TOP + rows as f64 * BAR + cells.len() as f64 * GAP + 16.0;
    let width = LABELS + BARS + VALUES;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let sizes = cells.iter().map(|c| c.n);
    let n = match (sizes.clone().min(), sizes.max()) {
        (Some(a), Some(b)) if a != b => format!("{} to {}", size(a), size(b)),
        (Some(a), _) => size(a),
        _ => String::new(),
    };
    let plural = if threads == 1 { "" } else { "s" };
    let title =
        format!("Time over that of the best hand-written C, n = {n}, {threads} thread{plural}");
    text(
        &mut svg,
        10.0,
        20.0,
        "font-size=\"15\" font-weight=\"bold\"",
        &title,
    );
    text(
        &mut svg,
        10.0,
        36.0,
        "fill=\"#555\"",
        &format!("{}; {}", report.machine.cpu, report.machine.compiler),
    );
    legend(&mut svg, &bars);
    scale(&mut svg, height);
    let mut y = TOP;
    for (cell, bars) in cells.iter().zip(&bars) {
        let middle = y + bars.len() as f64 * BAR / 2.0 + 4.0;
        text(
            &mut svg,
            LABELS - 8.0,
            middle,
            "text-anchor=\"end\"",
            cell.case,
        );
        for (series, ratio) in bars {
            bar(&mut svg, y, SERIES[*series].1, *ratio);
            y += BAR;
        }
        y += GAP;
    }
    svg.push_str("</svg>\n");
    svg
}

/// The bars of a case: series and multiple of the best C.
fn values(cell: &Cell) -> Vec<(usize, f64)> {
    let best = cell
        .rows
        .first()
        .map_or(f64::NAN, |r| r.best_c_ns_per_element);
    let of = |name: &str| match name {
        "C, results allocated" => least(cell, |o| o.fresh) / best,
        "best Rust by hand" => least(cell, |o| o.rust) / best,
        backend => {
            let row = cell.rows.iter().find(|r| r.backend == backend);
            row.map_or(f64::NAN, super::Row::ratio)
        }
    };
    let all = SERIES
        .iter()
        .enumerate()
        .map(|(k, (name, _))| (k, of(name)));
    all.filter(|(_, ratio)| ratio.is_finite()).collect()
}

fn legend(svg: &mut String, bars: &[Vec<(usize, f64)>]) {
    let mut x = 10.0;
    for (k, (name, colour)) in SERIES.iter().enumerate() {
        if !bars.iter().flatten().any(|(series, _)| *series == k) {
            continue;
        }
        let name = match k {
            0..4 => format!("livefusion, {name}"),
            _ => name.to_string(),
        };
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"44\" width=\"10\" height=\"10\" fill=\"{colour}\"/>"
        );
        text(svg, x + 14.0, 53.0, "", &name);
        x += 26.0 + 6.2 * name.len() as f64;
    }
}

/// The position of a ratio.
fn place(ratio: f64) -> f64 {
    let part = (ratio.clamp(LEAST, MOST) / LEAST).ln() / (MOST / LEAST).ln();
    LABELS + BARS * part
}

fn scale(svg: &mut String, height: f64) {
    for ratio in [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0] {
        let x = place(ratio);
        let (colour, width) = if ratio == 1.0 {
            ("#333", 1.5)
        } else {
            ("#ddd", 1.0)
        };
        let _ = writeln!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{}\" x2=\"{x:.1}\" y2=\"{}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>",
            TOP - 4.0,
            height - 14.0
        );
        text(
            svg,
            x,
            TOP - 7.0,
            "text-anchor=\"middle\" fill=\"#555\"",
            &format!("{ratio}"),
        );
    }
}

fn bar(svg: &mut String, y: f64, colour: &str, ratio: f64) {
    let (from, to) = (place(LEAST), place(ratio));
    let _ = writeln!(
        svg,
        "<rect x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\"/>",
        y + 1.0,
        (to - from).max(1.0),
        BAR - 2.0
    );
    let value = if ratio < 100.0 {
        format!("{ratio:.2}")
    } else {
        format!("{ratio:.0}")
    };
    text(svg, to + 4.0, y + 10.0, "font-size=\"10\"", &value);
}

fn text(svg: &mut String, x: f64, y: f64, how: &str, what: &str) {
    let what = what.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" {how}>{what}</text>");
}
