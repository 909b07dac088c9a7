//! NVRTC's functions.
//!
//! Error codes stay integers, so that new codes are no undefined values.

use std::error::Error;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};

/// Holds NVRTC's handle of a program.
pub type Raw = *mut c_void;

type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
type ErrorText = unsafe extern "C" fn(c_int) -> *const c_char;
type Create = unsafe extern "C" fn(
    *mut Raw,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type Compile = unsafe extern "C" fn(Raw, c_int, *const *const c_char) -> c_int;
type Size = unsafe extern "C" fn(Raw, *mut usize) -> c_int;
type Bytes = unsafe extern "C" fn(Raw, *mut c_char) -> c_int;
type Destroy = unsafe extern "C" fn(*mut Raw) -> c_int;

/// Two functions that return bytes: their number, and the bytes.
type Part = (Size, Bytes);

/// Holds the library, which is never unloaded.
///
/// Unloading is not documented as safe.
pub struct Library {
    path: Option<PathBuf>,
    version: Version,
    error_text: ErrorText,
    create: Create,
    compile: Compile,
    destroy: Destroy,
    log: Part,
    ptx: Part,
    cubin: Part,
}

impl Library {
    /// Loads the newest library in a folder.
    ///
    /// # Errors
    ///
    /// Explains why there is none.
    pub fn in_folder(folder: &Path) -> Result<Library, String> {
        let path = newest(folder)?.ok_or("no libnvrtc.so there")?;
        let library = Library::of(&ManuallyDrop::new(open(&path)?), Some(path))?;
        let (major, minor) = library.version()?;
        // NVRTC loads this library by name when it compiles, and then finds the loaded one.
        let builtins = folder.join(format!("libnvrtc-builtins.so.{major}.{minor}"));
        if builtins.exists() {
            let _loaded = ManuallyDrop::new(open(&builtins)?);
        }
        Ok(library)
    }

    /// Loads the library that the loader finds.
    pub fn of_loader() -> Result<Library, String> {
        let names = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];
        let found = names.iter().find_map(|name| open(Path::new(name)).ok());
        let none = || format!("none of {}", names.join(", "));
        Library::of(&ManuallyDrop::new(found.ok_or_else(none)?), None)
    }

    fn of(library: &libloading::Library, path: Option<PathBuf>) -> Result<Library, String> {
        let part = |size, bytes| {
            // SAFETY: NVRTC documents these types for all pairs of such names.
            unsafe { Ok::<Part, String>((symbol(library, size)?, symbol(library, bytes)?)) }
        };
        // SAFETY: NVRTC documents these types for these names.
        unsafe {
            Ok(Library {
                path,
                version: symbol(library, "nvrtcVersion")?,
                error_text: symbol(library, "nvrtcGetErrorString")?,
                create: symbol(library, "nvrtcCreateProgram")?,
                compile: symbol(library, "nvrtcCompileProgram")?,
                destroy: symbol(library, "nvrtcDestroyProgram")?,
                log: part("nvrtcGetProgramLogSize", "nvrtcGetProgramLog")?,
                ptx: part("nvrtcGetPTXSize", "nvrtcGetPTX")?,
                cubin: part("nvrtcGetCUBINSize", "nvrtcGetCUBIN")?,
            })
        }
    }

    /// Returns its path, unless the loader found it.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns its version.
    pub fn version(&self) -> Result<(u32, u32), String> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: it writes two numbers.
        self.check(unsafe { (self.version)(&mut major, &mut minor) })?;
        Ok((major.unsigned_abs(), minor.unsigned_abs()))
    }

    /// Creates a program of a text, to be destroyed later.
    ///
    /// # Safety
    ///
    /// The text stays until then.
    pub unsafe fn create(&self, text: &CStr) -> Result<Raw, String> {
        let (mut raw, name) = (null_mut(), c"kernel.cu");
        // SAFETY: as of the caller; both texts end with zero, and there are no headers.
        let code =
            unsafe { (self.create)(&mut raw, text.as_ptr(), name.as_ptr(), 0, null(), null()) };
        self.check(code).map(|()| raw)
    }

    /// Compiles a program.
    ///
    /// # Safety
    ///
    /// The program was created, and is not destroyed yet. The same holds for all functions with a
    /// program.
    pub unsafe fn compile(&self, raw: Raw, options: &[CString]) -> Result<(), String> {
        let options: Vec<*const c_char> = options.iter().map(|o| o.as_ptr()).collect();
        let count = c_int::try_from(options.len()).unwrap_or(0);
        // SAFETY: as of the caller; the options end with zero.
        self.check(unsafe { (self.compile)(raw, count, options.as_ptr()) })
    }

    /// Destroys a program.
    ///
    /// # Safety
    ///
    /// As of [`compile`](Library::compile); nobody uses it any more.
    pub unsafe fn destroy(&self, mut raw: Raw) {
        // SAFETY: as of the caller.
        unsafe { (self.destroy)(&mut raw) };
    }

    /// Returns the log of a program.
    ///
    /// # Safety
    ///
    /// As of [`compile`](Library::compile).
    pub unsafe fn log(&self, raw: Raw) -> Result<String, String> {
        // SAFETY: as of the caller.
        unsafe { self.bytes(raw, self.log) }.map(text)
    }

    /// Returns the PTX of a compiled program.
    ///
    /// # Safety
    ///
    /// As of [`compile`](Library::compile).
    pub unsafe fn ptx(&self, raw: Raw) -> Result<String, String> {
        // SAFETY: as of the caller.
        unsafe { self.bytes(raw, self.ptx) }.map(text)
    }

    /// Returns the machine code of a compiled program.
    ///
    /// # Safety
    ///
    /// As of [`compile`](Library::compile).
    pub unsafe fn cubin(&self, raw: Raw) -> Result<Vec<u8>, String> {
        // SAFETY: as of the caller.
        unsafe { self.bytes(raw, self.cubin) }
    }

    /// # Safety
    ///
    /// As of [`compile`](Library::compile).
    unsafe fn bytes(&self, raw: Raw, (size, bytes): Part) -> Result<Vec<u8>, String> {
        let mut length = 0;
        // SAFETY: as of the caller; it writes a number.
        self.check(unsafe { size(raw, &mut length) })?;
        let mut all = vec![0u8; length];
        // SAFETY: as above; it writes as many bytes as it has just said.
        self.check(unsafe { bytes(raw, all.as_mut_ptr().cast()) })?;
        Ok(all)
    }

    /// Converts an error code.
    fn check(&self, code: c_int) -> Result<(), String> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: it gives a text that lives for ever, for any number.
        let said = unsafe { (self.error_text)(code) };
        if said.is_null() {
            return Err(format!("error {code}"));
        }
        // SAFETY: as above.
        Err(unsafe { CStr::from_ptr(said) }
            .to_string_lossy()
            .into_owned())
    }
}

/// Returns a text without its terminating zero.
fn text(mut bytes: Vec<u8>) -> String {
    bytes.truncate(bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len()));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn open(path: &Path) -> Result<libloading::Library, String> {
    // SAFETY: NVIDIA's library, whose starting code is made for being loaded.
    unsafe { libloading::Library::new(path) }.map_err(in_full)
}

/// Describes an error of the loader, with the system's message.
fn in_full(error: libloading::Error) -> String {
    let system = error.source().map_or(String::new(), |e| format!(": {e}"));
    format!("{error}{system}")
}

/// Looks up a function of a library that stays loaded.
///
/// # Safety
///
/// It has this type.
unsafe fn symbol<T: Copy>(library: &libloading::Library, name: &str) -> Result<T, String> {
    // SAFETY: as of the caller.
    unsafe { library.get::<T>(name) }
        .map(|f| *f)
        .map_err(in_full)
}

/// Returns the newest NVRTC in a folder, by its file's name.
fn newest(folder: &Path) -> Result<Option<PathBuf>, String> {
    let version = |name: &str| {
        let behind = name.strip_prefix("libnvrtc.so")?;
        let major = behind.trim_start_matches('.').split('.').next();
        major.map(|m| m.parse::<u32>().unwrap_or(0))
    };
    let mut newest = None;
    for entry in folder.read_dir().map_err(|e| e.to_string())? {
        let path = entry.map_err(|e| e.to_string())?.path();
        let name = path.file_name().and_then(|n| n.to_str()).and_then(version);
        if let Some(major) = name {
            newest = newest.max(Some((major, path)));
        }
    }
    Ok(newest.map(|(_, path)| path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| std::fs::write(folder.path().join(name), "").unwrap();
        let found = || {
            newest(folder.path())
                .unwrap()
                .map(|p| p.file_name().unwrap().to_os_string())
        };
        make("libnvrtc-builtins.so.13.0");
        make("libnvrtc.alt.so.13");
        assert_eq!(found(), None);
        make("libnvrtc.so");
        assert_eq!(found(), Some("libnvrtc.so".into()));
        make("libnvrtc.so.9");
        make("libnvrtc.so.13");
        assert_eq!(found(), Some("libnvrtc.so.13".into()));
    }

    #[test]
    fn nvrtc_refuses_a_file_that_is_no_library() {
        let folder = tempfile::tempdir().unwrap();
        let why = |folder: &Path| Library::in_folder(folder).err().unwrap();
        assert_eq!(why(folder.path()), "no libnvrtc.so there");
        std::fs::write(folder.path().join("libnvrtc.so.13"), "no library").unwrap();
        assert!(
            why(folder.path()).contains("libnvrtc.so.13"),
            "{}",
            why(folder.path())
        );
        assert!(why(&folder.path().join("none")).contains("No such file"));
    }
}
