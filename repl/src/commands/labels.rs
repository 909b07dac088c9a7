//! Labels of a picture: `title "TEXT"` after the arrays, or `title = "TEXT"` among them.

use super::refuse;
use crate::diagnostic::Diagnostic;
use crate::session::Session;
use crate::source::Span;
use livefusion_plot::Picture;

/// The labels after the arrays.
const WORDS: [&str; 4] = ["title", "x", "y", "legend"];

/// Names of arguments, and their labels.
const NAMES: [(&str, &str); 8] = [
    ("title", "title"),
    ("xlabel", "x"),
    ("x", "x"),
    ("ylabel", "y"),
    ("y", "y"),
    ("legend", "legend"),
    ("label", "legend"),
    ("labels", "legend"),
];

/// Holds the labels of a picture.
#[derive(Default)]
pub struct Labels {
    title: String,
    x: String,
    y: String,
    legend: Vec<String>,
}

impl Labels {
    /// Adds the labels to a picture.
    pub fn around(self, picture: Picture) -> Picture {
        let picture = picture.title(self.title).x(self.x).y(self.y);
        picture.legend(self.legend)
    }

    /// Adds the labels above and below a picture of characters.
    pub fn around_bars(&self, bars: &str) -> String {
        let title = Some(&self.title).filter(|t| !t.is_empty());
        let title = title.map(|t| format!("{t}\n")).unwrap_or_default();
        let named = [("x", &self.x), ("y", &self.y)].map(|(axis, name)| (axis, name.clone()));
        let legend = ("legend", self.legend.join(", "));
        let below = named.into_iter().chain([legend]);
        let below = below.filter(|(_, text)| !text.is_empty());
        let below: Vec<String> = below
            .map(|(word, text)| format!("{word}: {text}"))
            .collect();
        let end = if below.is_empty() { "" } else { "\n" };
        format!("{title}{bars}{}{end}", below.join(", "))
    }

    /// Parses the labels after the arrays.
    pub fn behind(&mut self, s: &Session, at: Span) -> Result<(), String> {
        let mut rest = s.sources.slice(at).trim();
        while !rest.is_empty() {
            let read = word(rest).and_then(|(word, rest)| Some((word, texts(rest)?)));
            let Some((word, (texts, behind))) = read else {
                let expected = "`title`, `x`, `y` or `legend`, each with a text in quotes";
                return Err(refuse(s, at, &format!("expected {expected}, got `{rest}`")));
            };
            self.set(word, &texts).map_err(|why| refuse(s, at, &why))?;
            rest = behind;
        }
        Ok(())
    }

    /// Parses a named argument, or returns false for any other.
    pub fn named(&mut self, s: &Session, at: Span) -> Result<bool, String> {
        let Some((name, value)) = named(s.sources.slice(at)) else {
            return Ok(false);
        };
        let Some((_, word)) = NAMES.iter().find(|(n, _)| *n == name) else {
            let message = format!("`:plot` has no argument `{name}`");
            let note = "the arguments are `title`, `xlabel`, `ylabel` and `legend`";
            return Err(s.draw(&Diagnostic::new(message, at).note(note)));
        };
        let list = value.strip_prefix('[').and_then(|v| v.strip_suffix(']'));
        let read = texts(list.unwrap_or(value).trim());
        let Some((texts, "")) = read.map(|(texts, rest)| (texts, rest.trim())) else {
            let message = format!("expected a text in quotes for `{name}`, got `{value}`");
            return Err(refuse(s, at, &message));
        };
        self.set(word, &texts).map_err(|why| refuse(s, at, &why))?;
        Ok(true)
    }

    fn set(&mut self, word: &str, texts: &[&str]) -> Result<(), String> {
        let one = match word {
            "title" => &mut self.title,
            "x" => &mut self.x,
            "y" => &mut self.y,
            _ => {
                self.legend = texts.iter().map(|t| t.to_string()).collect();
                return Ok(());
            }
        };
        match texts {
            [text] => {
                *one = text.to_string();
                Ok(())
            }
            texts => Err(format!(
                "expected one text for `{word}`, got {}",
                texts.len()
            )),
        }
    }
}

/// The name and the value of a text `name = value`.
fn named(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.is_empty();
    (is_name && !value.starts_with('=')).then_some((name, value))
}

/// Returns letters outside quotes and brackets, with their positions.
pub fn outside(text: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut depth, mut is_quoted) = (0usize, false);
    text.char_indices().filter(move |(_, c)| {
        match c {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && !is_quoted
    })
}

/// The label name at the start of a text if a quoted text follows, and that text.
fn word(text: &str) -> Option<(&'static str, &str)> {
    let begun = |word: &&'static str| Some((*word, text.strip_prefix(*word)?.trim_start()));
    let found = WORDS.iter().find_map(begun);
    found.filter(|(_, rest)| rest.starts_with('"'))
}

/// Splits the arrays from the labels after them.
pub fn parted(s: &Session, at: Span) -> (Span, Option<Span>) {
    let text = s.sources.slice(at);
    let blanks = outside(text).filter(|(_, c)| c.is_whitespace());
    let starts = blanks.map(|(k, c)| k + c.len_utf8());
    let first = starts.filter(|k| text.get(*k..).and_then(word).is_some());
    match first.min() {
        Some(k) if !text[..k].trim().is_empty() => {
            let start = at.start + k;
            let end = at.start + text[..k].trim_end().len();
            (Span { end, ..at }, Some(Span { start, ..at }))
        }
        _ => (at, None),
    }
}

/// Quoted texts, separated by commas, and the rest.
fn texts(text: &str) -> Option<(Vec<&str>, &str)> {
    let (first, rest) = text.strip_prefix('"')?.split_once('"')?;
    let rest = rest.trim_start();
    match rest.strip_prefix(',') {
        Some(more) => {
            let (mut all, rest) = texts(more.trim_start())?;
            all.insert(0, first);
            Some((all, rest))
        }
        None => Some((vec![first], rest)),
    }
}
