//! NPZ, NumPy's archive of named arrays: a ZIP file of NPY files.

use super::error::{ErrorKind, Place, Result};
use super::header::{NpyHeader, begin};
use super::npy::{self, Contents, Dtype, Stored};
use super::output::OutputFile;
use super::{faulty, open as open_file};
use crate::array::{Array, Rank};
use crate::ast::Node;
use std::fmt;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Reads an archive.
pub struct Npz {
    path: PathBuf,
    bytes: u64,
    /// The files' names.
    files: Vec<String>,
    archive: ZipArchive<BufReader<File>>,
}

/// Opens an archive.
///
/// Arrays are read one by one, on request.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io::npz;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("model.npz");
/// let weights = generate((2, 3), |(i, j)| i + j);
/// npz::create(&path)?.add("weights", &weights)?.add("rate", &Array::scalar(0.5f64))?.finish()?;
/// let mut model = npz::open(&path)?;
/// assert_eq!(model.names().collect::<Vec<_>>(), ["weights", "rate"]);
/// assert_eq!(model.read::<u64, Ix2>("weights")?.sum().force()?, 9);
/// assert_eq!(model.read::<f64, Ix0>("rate")?.force()?, 0.5);
/// # Ok::<(), livefusion::io::Error>(())
/// ```
///
/// # Errors
/// If the file cannot be read or is not a ZIP file.
#[doc(alias = "load")]
pub fn open(path: impl AsRef<Path>) -> Result<Npz> {
    let path = path.as_ref();
    let (file, bytes) = open_file(path)?;
    let opened = ZipArchive::new(BufReader::new(file)).and_then(|archive| {
        let names = archive.file_names().map(|name| Ok(name?.into_owned()));
        Ok((names.collect::<Result<_, ZipError>>()?, archive))
    });
    let (files, archive) = opened.map_err(|e| kind(e).of(path))?;
    Ok(Npz {
        path: path.to_path_buf(),
        bytes,
        files,
        archive,
    })
}

/// The array name of a file.
fn name_of(file: &str) -> &str {
    file.strip_suffix(".npy").unwrap_or(file)
}

impl Npz {
    /// Lists the arrays' names in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| name_of(file))
    }

    /// Reads an array of any rank.
    ///
    /// See [`npy::read`].
    ///
    /// # Errors
    /// If there is no such array, or as [`npy::read`]. Also if its checksum shows that it was
    /// changed.
    #[track_caller]
    pub fn read<T: Stored, D: Rank>(&mut self, name: &str) -> Result<Array<T, D>> {
        let (header, node) = self.member(name)?;
        let typed = header.typed(node);
        typed.map_err(|kind| kind.at(Some(&self.path), Place::Member(name.to_string())))
    }

    /// Reads an array of any type and rank.
    ///
    /// See [`npy::read_node`].
    ///
    /// # Errors
    /// As [`read`](Npz::read), but for the type and rank.
    #[track_caller]
    pub fn read_node(&mut self, name: &str) -> Result<Arc<Node>> {
        let (header, node) = self.member(name)?;
        Ok(header.untyped(node))
    }

    #[track_caller]
    fn member(&mut self, name: &str) -> Result<(NpyHeader, Arc<Node>)> {
        let Some(file) = self.files.iter().find(|file| name_of(file) == name) else {
            let names: Vec<_> = self.names().map(|n| format!("{n:?}")).collect();
            let expected = format!("one of the arrays {}", names.join(", "));
            return Err(ErrorKind::malformed(expected, format!("{name:?}")).of(&self.path));
        };
        let at = |kind: ErrorKind| kind.at(Some(&self.path), Place::Member(name.to_string()));
        let mut member = self.archive.by_name(file).map_err(|e| at(kind(e)))?;
        let bytes = member.size();
        let possible = possible(&member, self.bytes);
        if bytes > possible {
            let expected = format!("at most {possible} bytes, which it may have been packed from");
            return Err(at(ErrorKind::malformed(expected, format!("{bytes}"))));
        }
        let (header, start) = begin(&mut member, bytes).map_err(at)?;
        let read = header.read(&mut member);
        let scalars = read.map_err(|e| at(faulty(e, None, start, header.dtype.parts().0).kind))?;
        // The end of the stream triggers the checksum comparison.
        match member.read(&mut [0]) {
            Ok(0) => {
                let node = header.node(scalars);
                Ok((header, node))
            }
            Ok(_) => Err(at(ErrorKind::malformed(
                "the end of the array",
                "more bytes",
            ))),
            Err(e) => Err(at(e.into())),
        }
    }
}

/// The largest plausible size of a member, given its compressed size in a file of so many bytes.
/// Deflate compresses by at most a factor of 1032.
fn possible<R: Read>(member: &zip::read::ZipFile<'_, R>, bytes: u64) -> u64 {
    let packed = member.compressed_size().min(bytes);
    match member.compression() {
        CompressionMethod::Stored => packed,
        _ => packed.saturating_mul(1032),
    }
}

impl fmt::Debug for Npz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.names().collect();
        write!(f, "Npz({}, {names:?})", self.path.display())
    }
}

/// Writes an archive.
///
/// The archive appears only after [`finish`](Writer::finish).
pub struct Writer {
    path: PathBuf,
    zip: ZipWriter<BufWriter<OutputFile>>,
    method: CompressionMethod,
}

/// Creates an archive.
///
/// The old file is replaced when the archive is finished.
///
/// # Errors
/// If the file cannot be written.
#[doc(alias = "savez")]
pub fn create(path: impl AsRef<Path>) -> Result<Writer> {
    let path = path.as_ref();
    let output = OutputFile::create(path)?;
    Ok(Writer {
        path: path.to_path_buf(),
        zip: ZipWriter::new(BufWriter::new(output)),
        method: CompressionMethod::Stored,
    })
}

impl Writer {
    /// Compresses the arrays that are added later.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// use livefusion::io::npz;
    /// # let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("zeros.npz");
    /// let zeros: Array<f64> = generate(10_000, |_| Exp::lit(0.0));
    /// npz::create(&path)?.compressed().add("zeros", &zeros)?.finish()?;
    /// assert!(path.metadata().unwrap().len() < 1000);
    /// assert_eq!(npz::open(&path)?.read::<f64, Ix1>("zeros")?.len().force()?, 10_000);
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    #[doc(alias = "savez_compressed")]
    pub fn compressed(mut self) -> Writer {
        self.method = CompressionMethod::Deflated;
        self
    }

    /// Computes an array of any rank and adds it.
    ///
    /// # Errors
    /// As [`force`](Array::force). Also if the name exists, or if the file cannot be written.
    pub fn add<T: Stored, D: Rank>(self, name: &str, array: &Array<T, D>) -> Result<Writer> {
        self.put(name, Contents::of(array.node(), T::DTYPE))
    }

    /// Computes an untyped node of any rank and adds it.
    ///
    /// It is as [`add`](Writer::add), for a node of the untyped graph.
    ///
    /// # Errors
    /// As [`add`](Writer::add). Also if its elements are neither scalars nor pairs of floats of one
    /// type.
    pub fn add_node(self, name: &str, node: &Arc<Node>) -> Result<Writer> {
        let all = Dtype::of(node).and_then(|dtype| Contents::of(node, dtype));
        self.put(name, all)
    }

    fn put(mut self, name: &str, all: std::result::Result<Contents, ErrorKind>) -> Result<Writer> {
        let at =
            |path: &Path, kind: ErrorKind| kind.at(Some(path), Place::Member(name.to_string()));
        let all = all.map_err(|kind| at(&self.path, kind))?;
        let options = SimpleFileOptions::default()
            .compression_method(self.method)
            // Above 4 GiB, ZIP needs other header fields, which smaller members do not use.
            .large_file(all.bytes() >= 1 << 31);
        let begun = self.zip.start_file(format!("{name}.npy"), options);
        begun.map_err(|e| at(&self.path, kind(e)))?;
        npy::put(&mut self.zip, &all).map_err(|e| at(&self.path, e.into()))?;
        Ok(self)
    }

    /// Replaces the old file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(self) -> Result<()> {
        let path = self.path;
        let buffered = self.zip.finish().map_err(|e| kind(e).of(&path))?;
        let output = buffered.into_inner().map_err(|e| e.into_error());
        output
            .and_then(OutputFile::finish)
            .map_err(|e| ErrorKind::from(e).of(&path))
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Writer({})", self.path.display())
    }
}

fn kind(e: ZipError) -> ErrorKind {
    match e {
        ZipError::Io(e) => ErrorKind::System(e),
        other => ErrorKind::malformed("an archive of arrays", other.to_string()),
    }
}
