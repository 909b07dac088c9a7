//! Texts by name, and locations in them.

use livefusion::Loc;

/// Identifies a text of a session, such as a script or a prompt's input.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct SourceId(u32);

/// Describes a range of bytes in a text.
///
/// It stays valid as long as the [`Sources`] exist, so an error may point to a function from much
/// earlier input.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    /// The text.
    pub source: SourceId,
    /// Its first byte.
    pub start: usize,
    /// Its exclusive end.
    pub end: usize,
}

impl Span {
    /// Extends the span to the end of a later one of the same text.
    pub fn to(self, last: Span) -> Span {
        Span {
            end: last.end.max(self.start),
            ..self
        }
    }

    /// Returns the empty span after it, for a missing part.
    pub fn after(self) -> Span {
        Span {
            start: self.end,
            ..self
        }
    }
}

/// Describes a location by line and column, in characters, from 1.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The text's name.
    pub name: &'static str,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

#[derive(Clone, Debug)]
struct Source {
    name: &'static str,
    text: String,
}

/// Holds all texts of a session.
///
/// ```
/// use livefusion_repl::{Sources, Span};
/// let mut sources = Sources::default();
/// let script = sources.add("hull.lf", "let a = 1\nlet b = 2\n");
/// let b = Span { source: script, start: 14, end: 15 };
/// assert_eq!(sources.slice(b), "b");
/// let place = sources.place(b);
/// assert_eq!((place.name, place.line, place.column), ("hull.lf", 2, 5));
/// ```
#[derive(Clone, Default, Debug)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// Adds a text with a name, which need not be unique.
    pub fn add(&mut self, name: impl AsRef<str>, text: impl Into<String>) -> SourceId {
        self.0.push(Source {
            name: Loc::kept_name(name.as_ref()),
            text: text.into(),
        });
        SourceId(self.0.len() as u32 - 1)
    }

    /// Returns the name of a text, or an empty one if unknown.
    pub fn name(&self, source: SourceId) -> &'static str {
        self.get(source).map_or("", |s| s.name)
    }

    /// Returns a text, or an empty one if unknown.
    pub fn text(&self, source: SourceId) -> &str {
        self.get(source).map_or("", |s| &s.text)
    }

    /// Returns the text of a span, or an empty one if invalid.
    pub fn slice(&self, span: Span) -> &str {
        let text = self.text(span.source);
        text.get(span.start..span.end).unwrap_or("")
    }

    /// Returns the location where a span begins.
    pub fn place(&self, span: Span) -> Place {
        let text = self.text(span.source);
        let before = &text[..text.floor_char_boundary(span.start)];
        let line_start = before.rfind('\n').map_or(0, |n| n + 1);
        Place {
            name: self.name(span.source),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// Returns the number of texts.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn get(&self, source: SourceId) -> Option<&Source> {
        self.0.get(source.0 as usize)
    }
}
