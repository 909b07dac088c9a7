//! Files: `load`, `save`.

use super::{Combinator, Kind, row};
use crate::eval::{Call, Result};
use crate::value::{Array, Elt, Save, Saved, Value};
use livefusion::ast::Node;
use livefusion::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// All of them.
#[rustfmt::skip]
pub static ROWS: &[Combinator] = &[
    row("load", &[Kind::Text], "\"file\" => table or array", "load \"examples/data/airports.csv\"", load),
    row("save", &[Kind::Any, Kind::Text], "([T] or table, \"file\") => ()", "[1, 2, 3] |> save \"squares.npy\"", save),
];

/// A table of a CSV file, the array of an NPY file.
fn load(c: &mut Call<'_, '_>) -> Result<Value> {
    let (path, at) = (path(c, 0)?, c.at(0));
    if let Some(value) = c.eval.loaded.as_ref().and_then(|l| l.get(&path)) {
        return Ok(value.clone());
    }
    let table = |table: io::Csv| table.read().map(|t| Value::Table(Arc::new(t)));
    let loaded = match extension(&path) {
        "npy" => io::npy::read_node(&path).map(|node| {
            let elt = Elt::of(&node.types);
            Value::Array(Array { node, elt })
        }),
        "csv" | "txt" => table(io::csv(&path)),
        "tsv" => table(io::csv(&path).delimiter(b'\t')),
        _ => return format(c, 0, ".csv, .tsv or .npy"),
    };
    match loaded {
        Ok(value) => {
            if let Some(all) = &mut c.eval.loaded {
                all.insert(path, value.clone());
            }
            Ok(value)
        }
        Err(e) => c.eval.refuse(e.to_string(), at),
    }
}

/// Says that an array is to be written as NPY, or a table, or columns of a tuple, as CSV.
fn save(c: &mut Call<'_, '_>) -> Result<Value> {
    let path = path(c, 1)?;
    let what = match (extension(&path), c.value(0).clone()) {
        ("npy", Value::Array(_) | Value::Range(_)) => Saved::Npy(c.array(0)?.node),
        ("npy", other) => {
            let message = format!("expected an array, got {}", other.describe());
            return c.eval.refuse(message, c.at(0));
        }
        ("csv", Value::Table(table)) => Saved::Table(table),
        ("csv", value) => {
            let columns = match value {
                Value::Tuple(parts) => parts,
                one => vec![one],
            };
            let mut named = Vec::new();
            for (k, column) in columns.into_iter().enumerate() {
                let Value::Array(a) = column else {
                    let message = format!("expected arrays as columns, got {}", column.describe());
                    return c.eval.refuse(message, c.at(0));
                };
                named.push((format!("c{k}"), a.node));
            }
            Saved::Csv(named)
        }
        _ => return format(c, 1, ".npy or .csv"),
    };
    let at = c.at(1);
    Ok(Value::Save(Save { path, at, what }))
}

impl Save {
    /// Writes the file, of what was computed before.
    pub fn write(&self) -> io::Result<()> {
        match &self.what {
            Saved::Npy(node) => io::npy::write_node(&self.path, node),
            Saved::Table(table) => table.save(&self.path),
            Saved::Csv(columns) => {
                let named = |table: io::Table, (name, node): &(String, Arc<Node>)| {
                    table.with_node(name.as_str(), node)
                };
                let table = columns.iter().try_fold(io::Table::new(), named)?;
                table.save(&self.path)
            }
        }
    }
}

/// An argument that is a file's name, from the session's folder on.
fn path(c: &mut Call<'_, '_>, k: usize) -> Result<PathBuf> {
    match c.value(k) {
        Value::Text(name) => Ok(c.eval.folder.join(&**name)),
        other => {
            let message = format!("expected the name of a file, got {}", other.describe());
            c.eval.refuse(message, c.at(k))
        }
    }
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|e| e.to_str()).unwrap_or("")
}

/// That the name of a file does not say a format that is known.
fn format<T>(c: &Call<'_, '_>, k: usize, known: &str) -> Result<T> {
    let Value::Text(name) = c.value(k) else {
        return c.eval.refuse("expected the name of a file", c.at(k));
    };
    let message = format!("expected a file that ends in {known}, got `{name}`");
    c.eval.refuse(message, c.at(k))
}
