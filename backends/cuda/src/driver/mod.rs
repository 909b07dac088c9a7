//! Devices, as the runtime uses them: memory, copies, kernels, and one queue in which all of it happens in order.
//!
//! | module | room for |
//! | --- | --- |
//! | `fault` | what can go wrong |
//! | [`cuda`] | the driver of NVIDIA's devices |
//! | [`pool`] | memory of a device that is used again, as values that own it |
//! | [`cubin`] | a kernel's machine code, and what its compiler said of it |
//! | [`nvrtc`] | NVIDIA's compiler: finding it, running it |
//! | [`cubins`] | from text to machine code: out of the cache on disk, else by the compiler |
//!
//! A [`Driver`] is one device and one queue. What is asked of it happens in the order in which it was asked for, so
//! nobody waits but who reads. Any thread may ask; what several ask at once has some order.
//!
//! Addresses are numbers, and a driver cannot tell whose memory they are of. So what takes one is `unsafe`;
//! [`Memory`](pool::Memory) is how safe code has some.

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

/// The architecture that code is for where there is no device.
pub const ARCHITECTURE: &str = "sm_90";

/// A place in a device's memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Address(pub u64);

impl Address {
    /// The place so many bytes further on.
    #[must_use]
    pub fn after(self, bytes: usize) -> Address {
        Address(self.0.wrapping_add(bytes as u64))
    }
}

/// What a device is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Device {
    /// What its maker calls it.
    pub name: String,
    /// What its processors can do: 9, 0 of an H100.
    pub capability: (u32, u32),
    /// How many processors it has, each of which runs several blocks at once.
    pub multiprocessors: u32,
    /// How many bytes of memory it has.
    pub memory: u64,
    /// How many bytes a second its memory gives at most, where the driver tells.
    pub bandwidth: Option<u64>,
}

impl Device {
    /// Its architecture, as compilers name it: `sm_90`.
    pub fn architecture(&self) -> String {
        format!("sm_{}{}", self.capability.0, self.capability.1)
    }
}

/// A device and its queue.
///
/// What a call queues may fail later: the fault is then that of a later call, and of all that follow.
pub trait Driver: Send + Sync + fmt::Debug {
    /// What the device is.
    fn device(&self) -> &Device;

    /// Memory of so many bytes, whatever is in them. It begins at a multiple of 256.
    fn allocate(&self, bytes: usize) -> Result<Address, Fault>;

    /// Gives memory back, when what is queued has been done.
    ///
    /// # Safety
    /// It was [allocated](Driver::allocate) here, and nobody uses it any more.
    unsafe fn free(&self, at: Address);

    /// Copies bytes to the device. They have been read when this returns, and are there for whatever is queued next.
    ///
    /// # Safety
    /// The device's memory from `to` on has so many bytes.
    unsafe fn to_device(&self, to: Address, from: &[u8]) -> Result<(), Fault>;

    /// Copies bytes from the device, as they are when all that is queued has been done. It waits for them.
    ///
    /// # Safety
    /// The device's memory from `from` on has so many bytes.
    unsafe fn to_host(&self, to: &mut [u8], from: Address) -> Result<(), Fault>;

    /// Copies bytes within the device.
    ///
    /// # Safety
    /// The device's memory from `to` on and from `from` on has so many bytes, and none of them are the same.
    unsafe fn copy(&self, to: Address, from: Address, bytes: usize) -> Result<(), Fault>;

    /// Gives each of so many bytes one value.
    ///
    /// # Safety
    /// The device's memory from `at` on has so many bytes.
    unsafe fn fill(&self, at: Address, bytes: usize, value: u8) -> Result<(), Fault>;

    /// Loads a kernel.
    fn load(&self, cubin: &Cubin, kernel: &str) -> Result<Function, Fault>;

    /// How many blocks of so many threads one multiprocessor runs at once.
    fn blocks_at_once(&self, function: &Function, threads: u32) -> Result<u32, Fault>;

    /// Queues a kernel: so many blocks, at least one, of so many threads, with the bytes of its parameters one by one.
    ///
    /// # Safety
    /// The parameters are those of the kernel, and as long; what the kernel does with them stays within memory of the
    /// device, or [words](Driver::words), that nobody frees or reads before the kernel has ended.
    unsafe fn launch(
        &self,
        function: &Function,
        blocks: u32,
        threads: u32,
        params: &[&[u8]],
    ) -> Result<(), Fault>;

    /// Waits until all that is queued has been done.
    fn wait(&self) -> Result<(), Fault>;

    /// A mark in the queue, whose time is when all before it has been done.
    fn mark(&self) -> Result<Mark, Fault>;

    /// How long it took from one mark to a later one. It waits for the later one.
    fn elapsed(&self, from: &Mark, to: &Mark) -> Result<Duration, Fault>;

    /// Words of the host, all zero, which kernels can write and read.
    fn words(&self, count: usize) -> Result<Words, Fault>;
}

/// What makes machine code of a text.
pub trait Compiler: Send + Sync + fmt::Debug {
    /// The machine code of a text for an architecture.
    ///
    /// # Errors
    /// [`Fault::Compiler`], with what the compiler says.
    fn compile(&self, text: &str, architecture: &str) -> Result<Cubin, Fault>;

    /// What became of the files that it made.
    fn disk_use(&self) -> DiskUse {
        DiskUse::default()
    }
}

/// A loaded kernel. It is unloaded when it is dropped, and when what is queued has been done.
pub struct Function {
    /// What it takes of a device.
    pub needs: Needs,
    made: Box<dyn Any + Send + Sync>,
}

/// What a loaded kernel takes of a device.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Needs {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory of a block.
    pub shared: u32,
    /// Bytes of memory of its own that a thread has: its stack, and registers that are spilled.
    pub local: u32,
    /// The most threads that a block may have.
    pub threads: u32,
}

impl Function {
    /// A kernel, and the driver's own part of it.
    pub fn new(needs: Needs, made: impl Any + Send + Sync) -> Function {
        Function {
            needs,
            made: Box::new(made),
        }
    }

    /// The driver's own part, if it is that driver's.
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

/// A mark in a driver's queue.
pub struct Mark(Box<dyn Any + Send + Sync>);

impl Mark {
    /// A mark, which is the driver's own.
    pub fn new(made: impl Any + Send + Sync) -> Mark {
        Mark(Box::new(made))
    }

    /// The driver's own, if it is that driver's.
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

/// Words of the host that kernels write and read, too: the host reads them behind a [`wait`](Driver::wait), without a
/// copy. They are freed when what is queued has been done, for which dropping them waits; so they had better be kept.
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
    /// So many words from `at` on, which kernels see at an address.
    ///
    /// # Safety
    /// They have values, they live as long as their owner does, and nobody writes to them other than atomically or by
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

    /// Where kernels see them.
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
