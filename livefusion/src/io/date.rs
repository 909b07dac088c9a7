//! Dates of the proleptic Gregorian calendar without time zones: arithmetic and text.

use super::error::{ErrorKind, shown};
use std::fmt;
use std::str::FromStr;

/// Represents a day of the proleptic Gregorian calendar.
///
/// It counts days since 1970-01-01. It can be an array element: `Array<Date>`.
///
/// ```
/// use livefusion::io::Date;
/// let day: Date = "2024-02-28".parse()?;
/// assert_eq!(Date::of_count(day.count() + 2).to_string(), "2024-03-01");
/// assert_eq!(Date::new(2024, 2, 30), None);
/// # Ok::<(), livefusion::io::ErrorKind>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Date(i64);

/// Represents a day and a time, to the microsecond.
///
/// It counts microseconds since 1970-01-01 00:00. It can be an array element: `Array<DateTime>`.
///
/// ```
/// use livefusion::io::{Date, DateTime};
/// let time: DateTime = "2010-01-01T05:00".parse()?;
/// assert_eq!(time.to_string(), "2010-01-01 05:00");
/// assert_eq!(Some(time.date()), Date::new(2010, 1, 1));
/// # Ok::<(), livefusion::io::ErrorKind>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DateTime(i64);

/// Gives the microseconds of a second.
pub const SECOND: i64 = 1_000_000;
/// Gives the microseconds of a day.
pub const DAY: i64 = 86_400 * SECOND;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Days in 400 years, the period of the calendar.
const ERA: i128 = 146_097;

/// Days from 1970-01-01 to a day. Years start in March here, so that the leap day is the last day
/// of a year.
fn days_from(year: i64, month: u32, day: u32) -> i128 {
    let year = i128::from(year) - i128::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let month = i128::from((month + 9) % 12);
    let of_year = (153 * month + 2) / 5 + i128::from(day) - 1;
    era * ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The year, month and day of a number of days after 1970-01-01.
fn civil(days: i64) -> (i64, u32, u32) {
    let days = i128::from(days) + 719_468;
    let (era, of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i128::from(month <= 2);
    (year as i64, month as u32, day as u32)
}

/// Days of a month from 1 to 12.
fn days_of(year: i64, month: u32) -> u32 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(is_leap),
        _ => 31,
    }
}

impl Date {
    /// Returns the day of a year, month (from 1) and day (from 1).
    ///
    /// None if there is no such day.
    pub fn new(year: i64, month: u32, day: u32) -> Option<Date> {
        let is_day = (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
        let days = is_day.then(|| days_from(year, month, day))?;
        i64::try_from(days).ok().map(Date)
    }

    /// Returns the day that is `days` days after 1970-01-01.
    pub const fn of_count(days: i64) -> Date {
        Date(days)
    }

    /// Returns the days since 1970-01-01.
    pub const fn count(self) -> i64 {
        self.0
    }

    /// Returns the year, the month and the day of the month.
    ///
    /// Months and days are numbered from 1.
    pub fn parts(self) -> (i64, u32, u32) {
        civil(self.0)
    }

    /// Returns the start of the day.
    ///
    /// It saturates more than 290,000 years from 1970.
    pub fn midnight(self) -> DateTime {
        DateTime(self.0.saturating_mul(DAY))
    }
}

impl DateTime {
    /// Returns the moment that is `micros` microseconds after 1970-01-01 00:00.
    pub const fn of_count(micros: i64) -> DateTime {
        DateTime(micros)
    }

    /// Returns the microseconds since 1970-01-01 00:00.
    pub const fn count(self) -> i64 {
        self.0
    }

    /// Returns its day.
    pub fn date(self) -> Date {
        Date(self.0.div_euclid(DAY))
    }

    /// Returns the microseconds since the start of the day.
    pub fn of_day(self) -> i64 {
        self.0.rem_euclid(DAY)
    }
}

impl fmt::Display for Date {
    /// Formats as ISO 8601, `2010-01-31`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.parts();
        match year {
            0.. => write!(f, "{year:04}-{month:02}-{day:02}"),
            _ => write!(f, "-{:04}-{month:02}-{day:02}", year.unsigned_abs()),
        }
    }
}

impl fmt::Display for DateTime {
    /// Formats as ISO 8601 with a blank, `2010-01-31 05:00`. Seconds appear only if they are not
    /// zero.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (minutes, rest) = (self.of_day() / (60 * SECOND), self.of_day() % (60 * SECOND));
        write!(f, "{} {:02}:{:02}", self.date(), minutes / 60, minutes % 60)?;
        if rest > 0 {
            write!(f, ":{:02}", rest / SECOND)?;
        }
        match rest % SECOND {
            0 => Ok(()),
            part => write!(f, ".{}", format!("{part:06}").trim_end_matches('0')),
        }
    }
}

/// Describes the notation of a date.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    style: Style,
    /// Whether a time follows.
    pub has_time: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    /// `2010-01-31`
    Dashes,
    /// `2010/01/31`
    Slashes,
    /// `Jan 31 2010`
    Named,
}

/// Holds a text in the notation of a date.
///
/// It has a form, a day and a time. There may be no such day.
pub struct Written {
    pub form: Form,
    year: i64,
    month: u32,
    day: u32,
    /// Microseconds since the start of the day.
    time: i64,
}

impl Written {
    /// Parses a text in one of the forms.
    ///
    /// None for other texts.
    pub fn of(text: &str) -> Option<Written> {
        let (date, time) = match text.rsplit_once(['T', ' ']) {
            Some((date, time)) if time.contains(':') => (date, Some(time)),
            _ => (text, None),
        };
        let (style, [year, month, day]) = date_of(date)?;
        let has_time = time.is_some();
        Some(Written {
            form: Form { style, has_time },
            year: i64::from(year),
            month,
            day,
            time: time.map_or(Some(0), time_of)?,
        })
    }

    /// Returns the day.
    ///
    /// An error says why there is no such day.
    pub fn date(&self) -> Result<Date, ErrorKind> {
        let (year, month, day) = (self.year, self.month, self.day);
        Date::new(year, month, day).ok_or_else(|| {
            match MONTHS.get(month.wrapping_sub(1) as usize) {
                Some(name) => {
                    let n = days_of(year, month);
                    ErrorKind::malformed(
                        format!("a day of {name} {year}, from 1 to {n}"),
                        day.to_string(),
                    )
                }
                None => ErrorKind::malformed("a month from 1 to 12", month.to_string()),
            }
        })
    }

    /// Returns the moment.
    ///
    /// An error says why there is no such moment.
    pub fn moment(&self) -> Result<DateTime, ErrorKind> {
        Ok(DateTime(self.date()?.midnight().count() + self.time))
    }

    /// Returns its count.
    ///
    /// It counts days if there is no time, else microseconds.
    pub fn count(&self) -> Result<i64, ErrorKind> {
        match self.form.has_time {
            true => self.moment().map(DateTime::count),
            false => self.date().map(Date::count),
        }
    }
}

/// A number with `least` to `most` digits and no sign.
fn digits(text: &str, least: usize, most: usize) -> Option<u32> {
    let is_number =
        (least..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// The style, year, month and day of a text.
fn date_of(text: &str) -> Option<(Style, [u32; 3])> {
    let (style, between) = match text {
        text if text.contains('-') => (Style::Dashes, '-'),
        text if text.contains('/') => (Style::Slashes, '/'),
        _ => (Style::Named, ' '),
    };
    let mut parts = text.split(between);
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let numbers = match style {
        Style::Dashes => [
            digits(first, 4, 4)?,
            digits(second, 2, 2)?,
            digits(third, 2, 2)?,
        ],
        Style::Slashes => [
            digits(first, 4, 4)?,
            digits(second, 1, 2)?,
            digits(third, 1, 2)?,
        ],
        Style::Named => {
            let is_name = |name: &&str| {
                first.eq_ignore_ascii_case(name) || first.eq_ignore_ascii_case(&name[..3])
            };
            let month = MONTHS.iter().position(is_name)? as u32 + 1;
            let day = second.strip_suffix(',').unwrap_or(second);
            [digits(third, 4, 4)?, month, digits(day, 1, 2)?]
        }
    };
    Some((style, numbers))
}

/// Microseconds since the start of the day, for `05:00`, `05:00:00` or `05:00:00.5`.
fn time_of(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let (hours, minutes) = (digits(parts.next()?, 2, 2)?, digits(parts.next()?, 2, 2)?);
    let (seconds, micros) = match parts.next() {
        None => (0, 0),
        Some(seconds) => match seconds.split_once('.') {
            None => (digits(seconds, 2, 2)?, 0),
            Some((seconds, part)) => {
                let micros = digits(part, 1, 6)? * 10u32.pow(6 - part.len() as u32);
                (digits(seconds, 2, 2)?, micros)
            }
        },
    };
    let is_time = hours < 24 && minutes < 60 && seconds < 60 && parts.next().is_none();
    let seconds = (i64::from(hours) * 60 + i64::from(minutes)) * 60 + i64::from(seconds);
    is_time.then(|| seconds * SECOND + i64::from(micros))
}

fn no_date(expected: &str, text: &str) -> ErrorKind {
    ErrorKind::malformed(expected, shown(text))
}

impl FromStr for Date {
    type Err = ErrorKind;

    /// Reads `2010-01-31`, `2010/01/31` and `Jan 31 2010`.
    fn from_str(text: &str) -> Result<Date, ErrorKind> {
        match Written::of(text.trim_ascii()) {
            Some(written) if !written.form.has_time => written.date(),
            _ => Err(no_date("a date such as 2010-01-31", text)),
        }
    }
}

impl FromStr for DateTime {
    type Err = ErrorKind;

    /// Reads the forms of [`Date`], optionally followed by a time: `05:00`, `05:00:00`,
    /// `05:00:00.5`.
    fn from_str(text: &str) -> Result<DateTime, ErrorKind> {
        match Written::of(text.trim_ascii()) {
            Some(written) => written.moment(),
            None => Err(no_date("a date and a time such as 2010-01-31 05:00", text)),
        }
    }
}
