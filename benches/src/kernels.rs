//! Hand-written C: compiles a file of `benches/c` and runs its kernels.

use crate::data::Data;
use livefusion_backend::Buffer;
use livefusion_tile::target::Target;
use loop_lang::types::Ty;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::null_mut;

/// Specialises `Result` to errors in words.
pub type Outcome<T> = Result<T, String>;

/// Returns the folder of the C files.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("c")
}

/// A job in C's layout, as in `common.h`.
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

/// Describes one kernel for a job.
#[derive(Clone)]
pub struct Variant {
    /// Its distinguishing feature.
    pub name: String,
    /// Whether it uses several threads.
    pub parallel: bool,
    run: unsafe extern "C" fn(*const Job),
}

/// Compiles C files and caches them.
///
/// Loaded libraries stay until the process ends. OpenMP's threads wait in the library that comes
/// with it, even when nothing else uses it.
pub struct Kernels {
    compiler: PathBuf,
    folder: tempfile::TempDir,
    loaded: Vec<(&'static str, &'static libloading::Library)>,
}

impl Kernels {
    /// Starts with the C backend's compiler.
    pub fn new() -> Outcome<Kernels> {
        Ok(Kernels {
            compiler: livefusion_c::system_compiler().map_err(|e| e.to_string())?,
            folder: tempfile::tempdir().map_err(|e| e.to_string())?,
            loaded: Vec::new(),
        })
    }

    /// Returns the compiler's path.
    pub fn compiler(&self) -> &Path {
        &self.compiler
    }

    /// Lists all variants of a case from its table in `file`.
    pub fn variants(&mut self, file: &'static str, case: &str) -> Outcome<Vec<Variant>> {
        let library = self.library(file)?;
        let symbol = format!("{case}\0");
        // SAFETY: the symbol is a table of variants that ends with a nameless one. Each file of
        // `benches/c` exports only such tables.
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

/// Compiles a C file with full optimisation. It uses the C backend's float rules, except that
/// contraction is allowed.
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

/// Extra elements in result buffers, for whole vectors at the end.
const SLACK: usize = 128;

/// Lists the capacity of each output.
///
/// It is a type and a number of elements.
pub type Room = Vec<(Ty, usize)>;

/// Returns the capacity for the results of a job of `n` elements.
pub fn room(n: usize, reference: &[Data]) -> Room {
    let of = |d: &Data| match d.len() {
        1 => (d.ty(), 1),
        len => (d.ty(), len.max(n)),
    };
    reference.iter().map(of).collect()
}

/// Holds result buffers that are reused from call to call.
pub struct Outputs {
    buffers: Vec<Buffer>,
    lens: Vec<usize>,
}

impl Outputs {
    /// Allocates the buffers.
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

    /// Returns the kernel's results.
    pub fn data(&self) -> Vec<Data> {
        let columns = self.buffers.iter().zip(&self.lens);
        columns
            .filter_map(|(buffer, len)| Some(Data::copy_of(buffer.slice(0, *len)?)))
            .collect()
    }
}

/// Runs a kernel on fresh memory.
///
/// It is allocated for this call and freed after it. Large blocks are huge pages.
pub fn run_fresh(variant: &Variant, input: &[Data], room: &Room, n: usize, threads: usize) {
    let fresh = |(ty, len): &(Ty, usize)| Fresh::new((len + SLACK) * ty.size());
    let blocks: Option<Vec<Fresh>> = room.iter().map(fresh).collect();
    if let Some(blocks) = blocks {
        let outputs: Vec<*mut u8> = blocks.iter().map(|b| b.base).collect();
        let mut lens = vec![0; room.len()];
        call(variant, input, &outputs, &mut lens, n, threads);
    }
}

/// The size of a huge page.
const HUGE: usize = 2 << 20;

/// Holds memory that was not used before.
struct Fresh {
    base: *mut u8,
    layout: Layout,
    mapped: bool,
}

impl Fresh {
    fn new(bytes: usize) -> Option<Fresh> {
        let mapped = bytes >= HUGE / 4;
        let layout = match mapped {
            true => Layout::from_size_align(bytes.next_multiple_of(HUGE), HUGE),
            false => Layout::from_size_align(bytes, 64),
        };
        let layout = layout.ok().filter(|l| l.size() > 0)?;
        let base = match mapped {
            true => map(layout.size())?,
            // SAFETY: the layout is not empty.
            false => unsafe { alloc(layout) },
        };
        let fresh = Fresh {
            base,
            layout,
            mapped,
        };
        (!base.is_null()).then_some(fresh)
    }
}

/// Maps huge pages.
fn map(bytes: usize) -> Option<*mut u8> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new private mapping of no file, anywhere; it touches no memory of others.
    let base = unsafe { mmap_anonymous(null_mut(), bytes, access, MapFlags::PRIVATE) }.ok()?;
    #[cfg(target_os = "linux")]
    // SAFETY: advice on the new mapping; it changes no contents.
    let _ = unsafe { rustix::mm::madvise(base, bytes, rustix::mm::Advice::LinuxHugepage) };
    Some(base.cast())
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if self.mapped {
            // SAFETY: the whole of the mapping, which nobody uses any more.
            let _ = unsafe { munmap(self.base.cast(), self.layout.size()) };
        } else if !self.base.is_null() {
            // SAFETY: it was allocated with this layout.
            unsafe { dealloc(self.base, self.layout) };
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
    // SAFETY: a kernel reads its inputs and writes its outputs within its case's promises: the
    // reference's results give the needed capacity, and `SLACK` is for whole vectors.
    unsafe { (variant.run)(&job) };
}
