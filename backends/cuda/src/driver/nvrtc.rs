//! NVIDIA's compiler: from kernel text to machine code for an architecture.
//!
//! It needs no device.
//!
//! | module | contents |
//! | --- | --- |
//! | `places` | the search for the library |
//! | `library` | its functions |
//!
//! The library is loaded by path and not through `cudarc`. That crate knows only the loader's own
//! places, and one NVRTC for the whole process.

mod library;
mod places;

use super::Fault;
use super::cubin::Cubin;
use library::{Library, Raw};
use places::Place;
use std::ffi::CString;
use std::fmt;
use std::path::Path;

/// Compiler options besides the architecture. Without contraction, kernels give the bits of other
/// backends.
const OPTIONS: &[&str] = &[
    "--std=c++17",
    "--fmad=false",
    // Closures have no annotation of their execution space.
    "--device-as-default-execution-space",
    "--ptxas-options=-v",
];

/// Holds NVIDIA's compiler.
///
/// Several threads may use it at once.
pub struct Nvrtc {
    library: Library,
    version: (u32, u32),
}

impl Nvrtc {
    /// Loads the first compiler found.
    ///
    /// If `LIVEFUSION_NVRTC` names a folder, only that is searched. Otherwise these places are
    /// tried in order: the folder of `cargo xtask nvrtc`, a CUDA installation (`CUDA_HOME`,
    /// `CUDA_PATH`), Python's packages (`VIRTUAL_ENV`, `CONDA_PREFIX`), the loader's places,
    /// `/usr/local/cuda`, the Python of `PATH`.
    ///
    /// # Errors
    ///
    /// [`Fault::Missing`] if there is none. It lists the searched places.
    pub fn find() -> Result<Nvrtc, Fault> {
        let mut tried = Vec::new();
        for place in places::from_environment() {
            match Nvrtc::at(&place) {
                Ok(found) => return Ok(found),
                Err(why) => tried.push(format!("{place}: {why}")),
            }
        }
        let tried: String = tried.iter().map(|why| format!("\n  {why}")).collect();
        Err(Fault::Missing(format!(
            "no NVRTC, NVIDIA's compiler; the PyPI package nvidia-cuda-nvrtc has it, and LIVEFUSION_NVRTC may name its \
             folder. It was looked for in these places:{tried}"
        )))
    }

    /// Loads the compiler in a place, or returns the reason why it is not there.
    fn at(place: &Place) -> Result<Nvrtc, String> {
        let library = match place {
            Place::Folder(folder) => Library::in_folder(folder)?,
            Place::Loader => Library::of_loader()?,
        };
        Ok(Nvrtc {
            version: library.version()?,
            library,
        })
    }

    /// Returns its path, unless the loader found it.
    pub fn path(&self) -> Option<&Path> {
        self.library.path()
    }

    /// Returns its version, such as (13, 0).
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// Identifies the compiler's output by its version, size and options.
    pub fn identity(&self) -> String {
        let (major, minor) = self.version;
        let bytes = self
            .path()
            .and_then(|p| p.metadata().ok())
            .map_or(0, |m| m.len());
        format!(
            "NVRTC {major}.{minor}, {bytes} bytes, {}",
            OPTIONS.join(" ")
        )
    }

    /// Compiles a text for an architecture.
    ///
    /// # Errors
    ///
    /// [`Fault::Compiler`], with its log.
    pub fn compile(&self, text: &str, architecture: &str) -> Result<Program<'_>, Fault> {
        self.compile_so(text, architecture, OPTIONS)
    }

    /// Checks that a text compiles, faster than [`compile`](Nvrtc::compile).
    ///
    /// The result is slow code for an abstract machine.
    ///
    /// # Errors
    ///
    /// [`Fault::Compiler`], with its log.
    pub fn check(&self, text: &str, architecture: &str) -> Result<Program<'_>, Fault> {
        // Older versions lack this option.
        let quick = (self.version >= (13, 0)).then_some("--Ofast-compile=max");
        let quick: Vec<&str> = OPTIONS.iter().copied().chain(quick).collect();
        self.compile_so(text, &architecture.replace("sm_", "compute_"), &quick)
    }

    fn compile_so(
        &self,
        text: &str,
        architecture: &str,
        options: &[&str],
    ) -> Result<Program<'_>, Fault> {
        let refused = |log: String| Fault::Compiler { log };
        let zero = |_| refused("a text must not have a zero in it".into());
        let text = CString::new(text).map_err(zero)?;
        let architecture =
            CString::new(format!("--gpu-architecture={architecture}")).map_err(zero)?;
        let others = options.iter().map(|o| CString::new(*o).map_err(zero));
        let options: Vec<CString> = std::iter::once(Ok(architecture))
            .chain(others)
            .collect::<Result<_, _>>()?;
        // SAFETY: the text is dropped after the program, with which it is stored.
        let raw = unsafe { self.library.create(&text) }.map_err(refused)?;
        let program = Program {
            nvrtc: self,
            raw,
            _text: text,
        };
        // SAFETY: the program was created above.
        let compiled = unsafe { self.library.compile(program.raw, &options) };
        let log = program.log()?;
        match compiled {
            Ok(()) => Ok(program),
            Err(why) if log.trim().is_empty() => Err(refused(why)),
            Err(_) => Err(refused(log)),
        }
    }
}

impl fmt::Debug for Nvrtc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.version;
        write!(f, "Nvrtc({major}.{minor}, {:?})", self.path())
    }
}

/// Holds a compiled text.
pub struct Program<'a> {
    nvrtc: &'a Nvrtc,
    raw: Raw,
    /// The program may refer to it.
    _text: CString,
}

impl Program<'_> {
    /// Returns the machine code, with the compiler's log.
    pub fn cubin(&self) -> Result<Cubin, Fault> {
        // SAFETY: the program is there until this is dropped.
        let image = said(unsafe { self.nvrtc.library.cubin(self.raw) })?;
        // SAFETY: the compiler has just made it.
        Ok(unsafe { Cubin::new(image, self.log()?) })
    }

    /// Returns the PTX from which the machine code was made.
    pub fn ptx(&self) -> Result<String, Fault> {
        // SAFETY: the program is there until this is dropped.
        said(unsafe { self.nvrtc.library.ptx(self.raw) })
    }

    /// Returns the compiler's log.
    pub fn log(&self) -> Result<String, Fault> {
        // SAFETY: the program is there until this is dropped.
        said(unsafe { self.nvrtc.library.log(self.raw) })
    }
}

fn said<T>(answer: Result<T, String>) -> Result<T, Fault> {
    answer.map_err(|log| Fault::Compiler { log })
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: the program is there until now.
        unsafe { self.nvrtc.library.destroy(self.raw) };
    }
}

impl fmt::Debug for Program<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Program of {:?}", self.nvrtc)
    }
}
