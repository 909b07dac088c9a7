//! Source locations: the user's calls, in Rust or in another language's text.

use livefusion_backend::process::PerProcess;
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

/// Locates a user's call of a combinator.
///
/// Two calls at one location are equal. A front end of another language locates calls in [its
/// texts](Loc::in_text).
///
/// ```
/// use livefusion::Loc;
/// let loc = Loc::in_text("hull.lf", 3, 14);
/// assert_eq!((loc.file(), loc.line(), loc.column()), ("hull.lf", 3, 14));
/// assert_eq!(loc.to_string(), "hull.lf:3:14");
/// assert_eq!(Loc::caller().file(), file!());
/// ```
#[derive(Clone, Copy)]
pub struct Loc(LocSource);

#[derive(Clone, Copy)]
enum LocSource {
    Rust(&'static Location<'static>),
    Text(&'static TextPosition),
}

#[derive(PartialEq, Eq, Hash)]
struct TextPosition {
    file: &'static str,
    line: u32,
    column: u32,
}

/// The locations in texts so far. They are never freed, so a location is a plain reference. A text
/// has at most as many locations as characters.
static TEXTS: PerProcess<Mutex<HashSet<&'static TextPosition>>> = PerProcess::new();

/// The names of texts, which are never freed.
static NAMES: PerProcess<Mutex<HashSet<&'static str>>> = PerProcess::new();

impl Loc {
    /// Returns the location of the call.
    ///
    /// If the calling function is `#[track_caller]`, it is the location of its caller.
    #[track_caller]
    pub fn caller() -> Loc {
        Loc(LocSource::Rust(Location::caller()))
    }

    /// Locates a line and a column, both from 1, in a named text.
    ///
    /// The name may be one that is [kept](Loc::kept_name).
    pub fn in_text(file: &'static str, line: u32, column: u32) -> Loc {
        let text = TextPosition { file, line, column };
        let texts = TEXTS.get_or_make(Mutex::default).lock();
        let mut texts = texts.unwrap_or_else(PoisonError::into_inner);
        let known = texts.get(&text).copied();
        Loc(LocSource::Text(known.unwrap_or_else(|| {
            let text = Box::leak(Box::new(text));
            texts.insert(text);
            text
        })))
    }

    /// Returns the name of a text, kept until the process ends.
    ///
    /// A front end calls this once for each text, not for each location.
    ///
    /// ```
    /// use livefusion::Loc;
    /// let names = [String::from("a.lf"), String::from("a.lf")].map(|name| Loc::kept_name(&name));
    /// assert!(std::ptr::eq(names[0], names[1]));
    /// assert_eq!(Loc::in_text(names[0], 3, 14).to_string(), "a.lf:3:14");
    /// ```
    pub fn kept_name(name: &str) -> &'static str {
        let names = NAMES.get_or_make(Mutex::default).lock();
        let mut names = names.unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = names.get(name) {
            return known;
        }
        let name = Box::leak(Box::from(name));
        names.insert(name);
        name
    }

    /// Returns the file, or the name of the text.
    pub fn file(self) -> &'static str {
        match self.0 {
            LocSource::Rust(at) => at.file(),
            LocSource::Text(at) => at.file,
        }
    }

    /// Returns the line, from 1.
    pub fn line(self) -> u32 {
        match self.0 {
            LocSource::Rust(at) => at.line(),
            LocSource::Text(at) => at.line,
        }
    }

    /// Returns the column, from 1.
    pub fn column(self) -> u32 {
        match self.0 {
            LocSource::Rust(at) => at.column(),
            LocSource::Text(at) => at.column,
        }
    }

    /// Returns a number that identifies the location.
    pub(crate) fn address(self) -> usize {
        match self.0 {
            LocSource::Rust(at) => std::ptr::from_ref(at) as usize,
            LocSource::Text(at) => std::ptr::from_ref(at) as usize,
        }
    }
}

impl PartialEq for Loc {
    fn eq(&self, other: &Loc) -> bool {
        let of = |l: &Loc| (l.file(), l.line(), l.column());
        self.address() == other.address() || of(self) == of(other)
    }
}

impl Eq for Loc {}

impl Hash for Loc {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.file(), self.line(), self.column()).hash(state);
    }
}

impl fmt::Display for Loc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file(), self.line(), self.column())
    }
}

impl fmt::Debug for Loc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
