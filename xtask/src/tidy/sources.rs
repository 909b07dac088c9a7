//! The repository's files that rules check.

use crate::run::{Outcome, line, output};
use std::fs;

/// Holds a file under version control.
pub struct Source {
    /// Its path from the root.
    pub path: String,
    pub text: String,
}

impl Source {
    /// Returns whether it is Rust.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs") && !self.is_golden()
    }

    /// Returns whether a program generated it.
    pub fn is_golden(&self) -> bool {
        ["/golden/", "/compile_fail/"]
            .iter()
            .any(|folder| self.path.contains(folder))
    }

    /// Returns whether it ships to users.
    ///
    /// Tests, benches and examples do not.
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

    /// Returns the folder of its crate.
    pub fn crate_folder(&self) -> &str {
        let end = self.path.find("/src/").or(self.path.find('/'));
        &self.path[..end.unwrap_or(0)]
    }
}

/// Holds all Rust and Markdown files of the repository.
pub struct Sources(Vec<Source>);

impl Sources {
    /// Reads the files.
    pub fn read() -> Outcome<Sources> {
        let names = output(&mut line(
            "git ls-files --cached --others --exclude-standard *.rs *.md",
        ))?;
        let mut sources = Vec::new();
        for path in names.lines() {
            // A deleted file is listed until the deletion is committed.
            if let Ok(text) = fs::read_to_string(path) {
                let path = path.to_string();
                sources.push(Source { path, text });
            }
        }
        Ok(Sources(sources))
    }

    /// Creates a collection of these files.
    #[cfg(test)]
    pub fn of(files: impl Iterator<Item = Source>) -> Sources {
        Sources(files.collect())
    }

    /// Lists all files.
    pub fn all(&self) -> impl Iterator<Item = &Source> {
        self.0.iter()
    }

    /// Lists the Rust files.
    pub fn rust(&self) -> impl Iterator<Item = &Source> {
        self.all().filter(|source| source.is_rust())
    }
}
