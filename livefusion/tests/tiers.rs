//! The default engine changes tiers as work grows, without any effect on results.
#![cfg(feature = "jit")]

use livefusion::Ix0;
use livefusion::prelude::*;
use livefusion::runtime::TierRuns;
use std::time::{Duration, Instant};

fn shares(n: u64) -> (Array<f64>, Array<f64, Ix0>) {
    let xs = iota(n).map(|i| (i.cast::<f64>() * 0.37).sin());
    let kept = xs.filter(|x| x.gt(-0.5));
    (kept.map(|x| x * 3.0), kept.sum())
}

/// Forces on an engine, and compares with the interpreter bit for bit.
fn check(engine: &Engine, n: u64) -> TierRuns {
    let bits = |engine: &Engine| {
        let (shares, total) = shares(n);
        let shares = shares.force_with(engine).expect("it runs");
        let shares: Vec<u64> = shares.iter().map(|x| x.to_bits()).collect();
        let total = total.force_with(engine).expect("it runs");
        (shares, total.to_bits())
    };
    assert!(bits(engine) == bits(&Engine::interp()), "{n} elements");
    engine.counters().tiers
}

/// An engine that does not see the C of earlier processes.
fn without_earlier_c() -> Engine {
    let builder = Engine::builder();
    #[cfg(feature = "c")]
    let builder = builder.kernel_cache(livefusion::KernelCache::off());
    builder.build()
}

#[test]
fn tiny_runs_are_interpreted_until_they_come_often() {
    let engine = Engine::builder().build();
    let first = check(&engine, 10);
    assert!(
        first.interp > 0 && first.jit == 0 && first.c == 0,
        "{first:?}"
    );
    for _ in 0..5 {
        check(&engine, 10);
    }
    let often = engine.counters().tiers;
    assert!(often.jit > 0 && often.c == 0, "{often:?}");
}

#[test]
fn others_run_at_once_on_code() {
    let engine = without_earlier_c();
    let tiers = check(&engine, 50_000);
    assert!(
        tiers.jit > 0 && tiers.interp == 0 && tiers.c == 0,
        "{tiers:?}"
    );
    let (more, _) = shares(50_000);
    let explained = more.explain_with(&engine).expect("it can be planned");
    assert_eq!(explained.backend, "tiered");
    assert!(
        explained.to_string().contains("compiled by Cranelift"),
        "{explained}"
    );
}

#[test]
fn long_runs_go_over_to_c() {
    let engine = without_earlier_c();
    let start = Instant::now();
    loop {
        let tiers = check(&engine, 1_500_000);
        if engine.fallback().is_some() {
            assert!(tiers.jit > 0 && tiers.c == 0, "{tiers:?}");
            return;
        }
        if tiers.c > 0 {
            assert!(tiers.jit > 0, "C is not waited for: {tiers:?}");
            let (more, _) = shares(1_500_000);
            let explained = more.explain_with(&engine).expect("it can be planned");
            assert!(
                explained.to_string().contains("compiled as C"),
                "{explained}"
            );
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(300), "{tiers:?}");
    }
}

/// Runs that are not worth the C compiler use the C of an earlier process.
#[test]
#[cfg(feature = "c")]
fn c_on_disk_is_used_without_the_compiler() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let cache = livefusion::KernelCache::in_folder(folder.path().join("kernels"));
    let earlier = Engine::builder()
        .only_c()
        .kernel_cache(cache.clone())
        .build();
    let (array, _) = shares(1);
    if array.force_with(&earlier).is_err() {
        return;
    }
    check(&earlier, 50_000);
    let engine = Engine::builder().kernel_cache(cache).build();
    let start = Instant::now();
    while check(&engine, 50_000).c == 0 {
        let waited = start.elapsed();
        assert!(waited < Duration::from_secs(300), "{}", engine.counters());
    }
    let counters = engine.counters();
    assert_eq!(counters.compiler_runs, 0, "{counters}");
    assert!(counters.disk_hits > 0, "{counters}");
}

/// A few elements with long scalar loops take as long as many elements without.
#[test]
fn scalar_loops_weigh_what_they_do() {
    let engine = Engine::builder().build();
    let turned = |n: u64| {
        iota(n)
            .map(|i| while_loop(i % 7, |k| k.lt(1000), |k| k + 3))
            .sum()
    };
    let expected = turned(400_000).force_with(&Engine::interp());
    let total = turned(400_000);
    assert_eq!(total.force_with(&engine), expected);
    let explained = turned(400_000)
        .explain_with(&engine)
        .expect("it can be planned");
    let mut tiers = explained.loops.iter().filter_map(|l| l.tier.as_deref());
    let requested = tiers.any(|t| t.contains("C requested") || t.contains("as C"));
    assert!(requested || engine.fallback().is_some(), "{explained}");
}

#[test]
fn traps_are_found_on_every_tier() {
    let engine = Engine::builder().build();
    for n in [10u64, 50_000] {
        let xs = iota(n).map(|i| 100 / (i - i));
        let error = xs.force_with(&engine).expect_err("a division by zero");
        assert_eq!(error.combinator, "map");
    }
}
