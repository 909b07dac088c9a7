//! Date columns during a read.

use super::super::column::{Data, Unit};
use super::super::date::{Form, Written};
use super::super::error::{ErrorKind, shown};
use super::super::value::{Type, Value};
use super::cells::{Why, Words, none, push};
use super::gaps::Gaps;
use livefusion_backend::Buffer;
use std::sync::Arc;

/// Collects the counts of the dates read so far.
pub struct Times {
    unit: Unit,
    /// The common form of the dates. None if the user set the type, which accepts any form.
    form: Option<Form>,
    counts: Vec<i64>,
    /// Missing dates, if the type was inferred.
    gaps: Gaps,
}

impl Times {
    /// Creates a column whose date type was given.
    pub fn given(ty: Type) -> Times {
        Times {
            unit: Unit::of(ty).unwrap_or(Unit::Days),
            form: None,
            counts: Vec::new(),
            gaps: Gaps::default(),
        }
    }

    /// Creates a column whose first field is a date.
    ///
    /// None if it is not a date, or if another kind of field came before.
    pub fn first(text: &str, before: &Words) -> Option<Times> {
        let (rows, gaps) = before.only_missing()?;
        let written = Written::of(text)?;
        let mut times = Times {
            unit: match written.form.has_time {
                true => Unit::Micros,
                false => Unit::Days,
            },
            form: Some(written.form),
            counts: vec![0; rows],
            gaps: gaps.clone(),
        };
        times.counts.push(written.count().ok()?);
        Some(times)
    }

    /// Adds the next date.
    ///
    /// If the field turns the column into text, returns that field.
    pub fn push_text(&mut self, text: &str, line: u64) -> Result<Why, ErrorKind> {
        let Some(form) = self.form else {
            let count = self.count_of(text)?;
            return push(&mut self.counts, count).map(|()| None);
        };
        let written = Written::of(text).filter(|w| w.form == form);
        match written.and_then(|w| w.count().ok()) {
            Some(count) => push(&mut self.counts, count).map(|()| None),
            None => Ok(Some((line, text.to_string()))),
        }
    }

    /// Adds a missing date.
    ///
    /// It is the substitute if the type is given, else a gap.
    pub fn push_missing(&mut self, line: u64, fill: Option<&Value>) -> Result<(), ErrorKind> {
        if self.form.is_none() {
            let count = self.count_of_fill(fill)?;
            return push(&mut self.counts, count);
        }
        self.gaps.push(line, self.counts.len())?;
        push(&mut self.counts, 0)
    }

    /// Fills the gaps at the end.
    ///
    /// Without a substitute, the first gap's line is an error.
    pub fn close(&mut self, fill: Option<&Value>) -> Result<(), (u64, ErrorKind)> {
        let Some(line) = self.gaps.line() else {
            return Ok(());
        };
        let count = self.count_of_fill(fill).map_err(|e| (line, e))?;
        self.gaps.fill(&mut self.counts, count);
        Ok(())
    }

    /// The count of the substitute for missing dates.
    fn count_of_fill(&self, fill: Option<&Value>) -> Result<i64, ErrorKind> {
        let ty = self.unit.ty().to_string();
        match fill {
            Some(Value::Text(text)) => self.count_of(text),
            Some(other) => {
                let expected = format!("a {ty} to stand for a missing one");
                Err(ErrorKind::malformed(expected, other.to_string()))
            }
            None => Err(none(&ty)),
        }
    }

    pub fn finish(self) -> Data {
        Data::Times(self.unit, Arc::new(Buffer::from_vec(self.counts)))
    }

    /// The count of a date in any form. A date without a time is its midnight if times are counted.
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
