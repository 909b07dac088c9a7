//! A compiled file in memory: its functions.

use crate::emit::ops::{LINK_SYMBOL, table};
use libloading::{Error, Library};
use livefusion_backend::abi::Entry;
use std::ffi::c_void;
use std::path::Path;
use std::sync::Arc;

/// Holds a pass in a library.
///
/// The library stays loaded as long as one of its passes is held.
#[derive(Clone)]
pub struct Pass {
    entry: Entry,
    _library: Arc<Library>,
}

impl Pass {
    /// Returns the pass, which must not be called after `self` is dropped.
    pub fn entry(&self) -> Entry {
        self.entry
    }
}

/// Loads a library, and looks up the passes in it.
///
/// The library is unloaded with the last of its passes. By then none of its code runs, since
/// callers hold the pass. No pointer into it remains: passes leave only words and memory of the
/// host, and generated code has neither destructors nor threads. The file may be deleted earlier.
/// But while the library is loaded, its path must never name another one: the system's loader
/// identifies libraries by path, too.
///
/// # Safety
///
/// The file is a library that the C compiler made of generated code, with passes of these names.
pub unsafe fn load(path: &Path, symbols: &[String]) -> Result<Vec<Pass>, Error> {
    // SAFETY: generated code has no initialisers.
    let library = Arc::new(unsafe { Library::new(path) }?);
    let table = table();
    // SAFETY: every generated file exports this function with this type; it copies addresses of
    // functions from the table, each of the type by which it is called: `MathEntry::c_signature`, `sort::Sort`.
    unsafe {
        type Link = unsafe extern "C" fn(*const *const c_void);
        let link = library.get::<Link>(LINK_SYMBOL)?;
        link(table.as_ptr());
    }
    let pass = |symbol: &String| {
        // SAFETY: the file exports each pass with this type, and the library stays loaded.
        let entry = unsafe { library.get::<Entry>(symbol.as_str()).map(|f| *f) }?;
        Ok(Pass {
            entry,
            _library: library.clone(),
        })
    };
    symbols.iter().map(pass).collect()
}
