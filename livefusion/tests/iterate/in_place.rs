//! Steps that update their state in place: copies, and isolation from other readers.

use super::engines;
use livefusion::prelude::*;
use livefusion::prepare::prepare_with;
use livefusion::runtime::Copied;
use livefusion::{Clustering, Result};

/// The number of arrays that an engine updated in place, and the bytes that it copied for other
/// updates.
fn changed(engine: &Engine) -> (u64, u64) {
    let counters = engine.counters();
    (counters.in_place, counters.copied)
}

/// For each update in the steps of the first loop, the reason why it copies.
fn copied(program: &impl Force, engine: &Engine) -> Result<Vec<Option<Copied>>> {
    let explained = program.explain_with(engine)?;
    let loops = explained.apart[0].parts()[2].loops.iter();
    Ok(loops.flat_map(|l| &l.updates).map(|u| u.copied).collect())
}

/// A sieve: a step reads the state at one index, then updates it at a few.
#[test]
fn sieve() -> Result<()> {
    let n = 1000u64;
    for engine in engines() {
        let all = Array::from(vec![true; n as usize]);
        let (primes, _) = iterate_n(30u64, (&all, &Array::scalar(2u64)), |(prime, k)| {
            let count = k.map(|k| prime.at(k).cond((n - 1) / k + 1 - k, 0));
            let multiples = generate(&count, |j| (j + k.value()) * k.value());
            (prime.scatter(&multiples, &replicate(&count, false)), k + 1)
        });
        assert_eq!(copied(&primes, &engine)?, [None]);
        let before = changed(&engine);
        let primes = primes.force_with(&engine)?;
        let is_prime = |k: u64| {
            (2..k)
                .take_while(|d| d * d <= k)
                .all(|d| !k.is_multiple_of(d))
        };
        assert!((2..n).all(|k| primes[k as usize] == is_prime(k)));
        // The first step copies the caller's array.
        let after = changed(&engine);
        assert_eq!((after.0 - before.0, after.1 - before.1), (29, n));
        assert_eq!(all.to_vec()?, vec![true; n as usize]);
    }
    Ok(())
}

/// Breadth-first search: random reads of the state get a loop of their own before the scatter's
/// loop.
#[test]
fn breadth_first() -> Result<()> {
    let n = 100u64;
    let far = u64::MAX;
    let mut plain = vec![far; n as usize];
    plain[0] = 0;
    let (mut edge, mut level) = (vec![0u64], 0);
    while !edge.is_empty() {
        level += 1;
        let near = edge.iter().flat_map(|v| [(2 * v + 1) % n, (v + 7) % n]);
        edge = near.filter(|v| plain[*v as usize] == far).collect();
        edge.iter().for_each(|v| plain[*v as usize] = level);
    }
    for engine in engines() {
        let start = Array::from(vec![far; n as usize]).update(0, 0);
        let start = (&start, &Array::from(vec![0u64]), &Array::scalar(0u64));
        let (found, _, levels) = iterate_while(
            start,
            |(_, edge, _)| edge.len().map(|n| n.gt(0)),
            |(found, edge, level)| {
                let near = edge
                    .map(|v| (v * 2 + 1) % n)
                    .append(&edge.map(|v| (v + 7) % n));
                let next = near.filter(|v| found.at(v).eq(far));
                let level = level + 1;
                let found = found.scatter(&next, &next.map(|_| level.value()));
                (found, next, level)
            },
        );
        assert_eq!(copied(&found, &engine)?, [None]);
        let ended = (&found, &levels).force_with(&engine)?;
        assert_eq!((&ended.0[..], ended.1), (&plain[..], level));
        let (in_place, copied) = changed(&engine);
        // An update produces the start, and the first step copies it.
        assert_eq!(in_place + 1, level, "{copied}");
    }
    Ok(())
}

/// `let a[k] = a[k - 1] + a[k - 2]`: reads of the state feed a write to it.
#[test]
fn one_element() -> Result<()> {
    for engine in engines() {
        let start = (&Array::from(vec![1u64; 50]), &Array::scalar(2u64));
        let (numbers, _) = iterate_n(48u64, start, |(xs, k)| {
            let sum = k.map(|k| xs.at(k - 1) + xs.at(k - 2));
            (xs.update(&k, &sum), k + 1)
        });
        assert_eq!(copied(&numbers, &engine)?, [None]);
        let numbers = numbers.force_with(&engine)?;
        assert!((2..50).all(|k| numbers[k] == numbers[k - 1] + numbers[k - 2]));
        assert_eq!(changed(&engine), (47, 400));
    }
    Ok(())
}

/// Other readers of the state see the old version; `explain` reports the copies.
#[test]
fn the_state_is_needed_besides() -> Result<()> {
    let ixs = [3i64, 0, 3, 9];
    let plain_put = |xs: &[i64], by: i64| {
        let mut xs = xs.to_vec();
        ixs.iter()
            .for_each(|i| xs[*i as usize] = (xs[*i as usize] * 3 + by) % 1009);
        xs
    };
    type Both = (Array<i64>, Array<i64>);
    type Step<'a> = &'a dyn Fn(Both) -> Both;
    type Plain<'a> = &'a dyn Fn(&[i64], &[i64]) -> (Vec<i64>, Vec<i64>);
    let put = |xs: &Array<i64>, by: i64| {
        let ixs = Array::from(ixs.to_vec());
        xs.scatter_with(&ixs, &replicate(4, by), |a, b| (a * 3 + b) % 1009)
    };
    let sums = |xs: &[i64], ys: &[i64]| -> Vec<i64> {
        xs.iter().zip(ys).map(|(x, y)| (x + 2 * y) % 1009).collect()
    };
    let sum = |xs: &Array<i64>, ys: &Array<i64>| xs.zip_with(ys, |x, y| (x + y * 2) % 1009);
    let cases: [(Step, Plain, &[Option<Copied>]); 6] = [
        // Read before the update, though by a younger node.
        (
            &|(xs, ys)| (put(&xs, 1), sum(&xs, &ys)),
            &|xs, ys| (plain_put(xs, 1), sums(xs, ys)),
            &[None],
        ),
        // Read by a node that depends on the update.
        (
            &|(xs, _)| {
                let next = put(&xs, 1);
                let both = sum(&next, &xs);
                (next, both)
            },
            &|xs, _| {
                let next = plain_put(xs, 1);
                let both = sums(&next, xs);
                (next, both)
            },
            &[Some(Copied::Later)],
        ),
        // Passed on unchanged.
        (
            &|(xs, _)| (put(&xs, 1), xs),
            &|xs, _| (plain_put(xs, 1), xs.to_vec()),
            &[Some(Copied::Result)],
        ),
        // Updated twice, each time from the old version; and one update after the other.
        (
            &|(xs, _)| (put(&xs, 1), put(&xs, 2)),
            &|xs, _| (plain_put(xs, 1), plain_put(xs, 2)),
            &[Some(Copied::Later), None],
        ),
        (
            &|(xs, ys)| (put(&put(&xs, 1), 2), ys),
            &|xs, ys| (plain_put(&plain_put(xs, 1), 2), ys.to_vec()),
            &[None, None],
        ),
        // Updated by its own elements, and exchanged.
        (
            &|(xs, ys)| {
                let ixs = xs.map(|x| x % 10);
                (ys, xs.scatter(&ixs, &xs.map(|x| (x + 5) % 1009)))
            },
            &|xs, ys| {
                let mut next = xs.to_vec();
                xs.iter()
                    .for_each(|x| next[*x as usize % 10] = (x + 5) % 1009);
                (ys.to_vec(), next)
            },
            &[None],
        ),
    ];
    let eager = Engine::builder().threads(3).eager().build();
    let unfused = Engine::builder().clustering(Clustering::Unfused).build();
    for engine in engines().iter().chain([&eager, &unfused]) {
        for (case, (step, plain, expected)) in cases.iter().enumerate() {
            let (xs, ys): (Vec<i64>, Vec<i64>) = ((0..10).collect(), (5..15).collect());
            // The last start is one array, twice.
            for (xs, ys) in [(&xs, &ys), (&xs, &xs)] {
                let inputs = (Array::from(xs.clone()), Array::from(ys.clone()));
                let inputs = match std::ptr::eq(xs, ys) {
                    true => (inputs.0.clone(), inputs.0),
                    false => inputs,
                };
                let mut ended = (xs.clone(), ys.clone());
                (0..5).for_each(|_| ended = plain(&ended.0, &ended.1));
                let forced = iterate_n(5u64, (&inputs.0, &inputs.1), step);
                assert_eq!(
                    copied(&(&forced.0, &forced.1), engine)?,
                    *expected,
                    "{case}"
                );
                let program =
                    prepare_with(engine, |(xs, ys): Both| iterate_n(5u64, (&xs, &ys), step))?;
                for _ in 0..2 {
                    let called = program.call(&inputs)?;
                    assert_eq!((&called.0[..], &called.1[..]), (&ended.0[..], &ended.1[..]));
                }
                let forced = (&forced.0, &forced.1).force_with(engine)?;
                assert_eq!((&forced.0[..], &forced.1[..]), (&ended.0[..], &ended.1[..]));
                assert_eq!((&inputs.0.to_vec()?, &inputs.1.to_vec()?), (xs, ys));
            }
        }
    }
    Ok(())
}

/// A loop in a step starts from state that the outer loop still needs. It updates captured arrays
/// only in copies.
#[test]
fn nested() -> Result<()> {
    for engine in engines() {
        let xs = Array::from((0..20u64).collect::<Vec<_>>());
        let ended = iterate_n(4u64, &xs, |xs| {
            let start = (&xs, &Array::scalar(0u64));
            let (inner, _) = iterate_n(3u64, start, |(ys, k)| {
                let sum = k.map(|k| xs.at(k) + ys.at(k + 1));
                (ys.update(&(&k * 5), &sum), k + 1)
            });
            let changed = inner.update(1, &(inner.at(5) + 1));
            changed.zip_with(&xs, |a, b| a + b)
        });
        let mut plain: Vec<u64> = (0..20).collect();
        for _ in 0..4 {
            let mut inner = plain.clone();
            (0..3).for_each(|k| inner[k * 5] = plain[k] + inner[k + 1]);
            inner[1] = inner[5] + 1;
            plain.iter_mut().zip(inner).for_each(|(a, b)| *a += b);
        }
        assert_eq!(ended.force_with(&engine)?, plain[..]);
        assert_eq!(xs.to_vec()?, (0..20).collect::<Vec<u64>>());
        // All inner steps but the first, and the part after the inner loop.
        assert_eq!(changed(&engine), (4 * 3, 4 * 160));
    }
    Ok(())
}

/// In-place LU factorisation of a matrix, row by row, with nested loops. The inner loop takes over
/// state that is dead in the outer one.
#[test]
fn factors() -> Result<()> {
    let n = 6u64;
    let start: Vec<f64> = (0..n * n).map(|k| (k * k % 17 + 1) as f64).collect();
    let mut plain = start.clone();
    for k in 0..n as usize {
        for i in k + 1..n as usize {
            let at = |i, j| i * n as usize + j;
            let factor = plain[at(i, k)] / plain[at(k, k)];
            (k + 1..n as usize).for_each(|j| plain[at(i, j)] -= factor * plain[at(k, j)]);
            plain[at(i, k)] = factor;
        }
    }
    for engine in engines() {
        let xs = Array::from(start.clone());
        let (ended, _) = iterate_n(n, (&xs, &Array::scalar(0u64)), |(m, k)| {
            let (left, behind) = (k.map(|k| n - 1 - k), k.map(|k| k + 1));
            let (m, _) = iterate_n(&left, (&m, &behind), |(m, i)| {
                let (i, k) = (&i, &k);
                let here = |j: Exp<u64>| i.value() * n + j;
                let above = |j: Exp<u64>| k.value() * n + j;
                let factor = i.map(|i| m.at(i * n + k.value()) / m.at(above(k.value())));
                let rest = k.map(|k| n - k);
                let row = generate(&rest, |j| {
                    let (j, by) = (j + k.value(), factor.value());
                    let less = m.at(here(j)) - by * m.at(above(j));
                    j.eq(k.value()).cond(by, less)
                });
                let at = generate(&rest, |j| here(j + k.value()));
                (m.scatter(&at, &row), i + 1)
            });
            (m, k + 1)
        });
        assert_eq!(ended.force_with(&engine)?, plain[..]);
        assert_eq!(changed(&engine), (n * (n - 1) / 2 - 1, 8 * n * n));
        assert_eq!(xs.to_vec()?, start);
    }
    Ok(())
}

/// An error between steps leaves the caller's arrays unchanged. The next force gives the same
/// error.
#[test]
fn errors_in_the_middle() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![0u64; 100_000]);
        let start = (&xs, &Array::scalar(0u64));
        let (ended, _) = iterate_n(10u64, start, |(xs, k)| {
            let ixs = generate(40_000u64, |i| i * (k.value() + 1));
            (xs.scatter(&ixs, &ixs), k + 1)
        });
        for _ in 0..2 {
            let error = ended.force_with(&engine).map(|_| ()).unwrap_err();
            assert_eq!((error.combinator, error.element), ("scatter", Some(33_334)));
            assert_eq!(xs.to_vec()?, vec![0; 100_000]);
        }
        // State that decides about the error is copied.
        let (ended, _) = iterate_n(10u64, (&xs, &Array::scalar(0u64)), |(xs, k)| {
            let ones = replicate(100u64, 1u64);
            let ixs = iota(100);
            (xs.scatter_with(&ixs, &ones, |a, b| b + 12 / (4 - a)), k + 1)
        });
        assert_eq!(copied(&ended, &engine)?, [Some(Copied::Decides)]);
        let error = ended.force_with(&engine).map(|_| ()).unwrap_err();
        assert_eq!((error.combinator, error.element), ("scatter_with", Some(0)));
    }
    Ok(())
}
