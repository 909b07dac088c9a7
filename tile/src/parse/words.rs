//! Lines of a tile's text and their words.

use super::ParseError;

/// A line, with the words that are still to be read.
pub(super) struct Line<'t> {
    number: usize,
    /// How many bodies it is in; the tile's own is the first.
    pub(super) depth: usize,
    words: Vec<&'t str>,
    at: usize,
}

/// What is read, or what was expected instead.
pub(super) type Parsed<T> = Result<T, ParseError>;

/// The lines that say something: empty ones, and what follows `#`, say nothing.
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

/// Words between spaces; brackets, colons and `@` are words of their own.
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
    /// The next word, if there is one, and the one behind it.
    pub(super) fn peek(&self) -> (Option<&'t str>, Option<&'t str>) {
        let word = |at: usize| self.words.get(at).copied();
        (word(self.at), word(self.at + 1))
    }

    /// The error that something else was expected here.
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

    /// What the next word means.
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

    /// Reads on behind the next word.
    pub(super) fn skip(&mut self) {
        self.at += 1;
    }

    /// Whether the next word is this one, which is read then.
    pub(super) fn eat(&mut self, word: &str) -> bool {
        let met = self.peek().0 == Some(word);
        self.at += usize::from(met);
        met
    }

    /// This word.
    pub(super) fn expect(&mut self, word: &str) -> Parsed<()> {
        let what = format!("`{word}`");
        self.take(&what, |w| (w == word).then_some(()))
    }

    /// A word that may name something.
    pub(super) fn name(&mut self, what: &str) -> Parsed<&'t str> {
        self.take(what, |w| (loop_lang::verify::as_word(w) == w).then_some(w))
    }

    /// A whole number.
    pub(super) fn number(&mut self) -> Parsed<u64> {
        self.take("a whole number", |w| w.parse().ok())
    }

    /// The end of the line.
    pub(super) fn end(&self) -> Parsed<()> {
        match self.peek().0 {
            None => Ok(()),
            Some(_) => Err(self.expected("the end of the line")),
        }
    }
}
