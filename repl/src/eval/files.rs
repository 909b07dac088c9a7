//! Files: `load`.

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
