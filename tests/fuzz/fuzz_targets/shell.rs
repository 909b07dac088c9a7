//! Texts of the shell's language, parsed and evaluated.
#![no_main]
#![allow(dead_code, reason = "the test has more than is called here")]

#[path = "../../../repl/tests/fuzzed/mod.rs"]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let folder = tempfile::tempdir().expect("a folder");
    fuzzed::text(text, folder.path());
});
