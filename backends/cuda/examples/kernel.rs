//! Prints the kernel of a loop: `cargo run -p livefusion-cuda --example kernel -- FILE`.
//!
//! The file is a loop's text, as `LIVEFUSION_DUMP=loop` writes it. `--whole` also prints the common
//! prelude of all kernels.

use livefusion_cuda::emit;
use std::process::ExitCode;

fn text(file: &str, whole: bool) -> Result<String, String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    // Golden files have their expected output after the loop.
    let text = text.split("\n# ----").next().unwrap_or(&text);
    let mut program = loop_lang::parse::parse(text).map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(|f| f.to_string()).collect();
        faults.join("\n")
    })?;
    loop_lang::gotos::derive_gotos(&mut program);
    let kernel = emit::kernel(&program).map_err(|why| format!("{file}: {why}"))?;
    let prelude = if whole { emit::PRELUDE } else { "" };
    Ok(format!("{prelude}{}", kernel.text))
}

fn main() -> ExitCode {
    let (flags, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|a| a.starts_with("--"));
    for file in &files {
        match text(file, flags.iter().any(|f| f == "--whole")) {
            Ok(text) => print!("{text}"),
            Err(why) => {
                eprintln!("{why}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
