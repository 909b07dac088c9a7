//! Stress tests on every engine: threads, cancellation, memory limits, absurd lengths.

#![cfg(feature = "jit")]

use livefusion::prelude::*;
use livefusion::{CancelToken, ErrorKind};
use livefusion_backend::Backend;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn backends() -> Vec<(&'static str, Option<Arc<dyn Backend>>)> {
    vec![
        (
            "interp",
            Some(Arc::new(livefusion_interp::InterpBackend::new())),
        ),
        ("jit", Some(Arc::new(livefusion_jit::JitBackend::new()))),
        ("c", Some(Arc::new(livefusion_c::CBackend::new()))),
        ("tiered", None),
    ]
}

/// An engine on a backend, or with the tiers.
fn limited(backend: &Option<Arc<dyn Backend>>, bytes: u64) -> Engine {
    let builder = Engine::builder().memory_limit(bytes);
    match backend {
        Some(backend) => builder.backend(backend.clone()).build(),
        None => builder.build(),
    }
}

fn floats(n: usize) -> Array<f64> {
    (0..n)
        .map(|i| i as f64 * 0.5 - 7.0)
        .collect::<Vec<_>>()
        .into()
}

#[test]
fn a_hundred_threads_force_at_once() {
    let force = |k: usize| {
        let xs = floats(1000 + k % 3);
        let kept = xs.filter(|x| x.gt(k as f64));
        let sums = kept.scan(0.0, |a, b| a + b);
        let (kept, sums) = (&kept.len(), &sums.sum()).force()?;
        Ok::<_, livefusion::Error>((kept, sums.to_bits(), xs.max().force()?))
    };
    let expected: Vec<_> = (0..100).map(|k| force(k).expect("values")).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..100).map(|k| scope.spawn(move || force(k))).collect();
        for (thread, expected) in threads.into_iter().zip(&expected) {
            let got = thread.join().expect("no panic").expect("values");
            assert_eq!(got, *expected);
        }
    });
}

#[test]
fn five_hundred_cancellations() {
    let engines = [Engine::interp(), Engine::jit(), Engine::builder().build()];
    for i in 0..500u64 {
        let (token, calls) = (CancelToken::new(), AtomicU64::new(0));
        let stop = token.clone();
        let plain = &engines[i as usize % 3];
        let engine = plain.with_cancel(token).with_progress(move |_| {
            if calls.fetch_add(1, Ordering::Relaxed) == i / 3 % 4 {
                stop.cancel();
            }
        });
        let endless = iota(1u64 << 46).map(|i| i * i).sum();
        let stopped = endless.force_with(&engine).unwrap_err();
        assert_eq!(stopped.kind, ErrorKind::Cancelled);
    }
    for engine in engines {
        assert_eq!(iota(1000).sum().force_with(&engine), Ok(499_500));
    }
}

#[test]
fn twenty_memory_limits() {
    let expected = floats(2000).map(|x| x * 2.0).force().expect("values");
    for (name, backend) in backends() {
        let mut fits = 0;
        for k in 0..20u64 {
            let engine = limited(&backend, k * 4096);
            let xs = floats(2000);
            let doubled = xs.map(|x| x * 2.0);
            let kept = xs.filter(|x| x.gt(0.0));
            match (&doubled, &kept).force_with(&engine) {
                Ok((doubled, _)) => {
                    assert_eq!(doubled, expected);
                    fits += 1;
                }
                Err(e) => {
                    assert!(matches!(e.kind, ErrorKind::Memory { .. }), "{name}: {e}");
                    assert_eq!(fits, 0, "{name}: a larger limit is enough");
                }
            }
        }
        // Both results together may take 16000 bytes.
        assert!((8..=16).contains(&fits), "{name}: {fits}");
    }
}

#[test]
fn huge_and_negative_lengths() {
    let huge = (41..64)
        .map(|k| 1u64 << k)
        .chain((0..10).map(|k| u64::MAX - k));
    let huge: Vec<u64> = huge.collect();
    let negative: Vec<i64> = (0..10).map(|k| i64::MIN >> (6 * k)).collect();
    assert_eq!(huge.len() + negative.len(), 43);
    for (name, backend) in backends() {
        let engine = limited(&backend, 1 << 30);
        for n in &huge {
            let error = iota(*n).map(|i| i + 1).force_with(&engine).unwrap_err();
            assert!(
                matches!(error.kind, ErrorKind::Memory { .. }),
                "{name}, {n}: {error}"
            );
        }
        for n in &negative {
            let rows = Segmented::new(&Array::from(vec![*n, 1]), &floats(5));
            let error = rows.sum().force_with(&engine).unwrap_err();
            assert!(
                matches!(error.kind, ErrorKind::Segments { .. }),
                "{name}, {n}: {error}"
            );
        }
        assert_eq!(iota(10).sum().force_with(&engine), Ok(45));
    }
}
