//! What is wrong, and where: drawn with the text under it.

use crate::source::{Sources, Span};
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Patch, Renderer, Snippet};
use std::ops::Range;

/// A mistake in a text.
///
/// ```
/// use livefusion_repl::{Diagnostic, Sources, Span};
/// let mut sources = Sources::default();
/// let source = sources.add("<1>", "xs |> fitler(_ > 0)");
/// let span = Span { source, start: 6, end: 12 };
/// let wrong = Diagnostic::new("there is no `fitler`", span)
///     .label("no combinator, and no name of yours")
///     .note("`:help` lists what there is")
///     .suggest("you may have meant", span, "filter");
/// assert_eq!(wrong.draw(&sources, false), "\
/// error: there is no `fitler`
///  --> <1>:1:7
///   |
/// 1 | xs |> fitler(_ > 0)
///   |       ^^^^^^ no combinator, and no name of yours
///   |
///   = note: `:help` lists what there is
/// help: you may have meant
///   |
/// 1 - xs |> fitler(_ > 0)
/// 1 + xs |> filter(_ > 0)
///   |");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// What is wrong, in one line.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What is said at the place; nothing if the message says all.
    pub label: String,
    /// Other places, perhaps of other texts, and what they have to do with it.
    pub others: Vec<(Span, String)>,
    /// What else is good to know.
    pub notes: Vec<String>,
    /// What could be written instead.
    pub suggestions: Vec<Suggestion>,
}

/// Something to write instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suggestion {
    /// Why.
    pub message: String,
    /// What to replace.
    pub span: Span,
    /// With what.
    pub replacement: String,
}

impl Diagnostic {
    /// A mistake at a place.
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

    /// What is said at the place.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// Another place that has to do with it.
    pub fn other(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.others.push((span, label.into()));
        self
    }

    /// What else is good to know.
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// What could be written instead of what is at `span`.
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

    /// What a terminal shows: the message, the lines of the text with the place underlined, the notes. In colours if
    /// it is asked for.
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

    /// Each text with its places; the one with the mistake first.
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

/// The span's bytes that are whole characters of the text.
fn clipped(span: Span, text: &str) -> Range<usize> {
    let start = text.floor_char_boundary(span.start);
    let end = text.ceil_char_boundary(span.end.min(text.len()));
    start..end.max(start)
}

/// A piece of a text as a message may have it: not too long, and of visible characters.
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
