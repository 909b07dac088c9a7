//! Locations of arrays, and faults, on an engine whose device is the shim.
//!
//! The shim defers all work as long as possible. So it exposes memory that is freed too early, and
//! words that are read too early.

use livefusion::error::{Error, ErrorKind};
use livefusion::prelude::*;
use livefusion::runtime::Explanation;
use livefusion::{Engine, Manifest};
use livefusion_cuda::CudaBackend;
use livefusion_cuda::device::session::Session;
use livefusion_cuda_shim::{Call, Cxx, Shim, Stub, can_compile, error};
use livefusion_interp::InterpBackend;
use std::sync::Arc;

const MB: u64 = 1 << 20;

/// A device, its session, and an engine on it.
struct On {
    driver: Arc<Stub>,
    session: Arc<Session>,
    engine: Engine,
}

/// Creates a device with `memory` bytes, if there is a compiler.
fn device(memory: u64) -> Option<On> {
    if !can_compile() {
        return None;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    Some(On::new(memory, &cxx))
}

impl On {
    fn new(memory: u64, cxx: &Cxx) -> On {
        let shim = Shim {
            memory,
            ..Shim::default()
        };
        let driver = shim.driver();
        driver.be_late();
        let session = Session::new(driver.clone(), Box::new(cxx.clone()));
        let backend = CudaBackend::on(session.clone(), Arc::new(InterpBackend::new()));
        On {
            driver,
            session,
            engine: Engine::new(Arc::new(backend)),
        }
    }

    /// Returns the numbers of copies to the device and back.
    fn copies(&self) -> (u64, u64) {
        let calls = |call| self.driver.calls(call);
        (calls(Call::ToDevice), calls(Call::ToHost))
    }
}

fn numbers(n: i64) -> Vec<i64> {
    (0..n).map(|i| (i * 7919) % 1009 - 500).collect()
}

/// Returns whether each loop runs on the device.
fn on_device(explained: &Explanation) -> Vec<bool> {
    let tier = |l: &livefusion::runtime::ExplainedLoop| l.tier.clone().unwrap_or_default();
    let tiers = explained.loops.iter().map(tier);
    tiers.map(|t| t.starts_with("on sm_90")).collect()
}

#[test]
fn forced_arrays_stay_and_come_back_once() {
    let Some(on) = device(64 * MB) else {
        return;
    };
    let xs = numbers(20_000);
    let ys = Array::from(xs.clone()).map(|x| x + 1);
    assert_eq!(on_device(&ys.explain_with(&on.engine).unwrap()), [true]);
    let ys: Manifest<i64> = ys.force_with(&on.engine).unwrap();
    assert_eq!(on.copies(), (1, 0));
    assert_eq!(ys.len(), 20_000);
    assert_eq!(on.copies(), (1, 0), "its length is known here");
    assert_eq!((ys[0], ys[19_999]), (xs[0] + 1, xs[19_999] + 1));
    assert_eq!(on.copies(), (1, 1));
    // The array is now on both sides.
    let zs = Array::from(ys.clone()).filter(|y: Exp<i64>| y.gt(0));
    let zs = zs.force_with(&on.engine).unwrap();
    assert_eq!(on.copies(), (1, 1));
    let kept = xs.iter().map(|x| x + 1).filter(|y| *y > 0);
    assert_eq!(zs.to_vec().unwrap(), kept.collect::<Vec<_>>());
    assert_eq!(on.copies(), (1, 2));
    assert_eq!(on.driver.unwritten(), 0);
}

#[test]
fn an_input_is_copied_once() {
    let Some(on) = device(64 * MB) else {
        return;
    };
    let host = numbers(10_000);
    let xs = Array::from(host.clone());
    for k in 2..7 {
        let ys = xs.map(|x| x * k).force_with(&on.engine).unwrap();
        let sum = xs.map(|x| x + k).sum().force_with(&on.engine).unwrap();
        assert_eq!(sum, host.iter().map(|x| x + k).sum::<i64>());
        assert_eq!(
            ys.to_vec().unwrap(),
            host.iter().map(|x| x * k).collect::<Vec<_>>()
        );
    }
    assert_eq!(on.copies(), (1, 5));
}

/// A sequential loop between two parallel ones.
fn by_turns(xs: &Array<i64>) -> Array<i64> {
    let kept = xs.filter(|x: Exp<i64>| x.gt(0));
    let scanned = kept.reverse().scan_seq(1, |acc, x| (acc * 3 + x) % 1000);
    scanned.reverse().map(|x| x * 2)
}

#[test]
fn arrays_go_to_the_host_and_back_between_loops() {
    let Some(on) = device(64 * MB) else {
        return;
    };
    let xs = Array::from(numbers(6000));
    let ys = by_turns(&xs);
    let explained = ys.explain_with(&on.engine).unwrap();
    assert_eq!(on_device(&explained), [true, false, true], "{explained}");
    let ys = ys.force_with(&on.engine).unwrap();
    // The input and the host's result were copied there. The filtered array was copied back.
    assert_eq!(on.copies(), (2, 1));
    let wanted = by_turns(&xs).force_with(&Engine::interp()).unwrap();
    assert_eq!(ys.to_vec().unwrap(), wanted.to_vec().unwrap());
}

#[test]
fn the_pool_is_emptied_where_memory_does_not_suffice() {
    let Some(on) = device(MB) else {
        return;
    };
    let plus = |k: i64, n| {
        let ys = Array::from(numbers(n)).map(move |x| x + k);
        ys.force_with(&on.engine)
    };
    // Of 160 and of 80 kB, dropped at once.
    for n in [20_000, 10_000] {
        drop(plus(1, n).unwrap());
    }
    assert!(on.session.pool().kept() > 400_000);
    let freed = on.driver.calls(Call::Free);
    // 640 kB.
    let ys = plus(2, 40_000).unwrap();
    assert!(on.driver.calls(Call::Free) > freed);
    let wanted: Vec<i64> = numbers(40_000).iter().map(|x| x + 2).collect();
    assert_eq!(ys.to_vec().unwrap(), wanted);
}

#[test]
fn out_of_memory_is_an_error_and_no_more() {
    let Some(on) = device(MB) else {
        return;
    };
    let plus = |n| {
        let xs = Array::from(numbers(n));
        (xs.map(|x| x + 1).force_with(&on.engine), numbers(n))
    };
    for _ in 0..2 {
        let (large, _) = plus(1 << 20);
        let kind = large.map(drop).unwrap_err().kind;
        assert!(matches!(kind, ErrorKind::Memory { .. }), "{kind:?}");
        let (small, xs) = plus(1000);
        let wanted: Vec<i64> = xs.iter().map(|x| x + 1).collect();
        assert_eq!(small.unwrap().to_vec().unwrap(), wanted);
    }
    let used = on.session.pool().used();
    assert_eq!(used, 512, "a ticket, and what blocks tell each other");
}

/// Returns the results of a loop that makes an array and of one that sums it up.
fn both(on: &On, xs: &Array<i64>) -> Result<(Vec<i64>, i64), Error> {
    let ys = xs.map(|x| x * 3).filter(|x: Exp<i64>| x.gt(0));
    let ys: Manifest<i64> = ys.force_with(&on.engine)?;
    let sum = Array::from(ys.clone()).sum().force_with(&on.engine)?;
    Ok((ys.to_vec()?, sum))
}

#[test]
fn faults_are_errors_and_what_comes_later_is_right() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let host = numbers(6000);
    let kept: Vec<i64> = host.iter().map(|x| x * 3).filter(|x| *x > 0).collect();
    let wanted = (kept.clone(), kept.iter().sum::<i64>());
    let calls = [
        Call::Allocate,
        Call::ToDevice,
        Call::ToHost,
        Call::Fill,
        Call::Load,
        Call::Launch,
        Call::Wait,
        Call::Words,
    ];
    for call in calls {
        // Some actions happen once per device.
        let on = On::new(64 * MB, &cxx);
        let mut failed = 0;
        for nth in 1..4 {
            on.engine.clear();
            on.session.pool().clear();
            on.driver.fail(call, nth, error("CUDA_ERROR_UNKNOWN"));
            match both(&on, &Array::from(host.clone())) {
                Ok(got) => assert_eq!(got, wanted, "{call:?} {nth}"),
                Err(e) => {
                    failed += 1;
                    let is_fault = matches!(&e.kind, ErrorKind::Backend(why) if why.contains("CUDA_ERROR_UNKNOWN"));
                    assert!(is_fault, "{call:?} {nth}: {e}");
                }
            }
            // A later fault does not occur.
            for _ in 0..4 {
                let got = both(&on, &Array::from(host.clone()));
                if let Ok(got) = got {
                    assert_eq!(got, wanted, "after {call:?} {nth}");
                }
            }
            assert_eq!(both(&on, &Array::from(host.clone())).unwrap(), wanted);
        }
        assert!(failed > 0, "{call:?}");
    }
}

#[test]
fn a_lost_device_gives_errors_and_no_values() {
    let Some(on) = device(64 * MB) else {
        return;
    };
    let xs = Array::from(numbers(6000));
    both(&on, &xs).unwrap();
    let ys = xs.map(|x| x + 5).force_with(&on.engine).unwrap();
    on.driver.lose(error("CUDA_ERROR_ILLEGAL_ADDRESS"));
    for _ in 0..3 {
        let said = both(&on, &xs).unwrap_err().to_string();
        assert!(said.contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{said}");
        let said = ys.fetch().unwrap_err().to_string();
        assert!(said.contains("does not come here"), "{said}");
    }
}

#[test]
fn traps_are_those_of_the_interpreter() {
    let Some(on) = device(64 * MB) else {
        return;
    };
    let xs = Array::from(numbers(9000));
    let inside = |at: i64| {
        (0..9000)
            .map(|i| if i == at { 9000 } else { 8999 - i })
            .collect()
    };
    for at in [-1, 0, 4321, 8999] {
        let indices: Vec<i64> = inside(at);
        let gathered = || xs.gather(&Array::from(indices.clone())).map(|x| x + 1);
        let explained = gathered().explain_with(&on.engine).unwrap();
        assert_eq!(on_device(&explained), [true], "{explained}");
        let got = gathered().force_with(&on.engine).and_then(|ys| ys.to_vec());
        let wanted = gathered()
            .force_with(&Engine::interp())
            .and_then(|ys| ys.to_vec());
        assert_eq!(got.is_err(), at >= 0);
        assert_eq!(got, wanted, "{at}");
    }
}

#[test]
fn threads_force_at_once() {
    let Some(on) = device(64 * MB) else {
        return;
    };
    let host = numbers(6000);
    let xs = Array::from(host.clone());
    let (on, host, xs) = (&on, &host, &xs);
    std::thread::scope(|scope| {
        for t in 0..3 {
            scope.spawn(move || {
                for k in 0..12 {
                    let ys = xs.map(|x| x * (t + k)).filter(|x: Exp<i64>| x.gt(t));
                    let ys = ys.force_with(&on.engine).unwrap();
                    let sum = Array::from(ys.clone())
                        .sum()
                        .force_with(&on.engine)
                        .unwrap();
                    let all = host.iter().map(|x| x * (t + k)).filter(|x| *x > t);
                    let all: Vec<i64> = all.collect();
                    assert_eq!(sum, all.iter().sum::<i64>());
                    assert_eq!(ys.to_vec().unwrap(), all);
                }
            });
        }
    });
    assert_eq!(on.driver.unwritten(), 0);
}

#[test]
fn results_may_be_dropped_while_kernels_are_queued() {
    let Some(on) = device(64 * MB) else {
        return;
    };
    let xs = Array::from(numbers(6000));
    let mut last = None;
    for k in 0..20 {
        // The array is never read, and its memory serves the next one.
        let ys = xs.map(|x| x + k).force_with(&on.engine).unwrap();
        let zs = Array::from(ys)
            .map(|x| x * 2)
            .force_with(&on.engine)
            .unwrap();
        last = Some(zs);
    }
    assert_eq!(on.copies(), (1, 0));
    let wanted: Vec<i64> = numbers(6000).iter().map(|x| (x + 19) * 2).collect();
    assert_eq!(last.unwrap().to_vec().unwrap(), wanted);
    assert!(on.driver.blocks() < 10, "{}", on.driver.blocks());
}

#[test]
fn residency_of_a_dropped_array_ends() {
    let Some(on) = device(64 * MB) else {
        return;
    };
    let xs = Array::from(numbers(6000));
    both(&on, &xs).unwrap();
    drop(xs);
    let On {
        driver,
        session,
        engine,
    } = on;
    session.pool().clear();
    engine.clear();
    drop(engine);
    drop(session);
    assert_eq!(driver.blocks(), 0);
    assert_eq!(driver.loaded.load(std::sync::atomic::Ordering::Relaxed), 0);
}

/// Filters that are zipped advance differently. Such a loop runs on the host, and names the
/// responsible combinator.
#[test]
fn residency_explains_inputs_that_advance_differently() {
    let Some(on) = device(64 * MB) else {
        return;
    };
    let (xs, ys) = (numbers(1000), numbers(1000));
    let evens = Array::from(xs.clone()).filter(|x: Exp<i64>| x.ge(0));
    let odds = Array::from(ys.clone()).filter(|y: Exp<i64>| y.gt(-1));
    let sums = evens.zip_with(&odds, |x, y| x + y);
    let explained = sums.explain_with(&on.engine).unwrap();
    let why = "on the host, by interp: the sides of `zip_with` advance differently";
    assert!(explained.to_string().contains(why), "{explained}");
    let kept = xs.iter().filter(|x| **x >= 0);
    let want: Vec<i64> = kept
        .zip(ys.iter().filter(|y| **y > -1))
        .map(|(x, y)| x + y)
        .collect();
    assert_eq!(sums.force_with(&on.engine).unwrap().to_vec().unwrap(), want);
}

/// Foreign functions get their inputs here, from any backend, and their result goes to
/// the device again. Random words equal those of other backends.
#[test]
fn sorts_and_random_numbers_are_those_of_other_backends() {
    let Some(on) = device(MB) else { return };
    let xs: Array<i64> = numbers(1000).into_iter().collect();
    let (kept, keys) = (
        xs.filter(|x| x.gt(0)),
        xs.filter(|x| x.gt(0)).map(|x| x % 7),
    );
    let sorted = |xs: &Array<i64>| xs.map(|x| x * 3).sort().scan(0, |a, b| a + b);
    assert_eq!(sorted(&xs).force_with(&on.engine), sorted(&xs).force());
    let by_key = || kept.map(|x| x + 1).sort_by_key(&keys);
    assert_eq!(by_key().force_with(&on.engine), by_key().force());
    for n in [1u64, 700, 5000] {
        let bits = || random::bits(11, n);
        assert_eq!(bits().force_with(&on.engine), bits().force());
        let dice = || random::integers(12, n, -3, 9).unique_counts();
        assert_eq!(dice().force_with(&on.engine), dice().force());
        let inside = || random::uniform2(13, n).count(|(x, y)| (x * x + y * y).lt(1.0));
        assert_eq!(inside().force_with(&on.engine), inside().force());
    }
}

/// A device that fails during a function's input transfer gives an error, not an empty array.
#[test]
fn a_lost_device_gives_a_sort_no_elements() {
    let Some(on) = device(MB) else { return };
    let xs: Array<i64> = numbers(1000).into_iter().collect();
    let doubled = xs.map(|x| x * 2);
    doubled.force_with(&on.engine).expect("it is there");
    on.driver.fail(Call::ToHost, 1, error("lost"));
    let error = doubled
        .sort()
        .force_with(&on.engine)
        .expect_err("it is lost");
    assert!(matches!(error.kind, ErrorKind::Backend(_)), "{error}");
}
