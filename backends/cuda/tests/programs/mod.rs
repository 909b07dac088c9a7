//! Loops of programs, from the files of the programs' tests.

use crate::support::parse;
use loop_lang::Loop;
use std::path::Path;

/// Lists the loops, named by their program and a number.
pub fn lowered() -> Vec<(String, Loop)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tests/programs/forms");
    let files = std::fs::read_dir(folder).expect("a folder");
    let mut files: Vec<_> = files.map(|f| f.expect("a file").path()).collect();
    files.sort();
    let mut all = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a text");
        let name = path.file_stem().expect("a name").to_string_lossy();
        for (k, part) in text.split("\nloop loop_").skip(1).enumerate() {
            let part = part.split("\n\n").next().unwrap_or_default();
            all.push((format!("{name}_{k}"), parse(&format!("loop loop_{part}\n"))));
        }
    }
    all
}
