//! Pages on disk: their fences, and the text around them.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Holds a Markdown file.
pub struct Page {
    pub path: PathBuf,
    pub text: String,
}

/// Holds the text between two fences.
pub struct Block<'p> {
    /// The info string of the opening fence.
    pub info: &'p str,
    /// The number of the first line.
    pub line: usize,
    pub body: &'p str,
}

/// Returns the folder of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the folder of the book's pages.
pub fn book() -> PathBuf {
    root().join("docs/book/src")
}

/// Returns the README and all pages of the book.
pub fn all() -> Vec<Page> {
    let mut paths = vec![root().join("README.md")];
    let entries = fs::read_dir(book()).expect("docs/book/src");
    paths.extend(entries.map(|e| e.expect("a file").path()));
    paths.retain(|p| p.extension().is_some_and(|e| e == "md"));
    paths.sort_unstable();
    let read = |path: PathBuf| Page {
        text: fs::read_to_string(&path).expect("a text"),
        path,
    };
    paths.into_iter().map(read).collect()
}

impl Page {
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    pub fn is_of_book(&self) -> bool {
        self.path.starts_with(book())
    }

    /// Returns the names of the pictures from `pictures` that it shows.
    pub fn pictures(&self) -> impl Iterator<Item = &str> {
        let links = self.text.split("](pictures/").skip(1);
        links.filter_map(|rest| rest.split(')').next())
    }

    /// Returns the blocks between fences, in order.
    pub fn blocks(&self) -> Vec<Block<'_>> {
        let (mut blocks, mut open) = (Vec::new(), None);
        let mut at = 0;
        for (k, line) in self.text.split_inclusive('\n').enumerate() {
            let fence = line.trim_start().strip_prefix("```");
            let end = at + line.len();
            if let Some(info) = fence {
                assert!(line.starts_with('`'), "{self}:{}: an indented fence", k + 1);
                match open.take() {
                    None => open = Some((info.trim(), k + 2, end)),
                    Some((info, line, start)) => blocks.push(Block {
                        info,
                        line,
                        body: &self.text[start..at],
                    }),
                }
            }
            at = end;
        }
        assert!(open.is_none(), "{self}: a fence is open");
        blocks
    }
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.strip_prefix(root()).unwrap_or(&self.path);
        path.display().fmt(f)
    }
}

/// Returns lines without indentation.
pub fn plain(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
    lines.map(|l| format!("{l}\n")).collect()
}

/// Returns the library's sources, without indentation.
pub fn sources() -> Vec<String> {
    let mut folders = vec![root().join("livefusion/src")];
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("a file").path();
            match path.is_dir() {
                true => folders.push(path),
                false => texts.push(plain(&fs::read_to_string(path).expect("a text"))),
            }
        }
    }
    texts
}
