//! Tests under sanitizers and fuzzers: code that checks itself while it runs.
//!
//! `c` and `models` need gcc alone. The other sections use flags of unstable compilers, which `RUSTC_BOOTSTRAP`
//! grants; `threads` needs the standard library's source (`rustup component add rust-src`), `fuzz` a C++ compiler.

use crate::run::{Outcome, line, output, run};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A section's name, and the function that runs it in short form or in full.
type Section = (&'static str, fn(&Run) -> Outcome);

const SECTIONS: [Section; 5] = [
    ("c", c),
    ("models", models),
    ("rust", rust),
    ("threads", threads),
    ("fuzz", fuzz),
];

/// The targets of libFuzzer, each with the largest input in bytes.
const TARGETS: [(&str, usize); 7] = [
    ("parser", 4096),
    ("program", 200),
    ("entry", 200),
    ("csv", 4096),
    ("columns", 61),
    ("shell", 400),
    ("files", 4096),
];

/// How long to run, and for which machine.
struct Run {
    /// A few minutes for each section, once it is built.
    is_short: bool,
    host: String,
}

/// Runs sections by name, or all: `[short] [SECTION...]`.
pub fn sections(args: &[&str]) -> Outcome {
    let is_short = args.first() == Some(&"short");
    let names = &args[usize::from(is_short)..];
    let known = |name: &&&str| SECTIONS.iter().any(|(section, _)| section == *name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        return Err(format!("there is no section `{unknown}`").into());
    }
    let run = Run {
        is_short,
        host: host()?,
    };
    for (name, section) in SECTIONS {
        if names.is_empty() || names.contains(&name) {
            eprintln!("== {name}");
            section(&run)?;
        }
    }
    Ok(())
}

/// The machine's name, as compilers give it.
pub fn host() -> Outcome<String> {
    let version = output(&mut line("rustc -vV"))?;
    let host = version.lines().find_map(|l| l.strip_prefix("host: "));
    Ok(host.ok_or("rustc names no host")?.to_string())
}

/// Random programs and loops through C, with AddressSanitizer and UndefinedBehaviorSanitizer.
///
/// The sanitizer's library is loaded first, so it allocates and watches the arrays, too.
fn c(Run { is_short, host }: &Run) -> Outcome {
    let library = output(&mut line("gcc -print-file-name=libasan.so"))?;
    let runner = format!(
        "CARGO_TARGET_{}_RUNNER",
        host.to_uppercase().replace('-', "_")
    );
    // In short form with the features of the workspace's tests, so that nothing is built anew.
    let mut tests = line(match is_short {
        true => "cargo test --workspace --test all -- --nocapture c_is_the_interpreter",
        false => {
            "cargo test -p livefusion-tests --test all -- --nocapture c_is_the_interpreter loops:: chunked::"
        }
    });
    if *is_short {
        tests.env("LOOP_PROGRAMS", "12");
    }
    let preload = format!(
        "env LD_PRELOAD={} ASAN_OPTIONS=detect_leaks=0:abort_on_error=1",
        library.trim()
    );
    tests
        .env("CC", "gcc")
        .env("LIVEFUSION_TEST_SANITIZED", "1")
        .env("LIVEFUSION_CACHE_DIR", "off")
        .env(runner, preload);
    run(&mut tests)?;
    Ok(())
}

/// Shared structures of threads (the board, the team, the cache) in many orders of their steps.
fn models(Run { is_short, .. }: &Run) -> Outcome {
    let mut cargo = Command::new("cargo");
    if *is_short {
        // To build fast code would take longer than to run slow code.
        for package in [
            "\"*\"",
            "loop-lang",
            "livefusion-backend",
            "livefusion-interp",
            "livefusion-tile",
        ] {
            cargo.arg("--config");
            cargo.arg(format!("profile.dev.package.{package}.opt-level=0"));
        }
    } else {
        cargo.env("MODEL_ORDERS", "10000");
    }
    cargo.args(["test", "-p", "livefusion", "--lib", "--no-default-features"]);
    cargo.args(["--target-dir", "target/shuttle", "models"]);
    run(cargo.env("RUSTFLAGS", "--cfg shuttle"))?;
    Ok(())
}

/// The library's own tests with AddressSanitizer: buffers, frames, loaded code.
///
/// Tests that limit the address space are left out: the sanitizer maps terabytes of it.
fn rust(Run { is_short, host }: &Run) -> Outcome {
    let long = match is_short {
        true => "",
        false => "parallel:: segments:: streams:: held:: tiers::",
    };
    // By way of the C library, which the sanitizer watches.
    for tests in [
        "-p livefusion-backend --features libc --lib",
        &format!(
            "-p livefusion --features livefusion-backend/libc --test all -- force:: kernels:: in_place:: {long}"
        ),
    ] {
        let mut cargo = line(&format!(
            "cargo test --target {host} --target-dir target/sanitize {tests}"
        ));
        run(unstable(&mut cargo, "-Zsanitizer=address")
            .env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1"))?;
    }
    Ok(())
}

/// The parallel runtime with ThreadSanitizer, in the standard library, too.
///
/// A lock of an unwatched library would look like a race.
fn threads(Run { is_short, host }: &Run) -> Outcome {
    // Without Cranelift in short form: it takes longest to build.
    let tests = match is_short {
        true => {
            "--no-default-features --features c,derive,livefusion-backend/libc --test all -- parallel::"
        }
        false => "--features livefusion-backend/libc --test all -- parallel:: held:: tiers::",
    };
    let mut cargo = line(&format!(
        "cargo test -Zbuild-std --target {host} --target-dir target/sanitize-threads -p livefusion {tests}"
    ));
    run(unstable(&mut cargo, "-Zsanitizer=thread"))?;
    Ok(())
}

/// Coverage-guided fuzzing of all that reads bytes.
///
/// `target/fuzz/corpus` keeps inputs that reached something new, `target/fuzz/finds` those that failed.
fn fuzz(Run { is_short, host }: &Run) -> Outcome {
    // The versions that everything else is built with.
    fs::copy("Cargo.lock", "tests/fuzz/Cargo.lock")?;
    let counters = [
        "level=4",
        "inline-8bit-counters",
        "pc-table",
        "trace-compares",
    ];
    let counters = counters.map(|c| format!(" -Cllvm-args=-sanitizer-coverage-{c}"));
    let mut build = line(&format!(
        "cargo build --release --manifest-path tests/fuzz/Cargo.toml --target {host} --target-dir target/fuzz"
    ));
    let flags = format!("-Cpasses=sancov-module{}", counters.concat());
    run(unstable(&mut build, &flags))?;
    let corpus = Path::new("target/fuzz/corpus");
    for (target, _) in TARGETS {
        fs::create_dir_all(corpus.join(target))?;
    }
    fs::create_dir_all("target/fuzz/finds")?;
    seed(corpus)?;
    let seconds = if *is_short { 30 } else { 300 };
    for (target, most) in TARGETS {
        let mut fuzzer = line(&format!(
            "target/fuzz/{host}/release/{target} -max_total_time={seconds} -timeout=60 -rss_limit_mb=4096 \
             -max_len={most} -len_control=0 -print_final_stats=1 \
             -artifact_prefix=target/fuzz/finds/{target}- target/fuzz/corpus/{target}"
        ));
        let log = format!("target/fuzz/{target}.log");
        run(fuzzer
            .stdout(fs::File::create(&log)?)
            .stderr(fs::File::options().append(true).open(&log)?))
        .map_err(|why| format!("{why}; {log} has the rest"))?;
        let log = fs::read_to_string(log)?;
        let figures = log
            .lines()
            .filter(|l| l.contains("DONE") || l.starts_with("stat"));
        figures.for_each(|l| println!("{l}"));
    }
    Ok(())
}

/// Puts the first inputs into the corpus: rows of a table, golden loops, the examples of the shell's help.
fn seed(corpus: &Path) -> Outcome {
    let table = fs::read_to_string("examples/data/airports.csv")?;
    let rows: String = table.split_inclusive('\n').take(20).collect();
    for target in ["csv", "files"] {
        fs::write(corpus.join(target).join("airports"), &rows)?;
    }
    for entry in fs::read_dir("loop-lang/tests/files/golden")? {
        let path = entry?.path();
        if let (Some(name), true) = (path.file_name(), path.extension() == Some("loop".as_ref())) {
            fs::copy(&path, corpus.join("parser").join(name))?;
        }
    }
    // Each example stands before its answer.
    let help = fs::read_to_string("repl/tests/golden/help.txt")?;
    let examples = help.split("\n\n").filter_map(|entry| entry.lines().next());
    for (k, example) in examples.enumerate() {
        fs::write(corpus.join("shell").join((k + 1).to_string()), example)?;
    }
    Ok(())
}

/// Lets a stable compiler take flags of unstable ones.
fn unstable<'c>(cargo: &'c mut Command, flags: &str) -> &'c mut Command {
    cargo.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", flags)
}
