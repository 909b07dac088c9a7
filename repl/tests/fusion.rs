//! Fusion by files: `tests/fusion/*.lf` hold a program each, and below it the facts of its plan and its value.
//! `LOOP_BLESS=1 cargo test -p livefusion-repl --test all fusion::` writes the facts of a file anew.
//!
//! ```text
//! # A filter and its consumers share a loop.
//! let xs = [3, 1, 4, 1, 5]
//! (xs.filter(_ > 1).sum(), xs.max())
//!
//! # loops: 1
//! # arrays: 0
//! # counters: 1
//! # moves: reads 40 B, writes 16 B
//! # value: (12, 5)
//! ```
//!
//! The last statement is the program. A fact `reason` gives why two loops are two; `external` names sorts and the like,
//! `order` why chunks run in order only, `in place` and `copied` are updates.

use livefusion_repl::session::{Session, on_stack};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The facts begin here.
const FIRST: &str = "# loops: ";

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fusion");
    let entries = fs::read_dir(folder).expect("the folder of fusion tests");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files
}

/// The facts of a program: of its plan by `:explain`, of its value by running it.
fn facts(program: &str) -> String {
    let (before, last) = match program.trim_end().rsplit_once('\n') {
        Some((before, last)) => (before, last),
        None => ("", program.trim_end()),
    };
    let mut session = Session::new();
    let mut submit = |text: &str| {
        let answer = session.submit("program", text);
        assert_eq!(answer.err, "", "{program}");
        answer.out
    };
    submit(before);
    let report = submit(&format!(":explain {last}"));
    let value = submit(last);
    let mut facts = String::new();
    let mut fact = |name: &str, is: &str| _ = writeln!(facts, "# {name}: {is}");
    let mut lines = report.lines();
    let summary = lines.next().expect("a summary");
    let mut parts = summary.split(", ");
    fact("loops", count(parts.next()));
    fact("arrays", count(parts.next()));
    if let Some((_, external)) = summary.split_once('(') {
        fact("external", external.trim_end_matches(')'));
    }
    let counters = report.lines().filter_map(|line| {
        let (name, counters) = line.trim().split_once(": ")?;
        let number = counters.split_once(" counter")?.0;
        name.starts_with("loop_")
            .then(|| number.parse::<u32>().expect("a number"))
    });
    fact("counters", &counters.sum::<u32>().to_string());
    let moves = report.lines().find(|line| line.starts_with("  reads "));
    fact("moves", moves.unwrap_or("  none").trim());
    for line in report.lines().map(str::trim) {
        for (begins, name) in [
            ("chunks in order only: ", "order"),
            ("changed in place: ", "in place"),
            ("copied, then changed: ", "copied"),
            ("counted first: ", "counted"),
        ] {
            if let Some(why) = line.strip_prefix(begins) {
                fact(name, why);
            }
        }
    }
    for reason in reasons(&report) {
        fact("reason", &reason);
    }
    fact("value", &value.lines().collect::<Vec<_>>().join(" "));
    facts
}

/// Why values pass between loops in memory.
fn reasons(report: &str) -> Vec<String> {
    let behind = report.split("\nbetween loops:\n").nth(1);
    let lines = behind.unwrap_or_default().lines();
    let lines = lines.take_while(|line| line.starts_with("  "));
    let reasons = lines.filter_map(|line| line.strip_prefix("      "));
    let reasons = reasons.filter(|line| !line.starts_with("help: "));
    reasons.map(str::to_string).collect()
}

/// The number that a part of the summary begins with.
fn count(part: Option<&str>) -> &str {
    match part.and_then(|part| part.split(' ').next()) {
        None | Some("no") => "0",
        Some(number) => number,
    }
}

#[test]
fn fusion__of_each_file__has_its_facts() {
    let files = files();
    for path in &files {
        let text = fs::read_to_string(path).expect("a text");
        let end = text.find(FIRST).unwrap_or(text.len());
        let program = text[..end].trim_end();
        let of = program.to_string();
        let facts = on_stack(move || facts(&of)).expect("no panic");
        let now = format!("{program}\n\n{facts}");
        match std::env::var_os("LOOP_BLESS") {
            Some(_) => fs::write(path, now).expect("a file to write"),
            None => assert_eq!(text, now, "{}", path.display()),
        }
    }
    assert!(files.len() >= 100, "{} files", files.len());
}
