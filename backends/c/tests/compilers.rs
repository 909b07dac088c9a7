//! Compilers that hang, fail, leave processes behind or are killed.
//!
//! Compilation must not wait for them, and nothing of them may remain. The compilers are shell
//! scripts. Each compiling process is this program again, with its own temporary folder.
#![cfg(unix)]

mod common;

use common::*;
use livefusion_backend::{Backend, CompileError};
use livefusion_c::{CBackend, CompilerLimits, KernelCache};
use loop_lang::Const;
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Names the compiler of a child process.
const CC: &str = "LIVEFUSION_TEST_CC";
/// Its time limit in milliseconds.
const MILLIS: &str = "LIVEFUSION_TEST_MILLIS";

/// Whether its code checks itself.
const SANITIZED: &str = "LIVEFUSION_TEST_SANITIZED";

/// Longer than any test waits.
const LONG: u64 = 60_000;

/// The actions and messages of a child. The test does nothing unless a parent started it.
#[test]
fn child() {
    let Some(cc) = std::env::var_os(CC) else {
        return;
    };
    let millis = std::env::var(MILLIS).unwrap().parse().unwrap();
    let limits = CompilerLimits {
        time: Duration::from_millis(millis),
        memory: 512 << 20,
    };
    let mut backend = CBackend::with_compiler(PathBuf::from(cc)).with_limits(limits);
    if std::env::var_os(SANITIZED).is_some() {
        backend = backend.sanitized();
    }
    let said = match backend.compile(&loop_file("map")) {
        Ok(kernel) => {
            let data = [Data::F64(vec![1.5]), Data::Scalar(Const::f64(2.0))];
            assert_eq!(run(&*kernel, &args(&data)).1[0].1, [4f64.to_bits()]);
            "ran".into()
        }
        Err(CompileError::Unavailable { why, .. }) => format!("unavailable {why}"),
        Err(e @ CompileError::TimedOut { .. }) => {
            // It has never succeeded, so it is not run again.
            let again = backend.compile(&loop_file("map")).err();
            assert!(matches!(again, Some(CompileError::Unavailable { .. })));
            format!("timed out {e}")
        }
        Err(e) => format!("failed {e}"),
    };
    let used = backend.disk_use();
    println!("\nCHILD {} {} {said}", used.refused, used.failed);
}

/// The folder of a test: compilers, a temporary folder for children, a cache.
struct Place {
    folder: TempDir,
    /// The number of compilers made. A process may be about to start an earlier one.
    compilers: Cell<u32>,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tmp")).unwrap();
        let compilers = Cell::new(0);
        Place { folder, compilers }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes a script, written by another process.
    ///
    /// A process started by a parallel test would inherit an open file, and the system would then
    /// refuse to run it.
    fn script(&self, text: &str) -> PathBuf {
        self.compilers.update(|n| n + 1);
        let path = self.path(&format!("cc-{}", self.compilers.get()));
        let write = "printf '#!/bin/sh\\n%s' \"$1\" > \"$0\" && chmod 700 \"$0\"";
        let mut command = Command::new("sh");
        let done = command.args(["-c", write]).arg(&path).arg(text).status();
        assert!(done.unwrap().success());
        path
    }

    /// Makes a script that runs a command and then compiles. All tests compile one source, so it
    /// caches the output.
    fn compiles_after(&self, text: &str) -> PathBuf {
        let cc = livefusion_c::system_compiler().unwrap();
        let (cc, made) = (cc.display(), self.path("made.so"));
        let made = made.display();
        // The last two arguments are the output and the source.
        let out = "while [ $# -gt 2 ]; do shift; done; out=$1";
        self.script(&format!(
            "{text}\nif [ ! -f {made} ]; then {cc} \"$@\" && ({out}; cp $out {made}.$$ && mv {made}.$$ {made})\n\
             else {out}; cp {made} $out; fi\n"
        ))
    }

    /// Starts a process that compiles, after a shell command.
    fn start_after(&self, first: &str, cc: &Path, millis: u64) -> Child {
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("{first}\nexec \"$@\""), "sh"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture"])
            .env(CC, cc)
            .env(MILLIS, millis.to_string())
            .env("TMPDIR", self.path("tmp"))
            .env("LIVEFUSION_CACHE_DIR", self.path("kernels"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    fn start(&self, cc: &Path, millis: u64) -> Child {
        self.start_after(":", cc, millis)
    }

    /// Lists the children's temporary folder.
    fn left(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("tmp")).unwrap();
        entries.map(|e| e.unwrap().path()).collect()
    }

    /// Returns the text that a compiler wrote into a file, once it exists.
    fn read(&self, name: &str) -> String {
        soon("a file", || {
            fs::read_to_string(self.path(name))
                .ok()
                .filter(|t| t.ends_with('\n'))
        })
        .trim()
        .to_string()
    }
}

/// Returns refused cache entries, compiler failures, and the child's message.
fn end(child: Child) -> (u64, u64, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = child.wait_with_output().unwrap();
    let text = String::from_utf8(stdout).unwrap();
    let stderr = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{text}{stderr}");
    let line = text.lines().find_map(|l| l.strip_prefix("CHILD "));
    let mut words = line.unwrap().splitn(3, ' ');
    let mut count = || words.next().unwrap().parse().unwrap();
    (count(), count(), words.next().unwrap().into())
}

/// Waits until a result is found.
fn soon<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "no {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until a process has ended. A zombie counts as ended.
fn gone(pid: &str) {
    soon("end of a process", || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .trim()
            .chars()
            .next();
        matches!(state, None | Some('Z' | 'X')).then_some(())
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_compiler_that_hangs_is_ended_with_all_that_it_started() {
    let place = Place::new();
    let file = |name| place.path(name).display().to_string();
    let cc = place.script(&format!(
        "sleep 1000 & echo $! > {}; touch $TMPDIR/more; echo $$ > {}; sleep 1000\n",
        file("stray"),
        file("pid")
    ));
    let (_, failed, said) = end(place.start(&cc, 700));
    assert_eq!(failed, 1);
    assert!(
        said.starts_with("timed out") && said.contains("did not end within 700ms"),
        "{said}"
    );
    gone(&place.read("pid"));
    gone(&place.read("stray"));
    assert_eq!(place.left(), Vec::<PathBuf>::new());
}

#[test]
fn a_compiler_that_has_worked_is_asked_again() {
    let place = Place::new();
    let flag = place.path("hang");
    let cc = place.compiles_after(&format!(
        "if [ -f {} ]; then sleep 1000; fi",
        flag.display()
    ));
    let limits = CompilerLimits {
        time: Duration::from_millis(500),
        ..CompilerLimits::default()
    };
    // The first compilation is the real one, without a tight limit.
    end(place.start(&cc, LONG));
    let map = loop_file("map");
    let result = |backend: &CBackend| backend.compile(&map).map(|_| ());
    let backend = soon("kernel", || {
        // The machine may be busy.
        let backend = CBackend::with_compiler(&cc).with_cache(KernelCache::off());
        let backend = backend.with_limits(limits);
        result(&backend).is_ok().then_some(backend)
    });
    fs::write(&flag, "").unwrap();
    assert!(matches!(
        result(&backend),
        Err(CompileError::TimedOut { .. })
    ));
    fs::remove_file(&flag).unwrap();
    soon("kernel", || result(&backend).ok());
}

/// A wrapper may leave a server behind that inherits all its open files.
#[test]
fn nobody_waits_for_what_a_compiler_leaves_behind() {
    let place = Place::new();
    for stray in ["sleep 1000 &", "setsid sleep 20 &"] {
        let cc = place.compiles_after(stray);
        let start = Instant::now();
        let ended = end(place.start(&cc, LONG));
        assert_eq!(ended, (0, 0, "ran".into()), "{stray}");
        assert!(start.elapsed() < Duration::from_secs(20), "{stray}");
        assert_eq!(place.left(), Vec::<PathBuf>::new());
    }
}

#[test]
fn failures_are_quoted_and_counted() {
    let place = Place::new();
    let cc = place.script("echo 'kernel.c:1: error: out of coffee' >&2; exit 1\n");
    let (_, failed, said) = end(place.start(&cc, LONG));
    assert_eq!(failed, 1);
    assert!(said.starts_with("failed"), "{said}");
    // A compiler script with a missing interpreter cannot run at all.
    let cc = place.path("cc");
    fs::write(&cc, "#!/nowhere/sh\n").unwrap();
    let (.., said) = end(place.start(&cc, LONG));
    assert!(said.starts_with("unavailable cannot run"), "{said}");
    assert_eq!(place.left(), Vec::<PathBuf>::new());
}

#[cfg(target_os = "linux")]
#[test]
fn a_compiler_has_so_much_memory() {
    let place = Place::new();
    let cc = place.script("echo \"error: $(ulimit -d) KiB, $(ulimit -t) s\" >&2; exit 1\n");
    let (.., said) = end(place.start(&cc, LONG));
    let said_of = |cc: &Path, first: &str| {
        let child = place
            .start_after(first, cc, LONG)
            .wait_with_output()
            .unwrap();
        String::from_utf8_lossy(&child.stdout).into_owned()
    };
    assert!(said.starts_with("failed"), "{said}");
    assert!(said_of(&cc, ":").contains("error: 524288 KiB, 61 s"));
    // The process's own limits also hold for the compiler.
    assert!(said_of(&cc, "ulimit -t 40; ulimit -d 400000").contains("error: 400000 KiB, 40 s"));
    let cc = place.script("awk 'BEGIN { x = \"x\"; while (1) x = x x }' || exit 1\n");
    let (_, failed, said) = end(place.start(&cc, LONG));
    assert!(failed == 1 && said.starts_with("failed"), "{said}");
    assert_eq!(place.left(), Vec::<PathBuf>::new());
}

/// The next process removes a killed one's folders, and nothing else.
#[test]
fn folders_of_killed_processes_go_with_the_next() {
    let place = Place::new();
    let theirs = [
        place.path("tmp/livefusion-0.1.0"),
        place.path("tmp/livefusion-compiles-abcdefghijkl"),
    ];
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(30 * 24 * 3600);
    for folder in &theirs {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("thesis.txt"), "").unwrap();
        fs::File::open(folder)
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
    }
    // The compiler of a killed process keeps running.
    let hangs = place.script("exec sleep 40\n");
    let made = || {
        place
            .left()
            .into_iter()
            .find(|p| !theirs.contains(p) && p.join("kernel.c").exists())
    };
    let mut first = place.start(&hangs, LONG);
    let left = soon("folder", made);
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(left.exists());
    // A folder in use stays.
    let mut second = place.start(&hangs, LONG);
    let used = soon("folder", || made().filter(|p| *p != left));
    assert!(!left.exists());
    let cc = place.compiles_after("");
    assert_eq!(end(place.start(&cc, LONG)).2, "ran");
    assert!(used.join("kernel.c").exists());
    for folder in &theirs {
        assert!(folder.join("thesis.txt").exists());
    }
    second.kill().unwrap();
    second.wait().unwrap();
}

#[test]
fn kills_in_mid_compile_leave_nothing_that_lasts() {
    let place = Place::new();
    let cc = place.compiles_after("sleep 0.03");
    // Now the real compiler.
    assert_eq!(end(place.start(&cc, LONG)).2, "ran");
    for i in 0..50 {
        let _ = fs::remove_dir_all(place.path("kernels"));
        let mut child = place.start(&cc, LONG);
        std::thread::sleep(Duration::from_millis(i * 2));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    for _ in 0..2 {
        assert_eq!(end(place.start(&cc, LONG)), (0, 0, "ran".into()));
    }
    // A process may have been killed before it had locked and marked its folder. Such a folder is
    // nearly empty.
    let heavy = |p: &PathBuf| p.join("kernel.c").exists();
    assert_eq!(place.left().iter().filter(|p| heavy(p)).count(), 0);
}

#[test]
fn eight_processes_at_once() {
    let place = Place::new();
    let cc = place.compiles_after("sleep 0.05");
    let children: Vec<Child> = (0..8).map(|_| place.start(&cc, LONG)).collect();
    for child in children {
        assert_eq!(end(child), (0, 0, "ran".into()));
    }
    assert_eq!(place.left(), Vec::<PathBuf>::new());
}

/// Full disks (nothing can be written), and folders in which no file can be created.
#[cfg(target_os = "linux")]
#[test]
fn full_and_read_only_disks_are_reasons() {
    let place = Place::new();
    let cc = place.compiles_after("");
    let full = place.start_after("trap '' XFSZ; ulimit -f 0", &cc, LONG);
    let (.., said) = end(full);
    assert!(said.starts_with("unavailable"), "{said}");
    let (.., said) = end(place.start_after("export TMPDIR=/proc", &cc, LONG));
    assert!(
        said.starts_with("unavailable no temporary folder"),
        "{said}"
    );
    // A cache that cannot be created, and one that cannot be written.
    for cache in ["/proc/livefusion", "/proc/$$/fd"] {
        let first = format!("export LIVEFUSION_CACHE_DIR={cache}");
        assert_eq!(
            end(place.start_after(&first, &cc, LONG)).2,
            "ran",
            "{cache}"
        );
    }
    assert_eq!(place.left(), Vec::<PathBuf>::new());
}

/// Code is loaded from memory if the temporary folder forbids execution.
///
/// The test is skipped where it cannot mount such a disk.
#[cfg(target_os = "linux")]
#[test]
fn code_need_not_be_loaded_from_the_temporary_folder() {
    let place = Place::new();
    let cc = place.compiles_after("");
    let tmp = place.path("tmp");
    let mount = format!("mount -t tmpfs -o noexec none {} || exit 77", tmp.display());
    let inner = format!(
        "{mount}\nexport TMPDIR={}\nexec \"$0\" \"$@\"",
        tmp.display()
    );
    let first = format!("set -- unshare -Urm sh -c '{inner}' \"$@\"");
    let child = place
        .start_after(&first, &cc, LONG)
        .wait_with_output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout).into_owned();
    let mounted = child.status.success() || !said.is_empty();
    assert!(!mounted || said.contains("CHILD 0 0 ran"), "{said}");
}

/// A folder that others may write to is not used, and the user is warned once.
#[test]
fn a_cache_that_is_not_private_is_spoken_of_once() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let cc = place.compiles_after("");
    let kernels = place.path("kernels");
    fs::create_dir(&kernels).unwrap();
    fs::set_permissions(&kernels, fs::Permissions::from_mode(0o777)).unwrap();
    let child = place.start(&cc, LONG).wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&child.stderr).into_owned();
    let told = stderr
        .matches("livefusion: compiled kernels are not kept")
        .count();
    assert_eq!((child.status.success(), told), (true, 1), "{stderr}");
    fs::set_permissions(&kernels, fs::Permissions::from_mode(0o755)).unwrap();
    let child = place.start(&cc, LONG).wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&child.stderr), "");
    assert_eq!(fs::read_dir(&kernels).unwrap().count(), 1);
}

/// A process that runs for another user than its starter ignores the environment.
#[cfg(target_os = "linux")]
#[test]
fn for_another_user_no_programs_of_the_environment_are_run() {
    let place = Place::new();
    let asked = place.path("asked");
    let mark = place.script(&format!("touch {}; exit 1\n", asked.display()));
    let bin = place.path("bin");
    fs::create_dir(&bin).unwrap();
    for name in ["cc", "gcc", "clang", "as", "ld"] {
        fs::copy(&mark, bin.join(name)).unwrap();
    }
    let first = format!(
        "export CC={} PATH={}:$PATH TMPDIR={}\nset -- setpriv --ruid 12345 \"$@\"",
        mark.display(),
        bin.display(),
        place.path("tmp").display()
    );
    let child = place
        .start_after(&first, Path::new("cc"), LONG)
        .wait_with_output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout).into_owned();
    // Only root can start such a process. Other users skip the check.
    assert!(said.is_empty() || said.contains("CHILD 0 0 ran"), "{said}");
    assert!(!asked.exists());
    assert_eq!(place.left(), Vec::<PathBuf>::new());
}

/// An error is inserted here, since generated code is correct.
#[cfg(target_os = "linux")]
#[test]
fn sanitized_code_ends_the_process_where_it_is_wrong() {
    let place = Place::new();
    let library = Command::new("gcc")
        .arg("-print-file-name=libasan.so")
        .output();
    let library = library.map_or(String::new(), |o| String::from_utf8_lossy(&o.stdout).into());
    if !library.starts_with('/') {
        return; // There is no such gcc.
    }
    let said_of = |wrong: &str| {
        let source = "for source; do :; done";
        let add = format!(
            "echo '__attribute__((constructor)) static void f(void) {{ {wrong} }}' >> $source"
        );
        let cc = place.script(&format!("{source}; {add}; exec gcc \"$@\"\n"));
        let first = format!(
            "export {SANITIZED}=1 LD_PRELOAD={} ASAN_OPTIONS=detect_leaks=0 LIVEFUSION_CACHE_DIR=off",
            library.trim()
        );
        let child = place
            .start_after(&first, &cc, LONG)
            .wait_with_output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&child.stderr).into_owned();
        (child.status.success(), stderr)
    };
    let (well, stderr) = said_of("");
    assert!(well, "{stderr}");
    let (well, stderr) = said_of("volatile int a[2], *volatile p = a; p[2] = 1;");
    assert!(
        !well && stderr.contains("stack-buffer-overflow"),
        "{stderr}"
    );
    let (well, stderr) = said_of("volatile int i = 32; i = 1 << i;");
    assert!(!well && stderr.contains("shift exponent 32"), "{stderr}");
}
