//! Array programs as lazy combinators, run as fast as an expert's loop.
//!
//! A combinator computes nothing; it adds a node to a graph. Forcing fuses the graph into as few
//! loops as possible, compiles them, and runs them.
//!
//! ```
//! use livefusion::prelude::*;
//! let prices = Array::from(vec![9.5f64, 3.0, 12.0, 4.5]);
//! let cheap = prices.filter(|p| p.lt(10.0)).map(|p| p * 1.19);
//! let (total, n, dearest) = (&cheap.sum(), &cheap.len(), &cheap.max()).force()?; // one loop
//! assert_eq!((total.round(), n, dearest), (20.0, 3, 9.5 * 1.19));
//! # Ok::<(), livefusion::Error>(())
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | [`array`](mod@array) | delayed arrays and their combinators |
//! | [`over`] | folds and scans of all elements, along axes, and of segments |
//! | [`ranked`] | arrays of rank 2 and more |
//! | [`segmented`] | arrays cut into segments |
//! | [`random`] | random numbers as functions of a key and an index |
//! | `sort` | [`sort`](Array::sort), [`median`](Array::median), [`group_by_key`](Array::group_by_key), ... |
//! | [`exp`] | scalar expressions, the operands of closures |
//! | [`elt`] | element types |
//! | [`manifest`], [`force`](mod@force), [`prepare`](mod@prepare) | results, and how to compute them |
//! | `complex` | complex numbers as elements, Fourier transforms (features `complex`, `fft`) |
//! | `half` | `f16` and `bf16` in memory, computed with as `f32` (feature `half`) |
//! | `io` | CSV, NPY, NPZ, raw files, mapped or read; DLPack (`io`); Parquet, Arrow, its C data interface (`arrow`) |
//! | [`custom`] | combinators of your own |
//! | `external` | functions of yours on whole arrays: [`external`](Array::external) |
//! | `docs` | the documentation of combinators as text, for shells (feature `docs`) |
//! | [`ast`] | the untyped graph under it all, and its checked builder |
//! | [`runtime`] | engines |
//! | [`stages`] | the stages of a program: the calls, the graph, the schedule, the loops, the code |
//!
//! # Stages in files
//!
//! With `LIVEFUSION_DUMP` in its environment, a process writes the [`stages`] of each program that
//! it compiles to files. The variable is a comma-separated list:
//!
//! | name | file | contents |
//! | --- | --- | --- |
//! | `ast` | `0001.1.ast.txt` | the calls ([`stages::Ast`]) |
//! | `graph` | `0001.2.graph.txt` | the graph without duplicates ([`stages::Graph`]) |
//! | `plan` | `0001.3.plan.txt` | the schedule ([`stages::Plan`]) |
//! | `loop` | `0001.4.loop.txt` | the loops, as lowered and as optimised ([`stages::Loops`]) |
//! | `schedule` | `0001.5.schedule.txt` | the schedule of the C, as a [request](runtime::EngineBuilder::schedule) |
//! | `tile` | `0001.6.tile.txt` | the tiles of innermost loops, or why they have none ([`stages::Tiles`]) |
//! | `c` | `0001.7.c.c` | the sources, where the backend generates some ([`stages::Code`]) |
//!
//! Each process writes to its own folder below `livefusion-dump`, or below the folder in
//! `LIVEFUSION_DUMP_TO`. The folder's name is the process id. A number follows if an earlier
//! process has left a folder of that name. Folders are created on the first write.
//!
//! All engines of a process number their programs together, in the order of compilation. A program
//! found in an engine's cache is not written again. A program that fails to compile has files of
//! the stages that it reached, for each attempt. The variables are read once, when the first
//! program is compiled. An unknown name, or a folder that cannot be written to, is reported once on
//! standard error. Results and errors are the same in any case.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod array;
pub mod ast;
#[cfg(feature = "complex")]
pub mod complex;
pub mod custom;
#[cfg(feature = "docs")]
pub mod docs;
pub mod elt;
pub mod error;
pub mod exp;
mod external;
pub mod force;
mod fusion;
#[cfg(feature = "half")]
pub mod half;
#[cfg(feature = "io")]
pub mod io;
pub mod iterate;
mod loc;
mod lower;
pub mod manifest;
#[cfg(feature = "ndarray")]
mod ndarray;
pub mod nested;
mod notebook;
pub mod over;
mod picture;
pub mod prepare;
pub mod random;
pub mod ranked;
pub mod runtime;
pub mod segmented;
mod sharing;
mod show;
mod sort;
pub mod stages;
mod tuples;

pub use array::{Array, Boundary, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn};
pub use elt::Elt;
pub use error::{Error, ErrorKind, Result};
pub use exp::Exp;
pub use force::Force;
pub use fusion::Clustering;
#[cfg(feature = "c")]
pub use livefusion_c::{CompilerLimits, KernelCache};
pub use loc::Loc;
pub use manifest::Manifest;
pub use nested::Nested;
pub use runtime::{CancelToken, Engine, Progress};
pub use segmented::Segmented;

/// Derives [`Elt`](trait@Elt) for structs.
///
/// ```
/// use livefusion::prelude::*;
/// #[derive(Clone, Debug, PartialEq, Elt)]
/// struct Point {
///     x: f64,
///     y: f64,
/// }
/// let ps = Array::from(vec![Point { x: 3.0, y: 4.0 }, Point { x: 0.0, y: 2.0 }]);
/// let halved = ps.map(|p| PointExp { x: p.x / 2.0, y: p.y / 2.0 });
/// assert_eq!(halved.map(|p| p.x.hypot(p.y)).force()?, [2.5, 1.0]);
/// assert_eq!(halved.get(1)?, Some(Point { x: 0.0, y: 1.0 }));
/// # Ok::<(), livefusion::Error>(())
/// ```
#[cfg(feature = "derive")]
pub use livefusion_derive::Elt;

/// Re-exports the names that most programs use: `use livefusion::prelude::*;`.
pub mod prelude {
    pub use crate::array::{
        Array, Bins, Boundary, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn, Rank, Unzip as _,
        ZipWith2 as _, ZipWith3 as _, ZipWith4 as _, ZipWith5 as _, ZipWith6 as _, concat,
        enum_from_step, generate, iota, linspace, replicate, zip, zip_shortest,
    };
    pub use crate::elt::{Elt, Float, Int, Num, Scalar};
    pub use crate::exp::{Exp, IntoExp, ToExp, iterate, while_loop};
    pub use crate::force::Force;
    pub use crate::iterate::{iterate_n, iterate_while};
    pub use crate::manifest::Manifest;
    pub use crate::nested::MapSegments;
    pub use crate::prepare::prepare;
    pub use crate::random;
    pub use crate::ranked::{NewAxis, Strided as _, concatenate, outside, stack};
    pub use crate::runtime::Engine;
    pub use crate::segmented::Segmented;
    #[cfg(feature = "derive")]
    pub use livefusion_derive::Elt;
}

/// Re-exports for the derive macro's output. Not for use by hand.
#[doc(hidden)]
pub mod derive_support {
    pub use crate::ast::Types;
    pub use crate::elt::collected;
    pub use crate::exp::{Field, Fields};
    pub use crate::manifest::Rows;
    pub use livefusion_backend::Buffer;
    pub use loop_lang::types::Ty;
}
