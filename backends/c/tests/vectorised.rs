//! The compiler's reports on generated code: gotos do not prevent vectorisation.

use crate::common::*;
use livefusion_backend::Backend;
use livefusion_c::CBackend;
use livefusion_tile::target::Target;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Compiles a loop's code for this machine, with more flags. Returns the code and the compiler's
/// output.
fn compiled(compiler: &Path, name: &str, flags: &[&str]) -> (String, Output) {
    compiled_for(&Target::here(), compiler, name, flags)
}

/// Does the same for any machine.
fn compiled_for(target: &Target, compiler: &Path, name: &str, flags: &[&str]) -> (String, Output) {
    let backend = CBackend::new().with_target(target.clone());
    let source = backend.text(&loop_file(name)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("k.c");
    std::fs::write(&input, &source).unwrap();
    let run = Command::new(compiler)
        .args(livefusion_c::flags(target))
        .arg("-O3")
        .args(flags)
        .arg(&input)
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    (source, run)
}

/// Returns whether one of a loop's tiles is vectorised, explicitly or, as it reports, by gcc.
fn is_in_vectors(compiler: &Path, name: &str) -> bool {
    let (source, vectorised) = vectorised(compiler, name);
    let mut inside = false;
    let mut lines = source.lines().enumerate().filter(|(_, l)| {
        inside = l.contains("_emit_tile_") && l.ends_with('{') || inside && *l != "}";
        inside
    });
    lines.any(|(i, l)| l.contains(" lf_v") || vectorised.contains(&(i + 1)))
}

/// Returns a kernel's source, and the lines that gcc reports as vectorised.
fn vectorised(compiler: &Path, name: &str) -> (String, Vec<usize>) {
    // Identical pieces must stay separate functions, so that each has its own lines.
    let flags = [
        "-fno-ipa-icf",
        "-fopt-info-vec-optimized",
        "-o",
        "/dev/null",
    ];
    let (source, run) = compiled(compiler, name, &flags);
    let lines = String::from_utf8_lossy(&run.stderr)
        .lines()
        .filter(|l| l.contains("loop vectorized"))
        .filter_map(|l| l.split(':').nth(1)?.parse().ok())
        .collect();
    (source, lines)
}

/// Returns the system's compiler, and whether it is gcc. Other compilers only need to accept the
/// code.
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
        "x86_64" => &[
            "map",
            "dot",
            "map_sum",
            "gather_trap",
            "both_ways",
            "shares",
        ],
        _ => &["map", "dot"],
    };
    for name in names {
        // Other compilers have other reports, and only need to accept the code.
        match gcc {
            true => assert!(is_in_vectors(&compiler, name), "{name}"),
            false => drop(compiled(&compiler, name, &["-o", "/dev/null"])),
        }
    }
}

/// Returns the C for a machine with AVX2.
fn source(name: &str) -> String {
    let backend = CBackend::new().with_target(Target::avx2());
    backend.text(&loop_file(name)).unwrap()
}

/// Uniform values of a scalar loop are computed once per iteration, and end it for all lanes.
#[test]
fn a_count_of_turns_is_no_vector() {
    let source = source("turns");
    for text in [
        "if (!(more_1) || *lf_halt) break;",
        "const bool both = (bool)(any & few_1);",
        "const lf_v4i64 both_2_p3 = go[3] & large_1_p3;",
        "const u32 n1_1 = (u32)(n_1 + one_1);",
    ] {
        assert!(source.contains(text), "{text} is not in\n{source}");
    }
}

/// Scalar loops check the stop flag.
///
/// All lanes of a strip check it together. A long scalar loop of one element checks in each
/// iteration, a short one in some. Other loops do not check.
#[test]
fn scalar_loops_look_whether_to_stop() {
    let (escape, map) = (source("escape"), source("map"));
    for text in [
        "if (!(both) || *lf_halt) break;",
        "for (bool lf_on = 1; lf_on; lf_on = lf_on && !*lf_halt) {",
        "const volatile u8 *const lf_halt = run->stop;",
    ] {
        assert!(escape.contains(text), "{text} is not in\n{escape}");
    }
    assert!(!map.contains("lf_halt"), "{map}");
}

/// Long bodies become functions of few statements each, which write and read vectors. Short bodies
/// with folds that fit stay one function.
#[test]
fn every_piece_is_in_vectors() {
    let long = source("long_chain");
    let functions = long.split("\n}\n").filter(|f| {
        let is_piece = |l: &str| l.contains("_tile_0_r0_p") && l.ends_with('{');
        f.lines().any(is_piece)
    });
    let mut pieces = 0;
    for function in functions {
        pieces += 1;
        assert!(function.contains("const lf_v4f64 "), "{function}");
    }
    assert!(pieces > 1, "{long}");
    for name in ["map", "dot", "map_sum"] {
        assert!(!source(name).contains("_p1("), "{name}");
    }
}

#[test]
fn filters_pack_in_registers() {
    if std::env::consts::ARCH != "x86_64" {
        return;
    }
    let (compiler, _) = compiler();
    // The widest registers are only compiled for, so no such machine is needed.
    let machines = [
        (Target::avx2(), "to_percentages", "vpermd"),
        (Target::avx512(), "to_percentages", "vpcompressq"),
    ];
    for (machine, name, instruction) in machines {
        let flags = ["-S", "-o", "/dev/stdout"];
        let (_, run) = compiled_for(&machine, &compiler, name, &flags);
        let text = String::from_utf8_lossy(&run.stdout);
        assert!(
            text.contains(instruction),
            "no {instruction} on {machine} in\n{text}"
        );
    }
}

#[test]
fn kernels_read_like_their_loops() {
    let source = source("to_percentages");
    for text in [
        "/*   filt: filter at filt */",
        "/* map: map */",
        "body_filt:; /* body_map */",
        "const lf_v4f64 elt_map = elt_mfst * lf_v4f64_all(factor_map);",
        "goto bottom_filt;",
    ] {
        assert!(source.contains(text), "{text} is not in\n{source}");
    }
    assert!(!source.contains("#include"));
}

/// The state machine is marked cold only where tiles do the work.
#[test]
fn the_machine_is_cold_beside_straight_loops() {
    let cold = |backend: CBackend, name| {
        let kernel = backend.compile(&loop_file(name)).unwrap();
        kernel.source().unwrap().contains("\nLF_COLD\n")
    };
    for name in ["map", "dot", "gather_trap"] {
        assert!(cold(CBackend::new(), name), "{name}");
        let machine = CBackend::new().without_tiles();
        assert!(!cold(machine, name), "{name}");
    }
    // Updates in place between segments run in the state machine.
    assert!(!cold(CBackend::new(), "updated_segments"));
}
