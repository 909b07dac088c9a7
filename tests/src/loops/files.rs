//! The loops that are kept as text: the Loop language's golden files, and those of the C backend's tests.

use loop_lang::Loop;
use std::path::Path;

/// Every such loop with its name, sorted.
///
/// Panics where one cannot be read: the files belong to the repository.
pub fn files() -> Vec<(String, Loop)> {
    let folders = ["loop-lang/tests/files/golden", "backends/c/tests/loops"];
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut all = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(root.join(folder)).expect("a folder of loops");
        for entry in entries {
            let path = entry.expect("a file").path();
            let text = std::fs::read_to_string(&path).expect("a text");
            // What a golden file expects follows a line of dashes.
            let text = text.split("\n# ----").next().unwrap_or_default();
            let mut program = loop_lang::parse::parse(text)
                .unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
            loop_lang::gotos::derive_gotos(&mut program);
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            all.push((name.into_owned(), program));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}
