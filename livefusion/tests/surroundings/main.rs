//! Process-level tests: forks, panics, dropped engines, full disks, many threads and programs.
//!
//! These tests are separate because they fork, and count memory and mappings of the process.
#![cfg(target_os = "linux")]

mod callbacks;
mod crowd;
mod disk;
mod dropped;
mod forks;
mod many;

use livefusion::Ix0;
use livefusion::prelude::*;
use livefusion_interp::InterpBackend;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

/// A limit that only endless work exceeds.
const MINUTE: Duration = Duration::from_secs(60);

/// The variable that marks a child process with one test.
const ALONE: &str = "LIVEFUSION_TEST_ALONE";

/// Whether this process runs one test for another.
fn is_alone() -> bool {
    std::env::var_os(ALONE).is_some()
}

/// Runs a test of this program in its own process, after a shell command, and returns its output.
fn alone(test: &str, before: &str, variables: &[(&str, &str)], limit: Duration) -> String {
    let script = format!("{before} exec \"$0\" --exact {test} --nocapture");
    let child = Command::new("sh")
        .args(["-c", &script])
        .arg(std::env::current_exe().expect("this program"))
        .process_group(0)
        .env(ALONE, "1")
        .envs(variables.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell");
    let id = child.id();
    let (send, ended) = channel();
    std::thread::spawn(move || send.send(child.wait_with_output()));
    let Ok(output) = ended.recv_timeout(limit) else {
        // SAFETY: the number is that of a child that was not waited for to its end, and of its
        // group.
        unsafe { libc::kill(-(id as libc::pid_t), libc::SIGKILL) };
        panic!("{test} came to no end");
    };
    let output = output.expect("it was waited for");
    let [said, errors] = [&output.stdout, &output.stderr].map(|s| String::from_utf8_lossy(s));
    assert!(output.status.success(), "{said}\n{errors}");
    assert!(said.contains("1 passed"), "{test} is no test: {said}");
    said.into_owned()
}

/// Returns the result of `body`, or fails the test after a minute.
fn within_a_minute<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    let (send, ended) = channel();
    std::thread::spawn(move || send.send(body()));
    let ended = ended.recv_timeout(MINUTE);
    ended.expect("it panicked, or came to no end")
}

/// An engine that shares every loop of more than 64 steps.
fn eager(threads: usize) -> Engine {
    let backend = Arc::new(InterpBackend::with_chunk(64));
    let builder = Engine::builder().backend(backend);
    builder.threads(threads).eager().build()
}

/// A program whose code is unique to `k`, because divisors are part of the code.
fn numbered(k: u64, n: u64) -> Array<u64, Ix0> {
    let xs = iota(n).map(|i| i % (k + 2));
    match k % 4 {
        0 => xs.filter(|x| x.gt(1)).sum(),
        1 => xs.scan(0, |a, b| a + b).map(|x| x % (k + 3)).sum(),
        2 => xs.zip_with(&iota(n), |a, b| a * b).sum(),
        _ => xs.map(|x| x ^ 5).sum(),
    }
}

/// The value of `numbered`.
fn value_of_numbered(k: u64, n: u64) -> u64 {
    let xs = (0..n).map(|i| i % (k + 2));
    match k % 4 {
        0 => xs.filter(|x| *x > 1).sum(),
        1 => {
            let sums = xs.scan(0, |sum, x| {
                *sum += x;
                Some(*sum)
            });
            sums.map(|x| x % (k + 3)).sum()
        }
        2 => xs.zip(0..n).map(|(a, b)| a * b).sum(),
        _ => xs.map(|x| x ^ 5).sum(),
    }
}

/// Long enough for threads to share it, and for compilation.
fn long() -> Array<f64, Ix0> {
    iota(1_000_000).map(|i| i.cast::<f64>() * 0.1).sum()
}
