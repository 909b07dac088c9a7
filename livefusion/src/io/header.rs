//! NPY headers: a Python dictionary with type and shape.

use super::dtype::{Dtype, Stored};
use super::error::{ErrorKind, shown};
use super::plain::shape;
use crate::array::{Array, Rank, show_counts, size_of_counts};
use crate::ast::{Builder, Node};
use livefusion_backend::Buffer;
use livefusion_backend::buffer::ReadError;
use loop_lang::types::Const;
use std::io::Read;
use std::sync::Arc;

/// Holds the header of an NPY file.
#[derive(Clone, Debug, PartialEq)]
pub struct NpyHeader {
    /// The type of the elements.
    pub dtype: Dtype,
    /// The lengths of the axes. Empty for a single element.
    pub shape: Vec<usize>,
    /// Whether the layout is column-major: the first index varies fastest.
    pub fortran_order: bool,
    /// Whether elements are big-endian.
    pub big_endian: bool,
}

pub const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest accepted header. It has space for a shape with NumPy's largest rank many times over.
const LONGEST: u64 = 1 << 16;

/// NumPy's largest rank.
const MOST_AXES: usize = 64;

impl NpyHeader {
    /// The number of elements, which was checked to be in range.
    pub(super) fn len(&self) -> usize {
        size_of_counts(&self.shape).unwrap_or(0)
    }

    /// Whether bytes must be swapped.
    pub(super) fn is_swapped(&self) -> bool {
        self.big_endian != cfg!(target_endian = "big") && self.dtype.parts().0.size() > 1
    }

    /// Reads the scalars of the elements.
    pub(super) fn read(&self, source: &mut dyn Read) -> Result<Buffer, ReadError> {
        let (ty, parts) = self.dtype.parts();
        Buffer::read_from(ty, self.len() * parts, source, self.is_swapped())
    }

    /// Builds the array of these scalars.
    #[track_caller]
    pub(super) fn node(&self, scalars: Buffer) -> Arc<Node> {
        let builder = Builder::named("npy");
        let (ty, parts) = self.dtype.parts();
        if self.shape.is_empty() {
            let word = |k| scalars.get_word(k).unwrap_or(0);
            let fields: Vec<Const> = (0..parts).map(|k| Const::new(ty, word(k))).collect();
            return builder.constant(&fields);
        }
        let scalars = builder.manifest(vec![Arc::new(scalars)]);
        let elements = self.dtype.elements(builder, &scalars, self.len() as u64);
        let mut lengths: Vec<u64> = self.shape.iter().map(|n| *n as u64).collect();
        if self.fortran_order {
            lengths.reverse();
        }
        let lies = shape(builder, &lengths);
        let elements = builder.reshape(&elements, lies.clone());
        match (self.fortran_order, lies) {
            (true, Some(lies)) => crate::ranked::transposed(builder, &elements, &lies),
            _ => elements,
        }
    }

    /// Checks the array's element type and rank.
    pub(super) fn typed<T: Stored, D: Rank>(
        &self,
        node: Arc<Node>,
    ) -> Result<Array<T, D>, ErrorKind> {
        match self.dtype == T::DTYPE && D::fits(node.rank) {
            true => Ok(Array::wrap(node)),
            false => Err(ErrorKind::malformed(
                format!("{} of rank {}", T::DTYPE, D::RANK),
                format!("{} of rank {}", self.dtype, node.rank),
            )),
        }
    }

    /// Converts elements without a type of their own in the graph: `f16` becomes `f32`.
    #[track_caller]
    pub(super) fn untyped(&self, node: Arc<Node>) -> Arc<Node> {
        match self.dtype {
            Dtype::Scalar(_) | Dtype::Complex(_) => node,
            #[cfg(feature = "half")]
            Dtype::Half => {
                let widen = crate::exp::closure::<crate::half::f16, f32>(|x| x.to_f32());
                Builder::named("npy").map(&[node], widen)
            }
        }
    }
}

/// Reads a header from the start of a stream of so many bytes, which must suffice for the elements.
/// Returns the header and the position of the elements.
pub(super) fn begin(source: &mut impl Read, bytes: u64) -> Result<(NpyHeader, u64), ErrorKind> {
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
    let needed = size_of_counts(&header.shape).and_then(|n| n.checked_mul(header.dtype.size()));
    match needed {
        Some(needed) if needed as u64 <= room => Ok((header, start)),
        _ => Err(ErrorKind::malformed(
            format!(
                "elements of type {} and shape {}",
                header.dtype,
                show_counts(&header.shape)
            ),
            format!("{room} bytes behind the header"),
        )),
    }
}

/// The remaining text of a header, which is a Python dictionary.
struct Scan<'a> {
    rest: &'a str,
}

impl<'a> Scan<'a> {
    fn header(&mut self) -> Result<NpyHeader, ErrorKind> {
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
        let (Some((dtype, big_endian)), Some(fortran_order), Some(shape)) =
            (descr, fortran_order, shape)
        else {
            let expected = "a header with descr, fortran_order and shape";
            return Err(ErrorKind::malformed(expected, "one without"));
        };
        match self.rest.trim().is_empty() {
            true => Ok(NpyHeader {
                dtype,
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

    /// A type, and whether it is big-endian.
    fn dtype(&mut self) -> Result<(Dtype, bool), ErrorKind> {
        if self.eat("[") {
            return Err(self.wrong("the type of scalars, not of records,"));
        }
        let text = self.quoted()?;
        let name = text.strip_prefix(['<', '>', '|', '=']).unwrap_or(text);
        let Some(dtype) = Dtype::find(name) else {
            let expected = format!("a type among {}", Dtype::names());
            return Err(ErrorKind::malformed(expected, shown(text)));
        };
        let big = match text.as_bytes()[0] {
            b'<' => false,
            b'>' => true,
            _ => cfg!(target_endian = "big"),
        };
        Ok((dtype, big))
    }

    fn shape(&mut self) -> Result<Vec<usize>, ErrorKind> {
        let mut shape = Vec::new();
        self.expect("(")?;
        while !self.eat(")") {
            let end = self.rest.find(|c: char| !c.is_ascii_digit());
            let (digits, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            let length = digits.parse().map_err(|_| self.wrong("a length"))?;
            self.rest = rest;
            // Python 2 wrote this suffix.
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
