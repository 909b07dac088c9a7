//! The cache folder: private, and accessed through one open handle.
//!
//! So no path can be swapped between a check and its use.

use super::entry::MOST;
use super::{Found, Listed, NEW, is_name_of_ours};
use crate::user;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, Timespec, Timestamps, UTIME_NOW};
use rustix::fs::{fchmod, fstat, futimens, openat, renameat, statat, unlinkat};
use std::ffi::CStr;
use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Holds an open folder that only this user can read and write.
#[derive(Debug)]
pub struct Folder {
    handle: OwnedFd,
}

impl Folder {
    /// Opens a folder, and creates it if it is missing.
    ///
    /// # Errors
    ///
    /// Explains why the folder cannot be trusted.
    pub fn open(path: &Path) -> Result<Folder, String> {
        let failed = |what: &str, e: io::Error| format!("cannot {what} {}: {e}", path.display());
        if user::is_another() {
            return Err("the process runs with another user's rights than at its start".into());
        }
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(|e| failed("make", e))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty());
        let handle = handle.map_err(|e| failed("open", e.into()))?;
        let stat = fstat(&handle).map_err(|e| failed("look at", e.into()))?;
        let folder = Folder { handle };
        match stranger(&stat) {
            Some(why) if !folder.make_private(&stat) => {
                let why = format!("{} {why}", path.display());
                // The program still works, but every process compiles again. Users should know.
                static SAID: Once = Once::new();
                SAID.call_once(|| eprintln!("livefusion: compiled kernels are not kept: {why}"));
                Err(why)
            }
            _ => Ok(folder),
        }
    }

    /// Makes a folder of this user private. Returns whether it is private now.
    ///
    /// Refuses folders that others could write to, and folders that hold other files than entries.
    fn make_private(&self, stat: &Stat) -> bool {
        let is_ours = |name: &CStr| match name.to_bytes() {
            b"." | b".." => true,
            _ => name.to_str().is_ok_and(is_name_of_ours),
        };
        let holds_nothing_else = || {
            let mut entries = Dir::read_from(&self.handle)?;
            entries.try_fold(true, |all, e| {
                Ok::<bool, io::Error>(all && is_ours(e?.file_name()))
            })
        };
        user::owns(stat)
            && stat.st_mode & 0o022 == 0
            && holds_nothing_else().unwrap_or(false)
            && fchmod(&self.handle, Mode::RWXU).is_ok()
    }

    /// Reads a file, and marks it as used now.
    pub fn read(&self, name: &str) -> Found {
        // Opening a pipe must not block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = match openat(&self.handle, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(e) if e.kind() == ErrorKind::NotFound => return Found::Nothing,
            Err(_) => return Found::Refused,
        };
        let trusted = fstat(&file).is_ok_and(|stat| {
            FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
                && stranger(&stat).is_none()
                && usize::try_from(stat.st_size).is_ok_and(|size| size <= MOST)
        });
        if !trusted {
            return Found::Refused;
        }
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_NOW,
        };
        // Only eviction reads this time, so a failure on a read-only disk does no harm.
        let _ = futimens(
            &file,
            &Timestamps {
                last_access: now,
                last_modification: now,
            },
        );
        let mut bytes = Vec::new();
        match File::from(file).take(MOST as u64).read_to_end(&mut bytes) {
            Ok(_) => Found::Bytes(bytes),
            Err(_) => Found::Refused,
        }
    }

    /// Writes a file atomically.
    ///
    /// Others see it whole or not at all.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        // Processes in different containers may have the same number.
        let new = format!(
            "{}-{serial}-{:x}{NEW}",
            std::process::id(),
            since.as_nanos()
        );
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.handle, &new, flags, Mode::RUSR | Mode::WUSR)?;
        let written = File::from(file)
            .write_all(bytes)
            .and_then(|()| Ok(renameat(&self.handle, &new, &self.handle, name)?));
        if written.is_err() {
            let _ = self.remove(&new);
        }
        written
    }

    /// Removes a file.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.handle, name, AtFlags::empty())?)
    }

    /// Lists all files, including unfinished ones.
    pub fn list(&self) -> io::Result<Vec<Listed>> {
        let mut files = Vec::new();
        for entry in Dir::read_from(&self.handle)? {
            let Ok(name) = entry?.file_name().to_str().map(str::to_string) else {
                continue;
            };
            let Ok(stat) = statat(&self.handle, &name, AtFlags::SYMLINK_NOFOLLOW) else {
                continue; // Another process has just removed it.
            };
            if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
                continue;
            }
            files.push(Listed {
                name,
                bytes: u64::try_from(stat.st_size).unwrap_or(0),
                used: time(&stat),
            });
        }
        Ok(files)
    }
}

/// Returns the reason why others may change a file or folder, if any.
fn stranger(stat: &Stat) -> Option<&'static str> {
    if !user::owns(stat) {
        return Some("belongs to another user");
    }
    let others = stat.st_mode & 0o077 != 0;
    others.then_some("is open to other users (its mode is not 0700)")
}

fn time(stat: &Stat) -> SystemTime {
    let nanos = i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec);
    SystemTime::UNIX_EPOCH + Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}
