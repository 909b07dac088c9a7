//! Arrays of rank 2 and more: combinators along axes.
//!
//! Elements are stored row by row: neighbours along the last axis are adjacent. Every combinator
//! here is lazy, and fuses as the combinators of rank 1 do.
//!
//! The untyped forms are methods of [`Builder`](crate::ast::Builder) in the same files, mostly with
//! the same names. Some untyped forms cover several typed ones. `slice_along` also takes an index,
//! `stencil` handles every rank, `generate_in` is `generate` with a shape, and `dot` includes
//! `matmul`.
//!
//! | file | combinators |
//! | --- | --- |
//! | `make` | building blocks: index functions, and shapes of flat data |
//! | `axes` | `reshape`, `flatten`, `transpose`, `permute_axes`, `swap_axes`, `roll`, `reverse` along an axis |
//! | `axes` | `diag`, `triangle_lower`, `triangle_upper`, `pad` |
//! | `fold` | folds and scans along axes; their combinators are in [`over`](crate::over) |
//! | `reduce` | extremes, means and variances along axes; `len` |
//! | `slice` | `slice`, `split`, `broadcast`; along an axis `slice` and `at` |
//! | `zip` | `zip`, `zip_with`, `enumerate` |
//! | `select` | `select` |
//! | `scan` | scans along an axis; `fold_seg` |
//! | `join` | `concatenate`, `stack` |
//! | `product` | `outer`, `meshgrid`, `dot`, `matmul` |
//! | `gemm` | `matmul_apart` (feature `matmul`) |
//! | `scatter` | `permute` |
//! | `stencil` | `stencil1`, `stencil2`, `stencil3` |
//! | `near` | the axis along which elements are adjacent in memory |
//! | `nest` | `map_rows`; along an axis `map` |
//! | `index` | `at`, `backpermute`; index arguments |

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
