//! A loop compiled by Cranelift.

use crate::code::{Code, Target};
use crate::emit;
use livefusion_backend::compiled::{Compiled, Passes};
use livefusion_backend::{Arg, CompileError, Frame, Kernel, Outcome, Pass};
use loop_lang::Loop;
use loop_lang::state::Layout;
use std::sync::Arc;

/// A compiled loop, with its code.
pub struct JitKernel {
    compiled: Compiled,
    passes: Passes<Code>,
    target: Arc<Target>,
}

impl JitKernel {
    /// Compiles the emit pass of a verified loop.
    pub fn new(program: Loop, target: Arc<Target>) -> Result<JitKernel, CompileError> {
        let layout = Layout::of(&program);
        let code = target.compile(&program, &layout, false)?;
        let scratch_words = emit::scratch_words(&program);
        let passes = Passes::new(&program, code);
        let compiled = Compiled::new(program, layout, scratch_words);
        Ok(JitKernel {
            compiled: compiled.map_err(CompileError::Malformed)?,
            passes,
            target,
        })
    }

    fn pass(&self, pass: Pass) -> Result<&Code, CompileError> {
        self.passes.get(pass, |level| self.compile_summary(level))
    }

    fn compile_summary(&self, level: u32) -> Result<Code, CompileError> {
        let summary = loop_lang::passes::summary(self.compiled.program(), level);
        self.target.compile(&summary, self.compiled.layout(), true)
    }
}

impl Kernel for JitKernel {
    fn layout(&self) -> &Layout {
        self.compiled.layout()
    }

    fn prepare(&self, pass: Pass) -> Result<(), CompileError> {
        self.pass(pass).map(|_| ())
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame, args: &[Arg<'_>]) -> Outcome {
        let entry = || self.pass(pass).map(Code::entry);
        // SAFETY: the code was compiled from this loop for this layout, lives as long as `self`, and
        // checks every access that is not proven inside of its array, whatever arguments and frame hold.
        unsafe { self.compiled.run(entry, pass, steps, frame, args) }
    }
}
