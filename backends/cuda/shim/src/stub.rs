//! A driver without a device: memory is the host's, calls are counted, and fail where a test wants them to. Addresses are
//! those of the host. What is queued is done at once, or as late as it can where a test wants that: then a kernel's fault
//! is that of a later call, and of all that follow.

use crate::memory::Memory;
use livefusion_cuda::driver::cubin::Cubin;
use livefusion_cuda::driver::{Address, Device, Driver, Fault, Function, Mark, Needs, Words};
use std::collections::BTreeMap;
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A call of the driver's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Call {
    /// Memory is asked for.
    Allocate,
    /// Memory is given back.
    Free,
    /// Bytes go to the device.
    ToDevice,
    /// Bytes come from it.
    ToHost,
    /// Bytes are copied within it.
    Copy,
    /// Bytes are given one value.
    Fill,
    /// A kernel is loaded.
    Load,
    /// A kernel is run.
    Launch,
    /// Somebody waits for all that is queued.
    Wait,
    /// A mark is put into the queue.
    Mark,
    /// Words of the host are asked for.
    Words,
}

/// What loads kernels.
pub trait Kernels: Send + Sync {
    /// A kernel of a name.
    ///
    /// # Errors
    /// What is wrong with the code.
    fn load(&self, cubin: &Cubin, name: &str) -> Result<Arc<dyn Run>, Fault>;

    /// How many blocks one multiprocessor runs at once.
    fn blocks_at_once(&self, threads: u32) -> u32 {
        2048 / threads.max(1)
    }
}

/// What runs a kernel.
pub trait Run: Send + Sync {
    /// So many blocks of so many threads, with its parameters.
    ///
    /// # Errors
    /// What goes wrong.
    fn run(
        &self,
        memory: &mut Memory,
        blocks: u32,
        threads: u32,
        params: &[&[u8]],
    ) -> Result<(), Fault>;
}

/// Runs a kernel: its name, how many blocks and threads, its parameters.
type Play = dyn Fn(&str, u32, u32, &[&[u8]]) -> Result<(), Fault> + Send + Sync;

/// Kernels whose code is a function of a test.
struct Played(Arc<Play>);

/// One of them.
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

/// The driver.
pub struct Stub {
    device: Device,
    state: Mutex<State>,
    kernels: Box<dyn Kernels>,
    /// How many kernels are loaded.
    pub loaded: Arc<AtomicUsize>,
}

#[derive(Default)]
struct State {
    memory: Memory,
    calls: BTreeMap<Call, u64>,
    /// What fails: the call of which number, and how.
    fails: BTreeMap<(Call, u64), Fault>,
    /// What every call fails with.
    lost: Option<Fault>,
    marks: u32,
    /// What is to be done, if that is put off.
    queue: Option<Vec<Queued>>,
}

/// What may be done later.
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
    /// Does something at its time.
    fn put(&mut self, queued: Queued) -> Result<(), Fault> {
        match &mut self.queue {
            Some(queue) => {
                queue.push(queued);
                Ok(())
            }
            None => queued.go(&mut self.memory),
        }
    }

    /// Does all that was put off.
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

/// A device's error, as the driver says it.
pub fn error(name: &str) -> Fault {
    Fault::Device {
        doing: "do what a test asks",
        name: name.into(),
        text: "as the test has it".into(),
    }
}

impl Stub {
    /// A device with a gigabyte, whose kernels do nothing.
    pub fn new() -> Arc<Stub> {
        Stub::with(1 << 30, |_, _, _, _| Ok(()))
    }

    /// A device with so many bytes of memory, and what its kernels do.
    pub fn with(
        memory: u64,
        play: impl Fn(&str, u32, u32, &[&[u8]]) -> Result<(), Fault> + Send + Sync + 'static,
    ) -> Arc<Stub> {
        Stub::of(memory, Box::new(Played(Arc::new(play))))
    }

    /// A device with so many bytes of memory, and what loads its kernels.
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

    /// Lets a call fail: the next one if `nth` is 1.
    pub fn fail(&self, call: Call, nth: u64, fault: Fault) {
        let nth = self.calls(call) + nth;
        self.state().fails.insert((call, nth), fault);
    }

    /// Lets every call fail from now on.
    pub fn lose(&self, fault: Fault) {
        self.state().lost = Some(fault);
    }

    /// From now on, what is queued is done when somebody waits for it, and not before.
    pub fn be_late(&self) {
        self.state().queue = Some(Vec::new());
    }

    /// How often it was called so.
    pub fn calls(&self, call: Call) -> u64 {
        self.state().calls.get(&call).copied().unwrap_or(0)
    }

    /// How many blocks are allocated.
    pub fn blocks(&self) -> usize {
        self.state().memory.blocks()
    }

    /// How many bytes the host read that nobody wrote.
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
            // Who asks next is told what went wrong.
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

    /// A millisecond from mark to mark.
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
        // SAFETY: there are so many, which live as long as the owner; kernels run before a launch returns.
        Ok(unsafe { Words::new(address, at, count, words) })
    }
}

impl fmt::Debug for Stub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stub({} bytes)", self.device.memory)
    }
}
