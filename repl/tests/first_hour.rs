//! Lines of a NumPy user's first hour, with expected answers.
//!
//! `LOOP_BLESS=1 cargo test -p livefusion-repl --test all first_hour::` rewrites the answers and
//! the counts.
//!
//! An entry of the file is the typed line, then the expectation (`=` an answer, `!` a message),
//! then the current answer (`>`). An answer in angle brackets is a description, and any answer
//! without an error satisfies it.

use livefusion_repl::session::{Session, Stop, on_stack};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The time limit of a line, in steps of the clock below.
const LONGEST: u64 = 160;
const TICK: Duration = Duration::from_millis(250);
/// The limit on answer lines in the file.
const MOST_LINES: usize = 12;

/// Counts of the lines by their outcome.
#[derive(Default, Debug)]
struct Counts {
    /// Lines with the expected answer.
    right: usize,
    /// Lines with a wrong answer, or with an answer instead of a message.
    misleading: Vec<String>,
    /// Lines that fail although an answer is expected.
    refused: usize,
    /// Reported errors.
    told: usize,
}

impl Counts {
    fn text(&self) -> String {
        let Counts {
            right,
            misleading,
            refused,
            told,
        } = self;
        let misleading = misleading.len();
        format!(
            "# Now {right} answers are as expected, {misleading} mislead, {refused} are refused; {told} mistakes have a message."
        )
    }
}

/// An answer without layout, and with the shell's names replaced.
fn plain(text: &str) -> String {
    let text = text
        .replace("ragged ", "")
        .replace("True", "true")
        .replace("False", "false");
    let text = match text.trim() {
        "int64" => "i64",
        other => other,
    };
    text.replace("hour", "h").split_whitespace().collect()
}

/// The answer to a line, with `#` for numbers that vary between runs.
fn said(line: &str, text: &str) -> String {
    let timed = line.starts_with(":time");
    let all: Vec<String> = text
        .lines()
        .map(|l| match timed {
            true => l.split_whitespace().take(1).collect(),
            false => l.to_string(),
        })
        .collect();
    let mut out = String::new();
    for l in all.iter().take(MOST_LINES) {
        let _ = writeln!(out, "{}", format!("   > {l}").trim_end());
    }
    if all.len() > MOST_LINES {
        let _ = writeln!(out, "   > …");
    }
    match out.is_empty() {
        true => "   >\n".into(),
        false => out,
    }
}

/// A session in a copy of the data, with a time limit per line.
fn session(folder: &Path, stop: &Stop) -> Session {
    let mut session = Session::new();
    session.folder = folder.into();
    session.stop = stop.clone();
    session
}

/// A copy of the example data.
fn data() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data");
    for entry in std::fs::read_dir(from).expect("examples/data") {
        let path = entry.expect("a file").path();
        let name = path.file_name().expect("a name");
        std::fs::copy(&path, folder.path().join(name)).expect("a copy");
    }
    folder
}

/// Types a line, counts its outcome, and returns the file's lines below it.
fn typed(s: &mut Session, number: &str, line: &str, expected: &str, counts: &mut Counts) -> String {
    let answer = s.submit(&format!("<{number}>"), line);
    let given = said(line, &(answer.out.clone() + &answer.err));
    let is_wrong = !answer.err.is_empty();
    let is_right = |s: &mut Session| match expected.strip_prefix("= ") {
        Some(described) if described.starts_with('<') => true,
        Some(value) => {
            // A `let` shows nothing: its value is the answer.
            let name = line.strip_prefix("let ").and_then(|l| l.split_once(" = "));
            let shown = match name {
                Some((name, _)) => s.submit("<name>", name).out,
                None => answer.out.clone(),
            };
            plain(&shown) == plain(value)
        }
        None => false,
    };
    match (expected.starts_with('!'), is_wrong) {
        (true, true) => counts.told += 1,
        (false, true) => counts.refused += 1,
        (false, false) if is_right(s) => counts.right += 1,
        _ => counts.misleading.push(format!("{number}> {line}")),
    }
    given
}

/// The current file, and the counts.
fn run(text: &str, folder: &Path, stop: &Stop, clock: &AtomicU64) -> (String, Counts) {
    let mut counts = Counts::default();
    let mut session_now = session(folder, stop);
    let (mut out, mut entry) = (String::new(), None);
    for line in text.lines() {
        if line.starts_with("# Now ") || line.starts_with("   >") {
            continue;
        }
        out += line;
        out.push('\n');
        if line.starts_with("== ") {
            session_now = session(folder, stop);
        } else if let Some(expected) = line.strip_prefix("   ") {
            let (number, typed_line) = entry.take().expect("a line that is typed");
            clock.store(0, Ordering::Relaxed);
            out += &typed(&mut session_now, number, typed_line, expected, &mut counts);
        } else {
            entry = line.split_once("> ");
        }
    }
    let head = counts.text();
    (out.replacen("\n\n", &format!("\n{head}\n\n"), 1), counts)
}

#[test]
fn first_hour__lines_of_a_person_who_knows_numpy__give_what_the_file_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/first_hour.txt");
    let text = std::fs::read_to_string(&path).expect("the list");
    let (folder, stop, clock) = (data(), Stop::default(), AtomicU64::new(0));
    let done = AtomicU64::new(0);
    let (now, counts) = std::thread::scope(|scope| {
        scope.spawn(|| {
            while done.load(Ordering::Relaxed) == 0 {
                std::thread::sleep(TICK);
                if clock.fetch_add(1, Ordering::Relaxed) > LONGEST {
                    stop.stop();
                }
            }
        });
        let ran = on_stack(|| run(&text, folder.path(), &stop, &clock));
        done.store(1, Ordering::Relaxed);
        ran.expect("no panic")
    });
    println!("{}", counts.text());
    assert!(counts.misleading.is_empty(), "{counts:?}");
    assert!(counts.right >= 100, "{counts:?}");
    let all = text
        .lines()
        .filter(|l| l.starts_with("   =") || l.starts_with("   !"));
    assert!(all.count() >= 150);
    if std::env::var_os("LOOP_BLESS").is_some() {
        std::fs::write(&path, now).expect("a list to write");
    } else {
        assert_eq!(text, now, "LOOP_BLESS=1 writes it anew");
    }
}
