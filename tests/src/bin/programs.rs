//! Prints the table of catalogue programs.
//!
//! Run it as `cargo run --release -p livefusion-tests --bin programs`. With a program's name after
//! `--`, it prints every stage of that program: its graph, its plan, its placement, and its loops.

use livefusion::{Clustering, Result, stages};
use livefusion_tests::catalog;
use std::process::ExitCode;

fn main() -> Result<ExitCode> {
    let Some(name) = std::env::args().nth(1) else {
        print!("{}", catalog::table()?);
        return Ok(ExitCode::SUCCESS);
    };
    let all = catalog::all();
    let Some(program) = all.iter().find(|p| p.name == name) else {
        let names: Vec<&str> = all.iter().map(|p| p.name).collect();
        eprintln!("there is no program `{name}`, but {}", names.join(", "));
        return Ok(ExitCode::FAILURE);
    };
    let graph = stages::graph_of(&program.roots)?;
    let plan = graph.plan(Clustering::default());
    let placements = plan.place()?;
    println!("{graph}\n{plan}\n{placements}");
    let mut loops = plan.lower()?;
    loops.optimize();
    print!("{loops}");
    Ok(ExitCode::SUCCESS)
}
