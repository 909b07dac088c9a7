//! What a backend is: it compiles a [`Loop`] into a [`Kernel`], which runs one pass over one span.
//!
//! | module | room for |
//! | --- | --- |
//! | [`buffer`] | typed, aligned memory and views of it |
//! | [`frame`] | the state of a run, and the arrays that it holds or was lent |
//! | [`growth`] | arrays that begin short and grow between spans |
//! | [`memory`] | how much a run may take |
//! | [`kernel`] | arguments, passes, outcomes, the two traits |
//! | [`facts`] | where blocks are, which updates may take effect at once |
//! | [`compiled`], [`host`] | kernels of machine code: calls, results, callbacks |
//! | [`processor`], [`process`] | which processor a thread runs on, which process this is |
//! | [`lanes`] | what lanes begin as and come to, for compiled code to call |
//! | [`sort`] | rows put in order, for compiled code to call |
//! | [`math`] | the one implementation of each transcendental function, for C to call |

pub mod buffer;
pub mod compiled;
pub mod facts;
pub mod frame;
pub mod growth;
pub mod host;
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
    Arg, Backend, CompileError, DiskUse, Kernel, Outcome, Pass, TierRuns, TrapReport, Value,
};
pub use loop_lang::Loop;
pub use memory::Memory;
