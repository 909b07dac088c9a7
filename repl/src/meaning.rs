//! Element types beyond numbers: text, dates, times, table rows.
//!
//! This covers their display and their common types.

use crate::eval::promote;
use crate::syntax::Literal;
use crate::value::Elt;
use livefusion::io::{Date, DateTime, Type};
use loop_lang::Const;

/// Lists units of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Time {
    /// A day, in days since 1970.
    Date,
    /// A date-time, in microseconds since 1970.
    DateTime,
    /// A difference in days.
    Days,
    /// A difference in microseconds.
    Span,
}

/// Counts the microseconds of a second.
pub const SECOND: i64 = 1_000_000;
/// Counts the microseconds of a day.
pub const DAY: i64 = 86_400 * SECOND;

impl Time {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Time::Date => "date",
            Time::DateTime => "datetime",
            Time::Days => "days",
            Time::Span => "duration",
        }
    }

    /// Returns whether it is a date, with or without a time.
    pub fn is_date(self) -> bool {
        matches!(self, Time::Date | Time::DateTime)
    }

    /// Returns whether it counts microseconds.
    pub fn is_fine(self) -> bool {
        matches!(self, Time::DateTime | Time::Span)
    }

    /// Returns the unit of a date or a difference.
    ///
    /// `is_fine` selects microseconds instead of days.
    pub fn of(is_date: bool, is_fine: bool) -> Time {
        match (is_date, is_fine) {
            (true, true) => Time::DateTime,
            (true, false) => Time::Date,
            (false, true) => Time::Span,
            (false, false) => Time::Days,
        }
    }

    /// Returns the type of such a column, or `None` for a difference.
    pub fn column(self) -> Option<Type> {
        match self {
            Time::Date => Some(Type::Date),
            Time::DateTime => Some(Type::DateTime),
            Time::Days | Time::Span => None,
        }
    }

    /// Formats a count of this unit.
    pub fn show(self, count: i64) -> String {
        match self {
            Time::Date => Date::of_count(count).to_string(),
            Time::DateTime => DateTime::of_count(count).to_string(),
            Time::Days => days(i128::from(count)),
            Time::Span => span(count),
        }
    }
}

fn days(n: i128) -> String {
    let s = if n.abs() == 1 { "" } else { "s" };
    format!("{n} day{s}")
}

/// `2 days 3 h 30 min`, `1.5 s`: the non-zero units.
fn span(micros: i64) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    let rest = i128::from(micros).abs();
    let (second, day) = (i128::from(SECOND), i128::from(DAY));
    let mut parts = Vec::new();
    if rest >= day {
        parts.push(days(rest / day));
    }
    for (size, unit) in [(3600, "h"), (60, "min")] {
        let most = if size == 3600 { day } else { 3600 * second };
        let n = rest % most / (size * second);
        if n > 0 {
            parts.push(format!("{n} {unit}"));
        }
    }
    let (seconds, part) = (rest / second % 60, rest % second);
    if seconds > 0 || part > 0 || parts.is_empty() {
        let part = format!("{part:06}");
        let point = if part == "000000" { "" } else { "." };
        parts.push(format!("{seconds}{point}{} s", part.trim_end_matches('0')));
    }
    format!("{sign}{}", parts.join(" "))
}

/// Formats an element from its fields.
///
/// Texts are quoted on request.
pub fn show(elt: &Elt, words: &mut dyn Iterator<Item = Option<Const>>, quotes: bool) -> String {
    let unknown = || "?".to_string();
    match elt {
        Elt::Scalar(_) | Elt::Count => words.next().flatten().map_or_else(unknown, Const::bare),
        Elt::Text(labels) => {
            let code = words.next().flatten();
            let text = code.and_then(|c| labels.get(c.bits as u32));
            text.map_or_else(unknown, |text| match quotes {
                true => Literal::Text(text.to_string()).to_string(),
                false => text.to_string(),
            })
        }
        Elt::Time(time) => {
            let count = words.next().flatten();
            count.map_or_else(unknown, |c| time.show(c.bits as i64))
        }
        Elt::Maybe(parts) => {
            let value = show(&parts[0], words, quotes);
            match words.next().flatten() {
                Some(there) if there.bits == 0 => "-".into(),
                _ => value,
            }
        }
        Elt::Row(names, parts) => {
            let parts = names.iter().zip(parts);
            let parts = parts.map(|(name, part)| format!("{name}: {}", show(part, words, quotes)));
            format!("({})", parts.collect::<Vec<_>>().join(", "))
        }
        Elt::Tuple(parts) => {
            let parts: Vec<_> = parts.iter().map(|p| show(p, words, quotes)).collect();
            format!("({})", parts.join(", "))
        }
    }
}

impl Elt {
    /// Returns the parts of a tuple, a row or an optional value.
    ///
    /// Elements with one field have no parts.
    pub fn parts(&self) -> &[Elt] {
        match self {
            Elt::Tuple(parts) | Elt::Row(_, parts) => parts,
            Elt::Maybe(parts) => &parts[..],
            Elt::Scalar(_) | Elt::Count | Elt::Text(_) | Elt::Time(_) => &[],
        }
    }

    /// Returns whether it has parts.
    pub fn is_tuple(&self) -> bool {
        matches!(self, Elt::Tuple(_) | Elt::Row(..) | Elt::Maybe(_))
    }

    /// Returns whether it contains text or times.
    pub fn is_meant(&self) -> bool {
        match self {
            Elt::Text(_) | Elt::Time(_) => true,
            Elt::Scalar(_) => false,
            tuple => tuple.parts().iter().any(Elt::is_meant),
        }
    }

    /// Returns the named part of a row.
    ///
    /// The result has the index of its first field, and its type.
    pub fn part_named(&self, name: &str) -> Option<(usize, &Elt)> {
        let Elt::Row(names, parts) = self else {
            return None;
        };
        let k = names.iter().position(|n| n == name)?;
        let before = parts.get(..k)?.iter().map(Elt::fields).sum();
        Some((before, parts.get(k)?))
    }

    /// Returns the common type of both, if there is one.
    ///
    /// Texts get the labels of both. A day and a date-time give a date-time.
    pub fn common(&self, other: &Elt) -> Option<Elt> {
        Some(match (self, other) {
            (Elt::Text(own), Elt::Text(others)) => Elt::Text(own.merged(others)),
            (Elt::Time(own), Elt::Time(other)) if own.is_date() == other.is_date() => {
                Elt::Time(Time::of(own.is_date(), own.is_fine() || other.is_fine()))
            }
            (Elt::Scalar(_) | Elt::Count, Elt::Scalar(_) | Elt::Count) => {
                promote::join(self, other)?
            }
            (Elt::Tuple(own), Elt::Tuple(others)) => Elt::Tuple(all_common(own, others)?),
            (Elt::Row(names, own), Elt::Row(other_names, others)) if names == other_names => {
                Elt::Row(names.clone(), all_common(own, others)?)
            }
            (Elt::Maybe(own), Elt::Maybe(others)) => {
                let [value, there] = &**own;
                Elt::Maybe(Box::new([value.common(&others[0])?, there.clone()]))
            }
            _ => return None,
        })
    }
}

fn all_common(own: &[Elt], others: &[Elt]) -> Option<Vec<Elt>> {
    let parts = own.iter().zip(others).map(|(a, b)| a.common(b));
    (own.len() == others.len()).then(|| parts.collect())?
}
