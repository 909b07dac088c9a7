//! Loops on several threads: sharing, traps, early exits, many callers, rayon, cancellation.

use livefusion::nested::BlockBytes;
use livefusion::prelude::*;
use livefusion::{CancelToken, Elt, Error, ErrorKind, Exp, Progress};
use livefusion_interp::InterpBackend;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// An interpreter with chunks of 64 steps that requests help at every opportunity.
fn eager(threads: usize) -> Engine {
    let backend = Arc::new(InterpBackend::with_chunk(64));
    let builder = Engine::builder().backend(backend);
    builder.threads(threads).eager().build()
}

fn floats(n: usize) -> Array<f64> {
    let x = |i| ((i * 7919) % 1000) as f64 * 0.37 - 100.0;
    (0..n).map(x).collect::<Vec<_>>().into()
}

fn ints(n: i64) -> Array<i64> {
    (0..n).map(|i| (i * 31) % 100).collect::<Vec<_>>().into()
}

/// Forces on one thread and on four, and compares.
macro_rules! same {
    ($make:expr) => {{
        let (one, four) = (eager(1), eager(4));
        let expected = $make.force_with(&one);
        for _ in 0..8 {
            assert_eq!($make.force_with(&four), expected);
        }
        assert_eq!(one.counters().parallel_loops, 0);
        assert!(four.counters().parallel_chunks > 8 * 20, "{four:?}");
        expected
    }};
}

#[test]
fn folds_maps_filters_and_scans_are_shared() {
    let xs = floats(5000);
    same!(xs.map(|x| x * 2.0)).unwrap();
    same!((&xs * &xs).sum()).unwrap();
    same!(xs.filter(|x| x.gt(0.0))).unwrap();
    same!(xs.scan(0.5, |a, b| a + b)).unwrap();
    same!(xs.scan_exclusive(0.5, |a, b| a + b)).unwrap();
    let sums = xs.scan(0.0, |a, b| a + b);
    same!(sums.filter(|x| x.gt(30.0)).scan(0.0, |a, b| a.max(b))).unwrap();
}

#[test]
fn heavy_steps_are_shared_within_a_chunk() {
    let collatz = |x: livefusion::Exp<i64>| {
        let step = |x: livefusion::Exp<i64>| (x % 2).eq(0).cond(x / 2, x * 3 + 1);
        while_loop(x + 1, |x| x.gt(1), step)
    };
    let (one, four) = (eager(1), eager(4));
    let reached = |e: &Engine| ints(60).map(collatz).sum().force_with(e);
    assert_eq!(reached(&four), reached(&one));
    assert_eq!(four.counters().parallel_loops, 1);
}

/// Units of such loops end at segment boundaries. A segment that is too long for one unit is cut.
#[test]
fn folds_of_segments_are_shared_between_segments_and_within_long_ones() {
    let short = |i: u64| (i * i) % 17;
    let patterns: [&dyn Fn(u64) -> u64; 5] = [
        &|i| short(i),
        &|_| 1,
        &|i| if i % 50 == 49 { 700 } else { short(i) },
        &|i| if i == 150 { 9000 } else { short(i) },
        &|i| if i % 3 == 0 { 0 } else { 64 },
    ];
    for pattern in patterns {
        let lengths: Vec<u64> = (0..400).map(pattern).collect();
        let n = lengths.iter().sum::<u64>() as usize;
        let rows = |xs: &Array<f64>| Segmented::new(&lengths.clone().into(), xs);
        let xs = floats(n);
        let shared = |name: &str, make: &dyn Fn() -> Array<f64>| {
            let (one, four) = (eager(1), eager(4));
            assert_eq!(
                make().force_with(&four),
                make().force_with(&one),
                "{name}, {lengths:?}"
            );
            assert!(four.counters().parallel_chunks > 5, "{name}, {four:?}");
        };
        shared("sum", &|| rows(&xs).sum());
        shared("max", &|| {
            rows(&xs.map(|x| x * x)).fold(0.0, |a, b| a.max(b))
        });
        shared("scan", &|| rows(&xs).scan(0.5, |a, b| a + b).data().clone());
        shared("fold", &|| {
            rows(&xs).fold(-1.0, |a, b| a.min(b)).map(|x| x + 0.5)
        });
    }
}

/// Threads count the steps of their segments at once. Sizes may change by orders on the way.
#[test]
fn segments_whose_lengths_change_are_shared() {
    let lengths: [&dyn Fn(u64) -> u64; 4] = [
        &|i| i / 10,
        &|i| 60 - i / 10,
        &|i| if i < 300 { 1 } else { 100 },
        &|i| if i < 300 { 100 } else { i % 2 },
    ];
    for of in lengths {
        let lengths: Vec<u64> = (0..600).map(of).collect();
        let ends = lengths.iter().scan(0, |end, n| {
            *end += *n as i32;
            Some(*end)
        });
        let offsets: Array<i32> = std::iter::once(0).chain(ends).collect::<Vec<_>>().into();
        let xs = floats(lengths.iter().sum::<u64>() as usize);
        let rows = || Segmented::from_offsets(&offsets, &xs);
        let cut = || Segmented::new(&lengths.clone().into(), &xs);
        let computed = || Segmented::new(&rows().lengths().map(|n| n.min(1000)), &xs);
        for make in [&rows as &dyn Fn() -> Segmented<f64>, &cut, &computed] {
            let (one, four) = (eager(1), eager(4));
            let scans = |e: &Engine| {
                let rows = make();
                let shifted = rows.zip_with_each(&rows.max(), |x, most| x - most);
                let sums = rows.scan(0.5, |a, b| a + b);
                let all = (rows.sum().force_with(e), sums.data().force_with(e));
                (all, shifted.data().force_with(e))
            };
            for _ in 0..8 {
                assert_eq!(scans(&four), scans(&one), "{lengths:?}");
            }
            let shared = four.counters().parallel_chunks;
            assert!(shared > 3 * 8 * 5, "{shared} chunks, {lengths:?}");
        }
    }
}

/// A sum of all data, elements that are kept, and segments of segments need chunks at any step. Two
/// cores run up to 64 threads.
#[test]
fn segments_in_chunks_at_any_step_are_shared() {
    let lengths: [&dyn Fn(u64) -> u64; 3] = [
        &|i| (i * i) % 17,
        &|i| if i < 600 { i / 100 } else { 30 },
        &|i| if i == 300 { 5000 } else { i % 9 },
    ];
    for of in lengths {
        let lengths: Vec<u64> = (0..1000).map(of).collect();
        let xs = floats(lengths.iter().sum::<u64>() as usize);
        let outer: Vec<u64> = (0..250).map(|i| if i % 2 == 0 { 1 } else { 7 }).collect();
        let rows = || Segmented::new(&lengths.clone().into(), &xs);
        let results = |e: &Engine| {
            let (rows, kept) = (rows(), rows().filter(|x| x.gt(0.0)));
            let nested = Segmented::new(&outer.clone().into(), &rows.sum());
            let beside = (rows.sum(), xs.sum()).force_with(e);
            let kept = (kept.sum(), kept.data().clone()).force_with(e);
            let sums = (nested.sum(), nested.max(), xs.sum()).force_with(e);
            (beside, kept, nested.sum().force_with(e), sums)
        };
        let expected = results(&eager(1));
        assert!(expected.0.is_ok() && expected.3.is_ok(), "{lengths:?}");
        for threads in [2, 5, 8, 64] {
            let engine = eager(threads);
            for _ in 0..4 {
                assert_eq!(results(&engine), expected, "{threads} threads, {lengths:?}");
            }
            let counters = engine.counters();
            assert!(counters.parallel_loops >= 4 * 4, "{counters:?}");
            assert!(counters.parallel_chunks > 4 * 4 * 5, "{counters:?}");
        }
    }
}

#[test]
fn a_segment_that_does_not_fit_traps_on_all_threads_alike() {
    let (one, four) = (eager(1), eager(4));
    let xs = floats(4000);
    for at in [0, 5, 350, 399] {
        let mut lengths = vec![10u64; 400];
        lengths[at] = 4001 - 10 * at as u64;
        let rows = || Segmented::new(&lengths.clone().into(), &xs);
        let mut offsets: Vec<u32> = (0..=400).map(|i| 10 * i).collect();
        offsets[at + 1] = 10 * at as u32 + 4001;
        let cut = || Segmented::from_offsets(&offsets.clone().into(), &xs);
        for make in [&rows as &dyn Fn() -> Segmented<f64>, &cut] {
            let scan = |e: &Engine| make().scan(0.0, |a, b| a + b).data().force_with(e);
            let expected = scan(&one).unwrap_err();
            for _ in 0..8 {
                assert_eq!(scan(&four).unwrap_err().kind, expected.kind, "{at}");
            }
        }
    }
    assert!(four.counters().parallel_loops > 0);
}

#[test]
fn segments_are_shared() {
    let lengths = |n: u64| (0..n).map(|i| (i * i) % 17).collect::<Vec<u64>>();
    let n = lengths(400).iter().sum::<u64>() as usize;
    let rows = || Segmented::new(&lengths(400).into(), &floats(n));
    same!(rows().sum()).unwrap();
    same!(rows().filter(|x| x.gt(0.0)).data().map(|x| x + 1.0)).unwrap();
}

#[test]
fn one_giant_segment_among_empty_ones() {
    let mut lengths = vec![0u64; 3000];
    lengths[1700] = 4000;
    let rows = || Segmented::new(&lengths.clone().into(), &floats(4000));
    same!(rows().sum()).unwrap();
}

/// Each thread adds to an array of its own.
#[test]
fn exact_sums_by_key_are_shared() {
    let bins = |start: i64| Bins { count: 10, start };
    let keys = ints(5000).map(|x| x % 10);
    let sums = || ints(5000).reduce_by_index(&keys, bins(7), |a, b| a + b);
    same!(sums()).unwrap();
    let lengths = ints(5000).map(|x| x.cast::<u8>());
    let start = || Bins {
        count: 10,
        start: 3u8,
    };
    same!(lengths.reduce_by_index(&keys, start(), |a, b| a + b)).unwrap();
    same!(lengths.reduce_by_index(&keys, start(), |a, b| a.max(b))).unwrap();
    same!((sums(), ints(5000).scan(0, |a, b| a + b))).unwrap();
    // Other sums depend on the order.
    let four = eager(4);
    let floats = floats(5000).reduce_by_index(
        &keys,
        Bins {
            count: 10,
            start: 0.0,
        },
        |a, b| a + b,
    );
    floats.force_with(&four).unwrap();
    assert_eq!(four.counters().parallel_loops, 0);
}

#[test]
fn a_trap_leaves_no_sums_behind() {
    let (one, four) = (eager(1), eager(4));
    let bins = || Bins {
        count: 10,
        start: 0i64,
    };
    for at in [100usize, 700, 4999] {
        let mut keys: Vec<i64> = (0..5000).map(|i| i % 10).collect();
        keys[at] = 10;
        let keys = Array::from(keys);
        let sums = || ints(5000).reduce_by_index(&keys, bins(), |a, b| a + b);
        let expected = sums().force_with(&one).unwrap_err();
        for _ in 0..8 {
            assert_eq!(
                sums().force_with(&four).unwrap_err().kind,
                expected.kind,
                "{at}"
            );
        }
    }
    assert!(four.counters().parallel_loops > 0);
}

#[test]
fn the_first_trap_is_reported() {
    let divisors = |zeros: &[usize]| {
        let mut xs = vec![3i64; 5000];
        zeros.iter().for_each(|i| xs[*i] = 0);
        Array::from(xs)
    };
    let (one, four) = (eager(1), eager(4));
    for zeros in [&[4900usize, 300][..], &[2000, 2001], &[4999], &[0, 4000]] {
        let quotients = || ints(5000).zip_with(&divisors(zeros), |a, b| a / b);
        let expected = quotients().force_with(&one).unwrap_err();
        for _ in 0..8 {
            let got = quotients().force_with(&four).unwrap_err();
            assert_eq!(got.kind, expected.kind, "{zeros:?}");
        }
        // The inputs are unchanged.
        let sum = divisors(zeros).sum().force_with(&four).unwrap();
        assert_eq!(sum, 3 * (5000 - zeros.len() as i64));
    }
}

#[test]
fn early_exits() {
    let xs = ints(20_000);
    let (one, four) = (eager(1), eager(4));
    for most in [-1i64, 0, 50, 98, 99] {
        let find = || xs.position(|x| x.gt(most));
        assert_eq!(find().force_with(&four), find().force_with(&one));
        let any = || xs.any(|x| x.eq(most));
        assert_eq!(any().force_with(&four), any().force_with(&one));
    }
    // After the exit, nothing traps.
    let before = ints(20_000).take_while(|x| x.ne(93));
    let quotients = || before.map(|x| 1000 / (x - 94));
    assert_eq!(quotients().force_with(&four), quotients().force_with(&one));
}

#[test]
fn many_callers_at_once() {
    let engine = eager(3);
    let expected = floats(3000)
        .scan(0.0, |a, b| a + b)
        .force_with(&eager(1))
        .unwrap();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..4 {
                    let sums = floats(3000).scan(0.0, |a, b| a + b);
                    assert_eq!(sums.force_with(&engine).unwrap(), expected);
                }
            });
        }
    });
}

#[test]
fn inside_of_rayon() {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(3)
        .build()
        .unwrap();
    let engine = eager(8);
    let sum = || floats(3000).sum().force_with(&engine).unwrap().to_bits();
    let expected = sum();
    fn all(depth: u32, sum: &(dyn Fn() -> u64 + Sync)) -> Vec<u64> {
        if depth == 0 {
            return vec![sum()];
        }
        let (mut a, b) = rayon::join(|| all(depth - 1, sum), || all(depth - 1, sum));
        a.extend(b);
        a
    }
    let sums = pool.install(|| all(3, &sum));
    assert_eq!(sums, vec![expected; 8]);
}

#[test]
fn a_force_is_cancelled_from_another_thread() {
    for threads in [1, 3] {
        let token = CancelToken::new();
        let begun = Arc::new(AtomicBool::new(false));
        let told = begun.clone();
        let engine = eager(threads).with_cancel(token.clone());
        let engine = engine.with_progress(move |_| told.store(true, Ordering::Relaxed));
        // Too long for a test to wait for its end.
        let endless = iota(1u64 << 46).map(|i| i * i).sum();
        let stopped = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !begun.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                token.cancel();
            });
            endless.force_with(&engine).unwrap_err()
        });
        assert_eq!(stopped.kind, ErrorKind::Cancelled);
        assert_eq!(stopped.to_string(), "`force`: cancelled");
        assert!(token.is_cancelled());
    }
}

#[test]
fn inputs_of_a_cancelled_force_stay_usable() {
    let token = CancelToken::new();
    let engine = eager(2);
    let stopped = engine.with_cancel(token.clone());
    let xs = floats(1000);
    let doubled = xs.map(|x| x * 2.0);
    token.cancel();
    assert_eq!(
        doubled.force_with(&stopped).unwrap_err().kind,
        ErrorKind::Cancelled
    );
    assert_eq!(doubled.force_with(&engine).unwrap().len(), 1000);
    // Forced values are available.
    assert_eq!(doubled.force_with(&stopped).unwrap().len(), 1000);
}

#[test]
fn progress_goes_up_to_the_end() {
    for threads in [1, 4] {
        let seen = Arc::new(Mutex::new(Vec::<Progress>::new()));
        let saw = seen.clone();
        let engine = eager(threads).with_progress(move |p| saw.lock().unwrap().push(p));
        let xs = floats(200_000);
        let sum = xs.sum().force_with(&engine).unwrap();
        assert!(sum.is_finite());
        let seen = seen.lock().unwrap();
        assert!(seen.len() > 1);
        let rises = seen.windows(2).all(|w| w[0].steps <= w[1].steps);
        assert!(rises, "{seen:?}");
        assert!(
            seen.iter()
                .all(|p| p.total == Some(200_000) && p.loops == 1)
        );
    }
}

#[test]
fn a_panic_in_a_callback_leaves_nothing_behind() {
    for threads in [1, 3] {
        let plain = eager(threads);
        let calls = AtomicU64::new(0);
        let engine = plain.with_progress(move |_| {
            if calls.fetch_add(1, Ordering::Relaxed) == 1 {
                panic!("enough");
            }
        });
        let sum = floats(50_000).sum();
        let force = || sum.force_with(&engine);
        assert!(catch_unwind(AssertUnwindSafe(force)).is_err());
        let expected = floats(50_000).sum().force_with(&plain).unwrap();
        assert_eq!(
            sum.force_with(&engine).unwrap().to_bits(),
            expected.to_bits()
        );
    }
}

#[test]
fn one_thread_shares_nothing() {
    let engine = Engine::builder().threads(0).build();
    assert_eq!(engine.threads(), 1);
    iota(1_000_000).sum().force_with(&engine).unwrap();
    assert_eq!(engine.counters().parallel_loops, 0);
}

/// Returns the result of `body`, or fails the test after a minute.
fn within_a_minute<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    let (send, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || send.send(body()));
    let limit = std::time::Duration::from_secs(60);
    ended.recv_timeout(limit).expect("it came to no end")
}

fn pool(threads: usize) -> Arc<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    Arc::new(pool.unwrap())
}

/// Forces with a callback on a thread of a two-thread pool. If `busy`, the other thread is occupied
/// until then.
fn sum_in_a_pool(
    busy: bool,
    call: impl Fn(&Arc<rayon::ThreadPool>) + Send + Sync + 'static,
) -> f64 {
    let two = pool(2);
    let over = Arc::new(AtomicBool::new(!busy));
    let (until, occupied) = (over.clone(), Arc::new(AtomicBool::new(false)));
    let begun = occupied.clone();
    if busy {
        two.spawn(move || {
            begun.store(true, Ordering::Release);
            while !until.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
        });
        while !occupied.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    }
    let within = two.clone();
    let engine = eager(2).with_progress(move |_| call(&within));
    let sum = two.install(|| floats(5000).sum().force_with(&engine));
    over.store(true, Ordering::Release);
    sum.unwrap()
}

/// The forcing thread takes its own help request from the pool, and must not wait for itself.
#[test]
fn a_callback_yields_to_the_pool_that_it_is_called_in() {
    let expected = floats(5000).sum().force_with(&eager(1)).unwrap();
    for busy in [true, false] {
        let yielding = move || {
            sum_in_a_pool(busy, |_| {
                rayon::yield_now();
            })
        };
        assert_eq!(within_a_minute(yielding), expected, "busy: {busy}");
        let installing = move || {
            let other = pool(1);
            sum_in_a_pool(busy, move |_| other.install(|| ()))
        };
        assert_eq!(within_a_minute(installing), expected, "busy: {busy}");
    }
}

/// The callback needs the helping thread, which must not wait for the caller.
#[test]
fn a_callback_waits_for_the_pool_without_working_for_it() {
    let expected = floats(5000).sum().force_with(&eager(1)).unwrap();
    let waiting = || {
        let calls = AtomicU64::new(0);
        sum_in_a_pool(false, move |pool| {
            if calls.fetch_add(1, Ordering::Relaxed) < 4 {
                let pool = pool.clone();
                let outside = std::thread::spawn(move || pool.install(|| ()));
                outside.join().unwrap();
            }
        })
    };
    assert_eq!(within_a_minute(waiting), expected);
}

/// Forces a program over an array.
type Run = fn(&Array<i64>, &Engine) -> Result<(), Error>;

/// Scalar loops inside every kind of outer loop. None ends for a non-negative element.
fn scalar_loops() -> Vec<Run> {
    fn turns(x: Exp<i64>) -> Exp<i64> {
        while_loop(x, |x| x.ge(0), |x| (x + 1) & 0xffff)
    }
    fn long(x: Exp<i64>) -> Exp<i64> {
        let step = |x: Exp<i64>| (0..20).fold(x, |x, i| (x * 3 + i) & 0xffff);
        while_loop(x, |x| x.ge(0), step)
    }
    fn force<T: Elt>(a: &Array<T>, engine: &Engine) -> Result<(), Error> {
        a.force_with(engine).map(drop)
    }
    vec![
        |xs, e| force(&xs.map(turns), e),
        |xs, e| force(&xs.map(long), e),
        |xs, e| xs.map(turns).sum().force_with(e).map(drop),
        |xs, e| xs.map(long).sum().force_with(e).map(drop),
        |xs, e| {
            let step = |x: Exp<i64>| (0..200).fold(turns(x), |x, i| (x * 3 + i) ^ (x >> 5));
            force(&xs.map(step), e)
        },
        |xs, e| force(&xs.map(turns).scan(0, |a, b| a + b), e),
        |xs, e| force(&xs.filter(|x| turns(x).lt(0)), e),
        |xs, e| force(&xs.take_while(|x| turns(x).lt(0)), e),
        |xs, e| xs.fold(-1, |a, b| turns(a.max(b))).force_with(e).map(drop),
        |xs, e| {
            let kept = xs.filter(|x| turns(x).lt(0));
            force(&kept.zip_with(&xs.filter(|x| x.lt(0)), |a, b| a + b), e)
        },
        |xs, e| {
            let rows = Segmented::new(&Array::from(vec![100u64, 100]), xs);
            force(&rows.map(turns).sum(), e)
        },
    ]
}

/// Cancels a force in which one element's scalar loop never ends.
fn stops(engine: &Engine, (n, at): (usize, usize), run: Run) -> ErrorKind {
    let mut xs = vec![-1; n];
    xs[at] = 1;
    let token = CancelToken::new();
    let (stop, watched) = (token.clone(), engine.with_cancel(token));
    std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        stop.cancel();
    });
    let endless = move || run(&xs.into(), &watched).unwrap_err();
    within_a_minute(endless).kind
}

/// In a strip of such loops, and after the last one.
#[test]
fn a_scalar_loop_is_cancelled() {
    let engines = [
        Engine::interp(),
        #[cfg(feature = "jit")]
        Engine::jit(),
        Engine::c(),
    ];
    for engine in engines {
        for (i, run) in scalar_loops().into_iter().enumerate() {
            let ends = run(&vec![-1; 200].into(), &engine);
            assert_eq!(ends, Ok(()), "{i}: {engine:?}");
            for at in [40, 199] {
                let stopped = stops(&engine, (200, at), run);
                assert_eq!(stopped, ErrorKind::Cancelled, "{i}: {engine:?}");
            }
        }
    }
}

/// Also in code that was compiled in the background.
#[cfg(feature = "jit")]
#[test]
fn a_scalar_loop_is_cancelled_on_every_tier() {
    let engine = Engine::builder().build();
    let run = scalar_loops()[2];
    let start = std::time::Instant::now();
    while engine.counters().tiers.c == 0 && engine.fallback().is_none() {
        assert_eq!(run(&vec![-1; 400_000].into(), &engine), Ok(()));
        assert!(start.elapsed().as_secs() < 300, "{:?}", engine.counters());
    }
    let stopped = stops(&engine, (400_000, 200_040), run);
    assert_eq!(stopped, ErrorKind::Cancelled);
}

/// A subrate passes values to another within one iteration, even if other threads run other
/// iterations.
#[test]
fn exits_that_share_some_of_what_they_need() {
    let xs = ints(5000);
    let made = || {
        let mapped = [2i64, 3, 5].map(|k| xs.map(move |x| (x, x * k + 1)));
        let taken = [0, 1, 2].map(|k| {
            let [a, b] = [(k + 1) % 3, (k + 2) % 3].map(|k| &mapped[k]);
            let both = a.zip_with(b, |(x, p), (_, q)| (x, p, q));
            both.take_while(|(x, _, _)| x.ge(0))
        });
        let [a, b, c] = taken.map(|t| t.map(|(_, p, q)| p * 7 + q));
        (a, b, c, xs.sum())
    };
    let one = made();
    let one = (&one.0, &one.1, &one.2, &one.3)
        .force_with(&eager(1))
        .unwrap();
    for _ in 0..8 {
        let four = made();
        let four = (&four.0, &four.1, &four.2, &four.3)
            .force_with(&eager(4))
            .unwrap();
        assert!(four.0 == one.0 && four.1 == one.1 && four.2 == one.2);
        assert_eq!(four.3, one.3);
    }
}

/// A block writes its results at consecutive places, so threads share the copy. Equal indices write
/// in order.
#[test]
fn scatters_of_blocks_are_shared() {
    let m = Array::from_vec((60, 200), (0..12_000i64).map(|i| i * 37 % 101).collect());
    let steps = |r: Array<i64>| iterate_n(5, &r, |r| r.reverse().map(|x| x * 3 % 1000));
    let blocks = BlockBytes {
        all: 0,
        block: 48_000,
    };
    let together = m.map_rows(steps).force_with(&eager(1)).unwrap();
    let by_block = same!(blocks.with(|| m.map_rows(steps))).unwrap();
    assert_eq!(by_block, together);
    let in_order = "combines values with elements in their order";
    let explained = |ys: &dyn Fn() -> Array<i64, Ix2>| {
        let ys = blocks.with(ys);
        ys.explain_with(&eager(4)).unwrap().to_string()
    };
    let text = explained(&|| m.map_rows(steps));
    assert!(text.contains("\nblocks at") && !text.contains(in_order));
    let (base, xs) = (ints(5000), ints(5000));
    let repeated = generate(5000, |i| i % 7);
    let written = || base.scatter(&repeated, &xs);
    let text = written().explain_with(&eager(4)).unwrap().to_string();
    assert!(text.contains(in_order), "{text}");
    let one = written().force_with(&eager(1));
    assert_eq!(written().force_with(&eager(4)), one);
}
