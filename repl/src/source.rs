//! Texts under their names, and places in them.

use livefusion::Loc;

/// One of a session's texts: a script, or what was typed at one prompt.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct SourceId(u32);

/// Bytes of one of the texts. It stays good for as long as the [`Sources`] do, so that an error may point at a function
/// that was typed an hour ago.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    /// The text.
    pub source: SourceId,
    /// Its first byte.
    pub start: usize,
    /// The byte behind its last one.
    pub end: usize,
}

impl Span {
    /// From the beginning of this span to the end of a later one of the same text.
    pub fn to(self, last: Span) -> Span {
        Span {
            end: last.end.max(self.start),
            ..self
        }
    }

    /// The place behind the span, where something is missing.
    pub fn after(self) -> Span {
        Span {
            start: self.end,
            ..self
        }
    }
}

/// A place as people count: lines and columns (characters) from 1 on.
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

/// All texts of a session.
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
    /// Keeps a text under a name (which need not be unique: each text is one of its own).
    pub fn add(&mut self, name: impl AsRef<str>, text: impl Into<String>) -> SourceId {
        self.0.push(Source {
            name: Loc::kept_name(name.as_ref()),
            text: text.into(),
        });
        SourceId(self.0.len() as u32 - 1)
    }

    /// The name of a text; nothing for one of other sources.
    pub fn name(&self, source: SourceId) -> &'static str {
        self.get(source).map_or("", |s| s.name)
    }

    /// The text itself; nothing for one of other sources.
    pub fn text(&self, source: SourceId) -> &str {
        self.get(source).map_or("", |s| &s.text)
    }

    /// What stands at a span; nothing if the span is not one of the text's.
    pub fn slice(&self, span: Span) -> &str {
        let text = self.text(span.source);
        text.get(span.start..span.end).unwrap_or("")
    }

    /// Where a span begins.
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

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn get(&self, source: SourceId) -> Option<&Source> {
        self.0.get(source.0 as usize)
    }
}
