//! Fixed costs of small programs: building, forcing, calling and compiling.

use crate::chain;
use crate::kernels::Outcome;
use crate::measure::{Effort, median};
use livefusion::KernelCache;
use livefusion::prelude::*;
use livefusion::prepare::prepare_with;
use livefusion_tile::target::Target;
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

/// Holds a fixed cost.
#[derive(Clone, Debug)]
pub struct Latency {
    /// The name.
    pub metric: &'static str,
    /// The median.
    pub microseconds: f64,
}

/// Names the subcommand for a second process.
///
/// It forces a program and prints the time in microseconds.
pub const SECOND_PROCESS: &str = "second-process";

/// Measures all fixed costs.
pub fn measure(effort: Effort) -> Outcome<Vec<Latency>> {
    let (many, few) = (40 * effort.rounds.0, effort.rounds.0);
    let c = Engine::c();
    let mut all = Vec::new();
    let mut add = |metric, samples: Outcome<Vec<f64>>| -> Outcome<()> {
        let microseconds = median(&samples?);
        all.push(Latency {
            metric,
            microseconds,
        });
        Ok(())
    };
    add("build_10", Ok(build(many)))?;
    add("cached_force_10", cached_force(&c, 10, many))?;
    add("cached_force_40", cached_force(&c, 40, many))?;
    add("prepared_call", prepared_call(&c, many))?;
    add("first_force_interp", first_force(Engine::interp, many))?;
    add("first_force_jit", first_force(Engine::jit, many))?;
    add("first_force_c", first_force(uncached_c, few))?;
    add("cc_alone", compiler_alone(few))?;
    add("second_process_force", second_process(few))?;
    Ok(all)
}

fn microseconds(spent: Duration) -> f64 {
    spent.as_nanos() as f64 / 1e3
}

/// Runs `f` often enough in each sample to hide the cost of the clock.
fn repeated(samples: usize, mut f: impl FnMut()) -> Vec<f64> {
    const TIMES: u32 = 100;
    let mut sample = || {
        let start = Instant::now();
        (0..TIMES).for_each(|_| f());
        microseconds(start.elapsed() / TIMES)
    };
    (0..samples).map(|_| sample()).collect()
}

fn words(e: impl std::fmt::Display) -> String {
    e.to_string()
}

fn one() -> Array<f64> {
    Array::from(vec![1.0])
}

fn build(samples: usize) -> Vec<f64> {
    let xs = one();
    repeated(samples, || drop(black_box(chain(&xs, 10))))
}

/// A force caches its result in the node, so each sample uses fresh graphs, built beforehand.
fn cached_force(engine: &Engine, combinators: usize, samples: usize) -> Outcome<Vec<f64>> {
    const GRAPHS: usize = 50;
    let xs = one();
    chain(&xs, combinators).force_with(engine).map_err(words)?;
    let sample = || {
        let graphs: Vec<_> = (0..GRAPHS).map(|_| chain(&xs, combinators)).collect();
        let start = Instant::now();
        for graph in &graphs {
            black_box(graph.force_with(engine)).map_err(words)?;
        }
        Ok(microseconds(start.elapsed()) / GRAPHS as f64)
    };
    (0..samples).map(|_| sample()).collect()
}

fn prepared_call(engine: &Engine, samples: usize) -> Outcome<Vec<f64>> {
    let xs = one();
    let program = prepare_with(engine, |xs: Array<f64>| chain(&xs, 10)).map_err(words)?;
    Ok(repeated(samples, || drop(black_box(program.call(&xs)))))
}

/// A C engine that ignores kernels cached by earlier processes.
fn uncached_c() -> Engine {
    let cache = KernelCache::off();
    Engine::builder().only_c().kernel_cache(cache).build()
}

/// Uses a fresh engine each time: planning, lowering, compiling, running on one element.
fn first_force(engine: fn() -> Engine, samples: usize) -> Outcome<Vec<f64>> {
    let xs = one();
    let sample = |_| {
        let (engine, sum) = (engine(), chain(&xs, 10));
        let start = Instant::now();
        sum.force_with(&engine).map_err(words)?;
        Ok(microseconds(start.elapsed()))
    };
    (0..samples).map(sample).collect()
}

/// Runs the C compiler on the C backend's file for this program, with the same flags.
fn compiler_alone(samples: usize) -> Outcome<Vec<f64>> {
    let explained = chain(&one(), 10)
        .explain_with(&uncached_c())
        .map_err(words)?;
    let code = explained.loops.into_iter().find_map(|l| l.source);
    let folder = tempfile::tempdir().map_err(words)?;
    let file = folder.path().join("kernel.c");
    std::fs::write(&file, code.ok_or("the C backend shows no code")?).map_err(words)?;
    let compiler = livefusion_c::system_compiler().map_err(words)?;
    let sample = |_| {
        let mut command = Command::new(&compiler);
        command.args(livefusion_c::flags(&Target::here()));
        command.arg("-O3").arg("-o");
        command.arg(folder.path().join("kernel.so")).arg(&file);
        let start = Instant::now();
        let done = command.output().map_err(words)?;
        let spent = microseconds(start.elapsed());
        match done.status.success() {
            true => Ok(spent),
            false => Err("the C backend's code does not compile alone".to_string()),
        }
    };
    (0..samples).map(sample).collect()
}

/// The same program in a fresh process, after another process has run it.
fn second_process(samples: usize) -> Outcome<Vec<f64>> {
    let program = std::env::current_exe().map_err(words)?;
    let kernels = tempfile::tempdir().map_err(words)?;
    let sample = |_| {
        let mut command = Command::new(&program);
        command
            .arg(SECOND_PROCESS)
            .env("LIVEFUSION_CACHE_DIR", kernels.path().join("kernels"));
        let done = command.output().map_err(words)?;
        let said = String::from_utf8_lossy(&done.stdout);
        said.trim()
            .parse()
            .map_err(|_| format!("{SECOND_PROCESS} said {said:?}"))
    };
    let times: Outcome<Vec<f64>> = (0..=samples).map(sample).collect();
    times.map(|t| t.into_iter().skip(1).collect())
}

/// Runs the second process.
pub fn force_and_print() -> Outcome<()> {
    let sum = chain(&one(), 10);
    let engine = Engine::c();
    let start = Instant::now();
    sum.force_with(&engine).map_err(words)?;
    println!("{}", microseconds(start.elapsed()));
    Ok(())
}
