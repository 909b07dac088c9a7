//! NPY, the format in which NumPy saves an array: a header with type and shape, then the elements.

use super::error::{ErrorKind, Result, shown};
use super::output::Output;
use super::plain::{Plain, typed};
use super::{faulty, open};
use crate::array::{Array, Rank, show_counts, size_of_counts};
use crate::ast::Node;
use crate::elt::Scalar;
use livefusion_backend::Buffer;
use loop_lang::types::Ty;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

/// What the first bytes of an NPY file say.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The element type.
    pub ty: Ty,
    /// The lengths of the axes; none of a single element.
    pub shape: Vec<usize>,
    /// Whether the first index is the one along which elements are neighbours.
    pub fortran_order: bool,
    /// Whether elements have the most significant byte first.
    pub big_endian: bool,
}

/// Reads an array of any rank; a single element is a delayed scalar, of rank [`Ix0`](crate::Ix0).
///
/// Both byte orders are read. An array in Fortran order is read as it lies, and transposed where it is used.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io::npy;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("m.npy");
/// npy::write(&path, &generate((2, 3), |(i, j)| 10 * i + j))?;
/// let m = npy::read::<u64, Ix2>(&path)?;
/// assert_eq!(m.force()?, [[0, 1, 2], [10, 11, 12]]);
/// let wrong = npy::read::<f32, Ix1>(&path).unwrap_err().to_string();
/// assert!(wrong.ends_with("expected f32 of rank 1, got u64 of rank 2"));
/// # Ok::<(), livefusion::io::Error>(())
/// ```
///
/// # Errors
/// If the file cannot be read, is no NPY file of scalars, is shorter than its header says, or holds another type or rank; or if
/// there is no memory for it.
#[doc(alias = "load")]
#[track_caller]
pub fn read<T: Scalar, D: Rank>(path: impl AsRef<Path>) -> Result<Array<T, D>> {
    let path = path.as_ref();
    typed(read_node(path)?).map_err(|kind| kind.of(path))
}

/// As [`read`], without a copy where that can be. What lies in another byte order than this machine's, and `bool`, is read.
///
/// # Safety
/// That of [`raw::map`](super::raw::map): the file has to stay as it is.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io::npy;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("xs.npy");
/// npy::write(&path, &Array::from(vec![1.5f64, 2.0, 4.0]))?;
/// // SAFETY: nobody else has this file.
/// let xs = unsafe { npy::map::<f64, Ix1>(&path)? };
/// assert_eq!(xs.sum().force()?, 7.5);
/// # Ok::<(), livefusion::io::Error>(())
/// ```
///
/// # Errors
/// As [`read`].
#[doc(alias("load", "mmap_mode"))]
#[track_caller]
pub unsafe fn map<T: Scalar, D: Rank>(path: impl AsRef<Path>) -> Result<Array<T, D>> {
    let path = path.as_ref();
    // SAFETY: the caller sees to it that the file stays as it is.
    let node = unsafe { map_node(path)? };
    typed(node).map_err(|kind| kind.of(path))
}

/// As [`read`], whatever the type and rank: a node of the untyped graph, which says them.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io::npy;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("m.npy");
/// npy::write(&path, &generate((2, 3), |(i, j)| i.lt(j)))?;
/// let node = npy::read_node(&path)?;
/// assert_eq!((node.types[0].name(), node.rank), ("bool", 2));
/// # Ok::<(), livefusion::io::Error>(())
/// ```
///
/// # Errors
/// As [`read`], but for the type and rank.
#[track_caller]
pub fn read_node(path: impl AsRef<Path>) -> Result<Arc<Node>> {
    node(path.as_ref(), |_, _, _| Ok(None))
}

/// As [`map`], whatever the type and rank.
///
/// # Safety
/// That of [`map`].
///
/// # Errors
/// As [`read_node`].
#[track_caller]
pub unsafe fn map_node(path: impl AsRef<Path>) -> Result<Arc<Node>> {
    // SAFETY: the caller sees to it that the file stays as it is.
    let map = |header: &Header, file: &File, start| unsafe {
        Buffer::mapped(header.ty, file, start, header.len())
    };
    node(path.as_ref(), map)
}

/// What a file's header says; no element is read.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io::npy;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("m.npy");
/// npy::write(&path, &generate((2, 3), |(i, j)| i + j))?;
/// let header = npy::header(&path)?;
/// assert_eq!((header.ty.name(), &header.shape[..]), ("u64", &[2, 3][..]));
/// # Ok::<(), livefusion::io::Error>(())
/// ```
///
/// # Errors
/// As [`read_node`].
pub fn header(path: impl AsRef<Path>) -> Result<Header> {
    let path = path.as_ref();
    let (file, bytes) = open(path)?;
    let (header, _) = begin(&mut BufReader::new(file), bytes).map_err(|kind| kind.of(path))?;
    Ok(header)
}

/// Computes an array of any rank and writes it. What was there is replaced when all is written.
///
/// # Errors
/// As [`force`](Array::force), or if the file cannot be written.
#[doc(alias = "save")]
pub fn write<T: Scalar, D: Rank>(path: impl AsRef<Path>, array: &Array<T, D>) -> Result<()> {
    write_node(path, array.node())
}

/// As [`write`](write()), of a node of the untyped graph.
///
/// # Errors
/// As [`write`](write()), and if its elements are no scalars.
pub fn write_node(path: impl AsRef<Path>, node: &Arc<Node>) -> Result<()> {
    let path = path.as_ref();
    let all = Plain::of(node).map_err(|kind| kind.of(path))?;
    let mut file = Output::create(path)?;
    put(&mut file, &all)
        .and_then(|()| file.finish())
        .map_err(|e| ErrorKind::from(e).of(path))
}

#[track_caller]
fn node(
    path: &Path,
    map: impl FnOnce(&Header, &File, u64) -> io::Result<Option<Buffer>>,
) -> Result<Arc<Node>> {
    let (mut file, bytes) = open(path)?;
    let (header, start) = begin(&mut BufReader::new(&file), bytes).map_err(|kind| kind.of(path))?;
    let mapped = match header.is_swapped() {
        true => None,
        false => map(&header, &file, start).map_err(|e| ErrorKind::from(e).of(path))?,
    };
    let elements = match mapped {
        Some(elements) => elements,
        None => {
            let moved = file.seek(SeekFrom::Start(start));
            moved.map_err(|e| ErrorKind::from(e).of(path))?;
            let read = Buffer::read_from(header.ty, header.len(), &mut file, header.is_swapped());
            read.map_err(|e| faulty(e, Some(path), start, header.ty))?
        }
    };
    Ok(header.node(elements))
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// No header is longer: there is room for a shape of as many axes as NumPy has, many times over.
const LONGEST: u64 = 1 << 16;

/// NumPy has no more axes.
const MOST_AXES: usize = 64;

impl Header {
    /// Number of elements, which was found to be in range.
    pub(super) fn len(&self) -> usize {
        size_of_counts(&self.shape).unwrap_or(0)
    }

    /// Whether bytes have to change places.
    pub(super) fn is_swapped(&self) -> bool {
        self.big_endian != cfg!(target_endian = "big") && self.ty.size() > 1
    }

    /// The array of these elements.
    #[track_caller]
    pub(super) fn node(&self, elements: Buffer) -> Arc<Node> {
        let all = Plain {
            shape: self.shape.iter().map(|n| *n as u64).collect(),
            elements: Arc::new(elements),
        };
        match self.fortran_order {
            true => all.transposed("npy"),
            false => all.node("npy"),
        }
    }
}

/// Reads a header from the beginning of so many bytes, which have to be enough for the elements: the header, and where these
/// begin.
pub(super) fn begin(source: &mut impl Read, bytes: u64) -> Result<(Header, u64), ErrorKind> {
    let mut first = [0; 8];
    let no_npy = |got: &[u8]| {
        ErrorKind::malformed(
            r#"an NPY file, which begins with "\x93NUMPY""#,
            format!("\"{}\"", got.escape_ascii()),
        )
    };
    if bytes < 10 {
        let mut all = Vec::new();
        source.take(10).read_to_end(&mut all)?;
        return Err(no_npy(&all));
    }
    source.read_exact(&mut first)?;
    if !first.starts_with(MAGIC) {
        return Err(no_npy(&first));
    }
    let (length, start) = match first[6] {
        1 => {
            let mut length = [0; 2];
            source.read_exact(&mut length)?;
            (u64::from(u16::from_le_bytes(length)), 10)
        }
        2 | 3 => {
            let mut length = [0; 4];
            source.read_exact(&mut length)?;
            (u64::from(u32::from_le_bytes(length)), 12)
        }
        other => {
            let got = format!("version {other}");
            return Err(ErrorKind::malformed("NPY of version 1, 2 or 3", got));
        }
    };
    if length > LONGEST.min(bytes.saturating_sub(start)) {
        let most = LONGEST.min(bytes.saturating_sub(start));
        let got = format!("one of {length}");
        return Err(ErrorKind::malformed(
            format!("a header of at most {most} bytes"),
            got,
        ));
    }
    let mut text = vec![0; length as usize];
    source.read_exact(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    let header = Scan { rest: &text }.header()?;
    let start = start + length;
    let room = bytes.saturating_sub(start);
    let needed = size_of_counts(&header.shape).and_then(|n| n.checked_mul(header.ty.size()));
    match needed {
        Some(needed) if needed as u64 <= room => Ok((header, start)),
        _ => Err(ErrorKind::malformed(
            format!(
                "elements of type {} and shape {}",
                header.ty,
                show_counts(&header.shape)
            ),
            format!("{room} bytes behind the header"),
        )),
    }
}

/// What is left of a header, which is a Python dictionary.
struct Scan<'a> {
    rest: &'a str,
}

impl<'a> Scan<'a> {
    fn header(&mut self) -> Result<Header, ErrorKind> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        self.expect("{")?;
        while !self.eat("}") {
            let key = self.quoted()?;
            self.expect(":")?;
            match key {
                "descr" => descr = Some(self.dtype()?),
                "fortran_order" => fortran_order = Some(self.truth()?),
                "shape" => shape = Some(self.shape()?),
                _ => return Err(ErrorKind::malformed("a header's key", shown(key))),
            }
            if !self.eat(",") {
                self.expect("}")?;
                break;
            }
        }
        let (Some((ty, big_endian)), Some(fortran_order), Some(shape)) =
            (descr, fortran_order, shape)
        else {
            let expected = "a header with descr, fortran_order and shape";
            return Err(ErrorKind::malformed(expected, "one without"));
        };
        match self.rest.trim().is_empty() {
            true => Ok(Header {
                ty,
                shape,
                fortran_order,
                big_endian,
            }),
            false => Err(self.wrong("the header's end")),
        }
    }

    fn wrong(&self, expected: &str) -> ErrorKind {
        ErrorKind::malformed(format!("{expected} in the header"), shown(self.rest))
    }

    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), ErrorKind> {
        match self.eat(token) {
            true => Ok(()),
            false => Err(self.wrong(&format!("`{token}`"))),
        }
    }

    fn quoted(&mut self) -> Result<&'a str, ErrorKind> {
        for quote in ["'", "\""] {
            if self.eat(quote) {
                let found = self.rest.split_once(quote);
                let (text, rest) = found.ok_or_else(|| self.wrong("a closing quote"))?;
                self.rest = rest;
                return Ok(text);
            }
        }
        Err(self.wrong("a text in quotes"))
    }

    fn truth(&mut self) -> Result<bool, ErrorKind> {
        match (self.eat("True"), self.eat("False")) {
            (true, false) => Ok(true),
            (false, true) => Ok(false),
            _ => Err(self.wrong("True or False")),
        }
    }

    /// A type, and whether its most significant byte comes first.
    fn dtype(&mut self) -> Result<(Ty, bool), ErrorKind> {
        if self.eat("[") {
            return Err(self.wrong("the type of scalars, not of records,"));
        }
        let text = self.quoted()?;
        let known = text.strip_prefix(['<', '>', '|', '=']).unwrap_or(text);
        let ty = match known {
            "b1" | "?" => Ty::Bool,
            "i1" => Ty::I8,
            "i2" => Ty::I16,
            "i4" => Ty::I32,
            "i8" => Ty::I64,
            "u1" => Ty::U8,
            "u2" => Ty::U16,
            "u4" => Ty::U32,
            "u8" => Ty::U64,
            "f4" => Ty::F32,
            "f8" => Ty::F64,
            _ => {
                let expected = "a type among b1, i1, i2, i4, i8, u1, u2, u4, u8, f4, f8";
                return Err(ErrorKind::malformed(expected, shown(text)));
            }
        };
        let big = match text.as_bytes()[0] {
            b'<' => false,
            b'>' => true,
            _ => cfg!(target_endian = "big"),
        };
        Ok((ty, big))
    }

    fn shape(&mut self) -> Result<Vec<usize>, ErrorKind> {
        let mut shape = Vec::new();
        self.expect("(")?;
        while !self.eat(")") {
            let end = self.rest.find(|c: char| !c.is_ascii_digit());
            let (digits, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            let length = digits.parse().map_err(|_| self.wrong("a length"))?;
            self.rest = rest;
            // As Python 2 wrote it.
            self.eat("L");
            shape.push(length);
            if shape.len() > MOST_AXES {
                return Err(self.wrong("at most 64 axes"));
            }
            if !self.eat(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(shape)
    }
}

/// Writes an array with its header. Elements begin at a multiple of 64 bytes, so that they may be mapped.
pub(super) fn put(to: &mut impl Write, all: &Plain) -> io::Result<()> {
    let ty = all.elements.ty();
    let order = match (ty.size(), cfg!(target_endian = "big")) {
        (1, _) => '|',
        (_, true) => '>',
        (_, false) => '<',
    };
    let kind = match ty {
        Ty::Bool => 'b',
        Ty::F32 | Ty::F64 => 'f',
        Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 => 'i',
        Ty::U8 | Ty::U16 | Ty::U32 | Ty::U64 => 'u',
    };
    let lengths: Vec<String> = all.shape.iter().map(|n| format!("{n},")).collect();
    let lengths = lengths.join(" ");
    let lengths = match all.shape.len() {
        0 | 1 => lengths,
        _ => lengths.trim_end_matches(',').to_string(),
    };
    let size = ty.size();
    let mut text = format!(
        "{{'descr': '{order}{kind}{size}', 'fortran_order': False, 'shape': ({lengths}), }}"
    );
    // Magic, version and length are 10 bytes; a line break ends the header.
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.extend(std::iter::repeat_n(' ', length - 1 - text.len()));
    text.push('\n');
    to.write_all(MAGIC)?;
    to.write_all(&[1, 0])?;
    // 64 axes of 20 digits each are less than a `u16` counts.
    to.write_all(&(length as u16).to_le_bytes())?;
    to.write_all(text.as_bytes())?;
    to.write_all(all.elements.as_bytes())
}
