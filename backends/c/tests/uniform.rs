//! Loops over two-dimensional arrays: results of the interpreter and C, and optimisations of C.
//!
//! Results equal plain Rust's bits for any pauses.

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

/// Checks the optimisations of each loop.
///
/// Innermost loops are `for` loops. The loop around one is in the same nest or tile. A join onto an
/// array that ends an iteration waits until the iteration is complete. A stencil has a tile for
/// each case.
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
