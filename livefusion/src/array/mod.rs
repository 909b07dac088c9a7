//! Delayed arrays. Each file holds one combinator or a family of combinators:
//!
//! | file | combinators |
//! | --- | --- |
//! | `from` | arrays from `Vec`, slices, iterators |
//! | `generate` | `generate`, `iota`, `enum_from_step`, `linspace`, `replicate` |
//! | `map` | `map` |
//! | `zip` | `zip`, `zip_shortest`, `unzip`, `zip_with`, `enumerate`; untyped `zip_cut` |
//! | `operators` | `+ - * / % & \| ^ << >> ! -` between arrays and scalars |
//! | `compare` | `lt`, `le`, `gt`, `ge`, `eq`, `ne` between arrays and scalars |
//! | `filter` | `filter`, `pack`, `partition` |
//! | `flat_map` | `flat_map`, `combinations`, `cartesian` |
//! | `slice` | `take`, `drop`, `reverse`, `shift` |
//! | `delay` | streams moved by a few places, for `shift`, `windows`, `diff` and `group` |
//! | `windows` | `windows`, `sliding_windows` |
//! | `append` | `append`, `concat` |
//! | `interleave` | `interleave` |
//! | `combine` | `combine` |
//! | `merge` | `merge` |
//! | `adjacent` | `unique`, `unique_by`, `group`, `group_by`, `diff` |
//! | `search` | `first`, `last`, `find`, `position` |
//! | `prefix` | `take_while`, `drop_while` |
//! | `gather` | `gather`, `at` |
//! | `scatter` | `scatter`, `update`, `scatter_with`, `reduce_by_index`, `scan_by_index`, `scan_exclusive_by_index` |
//! | `spread` | evenly spread numbers, for `linspace` and `histogram_uniform` |
//! | `histogram` | `bincount`, `histogram`, `histogram_uniform` |
//! | `length` | `len`, and lengths as arguments |
//! | `extents` | `shape`, `rank`, `into_dyn`, `into_rank`, and shapes as arguments |
//! | `rank` | `Ix0` to `Ix6`, `IxDyn` |
//!
//! In each file the untyped forms come first, as methods of [`Builder`](crate::ast::Builder). The
//! typed forms trace their closures and call the untyped ones.
//!
//! Folds and scans are in [`over`](crate::over). Combinators for rank 2 and higher, and `slice` for
//! every rank, are in [`ranked`](crate::ranked).

mod adjacent;
mod append;
mod combine;
mod compare;
mod delay;
mod extents;
mod filter;
mod flat_map;
mod from;
mod gather;
mod generate;
mod histogram;
mod interleave;
mod length;
mod map;
mod merge;
mod operators;
mod prefix;
mod rank;
mod scatter;
mod search;
mod slice;
mod spread;
mod windows;
mod zip;

pub use crate::over::Summed;
pub(crate) use crate::over::{
    Statistic, as_pair, by, corrected, float, number, one, operator_of, pairs, pairs_in_order,
    plain_sum, step_of,
};
pub(crate) use append::by_index as append_by_index;
pub(crate) use append::nodes_of;
pub use append::{Part, concat};
pub(crate) use generate::reading;
pub(crate) use search::up_to_first;
pub(crate) use zip::shortest_by_index;

pub use extents::IntoShape;
pub(crate) use extents::axis as extent;
pub use generate::{enum_from_step, generate, iota, linspace, replicate};
pub use length::{Amount, Extent, IntoLen};
pub(crate) use length::{MOST_LENGTH, negative};
pub use operators::Operand;
pub use rank::{Dim, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn, Join, Multi, Rank};
pub(crate) use rank::{delayed_axes, length_of, show_counts, size_of_counts};
pub use scatter::Bins;
pub(crate) use slice::part_of_stream;
pub(crate) use spread::Spread;
pub use windows::Boundary;
pub(crate) use windows::{MOST_OF_A_WINDOW, clamped, mirrored, wrapped};
pub use zip::{
    InStep, Unzip, ZipArgs, ZipWith2, ZipWith3, ZipWith4, ZipWith5, ZipWith6, zip, zip_shortest,
};

use crate::ast::{Node, show_types};
use crate::elt::Elt;
use crate::error::{Error, ErrorKind, Result};
use crate::exp::{IntoExp, ToExp, trace, types_of};
use crate::loc::Loc;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Holds a delayed array of elements `T` and rank `D`.
///
/// `Ix1` is the default rank, `Ix0` is a delayed scalar, `Ix2` a matrix, and so on.
///
/// A combinator computes nothing: it adds a node to a graph that arrays share. [`force`] fuses the
/// graph into as few loops as possible and runs them. The result stays with the node, so a later
/// graph finds it in memory. An array is cheap to clone, and `Send + Sync`.
///
/// Mistakes (lengths that differ, ranges out of bounds) do not panic. [`force`] returns them with
/// the name of the combinator and the source location of its call.
///
/// [`force`]: Array::force
///
/// ```
/// use livefusion::prelude::*;
/// let xs = Array::from(vec![3.0f64, -1.0, 4.0]);
/// let positive = xs.filter(|x| x.gt(0.0)); // nothing is computed yet
/// let (kept, total) = (&positive, &positive.sum()).force()?; // one loop
/// assert_eq!((&kept[..], total), (&[3.0, 4.0][..], 7.0));
/// # Ok::<(), livefusion::Error>(())
/// ```
pub struct Array<T: Elt, D: Rank = Ix1> {
    node: Arc<Node>,
    shape: PhantomData<fn() -> (T, D)>,
}

impl<T: Elt, D: Rank> Array<T, D> {
    /// Wraps a node of the untyped graph.
    ///
    /// # Errors
    /// If the node has another element type or rank.
    ///
    /// ```
    /// use livefusion::ast::Builder;
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1u8, 2]);
    /// let n: Array<u64, Ix0> = Array::from_node(Builder::named("len").len(xs.node()))?;
    /// assert_eq!(n.force()?, 2);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn from_node(node: Arc<Node>) -> Result<Array<T, D>> {
        let types = types_of::<T>();
        if node.error.is_none() && (node.types != types || !D::fits(node.rank)) {
            let show = |types: &[_], rank: u8| format!("{} of rank {rank}", show_types(types));
            let kind = ErrorKind::Malformed {
                expected: show(&types, D::RANK),
                got: show(&node.types, node.rank),
            };
            return Err(Error::new(node.name, node.loc, kind));
        }
        Ok(Array::wrap(node))
    }

    /// Wraps a node that is known to be of this type.
    pub(crate) fn wrap(node: Arc<Node>) -> Array<T, D> {
        debug_assert!(
            node.error.is_some() || (node.types == types_of::<T>() && D::fits(node.rank))
        );
        Array {
            node,
            shape: PhantomData,
        }
    }

    /// As [`from_node`](Array::from_node), but an error stays in the array and is returned by
    /// `force`.
    pub(crate) fn checked(builder: crate::ast::Builder, node: Arc<Node>) -> Array<T, D> {
        Array::from_node(node)
            .unwrap_or_else(|e| Array::wrap(builder.fault(&types_of::<T>(), D::RANK, e.kind)))
    }

    /// Returns the node of the untyped graph.
    pub fn node(&self) -> &Arc<Node> {
        &self.node
    }
}

impl<T: Elt> Array<T, Ix0> {
    /// Returns the delayed scalar as an expression, for use in another combinator's closure.
    ///
    /// Operators and arguments take `&total` directly. Use this method to call methods of the
    /// expression, or to access the fields of a tuple. The scalar is computed once, before the loop
    /// that uses it.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1.0f64, 2.0, 5.0]);
    /// let range = (&xs.min(), &xs.max()).zip_with(|low, high| (low, high - low));
    /// let scaled = xs.map(|x| {
    ///     let (low, size) = range.value();
    ///     (x - low) / size
    /// });
    /// assert_eq!(scaled.force()?, [0.0, 0.25, 1.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn value(&self) -> T::Exp {
        let (loc, mut field) = (Loc::caller(), 0);
        T::of_fields(&mut |ty| {
            field += 1;
            trace::scalar(&self.node, field - 1, ty, loc)
        })
    }
}

impl<T: Elt> ToExp<T> for &Array<T, Ix0> {
    #[track_caller]
    fn to_exp(self) -> T::Exp {
        self.value()
    }
}

impl<T: Elt> IntoExp for &Array<T, Ix0> {
    type Elt = T;
}

impl<T: Elt> ToExp<T> for Array<T, Ix0> {
    #[track_caller]
    fn to_exp(self) -> T::Exp {
        self.value()
    }
}

impl<T: Elt> IntoExp for Array<T, Ix0> {
    type Elt = T;
}

impl<T: Elt, D: Rank> Clone for Array<T, D> {
    fn clone(&self) -> Array<T, D> {
        Array {
            node: self.node.clone(),
            shape: PhantomData,
        }
    }
}

impl<T: Elt, D: Rank> fmt::Debug for Array<T, D> {
    /// Shows the elements if they are in memory, else the combinators. Never forces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array<{}, {}>(", show_types(&types_of::<T>()), D::NAME)?;
        crate::show::node::<T>(f, &self.node)?;
        f.write_str(")")
    }
}

impl<T: Elt, D: Rank> fmt::Display for Array<T, D> {
    /// Shows the elements if they are in memory, else the combinators. Never forces.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1.0f64, 2.5]);
    /// assert_eq!(xs.to_string(), "[1.0, 2.5]");
    /// assert_eq!(xs.map(|x| x + 1.0).sum().to_string(), "sum(map(f64[2]))");
    /// ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::show::node::<T>(f, &self.node)
    }
}

/// Casts the indices of an array to `u64`, which the graph uses for all indices.
pub(crate) fn as_indices(builder: crate::ast::Builder, indices: &Arc<Node>) -> Arc<Node> {
    use loop_lang::types::Ty;
    if *indices.types == [Ty::U64] || indices.error.is_some() {
        return indices.clone();
    }
    let mut b = crate::ast::BodyBuilder::new(&indices.types);
    let i = b.locate(Some(builder.loc())).param(0);
    let i = b.cast(i, Ty::U64);
    builder.map(std::slice::from_ref(indices), b.finish(&[i]))
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Array<(f64, bool)>>();
};
