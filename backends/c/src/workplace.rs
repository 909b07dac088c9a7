//! Temporary folders for the compiler, removed after use or by the next process.

use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The prefix of folder names.
const PREFIX: &str = "livefusion-compiles-";

/// The number of random letters after the prefix.
const LETTERS: usize = 12;

/// Returns the parent of the folders.
fn parent() -> PathBuf {
    match crate::user::is_another() {
        true => "/tmp".into(),
        false => std::env::temp_dir(),
    }
}

fn make(parent: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder
        .prefix(PREFIX)
        .rand_bytes(LETTERS)
        .tempdir_in(parent)
}

#[cfg(unix)]
pub use marked::new;

#[cfg(not(unix))]
/// Creates a folder, which is removed when it is dropped.
pub fn new() -> io::Result<TempDir> {
    make(&parent())
}

/// Folders with a marker file: it names the owner, and is locked while the folder is in use.
#[cfg(unix)]
mod marked {
    use super::{LETTERS, PREFIX, make, parent};
    use crate::user;
    use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, openat, unlinkat};
    use std::fs::{self, File};
    use std::io::{self, Read, Write};
    use std::os::fd::OwnedFd;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    /// The name of the marker file.
    const MARKER: &str = "livefusion.lock";

    /// The text of the marker file.
    const MARK: &str = "livefusion compiles in this folder, and holds a lock on this file while it does.\n\
        Without the lock it was left by a process that was killed, and the next one removes it.\n";

    /// Holds a folder that only this user can enter, removed when dropped.
    pub struct Workplace {
        path: PathBuf,
        folder: OwnedFd,
        /// The locked marker.
        _marker: File,
    }

    /// Creates a folder to work in.
    ///
    /// The first call in a process also removes abandoned folders of this user. These were left by
    /// processes that died while their compilers ran.
    pub fn new() -> io::Result<Workplace> {
        static TIDIED: AtomicBool = AtomicBool::new(false);
        let parent = parent();
        if !TIDIED.swap(true, Ordering::Relaxed) {
            tidy(&parent);
        }
        Workplace::within(&parent)
    }

    impl Workplace {
        fn within(parent: &Path) -> io::Result<Workplace> {
            let new = make(parent)?;
            let folder = open(new.path())?;
            let mut marker = File::create_new(new.path().join(MARKER))?;
            // A folder without the text never counts as abandoned. Where files cannot be locked,
            // the text stays out.
            if marker.lock().is_ok() {
                marker.write_all(MARK.as_bytes())?;
            }
            Ok(Workplace {
                path: new.keep(),
                folder,
                _marker: marker,
            })
        }

        /// Returns its path.
        pub fn path(&self) -> &Path {
            &self.path
        }
    }

    impl Drop for Workplace {
        fn drop(&mut self) {
            remove(&self.path, &self.folder);
        }
    }

    fn open(folder: &Path) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::open(folder, flags, Mode::empty())?)
    }

    /// Removes abandoned folders.
    pub(super) fn tidy(parent: &Path) {
        let entries = fs::read_dir(parent);
        for entry in entries.into_iter().flatten().flatten() {
            let name = entry.file_name();
            let rest = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
            let drawn = |b: u8| b.is_ascii_alphanumeric();
            if rest.is_some_and(|rest| rest.len() == LETTERS && rest.bytes().all(drawn))
                && let Some((folder, _locked)) = left_behind(&entry.path())
            {
                remove(&entry.path(), &folder);
            }
        }
    }

    /// Opens an abandoned folder: it and its marker belong to this user, and the marker is not
    /// locked. Also returns the lock.
    fn left_behind(path: &Path) -> Option<(OwnedFd, File)> {
        let folder = open(path).ok()?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let marker = openat(&folder, MARKER, flags, Mode::empty()).ok()?;
        let about = fstat(&marker).ok()?;
        let is_file = FileType::from_raw_mode(about.st_mode) == FileType::RegularFile;
        if !is_file || !user::owns(&about) || !user::owns(&fstat(&folder).ok()?) {
            return None;
        }
        let marker = File::from(marker);
        marker.try_lock().ok()?;
        let mut text = Vec::new();
        let most = MARK.len() as u64 + 1;
        (&marker).take(most).read_to_end(&mut text).ok()?;
        (text == MARK.as_bytes()).then_some((folder, marker))
    }

    /// Removes a folder. The marker goes last: a dying compiler may still write files, and then the
    /// next process can remove the rest.
    fn remove(path: &Path, folder: &OwnedFd) {
        for _ in 0..3 {
            if empty(path, folder).is_ok() && fs::remove_dir(path).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn empty(path: &Path, folder: &OwnedFd) -> io::Result<()> {
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") || name.to_bytes() == MARKER.as_bytes() {
                continue;
            }
            if unlinkat(folder, name, AtFlags::empty()).is_err() {
                // Subfolders made by compilers.
                let name = std::os::unix::ffi::OsStrExt::from_bytes(name.to_bytes());
                fs::remove_dir_all(path.join::<&std::ffi::OsStr>(name))?;
            }
        }
        match unlinkat(folder, MARKER, AtFlags::empty()) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e.into()),
            _ => Ok(()),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::os::unix::fs::symlink;

        /// Makes a folder as a killed process leaves it.
        fn abandoned(parent: &Path) -> PathBuf {
            let work = Workplace::within(parent).unwrap();
            let path = work.path.clone();
            // Its files are closed, but nothing of it is dropped.
            let Workplace { _marker, .. } = &work;
            _marker.unlock().unwrap();
            std::mem::forget(work);
            fs::write(path.join("kernel.c"), "").unwrap();
            path
        }

        #[test]
        fn folders_go_with_all_that_is_in_them() {
            let parent = tempfile::tempdir().unwrap();
            let work = Workplace::within(parent.path()).unwrap();
            let path = work.path().to_owned();
            fs::create_dir_all(path.join("a/b")).unwrap();
            fs::write(path.join("a/b/c"), "").unwrap();
            symlink("/", path.join("root")).unwrap();
            drop(work);
            assert!(!path.exists());
        }

        #[test]
        fn only_what_was_left_behind_goes() {
            let parent = tempfile::tempdir().unwrap();
            let left = abandoned(parent.path());
            let used = Workplace::within(parent.path()).unwrap();
            // Folders of the user, with names and even markers like ours.
            let named = |letters: &str| parent.path().join(format!("{PREFIX}{letters}"));
            let theirs = [
                parent.path().join("livefusion-0.1.0"),
                parent.path().join("livefusion-compiles-notes"),
                named("abcdefghijkl"),
                named("abcdefghijkm"),
                named("abcdefghijk"),
                named("abcdefghijk-"),
            ];
            for folder in &theirs {
                fs::create_dir(folder).unwrap();
                fs::write(folder.join("thesis.txt"), "").unwrap();
            }
            fs::write(theirs[0].join(MARKER), MARK).unwrap();
            fs::write(theirs[3].join(MARKER), "mine").unwrap();
            fs::write(theirs[4].join(MARKER), MARK).unwrap();
            symlink(&theirs[0], named("abcdefghijkn")).unwrap();
            tidy(parent.path());
            assert!(!left.exists());
            assert!(used.path().join(MARKER).exists(), "it is in use");
            for folder in &theirs {
                assert!(folder.join("thesis.txt").exists(), "{}", folder.display());
            }
            // With name and marker, but owned by another user.
            fs::write(theirs[2].join(MARKER), MARK).unwrap();
            if std::os::unix::fs::chown(&theirs[2], Some(12345), None).is_ok() {
                tidy(parent.path());
                assert!(theirs[2].join("thesis.txt").exists());
            }
        }
    }
}
