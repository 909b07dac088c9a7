//! Functions and names in generated Rust: closures, definitions, and calls of them.

use super::code::{Code, ident, level, tuple};
use super::expression::{Writer, refuse};
use super::notes::Note;
use crate::combinators;
use crate::eval::Result;
use crate::syntax::{
    Expr, ExprKind, Function, FunctionStyle, Pattern, PatternKind, Statement, StatementKind,
};
use crate::value::Elt;
use loop_lang::Ty;
use std::collections::HashSet;

impl Writer<'_> {
    /// Writes a function's closure.
    ///
    /// Outside of arguments, Rust needs parameter types.
    pub fn closure(&mut self, f: &Function, typed: bool) -> Result<Code> {
        let outside = self.bound.clone();
        let mut params = Vec::new();
        for p in &f.params {
            let hole = f.style == FunctionStyle::Hole;
            let mut text = match hole {
                true => hole_name(f),
                false => self.pattern(p)?,
            };
            if hole {
                self.bound.insert("_".into());
            }
            if typed {
                text += &format!(": {}", self.param(p)?);
            }
            params.push(text);
        }
        let mut body = self.result(&f.body)?.text;
        if f.style == FunctionStyle::Hole {
            body = body.replace(HOLE, &hole_name(f));
        }
        self.bound = outside;
        let text = format!("|{}| {body}", params.join(", "));
        Ok(Code::new(text, level::CLOSURE))
    }

    /// The result of a function. A delayed scalar in a traced function becomes a term.
    fn result(&mut self, body: &Expr) -> Result<Code> {
        let ty = self.note(body)?.elt().and_then(Elt::scalar);
        match (self.note(body)?, &body.kind) {
            (Note::Array(..) | Note::Delayed(_) | Note::Segments(_) | Note::Range(_), _) => {
                self.owned(body)
            }
            _ => self.value(body, ty, true),
        }
    }

    /// The type of a parameter, which must be the same for all calls.
    fn param(&self, p: &Pattern) -> Result<String> {
        let notes = self.notes.named(p.span);
        match notes {
            [one] if one.is_meant() => refuse(
                "a function of rows or text stands where it is called: its type has no name in Rust",
                p.span,
            ),
            [one] => match type_of(one) {
                Some(text) => Ok(text),
                None => refuse("there is no type for this in Rust", p.span),
            },
            [] => refuse("this is not called, and so has no types", p.span),
            _ => refuse(
                "this has several types, for which Rust wants several functions",
                p.span,
            ),
        }
    }

    /// Writes a pattern, and binds its names.
    pub fn pattern(&mut self, p: &Pattern) -> Result<String> {
        let several = |w: &mut Self, parts: &[Pattern]| -> Result<Vec<String>> {
            parts.iter().map(|p| w.pattern(p)).collect()
        };
        Ok(match &p.kind {
            PatternKind::Name(name) => {
                self.bound.insert(name.clone());
                ident(name)
            }
            PatternKind::Any => "_".into(),
            PatternKind::Tuple(parts) => tuple(&several(self, parts)?).text,
            PatternKind::Vector(parts) => format!("[{}]", several(self, parts)?.join(", ")),
        })
    }

    /// Writes a definition as a line.
    ///
    /// Returns `None` if the value is written at its uses.
    pub fn statement(&mut self, s: &Statement) -> Result<Option<String>> {
        match &s.kind {
            StatementKind::Let { pattern, value } => {
                if let ExprKind::Function(f) = &value.kind {
                    let code = self.closure(f, true)?;
                    let name = self.pattern(pattern)?;
                    return Ok(Some(format!("let {name} = {};", code.text)));
                }
                let note = self.note(value)?.clone();
                if note.is_untyped() {
                    return Ok(None);
                }
                let mut code = self.owned(value)?;
                if matches!(pattern.kind, PatternKind::Tuple(_)) {
                    code = match note {
                        Note::Array(..) => code.call("unzip", &[]),
                        Note::Segments(_) => {
                            let of = code.at(level::DOT).text;
                            let parts = ["lengths", "data"].map(|n| format!("{of}.{n}().clone()"));
                            tuple(&parts)
                        }
                        _ => code,
                    };
                }
                let name = self.pattern(pattern)?;
                let before = name.len() + "    let  = ;".len();
                Ok(Some(format!("let {name} = {};", code.broken(before))))
            }
            StatementKind::Def { name, function } => {
                let untyped = |p: &Pattern| {
                    let notes = self.notes.named(p.span);
                    !notes.is_empty() && notes.iter().all(Note::is_untyped)
                };
                // Its calls are numbers.
                if function.params.iter().all(untyped) {
                    return Ok(None);
                }
                let code = self.closure(function, true)?.text;
                self.bound.insert(name.text.clone());
                Ok(Some(format!("let {} = {code};", ident(&name.text))))
            }
            StatementKind::Show(_) => Ok(None),
        }
    }

    /// Writes a call of a user function.
    pub fn applied(&mut self, e: &Expr, callee: &Expr, args: &[Expr]) -> Result<Code> {
        let f = match &callee.kind {
            ExprKind::Name(name) if self.bound.contains(name) => ident(name),
            ExprKind::Name(name) if combinators::value(name).is_none() => {
                return refuse(
                    format!("`{name}` calls itself, or has no types here"),
                    e.span,
                );
            }
            ExprKind::Function(f) => format!("({})", self.closure(f, true)?.text),
            _ => return refuse("there is no Rust for this call", callee.span),
        };
        let mut texts = Vec::new();
        for arg in args {
            texts.push(self.owned(arg)?.text);
        }
        Ok(Code::atom(format!("{f}({})", texts.join(", "))))
    }
}

/// A placeholder for `_` until the function has a parameter name. No user name equals it.
const HOLE: &str = "r#_";

/// The parameter name of a function that was written with `_`.
fn hole_name(f: &Function) -> String {
    let mut free = HashSet::new();
    names(&f.body, &mut free);
    let names = ["x", "y", "it"].into_iter();
    names
        .into_iter()
        .find(|n| !free.contains(*n))
        .unwrap_or("element")
        .into()
}

/// The type of a parameter.
fn type_of(note: &Note) -> Option<String> {
    fn terms(elt: &Elt) -> String {
        match elt {
            Elt::Scalar(ty) => format!("Exp<{ty}>"),
            Elt::Count => "Exp<u64>".into(),
            Elt::Tuple(parts) => {
                let parts: Vec<_> = parts.iter().map(terms).collect();
                tuple(&parts).text
            }
            // Elements without a Rust form are rejected at their use.
            other => other.to_string(),
        }
    }
    Some(match note {
        Note::Known(_, elt) => in_memory(elt),
        Note::Term(elt) => terms(elt),
        Note::Delayed(elt) => format!("Array<{}, Ix0>", in_memory(elt)),
        Note::Array(elt, 1) => format!("Array<{}>", in_memory(elt)),
        Note::Array(elt, rank) => format!("Array<{}, Ix{rank}>", in_memory(elt)),
        Note::Segments(elt) => format!("Segmented<{}>", in_memory(elt)),
        Note::Range(Some((_, _, ty))) => format!("Array<{ty}>"),
        Note::Tuple(parts) => {
            let parts: Option<Vec<_>> = parts.iter().map(type_of).collect();
            tuple(&parts?).text
        }
        Note::Int(_)
        | Note::Float(_)
        | Note::Range(None)
        | Note::Table(_)
        | Note::Along(_)
        | Note::Other => {
            return None;
        }
    })
}

/// The element type in memory.
fn in_memory(elt: &Elt) -> String {
    match elt {
        Elt::Scalar(ty) => ty.to_string(),
        Elt::Count => Ty::U64.to_string(),
        Elt::Tuple(parts) => tuple(&parts.iter().map(in_memory).collect::<Vec<_>>()).text,
        // Other elements have no Rust form, and are rejected at their use.
        other => other.to_string(),
    }
}

/// Collects all names in an expression, including its bound names.
pub fn names(e: &Expr, out: &mut HashSet<String>) {
    match &e.kind {
        ExprKind::Name(name) => {
            out.insert(name.clone());
        }
        ExprKind::Function(f) => names(&f.body, out),
        ExprKind::Block { statements, value } => {
            for s in statements {
                match &s.kind {
                    StatementKind::Let { value, .. } => names(value, out),
                    StatementKind::Def { function, .. } => names(&function.body, out),
                    StatementKind::Show(e) => names(e, out),
                }
            }
            names(value, out);
        }
        kind => kind.parts().into_iter().for_each(|p| names(p, out)),
    }
}
