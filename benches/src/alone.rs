//! Kernels alone: replays a call's kernel runs without the rest of it.
//!
//! A call binds arguments, makes frames, and returns results, which takes a few tenths of a
//! microsecond. Hand-written C has none of that. So a [watched](Watched) backend records each run
//! of its kernels, and [`Runs`] replays them.

use crate::data::Inputs;
use livefusion_backend::{Arg, Backend, Buffer, CompileError, Frame, Kernel, Outcome, Pass};
use loop_lang::Loop;
use loop_lang::state::Layout;
use loop_lang::types::Const;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

/// Wraps a backend and records the runs of its kernels.
pub struct Watched {
    inner: Arc<dyn Backend>,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    inputs: Inputs,
    runs: Mutex<Vec<Run>>,
}

/// A run from the start of a loop to its end.
struct Run {
    kernel: Arc<dyn Kernel>,
    pass: Pass,
    args: Vec<Kept>,
}

/// An argument that outlives its call.
enum Kept {
    Scalar(Const),
    Array(Buffer),
}

struct WatchedKernel {
    inner: Arc<dyn Kernel>,
    seen: Arc<Seen>,
}

/// Holds recorded runs.
pub struct Runs(Vec<Run>);

impl Watched {
    /// Wraps a backend.
    ///
    /// Arrays are copied to memory of the kind that inputs have.
    pub fn new(inner: Arc<dyn Backend>, inputs: Inputs) -> Watched {
        let seen = Seen {
            inputs,
            ..Seen::default()
        };
        Watched {
            inner,
            seen: Arc::new(seen),
        }
    }

    /// Returns the runs since the last call.
    pub fn runs(&self) -> Runs {
        let mut runs = self
            .seen
            .runs
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Runs(std::mem::take(&mut runs))
    }
}

impl Backend for Watched {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        Ok(Arc::new(WatchedKernel {
            inner: self.inner.compile(program)?,
            seen: self.seen.clone(),
        }))
    }
}

impl Kernel for WatchedKernel {
    fn layout(&self) -> &Layout {
        self.inner.layout()
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        // All words are zero: the loop has not begun.
        if frame.words.iter().all(|word| *word == 0) {
            self.seen.add(&self.inner, pass, args);
        }
        self.inner.run(pass, steps, frame, args)
    }

    fn chunk(&self) -> u64 {
        self.inner.chunk()
    }

    fn prepare(&self, pass: Pass) -> Result<(), CompileError> {
        self.inner.prepare(pass)
    }

    fn tier(&self) -> Option<Cow<'static, str>> {
        self.inner.tier()
    }

    fn source(&self) -> Option<&str> {
        self.inner.source()
    }
}

impl Seen {
    fn add(&self, kernel: &Arc<dyn Kernel>, pass: Pass, args: &[Arg<'_>]) {
        let keep = |arg: &Arg<'_>| match arg {
            Arg::Scalar(c) => Kept::Scalar(*c),
            Arg::Array(view) => Kept::Array(self.inputs.copy_of(*view)),
            Arg::Far(array) => Kept::Array(self.inputs.copy_of(array.view())),
        };
        let run = Run {
            kernel: kernel.clone(),
            pass,
            args: args.iter().map(keep).collect(),
        };
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.push(run);
    }
}

impl Runs {
    /// Returns a function that replays all runs, in frames that are made once.
    ///
    /// None if a run does not complete.
    pub fn again(&self) -> Option<impl FnMut() + '_> {
        let mut ready: Vec<Ready<'_>> = self.0.iter().map(Ready::of).collect();
        let ends = ready.iter_mut().all(Ready::run);
        (ends && !ready.is_empty()).then_some(move || {
            for run in &mut ready {
                run.run();
            }
        })
    }
}

/// A run with its frame.
struct Ready<'a> {
    run: &'a Run,
    args: Vec<Arg<'a>>,
    frame: Frame<'a>,
}

impl<'a> Ready<'a> {
    fn of(run: &'a Run) -> Ready<'a> {
        let arg = |kept: &'a Kept| match kept {
            Kept::Scalar(c) => Arg::Scalar(*c),
            Kept::Array(buffer) => Arg::Array(buffer.view()),
        };
        Ready {
            run,
            args: run.args.iter().map(arg).collect(),
            frame: Frame::new(run.kernel.layout()),
        }
    }

    /// Whether it completed. The memory of its results is reused.
    fn run(&mut self) -> bool {
        let frame = &mut self.frame;
        frame.words.fill(0);
        frame.arrays.fill_with(|| None);
        frame.results.clear();
        let outcome = self
            .run
            .kernel
            .run(self.run.pass, u64::MAX, frame, &self.args);
        matches!(outcome, Outcome::Done | Outcome::Exited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use livefusion::Engine;
    use livefusion_interp::InterpBackend;

    #[test]
    fn runs_are_written_down_and_done_again() {
        let watched = Arc::new(Watched::new(
            Arc::new(InterpBackend::new()),
            Inputs::Aligned,
        ));
        let engine = Engine::builder()
            .backend(watched.clone())
            .threads(1)
            .build();
        let xs = livefusion::Array::from(crate::uniform(100));
        assert!(watched.runs().again().is_none());
        let sum = crate::chain(&xs, 3).force_with(&engine);
        let runs = watched.runs();
        assert_eq!((runs.0.len(), sum.is_ok()), (1, true));
        let mut again = runs.again().expect("it ends");
        again();
        assert!(watched.runs().0.is_empty());
    }
}
