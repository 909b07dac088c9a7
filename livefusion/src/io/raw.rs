//! Raw files: only elements, one after the other, in this machine's byte order.

use super::column::manifest;
use super::error::{ErrorKind, Place, Result};
use super::output::OutputFile;
use super::plain::{Plain, typed};
use super::{faulty, open};
use crate::array::{Array, Ix1, Rank};
use crate::ast::Node;
use crate::elt::Scalar;
use livefusion_backend::Buffer;
use loop_lang::types::Ty;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Reads a file of raw elements.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io::raw;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("samples.f32");
/// raw::write(&path, &iota(1000).map(|i| i.cast::<f32>() / 10.0))?;
/// let samples = raw::read::<f32>(&path)?;
/// assert_eq!(samples.max().force()?, 99.9);
/// assert_eq!(samples.reshape((10, 100)).along(1).sum().force()?.len(), 10);
/// # Ok::<(), livefusion::io::Error>(())
/// ```
///
/// # Errors
/// If the file cannot be read, if its size is not a multiple of the element's size, or if it holds
/// a byte that is not a `bool`. Also if there is not enough memory.
#[doc(alias = "fromfile")]
#[track_caller]
pub fn read<T: Scalar>(path: impl AsRef<Path>) -> Result<Array<T>> {
    let path = path.as_ref();
    typed::<T, Ix1>(read_node(path, T::TY)?).map_err(|kind| kind.of(path))
}

/// Reads a file of raw elements of a run-time type as a node.
///
/// It is as [`read`].
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io::{Ty, raw};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("counts.u16");
/// raw::write(&path, &Array::from(vec![3u16, 1, 4, 1]))?;
/// assert_eq!(raw::read_node(&path, Ty::U16)?.len, Some(4));
/// # Ok::<(), livefusion::io::Error>(())
/// ```
///
/// # Errors
/// As [`read`].
#[track_caller]
pub fn read_node(path: impl AsRef<Path>, ty: Ty) -> Result<Arc<Node>> {
    let path = path.as_ref();
    let (mut file, len) = opened(path, ty)?;
    let elements = Buffer::read_from(ty, len, &mut file, false);
    Ok(node(elements.map_err(|e| faulty(e, Some(path), 0, ty))?))
}

/// Maps a file of raw elements into memory.
///
/// Nothing is read before its first use and nothing is copied, so the file may be larger than
/// memory. When memory gets scarce, pages are dropped and read again later. `bool` is read as by
/// [`read`], since each byte must be checked.
///
/// # Safety
/// The file must stay unchanged while the array or an array computed from it is used: no process
/// writes to it or truncates it. (The writers of this module replace an old file instead. So a
/// program may save over a file that it has mapped.)
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io::raw;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("counts.u16");
/// raw::write(&path, &Array::from(vec![3u16, 1, 4, 1]))?;
/// // SAFETY: nobody else has this file.
/// let counts = unsafe { raw::map::<u16>(&path)? };
/// assert_eq!(counts.sum().force()?, 9);
/// # Ok::<(), livefusion::io::Error>(())
/// ```
///
/// # Errors
/// As [`read`].
#[doc(alias = "memmap")]
#[track_caller]
pub unsafe fn map<T: Scalar>(path: impl AsRef<Path>) -> Result<Array<T>> {
    let path = path.as_ref();
    let (file, len) = opened(path, T::TY)?;
    // SAFETY: the caller ensures that the file stays unchanged.
    match unsafe { Buffer::mapped(T::TY, &file, 0, len) } {
        Ok(Some(elements)) => typed::<T, Ix1>(node(elements)).map_err(|kind| kind.of(path)),
        Ok(None) => read(path),
        Err(e) => Err(ErrorKind::from(e).of(path)),
    }
}

/// Computes an array and writes its raw elements, row by row.
///
/// The old file is replaced when everything is written.
///
/// # Errors
/// As [`force`](Array::force). Also if the file cannot be written.
#[doc(alias = "tofile")]
pub fn write<T: Scalar, D: Rank>(path: impl AsRef<Path>, array: &Array<T, D>) -> Result<()> {
    write_node(path, array.node())
}

/// Computes an untyped node and writes its raw elements.
///
/// It is as [`write`](write()), for a node of the untyped graph.
///
/// # Errors
/// As [`write`](write()). Also if its elements are not scalars.
pub fn write_node(path: impl AsRef<Path>, node: &Arc<Node>) -> Result<()> {
    let path = path.as_ref();
    let all = Plain::of(node).map_err(|kind| kind.of(path))?;
    let mut file = OutputFile::create(path)?;
    let written = file.write_all(all.elements.as_bytes());
    written
        .and_then(|()| file.finish())
        .map_err(|e| ErrorKind::from(e).of(path))
}

/// A file of elements, and their number.
fn opened(path: &Path, ty: Ty) -> Result<(File, usize)> {
    let (file, bytes) = open(path)?;
    let size = ty.size() as u64;
    match usize::try_from(bytes / size) {
        Ok(len) if bytes % size == 0 => Ok((file, len)),
        _ => {
            let expected = format!("a multiple of {size} bytes, the size of {ty}");
            let kind = ErrorKind::malformed(expected, format!("{bytes} bytes"));
            Err(kind.at(Some(path), Place::Whole))
        }
    }
}

#[track_caller]
fn node(elements: Buffer) -> Arc<Node> {
    manifest(Arc::new(elements), "raw")
}
