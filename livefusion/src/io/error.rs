//! File errors: file, place, expectation and finding.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Specialises `Result` to the error of files.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Explains a failure to read or write a file.
///
/// ```
/// use livefusion::io;
/// let wrong = io::csv_text("id,mass\n1,2.5\n2,heavy\n").column::<f64>("mass").read();
/// let wrong = wrong.map(|_| ()).unwrap_err();
/// assert_eq!(wrong.to_string(), r#"line 3, column "mass": expected f64, got "heavy""#);
/// ```
///
/// `{:?}` gives the same sentence, since `main` shows an error with it. `{:#?}` lists the fields.
pub struct Error {
    /// The file, if there is one.
    pub path: Option<PathBuf>,
    /// The place in it.
    pub place: Place,
    /// The kind of error.
    pub kind: ErrorKind,
}

/// Describes a place in a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Place {
    /// The whole file.
    Whole,
    /// A line. The first line is 1.
    Line {
        /// The line.
        line: u64,
        /// The name of the column, if one column is at fault.
        column: Option<String>,
    },
    /// A whole column.
    Column(String),
    /// The bytes from this one on. The first byte is 0.
    Byte(u64),
    /// An array of an archive.
    Member(String),
}

/// Describes the kind of a file error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The system could not open, read or write it.
    #[error("{0}")]
    System(#[source] io::Error),
    /// The contents differ from the request or from the format.
    #[error("expected {expected}, got {got}")]
    Malformed {
        /// The expected content.
        expected: String,
        /// The actual content.
        got: String,
    },
    /// There is not enough memory for the contents.
    #[error("expected room for {bytes} bytes, the system has none")]
    Memory {
        /// The requested bytes.
        bytes: u64,
    },
    /// An array to be written could not be computed.
    #[error("{0}")]
    Array(#[source] Box<crate::Error>),
}

impl ErrorKind {
    /// An error of unexpected content.
    pub(super) fn malformed(expected: impl Into<String>, got: impl Into<String>) -> ErrorKind {
        let (expected, got) = (expected.into(), got.into());
        ErrorKind::Malformed { expected, got }
    }

    /// The error at a place of a file.
    pub(super) fn at(self, path: Option<&Path>, place: Place) -> Error {
        Error {
            path: path.map(Path::to_path_buf),
            place,
            kind: self,
        }
    }

    /// The error of a file as a whole.
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
    /// Serves functions that both read files and force arrays.
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

/// Shortens a text for an error message.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?} and {} bytes more", &text[..end], text.len() - end),
    }
}
