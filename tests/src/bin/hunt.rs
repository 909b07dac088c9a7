//! The long hunt: many random programs on one backend.
//!
//! ```sh
//! cargo run --release -p livefusion-tests --bin hunt -- --programs 100000 [--backend interp|c|jit|tiered|cuda]
//!     [--seed S] [--minutes M]
//! ```
//!
//! The interpreter is compared with the naive evaluator, and other backends with the interpreter. A
//! GPU (feature `cuda`) is compared with the naive evaluator, because its float sums differ in the
//! last bits. The final report counts the programs and the patterns of use. It lists each kind of
//! failure with its seeds and the smallest failing program.

use livefusion::{Clustering, Engine};
use livefusion_backend::Backend;
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;
use livefusion_tests::backends::{self, Known, Spans};
use livefusion_tests::check::{Ran, against_naive, agree, caught, kind_of, run, smallest};
use livefusion_tests::patterns::Patterns;
use livefusion_tests::program::{Options, Program, random};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The number of programs whose C is compiled together.
const BATCH: u64 = 500;
/// The number of programs between progress reports.
const TOLD: u64 = 50;

/// A check of a program, which returns the interpreter's run.
type Check = Box<dyn Fn(u64, &Program) -> Result<Ran, String>>;

struct Args {
    programs: u64,
    backend: String,
    seed: u64,
    minutes: u64,
}

fn args() -> Result<Args, String> {
    let mut args = Args {
        programs: 10_000,
        backend: "interp".into(),
        seed: 0,
        minutes: u64::MAX / 60,
    };
    let mut given = std::env::args().skip(1);
    while let Some(name) = given.next() {
        let value = given.next().ok_or(format!("{name} wants a value"))?;
        let number = || value.parse::<u64>().map_err(|e| format!("{name}: {e}"));
        match name.as_str() {
            "--programs" => args.programs = number()?,
            "--seed" => args.seed = number()?,
            "--minutes" => args.minutes = number()?,
            "--backend" => args.backend = value,
            other => return Err(format!("{other} is not known")),
        }
    }
    Ok(args)
}

/// The program of a seed: mostly wired or dense, sometimes from parts or with long arrays.
fn program(seed: u64) -> Program {
    let options = match seed % 100 {
        99 => Options::CHUNKS,
        k if k % 8 == 0 => Options::SMALL,
        k if k % 8 == 4 => Options::PARTS,
        k if k % 4 == 1 => Options::DENSE,
        _ => Options::WIRED,
    };
    random(seed, options)
}

/// The check of a backend for these programs.
fn check(backend: &str, programs: &[(u64, Program)]) -> Result<Check, String> {
    let interp = Engine::interp();
    let held = move |p: &Program, seed: u64, backend: Arc<dyn Backend>| {
        let reference = run(p, &interp)?;
        agree(&reference, &run(p, &Engine::new(backend.clone()))?)?;
        let both = vec![Arc::new(InterpBackend::new()), backend];
        let turns = Engine::new(Arc::new(Spans::new(both, seed)));
        agree(&reference, &run(p, &turns)?).map_err(|e| format!("by turns: {e}"))?;
        Ok(reference)
    };
    Ok(match backend {
        "interp" => {
            let engines = [
                Clustering::default(),
                Clustering::Greedy,
                Clustering::Unfused,
            ]
            .map(|c| {
                let interp = Arc::new(InterpBackend::new());
                Engine::builder().backend(interp).clustering(c).build()
            });
            Box::new(move |seed, p| {
                let ran = against_naive(p, &engines[0])?;
                let other = 1 + (seed % 2) as usize;
                let other = against_naive(p, &engines[other]);
                other.map_err(|e| format!("another clustering: {e}"))?;
                Ok(ran)
            })
        }
        "c" => {
            let known = Known::of(backends::c(), programs.iter().map(|(_, p)| p));
            let known = Arc::new(known);
            Box::new(move |seed, p| held(p, seed, known.clone()))
        }
        "jit" => Box::new(move |seed, p| held(p, seed, Arc::new(JitBackend::new()))),
        "tiered" => {
            let tiered = Engine::builder().threads(2).eager().build();
            let interp = Engine::interp();
            Box::new(move |_, p| {
                let reference = run(p, &interp)?;
                agree(&reference, &run(p, &tiered)?)?;
                Ok(reference)
            })
        }
        #[cfg(feature = "cuda")]
        "cuda" => {
            let cuda = Engine::cuda().map_err(|e| e.to_string())?;
            Box::new(move |_, p| against_naive(p, &cuda))
        }
        other => return Err(format!("no backend is called {other}")),
    })
}

/// The results of the hunt.
#[derive(Default)]
struct Found {
    programs: u64,
    patterns: Patterns,
    /// By kind of failure: the seeds, and the smallest program.
    failures: BTreeMap<String, (Vec<u64>, String)>,
}

fn hunt(args: &Args) -> Result<Found, String> {
    let mut found = Found::default();
    let until = Instant::now() + Duration::from_secs(args.minutes.min(1 << 20) * 60);
    let (mut seed, end) = (args.seed, args.seed + args.programs);
    while seed < end && Instant::now() < until {
        let next = (seed + BATCH).min(end);
        let programs: Vec<(u64, Program)> = (seed..next).map(|s| (s, program(s))).collect();
        let check = check(&args.backend, &programs)?;
        for (seed, program) in &programs {
            match caught(|| check(*seed, program)) {
                Ok(ran) => found.patterns.add(program, &ran),
                Err(why) => {
                    let failures = &mut found.failures;
                    let seeds = failures.entry(kind_of(&why)).or_insert_with(|| {
                        let small = smallest(*seed, program, &why, &check);
                        println!("{small}\n");
                        (vec![], small)
                    });
                    seeds.0.push(*seed);
                }
            }
            found.programs += 1;
            if found.programs.is_multiple_of(TOLD) {
                let failed: usize = found.failures.values().map(|f| f.0.len()).sum();
                eprintln!("{} programs, {failed} failed", found.programs);
            }
        }
        seed = next;
    }
    Ok(found)
}

fn main() -> ExitCode {
    let found = args().and_then(|args| hunt(&args));
    let found = match found {
        Ok(found) => found,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    println!("{} programs\n{}", found.programs, found.patterns);
    for (kind, (seeds, small)) in &found.failures {
        println!(
            "{} failures: {kind}\nseeds {seeds:?}\n{small}\n",
            seeds.len()
        );
    }
    if found.failures.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
