//! Build times of users' programs, and their code and crate counts.

use crate::bounds::Held;
use crate::crates;
use crate::run::{Outcome, line, output, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A program of ten lines, as a newcomer writes it.
const PROGRAM: &str = "\
use livefusion::prelude::*;

fn main() -> livefusion::Result<()> {
    let prices = Array::from(vec![9.5f64, 3.0, 12.0, 4.5]);
    let cheap = prices.filter(|p| p.lt(10.0)).map(|p| p * 1.19);
    let (total, n) = (&cheap.sum(), &cheap.len()).force()?;
    println!(\"{n} of {total:.2} in all\");
    Ok(())
}
";

/// A build of a program of ten lines.
struct Build {
    name: &'static str,
    /// The cargo command.
    command: &'static str,
    /// Whether the program is changed before the build.
    is_again: bool,
    /// The target time in seconds, if there is one.
    target: Option<f64>,
}

/// The builds, in order.
const BUILDS: [Build; 5] = [
    Build {
        name: "ten lines: check, from nothing",
        command: "check",
        is_again: false,
        target: Some(60.0),
    },
    Build {
        name: "ten lines: release, from nothing",
        command: "build --release",
        is_again: false,
        target: Some(150.0),
    },
    Build {
        name: "ten lines: release, after a change",
        command: "build --release",
        is_again: true,
        target: Some(4.0),
    },
    Build {
        name: "ten lines: debug, from nothing",
        command: "build",
        is_again: false,
        target: None,
    },
    Build {
        name: "ten lines: debug, after a change",
        command: "build",
        is_again: true,
        target: Some(2.0),
    },
];

/// Prints all figures.
///
/// Times are reported; counts are compared with their bounds.
pub fn all() -> Outcome {
    let folder = Scratch::new()?;
    let first = folder.0.join("first");
    let command = "build --release --example quickhull";
    let mut rows = vec![(
        "README's first command, from nothing",
        Some(150.0),
        cargo(command, Path::new("."), &first)?,
    )];
    fs::remove_dir_all(&first)?;
    let program = folder.0.join("program");
    let main = program.join("src/main.rs");
    fs::create_dir_all(program.join("src"))?;
    fs::write(&main, PROGRAM)?;
    fs::write(program.join("Cargo.toml"), manifest()?)?;
    fs::copy("Cargo.lock", program.join("Cargo.lock"))?;
    let target = folder.0.join("target");
    for build in BUILDS {
        if build.is_again {
            change(&main)?;
        }
        rows.push((
            build.name,
            build.target,
            cargo(build.command, &program, &target)?,
        ));
    }
    println!("{:44} {:>7}    {:>7}", "build", "seconds", "target");
    for (name, target, took) in rows {
        let target = target.map_or("-".to_string(), |target| target.to_string());
        println!("{name:44} {:>7.1}    {target:>7}", took.as_secs_f64());
    }
    let mut held = Held::default();
    crates::hold(&mut held)?;
    held.hold("functions: default library, debug", functions(&target)?);
    held.finish()
}

/// Compares the crate counts with their bounds.
///
/// They need no build.
pub fn counts() -> Outcome {
    let mut held = Held::default();
    crates::hold(&mut held)?;
    held.finish()
}

/// Runs cargo in a folder with a target folder.
fn cargo(command: &str, folder: &Path, target: &Path) -> Outcome<Duration> {
    let mut cargo = line(&format!("cargo {command} --quiet"));
    cargo.current_dir(folder).env("CARGO_TARGET_DIR", target);
    // A newcomer's environment: settings of this shell are removed.
    for chosen in ["CARGO_INCREMENTAL", "RUSTFLAGS", "CARGO_BUILD_JOBS"] {
        cargo.env_remove(chosen);
    }
    run(&mut cargo)
}

/// The number of monomorphised library functions in the build.
fn functions(target: &Path) -> Outcome<usize> {
    let mut count = 0;
    for entry in fs::read_dir(target.join("debug/deps"))? {
        let path = entry?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if name.starts_with("liblivefusion-") && name.ends_with(".rlib") {
            let symbols = output(line("nm --defined-only").arg(&path))?;
            let code = |line: &&str| line.contains(" t ") || line.contains(" T ");
            count += symbols.lines().filter(code).count();
        }
    }
    Ok(count)
}

fn manifest() -> Outcome<String> {
    let library = fs::canonicalize("livefusion")?;
    Ok(format!(
        "[package]\nname = \"ten-lines\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nlivefusion = {{ path = {:?} }}\n\n[workspace]\n",
        library.display().to_string()
    ))
}

/// Changes a program slightly.
fn change(main: &Path) -> Outcome {
    let text = fs::read_to_string(main)?;
    Ok(fs::write(
        main,
        text.replacen("in all", "in all, and so on", 1),
    )?)
}

/// A temporary folder, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Outcome<Scratch> {
        let folder = std::env::temp_dir().join(format!("livefusion-times-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Scratch(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover folder does not affect the figures.
        let _ = fs::remove_dir_all(&self.0);
    }
}
