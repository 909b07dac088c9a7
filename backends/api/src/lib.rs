//! What a backend is: it compiles a [`Loop`] into a [`Kernel`], which runs one pass over one span.
//!
//! | module | room for |
//! | --- | --- |
//! | [`buffer`] | typed, aligned memory and views of it |
//! | [`kernel`] | arguments, frames, passes, outcomes, the two traits |
//! | [`facts`] | where blocks are, which updates may take effect at once |
//! | [`compiled`], [`host`] | kernels of machine code: calls, results, callbacks |
//! | [`processor`] | which processor a thread runs on |
//! | [`math`] | the one implementation of each transcendental function, for C to call |

pub mod buffer;
pub mod compiled;
pub mod facts;
pub mod host;
pub mod kernel;
pub mod math;
mod prim;
pub mod processor;

pub use buffer::{Buffer, Prim, View};
pub use kernel::{
    Arg, Backend, CompileError, DiskUse, Frame, Kernel, Memory, Outcome, Pass, TierRuns,
    TrapReport, Value,
};
pub use loop_lang::Loop;
