//! Kernels: arguments, passes over spans, outcomes.

use crate::buffer::{Buffer, View};
use crate::frame::Frame;
use loop_lang::ir::{Atom, CHUNK, CombId, Loop, ParamKind, RateId, TrapId, TrapKind};
use loop_lang::state::Layout;
use loop_lang::types::{Const, Ty, canonical};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// Compiles loops into kernels.
pub trait Backend: Send + Sync {
    /// Returns the short name: `interp`, `c`.
    fn name(&self) -> &'static str;
    /// Compiles a verified loop.
    ///
    /// Backends verify again the properties that their safety depends on. So no loop, however made,
    /// can cause undefined behaviour.
    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError>;
    /// Compiles the loops of a program, several at a time where that is faster.
    fn compile_all(&self, programs: &[&Loop]) -> Vec<Result<Arc<dyn Kernel>, CompileError>> {
        programs.iter().map(|p| self.compile(p)).collect()
    }
    /// Returns the kernel of a loop that an earlier process compiled.
    ///
    /// Nothing is compiled: `None` says that it is not at hand.
    fn compiled_before(&self, _: &Loop) -> Option<Arc<dyn Kernel>> {
        None
    }
    /// Returns the source of a loop, if the backend generates text.
    fn source(&self, _: &Loop) -> Option<String> {
        None
    }
    /// Returns the reason why loops run without C, if they could otherwise use it.
    fn fallback(&self) -> Option<&str> {
        None
    }
    /// Returns statistics of compiled files. They stay zero for backends that compile in memory.
    fn disk_use(&self) -> DiskUse {
        DiskUse::default()
    }
    /// Returns how often each tier ran loops, if there are several.
    fn tier_runs(&self) -> TierRuns {
        TierRuns::default()
    }
}

/// Counts spans of loops by the tier that ran them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TierRuns {
    /// Interpreted.
    pub interp: u64,
    /// Run as code of the embedded compiler.
    pub jit: u64,
    /// Run as code of the C compiler.
    pub c: u64,
}

/// Counts the uses of a backend's cache on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DiskUse {
    /// Files found in the cache.
    pub hits: u64,
    /// Entries refused because they are damaged or another user could have written them. They are
    /// rebuilt.
    pub refused: u64,
    /// Compiled files.
    pub compiled: u64,
    /// Files that the compiler rejected, or did not finish within its limits.
    pub failed: u64,
}

/// Runs one compiled loop.
pub trait Kernel: Send + Sync {
    /// Returns the layout of this kernel's frames.
    fn layout(&self) -> &Layout;
    /// Runs one pass over one span.
    ///
    /// The span begins at the frame's position and has at most `steps` steps (admitted iterations
    /// of loop rates). A fresh frame starts with `init`. Pass `u64::MAX` to run to the end.
    ///
    /// An array may have all elements written at one carried variable
    /// ([`appended`](loop_lang::chunkable::appended)), by an innermost loop or a filter. Then
    /// elements from that variable on, up to the array's end, may be overwritten as well.
    ///
    /// Arrays that the frame was [lent](Frame::lend) stay in place and are never results.
    ///
    /// A summary pass writes nothing and updates only groups up to the level. It does not run the
    /// loop's last block (`done` of the last root). At the end, the frame has the steps and the
    /// final words of counters and of these groups.
    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome;
    /// Returns the number of steps after which local parts are joined.
    fn chunk(&self) -> u64 {
        CHUNK
    }
    /// Compiles a pass that `run` would otherwise compile on first use.
    ///
    /// # Errors
    ///
    /// Returns the compiler's error.
    fn prepare(&self, _pass: Pass) -> Result<(), CompileError> {
        Ok(())
    }
    /// Returns whether the kernel takes arrays wherever they are, as [`Arg::Far`].
    ///
    /// Its own arrays may be far too. Such kernels run a loop as a whole.
    fn takes_far(&self) -> bool {
        false
    }
    /// Describes the tier that runs the kernel now, if tiers change.
    fn tier(&self) -> Option<Cow<'static, str>> {
        None
    }
    /// Returns the schedule in its text form, if it does not follow from the loop alone.
    fn schedule(&self) -> Option<&str> {
        None
    }
    /// Returns the generated source, if there is any.
    fn source(&self) -> Option<&str> {
        None
    }
}

/// Selects the form of the loop that runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pass {
    /// The loop itself.
    Emit,
    /// Without writes, for the carried groups up to a level.
    Summary {
        /// Groups of a higher level are not updated.
        level: u32,
    },
}

/// Holds an argument, in the order of the loop's parameters.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// A scalar.
    Scalar(Const),
    /// An array that is here.
    Array(View<'a>),
    /// An array that may be far, for kernels that [take such](Kernel::takes_far).
    Far(&'a Buffer),
}

/// Holds a result, in the order of the loop's `return`.
#[derive(Debug)]
pub enum Value {
    /// A scalar.
    Scalar(Const),
    /// An array.
    Array(Buffer),
}

/// Describes how a span ended.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The loop ran to its end. The results are in the frame.
    Done,
    /// The steps are used up. The frame holds the position.
    Paused,
    /// A root's loop was left in this span by an early exit, not by its guard. The results are in
    /// the frame.
    Exited,
    /// The loop trapped. Kernels without a report give `None`, and the interpreter replays the
    /// loop.
    Trapped(Option<TrapReport>),
    /// An allocation would exceed the memory limit, or failed.
    NoMemory {
        /// The combinator whose result did not fit.
        comb: CombId,
        /// The requested bytes.
        bytes: u64,
    },
    /// The arguments do not match the loop's parameters, or the frame belongs to another kernel.
    BadArgs(String),
}

/// Describes a trap, as the interpreter finds it.
#[derive(Clone, PartialEq, Debug)]
pub struct TrapReport {
    /// The trap's identifier in the loop.
    pub trap: TrapId,
    /// The combinator at fault.
    pub comb: CombId,
    /// The kind of failure.
    pub kind: TrapKind,
    /// (got, expected), as far as the kind has them.
    pub payload: Vec<Const>,
    /// Steps begun when it happened, including the trapping one: 0 in `init`, 1 in the first
    /// iteration.
    pub steps: u64,
    /// The loop rates around it, outermost first. Empty in `init` and behind the loop.
    pub nest: Vec<TrapNest>,
}

/// Describes a loop rate around a trap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrapNest {
    /// The rate.
    pub rate: RateId,
    /// Its counter.
    pub counter: u64,
    /// Its bound.
    pub bound: u64,
}

/// Lists the reasons why a loop could not be compiled.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CompileError {
    /// The loop is malformed. All faults are listed, one per line.
    #[error("the loop is not well formed:\n{0}")]
    Malformed(String),
    /// A requested schedule does not belong to the loop, or would change its meaning.
    #[error("the schedule of {program} is refused: {why}")]
    Schedule {
        /// The loop's name.
        program: String,
        /// Each refused decision, with the rule that it breaks.
        why: String,
    },
    /// The backend cannot work on this machine.
    #[error("the {backend} backend cannot be used here: {why}")]
    Unavailable {
        /// The backend's name.
        backend: &'static str,
        /// The missing part.
        why: String,
    },
    /// The compiler ran and failed.
    #[error("the compiler {compiler} failed:\n{stderr}")]
    Failed {
        /// The compiler's path.
        compiler: String,
        /// Its error output.
        stderr: String,
    },
    /// The compiler exceeded its time limit and was killed.
    #[error("the compiler {compiler} did not end within {limit:?}")]
    TimedOut {
        /// The compiler's path.
        compiler: String,
        /// The time limit.
        limit: Duration,
    },
}

impl CompileError {
    /// Returns the error in one line.
    ///
    /// For a compiler's output this is the first line that mentions an error.
    ///
    /// ```
    /// use livefusion_backend::CompileError;
    /// let stderr = "k.c: In function 'f':\nk.c:3:1: error: no\n  3 | f\n".into();
    /// let failed = CompileError::Failed { compiler: "cc".into(), stderr };
    /// assert_eq!(failed.in_a_line(), "the compiler cc failed: k.c:3:1: error: no");
    /// ```
    pub fn in_a_line(&self) -> String {
        let CompileError::Failed { compiler, stderr } = self else {
            return self.to_string().replace('\n', " ");
        };
        let mut lines = stderr.lines().filter(|l| !l.trim().is_empty());
        let first = lines.clone().next();
        let line = lines.find(|l| l.contains("error")).or(first);
        format!(
            "the compiler {compiler} failed: {}",
            line.unwrap_or_default()
        )
    }
}

/// Returns the word of a literal or of a scalar parameter.
///
/// Returns 0 for other variables.
pub fn known_word(program: &Loop, args: &[Arg<'_>], a: Atom) -> u64 {
    let v = match a {
        Atom::Const(c) => return c.bits,
        Atom::Var(v) => v,
    };
    let params = program.params.iter().zip(args);
    let mut scalars = params.filter(|(p, _)| p.kind == ParamKind::Scalar && p.var == v);
    match scalars.next() {
        Some((_, Arg::Scalar(c))) => c.bits,
        _ => 0,
    }
}

/// Checks arguments against a loop's parameters.
pub fn check_args(program: &Loop, args: &[Arg<'_>]) -> Result<(), String> {
    use loop_lang::ir::Type;
    if args.len() != program.params.len() {
        return Err(format!(
            "{} arguments for {} parameters",
            args.len(),
            program.params.len()
        ));
    }
    for (p, a) in program.params.iter().zip(args) {
        if let Arg::Scalar(c) = a
            && canonical(c.ty, c.bits) != c.bits
        {
            let name = program.name(p.var);
            return Err(format!("parameter {name}: {:#x} is no {}", c.bits, c.ty));
        }
        let (want, got) = (
            program.ty(p.var),
            match a {
                Arg::Scalar(c) => Type::Scalar(c.ty),
                Arg::Array(v) => Type::Array(v.ty()),
                Arg::Far(b) => Type::Array(b.ty()),
            },
        );
        if want != got {
            let show = |t: Type| match t {
                Type::Scalar(t) => t.name().to_string(),
                Type::Array(t) => format!("[{}]", Ty::name(t)),
            };
            return Err(format!(
                "parameter {} is {}, got {}",
                program.name(p.var),
                show(want),
                show(got)
            ));
        }
    }
    Ok(())
}
