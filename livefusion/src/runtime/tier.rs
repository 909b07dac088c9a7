//! Tiers: the default engine's backend, which moves loops to faster code over time.
//!
//! All kernels of a loop share the layout of frames and give the same bits, so a run may change
//! tiers at any guard. Tiny runs are interpreted. Others run on code that Cranelift compiles in
//! about a millisecond. Long or frequent loops are compiled as C by one background thread, without
//! blocking any run. Runs in progress switch to C between spans; later runs start with it.

use livefusion_backend::process::PerProcess;
use livefusion_backend::{
    Arg, Backend, CompileError, DiskUse, Frame, Kernel, Outcome, Pass, TierRuns,
};
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;
use loop_lang::Loop;
use loop_lang::ir::{Atom, CHUNK, RateKind, StmtKind};
use loop_lang::state::Layout;
use loop_lang::walk;
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Runs of at most this many statements in total are interpreted. They take about as long as
/// Cranelift takes to compile a small loop.
const TINY: u64 = 4096;
/// A loop run more often than this is worth compiling with Cranelift, at any size.
const OFTEN: u64 = 3;
/// Runs of this many expected statements are worth a C compilation. They take some milliseconds.
const LONG: u64 = 1 << 24;
/// Loops whose runs took this many statements in total are worth it too.
const LONG_TOGETHER: u64 = 1 << 26;
/// Runs of this many expected statements, alone or together, are worth a look for C that an earlier
/// process compiled. It takes about a millisecond of the background thread.
const LOOK: u64 = 1 << 18;
/// Steps between checks whether the C is ready.
const SPAN: u64 = 64 * CHUNK;

/// Assumed trip count of a scalar loop.
const TURNS: u64 = 32;

/// Estimates the statements of a step, at least one.
fn weight(program: &Loop) -> u64 {
    let mut weight = 0;
    for stmt in program.blocks.iter().flat_map(|(_, b)| &b.stmts) {
        walk::each(stmt, &mut |s| {
            weight += match &s.kind {
                StmtKind::While { test, body, .. } => TURNS * (test.len() + body.len()) as u64,
                _ => 1,
            };
        });
    }
    weight.max(1)
}

/// Runs each loop on the interpreter, Cranelift or C.
pub struct Tiers(Arc<TierState>);

struct TierState {
    interp: InterpBackend,
    jit: JitBackend,
    c: Option<Arc<dyn Backend>>,
    /// Why there is no C.
    fallback: OnceLock<String>,
    /// Why the first rejected loop has no C.
    refused: OnceLock<String>,
    interp_runs: AtomicU64,
    jit_runs: AtomicU64,
    c_runs: AtomicU64,
}

impl Tiers {
    /// Creates tiers with this C backend as the last.
    pub fn new(c: Option<Arc<dyn Backend>>) -> Tiers {
        let fallback = OnceLock::new();
        if c.is_none() {
            fallback.get_or_init(|| "built without the feature `c`".to_string());
        }
        Tiers(Arc::new(TierState {
            interp: InterpBackend::new(),
            jit: JitBackend::new(),
            c,
            fallback,
            refused: OnceLock::new(),
            interp_runs: AtomicU64::new(0),
            jit_runs: AtomicU64::new(0),
            c_runs: AtomicU64::new(0),
        }))
    }
}

impl Backend for Tiers {
    fn name(&self) -> &'static str {
        "tiered"
    }

    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        // The interpreter verifies the loop and compiles fast.
        let interp = self.0.interp.compile(program)?;
        Ok(Arc::new(TierKernel(Arc::new(Slots {
            tiers: self.0.clone(),
            weight: weight(program),
            program: program.clone(),
            interp,
            jit: OnceLock::new(),
            c: OnceLock::new(),
            looked: AtomicBool::new(false),
            requested: AtomicBool::new(false),
            passes: Mutex::default(),
            runs: AtomicU64::new(0),
            work: AtomicU64::new(0),
        }))))
    }

    /// Returns the C of a loop, as used for long or frequent runs.
    fn source(&self, program: &Loop) -> Option<String> {
        self.0.c.as_ref()?.source(program)
    }

    fn fallback(&self) -> Option<&str> {
        let why = self.0.fallback.get().or(self.0.refused.get());
        why.map(String::as_str)
    }

    fn disk_use(&self) -> DiskUse {
        let c = self.0.c.as_ref();
        c.map(|c| c.disk_use()).unwrap_or_default()
    }

    fn tier_runs(&self) -> TierRuns {
        let count = |n: &AtomicU64| n.load(Ordering::Relaxed);
        TierRuns {
            interp: count(&self.0.interp_runs),
            jit: count(&self.0.jit_runs),
            c: count(&self.0.c_runs),
        }
    }
}

/// The tier of a span.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tier {
    Interp,
    Jit,
    C,
}

/// A loop with the kernels of its tiers compiled so far.
struct TierKernel(Arc<Slots>);

struct Slots {
    tiers: Arc<TierState>,
    program: Loop,
    /// Estimated statements of a step.
    weight: u64,
    interp: Arc<dyn Kernel>,
    /// An error if Cranelift rejects the loop.
    jit: OnceLock<Result<Arc<dyn Kernel>, CompileError>>,
    /// An error if C is unavailable or rejected the loop.
    c: OnceLock<Result<Arc<dyn Kernel>, CompileError>>,
    /// Whether C has been looked for on disk.
    looked: AtomicBool,
    /// Whether C has been requested.
    requested: AtomicBool,
    /// Passes to compile together with the C.
    passes: Mutex<Vec<Pass>>,
    runs: AtomicU64,
    /// Estimated statements of all runs.
    work: AtomicU64,
}

impl Slots {
    /// Returns Cranelift's kernel, compiled on first use.
    fn jit(&self) -> Option<&Arc<dyn Kernel>> {
        let made = self
            .jit
            .get_or_init(|| self.tiers.jit.compile(&self.program));
        made.as_ref().ok()
    }

    fn c(&self) -> Option<&Arc<dyn Kernel>> {
        self.c.get()?.as_ref().ok()
    }

    /// Returns the tier, kernel and length of the next span.
    ///
    /// `expected` is the estimated work of the whole run; `taken` is its steps so far.
    fn next(&self, expected: u64, taken: u64) -> (Tier, &Arc<dyn Kernel>, u64) {
        if let Some(c) = self.c() {
            return (Tier::C, c, u64::MAX);
        }
        let tiny = expected <= TINY && taken == 0 && self.runs.load(Ordering::Relaxed) <= OFTEN;
        if tiny {
            return (Tier::Interp, &self.interp, TINY / self.weight + 1);
        }
        match self.jit() {
            Some(jit) => (Tier::Jit, jit, SPAN),
            None => (Tier::Interp, &self.interp, SPAN),
        }
    }

    /// Estimates the statements of a run from its arguments.
    fn expected(&self, args: &[Arg<'_>]) -> u64 {
        let lengths = args.iter().map(|a| match a {
            Arg::Array(view) => view.len() as u64,
            Arg::Scalar(_) | Arg::Far(_) => 0,
        });
        let bounds = self.program.rates.iter().map(|rate| match rate.kind {
            RateKind::Root { bound, .. } => self.known(bound, args),
            _ => 0,
        });
        let steps = lengths.chain(bounds).max().unwrap_or(0);
        steps.saturating_mul(self.weight)
    }

    /// Returns the value of a literal or scalar parameter, and 0 for other atoms.
    fn known(&self, a: Atom, args: &[Arg<'_>]) -> u64 {
        let v = match a {
            Atom::Const(c) => return c.bits,
            Atom::Var(v) => v,
        };
        let position = self.program.params.iter().position(|p| p.var == v);
        match position.and_then(|i| args.get(i)) {
            Some(Arg::Scalar(c)) => c.bits,
            _ => 0,
        }
    }

    /// Counts a span.
    fn count(&self, tier: Tier, steps: u64) {
        let runs = match tier {
            Tier::Interp => &self.tiers.interp_runs,
            Tier::Jit => &self.tiers.jit_runs,
            Tier::C => &self.tiers.c_runs,
        };
        runs.fetch_add(1, Ordering::Relaxed);
        if tier != Tier::C {
            let work = steps.saturating_mul(self.weight);
            self.work.fetch_add(work, Ordering::Relaxed);
        }
    }

    /// Publishes the C that an earlier process compiled, if there is any.
    fn look_for_c(&self) {
        let before = self.tiers.c.as_ref();
        if let Some(kernel) = before.and_then(|c| c.compiled_before(&self.program)) {
            self.publish(Ok(kernel));
        }
    }

    /// Compiles the C and publishes it.
    fn compile_c(&self) {
        if let Some(c) = self.tiers.c.as_ref().filter(|_| self.c.get().is_none()) {
            self.publish(c.compile(&self.program));
        }
    }

    /// Publishes a kernel with the requested passes ready.
    fn publish(&self, compiled: Result<Arc<dyn Kernel>, CompileError>) {
        let compiled = compiled.and_then(|kernel| {
            let passes = self.passes.lock().unwrap_or_else(PoisonError::into_inner);
            let passes = passes.clone();
            passes.into_iter().try_for_each(|p| kernel.prepare(p))?;
            Ok(kernel)
        });
        let _ = match &compiled {
            Ok(_) => Ok(()),
            Err(CompileError::Unavailable { why, .. }) => self.tiers.fallback.set(why.clone()),
            Err(e) => self.tiers.refused.set(e.in_a_line()),
        };
        let _ = self.c.set(compiled);
    }
}

impl TierKernel {
    /// Requests C in the background, compiled before or now, if it is worth it.
    fn ask_for_c(&self, expected: u64) {
        let slots = &self.0;
        if slots.c.get().is_some() || slots.tiers.fallback.get().is_some() {
            return;
        }
        let work = slots.work.load(Ordering::Relaxed);
        let (asked, find): (_, fn(&Slots)) = match expected.max(work) {
            _ if expected >= LONG || work >= LONG_TOGETHER => (&slots.requested, Slots::compile_c),
            LOOK.. => (&slots.looked, Slots::look_for_c),
            _ => return,
        };
        if asked.swap(true, Ordering::Relaxed) {
            return;
        }
        let Some(compiler) = COMPILER.get_or_make(start_compiler) else {
            return;
        };
        let compiler = compiler.lock().unwrap_or_else(PoisonError::into_inner);
        // A kernel dropped meanwhile needs no C.
        let kernel = Arc::downgrade(slots);
        let _ = compiler.send(Box::new(move || {
            if let Some(slots) = kernel.upgrade() {
                find(&slots);
            }
        }));
    }
}

impl Kernel for TierKernel {
    fn layout(&self) -> &Layout {
        self.0.interp.layout()
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        let slots = &*self.0;
        slots.runs.fetch_add(1, Ordering::Relaxed);
        // One span of a long run. C is judged by the whole run.
        let whole = slots.expected(args);
        let expected = whole.min(steps.saturating_mul(slots.weight));
        let mut taken = 0;
        loop {
            self.ask_for_c(whole);
            let (tier, kernel, span) = slots.next(expected, taken);
            let before = step_count(frame);
            let outcome = kernel.run(pass, span.min(steps - taken), frame, args);
            let now = step_count(frame).saturating_sub(before);
            slots.count(tier, now);
            taken = taken.saturating_add(now);
            if outcome != Outcome::Paused || taken >= steps || now == 0 {
                return outcome;
            }
        }
    }

    fn prepare(&self, pass: Pass) -> Result<(), CompileError> {
        let slots = &*self.0;
        let mut passes = slots.passes.lock().unwrap_or_else(PoisonError::into_inner);
        if !passes.contains(&pass) {
            passes.push(pass);
        }
        drop(passes);
        match (slots.c(), slots.jit()) {
            (Some(kernel), _) | (None, Some(kernel)) => kernel.prepare(pass),
            (None, None) => slots.interp.prepare(pass),
        }
    }

    fn source(&self) -> Option<&str> {
        self.0.c()?.source()
    }

    fn tier(&self) -> Option<Cow<'static, str>> {
        let slots = &*self.0;
        let now = match slots.jit.get() {
            Some(Ok(_)) => "compiled by Cranelift",
            _ if slots.runs.load(Ordering::Relaxed) > 0 => "interpreted",
            _ => "not run yet",
        };
        let requested = slots.requested.load(Ordering::Relaxed);
        Some(match slots.c.get() {
            Some(Ok(_)) => "compiled as C".into(),
            Some(Err(e)) => format!("{now}, not as C: {}", e.in_a_line()).into(),
            None if requested => format!("{now}, C requested").into(),
            None => now.into(),
        })
    }
}

fn step_count(frame: &Frame<'_>) -> u64 {
    frame.words.get(1).copied().unwrap_or(0)
}

type Job = Box<dyn FnOnce() + Send>;

/// The background thread. It ends with the process, even during a compilation.
static COMPILER: PerProcess<Option<Mutex<Sender<Job>>>> = PerProcess::new();

/// Starts a thread that compiles until all senders are gone.
fn start_compiler() -> Option<Mutex<Sender<Job>>> {
    let (sender, jobs) = channel::<Job>();
    let thread = std::thread::Builder::new().name("livefusion compiler".into());
    let thread = thread.spawn(move || {
        for job in jobs {
            job();
        }
    });
    thread.ok().map(|_| Mutex::new(sender))
}
