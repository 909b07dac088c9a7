//! Errors as values: the combinator, its location, the expected and the actual value.

use crate::loc::Loc;
use std::fmt;

/// Abbreviates `Result` with livefusion's error.
pub type Result<T> = std::result::Result<T, Error>;

/// Describes why an array could not be built or forced.
///
/// The inputs stay usable. `{:?}` gives the same sentence as `{}`, because it is the format of an
/// error of `main`. `{:#?}` lists the fields.
///
/// ```
/// use livefusion::prelude::*;
/// let error = Array::<u64>::from(vec![]).max().force().unwrap_err();
/// assert_eq!(format!("{error:?}"), error.to_string());
/// assert!(format!("{error:#?}").contains("kind: Empty"));
/// ```
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub struct Error {
    /// The combinator (`gather`, `zip`, ...), or `force`.
    pub combinator: &'static str,
    /// The location of the user's call.
    pub location: Option<Loc>,
    /// The row, segment or expansion of the failing element, where it is known for certain. Rows of
    /// several axes, and rows after a filter, are counted in the arrays that the loop runs over.
    pub row: Option<u64>,
    /// The position of the failing element, for indices and divisions. It counts within the row, if
    /// there is one, and else in the arrays that the loop runs over; elements after a filter have
    /// other positions. None if it is not known for certain.
    pub element: Option<u64>,
    /// The kind of error.
    pub kind: ErrorKind,
}

/// Lists the kinds of errors.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An index is out of range.
    OutOfRange {
        /// The index as given by the user.
        index: i128,
        /// The array's length.
        len: u64,
    },
    /// An integer was divided by zero, or `MIN` by -1.
    Division {
        /// The dividend.
        dividend: i128,
        /// The divisor.
        divisor: i128,
    },
    /// Two lengths that must be equal differ. If elements are counted as they come, as after a
    /// filter, the larger length is a lower bound.
    LengthMismatch {
        /// The length of the first array.
        expected: u64,
        /// The other length.
        got: u64,
    },
    /// Two shapes that must be equal differ in an axis.
    ShapeMismatch {
        /// The shape of the first array.
        expected: Box<str>,
        /// The other shape.
        got: Box<str>,
    },
    /// Segment lengths do not match the data. Either a segment is longer than the remaining data,
    /// or its length is negative, or data is left after all segments.
    Segments {
        /// Elements needed by the segment, or by all segments.
        needed: i128,
        /// Available elements.
        room: u64,
    },
    /// An element is needed and there is none.
    Empty,
    /// No element passes the test of a search.
    NotFound,
    /// A slice exceeds its array, or ends before it begins.
    SliceRange {
        /// The start of the slice.
        start: u64,
        /// The end of the slice.
        end: u64,
        /// The array's length.
        len: u64,
    },
    /// An expression was used outside of the closure that made it.
    LeakedExp,
    /// A segment array of a `map_segments` was used outside of its closure.
    LeakedArray,
    /// A closure on whole segments uses a combinator that does not work on segments (yet).
    NotNested,
    /// There is no memory for a result, within the engine's limit or at all.
    Memory {
        /// Requested bytes, besides those in use.
        bytes: u64,
        /// The engine's limit for all results of a force together, or the free memory of the
        /// process. `u64::MAX` if neither is known.
        limit: u64,
    },
    /// A graph built by hand is not well typed.
    Malformed {
        /// The expected value.
        expected: String,
        /// The actual value.
        got: String,
    },
    /// The engine's [`CancelToken`](crate::CancelToken) stopped it.
    Cancelled,
    /// A requested [schedule](crate::runtime::EngineBuilder::schedule) does not parse, or has
    /// illegal decisions. Each is reported with its rate and the violated rule.
    Schedule(String),
    /// The backend could not compile or run the program.
    Backend(String),
}

impl Error {
    /// Creates an error of a combinator at a location.
    pub fn new(combinator: &'static str, location: Loc, kind: ErrorKind) -> Error {
        Error {
            combinator,
            location: Some(location),
            row: None,
            element: None,
            kind,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.combinator)?;
        if let Some(l) = self.location {
            write!(f, " at {l}")?;
        }
        if let Some(i) = self.row {
            write!(f, ", row {i}")?;
        }
        if let Some(i) = self.element {
            write!(f, ", element {i}")?;
        }
        write!(f, ": {}", self.kind)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return fmt::Display::fmt(self, f);
        }
        f.debug_struct("Error")
            .field("combinator", &self.combinator)
            .field("location", &self.location)
            .field("row", &self.row)
            .field("element", &self.element)
            .field("kind", &self.kind)
            .finish()
    }
}

impl ErrorKind {
    /// Returns the error that there are more elements than a `u64` counts.
    pub(crate) fn too_many(got: String) -> ErrorKind {
        ErrorKind::Malformed {
            expected: "as many elements as a u64 counts".to_string(),
            got,
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::OutOfRange { index, len } => {
                write!(f, "expected an index below {len}, got {index}")
            }
            ErrorKind::Division {
                dividend,
                divisor: 0,
            } => {
                write!(f, "expected a divisor other than 0, got {dividend} / 0")
            }
            ErrorKind::Division { dividend, divisor } => {
                write!(
                    f,
                    "expected a quotient that fits the type, got {dividend} / {divisor}"
                )
            }
            ErrorKind::LengthMismatch { expected, got } => {
                write!(
                    f,
                    "expected an array of length {expected}, got one of length {got}"
                )
            }
            ErrorKind::ShapeMismatch { expected, got } => {
                write!(
                    f,
                    "expected an array of shape {expected}, got one of shape {got}"
                )
            }
            ErrorKind::Empty => f.write_str("expected at least one element, got an empty array"),
            ErrorKind::NotFound => {
                f.write_str("expected an element for which the test holds, got none")
            }
            ErrorKind::SliceRange { start, end, .. } if start > end => {
                write!(
                    f,
                    "expected a slice that ends at or after its start, got {start}..{end}, which runs \
                     backwards"
                )
            }
            ErrorKind::SliceRange { start, end, len } => {
                write!(
                    f,
                    "expected a slice that ends by {len}, the array's length, got {start}..{end}"
                )
            }
            ErrorKind::Segments { needed, room } => {
                write!(
                    f,
                    "expected segment lengths that match the data: {needed} elements are asked for \
                     where there are {room}"
                )
            }
            ErrorKind::LeakedExp => f.write_str(
                "expected an expression of this closure, got one that belongs to another closure",
            ),
            ErrorKind::LeakedArray => f.write_str(
                "expected an array of this closure, got one that stands for a segment in another closure",
            ),
            ErrorKind::NotNested => f.write_str(
                "expected a combinator that can work on all segments at once, got one that cannot",
            ),
            ErrorKind::Memory {
                bytes,
                limit: u64::MAX,
            } => {
                write!(f, "expected room for {bytes} bytes, the system has none")
            }
            ErrorKind::Memory { bytes, limit } => {
                write!(
                    f,
                    "expected room for {bytes} bytes more, got less: the engine's limit for all results \
                     together is {limit}"
                )
            }
            ErrorKind::Malformed { expected, got } => write!(f, "expected {expected}, got {got}"),
            ErrorKind::Cancelled => f.write_str("cancelled"),
            ErrorKind::Schedule(why) | ErrorKind::Backend(why) => f.write_str(why),
        }
    }
}
