//! The lines of a table, field by field.

use super::super::error::ErrorKind;
use csv_core::ReadRecordResult;
use std::io::BufRead;

/// Splits a stream of text into records.
pub struct Records<R> {
    source: R,
    core: csv_core::Reader,
    comment: Option<u8>,
    /// The number of the next line.
    line: u64,
    /// Whether the source has ended and its final line break was supplied.
    is_closed: bool,
    fields: Vec<u8>,
    ends: Vec<usize>,
}

/// Holds a line of a table.
///
/// Quoted line breaks may spread it over several lines of the file.
pub struct TableRecord<'a> {
    /// The number of its first line, from 1.
    pub line: u64,
    fields: &'a [u8],
    ends: &'a [usize],
}

impl TableRecord<'_> {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Lists the fields without their quotes.
    pub fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let starts = [0].iter().chain(self.ends);
        let spans = starts.zip(self.ends);
        spans.map(|(start, end)| self.fields.get(*start..*end).unwrap_or_default())
    }
}

/// Describes a failure by line number and error.
pub type Wrong = (u64, ErrorKind);

impl<R: BufRead> Records<R> {
    pub fn new(source: R, delimiter: u8, comment: Option<u8>) -> Records<R> {
        Records {
            source,
            core: csv_core::ReaderBuilder::new().delimiter(delimiter).build(),
            comment,
            line: 1,
            is_closed: false,
            fields: vec![0; 1024],
            ends: vec![0; 16],
        }
    }

    /// Skips a byte order mark.
    pub fn skip_mark(&mut self) -> Result<(), Wrong> {
        const MARK: &[u8] = b"\xef\xbb\xbf";
        if peek(&mut self.source, self.line)?.starts_with(MARK) {
            self.source.consume(MARK.len());
        }
        Ok(())
    }

    /// Skips empty lines and comments, so that lines are counted correctly.
    fn skip_blank(&mut self) -> Result<(), Wrong> {
        let mut in_comment = false;
        loop {
            let input = peek(&mut self.source, self.line)?;
            let Some(first) = input.first() else {
                return Ok(());
            };
            let n = match first {
                _ if in_comment => {
                    let end = input.iter().position(|b| matches!(b, b'\n' | b'\r'));
                    in_comment = end.is_none();
                    end.map_or(input.len(), |end| end + 1)
                }
                b'\n' | b'\r' => 1,
                first if Some(*first) == self.comment => {
                    in_comment = true;
                    1
                }
                _ => return Ok(()),
            };
            self.line += breaks(&input[..n]);
            self.source.consume(n);
        }
    }

    /// Reads the next line that is not empty.
    pub fn next(&mut self) -> Result<Option<TableRecord<'_>>, Wrong> {
        self.skip_blank()?;
        let line = self.line;
        let (mut used, mut ended) = (0, 0);
        loop {
            let input = peek(&mut self.source, self.line)?;
            let is_end = input.is_empty();
            let closing = is_end && !self.is_closed;
            // A line break ends a line, but a quoted field continues after it.
            let input = if closing { b"\n" } else { input };
            let free = (&mut self.fields[used..], &mut self.ends[ended..]);
            let (result, read, written, found) = self.core.read_record(input, free.0, free.1);
            if !is_end {
                self.line += breaks(&input[..read]);
                self.source.consume(read);
            }
            self.is_closed |= closing && read > 0;
            used += written;
            ended += found;
            if closing && written > 0 {
                let kind = ErrorKind::malformed("a closing quote", "the end of the file");
                return Err((line, kind));
            }
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => grow(&mut self.fields, line)?,
                ReadRecordResult::OutputEndsFull => grow(&mut self.ends, line)?,
                ReadRecordResult::Record => {
                    return Ok(Some(TableRecord {
                        line,
                        fields: &self.fields[..used],
                        ends: &self.ends[..ended],
                    }));
                }
                ReadRecordResult::End => return Ok(None),
            }
        }
    }
}

/// The buffered input. Empty at the end.
fn peek(source: &mut impl BufRead, line: u64) -> Result<&[u8], Wrong> {
    source.fill_buf().map_err(|e| (line, e.into()))
}

fn breaks(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|b| **b == b'\n').count() as u64
}

/// Doubles the capacity.
fn grow<T: Copy + Default>(all: &mut Vec<T>, line: u64) -> Result<(), Wrong> {
    let more = all.len();
    let bytes = 2 * (more * size_of::<T>()) as u64;
    let room = all.try_reserve_exact(more);
    room.map_err(|_| (line, ErrorKind::Memory { bytes }))?;
    all.resize(2 * more, T::default());
    Ok(())
}
