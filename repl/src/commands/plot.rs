//! `:plot` and `:svg`: pictures of numbers and graphs, in the terminal or in a file.

use super::labels::{self, Labels, outside};
use super::{explained, nodes, refuse};
use crate::diagnostic::Diagnostic;
use crate::session::{Answer, Session};
use crate::source::Span;
use crate::value::{Array, Elt, Value};
use crate::{continues, display};
use livefusion::ast::{Axis, Const, Value as Memory};
use livefusion_plot::{Chart, Format, Picture, bars};

/// Draws the graph, in the answer or in a file.
pub fn svg(s: &mut Session, at: Span) -> Result<Answer, String> {
    let (file, at) = file(s, at, &["svg"]);
    let nodes = nodes(s, at)?;
    let picture = explained(s, at, &nodes)?.svg();
    match file {
        Some(file) => written(s, file, picture.as_bytes()),
        None => Ok(Answer::of(picture)),
    }
}

/// Holds the forms of `:plot`, for `:help plot`.
pub const MORE: &str = r#"
  :plot ys                      numbers as bars in the terminal
  :plot a.svg ys                as a line over their indices; .svg or .png
  :plot a.svg (xs, ys)          as a line: y over x
  :plot a.svg xs.zip(ys)        as points
  :plot a.svg m                 a matrix as an image, with square cells and a colour bar
  :plot histogram a.svg ys      how many there are in each part of their range
  :plot a.svg low, high         several in one picture
  :plot a.svg low, high, title="Temperatures", xlabel="day", ylabel="°C", legend=["low", "high"]
  :plot a.svg low, high title "Temperatures" x "day" y "°C" legend "low", "high"
Titles, names of axes and legends are named arguments, or stand behind the arrays.
"#;

/// Draws numbers as bars in the terminal, or a picture in a file.
///
/// In a file, arrays become lines, pairs become points, and matrices become images.
pub fn plot(s: &mut Session, at: Span) -> Result<Answer, String> {
    const FILES: &[&str] = &["svg", "png"];
    let (is_histogram, at) = match first_word(s, at) {
        // A file name may begin like an operator.
        Some((word, rest)) if s.sources.slice(word) == "histogram" => {
            let is_expression = !continues(s.sources.slice(rest));
            match is_expression || file(s, rest, FILES).0.is_some() {
                true => (true, rest),
                false => (false, at),
            }
        }
        _ => (false, at),
    };
    let (file, at) = file(s, at, FILES);
    let (at, behind) = labels::parted(s, at);
    let mut labels = Labels::default();
    if let Some(behind) = behind {
        labels.behind(s, behind)?;
    }
    let (mut parts, mut values) = (Vec::new(), Vec::new());
    for part in between_commas(s, at) {
        if labels.named(s, part)? {
            continue;
        }
        let value = s.value_of(part)?;
        if !is_array(&value) {
            let message = format!("expected an array, got {}", value.describe());
            return Err(refuse(s, part, &message));
        }
        parts.push(part);
        values.push(value);
    }
    let mut needed = Vec::new();
    values.iter().for_each(|v| display::nodes(v, &mut needed));
    s.force(&needed).map_err(|e| s.fault(&e, at))?;
    let mut charts = Vec::new();
    for (part, value) in parts.iter().zip(&values) {
        charts.push(chart(value, is_histogram).map_err(|why| refuse(s, *part, &why))?);
    }
    let Some(file) = file else {
        let bars = in_terminal(&charts, &values).map_err(|why| in_a_file(s, at, why))?;
        return Ok(Answer::of(labels.around_bars(&bars)));
    };
    let picture = labels.around(Picture::of(charts));
    let format = match s.sources.slice(file).trim_matches('"').ends_with(".png") {
        true => Format::Png,
        false => Format::Svg,
    };
    let bytes = picture.file(format);
    let bytes = bytes.map_err(|e| refuse(s, at, &e.to_string()))?;
    written(s, file, &bytes)
}

/// One array as bars, or the reason why it has none.
fn in_terminal(charts: &[Chart], values: &[Value]) -> Result<String, String> {
    match (charts, values) {
        ([chart @ (Chart::Line(_) | Chart::Histogram(_))], _) => Ok(bars(&chart.heights())),
        (_, [value]) => {
            let got = value.ty();
            Err(format!(
                "a terminal shows numbers along one axis, got {got}"
            ))
        }
        (_, values) => Err(format!("a terminal shows one array, got {}", values.len())),
    }
}

/// The error where the picture needs a file.
fn in_a_file(s: &Session, at: Span, why: String) -> String {
    let before = Span {
        end: at.start,
        ..at
    };
    let wrong = Diagnostic::new(why, at);
    s.draw(&wrong.suggest("files have pictures of all kinds", before, "plot.svg "))
}

/// Whether a value is an array, or a tuple of two.
fn is_array(value: &Value) -> bool {
    match value {
        Value::Tuple(parts) => parts.len() == 2 && parts.iter().all(|p| numbers(p).is_some()),
        value => matches!(value, Value::Array(_)),
    }
}

/// An array of numbers along one axis.
fn numbers(value: &Value) -> Option<&Array> {
    match value {
        Value::Array(array) => {
            let is_flat = matches!(array.elt, Elt::Scalar(_) | Elt::Count) && array.node.rank == 1;
            is_flat.then_some(array)
        }
        _ => None,
    }
}

/// A column of an array in memory, as floats.
fn column(array: &Array, k: usize) -> Option<Vec<f64>> {
    let Some(Memory::Array(columns)) = array.node.value.get() else {
        return None;
    };
    let column = columns.get(k)?;
    let words = (0..column.len()).map_while(|i| column.get_word(i));
    Some(words.map(|w| Const::new(column.ty(), w).number()).collect())
}

/// The chart of a value in memory, or the reason why it has none.
fn chart(value: &Value, is_histogram: bool) -> Result<Chart, String> {
    let found = match value {
        Value::Array(array) => chart_of(array, is_histogram),
        Value::Tuple(parts) if !is_histogram => {
            let columns = parts.iter().map(|p| numbers(p).and_then(|a| column(a, 0)));
            match columns.collect::<Option<Vec<_>>>().as_deref() {
                Some([xs, ys]) if xs.len() != ys.len() => {
                    let (x, y) = (xs.len(), ys.len());
                    return Err(format!(
                        "expected as many numbers as the {x} before, got {y}"
                    ));
                }
                Some([xs, ys]) => {
                    let points = xs.iter().copied().zip(ys.iter().copied());
                    Some(Chart::Curve(points.collect()))
                }
                _ => None,
            }
        }
        _ => None,
    };
    let expected = "numbers along one axis or two, or pairs along one";
    found.ok_or_else(|| format!("expected {expected}, got {}", value.ty()))
}

fn chart_of(array: &Array, is_histogram: bool) -> Option<Chart> {
    match (&array.elt, array.node.rank) {
        (Elt::Scalar(_) | Elt::Count, _) if is_histogram => column(array, 0).map(Chart::Histogram),
        (Elt::Scalar(_) | Elt::Count, 1) => column(array, 0).map(Chart::Line),
        (Elt::Scalar(_) | Elt::Count, 2) => {
            let axes = array.node.shape.as_ref()?.axes();
            let width = axes.get(1).and_then(Axis::known)?;
            Some(Chart::Image(column(array, 0)?, width as usize))
        }
        (elt, 1) if elt.fields() == 2 && !elt.is_meant() => {
            let (xs, ys) = (column(array, 0)?, column(array, 1)?);
            Some(Chart::Scatter(xs.into_iter().zip(ys).collect()))
        }
        _ => None,
    }
}

/// The parts between commas.
fn between_commas(s: &Session, at: Span) -> Vec<Span> {
    let text = s.sources.slice(at);
    let commas = outside(text).filter(|(_, c)| *c == ',').map(|(k, _)| k);
    let ends: Vec<usize> = commas.chain([text.len()]).collect();
    let starts = [0].into_iter().chain(ends.iter().map(|end| end + 1));
    let part = |(start, end): (usize, &usize)| {
        let blanks = text[start..*end].len() - text[start..*end].trim_start().len();
        let (start, end) = (at.start + start + blanks, at.start + end);
        Span { start, end, ..at }
    };
    starts.zip(&ends).map(part).collect()
}

/// The first word of a command's argument, which may be in quotes, and the non-empty rest.
fn first_word(s: &Session, at: Span) -> Option<(Span, Span)> {
    let text = s.sources.slice(at);
    let len = match text.strip_prefix('"') {
        Some(inner) => inner.find('"')? + 2,
        None => text.find(char::is_whitespace)?,
    };
    let rest = text[len..].trim_start();
    let end = at.start + len;
    let word = Span { end, ..at };
    let start = at.end - rest.len();
    let goes_on = text[len..].starts_with(char::is_whitespace) && !rest.is_empty();
    goes_on.then_some((word, Span { start, ..at }))
}

/// The output file, if the first word has one of these endings, and the rest.
fn file(s: &Session, at: Span, endings: &[&str]) -> (Option<Span>, Span) {
    let is_file = |word: &str| {
        let ending = word.trim_matches('"').rsplit_once('.').map(|(_, e)| e);
        ending.is_some_and(|e| endings.contains(&e))
    };
    match first_word(s, at) {
        Some((word, rest))
            if is_file(s.sources.slice(word)) && !continues(s.sources.slice(rest)) =>
        {
            (Some(word), rest)
        }
        _ => (None, at),
    }
}

/// Writes the file of this name.
fn written(s: &Session, name: Span, bytes: &[u8]) -> Result<Answer, String> {
    let word = s.sources.slice(name).trim_matches('"');
    let path = s.folder.join(word);
    match std::fs::write(&path, bytes) {
        Ok(()) => Ok(Answer::of(format!("wrote {word}\n"))),
        Err(e) => Err(refuse(s, name, &format!("{}: {e}", path.display()))),
    }
}
