//! C for machines with narrower vectors than this one has: golden loops and random programs give the
//! interpreter's bits there, too. What the processor lacks anyway is the same code again.
#![cfg(target_arch = "x86_64")]

use livefusion::Engine;
use livefusion_backend::Backend;
use livefusion_c::CBackend;
use livefusion_tests::backends::Known;
use livefusion_tests::check::{agree, check_all, run};
use livefusion_tests::mutants::golden_loops;
use livefusion_tests::mutants::hunt::golden_agrees;
use livefusion_tests::program::{Options, Program, programs};
use loop_lang::Loop;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

/// A compiler for a machine: the system's, told to leave some instructions alone.
fn compiler(folder: &tempfile::TempDir, flags: &str) -> PathBuf {
    let path = folder.path().join("cc");
    let system = livefusion_c::system_compiler().expect("a C compiler");
    let script = format!("#!/bin/sh\nexec {} \"$@\" {flags}\n", system.display());
    std::fs::write(&path, script).expect("a script");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("its mode");
    path
}

fn on_a_machine(flags: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let backend = CBackend::with_compiler(compiler(&folder, flags));
    let golden = golden_loops();
    let loops: Vec<Loop> = golden.iter().map(|(_, l)| l.clone()).collect();
    let known = Known::compile(&backend, &loops).expect("C compiles");
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
    let known = Arc::new(Known::of(&backend, programs.iter().map(|(_, p)| p)));
    let interp = Engine::interp();
    let check = |_, p: &Program| {
        let reference = run(p, &interp)?;
        agree(&reference, &run(p, &Engine::new(known.backend_for(p)))?)
    };
    check_all(programs, check, |_, ()| {});
}

#[test]
fn vectors_of_32_bytes() {
    on_a_machine("-mno-avx512f");
}

#[test]
fn vectors_of_16_bytes() {
    on_a_machine("-mno-avx");
}

#[test]
fn no_vectors() {
    on_a_machine(
        "-mno-avx -fno-tree-vectorize -U__SSE2__ -U__SSE3__ -U__SSSE3__ -U__SSE4_1__ -U__SSE4_2__",
    );
}
