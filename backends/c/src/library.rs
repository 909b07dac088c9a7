//! A compiled file in memory: its functions, and the layout of what they are passed.

use crate::emit::ops::LINK_SYMBOL;
use libloading::Error;
use livefusion_backend::math;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::path::Path;

/// What generated code is passed; the fields before `host` are `lf_run` of the prelude.
#[repr(C)]
pub struct Run<H> {
    /// The frame's words.
    pub words: *mut u64,
    /// How many steps to take.
    pub budget: u64,
    /// Scalar parameters as words, by parameter.
    pub scalars: *const u64,
    /// Array parameters, by parameter.
    pub inputs: *const Array,
    /// Arrays that the loop made, by slot.
    pub made: *mut Array,
    /// Scalar results as words, lengths of array results.
    pub results: *mut u64,
    /// Lanes that are too many for the stack.
    pub scratch: *mut u64,
    /// `newArray`: not 0 if it worked.
    pub new_array: extern "C" fn(*mut Run<H>, u32, u64, u32) -> u32,
    /// `fillArray`.
    pub fill_array: extern "C" fn(*mut Run<H>, u32, u64, u64, u32) -> u32,
    /// `copyArray`.
    pub copy_array: extern "C" fn(*mut Run<H>, u32, *const c_void, u64, u32) -> u32,
    /// What only the host knows.
    pub host: H,
}

/// An array as generated code sees it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Array {
    /// Its elements.
    pub data: *mut c_void,
    /// How many.
    pub length: u64,
}

/// A generated pass.
pub type Entry = unsafe extern "C" fn(*mut c_void) -> i32;

/// Loads a library for the rest of the process, and looks up the passes in it.
///
/// A library is never unloaded: kernels are handed around freely, and what unloading would give back
/// is small. The file may go, but its path must never name another library: the system's loader knows
/// what it has loaded by the path, too.
///
/// # Safety
///
/// The file is a library that the C compiler made of generated code, with passes of these names.
pub unsafe fn load(path: &Path, symbols: &[String]) -> Result<Vec<Entry>, Error> {
    // SAFETY: generated code has no initialisers.
    let library = ManuallyDrop::new(unsafe { libloading::Library::new(path) }?);
    let table: Vec<*const c_void> = math::entries()
        .iter()
        .map(|e| e.address() as *const c_void)
        .collect();
    // SAFETY: every generated file exports this function with this type; it copies addresses of
    // functions from the table, whose types are those of `MathEntry::c_signature`.
    unsafe {
        type Link = unsafe extern "C" fn(*const *const c_void);
        let link = library.get::<Link>(LINK_SYMBOL)?;
        link(table.as_ptr());
    }
    let entries = symbols.iter().map(|s| {
        // SAFETY: the file exports each pass with this type, and the library stays loaded.
        unsafe { library.get::<Entry>(s.as_str()).map(|f| *f) }
    });
    entries.collect()
}
