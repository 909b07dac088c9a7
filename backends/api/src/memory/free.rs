//! The free memory of the process, as Linux reports it.
//!
//! A control group, and each of its ancestors, has a limit and counts its use, including pages of
//! files. The system reclaims these pages when it needs them, so they count as free. So does memory
//! [kept](recycle::kept) for later arrays.

use crate::buffer::recycle;
use std::path::{Path, PathBuf};

/// The divisor of the reserve: an eighth of the free memory is left alone.
const SHARE: u64 = 8;

/// Returns the bytes that the process can take without being killed.
///
/// This is the free memory of its control group, or of the machine if that is less, minus an
/// eighth. Returns `None` where the system does not report it.
///
/// ```
/// let free = livefusion_backend::memory::free();
/// assert_eq!(free.is_some(), cfg!(target_os = "linux"));
/// ```
pub fn free() -> Option<u64> {
    let free = free_in(Path::new("/proc"), Path::new("/sys/fs/cgroup"))?;
    let free = free.saturating_add(recycle::kept() as u64);
    Some(free - free / SHARE)
}

/// Returns the free memory reported by the files in these folders.
fn free_in(proc: &Path, groups: &Path) -> Option<u64> {
    let machine = read(&proc.join("meminfo")).and_then(|text| available(&text));
    let own = read(&proc.join("self/cgroup"));
    let own = own.and_then(|text| of_groups(&text, groups));
    machine.into_iter().chain(own).min()
}

fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// Parses `MemAvailable` of `/proc/meminfo`.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|l| l.strip_prefix("MemAvailable:"));
    let kib: u64 = line?.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

/// The files of one version of control groups.
struct Files {
    limit: &'static str,
    used: &'static str,
    /// Counts of file pages, in `memory.stat`.
    pages: [&'static str; 2],
}

const FIRST: Files = Files {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    pages: ["total_inactive_file", "total_active_file"],
};

const SECOND: Files = Files {
    limit: "memory.max",
    used: "memory.current",
    pages: ["inactive_file", "active_file"],
};

/// Returns the free memory of the control groups in `/proc/self/cgroup` and of their ancestors.
fn of_groups(names: &str, groups: &Path) -> Option<u64> {
    let mut least = None;
    for line in names.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(kinds), Some(name)) = (parts.next(), parts.next()) else {
            continue;
        };
        let (root, files) = match kinds {
            "" => (groups.to_path_buf(), &SECOND),
            _ if kinds.split(',').any(|k| k == "memory") => (groups.join("memory"), &FIRST),
            _ => continue,
        };
        let free = up_from(&root, name).filter_map(|folder| of_group(&folder, files));
        least = least.into_iter().chain(free).min();
    }
    least
}

/// Returns the folders of a control group and of its ancestors. In a container the own group may
/// appear as the root.
fn up_from(root: &Path, name: &str) -> impl Iterator<Item = PathBuf> {
    let own = root.join(name.trim_start_matches('/'));
    let up: Vec<PathBuf> = own
        .ancestors()
        .take_while(|folder| folder.starts_with(root))
        .map(Path::to_path_buf)
        .collect();
    up.into_iter()
}

/// Returns the free memory of a control group. Returns `None` if it has no limit.
fn of_group(folder: &Path, files: &Files) -> Option<u64> {
    let number = |file: &str| read(&folder.join(file))?.trim().parse::<u64>().ok();
    let limit = number(files.limit)?;
    let used = number(files.used)?;
    let stat = read(&folder.join("memory.stat")).unwrap_or_default();
    let pages = |name: &str| {
        let line = stat
            .lines()
            .find_map(|l| l.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|n| n.trim().parse::<u64>().ok()).unwrap_or(0)
    };
    let files = files.pages.into_iter().map(pages);
    let used = files.fold(used, u64::saturating_sub);
    Some(limit.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::free_in;
    use std::fs;
    use std::path::Path;

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(path, text).expect("a file");
        }
    }

    /// Returns the free memory reported by these files.
    fn free_by(files: &[(&str, &str)]) -> Option<u64> {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), files);
        free_in(&folder.path().join("proc"), &folder.path().join("sys"))
    }

    const MACHINE: (&str, &str) = (
        "proc/meminfo",
        "MemTotal: 9000 kB\nMemAvailable:    8000 kB\n",
    );

    #[test]
    fn free_memory_without_groups_is_the_machines() {
        assert_eq!(free_by(&[]), None);
        assert_eq!(free_by(&[MACHINE]), Some(8000 << 10));
        let unlimited = [
            MACHINE,
            ("proc/self/cgroup", "0::/a\n"),
            ("sys/a/memory.max", "max\n"),
            ("sys/a/memory.current", "5000\n"),
        ];
        assert_eq!(free_by(&unlimited), Some(8000 << 10));
    }

    #[test]
    fn free_memory_in_groups_in_groups_is_the_least() {
        let files = [
            MACHINE,
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/a/b/memory.max", "7000\n"),
            ("sys/a/b/memory.current", "1000\n"),
            ("sys/a/memory.max", "5000\n"),
            ("sys/a/memory.current", "2500\n"),
            (
                "sys/a/memory.stat",
                "anon 9\ninactive_file 300\nactive_file 200\ninactive_file_x 7\n",
            ),
        ];
        assert_eq!(free_by(&files), Some(3000));
        // Inconsistent counts (too many file pages, or use above the limit) never raise the free
        // memory above the limit.
        let mut full = files;
        full[5] = ("sys/a/memory.current", "9000\n");
        assert_eq!(free_by(&full), Some(0));
        full[5] = ("sys/a/memory.current", "1\n");
        assert_eq!(free_by(&full), Some(5000));
    }

    #[test]
    fn free_memory_in_groups_of_the_first_version_is_told_by_their_files() {
        let files = [
            MACHINE,
            (
                "proc/self/cgroup",
                "4:cpu:/x\n3:cpuset,memory:/docker/1\n0::/\n",
            ),
            // A container sees its own group as the root.
            ("sys/memory/memory.limit_in_bytes", "4000\n"),
            ("sys/memory/memory.usage_in_bytes", "3000\n"),
            (
                "sys/memory/memory.stat",
                "cache 1\ntotal_inactive_file 600\ntotal_active_file 30\n",
            ),
        ];
        assert_eq!(free_by(&files), Some(1630));
    }

    #[test]
    fn free_memory_of_files_that_say_nothing_is_the_machines() {
        let files = [
            MACHINE,
            (
                "proc/self/cgroup",
                "\n0\n0:\nmemory\n1:memory\n0::../../etc\n",
            ),
            ("sys/memory.max", "-1\n"),
            ("sys/memory.current", "nothing\n"),
        ];
        assert_eq!(free_by(&files), Some(8000 << 10));
    }
}
