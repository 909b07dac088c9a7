//! Files: `load`, `save`.

use super::{Call, Result};
use crate::value::{Elt, Value};
use livefusion::io;
use std::sync::Arc;

/// A table of a CSV file, the array of an NPY file, the arrays of an NPZ file.
pub fn load(c: &mut Call<'_, '_>) -> Result<Value> {
    let at = c.at(0);
    let Value::Text(name) = c.value(0).clone() else {
        let got = c.value(0).describe();
        return c
            .eval
            .refuse(format!("expected the name of a file, got {got}"), at);
    };
    let path = c.eval.folder.join(&*name);
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    let loaded = match extension {
        "npy" => io::npy::read_node(&path).map(Loaded::Node),
        "csv" | "txt" => io::csv(&path).read().map(Loaded::Table),
        "tsv" => io::csv(&path).delimiter(b'\t').read().map(Loaded::Table),
        _ => {
            let message = format!("expected a file that ends in .csv, .tsv or .npy, got `{name}`");
            return c.eval.refuse(message, at);
        }
    };
    match loaded {
        Ok(Loaded::Table(table)) => Ok(Value::Table(Arc::new(table))),
        Ok(Loaded::Node(node)) => {
            let elt = Elt::of(&node.types);
            c.give(node, elt)
        }
        Err(e) => c.eval.refuse(e.to_string(), at),
    }
}

enum Loaded {
    Table(io::Table),
    Node(Arc<livefusion::ast::Node>),
}

/// Writes an array as NPY, or a table, or columns of a tuple, as CSV.
pub fn save(c: &mut Call<'_, '_>) -> Result<Value> {
    let at = c.at(1);
    let Value::Text(name) = c.value(1).clone() else {
        let got = c.value(1).describe();
        return c
            .eval
            .refuse(format!("expected the name of a file, got {got}"), at);
    };
    let path = c.eval.folder.join(&*name);
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    let saved = match (extension, c.value(0).clone()) {
        ("npy", value) => {
            let value = match value {
                Value::Range(range) => Value::Array(c.eval.range(*range, at)?),
                other => other,
            };
            match value {
                Value::Array(a) => io::npy::write_node(&path, &a.node),
                other => {
                    let got = other.describe();
                    return c
                        .eval
                        .refuse(format!("expected an array, got {got}"), c.at(0));
                }
            }
        }
        ("csv", Value::Table(table)) => table.save(&path),
        ("csv", value) => {
            let columns = match value {
                Value::Tuple(parts) => parts,
                one => vec![one],
            };
            let mut table = io::Table::new();
            for (k, column) in columns.into_iter().enumerate() {
                let Value::Array(a) = column else {
                    let got = column.describe();
                    return c
                        .eval
                        .refuse(format!("expected arrays as columns, got {got}"), c.at(0));
                };
                table = match table.with_node(format!("c{k}"), &a.node) {
                    Ok(table) => table,
                    Err(e) => return c.eval.refuse(e.to_string(), c.at(0)),
                };
            }
            table.save(&path)
        }
        _ => {
            let message = format!("expected a file that ends in .npy or .csv, got `{name}`");
            return c.eval.refuse(message, at);
        }
    };
    match saved {
        Ok(()) => Ok(Value::Tuple(Vec::new())),
        Err(e) => c.eval.refuse(e.to_string(), at),
    }
}
