//! What is written with the compiler's vector extensions: vector types, and packing.

mod pack;

pub use pack::{Width, signed, unsigned};
