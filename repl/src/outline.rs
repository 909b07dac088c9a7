//! Trees as nested lists, `(add 1 (mul 2 x))`, for tests.

use crate::syntax::{
    CallStyle, Expr, ExprKind, Field, Function, FunctionStyle, Literal, Pattern, PatternKind,
    Script, Statement, StatementKind,
};
use std::fmt::Write;

impl Script {
    /// Formats the tree as nested lists, one line per statement.
    ///
    /// ```
    /// use livefusion_repl::{Sources, parse};
    /// let mut sources = Sources::default();
    /// let source = sources.add("<1>", "1 + 2 * x");
    /// assert_eq!(parse(&sources, source)?.outline(), "(add (int 1) (mul (int 2) (name x)))\n");
    /// # Ok::<(), livefusion_repl::ParseError>(())
    /// ```
    pub fn outline(&self) -> String {
        let mut out = String::new();
        for s in &self.statements {
            statement(&mut out, s);
            out.push('\n');
        }
        out
    }
}

/// A list: its head, followed by the output of `parts`.
fn list(out: &mut String, head: &str, parts: impl FnOnce(&mut String)) {
    *out += "(";
    *out += head;
    parts(out);
    *out += ")";
}

fn all<T>(out: &mut String, parts: impl IntoIterator<Item = T>, each: impl Fn(&mut String, T)) {
    for part in parts {
        *out += " ";
        each(out, part);
    }
}

fn statement(out: &mut String, s: &Statement) {
    match &s.kind {
        StatementKind::Let { pattern: p, value } => list(out, "let ", |out| {
            pattern(out, p);
            *out += " ";
            expression(out, value);
        }),
        StatementKind::Def { name, function: f } => list(out, "def ", |out| {
            *out += &name.text;
            *out += " ";
            function(out, f);
        }),
        StatementKind::Show(value) => expression(out, value),
    }
}

fn function(out: &mut String, f: &Function) {
    let head = match f.style {
        FunctionStyle::Hole => "hole-fn",
        _ => "fn",
    };
    list(out, head, |out| {
        *out += " (";
        for (k, p) in f.params.iter().enumerate() {
            *out += if k == 0 { "" } else { " " };
            pattern(out, p);
        }
        *out += ") ";
        expression(out, &f.body);
    });
}

fn pattern(out: &mut String, p: &Pattern) {
    match &p.kind {
        PatternKind::Name(name) => *out += name,
        PatternKind::Any => *out += "(_)",
        PatternKind::Tuple(parts) => list(out, "tuple", |out| all(out, parts, pattern)),
        PatternKind::Vector(parts) => list(out, "vector", |out| all(out, parts, pattern)),
    }
}

fn expression(out: &mut String, e: &Expr) {
    let head = match &e.kind {
        ExprKind::Function(f) => return function(out, f),
        ExprKind::Literal(l) => return literal(out, l),
        ExprKind::Name(name) => return *out += &format!("(name {name})"),
        ExprKind::Block { statements, value } => {
            return list(out, "block", |out| {
                all(out, statements, statement);
                *out += " ";
                expression(out, value);
            });
        }
        ExprKind::Range { start, end, closed } => {
            let end_of = |out: &mut String, e: &Option<Box<Expr>>| match e {
                Some(e) => expression(out, e),
                None => *out += "-",
            };
            let head = if *closed { "range=" } else { "range" };
            return list(out, head, |out| all(out, [start, end], end_of));
        }
        ExprKind::Slice(ends) => {
            let end_of = |out: &mut String, e: &Option<Expr>| match e {
                Some(e) => expression(out, e),
                None => *out += "-",
            };
            return list(out, "slice", |out| all(out, ends.iter(), end_of));
        }
        ExprKind::Keyword { name, value } => {
            return list(out, "keyword ", |out| {
                *out += &name.text;
                *out += " ";
                expression(out, value);
            });
        }
        ExprKind::Field { value, field } => {
            return list(out, "field ", |out| {
                expression(out, value);
                let _ = match field {
                    Field::Number(n, _) => write!(out, " {n}"),
                    Field::Name(name) => write!(out, " {}", name.text),
                };
            });
        }
        ExprKind::Cast { value, ty } => {
            return list(out, "cast ", |out| {
                expression(out, value);
                *out += &format!(" {ty}");
            });
        }
        ExprKind::Vector(_) => "vector",
        ExprKind::Ragged(_) => "ragged",
        ExprKind::Tuple(_) => "tuple",
        ExprKind::Call { style, .. } => match style {
            CallStyle::Plain => "call",
            CallStyle::Method => "method",
            CallStyle::Piped => "pipe",
        },
        ExprKind::Index { .. } => "index",
        ExprKind::Unary { op, .. } => op.name(),
        ExprKind::Binary { op, .. } => op.name(),
        ExprKind::If(_) => "if",
    };
    list(out, head, |out| all(out, e.kind.parts(), expression));
}

fn literal(out: &mut String, l: &Literal) {
    let head = match l {
        Literal::Bool(_) => "bool",
        Literal::Int(..) => "int",
        Literal::Float(..) => "float",
        Literal::Text(_) => "text",
    };
    list(out, head, |out| *out += &format!(" {l}"));
}
