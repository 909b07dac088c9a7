//! Peak memory of a call.

use livefusion_backend::buffer::recycle;
use std::fs;

/// Measures the peak growth of the process's memory while `run` runs.
///
/// Memory of earlier results is returned to the system first. None if the system has no such
/// figure.
pub fn peak(run: impl FnOnce()) -> Option<u64> {
    recycle::clear();
    // Resets the high-water mark to the current use.
    fs::write("/proc/self/clear_refs", "5").ok()?;
    let before = status("VmHWM:")?;
    run();
    Some(status("VmHWM:")?.saturating_sub(before))
}

/// A line of the process's status, in bytes.
fn status(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use livefusion_backend::{Buffer, View};

    #[test]
    fn an_array_is_counted_while_it_lives() {
        let bytes = 32 << 20;
        let ones = vec![1u8; bytes];
        let copy = || drop(Buffer::copy_of(View::new(&ones)));
        let Some(peak) = peak(copy) else {
            return; // This system has no such figure.
        };
        let (least, most) = (bytes as u64 * 9 / 10, bytes as u64 * 3 / 2);
        assert!((least..most).contains(&peak), "{peak} bytes");
    }
}
