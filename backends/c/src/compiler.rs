//! The system's C compiler: finding it, running it, loading what it made.

use livefusion_backend::CompileError;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Flags for every file. The float flags keep Rust's results; `-fwrapv` keeps its wrapping.
pub const FLAGS: &[&str] = &[
    "-std=gnu11",
    "-march=native",
    "-shared",
    "-fPIC",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-fwrapv",
    "-w",
];

/// How hard the compiler tries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// Everything that makes the loop fast.
    Full,
    /// For very large functions, where usual register allocation takes more than linear time.
    Linear,
}

impl Effort {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Effort::Full => &["-O3"],
            Effort::Linear => &["-O1", "-fira-algorithm=priority"],
        }
    }
}

/// A C compiler.
#[derive(Clone, Debug)]
pub struct Compiler {
    path: PathBuf,
}

impl Compiler {
    /// The compiler at a path, or of a name to be looked up in `PATH`.
    pub fn at(path: impl Into<PathBuf>) -> Compiler {
        Compiler { path: path.into() }
    }

    /// The system's compiler: what `CC` names, else the platform's usual one.
    pub fn system() -> Result<Compiler, CompileError> {
        let target = target();
        let found = cc::Build::new()
            .target(&target)
            .host(&target)
            .opt_level(3)
            .cargo_metadata(false)
            .cargo_warnings(false)
            .try_get_compiler();
        match found {
            Ok(tool) => Ok(Compiler::at(tool.path())),
            Err(e) => Err(unavailable(format!(
                "no C compiler was found ({e}); set CC to one"
            ))),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Compiles `source` into a shared library in `folder` and says where it is.
    pub fn build(
        &self,
        source: &str,
        effort: Effort,
        folder: &Path,
    ) -> Result<PathBuf, CompileError> {
        let (input, output) = (folder.join("kernel.c"), folder.join("kernel.so"));
        std::fs::write(&input, source)
            .map_err(|e| unavailable(format!("cannot write {}: {e}", input.display())))?;
        let mut args: Vec<OsString> = FLAGS
            .iter()
            .chain(effort.flags())
            .map(OsString::from)
            .collect();
        args.extend(["-o".into(), output.clone().into(), input.into()]);
        let run = Command::new(&self.path)
            .args(args)
            .stdin(Stdio::null())
            .output();
        let done = run.map_err(|e| match e.kind() {
            ErrorKind::NotFound => unavailable(format!(
                "there is no C compiler at {}; install one or set CC",
                self.path.display()
            )),
            _ => unavailable(format!("cannot run {}: {e}", self.path.display())),
        })?;
        if done.status.success() {
            return Ok(output);
        }
        let mut stderr = String::from_utf8_lossy(&done.stderr).into_owned();
        if stderr.is_empty() {
            stderr = format!("no message, {}", done.status);
        }
        Err(CompileError::Failed {
            compiler: self.path.display().to_string(),
            stderr,
        })
    }
}

/// The error of a machine where the backend cannot work.
pub fn unavailable(why: String) -> CompileError {
    CompileError::Unavailable { backend: "c", why }
}

/// This machine as a target triple, which the `cc` crate wants to be told.
fn target() -> String {
    let arch = std::env::consts::ARCH;
    match std::env::consts::OS {
        "macos" => format!("{arch}-apple-darwin"),
        os => format!("{arch}-unknown-{os}-gnu"),
    }
}
