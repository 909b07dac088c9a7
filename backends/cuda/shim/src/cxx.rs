//! Compilation of kernels against the shim, by a C++ compiler.

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

/// The number of kernels per compilation.
const BATCH: usize = 40;

fn compiler() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "g++".into())
}

/// Returns whether there is a C++ compiler, and reports a missing one.
pub fn can_compile() -> bool {
    let can = Command::new(compiler()).arg("--version").output().is_ok();
    if !can {
        eprintln!("SKIPPED: no compiler of C++ here (`CXX`, or g++)");
    }
    can
}

/// Holds a C++ compiler with the compiled shim.
///
/// Clones share their compiled kernels.
#[derive(Clone)]
pub struct Cxx {
    place: Arc<Place>,
    /// A text of the prelude, and its replacement.
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
    ///
    /// Returns the compiler's messages.
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

    /// Returns a compiler that replaces a text in the prelude or in this kernel.
    ///
    /// # Panics
    ///
    /// Panics if the text does not occur exactly once.
    #[must_use]
    pub fn tampered_in(&self, kernel: &str, from: &str, to: &str) -> Cxx {
        let count = PRELUDE.matches(from).count() + kernel.matches(from).count();
        assert_eq!(count, 1, "{from}");
        Cxx {
            place: self.place.clone(),
            tampered: Some((from.into(), to.into())),
            made: Arc::default(),
        }
    }

    /// Returns a compiler that replaces a text in the prelude.
    ///
    /// # Panics
    ///
    /// Panics if the text does not occur exactly once.
    #[must_use]
    pub fn tampered(&self, from: &str, to: &str) -> Cxx {
        self.tampered_in("", from, to)
    }

    /// Compiles kernels in advance, many at once.
    ///
    /// `texts` are the kernels' own texts.
    ///
    /// # Errors
    ///
    /// Returns the compiler's messages.
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
            let names = kernel_names(text)?;
            spaced(&mut source, i, &names, &self.changed(text));
            kernels.push((i, names.join(" "), *text));
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
        self.changed(PRELUDE)
    }

    fn changed(&self, text: &str) -> String {
        match &self.tampered {
            Some((from, to)) => text.replace(from, to),
            None => text.into(),
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
    /// Compiles a text to a library.
    fn library(&self, source: &str) -> Result<PathBuf, Fault> {
        let name = format!("kernels_{}", self.next.fetch_add(1, Ordering::Relaxed));
        let file = |end: &str| format!("{name}.{end}");
        std::fs::write(self.folder.path().join(file("cpp")), source).map_err(io)?;
        // The shim handles the sanitizer's access callbacks. The sanitizer's own library is not
        // linked.
        self.compile(&file("cpp"), &file("o"), &["-c", "-fsanitize=thread"])?;
        self.compile(&file("o"), &file("so"), &["-shared", "shim.o"])?;
        Ok(self.folder.path().join(file("so")))
    }

    fn compile(&self, from: &str, to: &str, more: &[&str]) -> Result<(), Fault> {
        let result = Command::new(compiler())
            .current_dir(self.folder.path())
            .args(["-std=c++17", "-O1", "-fPIC", "-ffp-contract=off", "-w"])
            // Fibers jump between stacks.
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

/// Returns the names of the kernels of a text.
fn kernel_names(text: &str) -> Result<Vec<&str>, Fault> {
    let kernels = text.lines().filter(|l| l.starts_with("LF_KERNEL("));
    let behind = kernels.filter_map(|l| Some(l.split_once(") ")?.1));
    let names: Vec<&str> = behind.filter_map(|l| l.split('(').next()).collect();
    let none = || Fault::Compiler {
        log: "there is no kernel in the text".into(),
    };
    (!names.is_empty()).then_some(names).ok_or_else(none)
}

/// Writes a text of kernels in its own namespace, with the functions that call them.
fn spaced(out: &mut String, i: usize, names: &[&str], text: &str) {
    let _ = writeln!(out, "namespace lf_space_{i} {{\n{text}\n}}");
    for name in names {
        let program = name.trim_end_matches("_kernel");
        let _ = write!(
            out,
            "namespace lf_space_{i} {{\n\
             struct {name}_call {{ {program}::Params params; lf_launch launch; }};\n\
             static void {name}_body(const void *at) {{\n  \
             const {name}_call &call = *static_cast<const {name}_call *>(at);\n  \
             {name}(call.params, call.launch);\n}}\n}}\n\
             extern \"C\" i32 lf_go_{i}_{name}(const void *params, const lf_launch *launch, u32 blocks, u32 threads, \
             u32 resident, u32 seed, u64 turns) {{\n  \
             lf_space_{i}::{name}_call call;\n  memcpy(&call.params, params, sizeof call.params);\n  \
             call.launch = *launch;\n  \
             return lf_run(lf_space_{i}::{name}_body, &call, sizeof call, blocks, threads, resident, seed, turns);\n}}\n"
        );
    }
}

/// Writes the image to load.
///
/// It lists the kernels' names, the library, the prefix of its functions, and the positions of
/// arrays among the parameter words.
fn image(library: &Path, i: usize, text: &str, names: &str) -> String {
    let mut image = format!("{names}\n{}\nlf_go_{i}\n", library.display());
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
    image + &format!("{word}\n")
}
