//! Filters on the sides of zips and behind them, in vectors, written with the compiler's vector extensions; folds with a run in
//! each lane; and packing, which tiles use too.
//!
//! Which elements pass is often as good as random, so there is no branch per element. Everything is computed
//! for a whole vector of elements; a test gives a mask; what a subrate writes is packed together in a
//! register and stored, the whole register, at the subrate's count; what it updates is updated under the
//! mask. The rest of the register lies where the next elements will, or beyond what the array is cut to.
//!
//! ```text
//! const lf_8f64 elt_0 = *(const lf_8f64_at *)(arr_0 + ix_0);
//! const lf_8i64 lf_in_1 = (lf_8i64)(elt_0 > lf_8f64_all(least_1));
//! const u64 lf_kept_1 = lf_bits_8(lf_in_1);
//! lf_pack_8_8((void *)(out_1 + ix_1), (lf_8u64)elt_0, lf_kept_1);
//! ix_1 += __builtin_popcountl(lf_kept_1);
//! ```
//!
//! All vectors of a loop have the same number of elements: as many of the widest as fill a register of the target.
//! Truth is a mask as wide as the widest element.
//!
//! | module | writes |
//! | --- | --- |
//! | `fit` | which loops have this form |
//! | `body` | the function |
//! | `stmt` | statements |
//! | `runs` | folds, a run in each lane |
//! | `ops` | operators on vectors |
//! | `extremes` | minima and maxima of floats |
//! | `pack` | masks as bits, packing |

mod body;
mod extremes;
mod fit;
mod ops;
mod pack;
mod runs;
mod stmt;

pub use fit::{Vectors, runs};
pub use pack::{Shape, signed, unsigned};
