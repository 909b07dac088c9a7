//! The C backend: it compiles loops through readable C and a shared library.
//!
//! The system's C compiler makes the library, which is loaded into the process.
//!
//! | module | contents |
//! | --- | --- |
//! | `names` | C identifiers |
//! | `emit` | code generation |
//! | `compiler`, `child`, `user` | the system's compiler, limited processes, the real user |
//! | `library` | loaded code |
//! | `workplace`, `memory_file` | folders to compile in, files to load from |
//! | [`cache`] | compiled code on disk |
//! | `loader` | the steps from text to loaded code |
//! | `kernel` | running it |
//!
//! The code is a state machine over the loop's blocks, which can begin and pause at every guard.
//! Each tile (`livefusion_tile`) is a separate function, which the machine calls at its guards.
//! Where tiles do nearly all of the work, the state machine gets little of the compiler's time.
//!
//! The code gives the same bits as the interpreter: no contraction, and no reassociation beyond the
//! loop's lanes. Transcendental functions have one source, [`loop_lang::math`]. They are inlined
//! into vectorised loops and called elsewhere.
//!
//! Many compiler passes take more than linear time in the size of a function. So the pieces of a
//! long body are separate functions: a chain of 250 maps takes gcc 0.6 s instead of 1.9 s. A loop
//! with too many statements for tiles is one function, the machine (20,000 statements in a block:
//! 26 s with `-O3`). It is compiled with `-O1` and the simpler allocator, in linear time (100,000
//! statements: 6 s).

pub mod cache;
mod child;
mod compiler;
mod emit;
mod kernel;
mod library;
mod loader;
mod memory_file;
mod names;
mod user;
mod workplace;

use compiler::Compiler;
use emit::{Form, Text};
use kernel::CKernel;
use library::Pass;
use livefusion_backend::facts;
use livefusion_backend::{Backend, CompileError, DiskUse, Kernel};
use livefusion_tile::schedule::Schedules;
use livefusion_tile::target::Target;
use loader::Loader;
use loop_lang::Loop;
use loop_lang::state::Layout;
use names::Unique;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

pub use cache::KernelCache;
#[doc(hidden)]
pub use cache::entry::{decode as decode_entry, encode as encode_entry};
pub use compiler::{CompilerLimits, flags};
pub use emit::{Idea, Ideas};
pub use user::is_another as runs_for_another;

/// Returns the path of the system's C compiler, from `CC` or the usual one.
///
/// The file need not exist.
pub fn system_compiler() -> Result<PathBuf, CompileError> {
    Compiler::system().map(|c| c.path().to_path_buf())
}

/// Compiles loops with a C compiler, unless the [`KernelCache`] has them.
#[derive(Debug)]
pub struct CBackend {
    compiler: Option<PathBuf>,
    limits: CompilerLimits,
    sanitizes: bool,
    cache: KernelCache,
    form: Form,
    target: Target,
    schedules: Schedules,
    emulates: bool,
    loader: OnceLock<Result<Arc<Loader>, CompileError>>,
}

impl Default for CBackend {
    fn default() -> CBackend {
        CBackend {
            compiler: None,
            limits: CompilerLimits::default(),
            sanitizes: false,
            cache: KernelCache::default(),
            form: Form::default(),
            target: Target::here(),
            schedules: Schedules::default(),
            emulates: false,
            loader: OnceLock::new(),
        }
    }
}

impl CBackend {
    /// Creates the backend with the compiler of `CC` or the usual one.
    ///
    /// The compiler is found when the first loop is compiled. Code is for this machine.
    pub fn new() -> CBackend {
        CBackend::default()
    }

    /// Creates the backend with the compiler at a path.
    pub fn with_compiler(path: impl Into<PathBuf>) -> CBackend {
        CBackend {
            compiler: Some(path.into()),
            ..CBackend::default()
        }
    }

    /// Sets the cache, in place of the environment's choice.
    pub fn with_cache(mut self, cache: KernelCache) -> CBackend {
        self.cache = cache;
        self
    }

    /// Sets the limits of the compiler.
    pub fn with_limits(mut self, limits: CompilerLimits) -> CBackend {
        self.limits = limits;
        self
    }

    /// Sets the machine for which code is generated.
    ///
    /// Flags in `CC` for another machine do not change the target. The compiler reports an error if
    /// it lacks a feature of the target.
    ///
    /// [`text`](CBackend::text) shows code for any machine. [`compile`](Backend::compile) is
    /// [`Unavailable`](CompileError::Unavailable) where this machine cannot run it.
    pub fn with_target(mut self, target: Target) -> CBackend {
        self.target = target;
        self
    }

    /// Sets user schedules.
    ///
    /// In a named loop, each innermost loop becomes a tile. Its rates follow the given decisions,
    /// and are step by step otherwise. Other loops are compiled as usual.
    ///
    /// Illegal decisions of a compiled loop are an [error](CompileError::Schedule).
    pub fn with_schedules(mut self, schedules: Schedules) -> CBackend {
        self.schedules = schedules;
        self
    }

    /// Allows any target, with a compiler that emulates it.
    ///
    /// For tests.
    #[doc(hidden)]
    pub fn emulated(mut self) -> CBackend {
        self.emulates = true;
        self
    }

    /// Generates self-checking code, for tests.
    ///
    /// The process ends at an access out of bounds or at undefined behaviour. With gcc the process
    /// must have loaded the sanitizer's library first (`LD_PRELOAD=$(gcc
    /// -print-file-name=libasan.so)`).
    #[doc(hidden)]
    pub fn sanitized(mut self) -> CBackend {
        self.sanitizes = true;
        self
    }

    /// Disables tiles, for smaller and slower code with the same results.
    ///
    /// Each of a loop's blocks then appears once.
    pub fn without_tiles(mut self) -> CBackend {
        self.form.tiles = false;
        self
    }

    /// Compiles many loops in one run of the compiler.
    ///
    /// A malformed loop does not affect the others.
    pub fn compile_batch(&self, programs: &[&Loop]) -> Vec<Result<Arc<dyn Kernel>, CompileError>> {
        let loader = match self.loader() {
            Ok(loader) => loader,
            Err(e) => return programs.iter().map(|_| Err(e.clone())).collect(),
        };
        self.kernels(programs, &loader, |text, symbols| {
            loader.load(text, symbols)
        })
    }

    /// Makes the kernels of loops from the passes of their file.
    fn kernels(
        &self,
        programs: &[&Loop],
        loader: &Arc<Loader>,
        load: impl FnOnce(&Text, &[String]) -> Result<Vec<Pass>, CompileError>,
    ) -> Vec<Result<Arc<dyn Kernel>, CompileError>> {
        let Written {
            file,
            symbols,
            planned,
        } = self.write(programs);
        let built = file
            .finish()
            .map_err(CompileError::Malformed)
            .and_then(|text| {
                let passes = load(&text, &symbols)?;
                Ok((Arc::<str>::from(text.source), passes))
            });
        let kernel = |(program, planned): (&&Loop, Result<(Layout, usize), CompileError>)| {
            let (layout, i) = planned?;
            let (source, passes) = built.as_ref().map_err(Clone::clone)?;
            let (source, loader) = (source.clone(), loader.clone());
            let kernel = CKernel::new(
                Loop::clone(program),
                layout,
                source,
                loader,
                passes[i].clone(),
                self.form,
            );
            let kernel = kernel.map_err(CompileError::Malformed)?;
            Ok(Arc::new(kernel) as Arc<dyn Kernel>)
        };
        programs.iter().zip(planned).map(kernel).collect()
    }

    /// Returns the optimisations in a loop's code, without compiling it.
    ///
    /// # Errors
    ///
    /// Fails if the loop does not verify, or if the backend refuses it.
    pub fn ideas(&self, program: &Loop) -> Result<Ideas, CompileError> {
        check(program)?;
        let mut file = emit::File::new(&self.target).with_schedules(&self.schedules);
        file.add(program, &Layout::of(program), "kernel", self.form)?;
        Ok(file.ideas().clone())
    }

    /// Returns the C of a loop's emit pass, for the backend's target.
    ///
    /// Nothing is compiled.
    ///
    /// # Errors
    ///
    /// Fails if the loop does not verify, or if the backend refuses it.
    ///
    /// ```
    /// # fn main() -> Result<(), livefusion_backend::CompileError> {
    /// let text = "loop empty\ncomb 0 none\ninit_0:\ndone_0:\n  return\n";
    /// let mut empty = loop_lang::parse::parse(text).unwrap();
    /// loop_lang::gotos::derive_gotos(&mut empty);
    /// let avx2 = livefusion_tile::target::Target::avx2();
    /// let text = livefusion_c::CBackend::new().with_target(avx2).text(&empty)?;
    /// assert!(text.contains("i32 empty_emit(lf_run *run)"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn text(&self, program: &Loop) -> Result<String, CompileError> {
        self.text_of(&[program])
    }

    /// Returns the C of many loops' emit passes in one file.
    ///
    /// Each pass has its loop's name with the suffix `_emit`, and a number if two names are equal.
    ///
    /// # Errors
    ///
    /// Fails if a loop does not verify, or if the backend refuses it.
    pub fn text_of(&self, programs: &[&Loop]) -> Result<String, CompileError> {
        let Written { file, planned, .. } = self.write(programs);
        planned.into_iter().collect::<Result<Vec<_>, _>>()?;
        let text = file.finish().map_err(CompileError::Malformed)?;
        Ok(text.source)
    }

    /// Writes the emit passes of loops.
    fn write(&self, programs: &[&Loop]) -> Written {
        let mut file = emit::File::new(&self.target).with_schedules(&self.schedules);
        let mut unique = Unique::default();
        let mut symbols = Vec::new();
        let plan = |program: &&Loop| {
            check(program)?;
            let layout = Layout::of(program);
            let symbol = unique.pick(&format!("{}_emit", program.name));
            file.add(program, &layout, &symbol, self.form)?;
            symbols.push(symbol);
            Ok((layout, symbols.len() - 1))
        };
        let planned = programs.iter().map(plan).collect();
        Written {
            file,
            symbols,
            planned,
        }
    }

    fn loader(&self) -> Result<Arc<Loader>, CompileError> {
        let make = || {
            let (target, here) = (&self.target, Target::here());
            if !target.runs_on(&here) && !self.emulates {
                return Err(compiler::unavailable(format!(
                    "this machine ({}) does not run code for another ({})",
                    here.extensions(),
                    target.extensions()
                )));
            }
            let mut compiler = match &self.compiler {
                Some(path) => Compiler::at(path),
                None => Compiler::system()?,
            };
            (compiler.limits, compiler.sanitizes) = (self.limits, self.sanitizes);
            let (target, cache) = (target.clone(), self.cache.clone());
            Ok(Arc::new(Loader::new(compiler, target, cache)))
        };
        self.loader.get_or_init(make).clone()
    }
}

impl Backend for CBackend {
    fn name(&self) -> &'static str {
        "c"
    }

    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        let none = || CompileError::Malformed("nothing was compiled".into());
        self.compile_batch(&[program]).pop().ok_or_else(none)?
    }

    fn compiled_before(&self, program: &Loop) -> Option<Arc<dyn Kernel>> {
        let loader = self.loader().ok()?;
        let find = |text: &Text, symbols: &[String]| {
            let none = || CompileError::Malformed("it was not compiled before".into());
            loader.known(text, symbols).ok_or_else(none)
        };
        self.kernels(&[program], &loader, find).pop()?.ok()
    }

    fn source(&self, program: &Loop) -> Option<String> {
        self.text(program).ok()
    }

    /// Runs the compiler once for each loop, in parallel on all processors.
    fn compile_all(&self, programs: &[&Loop]) -> Vec<Result<Arc<dyn Kernel>, CompileError>> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let share = programs.len().div_ceil(processors).max(1);
        let compile =
            |share: &[&Loop]| -> Vec<_> { share.iter().map(|p| self.compile(p)).collect() };
        let mut shares = programs.chunks(share);
        let mine = shares.next().unwrap_or_default();
        std::thread::scope(|scope| {
            // If the system has no more threads, this thread does the work.
            let compile = &compile;
            let others: Vec<_> = shares
                .map(|share| {
                    let thread = std::thread::Builder::new();
                    let thread = thread.spawn_scoped(scope, move || compile(share));
                    (share, thread)
                })
                .collect();
            let mut all = compile(mine);
            for (share, thread) in others {
                let done = thread.ok().and_then(|t| t.join().ok());
                all.extend(done.unwrap_or_else(|| compile(share)));
            }
            all
        })
    }

    fn disk_use(&self) -> DiskUse {
        match self.loader.get() {
            Some(Ok(loader)) => loader.disk_use(),
            _ => DiskUse::default(),
        }
    }
}

/// A file of loops that is ready for the compiler.
struct Written {
    file: emit::File,
    /// Its exported symbols.
    symbols: Vec<String>,
    /// Each loop's layout and symbol index, or the reason why it is not in the file.
    planned: Vec<Result<(Layout, usize), CompileError>>,
}

/// Verifies a loop, as generated code requires.
fn check(program: &Loop) -> Result<(), CompileError> {
    loop_lang::verify::verify(program).map_err(|faults| {
        let lines: Vec<String> = faults
            .iter()
            .map(|f| format!("{}: {}", f.place, f.message))
            .collect();
        CompileError::Malformed(lines.join("\n"))
    })
}
