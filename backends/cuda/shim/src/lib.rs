//! Devices without a device, for tests of the CUDA backend and for nothing else.
//!
//! | module | room for |
//! | --- | --- |
//! | [`stub`] | a driver whose memory is the host's, which counts calls and fails where a test wants it to |
//! | [`memory`] | that memory, and which of its bytes somebody wrote |
//! | [`cxx`] | kernels as a C++ compiler (`CXX`, or g++) compiles them against the shim |
//! | [`kernel`] | such kernels, loaded and run: each access to memory is looked at |
//!
//! The shim itself is `shim.cpp` and `shim.h`: each thread of a block is a fiber, and a seeded scheduler lets them run by
//! turns.

pub mod cxx;
pub mod kernel;
pub mod memory;
pub mod stub;

pub use cxx::{Cxx, can_compile};
pub use kernel::Shim;
pub use stub::{Call, Stub, error};
