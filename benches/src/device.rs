//! Cases on a GPU: kernel times compared with an equally large copy.

use crate::cases::{CASES, Case};
use crate::compare::Options;
use crate::data::Data;
use crate::kernels::Outcome;
use crate::measure::median;
use comfy_table::{CellAlignment, Table, presets};
use livefusion::Engine;
use livefusion_c::KernelCache;
use livefusion_cuda::CudaBackend;
use livefusion_cuda::device::session::Session;
use livefusion_jit::JitBackend;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The number of timed launches and calls. The median counts.
const ROUNDS: usize = 20;
/// The number of calls before the first timed one.
const WARM: usize = 3;
/// The default numbers of elements.
const SIZES: &[usize] = &[1 << 16, 1 << 20, 1 << 24, 1 << 28];
/// The least bytes of a copy. A shorter one does not measure the memory.
const LEAST_COPY: usize = 1 << 20;

/// A case at one size.
struct Row {
    case: &'static str,
    n: usize,
    /// The number of kernels that a call launches, 0 if all loops run on the host.
    launches: usize,
    /// The bytes of inputs and results.
    bytes: u64,
    /// The time of a call's kernels.
    kernels: f64,
    /// The time of a copy that reads and writes as many bytes in all.
    copy: f64,
    /// The time of a call.
    call: f64,
    fault: Option<String>,
}

/// Runs the cases on the first GPU and prints a table.
///
/// # Errors
/// If there is no GPU, or no case of that name.
pub fn compare(options: &Options) -> Outcome<()> {
    let session = Session::open(0, KernelCache::default()).map_err(|e| e.to_string())?;
    let backend = CudaBackend::on(session.clone(), Arc::new(JitBackend::new()));
    let engine = Engine::new(Arc::new(backend));
    let device = session.driver().device();
    println!("{}, {}", device.name, device.architecture());
    if let Some(bytes) = device.bandwidth {
        println!("peak of its memory: {} GB/s", bytes / 1_000_000_000);
    }
    let wanted = |case: &&Case| options.case.as_deref().is_none_or(|name| case.name == name);
    let cases: Vec<&Case> = CASES.iter().filter(wanted).collect();
    if cases.is_empty() {
        return Err("no case of that name".into());
    }
    let sizes: Vec<usize> = match options.n {
        Some(n) => vec![n],
        None => SIZES.iter().map(|n| (n / options.shrink).max(1)).collect(),
    };
    let mut rows = Vec::new();
    for case in cases {
        for n in &sizes {
            match measure(&engine, &session, case, *n) {
                Ok(row) => {
                    println!("{}", row.line());
                    rows.push(row);
                }
                Err(why) => println!("{} {n}: {why}", case.name),
            }
        }
    }
    println!("{}", table(&rows));
    match rows.iter().filter(|r| r.fault.is_some()).count() {
        0 => Ok(()),
        wrong => Err(format!("{wrong} results are wrong")),
    }
}

fn measure(engine: &Engine, session: &Session, case: &'static Case, n: usize) -> Outcome<Row> {
    let input = (case.input)(n);
    let ours = (case.ours)(engine, &input).map_err(|e| e.to_string())?;
    let results = (ours.results)().map_err(|e| e.to_string())?;
    let want = (case.reference)(&input);
    let fault = case.agreement.fault(&results, &want);
    let bytes = |all: &[Data]| all.iter().map(Data::bytes).sum::<u64>();
    let bytes = bytes(&results) + input.iter().map(Data::bytes).sum::<u64>();
    drop((results, want));
    let call = || (ours.run)().map_err(|e| e.to_string());
    for _ in 0..WARM {
        call()?;
    }
    let (mut kernels, mut copies, mut calls, mut launches) = (vec![], vec![], vec![], 0);
    for _ in 0..ROUNDS {
        session.time_launches(true);
        call()?;
        let times = session.time_launches(false);
        launches = times.len();
        kernels.push(seconds(times.iter().sum()));
        copies.push(seconds(copy(session, bytes as usize)?));
        let start = Instant::now();
        call()?;
        session.driver().wait().map_err(|e| e.to_string())?;
        calls.push(seconds(start.elapsed()));
    }
    Ok(Row {
        case: case.name,
        n,
        launches,
        bytes,
        kernels: median(&kernels),
        copy: median(&copies),
        call: median(&calls),
        fault,
    })
}

/// The time of a copy that reads and writes so many bytes in all.
fn copy(session: &Session, bytes: usize) -> Outcome<Duration> {
    let half = (bytes / 2).max(LEAST_COPY);
    let timed = || {
        let from = session.pool().take(half)?;
        let mut to = session.pool().take(half)?;
        let driver = session.driver();
        let before = driver.mark()?;
        to.copy_from(&from, half)?;
        let after = driver.mark()?;
        driver.elapsed(&before, &after)
    };
    timed().map_err(|e: livefusion_cuda::driver::Fault| e.to_string())
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

impl Row {
    fn cells(&self) -> [String; 8] {
        let on_device = self.launches > 0;
        let of = |x: f64| {
            if on_device {
                format!("{x:.2}")
            } else {
                "host".into()
            }
        };
        let per_second = self.bytes as f64 / self.kernels;
        [
            self.case.into(),
            self.n.to_string(),
            self.launches.to_string(),
            format!("{:.4}", self.kernels * 1e3),
            of(per_second / 1e9),
            of(self.copy / self.kernels),
            format!("{:.4}", self.call * 1e3),
            match &self.fault {
                None => "right".into(),
                Some(fault) => fault.clone(),
            },
        ]
    }

    fn line(&self) -> String {
        self.cells().join("  ")
    }
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN);
    table.set_header([
        "case",
        "n",
        "kernels",
        "kernels ms",
        "GB/s",
        "of a copy",
        "call ms",
        "results",
    ]);
    rows.iter().for_each(|row| {
        table.add_row(row.cells());
    });
    for column in table.column_iter_mut().skip(1).take(6) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
