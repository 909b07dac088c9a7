//! Parquet: columns compressed one by one, in row groups.
//!
//! It needs the feature `arrow`. [`arrow`](super::arrow) documents the column types. Values are
//! decompressed when a file is read. Snappy, gzip and LZ4 are supported, and Zstandard with the
//! feature `zstd`.
//!
//! A file's length does not bound the memory of its table: a few bytes may encode a million equal
//! rows. Memory is first requested in proportion to the file's length and grows as values are
//! decompressed. No page gets more memory than its compressed size could expand to.

mod pages;

use super::arrow::{Appending, Format, guarded, joined};
use super::error::{ErrorKind, Result};
use super::open;
use super::output::OutputFile;
use super::table::{Table, no_column};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_writer::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, Length};
use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

/// Reads a table.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io::{Table, parquet};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("prices.parquet");
/// let prices = Table::computed(&["price"], &iota(1000).map(|i| i.cast::<f64>() / 4.0))?;
/// parquet::write(&path, &prices.with_text("city", (0..1000).map(|i| ["Rome", "Oslo"][i % 2]))?)?;
/// let table = parquet::read(&path)?;
/// let (cities, codes) = (table.labels("city")?, table.codes("city")?);
/// let prices = table.column::<f64>("price")?;
/// let totals = prices.reduce_by_index(&codes, Bins { count: cities.len(), start: 0.0 }, |a, b| a + b);
/// assert_eq!(totals.force()?, [62_375.0, 62_500.0]);
/// # Ok::<(), livefusion::io::Error>(())
/// ```
///
/// # Errors
/// If the file cannot be read, is not a Parquet file, or has an unsupported compression. Also if
/// its structure is damaged, or if there is not enough memory.
#[doc(alias = "read_parquet")]
#[track_caller]
pub fn read(path: impl AsRef<Path>) -> Result<Table> {
    table(path.as_ref(), None)
}

/// Reads only the named columns, in the file's order.
///
/// It is as [`read`], but reads nothing of the other columns.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io::{Table, parquet};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("points.parquet");
/// let xs = iota(3);
/// parquet::write(&path, &Table::computed(&["x", "y"], (&xs, &xs.map(|x| x * x)))?)?;
/// let table = parquet::read_only(&path, &["y"])?;
/// assert_eq!(table.names().collect::<Vec<_>>(), ["y"]);
/// # Ok::<(), livefusion::io::Error>(())
/// ```
///
/// # Errors
/// As [`read`]. Also if there is no column with one of the names.
#[doc(alias = "columns")]
#[track_caller]
pub fn read_only(path: impl AsRef<Path>, names: &[&str]) -> Result<Table> {
    table(path.as_ref(), Some(names))
}

#[track_caller]
fn table(path: &Path, only: Option<&[&str]>) -> Result<Table> {
    const WHAT: &str = "a Parquet file";
    let (file, len) = open(path)?;
    let of = |kind: ErrorKind| kind.of(path);
    let file = Arc::new(file);
    let source = BoundedFile {
        file: file.clone(),
        len,
    };
    let begun = guarded(WHAT, || ParquetRecordBatchReaderBuilder::try_new(source));
    let begun = begun.map_err(of)?;
    let mask = match only {
        Some(only) => {
            let fields = begun.schema().fields().iter();
            let names: Vec<&str> = fields.map(|f| f.name().as_str()).collect();
            let places = only.iter().map(|name| {
                let place = names.iter().position(|n| n == name);
                place.ok_or_else(|| no_column(&names, name))
            });
            let places = places.collect::<Result<Vec<_>, _>>().map_err(of)?;
            ProjectionMask::roots(begun.parquet_schema(), places)
        }
        None => ProjectionMask::all(),
    };
    for group in begun.metadata().row_groups() {
        let columns = group.columns().iter().enumerate();
        for (_, column) in columns.filter(|(k, _)| mask.leaf_included(*k)) {
            let range = guarded(WHAT, || Ok::<_, ParquetError>(column.byte_range()));
            let (start, length) = range.map_err(of)?;
            let mut bytes = BufReader::with_capacity(1 << 9, &*file);
            let checked = pages::check(&mut bytes, start, length, column.compression());
            checked.map_err(of)?;
        }
    }
    let begun = begun.with_projection(mask);
    // A single batch needs no concatenation. A row takes at least a byte, except where rows are
    // equal.
    let rows = usize::try_from(len).unwrap_or(usize::MAX).max(1 << 16);
    let (schema, batches) = guarded(WHAT, || {
        let reader = begun.with_batch_size(rows).build()?;
        let schema = arrow_array::RecordBatchReader::schema(&reader);
        let batches = reader.collect::<Result<Vec<RecordBatch>, _>>()?;
        Ok::<_, ParquetError>((schema, batches))
    })
    .map_err(of)?;
    joined(Some(path), &schema, batches)
}

/// A file that rejects requests beyond its length.
struct BoundedFile {
    file: Arc<File>,
    len: u64,
}

impl BoundedFile {
    fn at(&self, start: u64) -> Result<BufReader<File>, ParquetError> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(file))
    }
}

impl Length for BoundedFile {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for BoundedFile {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<BufReader<File>, ParquetError> {
        self.at(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        if start
            .checked_add(length as u64)
            .is_none_or(|end| end > self.len)
        {
            let got = format!("{length} bytes from byte {start} on, of {}", self.len);
            return Err(ParquetError::EOF(got));
        }
        let mut bytes = Vec::with_capacity(length);
        self.at(start)?
            .take(length as u64)
            .read_to_end(&mut bytes)?;
        match bytes.len() == length {
            true => Ok(bytes.into()),
            false => Err(ParquetError::EOF("the file got shorter".into())),
        }
    }
}

/// Writes a table, compressed by Snappy.
///
/// The old file is replaced when everything is written.
///
/// # Errors
/// If a column is [`Other`](super::Type::Other), or if the file cannot be written.
#[doc(alias("write_parquet", "to_parquet"))]
pub fn write(path: impl AsRef<Path>, table: &Table) -> Result<()> {
    create(path)?.append(table)?.finish()
}

/// Writes a file piece by piece.
///
/// The file appears only after [`finish`](Writer::finish).
pub struct Writer(Appending<Groups>);

/// Compressed row groups.
struct Groups(ArrowWriter<OutputFile>);

impl Format for Groups {
    const EXPECTED: &'static str = "a type that Parquet holds";

    fn begin(to: OutputFile, schema: SchemaRef) -> Result<Groups, ErrorKind> {
        let packed = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let file = ArrowWriter::try_new(to, schema, Some(packed.build()));
        file.map(Groups).map_err(kind)
    }

    fn put(&mut self, batch: &RecordBatch) -> Result<(), ErrorKind> {
        self.0.write(batch).map_err(kind)
    }

    fn end(self) -> Result<OutputFile, ErrorKind> {
        self.0.into_inner().map_err(kind)
    }
}

/// Creates a file, to which tables are appended one by one.
///
/// So the whole table need not be in memory at once. The old file is replaced when the new one is
/// finished.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io::{Table, parquet};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("squares.parquet");
/// let mut file = parquet::create(&path)?;
/// for part in 0..3u64 {
///     let squares = iota(100).map(|i| (i + 100 * part) * (i + 100 * part));
///     file = file.append(&Table::computed(&["square"], &squares)?)?;
/// }
/// file.finish()?;
/// assert_eq!(parquet::read(&path)?.column::<u64>("square")?.last().force()?, 299 * 299);
/// # Ok::<(), livefusion::io::Error>(())
/// ```
///
/// # Errors
/// If the file cannot be written.
pub fn create(path: impl AsRef<Path>) -> Result<Writer> {
    Appending::create(path.as_ref()).map(Writer)
}

impl Writer {
    /// Appends a table.
    ///
    /// Its columns must have the same names and types as those before.
    ///
    /// # Errors
    /// As [`write`](write()). Also if the columns differ.
    pub fn append(self, table: &Table) -> Result<Writer> {
        self.0.append(table).map(Writer)
    }

    /// Replaces the old file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(self) -> Result<()> {
        self.0.finish()
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Writer({})", self.0.path().display())
    }
}

fn kind(e: ParquetError) -> ErrorKind {
    ErrorKind::malformed(Groups::EXPECTED, e.to_string())
}
