//! Threads that help with a loop: called in while the caller works on, let in when there is something to
//! share, and never waited for unless they are at work.
//!
//! A sleeping thread takes up to a millisecond to wake. So the caller goes on alone until a helper has
//! arrived, and one that arrives too late finds the gate closed.
//!
//! In a rayon pool any thread may come upon a helper's job, also one that waits for something in the middle
//! of a loop: the caller itself, in a callback that yields to the pool. There the helper would wait for what
//! is below it on its own stack. So a thread that is in a loop helps with none.

use crate::runtime::sync::{AtomicUsize, Mutex, Ordering, Patience, Wait, lock, thread_local};
use livefusion_backend::{process, processor};
use rayon::ThreadPool;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// A helper waits so long to be let in: what the caller does may need the helper's thread for something else.
const AT_THE_GATE: Duration = Duration::from_secs(1);

/// What helpers do: borrowed from the caller, who does not go on before all have left.
type Work = dyn Fn() + Sync;

/// Helpers that were called, by the thread that keeps this.
pub struct Team(Arc<Gate>, InLoop);

/// A helper on its way, for any thread to be.
pub struct Helper(Arc<Gate>);

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
    /// Calls `helpers` threads: of the pool that this thread belongs to, or of the engine's. Each goes away again that is not `ready`
    /// to help. In a forked child the pool that a thread belongs to may have no other threads.
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
                Some(pool) => pool.spawn(help),
                None if inside => rayon::spawn(help),
                None => {}
            }
        }
        team
    }

    /// A team of the calling thread, which runs on this processor, without helpers.
    pub fn gather(caller: Option<usize>) -> Team {
        let gate = Gate {
            caller,
            arrived: AtomicUsize::new(0),
            inside: AtomicUsize::new(0),
            door: Mutex::new(Door::Shut),
        };
        Team(Arc::new(gate), InLoop::enter())
    }

    /// One more helper.
    pub fn helper(&self) -> Helper {
        Helper(self.0.clone())
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
        *lock(&self.door) = door;
    }
}

impl Helper {
    /// A helper's way: it waits at the gate until that is open or closed.
    pub fn help(self) {
        if InLoop::is_here() {
            return;
        }
        let _here = InLoop::enter();
        let gate = &*self.0;
        // There it would only run while the caller does not.
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
                Door::Open(Shared(work)) => {
                    // Counted before the lock is given back: who closes the door sees it.
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

/// Marks a thread that is in a loop, as caller or as helper, for as long as it lives.
struct InLoop(PhantomData<*const ()>);

thread_local! {
    /// How many loops this thread is in.
    static IN_LOOPS: Cell<usize> = const { Cell::new(0) };
}

impl InLoop {
    fn enter() -> InLoop {
        IN_LOOPS.with(|n| n.set(n.get() + 1));
        InLoop(PhantomData)
    }

    /// Whether this thread is in a loop.
    fn is_here() -> bool {
        IN_LOOPS.with(Cell::get) > 0
    }
}

impl Drop for InLoop {
    fn drop(&mut self) {
        IN_LOOPS.with(|n| n.set(n.get() - 1));
    }
}
