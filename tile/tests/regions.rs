//! What is known of golden loops, as files: `LOOP_BLESS=1 cargo test -p livefusion-tile --test regions` writes them
//! anew.

use livefusion_tile::region::Region;
use loop_lang::Loop;
use loop_lang::state::Layout;
use std::path::{Path, PathBuf};

/// A loop of the loop language's golden files, or of the C backend's.
fn loop_of(name: &str) -> Loop {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        "../loop-lang/tests/files/golden",
        "../backends/c/tests/loops",
    ];
    let files = folders.map(|f| root.join(f).join(format!("{name}.loop")));
    let file = files.iter().find(|f| f.exists()).expect("the loop's file");
    let text = std::fs::read_to_string(file).expect("readable");
    let text = text.split("\n# ----").next().unwrap_or_default();
    let mut program = loop_lang::parse::parse(text).expect("a loop");
    loop_lang::gotos::derive_gotos(&mut program);
    loop_lang::verify::verify(&program).expect("well formed");
    program
}

fn golden(name: &str) {
    let program = loop_of(name);
    let layout = Layout::of(&program);
    let region = Region::of(&program, &layout.arrays, &layout.held).expect("a region");
    let got = region.to_string();
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = path.join("tests/golden").join(format!("{name}.region"));
    if std::env::var_os("LOOP_BLESS").is_some() {
        std::fs::write(&path, &got).expect("golden file");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(got, expected, "{path:?}; LOOP_BLESS=1 writes it anew");
}

#[test]
fn a_filter_with_a_result_and_a_fold() {
    golden("filter_max");
}

#[test]
fn segments_inside_of_a_root() {
    golden("segmented");
}

#[test]
fn an_append_that_reads_up_and_down() {
    golden("both_ways");
}

#[test]
fn a_read_anywhere_that_traps() {
    golden("gather_trap");
}

#[test]
fn a_scalar_loop() {
    golden("escape");
}

#[test]
fn a_take_that_ends_its_loop() {
    golden("exit_filter_take");
}

#[test]
fn a_mirror() {
    golden("mirror_scan");
}
