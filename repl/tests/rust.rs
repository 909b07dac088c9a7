//! `:rust`: each help example, and more, as programs in one file.
//!
//! `LOOP_BLESS=1 cargo test -p livefusion-repl --test all rust::` rewrites it. The test `rust_runs`
//! compiles it.

#[path = "rust_texts/mod.rs"]
mod rust_texts;

use livefusion_repl::session::on_stack;
use rust_texts::{asked, texts};
use std::path::Path;

/// Texts without a Rust form, with the beginning of the message.
const REFUSED: &[(&str, &str)] = &[
    (
        "def f(x) = x + 1\n(f([1, 2]), f([1.5]))",
        "error: this has several types",
    ),
    (
        "[[1, 2], [3, 4]] + [1, 2]",
        "error: arrays of several ranks meet here",
    ),
    (
        "[1.5, 2.5].fold(0i64, |n, x| n + (x as i64))",
        "error: `fold` of another type",
    ),
    ("\"text\"", "error: expected arrays, segments or scalars"),
    ("date(\"2024-03-01\")", NO_FORM),
    ("minutes(90)", NO_FORM),
    ("[\"b\", \"a\"].sort()", NO_FORM),
    ("let d = date(\"2024-03-01\")\nd + days(1)", NO_FORM),
    (
        "let t = load \"examples/data/airports.csv\"\nt.filter(_.latitude > 60)",
        "error: rows of more than 6 columns are no tuple of the typed API",
    ),
    (
        "let s = load \"examples/data/stocks.csv\"\ns.sort_by(_.date)",
        "error: a row with `date` is no tuple: dates, gaps and lists are none in Rust",
    ),
    (
        "let s = load \"examples/data/stocks.csv\"\ns.group_by(_.symbol)",
        "error: a row with `date` is no tuple: dates, gaps and lists are none in Rust",
    ),
    (
        "let s = load \"examples/data/stocks.csv\"\ns.map(|r| (r.symbol, r.price))",
        NO_FORM,
    ),
    (
        "let s = load \"examples/data/stocks.csv\"\ns.group_by(_.symbol).agg(top = _.symbol.max())",
        NO_FORM,
    ),
    (
        "let u = load \"examples/data/states.csv\"\nu.group_by(_.state)",
        "error: text in a tuple has no form in Rust: it is shown alone",
    ),
    (
        "(load \"examples/data/stocks.csv\").filter(_.price > 3).len()",
        "error: rows are of a table with a name",
    ),
    (
        "let s = load \"examples/data/stocks.csv\"\ndef f(r) = r.price * 2\ns.map(f)",
        "error: a function of rows or text stands where it is called",
    ),
    (
        "let s = load \"examples/data/stocks.csv\"\ns.filter(_.symbol == \"IBM\").len()",
        "error: text in a row is a code in Rust",
    ),
    (
        "let u = load \"examples/data/states.csv\"\nu.join(u, on=\"state\")",
        "error: a join of tables has no form in Rust",
    ),
    ("let t = load \"examples/data/airports.csv\"\nt[0]", NO_FORM),
    (
        "let t = load \"examples/data/airports.csv\"\nt[\"state\"]",
        NO_FORM,
    ),
    (
        "let t = load \"examples/data/airports.csv\"\nt.state[0]",
        NO_FORM,
    ),
    (
        "let t = load \"examples/data/airports.csv\"\nt.state.map(|s| s == \"WA\")",
        NO_FORM,
    ),
];

/// The message for text, dates or rows without a Rust form.
const NO_FORM: &str =
    "error: the typed API has no form for this, since text, dates and rows have no operators there";

#[test]
fn programs() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/rust/programs.rs");
    let answers = on_stack(|| texts().iter().map(|t| asked(t).0).collect::<Vec<_>>());
    let mut now = String::from("// What `:rust` prints: the test `rust` writes this file.\n");
    let mut names = String::new();
    for (k, (text, rust)) in texts().iter().zip(answers.expect("no panic")).enumerate() {
        let quoted: String = text.lines().map(|l| format!("    // {l}\n")).collect();
        let rust = rust.unwrap_or_else(|e| panic!("{text}\n{e}"));
        let rust: String = rust.lines().map(|l| format!("    {l}\n")).collect();
        let rust = rust.replace("    \n", "\n");
        let run = "    pub fn run() { main().expect(\"no mistake\") }";
        let allow = "#[allow(warnings, clippy::all)]";
        now += &format!("\n{allow}\nmod p{k} {{\n{quoted}{rust}\n{run}\n}}\n");
        names += &format!("    p{k}::run,\n");
    }
    now += &format!("\npub const ALL: &[fn()] = &[\n{names}];\n");
    if std::env::var_os("LOOP_BLESS").is_some() {
        std::fs::write(&golden, now).expect("a file to write");
        return;
    }
    let text = std::fs::read_to_string(&golden).expect("a golden file");
    assert_eq!(text, now, "LOOP_BLESS=1 writes it anew");
}

#[test]
fn rust_refuses_programs_without_a_form() {
    let refused = on_stack(|| {
        for (text, message) in REFUSED {
            let (said, _) = asked(text);
            let said = said.expect_err(text);
            assert!(said.starts_with(message), "{text}\n{said}");
        }
    });
    assert!(refused.is_some());
}
