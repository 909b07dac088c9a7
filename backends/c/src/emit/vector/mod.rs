//! Folds by operators that only associate, with a run in each lane, written with the compiler's vector extensions; and packing,
//! which tiles use too.
//!
//! All vectors of a loop have the same number of elements: as many of the widest as fill a register of the target.
//! Truth is a mask as wide as the widest element.
//!
//! | module | writes |
//! | --- | --- |
//! | `fit` | nothing: it says which loops have this form |
//! | `body` | what the loop computes |
//! | `runs` | the function, its steps and joins, and its call |
//! | `ops` | operators on vectors |
//! | `pack` | masks as bits, packing, for tiles too |

mod body;
mod fit;
mod ops;
mod pack;
mod runs;

pub use fit::{Vectors, runs};
pub use pack::{Width, signed, unsigned};
