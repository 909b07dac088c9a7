//! Arrays of rank 2 and more: combinators along axes.
//!
//! The elements of such an array lie row by row: those along the last axis are neighbours. Every combinator here is
//! lazy, and fuses as those of one axis do.
//!
//! The untyped form of each is [`Builder`](crate::ast::Builder)'s, in the same file, and mostly has the same name. What the typed
//! layer has in several forms is one there: `fold_axes` and `scan_axis` take any [`Fold`](crate::ast::Fold), `sum_axes` and the
//! like any number of axes, `slice_axis` an index, too, `stencil` any rank; `generate_in` is `generate` with a shape, and `dot`
//! `matmul`, too.
//!
//! | file | combinators |
//! | --- | --- |
//! | `make` | what the others are made of: elements as functions of the index, shapes beside flat data |
//! | `axes` | `reshape`, `flatten`, `transpose`, `permute_axes`, `swap_axes`, `reverse_axis`, `roll`, `diag`, `triangle_lower`, `triangle_upper`, `pad` |
//! | `fold` | `fold_axis`, `fold1_axis`, `fold_seq_axis`, `aggregate_axis` |
//! | `reduce` | `sum_axis`, `product_axis`, `min_axis`, `max_axis`, `any_axis`, `all_axis`, `count_axis`, `mean_axis`, `var_axis`, `std_axis`, `min_index_axis`, `max_index_axis`; of several axes `sum_axes` and so on, of all `sum` and so on, `fold`, `fold1`, `len` |
//! | `slice` | `slice`, `slice_axis`, `index_axis`, `split`, `broadcast` |
//! | `zip` | `zip`, `zip_with`, `enumerate` |
//! | `select` | `select` |
//! | `scan` | `scan_axis`, `scan1_axis`, `scan_exclusive_axis`, `scan_seq_axis`, `cumsum_axis`; `fold_seg` |
//! | `right` | `scan_right_axis`, `scan1_right_axis`, `scan_exclusive_right_axis` |
//! | `join` | `concat_axis`, `stack` |
//! | `product` | `outer`, `meshgrid`, `dot`, `matmul` |
//! | `gemm` | `matmul_apart` (feature `matmul`) |
//! | `scatter` | `permute` |
//! | `stencil` | `stencil1`, `stencil2`, `stencil3` |
//! | `near` | along which axis elements are neighbours in memory |
//! | `nest` | `map_rows`, `map_axis` |
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
mod right;
mod scan;
mod scatter;
mod select;
mod slice;
mod stencil;
mod zip;

pub use crate::array::Amount;
pub use fold::Without;
pub use index::{Coordinate, Fixed, InClosure, Maybe, Position, Target, Where};
pub use join::{concat_axis, stack};
#[cfg(feature = "io")]
pub(crate) use make::transposed;
pub(crate) use make::{generated, place, repeated, reshaped};
pub use nest::PerRow;
pub use product::Dot;
pub use slice::{Counted, Ends, Item, NewAxis, SliceItem, Slices, Step, Strided};
pub use stencil::{Border, Edges, OfIndex, Outside, outside};
