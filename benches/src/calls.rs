//! The cost of a call: instructions and time of small programs.
//!
//! Instructions are counted by `valgrind --tool=callgrind` in a second process, as the difference
//! of two numbers of repetitions. They are free of noise, but depend on the allocator and on the
//! processor features that valgrind knows.

use crate::kernels::Outcome;
use crate::measure::median;
use livefusion::prelude::*;
use livefusion::prepare::prepare_with;
use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

/// Names the subcommand that valgrind runs.
pub const REPEAT: &str = "repeat-call";
/// Elements of each array.
const ELEMENTS: usize = 8;
/// Calls before counting. The default engine has left its first tiers then.
const WARM: u64 = 100;
/// Calls that are counted.
const COUNTED: u64 = 1000;
/// Samples of the time, and calls in each.
const SAMPLES: (usize, u32) = (60, 1000);

/// One kind of call.
struct Call {
    name: &'static str,
    /// The instructions that it should take, if there is a goal.
    goal: Option<u64>,
    /// Prepares it; the result does it once.
    make: fn(&Engine) -> livefusion::Result<Run>,
}

type Run = Box<dyn FnMut()>;
type Column = Array<f64>;

fn values(from: f64) -> Vec<f64> {
    (0..ELEMENTS).map(|i| from + i as f64).collect()
}

fn columns() -> (Column, Column) {
    (Array::from(values(0.5)), Array::from(values(2.0)))
}

fn dot((x, y): (Column, Column)) -> Array<f64, Ix0> {
    (&x * &y).sum()
}

fn product((x, y): (Column, Column)) -> Column {
    &x * &y
}

/// Ten combinators with four results.
fn ten(x: &Column, y: &Column) -> (Column, Column, Array<f64, Ix0>, Array<f64, Ix0>) {
    let kept = x.zip_with(y, |a, b| a * b + 1.0).filter(|v| v.gt(2.0));
    let running = kept.scan(0.0, |a, b| a + b);
    let scaled = kept.map(|v| v * 0.5).map(|v| v - 1.0);
    let (sum, most) = (scaled.sum(), running.map(|v| v + 1.0).max());
    (running, scaled.map(|v| v + 3.0), sum, most.map(|v| v * 2.0))
}

/// Prepares a program and calls it.
fn called<O: Force + 'static>(
    engine: &Engine,
    f: fn((Column, Column)) -> O,
) -> livefusion::Result<Run> {
    let (program, inputs) = (prepare_with(engine, f)?, columns());
    Ok(Box::new(move || drop(black_box(program.call(&inputs)))))
}

const CALLS: &[Call] = &[
    Call {
        name: "prepared call, fold of two inputs",
        goal: Some(800),
        make: |engine| called(engine, dot),
    },
    Call {
        name: "prepared call, one array result",
        goal: Some(1200),
        make: |engine| called(engine, product),
    },
    Call {
        name: "the same into an old array",
        goal: Some(900),
        make: |engine| {
            let (program, inputs) = (prepare_with(engine, product)?, columns());
            let mut out = program.call(&inputs)?;
            Ok(Box::new(move || {
                drop(black_box(program.call_into(&inputs, &mut out)));
            }))
        },
    },
    Call {
        name: "two combinators, built and forced",
        goal: Some(4000),
        make: |engine| {
            let (engine, inputs) = (engine.clone(), columns());
            Ok(Box::new(move || {
                drop(black_box(dot(inputs.clone()).force_with(&engine)));
            }))
        },
    },
    Call {
        name: "ten combinators, four results, built and forced",
        goal: Some(12_000),
        make: |engine| {
            let (engine, (x, y)) = (engine.clone(), columns());
            Ok(Box::new(move || {
                let (a, b, c, d) = ten(&x, &y);
                drop(black_box((&a, &b, &c, &d).force_with(&engine)));
            }))
        },
    },
    Call {
        name: "a step of iterate_n",
        goal: None,
        make: |engine| {
            let state = columns().0;
            // One call is a thousandth of a loop.
            let steps = prepare_with(engine, |x: Column| {
                iterate_n(1000, &x, |x| x.scan(0.0, |a, b| a + b).map(|v| v * 0.25))
            })?;
            let mut left = 0;
            Ok(Box::new(move || {
                if left == 0 {
                    drop(black_box(steps.call(&state)));
                    left = 1000;
                }
                left -= 1;
            }))
        },
    },
];

/// The first two calls by iterators and `ndarray`.
fn rivals() -> Vec<(&'static str, Run)> {
    let pair = || (values(0.5), values(2.0));
    let (a, b, c, d) = (pair(), pair(), pair(), pair());
    let d = (ndarray::Array1::from(d.0), ndarray::Array1::from(d.1));
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let behind: fn(&[f64], &[f64]) -> f64 = dot;
    vec![
        (
            "fold by iterators",
            Box::new(move || {
                black_box(dot(black_box(&a.0), black_box(&a.1)));
            }),
        ),
        (
            "fold by a loop behind a pointer",
            Box::new(move || {
                black_box(black_box(behind)(black_box(&b.0), black_box(&b.1)));
            }),
        ),
        (
            "array by iterators",
            Box::new(move || {
                let both = black_box(&c.0).iter().zip(black_box(&c.1));
                drop(black_box(both.map(|(x, y)| x * y).collect::<Vec<_>>()));
            }),
        ),
        (
            "array by ndarray",
            Box::new(move || {
                drop(black_box(black_box(&d.0) * black_box(&d.1)));
            }),
        ),
    ]
}

/// Prints a table of all calls.
///
/// Without valgrind it has times only.
pub fn calls() -> Outcome<()> {
    println!("| call, {ELEMENTS} elements | instructions | goal | jit, ns | default, ns |");
    println!("| --- | --- | --- | --- | --- |");
    for (at, call) in CALLS.iter().enumerate() {
        let counted = instructions(at).map_or_else(|_| "-".to_string(), |n| n.to_string());
        let goal = call.goal.map_or_else(String::new, |n| n.to_string());
        let [jit, tiered] = [Engine::jit(), Engine::builder().build()].map(|engine| {
            (call.make)(&engine)
                .map(|mut run| nanoseconds(&mut run))
                .map_err(|e| e.to_string())
        });
        println!(
            "| {} | {counted} | {goal} | {:.0} | {:.0} |",
            call.name, jit?, tiered?
        );
    }
    for (name, mut run) in rivals() {
        println!("| {name} |  |  | {:.0} |  |", nanoseconds(&mut run));
    }
    let engine = Engine::jit();
    let rates = [1, CROWD].map(|threads| forces_per_second(&engine, threads));
    let [one, all] = rates;
    println!(
        "\n{CROWD} threads force {all:.0} programs of two combinators a second, one thread {one:.0}: {:.2} times.",
        all / one
    );
    Ok(())
}

/// Threads that force programs at the same time.
const CROWD: usize = 64;

/// Counts the programs of two combinators that threads force on one engine in a second.
///
/// Each thread has its own arrays. The best of five rounds counts.
fn forces_per_second(engine: &Engine, threads: usize) -> f64 {
    let round = || {
        let start = Instant::now();
        let total: u64 = std::thread::scope(|scope| {
            let worker = || {
                let inputs = columns();
                let mut forces = 0;
                while start.elapsed() < ROUND {
                    for _ in 0..BETWEEN_LOOKS {
                        drop(black_box(dot(inputs.clone()).force_with(engine)));
                    }
                    forces += BETWEEN_LOOKS;
                }
                forces
            };
            let all: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
            all.into_iter().filter_map(|t| t.join().ok()).sum()
        });
        total as f64 / start.elapsed().as_secs_f64()
    };
    (0..5).map(|_| round()).fold(0.0, f64::max)
}

/// The time of a round.
const ROUND: std::time::Duration = std::time::Duration::from_millis(500);
/// Forces between two looks at the clock.
const BETWEEN_LOOKS: u64 = 100;

/// Runs a call of the embedded compiler this many times, for valgrind.
pub fn repeat(at: usize, times: u64) -> Outcome<()> {
    let call = CALLS.get(at).ok_or("no such call")?;
    let mut run = (call.make)(&Engine::jit()).map_err(|e| e.to_string())?;
    (0..times).for_each(|_| run());
    Ok(())
}

/// Counts the instructions of one call.
fn instructions(at: usize) -> Outcome<u64> {
    let [few, many] = [WARM, WARM + COUNTED].map(|times| total(at, times));
    Ok(many?.saturating_sub(few?) / COUNTED)
}

fn total(at: usize, times: u64) -> Outcome<u64> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command
        .arg(program)
        .args([REPEAT, &at.to_string(), &times.to_string()]);
    let done = command.output().map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&done.stderr);
    let count = said.lines().find_map(|line| line.split_once("Collected :"));
    let count = count.and_then(|(_, n)| n.trim().parse().ok());
    count.ok_or_else(|| format!("valgrind counted nothing: {said}"))
}

/// Times one call.
fn nanoseconds(run: &mut Run) -> f64 {
    let (samples, calls) = SAMPLES;
    (0..WARM).for_each(|_| run());
    let sample = |_| {
        let start = Instant::now();
        (0..calls).for_each(|_| run());
        start.elapsed().as_nanos() as f64 / f64::from(calls)
    };
    median(&(0..samples).map(sample).collect::<Vec<_>>())
}
