//! Columns during a read: type inference from fields.

use super::super::column::{Column, Data, Text, Unit};
use super::super::error::{ErrorKind, shown};
use super::super::plain::by_type;
use super::super::value::{Looks, Type, Value, looks, parse};
use super::gaps::Gaps;
use super::times::Times;
use livefusion_backend::{Buffer, Prim};
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Collects the fields of a column.
pub struct ColumnCells {
    pub name: String,
    /// The substitute for missing values.
    fill: Option<Value>,
    state: CellsState,
}

enum CellsState {
    /// Not requested.
    Skipped,
    /// Numbers, or `bool`s.
    Words(Words),
    /// Dates.
    Times(Times),
    /// Text.
    Text(Dictionary),
    /// Text, found after earlier fields were dropped: the fields must be read again.
    Reread(Why),
}

/// Collects canonical words of one type.
///
/// The type is the narrowest that holds all fields: `bool`, or `i64`, or `f64` if it holds each
/// integer exactly, else text. It depends only on the kinds of fields, not on their order.
pub struct Words {
    /// None while the type is open.
    ty: Option<Ty>,
    /// Whether the user set the type.
    is_given: bool,
    words: Vec<u64>,
    /// Whether a field was written as a float.
    has_float: bool,
    /// The first integer that `f64` cannot represent.
    inexact: Why,
    /// The first integer beyond `i64`.
    large: Why,
    /// Missing values, if the type is inferred.
    gaps: Gaps,
}

/// Records the first field that made a column text, and its line.
///
/// None if the user requested text.
pub type Why = Option<(u64, String)>;

/// Texts as codes and distinct labels.
struct Dictionary {
    codes: Vec<u32>,
    known: FxHashMap<String, u32>,
    why: Why,
}

/// Lists the words that mean a missing value.
pub struct Markers(pub Vec<String>);

impl Markers {
    fn has(&self, text: &str) -> bool {
        text.is_empty() || self.0.iter().any(|m| m == text)
    }
}

impl ColumnCells {
    /// Creates a column of a given or an inferred type.
    pub fn new(name: String, given: Option<Type>, fill: Option<Value>) -> ColumnCells {
        let words = |ty| {
            CellsState::Words(Words {
                ty,
                is_given: ty.is_some(),
                words: Vec::new(),
                has_float: false,
                inexact: None,
                large: None,
                gaps: Gaps::default(),
            })
        };
        let state = match given {
            Some(Type::Scalar(ty)) => words(Some(ty)),
            Some(ty) if Unit::of(ty).is_some() => CellsState::Times(Times::given(ty)),
            Some(_) => CellsState::Text(Dictionary::new(None)),
            None => words(None),
        };
        ColumnCells { name, fill, state }
    }

    /// Creates a column that is not requested.
    pub fn skipped(name: String) -> ColumnCells {
        let state = CellsState::Skipped;
        ColumnCells {
            name,
            fill: None,
            state,
        }
    }

    /// Adds the next field.
    pub fn push(&mut self, field: &[u8], line: u64, markers: &Markers) -> Result<(), ErrorKind> {
        let why = match &mut self.state {
            CellsState::Skipped | CellsState::Reread(_) => return Ok(()),
            CellsState::Text(all) => {
                let text = utf8(field)?;
                return match &self.fill {
                    Some(Value::Text(fill)) if markers.has(text) => all.push(fill),
                    _ => all.push(text),
                };
            }
            CellsState::Times(all) => {
                let text = utf8(field)?.trim_ascii();
                match markers.has(text) {
                    true => return all.push_missing(line, self.fill.as_ref()),
                    false => all.push_text(text, line)?,
                }
            }
            CellsState::Words(all) => {
                let text = utf8(field)?.trim_ascii();
                if markers.has(text) {
                    return all.push_missing(line, self.fill.as_ref());
                }
                if let Some(times) = Times::first(text, all) {
                    self.state = CellsState::Times(times);
                    return Ok(());
                }
                all.push_text(text, line)?
            }
        };
        if why.is_some() {
            let is_first = matches!(&self.state, CellsState::Words(all) if all.words.is_empty());
            self.state = CellsState::text(why, is_first);
            if is_first {
                return self.push(field, line, markers);
            }
        }
        Ok(())
    }

    /// Returns whether the fields must be read again.
    pub fn needs_reread(&self) -> bool {
        matches!(self.state, CellsState::Reread(_))
    }

    /// Decides an inferred type at the end and fills missing values.
    ///
    /// The error has the line of the first missing value without a substitute.
    pub fn close(&mut self) -> Result<(), (u64, ErrorKind)> {
        let all = match &mut self.state {
            CellsState::Words(all) => all,
            CellsState::Times(all) => return all.close(self.fill.as_ref()),
            _ => return Ok(()),
        };
        let is_first = all.words.is_empty();
        if !all.is_given
            && let Err(why) = all.decide(self.fill.as_ref())
        {
            self.state = CellsState::text(why, is_first);
            return Ok(());
        }
        match all.gaps.line() {
            Some(line) => all.stand_in(self.fill.as_ref()).map_err(|e| (line, e)),
            None => Ok(()),
        }
    }

    /// Creates the column for another pass.
    ///
    /// It is text if this pass found text, else skipped.
    pub fn for_reread(&self) -> ColumnCells {
        let state = match &self.state {
            CellsState::Reread(why) => CellsState::Text(Dictionary::new(why.clone())),
            _ => CellsState::Skipped,
        };
        ColumnCells {
            name: self.name.clone(),
            fill: self.fill.clone(),
            state,
        }
    }

    /// Returns the column.
    ///
    /// None if it is not requested.
    pub fn finish(self) -> Option<(String, Column)> {
        let data = match self.state {
            CellsState::Skipped | CellsState::Reread(_) => return None,
            CellsState::Text(all) => Data::Text(all.finish()),
            CellsState::Words(all) => Data::Scalars(Arc::new(all.finish())),
            CellsState::Times(all) => all.finish(),
        };
        Some((self.name, data.into()))
    }
}

impl CellsState {
    /// Text for this reason. `is_first` tells that no field came before.
    fn text(why: Why, is_first: bool) -> CellsState {
        match is_first {
            true => CellsState::Text(Dictionary::new(why)),
            false => CellsState::Reread(why),
        }
    }
}

impl Words {
    fn push(&mut self, word: u64) -> Result<(), ErrorKind> {
        push(&mut self.words, word)
    }

    /// Adds the next element. If the field turns the column into text, returns that field.
    fn push_text(&mut self, text: &str, line: u64) -> Result<Why, ErrorKind> {
        if let (true, Some(ty)) = (self.is_given, self.ty) {
            let wrong = || ErrorKind::malformed(ty.name(), shown(text));
            let word = parse(text, ty).ok_or_else(wrong)?;
            return self.push(word).map(|()| None);
        }
        let this = || Some((line, text.to_string()));
        let (ty, word) = match looks(text) {
            None => return Ok(this()),
            Some(Looks::Bool(word)) => (Ty::Bool, word),
            Some(Looks::Int(x)) => {
                if Const::exactly(Ty::F64, x.into()).is_none() && self.inexact.is_none() {
                    self.inexact = this();
                }
                (Ty::I64, x as u64)
            }
            Some(Looks::Large(x)) => {
                self.large = self.large.take().or_else(this);
                (Ty::F64, x.to_bits())
            }
            Some(Looks::Float(x)) => {
                self.has_float = true;
                (Ty::F64, x.to_bits())
            }
        };
        if !self.widen(ty) {
            let of_numbers = self.inexact.take().filter(|_| ty != Ty::Bool);
            return Ok(of_numbers.or_else(this));
        }
        let word = match (self.ty, ty) {
            (Some(Ty::F64), Ty::I64) => to_float(word),
            _ => word,
        };
        self.push(word).map(|()| None)
    }

    /// Widens the column's type to hold this type as well. False if that is impossible.
    fn widen(&mut self, to: Ty) -> bool {
        match (self.ty, to) {
            (None, _) => self.ty = Some(to),
            (Some(Ty::I64), Ty::F64) if self.inexact.is_none() => {
                self.words
                    .iter_mut()
                    .for_each(|word| *word = to_float(*word));
                self.ty = Some(to);
            }
            (Some(Ty::F64), Ty::I64) => return self.inexact.is_none(),
            (Some(ty), _) => return ty == to,
        }
        true
    }

    /// Returns the number of fields and their gaps, if all are missing.
    pub fn only_missing(&self) -> Option<(usize, &Gaps)> {
        let none_came = self.ty.is_none() && !self.is_given;
        none_came.then_some((self.words.len(), &self.gaps))
    }

    /// Adds a missing value: its substitute if the type is given, else a gap.
    fn push_missing(&mut self, line: u64, fill: Option<&Value>) -> Result<(), ErrorKind> {
        if self.is_given {
            let word = self.word_of(fill)?;
            return self.push(word);
        }
        self.gaps.push(line, self.words.len())?;
        self.push(0)
    }

    /// Decides the type after all fields. A substitute counts as a field. The error is the reason
    /// for text.
    fn decide(&mut self, fill: Option<&Value>) -> Result<(), Why> {
        let fill = fill.filter(|_| self.gaps.line().is_some());
        match (fill, self.ty) {
            (Some(Value::Float(_)), None | Some(Ty::I64 | Ty::F64)) => {
                self.has_float = true;
                if !self.widen(Ty::F64) {
                    return Err(self.inexact.take());
                }
            }
            (Some(Value::Int(_)), None) => self.ty = Some(Ty::I64),
            (Some(Value::Bool(_)), None) => self.ty = Some(Ty::Bool),
            _ => {}
        }
        match (self.ty, &self.large) {
            (None, _) => Err(None),
            (_, Some(_)) if !self.has_float => Err(self.large.take()),
            _ => Ok(()),
        }
    }

    /// Fills the gaps.
    fn stand_in(&mut self, fill: Option<&Value>) -> Result<(), ErrorKind> {
        let word = self.word_of(fill)?;
        self.gaps.fill(&mut self.words, word);
        Ok(())
    }

    /// The word of the substitute for a missing value.
    fn word_of(&self, fill: Option<&Value>) -> Result<u64, ErrorKind> {
        let fill = fill.ok_or_else(|| none(self.ty.map_or("a value", Ty::name)))?;
        let expected = match self.ty {
            Some(ty) => format!("a stand-in for missing values of type {ty}"),
            None => "a number to stand for a missing value".to_string(),
        };
        let wrong = || ErrorKind::malformed(expected, fill.to_string());
        let word = self.ty.and_then(|ty| fill.word(ty));
        word.ok_or_else(wrong)
    }

    fn finish(self) -> Buffer {
        let ty = self.ty.unwrap_or(Ty::F64);
        by_type!(ty, T => {
            let values: Vec<T> = self.words.into_iter().map(T::from_word).collect();
            Buffer::from_vec(values)
        })
    }
}

impl Dictionary {
    fn new(why: Why) -> Dictionary {
        Dictionary {
            codes: Vec::new(),
            known: FxHashMap::default(),
            why,
        }
    }

    fn push(&mut self, text: &str) -> Result<(), ErrorKind> {
        let code = match self.known.get(text) {
            Some(code) => *code,
            None => {
                let most =
                    || ErrorKind::malformed("at most 2^32 - 1 texts that differ", "one more");
                let code = u32::try_from(self.known.len()).ok();
                let code = code.filter(|c| *c < u32::MAX).ok_or_else(most)?;
                self.known.insert(text.to_string(), code);
                code
            }
        };
        push(&mut self.codes, code)
    }

    fn finish(self) -> Text {
        let mut labels = vec![String::new(); self.known.len()];
        for (text, code) in self.known {
            labels[code as usize] = text;
        }
        Text {
            codes: Arc::new(Buffer::from_vec(self.codes)),
            labels,
            why: self.why,
        }
    }
}

/// Converts the word of an integer to that of a float.
fn to_float(word: u64) -> u64 {
    (word as i64 as f64).to_bits()
}

/// Describes the error of a missing value without a substitute.
pub fn none(ty: &str) -> ErrorKind {
    ErrorKind::malformed(ty, "nothing (`missing` gives a stand-in)")
}

/// Decodes a field as text.
pub fn utf8(field: &[u8]) -> Result<&str, ErrorKind> {
    std::str::from_utf8(field).map_err(|_| {
        let got = shown(&String::from_utf8_lossy(field));
        ErrorKind::malformed("text in UTF-8", got)
    })
}

pub fn push<T>(all: &mut Vec<T>, x: T) -> Result<(), ErrorKind> {
    if all.len() == all.capacity() {
        let bytes = (2 * all.len() * size_of::<T>()) as u64;
        let room = all.try_reserve(1);
        room.map_err(|_| ErrorKind::Memory { bytes })?;
    }
    all.push(x);
    Ok(())
}

/// Creates a column of texts in memory.
pub fn dictionary<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Result<Text, ErrorKind> {
    let mut all = Dictionary::new(None);
    texts
        .into_iter()
        .try_for_each(|text| all.push(text.as_ref()))?;
    Ok(all.finish())
}
