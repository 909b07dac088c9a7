//! Child processes with a time limit, ended together with their descendants.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// The time to wait for a killed process. The system may need a while, or forever if a disk hangs.
const DYING: Duration = Duration::from_secs(1);

/// Runs a command in its own process group, for at most `limit`.
///
/// Returns `None` if the command did not end by itself. Remaining processes of the group are killed
/// at the end, even if they hold files open.
pub fn run(command: &mut Command, limit: Duration) -> io::Result<Option<ExitStatus>> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn()?;
    let in_time = wait(limit, || has_ended(&mut child));
    // The child was not reaped yet. So its number, which is the group's, cannot be reused.
    end_group(&mut child);
    if in_time {
        return child.wait().map(Some);
    }
    wait(DYING, || !matches!(child.try_wait(), Ok(None)));
    Ok(None)
}

/// Waits for a condition, up to a limit. The polling interval grows with the elapsed time.
fn wait(limit: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let (least, most) = (Duration::from_micros(50), Duration::from_millis(20));
    let start = Instant::now();
    loop {
        if is_so() {
            return true;
        }
        let passed = start.elapsed();
        if passed >= limit {
            return false;
        }
        std::thread::sleep((passed / 32).clamp(least, most).min(limit - passed));
    }
}

/// Returns whether the child has ended, or its status cannot be read.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(
        waitid(WaitId::Pid(Pid::from_child(child)), options),
        Ok(None)
    )
}

#[cfg(unix)]
fn end_group(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    // The group may be empty.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

#[cfg(not(unix))]
fn end_group(child: &mut Child) {
    let _ = child.kill();
}
