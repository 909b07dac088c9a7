//! Out-of-memory behaviour.
//!
//! Linux only: the shell limits the address space.
#![cfg(target_os = "linux")]

use livefusion::prelude::*;
use livefusion::{ErrorKind, Segmented};
use std::process::Command;

/// The variable that marks a test process with limited memory.
const LIMITED: &str = "LIVEFUSION_TEST_WITH_LITTLE_MEMORY";

/// Runs a test of this file in a process with `kib` KiB of memory.
fn with_kib(kib: u64, test: &str) {
    let me = std::env::current_exe().expect("this program");
    let limited = format!("ulimit -v {kib} && exec \"$0\" --exact {test} --nocapture");
    let run = Command::new("sh")
        .args(["-c", &limited])
        .arg(me)
        .env(LIMITED, "1")
        .output()
        .expect("a shell");
    let output = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{output}");
}

fn is_limited() -> bool {
    std::env::var_os(LIMITED).is_some()
}

#[test]
fn no_room_for_a_copy_is_an_error() {
    if !is_limited() {
        return with_kib(1 << 20, "no_room_for_a_copy_is_an_error");
    }
    const N: usize = 600 << 20;
    fn is_missing<T>(copied: livefusion::Result<T>, bytes: u64) {
        let error = copied.err().expect("there is no room");
        assert!(matches!(error.kind, ErrorKind::Memory { bytes: b, .. } if b == bytes));
    }
    let xs = Array::from(vec![0u8; N]);
    is_missing(xs.to_vec(), N as u64);
    is_missing(xs.clone().into_vec(), N as u64);
    let forced = xs.force().expect("nothing to compute");
    is_missing(forced.to_vec(), N as u64);
    is_missing(forced.into_vec(), N as u64);
    is_missing(zip((&xs, &xs)).to_vec(), 2 * N as u64);
    // Iteration needs no extra memory.
    assert_eq!(xs.iter().expect("in memory").nth(N - 1), Some(0));
    let rows = Segmented::new(&Array::from(vec![N as u64]), &xs);
    is_missing(rows.to_vecs(), N as u64);
    drop(rows);
    // A uniquely owned array is not copied.
    assert_eq!(xs.into_vec().expect("no copy").len(), N);
}

#[test]
fn no_room_for_the_vectors_of_segments_is_an_error() {
    if !is_limited() {
        return with_kib(320 << 10, "no_room_for_the_vectors_of_segments_is_an_error");
    }
    // Each empty segment becomes a vector of three words, while its length is one word.
    const N: usize = 8 << 20;
    let none = Array::<u8>::from(vec![]);
    let rows = Segmented::new(&Array::from(vec![0u64; N]), &none);
    let error = rows.to_vecs().expect_err("there is no room");
    let bytes = (N * size_of::<Vec<u8>>()) as u64;
    assert!(matches!(error.kind, ErrorKind::Memory { bytes: b, .. } if b == bytes));
}
