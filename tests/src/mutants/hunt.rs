//! Many mutants, compared with the interpreter: no crash, panic or disagreement.

use super::{Mutated, Stock, arguments, careful, complete, tame::tame};
use crate::backends::Cut;
use crate::loops::{Argument, run};
use crate::rng::Rng;
use livefusion_backend::{Arg, Backend, Kernel, Outcome, Pass};
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;

use loop_lang::Loop;
use loop_lang::passes::PIPELINE;
use loop_lang::verify::verify;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The limit on steps of a mutant.
const STEPS: u64 = 3000;
/// The number of loops in one run of the C compiler.
const BATCH: usize = 48;

/// Counts texts and loops of a hunt.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Mutated texts.
    pub texts: usize,
    /// Of these, loops that verify. Each is optimised, and interpreted before and after.
    pub loops: usize,
    /// Of these, loops that ended by themselves.
    pub ended: usize,
    /// Of these, loops that trapped.
    pub trapped: usize,
    /// Loops that also ran on a compiled backend.
    pub compiled: usize,
    /// For each kind of mutation, its texts, and the loops among them that verify.
    kinds: Vec<(usize, usize)>,
}

impl Counts {
    /// Returns each kind of mutation by name, with its counts.
    ///
    /// The counts are the texts, and the loops among them that verify.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, usize, usize)> {
        let names = careful::EDITS.iter().map(|e| e.name).chain(["wild"]);
        names
            .zip(&self.kinds)
            .map(|(name, (texts, loops))| (name, *texts, *loops))
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts {
            texts,
            loops,
            ended,
            trapped,
            compiled,
            ..
        } = self;
        write!(
            f,
            "{texts} texts, {loops} loops verify, {ended} end ({trapped} of them in a trap), {compiled} compiled"
        )
    }
}

/// Holds a fault that a mutant revealed.
pub struct Found {
    /// The mutant's seed.
    pub seed: u64,
    /// The fault.
    pub why: String,
    /// The loop, or the rejected text.
    pub text: String,
}

/// A loop with its arguments.
struct Mutant {
    seed: u64,
    program: Loop,
    args: Vec<Argument>,
}

/// Holds the sources of mutants, the counts and the faults.
pub struct Hunt {
    stock: Stock,
    /// The counts.
    pub counts: Counts,
    /// The faults.
    pub found: Vec<Found>,
}

impl Default for Hunt {
    fn default() -> Hunt {
        Hunt {
            stock: Stock::new(),
            counts: Counts {
                kinds: vec![(0, 0); careful::EDITS.len() + 1],
                ..Counts::default()
            },
            found: Vec::new(),
        }
    }
}

/// Runs a task that must not panic.
fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let caught = catch_unwind(AssertUnwindSafe(work));
    caught.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()));
        Err(format!("a panic: {}", text.unwrap_or_default()))
    })
}

impl Hunt {
    /// Runs the mutants of these seeds one by one.
    ///
    /// With a backend, each runs on it too.
    pub fn run(&mut self, seeds: std::ops::Range<u64>, backend: Option<&dyn Backend>) {
        for seed in seeds {
            let Some(mutant) = self.mutant(seed) else {
                continue;
            };
            if let Some(backend) = backend {
                let kernel =
                    guarded(|| backend.compile(&mutant.program).map_err(|e| e.to_string()));
                self.compiled(&mutant, kernel);
            }
        }
    }

    /// Runs the mutants of these seeds on the C backend.
    ///
    /// One run of the compiler compiles many loops.
    pub fn run_c(&mut self, seeds: std::ops::Range<u64>, backend: &CBackend) {
        let mut batch = Vec::new();
        for seed in seeds {
            batch.extend(self.mutant(seed));
            if batch.len() == BATCH {
                self.batch(&batch, backend);
                batch.clear();
            }
        }
        self.batch(&batch, backend);
    }

    fn batch(&mut self, batch: &[Mutant], backend: &CBackend) {
        let programs: Vec<&Loop> = batch.iter().map(|m| &m.program).collect();
        let kernels = backend.compile_batch(&programs);
        let all = kernels.iter().all(Result::is_ok);
        for (mutant, kernel) in batch.iter().zip(kernels) {
            // A loop that the compiler rejects spoils its batch.
            let kernel = match all {
                true => kernel,
                false => backend.compile(&mutant.program),
            };
            self.compiled(mutant, kernel.map_err(|e| e.to_string()));
        }
    }

    fn report(&mut self, seed: u64, why: String, text: String) {
        self.found.push(Found { seed, why, text });
    }

    /// The loop of a seed, if its text verifies: optimised, and interpreted before and after.
    fn mutant(&mut self, seed: u64) -> Option<Mutant> {
        let mut rng = Rng::new(seed ^ 0x006d_7574_616e_7473);
        let Mutated { text, kinds } = self.stock.mutant(&mut rng);
        self.counts.texts += 1;
        kinds.iter().for_each(|k| self.counts.kinds[*k].0 += 1);
        let mut program = match guarded(|| Ok(complete(&text))) {
            Ok(program) => program?,
            Err(why) => {
                self.report(seed, why, text);
                return None;
            }
        };
        tame(&mut program);
        let args = arguments(&program, &mut rng);
        self.counts.loops += 1;
        kinds.iter().for_each(|k| self.counts.kinds[*k].1 += 1);
        match guarded(|| optimised(&program, &args)) {
            Ok((outcome, optimised)) => {
                let ended = !matches!(outcome, Outcome::Paused | Outcome::NoMemory { .. });
                self.counts.ended += usize::from(ended);
                self.counts.trapped += usize::from(matches!(outcome, Outcome::Trapped(_)));
                // Backends see both forms.
                let program = if rng.chance(50) { program } else { optimised };
                Some(Mutant {
                    seed,
                    program,
                    args,
                })
            }
            Err(why) => {
                self.report(seed, why, program.to_string());
                None
            }
        }
    }

    /// Compares a mutant's kernel with the interpreter.
    fn compiled(&mut self, mutant: &Mutant, kernel: Result<Arc<dyn Kernel>, String>) {
        self.counts.compiled += 1;
        let checked = kernel.and_then(|k| guarded(|| agrees(mutant, k)));
        if let Err(why) = checked {
            self.report(mutant.seed, why, mutant.program.to_string());
        }
    }
}

/// Runs each pass twice, and the optimised loop. It must verify after each pass, and end like the
/// original loop. Returns the original outcome and the optimised loop.
fn optimised(program: &Loop, args: &[Argument]) -> Result<(Outcome, Loop), String> {
    let args: Vec<Arg<'_>> = args.iter().map(Argument::arg).collect();
    let interpret = |program: &Loop| {
        let kernel = InterpBackend::new()
            .compile(program)
            .map_err(|e| e.to_string())?;
        Ok::<_, String>(run(&*kernel, Pass::Emit, STEPS, &args))
    };
    let before = interpret(program)?;
    if let Outcome::BadArgs(why) = &before.outcome {
        return Err(why.clone());
    }
    let mut changed = program.clone();
    for _ in 0..2 {
        for pass in PIPELINE {
            (pass.run)(&mut changed);
            if let Err(faults) = verify(&changed) {
                let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
                return Err(format!("after {}: {}", pass.name, faults.join("; ")));
            }
        }
    }
    let after = interpret(&changed)?;
    // Dead allocations may disappear.
    if !matches!(before.outcome, Outcome::NoMemory { .. })
        && let Some(why) = before.differs(&after)
    {
        return Err(format!("passes: {why}\n{changed}"));
    }
    Ok((before.outcome, changed))
}

/// Whether a kernel ends like the interpreter: in one span, in many spans, and alternating with it.
fn agrees(mutant: &Mutant, kernel: Arc<dyn Kernel>) -> Result<(), String> {
    let args: Vec<Arg<'_>> = mutant.args.iter().map(Argument::arg).collect();
    let interp = InterpBackend::new().compile(&mutant.program);
    let interp = interp.map_err(|e| e.to_string())?;
    let want = run(&*interp, Pass::Emit, STEPS, &args);
    let check = |how: &str, kernel: &dyn Kernel| {
        let got = run(kernel, Pass::Emit, STEPS, &args);
        match want.differs(&got) {
            Some(why) => Err(format!("{how}: {why}")),
            None => Ok(()),
        }
    };
    check("compiled", &*kernel)?;
    check("in spans", &Cut::new(vec![kernel.clone()], mutant.seed))?;
    check(
        "by turns",
        &Cut::new(vec![interp.clone(), kernel], mutant.seed),
    )
}

/// Runs a golden loop on kernels, and returns the faults.
pub fn golden_agrees(
    name: &str,
    program: &Loop,
    kernels: &[Arc<dyn Kernel>],
    seeds: u64,
) -> Vec<String> {
    let mut found = Vec::new();
    for seed in 0..seeds {
        let mutant = Mutant {
            seed,
            program: program.clone(),
            args: arguments(program, &mut Rng::new(seed)),
        };
        for kernel in kernels {
            if let Err(why) = agrees(&mutant, kernel.clone()) {
                found.push(format!("{name}, seed {seed}: {why}"));
            }
        }
    }
    found
}
