//! Threads that help with a loop: called in while the caller works on, let in when there is something to
//! share, and never waited for unless they are at work.
//!
//! A sleeping thread takes up to a millisecond to wake. So the caller goes on alone until a helper has
//! arrived, and one that arrives too late finds the gate closed.

use livefusion_backend::{Kernel, Pass, processor};
use rayon::ThreadPool;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What helpers do: borrowed from the caller, who does not go on before all have left.
type Work = dyn Fn() + Sync;

/// Helpers that were called.
pub struct Team(Arc<Gate>);

struct Gate {
    /// The caller's processor, when it called.
    caller: Option<usize>,
    arrived: AtomicUsize,
    /// Helpers at work.
    inside: AtomicUsize,
    door: Mutex<Door>,
}

#[derive(Clone, Copy)]
enum Door {
    /// The caller may still let helpers in.
    Shut,
    Open(Shared),
    /// There is nothing to do any more.
    Closed,
}

/// The caller's work.
#[derive(Clone, Copy)]
struct Shared(*const Work);

// SAFETY: `Work` is `Sync`, and `Team::share` lets nobody use it after it has returned.
unsafe impl Send for Shared {}

impl Team {
    /// Calls `helpers` threads: of the pool that this thread belongs to, or of the engine's. Before they
    /// arrive they compile the passes of a kernel that they will need.
    pub fn call(
        pool: impl FnOnce() -> Option<Arc<ThreadPool>>,
        helpers: usize,
        kernel: &Arc<dyn Kernel>,
        passes: &[Pass],
    ) -> Team {
        let gate = Arc::new(Gate {
            caller: processor::here(),
            arrived: AtomicUsize::new(0),
            inside: AtomicUsize::new(0),
            door: Mutex::new(Door::Shut),
        });
        let inside = rayon::current_thread_index().is_some();
        let (pool, helpers) = match inside {
            true => (None, helpers.min(rayon::current_num_threads() - 1)),
            false => (pool(), helpers),
        };
        for _ in 0..helpers {
            let (gate, kernel, passes) = (gate.clone(), kernel.clone(), passes.to_vec());
            let help = move || {
                if passes.iter().all(|pass| kernel.prepare(*pass).is_ok()) {
                    drop(kernel);
                    gate.help();
                }
            };
            match &pool {
                Some(pool) => pool.spawn(help),
                None if inside => rayon::spawn(help),
                None => {}
            }
        }
        Team(gate)
    }

    /// Whether a helper waits to be let in.
    pub fn arrived(&self) -> bool {
        self.0.arrived.load(Ordering::Relaxed) != 0
    }

    /// Lets helpers in on `work` while the caller does `own`; comes back when all have left. If `own`
    /// unwinds, helpers must find that out by themselves and leave.
    pub fn share<R>(&self, work: &(dyn Fn() + Sync), own: impl FnOnce() -> R) -> R {
        // SAFETY: only the lifetime changes. `Closing` waits, before `work` can go, until no helper
        // uses it, and lets none in any more.
        let work: *const Work =
            unsafe { std::mem::transmute::<&(dyn Fn() + Sync), &'static Work>(work) };
        let closing = Closing(&self.0);
        self.0.set(Door::Open(Shared(work)));
        let result = own();
        drop(closing);
        result
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.0.set(Door::Closed);
    }
}

/// Closes the door, and waits for those inside.
struct Closing<'g>(&'g Gate);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.set(Door::Closed);
        let mut wait = Wait::default();
        while self.0.inside.load(Ordering::Acquire) != 0 {
            wait.once();
        }
    }
}

/// Counts a helper that leaves, however it does.
struct Leaving<'g>(&'g Gate);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::Release);
    }
}

impl Gate {
    fn set(&self, door: Door) {
        *self.door.lock().unwrap_or_else(PoisonError::into_inner) = door;
    }

    /// A helper's way: it waits at the gate until that is open or closed.
    fn help(&self) {
        // There it would only run while the caller does not.
        if let Some(caller) = self.caller.filter(|p| processor::here() == Some(*p)) {
            processor::leave(caller);
        }
        self.arrived.fetch_add(1, Ordering::Relaxed);
        let mut wait = Wait::default();
        loop {
            let door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
            match *door {
                Door::Shut => {}
                Door::Closed => return,
                Door::Open(Shared(work)) => {
                    // Counted before the lock is given back: who closes the door sees it.
                    self.inside.fetch_add(1, Ordering::Relaxed);
                    let leaving = Leaving(self);
                    drop(door);
                    // SAFETY: the door was open, so `Team::share` has not returned, and it waits for
                    // `leaving`.
                    unsafe { (*work)() };
                    drop(leaving);
                    return;
                }
            }
            drop(door);
            wait.once();
        }
    }
}

/// Waiting for another thread that is at work: first without giving the processor away.
#[derive(Default)]
pub struct Wait(u32);

impl Wait {
    /// Waits a little.
    pub fn once(&mut self) {
        self.0 += 1;
        match self.0 {
            0..2000 => std::hint::spin_loop(),
            _ => std::thread::yield_now(),
        }
    }
}
