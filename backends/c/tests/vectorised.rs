//! What the compiler reports about generated code: nothing is lost to gotos.

mod common;

use common::*;
use livefusion_backend::Backend;
use livefusion_c::CBackend;
use loop_lang::op::Op;
use loop_lang::{Loop, Ty, math};
use std::path::PathBuf;
use std::process::Command;

/// The lines of the straight loops' innermost `for`, and the lines that gcc says it vectorised.
fn report(compiler: &std::path::Path, program: &Loop) -> (Vec<usize>, Vec<usize>) {
    let kernel = CBackend::with_compiler(compiler).compile(program).unwrap();
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

/// The system's compiler, and whether it is gcc.
fn compiler() -> (PathBuf, bool) {
    let compiler = livefusion_c::system_compiler().unwrap();
    let version = Command::new(&compiler).arg("--version").output().unwrap();
    let gcc = String::from_utf8_lossy(&version.stdout).contains("Free Software Foundation");
    (compiler, gcc)
}

#[test]
fn innermost_loops_are_vectorised() {
    let (compiler, gcc) = compiler();
    let names: &[&str] = match std::env::consts::ARCH {
        "x86_64" => &["map", "dot", "filter_sum", "gather_trap"],
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
        let (loops, vectorised) = report(&compiler, &loop_file(name));
        let innermost = loops.last().expect("a straight loop");
        assert!(
            vectorised.contains(innermost),
            "{name}: {vectorised:?} without {innermost}"
        );
    }
}

/// `map` with a function of one or two operands as its step.
fn map_of(op: Op, ty: Ty) -> Loop {
    let here = env!("CARGO_MANIFEST_DIR");
    let text = std::fs::read_to_string(format!("{here}/tests/loops/map.loop")).unwrap();
    let second = if op.arity() == 2 { " two_1" } else { "" };
    let call = format!("let elt_1 = {} elt_0{second}", op.name());
    let text = text
        .replace("  let twice_1 = mul elt_0 two_1\n", "")
        .replace("let elt_1 = add twice_1 1.0", &call)
        .replace("f64", ty.name());
    loop_of(&text)
}

#[test]
fn loops_with_functions_are_vectorised() {
    let (compiler, gcc) = compiler();
    if !gcc || !cfg!(target_arch = "x86_64") || !std::arch::is_x86_feature_detected!("fma") {
        return;
    }
    for op in Op::ALL.iter().filter(|op| op.is_transcendental()) {
        for ty in [Ty::F32, Ty::F64] {
            if math::body(*op, ty).is_none() {
                continue;
            }
            let (loops, vectorised) = report(&compiler, &map_of(*op, ty));
            let innermost = loops.last().expect("a straight loop");
            assert!(
                vectorised.contains(innermost),
                "{op:?} {ty}: {vectorised:?} without {innermost}"
            );
        }
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
