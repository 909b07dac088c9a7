//! Parsing: statements here, expressions in `expression.rs`, patterns in `pattern.rs`.
//!
//! Recursion is limited to [`MAX_DEPTH`].

mod brackets;
mod expression;
mod habits;
mod pattern;

use crate::diagnostic::{Diagnostic, shown};
use crate::lexer::{Tok, Token, statements};
use crate::source::{SourceId, Sources, Span};
use crate::syntax::{
    CallStyle, Expr, ExprKind, Function, FunctionStyle, Ident, MAX_DEPTH, Script, Statement,
    StatementKind,
};
use std::fmt;
use std::sync::Arc;

/// The number of errors after which the parser gives up.
const MAX_MISTAKES: usize = 20;

/// Holds the errors of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The errors in text order, at most one per statement; at least one.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether the only error is an early end of the text. A shell then asks for another line.
    pub incomplete: bool,
}

impl ParseError {
    /// Renders all errors for a terminal, one below the other.
    pub fn draw(&self, sources: &Sources, colours: bool) -> String {
        let drawn: Vec<_> = self
            .diagnostics
            .iter()
            .map(|d| d.draw(sources, colours))
            .collect();
        drawn.join("\n\n")
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages: Vec<_> = self
            .diagnostics
            .iter()
            .map(|d| d.message.as_str())
            .collect();
        f.write_str(&messages.join("; "))
    }
}

impl std::error::Error for ParseError {}

/// Parses one of the texts.
///
/// ```
/// use livefusion_repl::{Sources, parse};
/// let mut sources = Sources::default();
/// let source = sources.add("sum.lf", "xs |> sum |");
/// let wrong = parse(&sources, source).unwrap_err();
/// assert_eq!(wrong.to_string(), "expected an expression, got the end of the text");
/// assert!(wrong.incomplete);
/// ```
pub fn parse(sources: &Sources, source: SourceId) -> Result<Script, ParseError> {
    match parse_part(sources.text(source), source) {
        (script, None) => Ok(script),
        (_, Some(wrong)) => Err(wrong),
    }
}

/// Parses the statements of a text up to its first error, and returns that error. Spans refer to
/// one of the sources. The text may be a part of that source, with blanks in place of earlier text.
pub(crate) fn parse_part(text: &str, source: SourceId) -> (Script, Option<ParseError>) {
    Parser::new(text, source).script()
}

/// Returns whether a text only makes sense after another statement.
///
/// An example is a text that begins with `|>`. A shell appends it to the previous input.
///
/// ```
/// use livefusion_repl::continues;
/// assert!(continues("  |> sum") && continues(".sum()") && continues("* 2"));
/// assert!(!continues("-xs") && !continues("(1)") && !continues("") && !continues("$"));
/// ```
pub fn continues(text: &str) -> bool {
    let tokens = statements(text);
    tokens.first().is_some_and(|t| {
        let ends = matches!(t.kind, Tok::End | Tok::Semicolon | Tok::Newline);
        !ends && !t.kind.begins(&text[t.start..t.end])
    })
}

/// The error that stops the parser.
struct Fault {
    diagnostic: Diagnostic,
    /// Whether the text ended too early.
    at_end: bool,
}

impl Fault {
    fn map(mut self: Box<Self>, f: impl FnOnce(Diagnostic) -> Diagnostic) -> Box<Fault> {
        self.diagnostic = f(self.diagnostic);
        self
    }
}

type Parse<T> = Result<T, Box<Fault>>;

struct Parser<'a> {
    text: &'a str,
    source: SourceId,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    /// The token after a minus, which may exceed the maximum of its type by one.
    minus: Option<usize>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, source: SourceId) -> Parser<'a> {
        Parser {
            text,
            source,
            tokens: statements(text),
            at: 0,
            depth: 0,
            minus: None,
        }
    }

    /// Parses statements separately, so that an error in one hides none in the next.
    fn script(mut self) -> (Script, Option<ParseError>) {
        let (mut script, mut faults) = (Script::default(), Vec::new());
        loop {
            self.skip_ends();
            if self.peek().kind == Tok::End || faults.len() == MAX_MISTAKES {
                break;
            }
            let statement = self.statement().and_then(|s| self.ended(&s).map(|()| s));
            match statement {
                Ok(statement) if faults.is_empty() => script.statements.push(statement),
                Ok(_) => {}
                Err(fault) => {
                    faults.push(fault);
                    self.depth = 0;
                    self.recover();
                }
            }
        }
        if faults.is_empty() {
            return (script, None);
        }
        let wrong = ParseError {
            incomplete: faults.iter().all(|f| f.at_end),
            diagnostics: faults.into_iter().map(|f| f.diagnostic).collect(),
        };
        (script, Some(wrong))
    }

    /// Skips to the end of the statement.
    fn recover(&mut self) {
        let ends = |t: Token| match t.kind {
            Tok::Newline | Tok::Semicolon => t.depth == 0,
            kind => kind == Tok::End,
        };
        while !ends(self.peek()) {
            self.at += 1;
        }
    }

    fn skip_ends(&mut self) {
        while matches!(self.peek().kind, Tok::Newline | Tok::Semicolon) {
            self.at += 1;
        }
    }

    fn statement(&mut self) -> Parse<Statement> {
        let first = self.peek();
        if let Some(fault) = self.foreign() {
            return Err(fault);
        }
        let kind = match first.kind {
            Tok::Let => self.binding()?,
            Tok::Def => self.definition()?,
            _ => StatementKind::Show(self.expression(0)?),
        };
        Ok(Statement {
            kind,
            span: self.since(first),
        })
    }

    fn binding(&mut self) -> Parse<StatementKind> {
        self.next();
        let pattern = self.pattern()?;
        self.expect(Tok::Equals, "`=`")?;
        let value = self.expression(0)?;
        Ok(StatementKind::Let { pattern, value })
    }

    fn definition(&mut self) -> Parse<StatementKind> {
        self.next();
        let name = self.name("the function's name")?;
        if name.text == "_" || name.text.contains("::") {
            let message = format!("`{}` cannot be a function's name", shown(&name.text));
            return Err(self.wrong(Diagnostic::new(message, name.span)));
        }
        let open = self.expect(Tok::Open, "`(`")?;
        let params = self.separated(open, |p| p.pattern())?;
        if params.is_empty() {
            let span = self.since(open);
            let value = Diagnostic::new("a function has parameters", span)
                .note("without parameters it is a value: `let name = …`");
            return Err(self.wrong(value));
        }
        if self.peek().kind == Tok::Colon {
            return Err(self.python_body());
        }
        self.expect(Tok::Equals, "`=`")?;
        let function = Function {
            params,
            body: self.expression(0)?,
            style: FunctionStyle::Def,
        };
        Ok(StatementKind::Def {
            name,
            function: Arc::new(function),
        })
    }

    /// Expects the end of the statement. The error suggests the likely intention.
    fn ended(&self, statement: &Statement) -> Parse<()> {
        let next = self.peek();
        if matches!(next.kind, Tok::Newline | Tok::Semicolon | Tok::End) {
            return Ok(());
        }
        let StatementKind::Show(value) = &statement.kind else {
            return Err(self.stray(value_of(statement)));
        };
        if next.kind == Tok::Equals && matches!(value.kind, ExprKind::Name(_)) {
            let start = Span {
                end: value.span.start,
                ..value.span
            };
            let message = format!("`{}` gets a value with `let`", self.sliced(value.span));
            let wrong = Diagnostic::new(message, self.span(next));
            return Err(self.wrong(wrong.suggest("a name is bound with `let`", start, "let ")));
        }
        Err(self.stray(Some(value)))
    }

    /// The error for a token after a complete expression.
    fn stray(&self, before: Option<&Expr>) -> Box<Fault> {
        let next = self.peek();
        if let Some(fault) = self.closed_too_often(next) {
            return fault;
        }
        let fault = self.expected_or_equal("an operator or the end of the statement");
        if next.kind == Tok::If {
            return fault.map(|d| d.note("a choice is `if c then a else b`"));
        }
        let is_name = before.is_some_and(|e| matches!(last(e).kind, ExprKind::Name(_)));
        if is_name && next.kind.begins(self.text_of(next)) && next.kind != Tok::Unknown {
            return fault.map(|d| {
                d.note("calls have parentheses: `map(xs, f)`, `xs.map(f)`, `xs |> map(f)`")
            });
        }
        fault
    }

    // Tokens.

    fn peek(&self) -> Token {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Token {
        let token = self.peek();
        self.at += 1;
        token
    }

    /// Whether the next token is an operator or bar of this text.
    fn is_operator(&self, text: &str) -> bool {
        let next = self.peek();
        next.kind == Tok::Operator && self.text_of(next) == text
    }

    fn take(&mut self, kind: Tok) -> bool {
        let taken = self.peek().kind == kind;
        self.at += usize::from(taken);
        taken
    }

    fn expect(&mut self, kind: Tok, what: &str) -> Parse<Token> {
        if self.peek().kind == kind {
            Ok(self.next())
        } else {
            Err(self.expected(what))
        }
    }

    fn name(&mut self, what: &str) -> Parse<Ident> {
        let word = self.expect(Tok::Word, what)?;
        Ok(Ident {
            text: self.text_of(word).to_string(),
            span: self.span(word),
        })
    }

    /// Parses items separated by commas, up to the closing bracket. The opening bracket is already
    /// taken.
    fn separated<T>(
        &mut self,
        open: Token,
        mut item: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        let Some((close, name)) = open.kind.closer() else {
            return Ok(Vec::new());
        };
        let mut items = Vec::new();
        while !self.take(close) {
            items.push(item(self)?);
            if !self.take(Tok::Comma) {
                self.close(open, close, &format!("`,` or {name}"))?;
                break;
            }
        }
        Ok(items)
    }

    fn text_of(&self, token: Token) -> &'a str {
        &self.text[token.start..token.end]
    }

    fn span(&self, token: Token) -> Span {
        Span {
            source: self.source,
            start: token.start,
            end: token.end,
        }
    }

    /// The span from the first byte of a token to the last byte taken.
    fn since(&self, first: Token) -> Span {
        let last = self.tokens[self.at.clamp(1, self.tokens.len()) - 1];
        self.span(first).to(self.span(last))
    }

    // Errors.

    fn wrong(&self, diagnostic: Diagnostic) -> Box<Fault> {
        Box::new(Fault {
            diagnostic,
            at_end: false,
        })
    }

    /// The error for an unexpected next token.
    fn expected(&self, what: &str) -> Box<Fault> {
        let next = self.peek();
        let span = match next.kind {
            // Point to the position of the missing part, not after comments and empty lines.
            Tok::Newline | Tok::End if self.at > 0 => self.span(self.tokens[self.at - 1]).after(),
            _ => self.span(next),
        };
        match next.kind {
            Tok::Caret => self.wrong(
                Diagnostic::new("`^` has no meaning here", span)
                    .note("a power is `a ** b`; the exclusive or of bits is `xor(a, b)`"),
            ),
            Tok::Unknown => {
                let text = shown(self.text_of(next));
                let message = format!("`{text}` has no meaning here");
                self.wrong(Diagnostic::new(message, span).label(format!("expected {what}")))
            }
            Tok::OpenText => self.wrong(
                Diagnostic::new("this string does not end", span)
                    .label("expected `\"` before the end of the line"),
            ),
            kind => Box::new(Fault {
                diagnostic: Diagnostic::new(
                    format!("expected {what}, got {}", self.describe(next)),
                    span,
                )
                .label(format!("expected {what}")),
                at_end: kind == Tok::End,
            }),
        }
    }

    /// The same error after a complete expression. It takes a single `=` for a comparison.
    fn expected_or_equal(&self, what: &str) -> Box<Fault> {
        let next = self.peek();
        let fault = self.expected(what);
        match next.kind {
            Tok::Equals => {
                let equals = self.span(next);
                fault.map(|d| d.suggest("values are compared with `==`", equals, "=="))
            }
            _ => fault,
        }
    }

    fn describe(&self, token: Token) -> String {
        let text = shown(self.text_of(token));
        match token.kind {
            Tok::Newline => "the end of the line".into(),
            Tok::End => "the end of the text".into(),
            Tok::Word => format!("the name `{text}`"),
            Tok::Number => format!("the number `{text}`"),
            Tok::Text => "a string".into(),
            _ => format!("`{text}`"),
        }
    }

    /// Runs a part of the grammar that may contain itself.
    fn deeper<T>(&mut self, part: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth == MAX_DEPTH {
            return Err(self.too_deep(self.span(self.peek())));
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    fn too_deep(&self, span: Span) -> Box<Fault> {
        let message = format!("more than {MAX_DEPTH} levels of nesting");
        let note = "brackets, operators and steps of a pipe each count as a level; `let` gives a part a name";
        self.wrong(Diagnostic::new(message, span).note(note))
    }

    /// A node, unless the tree becomes too high.
    fn node(&self, kind: ExprKind, span: Span) -> Parse<Expr> {
        let node = Expr::new(kind, span);
        if node.height() > MAX_DEPTH {
            return Err(self.too_deep(span));
        }
        Ok(node)
    }
}

/// The value of a statement.
fn value_of(statement: &Statement) -> Option<&Expr> {
    match &statement.kind {
        StatementKind::Let { value, .. } => Some(value),
        StatementKind::Def { function, .. } => Some(&function.body),
        StatementKind::Show(value) => Some(value),
    }
}

/// The last part of an expression that could be a name intended as a call.
fn last(e: &Expr) -> &Expr {
    match &e.kind {
        ExprKind::Binary { operands, .. } => last(&operands[1]),
        ExprKind::Call {
            callee,
            args,
            style,
        } if *style == CallStyle::Piped && args.len() == 1 => last(callee),
        ExprKind::Function(f) => last(&f.body),
        _ => e,
    }
}
