//! The system's C compiler: finding it, identifying it, running it within limits.

use crate::{child, user};
use livefusion_backend::CompileError;
use livefusion_tile::target::Target;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

/// Names of C compilers, the system's choice first.
const USUAL: &[&str] = &["cc", "gcc", "clang"];

/// Flags for every file. The float flags keep Rust's results. `-fwrapv` keeps its wrapping.
const FLAGS: &[&str] = &[
    "-std=gnu11",
    "-shared",
    "-fPIC",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-fwrapv",
    "-w",
];

/// Lists the flags for every file of code for a machine.
pub fn flags(target: &Target) -> Vec<&'static str> {
    [FLAGS, &target.c_flags()].concat()
}

/// Kernels call only functions of the process: start files and libraries are not linked.
const ALONE: &[&str] = &[
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    "-nostdlib",
];

/// Flags for self-checking code, which ends the process at an error.
const SANITIZED: &[&str] = &[
    "-g",
    "-fno-omit-frame-pointer",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
];

/// The compilers' folders when the environment is not trusted.
const SYSTEM_PATH: &str = "/usr/bin:/bin";

/// Selects the effort of the compiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// Full optimisation.
    Full,
    /// For very large functions, where the usual register allocation takes more than linear time.
    Linear,
}

impl Effort {
    /// Returns its flags.
    fn flags(self) -> &'static [&'static str] {
        match self {
            Effort::Full => &["-O3"],
            Effort::Linear => &["-O1", "-fira-algorithm=priority"],
        }
    }
}

/// Limits the resources of a C compiler.
///
/// A compiler that exceeds them is killed, with all processes that it started. The loop then runs
/// without C where the engine has another backend.
///
/// ```
/// use livefusion_c::{CBackend, CompilerLimits};
/// use std::time::Duration;
/// let limits = CompilerLimits { time: Duration::from_secs(5), ..CompilerLimits::default() };
/// # let _ =
/// CBackend::new().with_limits(limits);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CompilerLimits {
    /// The time limit for each loop. Default: a minute.
    pub time: Duration,
    /// The memory limit of each process in bytes, where the system can enforce it. Default: 4 GiB.
    pub memory: u64,
}

impl Default for CompilerLimits {
    fn default() -> CompilerLimits {
        CompilerLimits {
            time: Duration::from_secs(60),
            memory: 4 << 30,
        }
    }
}

/// Describes a C compiler as a program with leading arguments.
#[derive(Clone, Debug)]
pub struct Compiler {
    path: PathBuf,
    args: Vec<OsString>,
    /// Its limits.
    pub limits: CompilerLimits,
    /// Whether the code checks itself.
    pub sanitizes: bool,
}

impl Compiler {
    /// Selects the compiler at a path, or by a name to find in `PATH`.
    pub fn at(path: impl Into<PathBuf>) -> Compiler {
        Compiler {
            path: path.into(),
            args: Vec::new(),
            limits: CompilerLimits::default(),
            sanitizes: false,
        }
    }

    /// Finds the system's compiler.
    ///
    /// `CC` names it (a program, or a command such as `ccache gcc`). Otherwise it is the first of
    /// the usual compilers. A process that runs for another user than its starter does not trust
    /// the environment.
    pub fn system() -> Result<Compiler, CompileError> {
        let cc = std::env::var_os("CC").filter(|cc| !cc.is_empty());
        match cc.filter(|_| !user::is_another()) {
            Some(cc) => Ok(Compiler::command(&cc)),
            None => Compiler::usual(&search_path(user::is_another())),
        }
    }

    /// Finds the first of the usual compilers in some folders.
    fn usual(folders: &OsStr) -> Result<Compiler, CompileError> {
        let mut found = USUAL
            .iter()
            .filter_map(|name| in_path(Path::new(name), folders));
        let none = || {
            let names = USUAL.join(", ");
            unavailable(format!(
                "no C compiler was found (of {names}); set CC to one"
            ))
        };
        Ok(Compiler::at(found.next().ok_or_else(none)?))
    }

    /// Parses a command: a file, whose path may have spaces, or a program and its arguments.
    fn command(command: &OsStr) -> Compiler {
        let words = command.to_str().filter(|_| !Path::new(command).is_file());
        let mut words = words.unwrap_or_default().split_whitespace();
        match words.next() {
            Some(program) => Compiler {
                args: words.map(OsString::from).collect(),
                ..Compiler::at(program)
            },
            None => Compiler::at(command),
        }
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Identifies the compiler by path, size and date of its files, without running it.
    ///
    /// Returns `None` if there is no such file.
    pub fn identity(&self) -> Option<String> {
        let mut identity = identity_of(&self.path)?;
        for arg in &self.args {
            // For a wrapper, the arguments name the compiler.
            identity.push_str(&format!(" {arg:?}"));
            identity.extend(identity_of(Path::new(arg)));
        }
        Some(identity)
    }

    /// Lists all flags of a file for a machine.
    pub fn flags(&self, target: &Target, effort: Effort) -> Vec<&'static str> {
        let more = if self.sanitizes { SANITIZED } else { ALONE };
        [&flags(target), more, effort.flags()].concat()
    }

    /// Compiles `source` in `folder`, and returns the bytes of the shared library.
    ///
    /// The source holds `loops` loops, which scale the time limit.
    pub fn build(
        &self,
        source: &str,
        flags: &[&str],
        loops: usize,
        folder: &Path,
    ) -> Result<Vec<u8>, CompileError> {
        let program = in_path(&self.path, &search_path(user::is_another())).ok_or_else(|| {
            unavailable(format!(
                "there is no C compiler at {}; install one or set CC",
                self.path.display()
            ))
        })?;
        let cannot = |what: &str, file: &Path, e: std::io::Error| {
            unavailable(format!("cannot {what} {}: {e}", file.display()))
        };
        let file = |name: &str| folder.join(name);
        let (input, output, said) = (file("kernel.c"), file("kernel.so"), file("messages"));
        std::fs::write(&input, source).map_err(|e| cannot("write", &input, e))?;
        // Not a pipe: a process left behind by the compiler could hold it open, and reading would
        // block.
        let messages = File::create_new(&said).map_err(|e| cannot("write", &said, e))?;
        let limit = self.limits.time.saturating_mul(loops.max(1) as u32);
        let mut command = self.within_limits(&program, limit);
        command
            .args(&self.args)
            .args(flags)
            .arg("-o")
            .args([&output, &input])
            .env("TMPDIR", folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(messages);
        let done = child::run(&mut command, limit).map_err(|e| cannot("run", &program, e))?;
        let compiler = || self.path.display().to_string();
        let Some(status) = done else {
            return Err(CompileError::TimedOut {
                compiler: compiler(),
                limit,
            });
        };
        if status.success() {
            return std::fs::read(&output).map_err(|e| CompileError::Failed {
                compiler: compiler(),
                stderr: format!("error: cannot read the compiled file: {e}"),
            });
        }
        let mut bytes = Vec::new();
        if let Ok(file) = File::open(&said) {
            let _ = file.take(MESSAGES).read_to_end(&mut bytes);
        }
        let mut stderr = String::from_utf8_lossy(&bytes).into_owned();
        if NOT_RUN.contains(&status.code()) {
            let why = stderr.trim_end();
            return Err(unavailable(format!("cannot run {}: {why}", compiler())));
        }
        if stderr.is_empty() {
            stderr = format!("no message, {status}");
        }
        Err(CompileError::Failed {
            compiler: compiler(),
            stderr,
        })
    }

    /// Returns a command that runs a program within the limits.
    ///
    /// A shell sets them and then becomes the program. So the program's children inherit the
    /// limits, and a process with much memory need not be copied to set them.
    #[cfg(unix)]
    fn within_limits(&self, program: &Path, time: Duration) -> Command {
        use rustix::process::{Resource, getrlimit};
        const SCRIPT: &str =
            r#"{ ulimit -t "$1"; ulimit -d "$2"; } 2>/dev/null; shift 2; exec "$@""#;
        if user::is_another() {
            // Shells drop the other user's rights, and environments name program folders.
            let mut command = Command::new(program);
            command.env_clear().env("PATH", SYSTEM_PATH);
            return command;
        }
        let at_most =
            |limit: u64, what| getrlimit(what).current.map_or(limit, |now| now.min(limit));
        // A compiler whose caller was killed stays alive, and ends at its CPU limit.
        let seconds = at_most(time.as_secs().saturating_add(1), Resource::Cpu);
        let bytes = at_most(self.limits.memory, Resource::Data);
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "sh"]);
        command.args([seconds.to_string(), (bytes / 1024).to_string()]);
        command.arg(program);
        if self.sanitizes {
            // A process that loads sanitized code needs this variable. Compilers do not.
            command.env_remove("LD_PRELOAD");
        }
        command
    }

    #[cfg(not(unix))]
    fn within_limits(&self, program: &Path, _: Duration) -> Command {
        Command::new(program)
    }
}

/// Bytes of the compiler's messages that are read.
const MESSAGES: u64 = 1 << 16;

/// Exit codes of a shell that cannot run a program.
const NOT_RUN: [Option<i32>; 2] = [Some(126), Some(127)];

/// Returns the error of a machine where the backend cannot work.
pub fn unavailable(why: String) -> CompileError {
    CompileError::Unavailable { backend: "c", why }
}

/// Returns the folders to search for programs.
fn search_path(is_another: bool) -> OsString {
    let path = std::env::var_os("PATH").filter(|_| !is_another);
    path.unwrap_or_else(|| SYSTEM_PATH.into())
}

/// Returns the file of a path, or of a name in some folders.
fn in_path(program: &Path, folders: &OsStr) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.is_file().then(|| program.into());
    }
    let mut files = std::env::split_paths(folders).map(|folder| folder.join(program));
    files.find(|file| file.is_file())
}

/// Returns the file of a program, with its size and date.
fn identity_of(program: &Path) -> Option<String> {
    let folders = search_path(user::is_another());
    let file = in_path(program, &folders)?.canonicalize().ok()?;
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

    /// `CC` and `PATH` are set by the user who started the process.
    #[test]
    fn for_another_user_the_environment_does_not_count() {
        assert_eq!(search_path(true), SYSTEM_PATH);
        if let Ok(compiler) = Compiler::usual(&search_path(true)) {
            let folder = compiler.path().parent();
            assert!(folder == Some(Path::new("/usr/bin")) || folder == Some(Path::new("/bin")));
        }
        assert!(Compiler::usual(OsStr::new("/nowhere")).is_err());
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
