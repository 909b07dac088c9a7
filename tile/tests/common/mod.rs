//! Loops from files, by name, and files with expected results.

#![allow(
    dead_code,
    reason = "each test is a crate of its own, and needs some of it"
)]

use loop_lang::Loop;
use std::path::{Path, PathBuf};

/// Reads a loop of the loop language's golden files, or of the C backend's.
///
/// # Panics
/// It does not exist, or is not well formed.
pub fn loop_of(name: &str) -> Loop {
    loop_of_text(&text_of(name))
}

/// Reads the text of a golden loop.
///
/// # Panics
/// It does not exist.
pub fn text_of(name: &str) -> String {
    let files = folders().map(|f| f.join(format!("{name}.loop")));
    let file = files.iter().find(|f| f.exists());
    text(file.expect("the loop's file"))
}

/// Lists the folders with golden files.
pub fn folders() -> [PathBuf; 2] {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        "../loop-lang/tests/files/golden",
        "../backends/c/tests/loops",
    ];
    folders.map(|f| root.join(f))
}

/// Reads the text of a loop in a file, without its expected results.
///
/// # Panics
/// It cannot be read.
pub fn text(file: &Path) -> String {
    let text = std::fs::read_to_string(file).expect("readable");
    let text = text.split("\n# ----").next();
    text.unwrap_or_default().to_string()
}

/// Reads the loop of a file.
///
/// # Panics
/// The file has no loop, or is not well formed.
pub fn read(file: &Path) -> Loop {
    loop_of_text(&text(file))
}

/// Parses a loop, and derives its gotos and levels if the text has none.
///
/// # Panics
/// The text is no loop, or not well formed.
pub fn loop_of_text(text: &str) -> Loop {
    let mut program = loop_lang::parse::parse(text).expect("a loop");
    loop_lang::gotos::derive_gotos(&mut program);
    loop_lang::verify::verify(&program).expect("well formed");
    program
}

/// Tells whether expected files are to be rewritten.
pub fn blesses() -> bool {
    std::env::var_os("LOOP_BLESS").is_some()
}

/// Returns a path below this crate's tests.
pub fn path(of: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(of)
}

/// Compares a text with a golden file.
///
/// # Panics
/// They differ.
pub fn golden(file: &str, got: &str) {
    let path = path("golden").join(file);
    if blesses() {
        std::fs::write(&path, got).expect("golden file");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(got, expected, "{path:?}; LOOP_BLESS=1 writes it anew");
}
