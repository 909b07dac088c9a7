//! Kernels on the host: a C++ compiler (`CXX`, or g++) compiles them against the shim, whose fibers run them by turns in any
//! order, and which sees each access to memory.
#![allow(dead_code, reason = "each test crate uses a part")]

use crate::support::{Owned, Rng, kernel as interpreted, random_args};
use libloading::{Library, Symbol};
use livefusion_backend::{Arg, Buffer, Frame, Held, Kernel as _, Outcome, Pass, Value};
use livefusion_cuda::driver::Fault;
use livefusion_cuda::emit::{Given, Kernel, PRELUDE};
use livefusion_cuda::run::{Call, Device, Launch, Launched, MOST_TOLD, Ready, Way};
use livefusion_cuda::shape::Shape;
use loop_lang::Loop;
use loop_lang::ir::StmtKind;
use loop_lang::types::Ty;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::LazyLock;
use tempfile::TempDir;

/// Turns of fibers after which a kernel is taken to wait for ever: some ten times what the longest one here takes.
const TURNS: u64 = 20_000_000;

/// A folder with the shim, compiled.
struct Place {
    folder: TempDir,
    shim: PathBuf,
}

static PLACE: LazyLock<Place> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let shim = folder.path().join("shim.o");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shim");
    std::fs::write(folder.path().join("prelude.cuh"), PRELUDE).expect("written");
    compile(&sources.join("shim.cpp"), &shim, &["-c"]);
    Place { folder, shim }
});

fn compiler() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "g++".into())
}

/// Whether there is one; says so if not.
pub fn can_compile() -> bool {
    let can = Command::new(compiler()).arg("--version").output().is_ok();
    if !can {
        eprintln!("SKIPPED: no compiler of C++ here (`CXX`, or g++)");
    }
    can
}

fn compile(from: &Path, to: &Path, more: &[&str]) {
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shim");
    let result = Command::new(compiler())
        .args(["-std=c++17", "-O1", "-fPIC", "-ffp-contract=off"])
        .args(["-fno-gnu-unique", "-DLF_HOST", "-I"])
        .arg(headers)
        .args(more)
        .arg(from)
        .arg("-o")
        .arg(to)
        .output()
        .expect("a compiler of C++ is there");
    let said = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success(), "{}:\n{said}", from.display());
}

/// What `lf_cell` is.
#[repr(C, align(16))]
#[derive(Clone, Copy, Default)]
struct Cell {
    word: u64,
    tag: u64,
}

/// Memory that launches use one after the other.
#[derive(Default)]
struct Kept {
    number: u64,
    ticket: [u32; 2],
    cells: [Vec<Cell>; MOST_TOLD],
}

type Go = unsafe extern "C" fn(*const u64, *const u8, u32, u32, u32, u32, u64) -> i32;

/// What `lf_range` is.
#[repr(C)]
struct Range {
    name: *const c_char,
    at: *mut u8,
    bytes: u64,
    written: *mut u8,
}

/// Memory that a kernel may use.
#[derive(Default)]
struct Memory {
    names: Vec<CString>,
    /// The name's place, the address, the bytes; and for each byte whether it was written, where not all of them are.
    ranges: Vec<(usize, *mut u8, usize, Option<Vec<u8>>)>,
}

impl Memory {
    fn add<T>(&mut self, name: &str, at: *mut T, bytes: usize, is_there: bool) {
        let written = (!is_there).then(|| vec![0; bytes]);
        self.ranges
            .push((self.names.len(), at.cast(), bytes, written));
        self.names.push(CString::new(name).expect("no zero"));
    }

    fn vector<T>(&mut self, name: &str, words: &mut [T], is_there: bool) {
        self.add(
            name,
            words.as_mut_ptr(),
            std::mem::size_of_val(words),
            is_there,
        );
    }

    /// What nobody has written is zero again.
    fn fill_holes(&self) {
        for (_, at, _, written) in &self.ranges {
            let marks = written.iter().flat_map(|w| w.iter().enumerate());
            for (i, _) in marks.filter(|(_, w)| **w == 0) {
                // SAFETY: a byte of a range, which lives as long as the launch; nobody uses it now.
                unsafe { at.add(i).write(0) };
            }
        }
    }

    fn ranges(&mut self) -> Vec<Range> {
        let range = |(name, at, bytes, written): &mut (usize, *mut u8, usize, Option<Vec<u8>>)| {
            let written = written.as_mut().map(|w| w.as_mut_ptr());
            Range {
                name: self.names[*name].as_ptr(),
                at: *at,
                bytes: *bytes as u64,
                written: written.unwrap_or(std::ptr::null_mut()),
            }
        };
        self.ranges.iter_mut().map(range).collect()
    }
}

/// A kernel, compiled for the shim.
pub struct Shim {
    library: Rc<Library>,
    go: String,
    /// Of each array that the kernel is given its name, the size of its elements, and whether they are there from the start.
    arrays: Vec<(String, usize, bool)>,
    seed: std::cell::Cell<u32>,
    kept: RefCell<Kept>,
    resident: u32,
    /// Turns after which it is taken to wait for ever.
    pub turns: u64,
}

impl Shim {
    /// A loop's.
    pub fn of(name: &str, program: &Loop, kernel: &Kernel) -> Shim {
        Shim::with(name, program, kernel, PRELUDE)
    }

    /// With a prelude that may have been tampered with.
    pub fn with(name: &str, program: &Loop, kernel: &Kernel, prelude: &str) -> Shim {
        let all = Shim::all(name, &[(program, kernel)], prelude);
        all.into_iter().next().expect("one")
    }

    /// Several kernels, compiled at once. Their names differ.
    pub fn all(name: &str, kernels: &[(&Loop, &Kernel)], prelude: &str) -> Vec<Shim> {
        let Place { folder, shim } = &*PLACE;
        let file = |end: &str| folder.path().join(format!("{name}.{end}"));
        let (source, kernel, object) = (file("cpp"), file("o"), file("so"));
        let texts = kernels
            .iter()
            .enumerate()
            .map(|(i, (_, kernel))| spaced(i, kernel));
        let text = format!(
            "{prelude}\nextern \"C\" i32 lf_run(void (*)(const void *), const void *, u64, u32, u32, u32, u32, u64);\n{}",
            texts.collect::<String>()
        );
        std::fs::write(&source, text).expect("written");
        // The accesses that the sanitizer is told of are the shim's to see; its own library is not there.
        compile(&source, &kernel, &["-c", "-fsanitize=thread"]);
        compile(&kernel, &object, &["-shared", &shim.to_string_lossy()]);
        // SAFETY: what was just compiled; loading it runs nothing but what C++ does at the start.
        let library = Rc::new(unsafe { Library::new(&object) }.expect("loads"));
        let each = kernels.iter().enumerate();
        each.map(|(i, (program, kernel))| Shim {
            library: library.clone(),
            go: format!("lf_go_{i}"),
            arrays: arrays(program, kernel),
            seed: std::cell::Cell::new(1),
            kept: RefCell::default(),
            resident: 3,
            turns: TURNS,
        })
        .collect()
    }

    /// # Safety
    /// It is of this type.
    unsafe fn function<T>(&self, name: &str) -> Result<Symbol<'_, T>, Fault> {
        // SAFETY: as of the caller.
        unsafe { self.library.get(name.as_bytes()) }.map_err(|e| Fault::Refused(e.to_string()))
    }
}

/// A kernel's text in a space of its own, and what calls it.
fn spaced(i: usize, kernel: &Kernel) -> String {
    let program = kernel.name.trim_end_matches("_kernel");
    format!(
        "namespace lf_space_{i} {{\n{}\n\
         struct lf_call {{ {program}::Params params; lf_launch launch; }};\n\
         static void lf_body(const void *at) {{\n  \
         const lf_call &call = *static_cast<const lf_call *>(at);\n  \
         {}(call.params, call.launch);\n}}\n}}\n\
         extern \"C\" i32 lf_go_{i}(const u64 *params, const void *launch, u32 blocks, u32 threads, u32 resident, \
         u32 seed, u64 turns) {{\n  \
         lf_space_{i}::lf_call call;\n  memcpy(&call.params, params, sizeof call.params);\n  memcpy(&call.launch, launch, sizeof call.launch);\n  \
         return lf_run(lf_space_{i}::lf_body, &call, sizeof call, blocks, threads, resident, seed, turns);\n}}\n",
        kernel.text, kernel.name
    )
}

fn arrays(program: &Loop, kernel: &Kernel) -> Vec<(String, usize, bool)> {
    let stmts = program.blocks.iter().flat_map(|(_, b)| &b.stmts);
    let new = stmts.filter_map(|s| match s.kind {
        StmtKind::NewArray(v, ..) => Some(v),
        _ => None,
    });
    let new: Vec<_> = new.collect();
    let given = kernel.given.iter().filter_map(|g| match g {
        Given::Array(v) => Some(*v),
        _ => None,
    });
    let array = |v| {
        (
            program.name(v).into(),
            program.ty(v).elem().size(),
            !new.contains(&v),
        )
    };
    given.map(array).collect()
}

impl Device for Shim {
    fn argument(&self, arg: &Arg<'_>) -> Result<u64, Fault> {
        match arg {
            Arg::Array(view) => Ok(view.as_ptr() as u64),
            _ => Err(Fault::Refused("no array of the host".into())),
        }
    }

    fn made(&self, place: &mut Option<Held<'_>>) -> Result<u64, Fault> {
        let none = || Fault::Refused("an array was not made".into());
        Ok(place.as_mut().ok_or_else(none)?.as_mut_ptr() as u64)
    }

    fn launch(&self, kernel: &Kernel, launch: Launch<'_>) -> Result<Launched, Fault> {
        self.seed.set(self.seed.get() + 1);
        // As many as there are tiles, or fewer.
        let tiles = u32::try_from(launch.blocks).map_err(|e| Fault::Refused(e.to_string()))?;
        let few = !self.seed.get().is_multiple_of(2);
        let blocks = if few { tiles.min(3) } else { tiles };
        let (mut trapped, mut result) = ([0u32], vec![0u64; kernel.words()]);
        let kept = &mut *self.kept.borrow_mut();
        kept.number += 1;
        let needed = kernel.cells(u64::from(tiles)).into_iter();
        for (needed, cells) in needed.zip(&mut kept.cells) {
            // It is zero when it is made, and never cleared.
            cells.resize(cells.len().max(needed as usize), Cell::default());
        }
        let mut memory = Memory::default();
        memory.vector("the ticket", &mut kept.ticket, true);
        memory.vector("the trap's flag", &mut trapped, true);
        memory.vector("the result", &mut result, false);
        for cells in &mut kept.cells {
            memory.vector("what tiles tell each other", cells, true);
        }
        let call = Call {
            first: launch.first,
            steps: launch.steps,
            number: kept.number,
            ticket: kept.ticket.as_mut_ptr() as u64,
            trapped: trapped.as_mut_ptr() as u64,
            result: result.as_mut_ptr() as u64,
            told: kept.cells.each_mut().map(|c| c.as_mut_ptr() as u64),
        };
        self.add_arrays(&mut memory, kernel, launch.params)?;
        self.run(
            &mut memory,
            launch.params,
            &call,
            (blocks, kernel.threads()),
        )?;
        memory.fill_holes();
        match kept.ticket {
            [0, 0] => Ok(Launched {
                result,
                trapped: trapped[0] != 0,
            }),
            _ => Err(Fault::Refused(
                "tickets are left for the next launch".into(),
            )),
        }
    }
}

impl Shim {
    /// The arrays that a kernel is given.
    fn add_arrays(
        &self,
        memory: &mut Memory,
        kernel: &Kernel,
        params: &[u64],
    ) -> Result<(), Fault> {
        let few = || Fault::Refused("too few parameters".into());
        let (mut words, mut named) = (params.iter(), self.arrays.iter());
        for given in &kernel.given {
            let first = words.next().ok_or_else(few)?;
            if let Given::Array(_) = given {
                let length = *words.next().ok_or_else(few)? as usize;
                let (name, size, is_there) = named.next().ok_or_else(few)?;
                memory.add(name, *first as *mut u8, length * size, *is_there);
            }
        }
        Ok(())
    }

    fn run(
        &self,
        memory: &mut Memory,
        params: &[u64],
        call: &Call,
        (blocks, threads): (u32, u32),
    ) -> Result<(), Fault> {
        let (ranges, call) = (memory.ranges(), call.bytes());
        // What is empty is a byte in C++.
        let params = if params.is_empty() { &[0] } else { params };
        // SAFETY: functions of the text above and of the shim, with what they are declared with; the ranges and the arrays
        // of the parameters live until they have returned, and the kernel reads and writes nothing else: where it would,
        // the shim ends it. What the shim says lives until the next run.
        let (code, said) = unsafe {
            let go: Symbol<'_, Go> = self.function(&self.go)?;
            let use_memory: Symbol<'_, unsafe extern "C" fn(*const Range, u64)> =
                self.function("lf_memory")?;
            let said: Symbol<'_, unsafe extern "C" fn() -> *const c_char> =
                self.function("lf_said")?;
            use_memory(ranges.as_ptr(), ranges.len() as u64);
            let code = go(
                params.as_ptr(),
                call.as_ptr(),
                blocks,
                threads,
                self.resident,
                self.seed.get(),
                self.turns,
            );
            (code, CStr::from_ptr(said()).to_string_lossy().into_owned())
        };
        match code {
            0 => Ok(()),
            _ => Err(Fault::Refused(said)),
        }
    }
}

/// The outcome and the results of a loop on a device.
pub fn on(
    device: &dyn Device,
    program: &Loop,
    kernel: &Kernel,
    args: &[Arg<'_>],
) -> Result<(Outcome, Vec<Value>), String> {
    let shape = Shape::of(program).map_err(|e| e.to_string())?;
    let host = interpreted(program);
    let mut frame = Frame::new(host.layout());
    let way = Way::of(&shape, kernel).map_err(|e| e.to_string())?;
    let ready = Ready {
        program,
        kernel,
        way: &way,
        host: &host,
    };
    let outcome = ready
        .run(device, &mut frame, args)
        .map_err(|e| e.to_string())?;
    Ok((outcome, frame.results.into_vec()))
}

/// The same by the interpreter.
pub fn plain(program: &Loop, args: &[Arg<'_>]) -> (Outcome, Vec<Value>) {
    let host = interpreted(program);
    let mut frame = Frame::new(host.layout());
    let outcome = host.run(Pass::Emit, u64::MAX, &mut frame, args);
    (outcome, frame.results.into_vec())
}

/// In what a loop on a device differs from what the interpreter gives, if it does.
pub fn differs(
    device: &dyn Device,
    program: &Loop,
    kernel: &Kernel,
    args: &[Arg<'_>],
) -> Option<String> {
    let (outcome, values) = match on(device, program, kernel, args) {
        Ok(ran) => ran,
        Err(said) => return Some(said),
    };
    let (expected, wanted) = plain(program, args);
    let traps = |o: &Outcome| matches!(o, Outcome::Trapped(_));
    if traps(&expected) && traps(&outcome) {
        return None;
    }
    if outcome != expected || values.len() != wanted.len() {
        return Some(format!("{outcome:?} for {expected:?}"));
    }
    let pairs = values.iter().zip(&wanted).enumerate();
    let mut apart = pairs.filter(|(_, (got, want))| !alike(got, want));
    apart
        .next()
        .map(|(k, (got, want))| format!("result {k}: {}", first_apart(got, want)))
}

/// Where two values differ first.
pub fn first_apart(got: &Value, want: &Value) -> String {
    match (got, want) {
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let words = (0..a.len()).map(|i| (a.get_word(i), b.get_word(i)));
            let apart = words.enumerate().find(|(_, (x, y))| x != y);
            format!("{apart:x?} of {}, {}", a.len(), a.ty())
        }
        _ => format!("{got:?} for {want:?}"),
    }
}

/// Floats may be summed up in another order; all else is the same.
pub fn alike(a: &Value, b: &Value) -> bool {
    let near = |ty: Ty, x: u64, y: u64| {
        let (x, y) = match ty {
            Ty::F64 => (f64::from_bits(x), f64::from_bits(y)),
            Ty::F32 => (
                f64::from(f32::from_bits(x as u32)),
                f64::from(f32::from_bits(y as u32)),
            ),
            _ => return x == y,
        };
        let precise = if ty == Ty::F32 { 1e-3 } else { 1e-9 };
        x == y
            || (x.is_nan() && y.is_nan())
            || (x - y).abs() <= precise * (1.0 + x.abs().max(y.abs()))
    };
    match (a, b) {
        (Value::Scalar(a), Value::Scalar(b)) => a.ty == b.ty && near(a.ty, a.bits, b.bits),
        (Value::Array(a), Value::Array(b)) => {
            let word = |x: &Buffer, i| x.get_word(i).unwrap_or(0);
            a.ty() == b.ty()
                && a.len() == b.len()
                && (0..a.len()).all(|i| near(a.ty(), word(a, i), word(b, i)))
        }
        _ => false,
    }
}

/// Arguments but for the first elements of arrays.
pub fn but_for(args: &[Owned], skipped: usize) -> Vec<Arg<'_>> {
    let rest = |a| match a {
        Arg::Array(view) => {
            let skipped = skipped.min(view.len());
            Arg::Array(view.slice(skipped, view.len() - skipped).expect("within"))
        }
        scalar => scalar,
    };
    args.iter().map(|a| rest(a.arg())).collect()
}

/// Arguments with longer arrays than the interpreter's own tests have: several tiles, and a part of one.
pub fn long_args(program: &Loop, len: usize, rng: &mut Rng) -> Vec<Owned> {
    let args = random_args(program, rng);
    let longer = |(p, a): (&loop_lang::ir::Param, Owned)| match a {
        Owned::Array(_) => {
            let ty = program.ty(p.var).elem();
            let mut b = Buffer::zeroed(ty, len).expect("memory");
            for i in 0..len {
                b.set_word(i, rng.word(ty));
            }
            Owned::Array(b)
        }
        scalar => scalar,
    };
    program.params.iter().zip(args).map(longer).collect()
}
