//! Folders in which the compiler works.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Once;
use std::time::Duration;
use tempfile::TempDir;

/// What the names of the folders begin with.
const PREFIX: &str = "livefusion-";

/// A folder of this age was left by a process that ended while its compiler ran.
const LEFT_BEHIND: Duration = Duration::from_secs(24 * 3600);

/// A folder that only this user can enter; it goes when it is dropped. The first call in a process also
/// removes those of this user that nobody will come back to.
pub fn new() -> io::Result<TempDir> {
    static TIDIED: Once = Once::new();
    let parent = std::env::temp_dir();
    TIDIED.call_once(|| tidy(&parent, LEFT_BEHIND));
    tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)
}

/// Removes folders of an age. What cannot be removed stays.
fn tidy(parent: &Path, age: Duration) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX));
        // Of a link this is the link itself, which is no folder.
        let old = || {
            let about = entry.metadata().ok().filter(|m| m.is_dir() && is_own(m))?;
            Some(about.modified().ok()?.elapsed().ok()? >= age)
        };
        if ours && old() == Some(true) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether this user made it.
fn is_own(about: &fs::Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::uid(about) == rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    return about.is_dir();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_folders_of_ours_go() {
        let parent = tempfile::tempdir().unwrap();
        let path = |name: &str| parent.path().join(name);
        for name in ["livefusion-a", "livefusion-b", "other"] {
            fs::create_dir(path(name)).unwrap();
            fs::write(path(name).join("kernel.c"), "").unwrap();
        }
        fs::write(path("livefusion-file"), "").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(path("other"), path("livefusion-link")).unwrap();
        tidy(parent.path(), LEFT_BEHIND);
        assert!(path("livefusion-a").exists());
        tidy(parent.path(), Duration::ZERO);
        assert!(!path("livefusion-a").exists() && !path("livefusion-b").exists());
        assert!(path("other/kernel.c").exists() && path("livefusion-file").exists());
    }
}
