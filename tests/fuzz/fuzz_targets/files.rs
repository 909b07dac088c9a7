//! Files that the shell loads: CSV and NPY.
#![no_main]
#![allow(dead_code, reason = "the test has more than is called here")]

#[path = "../../../repl/tests/fuzzed/mod.rs"]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().expect("a folder");
    fuzzed::file(bytes, folder.path());
});
