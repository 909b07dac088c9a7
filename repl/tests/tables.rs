//! Tables: text columns against `String`s, rows, groups, joins, dates, errors.

use livefusion_repl::display::Limit;
use livefusion_repl::session::Session;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Debug;
use tempfile::TempDir;

/// A session in a folder with these files.
fn session(files: &[(&str, &str)]) -> (TempDir, Session) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    let mut session = Session::new();
    session.folder = folder.path().into();
    session.settings.show = Limit(10_000);
    (folder, session)
}

#[track_caller]
fn right(s: &mut Session, text: &str, out: &str) {
    let answer = s.submit("<1>", text);
    assert_eq!(
        (answer.err.as_str(), answer.out.as_str()),
        ("", out),
        "{text}"
    );
}

/// Checks that a text shows a value as Rust does.
#[track_caller]
fn shows(s: &mut Session, text: &str, value: impl Debug) {
    right(s, text, &format!("{value:?}\n"));
}

#[track_caller]
fn wrong(s: &mut Session, text: &str, message: &str) {
    let err = s.submit("<1>", text).err;
    assert!(
        err.starts_with(&format!("error: {message}\n")),
        "{text}\n{err}"
    );
}

const WORDS: [&str; 7] = ["", "a", "ab", "B", "b", "é", "zz"];

/// Rows of a word and a number.
fn rows() -> impl Strategy<Value = Vec<(String, i64)>> {
    let word = proptest::sample::select(&WORDS[..]).prop_map(String::from);
    proptest::collection::vec((word, -5..5i64), 1..10)
}

/// A file of rows. The first row has a text that is no number, so that the column is text.
fn file(names: &str, rows: &[(String, i64)]) -> String {
    let lines = rows.iter().map(|(word, n)| format!("{word},{n}\n"));
    format!("{names}\n{}", lines.collect::<String>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tables_are_filtered_sorted_grouped_and_joined_as_strings_are(left in rows(), right in rows(), text in proptest::sample::select(&WORDS[..])) {
        let mut left = left;
        left.insert(0, ("m".into(), 0));
        let mut right = right;
        right.push(("m".into(), 7));
        let (_folder, mut s) = session(&[("t.csv", &file("word,n", &left)), ("u.csv", &file("word,k", &right))]);
        prop_assert_eq!(s.submit("<1>", "let t = load \"t.csv\"\nlet u = load \"u.csv\"").err, "");
        let numbers = |keep: &dyn Fn(&str) -> bool| -> Vec<i64> {
            left.iter().filter(|(word, _)| keep(word)).map(|(_, n)| *n).collect()
        };
        shows(&mut s, &format!("t.filter(_.word == {text:?}).n"), numbers(&|w| w == text));
        shows(&mut s, &format!("t.filter(_.word != {text:?}).n"), numbers(&|w| w != text));
        shows(&mut s, &format!("t.filter(_.word < {text:?}).n"), numbers(&|w| w < text));
        shows(&mut s, &format!("t.filter({text:?} < _.word).n"), numbers(&|w| w > text));
        shows(&mut s, &format!("t.n.pack(t.word >= {text:?})"), numbers(&|w| w >= text));
        let mut sorted = left.clone();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        shows(&mut s, "t.sort_by(_.word).n", sorted.iter().map(|r| r.1).collect::<Vec<_>>());
        shows(&mut s, "t.word.sort()", sorted.iter().map(|r| &r.0).collect::<Vec<_>>());
        // A single text has no quotes.
        let last = &sorted[sorted.len() - 1].0;
        prop_assert_eq!(s.submit("<1>", "t.word.max()").out, format!("{last}\n"));
        let mut groups: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
        left.iter().for_each(|(word, n)| groups.entry(word).or_default().push(*n));
        let sums: Vec<_> = groups.iter().map(|(word, ns)| (*word, ns.len(), ns.iter().sum::<i64>())).collect();
        let text = "t.group_by(_.word).agg((\"count\", _.len()), (\"sum\", _.n.sum())).map(|r| (r.word, r.count, r.sum))";
        shows(&mut s, text, sums);
        shows(&mut s, "t.word.unique_counts().map(_.0)", groups.keys().collect::<Vec<_>>());
        let mut joined = Vec::new();
        for (word, n) in &left {
            joined.extend(right.iter().filter(|r| r.0 == *word).map(|r| (word, n, r.1)));
        }
        shows(&mut s, "t.join(u).map(|r| (r.word, r.n, r.k))", &joined);
        shows(&mut s, "t.join(u, \"word\").len()", joined.len());
        let all: Vec<&String> = left.iter().chain(&right).map(|r| &r.0).collect();
        shows(&mut s, "t.word.append(u.word)", &all);
        // Compares two columns, element by element.
        let of_both = left.iter().zip(&right).map(|(a, b)| a.0 <= b.0).collect::<Vec<_>>();
        let n = of_both.len();
        shows(&mut s, &format!("t.word.take({n}) <= u.word.take({n})"), of_both);
        shows(&mut s, "u.word.map(|w| if w == \"b\" then \"yes\" else w)", right.iter().map(|r| if r.0 == "b" { "yes" } else { &r.0 }).collect::<Vec<_>>());
    }
}

const PEOPLE: &str =
    "name,born,height\nWang,2001-05-01,1.6\nAda,1815-12-10,1.7\nBo,2001-05-31,1.8\n";

fn people() -> (TempDir, Session) {
    let (folder, mut s) = session(&[("people.csv", PEOPLE)]);
    right(&mut s, "let t = load \"people.csv\"", "");
    (folder, s)
}

#[test]
fn tables_are_arrays_of_rows() {
    let (_folder, mut s) = people();
    right(&mut s, "t.len()", "3\n");
    right(
        &mut s,
        "t[1]",
        "(name: \"Ada\", born: 1815-12-10, height: 1.7)\n",
    );
    right(&mut s, "t[-1].name", "Bo\n");
    right(&mut s, "t[\"name\"]", "[\"Wang\", \"Ada\", \"Bo\"]\n");
    right(&mut s, "t.map(_.height).max()", "1.8\n");
    let text = "name        born  height\ntext        date     f64\n Ada  1815-12-10     1.7\n  Bo  2001-05-31     1.8\n";
    right(&mut s, "t.filter(_.height > 1.65)", text);
    right(&mut s, "t.sort_by(_.name).take(2)", text);
    right(
        &mut s,
        ":type t.take(2)",
        "table of 2 rows (name: text, born: date, height: f64)\n",
    );
    right(
        &mut s,
        "iterate_n(2, t, |u| u.reverse()).name",
        "[\"Wang\", \"Ada\", \"Bo\"]\n",
    );
    right(
        &mut s,
        "t.reverse().head().name",
        "[\"Bo\", \"Ada\", \"Wang\"]\n",
    );
    right(
        &mut s,
        "t.append(t.take(1)).name",
        "[\"Wang\", \"Ada\", \"Bo\", \"Wang\"]\n",
    );
    right(
        &mut s,
        "t.sort_by(|a, b| a.height > b.height)[0].name",
        "Bo\n",
    );
}

/// One loop computes all columns of a filter.
#[test]
fn tables_are_filtered_in_one_loop() {
    let (_folder, mut s) = people();
    for text in [
        "t.filter(_.height > 1.65)",
        "t.filter(_.name == \"Ada\")",
        "t.filter(_.name != \"Nobody\")",
        "t.filter(_.born > \"1900-01-01\").map(_.height)",
    ] {
        let out = s.submit("<1>", &format!(":explain {text}")).out;
        assert!(
            out.starts_with("1 loop, no intermediate array\n"),
            "{text}\n{out}"
        );
    }
}

#[test]
fn tables_are_written_as_they_were_read() {
    let (folder, mut s) = people();
    for ending in ["csv", "parquet", "arrow"] {
        right(
            &mut s,
            &format!("t.filter(_.height > 0) |> save \"u.{ending}\""),
            "",
        );
        right(
            &mut s,
            &format!(":type load \"u.{ending}\""),
            "table of 3 rows (name: text, born: date, height: f64)\n",
        );
    }
    let written = std::fs::read_to_string(folder.path().join("u.csv")).expect("a file");
    assert_eq!(written, PEOPLE);
    wrong(
        &mut s,
        "t.name |> save \"n.npy\"",
        "`save` takes numbers, not text",
    );
    wrong(
        &mut s,
        "(t.name, t.born) |> save \"n.npz\"",
        "`save` takes numbers, not text",
    );
    wrong(
        &mut s,
        "t.born.diff() |> save \"n.csv\"",
        "a column cannot hold differences of dates",
    );
}

#[test]
fn tables_have_groups_with_several_aggregates() {
    let (_folder, mut s) = people();
    let text =
        "name    n  tall\ntext  i64   f64\n Ada    1   1.7\n  Bo    1   1.8\nWang    1   1.6\n";
    right(
        &mut s,
        "t.group_by(_.name).agg((\"n\", _.len()), (\"tall\", _.height.max()))",
        text,
    );
    right(
        &mut s,
        "t.group_by(_.height > 1.65).agg((\"n\", _.len()))",
        "  key    n\n bool  i64\nfalse    1\n true    2\n",
    );
    right(
        &mut s,
        "t.group_by((_.name == \"Bo\", _[\"name\"])).agg((\"n\", _.len())).name",
        "[\"Ada\", \"Wang\", \"Bo\"]\n",
    );
    right(
        &mut s,
        "[3, 1, 4].group_by(_ % 2).agg((\"sum\", _.sum()))",
        "key  sum\ni64  i64\n  0    4\n  1    4\n",
    );
    wrong(
        &mut s,
        "t.group_by(_.name).agg(_.len())",
        "expected a name and a value, as `(\"n\", _.len())` is",
    );
    wrong(
        &mut s,
        "t.group_by(_.name).agg((\"name\", _.len()))",
        "there are two columns `name`",
    );
    wrong(
        &mut s,
        "t.group_by(_.name).agg((\"h\", _.height))",
        "expected one value for each group, as `_.sum()` is",
    );
    wrong(
        &mut s,
        "t.agg((\"n\", _.len()))",
        "expected groups, got a table",
    );
}

#[test]
fn tables_are_joined_by_names() {
    let (_folder, mut s) = session(&[
        ("t.csv", "name,n\nb,1\na,2\nc,3\n"),
        ("u.csv", "name,n\nc,30\nd,40\nb,10\nb,11\n"),
    ]);
    right(&mut s, "let t = load \"t.csv\"\nlet u = load \"u.csv\"", "");
    let text = "name    n  n_right\ntext  i64      i64\n   b    1       10\n   b    1       11\n   c    3       30\n";
    right(&mut s, "t.join(u, \"name\")", text);
    right(&mut s, "t.join(u, \"name\", \"n\").len()", "0\n");
    right(
        &mut s,
        "t.name.left_join(u.name)",
        "[(0, 2, true), (0, 3, true), (1, 0, false), (2, 0, true)]\n",
    );
    wrong(&mut s, "t.join(u, \"nmae\")", "there is no column `nmae`");
    wrong(
        &mut s,
        "t.join([1, 2])",
        "expected two tables to join by names of columns",
    );
    wrong(
        &mut s,
        "t.join(u.group_by(_.n).agg((\"name\", _.len())), \"name\")",
        "text and a number cannot be compared",
    );
}

#[test]
fn tables_say_what_is_wrong() {
    let (_folder, mut s) = people();
    let err = s.submit("<1>", "t.sort_by(_.nmae)").err;
    assert!(
        err.contains("there is no column `nmae`") && err.contains("+ t.sort_by(_.name)"),
        "{err}"
    );
    let err = s.submit("<1>", "t[\"nmae\"]").err;
    assert!(err.contains("+ t[\"name\"]"), "{err}");
    let err = s.submit("<1>", "t.elevation").err;
    assert!(err.contains("the columns are name, born, height"), "{err}");
    wrong(&mut s, "t.name > 5", "text and a number cannot be compared");
    wrong(&mut s, "t.name - t.name", "text cannot be subtracted");
    wrong(&mut s, "\"abc\" + 1", "text and a number cannot be added");
    wrong(&mut s, "sqrt(\"nine\")", "`sqrt` takes numbers, not text");
    wrong(
        &mut s,
        "t.name as f64",
        "expected a number to cast, got text",
    );
    wrong(
        &mut s,
        "t.born as i64",
        "expected a number to cast, got a date",
    );
    wrong(
        &mut s,
        "t.height.gather(t.name)",
        "`gather` takes numbers, not text",
    );
    wrong(&mut s, "t + 1", "`add` takes numbers, got a table");
    wrong(&mut s, "[\"a\", 1]", "expected text, got 1");
    for name in [
        "sum", "product", "mean", "var", "std", "cumsum", "cumprod", "diff", "median",
    ] {
        wrong(
            &mut s,
            &format!("t.name.{name}()"),
            &format!("`{name}` takes numbers, not text"),
        );
        wrong(
            &mut s,
            &format!("t.name.zip(t.height).{name}()"),
            &format!("`{name}` takes numbers, not (text, f64)"),
        );
    }
    for name in ["sum", "product", "mean", "median"] {
        wrong(
            &mut s,
            &format!("t.name.chunks(2).{name}()"),
            &format!("`{name}` takes numbers, not text"),
        );
    }
}

#[test]
fn dates_compare_and_subtract() {
    let (_folder, mut s) = people();
    right(&mut s, "t.born.max() - t.born[0]", "30 days\n");
    right(&mut s, "t.born.diff()", "[-67713 days, 67743 days]\n");
    right(
        &mut s,
        "t.filter(_.born > \"1900-01-01\").name",
        "[\"Wang\", \"Bo\"]\n",
    );
    right(
        &mut s,
        "t.born == date(\"2001-05-31 00:00\")",
        "[false, false, true]\n",
    );
    right(&mut s, "date(\"2024-02-28\") + days(2)", "2024-03-01\n");
    right(
        &mut s,
        "date(\"2024-03-01\") - hours(1)",
        "2024-02-29 23:00\n",
    );
    right(
        &mut s,
        "date(\"2024-03-01T12:30\") - date(\"2024-03-01\")",
        "12 h 30 min\n",
    );
    right(
        &mut s,
        "(seconds(90) + minutes(1), days(1) - hours(25), -days(1))",
        "(2 min 30 s, -1 h, -1 day)\n",
    );
    right(&mut s, "2 * days(3) / hours(36)", "4.0\n");
    right(
        &mut s,
        "date([\"Jan 1 2000\", \"2000/01/02 05:00:00.5\"])",
        "[2000-01-01 00:00, 2000-01-02 05:00:00.5]\n",
    );
    right(
        &mut s,
        "date(\"2000-01-01\") + days(iota(3))",
        "[2000-01-01, 2000-01-02, 2000-01-03]\n",
    );
    right(
        &mut s,
        "let all = t.born.zip(t.name).sort()\nall.map(_.1)",
        "[\"Ada\", \"Wang\", \"Bo\"]\n",
    );
    wrong(
        &mut s,
        "t.born + t.born",
        "a date and a date cannot be added",
    );
    wrong(&mut s, "t.born + 1", "a date and a number cannot be added");
    wrong(
        &mut s,
        "t.born * 2",
        "a date and a number cannot be multiplied",
    );
    wrong(&mut s, "t.born.sum()", "`sum` takes numbers, not a date");
    wrong(
        &mut s,
        "date(\"2024-02-30\")",
        "expected a day of February 2024, from 1 to 29, got 30",
    );
    wrong(
        &mut s,
        "t.born > \"yesterday\"",
        "expected a date and a time such as 2010-01-31 05:00, got \"yesterday\"",
    );
    wrong(
        &mut s,
        "t.name < date(\"2000-01-01\")",
        "text and a date cannot be compared",
    );
    wrong(&mut s, "days(1.5)", "expected an integer, got f64");
    wrong(
        &mut s,
        "t.born < days(1)",
        "a date and a time span cannot be compared",
    );
}

#[test]
fn tables_are_read_from_files_that_are_there() {
    let (_folder, mut s) = people();
    right(&mut s, "read_csv(\"people.csv\").len()", "3\n");
    let err = s.submit("<1>", "load \"poeple.csv\"").err;
    assert!(
        err.starts_with("error: there is no file `poeple.csv`\n"),
        "{err}"
    );
    assert!(err.contains("+ load \"people.csv\""), "{err}");
}
