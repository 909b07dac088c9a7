//! C for machines with narrower vectors: golden loops and random programs.
//!
//! They must give the interpreter's bits.
#![cfg(target_arch = "x86_64")]

use livefusion::prelude::*;
use livefusion::{Engine, KernelCache};
use livefusion_backend::Backend;
use livefusion_c::CBackend;
use livefusion_tests::backends::Known;
use livefusion_tests::check::{agree, check_all, run};
use livefusion_tests::mutants::golden_loops;
use livefusion_tests::mutants::hunt::golden_agrees;
use livefusion_tests::program::{Options, Program, programs};
use livefusion_tile::target::Target;
use loop_lang::Loop;
use std::sync::Arc;

fn on_a_machine(target: Target) {
    if !target.runs_on(&Target::here()) {
        println!("skipped: this machine does not run code for {target}");
        return;
    }
    let backend = || CBackend::new().with_target(target.clone());
    let golden = golden_loops();
    let loops: Vec<Loop> = golden.iter().map(|(_, l)| l.clone()).collect();
    let known = Known::compile(backend(), &loops).expect("C compiles");
    let agrees = |(name, program): &(String, Loop)| {
        let kernel = known.compile(program).expect("it was compiled");
        golden_agrees(name, program, &[kernel], 6)
    };
    let found: Vec<String> = golden.iter().flat_map(agrees).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));

    let programs: Vec<(u64, Program)> = programs(20, Options::SMALL)
        .chain(programs(20, Options::WIRED).map(|(s, p)| (s + 2_000_000, p)))
        .chain(programs(3, Options::CHUNKS).map(|(s, p)| (s + 1_000_000, p)))
        .collect();
    let known = Arc::new(Known::of(backend(), programs.iter().map(|(_, p)| p)));
    let interp = Engine::interp();
    let check = |_, p: &Program| {
        let reference = run(p, &interp)?;
        agree(&reference, &run(p, &Engine::new(known.clone()))?)
    };
    check_all(programs, check, |_, ()| {});
}

#[test]
fn vectors_of_64_bytes() {
    on_a_machine(Target::avx512());
}

#[test]
fn vectors_of_32_bytes() {
    on_a_machine(Target::avx2());
}

#[test]
fn vectors_of_16_bytes() {
    on_a_machine(Target::sse2());
}

#[test]
fn no_vectors() {
    on_a_machine(Target::plain());
}

/// One program on two engines: each compiles for its own target, regardless of the other's cache
/// entries.
#[test]
fn engines_for_different_targets_share_no_kernels() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = KernelCache::in_folder(folder.path().join("kernels"));
    let engine = |target| {
        let backend = CBackend::new().with_cache(cache.clone());
        Engine::new(Arc::new(backend.with_target(target)))
    };
    let sum = |engine: &Engine| {
        let kept = Array::from((0..1000i64).collect::<Vec<_>>()).filter(|x| x.gt(10));
        kept.sum().force_with(engine).expect("it runs");
        let counters = engine.counters();
        (counters.compiler_runs, counters.disk_hits)
    };
    for target in [Target::sse2(), Target::plain(), Target::here()] {
        assert_eq!(sum(&engine(target.clone())), (1, 0), "{target}");
        assert_eq!(sum(&engine(target.clone())), (0, 1), "{target}");
    }
}
