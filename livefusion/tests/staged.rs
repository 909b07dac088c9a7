//! Loops over arrays that depend on inputs of prepared programs, or are in steps of loops, against plain Rust.

use livefusion::prelude::*;
use livefusion::prepare::prepare_with;
use livefusion::{CancelToken, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn engines() -> [Engine; 3] {
    [Engine::interp(), Engine::jit(), Engine::c()]
}

/// The programs that were compiled since an engine was new: what is prepared asks for each once.
fn compiled(engine: &Engine) -> (u64, u64) {
    let counters = engine.counters();
    (counters.misses, counters.hits)
}

/// The state, the count, and what steps map and fold are of the inputs.
#[test]
fn everything_depends_on_inputs() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(
            &engine,
            |(xs, weights, n): (Array<i64>, Array<i64>, Array<u64, Ix0>)| {
                let start = xs.map(|x| x + 1);
                let most = weights.max();
                let times = n.map(|n| n + 1);
                let ended = iterate_n(&times, &start, |xs| {
                    let turned = xs.reverse().zip_with(&weights, |x, w| x * 2 + w);
                    turned.map(|x| (x - &most) % 1000)
                });
                (ended.sum(), ended)
            },
        )?;
        for round in 0..4u64 {
            let len = 5 + round as i64;
            let xs: Vec<i64> = (0..len).map(|i| i * 7 % 5).collect();
            let weights: Vec<i64> = (0..len).map(|i| i * 3 % 7 - round as i64).collect();
            let mut plain: Vec<i64> = xs.iter().map(|x| x + 1).collect();
            let most = *weights.iter().max().expect("some");
            for _ in 0..=round {
                plain.reverse();
                let both = plain.iter_mut().zip(&weights);
                both.for_each(|(x, w)| *x = (*x * 2 + w - most) % 1000);
            }
            let inputs = (
                Array::from(xs.clone()),
                Array::from(weights.clone()),
                Array::scalar(round),
            );
            let (sum, ended) = program.call(&inputs)?;
            assert_eq!((sum, &ended[..]), (plain.iter().sum(), &plain[..]));
            // What begins, what is captured, the step, what comes behind.
            assert_eq!(compiled(&engine), (4, 0));
            assert_eq!((inputs.0.to_vec()?, inputs.1.to_vec()?), (xs, weights));
        }
    }
    Ok(())
}

/// So long as a test of inputs holds, which may be never.
#[test]
fn tests_of_inputs() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(&engine, |(xs, least): (Array<f64>, Array<f64, Ix0>)| {
            iterate_while(
                (&xs, &Array::scalar(0u64)),
                |(xs, _)| xs.max().map(|x| x.gt(least.value())),
                |(xs, n)| (xs.filter(|x| x.gt(&least)).map(|x| x / 2.0), n + 1),
            )
        })?;
        for (least, steps) in [(1.0, 5), (8.0, 2), (40.0, 0)] {
            let xs = Array::from(vec![1.0f64, 3.0, 20.0, 30.0]);
            let (small, n) = program.call(&(xs, Array::scalar(least)))?;
            assert_eq!(n, steps, "{least}");
            assert!(small.iter().all(|x| *x <= least));
        }
        let (misses, hits) = compiled(&engine);
        assert!(misses <= 4 && hits == 0, "{misses} {hits}");
    }
    Ok(())
}

/// Loops may start from others, and capture them; what several need runs once.
#[test]
fn loops_behind_loops() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(&engine, |xs: Array<i64>| {
            let turn = |xs: Array<i64>| xs.reverse().map(|x| x + 1);
            let (first, last) = (iterate_n(2, &xs, turn), iterate_n(3, &xs, turn));
            let both = iterate_n(2, &first, |state| {
                state.reverse().zip_with(&last, |a, b| 2 * a - b)
            });
            (both.sum(), first, both.zip_with(&last, |a, b| a * b))
        })?;
        for n in [3i64, 6] {
            let xs: Vec<i64> = (0..n).map(|i| i * i % 11).collect();
            let turn = |xs: &Vec<i64>| xs.iter().rev().map(|x| x + 1).collect::<Vec<i64>>();
            let first = turn(&turn(&xs));
            let last = turn(&first);
            let mut both = first.clone();
            for _ in 0..2 {
                both.reverse();
                both.iter_mut()
                    .zip(&last)
                    .for_each(|(a, b)| *a = 2 * *a - b);
            }
            let (sum, one, products) = program.call(&Array::from(xs))?;
            assert_eq!((sum, &one[..]), (both.iter().sum(), &first[..]));
            let expected: Vec<i64> = both.iter().zip(&last).map(|(a, b)| a * b).collect();
            assert_eq!(products, expected[..]);
        }
        // Loops that are alike share what is compiled.
        let before = compiled(&engine);
        program.call(&Array::from(vec![1i64]))?;
        assert_eq!(compiled(&engine), before);
    }
    Ok(())
}

/// A loop in each step of a loop, whose count and start are the outer state, and which captures what both need.
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
        // The sum of weights, then of a step: what begins, what is captured, the inner step, what comes behind.
        assert!(before.misses <= 6, "{before}");
    }
    Ok(())
}

/// Nests of any depth, in prepared programs, too; each level adds up what is below it.
#[test]
fn nests() -> Result<()> {
    fn nest(depth: usize, xs: Array<i64>, by: &Array<i64>) -> Array<i64> {
        match depth {
            0 => xs.reverse().zip_with(by, |x, by| (3 * x + by) % 101),
            _ => iterate_n(2, &xs, |xs| nest(depth - 1, xs, by)),
        }
    }
    for engine in engines() {
        for depth in [1, 3, 7] {
            let program = prepare_with(&engine, |(xs, by): (Array<i64>, Array<i64>)| {
                nest(depth, xs, &by)
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
    let deep = prepare_with(&Engine::interp(), |xs: Array<i64>| {
        let turn = |xs: Array<i64>| xs.reverse().map(|x| x + 1);
        (0..3000).fold(xs, |xs, _| iterate_n(1, &xs, turn))
    })?;
    assert_eq!(deep.call(&Array::from(vec![1i64, 2]))?, [3001, 3002]);
    // Each captures the one before.
    let deep = prepare_with(&Engine::interp(), |xs: Array<i64>| {
        (0..1000).fold(xs.clone(), |last, _| {
            iterate_n(1, &xs, |xs| xs.reverse().zip_with(&last, |x, y| x % 2 + y))
        })
    })?;
    assert_eq!(deep.call(&Array::from(vec![1i64, 2]))?, [1, 1002]);
    Ok(())
}

/// A loop that does not depend on inputs runs once, when it is first needed.
#[test]
fn what_depends_on_nothing_runs_once() -> Result<()> {
    let engine = Engine::interp();
    let fixed = iterate_n(3, &Array::from(vec![1i64, 2, 3]), |xs| {
        xs.reverse().map(|x| x + 1)
    });
    let inner = Array::from(vec![5i64, 5, 6]);
    let is_there = |node: &Arc<livefusion::ast::Node>| node.value.get().is_some();
    let total = inner.filter(|x| x.gt(5)).sum();
    let mut within = None;
    let program = prepare_with(&engine, |(xs, n): (Array<i64>, Array<u64, Ix0>)| {
        iterate_n(&n, &xs, |xs| {
            let same = iterate_n(2, &inner, |ys| ys.reverse().map(|y| y * 2));
            within = Some(same.clone());
            let turned = xs.reverse().zip_with(&same, |x, y| x + y);
            turned.zip_with(&fixed, |x, y| x + y + total.value())
        })
    })?;
    let within = within.expect("the step was traced");
    assert!(is_there(within.node()) && is_there(fixed.node()));
    assert!(!is_there(total.node()));
    let xs = Array::from(vec![10i64, 20, 30]);
    assert_eq!(
        program.call(&(xs.clone(), Array::scalar(0u64)))?,
        [10, 20, 30]
    );
    assert!(!is_there(total.node()));
    // 20, 20, 24 by the inner loop, 6, 5, 4 by the one outside, and 6.
    assert_eq!(
        program.call(&(xs.clone(), Array::scalar(1u64)))?,
        [62, 51, 44]
    );
    assert!(is_there(total.node()));
    let before = compiled(&engine);
    assert_eq!(
        program.call(&(xs, Array::scalar(2u64)))?,
        [44 + 32, 51 + 31, 62 + 34]
    );
    assert_eq!(compiled(&engine), before);
    Ok(())
}

/// States of every rank, and delayed scalars beside them.
#[test]
fn states_of_any_rank() -> Result<()> {
    macro_rules! check {
        ($engine:expr; $($rank:ident: $shape:expr),*) => {$(
            let program = prepare_with($engine, |(xs, n): (Array<i64, $rank>, Array<u64, Ix0>)| {
                iterate_n(&n, (&xs, &n, &xs.sum()), |(xs, k, total)| {
                    let next = &xs + &xs.reverse_axis(0);
                    let sum = next.sum();
                    (next, k + 1, &sum + &total)
                })
            })?;
            let size: u64 = $shape.iter().product();
            let data: Vec<i64> = (0..size as i64).map(|i| i * i % 13).collect();
            for n in [0u64, 1, 3] {
                let xs = Array::<i64, $rank>::from_vec($shape, data.clone());
                let (got, k, total) = program.call(&(xs, Array::scalar(n)))?;
                let row = (size / $shape[0]) as usize;
                let (mut plain, mut sum) = (data.clone(), data.iter().sum::<i64>());
                for _ in 0..n {
                    let rows = plain.chunks(row).rev().flatten();
                    plain = plain.iter().zip(rows).map(|(a, b)| a + b).collect();
                    sum += plain.iter().sum::<i64>();
                }
                assert_eq!(got.shape(), $shape.map(|n| n as usize));
                assert_eq!((got.into_vec()?, k, total), (plain, 2 * n, sum));
            }
        )*};
    }
    for engine in engines() {
        check!(&engine; Ix1: [5u64], Ix2: [3u64, 2], Ix3: [3u64, 1, 2], Ix4: [2u64, 3, 1, 2], Ix5: [2u64, 1, 2, 1, 3], Ix6: [2u64, 1, 2, 1, 1, 2]);
        let program = prepare_with(&engine, |n: Array<u64, Ix0>| {
            iterate_n(&n, &n, |k| k * 2 + 1)
        })?;
        assert_eq!(program.call(&Array::scalar(3u64))?, 31);
    }
    Ok(())
}

/// A loop over scalars is one computation, unless there is a loop over arrays in its step.
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
        // What steps fold fails, where there are steps.
        let call = |n: u64, by: i64| {
            program.call(&(xs.clone(), Array::scalar(n), Array::from(vec![by; 1])))
        };
        assert_eq!(call(0, -1)?, [4, 2, 0]);
        let error = call(1, -1).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Division { .. }), "{error}");
        assert_eq!(error.location.map(|l| l.line()), Some(line));
        assert_eq!(call(1, 0)?, [4 - 16, 2 - 16, -16]);
    }
    // What stands for an array of one step is of no use elsewhere.
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
    // A closure on segments has no loops over arrays.
    let rows = Segmented::new(&Array::from(vec![2u64, 1]), &xs);
    let each = rows.map_segments(|row| iterate_n(2, &row, |row| row.reverse().map(|x| x + 1)));
    let error = each.data().force().unwrap_err();
    assert_eq!(
        (error.combinator, error.kind),
        ("iterate_n", ErrorKind::NotNested)
    );
    // One that does not depend on the segment is the same for all.
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

/// From the third step on no memory is asked for, in inner loops either.
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
    // An inner loop makes two arrays.
    assert_eq!(engine.counters().written_over, 10 * 18);
    assert_eq!(xs.to_vec()?, vec![1.0; 1000]);
    Ok(())
}

/// One program, called by several threads at once.
#[test]
fn programs_are_shared() -> Result<()> {
    let engine = Engine::jit();
    let program = prepare_with(&engine, |(xs, n): (Array<i64>, Array<u64, Ix0>)| {
        iterate_n(&n, &xs, |xs| {
            iterate_n(&n, &xs, |xs| xs.reverse().map(|x| x + 1))
        })
    })?;
    std::thread::scope(|threads| {
        let call = |n: u64| {
            let xs = Array::from(vec![0i64; 100]);
            program.call(&(xs, Array::scalar(n))).map(|got| got[0])
        };
        let all: Vec<_> = (0..8).map(|n| threads.spawn(move || call(n))).collect();
        for (n, got) in (0..).zip(all) {
            assert_eq!(got.join().expect("no panic")?, n * n);
        }
        Ok(())
    })
}
