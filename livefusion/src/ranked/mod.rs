//! Arrays of rank 2 and more: combinators along axes.
//!
//! The elements of such an array lie row by row: those along the last axis are neighbours. Every combinator here is
//! lazy, and fuses as those of one axis do.
//!
//! | file | combinators |
//! | --- | --- |
//! | `make` | what the others are made of: elements as functions of the index, shapes beside flat data |
//! | `index` | `at`, `backpermute`; indices as arguments |

mod index;
mod make;

pub use index::{Coordinate, Fixed, InClosure, Position, Where};
pub(crate) use make::{generated, reshaped};
