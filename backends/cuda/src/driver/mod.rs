//! Devices as the runtime uses them: memory, copies, kernels, and one ordered queue.
//!
//! | module | contents |
//! | --- | --- |
//! | `fault` | errors |
//! | [`cuda`] | the driver of NVIDIA's devices |
//! | [`pool`] | recycled device memory, as values that own it |
//! | [`cubin`] | a kernel's machine code, with its compiler's log |
//! | [`nvrtc`] | NVIDIA's compiler: finding it, running it |
//! | [`cubins`] | from text to machine code: through the cache on disk, else the compiler |
//!
//! A [`Driver`] is one device and one queue. Requests run in order, so only reads wait. Any thread
//! may make requests. Concurrent requests run in some order.
//!
//! Addresses are numbers, and a driver does not know the owner of their memory. So functions with
//! addresses are `unsafe`. Safe code owns [`Memory`](pool::Memory).

pub mod cubin;
pub mod cubins;
pub mod cuda;
mod fault;
pub mod nvrtc;
pub mod pool;

pub use fault::Fault;

use cubin::Cubin;
use livefusion_backend::DiskUse;
use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// Names the default architecture without a device.
pub const ARCHITECTURE: &str = "sm_90";

/// Holds an address in a device's memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Address(pub u64);

impl Address {
    /// Returns the address `bytes` bytes further on.
    #[must_use]
    pub fn after(self, bytes: usize) -> Address {
        Address(self.0.wrapping_add(bytes as u64))
    }
}

/// Describes a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Its compute capability: 9, 0 for an H100.
    pub capability: (u32, u32),
    /// The number of its multiprocessors. Each runs several blocks at once.
    pub multiprocessors: u32,
    /// Its memory in bytes.
    pub memory: u64,
    /// Its memory bandwidth in bytes per second, where the driver reports it.
    pub bandwidth: Option<u64>,
}

impl Device {
    /// Returns its architecture in the compilers' notation (`sm_90`).
    pub fn architecture(&self) -> String {
        format!("sm_{}{}", self.capability.0, self.capability.1)
    }
}

/// Controls a device and its queue.
///
/// Queued work may fail later. Then a later call reports the fault, and so do all that follow.
pub trait Driver: Send + Sync + fmt::Debug {
    /// Describes the device.
    fn device(&self) -> &Device;

    /// Allocates uninitialised memory. Its address is a multiple of 256.
    fn allocate(&self, bytes: usize) -> Result<Address, Fault>;

    /// Frees memory after all queued work.
    ///
    /// # Safety
    ///
    /// It was [allocated](Driver::allocate) here, and nobody uses it any more.
    unsafe fn free(&self, at: Address);

    /// Copies bytes to the device.
    ///
    /// They have been read on return, and are visible to all work queued later.
    ///
    /// # Safety
    ///
    /// The device's memory from `to` on has as many bytes.
    unsafe fn to_device(&self, to: Address, from: &[u8]) -> Result<(), Fault>;

    /// Copies bytes from the device, after all queued work. It waits for that work.
    ///
    /// # Safety
    ///
    /// The device's memory from `from` on has as many bytes.
    unsafe fn to_host(&self, to: &mut [u8], from: Address) -> Result<(), Fault>;

    /// Copies bytes within the device.
    ///
    /// # Safety
    ///
    /// The device's memory from `to` on and from `from` on has as many bytes, and the ranges do not
    /// overlap.
    unsafe fn copy(&self, to: Address, from: Address, bytes: usize) -> Result<(), Fault>;

    /// Sets bytes to one value.
    ///
    /// # Safety
    ///
    /// The device's memory from `at` on has as many bytes.
    unsafe fn fill(&self, at: Address, bytes: usize, value: u8) -> Result<(), Fault>;

    /// Loads a kernel.
    fn load(&self, cubin: &Cubin, kernel: &str) -> Result<Function, Fault>;

    /// Returns the number of blocks of `threads` threads that one multiprocessor runs at once.
    fn blocks_at_once(&self, function: &Function, threads: u32) -> Result<u32, Fault>;

    /// Queues a kernel with at least one block.
    ///
    /// `params` holds the bytes of each parameter.
    ///
    /// # Safety
    ///
    /// The parameters must match the kernel's in number and length. The kernel must access only
    /// memory of the device or [words](Driver::words). Nobody may free or read these before the
    /// kernel has ended.
    unsafe fn launch(
        &self,
        function: &Function,
        blocks: u32,
        threads: u32,
        params: &[&[u8]],
    ) -> Result<(), Fault>;

    /// Waits for all queued work.
    fn wait(&self) -> Result<(), Fault>;

    /// Puts a mark into the queue. Its time is the end of all work before it.
    fn mark(&self) -> Result<Mark, Fault>;

    /// Returns the time from one mark to a later one. Waits for the later one.
    fn elapsed(&self, from: &Mark, to: &Mark) -> Result<Duration, Fault>;

    /// Allocates zeroed words of the host, which kernels can read and write.
    fn words(&self, count: usize) -> Result<Words, Fault>;
}

/// Compiles text to machine code.
pub trait Compiler: Send + Sync + fmt::Debug {
    /// Compiles a text for an architecture.
    ///
    /// # Errors
    ///
    /// [`Fault::Compiler`], with the compiler's log.
    fn compile(&self, text: &str, architecture: &str) -> Result<Cubin, Fault>;

    /// Returns the statistics of compiled files.
    fn disk_use(&self) -> DiskUse {
        DiskUse::default()
    }
}

/// Holds a loaded kernel.
///
/// On drop it is unloaded after all queued work.
pub struct Function {
    /// Its resource needs.
    pub needs: Needs,
    made: Box<dyn Any + Send + Sync>,
}

/// Describes the resource needs of a loaded kernel.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Needs {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory of a block.
    pub shared: u32,
    /// Bytes of local memory of a thread: its stack, and spilled registers.
    pub local: u32,
    /// The maximal number of threads of a block.
    pub threads: u32,
}

impl Function {
    /// Wraps the driver's own part of a kernel.
    pub fn new(needs: Needs, made: impl Any + Send + Sync) -> Function {
        Function {
            needs,
            made: Box::new(made),
        }
    }

    /// Returns the driver's own part, if its type matches.
    pub fn made<T: Any>(&self) -> Result<&T, Fault> {
        let foreign = || Fault::Refused("the kernel was loaded by another driver".into());
        self.made.downcast_ref().ok_or_else(foreign)
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function")
            .field("needs", &self.needs)
            .finish_non_exhaustive()
    }
}

/// Holds a mark in a driver's queue.
pub struct Mark(Box<dyn Any + Send + Sync>);

impl Mark {
    /// Wraps the driver's own mark.
    pub fn new(made: impl Any + Send + Sync) -> Mark {
        Mark(Box::new(made))
    }

    /// Returns the driver's own mark, if its type matches.
    pub fn made<T: Any>(&self) -> Result<&T, Fault> {
        let foreign = || Fault::Refused("the mark was made by another driver".into());
        self.0.downcast_ref().ok_or_else(foreign)
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mark")
    }
}

/// Holds host words that kernels read and write, too.
///
/// The host reads them after a [`wait`](Driver::wait), without a copy. Dropping them waits for all
/// queued work. So they should be kept for reuse.
pub struct Words {
    address: Address,
    at: NonNull<AtomicU64>,
    count: usize,
    _owner: Box<dyn Any + Send + Sync>,
}

// SAFETY: the words are atomic, and their owner may be sent and shared.
unsafe impl Send for Words {}
// SAFETY: as above.
unsafe impl Sync for Words {}

impl Words {
    /// Wraps `count` words from `at` on, at `address` for kernels.
    ///
    /// # Safety
    ///
    /// The words are initialised and live as long as their owner. All other writes are atomic or by
    /// kernels.
    pub unsafe fn new(
        address: Address,
        at: NonNull<AtomicU64>,
        count: usize,
        owner: impl Any + Send + Sync,
    ) -> Words {
        Words {
            address,
            at,
            count,
            _owner: Box::new(owner),
        }
    }

    /// Returns the address for kernels.
    pub fn address(&self) -> Address {
        self.address
    }
}

impl Deref for Words {
    type Target = [AtomicU64];

    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: as of `new`.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.count) }
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Words({:?}, {})", self.address, self.count)
    }
}
