//! Checks of a change, in three sizes.

use crate::run::{Outcome, line, output, run};
use crate::{sanitize, tidy, times, tools};
use std::collections::BTreeSet;
use std::process::Command;

/// Lints of the whole workspace.
const LINTS: &str = "cargo clippy --workspace --all-targets -- -D warnings";

/// Feature sets that the workspace's build does not cover.
const FEATURES: [&str; 3] = [
    "-p livefusion --no-default-features",
    "-p livefusion-repl --no-default-features",
    "-p livefusion -p livefusion-bench -p livefusion-tests \
     --features livefusion/cuda,livefusion/ndarray,livefusion/fft,livefusion/half,livefusion/matmul \
     --features livefusion-bench/arrow,livefusion-bench/cuda,livefusion-tests/cuda \
     --lib --bins --bench columns",
];

/// Features by themselves: the sets above and the workspace have them beside others.
const SINGLE_FEATURES: [&str; 5] = [
    "-p livefusion --no-default-features --features jit",
    "-p livefusion --features ndarray,fft,half,matmul",
    "-p livefusion --features complex",
    "-p livefusion --features io --all-targets",
    "-p livefusion --features arrow --all-targets",
];

/// The documentation, with all features.
const PAGES: &str = "cargo doc --workspace --no-deps --features \
     livefusion/ndarray,livefusion/arrow,livefusion/cuda,livefusion/fft,livefusion/half,livefusion/matmul";

/// Runs the quick checks.
///
/// They are format, lints, house rules, and the tests of the packages that changed since the main
/// branch.
pub fn fast() -> Outcome {
    run(&mut line("cargo fmt --check"))?;
    tidy::check()?;
    run(&mut line(LINTS))?;
    let changed = changed()?;
    if !changed.is_empty() {
        let mut test = line("cargo test --quiet --lib --bins --tests");
        for package in &changed {
            test.args(["-p", package]);
        }
        run(&mut test)?;
    }
    Ok(())
}

/// Runs all checks except searches that take hours.
pub fn full() -> Outcome {
    run(&mut line("cargo fmt --check"))?;
    tidy::check()?;
    times::counts()?;
    run(&mut line(LINTS))?;
    lint(&FEATURES)?;
    run(line(PAGES).env("RUSTDOCFLAGS", "-D warnings"))?;
    // The README's test command. It reports all failures, not only the first.
    run(&mut line("cargo test --workspace --no-fail-fast"))?;
    package("--no-verify")?;
    let mut sections = vec!["short", "models"];
    match has_sanitizer() {
        true => sections.push("c"),
        false => eprintln!("SKIPPED: C under sanitizers: gcc has no libasan"),
    }
    sanitize::sections(&sections)
}

/// Lints sets of features.
fn lint(sets: &[&str]) -> Outcome {
    for set in sets {
        run(&mut line(&format!("cargo clippy {set} -- -D warnings")))?;
    }
    Ok(())
}

/// Runs searches that take hours.
pub fn nightly() -> Outcome {
    full()?;
    lint(&SINGLE_FEATURES)?;
    let compilers = "cargo test -p livefusion-tests --test all compilers::";
    run(line(compilers).env("LOOP_SHARE", "1"))?;
    let kernels = "cargo test -p livefusion-cuda --test all compiles::";
    run(line(kernels).env("LIVEFUSION_CUDA_ALL", "1"))?;
    let simulator = "cargo check -p livefusion-bench --target-dir target/virtual";
    run(line(simulator).env("RUSTFLAGS", "--cfg virtual_time"))?;
    times::all()?;
    package("")?;
    sanitize::sections(&[])?;
    for backend in ["jit", "c", "tiered"] {
        tools::program("hunt", &["--programs", "20000", "--backend", backend])?;
    }
    tools::program("loops", &["--mutants", "100000", "--backend", "jit"])?;
    tools::program("seed_faults", &[])
}

/// Packages the published crates.
fn package(verify: &str) -> Outcome {
    let mut cargo = line(&format!("cargo package --allow-dirty --quiet {verify}"));
    let manifests = output(&mut line("git ls-files */Cargo.toml"))?;
    for manifest in manifests.lines().filter(|path| !path.contains("/fuzz/")) {
        let text = std::fs::read_to_string(manifest)?;
        if !text.contains("publish = false") {
            cargo.args([
                "-p",
                &package_name(&text).ok_or("a manifest names no package")?,
            ]);
        }
    }
    run(&mut cargo)?;
    Ok(())
}

/// The packages whose files differ from the main branch, committed or not.
fn changed() -> Outcome<BTreeSet<String>> {
    let base = output(&mut line("git merge-base HEAD origin/main"))
        .or_else(|_| output(&mut line("git merge-base HEAD main")))?;
    let files = output(line("git diff --name-only").arg(base.trim()))?;
    let mut packages = BTreeSet::new();
    for file in files.lines() {
        packages.extend(package_of(file)?);
    }
    Ok(packages)
}

/// The package of a file.
fn package_of(file: &str) -> Outcome<Option<String>> {
    let mut folder = file;
    while let Some((parent, _)) = folder.rsplit_once('/') {
        if let Ok(manifest) = std::fs::read_to_string(format!("{parent}/Cargo.toml")) {
            return Ok(package_name(&manifest));
        }
        folder = parent;
    }
    Ok(None)
}

/// The package name in a manifest.
fn package_name(manifest: &str) -> Option<String> {
    let name = manifest
        .lines()
        .find_map(|line| line.strip_prefix("name = "));
    name.map(|name| name.trim_matches('"').to_string())
}

/// Whether gcc has the sanitizer's library.
fn has_sanitizer() -> bool {
    let library = Command::new("gcc")
        .arg("-print-file-name=libasan.so")
        .output();
    library.is_ok_and(|found| found.stdout.starts_with(b"/"))
}
