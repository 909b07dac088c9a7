//! Every operator at every type, on the values where implementations differ: the bits of the
//! interpreter.

#[path = "../../c/tests/common/mod.rs"]
mod common;

use livefusion_backend::Backend;
use livefusion_jit::JitBackend;

#[test]
fn operators_agree() {
    for case in common::operators::cases() {
        let kernel = JitBackend::new().compile(&case.program).unwrap();
        case.check(&[&*kernel]);
    }
}
