//! A compiled file in memory: its functions.

use crate::emit::ops::LINK_SYMBOL;
use libloading::Error;
use livefusion_backend::host::Entry;
use livefusion_backend::math;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::path::Path;

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
