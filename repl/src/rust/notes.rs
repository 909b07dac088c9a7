//! Notes of evaluation: the types of expressions, for generated Rust.

use crate::source::Span;
use crate::value::{Elt, Value};
use loop_lang::{Const, Ty};
use std::collections::HashMap;

/// Describes a value.
#[derive(Clone, PartialEq, Debug)]
pub enum Note {
    /// An integer without a type.
    Int(i128),
    /// A float without a type.
    Float(f64),
    /// A known scalar, by its fields.
    Known(Vec<Const>, Elt),
    /// A scalar of the traced function.
    Term(Elt),
    /// A delayed scalar.
    Delayed(Elt),
    /// An array of this rank.
    Array(Elt, u8),
    /// Segments of such elements.
    Segments(Elt),
    /// An array along axes, of such elements.
    Along(Elt),
    /// Several values.
    Tuple(Vec<Note>),
    /// A range: its first element, its exclusive end, and their type, where known.
    Range(Option<(i128, i128, Ty)>),
    /// The columns of a table, and the element types of array columns.
    Table(Vec<(String, Option<Elt>)>),
    /// A value whose Rust type does not matter: a function, a string, a boundary.
    Other,
}

impl Note {
    /// Describes a value.
    pub fn of(value: &Value) -> Note {
        match value {
            Value::Int(n) => Note::Int(*n),
            Value::Float(x) => Note::Float(*x),
            Value::Scalar(fields, elt) => {
                let known: Option<Vec<Const>> = fields.iter().map(|f| f.as_literal()).collect();
                let elt = elt.clone();
                known.map_or(Note::Term(elt.clone()), |known| Note::Known(known, elt))
            }
            Value::Array(a) if a.node.rank == 0 => Note::Delayed(a.elt.clone()),
            Value::Array(a) => Note::Array(a.elt.clone(), a.node.rank),
            Value::Segmented(s) => Note::Segments(s.data.elt.clone()),
            Value::Along(a) => Note::Along(a.array.elt.clone()),
            Value::Tuple(parts) => Note::Tuple(parts.iter().map(Note::of).collect()),
            Value::Range(range) => {
                let start = range.start.as_ref().map_or(Some((0, None)), number);
                let end = range.end.as_ref().and_then(number);
                Note::Range(start.zip(end).map(|((a, left), (b, right))| {
                    let ty = left.or(right).unwrap_or(Ty::I64);
                    (a, b + i128::from(range.closed), ty)
                }))
            }
            Value::Table(table) => {
                let elt = |name: &str| match table.column(name) {
                    Some(Ok(Value::Array(column))) => Some(column.elt),
                    _ => None,
                };
                let names = table.names();
                Note::Table(names.map(|n| (n.to_string(), elt(n))).collect())
            }
            Value::Save(_) => Note::Tuple(Vec::new()),
            Value::Function(_) | Value::Named(_) | Value::Boundary(_) | Value::Text(_) => {
                Note::Other
            }
        }
    }

    /// Returns the element type.
    ///
    /// For a tuple, it is that of the first value.
    pub fn elt(&self) -> Option<&Elt> {
        match self {
            Note::Known(_, elt)
            | Note::Term(elt)
            | Note::Delayed(elt)
            | Note::Array(elt, _)
            | Note::Along(elt)
            | Note::Segments(elt) => Some(elt),
            Note::Tuple(parts) => parts.first().and_then(Note::elt),
            _ => None,
        }
    }

    /// Returns whether it contains text, dates or table rows.
    pub fn is_meant(&self) -> bool {
        let is_meant = |elt: &Elt| elt.is_meant() || matches!(elt, Elt::Row(..) | Elt::Maybe(_));
        match self {
            Note::Known(_, elt)
            | Note::Term(elt)
            | Note::Delayed(elt)
            | Note::Array(elt, _)
            | Note::Along(elt)
            | Note::Segments(elt) => is_meant(elt),
            Note::Tuple(parts) => parts.iter().any(Note::is_meant),
            Note::Int(_) | Note::Float(_) | Note::Range(_) | Note::Table(_) | Note::Other => false,
        }
    }

    /// Returns whether each use writes it as a number of the expected type.
    pub fn is_untyped(&self) -> bool {
        matches!(self, Note::Int(_) | Note::Float(_))
    }
}

/// A known integer and its type.
fn number(value: &Value) -> Option<(i128, Option<Ty>)> {
    match Note::of(value) {
        Note::Int(n) => Some((n, None)),
        Note::Known(fields, Elt::Scalar(ty)) if ty.is_int() => {
            let bits = fields.first()?.bits;
            let n = match ty.is_signed() {
                true => i128::from(bits as i64),
                false => i128::from(bits),
            };
            Some((n, Some(ty)))
        }
        _ => None,
    }
}

/// Holds notes of expressions and patterns by span.
///
/// An expression keeps its last note: if several types were tried, the last one fits. A pattern
/// keeps all notes.
#[derive(Default, Debug)]
pub struct Notes {
    expressions: HashMap<Span, Note>,
    patterns: HashMap<Span, Vec<Note>>,
}

impl Notes {
    /// Notes the value of an expression.
    pub fn expression(&mut self, at: Span, value: &Value) {
        self.expressions.insert(at, Note::of(value));
    }

    /// Notes the ends of a Python slice.
    pub fn slice(&mut self, at: Span, start: u64, end: u64) {
        let ends = (start.into(), end.into(), Ty::U64);
        self.expressions.insert(at, Note::Range(Some(ends)));
    }

    /// Notes a value that a pattern binds.
    pub fn pattern(&mut self, at: Span, value: &Value) {
        let (all, note) = (self.patterns.entry(at).or_default(), Note::of(value));
        if !all.contains(&note) {
            all.push(note);
        }
    }

    /// Returns the note of an expression, or `None` if it was not evaluated.
    pub fn get(&self, at: Span) -> Option<&Note> {
        self.expressions.get(&at)
    }

    /// Returns the notes of all expressions.
    pub fn all(&self) -> impl Iterator<Item = &Note> {
        self.expressions.values()
    }

    /// Returns the notes of a pattern.
    pub fn named(&self, at: Span) -> &[Note] {
        self.patterns.get(&at).map_or(&[], |notes| notes)
    }
}
