//! Kernels: arguments, passes over spans, outcomes.

use crate::buffer::{Buffer, View};
use crate::frame::Frame;
use loop_lang::ir::{Atom, CHUNK, CombId, Loop, ParamKind, TrapId, TrapKind};
use loop_lang::state::Layout;
use loop_lang::types::{Const, Ty, canonical};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// Something that turns loops into kernels.
pub trait Backend: Send + Sync {
    /// Short name: `interp`, `c`.
    fn name(&self) -> &'static str;
    /// Compiles a verified loop. Backends verify again what they cannot do without, so that no loop,
    /// however made, can cause undefined behaviour.
    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError>;
    /// Compiles the loops of a program, several at a time where that is sooner done.
    fn compile_all(&self, programs: &[&Loop]) -> Vec<Result<Arc<dyn Kernel>, CompileError>> {
        programs.iter().map(|p| self.compile(p)).collect()
    }
    /// Writes the source of a loop, where the backend makes code from text.
    fn source(&self, _: &Loop) -> Option<String> {
        None
    }
    /// Tells why its loops run without C, where they could have it.
    fn fallback(&self) -> Option<&str> {
        None
    }
    /// What became of the files that it compiled; nothing for backends that compile in memory.
    fn disk_use(&self) -> DiskUse {
        DiskUse::default()
    }
    /// How often its tiers ran loops, where there are several.
    fn tier_runs(&self) -> TierRuns {
        TierRuns::default()
    }
}

/// Spans of loops by the tier that ran them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TierRuns {
    /// Interpreted.
    pub interp: u64,
    /// On the embedded compiler's code.
    pub jit: u64,
    /// On the C compiler's.
    pub c: u64,
}

/// How often a backend with a cache on disk found there what it needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DiskUse {
    /// Files that were there.
    pub hits: u64,
    /// Entries that were damaged, or that somebody else can have written; they are made anew.
    pub refused: u64,
    /// Files that were compiled.
    pub compiled: u64,
    /// Files that the compiler refused, or did not finish within its limits.
    pub failed: u64,
}

/// A compiled loop.
pub trait Kernel: Send + Sync {
    /// How this kernel's frames are laid out.
    fn layout(&self) -> &Layout;
    /// Runs one pass over one span: from the frame's position, for at most `steps` steps (admitted
    /// iterations of loop rates). A fresh frame starts with `init`. Pass `u64::MAX` to run to the end.
    ///
    /// Where all elements of an array are written at one carried variable
    /// ([`appended`](loop_lang::chunkable::appended)), by an innermost loop or a filter, elements from that
    /// variable on may be written as well, as far as the array goes.
    ///
    /// Arrays that the frame was [lent](Frame::lend) stay where they are, and so are no results.
    ///
    /// In a summary pass nothing is written, only groups up to the level are updated, and the loop's
    /// last block (`done` of the last root) is not run.
    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome;
    /// Steps after which local parts are joined.
    fn chunk(&self) -> u64 {
        CHUNK
    }
    /// Compiles a pass that `run` would otherwise compile when it first comes to it.
    ///
    /// Errors: the compiler's.
    fn prepare(&self, _pass: Pass) -> Result<(), CompileError> {
        Ok(())
    }
    /// Whether it takes arrays wherever they are, [`Arg::Far`], and its own may be far. Such kernels run a loop as a whole.
    fn takes_far(&self) -> bool {
        false
    }
    /// What runs it now, in words, where that changes.
    fn tier(&self) -> Option<Cow<'static, str>> {
        None
    }
    /// What it is scheduled as, in the text form of schedules, where that is not found out of the loop alone.
    fn schedule(&self) -> Option<&str> {
        None
    }
    /// Generated source, where there is one.
    fn source(&self) -> Option<&str> {
        None
    }
}

/// Which form of the loop runs.
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

/// An argument, in the order of the loop's parameters.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// A scalar.
    Scalar(Const),
    /// An array that is here.
    Array(View<'a>),
    /// An array wherever it is, for kernels that [take such](Kernel::takes_far).
    Far(&'a Buffer),
}

/// A result, in the order of the loop's `return`.
#[derive(Debug)]
pub enum Value {
    /// A scalar.
    Scalar(Const),
    /// An array.
    Array(Buffer),
}

/// How a span ended.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The loop ran to its end; results are in the frame.
    Done,
    /// The steps are used up; the frame says where it stands.
    Paused,
    /// A root's loop was left in this span other than through its guard (an early exit); results are
    /// in the frame.
    Exited,
    /// It trapped. Kernels that only know *that* it trapped give no report; the interpreter replays.
    Trapped(Option<TrapReport>),
    /// An allocation would pass the memory limit (or failed).
    NoMemory {
        /// The combinator whose result did not fit.
        comb: CombId,
        /// Bytes asked for.
        bytes: u64,
    },
    /// The arguments do not fit the loop's parameters, or the frame is not this kernel's.
    BadArgs(String),
}

/// A trap, as the interpreter finds it.
#[derive(Clone, PartialEq, Debug)]
pub struct TrapReport {
    /// Which trap of the loop.
    pub trap: TrapId,
    /// The combinator at fault.
    pub comb: CombId,
    /// What went wrong.
    pub kind: TrapKind,
    /// (got, expected), as far as the kind has them.
    pub payload: Vec<Const>,
    /// Steps begun when it happened, the one that trapped included: 0 in `init`, 1 in the first
    /// iteration.
    pub steps: u64,
}

/// Why a loop could not be compiled.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CompileError {
    /// The loop is not well formed; all faults, one a line.
    #[error("the loop is not well formed:\n{0}")]
    Malformed(String),
    /// A schedule that was asked for is not one of the loop, or would not keep its meaning.
    #[error("the schedule of {program} is refused: {why}")]
    Schedule {
        /// The loop's name.
        program: String,
        /// Each decision that is, with the rule that it breaks.
        why: String,
    },
    /// The backend cannot work on this machine.
    #[error("the {backend} backend cannot be used here: {why}")]
    Unavailable {
        /// The backend's name.
        backend: &'static str,
        /// What is missing.
        why: String,
    },
    /// The compiler ran and failed.
    #[error("the compiler {compiler} failed:\n{stderr}")]
    Failed {
        /// The compiler's path.
        compiler: String,
        /// What it printed.
        stderr: String,
    },
    /// The compiler took longer than it may, and was ended.
    #[error("the compiler {compiler} did not end within {limit:?}")]
    TimedOut {
        /// The compiler's path.
        compiler: String,
        /// How long it was waited for.
        limit: Duration,
    },
}

impl CompileError {
    /// The error in one line: of what a compiler printed, the first line that speaks of an error.
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

/// The word of a literal or of a scalar parameter; 0 for other variables.
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
