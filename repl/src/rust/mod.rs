//! `:rust`: an expression with its definitions, as a program of the typed API.
//!
//! | file | contents |
//! | --- | --- |
//! | `notes` | types of expressions, from evaluation |
//! | `code` | pieces of text |
//! | `expression` | expressions |
//! | `literals` | vectors and rows |
//! | `functions` | closures, definitions, calls of them |
//! | `calls` | calls of combinators |
//! | `python` | Python arithmetic, common types |
//! | `parts` | indices, slices, attributes |
//! | `rows` | rows of tables, groups and aggregates |

mod calls;
mod choices;
mod code;
mod expression;
mod functions;
mod literals;
mod methods;
mod notes;
mod parts;
mod python;
mod rows;

use crate::session::Session;
use crate::source::Span;
use crate::syntax::{Pattern, PatternKind, Statement, StatementKind};
use crate::value::Elt;
use code::Code;
use expression::{Writer, refuse};
use functions::names;
pub use notes::{Note, Notes};
use rows::Rows;
use std::collections::HashSet;

/// Writes the program of a command's expression.
///
/// # Errors
/// Returns the rendered error of the text, or of a part without a Rust form.
pub fn command(s: &mut Session, at: Span) -> Result<String, String> {
    let (statements, notes) = s.noted(at)?;
    match program(&statements, &notes, at) {
        Ok(text) => Ok(text),
        Err(e) => Err(s.draw(&e)),
    }
}

/// A program that prints the last value of these statements.
fn program(statements: &[Statement], notes: &Notes, at: Span) -> crate::eval::Result<String> {
    let statements = needed(statements);
    let mut writer = Writer {
        notes,
        bound: HashSet::new(),
        files: false,
        rows: Rows::of(&statements, notes),
    };
    let mut shown = None;
    let mut lines = Vec::new();
    for s in statements {
        match &s.kind {
            StatementKind::Show(value) => shown = Some(value),
            _ => lines.extend(writer.statement(s)?),
        }
    }
    let Some(value) = shown else {
        return refuse("expected an expression", at);
    };
    let note = match writer.note(value) {
        Ok(note) => note.clone(),
        Err(e) => return Err(e),
    };
    let code = writer.expr(value)?;
    let rows = writer.shown_rows(&code, value)?;
    match &note {
        _ if let Some(rows) = rows => lines.extend(rows),
        Note::Array(Elt::Text(_), _) => lines.extend(computed(&code.call("to_vec", &[]))),
        Note::Array(..) | Note::Delayed(_) | Note::Range(_) => {
            lines.extend(computed(&code.call("force", &[])));
        }
        Note::Segments(_) => lines.extend(computed(&code.call("to_vecs", &[]))),
        Note::Tuple(parts) if parts.is_empty() => lines.push(format!("{};", code.text)),
        Note::Tuple(parts) => {
            lines.push(format!(
                "let value = {};",
                code.broken("    let value = ;".len())
            ));
            let parts: Result<Vec<String>, _> = (0..)
                .zip(parts)
                .map(|(k, p)| part(k, p, value.span))
                .collect();
            let values = code::tuple(&parts?);
            lines.push(shows(&values.broken("    println!(\"{:?}\", );".len())));
        }
        Note::Int(_) | Note::Float(_) | Note::Known(..) => lines.push(shows(&code.text)),
        Note::Table(_) => {
            lines.push(format!("let table = {};", code.text));
            let names = "table.names().collect::<Vec<_>>()";
            lines.push(format!(
                "println!(\"{{}} rows, {{:?}}\", table.len(), {names});"
            ));
        }
        Note::Term(_) | Note::Along(_) | Note::Other => {
            return refuse("expected arrays, segments or scalars", value.span);
        }
    }
    let result = match writer.files {
        true => "std::result::Result<(), Box<dyn std::error::Error>>",
        false => "livefusion::Result<()>",
    };
    let mut text = format!("use livefusion::prelude::*;\n\nfn main() -> {result} {{\n");
    for line in lines {
        text += &format!("    {line}\n");
    }
    Ok(text + "    Ok(())\n}\n")
}

/// Lines that compute and show a value: two if it is long.
fn computed(code: &Code) -> Vec<String> {
    let text = code.broken("    println!(\"{:?}\", ?);".len());
    match text.contains('\n') {
        true => vec![format!("let value = {text}?;"), shows("value")],
        false => vec![shows(&format!("{text}?"))],
    }
}

fn shows(value: &str) -> String {
    format!("println!(\"{{:?}}\", {value});")
}

/// A computed part of a tuple.
fn part(k: usize, note: &Note, at: Span) -> crate::eval::Result<String> {
    let of = Code::atom(format!("value.{k}"));
    let has_text = |elt: &Elt| elt.is_meant() || elt.parts().iter().any(Elt::is_meant);
    if note.elt().is_some_and(has_text) {
        return refuse("text in a tuple has no form in Rust: it is shown alone", at);
    }
    Ok(match note {
        Note::Array(..) | Note::Delayed(_) | Note::Range(_) => of.call("force", &[]).text + "?",
        Note::Segments(_) => of.call("to_vecs", &[]).text + "?",
        Note::Int(_) | Note::Float(_) | Note::Known(..) => of.text,
        Note::Tuple(parts) if parts.iter().all(Note::is_untyped) => of.text,
        _ => return refuse("expected arrays, segments and scalars", at),
    })
}

/// Selects the last shown value and the definitions that it needs.
///
/// A redefined name counts only in its latest definition.
pub fn needed(statements: &[Statement]) -> Vec<&Statement> {
    let mut wanted = HashSet::new();
    let mut all = Vec::new();
    let mut found = false;
    for s in statements.iter().rev() {
        match &s.kind {
            StatementKind::Show(value) if !found => {
                found = true;
                names(value, &mut wanted);
            }
            StatementKind::Let { pattern, value } if found => {
                let mut own = HashSet::new();
                bound(pattern, &mut own);
                if own.is_disjoint(&wanted) {
                    continue;
                }
                wanted.retain(|n| !own.contains(n));
                names(value, &mut wanted);
            }
            StatementKind::Def { name, function } if found => {
                if !wanted.remove(&name.text) {
                    continue;
                }
                names(&function.body, &mut wanted);
            }
            _ => continue,
        }
        all.push(s);
    }
    all.reverse();
    all
}

fn bound(p: &Pattern, out: &mut HashSet<String>) {
    match &p.kind {
        PatternKind::Name(name) => {
            out.insert(name.clone());
        }
        PatternKind::Any => {}
        PatternKind::Tuple(parts) | PatternKind::Vector(parts) => {
            parts.iter().for_each(|p| bound(p, out));
        }
    }
}
