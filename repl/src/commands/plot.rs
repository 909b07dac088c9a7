//! `:plot` and `:svg`: pictures of numbers and of graphs, in the terminal or in a file.

use super::{explained, nodes, refuse};
use crate::diagnostic::Diagnostic;
use crate::plot::{Chart, Format, bars};
use crate::session::{Answer, Session};
use crate::source::Span;
use crate::value::{Array, Elt, Value};
use crate::{continues, display};
use livefusion::ast::{Axis, Const, Value as Memory};

/// The graph as a picture, or in a file.
pub fn svg(s: &mut Session, at: Span) -> Result<Answer, String> {
    let (file, at) = file(s, at, &["svg"]);
    let nodes = nodes(s, at)?;
    let picture = explained(s, at, &nodes)?.svg();
    match file {
        Some(file) => written(s, file, picture.as_bytes()),
        None => Ok(Answer::of(picture)),
    }
}

/// Numbers as bars in the terminal; in a file as a line, and pairs and matrices too.
pub fn plot(s: &mut Session, at: Span) -> Result<Answer, String> {
    const FILES: &[&str] = &["svg", "png"];
    let (is_histogram, at) = match first_word(s, at) {
        // The name of a file may begin as an operator does.
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
    let value = s.value_of(at)?;
    let Value::Array(array) = &value else {
        let message = format!("expected an array, got {}", value.describe());
        return Err(refuse(s, at, &message));
    };
    let mut needed = Vec::new();
    display::nodes(&value, &mut needed);
    s.force(&needed).map_err(|e| s.fault(&e, at))?;
    let chart = match chart(array, is_histogram) {
        Some(Chart::Image(..) | Chart::Scatter(_)) if file.is_none() => {
            let message = format!("expected numbers along one axis, got {array}");
            let note = "pairs and matrices are drawn in files: `:plot FILE.svg EXPRESSION`";
            return Err(s.draw(&Diagnostic::new(message, at).note(note)));
        }
        Some(chart) => chart,
        None => {
            let expected = "numbers along one axis or two, or pairs along one";
            return Err(refuse(s, at, &format!("expected {expected}, got {array}")));
        }
    };
    let Some(file) = file else {
        return Ok(Answer::of(bars(&chart.heights())));
    };
    let format = match s.sources.slice(file).trim_matches('"').ends_with(".png") {
        true => Format::Png,
        false => Format::Svg,
    };
    let bytes = chart.file(format).map_err(|e| refuse(s, at, &e))?;
    written(s, file, &bytes)
}

/// What an array in memory is a picture of.
fn chart(array: &Array, is_histogram: bool) -> Option<Chart> {
    let Some(Memory::Array(columns)) = array.node.value.get() else {
        return None;
    };
    let numbers = |k: usize| -> Option<Vec<f64>> {
        let column = columns.get(k)?;
        let words = (0..column.len()).map_while(|i| column.get_word(i));
        Some(words.map(|w| Const::new(column.ty(), w).number()).collect())
    };
    match (&array.elt, array.node.rank) {
        (Elt::Scalar(_) | Elt::Count, _) if is_histogram => numbers(0).map(Chart::Histogram),
        (Elt::Scalar(_) | Elt::Count, 1) => numbers(0).map(Chart::Line),
        (Elt::Scalar(_) | Elt::Count, 2) => {
            let width = array
                .node
                .shape
                .as_ref()?
                .axes()
                .get(1)
                .and_then(Axis::known)?;
            Some(Chart::Image(numbers(0)?, width as usize))
        }
        (elt, 1) if elt.fields() == 2 => Some(Chart::Scatter(
            numbers(0)?.into_iter().zip(numbers(1)?).collect(),
        )),
        _ => None,
    }
}

/// The first word of what follows a command, which may be in quotes, and what follows it, if something does.
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

/// The file that a picture goes to, if one of these is named first, and the rest.
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

/// Writes a file that is named at this place.
fn written(s: &Session, name: Span, bytes: &[u8]) -> Result<Answer, String> {
    let word = s.sources.slice(name).trim_matches('"');
    let path = s.folder.join(word);
    match std::fs::write(&path, bytes) {
        Ok(()) => Ok(Answer::of(format!("wrote {word}\n"))),
        Err(e) => Err(refuse(s, name, &format!("{}: {e}", path.display()))),
    }
}
