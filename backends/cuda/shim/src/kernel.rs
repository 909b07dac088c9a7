//! Loading and running kernels compiled against the shim.
//!
//! A kernel may access its arrays, within the given lengths, and the memory of its launch. On any
//! other access, or a read of unwritten memory, the shim stops the kernel and reports it.

use crate::memory::{Memory, Part};
use crate::stub::{Kernels, Run, Stub};
use libloading::{Library, Symbol};
use livefusion_cuda::call::{Call, MAX_PUBLISHED};
use livefusion_cuda::driver::cubin::Cubin;
use livefusion_cuda::driver::{Address, Fault};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char};
use std::path::PathBuf;
use std::str::Lines;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

/// Fiber switches after which a kernel counts as hanging: ten times the longest test's number.
const TURNS: u64 = 20_000_000;

/// The number of blocks alive at once.
const RESIDENT: u32 = 3;

/// Describes a device whose kernels run on the shim.
#[derive(Clone, Copy, Debug)]
pub struct Shim {
    /// Its memory in bytes.
    pub memory: u64,
    /// The number of blocks that each of its two processors runs at once.
    pub blocks: u32,
    /// Thread switches after which a kernel counts as hanging.
    pub turns: u64,
}

impl Default for Shim {
    fn default() -> Shim {
        Shim {
            memory: 1 << 30,
            blocks: 2,
            turns: TURNS,
        }
    }
}

impl Shim {
    /// Returns its driver.
    pub fn driver(self) -> Arc<Stub> {
        let kernels = Shimmed {
            shim: self,
            seed: Arc::default(),
        };
        Stub::of(self.memory, Box::new(kernels))
    }
}

struct Shimmed {
    shim: Shim,
    /// The seed of the next run.
    seed: Arc<AtomicU32>,
}

impl Kernels for Shimmed {
    fn load(&self, cubin: &Cubin, name: &str) -> Result<Arc<dyn Run>, Fault> {
        let text = std::str::from_utf8(cubin.image()).unwrap_or_default();
        let code = code(text.lines(), name);
        let code = code.ok_or_else(|| super::error("CUDA_ERROR_INVALID_IMAGE"))?;
        Ok(Arc::new(Kernel {
            library: opened(&code.library)?,
            code,
            turns: self.shim.turns,
            seed: self.seed.clone(),
        }))
    }

    fn blocks_at_once(&self, _: u32) -> u32 {
        self.shim.blocks
    }
}

/// The compiler's description of a kernel.
struct Code {
    library: PathBuf,
    /// The function that runs it.
    go: String,
    arrays: Vec<Array>,
    /// The number of its parameter words.
    words: usize,
}

/// An array of a kernel's parameters.
struct Array {
    /// The position of its address word. Its length is the next word.
    word: usize,
    element: usize,
    name: CString,
}

fn code(mut lines: Lines<'_>, kernel: &str) -> Option<Code> {
    let mut names = lines.next()?.split(' ');
    names.find(|name| *name == kernel)?;
    let (library, go) = (lines.next()?.into(), format!("{}_{kernel}", lines.next()?));
    let (mut arrays, mut words) = (Vec::new(), None);
    for line in lines {
        let mut parts = line.split(' ');
        let word = parts.next()?.parse().ok()?;
        match (parts.next(), parts.next()) {
            (Some(element), Some(name)) => arrays.push(Array {
                word,
                element: element.parse().ok()?,
                name: CString::new(name).ok()?,
            }),
            _ => words = Some(word),
        }
    }
    Some(Code {
        library,
        go,
        arrays,
        words: words?,
    })
}

/// A library of kernels. It has one scheduler, so one kernel runs at a time.
struct Opened {
    library: Library,
    one: Mutex<()>,
}

/// Open libraries by path: each is opened once.
static OPENED: LazyLock<Mutex<HashMap<PathBuf, Weak<Opened>>>> = LazyLock::new(Mutex::default);

fn opened(path: &PathBuf) -> Result<Arc<Opened>, Fault> {
    let mut all = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(there) = all.get(path).and_then(Weak::upgrade) {
        return Ok(there);
    }
    // SAFETY: it was compiled by the shim's compiler; loading it runs nothing but what C++ does at the start.
    let library = unsafe { Library::new(path) }.map_err(|e| Fault::Missing(e.to_string()))?;
    let one = Mutex::default();
    let new = Arc::new(Opened { library, one });
    all.retain(|_, l| l.strong_count() > 0);
    all.insert(path.clone(), Arc::downgrade(&new));
    Ok(new)
}

/// A loaded kernel.
struct Kernel {
    library: Arc<Opened>,
    code: Code,
    turns: u64,
    seed: Arc<AtomicU32>,
}

/// The layout of `lf_range`.
#[repr(C)]
struct Range {
    name: *const c_char,
    at: *mut u8,
    bytes: u64,
    written: *mut u8,
}

type Go = unsafe extern "C" fn(*const u8, *const u8, u32, u32, u32, u32, u64) -> i32;
type Use = unsafe extern "C" fn(*const Range, u64);
type Said = unsafe extern "C" fn() -> *const c_char;

impl Run for Kernel {
    fn run(
        &self,
        memory: &mut Memory,
        blocks: u32,
        threads: u32,
        params: &[&[u8]],
    ) -> Result<(), Fault> {
        let [own, about] = params else {
            return Err(failed("not two parameters"));
        };
        // An empty struct takes a byte in C++.
        if own.len() != 8 * self.code.words.max(1) || about.len() != size_of::<Call>() {
            return Err(failed("parameters of another length"));
        }
        let (own, about) = (words(own), words(about));
        let mut ranges = self.arrays(memory, &own)?;
        let ticket = launch(memory, &about, &mut ranges)?;
        self.go(&ranges, [&own, &about], blocks, threads)?;
        // SAFETY: eight bytes of memory, which is borrowed alone.
        match unsafe { ticket.at.cast::<u64>().read_unaligned() } {
            0 => Ok(()),
            _ => Err(failed("tickets are left for the next launch")),
        }
    }
}

impl Kernel {
    /// Returns the arrays of its parameters.
    fn arrays(&self, memory: &mut Memory, own: &[u64]) -> Result<Vec<Range>, Fault> {
        let mut ranges = Vec::new();
        for array in &self.code.arrays {
            let (at, length) = (own[array.word], own[array.word + 1]);
            if length > 0 {
                let part = memory.part(Address(at), length as usize * array.element);
                let none = || failed(&format!("{:?} is not in memory", array.name));
                ranges.push(range(&array.name, part.ok_or_else(none)?));
            }
        }
        Ok(ranges)
    }

    fn go(
        &self,
        ranges: &[Range],
        [own, about]: [&[u64]; 2],
        blocks: u32,
        threads: u32,
    ) -> Result<(), Fault> {
        let one = self.library.one.lock();
        let _one = one.unwrap_or_else(PoisonError::into_inner);
        let seed = self.seed.fetch_add(1, Ordering::Relaxed);
        let missing = |e: libloading::Error| Fault::Missing(e.to_string());
        let library = &self.library.library;
        // SAFETY: functions of the shim and of the kernel's text, with their declared types; the
        // ranges live until they have returned, and the kernel reads and writes nothing else: the
        // shim ends it at any other access. The shim's message lives until the next run, for which
        // the library is locked.
        let (code, said) = unsafe {
            let go: Symbol<'_, Go> = library.get(self.code.go.as_bytes()).map_err(missing)?;
            let may_use: Symbol<'_, Use> = library.get(b"lf_memory").map_err(missing)?;
            let said: Symbol<'_, Said> = library.get(b"lf_said").map_err(missing)?;
            may_use(ranges.as_ptr(), ranges.len() as u64);
            let (own, about) = (own.as_ptr().cast(), about.as_ptr().cast());
            let code = go(own, about, blocks, threads, RESIDENT, seed, self.turns);
            (code, CStr::from_ptr(said()).to_string_lossy().into_owned())
        };
        match code {
            0 => Ok(()),
            _ => Err(failed(&said)),
        }
    }
}

/// Adds the memory ranges of a launch's [`Call`]. Returns its two tickets.
fn launch(memory: &mut Memory, about: &[u64], ranges: &mut Vec<Range>) -> Result<Part, Fault> {
    let (at, published) = about.split_at(about.len() - MAX_PUBLISHED);
    let [_, _, _, ticket, trapped, stopped, result, ..] = at else {
        return Err(failed("a launch of another form"));
    };
    let none = |what: &str| failed(&format!("{what} is not in memory"));
    let ticket = memory.part(Address(*ticket), 8);
    let ticket = ticket.ok_or_else(|| none("the ticket"))?;
    ranges.push(range(c"the ticket", ticket));
    let trapped = memory.rest_of_words(Address(*trapped));
    let trapped = trapped.ok_or_else(|| none("the trap's flag"))?;
    ranges.push(range(
        c"the trap's flag",
        Part {
            bytes: 4,
            ..trapped
        },
    ));
    if let Some(stopped) = memory.rest_of_words(Address(*stopped)) {
        let name = c"the flag of the launch before";
        ranges.push(range(
            name,
            Part {
                bytes: 4,
                ..stopped
            },
        ));
    }
    if let Some(rest) = memory.rest_of_words(Address(*result)) {
        ranges.push(range(c"the result", rest));
    }
    for (level, at) in published.iter().enumerate().filter(|(_, at)| **at != 0) {
        let rest = memory.rest(Address(*at));
        let rest = rest.ok_or_else(|| none("the sums of tiles"))?;
        let next = published[level + 1..].iter().find(|next| **next > *at);
        let bytes = next.map_or(rest.bytes, |next| (next - at) as usize);
        ranges.push(range(c"the sums of tiles", Part { bytes, ..rest }));
    }
    Ok(ticket)
}

fn range(name: &CStr, part: Part) -> Range {
    Range {
        name: name.as_ptr(),
        at: part.at,
        bytes: part.bytes as u64,
        written: part.written,
    }
}

fn words(bytes: &[u8]) -> Vec<u64> {
    let (words, rest) = bytes.as_chunks();
    assert!(rest.is_empty(), "whole words");
    words.iter().map(|w| u64::from_le_bytes(*w)).collect()
}

/// Returns the fault of a failed kernel.
fn failed(said: &str) -> Fault {
    Fault::Device {
        doing: "run a kernel",
        name: "SHIM".into(),
        text: said.into(),
    }
}
