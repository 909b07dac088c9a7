//! Atomic file output: a temporary file replaces the old one on completion.

use super::error::{ErrorKind, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Makes the names of a process's temporary files unique.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Writes a file atomically.
///
/// If it is dropped before it is finished, the old file stays unchanged.
pub struct OutputFile {
    file: File,
    to: PathBuf,
    /// The temporary file, unless the target is written directly.
    temporary: Option<PathBuf>,
}

impl OutputFile {
    /// Creates the temporary file.
    pub fn create(path: &Path) -> Result<OutputFile> {
        OutputFile::begin(path).map_err(|e| ErrorKind::from(e).of(path))
    }

    fn begin(path: &Path) -> io::Result<OutputFile> {
        // A symbolic link is kept. A pipe or a terminal cannot be replaced, so it is written
        // directly.
        let to = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let old = fs::metadata(&to).ok();
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let file = OpenOptions::new().write(true).open(&to)?;
            let temporary = None;
            return Ok(OutputFile {
                file,
                to,
                temporary,
            });
        }
        let name = to.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        let (file, temporary) = loop {
            let mut other = std::ffi::OsString::from(".");
            other.push(name);
            let (process, n) = (std::process::id(), NEXT.fetch_add(1, Relaxed));
            other.push(format!(".{process}.{n}.tmp"));
            let temporary = to.with_file_name(other);
            let mut new = OpenOptions::new();
            match new.write(true).create_new(true).open(&temporary) {
                Ok(file) => break (file, temporary),
                // Left by an earlier process with the same id that was killed before it finished.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        };
        let output = OutputFile {
            file,
            to,
            temporary: Some(temporary),
        };
        if let Some(old) = old {
            output.file.set_permissions(old.permissions())?;
        }
        Ok(output)
    }

    /// Replaces the old file.
    pub fn finish(mut self) -> io::Result<()> {
        let moved = match &self.temporary {
            Some(temporary) => fs::rename(temporary, &self.to),
            None => Ok(()),
        };
        if moved.is_ok() {
            self.temporary = None;
        }
        moved
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for OutputFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // The caller that dropped the file already has the important error.
            let _ = fs::remove_file(temporary);
        }
    }
}
