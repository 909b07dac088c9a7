//! Mutation testing: seeds faults one at a time, and checks that tests catch each.
//!
//! Faults go into lowering, its inputs, and the layers below, in a copy of the workspace. Run it as
//! `cargo run -p livefusion-tests --bin seed_faults [name...]`.

mod below;
mod fused;
mod judged;
mod lowered;
mod printed;

use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

/// A fault: its description, its file, the sound code, and the faulty replacement.
struct Fault {
    what: &'static str,
    file: &'static str,
    sound: &'static str,
    faulty: &'static str,
}

fn main() -> ExitCode {
    let only: Vec<String> = std::env::args().skip(1).collect();
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let copy = std::env::temp_dir().join(format!("livefusion-faults-{}", std::process::id()));
    if let Err(e) = copy_tree(&home, &copy) {
        eprintln!("cannot copy the workspace to {}: {e}", copy.display());
        return ExitCode::FAILURE;
    }
    for (_, _, pass) in ROOMS {
        println!("without a fault: {:?}", pass(&copy));
    }
    let (mut seen, mut missed) = (0, 0);
    for (root, faults, tests) in ROOMS {
        let wanted = |f: &&Fault| only.is_empty() || only.iter().any(|o| f.what.contains(o));
        for fault in faults.iter().filter(wanted) {
            let verdict = match seeded(&copy.join(root), fault, || tests(&copy)) {
                Ok(true) => "caught",
                Ok(false) => "MISSED",
                Err(why) => &why.to_string(),
            };
            seen += 1;
            missed += (verdict != "caught") as usize;
            println!("{:<70} {verdict}", fault.what);
        }
    }
    let _ = fs::remove_dir_all(&copy);
    println!("{seen} faults, {missed} not caught");
    if missed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The folder of a group of faults, the faults, and the tests that must catch them.
type Room = (&'static str, &'static [Fault], fn(&Path) -> Result<bool>);

const ROOMS: [Room; 5] = [
    ("livefusion/src", fused::FAULTS, programs_pass),
    ("", below::BELOW, loops_pass),
    ("tile/src", lowered::LOWERED, schedules_pass),
    ("", printed::PRINTED, schedules_pass),
    ("tile/src", judged::JUDGED, tiles_pass),
];

/// Whether the tests catch a fault. Errors: the sound code is gone, or the fault does not compile.
fn seeded(root: &Path, fault: &Fault, pass: impl Fn() -> Result<bool>) -> Result<bool> {
    let path = root.join(fault.file);
    let sound = fs::read_to_string(&path)?;
    let Some(place) = find(&sound, fault.sound) else {
        return Err(Error::other("DOES NOT APPLY"));
    };
    let mut faulty = sound.clone();
    faulty.replace_range(place, fault.faulty);
    fs::write(&path, faulty)?;
    let passed = pass();
    fs::write(&path, sound)?;
    passed.map(|passed| !passed)
}

/// The position of some code in a text, ignoring whitespace.
fn find(text: &str, code: &str) -> Option<std::ops::Range<usize>> {
    let dense = |s: &str| -> Vec<(usize, char)> {
        s.char_indices()
            .filter(|(_, c)| !c.is_whitespace())
            .collect()
    };
    let (text, code) = (dense(text), dense(code));
    let same = |w: &[(usize, char)]| w.iter().map(|c| c.1).eq(code.iter().map(|c| c.1));
    let found = text.windows(code.len()).find(|w| same(w))?;
    let (first, last) = (found.first()?, found.last()?);
    Some(first.0..last.0 + last.1.len_utf8())
}

/// Whether all tests pass whose names contain one of these parts, with `loops` random loops if
/// given. Errors: the copy does not compile, or no test has such a name.
fn tests(copy: &Path, parts: &[&str], loops: Option<&str>) -> Result<bool> {
    let all = ["-p", "livefusion-tests", "--test", "all"];
    compiles(copy, &all)?;
    for part in parts {
        let ran = cargo(copy, &[&all[..], &[part]].concat(), loops)?;
        if !ran.status.success() {
            return Ok(false);
        }
        if String::from_utf8_lossy(&ran.stdout).contains("running 0 tests") {
            return Err(Error::other(format!("NO TEST IS CALLED {part}")));
        }
    }
    Ok(true)
}

/// Returns an error if tests do not compile.
fn compiles(copy: &Path, args: &[&str]) -> Result<()> {
    let compiled = cargo(copy, &[args, &["--no-run"]].concat(), None)?;
    if compiled.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&compiled.stderr);
    Err(Error::other(format!("DOES NOT COMPILE\n{why}")))
}

/// Runs tests in the copy.
fn cargo(copy: &Path, args: &[&str], loops: Option<&str>) -> Result<Output> {
    Command::new(env!("CARGO"))
        .args(["test", "-q"])
        .args(args)
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", copy.join("target"))
        .envs(loops.map(|n| ("LOOP_PROGRAMS", n)))
        .output()
}

/// Whether the fast tests of lowering pass, random programs first.
fn programs_pass(copy: &Path) -> Result<bool> {
    tests(copy, &["programs_of_all", "errors::"], None)
}

/// Whether the tests of the Loop language, of sorts, and of golden loops, random loops and mutants
/// pass. Segmented sorts by several columns are included, because few of the loops have them.
fn loops_pass(copy: &Path) -> Result<bool> {
    let few: [&[&str]; 3] = [
        &["-p", "loop-lang", "--test", "file_tests"],
        &["-p", "livefusion-backend", "--lib"],
        &["-p", "livefusion", "--test", "all", "contracted::"],
    ];
    for args in few {
        compiles(copy, args)?;
        if !cargo(copy, args, None)?.status.success() {
            return Ok(false);
        }
    }
    tests(copy, &["loops::", "mutants::"], None)
}

/// Whether loops under any schedule match the interpreter, and their tiles verify.
fn schedules_pass(copy: &Path) -> Result<bool> {
    tests(copy, &["schedules::"], Some("1500"))
}

/// Whether unsound tiles and schedules are rejected, as their test files and cases require.
fn tiles_pass(copy: &Path) -> Result<bool> {
    let all = ["-p", "livefusion-tile", "--tests"];
    compiles(copy, &all)?;
    Ok(cargo(copy, &all, None)?.status.success())
}

/// Copies a folder without build results.
fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    let mut stack: Vec<(PathBuf, PathBuf)> = vec![(from.into(), to.into())];
    while let Some((from, to)) = stack.pop() {
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            let name = entry.file_name();
            // Build folders are marked; a source folder may also be called `target`.
            if name == ".git" || entry.path().join("CACHEDIR.TAG").exists() {
                continue;
            }
            let (from, to) = (entry.path(), to.join(&name));
            if entry.file_type()?.is_dir() {
                stack.push((from, to));
            } else {
                fs::copy(&from, &to)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{ROOMS, find};

    #[test]
    fn every_fault_has_a_place() {
        let home = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut lost = Vec::new();
        for (root, faults, _) in ROOMS {
            for fault in faults {
                let text = std::fs::read_to_string(home.join(root).join(fault.file));
                let found = text.ok().and_then(|text| find(&text, fault.sound));
                if found.is_none() {
                    lost.push((fault.file, fault.what));
                }
            }
        }
        assert_eq!(lost, []);
    }
}
