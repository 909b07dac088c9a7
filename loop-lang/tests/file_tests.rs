//! File tests: each applies one operation to a text and compares the output.
//!
//! Each `tests/files/**/*.loop` starts with `# test: OPERATION`. The expected output follows the
//! line `# ----`. `LOOP_BLESS=1 cargo test -p loop-lang` rewrites the outputs.
//!
//! | operation | output |
//! | --- | --- |
//! | `parse` | the printed loop, or the parser's faults |
//! | `print` | the printed loop, which must equal the text |
//! | `gotos` | the loop with derived gotos |
//! | `complete` | the loop with missing blocks and derived gotos |
//! | `verify` | `ok`, or the verifier's faults |
//! | `liveness` | saved and held variables, and made arrays |
//! | `levels` | each group's first variable with its required level |
//! | `chunkable` | `ok` or the obstacle, and the placing groups |
//! | `pass NAME`, `optimize`, `summary LEVEL` | the loop afterwards, verified |

use libtest_mimic::{Arguments, Failed, Trial};
use loop_lang::gotos::{complete_blocks, derive_gotos};
use loop_lang::ir::Var;
use loop_lang::{Loop, chunkable, levels, liveness, parse, passes, verify};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fmt::Display, fs};

/// The line between input and expected output.
const RULE: &str = "# ----";

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let trials = files.into_iter().map(|path| {
        let name = path
            .strip_prefix(&root)
            .unwrap_or(&path)
            .display()
            .to_string();
        Trial::test(name, move || check(&path).map_err(Failed::from))
    });
    libtest_mimic::run(&args, trials.collect()).exit_code()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "loop") {
            files.push(path);
        }
    }
}

fn check(path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|e| e.to_string())?;
    let (input, expected) = match text.split_once(&format!("{RULE}\n")) {
        Some((input, expected)) => (input, expected),
        None => (&text[..], ""),
    };
    let operation = input
        .lines()
        .next()
        .and_then(|l| l.strip_prefix("# test: "));
    let operation = operation.ok_or("the first line must be `# test: OPERATION`")?;
    let output = run(operation, input)?;
    if output == expected {
        return Ok(());
    }
    if env::var_os("LOOP_BLESS").is_some() {
        return fs::write(path, format!("{input}{RULE}\n{output}")).map_err(|e| e.to_string());
    }
    Err(format!(
        "{}(LOOP_BLESS=1 accepts this output)",
        difference(expected, &output)
    ))
}

/// Returns the output of an operation, or an error in the test itself.
fn run(operation: &str, input: &str) -> Result<String, String> {
    let mut words = operation.split_whitespace();
    let (word, argument) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    if word == "parse" {
        return Ok(match parse::parse(input) {
            Ok(l) => l.to_string(),
            Err(faults) => lines(&faults),
        });
    }
    let mut l = parse::parse(input).map_err(|faults| lines(&faults))?;
    match word {
        "print" => {
            let uncommented = input.lines().filter(|l| !l.starts_with('#'));
            let text: String = uncommented.flat_map(|l| [l, "\n"]).collect();
            return match l.to_string() {
                printed if printed == text => Ok(String::new()),
                printed => Err(difference(&text, &printed)),
            };
        }
        "gotos" => {
            derive_gotos(&mut l);
            return Ok(l.to_string());
        }
        "complete" => {
            complete_blocks(&mut l);
            derive_gotos(&mut l);
            return Ok(l.to_string());
        }
        "verify" => {
            return Ok(match verify::verify(&l) {
                Ok(()) => "ok\n".into(),
                Err(faults) => lines(&faults),
            });
        }
        _ => {}
    }
    verified(&l, "the input")?;
    match word {
        "liveness" => {
            let saved = names(&l, &liveness::saved_variables(&l));
            let arrays = names(&l, &liveness::made_arrays(&l));
            let held = names(&l, &liveness::held_variables(&l));
            return Ok(format!("saved:{saved}\nheld:{held}\narrays:{arrays}\n"));
        }
        "levels" => {
            let levels = levels::required_levels(&l).into_iter().zip(firsts(&l));
            return Ok(levels
                .map(|((n, cycle), v)| {
                    let cycle = if cycle { " cycle" } else { "" };
                    format!("{} {n}{cycle}\n", l.name(v))
                })
                .collect());
        }
        "chunkable" => {
            let found = match chunkable::chunkable(&l) {
                Ok(()) => "ok".into(),
                Err(why) => why.to_string(),
            };
            let placing = chunkable::placing_groups(&l).into_iter().zip(firsts(&l));
            let placing: Vec<Var> = placing.filter(|(p, _)| *p).map(|(_, v)| v).collect();
            return Ok(format!("{found}\nplacing:{}\n", names(&l, &placing)));
        }
        "pass" => {
            let pass = passes::PIPELINE.iter().find(|p| p.name == argument);
            let pass = pass.ok_or_else(|| format!("there is no pass `{argument}`"))?;
            (pass.run)(&mut l);
        }
        "optimize" => passes::optimize(&mut l),
        "summary" => {
            let level = argument.parse().map_err(|_| "expected `summary LEVEL`")?;
            l = passes::summary(&l, level);
        }
        _ => return Err(format!("there is no operation `{operation}`")),
    }
    verified(&l, "the output")?;
    Ok(l.to_string())
}

fn verified(l: &Loop, what: &str) -> Result<(), String> {
    verify::verify(l).map_err(|faults| format!("{what} does not verify:\n{}\n{l}", lines(&faults)))
}

/// Returns the first variable of each group.
fn firsts(l: &Loop) -> Vec<Var> {
    l.groups.iter().map(|g| g.vars[0]).collect()
}

fn names(l: &Loop, vars: &[Var]) -> String {
    vars.iter().map(|v| format!(" {}", l.name(*v))).collect()
}

fn lines(items: &[impl Display]) -> String {
    items.iter().map(|i| format!("{i}\n")).collect()
}

/// Compares both texts line by line, with `-` and `+` before differing lines.
fn difference(expected: &str, found: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[same..], &new[same..]);
    let pairs = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = pairs.take_while(|(a, b)| a == b).count();
    let mark = |sign: &str, lines: &[&str]| -> String {
        lines.iter().map(|l| format!("{sign} {l}\n")).collect()
    };
    let context = &old[same.saturating_sub(2)..same];
    format!(
        "line {} of the output differs:\n{}{}{}",
        same + 1,
        mark(" ", context),
        mark("-", &old_rest[..old_rest.len() - tail]),
        mark("+", &new_rest[..new_rest.len() - tail]),
    )
}
