//! Dates: against a day-by-day calendar, in each form, in files and in memory.

use super::{fault, folder};
use livefusion::io::{Date, DateTime, Table, Type, csv_text};
use livefusion::prelude::*;
use proptest::prelude::*;

/// A calendar that only knows how to advance to the next day.
struct Days {
    year: i64,
    month: u32,
    day: u32,
}

impl Days {
    fn next(&mut self) {
        let is_leap = (self.year % 4 == 0) && (self.year % 100 != 0) || (self.year % 400 == 0);
        let february = if is_leap { 29 } else { 28 };
        let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        self.day += 1;
        if self.day > lengths[self.month as usize - 1] {
            (self.month, self.day) = (self.month + 1, 1);
        }
        if self.month > 12 {
            (self.year, self.month) = (self.year + 1, 1);
        }
    }
}

#[test]
fn dates_count_days_as_a_calendar_does() {
    let start = Date::new(-4000, 1, 1).unwrap();
    let mut days = Days {
        year: -4000,
        month: 1,
        day: 1,
    };
    let mut count = start.count();
    while days.year <= 4000 {
        let (year, month, day) = (days.year, days.month, days.day);
        assert_eq!(Date::new(year, month, day).unwrap().count(), count);
        assert_eq!(Date::of_count(count).parts(), (year, month, day));
        days.next();
        // The day before the first of a month is the last day of its month.
        if days.day == 1 {
            assert_eq!(Date::new(year, month, day + 1), None);
        }
        count += 1;
    }
    assert_eq!(Date::new(1970, 1, 1).unwrap().count(), 0);
    assert_eq!(
        (
            Date::new(1970, 0, 1),
            Date::new(1970, 13, 1),
            Date::new(1970, 1, 0)
        ),
        (None, None, None)
    );
}

#[test]
fn dates_of_all_counts_have_a_text() {
    for count in [i64::MIN, -1, 0, 1, i64::MAX] {
        assert!(!Date::of_count(count).to_string().is_empty());
        assert!(!DateTime::of_count(count).to_string().is_empty());
        Date::of_count(count).midnight();
    }
    assert_eq!(
        DateTime::of_count(-1).to_string(),
        "1969-12-31 23:59:59.999999"
    );
    assert_eq!(Date::new(-5, 3, 1).unwrap().to_string(), "-0005-03-01");
}

#[test]
fn dates_are_read_in_each_form() {
    let day = Date::new(2010, 1, 5).unwrap();
    for text in [
        "2010-01-05",
        "2010/01/05",
        "2010/1/5",
        "Jan 5 2010",
        "jan 05, 2010",
        "January 5 2010",
    ] {
        assert_eq!(text.parse::<Date>().unwrap(), day, "{text}");
        assert_eq!(text.parse::<DateTime>().unwrap(), day.midnight(), "{text}");
        let at = format!("{text} 05:06:07.5").parse::<DateTime>().unwrap();
        assert_eq!(
            at.count() - day.midnight().count(),
            18_367_500_000,
            "{text}"
        );
    }
    assert_eq!(
        "2010-01-05T05:06".parse::<DateTime>().unwrap().to_string(),
        "2010-01-05 05:06"
    );
    for text in [
        "",
        "2010",
        "2010-1-05",
        "10-01-05",
        "2010-01-05 24:00",
        "2010-01-05T05",
        "2010-01-05T05:00Z",
        "2010-01-05 05:00:00.1234567",
        "2010-01-05-06",
        "Foo 5 2010",
        "5 Jan 2010",
        "2010-13-01",
        "+010-01-05",
        "2010-01-05 05:00+01:00",
        "é/1/1",
        "20é0-01-01",
    ] {
        assert!(text.parse::<DateTime>().is_err(), "{text}");
    }
    let wrong = "2024-02-30".parse::<Date>().unwrap_err().to_string();
    assert_eq!(
        wrong,
        "expected a day of February 2024, from 1 to 29, got 30"
    );
}

/// The inferred types of columns.
fn types(text: &str) -> String {
    let table = csv_text(text).read().unwrap();
    let types: Vec<String> = table.types().map(|t| t.to_string()).collect();
    types.join(" ")
}

#[test]
fn dates_in_csv_are_found_where_all_have_one_form() {
    assert_eq!(
        types(
            "a,b,c\n2010-01-01,2010/01/01 00:00,Jan 1 2000\n2010-01-02,2010/01/01 01:00,Feb 1 2000\n"
        ),
        "date datetime date"
    );
    assert_eq!(types("a\n2010-01-01\n2010/01/02\n"), "text");
    assert_eq!(types("a\n2010-01-01\n2010-01-02 05:00\n"), "text");
    assert_eq!(types("a\n2010-01-01\n2010-02-30\n"), "text");
    assert_eq!(types("a\n1\n2010-01-01\n"), "text");
    assert_eq!(types("a\n2010-01-01\n1\n"), "text");
    assert_eq!(types("a\n20100101\n"), "i64");
    // Seconds are optional on input; output writes them.
    assert_eq!(
        types("a\n2010-01-01 05:00\n2010-01-02 05:00:01.5\n"),
        "datetime"
    );
    // The text form is unchanged.
    let table = csv_text("a\n2010/01/01\nx\n").read().unwrap();
    assert_eq!(
        table.text("a").unwrap().collect::<Vec<_>>(),
        ["2010/01/01", "x"]
    );
}

#[test]
fn dates_in_csv_that_are_missing_are_an_error_or_what_stands_for_them() {
    let text = "a,b\n,1\n2010-01-02,2\n,3\n";
    let wrong = fault(csv_text(text).read());
    assert!(
        wrong.starts_with("line 2, column \"a\": expected date, got nothing"),
        "{wrong}"
    );
    let table = csv_text(text)
        .typed("a", Type::Date)
        .missing("a", "1970-01-01")
        .read()
        .unwrap();
    let days = table
        .times::<Date>("a")
        .unwrap()
        .map(|d| d.count())
        .force()
        .unwrap();
    assert_eq!(days, [0, 14_611, 0]);
    let wrong = fault(csv_text(text).typed("a", Type::Date).missing("a", 0).read());
    assert!(
        wrong.ends_with("expected a date to stand for a missing one, got 0"),
        "{wrong}"
    );
    let wrong = fault(
        csv_text("a\n2010-01-01\nx\n")
            .typed("a", Type::DateTime)
            .read(),
    );
    assert_eq!(wrong, "line 3, column \"a\": expected datetime, got \"x\"");
}

#[test]
fn dates_are_typed() {
    let table = csv_text("day,n\n2010-01-31,1\n2010-02-01,2\n")
        .read()
        .unwrap();
    assert_eq!(
        fault(table.times::<DateTime>("day")),
        "column \"day\": expected datetime, got date"
    );
    assert_eq!(
        fault(table.times::<Date>("n")),
        "column \"n\": expected date, got i64"
    );
    assert_eq!(
        fault(table.column::<i64>("day")),
        "column \"day\": expected i64, got date"
    );
    let days = table.times::<Date>("day").unwrap();
    assert_eq!(
        format!("{:?}", days.force().unwrap()),
        "[2010-01-31, 2010-02-01]"
    );
    let later = days.map(|d| d.plus(1)).to_vec().unwrap();
    assert_eq!(
        later,
        [Date::new(2010, 2, 1), Date::new(2010, 2, 2)].map(Option::unwrap)
    );
    let ends = days.sort().to_vec().unwrap();
    assert_eq!(ends.first(), Date::new(2010, 1, 31).as_ref());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Dates survive a round trip through a file, with and without times.
    #[test]
    fn dates_round_trip(rows in proptest::collection::vec((-700_000i64..2_900_000, -62_000_000_000_000_000i64..250_000_000_000_000_000), 1..20)) {
        let days: Vec<Date> = rows.iter().map(|r| Date::of_count(r.0)).collect();
        let times: Vec<DateTime> = rows.iter().map(|r| DateTime::of_count(r.1)).collect();
        let table = Table::new().with_times("day", &Array::from(days.clone())).unwrap();
        let table = table.with_times("at", &Array::from(times.clone())).unwrap();
        let folder = folder();
        let path = folder.path().join("t.csv");
        table.save(&path).unwrap();
        let read = livefusion::io::csv(&path).read().unwrap();
        prop_assert_eq!(read.times::<Date>("day").unwrap().to_vec().unwrap(), days.clone());
        prop_assert_eq!(read.times::<DateTime>("at").unwrap().to_vec().unwrap(), times.clone());
        #[cfg(feature = "arrow")]
        {
            let path = folder.path().join("t.arrow");
            livefusion::io::arrow::write(&path, &table).unwrap();
            let read = livefusion::io::arrow::read(&path).unwrap();
            prop_assert_eq!(read.types().collect::<Vec<_>>(), [Type::Date, Type::DateTime]);
            prop_assert_eq!(read.times::<Date>("day").unwrap().to_vec().unwrap(), days);
            prop_assert_eq!(read.times::<DateTime>("at").unwrap().to_vec().unwrap(), times);
        }
    }
}
