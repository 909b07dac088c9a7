//! Every operator at every type on edge cases gives the interpreter's bits.
//!
//! Both the tiles and the state machine are tested.

use livefusion_c::CBackend;
use loop_lang::Loop;

#[test]
fn operators_agree() {
    let cases = crate::common::operators::cases();
    let loops: Vec<&Loop> = cases.iter().map(|c| &c.program).collect();
    let straight = CBackend::new().compile_batch(&loops);
    let machine = CBackend::new().without_tiles().compile_batch(&loops);
    for (case, kernels) in cases.iter().zip(straight.iter().zip(&machine)) {
        let kernels = [kernels.0, kernels.1].map(|k| k.as_ref().unwrap_or_else(|e| panic!("{e}")));
        case.check(&kernels.map(|k| &**k));
    }
}
