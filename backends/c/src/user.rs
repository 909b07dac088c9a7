//! Who runs this process, and which files are theirs.

/// Whether the process runs for another user or group than the one who started it. What the environment
/// says is then somebody else's word.
pub fn is_another() -> bool {
    #[cfg(unix)]
    {
        use rustix::process::{getegid, geteuid, getgid, getuid};
        getuid() != geteuid() || getgid() != getegid()
    }
    #[cfg(not(unix))]
    false
}

/// Whether this user made a file.
#[cfg(unix)]
pub fn owns(stat: &rustix::fs::Stat) -> bool {
    stat.st_uid == rustix::process::geteuid().as_raw()
}
