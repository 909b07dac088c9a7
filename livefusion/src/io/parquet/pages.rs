//! Page size checks before memory is requested for a page.
//!
//! They parse the first fields of page headers, which are structs of Thrift's compact protocol.

use super::super::error::ErrorKind;
use parquet::basic::Compression;
use std::io::{Error, ErrorKind as Kind, Read, Result, Seek, SeekFrom};

/// The deepest nesting of a header.
const DEEPEST: u32 = 8;

/// The header of a page.
struct PageHeader {
    /// The uncompressed size of the page, then the compressed one, in bytes.
    unpacked: i64,
    packed: i64,
    /// The size of the header in bytes.
    own: u64,
}

/// Checks that no page of a column claims an implausible size.
///
/// The column is `length` bytes of the file from `start` on.
pub fn check(
    file: &mut (impl Read + Seek),
    start: u64,
    length: u64,
    compression: Compression,
) -> std::result::Result<(), ErrorKind> {
    // The largest expansion of a byte, by algorithm.
    let most = match compression {
        Compression::UNCOMPRESSED => 1,
        Compression::SNAPPY => 32,
        Compression::LZ4 | Compression::LZ4_RAW => 255,
        Compression::GZIP(_) => 1032,
        _ => 1 << 15,
    };
    let end = start.saturating_add(length);
    let mut at = start;
    while at < end {
        file.seek(SeekFrom::Start(at))?;
        let mut bytes = CountedBytes { file, taken: 0 };
        let header = bytes.header().map_err(|e| {
            let got = format!("something else at byte {at} ({e})");
            ErrorKind::malformed("the header of a page", got)
        })?;
        let room = (end - at).saturating_sub(header.own);
        let packed = u64::try_from(header.packed).ok().filter(|n| *n <= room);
        let Some(packed) = packed else {
            let got = format!("one of {} at byte {at}", header.packed);
            return Err(ErrorKind::malformed(
                format!("a page of at most {room} bytes"),
                got,
            ));
        };
        let most = packed.saturating_mul(most);
        if u64::try_from(header.unpacked).is_ok_and(|n| n > most) {
            let expected = format!("at most {most} bytes, which a page may have been packed from");
            let got = format!("{} at byte {at}", header.unpacked);
            return Err(ErrorKind::malformed(expected, got));
        }
        at += header.own + packed;
    }
    Ok(())
}

/// The bytes of a header, counted.
struct CountedBytes<'a, R> {
    file: &'a mut R,
    taken: u64,
}

impl<R: Read> CountedBytes<'_, R> {
    fn header(&mut self) -> Result<PageHeader> {
        let (mut unpacked, mut packed) = (None, None);
        let mut id = 0;
        while let Some(kind) = self.field(&mut id)? {
            match (id, kind) {
                (2, 5) => unpacked = Some(self.integer()?),
                (3, 5) => packed = Some(self.integer()?),
                _ => self.skip(kind, DEEPEST)?,
            }
        }
        match (unpacked, packed) {
            (Some(unpacked), Some(packed)) => Ok(PageHeader {
                unpacked,
                packed,
                own: self.taken,
            }),
            _ => Err(Error::new(Kind::InvalidData, "no sizes")),
        }
    }

    /// The type of a struct's next field; updates its number. None at the end.
    fn field(&mut self, id: &mut i64) -> Result<Option<u8>> {
        let byte = self.byte()?;
        let (step, kind) = (byte >> 4, byte & 15);
        if kind == 0 {
            return Ok(None);
        }
        *id = match step {
            0 => self.integer()?,
            step => id.wrapping_add(i64::from(step)),
        };
        Ok(Some(kind))
    }

    fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        self.file.read_exact(&mut byte)?;
        self.taken += 1;
        Ok(byte[0])
    }

    fn natural(&mut self) -> Result<u64> {
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            n |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(n);
            }
        }
        Err(Error::new(Kind::InvalidData, "too long a number"))
    }

    fn integer(&mut self) -> Result<i64> {
        let n = self.natural()?;
        Ok((n >> 1) as i64 ^ -((n & 1) as i64))
    }

    fn pass(&mut self, n: u64) -> Result<()> {
        let passed = std::io::copy(&mut self.file.by_ref().take(n), &mut std::io::sink())?;
        self.taken += passed;
        match passed == n {
            true => Ok(()),
            false => Err(Kind::UnexpectedEof.into()),
        }
    }

    /// Skips a field.
    fn skip(&mut self, kind: u8, depth: u32) -> Result<()> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(Error::new(Kind::InvalidData, "structs in structs"));
        };
        match kind {
            // The type encodes the `bool` value.
            1 | 2 => Ok(()),
            3 => self.pass(1),
            4..=6 => self.natural().map(drop),
            7 => self.pass(8),
            8 => {
                let n = self.natural()?;
                self.pass(n)
            }
            9 | 10 => {
                let head = self.byte()?;
                let n = match head >> 4 {
                    15 => self.natural()?,
                    n => u64::from(n),
                };
                (0..n).try_for_each(|_| match head & 15 {
                    // In a list, a `bool` takes a byte.
                    1 | 2 => self.pass(1),
                    kind => self.skip(kind, depth),
                })
            }
            12 => {
                let mut id = 0;
                while let Some(kind) = self.field(&mut id)? {
                    self.skip(kind, depth)?;
                }
                Ok(())
            }
            _ => Err(Error::new(Kind::InvalidData, "a type that no header has")),
        }
    }
}
