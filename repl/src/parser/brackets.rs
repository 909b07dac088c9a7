//! Errors for missing, misplaced and surplus brackets.

use super::{Fault, Parse, Parser};
use crate::diagnostic::{Diagnostic, shown};
use crate::lexer::{Tok, Token};

impl Parser<'_> {
    /// Takes the matching closing bracket, or reports the token in its place.
    pub(super) fn close(&mut self, open: Token, close: Tok, what: &str) -> Parse<()> {
        let next = self.peek();
        if self.take(close) {
            return Ok(());
        }
        let opened = self.span(open);
        let fault = match next.kind {
            Tok::End => self.open_at_end(what),
            Tok::Close | Tok::CloseSquare | Tok::CloseBrace => {
                let (open, next_text) = (self.text_of(open), self.text_of(next));
                let message = format!("the `{open}` is not closed before `{next_text}`");
                self.wrong(
                    Diagnostic::new(message, self.span(next)).label(format!("expected {what}")),
                )
            }
            _ => self.expected_or_equal(what),
        };
        Err(fault.map(|d| d.other(opened, "opened here")))
    }

    /// The error for brackets that are open at the end of the text. Another line may close them.
    fn open_at_end(&self, what: &str) -> Box<Fault> {
        let mut open: Vec<Token> = Vec::new();
        for token in self.tokens.iter().take(self.at) {
            match token.kind {
                Tok::Close | Tok::CloseSquare | Tok::CloseBrace => drop(open.pop()),
                kind if kind.closer().is_some() => open.push(*token),
                _ => {}
            }
        }
        let all: Vec<String> = open
            .iter()
            .map(|t| format!("the `{}`", self.text_of(*t)))
            .collect();
        let are = if all.len() == 1 { "is" } else { "are" };
        let message = match all.len() {
            0..=3 => format!("{} {are} not closed", all.join(" and ")),
            n => format!("{n} brackets are not closed"),
        };
        let what = format!("expected {what}");
        self.expected(&what).map(|mut d| {
            d.message = message;
            d.label(what)
        })
    }

    /// The error for a closing bracket without an opening one.
    pub(super) fn closed_too_often(&self, next: Token) -> Option<Box<Fault>> {
        let closes = matches!(next.kind, Tok::Close | Tok::CloseSquare | Tok::CloseBrace);
        let text = shown(self.text_of(next));
        let wrong = || Diagnostic::new(format!("there is a `{text}` too many"), self.span(next));
        (closes && next.depth == 0).then(|| self.wrong(wrong()))
    }
}
