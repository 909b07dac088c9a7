//! Kernels as a C++ compiler compiles them against the shim.

use livefusion_cuda::driver::cubin::Cubin;
use livefusion_cuda::driver::{Compiler, Fault};
use livefusion_cuda::emit::PRELUDE;
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::TempDir;

const SHIM: [(&str, &str); 3] = [
    ("shim.h", include_str!("shim.h")),
    ("shim.cpp", include_str!("shim.cpp")),
    ("prelude.cuh", PRELUDE),
];

/// Kernels that are compiled at once.
const BATCH: usize = 40;

fn compiler() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "g++".into())
}

/// Whether there is a C++ compiler; says so if not.
pub fn can_compile() -> bool {
    let can = Command::new(compiler()).arg("--version").output().is_ok();
    if !can {
        eprintln!("SKIPPED: no compiler of C++ here (`CXX`, or g++)");
    }
    can
}

/// A C++ compiler with the shim, compiled. Clones share what they compile.
#[derive(Clone)]
pub struct Cxx {
    place: Arc<Place>,
    /// What stands in the prelude, and what is put there.
    tampered: Option<(String, String)>,
    /// By the kernel's own text.
    made: Arc<Mutex<HashMap<String, Cubin>>>,
}

/// A folder with the shim.
struct Place {
    folder: TempDir,
    next: AtomicU64,
}

impl Cxx {
    /// Compiles the shim.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn new() -> Result<Cxx, Fault> {
        let folder = tempfile::tempdir().map_err(io)?;
        for (name, text) in SHIM {
            std::fs::write(folder.path().join(name), text).map_err(io)?;
        }
        let place = Place {
            folder,
            next: AtomicU64::new(0),
        };
        place.compile("shim.cpp", "shim.o", &["-c"])?;
        Ok(Cxx {
            place: Arc::new(place),
            tampered: None,
            made: Arc::default(),
        })
    }

    /// The same, with a prelude in which something else stands.
    ///
    /// # Panics
    /// What is to be replaced does not stand there once.
    #[must_use]
    pub fn tampered(&self, from: &str, to: &str) -> Cxx {
        assert_eq!(PRELUDE.matches(from).count(), 1, "{from}");
        Cxx {
            place: self.place.clone(),
            tampered: Some((from.into(), to.into())),
            made: Arc::default(),
        }
    }

    /// Compiles kernels that are going to be asked for, many at once: these are their own texts.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn prepare<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> Result<(), Fault> {
        let mut new: Vec<&str> = Vec::new();
        for text in texts {
            if !self.made().contains_key(text) && !new.contains(&text) {
                new.push(text);
            }
        }
        for batch in new.chunks(BATCH) {
            self.batch(batch)?;
        }
        Ok(())
    }

    fn made(&self) -> std::sync::MutexGuard<'_, HashMap<String, Cubin>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn batch(&self, texts: &[&str]) -> Result<(), Fault> {
        let (mut source, mut kernels) = (self.prelude(), Vec::new());
        source += "extern \"C\" i32 lf_run(void (*)(const void *), const void *, u64, u32, u32, u32, u32, u64);\n";
        for (i, text) in texts.iter().enumerate() {
            let names = kernel_names(text);
            spaced(&mut source, i, &names, text);
            kernels.push((i, names, *text));
        }
        let object = self.place.library(&source)?;
        for (i, names, text) in kernels {
            let image = image(&object, i, text, &names);
            // SAFETY: the library has just been made from this text.
            let cubin = unsafe { Cubin::new(image.into_bytes(), String::new()) };
            self.made().insert(text.into(), cubin);
        }
        Ok(())
    }

    fn prelude(&self) -> String {
        match &self.tampered {
            Some((from, to)) => PRELUDE.replace(from, to),
            None => PRELUDE.into(),
        }
    }
}

impl Compiler for Cxx {
    fn compile(&self, text: &str, _: &str) -> Result<Cubin, Fault> {
        let foreign = || Fault::Refused("a text without the prelude".into());
        let own = text.strip_prefix(PRELUDE).ok_or_else(foreign)?;
        self.prepare([own])?;
        self.made().get(own).cloned().ok_or_else(foreign)
    }
}

impl fmt::Debug for Cxx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cxx({})", compiler())
    }
}

impl Place {
    /// A library from a text.
    fn library(&self, source: &str) -> Result<PathBuf, Fault> {
        let name = format!("kernels_{}", self.next.fetch_add(1, Ordering::Relaxed));
        let file = |end: &str| format!("{name}.{end}");
        std::fs::write(self.folder.path().join(file("cpp")), source).map_err(io)?;
        // The accesses that the sanitizer is told of are the shim's to see; its own library is not there.
        self.compile(&file("cpp"), &file("o"), &["-c", "-fsanitize=thread"])?;
        self.compile(&file("o"), &file("so"), &["-shared", "shim.o"])?;
        Ok(self.folder.path().join(file("so")))
    }

    fn compile(&self, from: &str, to: &str, more: &[&str]) -> Result<(), Fault> {
        let result = Command::new(compiler())
            .current_dir(self.folder.path())
            .args(["-std=c++17", "-O1", "-fPIC", "-ffp-contract=off", "-w"])
            // Fibers jump from stack to stack.
            .args(["-fno-gnu-unique", "-U_FORTIFY_SOURCE", "-DLF_HOST"])
            .args(more)
            .args([from, "-o", to])
            .output()
            .map_err(io)?;
        match result.status.success() {
            true => Ok(()),
            false => Err(Fault::Compiler {
                log: String::from_utf8_lossy(&result.stderr).into_owned(),
            }),
        }
    }
}

fn io(why: std::io::Error) -> Fault {
    Fault::Missing(format!("no C++ compiler or no folder for it: {why}"))
}

/// The kernels of a text, each with the struct of its parameters.
fn kernel_names(text: &str) -> Vec<(&str, &str)> {
    let kernels = text.lines().filter(|l| l.starts_with("LF_KERNEL("));
    kernels.filter_map(kernel_name).collect()
}

fn kernel_name(line: &str) -> Option<(&str, &str)> {
    let (_, behind) = line.split_once(") ")?;
    let (name, params) = behind.split_once("(const ")?;
    Some((name, params.split_once("::Params ")?.0))
}

/// A text in a space of its own, and what calls its kernels.
fn spaced(out: &mut String, i: usize, names: &[(&str, &str)], text: &str) {
    let _ = writeln!(out, "namespace lf_space_{i} {{\n{text}\n}}");
    for (k, (name, program)) in names.iter().enumerate() {
        called(out, &format!("{i}_{k}"), i, name, program);
    }
}

fn called(out: &mut String, at: &str, i: usize, name: &str, program: &str) {
    let _ = write!(
        out,
        "namespace lf_space_{i} {{ namespace lf_call_{at} {{\n\
         struct lf_call {{ {program}::Params params; lf_launch launch; }};\n\
         static void lf_body(const void *at) {{\n  \
         const lf_call &call = *static_cast<const lf_call *>(at);\n  \
         {name}(call.params, call.launch);\n}}\n}} }}\n\
         extern \"C\" i32 lf_go_{at}(const void *params, const lf_launch *launch, u32 blocks, u32 threads, u32 resident, \
         u32 seed, u64 turns) {{\n  \
         lf_space_{i}::lf_call_{at}::lf_call call;\n  memcpy(&call.params, params, sizeof call.params);\n  call.launch = *launch;\n  \
         return lf_run(lf_space_{i}::lf_call_{at}::lf_body, &call, sizeof call, blocks, threads, resident, seed, turns);\n}}\n"
    );
}

/// What is loaded: the library, and of each kernel its name, the function in it, and where arrays are among the words of the
/// parameters.
fn image(library: &Path, i: usize, text: &str, names: &[(&str, &str)]) -> String {
    let mut image = format!("{}\n", library.display());
    for (k, (name, _)) in names.iter().enumerate() {
        let _ = writeln!(image, "kernel {name} lf_go_{i}_{k}");
        arrays(&mut image, text);
    }
    image
}

/// All kernels of a text have the same parameters.
fn arrays(image: &mut String, text: &str) {
    let params = text.split("struct Params {\n").nth(1).unwrap_or_default();
    let mut word = 0;
    for line in params.lines().map(str::trim).take_while(|l| *l != "};") {
        let array = line
            .strip_prefix("lf_array<")
            .and_then(|l| l.split_once("> "));
        if let Some((ty, name)) = array {
            let bytes = ty.trim_start_matches(char::is_alphabetic).parse::<u32>();
            let bytes = bytes.map_or(1, |bits| bits / 8);
            let _ = writeln!(image, "{word} {bytes} {}", name.trim_end_matches(';'));
            word += 1;
        }
        word += 1;
    }
    let _ = writeln!(image, "{word}");
}
