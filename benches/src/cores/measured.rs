//! Calls on this machine's cores, and the program that simulates others.

use super::{Options, write};
use crate::backends::on;
use crate::kernels::Outcome;
use crate::measure::{Contender, Effort, Role, rounds};
use livefusion_c::CBackend;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// Numbers of threads to measure.
const THREADS: [usize; 2] = [1, 2];

/// Measures calls unless a file has them, then builds and runs the program with virtual time.
pub fn cores(options: &Options) -> Outcome<()> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = workspace.join("target/virtual");
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--release", "-p", "livefusion-bench", "--target-dir"]);
    cargo
        .arg(&target)
        .arg("--manifest-path")
        .arg(workspace.join("Cargo.toml"));
    cargo.arg("--").args(std::env::args_os().skip(1));
    if options.measured.is_none() {
        std::fs::create_dir_all(&target).map_err(|e| e.to_string())?;
        let file = target.join("measured.txt");
        write(&file, &measured(options)?)?;
        cargo.arg("--measured").arg(file);
    }
    let status = cargo.env("RUSTFLAGS", "--cfg virtual_time").status();
    match status.map_err(|e| e.to_string())?.success() {
        true => Ok(()),
        false => Err("the simulation failed".into()),
    }
}

/// Measures calls of each case, in rounds of one thread and several.
fn measured(options: &Options) -> Outcome<String> {
    let mut lines = String::new();
    for case in options.cases()? {
        let n = options.elements(case);
        let input = (case.input)(n);
        let contender = |threads: usize| {
            let engine = on(Arc::new(CBackend::new()), threads);
            let ours = (case.ours)(&engine, &input).map_err(|e| e.to_string())?;
            (ours.run)().map_err(|e| e.to_string())?;
            Ok(Contender {
                name: threads.to_string(),
                role: Role::Ours("c"),
                parallel: threads > 1,
                // It has run before.
                run: Box::new(move || drop((ours.run)())),
            })
        };
        let contenders: Outcome<Vec<Contender<'_>>> = THREADS.into_iter().map(contender).collect();
        for timing in rounds(&mut contenders?, Effort::QUICK) {
            let each = timing.median() / n as f64;
            lines += &format!("{} {} {each:.4}\n", case.name, timing.name);
        }
    }
    Ok(lines)
}
