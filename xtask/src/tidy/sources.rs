//! The files of the repository that rules speak of.

use crate::run::{Outcome, line, output};
use std::fs;

/// A file under version control.
pub struct Source {
    /// Its path from the root.
    pub path: String,
    pub text: String,
}

impl Source {
    /// Whether it is Rust.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs") && !self.is_golden()
    }

    /// Whether a program has written it.
    pub fn is_golden(&self) -> bool {
        ["/golden/", "/compile_fail/"]
            .iter()
            .any(|folder| self.path.contains(folder))
    }

    /// Whether users get it: no test, bench or example.
    pub fn is_product(&self) -> bool {
        let other = [
            "tests/",
            "/tests",
            "benches/",
            "examples/",
            "/examples/",
            "xtask/",
            "/shim/",
        ];
        self.is_rust() && !other.iter().any(|part| self.path.contains(part))
    }

    /// The folder of its crate.
    pub fn crate_folder(&self) -> &str {
        let end = self.path.find("/src/").or(self.path.find('/'));
        &self.path[..end.unwrap_or(0)]
    }
}

/// All sources and documents of the repository.
pub struct Sources(Vec<Source>);

impl Sources {
    /// Reads them.
    pub fn read() -> Outcome<Sources> {
        let names = output(&mut line(
            "git ls-files --cached --others --exclude-standard *.rs *.md *.c *.h *.cuh *.py",
        ))?;
        let mut sources = Vec::new();
        for path in names.lines() {
            // A file that is deleted but not yet committed is listed, too.
            if let Ok(text) = fs::read_to_string(path) {
                let path = path.to_string();
                sources.push(Source { path, text });
            }
        }
        Ok(Sources(sources))
    }

    /// These files.
    #[cfg(test)]
    pub fn of(files: impl Iterator<Item = Source>) -> Sources {
        Sources(files.collect())
    }

    /// Each of them.
    pub fn all(&self) -> impl Iterator<Item = &Source> {
        self.0.iter()
    }

    /// Those of Rust.
    pub fn rust(&self) -> impl Iterator<Item = &Source> {
        self.all().filter(|source| source.is_rust())
    }
}
