//! Files: round trips, and error messages for bad files.
#![cfg(feature = "io")]

#[cfg(feature = "arrow")]
#[path = "io/arrow_sweep.rs"]
mod arrow_sweep;
#[cfg(feature = "arrow")]
#[path = "io/arrow.rs"]
mod arrows;
#[path = "io/csv.rs"]
mod csv;
#[path = "io/csv_types.rs"]
mod csv_types;
#[path = "io/dlpack.rs"]
mod dlpacks;
#[path = "io/npy.rs"]
mod npys;
#[path = "io/random.rs"]
mod random;
#[path = "io/raw.rs"]
mod raws;
#[path = "io/texts.rs"]
mod texts;
#[path = "io/times.rs"]
mod times;
#[cfg(feature = "arrow")]
#[path = "io/used.rs"]
mod used;

use livefusion::io::{npy, raw};
use livefusion::prelude::*;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Creates a folder for the files of a test.
fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Writes a file with these bytes.
fn file(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Returns the error text of a result, without the path.
#[track_caller]
fn fault<T>(result: livefusion::io::Result<T>) -> String {
    let Err(e) = result else {
        panic!("expected an error");
    };
    let text = e.to_string();
    match &e.path {
        Some(path) => {
            let rest = text.strip_prefix(&*path.to_string_lossy()).unwrap();
            rest.trim_start_matches([',', ':', ' ']).to_string()
        }
        None => text,
    }
}

/// Maps a raw file.
fn map_raw<T: Scalar>(path: impl AsRef<Path>) -> livefusion::io::Result<Array<T>> {
    // SAFETY: tests have their own files, which nobody changes.
    unsafe { raw::map(path) }
}

/// Maps an NPY file.
fn map_npy<T: npy::Stored, D: Rank>(path: impl AsRef<Path>) -> livefusion::io::Result<Array<T, D>> {
    // SAFETY: as above.
    unsafe { npy::map(path) }
}

/// Lists the file names in a folder.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
    names.collect()
}
