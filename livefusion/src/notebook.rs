//! Display in notebooks of [evcxr](https://github.com/evcxr/evcxr), Rust's kernel for Jupyter.
//!
//! It calls `evcxr_display` of a cell's last value and takes HTML from the standard output.

use crate::array::{Array, Rank, delayed_axes};
use crate::ast::{Node, Value, show_types};
use crate::elt::Elt;
use crate::error::Result;
use crate::runtime::{Engine, Explanation, force_nodes};
use crate::segmented::Segmented;
use livefusion_backend::Buffer;
use loop_lang::types::Const;
use std::fmt::Write;
use std::sync::Arc;

/// Elements of an axis that are shown, half of them from its end.
const SHOWN: usize = 20;
/// Matrices that are shown of an array of a higher rank.
const MATRICES: usize = 4;

impl<T: Elt, D: Rank> Array<T, D> {
    /// Shows the values as a table in a notebook of evcxr.
    ///
    /// evcxr calls this for a cell's last value. The values are forced on the default engine. The
    /// middle of long axes is left out. An error is shown instead of values.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3.0f64, 1.0, 2.0]).map(|x| x * 2.0);
    /// xs.evcxr_display();
    /// // EVCXR_BEGIN_CONTENT text/html
    /// // <table><caption>f64[3]</caption>…
    /// // EVCXR_END_CONTENT
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn evcxr_display(&self) {
        content(&shown(array(self.node())));
    }
}

impl<T: Elt> Segmented<T> {
    /// Works as [`Array::evcxr_display`], with a row for each segment.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let lengths = Array::from(vec![2u64, 0, 1]);
    /// Segmented::new(&lengths, &Array::from(vec![1.5f64, 2.5, 3.5])).evcxr_display();
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn evcxr_display(&self) {
        let parts = self.nodes();
        content(&shown(segments(&parts.lengths, &parts.data)));
    }
}

impl Explanation {
    /// Shows the [picture](Explanation::svg) of the loops in a notebook of evcxr.
    ///
    /// The report is below it.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3.0f64, 1.0, 2.0]);
    /// xs.map(|x| x + 1.0).sum().explain()?.evcxr_display();
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn evcxr_display(&self) {
        content(&loops(self));
    }
}

fn content(html: &str) {
    println!("{}", message(html));
}

/// Wraps HTML in evcxr's message format.
fn message(html: &str) -> String {
    format!("EVCXR_BEGIN_CONTENT text/html\n{html}\nEVCXR_END_CONTENT")
}

/// Shows the picture, and the report folded away.
fn loops(explained: &Explanation) -> String {
    let report = escaped(&explained.to_string());
    let details = format!("<details><summary>report</summary><pre>{report}</pre></details>");
    format!("<div>{}</div>\n{details}", explained.svg())
}

fn shown(html: Result<String>) -> String {
    html.unwrap_or_else(|e| format!("<pre>{}</pre>", escaped(&e.to_string())))
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

/// Lists the positions to show of `n`. None stands for a gap.
fn places(n: usize, most: usize) -> Vec<Option<usize>> {
    if n <= most {
        return (0..n).map(Some).collect();
    }
    let (head, tail) = (0..most - most / 2, n - most / 2..n);
    let head = head.map(Some).chain([None]);
    head.chain(tail.map(Some)).collect()
}

/// Shows the fields of an element.
fn element(columns: &[Arc<Buffer>], i: usize) -> Vec<String> {
    let field = |c: &Arc<Buffer>| {
        c.get_word(i)
            .map_or("?".into(), |w| Const::new(c.ty(), w).bare())
    };
    columns.iter().map(field).collect()
}

/// Shows an element as one text.
fn cell(columns: &[Arc<Buffer>], i: usize) -> String {
    match element(columns, i).as_slice() {
        [one] => one.clone(),
        fields => format!("({})", fields.join(", ")),
    }
}

/// Shows a row of a table, with a head.
fn row(head: &str, cells: impl IntoIterator<Item = String>) -> String {
    let mut html = format!("<tr><th>{head}</th>");
    for cell in cells {
        let _ = write!(html, "<td>{cell}</td>");
    }
    html + "</tr>\n"
}

/// Shows numbers of rows or columns as a row of heads.
fn heads(cells: impl IntoIterator<Item = String>) -> String {
    let mut html = String::from("<tr><th></th>");
    for cell in cells {
        let _ = write!(html, "<th>{cell}</th>");
    }
    html + "</tr>\n"
}

fn number(place: Option<usize>) -> String {
    place.map_or("…".into(), |k| k.to_string())
}

fn table(caption: &str, rows: &str) -> String {
    format!("<table><caption>{caption}</caption>\n{rows}</table>")
}

/// Shows an array as tables.
fn array(node: &Arc<Node>) -> Result<String> {
    let nodes: Vec<_> = [node]
        .into_iter()
        .chain(delayed_axes(node))
        .cloned()
        .collect();
    let values = force_nodes(Engine::default_engine(), &nodes)?;
    let ty = show_types(&node.types);
    let columns = match values.into_iter().next() {
        Some(Value::Array(columns)) => columns,
        Some(Value::Scalar(fields)) => {
            let fields = fields.iter().map(|c| c.bare());
            return Ok(table(&ty, &row("", fields)));
        }
        None => return Ok(String::new()),
    };
    let len = columns.first().map_or(0, |c| c.len());
    let axes = node.shape.as_ref().map_or(&[][..], |s| s.axes());
    let known = axes.iter().map(|a| a.known().map(|n| n as usize));
    let shape: Vec<usize> = known.collect::<Option<_>>().unwrap_or_default();
    let names: Vec<String> = shape.iter().map(usize::to_string).collect();
    let caption = format!("{ty}[{}]", names.join(", "));
    match shape.as_slice() {
        [] | [_] => {
            let mut rows = String::new();
            if columns.len() > 1 {
                rows += &heads((0..columns.len()).map(|k| k.to_string()));
            }
            for place in places(len, SHOWN) {
                let cells = match place {
                    Some(i) => element(&columns, i),
                    None => vec!["…".into(); columns.len()],
                };
                rows += &row(&number(place), cells);
            }
            Ok(table(&format!("{ty}[{len}]"), &rows))
        }
        [outer @ .., height, width] => {
            let matrices = outer.iter().product();
            if matrices == 0 {
                return Ok(table(&caption, ""));
            }
            let mut html = String::new();
            for place in places(matrices, MATRICES) {
                let Some(k) = place else {
                    html += "<p>…</p>\n";
                    continue;
                };
                let caption = match outer {
                    [] => caption.clone(),
                    outer => format!("{caption}, at {}", index(k, outer)),
                };
                let from = k * height * width;
                html += &table(&caption, &matrix(&columns, from, (*height, *width)));
            }
            Ok(html)
        }
    }
}

/// Shows the index of a matrix: `[1, 0, .., ..]`.
fn index(mut k: usize, outer: &[usize]) -> String {
    let mut parts = vec!["..".to_string(), "..".to_string()];
    for n in outer.iter().rev() {
        parts.insert(0, (k % n).to_string());
        k /= n;
    }
    format!("[{}]", parts.join(", "))
}

fn matrix(columns: &[Arc<Buffer>], from: usize, (height, width): (usize, usize)) -> String {
    let across = places(width, SHOWN);
    let mut rows = heads(across.iter().map(|j| number(*j)));
    for i in places(height, SHOWN) {
        let cell = |j: &Option<usize>| match (i, j) {
            (Some(i), Some(j)) => cell(columns, from + i * width + j),
            _ => "…".into(),
        };
        rows += &row(&number(i), across.iter().map(cell));
    }
    rows
}

/// Shows segments, one row each.
fn segments(lengths: &Arc<Node>, data: &Arc<Node>) -> Result<String> {
    let nodes = [lengths.clone(), data.clone()];
    let values: Vec<Value> = force_nodes(Engine::default_engine(), &nodes)?
        .into_iter()
        .collect();
    let [Value::Array(lengths), Value::Array(columns)] = &values[..] else {
        return Ok(String::new());
    };
    let words = lengths.first().and_then(|c| c.as_slice::<u64>());
    let lengths = words.unwrap_or_default();
    let mut starts = vec![0usize];
    for n in lengths {
        let last = starts.last().copied().unwrap_or(0);
        starts.push(last.saturating_add(*n as usize));
    }
    let mut rows = String::new();
    for place in places(lengths.len(), SHOWN) {
        let cells = place.map_or(Vec::new(), |k| {
            let within = places(starts[k + 1] - starts[k], SHOWN);
            let cell = |j: Option<usize>| j.map_or("…".into(), |j| cell(columns, starts[k] + j));
            within.into_iter().map(cell).collect()
        });
        rows += &row(&number(place), cells);
    }
    let caption = format!("{}, {} segments", show_types(&data.types), lengths.len());
    Ok(table(&caption, &rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;

    #[test]
    fn values() {
        let xs = Array::from(vec![1i64, -2]);
        let html = "<table><caption>i64[2]</caption>\n<tr><th>0</th><td>1</td></tr>\n<tr><th>1</th><td>-2</td></tr>\n</table>";
        assert_eq!(shown(array(xs.node())), html);
        assert!(shown(array(xs.sum().node())).contains("<td>-1</td>"));
        let pairs = zip((&xs, &iota(2u64)));
        let html = shown(array(pairs.node()));
        assert!(html.contains("<caption>(i64, u64)[2]</caption>"), "{html}");
        assert!(
            html.contains("<tr><th>1</th><td>-2</td><td>1</td></tr>"),
            "{html}"
        );
    }

    #[test]
    fn loops_are_a_picture() {
        let xs = Array::from(vec![1i64, -2]);
        let explained = xs.filter(|x| x.lt(0)).sum().explain_with(&Engine::interp());
        let html = message(&loops(&explained.expect("no mistake")));
        assert!(
            html.starts_with("EVCXR_BEGIN_CONTENT text/html\n<div><svg "),
            "{html}"
        );
        assert!(html.ends_with("</details>\nEVCXR_END_CONTENT"), "{html}");
        assert!(html.contains("<pre>1 loop on interp"), "{html}");
    }

    #[test]
    fn long_axes_are_cut() {
        let html = shown(array(iota(1000u64).node()));
        assert_eq!(html.matches("<tr>").count(), SHOWN + 1);
        assert!(
            html.contains("<tr><th>…</th><td>…</td></tr>\n<tr><th>990</th>"),
            "{html}"
        );
    }

    #[test]
    fn no_matrices_are_a_table_without_rows() {
        let none = generate((0, 2, 3), |(i, j, k)| i + j + k);
        let html = "<table><caption>u64[0, 2, 3]</caption>\n</table>";
        assert_eq!(shown(array(none.node())), html);
    }

    #[test]
    fn ranks() {
        let grid = iota(6u64).reshape([2, 3]);
        let html = shown(array(grid.node()));
        assert!(
            html.contains("<tr><th>1</th><td>3</td><td>4</td><td>5</td></tr>"),
            "{html}"
        );
        let solid = iota(12u64).reshape([3, 2, 1, 2]);
        let html = shown(array(solid.node()));
        assert_eq!(html.matches("<table>").count(), MATRICES);
        assert_eq!(html.matches("<p>…</p>").count(), 1);
        assert!(
            html.contains("u64[3, 2, 1, 2], at [2, 1, .., ..]"),
            "{html}"
        );
        assert!(html.contains("<td>10</td><td>11</td>"), "{html}");
    }

    #[test]
    fn ragged() {
        let lengths = Array::from(vec![2u64, 0, 1]);
        let rows = Segmented::new(&lengths, &Array::from(vec![1.5f64, 2.5, 3.5]));
        let parts = rows.nodes();
        let html = shown(segments(&parts.lengths, &parts.data));
        let row = "<tr><th>0</th><td>1.5</td><td>2.5</td></tr>\n<tr><th>1</th></tr>";
        assert!(
            html.contains(row) && html.contains("f64, 3 segments"),
            "{html}"
        );
    }

    #[test]
    fn mistakes() {
        let xs = Array::from(vec![1u64, 2]).map(|x| x / 0u64);
        let html = shown(array(xs.node()));
        assert!(
            html.starts_with("<pre>`map` at ") && html.ends_with("</pre>"),
            "{html}"
        );
    }
}
