//! The tests of the interpreter.

#[allow(dead_code, reason = "each test crate uses a part")]
#[path = "../../../loop-lang/tests/common/mod.rs"]
mod common;
mod support;

mod cursors;
mod meaning;
mod observe;
mod passes;
mod spans;
mod streams;
