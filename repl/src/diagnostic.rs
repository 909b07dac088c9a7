//! Errors with source locations, rendered with the text under them.

use crate::source::{Sources, Span};
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Patch, Renderer, Snippet};
use std::ops::Range;

/// Describes an error in a text.
///
/// ```
/// use livefusion_repl::{Diagnostic, Sources, Span};
/// let mut sources = Sources::default();
/// let source = sources.add("<1>", "xs |> fitler(_ > 0)");
/// let span = Span { source, start: 6, end: 12 };
/// let wrong = Diagnostic::new("there is no `fitler`", span)
///     .label("no combinator, and no name of yours")
///     .note("`:help` lists all")
///     .suggest("you may have meant", span, "filter");
/// assert_eq!(wrong.draw(&sources, false), "\
/// error: there is no `fitler`
///  --> <1>:1:7
///   |
/// 1 | xs |> fitler(_ > 0)
///   |       ^^^^^^ no combinator, and no name of yours
///   |
///   = note: `:help` lists all
/// help: you may have meant
///   |
/// 1 - xs |> fitler(_ > 0)
/// 1 + xs |> filter(_ > 0)
///   |");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The error, in one line.
    pub message: String,
    /// Its location.
    pub span: Span,
    /// The label at the location; empty if the message says everything.
    pub label: String,
    /// Other locations, perhaps in other texts, with their labels.
    pub others: Vec<(Span, String)>,
    /// Further notes.
    pub notes: Vec<String>,
    /// Suggested replacements.
    pub suggestions: Vec<Suggestion>,
}

/// Describes a replacement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suggestion {
    /// The reason.
    pub message: String,
    /// The text to replace.
    pub span: Span,
    /// The replacement.
    pub replacement: String,
}

impl Diagnostic {
    /// Creates an error at a location.
    pub fn new(message: impl Into<String>, span: Span) -> Diagnostic {
        Diagnostic {
            message: message.into(),
            span,
            label: String::new(),
            others: Vec::new(),
            notes: Vec::new(),
            suggestions: Vec::new(),
        }
    }

    /// Sets the label at the location.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// Adds another location with its label.
    pub fn other(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.others.push((span, label.into()));
        self
    }

    /// Adds a note.
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// Adds a suggestion to replace the text at `span`.
    pub fn suggest(
        mut self,
        message: impl Into<String>,
        span: Span,
        replacement: impl Into<String>,
    ) -> Diagnostic {
        self.suggestions.push(Suggestion {
            message: message.into(),
            span,
            replacement: replacement.into(),
        });
        self
    }

    /// Renders the error for a terminal.
    ///
    /// The result has the message, the source lines with the location underlined, and the notes.
    /// Colours are optional.
    pub fn draw(&self, sources: &Sources, colours: bool) -> String {
        let renderer = if colours {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let mut first = Level::ERROR
            .primary_title(self.message.as_str())
            .elements(self.snippets(sources));
        for note in &self.notes {
            first = first.element(Level::NOTE.message(note.as_str()));
        }
        let mut groups = vec![first];
        for s in &self.suggestions {
            let at = clipped(s.span, sources.text(s.span.source));
            let patch = Patch::new(at, s.replacement.as_str());
            let snippet = Snippet::source(sources.text(s.span.source)).patch(patch);
            let title = Level::HELP.secondary_title(s.message.as_str());
            groups.push(title.element(snippet));
        }
        renderer.decor_style(DecorStyle::Ascii).render(&groups)
    }

    /// Each text with its locations; the text with the error comes first.
    fn snippets<'a>(
        &'a self,
        sources: &'a Sources,
    ) -> Vec<Snippet<'a, annotate_snippets::Annotation<'a>>> {
        let mut texts = vec![self.span.source];
        for (span, _) in &self.others {
            if !texts.contains(&span.source) {
                texts.push(span.source);
            }
        }
        let snippet = |source| {
            let text = sources.text(source);
            let mut snippet = Snippet::source(text).path(sources.name(source));
            let label = (!self.label.is_empty()).then_some(self.label.as_str());
            if source == self.span.source {
                let at = AnnotationKind::Primary.span(clipped(self.span, text));
                snippet = snippet.annotation(at.label(label));
            }
            let others = self.others.iter().filter(|(s, _)| s.source == source);
            snippet.annotations(others.map(|(span, label)| {
                let at = AnnotationKind::Context.span(clipped(*span, text));
                at.label(label.as_str())
            }))
        };
        texts.into_iter().map(snippet).collect()
    }
}

/// The span in bytes, extended to whole characters of the text.
fn clipped(span: Span, text: &str) -> Range<usize> {
    let start = text.floor_char_boundary(span.start);
    let end = text.ceil_char_boundary(span.end.min(text.len()));
    start..end.max(start)
}

/// A short, printable piece of a text for messages.
pub(crate) fn shown(piece: &str) -> String {
    const MOST: usize = 40;
    let mut out = String::new();
    for (k, c) in piece.chars().enumerate() {
        if k == MOST {
            return out + "…";
        }
        match c {
            ' ' => out.push(' '),
            c if c.is_control() || c.is_whitespace() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}
