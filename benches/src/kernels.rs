//! Hand-written C: compiling a file of `benches/c` and running its kernels.

use crate::data::Data;
use livefusion_backend::Buffer;
use livefusion_tile::target::Target;
use loop_lang::types::Ty;
use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What can go wrong here, in words.
pub type Outcome<T> = Result<T, String>;

/// Where the C files are.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("c")
}

/// A job as C sees it; `common.h` has the same.
#[repr(C)]
struct Job {
    n: usize,
    threads: c_int,
    inputs: *const *const c_void,
    input_lens: *const usize,
    outputs: *const *mut c_void,
    lens: *mut usize,
}

#[repr(C)]
struct RawVariant {
    name: *const c_char,
    run: Option<unsafe extern "C" fn(*const Job)>,
    parallel: c_int,
}

/// One way of doing a job.
#[derive(Clone)]
pub struct Variant {
    /// What is special about it.
    pub name: String,
    /// Whether it uses several threads.
    pub parallel: bool,
    run: unsafe extern "C" fn(*const Job),
}

/// Compiles C files and remembers them. What is loaded stays so until the process ends: threads of OpenMP wait in the library that comes
/// with it, whoever is done with it.
pub struct Kernels {
    compiler: PathBuf,
    folder: tempfile::TempDir,
    loaded: Vec<(&'static str, &'static libloading::Library)>,
}

impl Kernels {
    /// Ready to compile with the compiler that the C backend uses.
    pub fn new() -> Outcome<Kernels> {
        Ok(Kernels {
            compiler: livefusion_c::system_compiler().map_err(|e| e.to_string())?,
            folder: tempfile::tempdir().map_err(|e| e.to_string())?,
            loaded: Vec::new(),
        })
    }

    /// The compiler's path.
    pub fn compiler(&self) -> &Path {
        &self.compiler
    }

    /// All variants of a case, which `file` has a table of.
    pub fn variants(&mut self, file: &'static str, case: &str) -> Outcome<Vec<Variant>> {
        let library = self.library(file)?;
        let symbol = format!("{case}\0");
        // SAFETY: the symbol is a table of variants that ends with one without a name; each file of
        // `benches/c` has such tables and nothing else that is exported.
        let table: libloading::Symbol<'_, *const RawVariant> = unsafe {
            library
                .get(symbol.as_bytes())
                .map_err(|e| format!("{file} has no table for {case}: {e}"))?
        };
        let mut variants = Vec::new();
        for k in 0.. {
            // SAFETY: no entry before this one was the last.
            let raw = unsafe { &*table.add(k) };
            let (false, Some(run)) = (raw.name.is_null(), raw.run) else {
                break;
            };
            // SAFETY: a string literal of the library, which stays loaded.
            let name = unsafe { CStr::from_ptr(raw.name) };
            variants.push(Variant {
                name: name.to_string_lossy().into_owned(),
                parallel: raw.parallel != 0,
                run,
            });
        }
        Ok(variants)
    }

    fn library(&mut self, file: &'static str) -> Outcome<&'static libloading::Library> {
        if let Some((_, library)) = self.loaded.iter().find(|(name, _)| *name == file) {
            return Ok(library);
        }
        let path = self.folder.path().join(file).with_extension("so");
        compile(&self.compiler, &folder().join(file), &path)?;
        // SAFETY: the files of `benches/c` run no code when they are loaded.
        let library = unsafe { libloading::Library::new(&path) }.map_err(|e| e.to_string())?;
        let library: &'static libloading::Library = Box::leak(Box::new(library));
        self.loaded.push((file, library));
        Ok(library)
    }
}

/// Compiles a C file as well as the compiler can, with the float rules of the C backend but for
/// contraction, which is allowed.
fn compile(compiler: &Path, file: &Path, to: &Path) -> Outcome<()> {
    let mut command = Command::new(compiler);
    let flags = livefusion_c::flags(&Target::here()).into_iter();
    command.args(flags.filter(|f| *f != "-ffp-contract=off"));
    command.args(["-O3", "-fopenmp", "-o"]).arg(to).arg(file);
    command.args(["-lmvec", "-lm"]);
    let done = command.output().map_err(|e| e.to_string())?;
    match done.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{} does not compile: {}",
            file.display(),
            String::from_utf8_lossy(&done.stderr)
        )),
    }
}

/// Memory for results, with room for whole vectors at the end.
const SLACK: usize = 128;

/// How much a kernel may write: a type and a number of elements per output.
pub type Room = Vec<(Ty, usize)>;

/// Room for the results of a job of `n` elements that gives `reference`.
pub fn room(n: usize, reference: &[Data]) -> Room {
    let of = |d: &Data| match d.len() {
        1 => (d.ty(), 1),
        len => (d.ty(), len.max(n)),
    };
    reference.iter().map(of).collect()
}

/// Results that a kernel writes to, call after call.
pub struct Outputs {
    buffers: Vec<Buffer>,
    lens: Vec<usize>,
}

impl Outputs {
    /// Memory for results.
    pub fn new(room: &Room) -> Outcome<Outputs> {
        let make = |(ty, n): &(Ty, usize)| Buffer::zeroed(*ty, n + SLACK);
        let buffers: Option<Vec<Buffer>> = room.iter().map(make).collect();
        Ok(Outputs {
            buffers: buffers.ok_or("there is no memory for the results")?,
            lens: vec![0; room.len()],
        })
    }

    /// Runs a kernel.
    pub fn run(&mut self, variant: &Variant, input: &[Data], n: usize, threads: usize) {
        let pointers: Vec<*mut u8> = self.buffers.iter_mut().map(|b| b.as_mut_ptr()).collect();
        call(variant, input, &pointers, &mut self.lens, n, threads);
    }

    /// What it wrote.
    pub fn data(&self) -> Vec<Data> {
        let columns = self.buffers.iter().zip(&self.lens);
        columns
            .filter_map(|(buffer, len)| Some(Data::copy_of(buffer.slice(0, *len)?)))
            .collect()
    }
}

/// Runs a kernel on memory that is allocated for this call and freed after it.
pub fn run_fresh(variant: &Variant, input: &[Data], room: &Room, n: usize, threads: usize) {
    let layouts: Vec<Layout> = room
        .iter()
        .filter_map(|(ty, len)| Layout::from_size_align((len + SLACK) * ty.size(), 64).ok())
        .collect();
    // SAFETY: no layout is empty.
    let blocks: Vec<*mut u8> = layouts.iter().map(|l| unsafe { alloc(*l) }).collect();
    if blocks.len() == room.len() && blocks.iter().all(|b| !b.is_null()) {
        let mut lens = vec![0; room.len()];
        call(variant, input, &blocks, &mut lens, n, threads);
    }
    for (block, layout) in blocks.into_iter().zip(layouts) {
        if !block.is_null() {
            // SAFETY: it was allocated with this layout just now.
            unsafe { dealloc(block, layout) };
        }
    }
}

fn call(
    variant: &Variant,
    input: &[Data],
    outputs: &[*mut u8],
    lens: &mut [usize],
    n: usize,
    threads: usize,
) {
    let inputs: Vec<*const u8> = input.iter().map(Data::as_ptr).collect();
    let input_lens: Vec<usize> = input.iter().map(Data::len).collect();
    let job = Job {
        n,
        threads: threads as c_int,
        inputs: inputs.as_ptr().cast(),
        input_lens: input_lens.as_ptr(),
        outputs: outputs.as_ptr().cast(),
        lens: lens.as_mut_ptr(),
    };
    // SAFETY: a kernel reads its inputs and writes its outputs within what its case promises: the
    // reference's results say how much room there must be, and `SLACK` is for whole vectors.
    unsafe { (variant.run)(&job) };
}
