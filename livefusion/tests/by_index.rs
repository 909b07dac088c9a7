//! Running folds by index inside other loops.
//!
//! Covered: closures on segments, steps of loops over arrays, prepared programs, and arrays cut by
//! an exit. Each result is compared with a plain loop, on every backend.

use crate::common::engines;
use livefusion::prelude::*;
use livefusion::prepare::prepare_with;

/// Pseudorandom numbers from 0 to 99.
fn numbers(n: usize) -> Vec<i64> {
    let all = crate::common::filters::numbers(7, n).into_iter();
    all.map(|x| x.rem_euclid(100)).collect()
}

/// Rows of many lengths, some of them empty.
fn rows() -> Vec<Vec<i64>> {
    (0..40).map(|k| numbers(k * 7 % 23)).collect()
}

/// Plain loop: the value of the bin after each update, or before it.
fn by_index<V: Copy>(
    bins: usize,
    start: i64,
    values: &[V],
    at: impl Fn(V) -> usize,
    op: impl Fn(i64, V) -> i64,
    inclusive: bool,
) -> Vec<i64> {
    let mut bins = vec![start; bins];
    let one = |x: &V| {
        let bin = &mut bins[at(*x)];
        let before = std::mem::replace(bin, op(*bin, *x));
        if inclusive { *bin } else { before }
    };
    values.iter().map(one).collect()
}

/// Running sums per residue modulo 3.
fn sums(xs: &Array<i64>) -> Array<i64> {
    xs.scan_by_index(
        &xs.map(|x| x % 3),
        Bins {
            count: 3,
            start: 0i64,
        },
        |sum, x| sum + x,
    )
}

fn sums_plain(xs: &[i64]) -> Vec<i64> {
    by_index(3, 0, xs, |x| x as usize % 3, |sum, x| sum + x, true)
}

/// Running counts per residue modulo 5, exclusive.
fn counts(xs: &Array<i64>) -> Array<i64> {
    xs.scan_exclusive_by_index(
        &xs.map(|x| x % 5),
        Bins {
            count: 5,
            start: 0i64,
        },
        |n, _| n + 1,
    )
}

fn counts_plain(xs: &[i64]) -> Vec<i64> {
    by_index(5, 0, xs, |x| x as usize % 5, |n, _| n + 1, false)
}

/// Compares the engine's result for each row with a plain loop.
fn on_rows(f: impl Fn(Array<i64>) -> Array<i64>, plain: impl Fn(&[i64]) -> Vec<i64>) {
    let rows = rows();
    let expected: Vec<Vec<i64>> = rows.iter().map(|row| plain(row)).collect();
    for engine in engines() {
        for computed in [false, true] {
            let all = Segmented::from_vecs(rows.clone());
            let all = if computed {
                all.filter(|x| x.ge(0))
            } else {
                all
            };
            let made = all.map_segments(&f);
            let (lengths, data) = (made.lengths(), made.data()).force_with(&engine).unwrap();
            assert_eq!(&data[..], expected.concat());
            let lens: Vec<u64> = expected.iter().map(|row| row.len() as u64).collect();
            assert_eq!(&lengths[..], lens);
        }
    }
}

#[test]
fn scan_by_index_and_scan_exclusive_by_index__in_closures_on_segments__run_in_each() {
    on_rows(|row| sums(&row), sums_plain);
    on_rows(|row| counts(&row), counts_plain);
}

/// The number of bins, their start, the indices and the values all depend on the segment.
#[test]
fn bins_of_each_segment() {
    on_rows(
        |row| {
            let (n, start) = (row.len(), row.sum());
            let at = row.map(|x| x.cast::<u64>() % &n);
            row.scan_by_index(
                &at,
                Bins {
                    count: &n,
                    start: &start,
                },
                |bin, x| bin * 2 - x,
            )
        },
        |row| {
            let (n, start) = (row.len(), row.iter().sum());
            let at = |x: i64| x as usize % n;
            let op = |bin: i64, x| bin.wrapping_mul(2).wrapping_sub(x);
            by_index(n, start, row, at, op, true)
        },
    );
}

#[test]
fn behind_filters_and_before_scans() {
    on_rows(
        |row| sums(&row.filter(|x| (x % 2).eq(0))).scan(0, |a, b| a + b),
        |row| {
            let even: Vec<i64> = row.iter().copied().filter(|x| x % 2 == 0).collect();
            let mut total = 0;
            let add = |x| {
                total += x;
                total
            };
            sums_plain(&even).into_iter().map(add).collect()
        },
    );
    on_rows(
        |row| counts(&sums(&row)).reverse(),
        |row| counts_plain(&sums_plain(row)).into_iter().rev().collect(),
    );
}

#[test]
fn in_closures_in_closures() {
    on_rows(
        |row| {
            let total = row.sum();
            // Empty pieces have no maximum.
            let full = row.filter(|x| (x % 7).gt(0));
            let pieces = Segmented::indices(&full.map(|x| x % 7));
            pieces.map_segments(|piece| {
                let piece = piece.map(|i| i.cast::<i64>() + &total);
                sums(&piece).max() + counts(&piece).sum()
            })
        },
        |row| {
            let total: i64 = row.iter().sum();
            let full = row.iter().filter(|x| *x % 7 > 0);
            let piece = |x: &i64| (0..x % 7).map(|i| i + total).collect::<Vec<i64>>();
            let of = |p: Vec<i64>| {
                let largest = sums_plain(&p).into_iter().max().expect("an element");
                largest + counts_plain(&p).iter().sum::<i64>()
            };
            full.map(piece).map(of).collect()
        },
    );
}

/// Runs along both axes of a matrix.
#[test]
fn in_closures_on_rows() {
    let all = numbers(7 * 11);
    let rows: Vec<&[i64]> = all.chunks(11).collect();
    let columns = (0..11).map(|j| rows.iter().map(|row| row[j]).collect::<Vec<i64>>());
    let along_rows: Vec<i64> = rows.iter().flat_map(|row| sums_plain(row)).collect();
    let along_columns: Vec<Vec<i64>> = columns.map(|column| counts_plain(&column)).collect();
    for engine in engines() {
        let m = Array::from_vec((7, 11), all.clone());
        let sums = m.map_rows(|row| sums(&row)).flatten();
        let counts = m
            .along(0)
            .map(|column| counts(&column))
            .transpose()
            .flatten();
        let (sums, counts) = (&sums, &counts).force_with(&engine).unwrap();
        assert_eq!(
            (&sums[..], &counts[..]),
            (&along_rows[..], &along_columns.concat()[..])
        );
    }
}

#[test]
fn in_steps_of_loops() {
    let xs = numbers(200);
    let mut expected = xs.clone();
    for _ in 0..4 {
        let sums = sums_plain(&expected);
        let counts = counts_plain(&expected);
        let next = sums.iter().zip(counts).map(|(s, n)| (s + n) % 100);
        expected = next.collect();
    }
    for engine in engines() {
        let ended = iterate_n(4, &Array::from(xs.clone()), |xs| {
            sums(&xs).zip_with(&counts(&xs), |s, n| (s + n) % 100)
        });
        assert_eq!(ended.force_with(&engine).unwrap(), expected);
    }
}

/// Each step uses the same indices and begins with the final bins of the step before.
#[test]
fn bins_that_are_the_state_of_a_loop() {
    let xs = numbers(50);
    let (mut bins, mut last) = (vec![1i64; 4], Vec::new());
    for _ in 0..3 {
        last = xs
            .iter()
            .map(|x| {
                let bin = &mut bins[*x as usize % 4];
                *bin = (*bin * 3 + x) % 1000;
                *bin
            })
            .collect();
    }
    for engine in engines() {
        let xs = Array::from(xs.clone());
        let at = xs.map(|x| x % 4);
        let op = |bin: Exp<i64>, x: Exp<i64>| (bin * 3 + x) % 1000;
        let start = (&replicate(4, 1i64), &xs);
        let (ends, running) = iterate_n(3, start, |(bins, _)| {
            let bins_then = bins.scatter_with(&at, &xs, op);
            let at_bins = at.map(|k| bins.at(k));
            let first = xs.zip(&at_bins).scan_by_index(
                &at,
                Bins {
                    count: 4,
                    start: 0i64,
                },
                |seen, (x, bin)| {
                    // The first value sees the bin of the state; later values see the updated bin.
                    (seen.eq(0).cond(bin, seen - 1) * 3 + x) % 1000 + 1
                },
            );
            (bins_then, first.map(|seen| seen - 1))
        });
        let (ends, running) = (&ends, &running).force_with(&engine).unwrap();
        assert_eq!((&ends[..], &running[..]), (&bins[..], &last[..]));
    }
}

#[test]
fn scan_by_index_and_scan_exclusive_by_index__in_prepared_programs__take_new_bins() {
    for engine in engines() {
        let program = prepare_with(&engine, |(xs, n): (Array<i64>, Array<u64, Ix0>)| {
            let at = xs.map(|x| x.cast::<u64>() % &n);
            let running = xs.scan_by_index(
                &at,
                Bins {
                    count: &n,
                    start: 1i64,
                },
                |bin, x| bin + x,
            );
            let before = xs.scan_exclusive_by_index(
                &at,
                Bins {
                    count: &n,
                    start: 1i64,
                },
                |bin, x| bin + x,
            );
            (running, before.sum())
        })
        .unwrap();
        for (len, n) in [(0, 1), (10, 3), (500, 7), (499, 1)] {
            let xs = numbers(len);
            let inputs = (Array::from(xs.clone()), Array::scalar(n as u64));
            let (running, before) = program.call(&inputs).unwrap();
            let at = |x: i64| x as usize % n;
            let plain = |inclusive| by_index(n, 1, &xs, at, |bin, x| bin + x, inclusive);
            assert_eq!(running, plain(true));
            assert_eq!(before, plain(false).iter().sum::<i64>());
        }
        let none = (Array::from(vec![1i64]), Array::scalar(0u64));
        assert!(program.call(&none).is_err());
    }
}

#[test]
fn before_an_end() {
    let xs = numbers(300);
    let plain = sums_plain(&xs);
    let expected: Vec<i64> = plain.into_iter().take_while(|s| *s < 900).collect();
    assert!(!expected.is_empty() && expected.len() < xs.len());
    for engine in engines() {
        for computed in [false, true] {
            let xs = Array::from(xs.clone());
            let xs = if computed { xs.filter(|x| x.ge(0)) } else { xs };
            let kept = sums(&xs).take_while(|s| s.lt(900));
            let (kept, total) = (&kept, &kept.sum()).force_with(&engine).unwrap();
            assert_eq!(&kept[..], &expected[..]);
            assert_eq!(total, expected.iter().sum::<i64>());
        }
    }
}

/// An index out of bounds is ignored after the exit, and an error before it.
#[test]
fn scan_by_index_stops_before_elements_behind_an_end() {
    let at: Vec<u64> = vec![0, 1, 0, 9, 1];
    let values = vec![1i64, 2, 3, 4, 5];
    for engine in engines() {
        let of = |end: u64| {
            let pairs = Array::from(at.clone()).zip(&Array::from(values.clone()));
            let kept = pairs.enumerate().take_while(|(i, _)| i.lt(end));
            let at = kept.map(|(_, (at, _))| at);
            kept.map(|(_, (_, x))| x).scan_by_index(
                &at,
                Bins {
                    count: 2,
                    start: 0i64,
                },
                |s, x| s + x,
            )
        };
        assert_eq!(of(3).force_with(&engine).unwrap(), [1, 2, 4]);
        assert!(of(4).force_with(&engine).is_err());
        let behind = (Array::from(values.clone())).scan_by_index(
            &Array::from(at.clone()),
            Bins {
                count: 2,
                start: 0i64,
            },
            |s, x| s + x,
        );
        let kept = behind.take_while(|s| s.lt(4));
        assert_eq!(kept.force_with(&engine).unwrap(), [1, 2]);
    }
}
