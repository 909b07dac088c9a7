//! Simulated devices, for tests of the CUDA backend only.
//!
//! | module | contents |
//! | --- | --- |
//! | [`stub`] | a driver on host memory, which counts calls and fails on demand |
//! | [`memory`] | its memory, with a written flag for each byte |
//! | [`cxx`] | compilation of kernels against the shim by a C++ compiler (`CXX`, or g++) |
//! | [`kernel`] | loading and running such kernels, with checks of each memory access |
//!
//! The shim itself is `shim.cpp` and `shim.h`. Each thread of a block is a fiber, and a seeded
//! scheduler interleaves them.

pub mod cxx;
pub mod kernel;
pub mod memory;
pub mod stub;

pub use cxx::{Cxx, can_compile};
pub use kernel::Shim;
pub use stub::{Call, Stub, error};
