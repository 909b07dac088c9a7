//! Prepared programs that overwrite results which are no longer needed.

use livefusion::prelude::*;
use livefusion::prepare::{Inputs, Program, prepare_with};
use livefusion::{ErrorKind, Result};
use livefusion_backend::Buffer;
use std::sync::Arc;

fn engines() -> Vec<Engine> {
    vec![
        Engine::interp(),
        Engine::c(),
        #[cfg(feature = "jit")]
        Engine::jit(),
        Engine::builder().threads(3).eager().build(),
    ]
}

/// Sizes below and above the one from which arrays get pages of their own. The largest one uses
/// several threads.
const SIZES: [usize; 4] = [5, 1000, 20_000, 100_000];

/// The address of each column of an array, and the bytes that it holds.
fn memory<T: Elt>(array: &Manifest<T>) -> Vec<(*const u8, usize)> {
    let column = |c: &Arc<Buffer>| (c.as_ptr(), c.bytes());
    array.columns().iter().map(column).collect()
}

fn ints(n: usize, step: i64) -> Array<i64> {
    (0..n as i64).map(|i| i * step % 1009).collect()
}

/// Calls a program with one input after another. From the second call on, all results must keep
/// their addresses and equal those of plain calls.
fn stays<I: Inputs, O: Force>(
    engine: &Engine,
    program: &Program<I, O>,
    inputs: &[I],
    memory: impl Fn(&O::Out) -> Vec<(*const u8, usize)>,
) -> Result<()>
where
    O::Out: Default + PartialEq + std::fmt::Debug,
{
    let mut out = O::Out::default();
    program.call_into(&inputs[0], &mut out)?;
    program.call_into(&inputs[0], &mut out)?;
    let (place, before) = (memory(&out), engine.counters().written_over);
    for input in inputs {
        program.call_into(input, &mut out)?;
        assert_eq!(memory(&out), place);
        assert_eq!(out, program.call(input)?);
    }
    let written = engine.counters().written_over - before;
    assert_eq!(written, (inputs.len() * place.len()) as u64, "{engine:?}");
    Ok(())
}

#[test]
fn results_of_known_length_are_written_over() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(&engine, |xs: Array<i64>| {
            let pairs = xs.map(|x| (x * 2, x.gt(7)));
            (pairs, xs.sum(), xs.scan(0, |a, b| a + b))
        })?;
        for n in SIZES {
            let inputs = [ints(n, 1), ints(n, 7), ints(n, 3)];
            stays(&engine, &program, &inputs, |(pairs, _, sums)| {
                [memory(pairs), memory(sums)].concat()
            })?;
        }
    }
    Ok(())
}

/// A filter keeps few of many elements: the array keeps its capacity for all of them.
#[test]
fn results_of_filters_are_written_over() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(&engine, |xs: Array<i64>| {
            let few = xs.filter(|x| (x % 50).eq(0));
            let (small, others) = xs.partition(|x| x.lt(500));
            vec![few, small, others]
        })?;
        for n in SIZES {
            let inputs = [ints(n, 1), ints(n, 0), ints(n, 3)];
            stays(&engine, &program, &inputs, |all| {
                all.iter().flat_map(memory).collect()
            })?;
        }
    }
    Ok(())
}

#[test]
fn results_of_segments_are_written_over() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(&engine, |(lengths, xs): (Array<u64>, Array<i64>)| {
            let rows = Segmented::new(&lengths, &xs);
            let kept = rows.filter(|x| (x % 3).ne(1));
            // A separate loop computes this length.
            let spread = Segmented::replicate(&lengths, &rows.sum());
            let kept = (kept.lengths().clone(), kept.data().clone());
            (kept.0, kept.1, spread.data().clone())
        })?;
        for n in SIZES {
            let rows = |m: usize| -> Array<u64> { vec![m as u64; n / m].into() };
            let inputs = [5, 1].map(|m| (rows(5), ints(n, m)));
            stays(&engine, &program, &inputs, |(lengths, kept, spread)| {
                [memory(lengths), memory(kept), memory(spread)].concat()
            })?;
        }
    }
    Ok(())
}

/// The result is an array of an earlier loop that a scatter updates in place. It reuses the memory
/// of the previous result.
#[test]
fn results_that_are_changed_in_place_are_written_over() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(&engine, |(at, xs): (Array<u64>, Array<i64>)| {
            let sums = xs.scan(0, |a, b| a + b);
            let counts = xs.scatter_with(&at, &xs, |a, b| a + b);
            (sums.scatter(&at, &xs), counts)
        })?;
        for n in SIZES {
            let at = |k: u64| -> Array<u64> { (0..n as u64).map(|i| i * k % n as u64).collect() };
            let inputs = [1, 2, 3].map(|k| (at(k), ints(n, 3)));
            stays(&engine, &program, &inputs, |(a, b)| {
                [memory(a), memory(b)].concat()
            })?;
        }
    }
    Ok(())
}

#[test]
fn call_into_writes_over_results_with_room_only() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(&engine, |xs: Array<f64>| xs.map(|x| x + 1.0))?;
        let input = |n: usize| Array::from(vec![1.0; n]);
        // Memory of the caller, and of arrays that were longer.
        let mut own = Vec::with_capacity(40_000);
        own.resize(3, 7.0f64);
        let place = own.as_ptr();
        let mut out = Manifest::from_columns(vec![Arc::new(Buffer::from_vec(own))])?;
        for n in [40_000, 10, 0, 300, 40_000] {
            program.call_into(&input(n), &mut out)?;
            assert_eq!(out, vec![2.0; n]);
            assert_eq!(out.as_ptr(), place);
        }
        // The capacity is too small, so a new array is allocated and kept.
        program.call_into(&input(40_001), &mut out)?;
        assert_ne!(out.as_ptr(), place);
        let place = out.as_ptr();
        program.call_into(&input(4), &mut out)?;
        assert_eq!((out.as_ptr(), &out[..]), (place, &[2.0; 4][..]));
        // Another reference (an array, a clone, the input itself) keeps the old memory alive.
        let (array, clone) = (Array::from(&out), out.clone());
        program.call_into(&array, &mut out)?;
        assert_eq!((&out[..], &clone[..]), (&[3.0; 4][..], &[2.0; 4][..]));
        assert_eq!(array.force()?, clone);
        let delayed = Array::from(&out).map(|x| x * 2.0);
        program.call_into(&delayed, &mut out)?;
        assert_eq!(out, [7.0; 4]);
    }
    Ok(())
}

#[test]
fn a_call_that_fails_leaves_nothing() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(&engine, |(at, xs): (Array<u64>, Array<i64>)| {
            (xs.gather(&at), xs.map(|x| x * 2))
        })?;
        let call = |at: u64, out: &mut _| {
            program.call_into(&(Array::from(vec![0, at]), ints(70_000, 1)), out)
        };
        let mut out = Default::default();
        call(9, &mut out)?;
        let error = call(70_000, &mut out).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::OutOfRange { .. }));
        assert!(out.0.is_empty() && out.1.is_empty());
        call(9, &mut out)?;
        assert_eq!((&out.0[..], out.1[9]), (&[0, 9][..], 18));
    }
    Ok(())
}

#[test]
fn an_input_of_another_program_is_refused() -> Result<()> {
    for engine in engines() {
        let mut other = None;
        prepare_with(&engine, |xs: Array<i64>| {
            other = Some(xs.clone());
            xs.sum()
        })?;
        let other = other.expect("it ran");
        let both = prepare_with(&engine, |ys: Array<i64>| &ys + &other);
        let e = both.expect_err("its input has the same number").to_string();
        let end = ": expected inputs of this program only, got one of another program";
        assert!(e.starts_with("`input` at ") && e.ends_with(end), "{e}");
    }
    Ok(())
}
