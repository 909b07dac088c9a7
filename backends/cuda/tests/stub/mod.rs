//! A driver without a device: memory is the host's, what is queued is done at once, calls are counted, and fail where a
//! test wants them to. Addresses are those of the host, so that kernels which are compiled for the shim can run on
//! them.
#![allow(dead_code)]

use livefusion_cuda::driver::cubin::Cubin;
use livefusion_cuda::driver::{Address, Device, Driver, Fault, Function, Mark, Needs, Words};
use std::collections::BTreeMap;
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// A call of the driver's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Call {
    Allocate,
    Free,
    ToDevice,
    ToHost,
    Copy,
    Fill,
    Load,
    Launch,
    Wait,
    Mark,
    Words,
}

/// What is in memory that nobody has written to.
pub const POISON: u8 = 0xcd;

/// Runs a kernel: its name, how many blocks and threads, its parameters.
type Run = dyn Fn(&str, u32, u32, &[&[u8]]) -> Result<(), Fault> + Send + Sync;

/// The driver.
pub struct Stub {
    device: Device,
    state: Mutex<State>,
    run: Box<Run>,
    /// How many kernels are loaded.
    pub loaded: Arc<AtomicUsize>,
}

#[derive(Default)]
struct State {
    /// Memory that is allocated, by where it begins.
    blocks: BTreeMap<u64, Box<[Line]>>,
    calls: BTreeMap<Call, u64>,
    /// What fails: the call of which number, and how.
    fails: BTreeMap<(Call, u64), Fault>,
    /// What every call fails with.
    lost: Option<Fault>,
    marks: u32,
}

/// Memory begins at multiples of this.
#[derive(Clone)]
#[repr(align(256))]
struct Line([u8; 256]);

/// The driver's own part of a function.
struct Loaded {
    name: String,
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
        run: impl Fn(&str, u32, u32, &[&[u8]]) -> Result<(), Fault> + Send + Sync + 'static,
    ) -> Arc<Stub> {
        Arc::new(Stub {
            device: Device {
                name: "stub".into(),
                capability: (9, 0),
                multiprocessors: 2,
                memory,
                bandwidth: None,
            },
            state: Mutex::default(),
            run: Box::new(run),
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

    /// How often it was called so.
    pub fn calls(&self, call: Call) -> u64 {
        self.state().calls.get(&call).copied().unwrap_or(0)
    }

    /// How many blocks are allocated.
    pub fn blocks(&self) -> usize {
        self.state().blocks.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test fails with it")
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

impl State {
    /// The bytes at an address; a fault if they are not all of one block.
    fn at(&self, at: Address, bytes: usize) -> Result<*mut u8, Fault> {
        let below = self.blocks.range(..=at.0).next_back();
        let inside = below.is_some_and(|(start, block)| {
            (at.0 - start) as usize + bytes <= size_of_val::<[Line]>(block)
        });
        match inside || bytes == 0 {
            true => Ok(at.0 as *mut u8),
            false => Err(error("CUDA_ERROR_ILLEGAL_ADDRESS")),
        }
    }

    fn bytes(&self) -> usize {
        let sizes = self.blocks.values().map(|b| size_of_val::<[Line]>(b));
        sizes.sum()
    }
}

impl Driver for Stub {
    fn device(&self) -> &Device {
        &self.device
    }

    fn allocate(&self, bytes: usize) -> Result<Address, Fault> {
        let mut state = self.begin(Call::Allocate)?;
        let lines = bytes.div_ceil(size_of::<Line>()).max(1);
        let more = lines.saturating_mul(size_of::<Line>());
        if state.bytes().saturating_add(more) as u64 > self.device.memory {
            return Err(Fault::OutOfMemory { bytes });
        }
        let mut block = vec![Line([POISON; 256]); lines].into_boxed_slice();
        let at = block.as_mut_ptr() as u64;
        state.blocks.insert(at, block);
        Ok(Address(at))
    }

    unsafe fn free(&self, at: Address) {
        if let Ok(mut state) = self.begin(Call::Free) {
            let freed = state.blocks.remove(&at.0);
            assert!(freed.is_some(), "{at:?} was freed, and was not allocated");
        }
    }

    unsafe fn to_device(&self, to: Address, from: &[u8]) -> Result<(), Fault> {
        let state = self.begin(Call::ToDevice)?;
        let to = state.at(to, from.len())?;
        // SAFETY: a block has these bytes, and nobody else writes to them while the state is held.
        unsafe { to.copy_from(from.as_ptr(), from.len()) };
        Ok(())
    }

    unsafe fn to_host(&self, to: &mut [u8], from: Address) -> Result<(), Fault> {
        let state = self.begin(Call::ToHost)?;
        let from = state.at(from, to.len())?;
        // SAFETY: as above.
        unsafe { to.as_mut_ptr().copy_from(from, to.len()) };
        Ok(())
    }

    unsafe fn copy(&self, to: Address, from: Address, bytes: usize) -> Result<(), Fault> {
        let state = self.begin(Call::Copy)?;
        let (to, from) = (state.at(to, bytes)?, state.at(from, bytes)?);
        // SAFETY: as above.
        unsafe { to.copy_from(from, bytes) };
        Ok(())
    }

    unsafe fn fill(&self, at: Address, bytes: usize, value: u8) -> Result<(), Fault> {
        let state = self.begin(Call::Fill)?;
        let at = state.at(at, bytes)?;
        // SAFETY: as above.
        unsafe { at.write_bytes(value, bytes) };
        Ok(())
    }

    fn load(&self, _: &Cubin, kernel: &str) -> Result<Function, Fault> {
        drop(self.begin(Call::Load)?);
        self.loaded.fetch_add(1, Ordering::Relaxed);
        let needs = Needs {
            registers: 32,
            threads: 1024,
            ..Needs::default()
        };
        let loaded = Loaded {
            name: kernel.into(),
            count: self.loaded.clone(),
        };
        Ok(Function::new(needs, loaded))
    }

    fn blocks_at_once(&self, function: &Function, threads: u32) -> Result<u32, Fault> {
        function.made::<Loaded>()?;
        Ok(2048 / threads.max(1))
    }

    unsafe fn launch(
        &self,
        function: &Function,
        blocks: u32,
        threads: u32,
        params: &[&[u8]],
    ) -> Result<(), Fault> {
        let loaded: &Loaded = function.made()?;
        drop(self.begin(Call::Launch)?);
        (self.run)(&loaded.name, blocks, threads, params)
    }

    fn wait(&self) -> Result<(), Fault> {
        self.begin(Call::Wait).map(drop)
    }

    fn mark(&self) -> Result<Mark, Fault> {
        let mut state = self.begin(Call::Mark)?;
        state.marks += 1;
        Ok(Mark::new(state.marks))
    }

    /// A millisecond from mark to mark.
    fn elapsed(&self, from: &Mark, to: &Mark) -> Result<Duration, Fault> {
        let (from, to): (&u32, &u32) = (from.made()?, to.made()?);
        Ok(Duration::from_millis(to.saturating_sub(*from).into()))
    }

    fn words(&self, count: usize) -> Result<Words, Fault> {
        drop(self.begin(Call::Words)?);
        let words: Arc<[AtomicU64]> = (0..count).map(|_| AtomicU64::new(0)).collect();
        let at = NonNull::from(&words[..]).cast::<AtomicU64>();
        let address = Address(at.as_ptr() as u64);
        // SAFETY: there are so many, which live as long as the owner; kernels of tests run before a launch returns.
        Ok(unsafe { Words::new(address, at, count, words) })
    }
}

impl fmt::Debug for Stub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stub({} bytes)", self.device.memory)
    }
}
