//! Growth of each stage's cost with the size of the graph.
//!
//! Each [family](graphs::ALL) of graphs is built at doubling sizes, until one takes too long.
//! Linear growth has ratios of about 2 from line to line. A larger ratio in any stage means that it
//! does not scale. A later run should take constant time per combinator; the deviation is printed
//! below each table.

pub mod graphs;

use crate::kernels::Outcome;
use graphs::Family;
use livefusion::ast::Node;
use livefusion::runtime::force_nodes;
use livefusion::{Clustering, Engine, KernelCache, stages};
use livefusion_c::CBackend;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Selects the measurements.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of the only family.
    pub graph: Option<String>,
    /// The engine: `interp`, `jit`, `c` or `default`.
    pub engine: String,
    /// The number of elements of the arrays, instead of the family's.
    pub elements: Option<usize>,
    /// The smallest size.
    pub from: Option<usize>,
    /// The largest size.
    pub to: Option<usize>,
    /// The time of a size after which no larger one is measured.
    pub limit: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            graph: None,
            engine: "default".into(),
            elements: None,
            from: None,
            to: None,
            limit: Duration::from_secs(5),
        }
    }
}

/// The number of measurements of each graph, if they are quick.
const ROUNDS: usize = 5;

/// The costs of one graph.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    loops: usize,
    statements: usize,
    build: Duration,
    recover: Duration,
    plan: Duration,
    lower: Duration,
    passes: Duration,
    /// A first force by a new engine, including all stages above.
    first: Duration,
    /// A later force of an equal graph.
    again: Duration,
}

impl Row {
    /// The shorter times of two measurements.
    fn least(self, other: Row) -> Row {
        Row {
            build: self.build.min(other.build),
            recover: self.recover.min(other.recover),
            plan: self.plan.min(other.plan),
            lower: self.lower.min(other.lower),
            passes: self.passes.min(other.passes),
            first: self.first.min(other.first),
            again: self.again.min(other.again),
            ..self
        }
    }

    /// The remainder of the first force: the backend's compiler, and a run.
    fn rest(&self) -> Duration {
        let stages = self.recover + self.plan + self.lower + self.passes;
        self.first.saturating_sub(stages)
    }
}

/// Prints a table for each family.
///
/// # Errors
/// If the family or the engine is unknown.
pub fn growth(options: &Options) -> Outcome<()> {
    engine(&options.engine)?;
    let chosen = |f: &&Family| options.graph.as_deref().is_none_or(|g| g == f.name);
    let mut any = false;
    for family in graphs::ALL.iter().filter(chosen) {
        any = true;
        table(family, options)?;
    }
    if any {
        return Ok(());
    }
    let names: Vec<_> = graphs::ALL.iter().map(|f| f.name).collect();
    Err(format!("no such graph; there are {}", names.join(", ")))
}

fn engine(name: &str) -> Outcome<Engine> {
    // A kernel from the disk cache would not be compiled.
    let off = KernelCache::off();
    match name {
        "interp" => Ok(Engine::interp()),
        "jit" => Ok(Engine::jit()),
        "c" => Ok(Engine::new(Arc::new(CBackend::new().with_cache(off)))),
        "default" => Ok(Engine::builder().kernel_cache(off).build()),
        _ => Err(format!(
            "no engine {name}; there are interp, jit, c, default"
        )),
    }
}

fn table(family: &Family, options: &Options) -> Outcome<()> {
    let elements = options.elements.unwrap_or(family.elements);
    println!(
        "\n{}: {}, of {elements} elements, engine {}; milliseconds",
        family.name, family.what, options.engine
    );
    println!(
        "{:>7} {:>6} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>6} {:>11} {:>9}",
        "n",
        "loops",
        "stmts",
        "build",
        "recover",
        "plan",
        "lower",
        "passes",
        "rest",
        "first",
        "ratio",
        "run",
        "run/n, us"
    );
    let (least, most) = family.sizes;
    let mut n = options.from.unwrap_or(least).max(1);
    let mut before: Option<Duration> = None;
    let mut shares = Vec::new();
    while n <= options.to.unwrap_or(most) {
        let mut row = match measure(family, n, elements, &options.engine) {
            Ok(row) => row,
            Err(why) => {
                println!("{n:>7} {why}");
                return Ok(());
            }
        };
        // Other work on the machine can only add to a time.
        for _ in 1..ROUNDS {
            if row.first < options.limit / 5 {
                row = row.least(measure(family, n, elements, &options.engine)?);
            }
        }
        println!("{}", line(n, &row, before));
        shares.push(row.again.as_secs_f64() / n as f64);
        if row.first > options.limit {
            break;
        }
        before = Some(row.first);
        n *= 2;
    }
    let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
    let most = shares.iter().copied().fold(0.0, f64::max);
    println!("run/n, the largest over the smallest: {:.2}", most / least);
    Ok(())
}

fn line(n: usize, row: &Row, before: Option<Duration>) -> String {
    let mut out = format!("{n:>7} {:>6} {:>8}", row.loops, row.statements);
    let stages = [row.build, row.recover, row.plan, row.lower, row.passes];
    for stage in stages.into_iter().chain([row.rest(), row.first]) {
        let _ = write!(out, " {:>9.2}", stage.as_secs_f64() * 1e3);
    }
    let ratio = before.map(|b| row.first.as_secs_f64() / b.as_secs_f64());
    match ratio {
        Some(ratio) => {
            let _ = write!(out, " {ratio:>6.2}");
        }
        None => out.push_str("       "),
    }
    let run = row.again.as_secs_f64();
    let _ = write!(out, " {:>11.4} {:>9.4}", run * 1e3, run * 1e6 / n as f64);
    out
}

/// Runs a function and measures its time.
fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let made = work();
    (start.elapsed(), made)
}

fn measure(family: &Family, n: usize, elements: usize, on: &str) -> Outcome<Row> {
    let text = |e: livefusion::Error| e.to_string();
    let build = || (family.build)(n, elements);
    let mut row = Row::default();
    let (build_time, roots) = timed(build);
    row.build = build_time;
    before_backend(&roots, &mut row)?;
    let engine = engine(on)?;
    let (first, forced) = timed(|| force_nodes(&engine, &roots));
    forced.map_err(text)?;
    row.first = first;
    row.again = Duration::MAX;
    for _ in 0..5 {
        let roots = build();
        let (again, forced) = timed(|| force_nodes(&engine, &roots));
        forced.map_err(text)?;
        row.again = row.again.min(again);
    }
    Ok(row)
}

/// Times the stages before the backend.
fn before_backend(roots: &[Arc<Node>], row: &mut Row) -> Outcome<()> {
    let text = |e: livefusion::Error| e.to_string();
    let (time, graph) = timed(|| stages::graph_of(roots));
    let graph = graph.map_err(text)?;
    row.recover = time;
    let (time, plan) = timed(|| graph.plan(Clustering::default()));
    row.plan = time;
    let (time, loops) = timed(|| plan.lower());
    let mut loops = loops.map_err(text)?;
    row.lower = time;
    row.loops = loops.len();
    let (time, ()) = timed(|| loops.optimize());
    row.passes = time;
    let statements =
        |p: &loop_lang::Loop| -> usize { p.blocks.iter().map(|(_, b)| b.stmts.len()).sum() };
    row.statements = loops.iter().map(|l| statements(&l.program)).sum();
    Ok(())
}
