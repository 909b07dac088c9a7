//! Indices, slices and attributes in generated Rust.

use super::code::{Code, level, tuple};
use super::expression::{Writer, refuse};
use super::notes::Note;
use crate::eval::Result;
use crate::syntax::{Expr, ExprKind, Field};
use crate::value::Elt;
use loop_lang::Ty;

impl Writer<'_> {
    pub fn field(&mut self, e: &Expr, value: &Expr, field: &Field) -> Result<Code> {
        if let Field::Name(name) = field
            && let Some(code) = self.part_of_row(e, value, &name.text)?
        {
            return Ok(code);
        }
        let of = self.expr(value)?;
        match (field, self.note(value)?.clone()) {
            (Field::Number(k, _), Note::Array(..) | Note::Delayed(_)) => {
                Ok(of.call("map", &[format!("|x| x.{k}")]))
            }
            (Field::Number(k, _), _) => Ok(Code::atom(format!("{}.{k}", of.at(level::DOT).text))),
            (Field::Name(name), Note::Table(columns)) => {
                self.files = true;
                let is_text = columns
                    .iter()
                    .any(|(n, elt)| *n == name.text && matches!(elt, Some(Elt::Text(_))));
                let column = format!("{:?}", name.text);
                let call = match (self.note(e)?, is_text) {
                    (Note::Segments(elt), _) => of.call(&format!("segments::<{elt}>"), &[column]),
                    (Note::Tuple(_) | Note::Array(Elt::Maybe(_), _), _) => {
                        return refuse("there is no short form of missing values", name.span);
                    }
                    (_, true) => of.call("texts", &[column]),
                    (Note::Array(Elt::Time(time), _), _) => {
                        let ty = match time.is_fine() {
                            true => "DateTime",
                            false => "Date",
                        };
                        of.call(&format!("times::<livefusion::io::{ty}>"), &[column])
                    }
                    (_, false) => {
                        let ty = self.note(e)?.elt().map_or_else(String::new, Elt::to_string);
                        of.call(&format!("column::<{ty}>"), &[column])
                    }
                };
                Ok(Code::atom(call.text + "?"))
            }
            (Field::Name(name), Note::Array(_, rank)) if name.text == "T" => {
                let order: Vec<String> = (0..rank).rev().map(|k| k.to_string()).collect();
                Ok(match rank {
                    1 => of,
                    2 => of.call("transpose", &[]),
                    _ => of.call("permute_axes", &[format!("[{}]", order.join(", "))]),
                })
            }
            (Field::Name(name), _) => match self.note(e)?.clone() {
                // Known lengths.
                Note::Tuple(parts) => {
                    let known = parts.iter().map(|p| match p {
                        Note::Int(n) => Some(n.to_string()),
                        _ => None,
                    });
                    match known.collect::<Option<Vec<_>>>() {
                        Some(parts) => Ok(tuple(&parts)),
                        None => refuse("the lengths have to be known for this", name.span),
                    }
                }
                _ => refuse("only columns of tables have names", name.span),
            },
        }
    }

    pub fn index(&mut self, e: &Expr, array: &Expr, items: &[Expr]) -> Result<Code> {
        if self.is_of_rows("filter", std::slice::from_ref(array))
            && let [test] = items
            && matches!(self.note(test)?, Note::Array(Elt::Scalar(Ty::Bool), _))
        {
            let test = self.borrowed(test)?.text;
            return Ok(self.rows(array)?.call("pack", &[test]));
        }
        self.are_numbers(std::slice::from_ref(array))?;
        let mut of = self.expr(array)?;
        if let [one] = items
            && let Some(Note::Array(elt, _)) = self.notes.get(one.span).cloned()
        {
            let at = self.borrowed(one)?.text;
            return Ok(match elt.scalar() {
                Some(Ty::Bool) => of.call("pack", &[at]),
                _ => of.call("gather", &[at]),
            });
        }
        let rank = match self.note(array)? {
            Note::Array(_, rank) => usize::from(*rank),
            _ => items.len(),
        };
        let mut sliced = items.len() < rank;
        let (mut parts, mut terms) = (Vec::new(), false);
        for (axis, item) in items.iter().enumerate() {
            if let ExprKind::Slice(ends) = &item.kind {
                let (turned, part) = self.slice(of, axis, ends, item)?;
                of = turned;
                parts.push(part);
                sliced = true;
                continue;
            }
            sliced |= matches!(item.kind, ExprKind::Range { .. });
            terms |= matches!(self.note(item)?, Note::Term(_));
            parts.push(self.item(item)?);
        }
        parts.resize(rank, "..".to_string());
        let at = match parts.as_slice() {
            [one] => one.clone(),
            parts => tuple(parts).text,
        };
        let back = items
            .iter()
            .any(|i| matches!(self.notes.get(i.span), Some(Note::Int(..0))));
        let call = match (sliced, parts.len()) {
            (false, 1) if back => of.call("along", &["0".into()]).call("at", &[at]),
            (false, _) if !back => of.call("at", &[at]),
            _ => of.call("slice", &[at]),
        };
        // An element at a known index is a delayed scalar. Its `value()` is a term.
        Ok(match !terms && matches!(self.note(e)?, Note::Term(_)) {
            true => call.call("value", &[]),
            false => call,
        })
    }

    /// A Python slice, with the ends found by evaluation. The result is the array, reversed for
    /// backward slices, and the range.
    fn slice(
        &mut self,
        of: Code,
        axis: usize,
        ends: &[Option<Expr>; 3],
        item: &Expr,
    ) -> Result<(Code, String)> {
        let step = match &ends[2] {
            Some(step) => match self.note(step)? {
                Note::Int(n) => *n,
                _ => return refuse("the step has to be known for this", step.span),
            },
            None => 1,
        };
        let of = match step < 0 {
            true => of.call("along", &[axis.to_string()]).call("reverse", &[]),
            false => of,
        };
        let range = match (ends, self.notes.get(item.span)) {
            ([None, None, _], _) => "..".to_string(),
            (_, Some(Note::Range(Some((start, end, _))))) => format!("{start}..{end}"),
            _ => {
                return refuse(
                    "the length of the array has to be known for this",
                    item.span,
                );
            }
        };
        Ok((
            of,
            match step.unsigned_abs() {
                1 => range,
                by if range == ".." => format!("(0..).step({by})"),
                by => format!("({range}).step({by})"),
            },
        ))
    }

    /// Writes an index or a range between brackets.
    pub fn item(&mut self, item: &Expr) -> Result<String> {
        let ExprKind::Range { start, end, closed } = &item.kind else {
            return Ok(match self.note(item)? {
                Note::Int(n) => n.to_string(),
                _ => self.side(item, None)?.text,
            });
        };
        let mut ends = [String::new(), String::new()];
        for (text, end) in ends.iter_mut().zip([start, end]) {
            if let Some(end) = end {
                *text = self.item(end)?;
            }
        }
        let dots = if *closed { "..=" } else { ".." };
        Ok(format!("{}{dots}{}", ends[0], ends[1]))
    }
}
