//! Lines and words of a tile's text.

use super::ParseError;

/// A line with its unread words.
pub(super) struct Line<'t> {
    number: usize,
    /// The nesting depth of its body, counted from 1 for the tile's own body.
    pub(super) depth: usize,
    words: Vec<&'t str>,
    at: usize,
}

/// A parsed item, or a syntax error.
pub(super) type Parsed<T> = Result<T, ParseError>;

/// Returns the lines with content, without comments after `#`.
pub(super) fn lines(text: &str) -> Parsed<Vec<Line<'_>>> {
    let mut lines = Vec::new();
    for (k, line) in text.lines().enumerate() {
        let said = line.split('#').next().unwrap_or_default();
        let spaces = said.len() - said.trim_start_matches(' ').len();
        let line = Line {
            number: k + 1,
            depth: spaces / 2,
            words: words(said),
            at: 0,
        };
        if line.words.is_empty() {
            continue;
        }
        if spaces % 2 == 1 {
            return Err(ParseError {
                line: k + 1,
                message: format!("expected two spaces for each body around, got {spaces} spaces"),
            });
        }
        lines.push(line);
    }
    Ok(lines)
}

/// Splits a line at spaces; brackets, colons and `@` are separate words.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for mut rest in line.split_whitespace() {
        while let Some(first) = rest.find(|c| "[]():@".contains(c)) {
            // All of these are one byte long.
            words.extend([&rest[..first], &rest[first..=first]]);
            rest = &rest[first + 1..];
        }
        words.push(rest);
    }
    words.retain(|w| !w.is_empty());
    words
}

impl<'t> Line<'t> {
    /// Returns the next word and the word after it.
    pub(super) fn peek(&self) -> (Option<&'t str>, Option<&'t str>) {
        let word = |at: usize| self.words.get(at).copied();
        (word(self.at), word(self.at + 1))
    }

    /// Returns a syntax error about the expected item.
    pub(super) fn expected(&self, what: &str) -> ParseError {
        let got = match self.peek().0 {
            Some(word) => format!("`{word}`"),
            None => "the end of the line".to_string(),
        };
        ParseError {
            line: self.number,
            message: format!("expected {what}, got {got}"),
        }
    }

    /// Reads the next word if it has a meaning.
    pub(super) fn take<T>(
        &mut self,
        what: &str,
        meaning: impl FnOnce(&'t str) -> Option<T>,
    ) -> Parsed<T> {
        let taken = self.peek().0.and_then(meaning);
        let taken = taken.ok_or_else(|| self.expected(what))?;
        self.at += 1;
        Ok(taken)
    }

    /// Skips the next word.
    pub(super) fn skip(&mut self) {
        self.at += 1;
    }

    /// Reads the next word if it matches, and returns whether it did.
    pub(super) fn eat(&mut self, word: &str) -> bool {
        let met = self.peek().0 == Some(word);
        self.at += usize::from(met);
        met
    }

    /// Reads this word.
    pub(super) fn expect(&mut self, word: &str) -> Parsed<()> {
        let what = format!("`{word}`");
        self.take(&what, |w| (w == word).then_some(()))
    }

    /// Reads a name.
    pub(super) fn name(&mut self, what: &str) -> Parsed<&'t str> {
        self.take(what, |w| (loop_lang::verify::as_word(w) == w).then_some(w))
    }

    /// Reads an integer.
    pub(super) fn number(&mut self) -> Parsed<u64> {
        self.take("a whole number", |w| w.parse().ok())
    }

    /// Checks for the end of the line.
    pub(super) fn end(&self) -> Parsed<()> {
        match self.peek().0 {
            None => Ok(()),
            Some(_) => Err(self.expected("the end of the line")),
        }
    }
}
