//! Documentation tests: the programs of the book and of the README.

#[doc = include_str!("../../README.md")]
mod readme {}

#[doc = include_str!("../../docs/book/src/tour-rust.md")]
mod tour_rust {}

#[doc = include_str!("../../docs/book/src/fusion.md")]
mod fusion {}

#[doc = include_str!("../../docs/book/src/ranks.md")]
mod ranks {}

#[doc = include_str!("../../docs/book/src/segments.md")]
mod segments {}

#[doc = include_str!("../../docs/book/src/tables.md")]
mod tables {}

#[doc = include_str!("../../docs/book/src/one-loop.md")]
mod one_loop {}

#[doc = include_str!("../../docs/book/src/early-ends.md")]
mod early_ends {}

#[doc = include_str!("../../docs/book/src/numbers.md")]
mod numbers {}

#[doc = include_str!("../../docs/book/src/backends.md")]
mod backends {}

#[doc = include_str!("../../docs/book/src/performance.md")]
mod performance {}

#[doc = include_str!("../../docs/book/src/errors.md")]
mod errors {}

#[doc = include_str!("../../docs/book/src/cookbook.md")]
mod cookbook {}

#[doc = include_str!("../../docs/book/src/adding-a-combinator.md")]
mod adding_a_combinator {}
