//! Completion: the kind of text expected at a cursor.

use crate::lexer::{Tok, tokens};

/// The kind of a completion.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Wanted<'a> {
    Name,
    /// A member of this text's value.
    Member(&'a str),
    Command,
    File,
    Nothing,
}

/// The start of the text to complete, and its kind.
pub(super) fn at(line: &str, pos: usize) -> (usize, Wanted<'_>) {
    let text = line.get(..pos).unwrap_or("");
    let start = text.len() - text.trim_start().len();
    if let Some(word) = text[start..].strip_prefix(':')
        && !word.contains(char::is_whitespace)
    {
        return (start + 1, Wanted::Command);
    }
    let all: Vec<_> = tokens(text).collect();
    let (word, before) = match all.as_slice() {
        [before @ .., word] if word.end == text.len() => (Some(word), before),
        before => (None, before),
    };
    let after_dot = |before: &[crate::lexer::Token]| match before {
        [.., of, dot] if dot.kind == Tok::Dot => Some(&text[of.start..of.end]),
        _ => None,
    };
    match word.map(|w| (w.kind, w.start)) {
        Some((Tok::OpenText, start)) => (start, Wanted::File),
        Some((Tok::Dot, _)) => (pos, after_dot(&all).map_or(Wanted::Nothing, Wanted::Member)),
        Some((Tok::Comment | Tok::Number | Tok::Text, _)) => (pos, Wanted::Nothing),
        // A reserved word may be the beginning of a name.
        Some((_, start)) if text[start..].starts_with(|c: char| c.is_alphabetic() || c == '_') => (
            start,
            after_dot(before).map_or(Wanted::Name, Wanted::Member),
        ),
        _ => (pos, Wanted::Name),
    }
}

/// The callee of the parenthesis before the cursor.
pub(super) fn called(line: &str, pos: usize) -> Option<&str> {
    let text = line.get(..pos).filter(|t| t.len() == line.len())?;
    let all: Vec<_> = tokens(text).collect();
    let [.., name, open] = all.as_slice() else {
        return None;
    };
    let is_call = name.kind == Tok::Word && open.kind == Tok::Open && open.end == pos;
    is_call.then(|| &text[name.start..name.end])
}
