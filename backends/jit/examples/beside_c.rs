//! Compares Cranelift's code with our C for 128-bit vectors, loop by loop.
//!
//! Usage: `cargo run --release -p livefusion-jit --example beside_c -- [--schedules FILE]
//! [FILE...]`.
//!
//! A file holds a loop's text, as golden files do. The default is all golden loops. Both kernels
//! run alternately on the same 10,000 elements (segments of 20). The table shows the minimum of
//! many runs, in ns per step, and Cranelift's minimal compile time in microseconds. Loops that end
//! or trap early are skipped. Schedules say how Cranelift runs innermost loops
//! (`livefusion_tile::schedule::Schedules`). Other decisions are chosen.

use livefusion_backend::{Arg, Backend, Buffer, Frame, Kernel, Outcome, Pass};
use livefusion_c::CBackend;
use livefusion_jit::JitBackend;
use livefusion_tile::schedule::Schedules;
use livefusion_tile::target::Target;
use loop_lang::Loop;
use loop_lang::ir::{Param, ParamKind, RateId, RateKind, Type};
use loop_lang::types::{Const, Ty};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// Elements of each array.
const ELEMENTS: u64 = 10_000;
/// Elements of a segment, and of the rows of two-dimensional arrays.
const SEGMENT: u64 = 20;
/// The number of runs of each kernel, and of compilations.
const RUNS: usize = 60;
const COMPILATIONS: usize = 15;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let mut schedules = Schedules::default();
    if let Some(at) = words.iter().position(|w| w == "--schedules") {
        let file = words.get(at + 1).ok_or("which schedules?")?;
        let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
        schedules = Schedules::parse(&text).map_err(|e| format!("{file}: {e}"))?;
        words.drain(at..at + 2);
    }
    let target = Target::from_name("sse4.2").ok_or("there is no target of SSE4.2")?;
    let c = CBackend::new().with_target(target);
    let mut rows: Vec<Row> = Vec::new();
    for file in files(&words)? {
        let text =
            std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        if let Some(row) = complete(&text).and_then(|program| Row::of(&program, &schedules, &c)) {
            rows.push(row);
        }
    }
    rows.sort_by(|a, b| b.ratio().total_cmp(&a.ratio()));
    println!(
        "{:<22} {:>8} {:>8} {:>6} {:>8}",
        "loop", "jit", "C", "jit/C", "compile"
    );
    for row in &rows {
        let (jit, c) = row.runs;
        let (ratio, compile) = (row.ratio(), row.compile);
        println!(
            "{:<22} {jit:>8.3} {c:>8.3} {ratio:>6.2} {compile:>8.0}",
            row.name
        );
    }
    let logs = |of: fn(&Row) -> f64| rows.iter().map(|r| of(r).ln()).sum::<f64>();
    let mean = |sum: f64| (sum / rows.len().max(1) as f64).exp();
    let (ratio, compile) = (mean(logs(Row::ratio)), mean(logs(|r| r.compile)));
    println!(
        "{:<22} {:>8} {:>8} {ratio:>6.2} {compile:>8.0}",
        "mean", "", ""
    );
    Ok(())
}

/// Returns the named files, or all golden loops.
fn files(words: &[String]) -> Result<Vec<PathBuf>, String> {
    if !words.is_empty() {
        return Ok(words.iter().map(PathBuf::from).collect());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["loop-lang/tests/files/golden", "backends/c/tests/loops"] {
        let folder = root.join(folder);
        let entries =
            std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        files.extend(entries.flatten().map(|e| e.path()));
    }
    files.sort();
    Ok(files)
}

/// Parses the loop of a text. Returns `None` if it does not verify.
fn complete(text: &str) -> Option<Loop> {
    let mut program = loop_lang::parse::parse(text.split("\n# ----").next()?).ok()?;
    loop_lang::gotos::derive_gotos(&mut program);
    loop_lang::chunkable::raise_levels(&mut program);
    loop_lang::verify::verify(&program)
        .is_ok()
        .then_some(program)
}

/// The measurements of a loop.
struct Row {
    name: String,
    /// ns per step, of Cranelift's code and of C.
    runs: (f64, f64),
    /// Microseconds to compile.
    compile: f64,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.runs.0 / self.runs.1
    }

    fn of(program: &Loop, schedules: &Schedules, c: &CBackend) -> Option<Row> {
        let asked = schedules.of(program).ok()?;
        let compile = || match &asked {
            Some(schedule) => JitBackend::new().compile_under(program, schedule).ok(),
            None => JitBackend::new().compile(program).ok(),
        };
        let (jit, c) = (compile()?, c.compile(program).ok()?);
        // If a loop traps or ends early, other numbers may work.
        let numbers = [(0.25, SEGMENT), (-2.0, SEGMENT), (-2.0, 1)];
        let measured = numbers.into_iter().find_map(|number| {
            let data: Vec<Data> = (program.params.iter().enumerate())
                .map(|(k, p)| Data::of(program, p, number, k as u64))
                .collect();
            let args: Vec<Arg> = data.iter().map(Data::arg).collect();
            in_turn(&[&jit, &c], &args)
        });
        let (least, steps) = measured?;
        let mut microseconds = f64::MAX;
        for _ in 0..COMPILATIONS {
            let before = Instant::now();
            let kernel = compile()?;
            microseconds = microseconds.min(before.elapsed().as_secs_f64() * 1e6);
            drop(kernel);
        }
        let [jit, c] = least.map(|seconds| seconds * 1e9 / steps as f64);
        Some(Row {
            name: program.name.clone(),
            runs: (jit, c),
            compile: microseconds,
        })
    }
}

/// Returns the minimal seconds of each kernel's runs, and the steps of a run. Returns `None` if one
/// trapped or ended early.
fn in_turn(kernels: &[&Arc<dyn Kernel>; 2], args: &[Arg]) -> Option<([f64; 2], u64)> {
    let mut least = [f64::MAX; 2];
    let mut steps = 0;
    for _ in 0..RUNS {
        for (kernel, least) in kernels.iter().zip(&mut least) {
            let (time, taken) = time(kernel, args)?;
            if taken < ELEMENTS / 4 {
                return None;
            }
            (*least, steps) = (least.min(time), taken);
        }
    }
    Some((least, steps))
}

/// Returns a run's seconds and steps. Returns `None` if it trapped.
fn time(kernel: &Arc<dyn Kernel>, args: &[Arg]) -> Option<(f64, u64)> {
    let mut frame = Frame::new(kernel.layout());
    let before = Instant::now();
    let outcome = kernel.run(Pass::Emit, u64::MAX, &mut frame, args);
    let seconds = before.elapsed().as_secs_f64();
    let done = matches!(outcome, Outcome::Done | Outcome::Exited);
    done.then(|| (seconds, frame.words.get(1).copied().unwrap_or(0)))
}

/// An argument that owns its data.
enum Data {
    Scalar(Const),
    Array(Buffer),
}

impl Data {
    /// Makes an argument for a parameter: numbers of either sign, valid lengths and indices.
    fn of(program: &Loop, param: &Param, (float, int): (f64, u64), seed: u64) -> Data {
        let inner = |outer: Option<RateId>, uniform: bool| {
            program.rates.iter().any(|r| match &r.kind {
                RateKind::Nested {
                    parent,
                    uniform: is,
                    ..
                } => *is == uniform && outer.is_none_or(|o| o == *parent),
                _ => false,
            })
        };
        let streamed = match param.kind {
            ParamKind::Stream(rate) => Some(rate),
            _ => None,
        };
        let elements = match streamed.is_some() && inner(streamed, false) {
            true => ELEMENTS / SEGMENT,
            false => ELEMENTS,
        };
        let ty = match program.ty(param.var) {
            Type::Array(ty) => ty,
            Type::Scalar(ty) => {
                return Data::Scalar(match ty {
                    Ty::U64 if inner(None, true) => Const::new(ty, SEGMENT),
                    Ty::U64 if inner(None, false) => Const::new(ty, ELEMENTS / SEGMENT),
                    Ty::U64 => Const::new(ty, ELEMENTS),
                    Ty::F32 => Const::f32(float as f32),
                    Ty::F64 => Const::f64(float),
                    _ => Const::new(ty, int),
                });
            }
        };
        let mut state = seed;
        let mut word = || {
            state = state
                .wrapping_mul(0x5851_F42D_4C95_7F2D)
                .wrapping_add(0x1405_7B7E_F767_814F);
            let x = state >> 33;
            let signed = x as f64 / f64::from(1 << 30) - 1.0;
            match ty {
                Ty::Bool => x & 1,
                Ty::U64 if elements < ELEMENTS => SEGMENT,
                Ty::F32 => Const::f32(signed as f32).bits,
                Ty::F64 => Const::f64(signed).bits,
                _ => 2 + x % 100,
            }
        };
        let mut buffer = Buffer::zeroed(ty, elements as usize).unwrap_or(Buffer::empty(ty));
        (0..elements as usize).for_each(|i| {
            buffer.set_word(i, word());
        });
        Data::Array(buffer)
    }

    fn arg(&self) -> Arg<'_> {
        match self {
            Data::Scalar(c) => Arg::Scalar(*c),
            Data::Array(buffer) => Arg::Array(buffer.view()),
        }
    }
}
