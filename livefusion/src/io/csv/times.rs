//! A column of dates while it is read.

use super::super::column::{Data, Unit};
use super::super::date::{Form, Written};
use super::super::error::{ErrorKind, shown};
use super::super::value::{Type, Value};
use super::cells::{Words, none, push};
use livefusion_backend::Buffer;
use std::sync::Arc;

/// What counts the dates that have come.
pub struct Times {
    unit: Unit,
    /// The form of all of them; none where the user said the type, which takes any.
    form: Option<Form>,
    counts: Vec<i64>,
    /// The line of the first missing date that nothing stands for.
    pub missing: Option<u64>,
}

impl Times {
    /// A column that is said to be one of dates.
    pub fn given(ty: Type) -> Times {
        Times {
            unit: Unit::of(ty).unwrap_or(Unit::Days),
            form: None,
            counts: Vec::new(),
            missing: None,
        }
    }

    /// A column whose first field is a date; none if it is not, or if another field was there before.
    pub fn first(text: &str, before: &Words) -> Option<Times> {
        let missing = before.only_missing()?;
        let written = Written::of(text)?;
        let mut times = Times {
            unit: match written.form.has_time {
                true => Unit::Micros,
                false => Unit::Days,
            },
            form: Some(written.form),
            counts: vec![0; missing.0],
            missing: missing.1,
        };
        times.counts.push(written.count().ok()?);
        Some(times)
    }

    /// The next date; false if the column is text.
    pub fn push_text(&mut self, text: &str) -> Result<bool, ErrorKind> {
        let written = Written::of(text);
        let Some(form) = self.form else {
            let count = self.count_of(text)?;
            return push(&mut self.counts, count).map(|()| true);
        };
        let count = written
            .filter(|w| w.form == form)
            .and_then(|w| w.count().ok());
        match count {
            Some(count) => push(&mut self.counts, count).map(|()| true),
            None => Ok(false),
        }
    }

    pub fn push_fill(&mut self, fill: &Value) -> Result<(), ErrorKind> {
        let count = match fill {
            Value::Text(text) => self.count_of(text)?,
            other => {
                let expected = format!("what stands for a missing {} to be one", self.unit.ty());
                return Err(ErrorKind::malformed(expected, other.to_string()));
            }
        };
        push(&mut self.counts, count)
    }

    pub fn push_none(&mut self, line: u64) -> Result<(), ErrorKind> {
        if self.form.is_none() {
            return Err(self.none());
        }
        self.missing.get_or_insert(line);
        push(&mut self.counts, 0)
    }

    /// A missing date that nothing stands for.
    pub fn none(&self) -> ErrorKind {
        none(&self.unit.ty().to_string())
    }

    pub fn finish(self) -> Data {
        Data::Times(self.unit, Arc::new(Buffer::from_vec(self.counts)))
    }

    /// What counts a date of any form; one without a time is its midnight where times are counted.
    fn count_of(&self, text: &str) -> Result<i64, ErrorKind> {
        let wrong = || ErrorKind::malformed(self.unit.ty().to_string(), shown(text));
        let written = Written::of(text).ok_or_else(wrong)?;
        match self.unit {
            Unit::Micros => written.moment().map(|moment| moment.count()),
            Unit::Days if written.form.has_time => Err(wrong()),
            Unit::Days => written.date().map(|date| date.count()),
        }
    }
}
