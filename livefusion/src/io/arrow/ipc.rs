//! Arrow's file format, which stores columns in their memory layout.

use super::super::error::{ErrorKind, Result, shown};
use super::super::output::OutputFile;
use super::super::{faulty, open};
use super::to::{EXPECTED, refused, shared};
use super::{Appending, Format, Table, guarded, joined};
use arrow_array::RecordBatch;
use arrow_buffer::Buffer as Bytes;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::writer::FileWriter;
use arrow_ipc::{Block, CompressionType, Message, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use livefusion_backend::Buffer;
use loop_lang::types::Ty;
use std::fmt;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

/// Reads a table.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io::{Table, arrow};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("events.arrow");
/// let energies = Segmented::from_vecs(vec![vec![1.5, 2.0], vec![], vec![0.5]]);
/// let table = Table::computed(&["event"], &iota(3))?.with_segments("energy", &energies)?;
/// arrow::write(&path, &table)?;
/// let events = arrow::read(&path)?;
/// assert_eq!(events.types().map(|t| t.to_string()).collect::<Vec<_>>(), ["u64", "list of f64"]);
/// assert_eq!(events.segments::<f64>("energy")?.sum().force()?, [3.5, 0.0, 0.5]);
/// # Ok::<(), livefusion::io::Error>(())
/// ```
///
/// # Errors
/// If the file cannot be read, is not an Arrow file (the streaming format is not supported), or has
/// a damaged structure. Also if offsets are not in order, texts are not UTF-8, or there is not
/// enough memory.
#[doc(alias("read_feather", "read_ipc"))]
#[track_caller]
pub fn read(path: impl AsRef<Path>) -> Result<Table> {
    let path = path.as_ref();
    let (mut file, len) = open(path)?;
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    let bytes = Buffer::read_from(Ty::U8, len, &mut file, false);
    table(path, bytes.map_err(|e| faulty(e, Some(path), 0, Ty::U8))?)
}

/// Maps a table, without a copy if it is one uncompressed batch.
///
/// It is otherwise as [`read`]. The columns stay in the file, which may be larger than memory.
/// Offsets and texts are read once, to check them; `bool`s and numbers are not.
///
/// # Safety
/// As [`raw::map`](super::super::raw::map): the file must stay unchanged.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io::{Table, arrow};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("xs.arrow");
/// arrow::write(&path, &Table::computed(&["x"], &iota(4))?)?;
/// // SAFETY: nobody else has this file.
/// let xs = unsafe { arrow::map(&path)? }.column::<u64>("x")?;
/// assert_eq!(xs.sum().force()?, 6);
/// # Ok::<(), livefusion::io::Error>(())
/// ```
///
/// # Errors
/// As [`read`].
#[doc(alias = "memory_map")]
#[track_caller]
pub unsafe fn map(path: impl AsRef<Path>) -> Result<Table> {
    let path = path.as_ref();
    let (file, len) = open(path)?;
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    // SAFETY: the caller ensures that the file stays unchanged.
    match unsafe { Buffer::mapped(Ty::U8, &file, 0, len) } {
        Ok(Some(bytes)) => table(path, bytes),
        Ok(None) => read(path),
        Err(e) => Err(ErrorKind::from(e).of(path)),
    }
}

/// The table in a file's bytes.
#[track_caller]
fn table(path: &Path, bytes: Buffer) -> Result<Table> {
    let bytes = shared(&Arc::new(bytes));
    let (schema, batches) = batches(&bytes).map_err(|kind| kind.of(path))?;
    joined(Some(path), &schema, batches)
}

const MAGIC: &[u8] = b"ARROW1";

/// The name of the input in messages.
const WHAT: &str = "an Arrow file";

fn batches(bytes: &Bytes) -> Result<(Arc<Schema>, Vec<RecordBatch>), ErrorKind> {
    if !bytes.starts_with(MAGIC) {
        let got = bytes.get(..8).unwrap_or(bytes);
        let got = format!("\"{}\"", got.escape_ascii());
        return Err(ErrorKind::malformed(
            r#"an Arrow file, which begins with "ARROW1""#,
            got,
        ));
    }
    let wrong = |e: ArrowError| ErrorKind::malformed(WHAT, e.to_string());
    let tail = bytes.last_chunk::<10>();
    let tail = tail.ok_or_else(|| ErrorKind::malformed(WHAT, format!("{} bytes", bytes.len())))?;
    let length = read_footer_length(*tail).map_err(wrong)?;
    let end = bytes.len() - 10;
    let footer = end.checked_sub(length).map(|start| &bytes[start..end]);
    let footer = footer.ok_or_else(|| {
        ErrorKind::malformed(
            format!("a footer of at most {end} bytes"),
            length.to_string(),
        )
    })?;
    let footer = root_as_footer(footer);
    let footer = footer.map_err(|e| ErrorKind::malformed(WHAT, shown(&e.to_string())))?;
    let schema = footer.schema();
    let schema = schema.ok_or_else(|| ErrorKind::malformed("a footer with a schema", "none"))?;
    if !schema.endianness().equals_to_target_endianness() {
        let got = "the other one";
        return Err(ErrorKind::malformed("this machine's byte order", got));
    }
    let schema = guarded("a schema", || {
        Ok::<_, ArrowError>(Arc::new(arrow_ipc::convert::fb_to_schema(schema)))
    })?;
    let mut decoder = FileDecoder::new(schema.clone(), footer.version());
    for block in footer.dictionaries().into_iter().flatten() {
        let part = part(bytes, block)?;
        guarded(WHAT, || decoder.read_dictionary(block, &part))?;
    }
    let mut batches = Vec::new();
    for block in footer.recordBatches().into_iter().flatten() {
        let part = part(bytes, block)?;
        batches.extend(guarded(WHAT, || decoder.read_record_batch(block, &part))?);
    }
    Ok((schema, batches))
}

/// The bytes of a block, which contains all its buffers.
fn part(bytes: &Bytes, block: &Block) -> Result<Bytes, ErrorKind> {
    let (start, head) = (block.offset(), i64::from(block.metaDataLength()));
    let body = block.bodyLength();
    let end = start.checked_add(head).and_then(|n| n.checked_add(body));
    let fits = end.is_some_and(|end| end <= bytes.len() as i64) && start >= 0 && body >= 0;
    if !fits || head < 8 {
        let expected = format!("a block within {} bytes", bytes.len());
        let got = format!("{head} and {body} bytes from byte {start} on");
        return Err(ErrorKind::malformed(expected, got));
    }
    let part = bytes.slice_with_length(start as usize, (head + body) as usize);
    let (head, body) = part.split_at(head as usize);
    let head = match head.starts_with(&[0xff; 4]) {
        true => &head[8..],
        false => &head[4..],
    };
    let message = root_as_message(head);
    let message = message.map_err(|e| ErrorKind::malformed(WHAT, shown(&e.to_string())))?;
    buffers(&message, body)?;
    Ok(part)
}

/// Checks that the buffers of a message are inside its body, and that compressed ones have
/// plausible sizes.
fn buffers(message: &Message<'_>, body: &[u8]) -> Result<(), ErrorKind> {
    let dictionary = message.header_as_dictionary_batch().and_then(|d| d.data());
    let Some(batch) = message.header_as_record_batch().or(dictionary) else {
        return Ok(());
    };
    let nodes = batch.nodes().into_iter().flatten();
    let lengths = nodes.flat_map(|node| [node.length(), node.null_count()]);
    if let Some(n) = lengths.chain([batch.length()]).find(|n| *n < 0) {
        return Err(ErrorKind::malformed("a number of elements", n.to_string()));
    }
    // The largest expansion of a byte, by algorithm.
    let most: Option<usize> = batch.compression().map(|c| match c.codec() {
        CompressionType::LZ4_FRAME => 255,
        _ => 1 << 15,
    });
    for buffer in batch.buffers().into_iter().flatten() {
        let (start, n) = (buffer.offset(), buffer.length());
        let range = usize::try_from(start).ok().zip(usize::try_from(n).ok());
        let range = range.and_then(|(start, n)| body.get(start..start.checked_add(n)?));
        let Some(range) = range else {
            let expected = format!("a buffer within {} bytes", body.len());
            let got = format!("{n} bytes from byte {start} on");
            return Err(ErrorKind::malformed(expected, got));
        };
        if let (Some(most), Some(size)) = (most, range.first_chunk::<8>()) {
            // -1 marks an uncompressed buffer.
            let size = i64::from_le_bytes(*size);
            let most = range.len().saturating_mul(most) as i64;
            if !(-1..=most).contains(&size) {
                let expected = format!("at most {most} bytes, which it may have been packed from");
                return Err(ErrorKind::malformed(expected, size.to_string()));
            }
        }
    }
    Ok(())
}

/// Writes a table.
///
/// The old file is replaced when everything is written.
///
/// # Errors
/// If a column is [`Other`](super::super::Type::Other), or if the file cannot be written.
#[doc(alias("write_feather", "write_ipc"))]
pub fn write(path: impl AsRef<Path>, table: &Table) -> Result<()> {
    create(path)?.append(table)?.finish()
}

/// Writes a file piece by piece.
///
/// The file appears only after [`finish`](Writer::finish).
pub struct Writer(Appending<Batches>);

/// Batches in their memory layout.
struct Batches(FileWriter<BufWriter<OutputFile>>);

impl Format for Batches {
    const EXPECTED: &'static str = EXPECTED;

    fn begin(to: OutputFile, schema: SchemaRef) -> Result<Batches, ErrorKind> {
        let to = BufWriter::with_capacity(1 << 16, to);
        FileWriter::try_new(to, &schema).map(Batches).map_err(kind)
    }

    fn put(&mut self, batch: &RecordBatch) -> Result<(), ErrorKind> {
        self.0.write(batch).map_err(kind)
    }

    fn end(self) -> Result<OutputFile, ErrorKind> {
        let buffered = self.0.into_inner().map_err(kind)?;
        Ok(buffered.into_inner().map_err(|e| e.into_error())?)
    }
}

/// Creates a file, to which tables are appended as batches.
///
/// So the whole table need not be in memory at once. The old file is replaced when the new one is
/// finished.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io::{Table, arrow};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("squares.arrow");
/// let mut file = arrow::create(&path)?;
/// for part in 0..3u64 {
///     let squares = iota(100).map(|i| (i + 100 * part) * (i + 100 * part));
///     file = file.append(&Table::computed(&["square"], &squares)?)?;
/// }
/// file.finish()?;
/// assert_eq!(arrow::read(&path)?.column::<u64>("square")?.last().force()?, 299 * 299);
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

fn kind(e: ArrowError) -> ErrorKind {
    match e {
        ArrowError::IoError(_, e) => ErrorKind::System(e),
        other => refused(other),
    }
}
