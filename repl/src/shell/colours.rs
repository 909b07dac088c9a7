//! Syntax colours, by tokens.

use super::command;
use crate::lexer::{Tok, tokens};
use std::ops::Range;

/// Lists classes of tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Class {
    Comment,
    Keyword,
    Command,
    Number,
    Text,
    /// A called name, or a step of a pipe.
    Called,
    Name,
    /// An operator or a bracket.
    Mark,
    /// Characters that begin no token.
    Wrong,
}

/// Classifies the pieces of a text, without the blanks between them.
///
/// It also works for texts that cannot be parsed.
///
/// ```
/// use livefusion_repl::shell::{Class, classes};
/// let found: Vec<_> = classes("xs |> map(f)").collect();
/// assert_eq!(found[0], (0..2, Class::Name));
/// assert_eq!(found[2], (6..9, Class::Called));
/// ```
pub fn classes(text: &str) -> impl Iterator<Item = (Range<usize>, Class)> {
    let rest = command(text).map_or(0, |(_, rest)| text.len() - rest.len());
    let start = text.len() - text.trim_start().len();
    let first = (rest > 0).then_some((start..rest, Class::Command));
    let all: Vec<_> = tokens(&text[rest..]).collect();
    let class = move |k: usize| {
        let text = &text[rest..];
        let of = |k: usize| all.get(k).map(|t| (t.kind, &text[t.start..t.end]));
        let before = k.checked_sub(1).and_then(of);
        let (kind, _) = of(k)?;
        let class = match kind {
            Tok::Newline => return Some(None),
            Tok::Comment => Class::Comment,
            Tok::Let | Tok::Def | Tok::If | Tok::Then | Tok::Else | Tok::As | Tok::Ragged => {
                Class::Keyword
            }
            Tok::Number | Tok::True | Tok::False => Class::Number,
            Tok::Text | Tok::OpenText => Class::Text,
            Tok::Word if before == Some((Tok::Operator, "|>")) => Class::Called,
            Tok::Word if matches!(of(k + 1), Some((Tok::Open, _))) => Class::Called,
            Tok::Word => Class::Name,
            Tok::Unknown => Class::Wrong,
            _ => Class::Mark,
        };
        Some(Some((rest + all[k].start..rest + all[k].end, class)))
    };
    first.into_iter().chain((0..).map_while(class).flatten())
}

/// Returns the text with terminal colours.
///
/// Its visible width is unchanged.
///
/// ```
/// use livefusion_repl::shell::coloured;
/// assert_eq!(coloured("x + 1"), "x + \x1b[36m1\x1b[0m");
/// ```
pub fn coloured(text: &str) -> String {
    let mut out = String::new();
    let mut done = 0;
    for (range, class) in classes(text) {
        let code = match class {
            Class::Comment => "90",
            Class::Keyword | Class::Command => "35",
            Class::Number => "36",
            Class::Text => "32",
            Class::Called => "34",
            Class::Wrong => "31",
            Class::Name | Class::Mark => continue,
        };
        out += &text[done..range.start];
        out += &format!("\x1b[{code}m{}\x1b[0m", &text[range.clone()]);
        done = range.end;
    }
    out + &text[done..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_add_nothing_else() {
        let text = ":type let f = \"a\" # ö\nif xs |> map(1.5) $ \"b";
        let mut plain = coloured(text);
        while let Some(start) = plain.find('\x1b') {
            let end = plain[start..]
                .find('m')
                .map_or(plain.len(), |n| start + n + 1);
            plain.replace_range(start..end, "");
        }
        assert_eq!(plain, text);
        let found: Vec<_> = classes(text)
            .map(|(range, class)| (&text[range], class))
            .collect();
        assert_eq!(found[0], (":type", Class::Command));
        assert!(
            found.contains(&("# ö", Class::Comment)) && found.contains(&("map", Class::Called))
        );
        assert!(found.contains(&("$", Class::Wrong)) && found.contains(&("\"b", Class::Text)));
    }
}
