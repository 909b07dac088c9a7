//! Joins of scans: appends of scans of equally many elements, and combinations of scans of packs.

use crate::common::{engines, shape};
use livefusion::Result;
use livefusion::prelude::*;

const LENGTHS: [i64; 5] = [0, 1, 2, 70, 40_000];

fn numbers(n: i64, by: i64) -> Vec<i64> {
    (0..n).map(|i| i * by % 19 - 7).collect()
}

fn running(xs: impl IntoIterator<Item = i64>) -> Vec<i64> {
    let sums = xs.into_iter().scan(0, |sum, x| {
        *sum += x;
        Some(*sum)
    });
    sums.collect()
}

/// Compares a program of two arrays of one length with plain code on each engine, and its loops and
/// written arrays with the expected ones.
fn check(
    build: impl Fn(&Array<i64>, &Array<i64>) -> Array<i64>,
    expected: impl Fn(&[i64], &[i64]) -> Vec<i64>,
    loops_and_arrays: (usize, usize),
) -> Result<()> {
    for n in LENGTHS {
        let (xs, ys) = (numbers(n, 5), numbers(n, 7));
        for engine in engines() {
            let built = build(&Array::from(xs.clone()), &Array::from(ys.clone()));
            if n > 0 {
                assert_eq!(shape(&[built.node()])?, loops_and_arrays, "{n}");
            }
            let got = built.force_with(&engine)?;
            assert_eq!(got, expected(&xs, &ys), "{n} on {}", engine.backend_name());
        }
    }
    Ok(())
}

fn sums(xs: &Array<i64>) -> Array<i64> {
    xs.scan(0, |a, b| a + b)
}

#[test]
fn append__of_scans_of_equally_many__is_one_loop() -> Result<()> {
    check(
        |xs, ys| sums(xs).append(&sums(&ys.map(|y| y * 2)).map(|y| y + 1)),
        |xs, ys| {
            let second = running(ys.iter().map(|y| y * 2));
            running(xs.iter().copied())
                .into_iter()
                .chain(second.iter().map(|y| y + 1))
                .collect()
        },
        (1, 1),
    )
}

#[test]
fn append__of_two_scans_of_one_array__is_one_loop() -> Result<()> {
    let greatest = |xs: &[i64]| -> Vec<i64> {
        let best = xs.iter().scan(0, |best: &mut i64, x| {
            *best = (*best).max(*x);
            Some(*best)
        });
        best.collect()
    };
    check(
        |xs, _| sums(xs).append(&xs.scan(0, |a, b| a.max(b))),
        |xs, _| [running(xs.iter().copied()), greatest(xs)].concat(),
        (1, 1),
    )
}

#[test]
fn append__of_scans_of_filters__is_one_loop() -> Result<()> {
    let kept = |xs: &[i64]| running(xs.iter().copied().filter(|x| *x > 0));
    check(
        |xs, ys| {
            let [a, b] = [xs, ys].map(|xs| sums(&xs.filter(|x| x.gt(0))));
            a.append(&b)
        },
        |xs, ys| [kept(xs), kept(ys)].concat(),
        (1, 1),
    )?;
    // The filter is computed in both phases, its scan in the second one.
    check(
        |xs, _| {
            let kept = xs.filter(|x| x.gt(0));
            kept.append(&sums(&kept))
        },
        |xs, _| {
            let plain = xs.iter().copied().filter(|x| *x > 0);
            plain.chain(kept(xs)).collect()
        },
        (1, 1),
    )
}

#[test]
fn append__of_three_scans_and_a_fold__is_one_loop() -> Result<()> {
    let build = |xs: &Array<i64>, ys: &Array<i64>| {
        let all = concat([&sums(xs), &sums(ys), &sums(&xs.zip_with(ys, |x, y| x - y))]);
        sums(&all)
    };
    check(
        build,
        |xs, ys| {
            let apart = xs.iter().zip(ys).map(|(x, y)| x - y);
            let parts = [running(xs.to_vec()), running(ys.to_vec()), running(apart)];
            running(parts.concat())
        },
        (1, 1),
    )
}

/// A scan with other consumers is not computed in the second phase alone.
#[test]
fn append__of_a_scan_with_other_consumers__stores_it() -> Result<()> {
    check(
        |xs, _| {
            let running = sums(xs);
            running.append(&running)
        },
        |xs, _| [running(xs.to_vec()), running(xs.to_vec())].concat(),
        (2, 2),
    )?;
    check(
        |xs, ys| {
            let running = sums(ys);
            sums(xs).append(&running).append(&running.map(|x| x + 1))
        },
        |xs, ys| {
            let second = running(ys.to_vec());
            let more: Vec<i64> = second.iter().map(|x| x + 1).collect();
            [running(xs.to_vec()), second, more].concat()
        },
        (2, 3),
    )?;
    check(
        |xs, ys| {
            let running = sums(ys);
            let total = running.sum();
            sums(xs).append(&running).map(|x| x + &total)
        },
        |xs, ys| {
            let second = running(ys.to_vec());
            let total: i64 = second.iter().sum();
            let all = running(xs.to_vec()).into_iter().chain(second);
            all.map(|x| x + total).collect()
        },
        (2, 2),
    )
}

fn is_small(x: &i64) -> bool {
    *x < 3
}

/// The elements of each side, in the places that their flags give.
fn placed(xs: &[i64], small: Vec<i64>, large: Vec<i64>) -> Vec<i64> {
    let (mut small, mut large) = (small.into_iter(), large.into_iter());
    let next = |x| match is_small(x) {
        true => small.next(),
        false => large.next(),
    };
    xs.iter().map(next).map(|x| x.unwrap_or_default()).collect()
}

/// Small and large elements.
fn parted(xs: &[i64]) -> (Vec<i64>, Vec<i64>) {
    xs.iter().partition(|x| is_small(x))
}

fn packs(xs: &Array<i64>) -> (Array<bool>, Array<i64>, Array<i64>) {
    let flags = xs.map(|x| x.lt(3));
    let (small, large) = (xs.pack(&flags), xs.pack(&!&flags));
    (flags, small, large)
}

#[test]
fn combine__of_scans_of_packs__packs_nothing() -> Result<()> {
    check(
        |xs, _| {
            let (flags, small, large) = packs(xs);
            flags.combine(&sums(&small), &sums(&large))
        },
        |xs, _| {
            let (small, large) = parted(xs);
            placed(xs, running(small), running(large))
        },
        (1, 1),
    )
}

#[test]
fn combine__of_scans_of_maps_of_packs__packs_nothing() -> Result<()> {
    check(
        |xs, _| {
            let (flags, small, large) = packs(xs);
            let before = small.map(|x| x * 2).scan_exclusive(5, |a, b| a + b);
            let best = sums(&large).scan(i64::MIN, |a, b| a.max(b)).map(|x| x - 1);
            flags.combine(&before, &best)
        },
        |xs, _| {
            let (small, large) = parted(xs);
            let mut before = running([5].into_iter().chain(small.iter().map(|x| x * 2)));
            before.pop();
            let best = running(large).into_iter().scan(i64::MIN, |best, x| {
                *best = x.max(*best);
                Some(*best - 1)
            });
            placed(xs, before, best.collect())
        },
        (1, 1),
    )
}

/// The sums of floats depend on their order, so the packs are summed as they are.
#[test]
fn combine__of_float_scans_of_packs__keeps_their_bits() -> Result<()> {
    for engine in engines() {
        let xs: Vec<f64> = (0..1000)
            .map(|i| f64::from(i * 7 % 19) * 0.1 - 0.8)
            .collect();
        let xs = Array::from(xs);
        let flags = xs.map(|x| x.gt(0.0));
        let running = |flags: &Array<bool>| xs.pack(flags).scan(0.0, |a, b| a + b);
        let (large, small) = (running(&flags), running(&!&flags));
        let both = flags.combine(&large, &small);
        let apart = (&flags, &large, &small).force_with(&engine)?;
        let (mut large, mut small) = (apart.1.to_vec()?.into_iter(), apart.2.to_vec()?.into_iter());
        let expected = apart
            .0
            .to_vec()?
            .into_iter()
            .map(|is_large| match is_large {
                true => large.next(),
                false => small.next(),
            });
        let expected: Option<Vec<f64>> = expected.collect();
        assert_eq!(Some(both.force_with(&engine)?.to_vec()?), expected);
    }
    Ok(())
}
