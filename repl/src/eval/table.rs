//! Tables in expressions: columns by name, rows as an array.

use super::{Eval, Result, wrong};
use crate::diagnostic::{Diagnostic, shown};
use crate::nearest;
use crate::source::Span;
use crate::syntax::Literal;
use crate::value::{Array, Elt, Table, Value};
use livefusion::ast::Fields;

/// The largest number of column names in a message.
const MOST: usize = 20;

impl Value {
    /// Returns the column names of a table, of rows, or of one row.
    pub fn columns(&self) -> Option<Vec<&str>> {
        match self {
            Value::Table(table) => Some(table.names().collect()),
            Value::Array(Array { elt, .. }) | Value::Scalar(_, elt) => match elt {
                Elt::Row(names, _) => Some(names.iter().map(String::as_str).collect()),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Eval<'_> {
    /// Returns the rows of a table that was read.
    pub fn rows_of(&mut self, table: &Table, at: Span) -> Result<Array> {
        table.rows().map_err(|name| {
            let message = format!(
                "the rows of a table with lists are no array: `{}`",
                shown(name)
            );
            let note = "its columns are: `t.name`";
            Box::new(Diagnostic::new(message, at).note(note))
        })
    }

    /// Returns the column of this name of a table or of rows.
    ///
    /// Of one row, returns the field.
    pub fn column(&mut self, of: &Value, name: &str, at: Span) -> Result<Value> {
        let names = of.columns().unwrap_or_default();
        let is_text = self.sources.slice(at).starts_with(['"', '\'']);
        let missing = || unknown(name, &names, at, is_text);
        match of {
            Value::Table(table) => match table.column(name) {
                Some(Ok(value)) => Ok(value),
                Some(Err(e)) => wrong(e.to_string(), at),
                None => Err(missing()),
            },
            Value::Array(Array { node, elt }) => match elt.part_named(name) {
                Some((from, part)) => {
                    let range = from as u32..(from + part.fields()) as u32;
                    let node = self.builder("column", at).fields(node, range);
                    self.array(node, part.clone(), at)
                }
                None => Err(missing()),
            },
            Value::Scalar(fields, elt) => match elt.part_named(name) {
                Some((from, part)) => {
                    let own = fields.get(from..from + part.fields()).unwrap_or_default();
                    Ok(Value::Scalar(Fields::from_slice(own), part.clone()))
                }
                None => Err(missing()),
            },
            other => wrong(format!("expected a table, got {}", other.describe()), at),
        }
    }
}

/// The error for an unknown column, which is written as a text or as a name.
fn unknown(name: &str, names: &[&str], at: Span, is_text: bool) -> Box<Diagnostic> {
    let message = format!("there is no column `{}`", shown(name));
    let mut unknown = Diagnostic::new(message, at);
    let near = nearest(name, names.iter().copied());
    for other in &near {
        let other = match is_text {
            true => Literal::Text(other.to_string()).to_string(),
            false => other.to_string(),
        };
        unknown = unknown.suggest("you may have meant", at, other);
    }
    if near.is_empty() {
        let mut all: Vec<String> = names.iter().take(MOST).map(|n| shown(n)).collect();
        if names.len() > MOST {
            all.push(format!("{} more", names.len() - MOST));
        }
        unknown = unknown.note(format!("the columns are {}", all.join(", ")));
    }
    Box::new(unknown)
}
