//! Fusion: which combinators share a loop.
//!
//! [`rates`] gives every node a length class in a tree of rates; [`cluster`] partitions the graph into an
//! ordered schedule of loops. The entry is [`plan`].

pub mod cluster;
pub mod demand;
pub mod rates;

pub use cluster::{Plan, PlannedLoop, plan};
pub use rates::{ClassId, ClassKind, Rates};
