//! Fusion tests in files.
//!
//! Each file in `tests/fusion/*.lf` has a program, and below it the facts of its plan and its
//! value. `LOOP_BLESS=1 cargo test -p livefusion-repl --test all fusion::` rewrites the facts of
//! all files.
//!
//! ```text
//! # A filter and its consumers share a loop with a fold of all elements.
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
//! The program ends with the line above the facts. `tests/fusion/README.md` lists the facts.

use livefusion_repl::session::{Session, on_stack};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The start of the facts.
const FIRST: &str = "\n# loops: ";

/// Prefixes of report lines, and the names of their facts.
const FACTS: [(&str, &str); 5] = [
    ("rematerialises: ", "rematerialises"),
    ("changed in place: ", "in place"),
    ("copied, then changed: ", "copied"),
    ("counted first: ", "counted"),
    ("chunks in order only: ", "order"),
];

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fusion");
    let entries = fs::read_dir(folder).expect("the folder of fusion tests");
    let files = entries.map(|entry| entry.expect("a file").path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|e| e == "lf"))
        .collect();
    files.sort();
    files
}

/// The facts of a program: its plan from `:explain`, and its value from a run. For a failure, the
/// error text.
fn facts(program: &str) -> Result<String, String> {
    let program = program.trim_end();
    let (before, last) = program.rsplit_once('\n').unwrap_or(("", program));
    let mut session = Session::new();
    let mut submit = |text: &str| {
        let answer = session.submit("program", text);
        match answer.err.as_str() {
            "" => Ok(answer.out),
            _ => Err(answer.err),
        }
    };
    match submit(before)?.as_str() {
        "" => {}
        shown => return Err(format!("the last line alone shows a value, not:\n{shown}")),
    }
    let report = submit(&format!(":explain {last}"))?;
    let value = submit(last)?;
    let mut facts = of_plan(&report);
    let value: Vec<&str> = value.lines().map(str::trim).collect();
    _ = writeln!(facts, "# value: {}", value.join(" "));
    Ok(facts)
}

/// The facts of a report.
fn of_plan(report: &str) -> String {
    let mut facts = String::new();
    let mut fact = |name: &str, is: &str| _ = writeln!(facts, "# {name}: {is}");
    let summary = report.lines().next().unwrap_or_default();
    let mut parts = summary.split(", ");
    fact("loops", count(parts.next()));
    fact("arrays", count(parts.next()));
    let lines: Vec<&str> = report.lines().map(str::trim).collect();
    let counters = lines.iter().filter_map(|line| {
        let (name, counters) = line.split_once(": ")?;
        let number = counters.split_once(" counter")?.0;
        let number = number.parse::<u32>().ok();
        number.filter(|_| name.starts_with("loop_"))
    });
    fact("counters", &counters.sum::<u32>().to_string());
    if let Some((_, external)) = summary.split_once('(') {
        fact("external", external.trim_end_matches(')'));
    }
    // The program's traffic comes first, then that of external parts.
    let is_moves = |line: &&&str| line.starts_with("reads ") && line.contains(", writes ");
    let mut moves = lines.iter().filter(is_moves);
    fact("moves", moves.next().unwrap_or(&"nothing"));
    moves.for_each(|line| fact("moves of a part", line));
    for line in &lines {
        for (begins, name) in FACTS {
            if let Some(why) = line.strip_prefix(begins) {
                fact(name, &without_places(why));
            }
        }
    }
    let mut known = Vec::new();
    for pair in lines.windows(2) {
        if let (Some(edge), false) = (edge(pair[0]), edge(pair[1]).is_some()) {
            let reason = format!("{edge}: {}", without_places(pair[1]));
            if !known.contains(&reason) {
                fact("reason", &reason);
                known.push(reason);
            }
        }
    }
    facts
}

/// `sum, for div` from `0 -> 1: sum at <1>:1, for div at <1>:1`, an edge between loops.
fn edge(line: &str) -> Option<String> {
    let (way, edge) = line.split_once(": ")?;
    let (from, _) = way.split_once(" -> ")?;
    from.parse::<u32>().ok()?;
    Some(without_places(edge))
}

/// The text without ` at program:1`.
fn without_places(text: &str) -> String {
    let mut parts = text.split(" at program:");
    let first = parts.next().unwrap_or_default().to_string();
    let rest = parts.map(|p| p.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.fold(first, |text, part| text + part)
}

/// The number at the start of a part of the summary.
fn count(part: Option<&str>) -> &str {
    match part.and_then(|part| part.split(' ').next()) {
        None | Some("no") => "0",
        Some(number) => number,
    }
}

#[test]
fn fusion__of_each_file__has_its_facts() {
    let files = files();
    let mut faults = String::new();
    for path in &files {
        let text = fs::read_to_string(path).expect("a text");
        let end = text.find(FIRST).unwrap_or(text.len());
        let program = text[..end].trim_end();
        let of = program.to_string();
        let facts = on_stack(move || facts(&of)).unwrap_or(Err("a panic".to_string()));
        let now = facts.map(|facts| format!("{program}\n\n{facts}"));
        match now {
            Err(error) => _ = writeln!(faults, "{}: {error}", path.display()),
            Ok(now) if now == text => {}
            Ok(now) if std::env::var_os("LOOP_BLESS").is_some() => {
                fs::write(path, now).expect("a file to write");
            }
            Ok(now) => _ = writeln!(faults, "{}: now\n{}", path.display(), &now[program.len()..]),
        }
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(files.len() >= 100, "{} files", files.len());
}
