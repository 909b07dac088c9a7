//! Loop-invariant arrays: computed once before the first step, or cheaply in each step.

use super::engines;
use livefusion::Result;
use livefusion::prelude::*;
use livefusion::prepare::prepare_with;
use livefusion::runtime::Explanation;
use livefusion::runtime::{ExplainedApart, ExplainedArrayLoop};

/// The single loop over arrays of a program.
fn array_loop(explained: &Explanation) -> &ExplainedArrayLoop {
    match explained.apart.as_slice() {
        [ExplainedApart::Loop(one)] => one,
        other => panic!("{} external parts", other.len()),
    }
}

/// The combinators of some loops, without inputs.
fn combinators(part: &Explanation) -> Vec<&str> {
    let nodes = part.loops.iter().flat_map(|l| &l.nodes);
    let names = nodes.map(|node| node.name);
    names.filter(|name| *name != "input").collect()
}

/// The arrays that the captures write, and the operators `exp` in a step.
fn facts(program: &impl Force) -> Result<(usize, usize)> {
    let explained = program.explain()?;
    let of = array_loop(&explained);
    let arrays = of.captured.loops.iter().map(|l| l.arrays_written).sum();
    let loops = of.step.loops.iter();
    let costly = loops.map(|l| l.program.to_string().matches(" exp ").count());
    Ok((arrays, costly.sum()))
}

fn is_there<T: Elt, D: Rank>(xs: &Array<T, D>) -> bool {
    xs.node().value.get().is_some()
}

fn costly(x: f64) -> f64 {
    (x / 3.0).exp().sqrt()
}

fn costly_map<D: Rank>(xs: &Array<f64, D>) -> Array<f64, D> {
    xs.map(|x| (x / 3.0).exp().sqrt())
}

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|i| (i * 7 % 11) as f64).collect()
}

/// A stencil beside a costly array. Without steps, nothing is captured.
#[test]
fn iterate_invariant__costly_map_beside_a_stencil__is_computed_once() -> Result<()> {
    let (a, start) = (numbers(6), numbers(6));
    for engine in engines() {
        for steps in [0u64, 1, 5] {
            let xs = Array::from(a.clone());
            let x = costly_map(&xs);
            let times = Array::from(vec![steps]).sum();
            let ended = iterate_n(&times, &Array::from(start.clone()), |s| {
                let near = s.stencil1(Boundary::Constant(0.0), |[l, _, r]| l + r);
                near.zip_with(&x, |near, x| 0.25 * near + x)
            });
            assert_eq!(facts(&ended)?, (1, 0));
            let mut plain = start.clone();
            for _ in 0..steps {
                let at = |i: Option<usize>| i.and_then(|i| plain.get(i)).copied().unwrap_or(0.0);
                let near = |i: usize| at(i.checked_sub(1)) + at(Some(i + 1));
                plain = (0..6).map(|i| 0.25 * near(i) + costly(a[i])).collect();
            }
            assert_eq!(ended.force_with(&engine)?, plain[..]);
            assert_eq!(is_there(&x), steps > 0);
        }
    }
    Ok(())
}

/// Arrays of rank 2: a costly map of a matrix, and a costly grid beside the state. A row that is
/// broadcast stays a row.
#[test]
fn iterate_invariant__costly_matrices__are_computed_once() -> Result<()> {
    let data = numbers(12);
    let m = Array::from_vec((3, 4), data.clone());
    let grid = generate((3, 4), |(i, j)| {
        ((i * 4 + j).cast::<f64>() / 3.0).exp().sqrt()
    });
    let row = costly_map(&Array::from(numbers(4)));
    let cases = [costly_map(&m), grid, row.broadcast((3, ..))];
    let others: [Vec<f64>; 3] = [
        data.iter().map(|x| costly(*x)).collect(),
        (0..12).map(|k| costly(f64::from(k))).collect(),
        (0..12).map(|k| costly(numbers(4)[k % 4])).collect(),
    ];
    for (k, (x, other)) in cases.iter().zip(others).enumerate() {
        let ended = iterate_n(3, &m, |s| {
            s.along(0).reverse().zip_with(x, |s, x| 0.5 * s + x)
        });
        assert_eq!(facts(&ended)?, (1, 0), "{k}");
        let mut plain = data.clone();
        for _ in 0..3 {
            let rows: Vec<f64> = plain.chunks(4).rev().flatten().copied().collect();
            plain = rows.iter().zip(&other).map(|(s, x)| 0.5 * s + x).collect();
        }
        assert_eq!(ended.force()?.into_vec()?, plain, "{k}");
    }
    assert!(is_there(&row));
    Ok(())
}

/// Cheap arrays cost less to compute than to read.
#[test]
fn iterate_invariant__cheap_arrays__are_computed_in_each_step() -> Result<()> {
    let a = Array::from(numbers(5));
    let cheap = [
        a.map(|x| x * 2.0),
        iota(5).map(|i| i.cast::<f64>() * 0.5 + 1.0),
        a.reverse(),
        Array::from(numbers(5)).map(|x| x - 1.0),
    ];
    for (k, x) in cheap.iter().enumerate() {
        let ended = iterate_n(4, &a, |s| s.reverse().zip_with(x, |s, x| s + x));
        let explained = ended.explain()?;
        assert!(array_loop(&explained).captured.loops.is_empty(), "{k}");
        let (mut plain, x) = (numbers(5), x.to_vec()?);
        for _ in 0..4 {
            plain.reverse();
            plain.iter_mut().zip(&x).for_each(|(s, x)| *s += x);
        }
        assert_eq!(ended.force()?, plain[..], "{k}");
    }
    Ok(())
}

/// The largest invariant node is captured: its operands are not, unless a step uses them too.
#[test]
fn iterate_invariant__chain_of_maps__only_its_end_is_captured() -> Result<()> {
    let a = Array::from(numbers(5));
    for uses_both in [false, true] {
        let x = costly_map(&a);
        let y = x.map(|x| x * x).scan(0.0, |a, b| a + b).map(|x| x + 1.0);
        let (x_node, captured) = (x.clone(), y.clone());
        let ended = iterate_n(4, &a, |s| {
            let turned = s.reverse().zip_with(&y, |s, y| 0.5 * s + y);
            match uses_both {
                true => turned.zip_with(&x, |s, x| s - x),
                false => turned,
            }
        });
        assert_eq!(facts(&ended)?, (1 + usize::from(uses_both), 0));
        let (mut plain, x) = (numbers(5), numbers(5).into_iter().map(costly));
        let x: Vec<f64> = x.collect();
        let y = x.iter().scan(0.0, |sum, x| {
            *sum += x * x;
            Some(*sum + 1.0)
        });
        let y: Vec<f64> = y.collect();
        for _ in 0..4 {
            plain.reverse();
            for (k, s) in plain.iter_mut().enumerate() {
                *s = 0.5 * *s + y[k];
                *s -= if uses_both { x[k] } else { 0.0 };
            }
        }
        assert_eq!(ended.force()?, plain[..]);
        assert_eq!((is_there(&captured), is_there(&x_node)), (true, uses_both));
    }
    Ok(())
}

/// A sum of two arrays halves the reads of a step. A single step repeats nothing.
#[test]
fn iterate_invariant__sum_of_arrays__is_captured_if_steps_repeat() -> Result<()> {
    let (a, b) = (Array::from(numbers(5)), Array::from(numbers(5)));
    for (steps, arrays) in [(1u64, 0), (2, 0), (9, 1)] {
        let sum = a.zip_with(&b, |a, b| a + b);
        let ended = iterate_n(steps, &a, |s| s.reverse().zip_with(&sum, |s, x| x - s));
        assert_eq!(facts(&ended)?, (arrays, 0), "{steps}");
        let mut plain = numbers(5);
        for _ in 0..steps {
            plain.reverse();
            let all = plain.iter_mut().zip(numbers(5));
            all.for_each(|(s, x)| *s = 2.0 * x - *s);
        }
        assert_eq!(ended.force()?, plain[..], "{steps}");
    }
    Ok(())
}

/// Elements that no step reads may trap.
#[test]
fn iterate_invariant__array_read_in_part__does_not_trap_elsewhere() -> Result<()> {
    let parts = Array::from(vec![1i64, 2, 5, 0]).map(|x| 10 / x);
    let start = (&Array::from(vec![0i64; 2]), &Array::scalar(0u64));
    let (sums, _) = iterate_n(2, start, |(s, k)| {
        let shifted = generate(2, |i| parts.at(i + k.value()));
        (s.reverse().zip_with(&shifted, |s, x| s + x), k + 1)
    });
    assert_eq!(sums.force()?, [5 + 5, 10 + 2]);
    assert!(!is_there(&parts));
    Ok(())
}

/// A costly array in the step of a loop in a step, in a program, and in a loop with a test.
#[test]
fn iterate_invariant__nested_prepared_and_conditional_loops__compute_it_once() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(&engine, |(xs, a): (Array<f64>, Array<f64>)| {
            let x = costly_map(&a);
            let (ended, _) = iterate_while(
                (&xs, &Array::scalar(0u64)),
                |(_, k)| k.map(|k| k.lt(2)),
                |(s, k)| {
                    let inner = iterate_n(3, &s, |s| s.reverse().zip_with(&x, |s, x| 0.5 * s + x));
                    (inner, k + 1)
                },
            );
            ended
        })?;
        let a = numbers(5);
        let inputs = (Array::from(numbers(5)), Array::from(a.clone()));
        let explained = program.explain(&inputs)?;
        let outer = array_loop(&explained);
        let inner = array_loop(&outer.step);
        assert_eq!(combinators(&outer.captured), ["map"]);
        assert!(inner.captured.loops.is_empty());
        let steps = inner.step.loops.iter().map(|l| l.program.to_string());
        assert!(!steps.collect::<String>().contains(" exp "));
        let mut plain = numbers(5);
        for _ in 0..6 {
            plain.reverse();
            let all = plain.iter_mut().zip(&a);
            all.for_each(|(s, a)| *s = 0.5 * *s + costly(*a));
        }
        assert_eq!(program.call(&inputs)?, plain[..]);
    }
    Ok(())
}
