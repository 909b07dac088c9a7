//! Result arrays that begin short and grow between spans.
//!
//! They are used where a filter keeps few of many elements.

use livefusion::prelude::*;
use livefusion::{ErrorKind, Result};
use livefusion_backend::Backend;
use livefusion_backend::memory::MUCH;
use std::sync::Arc;

/// Engines on each backend and the tiers, with one and two threads. Their arrays begin with `first`
/// bytes.
fn engines(first: Option<u64>) -> Vec<Engine> {
    engines_with(first, None)
}

/// Engines as in `engines`, with a memory limit.
fn engines_with(first: Option<u64>, limit: Option<u64>) -> Vec<Engine> {
    let backends: [Option<Arc<dyn Backend>>; 4] = [
        Some(Arc::new(livefusion_interp::InterpBackend::new())),
        Some(Arc::new(livefusion_jit::JitBackend::new())),
        Some(Arc::new(livefusion_c::CBackend::new())),
        None,
    ];
    let mut engines = Vec::new();
    for backend in backends {
        for threads in [1, 2] {
            let mut builder = Engine::builder().threads(threads);
            if let Some(backend) = &backend {
                builder = builder.backend(backend.clone());
            }
            if let Some(bytes) = first {
                builder = builder.first_room(bytes);
            }
            if let Some(bytes) = limit {
                builder = builder.memory_limit(bytes);
            }
            if threads > 1 {
                builder = builder.eager();
            }
            engines.push(builder.build());
        }
    }
    engines
}

/// Bytes of memory that the columns of an array hold.
fn bytes<T: livefusion::Elt>(xs: &livefusion::Manifest<T>) -> usize {
    let value = livefusion::Array::from(xs.clone());
    let node = value.node();
    match node.value.get() {
        Some(livefusion::ast::Value::Array(columns)) => columns.iter().map(|c| c.bytes()).sum(),
        _ => 0,
    }
}

#[test]
fn begin_short_a_filter_of_four_billion_keeps_three() -> Result<()> {
    for engine in [
        Engine::c(),
        Engine::jit(),
        Engine::builder().threads(2).build(),
    ] {
        let kept = iota(1u64 << 32).filter(|i| i.lt(3)).force_with(&engine)?;
        assert_eq!(kept, [0, 1, 2]);
        assert!(bytes(&kept) < 1 << 20, "{}", bytes(&kept));
        let first = iota(1u64 << 40)
            .take_while(|i| i.lt(1000))
            .force_with(&engine)?;
        assert_eq!(first, (0..1000).collect::<Vec<u64>>());
        let few = iota(1u64 << 40)
            .filter(|i| (i % 7).eq(0))
            .take(3)
            .force_with(&engine)?;
        assert_eq!(few, [0, 7, 14]);
    }
    Ok(())
}

#[test]
fn begin_short_what_is_kept_is_the_same_on_all_engines() -> Result<()> {
    const N: u64 = 300_000;
    for engine in engines(Some(64)) {
        let name = engine.backend_name();
        let all = iota(N);
        let few = all.filter(|i| (i % 1000).eq(1));
        let most = all.filter(|i| (i % 1000).ne(1)).map(|i| i * 3);
        let (few, most, n) = (&few, &most, &all.len()).force_with(&engine)?;
        assert_eq!(few.len() + most.len(), n as usize, "{name}");
        let want: Vec<u64> = (0..N).filter(|i| i % 1000 != 1).map(|i| i * 3).collect();
        assert_eq!(most, want, "{name}");
        assert_eq!(
            few.to_vec()?,
            (0..N / 1000).map(|i| i * 1000 + 1).collect::<Vec<_>>()
        );
        let pairs = iota(800).combinations();
        let odd = pairs
            .filter(|(a, b)| ((a * b) % 7).eq(1))
            .force_with(&engine)?;
        let want = (0..800u64).flat_map(|a| (a + 1..800).map(move |b| (a, b)));
        let want: Vec<(u64, u64)> = want.filter(|(a, b)| a * b % 7 == 1).collect();
        assert_eq!(odd.to_vec()?, want, "{name}");
        let (xs, ys) = (iota(300), iota(400).map(|i| i.cast::<f32>()));
        let grid = xs
            .cartesian(&ys)
            .filter(|(x, y)| (x % 5).eq(2).and(y.gt(100.5)));
        assert_eq!(grid.len().force_with(&engine)?, 60 * 299, "{name}");
        let grid = xs
            .cartesian(&ys)
            .filter(|(x, y)| (x % 5).eq(2).and(y.gt(100.5)));
        assert_eq!(
            grid.force_with(&engine)?.iter().nth(299),
            Some((7, 101.0)),
            "{name}"
        );
        let until = all
            .take_while(|i| (i * i).lt(1u64 << 30))
            .force_with(&engine)?;
        assert_eq!(until, (0..1 << 15).collect::<Vec<u64>>(), "{name}");
        let merged = all
            .filter(|i| (i % 3).eq(0))
            .merge(&all.filter(|i| (i % 5).eq(0)), |a, b| a.le(b));
        let merged = merged.force_with(&engine)?;
        assert_eq!(
            merged.len(),
            (N.div_ceil(3) + N.div_ceil(5)) as usize,
            "{name}"
        );
        let two = all
            .filter(|i| (i % 9).eq(0))
            .append(&all.map(|i| i + 7).filter(|i| (i % 2).eq(0)));
        let want: Vec<u64> = (0..N)
            .filter(|i| i % 9 == 0)
            .chain((7..N + 7).filter(|i| i % 2 == 0))
            .collect();
        assert_eq!(two.force_with(&engine)?, want, "{name}");
        assert!(
            engine.counters().grown > 20,
            "{name}: {}",
            engine.counters()
        );
    }
    Ok(())
}

#[test]
fn begin_short_several_results_of_one_loop_grow_apart() -> Result<()> {
    const N: u64 = 200_000;
    for engine in engines(Some(8)) {
        let name = engine.backend_name();
        let xs = iota(N).map(|i| i * 2654435761u64 % 1000);
        let (low, high) = xs.partition(|x| x.lt(70));
        let sums = low.map(|x| x.cast::<f64>() * 0.1).scan(0.0, |a, b| a + b);
        let runs = xs.map(|x| x / 10).unique();
        let (low, high, sums, runs) = (&low, &high, &sums, &runs).force_with(&engine)?;
        assert_eq!(
            (low.len() + high.len(), sums.len()),
            (N as usize, low.len()),
            "{name}"
        );
        let again = iota(N).map(|i| i * 2654435761u64 % 1000);
        let want = again.filter(|x| x.lt(70)).map(|x| x.cast::<f64>() * 0.1);
        let want = want.scan(0.0, |a, b| a + b).force_with(&Engine::interp())?;
        let bits = |xs: &[f64]| xs.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&sums), bits(&want), "{name}");
        let mut want: Vec<u64> = (0..N).map(|i| i * 2654435761 % 1000 / 10).collect();
        want.dedup();
        assert_eq!(runs, want, "{name}");
        let rows = Segmented::from_uniform(1000, &iota(N));
        let kept = rows.filter(|x| (x % 11).eq(3));
        let (lengths, data) = (kept.lengths(), kept.data());
        let (lengths, data) = (&lengths, &data).force_with(&engine)?;
        assert_eq!(
            data,
            (0..N).filter(|x| x % 11 == 3).collect::<Vec<_>>(),
            "{name}"
        );
        assert_eq!(lengths.len(), 200, "{name}");
    }
    Ok(())
}

#[test]
fn begin_short_a_trap_is_found_where_arrays_have_grown() {
    for engine in engines(Some(8)) {
        let kept = iota(100_000)
            .filter(|i| (i % 3).eq(0))
            .map(|i| 7 / (i - 90_000));
        let error = kept.force_with(&engine).expect_err("a division by zero");
        let zero = ErrorKind::Division {
            dividend: 7,
            divisor: 0,
        };
        assert_eq!((error.combinator, error.kind), ("map", zero));
    }
}

#[test]
fn begin_short_a_limit_is_held_against_what_is_kept() -> Result<()> {
    for (n, first) in [(1u64 << 20, None), (1 << 17, Some(64))] {
        for engine in engines_with(first, Some(n)) {
            // An eighth of the elements needs `n` bytes, which fits.
            let eighth = iota(n).filter(|i| (i % 8).eq(0)).force_with(&engine)?;
            assert_eq!(eighth.len() as u64, n / 8);
            assert!(bytes(&eighth) as u64 <= n + (1 << 20), "{}", bytes(&eighth));
            let more = iota(n).filter(|i| (i % 7).eq(0));
            let error = more.force_with(&engine).expect_err("more than fits");
            assert_eq!(error.combinator, "filter");
            assert!(
                matches!(error.kind, ErrorKind::Memory { limit, .. } if limit == n),
                "{error}"
            );
            assert!(iota(n).force_with(&engine).is_err());
        }
    }
    Ok(())
}

/// Sixteen terabytes exceed any machine's memory, and many systems would refuse them.
#[test]
fn memory_without_a_limit_is_what_the_process_has_free() {
    for engine in engines(None) {
        let pairs = iota(1u64 << 21).combinations();
        let error = pairs.force_with(&engine).expect_err("sixteen terabytes");
        assert_eq!(error.combinator, "combinations", "{error}");
        assert_eq!(error.location, Some(pairs.node().loc));
        let ErrorKind::Memory { bytes, limit } = error.kind else {
            panic!("{error}");
        };
        assert!(bytes > limit && limit > MUCH, "{error}");
        let text = error.to_string();
        assert!(
            text.contains(&format!("expected room for {bytes} bytes more, got less")),
            "{text}"
        );
    }
}
