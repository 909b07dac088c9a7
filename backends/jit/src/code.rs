//! Machine code: this machine's instruction set, and finished code in memory.

use crate::emit;
use cranelift_codegen::Context;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, ModuleError, default_libcall_names};
use livefusion_backend::CompileError;
use livefusion_backend::abi::Entry;
use livefusion_tile::schedule::Schedule;
use livefusion_tile::target::{Extension, Target};
use loop_lang::Loop;
use loop_lang::state::Layout;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Block length from which registers are allocated in a single pass.
///
/// The default allocator considers whole live ranges. It takes quadratic time in a block's length
/// if a variable is live throughout. Plans keep loops below this length. A closure of many terms
/// gives a longer block.
const LONG: usize = 500;

/// Holds the machine on which code is compiled and runs.
pub struct Native {
    isa: OwnedTargetIsa,
    /// The instruction set for [`LONG`] loops.
    long: OwnedTargetIsa,
    target: Target,
    /// The working memory of the last compilation.
    workplace: Mutex<Option<Box<Workplace>>>,
}

/// Working memory of compilations. They are short, so allocating it anew would cost part of their
/// time.
struct Workplace {
    context: Context,
    builder: FunctionBuilderContext,
}

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Native({}, {})", self.isa.triple(), self.target)
    }
}

fn unavailable(why: impl ToString) -> CompileError {
    CompileError::Unavailable {
        backend: "jit",
        why: why.to_string(),
    }
}

/// Returns the features of this machine that Cranelift uses.
///
/// These are vectors of 16 bytes with their usual extensions, or none.
fn target() -> Target {
    let here = Target::here().narrow();
    match here.has(Extension::Sse41) || here.has(Extension::Neon) {
        true => here,
        false => Target::plain(),
    }
}

/// Returns this machine's instruction set, with a register allocation algorithm.
fn isa(registers: &str) -> Result<OwnedTargetIsa, CompileError> {
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) {
        "true"
    } else {
        "false"
    };
    for (name, value) in [
        ("opt_level", "speed"),
        ("regalloc_algorithm", registers),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("unwind_info", "false"),
        ("enable_verifier", verify),
    ] {
        flags.set(name, value).map_err(unavailable)?;
    }
    let isa = cranelift_native::builder().map_err(unavailable)?;
    isa.finish(settings::Flags::new(flags)).map_err(unavailable)
}

impl Native {
    /// Detects this machine.
    pub fn new() -> Result<Native, CompileError> {
        if cfg!(target_endian = "big") || cfg!(not(target_pointer_width = "64")) {
            return Err(unavailable("only for little-endian machines of 64 bits"));
        }
        Ok(Native {
            isa: isa("backtracking")?,
            long: isa("single_pass")?,
            target: target(),
            workplace: Mutex::new(None),
        })
    }

    /// Compiles one form of a pass over a verified loop.
    ///
    /// `layout` is the layout of the emit form. `None` chooses the schedule of innermost loops.
    pub fn compile(
        &self,
        program: &Loop,
        layout: &Layout,
        (summary, fast): (bool, bool),
        schedule: Option<&Schedule>,
    ) -> Result<Code, CompileError> {
        let mut workplace = self.workplace();
        let Workplace { context, builder } = &mut *workplace;
        context.func.signature.call_conv = self.isa.default_call_conv();
        emit::function(
            &mut context.func,
            builder,
            emit::Request {
                program,
                layout,
                summary,
                fast,
                schedule,
                target: &self.target,
                frontend: self.isa.frontend_config(),
            },
        )
        .map_err(CompileError::Malformed)?;
        let longest = program.blocks.iter().map(|(_, b)| b.stmts.len()).max();
        let longest = longest.unwrap_or(0);
        let isa = match longest {
            0..=LONG => &self.isa,
            _ => &self.long,
        };
        let symbols = JITBuilder::with_isa(isa.clone(), default_libcall_names());
        let mut code = Code {
            module: Some(JITModule::new(symbols)),
            address: std::ptr::null(),
        };
        code.finish(context)
            .map_err(|stderr| CompileError::Failed {
                compiler: "cranelift".into(),
                stderr,
            })?;
        // A failed compilation leaves a builder that is not empty.
        if longest <= LONG {
            context.clear();
            *self.lent() = Some(workplace);
        }
        Ok(code)
    }

    /// Takes unused working memory, or makes some.
    fn workplace(&self) -> Box<Workplace> {
        let kept = self.lent().take();
        kept.unwrap_or_else(|| {
            Box::new(Workplace {
                context: Context::new(),
                builder: FunctionBuilderContext::new(),
            })
        })
    }

    fn lent(&self) -> MutexGuard<'_, Option<Box<Workplace>>> {
        self.workplace
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Holds a finished pass in its own memory, which is freed on drop.
pub struct Code {
    module: Option<JITModule>,
    address: *const u8,
}

// SAFETY: the module only keeps the memory until it is dropped; code is never written once finished.
unsafe impl Send for Code {}
// SAFETY: as above; `&Code` gives nothing but the entry's address.
unsafe impl Sync for Code {}

impl Code {
    /// Copies a function into executable memory. Errors are Cranelift's.
    fn finish(&mut self, context: &mut Context) -> Result<(), String> {
        let failed = |e: ModuleError| format!("{e:?}");
        let Some(module) = &mut self.module else {
            return Ok(());
        };
        let id = module.declare_anonymous_function(&context.func.signature);
        let id = id.map_err(failed)?;
        module.define_function(id, context).map_err(failed)?;
        module.finalize_definitions().map_err(failed)?;
        self.address = module.get_finalized_function(id);
        Ok(())
    }

    /// Returns the pass, which must not be called after `self` is dropped.
    pub fn entry(&self) -> Entry {
        // SAFETY: `finish` left the address of a function with this signature, which `emit` gave it.
        unsafe { std::mem::transmute::<*const u8, Entry>(self.address) }
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: the code runs only while a kernel that owns this is borrowed.
            unsafe { module.free_memory() };
        }
    }
}
