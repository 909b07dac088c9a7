//! The CUDA backend: a loop as a kernel for a GPU.
//!
//! Which iterations each thread has is a [plan](livefusion_tile::threads) that this crate prints.
//! A kernel runs the steps of a loop's root rate. What comes before and behind them, `init` and `done`, runs on the host, in
//! the interpreter, over the same [frame](livefusion_backend::Frame): that is where arrays are made and cut, and what groups
//! came to is joined.
//!
//! | module | room for |
//! | --- | --- |
//! | [`exact`] | which loops have the same bits everywhere |
//! | [`emit`] | the kernel's text |
//! | [`call`] | what a kernel is told of its launch |
//! | `launch` | which kernels of a loop are launched, and with what |
//! | [`run`] | a loop's way from its arguments to its results |
//! | [`driver`] | devices and their compiler: memory, copies, queued kernels, machine code |
//! | [`device`] | loops on a device: arrays, launches, the backend |
//!
//! `prelude.cuh` is what all kernels are made of: operators, parts of a block, tiles that look back.

pub mod call;
pub mod device;
pub mod driver;
pub mod emit;
pub mod exact;
mod launch;
pub mod run;

pub use device::backend::CudaBackend;
