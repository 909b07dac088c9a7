//! The state of a device: its memory, loaded kernels, and launch memory.

use super::memory::Arrays;
use crate::call::{Call, MAX_PUBLISHED};
use crate::driver::cubin::{Cubin, Usage};
use crate::driver::cubins::Cubins;
use crate::driver::cuda::Cuda;
use crate::driver::nvrtc::Nvrtc;
use crate::driver::pool::{Memory, Pool};
use crate::driver::{Address, Compiler, Driver, Fault, Function, Mark, Words};
use crate::emit::{Kernel, PRELUDE};
use crate::run::{KernelDevice, Launch, Launched, Room};
use livefusion_backend::{Arg, CompileError, DiskUse, Held};
use livefusion_c::cache::KernelCache;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Holds a device and its state.
///
/// All work is queued in one order, so launches may share memory.
#[derive(Debug)]
pub struct Session {
    driver: Arc<dyn Driver>,
    arrays: Arc<Arrays>,
    pool: Arc<Pool>,
    compiler: Box<dyn Compiler>,
    /// By name and text.
    loaded: Mutex<FxHashMap<String, Weak<Loaded>>>,
    scratch: Mutex<Scratch>,
    /// Words that no launch uses.
    words: Mutex<Vec<Words>>,
    /// Durations of launches, if they are measured.
    times: Mutex<Option<Vec<Duration>>>,
}

/// Holds a kernel on its device.
#[derive(Debug)]
pub struct Loaded {
    function: Function,
    usage: Option<Usage>,
    architecture: String,
    /// The number of blocks that the device runs at once.
    blocks: u64,
    /// The number of launches for one run.
    passes: usize,
}

/// Memory by which the blocks of a launch communicate. The next launch reuses it under another
/// number.
#[derive(Debug, Default)]
struct Scratch {
    number: u64,
    ticket: Option<Memory>,
    published: Option<Memory>,
}

/// The minimal number of words of a launch.
const WORDS: usize = 64;

impl Session {
    /// Opens one of NVIDIA's devices, counted from 0, with NVRTC and a cache.
    ///
    /// The cache on disk holds compiled kernels.
    ///
    /// # Errors
    ///
    /// [`Fault::Missing`] where there is no driver, no such device or no NVRTC.
    pub fn open(ordinal: u32, cache: KernelCache) -> Result<Arc<Session>, Fault> {
        let device = Arc::new(Cuda::open(ordinal)?);
        let compiler = Cubins::new(Nvrtc::find()?, cache);
        Ok(Session::new(device, Box::new(compiler)))
    }

    /// Creates a session on a device, with a compiler for it.
    pub fn new(driver: Arc<dyn Driver>, compiler: Box<dyn Compiler>) -> Arc<Session> {
        let pool = Pool::new(driver.clone());
        Arc::new(Session {
            driver,
            arrays: Arc::new(Arrays::new(pool.clone())),
            pool,
            compiler,
            loaded: Mutex::default(),
            scratch: Mutex::default(),
            words: Mutex::default(),
            times: Mutex::default(),
        })
    }

    /// Returns the device.
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    /// Returns its memory.
    pub fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// Returns the arrays on the device.
    pub fn arrays(&self) -> &Arc<Arrays> {
        &self.arrays
    }

    /// Returns the statistics of compiled kernels on disk.
    pub fn disk_use(&self) -> DiskUse {
        self.compiler.disk_use()
    }

    /// Switches the timing of launches, and returns the times so far.
    ///
    /// Timed launches wait for their end.
    pub fn time_launches(&self, on: bool) -> Vec<Duration> {
        let times = std::mem::replace(&mut *lock(&self.times), on.then(Vec::new));
        times.unwrap_or_default()
    }

    /// Compiles and loads a kernel, unless it is loaded already.
    ///
    /// # Errors
    ///
    /// Returns the error of the compiler or the device.
    pub fn load(&self, kernel: &Kernel) -> Result<Arc<Loaded>, CompileError> {
        // A text may have several kernels.
        let key = format!("{}\n{}", kernel.name, kernel.text);
        let known = lock(&self.loaded).get(&key).and_then(Weak::upgrade);
        if let Some(loaded) = known {
            return Ok(loaded);
        }
        let loaded = Arc::new(self.compiled(kernel).map_err(failed)?);
        let mut all = lock(&self.loaded);
        all.retain(|_, l| l.strong_count() > 0);
        all.insert(key, Arc::downgrade(&loaded));
        Ok(loaded)
    }

    fn compiled(&self, kernel: &Kernel) -> Result<Loaded, Fault> {
        let device = self.driver.device();
        let architecture = device.architecture();
        let cubin = self.in_registers(kernel, &architecture)?;
        let function = self.driver.load(&cubin, &kernel.name)?;
        let at_once = self.driver.blocks_at_once(&function, kernel.threads())?;
        Ok(Loaded {
            usage: cubin.usage(&kernel.name),
            function,
            architecture,
            blocks: u64::from(at_once.max(1)) * u64::from(device.multiprocessors.max(1)),
            passes: kernel.passes(u64::MAX, 1).len(),
        })
    }

    /// Compiles a kernel for as many resident blocks as its registers allow.
    ///
    /// Spilling registers is slower than running fewer blocks. Wide kernels never have enough
    /// registers, and keep their blocks.
    fn in_registers(&self, kernel: &Kernel, architecture: &str) -> Result<Cubin, Fault> {
        let compile = |blocks: &str| {
            let text = format!("{blocks}{PRELUDE}{}", kernel.text);
            self.compiler.compile(&text, architecture)
        };
        let mut cubin = compile("")?;
        for fewer in [
            "#define LF_BLOCKS(n) ((n) / 2)\n",
            "#define LF_BLOCKS(n) 1\n",
        ] {
            match cubin.usage(&kernel.name) {
                Some(usage) if usage.spill_stores > 0 && !kernel.wide => cubin = compile(fewer)?,
                _ => break,
            }
        }
        Ok(cubin)
    }

    /// Launches the loaded kernels of one loop, by number.
    pub fn launcher<'a>(&'a self, loaded: &'a [Arc<Loaded>], may_trap: bool) -> Launcher<'a> {
        Launcher {
            session: self,
            loaded,
            may_trap,
            copies: RefCell::default(),
        }
    }

    /// Takes zeroed words that no other launch uses.
    fn take_words(&self, count: usize) -> Result<Words, Fault> {
        let free = {
            let mut words = lock(&self.words);
            let at = words.iter().position(|w| w.len() >= count);
            at.map(|at| words.swap_remove(at))
        };
        free.map_or_else(|| self.driver.words(count.max(WORDS)), Ok)
    }

    fn give_words(&self, words: Words) {
        words.iter().for_each(|w| w.store(0, Ordering::Relaxed));
        lock(&self.words).push(words);
    }
}

impl Loaded {
    /// Describes its use of the device in words.
    pub fn describe(&self) -> String {
        let registers = self
            .usage
            .map_or(self.function.needs.registers, |u| u.registers);
        let mut text = format!("on {}, {registers} registers", self.architecture);
        if let Some(usage) = self.usage.filter(|u| u.spill_stores > 0) {
            text += &format!(", {} bytes spilled", usage.spill_stores);
        }
        if self.passes > 1 {
            text += &format!(", in {} passes", self.passes);
        }
        text
    }

    /// Returns the resource usage that its compiler reported.
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }
}

impl Scratch {
    /// Returns a fresh launch number, the ticket, and `published` bytes for communication between
    /// blocks.
    fn next(
        &mut self,
        pool: &Arc<Pool>,
        published: usize,
    ) -> Result<(u64, Address, Address), Fault> {
        let ticket = grown(pool, &mut self.ticket, 8)?;
        let published = grown(pool, &mut self.published, published)?;
        Ok((self.again(), ticket, published))
    }

    /// Returns the next number.
    fn again(&mut self) -> u64 {
        self.number += 1;
        self.number
    }
}

/// Returns memory of at least `bytes` bytes, zeroed before its first launch.
fn grown(pool: &Arc<Pool>, memory: &mut Option<Memory>, bytes: usize) -> Result<Address, Fault> {
    if let Some(there) = memory.as_ref().filter(|m| m.len() >= bytes) {
        return Ok(there.address());
    }
    let bytes = bytes.max(1).next_power_of_two();
    let mut new = pool.take(bytes)?;
    new.fill(0, bytes, 0)?;
    let at = new.address();
    *memory = Some(new);
    Ok(at)
}

/// Memory from the pool. It returns there after all work queued before.
struct Kept(Memory);

impl Room for Kept {
    fn address(&self) -> u64 {
        self.0.address().0
    }
}

/// Launches the kernels of one loop.
pub struct Launcher<'a> {
    session: &'a Session,
    loaded: &'a [Arc<Loaded>],
    may_trap: bool,
    /// Device copies without another owner.
    copies: RefCell<Vec<Memory>>,
}

impl KernelDevice for Launcher<'_> {
    fn argument(&self, arg: &Arg<'_>) -> Result<u64, Fault> {
        match arg {
            Arg::Far(array) => {
                let (at, copy) = self.session.arrays.address(array)?;
                self.copies.borrow_mut().extend(copy);
                Ok(at.0)
            }
            Arg::Array(_) | Arg::Scalar(_) => Err(Fault::Refused("an array is here".into())),
        }
    }

    fn made(&self, place: &mut Option<Held<'_>>) -> Result<u64, Fault> {
        let at = self.session.arrays.held(place)?;
        at.map(|at| at.0)
            .ok_or_else(|| Fault::Refused("an array was not made".into()))
    }

    fn room(&self, words: u64) -> Result<Box<dyn Room>, Fault> {
        Ok(Box::new(Kept(self.memory(words)?)))
    }

    fn zeros(&self, words: u64) -> Result<Box<dyn Room>, Fault> {
        let mut memory = self.memory(words)?;
        if words > 0 {
            memory.fill(0, words as usize * 8, 0)?;
        }
        Ok(Box::new(Kept(memory)))
    }

    fn launch(&self, launches: &[Launch<'_>]) -> Result<Vec<Launched>, Fault> {
        let session = self.session;
        let all: usize = launches.iter().map(|l| l.kernel.words() + 1).sum();
        let words = session.take_words(all)?;
        let (mut from, mut stopped) = (0, Address(0));
        for launch in launches {
            let trapped = words.address().after(from * 8);
            if let Err(fault) = self.queue(launch, trapped, stopped) {
                // The launches queued before write to the words.
                session.driver.wait()?;
                return Err(fault);
            }
            from += launch.kernel.words() + 1;
            stopped = trapped;
        }
        let waits = all > launches.len() || self.may_trap;
        if !waits {
            // No launch reads or writes the words.
            lock(&session.words).push(words);
            let none = || Launched {
                result: Vec::new(),
                trapped: false,
            };
            return Ok(launches.iter().map(|_| none()).collect());
        }
        session.driver.wait()?;
        let word = |at: usize| words[at].load(Ordering::Relaxed);
        let mut at = 0;
        let launched = launches.iter().map(|launch| {
            let (flag, behind) = (at, at + launch.kernel.words() + 1);
            at = behind;
            Launched {
                result: (flag + 1..behind).map(word).collect(),
                trapped: word(flag) as u32 != 0,
            }
        });
        let launched = launched.collect();
        session.give_words(words);
        Ok(launched)
    }
}

impl Launcher<'_> {
    fn memory(&self, words: u64) -> Result<Memory, Fault> {
        let bytes = usize::try_from(words).ok().and_then(|w| w.checked_mul(8));
        let bytes = bytes.ok_or(Fault::OutOfMemory { bytes: usize::MAX })?;
        self.session.pool.take(bytes.max(1))
    }

    /// Queues a launch. It sets the word at `trapped` on a trap, and writes its result after that
    /// word.
    fn queue(&self, launch: &Launch<'_>, trapped: Address, stopped: Address) -> Result<(), Fault> {
        let kernel = launch.kernel;
        let none = || Fault::Refused(format!("{} is not loaded", kernel.name));
        let loaded = self.loaded.get(kernel.number).ok_or_else(none)?;
        let session = self.session;
        let tiles = launch.blocks;
        // The lock is held until the launch is queued: launches are queued in the order of their
        // numbers.
        let mut scratch = lock(&session.scratch);
        let blocks = kernel.blocks(tiles, loaded.blocks);
        let cells = kernel.cells(tiles, blocks);
        let all = cells.iter().sum::<u64>() as usize * 16;
        // A later launch could mistake the contents of wide groups' cells for a tag. So they get
        // fresh memory.
        let room = kernel.wide.then(|| session.pool.take(all)).transpose()?;
        let published = if room.is_some() { 0 } else { all };
        let (number, ticket, published) = scratch.next(&session.pool, published)?;
        let mut next = room.as_ref().map_or(published, Memory::address);
        let mut call = Call {
            first: launch.first,
            steps: launch.steps,
            number,
            ticket: ticket.0,
            trapped: trapped.0,
            stopped: stopped.0,
            result: trapped.after(8).0,
            pass: 0,
            blocks,
            settles: 0,
            published: [0; MAX_PUBLISHED],
        };
        for (place, cells) in call.published.iter_mut().zip(&cells) {
            *place = next.0;
            next = next.after(*cells as usize * 16);
        }
        let from = self.mark()?;
        // An empty struct takes a byte in C++.
        let padding = launch.params.is_empty().then_some(0);
        let words = launch.params.iter().copied().chain(padding);
        let params: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        let (function, threads) = (&loaded.function, kernel.threads());
        for pass in kernel.passes(launch.steps, blocks) {
            call.pass = pass.number;
            call.settles = pass.settles.into();
            let blocks = pass.blocks as u32;
            // SAFETY: the kernel was written for these parameters: its own, word by word, and the
            // launch's. It accesses only the arrays and buffers, the scratch memory and the words.
            // Memory of arrays and buffers returns to the pool after it in the queue. The scratch
            // memory is this launch's until the next one's turn. The words are kept until its end.
            unsafe {
                session
                    .driver
                    .launch(function, blocks, threads, &[&params, &call.bytes()])?;
            }
            call.number = scratch.again();
        }
        self.took(from)
    }

    fn mark(&self) -> Result<Option<Mark>, Fault> {
        match lock(&self.session.times).is_some() {
            true => self.session.driver.mark().map(Some),
            false => Ok(None),
        }
    }

    fn took(&self, from: Option<Mark>) -> Result<(), Fault> {
        let Some(from) = from else {
            return Ok(());
        };
        let to = self.session.driver.mark()?;
        let took = self.session.driver.elapsed(&from, &to)?;
        if let Some(times) = &mut *lock(&self.session.times) {
            times.push(took);
        }
        Ok(())
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Converts a fault to an engine's error.
pub fn failed(fault: Fault) -> CompileError {
    match fault {
        Fault::Compiler { log } => CompileError::Failed {
            compiler: "NVRTC".into(),
            stderr: log,
        },
        other => CompileError::Unavailable {
            backend: "cuda",
            why: other.to_string(),
        },
    }
}
