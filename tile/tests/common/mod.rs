//! Loops from files, by name, and files of what is expected.

#![allow(
    dead_code,
    reason = "each test is a crate of its own, and needs some of it"
)]

use loop_lang::Loop;
use std::path::{Path, PathBuf};

/// A loop of the loop language's golden files, or of the C backend's.
///
/// # Panics
/// There is none of this name, or it is not well formed.
pub fn loop_of(name: &str) -> Loop {
    loop_of_text(&text_of(name))
}

/// The text of a golden loop.
///
/// # Panics
/// There is none of this name.
pub fn text_of(name: &str) -> String {
    let files = folders().map(|f| f.join(format!("{name}.loop")));
    let file = files.iter().find(|f| f.exists());
    text(file.expect("the loop's file"))
}

/// Where these golden files are.
pub fn folders() -> [PathBuf; 2] {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        "../loop-lang/tests/files/golden",
        "../backends/c/tests/loops",
    ];
    folders.map(|f| root.join(f))
}

/// The text of a loop in a file, without what is expected of it.
///
/// # Panics
/// It cannot be read.
pub fn text(file: &Path) -> String {
    let text = std::fs::read_to_string(file).expect("readable");
    let text = text.split("\n# ----").next();
    text.unwrap_or_default().to_string()
}

/// The loop of a file.
///
/// # Panics
/// It is none, or not well formed.
pub fn read(file: &Path) -> Loop {
    loop_of_text(&text(file))
}

/// The loop of a text, with gotos and levels where it says none that do.
///
/// # Panics
/// It is none, or not well formed.
pub fn loop_of_text(text: &str) -> Loop {
    let mut program = loop_lang::parse::parse(text).expect("a loop");
    loop_lang::gotos::derive_gotos(&mut program);
    loop_lang::verify::verify(&program).expect("well formed");
    program
}

/// Whether expected files are to be written anew.
pub fn blesses() -> bool {
    std::env::var_os("LOOP_BLESS").is_some()
}

/// Below this crate's tests.
pub fn path(of: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(of)
}

/// Holds a text against a golden file.
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
