//! An open device, its queue, and its objects: modules, events, pinned memory.

use super::calls::{check, count, missing};
use crate::driver::cubin::Cubin;
use crate::driver::{Address, Device, Fault};
use cudarc::driver::sys::{
    self, CUcontext, CUdevice, CUdevice_attribute as Of, CUevent, CUmodule, CUstream,
};
use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

/// Holds a device's primary context, and our queue in it.
#[derive(Debug)]
pub struct Context {
    device: CUdevice,
    context: CUcontext,
    /// The queue.
    pub stream: CUstream,
}

// SAFETY: the driver takes its handles from any thread, at once if need be.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// Opens a device.
    pub fn open(ordinal: u32) -> Result<Context, Fault> {
        let mut devices = 0;
        // SAFETY: the driver has started, as in all calls here; it writes to its out-parameters.
        check("count devices", unsafe {
            sys::cuDeviceGetCount(&mut devices)
        })
        .map_err(missing)?;
        let ordinal = i32::try_from(ordinal).unwrap_or(i32::MAX);
        if ordinal >= devices {
            return Err(Fault::Missing(format!(
                "there is no device {ordinal}; the NVIDIA driver has {devices}"
            )));
        }
        let (mut device, mut context) = (0, null_mut());
        // SAFETY: as above, of a device that is there.
        check("open a device", unsafe {
            sys::cuDeviceGet(&mut device, ordinal)
        })
        .map_err(missing)?;
        // SAFETY: as above.
        let retained = unsafe { sys::cuDevicePrimaryCtxRetain(&mut context, device) };
        check("open a device", retained).map_err(missing)?;
        let mut opened = Context {
            device,
            context,
            stream: null_mut(),
        };
        opened.enter()?;
        let alone = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: the context is current.
        check("make a queue", unsafe {
            sys::cuStreamCreate(&mut opened.stream, alone)
        })?;
        Ok(opened)
    }

    /// Makes the context current in this thread.
    pub fn enter(&self) -> Result<(), Fault> {
        // SAFETY: the context is held until this is dropped.
        check("be used", unsafe { sys::cuCtxSetCurrent(self.context) })
    }

    /// Waits for all queued work.
    pub fn wait(&self) -> Result<(), Fault> {
        // SAFETY: the queue is there until this is dropped.
        check("run the queue", unsafe {
            sys::cuStreamSynchronize(self.stream)
        })
    }

    /// Describes the device.
    pub fn describe(&self) -> Result<Device, Fault> {
        let mut name: [c_char; 256] = [0; 256];
        let mut memory = 0;
        // SAFETY: the driver writes a text that ends with zero within so many bytes.
        check("tell its name", unsafe {
            sys::cuDeviceGetName(name.as_mut_ptr(), 256, self.device)
        })?;
        // SAFETY: the driver writes a number.
        check("tell its memory", unsafe {
            sys::cuDeviceTotalMem_v2(&mut memory, self.device)
        })?;
        // SAFETY: as above, it ends with zero.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy();
        let kilohertz = self
            .attribute(Of::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)
            .unwrap_or(0);
        let bits = self
            .attribute(Of::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)
            .unwrap_or(0);
        // Memory transfers two bits per clock.
        let bandwidth = u64::from(kilohertz) * 1000 * 2 * u64::from(bits) / 8;
        Ok(Device {
            name: name.into_owned(),
            capability: (
                self.attribute(Of::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                self.attribute(Of::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            multiprocessors: self.attribute(Of::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            memory: memory as u64,
            bandwidth: (bandwidth > 0).then_some(bandwidth),
        })
    }

    fn attribute(&self, of: Of) -> Result<u32, Fault> {
        let mut value = 0;
        // SAFETY: the driver writes a number.
        let code = unsafe { sys::cuDeviceGetAttribute(&mut value, of, self.device) };
        check("tell an attribute", code).map(|()| count(value))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.enter().is_ok() && !self.stream.is_null() {
            // SAFETY: nobody has the queue any more; what is queued is still done.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.stream) };
        }
        // SAFETY: it was retained once.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

/// Holds loaded code.
#[derive(Debug)]
pub struct Module {
    handle: CUmodule,
    context: Arc<Context>,
}

impl Module {
    /// Loads code.
    pub fn load(context: &Arc<Context>, cubin: &Cubin) -> Result<Module, Fault> {
        let mut handle = null_mut();
        // SAFETY: the code is whole, as a `Cubin` is; it is read before this returns.
        let code = unsafe { sys::cuModuleLoadData(&mut handle, cubin.image().as_ptr().cast()) };
        if code == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            return Err(Fault::OutOfMemory {
                bytes: cubin.image().len(),
            });
        }
        check("load a kernel", code)?;
        Ok(Module {
            handle,
            context: context.clone(),
        })
    }

    /// Returns the driver's handle.
    pub fn handle(&self) -> CUmodule {
        self.handle
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // Its kernels may still be queued.
        if self
            .context
            .enter()
            .and_then(|()| self.context.wait())
            .is_ok()
        {
            // SAFETY: none of its kernels is queued, and nobody can start one any more.
            let _ = unsafe { sys::cuModuleUnload(self.handle) };
        }
    }
}

/// Holds an event of the queue.
#[derive(Debug)]
pub struct Event {
    handle: CUevent,
    context: Arc<Context>,
}

// SAFETY: the driver takes its handles from any thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// Creates an event that records its time.
    pub fn timed(context: &Arc<Context>) -> Result<Event, Fault> {
        Event::with(context, sys::CUevent_flags::CU_EVENT_DEFAULT)
    }

    /// Creates an event to wait for.
    pub fn new(context: &Arc<Context>) -> Result<Event, Fault> {
        Event::with(context, sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)
    }

    fn with(context: &Arc<Context>, flags: sys::CUevent_flags) -> Result<Event, Fault> {
        let mut handle = null_mut();
        // SAFETY: a context is current.
        check("make a mark", unsafe {
            sys::cuEventCreate(&mut handle, flags as u32)
        })?;
        Ok(Event {
            handle,
            context: context.clone(),
        })
    }

    /// Appends the event to the queue.
    pub fn record(&self) -> Result<(), Fault> {
        // SAFETY: the event and the queue are there.
        check("mark its queue", unsafe {
            sys::cuEventRecord(self.handle, self.context.stream)
        })
    }

    /// Waits until the queue has reached it.
    pub fn wait(&self) -> Result<(), Fault> {
        // SAFETY: the event is there.
        check("run the queue", unsafe {
            sys::cuEventSynchronize(self.handle)
        })
    }

    /// Returns the milliseconds since another event.
    pub fn since(&self, other: &Event) -> Result<f32, Fault> {
        let mut milliseconds = 0.0;
        // SAFETY: both events are there.
        let code =
            unsafe { sys::cuEventElapsedTime_v2(&mut milliseconds, other.handle, self.handle) };
        check("tell the time between marks", code).map(|()| milliseconds)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: nobody has it any more; the driver frees it when the queue has come to it.
            let _ = unsafe { sys::cuEventDestroy_v2(self.handle) };
        }
    }
}

/// Holds pinned host memory, which the device can read and write.
#[derive(Debug)]
pub struct Pinned {
    at: *mut u8,
    context: Arc<Context>,
}

// SAFETY: it is memory that nobody else has.
unsafe impl Send for Pinned {}
// SAFETY: as above; writers use the pointer of `at`, at their own risk.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// Allocates `bytes` bytes, at least one.
    pub fn new(context: &Arc<Context>, bytes: usize) -> Result<Pinned, Fault> {
        let mut at: *mut c_void = null_mut();
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: a context is current.
        check("pin memory of the host", unsafe {
            sys::cuMemHostAlloc(&mut at, bytes, flags)
        })?;
        Ok(Pinned {
            at: at.cast(),
            context: context.clone(),
        })
    }

    /// Returns its host address.
    pub fn at(&self) -> *mut u8 {
        self.at
    }

    /// Returns its device address.
    pub fn address(&self) -> Result<Address, Fault> {
        let mut address = 0;
        // SAFETY: the memory was allocated for this.
        let code = unsafe { sys::cuMemHostGetDevicePointer_v2(&mut address, self.at.cast(), 0) };
        check("see memory of the host", code).map(|()| Address(address))
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Queued work may still read and write it. If the device is lost, its accesses are unknown,
        // so the memory is leaked.
        if self
            .context
            .enter()
            .and_then(|()| self.context.wait())
            .is_ok()
        {
            // SAFETY: nobody has it any more.
            let _ = unsafe { sys::cuMemFreeHost(self.at.cast()) };
        }
    }
}
