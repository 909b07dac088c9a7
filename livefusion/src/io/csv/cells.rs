//! A column while it is read: its type is found as its fields come.

use super::super::column::{Column, Data, Text, Unit};
use super::super::error::{ErrorKind, shown};
use super::super::plain::by_type;
use super::super::value::{Type, Value, guess, parse};
use super::times::Times;
use livefusion_backend::{Buffer, Prim};
use loop_lang::types::Ty;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The fields of a column that have come.
pub struct Cells {
    pub name: String,
    /// What stands for a missing value.
    fill: Option<Value>,
    state: State,
}

enum State {
    /// Nobody wants them.
    Skipped,
    /// Numbers, or `bool`s.
    Words(Words),
    /// Dates.
    Times(Times),
    /// Text.
    Text(Dictionary),
    /// They turned out to be text, and have to be read again.
    Again(Why),
}

/// Canonical words of one type.
pub struct Words {
    /// None as long as it is open.
    ty: Option<Ty>,
    /// Whether the user said the type.
    is_given: bool,
    words: Vec<u64>,
    /// The line of the first missing value that nothing stands for.
    missing: Option<u64>,
}

/// The first field that made a column text, and its line; none if the user said so.
pub type Why = Option<(u64, String)>;

/// Texts, each once.
struct Dictionary {
    codes: Vec<u32>,
    known: FxHashMap<String, u32>,
    why: Why,
}

/// What is missing: no field, but a word for none.
pub struct Markers(pub Vec<String>);

impl Markers {
    fn has(&self, text: &str) -> bool {
        text.is_empty() || self.0.iter().any(|m| m == text)
    }
}

impl Cells {
    /// A column of a type, or of one that is to be found.
    pub fn new(name: String, given: Option<Type>, fill: Option<Value>) -> Cells {
        let words = |ty| {
            State::Words(Words {
                ty,
                is_given: ty.is_some(),
                words: Vec::new(),
                missing: None,
            })
        };
        let state = match given {
            Some(Type::Scalar(ty)) => words(Some(ty)),
            Some(ty) if Unit::of(ty).is_some() => State::Times(Times::given(ty)),
            Some(_) => State::Text(Dictionary::new(None)),
            None => words(None),
        };
        Cells { name, fill, state }
    }

    /// A column that nobody wants.
    pub fn skipped(name: String) -> Cells {
        let state = State::Skipped;
        Cells {
            name,
            fill: None,
            state,
        }
    }

    /// The next field.
    pub fn push(&mut self, field: &[u8], line: u64, markers: &Markers) -> Result<(), ErrorKind> {
        let text = match &mut self.state {
            State::Skipped | State::Again(_) => return Ok(()),
            State::Text(all) => {
                let text = utf8(field)?;
                return match &self.fill {
                    Some(Value::Text(fill)) if markers.has(text) => all.push(fill),
                    _ => all.push(text),
                };
            }
            State::Times(all) => {
                let text = utf8(field)?.trim_ascii();
                match (markers.has(text), &self.fill) {
                    (true, Some(fill)) => return all.push_fill(fill),
                    (true, None) => return all.push_none(line),
                    (false, _) if all.push_text(text)? => return Ok(()),
                    (false, _) => text,
                }
            }
            State::Words(all) => {
                let text = utf8(field)?.trim_ascii();
                match (markers.has(text), &self.fill) {
                    (true, Some(fill)) => return all.push_fill(fill),
                    (true, None) => return all.push_none(line),
                    (false, _) if all.push_text(text)? => return Ok(()),
                    (false, _) => text,
                }
            }
        };
        if let State::Words(all) = &self.state
            && let Some(times) = Times::first(text, all)
        {
            self.state = State::Times(times);
            return Ok(());
        }
        let why = Some((line, text.to_string()));
        self.state = match &self.state {
            State::Words(all) if all.words.is_empty() => {
                let mut all = Dictionary::new(why);
                all.push(utf8(field)?)?;
                State::Text(all)
            }
            _ => State::Again(why),
        };
        Ok(())
    }

    /// Whether the fields have to be read again.
    pub fn is_again(&self) -> bool {
        matches!(self.state, State::Again(_))
    }

    /// At the end: a type for a column without a single value, and nothing missing. Else the line of what is missing.
    pub fn close(&mut self) -> Result<(), (u64, ErrorKind)> {
        let all = match &self.state {
            State::Words(all) => all,
            State::Times(all) => {
                let missing = all.missing.map(|line| (line, all.none()));
                return missing.map_or(Ok(()), Err);
            }
            _ => return Ok(()),
        };
        match (all.ty, all.missing) {
            (Some(ty), Some(line)) => Err((line, none(ty.name()))),
            (None, _) => {
                self.state = match all.words.is_empty() {
                    true => State::Text(Dictionary::new(None)),
                    false => State::Again(None),
                };
                Ok(())
            }
            (Some(_), None) => Ok(()),
        }
    }

    /// The column for another pass: text where this one found that it is text, else nothing.
    pub fn again(&self) -> Cells {
        let state = match &self.state {
            State::Again(why) => State::Text(Dictionary::new(why.clone())),
            _ => State::Skipped,
        };
        Cells {
            name: self.name.clone(),
            fill: self.fill.clone(),
            state,
        }
    }

    /// The column; none if nobody wants it.
    pub fn finish(self) -> Option<(String, Column)> {
        let data = match self.state {
            State::Skipped | State::Again(_) => return None,
            State::Text(all) => Data::Text(all.finish()),
            State::Words(all) => Data::Scalars(Arc::new(all.finish())),
            State::Times(all) => all.finish(),
        };
        Some((self.name, data.into()))
    }
}

impl Words {
    fn push(&mut self, word: u64) -> Result<(), ErrorKind> {
        push(&mut self.words, word)
    }

    /// The next element; false if the column is text.
    fn push_text(&mut self, text: &str) -> Result<bool, ErrorKind> {
        if let (true, Some(ty)) = (self.is_given, self.ty) {
            let wrong = || ErrorKind::malformed(ty.name(), shown(text));
            let word = parse(text, ty).ok_or_else(wrong)?;
            return self.push(word).map(|()| true);
        }
        let word = match (self.ty, guess(text)) {
            // However a float is spelled, it is one here.
            (Some(Ty::F64), _) => parse(text, Ty::F64),
            (_, None) => None,
            (_, Some((ty, word))) => self.widen(ty).then_some(word),
        };
        match word {
            Some(word) => self.push(word).map(|()| true),
            None => Ok(false),
        }
    }

    /// Makes the column one that may hold elements of a type; false if it cannot.
    fn widen(&mut self, to: Ty) -> bool {
        match (self.ty, to) {
            (None, _) => self.ty = Some(to),
            (Some(Ty::I64), Ty::F64) => {
                for word in &mut self.words {
                    *word = (*word as i64 as f64).to_bits();
                }
                self.ty = Some(to);
            }
            (Some(ty), _) => return ty == to,
        }
        true
    }

    /// How many fields there are, if each is one that is missing, and the line of the first that nothing stands for.
    pub fn only_missing(&self) -> Option<(usize, Option<u64>)> {
        let none_came = self.ty.is_none() && !self.is_given;
        none_came.then_some((self.words.len(), self.missing))
    }

    fn push_fill(&mut self, fill: &Value) -> Result<(), ErrorKind> {
        if !self.is_given {
            match fill {
                Value::Bool(_) => self.widen(Ty::Bool),
                Value::Int(_) => self.ty == Some(Ty::F64) || self.widen(Ty::I64),
                Value::Float(_) => self.widen(Ty::F64),
                Value::Text(_) => false,
            };
        }
        let word = self.ty.and_then(|ty| fill.word(ty));
        let expected = match self.ty {
            Some(ty) => format!("what stands for a missing value to be of type {ty}"),
            None => "a number to stand for a missing value".to_string(),
        };
        let wrong = || ErrorKind::malformed(expected, fill.to_string());
        let word = word.ok_or_else(wrong)?;
        self.push(word)
    }

    fn push_none(&mut self, line: u64) -> Result<(), ErrorKind> {
        if self.is_given {
            return Err(none(self.ty.map_or("a value", Ty::name)));
        }
        self.missing.get_or_insert(line);
        self.push(0)
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

/// A missing value that nothing stands for.
pub fn none(ty: &str) -> ErrorKind {
    ErrorKind::malformed(
        ty,
        "nothing (`missing` says what stands for a missing value)",
    )
}

/// A field as text.
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

/// A column of texts that are in memory.
pub fn dictionary<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Result<Text, ErrorKind> {
    let mut all = Dictionary::new(None);
    texts
        .into_iter()
        .try_for_each(|text| all.push(text.as_ref()))?;
    Ok(all.finish())
}
