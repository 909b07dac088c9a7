//! The comparison: every case on every backend, beside C and Rust by hand.

mod cell;
pub mod chart;
pub mod json;
pub mod table;

use crate::backends::{BACKENDS, Backend};
use crate::cases::{CASES, Case};
use crate::data::Inputs;
use crate::kernels::{Kernels, Outcome};
use crate::latency::{self, Latency};
use crate::machine::{self, Machine};
use crate::measure::Effort;
use crate::roof::{self, Roof};
use cell::Setting;
use indicatif::{ProgressBar, ProgressStyle};
use livefusion::Engine;

/// What to compare.
#[derive(Clone, Debug)]
pub struct Options {
    /// Only the case of this name.
    pub case: Option<String>,
    /// This many elements, not the small and the large size of each case.
    pub n: Option<usize>,
    /// Only this backend.
    pub backend: Option<String>,
    /// This many threads, not one and all.
    pub threads: Option<usize>,
    /// Where inputs are.
    pub inputs: Inputs,
    /// How long to measure.
    pub effort: Effort,
    /// Large sizes are this many times smaller.
    pub shrink: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            case: None,
            n: None,
            backend: None,
            threads: None,
            inputs: Inputs::default(),
            effort: Effort::FULL,
            shrink: 1,
        }
    }
}

/// The small size.
pub const SMALL: usize = 10_000;

/// livefusion's time for a case beside the best C.
#[derive(Clone, Debug)]
pub struct Row {
    /// The case.
    pub case: &'static str,
    /// livefusion's backend.
    pub backend: &'static str,
    /// Elements.
    pub n: usize,
    /// Threads.
    pub threads: usize,
    /// Median time of a call, per element.
    pub ns_per_element: f64,
    /// The same of the kernels that the call runs, without the rest of it; at small sizes on one thread.
    pub kernel_ns_per_element: Option<f64>,
    /// The same of the fastest C kernel whose results are right.
    pub best_c_ns_per_element: f64,
    /// Inputs and results, per second.
    pub bytes_per_s: f64,
    /// By how much a call raises the process's memory: results, and what is needed for them. None where the
    /// system does not tell.
    pub peak_bytes: Option<u64>,
    /// Bytes of the results.
    pub result_bytes: u64,
    /// Samples.
    pub rounds: usize,
    /// Whether the results are those of the reference.
    pub checked: bool,
}

impl Row {
    /// Ours over the best C.
    pub fn ratio(&self) -> f64 {
        self.ns_per_element / self.best_c_ns_per_element
    }

    /// The kernels alone over the best C.
    pub fn kernel_ratio(&self) -> Option<f64> {
        Some(self.kernel_ns_per_element? / self.best_c_ns_per_element)
    }
}

/// What others took for the same job.
#[derive(Clone, Debug)]
pub struct Other {
    /// Who: a variant of the C kernel, or a way to write it in Rust.
    pub name: String,
    /// Whether it is C that allocates its results in each call.
    pub fresh: bool,
    /// Whether it is Rust.
    pub rust: bool,
    /// Median time per element.
    pub ns_per_element: f64,
    /// Samples; few if it was far from the best.
    pub rounds: usize,
}

/// A case at one size with one number of threads.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The case.
    pub case: &'static str,
    /// Elements.
    pub n: usize,
    /// Threads.
    pub threads: usize,
    /// livefusion, by backend.
    pub rows: Vec<Row>,
    /// C and Rust.
    pub others: Vec<Other>,
    /// The fastest C kernel.
    pub best_c: String,
    /// By how much the median of this kernel differs from its own, measured twice.
    pub noise: f64,
}

/// All that was measured.
#[derive(Clone, Debug)]
pub struct Report {
    /// Where.
    pub machine: Machine,
    /// Where inputs were.
    pub inputs: Inputs,
    /// Bandwidth by number of threads.
    pub roofs: Vec<Roof>,
    /// Fixed costs.
    pub latency: Vec<Latency>,
    /// Cases.
    pub cells: Vec<Cell>,
    /// What was not as it should be: wrong results, backends that failed, other work on the machine.
    pub notes: Vec<String>,
}

/// Runs the comparison. Errors: nothing of that name, no C compiler, a C file that does not compile.
pub fn compare(options: &Options) -> Outcome<Report> {
    let plan = Plan::new(options)?;
    let mut notes = Vec::from_iter(machine::busy());
    let was_busy = !notes.is_empty();
    let mut kernels = Kernels::new()?;
    let bar = progress(plan.steps() + 2);
    bar.set_message("roof");
    let roofs = roof::measure(&mut kernels, &plan.threads, options.effort)?;
    bar.inc(1);
    let cells = plan.cells(&mut kernels, &mut notes, &bar)?;
    bar.set_message("latency");
    let latency = match options.case {
        None => latency::measure(options.effort)?,
        Some(_) => Vec::new(),
    };
    bar.finish_and_clear();
    if !was_busy {
        notes.extend(machine::busy());
    }
    Ok(Report {
        machine: machine::this(),
        inputs: options.inputs,
        roofs,
        latency,
        cells,
        notes,
    })
}

/// Only the cases: neither roof nor fixed costs. Gives the notes too. Errors: as [`compare`].
pub fn compare_cases(
    options: &Options,
    kernels: &mut Kernels,
) -> Outcome<(Vec<Cell>, Vec<String>)> {
    let mut notes = Vec::new();
    let bar = ProgressBar::hidden();
    let cells = Plan::new(options)?.cells(kernels, &mut notes, &bar)?;
    Ok((cells, notes))
}

/// What the options come to.
struct Plan {
    cases: Vec<&'static Case>,
    backends: Vec<&'static Backend>,
    threads: Vec<usize>,
    options: Options,
}

impl Plan {
    fn new(options: &Options) -> Outcome<Plan> {
        let cores = machine::cores();
        Ok(Plan {
            cases: chosen(CASES, options.case.as_deref(), |c| c.name, "case")?,
            backends: chosen(BACKENDS, options.backend.as_deref(), |b| b.name, "backend")?,
            threads: match options.threads {
                Some(threads) => vec![threads.max(1)],
                None if cores > 1 => vec![1, cores],
                None => vec![1],
            },
            options: options.clone(),
        })
    }

    fn sizes(&self, case: &Case) -> Vec<usize> {
        match self.options.n {
            Some(n) => vec![n],
            None => vec![SMALL, case.large / self.options.shrink],
        }
    }

    fn steps(&self) -> usize {
        let sizes: usize = self.cases.iter().map(|c| self.sizes(c).len()).sum();
        sizes * self.threads.len()
    }

    fn cells(
        &self,
        kernels: &mut Kernels,
        notes: &mut Vec<String>,
        bar: &ProgressBar,
    ) -> Outcome<Vec<Cell>> {
        let engines = engines(&self.backends, &self.threads);
        let mut cells = Vec::new();
        for case in &self.cases {
            for n in self.sizes(case) {
                let setting = Setting::new(case, n, self.options.inputs, kernels)?;
                for &threads in &self.threads {
                    bar.set_message(format!("{}, n = {n}, threads = {threads}", case.name));
                    cells.push(setting.measure(&engines, threads, self.options.effort, notes));
                    bar.inc(1);
                }
            }
        }
        Ok(cells)
    }
}

/// An engine of a backend.
pub struct Started {
    backend: &'static Backend,
    threads: usize,
    engine: Engine,
}

fn engines(backends: &[&'static Backend], threads: &[usize]) -> Vec<Started> {
    let pairs = backends
        .iter()
        .flat_map(|b| threads.iter().map(move |t| (*b, *t)));
    let start = |(backend, threads): (&'static Backend, usize)| Started {
        backend,
        threads,
        engine: backend.engine(threads),
    };
    pairs.map(start).collect()
}

fn chosen<T>(
    all: &'static [T],
    wanted: Option<&str>,
    name: fn(&T) -> &'static str,
    kind: &str,
) -> Outcome<Vec<&'static T>> {
    let fits = |t: &&T| wanted.is_none_or(|w| w.eq_ignore_ascii_case(name(t)));
    let found: Vec<&T> = all.iter().filter(fits).collect();
    if found.is_empty() {
        let names: Vec<&str> = all.iter().map(name).collect();
        let wanted = wanted.unwrap_or_default();
        return Err(format!(
            "no {kind} is called {wanted}; there are {}",
            names.join(", ")
        ));
    }
    Ok(found)
}

fn progress(steps: usize) -> ProgressBar {
    let bar = ProgressBar::new(steps as u64);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {msg}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
