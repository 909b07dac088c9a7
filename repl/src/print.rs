//! Pretty-printing of trees, with as few parentheses as possible.

use crate::grammar::{Does, Side, TABLE, level_of};
use crate::syntax::{
    CallStyle, Expr, ExprKind, Field, Function, FunctionStyle, Literal, Pattern, PatternKind,
    Script, Statement, StatementKind,
};
use loop_lang::Ty;
use std::fmt::{self, Display, Formatter, Write};

impl Display for Script {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.statements.iter().try_for_each(|s| writeln!(f, "{s}"))
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            StatementKind::Let { pattern, value } => write!(f, "let {pattern} = {value}"),
            StatementKind::Def { name, function } => {
                write!(f, "def {}(", name.text)?;
                listed(f, &function.params)?;
                write!(f, ") = {}", function.body)
            }
            StatementKind::Show(value) => write!(f, "{value}"),
        }
    }
}

impl Display for Pattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            PatternKind::Name(name) => f.write_str(name),
            PatternKind::Any => f.write_char('_'),
            PatternKind::Tuple(parts) => tuple(f, parts),
            PatternKind::Vector(parts) => bracketed(f, parts),
        }
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.style {
            FunctionStyle::Backslash => {
                f.write_char('\\')?;
                self.params.iter().try_for_each(|p| write!(f, "{p} "))?;
                write!(f, "-> {}", self.body)
            }
            FunctionStyle::Bars | FunctionStyle::Def => {
                f.write_char('|')?;
                listed(f, &self.params)?;
                write!(f, "| {}", self.body)
            }
            FunctionStyle::Hole => write!(f, "{}", self.body),
        }
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ty = match self {
            Literal::Bool(b) => return write!(f, "{b}"),
            Literal::Text(text) => return quoted(f, text),
            Literal::Int(n, ty) => {
                write!(f, "{n}")?;
                ty
            }
            Literal::Float(x, Some(Ty::F32)) => return write!(f, "{:?}f32", *x as f32),
            Literal::Float(x, ty) => {
                write!(f, "{x:?}")?;
                ty
            }
        };
        ty.map_or(Ok(()), |ty| write!(f, "{ty}"))
    }
}

fn quoted(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            '\r' => f.write_str("\\r")?,
            '\0' => f.write_str("\\0")?,
            '\\' | '"' => write!(f, "\\{c}")?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        expression(f, self, 0)
    }
}

/// The precedence of an expression. 0 stands for expressions that extend as far as possible, then
/// follow the operators' levels, then bracketed expressions.
fn strength(e: &Expr) -> usize {
    match &e.kind {
        ExprKind::Function(_) | ExprKind::If(_) => 0,
        ExprKind::Call { style, .. } if *style == CallStyle::Piped => of(Does::Pipe),
        ExprKind::Call { .. } => of(Does::Call),
        ExprKind::Index { .. } => of(Does::Index),
        ExprKind::Field { .. } => of(Does::Member),
        ExprKind::Unary { op, .. } => of(Does::Unary(*op)),
        ExprKind::Binary { op, .. } => of(Does::Binary(*op)),
        ExprKind::Range { closed, .. } => of(Does::Range { closed: *closed }),
        ExprKind::Cast { .. } => of(Does::Cast),
        _ => TABLE.len() + 1,
    }
}

fn of(does: Does) -> usize {
    level_of(does) + 1
}

/// Prints an expression, in parentheses if its precedence is below `least`.
fn expression(f: &mut Formatter<'_>, e: &Expr, least: usize) -> fmt::Result {
    let own = strength(e);
    if own < least {
        return write!(f, "({e})");
    }
    match &e.kind {
        ExprKind::Literal(literal) => write!(f, "{literal}"),
        ExprKind::Name(name) => f.write_str(name),
        ExprKind::Vector(parts) => bracketed(f, parts),
        ExprKind::Ragged(parts) => {
            f.write_str("ragged ")?;
            bracketed(f, parts)
        }
        ExprKind::Tuple(parts) => tuple(f, parts),
        ExprKind::Function(function) => write!(f, "{function}"),
        ExprKind::Call {
            callee,
            args,
            style,
        } => call(f, callee, args, *style),
        ExprKind::Index { array, items } => {
            expression(f, array, own)?;
            bracketed(f, items)
        }
        ExprKind::Field { value, field } => {
            match field {
                // Digits on both sides of the dot would be a float.
                Field::Number(n, _) if is_number(value) => write!(f, "({value}).{n}"),
                Field::Number(n, _) => {
                    expression(f, value, own)?;
                    write!(f, ".{n}")
                }
                Field::Name(name) => {
                    expression(f, value, own)?;
                    write!(f, ".{}", name.text)
                }
            }
        }
        ExprKind::Unary { op, operand } => {
            f.write_str(op.text())?;
            expression(f, operand, own)
        }
        ExprKind::Binary { op, operands, .. } => {
            let (left, right) = match TABLE[level_of(Does::Binary(*op))].side {
                Side::Left => (own, own + 1),
                // A sign may precede the right operand.
                Side::Right => (own + 1, own - 1),
                _ => (own + 1, own + 1),
            };
            expression(f, &operands[0], left)?;
            write!(f, " {} ", op.text())?;
            expression(f, &operands[1], right)
        }
        ExprKind::Slice(ends) => {
            for (k, end) in ends.iter().enumerate() {
                match k {
                    1 => f.write_char(':')?,
                    // Two colons between names would form a path.
                    2 if end.is_some() && ends[1].is_none() => f.write_str(" :")?,
                    2 if end.is_some() => f.write_char(':')?,
                    _ => {}
                }
                end.iter()
                    .try_for_each(|e| expression(f, e, of(Does::Pipe)))?;
            }
            Ok(())
        }
        ExprKind::Keyword { name, value } => {
            write!(f, "{} = ", name.text)?;
            expression(f, value, 0)
        }
        ExprKind::Range { start, end, closed } => {
            start.iter().try_for_each(|e| expression(f, e, own + 1))?;
            f.write_str(if *closed { "..=" } else { ".." })?;
            end.iter().try_for_each(|e| expression(f, e, own + 1))
        }
        ExprKind::Cast { value, ty } => {
            expression(f, value, own)?;
            write!(f, " as {ty}")
        }
        ExprKind::If(parts) => {
            write!(f, "if {} then {} else {}", parts[0], parts[1], parts[2])
        }
        ExprKind::Block { statements, value } => {
            f.write_str("{ ")?;
            statements.iter().try_for_each(|s| write!(f, "{s}; "))?;
            write!(f, "{value} }}")
        }
    }
}

fn is_number(e: &Expr) -> bool {
    matches!(
        e.kind,
        ExprKind::Literal(Literal::Int(..) | Literal::Float(..))
    )
}

fn call(f: &mut Formatter<'_>, callee: &Expr, args: &[Expr], style: CallStyle) -> fmt::Result {
    let rest = match (args, style) {
        ([first, rest @ ..], CallStyle::Method) => {
            expression(f, first, of(Does::Member))?;
            f.write_char('.')?;
            rest
        }
        ([first, rest @ ..], CallStyle::Piped) => {
            expression(f, first, of(Does::Pipe))?;
            f.write_str(" |> ")?;
            rest
        }
        _ => args,
    };
    let is_name = matches!(callee.kind, ExprKind::Name(_));
    let is_field =
        matches!(&callee.kind, ExprKind::Field { field, .. } if matches!(field, Field::Name(_)));
    let alone = style == CallStyle::Piped && rest.is_empty();
    match style {
        // Parentheses after a field would make it a method call. A call alone would become a pipe
        // step without its first argument.
        _ if is_field || alone && !is_name => write!(f, "({callee})")?,
        _ => expression(f, callee, of(Does::Call))?,
    }
    if alone {
        return Ok(());
    }
    f.write_char('(')?;
    listed(f, rest)?;
    f.write_char(')')
}

fn listed(f: &mut Formatter<'_>, parts: &[impl Display]) -> fmt::Result {
    for (k, part) in parts.iter().enumerate() {
        let comma = if k == 0 { "" } else { ", " };
        write!(f, "{comma}{part}")?;
    }
    Ok(())
}

fn bracketed(f: &mut Formatter<'_>, parts: &[impl Display]) -> fmt::Result {
    f.write_char('[')?;
    listed(f, parts)?;
    f.write_char(']')
}

fn tuple(f: &mut Formatter<'_>, parts: &[impl Display]) -> fmt::Result {
    f.write_char('(')?;
    listed(f, parts)?;
    f.write_str(if parts.len() == 1 { ",)" } else { ")" })
}
