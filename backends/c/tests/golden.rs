//! The code of five loops as golden files.
//!
//! Their diffs show changes of the main code shapes.
//!
//! `LOOP_BLESS=1 cargo test -p livefusion-c --test all golden::` rewrites the files.
//!
//! The code is for given targets, so it is the same on all machines. Each file is named after its
//! loop and its target.

use crate::common::loop_file;
use livefusion_c::CBackend;
use livefusion_tile::target::Target;

/// Loops, and the targets of their golden files.
const GOLDEN: [(&str, &[&str]); 5] = [
    ("to_percentages", &["avx512", "avx2", "sse2"]),
    ("dot_product", &["avx2"]),
    ("narrow_prefixes", &["avx2"]),
    ("segmented", &["avx512"]),
    ("both_ways", &["sse2"]),
];

fn text(name: &str, target: &Target) -> String {
    let backend = CBackend::new().with_target(target.clone());
    backend.text(&loop_file(name)).expect("a loop")
}

/// Compares a loop's code with its files, without the common prelude.
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
