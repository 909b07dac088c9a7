//! Pairs within segments: the interpreter's counts, wherever the loop pauses.

use crate::common::pairs;
use livefusion_jit::JitBackend;

#[test]
fn pairs_are_counted_once() {
    pairs::agree(&JitBackend::new());
}
