//! Values in memory as text: abbreviated arrays, matrices as rows, ragged segments.

use crate::syntax::Literal;
use crate::value::{Array, Column, Elt, Saved, Segmented, Value};
use crate::{grid, meaning};
use livefusion::ast::{Node, Value as Memory};
use livefusion_backend::Buffer;
use loop_lang::Const;
use std::sync::Arc;
use std::time::Duration;

/// Collects the nodes that display needs in memory.
///
/// These include delayed lengths of axes.
pub fn nodes(value: &Value, out: &mut Vec<Arc<Node>>) {
    let mut array = |node: &Arc<Node>| {
        out.push(node.clone());
        let axes = node.shape.as_ref().map_or(&[][..], |s| s.axes());
        let delayed = axes.iter().filter(|a| a.known().is_none());
        out.extend(delayed.map(|a| a.node().clone()));
    };
    match value {
        Value::Array(a) => array(&a.node),
        Value::Segmented(s) => {
            array(&s.lengths);
            array(&s.data.node);
        }
        Value::Tuple(parts) => parts.iter().for_each(|p| nodes(p, out)),
        Value::Save(save) => match &save.what {
            Saved::Npy(node) | Saved::Raw(node) => array(node),
            Saved::Npz(named) => named.iter().for_each(|(_, n)| array(n)),
            Saved::Columns(named, _) => named.iter().for_each(|(_, column)| match column {
                Column::Scalars(node) | Column::Text(node, _) | Column::Times(node, _) => {
                    array(node)
                }
                Column::Lists(s) => {
                    array(&s.lengths);
                    array(&s.data);
                }
            }),
            Saved::Table(..) => {}
        },
        Value::Table(t) => {
            let columns = t.names().filter_map(|name| t.column(name)?.ok());
            columns.for_each(|column| nodes(&column, out));
        }
        _ => {}
    }
}

/// Limits how many elements of each axis are shown.
#[derive(Clone, Copy, Debug)]
pub struct Limit(pub usize);

impl Limit {
    /// Returns the shown indices of `n`, with `None` for a gap.
    pub fn places(self, n: usize) -> Vec<Option<usize>> {
        if n <= self.0 {
            return (0..n).map(Some).collect();
        }
        let last = self.0 / 2;
        let first = self.0 - last;
        let (head, tail) = ((0..first).map(Some), (n - last..n).map(Some));
        head.chain([None]).chain(tail).collect()
    }
}

/// Formats a value.
///
/// Values that are not in memory appear as `?`.
pub fn show(value: &Value, limit: Limit) -> String {
    match value {
        Value::Int(n) => n.to_string(),
        Value::Float(x) => format!("{x:?}"),
        Value::Scalar(fields, elt) => {
            let words: Vec<_> = fields.iter().map(|f| f.as_literal()).collect();
            meaning::show(elt, &mut words.into_iter(), true)
        }
        Value::Array(a) => grid::rows(a, limit).unwrap_or_else(|| array(a, limit)),
        Value::Segmented(s) => segments(s, limit),
        Value::Tuple(parts) => {
            let parts: Vec<_> = parts.iter().map(|p| show(p, limit)).collect();
            match parts.iter().any(|p| p.contains('\n')) {
                true => format!("({})", indented(&parts.join(",\n"), 1)),
                false if parts.len() == 1 => format!("({},)", parts[0]),
                false => format!("({})", parts.join(", ")),
            }
        }
        Value::Text(text) => Literal::Text(text.to_string()).to_string(),
        Value::Table(t) => grid::table(t, limit),
        other => other.ty(),
    }
}

fn at(columns: &[Arc<Buffer>], elt: &Elt, i: usize) -> String {
    let word = |c: &Arc<Buffer>| c.get_word(i).map(|w| Const::new(c.ty(), w));
    meaning::show(elt, &mut columns.iter().map(word), true)
}

fn array(a: &Array, limit: Limit) -> String {
    match a.node.value.get() {
        Some(Memory::Scalar(fields)) => {
            // A single text has no quotes.
            let quotes = !matches!(a.elt, Elt::Text(_));
            meaning::show(&a.elt, &mut fields.iter().map(|c| Some(*c)), quotes)
        }
        Some(Memory::Array(columns)) => {
            let len = columns.first().map_or(0, |c| c.len());
            let axes = a.node.shape.as_ref().map_or(&[][..], |s| s.axes());
            let known = axes.iter().map(|a| a.known().map(|n| n as usize));
            let shape: Option<Vec<usize>> = known.collect();
            let shape = shape.filter(|s| !s.is_empty()).unwrap_or(vec![len]);
            let cell = |i: usize| at(columns, &a.elt, i);
            // Numbers of a matrix are aligned in columns.
            let width = match shape.len() {
                1 => 0,
                _ => widest(&shape, 0, limit, &cell),
            };
            axis(&shape, 0, limit, width, &cell)
        }
        None => "?".into(),
    }
}

fn widest(shape: &[usize], from: usize, limit: Limit, cell: &dyn Fn(usize) -> String) -> usize {
    let Some((n, inner)) = shape.split_first() else {
        return cell(from).chars().count();
    };
    let size: usize = inner.iter().product();
    let places = limit.places(*n).into_iter().flatten();
    let widths = places.map(|i| widest(inner, from + i * size, limit, cell));
    widths.max().unwrap_or(0)
}

/// The elements along an axis, the first of which is at `from`.
fn axis(
    shape: &[usize],
    from: usize,
    limit: Limit,
    width: usize,
    cell: &dyn Fn(usize) -> String,
) -> String {
    let Some((n, inner)) = shape.split_first() else {
        return format!("{:>width$}", cell(from));
    };
    let size: usize = inner.iter().product();
    let part = |place: Option<usize>| match place {
        Some(i) => axis(inner, from + i * size, limit, width, cell),
        None => "…".into(),
    };
    let parts: Vec<String> = limit.places(*n).into_iter().map(part).collect();
    match inner.len() {
        0 => format!("[{}]", parts.join(", ")),
        _ => format!("[{}]", indented(&parts.join(",\n"), 1)),
    }
}

/// Indents all lines but the first.
fn indented(text: &str, by: usize) -> String {
    text.replace('\n', &format!("\n{}", " ".repeat(by)))
}

fn segments(s: &Segmented, limit: Limit) -> String {
    let (Some(Memory::Array(lengths)), Some(Memory::Array(data))) =
        (s.lengths.value.get(), s.data.node.value.get())
    else {
        return "?".into();
    };
    let lengths = lengths
        .first()
        .and_then(|c| c.as_slice::<u64>())
        .unwrap_or(&[]);
    let mut starts = vec![0usize];
    for n in lengths {
        let start = starts.last().copied().unwrap_or(0);
        starts.push(start.saturating_add(*n as usize));
    }
    let row = |place: Option<usize>| match place {
        Some(k) => {
            let cell = |i: usize| at(data, &s.data.elt, i);
            axis(&[lengths[k] as usize], starts[k], limit, 0, &cell)
        }
        None => "…".into(),
    };
    let rows: Vec<String> = limit.places(lengths.len()).into_iter().map(row).collect();
    format!("ragged [{}]", indented(&rows.join(",\n"), 8))
}

/// Formats a time in readable units.
pub fn duration(time: Duration) -> String {
    let ns = time.as_nanos();
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} µs", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} ms", ns as f64 / 1e6),
        _ => format!("{:.2} s", ns as f64 / 1e9),
    }
}
