//! A long hunt with mutants of loops.
//!
//! Run it as
//! `cargo run --release -p livefusion-tests --bin loops -- --mutants N --from SEED --backend interp|jit|c`.
//!
//! Each mutant is parsed, verified, optimised and interpreted, and runs on the named backend too.
//! The program prints statistics, and each fault with its seed and its loop.

use livefusion_c::CBackend;
use livefusion_jit::JitBackend;
use livefusion_tests::mutants::hunt::Hunt;
use std::process::ExitCode;

/// The number of seeds between progress reports.
const STRETCH: u64 = 4000;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let at = words.iter().position(|w| w == name)?;
        words.get(at + 1).cloned()
    };
    let number = |name: &str, usual: u64| option(name).map_or(Some(usual), |n| n.parse().ok());
    let (Some(mutants), Some(from)) = (number("--mutants", 10_000), number("--from", 0)) else {
        eprintln!("--mutants and --from take numbers");
        return ExitCode::FAILURE;
    };
    let backend = option("--backend").unwrap_or_else(|| "interp".into());
    if !matches!(&*backend, "interp" | "jit" | "c") {
        eprintln!("there is no backend `{backend}`: interp, jit or c");
        return ExitCode::FAILURE;
    }
    let (jit, c) = (JitBackend::new(), CBackend::new());
    let mut hunt = Hunt::default();
    let end = from.saturating_add(mutants);
    let (mut at, mut faults) = (from, 0);
    while at < end {
        let seeds = at..end.min(at + STRETCH);
        at = seeds.end;
        match &*backend {
            "jit" => hunt.run(seeds, Some(&jit)),
            "c" => hunt.run_c(seeds, &c),
            _ => hunt.run(seeds, None),
        }
        for found in hunt.found.drain(..) {
            faults += 1;
            println!("seed {}: {}\n{}", found.seed, found.why, found.text);
        }
        println!("up to seed {at}: {}; {faults} faults", hunt.counts);
    }
    for (kind, texts, loops) in hunt.counts.kinds() {
        println!("{kind:<16} {texts:>8} texts, {loops:>8} loops");
    }
    match faults {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
