//! Fusion: which combinators share a loop.
//!
//! [`rates`] gives every node a length class in a tree of rates; [`cluster`] partitions the graph into an
//! ordered schedule of loops. [`phases`] says which roots one loop can run over, one after the other. [`pull`] says which arrays are computed where they are read at an index. The
//! entry is [`plan`].

mod cluster;
mod demand;
mod mirror;
pub mod phases;
pub mod pull;
pub mod rates;
pub mod sides;

pub use cluster::free::constant;
pub use cluster::{Clustering, Cost, Crossing, Plan, PlannedLoop, Reason, Recomputed, plan};
pub use phases::{PartOf, Phase};
pub use rates::{ClassId, ClassKind, Rates, Selector};
