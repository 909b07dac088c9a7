//! Files in memory only, to load exactly the checked bytes.

use std::path::Path;

/// Calls `load` with the path of a file in memory that holds `bytes`.
///
/// Returns `None` where the system has no such files, or if `load` returns `None`. No two calls in
/// a process have the same path: the system's loader would take the second file for the first.
#[cfg(target_os = "linux")]
pub fn with<T>(bytes: &[u8], load: impl FnOnce(&Path) -> Option<T>) -> Option<T> {
    use rustix::fs::{MemfdFlags, memfd_create};
    use std::fs::File;
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::sync::atomic::{AtomicU64, Ordering};

    static SERIAL: AtomicU64 = AtomicU64::new(0);
    let mut file = File::from(memfd_create("livefusion", MemfdFlags::CLOEXEC).ok()?);
    file.write_all(bytes).ok()?;
    // Descriptors are reused, so the path must differ. The serial number is encoded in redundant
    // slashes and dots: `/` for a 0, `/.` for a 1.
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    let digits = format!("{serial:b}");
    let dots: Vec<&str> = digits
        .chars()
        .map(|digit| if digit == '1' { "/." } else { "/" })
        .collect();
    let path = format!("/proc/self/fd{}/{}", dots.concat(), file.as_raw_fd());
    load(Path::new(&path))
}

/// Returns `None`, since the system has no such files.
#[cfg(not(target_os = "linux"))]
pub fn with<T>(_: &[u8], _: impl FnOnce(&Path) -> Option<T>) -> Option<T> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn paths_differ_and_lead_to_the_bytes() {
        let mut paths = HashSet::new();
        for i in 0..200u32 {
            let bytes = i.to_le_bytes();
            let read = with(&bytes, |path| {
                assert!(paths.insert(path.as_os_str().to_owned()), "{path:?} again");
                std::fs::read(path).ok()
            });
            assert_eq!(read.as_deref(), Some(&bytes[..]));
        }
    }
}
