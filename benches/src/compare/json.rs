//! The report as JSON.

use super::{Cell, Report, Row};
use serde_json::{Map, Value, json};

/// Converts the report to JSON.
///
/// The main fields are `machine`, the kind of `inputs`, `roof_bytes_per_s` by number of threads,
/// `latency` by metric in microseconds, and `rows`. Further fields are `roof` by kind of traffic,
/// `others` (C and Rust), `noise`, and `notes`.
pub fn json(report: &Report) -> Value {
    let machine = &report.machine;
    let rows = report.cells.iter().flat_map(|c| &c.rows);
    json!({
        "machine": {
            "cpu": machine.cpu,
            "cores": machine.cores,
            "vectors": machine.vectors,
            "os": machine.os,
            "compiler": machine.compiler,
            "load": machine.load,
        },
        "inputs": report.inputs.name(),
        "roof_bytes_per_s": object(report.roofs.iter().map(|r| {
            (r.threads.to_string(), json!(r.bytes_per_s()))
        })),
        "latency": object(report.latency.iter().map(|l| {
            (l.metric.to_string(), json!(l.microseconds))
        })),
        "rows": rows.map(row).collect::<Vec<Value>>(),
        "roof": object(report.roofs.iter().map(|r| {
            let kinds = r.kinds.iter().map(|(kind, bytes)| (kind.clone(), json!(bytes)));
            (r.threads.to_string(), object(kinds))
        })),
        "others": report.cells.iter().flat_map(others).collect::<Vec<Value>>(),
        "noise": report.cells.iter().map(noise).collect::<Vec<Value>>(),
        "notes": report.notes,
    })
}

fn object(fields: impl Iterator<Item = (String, Value)>) -> Value {
    Value::Object(Map::from_iter(fields))
}

fn row(row: &Row) -> Value {
    json!({
        "case": row.case,
        "backend": row.backend,
        "n": row.n,
        "threads": row.threads,
        "ns_per_element": row.ns_per_element,
        "best_c_ns_per_element": row.best_c_ns_per_element,
        "ratio": row.ratio(),
        "kernel_ns_per_element": row.kernel_ns_per_element,
        "fresh_ns_per_element": row.fresh_ns_per_element,
        "bytes_per_s": row.bytes_per_s,
        "peak_bytes": row.peak_bytes,
        "result_bytes": row.result_bytes,
        "rounds": row.rounds,
        "checked": row.checked,
    })
}

fn others(cell: &Cell) -> Vec<Value> {
    let one = |o: &super::Other| {
        json!({
            "case": cell.case,
            "contender": o.name,
            "n": cell.n,
            "threads": cell.threads,
            "ns_per_element": o.ns_per_element,
            "rounds": o.rounds,
        })
    };
    cell.others.iter().map(one).collect()
}

fn noise(cell: &Cell) -> Value {
    json!({
        "case": cell.case,
        "n": cell.n,
        "threads": cell.threads,
        "best_c": cell.best_c,
        "noise": cell.noise,
    })
}
