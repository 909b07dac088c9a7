//! Kernel texts as golden files.
//!
//! `LOOP_BLESS=1 cargo test -p livefusion-cuda --test all golden::` rewrites them.

use crate::support::golden;
use livefusion_cuda::emit;
use std::path::Path;

fn matches(name: &str) {
    let kernel = emit::kernel(&golden(name)).expect("it runs in parallel");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let path = folder.join(format!("{name}.cu"));
    if std::env::var_os("LOOP_BLESS").is_some() {
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(&path, &kernel.text).expect("written");
    }
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(kernel.text, text, "{path:?}; LOOP_BLESS=1 writes it anew");
}

/// A map followed by a filter: kept elements are counted, packed and compared.
#[test]
fn filter_max() {
    matches("filter_max");
}

/// Two levels: the sum of a filter's elements, and the elements.
#[test]
fn filter_sum() {
    matches("filter_sum");
}

/// A group of three variables with a join function.
#[test]
fn min_index() {
    matches("min_index");
}

/// Ragged segments: one kernel finds them, another shares their elements among threads.
#[test]
fn segmented() {
    matches("segmented");
}

/// Rows of one length, located by a division.
#[test]
fn row_sums() {
    matches("row_sums");
}
