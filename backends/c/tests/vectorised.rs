//! What the compiler reports about generated code: nothing is lost to gotos.

mod common;

use common::*;
use livefusion_backend::Backend;
use livefusion_c::CBackend;
use std::process::Command;

/// The lines of the straight loops' innermost `for`, and the lines that gcc says it vectorised.
fn report(compiler: &std::path::Path, name: &str) -> (Vec<usize>, Vec<usize>) {
    let (source, vectorised) = vectorised(compiler, name);
    let straight = source
        .lines()
        .enumerate()
        .skip_while(|(_, l)| !l.contains("noinline"));
    let mut loops = Vec::new();
    for (i, line) in straight.take_while(|(_, l)| *l != "}") {
        if line.trim_start().starts_with("for (u64") {
            loops.push(i + 1);
        }
    }
    (loops, vectorised)
}

/// A kernel's source, and the lines of it that gcc says it vectorised.
fn vectorised(compiler: &std::path::Path, name: &str) -> (String, Vec<usize>) {
    let kernel = CBackend::with_compiler(compiler)
        .compile(&loop_file(name))
        .unwrap();
    let source = kernel.source().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("k.c"), folder.path().join("k.so"));
    std::fs::write(&input, source).unwrap();
    let run = Command::new(compiler)
        .args(livefusion_c::FLAGS)
        .args(["-O3", "-fopt-info-vec-optimized", "-o"])
        .arg(&output)
        .arg(&input)
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let vectorised = String::from_utf8_lossy(&run.stderr)
        .lines()
        .filter(|l| l.contains("loop vectorized"))
        .filter_map(|l| l.split(':').nth(1)?.parse().ok())
        .collect();
    (source.to_string(), vectorised)
}

#[test]
fn scalar_loops_and_segments_are_vectorised() {
    let compiler = livefusion_c::system_compiler().unwrap();
    let version = Command::new(&compiler).arg("--version").output().unwrap();
    if !String::from_utf8_lossy(&version.stdout).contains("Free Software Foundation") {
        return;
    }
    // The lanes of a scalar loop; whole strips of a segment.
    for (name, before) in [("escape", "do {"), ("shares", "for (; strip + 32 <=")] {
        let (source, vectorised) = vectorised(&compiler, name);
        let lines = source.lines().enumerate();
        let mut inner = lines
            .skip_while(|(_, l)| !l.trim_start().starts_with(before))
            .filter(|(_, l)| l.trim_start().starts_with("for (u64 lane"));
        let (line, _) = inner.next().expect("a loop over lanes");
        assert!(
            vectorised.contains(&(line + 1)),
            "{name}: {vectorised:?} without {}\n{source}",
            line + 1
        );
    }
}

#[test]
fn innermost_loops_are_vectorised() {
    let compiler = livefusion_c::system_compiler().unwrap();
    let version = Command::new(&compiler).arg("--version").output().unwrap();
    let gcc = String::from_utf8_lossy(&version.stdout).contains("Free Software Foundation");
    let names: &[&str] = match std::env::consts::ARCH {
        "x86_64" => &["map", "dot", "filter_sum", "gather_trap", "both_ways"],
        _ => &["map", "dot"],
    };
    for name in names {
        if !gcc {
            // Other compilers report otherwise; that they take the flags and the code is what counts.
            let kernel = CBackend::with_compiler(&compiler)
                .compile(&loop_file(name))
                .unwrap();
            assert!(kernel.source().unwrap().contains("for (u64 "));
            continue;
        }
        let (loops, vectorised) = report(&compiler, name);
        let innermost = loops.last().expect("a straight loop");
        assert!(
            vectorised.contains(innermost),
            "{name}: {vectorised:?} without {innermost}"
        );
    }
}

#[test]
fn kernels_read_like_their_loops() {
    let kernel = CBackend::new()
        .compile(&loop_file("to_percentages"))
        .unwrap();
    let source = kernel.source().unwrap();
    for text in [
        "/*   filt: filter at filt */",
        "/* map: map */",
        "body_filt:; /* body_map */",
        "f64 elt_map = elt_mfst * factor_map;",
        "goto bottom_filt;",
    ] {
        assert!(source.contains(text), "{text} is not in\n{source}");
    }
    assert!(!source.contains("#include"));
}
