//! Kernels for devices: NVRTC compiles all that the golden loops become, with no spills and in few registers. It is looked for
//! where `nvrtc.sh` puts it; without it the test says so and ends.

mod operators;
#[path = "../../interp/tests/support/mod.rs"]
mod support;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW, Symbol};
use livefusion_cuda::emit::{self, PRELUDE};
use loop_lang::types::Ty;
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::PathBuf;
use support::{golden_texts, parse};

/// A processor of a device has 65536 registers: with more than this it would hold fewer than four blocks of 128 at once.
const REGISTERS: u32 = 128;

/// NVIDIA's compiler.
struct Nvrtc {
    library: Library,
    /// Looked for by NVRTC, by name: it has to be there before.
    _builtins: Library,
}

type Program = *mut c_void;
type Create = unsafe extern "C" fn(
    *mut Program,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
type Size = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type Text = unsafe extern "C" fn(Program, *mut c_char) -> c_int;
type Destroy = unsafe extern "C" fn(*mut Program) -> c_int;

impl Nvrtc {
    /// Where the script puts it; none if it is not there.
    fn find() -> Option<Nvrtc> {
        let cache = || {
            let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
            let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
            Some(cache.or_else(home)?.join("livefusion/nvrtc-13.0.88"))
        };
        let given = std::env::var_os("LIVEFUSION_NVRTC").map(PathBuf::from);
        let folder = given.or_else(cache)?;
        let open = |name: &str| {
            // SAFETY: NVIDIA's libraries, whose starting code is made for being loaded.
            unsafe { Library::open(Some(folder.join(name)), RTLD_NOW | RTLD_GLOBAL) }.ok()
        };
        Some(Nvrtc {
            _builtins: open("libnvrtc-builtins.so.13.0")?,
            library: open("libnvrtc.so.13")?,
        })
    }

    fn function<T>(&self, name: &str) -> Symbol<T> {
        // SAFETY: each name is asked for with the type that NVRTC documents for it.
        unsafe { self.library.get(name.as_bytes()) }.expect(name)
    }

    /// The PTX of a text, and what the compiler said of it.
    fn compile(&self, text: &str, architecture: &str) -> (String, String) {
        let text = CString::new(text).expect("no zero");
        let options = [
            &format!("--gpu-architecture={architecture}"),
            "--std=c++17",
            "--fmad=false",
            // Closures say nothing of where they run.
            "--device-as-default-execution-space",
            "--ptxas-options=-v",
        ];
        let options = options.map(|o| CString::new(o.to_string()).expect("no zero"));
        let options = options.each_ref().map(|o| o.as_ptr());
        let mut program: Program = std::ptr::null_mut();
        // SAFETY: functions of NVRTC by their documented types; texts end with zero and live until the calls have
        // returned; of what is asked for, the length is asked for first.
        unsafe {
            let create = self.function::<Create>("nvrtcCreateProgram");
            let none = std::ptr::null();
            let made = create(
                &mut program,
                text.as_ptr(),
                c"kernel.cu".as_ptr(),
                0,
                none,
                none,
            );
            assert_eq!(made, 0);
            let compile = self.function::<Compile>("nvrtcCompileProgram");
            let code = compile(program, options.len() as c_int, options.as_ptr());
            let said = self.text(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog");
            assert_eq!(code, 0, "{said}");
            let ptx = self.text(program, "nvrtcGetPTXSize", "nvrtcGetPTX");
            self.function::<Destroy>("nvrtcDestroyProgram")(&mut program);
            (ptx, said)
        }
    }

    /// # Safety
    /// The program is one of NVRTC's.
    unsafe fn text(&self, program: Program, size: &str, text: &str) -> String {
        let mut length = 0;
        // SAFETY: as of the caller; the memory is as long as NVRTC says.
        unsafe {
            assert_eq!(self.function::<Size>(size)(program, &mut length), 0);
            let mut bytes = vec![0u8; length + 1];
            assert_eq!(
                self.function::<Text>(text)(program, bytes.as_mut_ptr().cast()),
                0
            );
            String::from_utf8_lossy(&bytes)
                .trim_end_matches('\0')
                .into()
        }
    }
}

/// The number before a word.
fn number(text: &str, behind: &str) -> Option<u32> {
    let before = text.split(behind).next()?;
    before.split_whitespace().next_back()?.parse().ok()
}

#[test]
fn golden_loops_compile_for_devices() {
    let Some(nvrtc) = Nvrtc::find() else {
        eprintln!("SKIPPED: no NVRTC here; `backends/cuda/nvrtc.sh` fetches it");
        return;
    };
    let mut compiled = 0;
    for (name, text) in golden_texts() {
        let Ok(kernel) = emit::kernel(&parse(&text)) else {
            continue;
        };
        for architecture in ["sm_80", "sm_90"] {
            let text = format!("{PRELUDE}{}", kernel.text);
            let (ptx, said) = nvrtc.compile(&text, architecture);
            assert!(
                said.contains("0 bytes spill stores, 0 bytes spill loads"),
                "{name}: {said}"
            );
            let registers = said
                .split("Used ")
                .nth(1)
                .and_then(|s| number(s, " registers"));
            let registers = registers.expect(&said);

            assert!(
                registers <= REGISTERS,
                "{name} for {architecture}: {registers} registers"
            );
            // What blocks tell each other must go by way of what all of them see, value and tag at once.
            for order in ["ld.relaxed.gpu.global.b128", "st.relaxed.gpu.global.b128"] {
                let tells = !kernel.levels.is_empty();
                assert_eq!(ptx.contains(order), tells, "{name}: {order}");
            }
        }
        compiled += 1;
    }
    assert!(compiled >= 10, "{compiled}");
}

#[test]
fn operators_compile_for_devices() {
    let Some(nvrtc) = Nvrtc::find() else {
        eprintln!("SKIPPED: no NVRTC here; `backends/cuda/nvrtc.sh` fetches it");
        return;
    };
    for ty in Ty::ALL {
        let kernel = emit::kernel(&parse(&operators::text(ty))).expect("it runs in parallel");
        nvrtc.compile(&format!("{PRELUDE}{}", kernel.text), "sm_80");
    }
}
