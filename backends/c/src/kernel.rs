//! A loop compiled to C.

use crate::emit::{self, Form, machine};
use crate::library;
use crate::loader::Loader;
use livefusion_backend::compiled::{Compiled, Passes};
use livefusion_backend::{Arg, CompileError, Frame, Kernel, Outcome, Pass};
use loop_lang::Loop;
use loop_lang::state::Layout;
use std::sync::Arc;

/// Holds a compiled loop.
pub struct CKernel {
    compiled: Compiled,
    passes: Passes<library::Pass>,
    source: Arc<str>,
    loader: Arc<Loader>,
    form: Form,
}

impl CKernel {
    /// Creates a kernel from the compiled `source`.
    pub fn new(
        program: Loop,
        layout: Layout,
        source: Arc<str>,
        loader: Arc<Loader>,
        emit: library::Pass,
        form: Form,
    ) -> Result<CKernel, String> {
        let scratch_words = machine::scratch_bytes(&program).div_ceil(8);
        let passes = Passes::new(&program, emit);
        Ok(CKernel {
            compiled: Compiled::new(program, layout, scratch_words)?,
            passes,
            source,
            loader,
            form,
        })
    }

    fn pass(&self, pass: Pass) -> Result<&library::Pass, CompileError> {
        self.passes.get(pass, |level| self.compile_summary(level))
    }

    fn compile_summary(&self, level: u32) -> Result<library::Pass, CompileError> {
        let summary = loop_lang::passes::summary(self.compiled.program(), level);
        let mut file = emit::File::new(self.loader.target());
        let symbol = format!(
            "{}_summary",
            crate::names::identifier(&self.compiled.program().name)
        );
        let form = Form {
            summary: true,
            ..self.form
        };
        file.add(&summary, self.compiled.layout(), &symbol, form)?;
        let text = file.finish().map_err(CompileError::Malformed)?;
        let mut passes = self.loader.load(&text, &[symbol])?;
        passes
            .pop()
            .ok_or_else(|| CompileError::Malformed("no summary".into()))
    }
}

impl Kernel for CKernel {
    fn layout(&self) -> &Layout {
        self.compiled.layout()
    }

    fn prepare(&self, pass: Pass) -> Result<(), CompileError> {
        self.pass(pass).map(|_| ())
    }

    fn source(&self) -> Option<&str> {
        Some(&self.source)
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        // SAFETY: the entry was generated from this loop for this layout. Generated code checks
        // every access that is not proven inside of its array, for any arguments and frame. The
        // kernel, which lives until the call has ended, holds the pass.
        unsafe {
            let entry = || self.pass(pass).map(library::Pass::entry);
            self.compiled.run(entry, pass, steps, frame, args)
        }
    }
}
