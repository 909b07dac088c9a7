//! Every operator at every type on edge cases gives the interpreter's bits.

use livefusion_backend::Backend;
use livefusion_jit::JitBackend;

#[test]
fn operators_agree() {
    for case in crate::common::operators::cases() {
        let kernel = JitBackend::new().compile(&case.program).unwrap();
        case.check(&[&*kernel]);
    }
}
