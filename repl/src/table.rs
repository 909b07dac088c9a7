//! Tables from files: columns as values, and rows as an array.

use crate::meaning::Time;
use crate::value::{Array, Elt, Segmented, Value};
use livefusion::ast::{Builder, Node};
use livefusion::io::{self, Type};
use livefusion::segmented::Segments;
use std::cell::OnceCell;
use std::sync::Arc;

/// Holds a table from a file, and caches its columns as values.
#[derive(Debug)]
pub struct Table {
    /// The table in memory.
    pub read: io::Table,
    columns: Vec<(String, OnceCell<Value>)>,
    rows: OnceCell<Array>,
}

impl Table {
    /// Creates a table without reading its columns.
    pub fn new(read: io::Table) -> Table {
        let names = read.names().map(|name| (name.to_string(), OnceCell::new()));
        Table {
            columns: names.collect(),
            read,
            rows: OnceCell::new(),
        }
    }

    /// Returns the names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// Returns a column, or `None` for an unknown name.
    ///
    /// It is an array or segments. Segments with missing rows come with an array that marks the
    /// present ones.
    pub fn column(&self, name: &str) -> Option<io::Result<Value>> {
        let (_, known) = self.columns.iter().find(|(n, _)| n == name)?;
        if let Some(value) = known.get() {
            return Some(Ok(value.clone()));
        }
        Some(
            self.made(name)
                .map(|value| known.get_or_init(|| value).clone()),
        )
    }

    fn made(&self, name: &str) -> io::Result<Value> {
        let mut columns = self.read.names().zip(self.read.types());
        let ty = columns.find(|(n, _)| *n == name).map(|(_, ty)| ty);
        let array = |node: Arc<Node>, elt| Array { node, elt };
        let of_types = |node: Arc<Node>| {
            let elt = Elt::of(&node.types);
            Array { node, elt }
        };
        let has_gaps = self.read.missing(name)? > 0;
        let valid = || self.read.valid(name).map(|v| of_types(v.node().clone()));
        let column = match ty {
            Some(Type::List(_)) => {
                let Segments { lengths, data } = self.read.segments_node(name)?;
                let data = of_types(data);
                let lists = Value::Segmented(Segmented { lengths, data });
                return Ok(match has_gaps {
                    true => Value::Tuple(vec![lists, Value::Array(valid()?)]),
                    false => lists,
                });
            }
            Some(Type::Text) => {
                let texts = self.read.texts(name)?;
                array(
                    texts.codes().node().clone(),
                    Elt::Text(texts.labels().clone()),
                )
            }
            Some(Type::Date) => array(self.read.node(name)?, Elt::Time(Time::Date)),
            Some(Type::DateTime) => array(self.read.node(name)?, Elt::Time(Time::DateTime)),
            _ => of_types(self.read.node(name)?),
        };
        if !has_gaps {
            return Ok(Value::Array(column));
        }
        let valid = valid()?;
        let node = Builder::named("table").zip(&[column.node, valid.node]);
        let elt = Elt::Maybe(Box::new([column.elt, valid.elt]));
        Ok(Value::Array(Array { node, elt }))
    }

    /// Returns the rows, or the name of an unsupported column.
    ///
    /// Supported columns are scalars, text or dates.
    pub fn rows(&self) -> Result<Array, &str> {
        if let Some(rows) = self.rows.get() {
            return Ok(rows.clone());
        }
        let (mut nodes, mut elts) = (Vec::new(), Vec::new());
        for name in self.names() {
            let Some(Ok(Value::Array(column))) = self.column(name) else {
                return Err(name);
            };
            nodes.push(column.node);
            elts.push(column.elt);
        }
        let names: Vec<String> = self.names().map(String::from).collect();
        let node = Builder::named("table").zip(&nodes);
        let elt = Elt::Row(names.into(), elts);
        Ok(self.rows.get_or_init(|| Array { node, elt }).clone())
    }
}
