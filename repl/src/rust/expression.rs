//! Expressions in generated Rust.
//!
//! Scalars of a traced function become `Exp`s. Elsewhere, operators that Rust has on arrays are
//! kept. Other operators go through `map` and `zip_with`.

use super::code::{Code, float, ident, integer, known, level, tuple};
use super::functions::names;
use super::notes::{Note, Notes};
use super::rows::Rows;
use crate::combinators::CONSTANTS;
use crate::diagnostic::Diagnostic;
use crate::eval::{Result, promote};
use crate::source::Span;
use crate::syntax::{Binary, Expr, ExprKind, Literal, Unary};
use crate::value::Elt;
use loop_lang::Ty;
use std::collections::HashSet;

/// Writes the text of a program.
pub struct Writer<'n> {
    /// The results of evaluation.
    pub notes: &'n Notes,
    /// The names defined by the program, in scope or not.
    pub bound: HashSet<String>,
    /// Whether the program reads or writes files.
    pub files: bool,
    /// The rows of tables.
    pub rows: Rows,
}

/// Returns the error for a text without a Rust form.
pub fn refuse<T>(message: impl Into<String>, at: Span) -> Result<T> {
    let wrong = Diagnostic::new(message, at);
    Err(Box::new(
        wrong.note("`:rust` writes only forms of the typed API"),
    ))
}

/// The message about text, dates and rows without a form.
const NO_FORM: &str =
    "the typed API has no form for this, since text, dates and rows have no operators there";

/// The message about operators on text in a row.
const CODES: &str = "text in a row is a code in Rust, which has no operators with text: \
                     filter by a column, as `t[t.name == \"TEXT\"]` does";

/// The comparison with swapped operands.
fn turned(method: &str) -> Option<&'static str> {
    Some(match method {
        "lt" => "gt",
        "le" => "ge",
        "gt" => "lt",
        "ge" => "le",
        "eq" => "eq",
        "ne" => "ne",
        _ => return None,
    })
}

/// A function from argument expressions to an element's expression.
type Make<'f> = &'f dyn Fn(&[Code]) -> Code;

impl Writer<'_> {
    /// Returns the note of an expression.
    pub fn note(&self, e: &Expr) -> Result<&Note> {
        match self.notes.get(e.span) {
            Some(note) => Ok(note),
            None => refuse("this is not evaluated, and so has no types", e.span),
        }
    }

    /// Writes an expression.
    ///
    /// An untyped number becomes an `i64` or `f64`.
    pub fn expr(&mut self, e: &Expr) -> Result<Code> {
        self.value(e, None, true)
    }

    /// Writes an expression for an expected type.
    ///
    /// An untyped number takes the type `want`. It has a suffix if nothing else determines the
    /// type.
    pub fn value(&mut self, e: &Expr, want: Option<Ty>, suffix: bool) -> Result<Code> {
        self.has_form(e)?;
        match self.note(e)?.clone() {
            Note::Int(n) => Ok(integer(n, want.unwrap_or(Ty::I64), suffix)),
            Note::Float(x) => Ok(float(x, want.unwrap_or(Ty::F64), suffix)),
            Note::Known(fields, elt) => match &e.kind {
                ExprKind::Name(name) if self.bound.contains(name) => Ok(Code::atom(ident(name))),
                ExprKind::Name(name)
                    if name.contains("::") && CONSTANTS.iter().any(|(c, _)| c == name) =>
                {
                    let std = if name.contains("consts") { "std::" } else { "" };
                    Ok(Code::atom(format!("{std}{name}")))
                }
                _ => Ok(known(&mut fields.into_iter(), &elt)),
            },
            Note::Range(_) if matches!(&e.kind, ExprKind::Name(name) if self.bound.contains(name)) => {
                self.made(e, want)
            }
            Note::Range(Some((start, end, ty))) => {
                let n = (end - start).max(0);
                let first = integer(start, ty, true).text;
                Ok(Code::atom(format!("enum_from_step({n}, {first}, 1)")))
            }
            Note::Range(None) => refuse("the ends of a range have to be known for this", e.span),
            _ => self.made(e, want),
        }
    }

    /// Rejects text, dates and rows. Names, columns, and combinators of rows are exceptions.
    fn has_form(&self, e: &Expr) -> Result<()> {
        let note = self.note(e)?;
        let has_form = match &e.kind {
            _ if !note.is_meant() => true,
            ExprKind::Name(_) | ExprKind::Function(_) => true,
            // Its parts must have forms.
            ExprKind::Tuple(_) => match note {
                Note::Tuple(parts) => parts.iter().all(|p| matches!(p, Note::Term(_))),
                note => matches!(note, Note::Term(_)),
            },
            ExprKind::Field { value, .. } => {
                let of = self.note(value)?;
                matches!(of, Note::Table(_)) || matches!(of.elt(), Some(Elt::Row(..)))
            }
            ExprKind::Index { array, .. } => {
                self.is_of_rows("filter", std::slice::from_ref(array))
                    && matches!(note, Note::Array(..))
            }
            ExprKind::Call { callee, args, .. } => {
                let is_text_or_row = |elt: &Elt| matches!(elt, Elt::Text(_) | Elt::Row(..));
                match &callee.kind {
                    // Calls report these errors themselves.
                    ExprKind::Name(name) if matches!(name.as_str(), "group_by" | "join") => true,
                    ExprKind::Name(name) => {
                        self.is_of_rows(name, args) && note.elt().is_some_and(is_text_or_row)
                    }
                    _ => false,
                }
            }
            _ => false,
        };
        match has_form {
            true => Ok(()),
            false => refuse(NO_FORM, e.span),
        }
    }

    /// Checks that operands are numbers.
    pub fn are_numbers(&self, all: &[Expr]) -> Result<()> {
        for e in all {
            let note = self.note(e)?;
            if matches!(note, Note::Term(Elt::Text(_))) {
                return refuse(CODES, e.span);
            }
            if note.is_meant() || matches!(note, Note::Table(_)) {
                return refuse(NO_FORM, e.span);
            }
        }
        Ok(())
    }

    /// A comparison of a text column with a text or with another column.
    fn texts(&mut self, op: Binary, operands: &[Expr; 2]) -> Result<Option<Code>> {
        let is_text = |note: &Note| matches!(note, Note::Array(Elt::Text(_), 1));
        let name = match op {
            Binary::Eq => "eq",
            Binary::Ne => "ne",
            Binary::Lt => "lt",
            Binary::Le => "le",
            Binary::Gt => "gt",
            Binary::Ge => "ge",
            _ => return Ok(None),
        };
        let [a, b] = operands;
        Ok(match (is_text(self.note(a)?), &b.kind) {
            (true, ExprKind::Literal(Literal::Text(text))) => {
                Some(self.expr(a)?.call(name, &[format!("{text:?}")]))
            }
            (true, _) if is_text(self.note(b)?) => {
                let other = self.borrowed(b)?.text;
                Some(self.expr(a)?.call(&format!("{name}_each"), &[other]))
            }
            _ => None,
        })
    }

    /// An expression that is not a number.
    fn made(&mut self, e: &Expr, want: Option<Ty>) -> Result<Code> {
        match &e.kind {
            ExprKind::Literal(Literal::Text(text)) => Ok(Code::atom(format!("{text:?}"))),
            ExprKind::Name(name) if self.bound.contains(name) => Ok(Code::atom(ident(name))),
            ExprKind::Name(name) if name.starts_with("Boundary::") => Ok(Code::atom(name)),
            ExprKind::Vector(parts) => self.vector(e, parts),
            ExprKind::Ragged(rows) => self.ragged(e, rows),
            ExprKind::Tuple(parts) => {
                let parts: Result<Vec<_>> = parts.iter().map(|p| Ok(self.owned(p)?.text)).collect();
                Ok(tuple(&parts?))
            }
            ExprKind::Function(f) => self.closure(f, false),
            ExprKind::Call { callee, args, .. } => self.call(e, callee, args),
            ExprKind::Index { array, items } => self.index(e, array, items),
            ExprKind::Field { value, field } => self.field(e, value, field),
            ExprKind::Unary { op, operand } => self.unary(*op, operand),
            ExprKind::Binary { op, operands, .. } => self.binary(e, *op, operands),
            ExprKind::Cast { value, ty } => self.cast_to(e, value, *ty),
            ExprKind::If(parts) => self.condition(e, parts),
            ExprKind::Slice(_) | ExprKind::Keyword { .. } => {
                refuse("there is no Rust for this as a value", e.span)
            }
            ExprKind::Block { statements, value } => {
                let mut text = String::from("{ ");
                let outside = self.bound.clone();
                for s in statements {
                    if let Some(line) = self.statement(s)? {
                        text += &line;
                        text.push(' ');
                    }
                }
                text += &self.value(value, want, true)?.text;
                self.bound = outside;
                Ok(Code::atom(text + " }"))
            }
            ExprKind::Literal(_) | ExprKind::Range { .. } | ExprKind::Name(_) => {
                refuse("there is no Rust for this as a value", e.span)
            }
        }
    }

    /// Writes a value converted to another type.
    pub fn cast_to(&mut self, e: &Expr, value: &Expr, ty: Ty) -> Result<Code> {
        let own = self
            .note(value)?
            .elt()
            .and_then(Elt::scalar)
            .unwrap_or(Ty::I64);
        let name = format!("cast::<{ty}>");
        self.each(e, &[value], [None, None], &|x| match (own, ty) {
            (Ty::Bool, Ty::Bool) => x[0].clone(),
            (own, Ty::Bool) if own.is_float() => {
                x[0].clone().call("ne", &[float(0.0, own, true).text])
            }
            (own, Ty::Bool) => x[0].clone().call("ne", &[integer(0, own, true).text]),
            _ => x[0].clone().call(&name, &[]),
        })
    }

    /// Writes a value that may be stored.
    ///
    /// A named value is cloned, which copies a reference.
    pub fn owned(&mut self, e: &Expr) -> Result<Code> {
        let code = self.expr(e)?;
        let named = matches!(e.kind, ExprKind::Name(_) | ExprKind::Field { .. });
        let shared = matches!(
            self.note(e)?,
            Note::Array(..)
                | Note::Delayed(_)
                | Note::Segments(_)
                | Note::Range(_)
                | Note::Tuple(_)
        );
        Ok(match named && shared {
            true => code.call("clone", &[]),
            false => code,
        })
    }

    /// Writes a reference to an array, a delayed scalar or segments.
    pub fn borrowed(&mut self, e: &Expr) -> Result<Code> {
        Ok(self.expr(e)?.borrowed())
    }

    /// Writes an operand or an argument, with arrays by reference.
    pub fn side(&mut self, e: &Expr, want: Option<Ty>) -> Result<Code> {
        let code = self.value(e, want, false)?;
        let own = match self.note(e)? {
            Note::Range(_) => Some(Ty::I64),
            note => note.elt().and_then(Elt::scalar),
        };
        if want.is_some_and(|want| own.is_some_and(|own| own != want)) {
            return self.converted(code, e, want);
        }
        let named = matches!(e.kind, ExprKind::Name(_) | ExprKind::Field { .. });
        let array = matches!(
            self.note(e)?,
            Note::Array(..) | Note::Delayed(_) | Note::Range(_)
        );
        Ok(match named && array {
            true => code.borrowed(),
            false => code,
        })
    }

    /// Writes a scalar of the traced function, as a receiver or an operand.
    pub fn term(&mut self, e: &Expr, want: Option<Ty>) -> Result<Code> {
        let code = self.value(e, want, true)?;
        Ok(match self.note(e)? {
            Note::Delayed(elt) => {
                let (own, value) = (elt.scalar(), code.call("value", &[]));
                match want.filter(|want| own.is_some_and(|own| own != *want)) {
                    Some(want) => value.call(&format!("cast::<{want}>"), &[]),
                    None => value,
                }
            }
            Note::Term(_) => self.converted(code, e, want)?,
            Note::Known(..) => {
                let code = self.converted(code, e, want)?;
                Code::atom(format!("Exp::lit({})", code.text))
            }
            note if note.is_untyped() || matches!(note, Note::Known(..)) => {
                Code::atom(format!("Exp::lit({})", code.text))
            }
            _ => code,
        })
    }

    /// Writes a scalar function of terms, or of arrays element by element.
    ///
    /// The array gives the types of the first argument and of the others.
    pub fn each(
        &mut self,
        e: &Expr,
        args: &[&Expr],
        [first, other]: [Option<Ty>; 2],
        make: Make<'_>,
    ) -> Result<Code> {
        let result = self.note(e)?.clone();
        if matches!(result, Note::Term(_)) {
            let mut all = vec![self.term(args[0], first)?];
            for arg in &args[1..] {
                all.push(self.side(arg, other)?);
            }
            return Ok(make(&all));
        }
        // The arrays to traverse, and a name for an element of each.
        let mut free: HashSet<String> = HashSet::new();
        args.iter().for_each(|a| names(a, &mut free));
        let fresh = ["x", "y", "z", "u", "v"].into_iter();
        let mut fresh = fresh.filter(|n| !free.contains(*n)).map(String::from);
        let rank = |note: &Note| match note {
            Note::Array(_, rank) => Some(*rank),
            Note::Segments(_) | Note::Range(_) => Some(1),
            Note::Delayed(_) => Some(0),
            _ => None,
        };
        let mut ranks = Vec::new();
        for arg in args {
            ranks.push(rank(self.note(arg)?));
        }
        let highest = ranks.iter().flatten().max().copied().unwrap_or(0);
        let (mut inputs, mut all) = (Vec::new(), Vec::new());
        for (k, arg) in args.iter().enumerate() {
            let is_input = ranks[k] == Some(highest) && (highest > 0 || inputs.is_empty());
            if is_input && let Some(name) = fresh.next() {
                inputs.push((*arg, name.clone()));
                let own = match self.note(arg)? {
                    Note::Range(_) => Some(Ty::I64),
                    note => note.elt().and_then(Elt::scalar),
                };
                let want = if k == 0 { first } else { other };
                let differs = want.filter(|want| own.is_some_and(|own| own != *want));
                all.push(match differs {
                    Some(want) => Code::atom(name).call(&format!("cast::<{want}>"), &[]),
                    None => Code::atom(name),
                });
            } else if ranks[k].is_some_and(|r| r > 0) {
                return refuse("arrays of several ranks meet here", e.span);
            } else if k == 0 {
                all.push(self.term(arg, first)?);
            } else {
                all.push(self.side(arg, other)?);
            }
        }
        let body = make(&all).text;
        match inputs.as_slice() {
            [(one, x)] => {
                let of = self.expr(one)?;
                Ok(of.call("map", &[format!("|{x}| {body}")]))
            }
            [(one, x), (other, y)] if !matches!(result, Note::Segments(_)) => {
                let (of, other) = (self.expr(one)?, self.borrowed(other)?.text);
                Ok(of.call("zip_with", &[other, format!("|{x}, {y}| {body}")]))
            }
            _ => refuse("so many arrays are not gone through at once", e.span),
        }
    }

    fn unary(&mut self, op: Unary, operand: &Expr) -> Result<Code> {
        if matches!(self.note(operand)?, Note::Segments(_)) {
            return refuse("operators on segments have no form in Rust", operand.span);
        }
        // Counts are signed in arithmetic.
        let signed = match (op, self.note(operand)?.elt()) {
            (Unary::Neg, Some(elt)) => promote::signed(elt).scalar(),
            _ => None,
        };
        let of = self.side(operand, signed)?.at(level::UNARY);
        Ok(Code::new(format!("{}{}", op.text(), of.text), level::UNARY))
    }

    fn binary(&mut self, e: &Expr, op: Binary, operands: &[Expr; 2]) -> Result<Code> {
        if let Some(code) = self.texts(op, operands)? {
            return Ok(code);
        }
        self.are_numbers(operands)?;
        let [a, b] = operands;
        let native = match op {
            Binary::Add | Binary::Sub => Some(level::SUM),
            Binary::Mul | Binary::Div => Some(level::PRODUCT),
            Binary::Shl | Binary::Shr => Some(level::SHIFT),
            Binary::BitAnd => Some(level::AND),
            Binary::BitOr => Some(level::OR),
            _ => None,
        };
        let (left, right) = (self.note(a)?.clone(), self.note(b)?.clone());
        // A known left operand either selects the right one, or the right one is not evaluated.
        if matches!(op, Binary::And | Binary::Or) && matches!(left, Note::Known(..)) {
            return self.expr(b);
        }
        let segments = [&left, &right].map(|n| matches!(n, Note::Segments(_)));
        let ranks = [&left, &right].map(|n| match n {
            Note::Array(_, rank) => Some(*rank),
            _ => None,
        });
        let fits = !matches!(ranks, [Some(x), Some(y)] if x != y);
        match op {
            Binary::FloorDiv | Binary::Rem | Binary::Pow => return self.python(e, op, [a, b]),
            Binary::MatMul => return self.product(e, operands),
            _ => {}
        }
        let ty = match self.common(&[a, b])? {
            Some(ty) if op == Binary::Div && !ty.is_float() => Some(Ty::F64),
            ty => ty,
        };
        let traced = matches!(self.note(e)?, Note::Term(_));
        if let Some(level) = native
            && segments == [false, false]
        {
            if !fits {
                return refuse("arrays of several ranks meet here", e.span);
            }
            // Rust has an operator wherever one operand is an array or a term.
            let left = match (traced, &left) {
                (true, Note::Delayed(_)) => self.term(a, ty)?,
                _ => self.side(a, ty)?,
            };
            let right = self.side(b, ty)?;
            return Ok(left.operator(op.text(), level, right));
        }
        let literal = left.is_untyped() || matches!(left, Note::Known(..));
        if literal && let Some(method) = turned(op.name()) {
            let make = |x: &[Code]| x[0].clone().call(method, &[x[1].text.clone()]);
            return self.each(e, &[b, a], [ty, ty], &make);
        }
        let make = |x: &[Code]| match native {
            Some(level) => x[0].clone().operator(op.text(), level, x[1].clone()),
            None => x[0].clone().call(op.name(), &[x[1].text.clone()]),
        };
        self.each(e, &[a, b], [ty, ty], &make)
    }

    /// Writes `a @ b`.
    fn product(&mut self, e: &Expr, operands: &[Expr; 2]) -> Result<Code> {
        match crate::combinators::find("dot") {
            Some(dot) => self.combinator(e, dot, operands),
            None => refuse("there is no product of matrices", e.span),
        }
    }
}
