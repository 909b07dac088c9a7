//! A driver without a device, which counts calls and fails on demand.
//!
//! Addresses are those of the host. Queued work is done at once, or as late as possible if a test
//! requests that. A kernel's fault is then reported by a later call, and by all that follow.

use crate::memory::Memory;
use livefusion_cuda::driver::cubin::Cubin;
use livefusion_cuda::driver::{Address, Device, Driver, Fault, Function, Mark, Needs, Words};
use std::collections::BTreeMap;
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Lists the calls of the driver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Call {
    /// Allocates memory.
    Allocate,
    /// Frees memory.
    Free,
    /// Copies bytes to the device.
    ToDevice,
    /// Copies bytes from the device.
    ToHost,
    /// Copies bytes within the device.
    Copy,
    /// Sets bytes to one value.
    Fill,
    /// Loads a kernel.
    Load,
    /// Runs a kernel.
    Launch,
    /// Waits for all queued work.
    Wait,
    /// Puts a mark into the queue.
    Mark,
    /// Allocates words of the host.
    Words,
}

/// Loads kernels.
pub trait Kernels: Send + Sync {
    /// Loads a kernel by name.
    ///
    /// # Errors
    ///
    /// Describes the fault in the code.
    fn load(&self, cubin: &Cubin, name: &str) -> Result<Arc<dyn Run>, Fault>;

    /// Returns the number of blocks that one multiprocessor runs at once.
    fn blocks_at_once(&self, threads: u32) -> u32 {
        2048 / threads.max(1)
    }
}

/// Runs a kernel.
pub trait Run: Send + Sync {
    /// Runs `blocks` blocks of `threads` threads, with the kernel's parameters.
    ///
    /// # Errors
    ///
    /// Returns the kernel's fault.
    fn run(
        &self,
        memory: &mut Memory,
        blocks: u32,
        threads: u32,
        params: &[&[u8]],
    ) -> Result<(), Fault>;
}

/// Runs a kernel: its name, number of blocks and threads, its parameters.
type Play = dyn Fn(&str, u32, u32, &[&[u8]]) -> Result<(), Fault> + Send + Sync;

/// Kernels whose code is a function of a test.
struct Played(Arc<Play>);

/// One of these kernels.
struct PlayedKernel {
    name: String,
    play: Arc<Play>,
}

impl Kernels for Played {
    fn load(&self, _: &Cubin, name: &str) -> Result<Arc<dyn Run>, Fault> {
        Ok(Arc::new(PlayedKernel {
            name: name.into(),
            play: self.0.clone(),
        }))
    }
}

impl Run for PlayedKernel {
    fn run(
        &self,
        _: &mut Memory,
        blocks: u32,
        threads: u32,
        params: &[&[u8]],
    ) -> Result<(), Fault> {
        (self.play)(&self.name, blocks, threads, params)
    }
}

/// Simulates the driver.
pub struct Stub {
    device: Device,
    state: Mutex<State>,
    kernels: Box<dyn Kernels>,
    /// The number of loaded kernels.
    pub loaded: Arc<AtomicUsize>,
}

#[derive(Default)]
struct State {
    memory: Memory,
    calls: BTreeMap<Call, u64>,
    /// Injected faults, by call and its number.
    fails: BTreeMap<(Call, u64), Fault>,
    /// The fault of every call.
    lost: Option<Fault>,
    marks: u32,
    /// Deferred work, if deferral is on.
    queue: Option<Vec<Queued>>,
}

/// Deferrable work.
enum Queued {
    Write(Address, Vec<u8>),
    Copy(Address, Address, usize),
    Fill(Address, usize, u8),
    Run(Arc<dyn Run>, u32, u32, Vec<Vec<u8>>),
}

impl Queued {
    fn go(self, memory: &mut Memory) -> Result<(), Fault> {
        match self {
            Queued::Write(to, from) => memory.write(to, &from),
            Queued::Copy(to, from, bytes) => memory.copy(to, from, bytes),
            Queued::Fill(at, bytes, value) => memory.fill(at, bytes, value),
            Queued::Run(kernel, blocks, threads, params) => {
                let params: Vec<&[u8]> = params.iter().map(|p| &p[..]).collect();
                kernel.run(memory, blocks, threads, &params)
            }
        }
    }
}

impl State {
    /// Queues work, or does it at once.
    fn put(&mut self, queued: Queued) -> Result<(), Fault> {
        match &mut self.queue {
            Some(queue) => {
                queue.push(queued);
                Ok(())
            }
            None => queued.go(&mut self.memory),
        }
    }

    /// Does all deferred work.
    fn catch_up(&mut self) -> Result<(), Fault> {
        let queue = self.queue.as_mut().map(std::mem::take);
        for queued in queue.unwrap_or_default() {
            if let Err(fault) = queued.go(&mut self.memory) {
                self.lost = Some(fault.clone());
                return Err(fault);
            }
        }
        self.memory.settle();
        Ok(())
    }
}

/// The driver's own part of a function.
struct Loaded {
    kernel: Arc<dyn Run>,
    count: Arc<AtomicUsize>,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns a device error with this driver name.
pub fn error(name: &str) -> Fault {
    Fault::Device {
        doing: "run a test's request",
        name: name.into(),
        text: "as the test has it".into(),
    }
}

impl Stub {
    /// Creates a device with a gigabyte, whose kernels do nothing.
    pub fn new() -> Arc<Stub> {
        Stub::with(1 << 30, |_, _, _, _| Ok(()))
    }

    /// Creates a device with `memory` bytes, whose kernels run `play`.
    pub fn with(
        memory: u64,
        play: impl Fn(&str, u32, u32, &[&[u8]]) -> Result<(), Fault> + Send + Sync + 'static,
    ) -> Arc<Stub> {
        Stub::of(memory, Box::new(Played(Arc::new(play))))
    }

    /// Creates a device with `memory` bytes and a kernel loader.
    pub fn of(memory: u64, kernels: Box<dyn Kernels>) -> Arc<Stub> {
        Arc::new(Stub {
            device: Device {
                name: "stub".into(),
                capability: (9, 0),
                multiprocessors: 2,
                memory,
                bandwidth: None,
            },
            state: Mutex::default(),
            kernels,
            loaded: Arc::default(),
        })
    }

    /// Makes the `nth` call from now fail.
    ///
    /// The next call has `nth` 1.
    pub fn fail(&self, call: Call, nth: u64, fault: Fault) {
        let nth = self.calls(call) + nth;
        self.state().fails.insert((call, nth), fault);
    }

    /// Makes every call fail from now on.
    pub fn lose(&self, fault: Fault) {
        self.state().lost = Some(fault);
    }

    /// Defers queued work until a wait, from now on.
    pub fn be_late(&self) {
        self.state().queue = Some(Vec::new());
    }

    /// Returns how often a call was made.
    pub fn calls(&self, call: Call) -> u64 {
        self.state().calls.get(&call).copied().unwrap_or(0)
    }

    /// Returns the number of allocated blocks.
    pub fn blocks(&self) -> usize {
        self.state().memory.blocks()
    }

    /// Returns the number of unwritten bytes that the host read.
    pub fn unwritten(&self) -> u64 {
        self.state().memory.unwritten
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call, which may have to fail.
    fn begin(&self, call: Call) -> Result<MutexGuard<'_, State>, Fault> {
        let mut state = self.state();
        let nth = state.calls.entry(call).or_default();
        *nth += 1;
        let nth = *nth;
        match state.fails.remove(&(call, nth)).or(state.lost.clone()) {
            Some(fault) => Err(fault),
            None => Ok(state),
        }
    }
}

impl Driver for Stub {
    fn device(&self) -> &Device {
        &self.device
    }

    fn allocate(&self, bytes: usize) -> Result<Address, Fault> {
        let mut state = self.begin(Call::Allocate)?;
        let more = Memory::rounded(bytes);
        if state.memory.bytes().saturating_add(more) as u64 > self.device.memory {
            return Err(Fault::OutOfMemory { bytes });
        }
        Ok(state.memory.allocate(more))
    }

    unsafe fn free(&self, at: Address) {
        if let Ok(mut state) = self.begin(Call::Free) {
            // The next call reports the fault.
            let _ = state.catch_up();
            let freed = state.memory.free(at);
            assert!(freed, "{at:?} was freed, and was not allocated");
        }
    }

    unsafe fn to_device(&self, to: Address, from: &[u8]) -> Result<(), Fault> {
        self.begin(Call::ToDevice)?
            .put(Queued::Write(to, from.to_vec()))
    }

    unsafe fn to_host(&self, to: &mut [u8], from: Address) -> Result<(), Fault> {
        let mut state = self.begin(Call::ToHost)?;
        state.catch_up()?;
        state.memory.read(to, from)
    }

    unsafe fn copy(&self, to: Address, from: Address, bytes: usize) -> Result<(), Fault> {
        self.begin(Call::Copy)?.put(Queued::Copy(to, from, bytes))
    }

    unsafe fn fill(&self, at: Address, bytes: usize, value: u8) -> Result<(), Fault> {
        self.begin(Call::Fill)?.put(Queued::Fill(at, bytes, value))
    }

    fn load(&self, cubin: &Cubin, name: &str) -> Result<Function, Fault> {
        drop(self.begin(Call::Load)?);
        let kernel = self.kernels.load(cubin, name)?;
        self.loaded.fetch_add(1, Ordering::Relaxed);
        let needs = Needs {
            registers: 32,
            threads: 1024,
            ..Needs::default()
        };
        let loaded = Loaded {
            kernel,
            count: self.loaded.clone(),
        };
        Ok(Function::new(needs, loaded))
    }

    fn blocks_at_once(&self, function: &Function, threads: u32) -> Result<u32, Fault> {
        function.made::<Loaded>()?;
        Ok(self.kernels.blocks_at_once(threads))
    }

    unsafe fn launch(
        &self,
        function: &Function,
        blocks: u32,
        threads: u32,
        params: &[&[u8]],
    ) -> Result<(), Fault> {
        let loaded: &Loaded = function.made()?;
        let kernel = loaded.kernel.clone();
        let params = params.iter().map(|p| p.to_vec()).collect();
        self.begin(Call::Launch)?
            .put(Queued::Run(kernel, blocks, threads, params))
    }

    fn wait(&self) -> Result<(), Fault> {
        self.begin(Call::Wait)?.catch_up()
    }

    fn mark(&self) -> Result<Mark, Fault> {
        let mut state = self.begin(Call::Mark)?;
        state.marks += 1;
        Ok(Mark::new(state.marks))
    }

    /// Returns one millisecond per mark.
    fn elapsed(&self, from: &Mark, to: &Mark) -> Result<Duration, Fault> {
        let (from, to): (&u32, &u32) = (from.made()?, to.made()?);
        self.state().catch_up()?;
        Ok(Duration::from_millis(to.saturating_sub(*from).into()))
    }

    fn words(&self, count: usize) -> Result<Words, Fault> {
        let mut state = self.begin(Call::Words)?;
        let words: Arc<[AtomicU64]> = (0..count).map(|_| AtomicU64::new(0)).collect();
        state.memory.know(&words);
        let at = NonNull::from(&words[..]).cast::<AtomicU64>();
        let address = Address(at.as_ptr() as u64);
        // SAFETY: there are `count` words, which live as long as the owner; kernels run before a
        // launch returns.
        Ok(unsafe { Words::new(address, at, count, words) })
    }
}

impl fmt::Debug for Stub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stub({} bytes)", self.device.memory)
    }
}
