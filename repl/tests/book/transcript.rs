//! Sessions of `lf` in pages.

use super::pages::Page;
use livefusion_repl::session::Session;
use livefusion_repl::{Sources, parse};
use std::path::Path;
use std::process::Command;

/// The shell's prompt.
const PROMPT: &str = "lf> ";

/// Holds an input and its answer.
pub struct Part<'p> {
    pub input: &'p str,
    pub answer: &'p str,
}

/// Holds the results of running a page's sessions.
pub struct Run {
    /// The page with the current answers.
    pub text: String,
    /// The differences from the page's answers.
    pub differences: Vec<String>,
}

/// Whether a terminal would request another line.
fn wants_more(text: &str) -> bool {
    let script = match livefusion_repl::shell::command(text) {
        Some((_, rest)) => rest,
        None => text,
    };
    let mut sources = Sources::default();
    let source = sources.add("", script);
    parse(&sources, source).is_err_and(|e| e.incomplete)
}

/// Splits inputs after prompts from their outputs.
pub fn parts<'p>(body: &'p str, prompt: &str) -> Vec<Part<'p>> {
    let mut parts = Vec::new();
    let mut rest = body;
    while let Some(text) = rest.strip_prefix(prompt) {
        let mut end = 0;
        for line in text.split_inclusive('\n') {
            end += line.len();
            if prompt != PROMPT || !wants_more(&text[..end]) {
                break;
            }
        }
        let (input, answers) = text.split_at(end);
        let next = answers.find(&format!("\n{prompt}")).map(|n| n + 1);
        let next = if answers.starts_with(prompt) {
            Some(0)
        } else {
            next
        };
        let (answer, after) = answers.split_at(next.unwrap_or(answers.len()));
        parts.push(Part {
            input: input.trim_end_matches('\n'),
            answer,
        });
        rest = after;
    }
    assert!(rest.is_empty(), "expected `{prompt}`, got {rest}");
    parts
}

/// Removes numbers and their units, which differ between runs.
fn without_times(text: &str) -> String {
    let words = text.split_whitespace().map(|word| match word {
        "ns" | "µs" | "ms" | "s" => "time",
        "B/s" | "kB/s" | "MB/s" | "GB/s" => "rate",
        word if word.parse::<f64>().is_ok() => "number",
        word => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether an answer matches the page, where a line `…` matches any lines.
fn is_as_shown(input: &str, shown: &str, got: &str) -> bool {
    if input.starts_with(":time") {
        return without_times(shown) == without_times(got);
    }
    let lines = |text: &str| text.lines().map(String::from).collect::<Vec<_>>();
    let (shown, mut got) = (lines(shown), &lines(got)[..]);
    let mut parts = shown.split(|line| line == "…");
    let first = parts.next().unwrap_or_default();
    if !got.starts_with(first) {
        return false;
    }
    got = &got[first.len()..];
    let mut rest = parts.peekable();
    if rest.peek().is_none() {
        return got.is_empty();
    }
    while let Some(part) = rest.next() {
        let last = rest.peek().is_none();
        let found = match last {
            true => got.ends_with(part).then(|| got.len() - part.len()),
            false => (0..=got.len()).find(|k| got[*k..].starts_with(part)),
        };
        match found {
            Some(k) => got = &got[k + part.len()..],
            None => return false,
        }
    }
    true
}

/// Runs the sessions and commands of a page in a folder.
pub fn run(page: &Page, folder: &Path) -> Run {
    let mut session = Session::new();
    session.folder = folder.to_path_buf();
    let home = folder.display().to_string();
    let mut run = Run {
        text: String::new(),
        differences: Vec::new(),
    };
    let (mut number, mut copied) = (0, 0);
    for block in page.blocks() {
        let prompt = match block.info {
            "lf" => PROMPT,
            "console" => "$ ",
            "sh" => {
                let is_run = |l: &&str| l.starts_with("lf eval ") || l.starts_with("lf run ");
                for line in block.body.lines().filter(is_run) {
                    if let Err(text) = shell(line, folder) {
                        run.differences.push(format!("{page}: {line}\n{text}"));
                    }
                }
                continue;
            }
            _ => continue,
        };
        // The block is a part of the page's text.
        let start = block.body.as_ptr() as usize - page.text.as_ptr() as usize;
        let end = start + block.body.len();
        run.text += &page.text[copied..start];
        copied = end;
        for part in parts(block.body, prompt) {
            let mut got = if prompt == PROMPT {
                number += 1;
                let answer = session.submit(&format!("<{number}>"), part.input);
                (answer.out + &answer.err).replace(&home, ".")
            } else if part.input.starts_with("lf ") || part.input.contains("| lf") {
                shell(part.input, folder).unwrap_or_else(|text| text)
            } else {
                part.answer.to_string()
            };
            got.truncate(got.trim_end().len());
            if !got.is_empty() {
                got.push('\n');
            }
            let same = is_as_shown(part.input, part.answer, &got);
            if !same {
                run.differences.push(format!(
                    "{page}: {}\n-- the page\n{}-- now\n{got}",
                    part.input, part.answer
                ));
            }
            let kept = if same { part.answer } else { &got };
            run.text += &format!("{prompt}{}\n{kept}", part.input);
        }
    }
    run.text += &page.text[copied..];
    run
}

/// The output of a shell command, as an error if it fails.
fn shell(line: &str, folder: &Path) -> Result<String, String> {
    let lf = Path::new(env!("CARGO_BIN_EXE_lf")).parent();
    let paths = [lf.unwrap_or(Path::new(".")).display().to_string()];
    let path = paths.into_iter().chain(std::env::var("PATH"));
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder);
    command.env("PATH", path.collect::<Vec<_>>().join(":"));
    let output = command.output().expect("sh");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    match output.status.success() {
        true => Ok(text),
        false => Err(text),
    }
}
