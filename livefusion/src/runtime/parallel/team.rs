//! Teams: threads that help with a loop.
//!
//! They are called while the caller works, admitted when there is work to share, and awaited only
//! while they work.
//!
//! A sleeping thread takes up to a millisecond to wake. So the caller continues alone until a
//! helper has arrived. A late helper finds the gate closed.
//!
//! In a rayon pool any thread may run a helper's job, even a thread that waits in the middle of a
//! loop. The caller itself does so in a callback that yields to the pool. The helper would then
//! wait for a frame below it on its own stack. So a thread that is in a loop does not help.

use crate::runtime::sync::{
    AtomicUsize, Mutex, Ordering, Patience, Wait, lock, spawn, thread_local,
};
use livefusion_backend::{process, processor};
use rayon::ThreadPool;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// A helper's maximum wait at the gate. The caller may need the helper's thread for other work.
const AT_THE_GATE: Duration = Duration::from_secs(1);

/// The work of helpers. It is borrowed from the caller, which waits until all have left.
type Work = dyn Fn() + Sync;

/// Holds the gate of the helpers on the calling thread.
pub struct Team(Arc<Gate>, InLoop);

/// Represents a helper on its way, on any thread.
pub struct Helper(Arc<Gate>);

struct Gate {
    /// The caller's processor at the time of the call.
    caller: Option<usize>,
    arrived: AtomicUsize,
    /// Helpers at work.
    inside: AtomicUsize,
    door: Mutex<Door>,
}

#[derive(Clone, Copy)]
enum Door {
    /// The caller may still admit helpers.
    Shut,
    Open(SharedWork),
    /// There is no more work.
    Closed,
}

/// The caller's work.
#[derive(Clone, Copy)]
struct SharedWork(*const Work);

// SAFETY: `Work` is `Sync`, and `Team::share` lets nobody use it after it has returned.
unsafe impl Send for SharedWork {}

impl Team {
    /// Calls helper threads from this thread's pool or the engine's.
    ///
    /// A helper that is not `ready` to help leaves at once. In a forked child this thread's pool
    /// may have no other threads, so it uses the engine's.
    pub fn call(
        pool: impl FnOnce() -> Option<Arc<ThreadPool>>,
        helpers: usize,
        ready: impl Fn() -> bool + Clone + Send + 'static,
    ) -> Team {
        let team = Team::gather(processor::here());
        let inside = rayon::current_thread_index().is_some() && !process::is_forked();
        let (pool, helpers) = match inside {
            true => (None, helpers.min(rayon::current_num_threads() - 1)),
            false => (pool(), helpers),
        };
        for _ in 0..helpers {
            let (helper, ready) = (team.helper(), ready.clone());
            let help = move || {
                if ready() {
                    drop(ready);
                    helper.help();
                }
            };
            match &pool {
                Some(pool) => spawn(pool, help),
                None if inside => rayon::spawn(help),
                None => {}
            }
        }
        team
    }

    /// Creates a team without helpers for the calling thread.
    ///
    /// The thread runs on the processor `caller`.
    pub fn gather(caller: Option<usize>) -> Team {
        let gate = Gate {
            caller,
            arrived: AtomicUsize::new(0),
            inside: AtomicUsize::new(0),
            door: Mutex::new(Door::Shut),
        };
        Team(Arc::new(gate), InLoop::enter())
    }

    /// Creates one more helper.
    pub fn helper(&self) -> Helper {
        Helper(self.0.clone())
    }

    /// Tells whether a helper waits at the gate.
    pub fn arrived(&self) -> bool {
        self.0.arrived.load(Ordering::Relaxed) != 0
    }

    /// Admits helpers to `work` while the caller runs `own`.
    ///
    /// It returns when all helpers have left. If `own` unwinds, helpers must notice that themselves
    /// and leave.
    pub fn share<R>(&self, work: &(dyn Fn() + Sync), own: impl FnOnce() -> R) -> R {
        // SAFETY: only the lifetime changes. `Closing` waits, before `work` can go, until no helper
        // uses it, and lets none in any more.
        let work: *const Work =
            unsafe { std::mem::transmute::<&(dyn Fn() + Sync), &'static Work>(work) };
        let closing = Closing(&self.0);
        self.0.set(Door::Open(SharedWork(work)));
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

/// Closes the door, and waits for the helpers inside.
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

/// Counts a helper out, also when it unwinds.
struct Leaving<'g>(&'g Gate);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::Release);
    }
}

impl Gate {
    fn set(&self, door: Door) {
        *lock(&self.door) = door;
    }
}

impl Helper {
    /// Waits until the gate opens, then helps, or leaves when it closes.
    pub fn help(self) {
        if InLoop::is_here() {
            return;
        }
        let _here = InLoop::enter();
        let gate = &*self.0;
        // On the caller's processor it would only run while the caller does not.
        if let Some(caller) = gate.caller.filter(|p| processor::here() == Some(*p)) {
            processor::leave(caller);
        }
        gate.arrived.fetch_add(1, Ordering::Relaxed);
        let mut wait = Wait::default();
        let patience = Patience::new(AT_THE_GATE);
        loop {
            let door = lock(&gate.door);
            match *door {
                Door::Shut if patience.is_over() => {
                    gate.arrived.fetch_sub(1, Ordering::Relaxed);
                    return;
                }
                Door::Shut => {}
                Door::Closed => return,
                Door::Open(SharedWork(work)) => {
                    // Counted before the lock is released, so the closing thread sees it.
                    gate.inside.fetch_add(1, Ordering::Relaxed);
                    let leaving = Leaving(gate);
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

/// Marks a thread as running a loop, as caller or helper.
struct InLoop(PhantomData<*const ()>);

thread_local! {
    /// Number of loops this thread is in.
    static IN_LOOPS: Cell<usize> = const { Cell::new(0) };
}

impl InLoop {
    fn enter() -> InLoop {
        IN_LOOPS.with(|n| n.set(n.get() + 1));
        InLoop(PhantomData)
    }

    /// Tells whether this thread is in a loop.
    fn is_here() -> bool {
        IN_LOOPS.with(Cell::get) > 0
    }
}

impl Drop for InLoop {
    fn drop(&mut self) {
        IN_LOOPS.with(|n| n.set(n.get() - 1));
    }
}
