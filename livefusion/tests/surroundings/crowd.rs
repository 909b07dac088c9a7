//! 64 threads on one engine.
//!
//! They share programs or not, drop arrays and engines, and cancel forces.

use crate::{eager, numbered, value_of_numbered, within_a_minute};
use livefusion::ErrorKind::Cancelled;
use livefusion::prelude::*;
use livefusion::{CancelToken, Ix0};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

const THREADS: u64 = 64;
const ROUNDS: u64 = 12;
const PROGRAMS: u64 = 24;

/// One thread's work.
struct One<'a> {
    engine: Engine,
    forces: &'a AtomicU64,
    /// Tokens that other threads may cancel.
    tokens: &'a Mutex<Vec<CancelToken>>,
    /// An array that all threads force.
    shared: &'a Array<u64, Ix0>,
}

impl One<'_> {
    fn works(self, thread: u64) {
        for round in 0..ROUNDS {
            let k = (thread * 5 + round * 7) % PROGRAMS;
            let program = numbered(k, 3000);
            let expected = Ok(value_of_numbered(k, 3000));
            self.forces.fetch_add(1, Ordering::Relaxed);
            match (thread + round) % 4 {
                0 => {
                    let token = CancelToken::new();
                    let stopped = self.engine.with_cancel(token.clone());
                    self.tokens.lock().expect("no panic").push(token);
                    match program.force_with(&stopped) {
                        Err(e) => assert_eq!(e.kind, Cancelled),
                        value => assert_eq!(value, expected),
                    }
                }
                1 => {
                    let token = self.tokens.lock().expect("no panic").pop();
                    token.iter().for_each(CancelToken::cancel);
                    let again = self.engine.clone();
                    assert_eq!(program.force_with(&again), expected);
                    // The forced value is available.
                    assert_eq!(program.force_with(&again), expected);
                }
                2 => {
                    let token = CancelToken::new();
                    token.cancel();
                    let stopped = self.engine.with_cancel(token);
                    let error = program
                        .force_with(&stopped)
                        .expect_err("it was stopped before");
                    assert_eq!(error.kind, Cancelled);
                }
                _ => assert_eq!(program.force_with(&self.engine), expected),
            }
        }
        let shared = self.shared.force_with(&self.engine);
        assert_eq!(shared, Ok(value_of_numbered(PROGRAMS, 3000)));
    }
}

fn crowd(engine: Engine) {
    within_a_minute(move || {
        let (forces, tokens) = (AtomicU64::new(0), Mutex::new(Vec::new()));
        let shared = numbered(PROGRAMS, 3000);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let one = One {
                    engine: engine.clone(),
                    forces: &forces,
                    tokens: &tokens,
                    shared: &shared,
                };
                scope.spawn(move || one.works(thread));
            }
        });
        let counters = engine.counters();
        let forces = forces.load(Ordering::Relaxed);
        // Each program was compiled once. Some threads found the shared value already computed. If
        // it appeared between two checks, they share one more program, with that value in memory.
        let programs = PROGRAMS + 1..=PROGRAMS + 2;
        assert!(programs.contains(&counters.misses), "{counters:?}");
        let looked_up = counters.hits + counters.misses;
        assert!(
            (forces + 1..=forces + THREADS).contains(&looked_up),
            "{forces}, {counters:?}"
        );
        assert!(counters.recognised <= counters.hits, "{counters:?}");
        assert_eq!((counters.programs, counters.evicted), (counters.misses, 0));
    });
}

#[test]
fn crowd_of_threads_on_the_interpreter() {
    crowd(
        Engine::builder()
            .backend(Arc::new(livefusion_interp::InterpBackend::new()))
            .threads(4)
            .build(),
    );
}

#[test]
fn crowd_of_threads_that_share_every_loop() {
    crowd(eager(4));
}

#[test]
fn crowd_of_threads_on_the_default_engine() {
    crowd(Engine::builder().threads(4).build());
}
