//! The CUDA backend: compiles a loop to GPU kernels.
//!
//! The [plan](livefusion_tile::threads) maps iterations to threads, and this crate prints it as a
//! kernel. A kernel runs the steps of a loop's root rate. The code before and after them, `init`
//! and `done`, runs on the host, in the interpreter, over the same
//! [frame](livefusion_backend::Frame). It makes and cuts arrays and joins the groups' results.
//!
//! | module | contents |
//! | --- | --- |
//! | [`exact`] | loops with the same bits everywhere |
//! | [`emit`] | the kernel's text |
//! | [`call`] | launch parameters |
//! | `launch` | the choice and parameters of kernel launches |
//! | [`run`] | a loop's run from its arguments to its results |
//! | [`driver`] | devices and their compiler: memory, copies, queued kernels, machine code |
//! | [`device`] | loops on a device: arrays, launches, the backend |
//!
//! `prelude.cuh` is the common part of all kernels: operators, block collectives, look-back between
//! tiles.

pub mod call;
pub mod device;
pub mod driver;
pub mod emit;
pub mod exact;
mod launch;
pub mod run;

pub use device::backend::CudaBackend;
