//! Many programs in one process: memory, mappings and time per program stay constant.
//!
//! The cache evicts old programs.
//!
//! `LIVEFUSION_MANY=interp:100000,jit:100000,c:300` sets the numbers of programs. With
//! `--nocapture`, the figures are printed.

use crate::{MINUTE, alone, is_alone, numbered, value_of_numbered};
use livefusion::KernelCache;
use livefusion::prelude::*;
use std::fs::read_to_string;
use std::time::Instant;

const MANY: &str = "LIVEFUSION_MANY";

/// The number of programs that the engine keeps in the short form.
const KEPT: u64 = 128;

/// Resident KiB of the process, and its mappings.
fn held() -> (u64, u64) {
    let status = read_to_string("/proc/self/status").expect("of this process");
    let resident = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    let kib = resident.and_then(|l| l.trim().split(' ').next()?.parse().ok());
    let maps = read_to_string("/proc/self/maps").expect("of this process");
    (kib.expect("a number"), maps.lines().count() as u64)
}

/// The requested number of programs.
fn asked(backend: &str, short: u64) -> u64 {
    let all = std::env::var(MANY).unwrap_or_default();
    let own = all
        .split(',')
        .find_map(|part| part.strip_prefix(backend)?.strip_prefix(':'));
    own.map_or(short, |n| n.parse().expect("a number"))
}

/// Forces the requested number of programs. Compares memory and mappings after the first third with
/// those at the end.
fn many(test: &str, backend: &str, short: u64, engine: impl FnOnce(usize) -> Engine) {
    let programs = asked(backend, short);
    if !is_alone() {
        let limit = MINUTE * (1 + programs as u32 / 1000);
        let said = alone(&format!("many::{test}"), "", &[], limit);
        return print!("{said}");
    }
    let kept = KEPT.min(programs / 5);
    let engine = engine(kept as usize);
    let mut before = (0, 0);
    let mut start = Instant::now();
    for k in 0..programs {
        assert_eq!(
            numbered(k, 100).force_with(&engine),
            Ok(value_of_numbered(k, 100))
        );
        if k + 1 == programs / 3 {
            let each = start.elapsed() / (k + 1) as u32;
            (before, start) = (held(), Instant::now());
            println!(
                "{backend}: {} programs, {each:?} each, {before:?} KiB and mappings",
                k + 1
            );
        }
    }
    let each = start.elapsed() / (programs - programs / 3) as u32;
    let after = held();
    println!("{backend}: {programs} programs, {each:?} each, {after:?} KiB and mappings");
    assert!(
        after.0 < before.0 + (4 << 10),
        "{before:?}, then {after:?}: memory"
    );
    assert!(
        after.1 < before.1 + 64,
        "{before:?}, then {after:?}: mappings"
    );
    let counters = engine.counters();
    assert_eq!((counters.misses, counters.hits), (programs, 0));
    assert_eq!(counters.programs + counters.evicted, programs);
    assert!(counters.programs <= kept, "{counters:?}");
    // The first program was evicted and is compiled again; the last one is still cached.
    for k in [0, programs - 1] {
        assert_eq!(
            numbered(k, 100).force_with(&engine),
            Ok(value_of_numbered(k, 100))
        );
    }
    let counters = engine.counters();
    assert_eq!((counters.misses, counters.hits), (programs + 1, 1));
}

#[test]
fn many_programs_are_interpreted() {
    many("many_programs_are_interpreted", "interp", 2000, |kept| {
        let backend = livefusion_interp::InterpBackend::new();
        Engine::builder()
            .backend(std::sync::Arc::new(backend))
            .program_limit(kept)
            .build()
    });
}

#[cfg(feature = "jit")]
#[test]
fn many_programs_are_compiled_by_cranelift() {
    many(
        "many_programs_are_compiled_by_cranelift",
        "jit",
        1000,
        |kept| {
            let backend = livefusion_jit::JitBackend::new();
            Engine::builder()
                .backend(std::sync::Arc::new(backend))
                .program_limit(kept)
                .build()
        },
    );
}

#[test]
fn many_programs_are_compiled_as_c() {
    many("many_programs_are_compiled_as_c", "c", 30, |kept| {
        let builder = Engine::builder().kernel_cache(KernelCache::off());
        builder.only_c().program_limit(kept).build()
    });
}
