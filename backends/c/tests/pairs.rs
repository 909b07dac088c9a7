//! Pairs within segments: the interpreter's counts, for any pauses.

use crate::common::{loop_file, pairs};
use livefusion_backend::Backend;
use livefusion_c::CBackend;

#[test]
fn pairs_are_counted_once() {
    pairs::agree(&CBackend::new());
}

#[test]
fn the_root_takes_its_segments() {
    for name in ["pairs", "pairs_in_groups"] {
        let kernel = CBackend::new().compile(&loop_file(name)).unwrap();
        let source = kernel.source().unwrap();
        assert!(source.contains("tile_0_r0("), "{source}");
    }
}
