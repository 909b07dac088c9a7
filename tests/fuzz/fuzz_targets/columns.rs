//! Corrupted Arrow and Parquet files: they give errors, or tables with usable columns.
//!
//! Three bytes of an input describe a change: a position and a value.
#![no_main]

#[path = "../../../livefusion/tests/io/used.rs"]
mod used;

use livefusion::io::{arrow, parquet};
use std::sync::OnceLock;

/// A valid file of each format.
static GOOD: OnceLock<[Vec<u8>; 2]> = OnceLock::new();

fn good() -> [Vec<u8>; 2] {
    // The parsing crates panic on some files, and the library turns that into an error: not a
    // finding.
    std::panic::set_hook(Box::new(|_| {}));
    let folder = tempfile::tempdir().expect("a folder");
    let paths = ["t.arrow", "t.parquet"].map(|name| folder.path().join(name));
    arrow::write(&paths[0], &used::table()).expect("a file");
    parquet::write(&paths[1], &used::table()).expect("a file");
    paths.map(|path| std::fs::read(path).expect("a file"))
}

libfuzzer_sys::fuzz_target!(|changes: &[u8]| {
    let Some((which, changes)) = changes.split_first() else {
        return;
    };
    let which = usize::from(which % 2);
    let mut bytes = GOOD.get_or_init(good)[which].clone();
    for change in changes.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % bytes.len();
        bytes[at] = change[2];
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t");
    std::fs::write(&path, bytes).expect("a file");
    let table = match which {
        0 => arrow::read(&path),
        _ => parquet::read(&path),
    };
    table.into_iter().for_each(|table| used::all(&table));
});
