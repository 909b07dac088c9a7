//! Patterns: names, `_`, tuples, and window patterns.

use super::{Parse, Parser};
use crate::diagnostic::{Diagnostic, shown};
use crate::lexer::Tok;
use crate::syntax::{Pattern, PatternKind};

impl Parser<'_> {
    pub(super) fn pattern(&mut self) -> Parse<Pattern> {
        self.deeper(Parser::pattern_here)
    }

    fn pattern_here(&mut self) -> Parse<Pattern> {
        let first = self.peek();
        let kind = match first.kind {
            Tok::Word => self.pattern_name()?,
            Tok::Open => {
                self.next();
                let mut parts = self.separated(first, Parser::pattern)?;
                let comma = self.tokens[self.at - 2].kind == Tok::Comma;
                match parts.pop() {
                    // Parentheses around one pattern.
                    Some(only) if parts.is_empty() && !comma => return Ok(only),
                    last => parts.extend(last),
                }
                PatternKind::Tuple(parts)
            }
            Tok::OpenSquare => {
                self.next();
                PatternKind::Vector(self.separated(first, Parser::pattern)?)
            }
            _ => return Err(self.expected("a name, `(` or `[`")),
        };
        let span = self.since(first);
        match &kind {
            PatternKind::Tuple(parts) | PatternKind::Vector(parts) if parts.is_empty() => {
                Err(self.wrong(Diagnostic::new("there is nothing to name in this", span)))
            }
            _ => Ok(Pattern { kind, span }),
        }
    }

    fn pattern_name(&mut self) -> Parse<PatternKind> {
        let word = self.next();
        match self.text_of(word) {
            "_" => Ok(PatternKind::Any),
            path if path.contains("::") => {
                let message = format!(
                    "`{}` is a path, and cannot be given to a value",
                    shown(path)
                );
                Err(self.wrong(Diagnostic::new(message, self.span(word))))
            }
            name => Ok(PatternKind::Name(name.to_string())),
        }
    }
}
