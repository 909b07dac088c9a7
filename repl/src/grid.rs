//! Tables as text: columns below their names and types.

use crate::display::Limit;
use crate::meaning;
use crate::table::Table;
use crate::value::{Array, Elt, Value};
use livefusion::ast::Value as Memory;
use livefusion_backend::Buffer;
use loop_lang::Const;
use std::sync::Arc;

/// The source of a shown column.
struct GridColumn<'a> {
    name: &'a str,
    ty: String,
    /// Its type, and its fields in memory. `None` for columns without cells, such as lists.
    cells: Option<(Elt, Vec<Arc<Buffer>>)>,
}

/// Formats a table that was read.
pub fn table(t: &Table, limit: Limit) -> String {
    let columns = t.read.names().zip(t.read.types()).map(|(name, ty)| {
        let cells = match t.column(name) {
            Some(Ok(Value::Array(Array { node, elt }))) => match node.value.get() {
                Some(Memory::Array(columns)) => Some((elt, columns.clone())),
                _ => None,
            },
            _ => None,
        };
        let ty = ty.to_string();
        GridColumn { name, ty, cells }
    });
    grid(&columns.collect::<Vec<_>>(), t.read.len(), limit)
}

/// Formats rows in memory, or returns `None` for other arrays.
pub fn rows(a: &Array, limit: Limit) -> Option<String> {
    let (Elt::Row(names, parts), Some(Memory::Array(fields))) = (&a.elt, a.node.value.get()) else {
        return None;
    };
    let mut rest = fields.iter().cloned();
    let columns = names.iter().zip(parts).map(|(name, part)| {
        let fields = rest.by_ref().take(part.fields()).collect();
        let ty = match part {
            Elt::Maybe(parts) => parts[0].to_string(),
            part => part.to_string(),
        };
        let cells = Some((part.clone(), fields));
        GridColumn { name, ty, cells }
    });
    let columns: Vec<GridColumn<'_>> = columns.collect();
    Some(grid(&columns, fields.first().map_or(0, |c| c.len()), limit))
}

fn grid(columns: &[GridColumn<'_>], len: usize, limit: Limit) -> String {
    let places = limit.places(len);
    let texts = columns.iter().map(|column| {
        let cell = |i: usize| match &column.cells {
            Some((elt, fields)) => {
                let word = |c: &Arc<Buffer>| c.get_word(i).map(|w| Const::new(c.ty(), w));
                meaning::show(elt, &mut fields.iter().map(word), false)
            }
            None => "…".into(),
        };
        let head = [column.name.to_string(), column.ty.clone()];
        let cells = places.iter().map(|p| p.map_or_else(|| "…".into(), cell));
        head.into_iter().chain(cells).collect()
    });
    let texts: Vec<Vec<String>> = texts.collect();
    let width = |column: &Vec<String>| column.iter().map(|x| x.chars().count()).max();
    let widths: Vec<usize> = texts.iter().map(|c| width(c).unwrap_or(0)).collect();
    let line = |k: usize| {
        let cells = texts.iter().zip(&widths);
        let cells = cells.map(|(column, width)| format!("{:>width$}", column[k]));
        cells.collect::<Vec<_>>().join("  ")
    };
    let height = texts.first().map_or(0, Vec::len);
    (0..height).map(line).collect::<Vec<_>>().join("\n")
}
