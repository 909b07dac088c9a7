//! Toy protocols whose times are known.

use super::*;
use rayon::ThreadPoolBuilder;
use std::sync::atomic::Ordering::Relaxed;

const CHUNKS: usize = 64;
/// Nanoseconds of a chunk.
const CHUNK: u64 = 1000;

/// A machine on which only work takes time.
fn free() -> Machine {
    Machine {
        lock: 0,
        lock_moved: 0,
        spin: u64::MAX / 2,
        poll: 0,
        wake: 0,
        call: 0,
        bandwidth: 1.0,
        copying: 1.0,
        cores_per_memory: 4,
        jitter: 0.0,
        seed: 1,
    }
}

/// Runs a job for each chunk on some threads, and returns when and how all have ended.
fn shared(
    machine: Machine,
    threads: usize,
    job: impl Fn(usize) + Send + Sync + 'static,
) -> (u64, Spent) {
    let job = Arc::new(job);
    let ended = simulate(machine, move || {
        let pool = ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .expect("a pool");
        let (next, left) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(AtomicUsize::new(threads)),
        );
        let work = {
            let (job, left) = (job.clone(), left.clone());
            move || {
                while let k @ 0..CHUNKS = next.fetch_add(1, Relaxed) {
                    job(k);
                }
                left.fetch_sub(1, Relaxed);
            }
        };
        (1..threads).for_each(|_| spawn(&pool, work.clone()));
        work();
        let mut wait = Wait;
        while left.load(Relaxed) > 0 {
            wait.once();
        }
        (now(), spent())
    });
    ended.expect("it ends")
}

#[test]
fn chunks_without_locks_take_their_share_of_the_time() {
    for threads in [1, 2, 8, 64] {
        let (time, spent) = shared(free(), threads, |_| work(CHUNK as f64, 0.0));
        assert_eq!(time, CHUNK * (CHUNKS / threads) as u64);
        assert_eq!(spent.computing, CHUNK * CHUNKS as u64);
        assert_eq!((spent.locks, spent.waits, spent.memory), (0, 0, 0));
    }
}

#[test]
fn a_lock_makes_chunks_take_the_time_of_one_thread() {
    for threads in [1, 2, 8] {
        let mutex = Mutex::new(());
        let (time, spent) = shared(free(), threads, move |_| {
            let _guard = mutex.lock();
            work(CHUNK as f64, 0.0);
        });
        assert_eq!(time, CHUNK * CHUNKS as u64);
        assert_eq!(spent.computing, time);
        assert_eq!(spent.locks > 0, threads > 1);
    }
}

#[test]
fn a_lock_costs_more_after_another_thread() {
    let machine = Machine {
        lock: 10,
        lock_moved: 100,
        ..free()
    };
    let locked = |machine: Machine, threads| {
        let mutex = Mutex::new(());
        let job = move |_| {
            drop(mutex.lock());
            work(CHUNK as f64, 0.0);
        };
        shared(machine, threads, job).1.locks
    };
    assert_eq!(locked(machine.clone(), 1), 100 + 10 * (CHUNKS as u64 - 1));
    // At first one thread also waits for the other's lock.
    assert_eq!(locked(machine, 2), 100 * (CHUNKS as u64 + 1));
}

#[test]
fn a_thread_that_sleeps_before_a_lock_is_called() {
    let machine = Machine {
        lock_moved: 100,
        spin: 500,
        wake: 5000,
        call: 300,
        ..free()
    };
    let taken = simulate(machine, || {
        let pool = ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .expect("a pool");
        let (mutex, taken) = (Arc::new(Mutex::new(())), Arc::new(AtomicU64::new(0)));
        let guard = mutex.lock();
        let helper = {
            let (mutex, taken) = (mutex.clone(), taken.clone());
            move || {
                let _guard = mutex.lock();
                taken.store(now(), Relaxed);
            }
        };
        spawn(&pool, helper);
        work(20_000.0, 0.0);
        drop(guard);
        let mut wait = Wait;
        while taken.load(Relaxed) == 0 {
            wait.once();
        }
        (taken.load(Relaxed), spent().locks)
    });
    // The caller's lock and call, its work, the wake-up, the other's lock.
    let slept_from = 100 + 300 + 5000;
    let released = 100 + 300 + 20_000;
    let locks = 100 + (released + 5000 - slept_from) + 300 + 100;
    assert_eq!(taken, Some((released + 5000 + 100, locks)));
}

#[test]
fn a_memory_moves_bytes_for_one_thread_after_another() {
    let moving = |_| work(CHUNK as f64 / 10.0, CHUNK as f64);
    for threads in [1, 2, 4] {
        let (time, spent) = shared(free(), threads, moving);
        assert_eq!(time, CHUNK * CHUNKS as u64);
        assert_eq!(spent.computing, time / 10);
    }
    // Eight threads have two memories.
    assert_eq!(shared(free(), 8, moving).0, CHUNK * CHUNKS as u64 / 2);
}

#[test]
fn a_seed_gives_the_same_times_again() {
    let times = |seed| {
        let machine = Machine {
            jitter: 0.2,
            seed,
            ..free()
        };
        let mutex = Mutex::new(());
        shared(machine, 8, move |_| {
            work(CHUNK as f64, 100.0);
            let _guard = mutex.lock();
            work(CHUNK as f64 / 10.0, 0.0);
        })
    };
    assert_eq!(times(1), times(1));
    assert_ne!(times(1), times(2));
}
