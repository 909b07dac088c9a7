//! The backend interface: a backend compiles a [`Loop`] into a [`Kernel`].
//!
//! A kernel runs one pass over one span of the loop.
//!
//! | module | contents |
//! | --- | --- |
//! | [`buffer`] | typed, aligned memory and views of it |
//! | [`frame`] | the state of a run, with its owned and lent arrays |
//! | [`growth`] | arrays that begin short and grow between spans |
//! | [`memory`] | memory limits of a run |
//! | [`kernel`] | arguments, passes, outcomes, the two traits |
//! | [`facts`] | analysis of a loop: block order, aliasing, deferred updates |
//! | [`compiled`], [`abi`] | kernels of machine code: calls, results, callbacks |
//! | [`processor`], [`process`] | the processor of a thread, the identity of the process |
//! | [`lanes`] | initial values and reductions of lanes, called by compiled code |
//! | [`sort`] | row sorting, called by compiled code |
//! | [`math`] | the one implementation of each transcendental function, called by C code |

pub mod abi;
pub mod buffer;
pub mod compiled;
pub mod facts;
pub mod frame;
pub mod growth;
pub mod kernel;
pub mod lanes;
pub mod math;
pub mod memory;
mod prim;
pub mod process;
pub mod processor;
pub mod sort;

pub use buffer::{Buffer, Far, FarError, Prim, View};
pub use frame::{Frame, Held, Maker};
pub use growth::{Growing, Growth};
pub use kernel::{
    Arg, Backend, CompileError, DiskUse, Kernel, Outcome, Pass, TierRuns, TrapNest, TrapReport,
    Value,
};
pub use loop_lang::Loop;
pub use memory::Memory;
