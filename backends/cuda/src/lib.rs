//! The CUDA backend: a loop as a kernel for a GPU.
//!
//! A kernel runs the steps of a loop's root rate. What comes before and behind them, `init` and `done`, runs on the host, in
//! the interpreter, over the same [frame](livefusion_backend::Frame): that is where arrays are made and cut, and what groups
//! came to is joined.
//!
//! | module | room for |
//! | --- | --- |
//! | [`shape`] | which loops can run in parallel here, and why others cannot |
//! | [`plan`] | how its iterations become work of threads, and why |
//! | [`path`] | segments whose elements are shared among threads |
//! | `team` | rows that a team of threads has |
//! | `handed` | arrays by which an iteration hands on to itself |
//! | [`exact`] | which loops have the same bits everywhere |
//! | [`emit`] | the kernel's text |
//! | `launch` | which kernels of a loop are launched, and with what |
//! | [`run`] | a loop's way from its arguments to its results |
//! | [`driver`] | devices and their compiler: memory, copies, queued kernels, machine code |
//! | [`device`] | loops on a device: arrays, launches, the backend |
//!
//! `prelude.cuh` is what all kernels are made of: operators, parts of a block, tiles that look back.

mod demand;
pub mod device;
pub mod driver;
pub mod emit;
pub mod exact;
mod handed;
mod launch;
pub mod path;
pub mod plan;
pub mod run;
pub mod shape;
mod team;

pub use device::backend::CudaBackend;
