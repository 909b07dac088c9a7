//! Loops on a device: their arrays, launches, and the backend that compiles them.
//!
//! | module | contents |
//! | --- | --- |
//! | [`memory`] | arrays in a device's memory |
//! | [`session`] | the state of a device: memory, loaded kernels, launch memory |
//! | [`kernel`] | a loop that runs on a device |
//! | [`backend`] | the choice between device and host |

pub mod backend;
pub mod kernel;
pub mod memory;
pub mod session;
