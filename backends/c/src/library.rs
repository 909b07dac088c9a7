//! A compiled file in memory: its functions.

use crate::compiler::{Compiler, unavailable};
use crate::emit::Text;
use crate::emit::ops::LINK_SYMBOL;
use livefusion_backend::host::Entry;
use livefusion_backend::{CompileError, math};
use std::ffi::c_void;
use std::mem::ManuallyDrop;

/// Compiles a file, loads it for the rest of the process, and looks up the passes in it.
///
/// A library is never unloaded: kernels are handed around freely, and what unloading would give back
/// is small.
pub fn load(
    compiler: &Compiler,
    text: &Text,
    symbols: &[String],
) -> Result<Vec<Entry>, CompileError> {
    let folder = tempfile::Builder::new()
        .prefix("livefusion-")
        .tempdir()
        .map_err(|e| unavailable(format!("no temporary folder: {e}")))?;
    let path = compiler.build(&text.source, text.effort, folder.path())?;
    let failed = |e: libloading::Error| CompileError::Failed {
        compiler: compiler.path().display().to_string(),
        stderr: format!("what it made cannot be loaded: {e}"),
    };
    // SAFETY: the library was just made from generated code, which has no initialisers.
    let library = ManuallyDrop::new(unsafe { libloading::Library::new(&path) }.map_err(failed)?);
    let table: Vec<*const c_void> = math::entries()
        .iter()
        .map(|e| e.address() as *const c_void)
        .collect();
    // SAFETY: every generated file exports this function with this type; it copies addresses of
    // functions from the table, whose types are those of `MathEntry::c_signature`.
    unsafe {
        type Link = unsafe extern "C" fn(*const *const c_void);
        let link = library.get::<Link>(LINK_SYMBOL).map_err(failed)?;
        link(table.as_ptr());
    }
    let entries = symbols.iter().map(|s| {
        // SAFETY: the file exports each pass with this type, and the library stays loaded.
        unsafe { library.get::<Entry>(s.as_str()).map(|f| *f) }.map_err(failed)
    });
    entries.collect()
}
