//! The code of five loops, as files: what is written for the main shapes, for whoever changes them to see.
//! `LOOP_BLESS=1 cargo test -p livefusion-c --test golden` writes the files anew.

mod common;

use common::loop_file;
use livefusion_backend::Backend;
use livefusion_c::CBackend;

/// What a loop's code is, without what all loops' code begins with. The text is the same on every machine:
/// what depends on the processor is up to the compiler's macros.
fn golden(name: &str) {
    let kernel = CBackend::new().compile(&loop_file(name)).expect("compiled");
    let source = kernel.source().expect("C has a source");
    let (_, code) = source.split_once("\n/* Loop ").expect("it is named");
    let got = format!("/* Loop {code}");
    let path = format!("{}/tests/golden/{name}.c", env!("CARGO_MANIFEST_DIR"));
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
