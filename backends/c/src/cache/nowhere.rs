//! The cache folder on platforms without file owners and modes: never available.

use super::{Found, Listed};
use std::io;
use std::path::Path;

/// Stands for a folder that never exists.
#[derive(Debug)]
pub enum NoFolder {}

pub use NoFolder as Folder;

impl NoFolder {
    /// Fails, since there is no folder.
    pub fn open(_: &Path) -> Result<NoFolder, String> {
        Err("kernels are kept on disk on Unix only".into())
    }

    /// Reads nothing, since no value exists.
    pub fn read(&self, _: &str) -> Found {
        match *self {}
    }

    /// Writes nothing, since no value exists.
    pub fn write(&self, _: &str, _: &[u8]) -> io::Result<()> {
        match *self {}
    }

    /// Removes nothing, since no value exists.
    pub fn remove(&self, _: &str) -> io::Result<()> {
        match *self {}
    }

    /// Lists nothing, since no value exists.
    pub fn list(&self) -> io::Result<Vec<Listed>> {
        match *self {}
    }
}
