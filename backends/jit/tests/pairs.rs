//! Pairs within segments: the interpreter's counts, for any pauses.

use crate::common::pairs;
use livefusion_jit::JitBackend;

#[test]
fn pairs_are_counted_once() {
    pairs::agree(&JitBackend::new());
}
