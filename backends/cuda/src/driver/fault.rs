//! What can go wrong with a device, its driver or its compiler.

use thiserror::Error;

/// Why a device did not do what it was asked.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Fault {
    /// There is no driver, no device or no compiler: what was looked for, and where.
    #[error("there is no CUDA here: {0}")]
    Missing(String),
    /// The device's memory does not suffice.
    #[error("the device has no memory for {bytes} bytes more")]
    OutOfMemory {
        /// How many bytes were asked for.
        bytes: usize,
    },
    /// The driver says that something went wrong, now or in what was queued before.
    #[error("the device could not {doing}: {name} ({text})")]
    Device {
        /// What was being done.
        doing: &'static str,
        /// The driver's name of the error.
        name: String,
        /// What it says of it.
        text: String,
    },
    /// What was asked for makes no sense to the driver, which was not asked.
    #[error("{0}")]
    Refused(String),
    /// The compiler does not take a kernel.
    #[error("NVRTC does not compile a kernel: {log}")]
    Compiler {
        /// What it says.
        log: String,
    },
}
