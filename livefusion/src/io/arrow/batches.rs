//! Tables from record batches.

use super::super::column::Column;
use super::super::error::{ErrorKind, Place, Result};
use super::super::table::Table;
use super::from::column;
use super::guarded;
use arrow_array::{Array, RecordBatch};
use arrow_schema::Schema;
use arrow_select::concat::concat;
use rustc_hash::FxHashSet;
use std::path::Path;

/// Lists the names of a schema's columns.
///
/// It is an error if two are equal.
pub fn schema_of(schema: &Schema) -> Result<Vec<String>, ErrorKind> {
    let names: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
    let mut seen = FxHashSet::default();
    match names.iter().find(|name| !seen.insert(*name)) {
        None => Ok(names),
        Some(twice) => {
            let got = format!("{twice:?} twice");
            Err(ErrorKind::malformed("columns with names that differ", got))
        }
    }
}

/// Concatenates batches to a table.
///
/// Several batches are copied.
#[track_caller]
pub fn joined(
    path: Option<&Path>,
    schema: &Schema,
    mut batches: Vec<RecordBatch>,
) -> Result<Table> {
    let whole = |kind: ErrorKind| kind.at(path, Place::Whole);
    let names = schema_of(schema).map_err(whole)?;
    let rows = batches
        .iter()
        .try_fold(0usize, |n, b| n.checked_add(b.num_rows()));
    let rows = rows.ok_or_else(|| whole(ErrorKind::malformed("rows in memory", "more")))?;
    let mut columns = Vec::new();
    // Columns are removed from the last on, so that each batch frees a column after its conversion.
    for (k, name) in names.iter().enumerate().rev() {
        let at = |kind: ErrorKind| kind.at(path, Place::Column(name.clone()));
        let ty = schema.field(k).data_type();
        let parts: Vec<_> = batches.iter_mut().map(|b| b.remove_column(k)).collect();
        let parts: Vec<&dyn Array> = parts.iter().map(|a| &**a).collect();
        let data = guarded("columns of batches that fit", || match parts.is_empty() {
            true => Ok(arrow_array::new_empty_array(ty).into_data()),
            false => concat(&parts).map(|all| all.into_data()),
        });
        let of: Column = data.and_then(|data| column(&data)).map_err(at)?;
        columns.push((name.clone(), of));
    }
    columns.reverse();
    Ok(Table::of(path, rows, columns))
}
