//! Prints the C of loops: `cargo run -p livefusion-c --example emit -- [--target NAME] [--schedules
//! FILE] FILE...`.
//!
//! The target is the machine for which the C is written (`avx512`, `avx2`, `sse2`, `neon`, ...).
//! The default is this machine. Schedules override the usual decisions by loop and rate, in the
//! format of `livefusion_tile::schedule::Schedules`.
//!
//! A file holds a loop's text, as golden files do. Text after a line of dashes is skipped, and so
//! is text before a loop. A file may have several loops, each after a line that begins with `# C:`.

use livefusion_c::CBackend;
use livefusion_tile::schedule::Schedules;
use livefusion_tile::target::Target;
use loop_lang::Loop;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut files: Vec<String> = std::env::args().skip(1).collect();
    let mut backend = CBackend::new();
    if let Some(name) = option(&mut files, "--target") {
        let Some(target) = Target::from_name(&name) else {
            let names = Target::all().map(|t| t.to_string());
            eprintln!("which target?\n{}", names.join("\n"));
            return ExitCode::FAILURE;
        };
        backend = backend.with_target(target);
    }
    if let Some(file) = option(&mut files, "--schedules") {
        let text = std::fs::read_to_string(&file).map_err(|e| e.to_string());
        match text.and_then(|text| Schedules::parse(&text).map_err(|e| e.to_string())) {
            Ok(schedules) => backend = backend.with_schedules(schedules),
            Err(e) => {
                eprintln!("{file}: {e}");
                return ExitCode::FAILURE;
            }
        }
    }
    if files.is_empty() {
        eprintln!("which files?");
        return ExitCode::FAILURE;
    }
    let mut outcome = ExitCode::SUCCESS;
    for file in &files {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(e) => {
                eprintln!("{file}: {e}");
                outcome = ExitCode::FAILURE;
                continue;
            }
        };
        for (k, program) in loops(&text).into_iter().enumerate() {
            println!("/* {file}, {k} */");
            match program.and_then(|p| backend.text(&p).map_err(|e| e.to_string())) {
                Ok(text) => println!("{text}"),
                Err(e) => println!("/* {e} */"),
            }
        }
    }
    outcome
}

/// Removes an option from the list and returns its value.
fn option(words: &mut Vec<String>, name: &str) -> Option<String> {
    let at = words.iter().position(|w| w == name)?;
    let value = words.get(at + 1)?.clone();
    words.drain(at..at + 2);
    Some(value)
}

/// Returns the loops of a file.
fn loops(text: &str) -> Vec<Result<Loop, String>> {
    let mut parts = text.split("\n# C:").peekable();
    let first = parts.next().unwrap_or_default();
    let texts: Vec<&str> = match parts.peek() {
        None => vec![first.split("\n# ----").next().unwrap_or_default()],
        // The rest of the line lists the loop's C code ideas.
        Some(_) => parts
            .filter_map(|p| p.split_once('\n').map(|p| p.1))
            .collect(),
    };
    let parse = |text: &&str| {
        let mut program = loop_lang::parse::parse(text).map_err(|e| format!("{e:?}"))?;
        loop_lang::gotos::derive_gotos(&mut program);
        Ok(program)
    };
    texts.iter().map(parse).collect()
}
