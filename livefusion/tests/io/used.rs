//! A table with a column of each kind, and a use of every accessor.
//!
//! A fuzz target includes this file too.

use livefusion::io::{Table, Type};
use livefusion::prelude::*;

/// Builds a table with a column of each kind.
pub fn table() -> Table {
    let rows = Segmented::from_vecs(vec![vec![1.5, 2.0], vec![], vec![0.5], vec![4.0]]);
    let flags = Array::from(vec![true, false, true, true]);
    let table = Table::computed(&["i", "flag"], (&iota(4), &flags)).unwrap();
    let table = table.with_segments("row", &rows).unwrap();
    let table = table.with_text("name", ["a", "", "\u{e9}", "a"]).unwrap();
    table
        .with_nullable("x", &Array::from(vec![1u8, 2, 3, 4]), &flags)
        .unwrap()
}

/// Uses every accessor of a table.
pub fn all(table: &Table) {
    let _ = format!("{table:?}");
    for (name, ty) in table.names().zip(table.types()) {
        let valid = table.valid(name).unwrap().force().unwrap();
        assert_eq!(valid.len(), table.len());
        match ty {
            Type::Scalar(_) => {
                let node = table.node(name).unwrap();
                let engine = Engine::interp();
                livefusion::runtime::force_nodes(&engine, &[node]).unwrap();
            }
            Type::Text => {
                assert_eq!(table.text(name).unwrap().count(), table.len());
                let bytes = table.segments::<u8>(name).unwrap();
                bytes.sum().force_with(&Engine::interp()).unwrap();
            }
            Type::List(_) => {
                let counts = table.segments_node(name).unwrap().lengths;
                let counts = Array::<u64>::from_node(counts).unwrap();
                counts.force_with(&Engine::interp()).unwrap();
            }
            _ => assert!(table.node(name).is_err()),
        }
    }
}
