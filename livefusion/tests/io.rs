//! Files: what is written is read again, and what is wrong with one is said.
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

/// A folder for the files of a test.
fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// A file with these bytes.
fn file(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// What is said of something that must not work, without the path.
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

/// A file in memory.
fn map_raw<T: Scalar>(path: impl AsRef<Path>) -> livefusion::io::Result<Array<T>> {
    // SAFETY: tests have their own files, which nobody changes.
    unsafe { raw::map(path) }
}

/// A file in memory.
fn map_npy<T: npy::Stored, D: Rank>(path: impl AsRef<Path>) -> livefusion::io::Result<Array<T, D>> {
    // SAFETY: as above.
    unsafe { npy::map(path) }
}

/// The names of the files in a folder.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
    names.collect()
}
