//! A loop compiled by Cranelift.

use crate::code::{Code, Native};
use crate::emit;
use livefusion_backend::abi::Entry;
use livefusion_backend::compiled::{Compiled, Passes};
use livefusion_backend::{Arg, CompileError, Frame, Kernel, Outcome, Pass};
use livefusion_tile::schedule::Schedule;
use loop_lang::Loop;
use loop_lang::state::Layout;
use std::sync::OnceLock;

/// Holds a compiled loop with its code.
pub struct JitKernel {
    compiled: Compiled,
    passes: Passes<Forms>,
    native: &'static Native,
}

/// A pass in its two forms.
struct Forms {
    fast: Code,
    /// The state machine alone. It runs the part that the fast form leaves: reads beyond the end of
    /// an array shorter than the others. Such loops are rare, so it is compiled on first use.
    machine: OnceLock<Result<Code, CompileError>>,
}

impl Forms {
    fn of(fast: Code) -> Forms {
        Forms {
            fast,
            machine: OnceLock::new(),
        }
    }
}

impl JitKernel {
    /// Compiles the emit pass of a verified loop, under a schedule if given.
    pub fn new(
        program: Loop,
        schedule: Option<&Schedule>,
        native: &'static Native,
    ) -> Result<JitKernel, CompileError> {
        let layout = Layout::of(&program);
        let code = native.compile(&program, &layout, (false, true), schedule)?;
        let scratch_words = emit::scratch_words(&program);
        let passes = Passes::new(&program, Forms::of(code));
        let compiled = Compiled::new(program, layout, scratch_words);
        Ok(JitKernel {
            compiled: compiled.map_err(CompileError::Malformed)?,
            passes,
            native,
        })
    }

    fn pass(&self, pass: Pass) -> Result<&Forms, CompileError> {
        let summary = |level| {
            let code = self.compile(Pass::Summary { level }, true)?;
            Ok(Forms::of(code))
        };
        self.passes.get(pass, summary)
    }

    fn compile(&self, pass: Pass, fast: bool) -> Result<Code, CompileError> {
        let (program, layout) = (self.compiled.program(), self.compiled.layout());
        match pass {
            Pass::Emit => self.native.compile(program, layout, (false, fast), None),
            Pass::Summary { level } => {
                let summary = loop_lang::passes::summary(program, level);
                (self.native).compile(&summary, layout, (true, fast), None)
            }
        }
    }

    fn fast(&self, pass: Pass) -> Result<Entry, CompileError> {
        self.pass(pass).map(|forms| forms.fast.entry())
    }

    fn machine(&self, pass: Pass) -> Result<Entry, CompileError> {
        let machine = &self.pass(pass)?.machine;
        let code = machine.get_or_init(|| self.compile(pass, false));
        code.as_ref().map(Code::entry).map_err(Clone::clone)
    }
}

impl Kernel for JitKernel {
    fn layout(&self) -> &Layout {
        self.compiled.layout()
    }

    fn prepare(&self, pass: Pass) -> Result<(), CompileError> {
        self.pass(pass).map(|_| ())
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        let before = steps_taken(frame);
        let outcome = self.run_form(true, pass, steps, frame, args);
        let taken = steps_taken(frame).saturating_sub(before);
        if !matches!(outcome, Outcome::Paused) || taken >= steps {
            return outcome;
        }
        self.run_form(false, pass, steps - taken, frame, args)
    }
}

impl JitKernel {
    fn run_form(
        &self,
        fast: bool,
        pass: Pass,
        steps: u64,
        frame: &mut Frame<'_>,
        args: &[Arg<'_>],
    ) -> Outcome {
        let entry = || match fast {
            true => self.fast(pass),
            false => self.machine(pass),
        };
        // SAFETY: the code was compiled from this loop for this layout, lives as long as `self`,
        // and checks every access that is not proven inside of its array, for any arguments and
        // frame.
        unsafe { self.compiled.run(entry, pass, steps, frame, args) }
    }
}

fn steps_taken(frame: &Frame<'_>) -> u64 {
    frame.words.get(1).copied().unwrap_or(0)
}
