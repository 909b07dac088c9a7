//! Arrow and Parquet files with bytes that are changed: tables whose columns can all be used, or errors. Three bytes of an input
//! are a change, where and what to.
#![no_main]

#[path = "../../../livefusion/tests/io/used.rs"]
mod used;

use livefusion::io::{arrow, parquet};
use std::sync::OnceLock;

/// A good file of each format.
static GOOD: OnceLock<[Vec<u8>; 2]> = OnceLock::new();

fn good() -> [Vec<u8>; 2] {
    // The crates that take files apart panic on some, which ends as an error: such a panic is no find.
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
