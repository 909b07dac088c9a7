//! Stages of a program as values with a text: calls, graph, schedule, loops, code.
//!
//! A force passes through all stages unseen. This module gives them one by one, to look at, test or
//! measure. Each stage leads to the next by the same steps as in a force. Nothing here runs.
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
//! classes
//!   c0: a length of its own
//!   c1: those of c0 that n3 keeps
//! loop 0 over c0
//!   n1 sum at c0
//!   leaves n1.0
//! loop 1 over c0
//!   n2 map at c0
//!   n3 filter at c0
//!   stores n3.0
//! n1 sum -> n2 map: a fold has its result only when its loop ends
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
//! # One program in all stages
//!
//! A filter, the sum of its elements, and the first two elements of a map over them. The take ends
//! before the sum does, so its own operands run in a rate of their own.
//!
//! ```
//! use livefusion::prelude::*;
//! use livefusion::{Clustering, Engine, stages};
//!
//! // The typed calls.
//! let xs = Array::from(vec![3i64, -1, 4, -1, 5]);
//! let kept = xs.filter(|x| x.gt(0));
//! let (sum, first) = (kept.sum(), kept.map(|x| x * 10).take(2));
//!
//! // The nodes.
//! let graph = stages::graph(&(&sum, &first))?;
//! assert!(graph.to_string().contains(
//!     r"
//! n1 = filter n0: i64[]
//!   \x0: i64 ->
//!     let t2 = gt x0 0
//!     in t2
//! "
//! ));
//! assert!(graph.to_string().ends_with("results: n2, n4\n"));
//!
//! // The classes, and the cluster: one loop. Its sum is left in a scalar, what the take keeps in memory.
//! let plan = graph.plan(Clustering::default());
//! assert_eq!(
//!     plan.to_string(),
//!     r"1 loop, optimal clustering, 12288 bytes at nominal lengths, proven
//! classes
//!   c0: a length of its own
//!   c1: those of c0 that n1 keeps
//!   c2: those of c1 before n4 ends
//! loop 0 over c0
//!   n1 filter at c0
//!   n2 sum at c1
//!   n3 map at c1
//!   n4 take at c1
//!   stores n4.0
//!   leaves n2.0
//! "
//! );
//!
//! // The placement. The sum and the map are of one class, but the map runs in an instance of its own: nobody asks
//! // for its elements once the take has ended.
//! assert_eq!(
//!     plan.place()?.to_string(),
//!     r"loop 0
//!   r0: over n0.0, stage 0, r1
//!   r1: elements that n1 filter keeps by n0.0 in r0, stage 0, r2
//!   r2: elements not always demanded in r1, stage 0, r3
//!   r3: elements that n4 take keeps in r2, stage 0
//!   r0 opens, by n0 manifest
//!   n0.0 is read from memory at r0
//!   r1 opens, by n1 filter
//!   n2 sum runs at r1
//!   r2 opens, by n3 map
//!   n3 map runs at r2
//!   r3 opens, by n4 take
//!   n4.0 is kept in memory at r3, capacity: r0's bound or n4 take
//!   r2 goes on while n4 take does
//! "
//! );
//!
//! // The blocks. Rates become guards, and combinators of one rate share blocks: `guard_1, guard_2`.
//! let mut loops = plan.lower()?;
//! let blocks = loops.to_string();
//! assert!(blocks.contains(
//!     r"
//! guard_1, guard_2:
//!   let p_1 = gt elt_0 k_1
//!   unless p_1 | bottom_1
//!   goto body_1
//! body_1, body_2:
//!   let new_2 = add acc_2 elt_0
//!   goto yield_1
//! "
//! ));
//! assert!(blocks.contains(
//!     r"
//! guard_3:
//!   let few_3 = lt ix_4 k_4
//!   unless few_3 | bottom_3
//!   goto body_3
//! body_3:
//!   let elt_3 = mul elt_0 k_3
//! "
//! ));
//!
//! // The C, of a schedule that decides nothing: step by step, as on every machine.
//! loops.optimize();
//! let engine = Engine::builder().only_c().schedule("loop_0").build();
//! let code = loops.code(&engine)?.to_string();
//! let lines: Vec<&str> = code.lines().map(str::trim).collect();
//! let expected = [
//!     "if (p_1) {",
//!     "/* 2: sum */",
//!     "const i64 new_2 = (i64)(acc_2 + elt_0);",
//!     "acc_2 = new_2;",
//!     "/* 3: map */",
//!     "const bool few_3 = ix_4 < k_4;",
//!     "/* 4: take */",
//!     "if (few_3) {",
//!     "/* 3: map */",
//!     "const i64 elt_3 = (i64)(elt_0 * k_3);",
//! ];
//! assert!(lines.windows(expected.len()).any(|w| w == expected));
//! # Ok::<(), livefusion::Error>(())
//! ```
//!
//! # The stages
//!
//! | stage | made by | contents |
//! | --- | --- | --- |
//! | [`Ast`] | [`ast`], [`ast_of`] | nodes as calls made them, and the places of these calls |
//! | [`Graph`] | [`graph`], [`graph_of`], [`Ast::graph`] | nodes without duplicates, closures with their lets |
//! | [`Plan`] | [`Graph::plan`] | rates, the loops' combinators, what crosses from loop to loop and why |
//! | [`Placements`] | [`Plan::place`] | the place of each computation: rates, stages, the source of each element |
//! | [`Loops`] | [`Plan::lower`], [`Loops::optimize`] | programs of the Loop language, tied to the graph |
//! | [`Tiles`] | [`Loops::tiles`] | the loops' innermost loops under requested or chosen schedules |
//! | [`Code`] | [`Loops::code`] | compiled code |

mod ast;
mod code;
mod graph;
mod loops;
mod placements;
mod plan;
mod tiles;

pub use crate::fusion::{
    ClassId, ClassKind, Cost, Crossing, PartOf, Phase, PlannedLoop, Reason, Recomputed, Selector,
};
pub use crate::lower::{Lowered, Source};
pub use crate::sharing::{FieldRef, NodeId};
pub use ast::{Ast, ast, ast_of};
pub use code::Code;
pub use graph::{Graph, graph, graph_of};
pub use loop_lang::Loop;
pub(crate) use loops::LoopTexts;
pub use loops::Loops;
pub use placements::Placements;
pub use plan::Plan;
pub(crate) use tiles::Tiled;
pub use tiles::Tiles;
