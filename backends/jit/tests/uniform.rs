//! Loops over two-dimensional arrays give plain Rust's bits, for any pauses.

use crate::common::uniform::{NAMES, check, forms};
use livefusion_backend::Backend;
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;

#[test]
fn jit_and_interpreter_give_the_bits_of_plain_rust() {
    let backend = JitBackend::new();
    for name in NAMES {
        for program in forms(name) {
            let jit = backend.compile(&program).expect("it verifies");
            let interp = InterpBackend::new().compile(&program).expect("it verifies");
            check(name, &[&*interp, &*jit]);
        }
    }
}
