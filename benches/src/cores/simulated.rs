//! The simulation itself, in a program with virtual time.

use super::chunks::{ChunkTimes, Mode, TimedBackend};
use super::{Options, write};
use crate::cases::Case;
use crate::kernels::Outcome;
use livefusion::Engine;
use livefusion::runtime::virtual_time::{Machine, Spent, now, simulate, spent};
use livefusion_c::CBackend;
use std::path::PathBuf;
use std::sync::Arc;

/// Numbers of simulated cores.
const CORES: [usize; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// Calls of which the median counts, after one more.
const CALLS: usize = 3;

/// Describes a call on some cores.
#[derive(Clone, Copy)]
struct Simulated {
    cores: usize,
    time: u64,
    spent: Spent,
}

/// The machine of the tables, which `NAME=VALUE` changes.
fn machine(changes: &[String]) -> Outcome<Machine> {
    let mut machine = Machine {
        lock: 60,
        lock_moved: 250,
        spin: 4000,
        poll: 100,
        wake: 30_000,
        call: 2000,
        bandwidth: 100.0,
        copying: 10.0,
        cores_per_memory: 32,
        jitter: 0.05,
        seed: 1,
    };
    for change in changes {
        let wrong = || format!("`{change}` is no NAME=VALUE of a machine");
        let (name, value) = change.split_once('=').ok_or_else(wrong)?;
        let value: f64 = value.parse().map_err(|_| wrong())?;
        match name {
            "lock" => machine.lock = value as u64,
            "lock_moved" => machine.lock_moved = value as u64,
            "spin" => machine.spin = value as u64,
            "poll" => machine.poll = value as u64,
            "wake" => machine.wake = value as u64,
            "call" => machine.call = value as u64,
            "bandwidth" => machine.bandwidth = value,
            "copying" => machine.copying = value,
            "cores_per_memory" => machine.cores_per_memory = (value as usize).max(1),
            "jitter" => machine.jitter = value,
            "seed" => machine.seed = value as u64,
            _ => return Err(wrong()),
        }
    }
    Ok(machine)
}

/// A case, its elements, and a call on each number of cores.
type Row = (&'static str, usize, Vec<Simulated>);

/// Simulates the cases, and prints the tables.
pub fn cores(options: &Options) -> Outcome<()> {
    let machine = machine(&options.machine)?;
    let read = |file: &PathBuf| {
        std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))
    };
    let known = options.chunks.as_ref().map(read).transpose()?;
    let (mut lines, mut rows) = (String::new(), Vec::new());
    for case in options.cases()? {
        let n = options.elements(case);
        let times = match &known {
            Some(text) => ChunkTimes::read(text, case.name)?,
            None => measured(case, n)?,
        };
        lines += &times.lines(case.name);
        rows.push((case.name, n, row(case, n, &Arc::new(times), &machine)?));
    }
    if let Some(file) = &options.save {
        write(file, &lines)?;
    }
    println!("{machine:?}\n\n{}", tables(&rows));
    if let Some(file) = &options.measured {
        println!("{}", comparison(&read(file)?, &rows));
    }
    Ok(())
}

fn failed(e: livefusion::Error) -> String {
    e.to_string()
}

/// Measures the chunks of a case on one thread.
fn measured(case: &'static Case, n: usize) -> Outcome<ChunkTimes> {
    let input = (case.input)(n);
    let times = simulate(machine(&[])?, move || {
        let backend = Arc::new(TimedBackend::new(Arc::new(CBackend::new()), Mode::Measure));
        let engine = Engine::builder()
            .backend(backend.clone())
            .threads(1)
            .build();
        let ours = (case.ours)(&engine, &input).map_err(failed)?;
        (ours.run)().map_err(failed)?;
        // Memory is touched now.
        backend.forget();
        for _ in 0..CALLS {
            (ours.run)().map_err(failed)?;
        }
        Ok(backend.times())
    });
    times.ok_or("the simulation stopped")?
}

/// Simulates a case on each number of cores.
fn row(
    case: &'static Case,
    n: usize,
    times: &Arc<ChunkTimes>,
    machine: &Machine,
) -> Outcome<Vec<Simulated>> {
    let input = (case.input)(n);
    let one = |cores: usize| {
        let (input, times) = (input.clone(), times.clone());
        let calls = simulate(machine.clone(), move || {
            let backend = TimedBackend::new(Arc::new(CBackend::new()), Mode::Spend(times.clone()));
            let engine = Engine::builder()
                .backend(Arc::new(backend))
                .threads(cores)
                .build();
            let ours = (case.ours)(&engine, &input).map_err(failed)?;
            (ours.run)().map_err(failed)?;
            let mut calls = Vec::new();
            for _ in 0..CALLS {
                let (start, before) = (now(), spent());
                (ours.run)().map_err(failed)?;
                calls.push(Simulated {
                    cores,
                    time: now() - start,
                    spent: since(before, spent()),
                });
            }
            Ok::<_, String>(calls)
        });
        let mut calls = calls.ok_or("the simulation stopped")??;
        calls.sort_by_key(|call| call.time);
        Ok(calls[CALLS / 2])
    };
    CORES.into_iter().map(one).collect()
}

fn since(before: Spent, after: Spent) -> Spent {
    Spent {
        computing: after.computing - before.computing,
        locks: after.locks - before.locks,
        waits: after.waits - before.waits,
        memory: after.memory - before.memory,
    }
}

/// Writes speed-ups, times, and where they go.
fn tables(rows: &[Row]) -> String {
    let head = |first: &str| {
        let columns: String = CORES.iter().map(|c| format!(" {c} |")).collect();
        format!(
            "| {first} |{columns}\n| --- |{}\n",
            " --: |".repeat(CORES.len())
        )
    };
    let table = |first: &str, cell: &dyn Fn(usize, Simulated, Simulated) -> String| {
        let line = |(name, n, cells): &Row| {
            let cells: String = cells
                .iter()
                .map(|c| format!(" {} |", cell(*n, cells[0], *c)))
                .collect();
            format!("| {name} |{cells}\n")
        };
        format!(
            "{}{}\n",
            head(first),
            rows.iter().map(line).collect::<String>()
        )
    };
    let speedups = table("speed-up", &|_, one, c| {
        format!("{:.1}", one.time as f64 / c.time as f64)
    });
    let times = table("ns/element", &|n, _, c| {
        format!("{:.3}", c.time as f64 / n as f64)
    });
    let shares = table("computing, locks, waits, memory, %", &|_, _, c| {
        let all = (c.time * c.cores as u64) as f64;
        let share = |time: u64| format!("{:.0}", 100.0 * time as f64 / all);
        let Spent {
            computing,
            locks,
            waits,
            memory,
        } = c.spent;
        [computing, locks, waits, memory].map(share).join(" ")
    });
    speedups + &times + &shares
}

/// Compares calls with measured ones.
fn comparison(measured: &str, rows: &[Row]) -> String {
    let line = |text: &str| {
        let mut words = text.split_whitespace();
        let name = words.next()?;
        let cores: usize = words.next()?.parse().ok()?;
        let measured: f64 = words.next()?.parse().ok()?;
        let (_, n, calls) = rows.iter().find(|row| row.0 == name)?;
        let call = calls.iter().find(|call| call.cores == cores)?;
        let simulated = call.time as f64 / *n as f64;
        let off = 100.0 * (simulated / measured - 1.0);
        Some(format!(
            "| {name} | {cores} | {measured:.3} | {simulated:.3} | {off:+.0}% |\n"
        ))
    };
    let lines: String = measured.lines().filter_map(line).collect();
    let head =
        "| ns/element | cores | measured | simulated | off |\n| --- | --: | --: | --: | --: |\n";
    format!("{head}{lines}")
}
