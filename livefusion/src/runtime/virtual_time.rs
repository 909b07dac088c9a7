//! Virtual time: the threads of a simulated machine, each a coroutine with a clock.
//!
//! The third set of primitives behind `sync`, for `--cfg virtual_time`. The thread with the earliest clock
//! runs, until it touches shared state while another one's clock is earlier. Locks, waits and [`work`] move
//! clocks by the costs of a [`Machine`]; all else takes no time. Coroutines are those of `shuttle`.
//!
//! Outside of [`simulate`] the primitives are those of the standard library.
//!
//! | module | contents |
//! | --- | --- |
//! | `primitives` | locks, atomics, waits and times on the clocks of threads |

#[cfg(test)]
mod models;
mod primitives;

pub use once_cell::sync::OnceCell;
pub use primitives::{
    AtomicBool, AtomicU64, AtomicUsize, Instant, Mutex, MutexGuard, PARTS, Wait, leave,
};
use rayon::ThreadPool;
use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
pub use shuttle::thread_local;
use shuttle::{Config, MaxSteps, Runner};
use std::cell::RefCell;
use std::collections::BTreeSet;
pub use std::sync::RwLock;
use std::sync::{Arc, PoisonError};

/// Describes a simulated machine, with times in nanoseconds.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Takes and releases a lock that this thread had last, with the work under it.
    pub lock: u64,
    /// Does the same if another thread had it last.
    pub lock_moved: u64,
    /// Spins for a lock as long as this, then sleeps.
    pub spin: u64,
    /// Looks at shared state once, while waiting.
    pub poll: u64,
    /// Passes from the call of a sleeping thread until it runs.
    pub wake: u64,
    /// Takes the thread that calls a sleeping one.
    pub call: u64,
    /// The bandwidth of one memory, in bytes per nanosecond.
    pub bandwidth: f64,
    /// The bytes that a core copies per nanosecond.
    pub copying: f64,
    /// The cores that share one memory.
    pub cores_per_memory: usize,
    /// The largest random change of a time of work, as a fraction of it.
    pub jitter: f64,
    /// The seed of these changes.
    pub seed: u64,
}

/// Holds the time that threads spent, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// In work that no other thread slows.
    pub computing: u64,
    /// In locks, and asleep before them.
    pub locks: u64,
    /// In waits for the progress of others.
    pub waits: u64,
    /// In work, beyond its time alone, because memory was busy.
    pub memory: u64,
}

/// A wait of all threads that nothing will end, in nanoseconds.
const FOR_EVER: u64 = 1 << 40;

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Ready,
    /// It waits for a change of shared state.
    Waiting,
    /// It waits for the lock at this address, and sleeps from this time on.
    Blocked(usize, u64),
    Gone,
}

struct Thread {
    clock: u64,
    state: State,
    /// The changes of shared state before its last look.
    seen: u64,
    spent: Spent,
}

struct World {
    machine: Machine,
    threads: Vec<Thread>,
    current: usize,
    /// The clocks of the threads that could run, but for the current one.
    ready: BTreeSet<(u64, usize)>,
    /// Changes of shared state so far.
    changes: u64,
    /// The time when each memory has moved all bytes asked for.
    moved: Vec<u64>,
    /// The next wait if all threads wait.
    idle: u64,
    random: u64,
}

std::thread_local! {
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
}

/// Calls a function on the simulated world, if there is one.
fn world<R>(f: impl FnOnce(&mut World) -> R) -> Option<R> {
    WORLD.with(|w| w.borrow_mut().as_mut().map(f))
}

/// Lets threads with earlier clocks run first.
fn turn() {
    while world(|w| !w.is_earliest()) == Some(true) {
        shuttle::thread::yield_now();
    }
}

impl World {
    fn new(machine: Machine) -> World {
        World {
            random: machine.seed.wrapping_mul(2) | 1,
            machine,
            threads: vec![Thread::new(0)],
            current: 0,
            ready: BTreeSet::new(),
            changes: 0,
            moved: Vec::new(),
            idle: 1000,
        }
    }

    fn me(&mut self) -> &mut Thread {
        &mut self.threads[self.current]
    }

    /// Tells whether the current thread may go on.
    fn is_earliest(&self) -> bool {
        let me = &self.threads[self.current];
        let others = self.ready.first();
        me.state == State::Ready && others.is_none_or(|first| (me.clock, self.current) < *first)
    }

    /// Makes the thread with the earliest clock the current one.
    ///
    /// If all wait, time goes on: some conditions depend on it. It panics if that does not help.
    fn switch(&mut self) -> Option<usize> {
        if self.me().state == State::Ready {
            let clock = self.me().clock;
            self.ready.insert((clock, self.current));
        }
        if self.ready.is_empty() {
            self.wake_waiting(0, self.idle);
            self.idle *= 2;
        }
        let first = self.ready.pop_first();
        let states = self.threads.iter().map(|t| t.state);
        let is_over = states.clone().all(|s| s == State::Gone);
        let is_stuck = first.is_none() || self.idle >= FOR_EVER;
        assert!(
            is_over || !is_stuck,
            "all threads wait for ever: {:?}",
            states.collect::<Vec<_>>()
        );
        self.current = first?.1;
        Some(self.current)
    }

    /// Lets a thread run from a time on.
    fn wake(&mut self, at: usize) {
        let thread = &mut self.threads[at];
        thread.state = State::Ready;
        self.ready.insert((thread.clock, at));
    }

    /// Wakes the threads that wait for a change of shared state.
    fn changed(&mut self) {
        (self.changes, self.idle) = (self.changes + 1, 1000);
        let now = self.me().clock;
        self.wake_waiting(now, 0);
    }

    /// Wakes all that wait, some time later and not before another.
    fn wake_waiting(&mut self, not_before: u64, later: u64) {
        for at in 0..self.threads.len() {
            let thread = &mut self.threads[at];
            if thread.state == State::Waiting {
                thread.passes(later.max(not_before.saturating_sub(thread.clock)));
                self.wake(at);
            }
        }
    }

    /// Blocks the current thread until a lock is released.
    ///
    /// Nobody spins for a lock before which others sleep.
    fn block(&mut self, lock: usize) {
        let now = self.me().clock;
        let sleeps =
            |t: &Thread| matches!(t.state, State::Blocked(at, from) if at == lock && from <= now);
        let spins = match self.threads.iter().any(sleeps) {
            true => 0,
            false => self.machine.spin,
        };
        self.me().state = State::Blocked(lock, now + spins);
    }

    /// Wakes the threads that spin for a lock, and one of those that sleep.
    fn released(&mut self, lock: usize) {
        let now = self.me().clock;
        let of = |t: &Thread| match t.state {
            State::Blocked(at, from) if at == lock => Some(from),
            _ => None,
        };
        let waiting = self.threads.iter().enumerate();
        let asleep = waiting.filter_map(|(i, t)| Some((of(t).filter(|from| *from <= now)?, i)));
        let first = asleep.min().map(|(_, i)| i);
        let wake = self.machine.wake;
        for at in 0..self.threads.len() {
            let thread = &mut self.threads[at];
            let delay = match of(thread) {
                Some(from) if from > now => 0,
                Some(_) if first == Some(at) => wake,
                _ => continue,
            };
            let waited = (now + delay).saturating_sub(thread.clock);
            thread.clock += waited;
            thread.spent.locks += waited;
            self.wake(at);
        }
        if first.is_some() {
            let call = self.machine.call;
            self.me().clock += call;
            self.me().spent.locks += call;
        }
    }

    /// Draws a factor near one.
    fn factor(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let unit = (self.random >> 11) as f64 / (1u64 << 53) as f64;
        1.0 + self.machine.jitter * (2.0 * unit - 1.0)
    }

    fn work(&mut self, time: f64, bytes: f64) {
        let time = (time * self.factor()) as u64;
        let memory = self.current / self.machine.cores_per_memory;
        if self.moved.len() <= memory {
            self.moved.resize(memory + 1, 0);
        }
        let start = self.me().clock;
        let queue = &mut self.moved[memory];
        if bytes > 0.0 {
            *queue = start.max(*queue) + (bytes / self.machine.bandwidth) as u64;
        }
        let beyond = match bytes > 0.0 {
            true => queue.saturating_sub(start + time),
            false => 0,
        };
        let me = self.me();
        me.clock += time + beyond;
        me.spent.computing += time;
        me.spent.memory += beyond;
    }
}

impl Thread {
    fn new(clock: u64) -> Thread {
        Thread {
            clock,
            state: State::Ready,
            seen: 0,
            spent: Spent::default(),
        }
    }

    /// Moves its clock by a wait.
    fn passes(&mut self, time: u64) {
        self.clock += time;
        self.spent.waits += time;
    }
}

/// Runs the thread with the earliest clock.
struct Earliest {
    is_over: bool,
}

impl Scheduler for Earliest {
    fn new_execution(&mut self) -> Option<Schedule> {
        (!std::mem::replace(&mut self.is_over, true)).then(Schedule::default)
    }

    fn next_task(&mut self, tasks: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        let next = world(World::switch);
        let mut ids = tasks.iter().map(|task| task.id());
        ids.find(|id| next == Some(Some(usize::from(*id))))
    }

    fn next_u64(&mut self) -> u64 {
        0
    }
}

/// Runs a function on a simulated machine.
///
/// It begins on the machine's first thread. It panics if all threads wait for ever.
pub fn simulate<R: Send + 'static>(
    machine: Machine,
    f: impl Fn() -> R + Send + Sync + 'static,
) -> Option<R> {
    let mut config = Config::new();
    config.stack_size = 1 << 20;
    config.max_steps = MaxSteps::None;
    config.silence_warnings = true;
    let result = Arc::new(std::sync::Mutex::new(None));
    let to = result.clone();
    WORLD.with(|w| *w.borrow_mut() = Some(World::new(machine)));
    Runner::new(Earliest { is_over: false }, config).run(move || {
        *to.lock().unwrap_or_else(PoisonError::into_inner) = Some(f());
        world(|w| w.me().state = State::Gone);
    });
    WORLD.with(|w| *w.borrow_mut() = None);
    let mut result = result.lock().unwrap_or_else(PoisonError::into_inner);
    result.take()
}

/// Lets this thread work for a time, in nanoseconds, and move bytes meanwhile.
///
/// A memory moves bytes in the order in which they are asked for.
pub fn work(time: f64, bytes: f64) {
    turn();
    world(|w| w.work(time, bytes));
}

/// Lets this thread copy bytes that are in its cache.
pub fn copied(bytes: usize) {
    world(|w| w.work(bytes as f64 / w.machine.copying, 0.0));
}

/// Returns the clock of this thread, in nanoseconds.
pub fn now() -> u64 {
    world(|w| w.me().clock).unwrap_or(0)
}

/// Adds up the time that all threads spent so far.
pub fn spent() -> Spent {
    let add = |a: Spent, b: Spent| Spent {
        computing: a.computing + b.computing,
        locks: a.locks + b.locks,
        waits: a.waits + b.waits,
        memory: a.memory + b.memory,
    };
    world(|w| {
        w.threads
            .iter()
            .map(|t| t.spent)
            .fold(Spent::default(), add)
    })
    .unwrap_or_default()
}

/// Starts a thread, as a call to a sleeping one of the pool.
pub fn spawn(pool: &ThreadPool, job: impl FnOnce() + Send + 'static) {
    let call = |w: &mut World| {
        let (call, wake) = (w.machine.call, w.machine.wake);
        w.me().clock += call;
        w.me().spent.computing += call;
        let start = w.me().clock + wake;
        w.threads.push(Thread::new(start));
        w.wake(w.threads.len() - 1);
    };
    match world(call) {
        None => pool.spawn(job),
        Some(()) => {
            shuttle::thread::spawn(|| {
                job();
                world(|w| w.me().state = State::Gone);
            });
        }
    }
}
