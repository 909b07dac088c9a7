//! Wrapping backends: kernels split into spans, and precompiled kernels.

use crate::program::Program;
use crate::rng::Rng;
use crate::threads;
use livefusion::Engine;
use livefusion_backend::{Arg, Backend, CompileError, Frame, Kernel, Outcome, Pass};
use livefusion_c::CBackend;
use loop_lang::Loop;
use loop_lang::state::Layout;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Returns whether C code runs under sanitizers, as `cargo xtask sanitize` requests.
pub fn is_sanitized() -> bool {
    std::env::var_os("LIVEFUSION_TEST_SANITIZED").is_some()
}

/// Returns the C backend, as the environment configures it.
pub fn c() -> CBackend {
    match is_sanitized() {
        true => CBackend::new().sanitized(),
        false => CBackend::new(),
    }
}

/// Wraps backends with kernels that run in spans.
///
/// Spans end at random guards, and each runs on one of the backends.
pub struct Spans {
    backends: Vec<Arc<dyn Backend>>,
    seed: u64,
}

impl Spans {
    /// Creates a backend that runs spans on these backends in turn.
    pub fn new(backends: Vec<Arc<dyn Backend>>, seed: u64) -> Spans {
        Spans { backends, seed }
    }
}

impl Backend for Spans {
    fn name(&self) -> &'static str {
        "spans"
    }
    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        let kernels = self.backends.iter().map(|b| b.compile(program));
        Ok(Arc::new(Cut::new(
            kernels.collect::<Result<_, _>>()?,
            self.seed,
        )))
    }
}

/// Runs a kernel span by span.
pub struct Cut {
    kernels: Vec<Arc<dyn Kernel>>,
    rng: Mutex<Rng>,
}

impl Cut {
    /// Creates a kernel with random spans.
    ///
    /// The given kernels belong to one loop and share frames.
    pub fn new(kernels: Vec<Arc<dyn Kernel>>, seed: u64) -> Cut {
        Cut {
            kernels,
            rng: Mutex::new(Rng::new(seed)),
        }
    }
}

impl Kernel for Cut {
    fn layout(&self) -> &Layout {
        self.kernels[0].layout()
    }

    fn chunk(&self) -> u64 {
        self.kernels[0].chunk()
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left = steps;
        let mut longest = 4;
        loop {
            let span = rng.below(longest) as u64;
            let kernel = &self.kernels[rng.below(self.kernels.len())];
            let before = frame.words[1];
            let most = span.min(left);
            let outcome = kernel.run(pass, most, frame, args);
            let taken = frame.words[1] - before;
            assert!(taken <= most, "{taken} steps in a span of {most}");
            left -= taken;
            if outcome != Outcome::Paused || left == 0 {
                return outcome;
            }
            // Long loops need not take thousands of spans.
            longest += longest / 8 + 1;
        }
    }
}

/// Holds C kernels of precompiled loops by their text.
///
/// Loops that only a run reveals, such as loops after external functions, are compiled on demand.
pub struct Known {
    backend: CBackend,
    kernels: HashMap<String, Result<Arc<dyn Kernel>, CompileError>>,
}

impl Known {
    /// Compiles the loops of some programs.
    pub fn of<'a>(backend: CBackend, programs: impl IntoIterator<Item = &'a Program>) -> Known {
        let engine = Engine::interp();
        let loops: Vec<Loop> = programs
            .into_iter()
            .flat_map(|p| loops_of(p, &engine).unwrap_or_default())
            .collect();
        Known::each(backend, &loops)
    }

    /// Compiles loops in few runs of the C compiler.
    ///
    /// Returns an error if one of them cannot be compiled.
    pub fn compile(backend: CBackend, programs: &[Loop]) -> Result<Known, CompileError> {
        let known = Known::each(backend, programs);
        let failed = known.kernels.values().find_map(|k| k.as_ref().err());
        failed.cloned().map_or(Ok(known), Err)
    }

    /// Compiles as many loops as possible. If the compiler rejects a file, each of its loops is
    /// compiled alone, so that only the faulty ones fail.
    fn each(backend: CBackend, programs: &[Loop]) -> Known {
        let mut by_text: HashMap<String, &Loop> = HashMap::new();
        for p in programs {
            by_text.insert(p.to_string(), p);
        }
        let mut texts: Vec<(String, &Loop)> = by_text.into_iter().collect();
        texts.sort_by(|a, b| a.0.cmp(&b.0));
        let batches: Vec<&[(String, &Loop)]> = texts.chunks(BATCH).collect();
        let compile = |batch: &&[(String, &Loop)]| {
            let loops: Vec<&Loop> = batch.iter().map(|(_, l)| *l).collect();
            let kernels = backend.compile_batch(&loops).into_iter().zip(*batch);
            let kernels = kernels.map(|(kernel, (text, l))| {
                let alone = |_| backend.compile(l);
                (text.clone(), kernel.or_else(alone))
            });
            kernels.collect::<Vec<_>>()
        };
        let compiled = threads::map(&batches, compile);
        let kernels = compiled.into_iter().flatten().collect();
        Known { backend, kernels }
    }

    /// Returns the number of its loops.
    pub fn len(&self) -> usize {
        self.kernels.len()
    }

    /// Returns whether it has no loops.
    pub fn is_empty(&self) -> bool {
        self.kernels.is_empty()
    }
}

/// The loops of a program, including those before external functions.
fn loops_of(p: &Program, engine: &Engine) -> Result<Vec<Loop>, String> {
    let explain = || {
        let explained = engine.explain(&p.build().roots);
        explained.map_err(|e| e.to_string())
    };
    let explained = crate::check::caught(explain)?;
    let (mut left, mut all) = (vec![&explained], Vec::new());
    while let Some(explained) = left.pop() {
        let loops = explained.loops.iter();
        all.extend(loops.flat_map(|l| [Some(l.program.clone()), l.sizing.clone()]));
        left.extend(explained.apart.iter().flat_map(|apart| apart.parts()));
    }
    Ok(all.into_iter().flatten().collect())
}

/// The number of loops in a file for the C compiler.
const BATCH: usize = 64;

impl Backend for Known {
    fn name(&self) -> &'static str {
        "known"
    }
    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        let known = self.kernels.get(&program.to_string()).cloned();
        known.unwrap_or_else(|| self.backend.compile(program))
    }
}
