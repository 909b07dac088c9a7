//! Array input and output: files and other libraries.
//!
//! Everything needs the feature `io`. Formats marked * also need `arrow`, ** `npz`.
//!
//! | format | read | write | contents |
//! | --- | --- | --- | --- |
//! | CSV | [`csv`](csv()), [`csv_text`] | [`save_csv`], [`Table::save`] | named columns: numbers, `bool`, dates, text |
//! | NPY | [`npy::read`], [`npy::map`] | [`npy::write`](npy::write()) | scalars, complex numbers or `f16` of any rank |
//! | NPZ ** | [`npz::open`] | [`npz::create`] | NPY arrays by name, optionally compressed |
//! | Parquet * | `parquet::read`, `parquet::read_only` | `parquet::write`, `parquet::create` | compressed columns |
//! | Arrow * | `arrow::read`, `arrow::map` | `arrow::write`, `arrow::create` | the same in Arrow's memory layout |
//! | raw | [`raw::read`], [`raw::map`] | [`raw::write`](raw::write()) | only elements |
//!
//! Formats with columns read and write a [`Table`]: a table from CSV can be written as Parquet.
//! Parquet and Arrow columns may also hold lists and missing values.
//!
//! | interface to libraries in this process | in | out | shared data, without a copy |
//! | --- | --- | --- | --- |
//! | Arrow's C data interface * | `arrow::import` | `arrow::export` | a [`Table`] |
//! | DLPack | [`dlpack::import`] | [`dlpack::export`] | an array of scalars, of any rank |
//!
//! A *read* copies the file to memory. A *mapped* array stays in the file, which may be larger than
//! memory. A *write* first computes the data on the default engine. It writes a temporary file next
//! to the old one, then replaces the old file. A program that fails or is stopped leaves the old
//! file unchanged.
//!
//! No file content causes a panic or a memory request beyond the file's plausible size. An
//! [`Error`] states the file, the place in it, the expected content and the actual content.
//!
//! ```
//! use livefusion::prelude::*;
//! use livefusion::io;
//! # let folder = tempfile::tempdir().unwrap();
//! # let out = folder.path().join("northmost.csv");
//! # let airports = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/airports.csv");
//! let table = io::csv(airports).read()?; // examples/data/airports.csv
//! let latitudes = table.column::<f64>("latitude")?;
//! let (states, names) = (table.codes("state")?, table.labels("state")?);
//! let northmost = latitudes.reduce_by_index(&states, Bins { count: names.len(), start: -90.0_f64 }, |a, b| a.max(b));
//! io::Table::new().with_text("state", names)?.with("northmost", &northmost)?.save(&out)?;
//!
//! let table = io::csv(&out).read()?;
//! assert_eq!(table.types().map(|t| t.to_string()).collect::<Vec<_>>(), ["text", "f64"]);
//! let at = table.column::<f64>("northmost")?.max_index().force()?;
//! assert_eq!(table.text("state")?.nth(at as usize), Some("AK"));
//! # Ok::<(), io::Error>(())
//! ```

#[cfg(feature = "arrow")]
pub mod arrow;
mod column;
mod csv;
mod date;
pub mod dlpack;
mod dtype;
mod error;
mod header;
pub mod npy;
#[cfg(feature = "npz")]
pub mod npz;
mod output;
#[cfg(feature = "arrow")]
pub mod parquet;
mod plain;
pub mod raw;
mod table;
mod texts;
mod times;
mod value;

pub use self::csv::{Csv, csv, csv_text, save_csv};
pub use date::{Date, DateTime};
pub use error::{Error, ErrorKind, Place, Result};
/// Names a scalar type that is known at run time.
pub use loop_lang::types::Ty;
pub use table::Table;
pub use texts::{Labels, Texts};
pub use times::{Time, TimeExp};
pub use value::{Type, Value};

use livefusion_backend::buffer::ReadError;
use std::fs::File;
use std::path::Path;

/// Opens a file with a meaningful length. Returns the file and its length.
fn open(path: &Path) -> Result<(File, u64)> {
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (metadata, file) = opened.map_err(|e| ErrorKind::from(e).of(path))?;
    match metadata.is_file() {
        true => Ok((file, metadata.len())),
        false => Err(ErrorKind::malformed("a file", "something else").of(path)),
    }
}

/// The error of elements that start at a byte of a file.
fn faulty(e: ReadError, path: Option<&Path>, start: u64, ty: Ty) -> Error {
    match e {
        ReadError::Memory(bytes) => ErrorKind::Memory { bytes }.at(path, Place::Whole),
        ReadError::System(e) => ErrorKind::from(e).at(path, Place::Whole),
        ReadError::NotBool { element, byte } => {
            let kind = ErrorKind::malformed(format!("{ty}, a byte 0 or 1"), byte.to_string());
            kind.at(path, Place::Byte(start + element as u64))
        }
    }
}
