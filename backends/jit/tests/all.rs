//! The tests of the JIT.

#[path = "../../c/tests/common/mod.rs"]
mod common;

mod failures;
mod large;
mod operators;
mod pairs;
mod spans;
mod uniform;
