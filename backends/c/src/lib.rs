//! The C backend: loops become readable C, the system's compiler makes a shared library of it, and
//! the library is loaded into the process.
//!
//! | module | room for |
//! | --- | --- |
//! | `names` | C identifiers |
//! | `emit` | the text |
//! | `compiler`, `child`, `user` | the system's compiler, a process within limits, who it works for |
//! | `library` | loaded code |
//! | `workplace`, `memory_file` | folders to compile in, files to load from |
//! | [`cache`] | compiled code on disk |
//! | `loader` | the way from text to loaded code |
//! | `kernel` | running it |
//!
//! The code is a state machine over the loop's blocks, which can begin and pause at every guard, and
//! beside it a function for each tile (`livefusion_tile`), which the machine calls at its guards. Where tiles do
//! nearly all of the work, the state machine gets little of the compiler's time. The code gives the same
//! bits as the interpreter: no contraction, no reassociation beyond the loop's lanes, and
//! transcendental functions from their one source, [`loop_lang::math`], written into vectorised loops
//! and called elsewhere.
//!
//! Much that compilers do takes more than linear time in the size of a function. So the pieces of a long
//! body are functions, and a chain of 250 maps takes gcc 0.6 s and not 1.9 s. A loop with more statements
//! than tiles are written for is one function, the machine (20,000 statements in a block: 26 s with
//! `-O3`). It is compiled with `-O1` and the simpler allocator, in linear time (100,000 statements: 6 s).

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
use emit::Form;
use kernel::CKernel;
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

/// The path of the system's C compiler: what `CC` names, else the usual one. It need not be there.
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
    /// The backend with the system's compiler: what `CC` names, else the usual one. It is looked
    /// for when the first loop is compiled. Code is for this machine.
    pub fn new() -> CBackend {
        CBackend::default()
    }

    /// The backend with the compiler at a path.
    pub fn with_compiler(path: impl Into<PathBuf>) -> CBackend {
        CBackend {
            compiler: Some(path.into()),
            ..CBackend::default()
        }
    }

    /// The backend with a cache of its own choice, instead of the one that the environment asks for.
    pub fn with_cache(mut self, cache: KernelCache) -> CBackend {
        self.cache = cache;
        self
    }

    /// The backend with other limits for its compiler than the default ones.
    pub fn with_limits(mut self, limits: CompilerLimits) -> CBackend {
        self.limits = limits;
        self
    }

    /// The backend whose code is for a machine. What the compiler is told by other means (a `CC` with flags for
    /// another machine) does not count: it says an error where it does not have what the target has.
    ///
    /// [`text`](CBackend::text) shows code for any machine; [`compile`](Backend::compile) is
    /// [`Unavailable`](CompileError::Unavailable) where this machine cannot run it.
    pub fn with_target(mut self, target: Target) -> CBackend {
        self.target = target;
        self
    }

    /// The backend that writes loops as it is asked to. A sweep of a loop that is named becomes a tile, by the
    /// decisions that are said of its rates and step by step otherwise; everything else is written as usual.
    ///
    /// Compiling a loop whose decisions are not legal is an [error](CompileError::Schedule).
    pub fn with_schedules(mut self, schedules: Schedules) -> CBackend {
        self.schedules = schedules;
        self
    }

    /// The backend whose compiler sees to it that code for the target runs here, whatever the target: for tests.
    #[doc(hidden)]
    pub fn emulated(mut self) -> CBackend {
        self.emulates = true;
        self
    }

    /// The backend whose code looks at itself while it runs, and ends the process where it reads or writes
    /// out of bounds or does what C leaves undefined: for tests. gcc's code needs a process that has loaded
    /// the sanitizer's library first (`LD_PRELOAD=$(gcc -print-file-name=libasan.so)`).
    #[doc(hidden)]
    pub fn sanitized(mut self) -> CBackend {
        self.sanitizes = true;
        self
    }

    /// The backend without tiles: smaller and slower code with the same results, in which each of a loop's blocks
    /// appears once.
    pub fn without_tiles(mut self) -> CBackend {
        self.form.tiles = false;
        self
    }

    /// Compiles many loops in one run of the compiler. A loop that is not well formed does not hold
    /// up the others.
    pub fn compile_batch(&self, programs: &[&Loop]) -> Vec<Result<Arc<dyn Kernel>, CompileError>> {
        let loader = match self.loader() {
            Ok(loader) => loader,
            Err(e) => return programs.iter().map(|_| Err(e.clone())).collect(),
        };
        let Written {
            file,
            symbols,
            planned,
        } = self.write(programs);
        let built = file
            .finish()
            .map_err(CompileError::Malformed)
            .and_then(|text| {
                let passes = loader.load(&text, &symbols)?;
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

    /// The ideas by which a loop's code becomes fast; nothing is compiled.
    ///
    /// Errors: a loop that does not verify, or that the backend refuses.
    pub fn ideas(&self, program: &Loop) -> Result<Ideas, CompileError> {
        check(program)?;
        let mut file = emit::File::new(&self.target).with_schedules(&self.schedules);
        file.add(program, &Layout::of(program), "kernel", self.form)?;
        Ok(file.ideas().clone())
    }

    /// The C of a loop's emit pass, for the backend's target; nothing is compiled.
    ///
    /// Errors: a loop that does not verify, or that the backend refuses.
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

    /// The C of many loops' emit passes in one file. Each pass is called as its loop is, with `_emit` behind, and with a
    /// number where two are called alike.
    ///
    /// Errors: a loop that does not verify, or that the backend refuses.
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

    fn source(&self, program: &Loop) -> Option<String> {
        self.text(program).ok()
    }

    /// One run of the compiler for each loop, as many at once as there are processors.
    fn compile_all(&self, programs: &[&Loop]) -> Vec<Result<Arc<dyn Kernel>, CompileError>> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let share = programs.len().div_ceil(processors).max(1);
        let compile =
            |share: &[&Loop]| -> Vec<_> { share.iter().map(|p| self.compile(p)).collect() };
        let mut shares = programs.chunks(share);
        let mine = shares.next().unwrap_or_default();
        std::thread::scope(|scope| {
            // Where the system has no more threads for us, this one does the work.
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
    /// What it exports.
    symbols: Vec<String>,
    /// Each loop's layout, and which symbol its pass is; or why it is not in the file.
    planned: Vec<Result<(Layout, usize), CompileError>>,
}

/// Verifies a loop; generated code relies on it.
fn check(program: &Loop) -> Result<(), CompileError> {
    loop_lang::verify::verify(program).map_err(|faults| {
        let lines: Vec<String> = faults
            .iter()
            .map(|f| format!("{}: {}", f.place, f.message))
            .collect();
        CompileError::Malformed(lines.join("\n"))
    })
}
