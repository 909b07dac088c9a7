//! Vectors and rows in generated Rust: literals, the first one with its type.

use super::code::{Code, constant, float, integer, known, tuple};
use super::expression::{Writer, refuse};
use super::notes::Note;
use crate::eval::Result;
use crate::syntax::{Expr, ExprKind};
use crate::value::Elt;

impl Writer<'_> {
    /// Writes an array of elements or of rows.
    pub fn vector(&mut self, e: &Expr, parts: &[Expr]) -> Result<Code> {
        let (elt, rank) = match self.note(e)? {
            Note::Array(elt, rank) => (elt.clone(), *rank),
            _ => return refuse("expected an array", e.span),
        };
        if parts.is_empty() {
            return Ok(Code::atom(format!("Array::from(Vec::<{elt}>::new())")));
        }
        let mut first = true;
        if rank <= 3
            && let Some(text) = self.literals(parts, rank, &elt, &mut first)?
        {
            return Ok(Code::atom(format!("Array::from({text})")));
        }
        if rank < 2 {
            let mut all = Vec::new();
            for part in parts {
                let one = match self.note(part)? {
                    Note::Delayed(_) => self.borrowed(part)?,
                    _ => self.value(part, elt.scalar(), true)?,
                };
                all.push(format!("replicate(1, {})", one.text));
            }
            return Ok(Code::atom(match all.as_slice() {
                [one] => one.clone(),
                all => format!("concat([{}])", all.join(", ")),
            }));
        }
        let mut rows = Vec::new();
        for part in parts {
            rows.push(self.borrowed(part)?.text);
        }
        Ok(Code::atom(format!("stack(0, [{}])", rows.join(", "))))
    }

    /// `[1i64, 2]`, or rows of such, if all elements are known. The first number has a type suffix.
    fn literals(
        &mut self,
        parts: &[Expr],
        rank: u8,
        elt: &Elt,
        first: &mut bool,
    ) -> Result<Option<String>> {
        let mut all = Vec::new();
        for part in parts {
            let text = match (&part.kind, rank) {
                (ExprKind::Vector(inner), 2..) => self.literals(inner, rank - 1, elt, first)?,
                (_, 1) => self.literal(part, elt, first)?,
                _ => None,
            };
            match text {
                Some(text) => all.push(text),
                None => return Ok(None),
            }
        }
        Ok(Some(format!("[{}]", all.join(", "))))
    }

    /// A known element.
    fn literal(&mut self, e: &Expr, elt: &Elt, first: &mut bool) -> Result<Option<String>> {
        let code = match (self.note(e)?.clone(), elt) {
            (Note::Int(n), Elt::Scalar(ty)) => integer(n, *ty, *first),
            (Note::Float(x), Elt::Scalar(ty)) => float(x, *ty, *first),
            (Note::Known(fields, Elt::Scalar(_) | Elt::Count), _) => match (fields.first(), *first)
            {
                (Some(c), is_first) => match c.integer().filter(|_| !is_first) {
                    Some(n) => integer(n, c.ty, false),
                    None => constant(*c),
                },
                (None, _) => return Ok(None),
            },
            (Note::Known(fields, elt), _) => known(&mut fields.into_iter(), &elt),
            (Note::Tuple(_), Elt::Tuple(elts)) => {
                let ExprKind::Tuple(parts) = &e.kind else {
                    return Ok(None);
                };
                let mut texts = Vec::new();
                for (part, elt) in parts.iter().zip(elts) {
                    match self.literal(part, elt, &mut first.clone())? {
                        Some(text) => texts.push(text),
                        None => return Ok(None),
                    }
                }
                tuple(&texts)
            }
            _ => return Ok(None),
        };
        *first = false;
        Ok(Some(code.text))
    }

    /// Writes segments, one row each.
    pub fn ragged(&mut self, e: &Expr, rows: &[Expr]) -> Result<Code> {
        let Note::Segments(elt) = self.note(e)?.clone() else {
            return refuse("expected segments", e.span);
        };
        let mut first = true;
        let mut texts = Vec::new();
        for row in rows {
            let ExprKind::Vector(parts) = &row.kind else {
                return refuse("expected a row in brackets", row.span);
            };
            match self.literals(parts, 1, &elt, &mut first)? {
                Some(text) => texts.push(format!("vec!{text}")),
                None => return refuse("elements of rows have to be known for this", row.span),
            }
        }
        let rows = match first {
            true => format!("Vec::<Vec<{elt}>>::from([{}])", texts.join(", ")),
            false => format!("vec![{}]", texts.join(", ")),
        };
        Ok(Code::atom(format!("Segmented::from_vecs({rows})")))
    }
}
