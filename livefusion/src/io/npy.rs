//! NPY, NumPy's array format: a header with type and shape, then elements.

pub use super::dtype::{Dtype, Stored};
use super::error::{ErrorKind, Result};
pub use super::header::NpyHeader;
use super::header::{MAGIC, begin};
use super::output::OutputFile;
use super::plain::Plain;
use super::{faulty, open};
use crate::array::{Array, Rank};
use crate::ast::Node;
use livefusion_backend::Buffer;
use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

/// Reads an array of any rank.
///
/// A single element is a delayed scalar, of rank [`Ix0`](crate::Ix0). Both byte orders are
/// supported. An array in Fortran order keeps its layout and is transposed where it is used. The
/// interleaved parts of complex numbers also keep their layout: a function of the index reads both.
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
/// If the file cannot be read, is not an NPY file of these elements, is shorter than its header
/// states, or holds another type or rank. Also if there is not enough memory.
#[doc(alias = "load")]
#[track_caller]
pub fn read<T: Stored, D: Rank>(path: impl AsRef<Path>) -> Result<Array<T, D>> {
    let path = path.as_ref();
    let (header, node) = found(path, |_, _, _| Ok(None))?;
    header.typed(node).map_err(|kind| kind.of(path))
}

/// Maps an array, without a copy if possible.
///
/// It is otherwise as [`read`]. An array with the other byte order, or of `bool`, is read.
///
/// # Safety
/// As [`raw::map`](super::raw::map): the file must stay unchanged.
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
pub unsafe fn map<T: Stored, D: Rank>(path: impl AsRef<Path>) -> Result<Array<T, D>> {
    let path = path.as_ref();
    // SAFETY: the caller ensures that the file stays unchanged.
    let (header, node) = unsafe { mapped(path)? };
    header.typed(node).map_err(|kind| kind.of(path))
}

/// Reads an array of any type and rank as a node.
///
/// It is as [`read`]. The node of the untyped graph has the type and rank. Complex numbers become
/// pairs of floats; 16-bit floats become `f32` without loss.
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
    let (header, node) = found(path.as_ref(), |_, _, _| Ok(None))?;
    Ok(header.untyped(node))
}

/// Maps an array of any type and rank as a node.
///
/// It is as [`map`].
///
/// # Safety
/// As [`map`].
///
/// # Errors
/// As [`read_node`].
#[track_caller]
pub unsafe fn map_node(path: impl AsRef<Path>) -> Result<Arc<Node>> {
    // SAFETY: the caller ensures that the file stays unchanged.
    let (header, node) = unsafe { mapped(path.as_ref())? };
    Ok(header.untyped(node))
}

/// Reads the header of a file.
///
/// No element is read.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io::npy;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("m.npy");
/// npy::write(&path, &generate((2, 3), |(i, j)| i + j))?;
/// let header = npy::header(&path)?;
/// assert_eq!((header.dtype.to_string(), &header.shape[..]), ("u64".to_string(), &[2, 3][..]));
/// # Ok::<(), livefusion::io::Error>(())
/// ```
///
/// # Errors
/// As [`read_node`].
pub fn header(path: impl AsRef<Path>) -> Result<NpyHeader> {
    let path = path.as_ref();
    let (file, bytes) = open(path)?;
    let (header, _) = begin(&mut BufReader::new(file), bytes).map_err(|kind| kind.of(path))?;
    Ok(header)
}

/// Computes an array of any rank and writes it.
///
/// The old file is replaced when everything is written.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io::npy;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("zs.npy");
/// // Pairs of floats are complex numbers in a file, as `Complex` is.
/// npy::write(&path, &Array::from(vec![(1.0f64, 2.0f64), (0.5, -1.0)]))?;
/// assert_eq!(npy::header(&path)?.dtype.to_string(), "Complex<f64>");
/// assert_eq!(npy::read::<(f64, f64), Ix1>(&path)?.to_vec()?, [(1.0, 2.0), (0.5, -1.0)]);
/// # Ok::<(), livefusion::io::Error>(())
/// ```
///
/// # Errors
/// As [`force`](Array::force). Also if the file cannot be written.
#[doc(alias = "save")]
pub fn write<T: Stored, D: Rank>(path: impl AsRef<Path>, array: &Array<T, D>) -> Result<()> {
    save(path.as_ref(), array.node(), Ok(T::DTYPE))
}

/// Computes an untyped node and writes it.
///
/// It is as [`write`](write()), for a node of the untyped graph.
///
/// # Errors
/// As [`write`](write()). Also if its elements are neither scalars nor pairs of floats of one type.
pub fn write_node(path: impl AsRef<Path>, node: &Arc<Node>) -> Result<()> {
    save(path.as_ref(), node, Dtype::of(node))
}

fn save(path: &Path, node: &Arc<Node>, dtype: std::result::Result<Dtype, ErrorKind>) -> Result<()> {
    let all = dtype.and_then(|dtype| Contents::of(node, dtype));
    let all = all.map_err(|kind| kind.of(path))?;
    let mut file = OutputFile::create(path)?;
    put(&mut file, &all)
        .and_then(|()| file.finish())
        .map_err(|e| ErrorKind::from(e).of(path))
}

/// The array of a file, mapped if possible.
///
/// # Safety
/// As [`map`].
#[track_caller]
unsafe fn mapped(path: &Path) -> Result<(NpyHeader, Arc<Node>)> {
    // SAFETY: the caller ensures that the file stays unchanged.
    found(path, |header, file, start| unsafe {
        let (ty, parts) = header.dtype.parts();
        Buffer::mapped(ty, file, start, header.len() * parts)
    })
}

/// The array of a file. `map` maps its scalars if it can; otherwise they are read.
#[track_caller]
fn found(
    path: &Path,
    map: impl FnOnce(&NpyHeader, &File, u64) -> io::Result<Option<Buffer>>,
) -> Result<(NpyHeader, Arc<Node>)> {
    let (mut file, bytes) = open(path)?;
    let (header, start) = begin(&mut BufReader::new(&file), bytes).map_err(|kind| kind.of(path))?;
    let mapped = match header.is_swapped() {
        true => None,
        false => map(&header, &file, start).map_err(|e| ErrorKind::from(e).of(path))?,
    };
    let scalars = match mapped {
        Some(scalars) => scalars,
        None => {
            let moved = file.seek(SeekFrom::Start(start));
            moved.map_err(|e| ErrorKind::from(e).of(path))?;
            let read = header.read(&mut file);
            read.map_err(|e| faulty(e, Some(path), start, header.dtype.parts().0))?
        }
    };
    let node = header.node(scalars);
    Ok((header, node))
}

/// The contents of a file: an array in memory.
pub(super) struct Contents {
    dtype: Dtype,
    shape: Vec<u64>,
    scalars: Arc<Buffer>,
}

impl Contents {
    /// Computes a node with elements of this type.
    pub(super) fn of(node: &Arc<Node>, dtype: Dtype) -> std::result::Result<Contents, ErrorKind> {
        let Plain {
            mut shape,
            elements: scalars,
        } = Plain::of(&dtype.written(node))?;
        if dtype.parts().1 > 1 {
            shape.pop();
        }
        Ok(Contents {
            dtype,
            shape,
            scalars,
        })
    }

    /// The size of its elements in bytes.
    #[cfg(feature = "npz")]
    pub(super) fn bytes(&self) -> usize {
        self.scalars.as_bytes().len()
    }
}

/// Writes an array with its header. Elements start at a multiple of 64 bytes, so that they can be
/// mapped.
pub(super) fn put(to: &mut impl Write, all: &Contents) -> io::Result<()> {
    let order = match (all.dtype.size(), cfg!(target_endian = "big")) {
        (1, _) => '|',
        (_, true) => '>',
        (_, false) => '<',
    };
    let lengths: Vec<String> = all.shape.iter().map(|n| format!("{n},")).collect();
    let lengths = lengths.join(" ");
    let lengths = match all.shape.len() {
        0 | 1 => lengths,
        _ => lengths.trim_end_matches(',').to_string(),
    };
    let name = all.dtype.name();
    let mut text =
        format!("{{'descr': '{order}{name}', 'fortran_order': False, 'shape': ({lengths}), }}");
    // Magic, version and length take 10 bytes. A line break ends the header.
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.extend(std::iter::repeat_n(' ', length - 1 - text.len()));
    text.push('\n');
    to.write_all(MAGIC)?;
    to.write_all(&[1, 0])?;
    // The shape of 64 axes with 20 digits each fits a `u16` length.
    to.write_all(&(length as u16).to_le_bytes())?;
    to.write_all(text.as_bytes())?;
    to.write_all(all.scalars.as_bytes())
}
