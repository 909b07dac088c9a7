//! The report as text.

use super::{Cell, Report};
use comfy_table::{CellAlignment, Table, presets};
use std::fmt::Write;

/// Formats the report as text.
///
/// There is a table of cases for each size and number of threads, then the fixed costs.
pub fn text(report: &Report) -> String {
    let mut text = String::new();
    let m = &report.machine;
    let _ = writeln!(
        text,
        "{}, {} cores, vectors of {} bytes; {}; inputs {}",
        m.cpu,
        m.cores,
        m.vectors,
        m.compiler,
        report.inputs.name()
    );
    for roof in &report.roofs {
        let kinds: Vec<String> = roof
            .kinds
            .iter()
            .map(|(k, b)| format!("{k} {:.1}", b / 1e9))
            .collect();
        let _ = writeln!(
            text,
            "memory, GB/s with {} threads: {}",
            roof.threads,
            kinds.join(", ")
        );
    }
    let _ = writeln!(text, "\n{}", cases(report));
    if !report.latency.is_empty() {
        let _ = writeln!(text, "{}", latency(report));
    }
    for note in &report.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// Creates a table with right-aligned columns of numbers.
fn table(header: &[&str], numbers: std::ops::Range<usize>) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::ASCII_MARKDOWN)
        .set_header(header);
    for k in numbers {
        if let Some(column) = table.column_mut(k) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn cases(report: &Report) -> Table {
    let header = [
        "case",
        "n",
        "threads",
        "backend",
        "ns/element",
        "best C",
        "ratio",
        "kernel alone",
        "ratio",
        "noise",
        "fresh",
        "C fresh",
        "Rust",
        "GB/s",
        "of roof",
        "peak, MB",
        "results, MB",
        "best C is",
    ];
    let mut table = table(&header, 4..17);
    for cell in &report.cells {
        for row in &cell.rows {
            let roof = report.roofs.iter().find(|r| r.threads == row.threads);
            let share = roof.map_or(f64::NAN, |r| row.bytes_per_s / r.bytes_per_s());
            let wrong = if row.checked { "" } else { " WRONG" };
            table.add_row([
                row.case.to_string(),
                size(row.n),
                row.threads.to_string(),
                format!("{}{wrong}", row.backend),
                number(row.ns_per_element),
                number(row.best_c_ns_per_element),
                format!("{:.2}", row.ratio()),
                row.kernel_ns_per_element.map_or_else(|| "-".into(), number),
                row.kernel_ratio()
                    .map_or_else(|| "-".into(), |r| format!("{r:.2}")),
                format!("{:.1}%", cell.noise * 100.0),
                row.fresh_ns_per_element.map_or_else(|| "-".into(), number),
                number(least(cell, |o| o.fresh)),
                number(least(cell, |o| o.rust)),
                format!("{:.1}", row.bytes_per_s / 1e9),
                format!("{:.0}%", share * 100.0),
                row.peak_bytes.map_or_else(|| "-".into(), megabytes),
                megabytes(row.result_bytes),
                cell.best_c.trim_start_matches("C, ").to_string(),
            ]);
        }
    }
    table
}

/// Returns the best time among the selected others.
pub fn least(cell: &Cell, which: fn(&super::Other) -> bool) -> f64 {
    let those = cell.others.iter().filter(|o| which(o));
    those.map(|o| o.ns_per_element).fold(f64::NAN, f64::min)
}

fn latency(report: &Report) -> Table {
    let mut table = table(&["latency", "microseconds"], 1..2);
    for l in &report.latency {
        table.add_row([l.metric.to_string(), format!("{:.2}", l.microseconds)]);
    }
    table
}

/// Formats a power of ten as such.
pub fn size(n: usize) -> String {
    match n.checked_ilog10() {
        Some(power) if power > 2 && 10usize.pow(power) == n => format!("10^{power}"),
        _ => n.to_string(),
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.2}", bytes as f64 / 1e6)
}

fn number(x: f64) -> String {
    match x {
        x if x.is_nan() => "-".to_string(),
        x if x < 1.0 => format!("{x:.3}"),
        x if x < 100.0 => format!("{x:.2}"),
        x => format!("{x:.0}"),
    }
}
