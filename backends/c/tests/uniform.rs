//! Loops over arrays of two dimensions: plain Rust's bits, wherever the loop pauses, from the interpreter and from C;
//! and the ideas that C has for them.

use crate::common::uniform::{NAMES, check, forms};
use livefusion_backend::Backend;
use livefusion_c::{CBackend, Idea};
use livefusion_interp::InterpBackend;

#[test]
fn c_and_interpreter_give_the_bits_of_plain_rust() {
    let backend = CBackend::new();
    for name in NAMES {
        for program in forms(name) {
            let c = backend.compile(&program).expect("it compiles");
            let interp = InterpBackend::new().compile(&program).expect("it verifies");
            check(name, &[&*interp, &*c]);
        }
    }
}

/// Innermost loops are `for` loops. The loop around one is in the nest, or the tile, with it: a join onto an array that is the
/// last in an iteration is not done before the iteration is sure. A stencil has a tile for each case.
#[test]
fn each_has_the_ideas_that_it_should_have() {
    let ideas = |name: &str| -> &[Idea] {
        match name {
            "stencil" => &[Idea::Cases, Idea::Tiles, Idea::Nests],
            _ => &[Idea::Tiles, Idea::Nests],
        }
    };
    for name in NAMES {
        for program in forms(name) {
            let found = CBackend::new().ideas(&program).expect("it verifies");
            assert!(found.iter().eq(ideas(name)), "{name}: {found:?}");
        }
    }
}
