//! Every stage of a program as a value with a text: the graph, the schedule, the loops, the code.
//!
//! A force goes through all of them unseen. Who wants to see, test or measure what becomes of a program takes
//! them one by one; each leads to the next, by the same steps that a force takes. Nothing here runs.
//!
//! ```
//! use livefusion::prelude::*;
//! use livefusion::stages::{self, Reason};
//! use livefusion::{Clustering, Engine};
//!
//! let xs = Array::from(vec![0.5f64, 0.001, 0.25]);
//! let total = xs.sum();
//! let shares = xs.map(|x| x / &total).filter(|x| x.ge(0.01));
//!
//! // Every computation once, whatever the user called twice.
//! let graph = stages::graph(&shares)?;
//! assert_eq!(
//!     graph.to_string(),
//!     r"n0 = in memory: f64[3]
//! n1 = sum n0: f64
//!   start
//!   \ ->
//!     in 0.0
//!   step
//!   \x0: f64, x1: f64 ->
//!     let t2 = add x0 x1
//!     in t2
//! n2 = map n0: f64[3]
//!   captures n1
//!   \x0: f64 ->
//!     let t1 = capture 0.0
//!     let t2 = div x0 t1
//!     in t2
//! n3 = filter n2: f64[]
//!   \x0: f64 ->
//!     let t2 = ge x0 0.01
//!     in t2
//! results: n3
//! "
//! );
//!
//! // Which share a loop, and why the others do not.
//! let plan = graph.plan(Clustering::default());
//! assert_eq!(plan.loops().len(), 2);
//! assert_eq!(plan.crossings()[0].reason, Reason::Fold);
//! assert_eq!(
//!     plan.to_string(),
//!     r"2 loops, optimal clustering, 24576 bytes at nominal lengths, proven
//! rates
//!   r0: a length of its own
//!   r1: those of r0 that n3 keeps
//! loop 0 over r0
//!   n1 sum at r0
//!   leaves n1.0
//! loop 1 over r0
//!   n2 map at r0
//!   n3 filter at r0
//!   stores n3.0
//! n1 sum -> n2 map: a fold's result is complete only after its loop
//! "
//! );
//!
//! // The loops as they are put together, and as compilers get them.
//! let mut loops = plan.lower()?;
//! assert!(loops.to_string().starts_with("loop loop_0\n"));
//! loops.optimize();
//! assert!(loops.iter().all(|l| l.results.len() == 1));
//!
//! // What an engine's backend makes of them: C has a text, what is interpreted has none.
//! let code = loops.code(&Engine::c())?;
//! assert!(code.to_string().contains("double"));
//! let code = loops.code(&Engine::interp())?;
//! assert_eq!(code.sources().collect::<Vec<_>>(), [None, None]);
//! # Ok::<(), livefusion::Error>(())
//! ```
//!
//! | stage | made by | what it is |
//! | --- | --- | --- |
//! | [`Graph`] | [`graph`], [`graph_of`] | nodes without duplicates, closures with their lets |
//! | [`Plan`] | [`Graph::plan`] | rates, the loops' combinators, what crosses from loop to loop and why |
//! | [`Placements`] | [`Plan::place`] | where everything happens: rates, stages, where each element comes from |
//! | [`Loops`] | [`Plan::lower`], [`Loops::optimize`] | programs of the Loop language, tied to the graph |
//! | [`Code`] | [`Loops::code`] | what a backend compiled |

mod code;
mod graph;
mod loops;
mod placements;
mod plan;

pub use crate::fusion::{
    ClassId, ClassKind, Cost, Crossing, PlannedLoop, Reason, Recomputed, Selector,
};
pub use crate::lower::{Lowered, Source};
pub use crate::sharing::{FieldRef, NodeId};
pub use code::Code;
pub use graph::{Graph, graph, graph_of};
pub use loops::Loops;
pub use placements::Placements;
pub use plan::Plan;
