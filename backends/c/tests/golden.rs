//! The code of five loops, as files: what is written for the main shapes, for whoever changes them to see.
//! `LOOP_BLESS=1 cargo test -p livefusion-c --test golden` writes the files anew.
//!
//! The code is for given machines, so it is the same on all: each file is named after its loop and its target. Compilers
//! take the code of each loop for each target without a warning.

mod common;

use common::loop_file;
use livefusion_c::CBackend;
use livefusion_tile::target::{Arch, Target};
use std::path::Path;
use std::process::Command;

/// Loops, and the targets for which their code is a file.
const GOLDEN: [(&str, &[&str]); 5] = [
    ("to_percentages", &["avx512", "avx2", "sse2"]),
    ("dot_product", &["avx2"]),
    ("narrow_prefixes", &["avx2"]),
    ("segmented", &["avx512"]),
    ("both_ways", &["sse2"]),
];

/// What compilers say of code that has more names than it makes use of, of what the first turn of a loop sets, and of
/// the calling conventions that vectors would have between files.
const INHERENT: &[&str] = &[
    "-Wno-unused-function",
    "-Wno-unused-variable",
    "-Wno-unused-but-set-variable",
    "-Wno-unused-parameter",
    "-Wno-unused-label",
    "-Wno-maybe-uninitialized",
    "-Wno-psabi",
    // Some of these are known to one compiler only.
    "-Wno-unknown-warning-option",
];

fn text(name: &str, target: &Target) -> String {
    let backend = CBackend::new().with_target(target.clone());
    backend.text(&loop_file(name)).expect("a loop")
}

/// A loop's code is that of its files, without what all loops' code begins with.
fn golden(name: &str) {
    let (_, targets) = GOLDEN.iter().find(|(n, _)| *n == name).expect("a loop");
    for target in *targets {
        let source = text(name, &Target::from_name(target).expect("a target"));
        let (_, code) = source.split_once("\n/* Loop ").expect("it is named");
        let got = format!("/* Loop {code}");
        let folder = env!("CARGO_MANIFEST_DIR");
        let path = format!("{folder}/tests/golden/{name}.{target}.c");
        if std::env::var_os("LOOP_BLESS").is_some() {
            std::fs::write(&path, &got).expect("golden file");
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        let differs = got.lines().zip(expected.lines()).position(|(a, b)| a != b);
        let end = got.lines().count().min(expected.lines().count());
        let line = differs.unwrap_or(end) + 1;
        assert!(
            got == expected,
            "{path} differs from line {line} on; LOOP_BLESS=1 writes it anew"
        );
    }
}

#[test]
fn a_zip_that_is_folded_in_lanes() {
    golden("dot_product");
}

#[test]
fn a_filter_that_is_packed() {
    golden("to_percentages");
}

#[test]
fn a_scan_by_blocks() {
    golden("narrow_prefixes");
}

#[test]
fn segments_as_a_nest() {
    golden("segmented");
}

#[test]
fn an_append_in_cases() {
    golden("both_ways");
}

/// What a compiler says of the code of all loops for a target; none if there is no such compiler.
fn warnings(compiler: &Path, target: &Target) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let (input, output) = (folder.path().join("k.c"), folder.path().join("k.o"));
    let mut said = String::new();
    for (name, _) in GOLDEN {
        std::fs::write(&input, text(name, target)).expect("a file");
        let flags = livefusion_c::flags(target);
        let flags = flags.into_iter().filter(|f| !["-w", "-shared"].contains(f));
        let run = Command::new(compiler)
            .args(flags)
            .args(["-Wall", "-Wextra", "-O1", "-c", "-o"])
            .arg(&output)
            .args(INHERENT)
            .arg(&input)
            .output()
            .ok()?;
        if !run.status.success() || !run.stderr.is_empty() {
            let text = String::from_utf8_lossy(&run.stderr).into_owned();
            said.push_str(&format!("{name} for {target}: {}\n{text}\n", run.status));
        }
    }
    Some(said)
}

/// Checks what a compiler says of the code for targets of its instruction set.
fn takes(compiler: &Path, arch: Arch) {
    let targets = Target::all().into_iter().filter(|t| t.name() != "here");
    for target in targets.filter(|t| t.arch() == arch) {
        match warnings(compiler, &target) {
            Some(said) => assert!(said.is_empty(), "{}: {said}", compiler.display()),
            None => println!("skipped: there is no {}", compiler.display()),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn compilers_take_the_code_for_each_target_without_a_warning() {
    takes(&livefusion_c::system_compiler().unwrap(), Arch::X86_64);
    takes(Path::new("clang"), Arch::X86_64);
}

#[test]
fn compilers_for_arm_take_its_code_without_a_warning() {
    let compiler = match std::env::consts::ARCH {
        "aarch64" => livefusion_c::system_compiler().unwrap(),
        _ => "aarch64-linux-gnu-gcc".into(),
    };
    takes(&compiler, Arch::Aarch64);
}
