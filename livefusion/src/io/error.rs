//! What is wrong with a file: which one, where in it, what was expected, what was there.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// `Result` with the error of files.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file could not be read or written.
///
/// ```
/// use livefusion::io;
/// let wrong = io::csv_text("id,mass\n1,2.5\n2,heavy\n").column::<f64>("mass").read();
/// let wrong = wrong.map(|_| ()).unwrap_err();
/// assert_eq!(wrong.to_string(), r#"line 3, column "mass": expected f64, got "heavy""#);
/// ```
///
/// `{:?}` is that sentence, too, since that is how an error of `main` is shown; `{:#?}` lists the fields.
pub struct Error {
    /// The file, if it is one.
    pub path: Option<PathBuf>,
    /// Where in it.
    pub place: Place,
    /// What went wrong.
    pub kind: ErrorKind,
}

/// Where in a file something is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Place {
    /// In all of it.
    Whole,
    /// In a line, the first of which is 1.
    Line {
        /// The line.
        line: u64,
        /// The name of the column, if it is one column's fault.
        column: Option<String>,
    },
    /// In a column as a whole.
    Column(String),
    /// From this byte on; the first is 0.
    Byte(u64),
    /// In an array of an archive.
    Member(String),
}

/// What went wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The system could not open, read or write it.
    #[error("{0}")]
    System(#[source] io::Error),
    /// It holds something else than was asked for, or than its format has.
    #[error("expected {expected}, got {got}")]
    Malformed {
        /// What was expected.
        expected: String,
        /// What was there.
        got: String,
    },
    /// There is no memory for what it holds.
    #[error("expected room for {bytes} bytes, the system has none")]
    Memory {
        /// Bytes asked for.
        bytes: u64,
    },
    /// An array that was to be written could not be computed.
    #[error("{0}")]
    Array(#[source] Box<crate::Error>),
}

impl ErrorKind {
    /// Something else than was expected.
    pub(super) fn malformed(expected: impl Into<String>, got: impl Into<String>) -> ErrorKind {
        let (expected, got) = (expected.into(), got.into());
        ErrorKind::Malformed { expected, got }
    }

    /// The error that this is at a place of a file.
    pub(super) fn at(self, path: Option<&Path>, place: Place) -> Error {
        Error {
            path: path.map(Path::to_path_buf),
            place,
            kind: self,
        }
    }

    /// The error that this is of a file as a whole.
    pub(super) fn of(self, path: &Path) -> Error {
        self.at(Some(path), Place::Whole)
    }
}

impl From<io::Error> for ErrorKind {
    fn from(e: io::Error) -> ErrorKind {
        ErrorKind::System(e)
    }
}

impl From<crate::Error> for ErrorKind {
    fn from(e: crate::Error) -> ErrorKind {
        ErrorKind::Array(Box::new(e))
    }
}

impl From<crate::Error> for Error {
    /// For functions that both read files and force arrays.
    fn from(e: crate::Error) -> Error {
        ErrorKind::from(e).at(None, Place::Whole)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut between = "";
        if let Some(path) = &self.path {
            write!(f, "{}", path.display())?;
            between = ", ";
        }
        match &self.place {
            Place::Whole => {}
            Place::Line { line, column: None } => write!(f, "{between}line {line}")?,
            Place::Line {
                line,
                column: Some(name),
            } => write!(f, "{between}line {line}, column {name:?}")?,
            Place::Column(name) => write!(f, "{between}column {name:?}")?,
            Place::Byte(at) => write!(f, "{between}byte {at}")?,
            Place::Member(name) => write!(f, "{between}array {name:?}")?,
        }
        if self.path.is_some() || self.place != Place::Whole {
            f.write_str(": ")?;
        }
        self.kind.fmt(f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return fmt::Display::fmt(self, f);
        }
        f.debug_struct("Error")
            .field("path", &self.path)
            .field("place", &self.place)
            .field("kind", &self.kind)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.kind)
    }
}

/// A text as an error shows it: not too long.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?} and {} bytes more", &text[..end], text.len() - end),
    }
}
