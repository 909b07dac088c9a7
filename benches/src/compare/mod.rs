//! The comparison: every case on every backend, with hand-written C and Rust.

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

/// Selects the measurements.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of the only case.
    pub case: Option<String>,
    /// The number of elements, instead of the small and the large size of each case.
    pub n: Option<usize>,
    /// The name of the only backend.
    pub backend: Option<String>,
    /// The number of threads, instead of one and all.
    pub threads: Option<usize>,
    /// The memory of inputs.
    pub inputs: Inputs,
    /// The time of measurement.
    pub effort: Effort,
    /// The divisor of large sizes.
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

/// Gives the small size.
pub const SMALL: usize = 10_000;

/// Holds livefusion's time for a case and the best C's.
#[derive(Clone, Debug)]
pub struct Row {
    /// The case.
    pub case: &'static str,
    /// livefusion's backend.
    pub backend: &'static str,
    /// The number of elements.
    pub n: usize,
    /// The number of threads.
    pub threads: usize,
    /// The median time of a call, per element.
    pub ns_per_element: f64,
    /// The same for the call's kernels alone, at small sizes on one thread.
    pub kernel_ns_per_element: Option<f64>,
    /// The same for calls whose results get new memory.
    pub fresh_ns_per_element: Option<f64>,
    /// The same for the fastest C kernel with right results.
    pub best_c_ns_per_element: f64,
    /// The bytes of inputs and results, per second.
    pub bytes_per_s: f64,
    /// The growth of the process's memory in a call: results and temporaries. None if the system
    /// has no such figure.
    pub peak_bytes: Option<u64>,
    /// The bytes of the results.
    pub result_bytes: u64,
    /// The number of samples.
    pub rounds: usize,
    /// Whether the results agree with the reference.
    pub checked: bool,
}

impl Row {
    /// Returns our time as a multiple of the best C's.
    pub fn ratio(&self) -> f64 {
        self.ns_per_element / self.best_c_ns_per_element
    }

    /// Returns the kernels' time as a multiple of the best C's.
    pub fn kernel_ratio(&self) -> Option<f64> {
        Some(self.kernel_ns_per_element? / self.best_c_ns_per_element)
    }
}

/// Holds another contender's time for the same job.
#[derive(Clone, Debug)]
pub struct Other {
    /// The variant of the C kernel, or the style of Rust.
    pub name: String,
    /// Whether it is C that allocates its results in each call.
    pub fresh: bool,
    /// Whether it is Rust.
    pub rust: bool,
    /// The median time per element.
    pub ns_per_element: f64,
    /// The number of samples, which is small for slow contenders.
    pub rounds: usize,
}

/// Holds the results for a case at one size with one number of threads.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The case.
    pub case: &'static str,
    /// The number of elements.
    pub n: usize,
    /// The number of threads.
    pub threads: usize,
    /// livefusion's rows, by backend.
    pub rows: Vec<Row>,
    /// The C and Rust contenders.
    pub others: Vec<Other>,
    /// The fastest C kernel.
    pub best_c: String,
    /// The relative distance between the two medians of this kernel.
    pub noise: f64,
}

/// Holds all measurements.
#[derive(Clone, Debug)]
pub struct Report {
    /// The machine.
    pub machine: Machine,
    /// The memory of inputs.
    pub inputs: Inputs,
    /// The bandwidth by number of threads.
    pub roofs: Vec<Roof>,
    /// The fixed costs.
    pub latency: Vec<Latency>,
    /// The cases.
    pub cells: Vec<Cell>,
    /// The irregularities: wrong results, failed backends, other work on the machine.
    pub notes: Vec<String>,
}

/// Runs the comparison.
///
/// Errors: an unknown name, no C compiler, or a C file that does not compile.
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

/// Runs only the cases, without roof and fixed costs.
///
/// Returns the notes, too. Errors: as [`compare`].
pub fn compare_cases(
    options: &Options,
    kernels: &mut Kernels,
) -> Outcome<(Vec<Cell>, Vec<String>)> {
    let mut notes = Vec::new();
    let bar = ProgressBar::hidden();
    let cells = Plan::new(options)?.cells(kernels, &mut notes, &bar)?;
    Ok((cells, notes))
}

/// The resolved options.
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

/// Holds an engine of a backend.
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
