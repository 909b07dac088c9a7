//! The embedded compiled backend: Cranelift compiles a loop within the process.
//!
//! This takes about a millisecond. It serves where no C compiler is available or worth its time.
//!
//! | module | contents |
//! | --- | --- |
//! | `emit` | translation of a loop to Cranelift's intermediate form |
//! | `code` | the machine's instruction set, finished code in memory |
//! | `kernel` | running it |
//!
//! The code is a state machine over the loop's blocks, which can begin and pause at every guard. In
//! its fast form, innermost loops have no pauses, and no checks of accesses at their own counter.
//! If an array ends before the loop, the machine with all checks continues. It is compiled on
//! demand. The code gives the same bits as the interpreter: no contraction, no reassociation beyond
//! the loop's lanes, and transcendental functions through [`livefusion_backend::math`].

mod code;
mod emit;
mod kernel;

use code::Native;
use kernel::JitKernel;
use livefusion_backend::process::PerProcess;
use livefusion_backend::{Backend, CompileError, Kernel};
use livefusion_tile::schedule::Schedule;
use loop_lang::Loop;
use std::sync::Arc;

/// Compiles loops with Cranelift.
///
/// ```
/// use livefusion_backend::{Arg, Backend, Frame, Outcome, Pass, Value, View};
/// use livefusion_jit::JitBackend;
/// let mut program = loop_lang::parse::parse("
///     loop total
///     comb 0 manifest at r0
///     param xs_0: [f64] stream r0
///     rate r0 root ix_0 < len_0 { stage 0 }
///     group acc_0 owner r0 step r0 start 0.0 id -0.0 next sum_0 combine add level 0 lanes 32
///     init_0:
///       let len_0 = arrayLength xs_0
///       carry ix_0 = 0
///       carry acc_0 = 0.0
///     guard_0:
///       let more_0 = lt ix_0 len_0
///       unless more_0 | done_0
///     body_0:
///       let x_0 = readArray xs_0 ix_0
///     yield_0:
///       let sum_0 = add acc_0 x_0
///       acc_0 := sum_0
///     bottom_0:
///       let nix_0 = add ix_0 1
///       ix_0 := nix_0
///     done_0:
///       return acc_0
/// ").unwrap();
/// loop_lang::gotos::derive_gotos(&mut program);
/// let kernel = JitBackend::new().compile(&program).unwrap();
/// let mut frame = Frame::new(kernel.layout());
/// let args = [Arg::Array(View::new(&[1.0, 2.0, 3.0]))];
/// assert_eq!(kernel.run(Pass::Emit, u64::MAX, &mut frame, &args), Outcome::Done);
/// assert!(matches!(frame.results[0], Value::Scalar(c) if c.bits == 6.0f64.to_bits()));
/// ```
///
/// Compilation fails only if the loop is malformed, or on machines that Cranelift does not support.
#[derive(Clone, Copy, Debug, Default)]
pub struct JitBackend(());

impl JitBackend {
    /// Creates the backend for this machine.
    ///
    /// The machine is detected when the process compiles its first loop.
    pub fn new() -> JitBackend {
        JitBackend::default()
    }

    /// Compiles a loop under a schedule, which tests draw at random.
    ///
    /// # Errors
    ///
    /// As [`Backend::compile`].
    #[doc(hidden)]
    pub fn compile_under(
        &self,
        program: &Loop,
        schedule: &Schedule,
    ) -> Result<Arc<dyn Kernel>, CompileError> {
        compile(program, Some(schedule))
    }
}

/// This machine, detected once per process.
static NATIVE: PerProcess<Result<Native, CompileError>> = PerProcess::new();

impl Backend for JitBackend {
    fn name(&self) -> &'static str {
        "jit"
    }

    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        compile(program, None)
    }
}

fn compile(program: &Loop, schedule: Option<&Schedule>) -> Result<Arc<dyn Kernel>, CompileError> {
    check(program)?;
    let native = NATIVE.get_or_make(Native::new);
    let native = native.as_ref().map_err(Clone::clone)?;
    let kernel = JitKernel::new(program.clone(), schedule, native)?;
    Ok(Arc::new(kernel))
}

/// Verifies a loop, as compiled code requires.
fn check(program: &Loop) -> Result<(), CompileError> {
    loop_lang::verify::verify(program).map_err(|faults| {
        let lines: Vec<String> = faults
            .iter()
            .map(|f| format!("{}: {}", f.place, f.message))
            .collect();
        CompileError::Malformed(lines.join("\n"))
    })
}
