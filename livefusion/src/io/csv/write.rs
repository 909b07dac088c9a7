//! CSV output.

use super::super::column::{Column, Data, Text, Unit};
use super::super::error::{Error, ErrorKind, Place, Result};
use super::super::output::OutputFile;
use super::super::plain::Plain;
use super::super::table::{Table, write_word};
use crate::force::Force;
use livefusion_backend::Buffer;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

/// Computes arrays in one force and writes them as a table.
///
/// The arrays are a tuple, slice or `Vec` of arrays of one length. Each needs a name. An array of
/// tuples or structs has a column for each field, and needs a name for each.
///
/// Numbers are written with enough digits to read back as the same. The old file is replaced when
/// everything is written.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("squares.csv");
/// let xs = iota(3);
/// let points = xs.map(|i| (i.cast::<f64>() / 4.0, i.eq(2)));
/// io::save_csv(&path, &["i", "quarter", "last"], (&xs, &points))?;
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "i,quarter,last\n0,0.0,false\n1,0.25,false\n2,0.5,true\n");
/// # Ok::<(), livefusion::io::Error>(())
/// ```
///
/// # Errors
/// As [`force`](Force::force). Also if a column has no name, if two columns have the same name, or
/// if the arrays differ in length or are not of rank 1. Also if the file cannot be written.
#[doc(alias("savetxt", "to_csv"))]
pub fn save_csv(path: impl AsRef<Path>, names: &[&str], arrays: impl Force) -> Result<()> {
    let path = path.as_ref();
    let of_file = |e: Error| Error {
        path: Some(path.to_path_buf()),
        ..e
    };
    Table::computed(names, arrays).map_err(of_file)?.save(path)
}

impl Table {
    /// Writes the table as CSV, with a line of names.
    ///
    /// A missing value is an empty field. The old file is replaced when everything is written.
    ///
    /// # Errors
    /// If a column holds lists, or if the file cannot be written.
    #[doc(alias = "to_csv")]
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let fields = self.columns().iter().map(|(name, column)| {
            let place = || Place::Column(name.clone());
            CellsToWrite::of(column).map_err(|kind| kind.at(Some(path), place()))
        });
        let fields = fields.collect::<Result<Vec<_>>>()?;
        let mut file = BufWriter::with_capacity(1 << 16, OutputFile::create(path)?);
        let written = self.put_lines(&mut file, &fields);
        let file = written.and_then(|()| file.into_inner().map_err(|e| e.into_error()));
        file.and_then(OutputFile::finish)
            .map_err(|e| ErrorKind::from(e).of(path))
    }

    fn put_lines(&self, to: &mut impl Write, fields: &[CellsToWrite<'_>]) -> io::Result<()> {
        let columns = self.columns();
        let is_alone = columns.len() == 1;
        let line =
            |to: &mut dyn Write, put: &mut dyn FnMut(&mut dyn Write, usize) -> io::Result<()>| {
                for k in 0..columns.len() {
                    if k > 0 {
                        to.write_all(b",")?;
                    }
                    put(to, k)?;
                }
                to.write_all(b"\n")
            };
        line(to, &mut |to, k| put_text(to, &columns[k].0, is_alone))?;
        for row in 0..self.len() {
            line(to, &mut |to, k| fields[k].put(to, row, is_alone))?;
        }
        Ok(())
    }
}

/// The data of a column to be written.
struct CellsToWrite<'a> {
    of: CellSource<'a>,
    /// The presence of its values, if some are missing.
    valid: Option<Arc<Buffer>>,
}

enum CellSource<'a> {
    Scalars(Arc<Buffer>),
    Times(Unit, &'a Buffer),
    Text(&'a Text),
}

impl<'a> CellsToWrite<'a> {
    fn of(column: &'a Column) -> Result<CellsToWrite<'a>, ErrorKind> {
        let of = match (&column.data, column.text()) {
            (Data::Times(unit, counts), _) => CellSource::Times(*unit, counts),
            (_, Ok(text)) => CellSource::Text(text),
            (_, Err(_)) => CellSource::Scalars(column.buffer()?),
        };
        let valid = column.valid.as_ref().map(|v| Plain::of(&v.node));
        let valid = valid.transpose()?.map(|all| all.elements);
        Ok(CellsToWrite { of, valid })
    }

    fn put(&self, to: &mut dyn Write, row: usize, is_alone: bool) -> io::Result<()> {
        if self
            .valid
            .as_ref()
            .is_some_and(|v| v.get_word(row) == Some(0))
        {
            return put_text(to, "", is_alone);
        }
        match &self.of {
            CellSource::Scalars(elements) => write_word(to, elements, row),
            CellSource::Times(unit, counts) => {
                let count = counts.get_word(row).unwrap_or(0) as i64;
                to.write_all(unit.show(count).as_bytes())
            }
            CellSource::Text(text) => {
                let code = text.codes.get_word(row).unwrap_or(0);
                put_text(to, &text.labels[code as usize], is_alone)
            }
        }
    }
}

/// Writes a text, quoted where it would otherwise read back differently. An empty text alone in its
/// line is quoted, since an empty line is skipped.
fn put_text(to: &mut dyn Write, text: &str, is_alone: bool) -> io::Result<()> {
    let is_special = |c| matches!(c, ',' | '"' | '\n' | '\r' | '\u{feff}');
    match text.contains(is_special) || (is_alone && text.is_empty()) {
        true => write!(to, "\"{}\"", text.replace('"', "\"\"")),
        false => to.write_all(text.as_bytes()),
    }
}
