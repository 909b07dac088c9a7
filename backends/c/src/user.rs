//! The user of this process, and ownership of files.

/// Returns whether the process runs for another user or group than its starter.
///
/// The environment is then not trusted.
pub fn is_another() -> bool {
    #[cfg(unix)]
    {
        use rustix::process::{getegid, geteuid, getgid, getuid};
        getuid() != geteuid() || getgid() != getegid()
    }
    #[cfg(not(unix))]
    false
}

/// Returns whether this user owns a file.
#[cfg(unix)]
pub fn owns(stat: &rustix::fs::Stat) -> bool {
    stat.st_uid == rustix::process::geteuid().as_raw()
}
