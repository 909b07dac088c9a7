//! Prints the C of loops: `cargo run -p livefusion-c --example emit -- [--target NAME] FILE...`.
//!
//! The target is the machine that the C is for (`avx512`, `avx2`, `sse2`, `neon`, ...), else this one.
//!
//! A file holds a loop's text, as golden files do: what follows a line of dashes is left out, and so is what
//! stands before a loop. A file may have several loops, each behind a line that begins with `# C:`.

use livefusion_c::CBackend;
use livefusion_tile::target::Target;
use loop_lang::Loop;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut files: Vec<String> = std::env::args().skip(1).collect();
    let mut target = Target::here();
    if files.first().is_some_and(|f| f == "--target") {
        let name = files.get(1).map_or("", String::as_str);
        let Some(named) = Target::from_name(name) else {
            let names = Target::all().map(|t| t.to_string());
            eprintln!("which target?\n{}", names.join("\n"));
            return ExitCode::FAILURE;
        };
        target = named;
        files.drain(..2);
    }
    if files.is_empty() {
        eprintln!("which files?");
        return ExitCode::FAILURE;
    }
    let backend = CBackend::new().with_target(target);
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

/// The loops of a file.
fn loops(text: &str) -> Vec<Result<Loop, String>> {
    let mut parts = text.split("\n# C:").peekable();
    let first = parts.next().unwrap_or_default();
    let texts: Vec<&str> = match parts.peek() {
        None => vec![first.split("\n# ----").next().unwrap_or_default()],
        // What is left of the line says which ideas C makes use of.
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
