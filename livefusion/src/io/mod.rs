//! Arrays from files and other libraries, and into these. With the feature `io`; formats marked * need `arrow`, ** `npz`.
//!
//! | format | read | written | what it holds |
//! | --- | --- | --- | --- |
//! | CSV | [`csv`](csv()), [`csv_text`] | [`save_csv`], [`Table::save`] | columns with names: numbers, `bool`, dates, text |
//! | NPY | [`npy::read`], [`npy::map`] | [`npy::write`](npy::write()) | an array of scalars, complex numbers or halves, of any rank |
//! | NPZ | [`npz::open`] | [`npz::create`] | such arrays by name, packed if you like |
//! | Parquet * | `parquet::read`, `parquet::read_only` | `parquet::write`, `parquet::create` | columns with names, packed: also lists, and values that are missing |
//! | Arrow * | `arrow::read`, `arrow::map` | `arrow::write`, `arrow::create` | the same as they lie in memory |
//! | raw | [`raw::read`], [`raw::map`] | [`raw::write`](raw::write()) | elements and nothing else |
//!
//! Formats with columns all give a [`Table`], and take one: what was read as CSV is written as Parquet.
//!
//! | interface to libraries in this process | in | out | what it hands over, without a copy |
//! | --- | --- | --- | --- |
//! | Arrow's C data interface * | `arrow::import` | `arrow::export` | a [`Table`] |
//! | DLPack | [`dlpack::import`] | [`dlpack::export`] | an array of scalars, of any rank |
//!
//! What is *read* is copied to memory. What is *mapped* stays in the file, which may be larger than memory.
//! Whatever is written is computed first, on the default engine. It is written beside what was there, and takes its place when
//! it is complete: a program that fails, or is stopped, leaves the old file as it was.
//!
//! Nothing that a file holds panics, or asks for more memory than the file accounts for: an [`Error`] says the file, the place
//! in it, what was expected, and what was there.
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
//! let northmost = latitudes.reduce_by_index(&states, Bins { count: names.len(), start: -90.0 }, |a, b| a.max(b));
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
/// A scalar type, known at run time.
pub use loop_lang::types::Ty;
pub use table::Table;
pub use texts::{Labels, Texts};
pub use times::{Time, TimeExp};
pub use value::{Type, Value};

use livefusion_backend::buffer::ReadError;
use std::fs::File;
use std::path::Path;

/// Opens a file whose length says how much it holds, and that length.
fn open(path: &Path) -> Result<(File, u64)> {
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (metadata, file) = opened.map_err(|e| ErrorKind::from(e).of(path))?;
    match metadata.is_file() {
        true => Ok((file, metadata.len())),
        false => Err(ErrorKind::malformed("a file", "something else").of(path)),
    }
}

/// What is wrong with elements of a type that begin at a byte of a file.
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
