//! Expressions: a Pratt parser over the binding powers of `grammar::TABLE`.
//!
//! It parses an operand, then infix and postfix operators that bind tightly enough.

use super::{Parse, Parser};
use crate::diagnostic::{Diagnostic, shown};
use crate::grammar::{self, Does, Operator, Side, TABLE};
use crate::lexer::{Tok, Token};
use crate::literal;
use crate::nearest::nearest;
use crate::source::Span;
use crate::syntax::{
    CallStyle, Expr, ExprKind, Field, Function, FunctionStyle, Literal, Pattern, Statement,
    StatementKind, Unary,
};
use loop_lang::Ty;
use std::sync::Arc;

impl Parser<'_> {
    /// Parses operators of this level and tighter ones.
    pub(super) fn expression(&mut self, least: usize) -> Parse<Expr> {
        self.deeper(|p| p.expression_here(least))
    }

    fn expression_here(&mut self, least: usize) -> Parse<Expr> {
        let first = self.peek();
        let mut left = self.operand()?;
        let mut alone = None;
        while let Some((level, operator)) = self.operator_behind(&left)
            && level >= least
        {
            if alone == Some(level) {
                return Err(self.twice(operator));
            }
            alone = (TABLE[level].side == Side::Alone).then_some(level);
            left = self.behind(left, first, level, operator)?;
        }
        Ok(left)
    }

    /// The next infix or postfix operator, if there is one.
    fn operator_behind(&self, left: &Expr) -> Option<(usize, &'static Operator)> {
        let next = self.peek();
        match next.kind {
            Tok::Operator | Tok::As | Tok::Open | Tok::OpenSquare | Tok::Dot => {
                grammar::behind(self.text_of(next))
            }
            Tok::Text if matches!(left.kind, ExprKind::Name(_)) => grammar::behind("\""),
            _ => None,
        }
    }

    fn twice(&self, operator: &Operator) -> Box<super::Fault> {
        let span = self.span(self.peek());
        let note = match operator.does {
            Does::Range { .. } => "put parentheses around one of the ranges",
            _ => "write `a < b && b < c`, or put parentheses around one of them",
        };
        let message = format!("`{}` cannot follow its like", operator.text);
        self.wrong(Diagnostic::new(message, span).note(note))
    }

    /// Continues with an operator after its first operand.
    fn behind(&mut self, left: Expr, first: Token, level: usize, o: &Operator) -> Parse<Expr> {
        if o.does == Does::CallText {
            let text = self.operand()?;
            return self.call(left, vec![text], CallStyle::Plain, first);
        }
        let token = self.next();
        let kind = match o.does {
            Does::Pipe => return self.pipe(left, first, level),
            Does::Member => return self.member(left, first),
            Does::Call => {
                let args = self.separated(token, Parser::argument)?;
                return self.call(left, args, CallStyle::Plain, first);
            }
            Does::Index => ExprKind::Index {
                array: Box::new(left),
                items: self.separated(token, Parser::item)?,
            },
            Does::Range { closed } => self.range(Some(left), level, closed)?,
            Does::Cast => ExprKind::Cast {
                value: Box::new(left),
                ty: self.ty()?,
            },
            Does::Binary(op) => ExprKind::Binary {
                op,
                op_span: self.span(token),
                operands: Box::new([left, self.expression(right_of(level))?]),
            },
            // Other code handles these.
            Does::Unary(_) | Does::CallText => return Err(self.expected("an operator")),
        };
        self.node(kind, self.since(first))
    }

    fn call(&self, f: Expr, args: Vec<Expr>, style: CallStyle, first: Token) -> Parse<Expr> {
        let callee = Box::new(f);
        let kind = ExprKind::Call {
            callee,
            args,
            style,
        };
        self.node(kind, self.since(first))
    }

    /// A step of a pipe: a call without its first argument, or a callee alone.
    fn pipe(&mut self, left: Expr, first: Token, level: usize) -> Parse<Expr> {
        let begins = self.peek();
        let step = self.expression(level + 1)?;
        let bare = step.span.start == begins.start;
        let (f, rest) = match step.kind {
            ExprKind::Call {
                callee,
                args,
                style: CallStyle::Plain,
            } if bare => (*callee, args),
            ExprKind::Name(_) | ExprKind::Function(_) => (step, Vec::new()),
            _ if !bare => (step, Vec::new()),
            _ => return Err(self.no_step(&step, first)),
        };
        let args = std::iter::once(left).chain(rest).collect();
        self.call(f, args, CallStyle::Piped, first)
    }

    fn no_step(&self, step: &Expr, first: Token) -> Box<super::Fault> {
        let mut wrong = Diagnostic::new("a pipe leads to a function, which this is not", step.span)
            .label("expected a name, a call, or a function");
        if let ExprKind::Binary {
            op_span, operands, ..
        } = &step.kind
            && matches!(
                operands[0].kind,
                ExprKind::Name(_) | ExprKind::Call { .. } | ExprKind::Binary { .. }
            )
        {
            let inner = self.text[first.start..op_span.start].trim_end();
            let start = Span {
                end: first.start + inner.len(),
                ..self.span(first)
            };
            wrong = wrong.suggest(
                "an operator is used on a pipe in parentheses",
                start,
                format!("({inner})"),
            );
        } else {
            wrong = wrong.note("to take the value elsewhere, write a function: `xs |> \\x -> …`");
        }
        self.wrong(wrong)
    }

    /// The part after a dot: a method with its arguments, or a field.
    fn member(&mut self, left: Expr, first: Token) -> Parse<Expr> {
        let token = self.peek();
        if token.kind == Tok::Word && is_module(&left) {
            self.next();
            let name = ExprKind::Name(self.text_of(token).to_string());
            return self.node(name, self.since(first));
        }
        let value = Box::new(left);
        match token.kind {
            Tok::Number => self.numbered(*value, first),
            Tok::Word => {
                let name = self.name("a name")?;
                let span = name.span;
                let next = self.peek();
                let more = match next.kind {
                    Tok::Open => {
                        self.next();
                        self.separated(next, Parser::argument)?
                    }
                    Tok::Text => vec![self.operand()?],
                    _ => {
                        let field = Field::Name(name);
                        return self.node(ExprKind::Field { value, field }, self.since(first));
                    }
                };
                let callee = self.node(ExprKind::Name(name.text), span)?;
                let args = std::iter::once(*value).chain(more).collect();
                self.call(callee, args, CallStyle::Method, first)
            }
            _ => Err(self.expected("a method or a field")),
        }
    }

    /// A field of a tuple, possibly nested: the lexer reads `.0.1` as one number.
    fn numbered(&mut self, left: Expr, first: Token) -> Parse<Expr> {
        let token = self.next();
        let mut value = left;
        let mut start = token.start;
        for digits in self.text_of(token).split('.') {
            let span = Span {
                start,
                end: start + digits.len(),
                ..self.span(token)
            };
            let plain = digits.chars().all(|c| c.is_ascii_digit());
            let Some(number) = digits.parse().ok().filter(|_| plain) else {
                let message = format!("`{}` is no field's number", shown(digits));
                return Err(self.wrong(Diagnostic::new(message, span)));
            };
            let kind = ExprKind::Field {
                value: Box::new(value),
                field: Field::Number(number, span),
            };
            value = self.node(kind, self.span(first).to(span))?;
            start = span.end + 1;
        }
        Ok(value)
    }

    /// A range after its dots. Its end may be missing.
    fn range(&mut self, start: Option<Expr>, level: usize, closed: bool) -> Parse<ExprKind> {
        let next = self.peek();
        let ends = closed || next.kind.begins(self.text_of(next));
        let end = ends.then(|| self.expression(level + 1)).transpose()?;
        Ok(ExprKind::Range {
            start: start.map(Box::new),
            end: end.map(Box::new),
            closed,
        })
    }

    fn ty(&mut self) -> Parse<Ty> {
        let word = self.expect(Tok::Word, "a type of numbers")?;
        let name = self.text_of(word);
        if let Some(ty) = Ty::from_name(name) {
            return Ok(ty);
        }
        let span = self.span(word);
        let names = Ty::ALL.map(Ty::name);
        let mut wrong = Diagnostic::new(format!("there is no type `{}`", shown(name)), span)
            .note(format!("the types are {}", names.join(", ")));
        let meant = match name {
            "usize" => vec!["u64"],
            "isize" | "int" => vec!["i64"],
            "float" | "double" => vec!["f64"],
            _ => nearest(name, names),
        };
        for near in meant.into_iter().take(1) {
            wrong = wrong.suggest("you may have meant", span, near);
        }
        Err(self.wrong(wrong))
    }

    /// Parses an operand.
    fn operand(&mut self) -> Parse<Expr> {
        let first = self.peek();
        let text = self.text_of(first);
        let kind = match first.kind {
            Tok::Number => ExprKind::Literal(self.number()?),
            Tok::Text => ExprKind::Literal(self.string()?),
            Tok::True | Tok::False => {
                self.next();
                ExprKind::Literal(Literal::Bool(first.kind == Tok::True))
            }
            Tok::Word | Tok::Open if self.is_arrow_function() => self.arrow_function()?,
            Tok::Lambda => self.lambda()?,
            Tok::Word => {
                self.next();
                ExprKind::Name(text.to_string())
            }
            Tok::Open => return self.parentheses(),
            Tok::OpenSquare => ExprKind::Vector(self.vector()?),
            Tok::Ragged => {
                self.next();
                ExprKind::Ragged(self.vector()?)
            }
            Tok::OpenBrace => self.block()?,
            Tok::Backslash => self.backslash()?,
            Tok::If => self.condition()?,
            Tok::Operator => self.prefix(text)?,
            _ => return Err(self.expected("an expression")),
        };
        self.node(kind, self.since(first))
    }

    fn prefix(&mut self, text: &str) -> Parse<ExprKind> {
        if let Some((level, operator)) = grammar::before(text)
            && let Does::Unary(op) = operator.does
        {
            self.next();
            self.minus = (op == Unary::Neg).then_some(self.at);
            let operand = Box::new(self.expression(level)?);
            return Ok(ExprKind::Unary { op, operand });
        }
        if let Some((level, operator)) = grammar::behind(text)
            && let Does::Range { closed } = operator.does
        {
            self.next();
            return self.range(None, level, closed);
        }
        let fault = self.expected("an expression");
        let span = self.span(self.peek());
        match text {
            "|" => self.bars(),
            "||" => Err(fault.map(|d| d.note("a function has at least one parameter: `|x| …`"))),
            "&" => Err(fault.map(|d| d.suggest("nothing is borrowed here", span, ""))),
            _ => Err(fault),
        }
    }

    fn number(&mut self) -> Parse<Literal> {
        let negated = self.minus == Some(self.at);
        let token = self.next();
        let text = self.text_of(token);
        literal::number(text, negated).map_err(|what| {
            let message = format!("`{}` is no number: {what}", shown(text));
            self.wrong(Diagnostic::new(message, self.span(token)))
        })
    }

    fn string(&mut self) -> Parse<Literal> {
        let token = self.next();
        let text = literal::string(self.text_of(token));
        text.map(Literal::Text).map_err(|(start, end, what)| {
            let span = Span {
                start: token.start + start,
                end: token.start + end,
                ..self.span(token)
            };
            let note = r#"escapes are `\n`, `\t`, `\r`, `\0`, `\\`, `\'` and `\"`"#;
            self.wrong(Diagnostic::new(what, span).note(note))
        })
    }

    /// An expression in parentheses, or a tuple.
    fn parentheses(&mut self) -> Parse<Expr> {
        let open = self.next();
        let mut parts = self.separated(open, |p| p.expression(0))?;
        let comma = self.tokens[self.at - 2].kind == Tok::Comma;
        match parts.pop() {
            Some(only) if parts.is_empty() && !comma => return Ok(only),
            Some(last) => parts.push(last),
            None => {
                let span = self.since(open);
                return Err(self.wrong(Diagnostic::new("nothing is in these parentheses", span)));
            }
        }
        self.node(ExprKind::Tuple(parts), self.since(open))
    }

    fn vector(&mut self) -> Parse<Vec<Expr>> {
        let open = self.expect(Tok::OpenSquare, "`[`")?;
        self.separated(open, |p| p.expression(0))
    }

    /// A block: definitions, and the result value.
    fn block(&mut self) -> Parse<ExprKind> {
        let open = self.next();
        let mut statements: Vec<Statement> = Vec::new();
        loop {
            self.skip_ends();
            let statement = self.statement()?;
            let ended = matches!(self.peek().kind, Tok::Newline | Tok::Semicolon);
            self.skip_ends();
            if self.peek().kind != Tok::CloseBrace {
                if !ended {
                    let opened = self.span(open);
                    let fault = self.stray(super::value_of(&statement));
                    return Err(fault.map(|d| d.other(opened, "this block is open")));
                }
                if let StatementKind::Show(_) = statement.kind {
                    let message = "nothing is done with this value";
                    let wrong = Diagnostic::new(message, statement.span)
                        .note("a block is `let`s and `def`s, and one value at its end");
                    return Err(self.wrong(wrong));
                }
                statements.push(statement);
                continue;
            }
            let StatementKind::Show(value) = statement.kind else {
                return Err(self.expected("the block's value"));
            };
            self.next();
            let value = Box::new(value);
            return Ok(ExprKind::Block { statements, value });
        }
    }

    fn backslash(&mut self) -> Parse<ExprKind> {
        self.next();
        let mut params = vec![self.pattern()?];
        while self.peek().kind != Tok::Arrow {
            match self.peek().kind {
                Tok::Word | Tok::Open | Tok::OpenSquare => params.push(self.pattern()?),
                _ => return Err(self.expected("another parameter or `->`")),
            }
        }
        self.next();
        self.function(params, FunctionStyle::Backslash)
    }

    fn bars(&mut self) -> Parse<ExprKind> {
        self.next();
        let mut params = vec![self.pattern()?];
        while self.take(Tok::Comma) && !self.is_operator("|") {
            params.push(self.pattern()?);
        }
        if !self.is_operator("|") {
            return Err(self.expected("`,` or `|`"));
        }
        self.next();
        self.function(params, FunctionStyle::Bars)
    }

    /// Whether a name or a list of parameters in parentheses follows, then `=>`.
    fn is_arrow_function(&self) -> bool {
        let first = self.peek();
        let rest = self.tokens.get(self.at + 1..).unwrap_or_default();
        let behind = match first.kind {
            Tok::Word => rest.first(),
            _ => {
                let closes = |t: &Token| t.kind == Tok::Close && t.depth == first.depth + 1;
                let close = rest.iter().position(closes);
                close.and_then(|k| rest.get(k + 1))
            }
        };
        behind.is_some_and(|t| t.kind == Tok::FatArrow)
    }

    /// `x => body`, `(x, y) => body`
    fn arrow_function(&mut self) -> Parse<ExprKind> {
        let first = self.peek();
        let params = match first.kind {
            Tok::Open => {
                self.next();
                self.separated(first, Parser::pattern)?
            }
            _ => vec![self.pattern()?],
        };
        if params.is_empty() {
            let message = "a function has at least one parameter: `x => …`";
            return Err(self.wrong(Diagnostic::new(message, self.since(first))));
        }
        self.expect(Tok::FatArrow, "`=>`")?;
        self.function(params, FunctionStyle::Bars)
    }

    /// `lambda x, y: body`
    fn lambda(&mut self) -> Parse<ExprKind> {
        self.next();
        let mut params = vec![self.pattern()?];
        while self.take(Tok::Comma) {
            params.push(self.pattern()?);
        }
        self.expect(Tok::Colon, "`,` or `:`")?;
        self.function(params, FunctionStyle::Bars)
    }

    /// An argument of a call: `value`, or `name = value`.
    fn argument(&mut self) -> Parse<Expr> {
        let first = self.peek();
        let behind = self.tokens.get(self.at + 1).map(|t| t.kind);
        if first.kind != Tok::Word || behind != Some(Tok::Equals) {
            return self.expression(0);
        }
        let name = self.name("a name")?;
        self.next();
        let value = Box::new(self.expression(0)?);
        self.node(ExprKind::Keyword { name, value }, self.since(first))
    }

    /// An item between the brackets of an index: `value`, or `start:end:step`.
    fn item(&mut self) -> Parse<Expr> {
        let first = self.peek();
        let (mut ends, mut k) = ([const { None }; 3], 0);
        loop {
            let next = self.peek().kind;
            let is_left_out =
                next == Tok::Colon || k > 0 && matches!(next, Tok::Comma | Tok::CloseSquare);
            if !is_left_out {
                ends[k] = Some(self.expression(0)?);
            }
            if k == 2 || !self.take(Tok::Colon) {
                break;
            }
            k += 1;
        }
        match (k, ends) {
            (0, [Some(index), ..]) => Ok(index),
            (_, ends) => self.node(ExprKind::Slice(Box::new(ends)), self.since(first)),
        }
    }

    fn function(&mut self, params: Vec<Pattern>, style: FunctionStyle) -> Parse<ExprKind> {
        let function = Function {
            params,
            body: self.expression(0)?,
            style,
        };
        Ok(ExprKind::Function(Arc::new(function)))
    }

    fn condition(&mut self) -> Parse<ExprKind> {
        self.next();
        let condition = self.expression(0)?;
        if !self.take(Tok::Then) {
            let fault = self.expected_or_equal("`then`");
            return Err(fault.map(|d| match self.peek().kind {
                Tok::Colon => d.note("a choice is an expression: `if c then a else b`"),
                _ => d,
            }));
        }
        let yes = self.expression(0)?;
        self.expect(Tok::Else, "`else`")?;
        let no = self.expression(0)?;
        Ok(ExprKind::If(Box::new([condition, yes, no])))
    }
}

/// The lowest level of operators inside the right operand of an operator of this level.
fn right_of(level: usize) -> usize {
    match TABLE[level].side {
        // A sign may precede it, and the operator itself may repeat.
        Side::Right => level - 1,
        _ => level + 1,
    }
}

/// Whether it is the name of a Python module whose functions need no module here.
fn is_module(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Name(name) if matches!(name.as_str(), "np" | "numpy" | "math"))
}
