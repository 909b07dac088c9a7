//! The system's C compiler: finding it, telling it from others, running it.

use livefusion_backend::CompileError;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::UNIX_EPOCH;

/// Names of C compilers, the system's choice first.
const USUAL: &[&str] = &["cc", "gcc", "clang"];

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
    // Kernels call nothing but what the process has: the start files and libraries need not be searched.
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    "-nostdlib",
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
    /// All flags of a file.
    pub fn flags(self) -> Vec<&'static str> {
        let effort: &[&str] = match self {
            Effort::Full => &["-O3"],
            Effort::Linear => &["-O1", "-fira-algorithm=priority"],
        };
        [FLAGS, effort].concat()
    }
}

/// A C compiler: a program, and arguments that go before all others.
#[derive(Clone, Debug)]
pub struct Compiler {
    path: PathBuf,
    args: Vec<OsString>,
}

impl Compiler {
    /// The compiler at a path, or of a name to be looked up in `PATH`.
    pub fn at(path: impl Into<PathBuf>) -> Compiler {
        Compiler {
            path: path.into(),
            args: Vec::new(),
        }
    }

    /// The system's compiler: what `CC` names (a program, or a command as `ccache gcc`), else the
    /// first of the usual ones that is there.
    pub fn system() -> Result<Compiler, CompileError> {
        match std::env::var_os("CC").filter(|cc| !cc.is_empty()) {
            Some(cc) => Ok(Compiler::command(&cc)),
            None => {
                let found = USUAL.iter().find(|name| in_path(Path::new(name)).is_some());
                let none = || {
                    let names = USUAL.join(", ");
                    unavailable(format!(
                        "no C compiler was found (of {names}); set CC to one"
                    ))
                };
                Ok(Compiler::at(found.ok_or_else(none)?))
            }
        }
    }

    /// What a command names: a file, whose path may have spaces, or a program and its arguments.
    fn command(command: &OsStr) -> Compiler {
        let words = command.to_str().filter(|_| !Path::new(command).is_file());
        let mut words = words.unwrap_or_default().split_whitespace();
        match words.next() {
            Some(program) => Compiler {
                path: program.into(),
                args: words.map(OsString::from).collect(),
            },
            None => Compiler::at(command),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which compiler this is, as files say without running it: where they are, how large, of when. None if
    /// it is nowhere.
    pub fn identity(&self) -> Option<String> {
        let mut identity = identity_of(&self.path)?;
        for arg in &self.args {
            // Of a wrapper the arguments name the compiler.
            identity.push_str(&format!(" {arg:?}"));
            identity.extend(identity_of(Path::new(arg)));
        }
        Some(identity)
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
        let run = Command::new(&self.path)
            .args(&self.args)
            .args(effort.flags())
            .arg("-o")
            .args([&output, &input])
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

/// The file that a path or a name in `PATH` stands for.
fn in_path(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.is_file().then(|| program.into());
    }
    let path = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(program));
    files.find(|file| file.is_file())
}

/// The file that a program is, and what changes when it is replaced.
fn identity_of(program: &Path) -> Option<String> {
    let file = in_path(program)?.canonicalize().ok()?;
    let about = file.metadata().ok()?;
    let since = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{file:?} {} {}", about.len(), since.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_arguments() {
        let of = |command: &str| {
            let compiler = Compiler::command(OsStr::new(command));
            (compiler.path, compiler.args)
        };
        assert_eq!(of("gcc"), ("gcc".into(), vec![]));
        let args = vec!["gcc".into(), "-m64".into()];
        assert_eq!(of("ccache gcc -m64"), ("ccache".into(), args));
        let folder = tempfile::tempdir().unwrap();
        let spaced = folder.path().join("my cc");
        std::fs::write(&spaced, "").unwrap();
        let spaced = spaced.to_str().unwrap();
        assert_eq!(of(spaced), (spaced.into(), vec![]));
    }

    #[test]
    fn another_file_is_another_compiler() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cc");
        let compiler = Compiler::at(&path);
        assert_eq!(compiler.identity(), None);
        std::fs::write(&path, "one").unwrap();
        let one = compiler.identity();
        assert!(one.is_some());
        assert_eq!(compiler.identity(), one);
        std::fs::write(&path, "three").unwrap();
        assert_ne!(compiler.identity(), one);
        let wrapped = Compiler::command(OsStr::new(&format!("env {}", path.display())));
        let before = wrapped.identity();
        std::fs::write(&path, "two").unwrap();
        assert_ne!(wrapped.identity(), before);
    }
}
