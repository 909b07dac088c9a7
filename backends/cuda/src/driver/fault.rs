//! Faults of a device, its driver or its compiler.

use thiserror::Error;

/// Lists the faults of a device, its driver or its compiler.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Fault {
    /// There is no driver, no device or no compiler. The text names it and the searched places.
    #[error("there is no CUDA here: {0}")]
    Missing(String),
    /// The device's memory does not suffice.
    #[error("the device has no memory for {bytes} bytes more")]
    OutOfMemory {
        /// The requested bytes.
        bytes: usize,
    },
    /// The driver reports an error, of this call or of earlier queued work.
    #[error("the device could not {doing}: {name} ({text})")]
    Device {
        /// The failed action.
        doing: &'static str,
        /// The driver's name of the error.
        name: String,
        /// The driver's description.
        text: String,
    },
    /// The request is invalid, and the driver was not called.
    #[error("{0}")]
    Refused(String),
    /// The compiler rejects a kernel.
    #[error("NVRTC does not compile a kernel: {log}")]
    Compiler {
        /// Its log.
        log: String,
    },
}
