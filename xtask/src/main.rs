//! The repository's own commands: `cargo xtask help`.

#![cfg_attr(
    test,
    allow(
        non_snake_case,
        reason = "names of tests say feature, situation, expectation"
    )
)]

mod bounds;
mod ci;
mod crates;
mod gpu;
mod run;
mod sanitize;
mod tidy;
mod times;
mod tools;

use lexopt::prelude::*;
use run::Outcome;
use std::ffi::OsString;
use std::process::ExitCode;

const HELP: &str = "\
cargo xtask COMMAND

  tidy [--tests | --prose]
                        check the house rules; list the tests of each combinator, or the prose of each folder
  times [--counts]      time the builds that users meet; --counts only counts crates and functions
  ci fast               under five minutes: format, lints, tidy, tests of the changed packages
  ci full               every gate of a change; CI runs it
  ci nightly            fuzzers, hunts, seeded faults, sanitizers
  bless [PACKAGE]       write golden texts anew; read the diff
  dist                  pack a release build of `lf` into target/dist
  programs [ARGS]       print a program of the literature at each stage
  loops [ARGS]          run random loops and mutants
  hunt [ARGS]           run random programs for long
  faults [ARGS]         seed faults one by one; the tests must catch each
  sanitize [short] [SECTION...]
                        run tests under sanitizers and fuzzers: c, models, rust, threads, fuzz
  nvrtc                 fetch NVIDIA's compiler, which tests of kernels use, into the user's cache
  gpu pack FOLDER       build the programs that benches/gpu/run.sh starts on a machine with a GPU
  gpu sass              count instructions of kernels beside those of CUB
";

fn main() -> ExitCode {
    match command() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn command() -> Outcome {
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))?;
    let mut args = lexopt::Parser::from_env();
    let name = match args.next()? {
        Some(Value(name)) => name.string()?,
        Some(other) => return Err(other.unexpected().into()),
        None => "help".to_string(),
    };
    let rest: Vec<OsString> = args.raw_args()?.collect();
    let rest: Vec<&str> = rest.iter().filter_map(|arg| arg.to_str()).collect();
    match (name.as_str(), rest.as_slice()) {
        ("tidy", []) => tidy::check(),
        ("tidy", ["--tests"]) => tidy::list_tests(),
        ("tidy", ["--prose"]) => tidy::list_prose(),
        ("times", []) => times::all(),
        ("times", ["--counts"]) => times::counts(),
        ("ci", ["fast"]) => ci::fast(),
        ("ci", ["full"]) => ci::full(),
        ("ci", ["nightly"]) => ci::nightly(),
        ("bless", packages) => tools::bless(packages),
        ("dist", []) => tools::dist(),
        ("programs" | "loops" | "hunt", args) => tools::program(&name, args),
        ("faults", args) => tools::program("seed_faults", args),
        ("sanitize", args) => sanitize::sections(args),
        ("nvrtc", []) => gpu::nvrtc(),
        ("gpu", ["pack", folder]) => gpu::pack(folder),
        ("gpu", ["sass"]) => gpu::sass(),
        ("help", _) => {
            print!("{HELP}");
            Ok(())
        }
        _ => {
            Err(format!("there is no such command; `cargo xtask help` lists them\n\n{HELP}").into())
        }
    }
}
