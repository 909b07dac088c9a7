//! Loops over arrays in steps of loops, against plain Rust.

use super::{compiled, engines};
use livefusion::prelude::*;
use livefusion::prepare::prepare_with;
use livefusion::{CancelToken, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An inner loop whose count and start are the outer state. It captures arrays that both loops use.
#[test]
fn loops_in_steps() -> Result<()> {
    for engine in engines() {
        let weights = Array::from(vec![2i64, 0, 1, 5]);
        let xs = Array::from(vec![1i64, 2, 3, 4]);
        let (ended, n) = iterate_n(4, (&xs, &Array::scalar(0u64)), |(xs, n)| {
            let most = xs.max();
            let kept = weights.filter(|w| w.gt(0)).sum();
            let inner = iterate_n(&n, &xs, |ys| {
                let turned = ys.reverse().zip_with(&xs, |y, x| y + x);
                turned.map(|y| (y - &most + &kept) % 1000)
            });
            (inner.zip_with(&weights, |a, b| a + b), n + 1)
        });
        let (ended, n) = (&ended, &n).force_with(&engine)?;
        let (weights, mut plain) = ([2i64, 0, 1, 5], vec![1i64, 2, 3, 4]);
        for times in 0..4 {
            let (most, mut inner) = (*plain.iter().max().expect("some"), plain.clone());
            for _ in 0..times {
                inner.reverse();
                let all = inner.iter_mut().zip(&plain);
                all.for_each(|(y, x)| *y = (*y + x - most + 8) % 1000);
            }
            plain = inner.iter().zip(weights).map(|(a, b)| a + b).collect();
        }
        assert_eq!((&ended[..], n), (&plain[..], 4));
        let before = engine.counters();
        // The sum of weights, then the parts of a step: start, captures, inner step, continuation.
        assert!(before.misses <= 6, "{before}");
    }
    Ok(())
}

/// Nests of any depth, also in prepared programs; each level adds the results of the levels below.
#[test]
fn nests() -> Result<()> {
    fn nest(times: u64, depth: usize, xs: Array<i64>, by: &Array<i64>) -> Array<i64> {
        match depth {
            0 => xs.reverse().zip_with(by, |x, by| (3 * x + by) % 101),
            _ => iterate_n(times, &xs, |xs| nest(times, depth - 1, xs, by)),
        }
    }
    for engine in engines() {
        for depth in [1, 3, 7] {
            let program = prepare_with(&engine, |(xs, by): (Array<i64>, Array<i64>)| {
                nest(2, depth, xs, &by)
            })?;
            let (mut plain, by) = (vec![4i64, 7, 1, 30], [1i64, 5, 2, 2]);
            let got = program.call(&(Array::from(plain.clone()), Array::from(by.to_vec())))?;
            let before = compiled(&engine);
            let again = program.call(&(Array::from(plain.clone()), Array::from(by.to_vec())))?;
            assert_eq!((&again, compiled(&engine)), (&got, before));
            for _ in 0..1 << depth {
                plain.reverse();
                let all = plain.iter_mut().zip(by);
                all.for_each(|(x, by)| *x = (3 * *x + by) % 101);
            }
            assert_eq!(got, plain[..], "{depth}");
        }
    }
    let by = Array::from(vec![1i64, 2]);
    let deep = prepare(|xs: Array<i64>| nest(1, 40, xs, &by))?;
    assert_eq!(deep.call(&by)?, [3 * 2 + 1, 3 + 2]);
    assert!(deep.explain(&by)?.to_string().contains("iterate_n"));
    let too_deep = prepare(|xs: Array<i64>| nest(1, 41, xs, &by)).map(drop);
    let said = too_deep.unwrap_err().to_string();
    assert!(said.contains("at most 40 loops over arrays"), "{said}");
    let deep = prepare_with(&Engine::interp(), |xs: Array<i64>| {
        let turn = |xs: Array<i64>| xs.reverse().map(|x| x + 1);
        (0..3000).fold(xs, |xs, _| iterate_n(1, &xs, turn))
    })?;
    assert_eq!(deep.call(&Array::from(vec![1i64, 2]))?, [3001, 3002]);
    // Each loop captures the previous one.
    let deep = prepare_with(&Engine::interp(), |xs: Array<i64>| {
        (0..1000).fold(xs.clone(), |last, _| {
            iterate_n(1, &xs, |xs| xs.reverse().zip_with(&last, |x, y| x % 2 + y))
        })
    })?;
    assert_eq!(deep.call(&Array::from(vec![1i64, 2]))?, [1, 1002]);
    Ok(())
}

/// A loop over scalars is one computation, unless its step has a loop over arrays.
#[test]
fn loops_in_steps_over_scalars() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![1i64, 2, 3]);
        let program = prepare_with(&engine, |n: Array<i64, Ix0>| {
            let inner = |n: &Array<i64, Ix0>| {
                let shifted = iterate_n(2, &xs, |xs| xs.reverse().map(|x| x + n.value()));
                let scalars = iterate_n(3, n, |n| n + 1);
                (shifted.sum(), scalars)
            };
            let start = (&n, &Array::scalar(0u64));
            iterate_while(
                start,
                |(n, _)| n.map(|n| n.lt(5000)),
                |(n, k)| {
                    let (sum, more) = inner(&n);
                    (&sum + &more, k + 1)
                },
            )
        })?;
        for n in [0i64, 7, 5001] {
            let (mut now, mut steps) = (n, 0u64);
            while now < 5000 {
                (now, steps) = (6 + 6 * now + now + 3, steps + 1);
            }
            assert_eq!(program.call(&Array::scalar(n))?, (now, steps));
        }
    }
    Ok(())
}

#[test]
fn mistakes_have_their_places() -> Result<()> {
    let xs = Array::from(vec![4i64, 2, 0]);
    let line = line!() + 1;
    let part = |by: &Array<i64>| by.scan(1, |a, b| a + b).map(|x| 8 / x).max();
    for engine in engines() {
        let program = prepare_with(
            &engine,
            |(xs, n, by): (Array<i64>, Array<u64, Ix0>, Array<i64>)| {
                iterate_n(&n, &xs, |ys| {
                    let part = part(&by);
                    iterate_n(2, &ys, |zs| zs.reverse().map(|z| z - part.value()))
                })
            },
        )?;
        // The folds of the steps fail if there are steps.
        let call = |n: u64, by: i64| {
            program.call(&(xs.clone(), Array::scalar(n), Array::from(vec![by; 1])))
        };
        assert_eq!(call(0, -1)?, [4, 2, 0]);
        let error = call(1, -1).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Division { .. }), "{error}");
        assert_eq!(error.location.map(|l| l.line()), Some(line));
        assert_eq!(call(1, 0)?, [4 - 16, 2 - 16, -16]);
    }
    // A placeholder of one step is invalid elsewhere.
    let mut leaked = None;
    let outer = iterate_n(2, &xs, |ys| {
        leaked = Some(ys.clone());
        ys.reverse()
    });
    let leaked = leaked.expect("the step was traced");
    let wrong = iterate_n(2, &leaked, |ys| ys.reverse());
    assert!(wrong.force().is_err());
    let program = prepare(|zs: Array<i64>| {
        iterate_n(2, &zs, |zs| zs.zip_with(&leaked, |a, b| a + b).reverse())
    });
    assert!(program.and_then(|p| p.call(&xs)).is_err());
    assert_eq!(outer.force()?, [4, 2, 0]);
    let rows = Segmented::new(&Array::from(vec![2u64, 1]), &xs);
    // A loop that does not depend on the segment is shared by all segments.
    let turned = iterate_n(1, &xs, |xs| xs.reverse());
    let each = rows.map_segments(|row| {
        let within = iterate_n(2, &turned, |xs| xs.reverse().map(|x| x + 1)).sum();
        row.map(|x| x + within.value())
    });
    assert_eq!(each.data().force()?, [4 + 12, 2 + 12, 12]);
    Ok(())
}

#[test]
fn inner_loops_are_cancelled_and_watched() -> Result<()> {
    let endless = |xs: Array<i64>| {
        iterate_n(2, &xs, |xs| {
            let swap = |(a, b): (Array<i64>, Array<i64>)| (b, a);
            iterate_while((&xs, &xs), |(a, _)| a.sum().map(|x| x.gt(0)), swap).0
        })
    };
    let token = CancelToken::new();
    let engine = Engine::interp().with_cancel(token.clone());
    let program = prepare_with(&engine, endless)?;
    let xs = Array::from(vec![1i64]);
    let error = std::thread::scope(|threads| {
        let running = threads.spawn(|| program.call(&xs).unwrap_err());
        std::thread::sleep(std::time::Duration::from_millis(20));
        token.cancel();
        running.join().expect("no panic")
    });
    assert_eq!(error.kind, ErrorKind::Cancelled);

    let told = Arc::new(AtomicU64::new(0));
    let seen = told.clone();
    let engine = Engine::interp().with_progress(move |_| _ = seen.fetch_add(1, Ordering::Relaxed));
    let program = prepare_with(&engine, |xs: Array<i64>| {
        iterate_n(2, &xs, |xs| {
            iterate_n(3, &xs, |xs| xs.reverse().map(|x| x + 1))
        })
    })?;
    program.call(&iota(100_000).map(|i| i.cast::<i64>()))?;
    assert!(told.load(Ordering::Relaxed) >= 6);
    Ok(())
}

/// No step allocates from the third on, in inner loops too.
#[test]
fn memory_is_used_again() -> Result<()> {
    let engine = Engine::interp();
    let program = prepare_with(&engine, |xs: Array<f64>| {
        iterate_n(10, &xs, |xs| {
            iterate_n(20, &xs, |xs| xs.reverse().map(|x| x + 1.0))
        })
    })?;
    let xs = Array::from(vec![1.0f64; 1000]);
    assert_eq!(program.call(&xs)?[7], 201.0);
    // An inner loop allocates one array; its other one is the outer state. The exception is the
    // first, whose start the caller holds.
    assert_eq!(engine.counters().written_over, 18 + 9 * 19);
    assert_eq!(xs.to_vec()?, vec![1.0; 1000]);
    Ok(())
}
