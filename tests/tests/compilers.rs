//! C for each target compiles without warnings, and runs correctly where possible.
//!
//! The C is untiled and tiled. It must give the interpreter's bits on this machine or in an
//! emulator. The loops are golden loops, literature programs, and benchmark cases.
//!
//! Each file has a share of the loops, so that each loop is compiled for some target, and each
//! target has some loops. `LOOP_SHARE=1` puts all loops into every file, and takes a quarter of an
//! hour on two cores; `cargo xtask ci nightly` does it.

use livefusion_c::CBackend;
use livefusion_tests::driver::{self, Case};
use livefusion_tests::mutants::{arguments, golden_loops, tamed};
use livefusion_tests::rng::Rng;
use livefusion_tests::threads;
use livefusion_tests::tiles::{Drawn, draw};
use livefusion_tile::region::Region;
use livefusion_tile::schedule::{Aim, Schedules, choose};
use livefusion_tile::target::{Arch, Target};
use loop_lang::state::Layout;
use loop_lang::{Loop, Op, Ty, math};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A file gets one in `SHARE` loops.
const SHARE: usize = 32;
/// The number of loops in one file.
const BATCH: usize = 64;
/// The number of calls of each loop, with different arguments.
const CALLS: u64 = 2;

/// Flags for unavoidable warnings: unused names, values set only in a first iteration, and calling
/// conventions of vectors between files.
const INHERENT: [&str; 8] = [
    "-Wno-unknown-warning-option",
    "-Wno-unused-function",
    "-Wno-unused-variable",
    "-Wno-unused-but-set-variable",
    "-Wno-unused-parameter",
    "-Wno-unused-label",
    "-Wno-maybe-uninitialized",
    "-Wno-psabi",
];

/// A compiler command for an instruction set.
type Compiler = &'static [&'static str];

/// The compilers for a target, independent of this machine.
fn compilers(target: &Target) -> [Compiler; 2] {
    let arm = match target.arch() {
        Arch::X86_64 => false,
        Arch::Aarch64 => true,
        Arch::Other => cfg!(target_arch = "aarch64"),
    };
    match (arm, cfg!(target_arch = "aarch64")) {
        (true, true) | (false, false) => [&["gcc"], &["clang"]],
        (true, false) => [
            &["aarch64-linux-gnu-gcc"],
            &["clang", "--target=aarch64-linux-gnu"],
        ],
        (false, true) => [
            &["x86_64-linux-gnu-gcc"],
            &["clang", "--target=x86_64-linux-gnu"],
        ],
    }
}

/// The command that runs a program for a target: empty, or an emulator. `None` if this machine
/// cannot run it.
fn runner(target: &Target) -> Option<&'static [&'static str]> {
    match target.arch() {
        _ if target.runs_on(&Target::here()) => Some(&[]),
        Arch::Aarch64 => Some(&["qemu-aarch64"]),
        _ => None,
    }
}

/// The schedules of loops.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// No requested schedule.
    Usual,
    /// Schedules chosen for speed.
    Chosen,
    /// Random legal schedules.
    Drawn,
}

/// A file of loops in C.
#[derive(Clone)]
struct File {
    target: Target,
    compiler: Compiler,
    form: Form,
}

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let File { target, form, .. } = self;
        let compiler = self.compiler.join(" ");
        write!(f, "{form:?} for {} by {compiler}", target.name())
    }
}

/// All possible files.
fn files() -> Vec<File> {
    let mut all = Vec::new();
    for form in [Form::Usual, Form::Chosen, Form::Drawn] {
        for target in Target::all().into_iter().filter(|t| t.name() != "here") {
            all.extend(compilers(&target).map(|compiler| File {
                target: target.clone(),
                compiler,
                form,
            }));
        }
    }
    all
}

/// The loops of a folder's files. A line before each describes its C.
fn loops_of_forms(folder: &str) -> Vec<Loop> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = std::fs::read_dir(&folder).expect("a folder of forms");
    let mut files: Vec<PathBuf> = files.map(|f| f.expect("a file").path()).collect();
    files.sort();
    let texts = files
        .iter()
        .map(|f| std::fs::read_to_string(f).expect("forms"));
    let mut all = Vec::new();
    for text in texts {
        let loops = text.split("# C: ").skip(1);
        let loops = loops.filter_map(|l| tamed(l.split_once('\n')?.1));
        all.extend(loops);
    }
    all
}

/// All loops, with unique names.
fn loops() -> Vec<Loop> {
    let golden = golden_loops().into_iter().map(|(_, l)| l);
    let programs = loops_of_forms("tests/programs/forms");
    let harness = loops_of_forms("../benches/tests/forms");
    assert!(programs.len() > 40 && harness.len() > 30);
    let mut all: Vec<Loop> = golden.chain(programs).chain(harness).collect();
    // Sines of large arguments need the engine, which is missing here.
    all.retain(|program| !has_limits(program));
    for (k, program) in all.iter_mut().enumerate() {
        program.name = format!("loop_{k}_{}", program.name);
    }
    all
}

/// Whether a loop has a function whose code covers only arguments below a limit.
fn has_limits(program: &Loop) -> bool {
    let floats = [Ty::F32, Ty::F64];
    let limited = Op::ALL
        .iter()
        .filter(|op| floats.iter().any(|ty| math::limit(**op, *ty).is_some()));
    let text = program.to_string();
    limited
        .map(|op| format!(" {} ", op.name()))
        .any(|name| text.contains(&name))
}

impl File {
    /// The loops' schedules.
    fn schedules(&self, loops: &[&Loop]) -> Schedules {
        let mut schedules = Schedules::default();
        for (k, program) in loops.iter().enumerate() {
            let schedule = match self.form {
                Form::Usual => continue,
                Form::Chosen => {
                    let layout = Layout::of(program);
                    let region = Region::of(program, &layout.arrays, &layout.held);
                    choose(&region.expect("a region"), &self.target, Aim::Speed)
                }
                Form::Drawn => draw(program, &mut Rng::new(k as u64), &mut Drawn::default()),
            };
            schedules = schedules.with(program, &schedule);
        }
        schedules
    }

    /// The loops in C, with their driver.
    fn text(&self, loops: &[&Loop]) -> [String; 2] {
        let backend = CBackend::new()
            .with_target(self.target.clone())
            .with_schedules(self.schedules(loops));
        let kernels = backend.text_of(loops).expect("C");
        let mut cases = Vec::new();
        for (k, program) in loops.iter().enumerate() {
            cases.extend((0..CALLS).map(|call| Case {
                args: arguments(program, &mut Rng::new(k as u64 * CALLS + call)),
                program,
            }));
        }
        driver::program(&kernels, &cases)
    }

    /// The compiler with its flags.
    fn command(&self) -> Command {
        let flags = livefusion_c::flags(&self.target).into_iter();
        let mut command = Command::new(self.compiler[0]);
        command
            .args(&self.compiler[1..])
            .args(flags.filter(|f| !["-w", "-shared", "-fPIC"].contains(f)))
            .args(["-O2", "-Wall", "-Wextra", "-Werror"])
            .args(INHERENT);
        command
    }

    /// Compiles loops, and runs them where possible. Returns a failure, or a missing program.
    fn check(&self, loops: &[&Loop]) -> Result<String, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let files = ["kernels.c", "host.c"].map(|name| folder.path().join(name));
        for (path, text) in files.iter().zip(self.text(loops)) {
            std::fs::write(path, text).expect("a file");
        }
        let output = folder.path().join("program");
        let mut command = self.command();
        command.arg("-o").arg(&output);
        let runner = runner(&self.target);
        match runner {
            Some(_) => command.arg("-static").args(&files).arg("-lm"),
            None => command.arg("-c").arg(&files[0]),
        };
        if ended(&mut command)?.is_none() {
            return Ok("skipped: there is no such compiler".into());
        }
        let Some(runner) = runner else {
            return Ok(format!("{} loops compiled", loops.len()));
        };
        let mut words = runner.iter().map(PathBuf::from).chain([output]);
        let mut command = Command::new(words.next().expect("a program"));
        match ended(command.args(words))? {
            Some(said) => Ok(format!("{} loops, {}", loops.len(), said.trim())),
            None => Ok("compiled only: there is no emulator".into()),
        }
    }
}

/// The output of a process, or `None` if the program is missing. Errors: it fails.
fn ended(command: &mut Command) -> Result<Option<String>, String> {
    let Ok(Output {
        status,
        stdout,
        stderr,
    }) = command.output()
    else {
        return Ok(None);
    };
    let said = [stdout, stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    match status.success() {
        true => Ok(Some(said)),
        false => Err(format!("{status}\n{said}")),
    }
}

#[test]
fn code_for_each_target_has_no_warnings_and_the_same_bits() {
    let loops = loops();
    let share = std::env::var("LOOP_SHARE").map_or(SHARE, |n| n.parse().expect("a number"));
    let files: Vec<(usize, File)> = files().into_iter().enumerate().collect();
    let said = threads::map(&files, |(k, file)| {
        let some: Vec<&Loop> = loops.iter().skip(k % share).step_by(share).collect();
        // Compilers take more than linear time for long files.
        let results = some.chunks(BATCH).map(|some| file.check(some));
        results.collect::<Result<Vec<_>, _>>()
    });
    let mut found = Vec::new();
    for ((_, file), said) in files.iter().zip(said) {
        match said {
            Ok(said) => println!("{file}: {}", said.join("; ")),
            Err(why) => found.push(format!("{file}: {why}")),
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
