//! Python statements, and messages with their equivalents here.

use super::{Fault, Parser};
use crate::diagnostic::Diagnostic;
use crate::lexer::Tok;
use crate::source::Span;

/// First words of Python statements, the error message, and the form here.
const STATEMENTS: &[(&str, &str, &str)] = &[
    (
        "import",
        "nothing has to be imported",
        "all functions are there, with or without `np.` before their names",
    ),
    (
        "from",
        "nothing has to be imported",
        "all functions are there, with or without `np.` before their names",
    ),
    (
        "for",
        "there is no `for`",
        "write `xs |> map(|x| …)` for each element, `iterate_n(n, start, |s| …)` to repeat",
    ),
    (
        "while",
        "there is no `while`",
        "write `iterate_while(start, |s| …, |s| …)`: a test, and the next state",
    ),
    (
        "return",
        "there is no `return`",
        "a function's value stands behind `=`: `def twice(x) = x * 2`",
    ),
    (
        "class",
        "there are no classes",
        "values are numbers, arrays, tuples, tables and functions",
    ),
    (
        "del",
        "names cannot be taken away",
        "`:undo` takes back the last statement that gave a name",
    ),
];

impl Parser<'_> {
    /// The error if a Python statement begins here: its first word, followed by an operand.
    pub(super) fn foreign(&self) -> Option<Box<Fault>> {
        let first = self.peek();
        let behind = self.tokens.get(self.at + 1)?.kind;
        if first.kind != Tok::Word || !matches!(behind, Tok::Word | Tok::Number | Tok::Open) {
            return None;
        }
        let text = self.text_of(first);
        let (_, message, note) = STATEMENTS.iter().find(|(word, ..)| *word == text)?;
        // A call of a user's name.
        if behind == Tok::Open && text != "return" {
            return None;
        }
        let wrong = Diagnostic::new(*message, self.span(first)).note(*note);
        let line = self.text.get(first.start..).and_then(|t| t.lines().next());
        Some(
            self.wrong(match line.is_some_and(|l| l.contains("matplotlib")) {
                true => wrong.note("`:plot` draws pictures: `:help plot` has its forms"),
                false => wrong,
            }),
        )
    }

    /// The error for a function body after a colon.
    pub(super) fn python_body(&self) -> Box<Fault> {
        let colon = self.peek();
        let behind = self.tokens.get(self.at + 1).copied();
        let returns = behind.filter(|t| t.kind == Tok::Word && self.text_of(*t) == "return");
        let span = Span {
            end: returns.map_or(colon.end, |t| t.end),
            ..self.span(colon)
        };
        let wrong = Diagnostic::new("a function's value stands behind `=`", self.span(colon))
            .note("for example `def twice(x) = x * 2`, or `let twice = |x| x * 2`");
        self.wrong(wrong.suggest("write", span, " ="))
    }

    /// The text of a span.
    pub(super) fn sliced(&self, span: Span) -> String {
        crate::diagnostic::shown(self.text.get(span.start..span.end).unwrap_or_default())
    }
}
