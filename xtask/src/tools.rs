//! Golden texts, releases, and the programs that search for faults.

use crate::run::{Outcome, line, output, run};
use crate::sanitize;
use std::fs;
use std::path::Path;

/// Golden texts, by package: the tests that write them anew.
const GOLDEN: [(&str, &str); 9] = [
    ("loop-lang", "-p loop-lang"),
    ("livefusion-tile", "-p livefusion-tile"),
    ("livefusion-c", "-p livefusion-c --test all"),
    ("livefusion-cuda", "-p livefusion-cuda --test all"),
    (
        "livefusion",
        "-p livefusion --test all --test coming_from --test dump",
    ),
    ("livefusion-tests", "-p livefusion-tests --test programs"),
    ("livefusion-bench", "-p livefusion-bench --test forms"),
    ("livefusion-repl", "-p livefusion-repl --test all"),
    ("livefusion-compile-fail", "-p livefusion-compile-fail"),
];

/// Writes golden texts anew: of these packages, or of all.
pub fn bless(packages: &[&str]) -> Outcome {
    let known = |package: &&str| GOLDEN.iter().any(|(name, _)| name == package);
    if let Some(unknown) = packages.iter().find(|package| !known(package)) {
        let names: Vec<&str> = GOLDEN.iter().map(|(name, _)| *name).collect();
        return Err(format!(
            "`{unknown}` has no golden texts; these have: {}",
            names.join(", ")
        )
        .into());
    }
    for (name, tests) in GOLDEN {
        if packages.is_empty() || packages.contains(&name) {
            let mut tests = line(&format!("cargo test --quiet {tests}"));
            run(tests.env("LOOP_BLESS", "1").env("TRYBUILD", "overwrite"))?;
        }
    }
    print!("{}", output(&mut line("git diff --stat"))?);
    Ok(())
}

/// Runs a program of the tests, in release.
pub fn program(name: &str, args: &[&str]) -> Outcome {
    let mut cargo = line("cargo run --quiet --release -p livefusion-tests --bin");
    run(cargo.arg(name).arg("--").args(args))?;
    Ok(())
}

/// Packs the shell with its licences.
pub fn dist() -> Outcome {
    run(&mut line(
        "cargo build --release --locked -p livefusion-repl",
    ))?;
    let host = sanitize::host()?;
    let name = format!("lf-{}-{host}", env!("CARGO_PKG_VERSION"));
    let folder = Path::new("target/dist").join(&name);
    fs::create_dir_all(&folder)?;
    let lf = format!("lf{}", std::env::consts::EXE_SUFFIX);
    fs::copy(Path::new("target/release").join(&lf), folder.join(&lf))?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(file, folder.join(file))?;
    }
    run(&mut line(&format!(
        "tar -C target/dist -czf target/dist/{name}.tar.gz {name}"
    )))?;
    Ok(())
}
