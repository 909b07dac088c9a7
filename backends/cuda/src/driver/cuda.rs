//! The driver of NVIDIA's devices.
//!
//! It calls the library through `cudarc`, which finds it at run time.
//!
//! | module | contents |
//! | --- | --- |
//! | `calls` | the used functions of the library, and their error codes |
//! | `context` | an open device, its queue, and its objects |
//! | `staging` | pinned memory for copies between host and device |
//!
//! It uses the device's primary context, as all libraries do, and makes it current in each calling
//! thread.

mod calls;
mod context;
mod staging;

use super::cubin::Cubin;
use super::{Address, Device, Driver, Fault, Function, Mark, Needs, Words};
use calls::{check, count};
use context::{Context, Event, Module, Pinned};
use cudarc::driver::sys::{self, CUfunction, CUfunction_attribute as Of};
use staging::Staging;
use std::ffi::{CString, c_uint, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::time::Duration;

/// Holds one of NVIDIA's devices.
#[derive(Debug)]
pub struct Cuda {
    device: Device,
    staging: Staging,
    context: Arc<Context>,
}

/// The driver's own part of a function.
struct LoadedKernel {
    function: CUfunction,
    _module: Module,
}

// SAFETY: the driver takes its handles from any thread.
unsafe impl Send for LoadedKernel {}
// SAFETY: as above.
unsafe impl Sync for LoadedKernel {}

impl Cuda {
    /// Opens a device by its number.
    ///
    /// Numbers count from 0 in the driver's order (`CUDA_VISIBLE_DEVICES`).
    ///
    /// # Errors
    ///
    /// [`Fault::Missing`] where there is no driver, or no such device.
    pub fn open(ordinal: u32) -> Result<Cuda, Fault> {
        calls::begin()?;
        let context = Arc::new(Context::open(ordinal)?);
        Ok(Cuda {
            device: context.describe()?,
            staging: Staging::new(&context),
            context,
        })
    }
}

impl Driver for Cuda {
    fn device(&self) -> &Device {
        &self.device
    }

    fn allocate(&self, bytes: usize) -> Result<Address, Fault> {
        self.context.enter()?;
        let mut at = 0;
        // SAFETY: a context is current.
        match unsafe { sys::cuMemAlloc_v2(&mut at, bytes.max(1)) } {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => Err(Fault::OutOfMemory { bytes }),
            code => check("allocate memory", code).map(|()| Address(at)),
        }
    }

    unsafe fn free(&self, at: Address) {
        // A lost device has no memory to free.
        if self.wait().is_ok() {
            // SAFETY: as of the caller; nothing that is queued uses it any more.
            let _ = unsafe { sys::cuMemFree_v2(at.0) };
        }
    }

    unsafe fn to_device(&self, to: Address, from: &[u8]) -> Result<(), Fault> {
        self.context.enter()?;
        // SAFETY: as of the caller.
        unsafe { self.staging.to_device(to, from) }
    }

    unsafe fn to_host(&self, to: &mut [u8], from: Address) -> Result<(), Fault> {
        self.context.enter()?;
        // SAFETY: as of the caller.
        unsafe { self.staging.to_host(to, from) }
    }

    unsafe fn copy(&self, to: Address, from: Address, bytes: usize) -> Result<(), Fault> {
        if bytes == 0 {
            return Ok(());
        }
        self.context.enter()?;
        // SAFETY: as of the caller.
        let code = unsafe { sys::cuMemcpyDtoDAsync_v2(to.0, from.0, bytes, self.context.stream) };
        check("copy its memory", code)
    }

    unsafe fn fill(&self, at: Address, bytes: usize, value: u8) -> Result<(), Fault> {
        if bytes == 0 {
            return Ok(());
        }
        self.context.enter()?;
        // SAFETY: as of the caller.
        let code = unsafe { sys::cuMemsetD8Async(at.0, value, bytes, self.context.stream) };
        check("fill memory", code)
    }

    fn load(&self, cubin: &Cubin, kernel: &str) -> Result<Function, Fault> {
        self.context.enter()?;
        let name = CString::new(kernel);
        let name = name.map_err(|_| Fault::Refused(format!("no kernel is called {kernel:?}")))?;
        let module = Module::load(&self.context, cubin)?;
        let mut function = null_mut();
        // SAFETY: the module is loaded, the name ends with zero.
        check("find a kernel in its code", unsafe {
            sys::cuModuleGetFunction(&mut function, module.handle(), name.as_ptr())
        })?;
        let of = |attribute| {
            let mut value = 0;
            // SAFETY: the function is the module's, which is loaded.
            let code = unsafe { sys::cuFuncGetAttribute(&mut value, attribute, function) };
            check("tell a kernel's resources", code).map(|()| count(value))
        };
        let needs = Needs {
            registers: of(Of::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            shared: of(Of::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            local: of(Of::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            threads: of(Of::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        };
        let _module = module;
        Ok(Function::new(needs, LoadedKernel { function, _module }))
    }

    fn blocks_at_once(&self, function: &Function, threads: u32) -> Result<u32, Fault> {
        self.context.enter()?;
        let kernel: &LoadedKernel = function.made()?;
        let threads = i32::try_from(threads).unwrap_or(i32::MAX);
        let mut blocks = 0;
        // SAFETY: the function is loaded as long as it is there.
        check("tell how many blocks it runs at once", unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks,
                kernel.function,
                threads,
                0,
            )
        })?;
        Ok(count(blocks))
    }

    unsafe fn launch(
        &self,
        function: &Function,
        blocks: u32,
        threads: u32,
        params: &[&[u8]],
    ) -> Result<(), Fault> {
        self.context.enter()?;
        let kernel: &LoadedKernel = function.made()?;
        let address = |p: &&[u8]| p.as_ptr().cast::<c_void>().cast_mut();
        let mut params: Vec<*mut c_void> = params.iter().map(address).collect();
        let one: c_uint = 1;
        // SAFETY: the function is loaded; its parameters are as long as it has them, and are read before this returns.
        check("start a kernel", unsafe {
            sys::cuLaunchKernel(
                kernel.function,
                blocks,
                one,
                one,
                threads,
                one,
                one,
                0,
                self.context.stream,
                params.as_mut_ptr(),
                null_mut(),
            )
        })
    }

    fn wait(&self) -> Result<(), Fault> {
        self.context.enter()?;
        self.context.wait()
    }

    fn mark(&self) -> Result<Mark, Fault> {
        self.context.enter()?;
        let event = Event::timed(&self.context)?;
        event.record()?;
        Ok(Mark::new(event))
    }

    fn elapsed(&self, from: &Mark, to: &Mark) -> Result<Duration, Fault> {
        self.context.enter()?;
        let (from, to): (&Event, &Event) = (from.made()?, to.made()?);
        to.wait()?;
        let milliseconds = to.since(from)?;
        Ok(Duration::try_from_secs_f32(milliseconds / 1e3).unwrap_or_default())
    }

    fn words(&self, count: usize) -> Result<Words, Fault> {
        self.context.enter()?;
        let none = || Fault::OutOfMemory { bytes: usize::MAX };
        let bytes = count.max(1).checked_mul(8).ok_or_else(none)?;
        let pinned = Pinned::new(&self.context, bytes)?;
        // SAFETY: the memory is that long, and nobody else has it yet.
        unsafe { pinned.at().write_bytes(0, bytes) };
        let at = NonNull::new(pinned.at().cast());
        let at = at.ok_or_else(|| Fault::Refused("the driver gave no memory".into()))?;
        let address = pinned.address()?;
        // SAFETY: they are zero, they live as long as what is pinned, and begin at a page.
        Ok(unsafe { Words::new(address, at, count, pinned) })
    }
}
