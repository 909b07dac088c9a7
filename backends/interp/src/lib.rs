//! The interpreter: it defines the Loop language and is the oracle of the tests.
//!
//! | module | contents |
//! | --- | --- |
//! | `compile` | compiles a [`Loop`] to flat instructions over 64-bit registers |
//! | `code` | the instructions |
//! | `machine` | the instruction loop; entry to and exit from a span |
//! | `rare` | instructions that run seldom: arrays, results |
//! | `groups` | lanes and blocks of carried groups |
//! | [`counts`] | counting mode |
//! | [`observe`] | reports of each step to an observer |

mod code;
mod compile;
pub mod counts;
mod groups;
mod machine;
pub mod observe;
mod rare;

use code::Code;
use compile::Mode;
pub use counts::Counts;
use livefusion_backend::kernel::check_args;
use livefusion_backend::{Arg, Backend, CompileError, Frame, Kernel, Outcome, Pass};
use loop_lang::Loop;
use loop_lang::ir::{CHUNK, Type};
use loop_lang::state::{DONE, Layout};
use loop_lang::verify::verify;
use machine::Machine;
use observe::Observer;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Compiles loops to [`InterpKernel`]s, in microseconds and without a C compiler.
#[derive(Clone)]
pub struct InterpBackend {
    counting: bool,
    chunk: u64,
    observer: Option<Arc<dyn Observer>>,
}

impl fmt::Debug for InterpBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InterpBackend {
            counting,
            chunk,
            observer,
        } = self;
        f.debug_struct("InterpBackend")
            .field("counting", counting)
            .field("chunk", chunk)
            .field("observed", &observer.is_some())
            .finish()
    }
}

impl Default for InterpBackend {
    fn default() -> Self {
        InterpBackend {
            counting: false,
            chunk: CHUNK,
            observer: None,
        }
    }
}

impl InterpBackend {
    /// Creates the interpreter.
    pub fn new() -> InterpBackend {
        InterpBackend::default()
    }

    /// Creates an interpreter whose kernels count accesses and evaluations.
    pub fn counting() -> InterpBackend {
        InterpBackend {
            counting: true,
            ..InterpBackend::default()
        }
    }

    /// Creates an interpreter with chunks of `steps` steps (at least one).
    ///
    /// Tests use it to reach chunk borders without long arrays. Sums of floats differ from the
    /// language's.
    pub fn with_chunk(steps: u64) -> InterpBackend {
        InterpBackend {
            chunk: steps.max(1),
            ..InterpBackend::default()
        }
    }

    /// Creates an interpreter that reports each step to an observer.
    ///
    /// Without an observer, kernels have no reporting instructions.
    pub fn observed(observer: Arc<dyn Observer>) -> InterpBackend {
        InterpBackend {
            observer: Some(observer),
            ..InterpBackend::default()
        }
    }

    /// Compiles as [`Backend::compile`] does, to the kernel's own type.
    pub fn compile_kernel(&self, program: &Loop) -> Result<InterpKernel, CompileError> {
        verify(program).map_err(|faults| {
            let lines: Vec<String> = faults
                .iter()
                .map(|f| format!("{}: {}", f.place, f.message))
                .collect();
            CompileError::Malformed(lines.join("\n"))
        })?;
        let layout = Layout::of(program);
        let mode = Mode {
            summary: false,
            counting: self.counting,
            observed: self.observer.is_some(),
        };
        let emit = compile::compile(program, &layout, mode).map_err(CompileError::Malformed)?;
        Ok(InterpKernel {
            program: program.clone(),
            layout,
            emit,
            counting: self.counting,
            chunk: self.chunk,
            observer: self.observer.clone(),
            summaries: Mutex::default(),
            counts: Mutex::default(),
        })
    }
}

impl Backend for InterpBackend {
    fn name(&self) -> &'static str {
        "interp"
    }

    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        Ok(Arc::new(self.compile_kernel(program)?))
    }
}

/// The summary form of a loop, and its code or the compile error.
struct Summary {
    program: Loop,
    code: Result<Code, String>,
}

/// Holds an interpreted loop.
pub struct InterpKernel {
    program: Loop,
    layout: Layout,
    emit: Code,
    counting: bool,
    chunk: u64,
    observer: Option<Arc<dyn Observer>>,
    /// By level, compiled on first use.
    summaries: Mutex<BTreeMap<u32, Arc<OnceLock<Summary>>>>,
    counts: Mutex<Counts>,
}

impl InterpKernel {
    /// Returns the counts of all runs so far, empty unless the backend counts.
    pub fn counts(&self) -> Counts {
        self.counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn summary(&self, level: u32) -> Arc<OnceLock<Summary>> {
        let mut summaries = self
            .summaries
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let cell = Arc::clone(summaries.entry(level).or_default());
        drop(summaries);
        cell.get_or_init(|| {
            let program = loop_lang::passes::summary(&self.program, level);
            let mode = Mode {
                summary: true,
                counting: self.counting,
                observed: false,
            };
            let code = compile::compile(&program, &self.layout, mode);
            Summary { program, code }
        });
        cell
    }

    /// Checks that a frame belongs to this kernel.
    fn check_frame(&self, frame: &Frame<'_>) -> Result<(), String> {
        if frame.words.len() != self.layout.words || frame.arrays.len() != self.layout.arrays.len()
        {
            return Err("the frame is not this kernel's".into());
        }
        let position = frame.words[0];
        if position != DONE && position > self.layout.resume.len() as u64 {
            return Err(format!("the frame's position {position} is no guard"));
        }
        for (buffer, v) in frame.arrays.iter().zip(&self.layout.arrays) {
            let want = self.program.ty(*v);
            if buffer.as_ref().is_some_and(|b| Type::Array(b.ty()) != want) {
                return Err(format!(
                    "the frame's array {} has another type",
                    self.program.name(*v)
                ));
            }
        }
        Ok(())
    }

    /// Continues from the guard of a rate that has no further step.
    ///
    /// It runs up to the next guard or the end. A caller that executed a root's steps by other
    /// means uses it to run the code between that root and the next.
    pub fn leave(&self, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        if let Err(fault) = check_args(&self.program, args).and_then(|()| self.check_frame(frame)) {
            return Outcome::BadArgs(fault);
        }
        self.run_machine(
            Machine::new(&self.program, &self.emit, frame, args, 0),
            true,
        )
    }

    fn run_code<'a>(
        &'a self,
        (program, code): (&'a Loop, &'a Code),
        steps: u64,
        frame: &mut Frame<'_>,
        args: &'a [Arg<'_>],
    ) -> Outcome {
        self.run_machine(Machine::new(program, code, frame, args, steps), false)
    }

    fn run_machine<'a>(&'a self, mut machine: Machine<'a, '_>, leaves: bool) -> Outcome {
        let code = machine.code;
        machine.leaves = leaves;
        machine.chunk = self.chunk;
        machine.observer = self.observer.as_deref();
        let outcome = machine.run();
        if self.counting {
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            counts.add(&code.counters, &machine.counts);
        }
        outcome
    }
}

impl Kernel for InterpKernel {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn chunk(&self) -> u64 {
        self.chunk
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        if let Err(fault) = check_args(&self.program, args).and_then(|()| self.check_frame(frame)) {
            return Outcome::BadArgs(fault);
        }
        match pass {
            Pass::Emit => self.run_code((&self.program, &self.emit), steps, frame, args),
            Pass::Summary { level } => match self.summary(level).get() {
                Some(Summary {
                    program,
                    code: Ok(code),
                }) => self.run_code((program, code), steps, frame, args),
                Some(Summary {
                    code: Err(fault), ..
                }) => Outcome::BadArgs(fault.clone()),
                None => Outcome::BadArgs("no summary".into()),
            },
        }
    }
}
