//! Kernels on the host: a C++ compiler (`CXX`, or g++) compiles them against the shim, whose fibers run them by turns in any order. What they give is
//! what the interpreter gives.

mod operators;
#[path = "../../interp/tests/support/mod.rs"]
mod support;

use libloading::{Library, Symbol};
use livefusion_backend::{Arg, Buffer, Frame, Kernel as _, Outcome, Pass, Value};
use livefusion_cuda::emit::{self, Kernel, MOST_TOLD, PRELUDE};
use livefusion_cuda::run::{Device, Launch, Launched, run};
use livefusion_cuda::shape::Shape;
use loop_lang::Loop;
use loop_lang::types::{Const, Ty};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use support::{Owned, Rng, borrow, golden_texts, kernel as interpreted, parse, random_args};
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
fn can_compile() -> bool {
    let can = Command::new(compiler()).arg("--version").output().is_ok();
    if !can {
        eprintln!("SKIPPED: no compiler of C++ here (`CXX`, or g++)");
    }
    can
}

fn compile(from: &Path, to: &Path, more: &[&str]) {
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shim");
    let result = Command::new(compiler())
        .args([
            "-std=c++17",
            "-O1",
            "-fPIC",
            "-ffp-contract=off",
            "-fno-gnu-unique",
            "-DLF_HOST",
        ])
        .arg("-I")
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
#[derive(Clone, Copy)]
struct Cell {
    word: u64,
    tag: u64,
}

/// What `lf_launch` is.
#[repr(C)]
struct Call {
    first: u64,
    steps: u64,
    number: u64,
    tickets: *mut u32,
    trapped: *mut u32,
    result: *mut u64,
    told: [*mut Cell; MOST_TOLD],
}

/// Memory that launches use one after the other.
#[derive(Default)]
struct Memory {
    number: u64,
    tickets: [u32; 2],
    cells: [Vec<Cell>; MOST_TOLD],
}

type Go = unsafe extern "C" fn(*const u64, *const Call, u32, u32, u32, u32, u64) -> i32;

/// A kernel, compiled for the shim.
struct Shim {
    library: Library,
    seed: std::cell::Cell<u32>,
    memory: RefCell<Memory>,
    resident: u32,
    turns: u64,
}

impl Shim {
    fn of(name: &str, kernel: &Kernel) -> Shim {
        Shim::with(name, kernel, PRELUDE)
    }

    /// With a prelude that may have been tampered with.
    fn with(name: &str, kernel: &Kernel, prelude: &str) -> Shim {
        let Place { folder, shim } = &*PLACE;
        let (source, object) = (
            folder.path().join(format!("{name}.cpp")),
            folder.path().join(format!("{name}.so")),
        );
        let program = kernel.name.trim_end_matches("_kernel");
        let glue = format!(
            "struct lf_call {{ {program}::Params params; lf_launch launch; }};\n\
             static void lf_body(const void *at) {{\n  \
             const lf_call &call = *static_cast<const lf_call *>(at);\n  \
             {}(call.params, call.launch);\n}}\n\
             extern \"C\" i32 lf_run(void (*)(const void *), const void *, u32, u32, u32, u32, u64);\n\
             extern \"C\" i32 lf_go(const u64 *params, const lf_launch *launch, u32 blocks, u32 threads, u32 resident, u32 seed, u64 turns) {{\n  \
             lf_call call;\n  memcpy(&call.params, params, sizeof call.params);\n  call.launch = *launch;\n  \
             return lf_run(lf_body, &call, blocks, threads, resident, seed, turns);\n}}\n",
            kernel.name
        );
        std::fs::write(&source, format!("{prelude}{}{glue}", kernel.text)).expect("written");
        let shim = shim.to_string_lossy();
        compile(&source, &object, &["-shared", &shim]);
        // SAFETY: what was just compiled; loading it runs nothing but what C++ does at the start.
        let library = unsafe { Library::new(&object) }.expect("loads");
        Shim {
            library,
            seed: std::cell::Cell::new(1),
            memory: RefCell::default(),
            resident: 3,
            turns: TURNS,
        }
    }
}

impl Device for Shim {
    fn launch(&self, kernel: &Kernel, launch: Launch<'_>) -> Result<Launched, String> {
        self.seed.set(self.seed.get() + 1);
        // As many as there are tiles, or fewer.
        let all = u32::try_from(launch.blocks).map_err(|e| e.to_string())?;
        let blocks = if self.seed.get().is_multiple_of(2) {
            all
        } else {
            all.min(3)
        };
        let mut trapped = 0u32;
        let words: usize = kernel.levels.iter().map(Vec::len).sum();
        let mut result = vec![0u64; words];
        let mut memory = self.memory.borrow_mut();
        memory.number += 1;
        for (level, cells) in kernel.levels.iter().zip(&mut memory.cells) {
            // It is zero when it is made, and never cleared.
            let most = cells.len().max(all as usize * level.len());
            cells.resize(most, Cell { word: 0, tag: 0 });
        }
        let memory = &mut *memory;
        let call = Call {
            first: launch.first,
            steps: launch.steps,
            number: memory.number,
            tickets: memory.tickets.as_mut_ptr(),
            trapped: &raw mut trapped,
            result: result.as_mut_ptr(),
            told: memory.cells.each_mut().map(|cells| cells.as_mut_ptr()),
        };
        // SAFETY: the function of the text above, with what it is declared with; the arrays of the parameters live until
        // it returns, and the kernel reads and writes nothing but elements of these.
        let code = unsafe {
            let go: Symbol<'_, Go> = self.library.get(b"lf_go").map_err(|e| e.to_string())?;
            go(
                launch.params.as_ptr(),
                &call,
                blocks,
                kernel.tiles.threads,
                self.resident,
                self.seed.get(),
                self.turns,
            )
        };
        match code {
            0 if memory.tickets != [0, 0] => Err("tickets are left for the next launch".into()),
            0 => Ok(Launched {
                result,
                trapped: trapped != 0,
            }),
            1 => Err("threads wait for each other".into()),
            _ => Err("what is certain is not so".into()),
        }
    }
}

/// Arrays but for their first elements, so that they begin where no wide piece of memory does.
fn but_for(args: &[Owned], skipped: usize) -> Vec<Arg<'_>> {
    let rest = |a| match a {
        Arg::Array(view) => {
            let rest = view.len().saturating_sub(skipped);
            Arg::Array(view.slice(view.len() - rest, rest).expect("within"))
        }
        scalar => scalar,
    };
    borrow(args).into_iter().map(rest).collect()
}

/// The results of a loop on a device.
fn on(
    device: &dyn Device,
    program: &Loop,
    kernel: &Kernel,
    args: &[Arg<'_>],
) -> Result<(Outcome, Vec<Value>), String> {
    let shape = Shape::of(program).map_err(|e| e.to_string())?;
    let host = interpreted(program);
    let mut frame = Frame::new(host.layout());
    let outcome = run(&shape, kernel, &host, device, &mut frame, args)?;
    Ok((outcome, frame.results.into_vec()))
}

fn plain(program: &Loop, args: &[Arg<'_>]) -> (Outcome, Vec<Value>) {
    let host = interpreted(program);
    let mut frame = Frame::new(host.layout());
    let outcome = host.run(Pass::Emit, u64::MAX, &mut frame, args);
    (outcome, frame.results.into_vec())
}

/// Floats may be summed up in another order; all else is the same.
fn alike(a: &Value, b: &Value) -> bool {
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

/// A word, but for infinite and greatest floats: whether a sum of these is a number hangs on the order.
fn sound_word(rng: &mut Rng, ty: Ty) -> u64 {
    let word = rng.word(ty);
    let is_small = match ty {
        Ty::F64 => f64::from_bits(word).abs() < 1e300,
        Ty::F32 => f32::from_bits(word as u32).abs() < 1e30,
        _ => true,
    };
    if is_small { word } else { 0 }
}

/// Arguments with longer arrays than the interpreter's own tests have: several tiles, and a part of one.
fn long_args(
    program: &Loop,
    len: usize,
    rng: &mut Rng,
    word: fn(&mut Rng, Ty) -> u64,
) -> Vec<Owned> {
    let args = random_args(program, rng);
    let longer = |(p, a): (&loop_lang::ir::Param, Owned)| match a {
        Owned::Array(_) => {
            let ty = program.ty(p.var).elem();
            let mut b = Buffer::zeroed(ty, len).expect("memory");
            for i in 0..len {
                b.set_word(i, word(rng, ty));
            }
            Owned::Array(b)
        }
        scalar => scalar,
    };
    program.params.iter().zip(args).map(longer).collect()
}

#[test]
fn golden_loops_give_what_the_interpreter_gives() {
    if !can_compile() {
        return;
    }
    let mut rng = Rng(11);
    let (mut ran, mut refused) = (Vec::new(), Vec::new());
    for (name, text) in golden_texts() {
        // Which of several least elements is found hangs on the order in which its parts are joined.
        if name == "min_index" {
            continue;
        }
        let program = parse(&text);
        let kernel = match emit::kernel(&program) {
            Ok(kernel) => kernel,
            Err(why) => {
                refused.push(format!("{name}: {why}"));
                continue;
            }
        };
        let shim = Shim::of(&name, &kernel);
        let tile = kernel.tiles.threads as usize * kernel.tiles.elements as usize;
        for len in [0, 1, 31, tile - 1, tile, tile + 1, 4 * tile + 77] {
            let skipped = rng.below(3) as usize;
            let args = long_args(&program, len + skipped, &mut rng, sound_word);
            let args = but_for(&args, skipped);
            let (outcome, values) = on(&shim, &program, &kernel, &args).expect(&name);
            let (expected, wanted) = plain(&program, &args);
            match expected {
                Outcome::Trapped(_) => assert!(matches!(outcome, Outcome::Trapped(_)), "{name}"),
                expected => {
                    assert_eq!(outcome, expected, "{name}");
                    assert_eq!(values.len(), wanted.len(), "{name}");
                    for (got, want) in values.iter().zip(&wanted) {
                        assert!(alike(got, want), "{name} of {len}: {got:?} for {want:?}");
                    }
                }
            }
        }
        ran.push(name);
    }
    println!("ran: {}\nrefused:\n{}", ran.join(", "), refused.join("\n"));
    assert!(ran.len() >= 5, "{ran:?}");
}

/// Each operator is that of the interpreter, for each type.
#[test]
fn operators_give_what_the_interpreter_gives() {
    if !can_compile() {
        return;
    }
    let mut rng = Rng(5);
    for ty in Ty::ALL {
        let program = parse(&operators::text(ty));
        let kernel = emit::kernel(&program).expect("it runs in parallel");
        let shim = Shim::of(&format!("operators_{ty}"), &kernel);
        let args = long_args(&program, 5700, &mut rng, Rng::word);
        let args = borrow(&args);
        let (_, got) = on(&shim, &program, &kernel, &args).expect("it ends");
        let (_, wanted) = plain(&program, &args);
        assert_eq!(got.len(), wanted.len());
        for (k, (got, want)) in got.iter().zip(&wanted).enumerate() {
            assert!(alike(got, want), "{ty}, result {k}:\n{got:?}\n{want:?}");
        }
    }
}

/// Faults that a shim can see: each makes some run wrong, or wait for ever.
#[test]
fn faults_are_found() {
    if !can_compile() {
        return;
    }
    let faults = [
        (
            "a barrier is left out",
            "  if (lane == LF_WARP - 1) room[warp] = in_warp;\n  __syncthreads();",
            "  if (lane == LF_WARP - 1) room[warp] = in_warp;",
        ),
        (
            "a tile is told what its neighbour alone came to",
            "2 * number + LF_THROUGH, Group::join(p, before, own));",
            "2 * number + LF_THROUGH, own);",
        ),
        (
            "blocks take the tile of their own number",
            "if (threadIdx.x == 0) tickets[0] = following.taken;",
            "if (threadIdx.x == 0) tickets[0] = blockIdx.x;",
        ),
        (
            "what a tile comes to is read before it is there",
            "return is_whole && tag / 2 == number;",
            "return true;",
        ),
        (
            "an old launch's value is taken for this one's",
            "return is_whole && tag / 2 == number;",
            "return is_whole && tag != 0;",
        ),
        (
            "a value is taken that is half of one and half of another",
            "heard.is_whole = heard.is_whole && (k == 0 || cell.tag == heard.tag);",
            "",
        ),
        (
            "the second half of a warp is left out",
            "for (u32 reach = 1; reach < THREADS; reach *= 2) {",
            "for (u32 reach = 1; reach < THREADS / 2; reach *= 2) {",
        ),
        (
            "an element of a room is another thread's",
            "[threadIdx.x * (bytes / each) + k];\n        memcpy(reinterpret_cast<u8 *>(x)",
            "[(threadIdx.x ^ 1) * (bytes / each) + k];\n        memcpy(reinterpret_cast<u8 *>(x)",
        ),
        (
            "nobody waits for a tile's elements",
            "    following.show();\n    lf_copies_done();",
            "    following.show();",
        ),
        (
            "threads do not wait for each other's copies",
            "is in the last one's room.\n    __syncthreads();",
            "is in the last one's room.\n",
        ),
        (
            "a tile comes into the room of the one before it",
            "rooms.side((side + 2) % 3));",
            "rooms.side((side + 1) % 3));",
        ),
        (
            "what is kept is fetched before all have put it there",
            "  if (L::KEEPS) __syncthreads();\n  L::keeps(p, before, after, [&](const auto &array, auto, u64 begin, u64 end) {",
            "  L::keeps(p, before, after, [&](const auto &array, auto, u64 begin, u64 end) {",
        ),
        (
            "the last part of a tile is taken for a whole one",
            "  return inside;",
            "  return true;",
        ),
        (
            "tickets do not begin anew",
            "u32(tiles) + 3 * gridDim.x);",
            "u32(tiles) + 3 * gridDim.x + 1);",
        ),
    ];
    let program = support::golden("filter_max");
    let kernel = emit::kernel(&program).expect("it runs in parallel");
    let mut rng = Rng(3);
    let mut args = long_args(&program, 20_000, &mut rng, sound_word);
    // `(+ 1)` and `(> 0)`: half of the elements are kept, and so are those that are not there.
    for (k, x) in [(1, 1), (2, 0)] {
        args[k] = Owned::Scalar(Const::new(Ty::I64, x));
    }
    let args = borrow(&args);
    let (_, wanted) = plain(&program, &args);
    let is_sound = |shim: &Shim| {
        (0..8).all(|_| {
            let got = on(shim, &program, &kernel, &args);
            got.is_ok_and(|(_, got)| {
                got.len() == wanted.len() && got.iter().zip(&wanted).all(|(a, b)| alike(a, b))
            })
        })
    };
    assert!(is_sound(&Shim::of("sound", &kernel)));
    for (k, (what, from, to)) in faults.into_iter().enumerate() {
        assert_eq!(PRELUDE.matches(from).count(), 1, "{what}");
        let mut shim = Shim::with(&format!("fault_{k}"), &kernel, &PRELUDE.replace(from, to));
        shim.turns = 2_000_000;
        assert!(!is_sound(&shim), "not noticed: {what}");
    }
}
