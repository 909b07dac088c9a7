//! Forces in forked children.
//!
//! A child has none of its parent's threads, whose locks may stay locked.

use crate::{ALONE, MINUTE, alone, eager, is_alone, long, numbered, value_of_numbered};
use livefusion::prelude::*;
use livefusion::prepare::prepare_with;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Runs `child` in a forked process, which must report success within a minute.
fn in_a_fork(child: impl FnOnce() -> Result<(), String>) {
    assert!(std::env::var_os(ALONE).is_some(), "other tests fork, too");
    // SAFETY: the child has one thread, which leaves without a return from here. It allocates,
    // which the system's library allows behind a fork.
    let id = unsafe { libc::fork() };
    assert!(id >= 0, "no fork");
    if id == 0 {
        let ended = catch_unwind(AssertUnwindSafe(child));
        let said = match ended {
            Ok(Ok(())) => None,
            Ok(Err(why)) => Some(why),
            Err(_) => Some("a panic".to_string()),
        };
        if let Some(why) = &said {
            let why = format!("in the child: {why}\n");
            // SAFETY: the bytes live until the call returns.
            unsafe { libc::write(2, why.as_ptr().cast(), why.len()) };
        }
        // SAFETY: it ends the child, whose other threads are not there to be joined.
        unsafe { libc::_exit(i32::from(said.is_some())) };
    }
    let start = Instant::now();
    let mut status = -1;
    // SAFETY: the child of above, which is waited for until it has ended, and no longer.
    while unsafe { libc::waitpid(id, &mut status, libc::WNOHANG) } == 0 {
        if start.elapsed() > MINUTE {
            // SAFETY: it was not waited for to its end, so the number is its own.
            unsafe { libc::kill(id, libc::SIGKILL) };
            panic!("a forked child came to no end");
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(status, 0, "a forked child failed");
}

fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    got: livefusion::Result<T>,
    expected: T,
) -> Result<(), String> {
    match got {
        Ok(got) if got == expected => Ok(()),
        got => Err(format!("{what}: {got:?}, not {expected:?}")),
    }
}

/// The number of threads that engines of this process started.
fn helpers() -> usize {
    let threads = std::fs::read_dir("/proc/self/task").expect("threads");
    let name = |t: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(t.ok()?.path().join("comm")).ok()
    };
    let names = threads.filter_map(name);
    names.filter(|n| n.starts_with("livefusion ")).count()
}

#[test]
fn fork_after_forces_the_child_forces_old_and_new_programs() {
    if !is_alone() {
        let test = "forks::fork_after_forces_the_child_forces_old_and_new_programs";
        alone(test, "", &[("LIVEFUSION_CACHE_DIR", "off")], MINUTE);
        return;
    }
    let engines = [
        ("default", Engine::default_engine().clone()),
        ("one thread", Engine::builder().threads(1).build()),
        ("four threads", Engine::builder().threads(4).build()),
        ("all loops shared", eager(3)),
        ("C", Engine::c()),
    ];
    let expected = long().force_with(&Engine::interp()).expect("it runs");
    // Enough elements for a radix sort on all threads.
    let mixed: Vec<u64> = (0..200_000u64).map(|i| i * 7919 % 200_003).collect();
    let mut sorted = mixed.clone();
    sorted.sort_unstable();
    let mixed = Array::from(mixed);
    let here = Array::from(vec![5u64, 9, 70]);
    let made = here.map(|x| x + 1);
    for (name, engine) in &engines {
        let rest = prepare_with(engine, |xs: Array<u64>| xs.map(|x| x % 7).sum()).expect(name);
        let work = |first: u64| {
            same("numbered", numbered(first, 999).force_with(engine), {
                value_of_numbered(first, 999)
            })?;
            let bits = long().force_with(engine).map(f64::to_bits);
            same("long", bits, expected.to_bits())?;
            let in_order = mixed.sort().force_with(engine).and_then(|s| s.to_vec());
            same("sorted", in_order.map(|s| s == sorted), true)?;
            same("prepared", rest.call(&here), 7)?;
            same("made", made.force_with(engine).and_then(|m| m.to_vec()), {
                vec![6, 10, 71]
            })
        };
        work(0).expect(name);
        let before = helpers();
        in_a_fork(|| {
            same("threads of the parent", Ok(helpers()), 0)?;
            work(0)?;
            work(1)?;
            // A fork of a fork is another child.
            in_a_fork(|| work(2));
            match engine.threads() > 1 && before > 0 && *name == "all loops shared" {
                true => same("threads", Ok(helpers() >= 2), true),
                false => Ok(()),
            }
        });
        work(3).expect(name);
    }
}

#[test]
fn fork_while_other_threads_force_the_child_forces() {
    if !is_alone() {
        let test = "forks::fork_while_other_threads_force_the_child_forces";
        alone(test, "", &[("LIVEFUSION_CACHE_DIR", "off")], 2 * MINUTE);
        return;
    }
    let (over, next) = (AtomicBool::new(false), AtomicU64::new(0));
    let engines = [Engine::default_engine().clone(), eager(2)];
    let work = |engine: &Engine, k: u64| {
        let got = numbered(k, 300).force_with(engine);
        same("numbered", got, value_of_numbered(k, 300))?;
        // Large memory is recycled, and is dropped again.
        let large = iota(20_000).map(|i| i + 1).force_with(engine);
        same("large", large.map(|l| l[19_999]), 20_000)?;
        let at = livefusion::Loc::in_text("fork", 1, k as u32 % 100);
        same("places", Ok(at.line()), 1)
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    engines
                        .iter()
                        .try_for_each(|e| work(e, k))
                        .expect("it runs");
                }
            });
        }
        for _ in 0..15 {
            let now = next.load(Ordering::Relaxed);
            // Programs that other threads compile at the moment, and new ones.
            let child = || (now..now + 5).try_for_each(|k| work(&engines[k as usize % 2], k));
            in_a_fork(child);
        }
        over.store(true, Ordering::Relaxed);
    });
}
