//! Arrays of rank 2 and more: combinators along axes.
//!
//! The elements of such an array lie row by row: those along the last axis are neighbours. Every combinator here is
//! lazy, and fuses as those of one axis do.
//!
//! The untyped form of each is [`Builder`](crate::ast::Builder)'s, in the same file, and mostly has the same name. What the typed
//! layer has in several forms is one there: `slice_along` takes an index, too, `stencil` any rank; `generate_in` is `generate` with a shape, and `dot`
//! `matmul`, too.
//!
//! | file | combinators |
//! | --- | --- |
//! | `make` | what the others are made of: elements as functions of the index, shapes beside flat data |
//! | `axes` | `reshape`, `flatten`, `transpose`, `permute_axes`, `swap_axes`, `roll`, along an axis `reverse`, `diag`, `triangle_lower`, `triangle_upper`, `pad` |
//! | `fold` | folds and scans along axes, of which the combinators are in [`over`](crate::over) |
//! | `reduce` | extremes, means and variances along axes; `len` |
//! | `slice` | `slice`, `split`, `broadcast`, along an axis `slice` and `at` |
//! | `zip` | `zip`, `zip_with`, `enumerate` |
//! | `select` | `select` |
//! | `scan` | scans along an axis; `fold_seg` |
//! | `join` | `concatenate`, `stack` |
//! | `product` | `outer`, `meshgrid`, `dot`, `matmul` |
//! | `gemm` | `matmul_apart` (feature `matmul`) |
//! | `scatter` | `permute` |
//! | `stencil` | `stencil1`, `stencil2`, `stencil3` |
//! | `near` | along which axis elements are neighbours in memory |
//! | `nest` | `map_rows`, along an axis `map` |
//! | `index` | `at`, `backpermute`; indices as arguments |

mod axes;
mod fold;
#[cfg(feature = "matmul")]
mod gemm;
mod index;
mod join;
mod make;
mod near;
mod nest;
mod product;
mod reduce;
mod scan;
mod scatter;
mod select;
mod slice;
mod stencil;
mod zip;

pub use crate::array::Amount;
pub use fold::Without;
pub use index::{Coordinate, Fixed, InClosure, Maybe, Position, Target, Where};
pub use join::{concatenate, stack};
#[cfg(feature = "io")]
pub(crate) use make::transposed;
pub(crate) use make::{generated, place, repeated, reshaped};
pub use nest::PerRow;
pub use product::Dot;
pub use slice::{Counted, Ends, Item, NewAxis, SliceItem, Slices, Step, Strided};
pub use stencil::{Border, Edges, OfIndex, Outside, outside};
