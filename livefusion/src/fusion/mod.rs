//! Fusion: assigns combinators to loops.
//!
//! [`rates`] assigns every node a length class in a tree of rates. [`cluster`] partitions the graph
//! into ordered loops, the plan. [`phases`] determines the roots that one loop can run over,
//! one after the other. [`inline`] selects the arrays that are computed at each indexed read. The
//! entry point is [`plan`].

mod cluster;
mod demand;
pub mod inline;
pub mod phases;
pub mod rates;
mod reversed;
pub mod sides;

pub use cluster::free::constant;
pub(crate) use cluster::remat;
pub use cluster::{Clustering, Cost, Crossing, Plan, PlannedLoop, Reason, Recomputed, plan};
pub use phases::{PartOf, Phase};
pub use rates::{ClassId, ClassKind, Rates, Selector};
