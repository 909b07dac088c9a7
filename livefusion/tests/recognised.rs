//! Cached graphs match again without sharing recovery.
//!
//! Values that may differ are bound again. A difference that changes the program prevents the
//! match.

use livefusion::prelude::*;
use livefusion::{Engine, ErrorKind, Force, Result};

/// Two results that unify if `a` equals `b`.
fn shifted(xs: &Array<f64>, a: f64, b: f64) -> (Array<f64, Ix0>, Array<f64, Ix0>) {
    (xs.map(|x| x + a).sum(), xs.map(|x| x + b).sum())
}

fn dot(xs: &Array<f64>, ys: &Array<f64>) -> Array<f64, Ix0> {
    (xs * ys).sum()
}

fn recognised(engine: &Engine) -> (u64, u64, u64) {
    let counters = engine.counters();
    (counters.misses, counters.hits, counters.recognised)
}

#[test]
fn constants_arrays_and_lengths_are_bound_anew() -> Result<()> {
    let engine = Engine::interp();
    for n in 1..6u32 {
        let xs = Array::from((0..n).map(f64::from).collect::<Vec<_>>());
        let step = f64::from(n + 1);
        let (ys, total) = {
            let ys = xs.map(|x| step * x + 1.0);
            (ys.clone(), ys.sum())
        };
        let (ys, total) = (&ys, &total).force_with(&engine)?;
        let want: Vec<f64> = (0..n).map(|x| step * f64::from(x) + 1.0).collect();
        assert_eq!(ys, want);
        assert_eq!(total, want.iter().sum::<f64>());
    }
    assert_eq!(recognised(&engine), (1, 4, 4));
    Ok(())
}

#[test]
fn constants_that_have_become_equal_make_one_node() -> Result<()> {
    let engine = Engine::interp();
    let xs = Array::from(vec![1.0, 2.0]);
    let force = |a, b| {
        let (p, q) = shifted(&xs, a, b);
        (&p, &q).force_with(&engine)
    };
    assert_eq!(force(1.0, 2.0)?, (5.0, 7.0));
    assert_eq!(force(3.0, 4.0)?, (9.0, 11.0));
    assert_eq!(recognised(&engine), (1, 1, 1));
    // One sum, twice: another program.
    assert_eq!(force(1.0, 1.0)?, (5.0, 5.0));
    assert_eq!(recognised(&engine), (2, 1, 1));
    assert_eq!(force(2.0, 2.0)?, (7.0, 7.0));
    assert_eq!(recognised(&engine), (2, 2, 2));
    // Two sums again.
    assert_eq!(force(2.0, 1.0)?, (7.0, 5.0));
    assert_eq!(recognised(&engine), (2, 3, 3));
    Ok(())
}

#[test]
fn an_array_that_is_there_twice_is_not_two() -> Result<()> {
    let engine = Engine::interp();
    let (xs, ys) = (Array::from(vec![1.0, 2.0]), Array::from(vec![3.0, 4.0]));
    assert_eq!(dot(&xs, &ys).force_with(&engine)?, 11.0);
    assert_eq!(dot(&xs, &xs).force_with(&engine)?, 5.0);
    assert_eq!(dot(&ys, &ys).force_with(&engine)?, 25.0);
    assert_eq!(dot(&ys, &xs).force_with(&engine)?, 11.0);
    assert_eq!(recognised(&engine), (2, 2, 2));
    // The same memory in another array.
    let (first, second) = (xs.force()?, xs.force()?);
    assert_eq!(
        dot(&Array::from(first), &Array::from(second)).force_with(&engine)?,
        5.0
    );
    assert_eq!(recognised(&engine), (2, 3, 2));
    Ok(())
}

#[test]
fn lengths_that_differ_otherwise_are_another_program() -> Result<()> {
    let engine = Engine::interp();
    let sums = |n: usize, m: usize| {
        let (xs, ys) = (Array::from(vec![1.0; n]), Array::from(vec![2.0; m]));
        (&xs.sum(), &ys.sum()).force_with(&engine)
    };
    assert_eq!(sums(3, 3)?, (3.0, 6.0));
    assert_eq!(sums(4, 4)?, (4.0, 8.0));
    assert_eq!(recognised(&engine), (1, 1, 1));
    assert_eq!(sums(4, 5)?, (4.0, 10.0));
    assert_eq!(sums(2, 7)?, (2.0, 14.0));
    assert_eq!(recognised(&engine), (2, 2, 2));
    Ok(())
}

#[test]
fn generated_lengths_are_bound_anew() -> Result<()> {
    let engine = Engine::interp();
    for n in [3u64, 10, 0] {
        let squares = generate(n, |i| i * i).sum();
        assert_eq!(
            squares.force_with(&engine)?,
            (0..n).map(|i| i * i).sum::<u64>()
        );
    }
    assert_eq!(recognised(&engine), (1, 2, 2));
    Ok(())
}

/// An index from the last element on gives another program than an index further in front.
#[test]
fn the_last_index_is_another_program() -> Result<()> {
    let engine = Engine::interp();
    for (back, known) in [
        (2, (1, 0, 0)),
        (3, (1, 1, 1)),
        (1, (2, 1, 1)),
        (1, (2, 2, 2)),
    ] {
        let xs = Array::from(vec![5i64, 6, 7, 8]).filter(|x| x.gt(4));
        let n = xs.len();
        let read = generate(1, |i| xs.at(n.value() - back - i));
        assert_eq!(read.force_with(&engine)?, [9 - back as i64]);
        assert_eq!(recognised(&engine), known, "{back}");
    }
    Ok(())
}

#[test]
fn recognised_graph_has_forced_arrays_as_leaves() -> Result<()> {
    let engine = Engine::interp();
    for forced in [false, true, false, true] {
        let ys = Array::from(vec![1.0f64, 2.0]).map(|x| x * 3.0);
        if forced {
            assert_eq!(ys.force_with(&engine)?, [3.0, 6.0]);
        }
        assert_eq!(ys.map(|y| y + 1.0).sum().force_with(&engine)?, 11.0);
    }
    // Three programs: both maps, the first one, the second one.
    assert_eq!(recognised(&engine), (3, 3, 3));
    Ok(())
}

#[test]
fn captured_scalars_and_arrays_are_bound_anew() -> Result<()> {
    let engine = Engine::interp();
    for scale in [2.0, 3.0] {
        let xs = Array::from(vec![1.0, 2.0, 5.0]).map(|x| x * scale);
        let total = xs.sum();
        let shares = xs.map(|x| x / &total);
        let picked = shares.gather(&Array::from(vec![2u64, 0]));
        assert_eq!(picked.force_with(&engine)?, [5.0 / 8.0, 1.0 / 8.0]);
    }
    let (misses, hits, recognised) = recognised(&engine);
    assert_eq!((misses, hits), (1, recognised));
    Ok(())
}

#[test]
fn mistakes_are_found_and_traps_name_the_caller() -> Result<()> {
    let engine = Engine::interp();
    let pick = |at: u64| {
        let xs = Array::from(vec![1.0, 2.0]);
        xs.gather(&Array::from(vec![at])).force_with(&engine)
    };
    assert_eq!(pick(1)?, [2.0]);
    let error = pick(2).expect_err("out of range");
    assert_eq!(error.kind, ErrorKind::OutOfRange { index: 2, len: 2 });
    assert_eq!(error.location.map(|l| l.file()), Some(file!()));
    assert_eq!(recognised(&engine), (1, 1, 1));

    let both = |n: usize| {
        let (xs, ys) = (Array::from(vec![1.0; 2]), Array::from(vec![1.0; n]));
        dot(&xs, &ys).force_with(&engine)
    };
    assert_eq!(both(2)?, 2.0);
    let error = both(3).expect_err("lengths differ");
    assert_eq!(
        error.kind,
        ErrorKind::LengthMismatch {
            expected: 2,
            got: 3
        }
    );
    Ok(())
}

#[test]
fn deep_graphs_are_no_trouble() -> Result<()> {
    let engine = Engine::interp();
    let deep = |c: f64| {
        let mut ys = Array::from(vec![1.0]);
        for _ in 0..1000 {
            ys = ys.map(|y| y + c);
        }
        ys.sum().force_with(&engine)
    };
    assert_eq!((deep(1.0)?, deep(2.0)?), (1001.0, 2001.0));
    assert_eq!(recognised(&engine), (1, 1, 1));
    Ok(())
}

/// A distinct program for each divisor.
fn modulo(engine: &Engine, divisor: u64) -> Result<u64> {
    iota(10).map(|i| i % divisor).sum().force_with(engine)
}

#[test]
fn programs_are_kept_up_to_a_limit() -> Result<()> {
    let backend = std::sync::Arc::new(livefusion_interp::InterpBackend::new());
    let builder = || Engine::builder().backend(backend.clone());
    let engine = builder().program_limit(16).build();
    for divisor in 2..200 {
        let expected = (0..10).map(|i| i % divisor).sum::<u64>();
        assert_eq!(modulo(&engine, divisor)?, expected);
        let counters = engine.counters();
        assert!(counters.programs <= 16, "{counters}");
        assert_eq!(counters.programs + counters.evicted, divisor - 1);
    }
    // No program is kept, so each force compiles.
    let engine = builder().program_limit(0).build();
    for _ in 0..3 {
        modulo(&engine, 3)?;
    }
    let counters = engine.counters();
    assert_eq!((counters.misses, counters.programs), (3, 0));
    Ok(())
}

#[test]
fn programs_that_are_used_are_kept() -> Result<()> {
    let backend = std::sync::Arc::new(livefusion_interp::InterpBackend::new());
    let builder = Engine::builder().backend(backend);
    let engine = builder.program_limit(3).build();
    let misses = |divisor| {
        let before = engine.counters().misses;
        modulo(&engine, divisor).map(|_| engine.counters().misses - before)
    };
    for other in 100..150 {
        assert_eq!(misses(7)?, u64::from(other == 100), "before {other}");
        assert_eq!(misses(other)?, 1);
        assert_eq!(misses(9)?, u64::from(other == 100), "behind {other}");
    }
    // The newest of the other programs is still cached, the one before is not.
    assert_eq!((misses(149)?, misses(148)?), (0, 1));
    engine.clear();
    assert_eq!((misses(7)?, misses(9)?), (1, 1));
    assert_eq!(engine.counters().programs, 2);
    Ok(())
}

/// A graph that fails to compile leaves no entry in the cache.
#[test]
fn failed_programs_are_not_kept() {
    struct None;
    impl livefusion_backend::Backend for None {
        fn name(&self) -> &'static str {
            "none"
        }
        fn compile(
            &self,
            _: &loop_lang::Loop,
        ) -> std::result::Result<
            std::sync::Arc<dyn livefusion_backend::Kernel>,
            livefusion_backend::CompileError,
        > {
            Err(livefusion_backend::CompileError::Malformed("never".into()))
        }
    }
    let engine = Engine::new(std::sync::Arc::new(None));
    for divisor in 2..20 {
        assert!(modulo(&engine, divisor).is_err());
    }
    assert_eq!(engine.counters().programs, 0);
}

/// A repeated force of a graph of any size costs one traversal, without sharing recovery.
#[test]
fn large_graphs_are_recognised() {
    let engine = Engine::interp();
    let program = |first: i64| {
        let xs = Array::from(vec![1i64, 2, 3]);
        let last = (0..5000).fold(xs.sum(), |sum, _| &sum + first);
        last.force_with(&engine).unwrap()
    };
    assert_eq!(program(1), 5006);
    assert_eq!(program(2), 10_006);
    assert_eq!(recognised(&engine), (1, 1, 1));
}

/// A thread looks first at the graphs that it recognised last, whichever engine forced them.
#[test]
fn engines_in_turn_recognise_only_their_own_programs() -> Result<()> {
    let [a, b] = [Engine::interp(), Engine::interp()];
    let [xs, ys] = [[1.0, 2.0], [3.0, 4.0]].map(|x| Array::from(x.to_vec()));
    for engine in [&a, &b, &a, &b, &a, &b] {
        assert_eq!(dot(&xs, &ys).force_with(engine)?, 11.0);
    }
    assert_eq!([&a, &b].map(recognised), [(1, 2, 2); 2]);
    a.clear();
    for engine in [&a, &b] {
        assert_eq!(dot(&xs, &ys).force_with(engine)?, 11.0);
    }
    assert_eq!([&a, &b].map(recognised), [(2, 2, 2), (1, 3, 3)]);
    Ok(())
}
