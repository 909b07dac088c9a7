//! Concurrency models: run shared structures in hundreds of thread orders with `shuttle`.
//!
//! `shuttle` fails on deadlocks. `cargo xtask sanitize models` runs the models. The models of thread
//! teams are in `parallel`.

use super::cache::{Cache, Cached, LastUse};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::thread::{self, JoinHandle};
use shuttle::{Config, MaxSteps, Runner};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Orders of each kind, unless `MODEL_ORDERS` is set.
const ORDERS: usize = 300;
/// Priority changes in an order that follows priorities.
const CHANGES: usize = 3;

/// Runs a model in many orders.
///
/// A thread that waits by polling runs out of steps.
pub fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::new();
    config.stack_size = 1 << 18;
    config.max_steps = MaxSteps::FailAfter(100_000);
    config.silence_warnings = true;
    let orders = std::env::var("MODEL_ORDERS").ok();
    let orders = orders.and_then(|n| n.parse().ok()).unwrap_or(ORDERS);
    let model = Arc::new(model);
    let random = model.clone();
    Runner::new(RandomScheduler::new(orders), config.clone()).run(move || random());
    Runner::new(PctScheduler::new(CHANGES, orders), config).run(move || model());
}

/// Waits for threads to end.
pub fn join<T>(threads: Vec<JoinHandle<T>>) -> Vec<T> {
    let join = |t: JoinHandle<T>| t.join().expect("no panic");
    threads.into_iter().map(join).collect()
}

/// A value of a key that counts its live instances.
struct CountedValue {
    key: u64,
    used: LastUse,
    alive: Arc<AtomicUsize>,
}

impl Cached for CountedValue {
    fn last_use(&self) -> &LastUse {
        &self.used
    }
}

impl Drop for CountedValue {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Relaxed);
    }
}

/// A cache with counts of the values made and alive.
struct Shop {
    cache: Cache<u64, CountedValue>,
    made: AtomicUsize,
    alive: Arc<AtomicUsize>,
}

impl Shop {
    fn new(limit: usize) -> Arc<Shop> {
        Arc::new(Shop {
            cache: Cache::new(limit),
            made: AtomicUsize::new(0),
            alive: Arc::default(),
        })
    }

    /// Gets a value as engines get a program. Every `fails`th attempt to make one fails.
    fn get(&self, key: u64, fails: Option<usize>) -> Result<Arc<CountedValue>, ()> {
        let (value, new) = self.cache.get_or_make(&key, || {
            thread::yield_now();
            let attempt = self.made.fetch_add(1, Relaxed) + 1;
            if fails.is_some_and(|n| attempt % n == 0) {
                return Err(());
            }
            self.alive.fetch_add(1, Relaxed);
            Ok(CountedValue {
                key,
                used: LastUse::default(),
                alive: self.alive.clone(),
            })
        })?;
        if new {
            self.cache.shed();
        }
        assert_eq!(value.key, key);
        Ok(value)
    }

    /// Asserts that all live values are in the cache, within its limit.
    fn is_in_order(&self, limit: usize) {
        let kept = self.cache.kept() as usize;
        assert_eq!(kept, self.alive.load(Relaxed));
        assert!(kept <= limit, "{kept} of {limit}");
    }
}

/// Runs threads that share a shop.
fn threads<T: Send + 'static>(
    shop: &Arc<Shop>,
    n: u64,
    f: impl Fn(&Shop, u64) -> T + Send + Copy + 'static,
) -> Vec<T> {
    let one = |i| {
        let shop = shop.clone();
        thread::spawn(move || f(&shop, i))
    };
    join((0..n).map(one).collect())
}

#[test]
fn threads_that_want_one_program_compile_it_once() {
    check(|| {
        let shop = Shop::new(4);
        let got = threads(&shop, 4, |shop, _| shop.get(7, None).expect("made"));
        assert!(got.iter().all(|v| Arc::ptr_eq(v, &got[0])));
        assert_eq!(shop.made.load(Relaxed), 1);
        shop.is_in_order(4);
    });
}

#[test]
fn nothing_is_left_of_what_failed() {
    check(|| {
        let shop = Shop::new(4);
        let got = threads(&shop, 3, |shop, _| shop.get(7, Some(1)).is_ok());
        assert_eq!(got, [false; 3]);
        assert_eq!(shop.made.load(Relaxed), 3);
        shop.is_in_order(4);
    });
}

#[test]
fn who_comes_after_a_failure_tries_again() {
    check(|| {
        let shop = Shop::new(4);
        let got = threads(&shop, 3, |shop, _| shop.get(7, Some(2)).is_ok());
        // The second attempt fails, if there is one.
        let failed = got.iter().filter(|ok| !**ok).count();
        assert_eq!(failed, shop.made.load(Relaxed) / 2);
        shop.is_in_order(4);
    });
}

#[test]
fn model_of_eviction_keeps_values_in_use_whole() {
    check(|| {
        let shop = Shop::new(2);
        threads(&shop, 3, |shop, i| {
            for key in [i, i + 1, 9] {
                let value = shop.get(key, None).expect("made");
                thread::yield_now();
                assert_eq!(value.key, key);
            }
        });
        let evicted = shop.cache.evicted() as usize;
        assert_eq!(
            evicted,
            shop.made.load(Relaxed) - shop.cache.kept() as usize
        );
        shop.is_in_order(2);
    });
}

#[test]
fn a_cache_is_cleared_while_threads_use_it() {
    check(|| {
        let shop = Shop::new(2);
        threads(&shop, 3, |shop, i| match i {
            0 => shop.cache.clear(),
            _ => _ = shop.get(i % 2, None).expect("made"),
        });
        shop.is_in_order(2);
        shop.cache.clear();
        shop.is_in_order(0);
    });
}
