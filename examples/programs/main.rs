//! Fifteen whole programs, each beside straightforward Rust for the same task.
//!
//! ```text
//! cargo run --release --example programs -- [NAME..] [--small] [--explain]
//! ```
//!
//! The table has a row for each program: nanoseconds per element on one thread, and the loops,
//! arrays and calls of the plan. `--small` takes small inputs, for a quick check that all results
//! agree. `--explain` prints the loops of each program. A file of a program has its forms `fused`
//! and `plain`, and its input.
//!
//! | file | subject |
//! | --- | --- |
//! | `harness` | timing, comparison of results, the table |
//! | `numbers` | the generator of all inputs |
//! | any other | a program |

#![cfg_attr(test, allow(non_snake_case))]

mod decoding;
mod edges;
mod events;
mod fluid;
mod harness;
mod heat;
mod image;
mod k_means;
mod keys;
mod log_statistics;
mod neighbours;
mod numbers;
mod paths;
mod pricing;
mod sessions;
mod shortest_paths;
mod windows;

use harness::{Bench, HEADER, Measured};
use livefusion_examples::Outcome;

/// Runs a program in both forms.
type Compare = fn(&Bench) -> Outcome<Measured>;

/// All programs with their names.
const PROGRAMS: [(&str, Compare); 15] = [
    ("windows", windows::compare),
    ("image", image::compare),
    ("keys", keys::compare),
    ("edges", edges::compare),
    ("neighbours", neighbours::compare),
    ("paths", paths::compare),
    ("events", events::compare),
    ("sessions", sessions::compare),
    ("heat", heat::compare),
    ("fluid", fluid::compare),
    ("k_means", k_means::compare),
    ("pricing", pricing::compare),
    ("shortest_paths", shortest_paths::compare),
    ("log_statistics", log_statistics::compare),
    ("decoding", decoding::compare),
];

fn main() -> Outcome {
    let (options, names): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|arg| arg.starts_with("--"));
    let known = |name: &String| PROGRAMS.iter().any(|(known, _)| known == name);
    if let Some(name) = names.iter().find(|name| !known(name)) {
        let all = PROGRAMS.map(|(name, _)| name).join(", ");
        return Err(format!("there is no program `{name}`; the programs are {all}").into());
    }
    let known = ["--small", "--explain"];
    if let Some(option) = options
        .iter()
        .find(|option| !known.contains(&option.as_str()))
    {
        return Err(format!("expected {}, got `{option}`", known.join(" or ")).into());
    }
    let [is_small, explains] = known.map(|known| options.iter().any(|option| option == known));
    let bench = if is_small {
        Bench::small()
    } else {
        Bench::full()
    };
    println!("{HEADER}");
    for (name, compare) in PROGRAMS {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            let measured = compare(&bench).map_err(|error| format!("{name}: {error}"))?;
            println!("{}", measured.row(name));
            if explains {
                println!("\n{}", measured.explanation);
            }
        }
    }
    Ok(())
}
