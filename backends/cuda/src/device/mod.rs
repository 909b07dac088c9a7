//! Loops on a device: where their arrays are, how their kernels are launched, and the backend that compiles them.
//!
//! | module | room for |
//! | --- | --- |
//! | [`memory`] | arrays in a device's memory |
//! | [`session`] | a device with what is kept for it: memory, loaded kernels, what launches need |
//! | [`kernel`] | a loop that runs on a device |
//! | [`backend`] | which loops run there, and which run on the host |

pub mod backend;
pub mod kernel;
pub mod memory;
pub mod session;
