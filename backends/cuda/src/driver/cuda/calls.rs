//! The used functions of the driver's library, and their error codes.

use crate::driver::Fault;
use cudarc::driver::sys::{self, CUresult};
use std::ffi::{CStr, c_char, c_int};
use std::ptr::null;

/// All called functions. `cudarc` panics at a call that an old driver's library lacks, so they are
/// looked up first.
const USED: &[&str] = &[
    "cuCtxSetCurrent",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDeviceTotalMem_v2",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventElapsedTime_v2",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuFuncGetAttribute",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuInit",
    "cuLaunchKernel",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemHostAlloc",
    "cuMemHostGetDevicePointer_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemsetD8Async",
    "cuModuleGetFunction",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
];

/// Loads the library and starts the driver.
///
/// # Errors
///
/// Names the missing part.
pub fn begin() -> Result<(), Fault> {
    // SAFETY: loading the library runs its starting code, which is made for that.
    if !unsafe { sys::is_culib_present() } {
        return Err(Fault::Missing(
            "no NVIDIA driver; the loader finds neither libcuda.so nor libcuda.so.1".into(),
        ));
    }
    // SAFETY: as above, and the library is there.
    let library = unsafe { sys::culib() };
    let lacks = |name: &&&str| {
        // SAFETY: it is only looked for, and never called by this type.
        unsafe { library.get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_err()
    };
    if let Some(name) = USED.iter().find(lacks) {
        return Err(Fault::Missing(format!(
            "the NVIDIA driver is too old, it has no {name}; it must be one for CUDA 13"
        )));
    }
    // SAFETY: this may be called at any time, and more than once.
    check("start", unsafe { sys::cuInit(0) }).map_err(missing)
}

/// Converts a device error during opening to a missing device.
pub fn missing(fault: Fault) -> Fault {
    match fault {
        Fault::Device { name, text, .. } => {
            Fault::Missing(format!("the NVIDIA driver has no device: {name} ({text})"))
        }
        other => other,
    }
}

/// Converts an error code.
pub fn check(doing: &'static str, code: CUresult) -> Result<(), Fault> {
    if code == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let said = |say: unsafe fn(CUresult, *mut *const c_char) -> CUresult| {
        let mut text = null();
        // SAFETY: it is one of the driver's two functions that name an error, by a text that lives
        // for ever.
        let known = unsafe { say(code, &mut text) } == CUresult::CUDA_SUCCESS && !text.is_null();
        if !known {
            return None;
        }
        // SAFETY: as above.
        let text = unsafe { CStr::from_ptr(text) };
        Some(text.to_string_lossy().into_owned())
    };
    Err(Fault::Device {
        doing,
        name: said(sys::cuGetErrorName).unwrap_or_else(|| format!("error {}", code as u32)),
        text: said(sys::cuGetErrorString).unwrap_or_else(|| "the driver does not know it".into()),
    })
}

/// Converts a non-negative number of the driver.
pub fn count(value: c_int) -> u32 {
    u32::try_from(value).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn all_that_is_called_is_looked_for() {
        let texts = [
            include_str!("../cuda.rs"),
            include_str!("calls.rs"),
            include_str!("context.rs"),
            include_str!("staging.rs"),
        ];
        let mut called = BTreeSet::new();
        for part in texts.iter().flat_map(|t| t.split("sys::cu").skip(1)) {
            let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let name = &part[..end.unwrap_or(part.len())];
            // `culib` is cudarc's own function.
            if name.starts_with(|c: char| c.is_ascii_uppercase()) {
                called.insert(format!("cu{name}"));
            }
        }
        let used: BTreeSet<String> = USED.iter().map(|s| s.to_string()).collect();
        assert_eq!(called, used);
    }
}
