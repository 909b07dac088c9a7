//! A process with all that it starts, which ends in time.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// How long a process that was killed is waited for: the system may need a while, or for ever if a disk hangs.
const DYING: Duration = Duration::from_secs(1);

/// Runs a command in a process group of its own, for at most so long; none if it did not end by itself.
/// What it started and left behind ends with it, whatever that still holds open.
pub fn run(command: &mut Command, limit: Duration) -> io::Result<Option<ExitStatus>> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn()?;
    let in_time = wait(limit, || has_ended(&mut child));
    // It was not asked for its status yet, and so its number, which is the group's, is nobody else's.
    end_group(&mut child);
    if in_time {
        return child.wait().map(Some);
    }
    wait(DYING, || !matches!(child.try_wait(), Ok(None)));
    Ok(None)
}

/// Waits until something is so, or for so long. It looks again after a small part of the time that has
/// passed.
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

/// Whether it has ended, or cannot be asked.
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
    // There may be nobody left in it.
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
