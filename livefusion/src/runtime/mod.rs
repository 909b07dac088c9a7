//! Execution: the engine, its kernel cache, compiled programs and explanations.
//!
//! A force first tries to recognise a graph forced before. Any other graph is recovered, and its
//! key is looked up in the engine's cache. On a miss it passes the [stages](crate::stages): plan,
//! lower, optimise and compile each loop. Then the loops run in order, on several threads where
//! that pays, and pass arrays and scalars on.

mod apart;
mod binding;
mod builder;
mod cache;
mod counters;
mod dump;
mod engine;
mod explain;
mod frames;
mod in_place;
mod iterate;
mod known;
#[cfg(all(test, shuttle))]
mod models;
mod parallel;
mod part;
mod position;
mod prepared;
mod program;
mod programs;
mod replay;
mod requested;
mod result_slots;
mod sync;
#[cfg(feature = "jit")]
mod tier;
#[cfg(any(virtual_time, all(test, shuttle)))]
#[doc(hidden)]
pub mod virtual_time;
mod watch;
mod widened;

pub use apart::external_parts;
pub(crate) use binding::lost;
pub use builder::EngineBuilder;
pub use counters::Counters;
pub(crate) use engine::Kernels;
pub(crate) use engine::force_at;
pub use engine::{Engine, force_nodes};
pub use explain::{
    Bytes, Call, Copied, EarlierForce, ExplainedApart, ExplainedArrayLoop, ExplainedBytes,
    ExplainedExternal, ExplainedLoop, ExplainedNode, ExplainedUpdate, Explanation, Flow, Hint,
    Literal, Place, Rewritten, Role, Traffic,
};
pub use livefusion_backend::TierRuns;
pub use prepared::Prepared;
pub(crate) use requested::{RequestedSchedules, with_region};
pub use watch::{CancelToken, Progress};
