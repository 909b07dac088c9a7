//! Elements of scans some places away, in rows and segments.

use super::{cost, numbers, shifted};
use crate::common::counted;
use livefusion::prelude::*;
use livefusion::{Boundary, Result};

type Program = fn(&Array<i64>) -> Array<i64>;

#[test]
fn shift__of_a_stream_in_a_segment__begins_anew() -> Result<()> {
    let rows = vec![vec![3i64, -1, 4], vec![], vec![1], vec![-5, 9, 2, 6]];
    let segments = Segmented::from_vecs(rows.clone());
    for by in [-1, 1, 2, 9] {
        let program = || {
            segments.map_segments(|row| {
                let running = row.scan(0, |a, b| a + b);
                let kept = row.filter(|x| x.gt(0));
                let sum = running.shift(by, 7).zip_with(&running, |a, b| a * b).sum();
                &sum + &kept.shift(by, 7).zip_with(&kept, |a, b| a * b).sum()
            })
        };
        let products =
            |xs: &[i64]| -> i64 { shifted(xs, by, 7).iter().zip(xs).map(|(a, b)| a * b).sum() };
        let want: Vec<i64> = (rows.iter())
            .map(|row| {
                let running: Vec<i64> = (0..row.len()).map(|i| row[..=i].iter().sum()).collect();
                let kept: Vec<i64> = row.iter().copied().filter(|x| *x > 0).collect();
                products(&running) + products(&kept)
            })
            .collect();
        for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
            assert_eq!(program().force_with(&engine)?, want, "by {by}");
        }
        if (1..=8).contains(&by) {
            assert_eq!(cost(program().node()).0, 1, "by {by}");
        }
    }
    Ok(())
}

/// Rows of one length, rows without elements, and segments.
fn cuts() -> [Vec<usize>; 4] {
    [vec![9; 4], vec![0; 3], vec![], vec![3, 0, 1, 2, 17, 4, 0]]
}

/// Compares a closure on segments of scans, and on equal rows, with each segment's values.
fn each_has(
    what: &str,
    program: impl Fn(&Array<i64>) -> Array<i64>,
    expected: impl Fn(&[i64]) -> Vec<i64>,
) -> Result<()> {
    for lengths in cuts() {
        let xs = numbers(lengths.iter().sum());
        let mut rest = &xs[..];
        let mut want = Vec::new();
        for n in &lengths {
            let (row, behind) = rest.split_at(*n);
            let sums = row.iter().scan(2, |sum, x| {
                *sum += x;
                Some(*sum)
            });
            want.extend(expected(&sums.collect::<Vec<_>>()));
            rest = behind;
        }
        let sums = |row: &Array<i64>| row.scan(2, |a, b| a + b);
        let equal = lengths
            .first()
            .is_some_and(|n| lengths.iter().all(|m| m == n));
        let lengths: Vec<u64> = lengths.iter().map(|n| *n as u64).collect();
        let each = || {
            let segments = Segmented::new(&Array::from(lengths.clone()), &Array::from(&xs));
            segments
                .map_segments(|row| program(&sums(&row)))
                .data()
                .clone()
        };
        let rows = || {
            let shape = (lengths.len(), lengths.first().map_or(0, |n| *n as usize));
            let m = Array::from_vec(shape, xs.clone());
            m.map_rows(|row| program(&sums(&row))).flatten()
        };
        for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
            let backend = engine.backend_name();
            assert_eq!(each().force_with(&engine)?, want, "{what} on {backend}");
            if equal {
                assert_eq!(
                    rows().force_with(&engine)?,
                    want,
                    "{what} in rows on {backend}"
                );
            }
        }
    }
    Ok(())
}

#[test]
fn reads_of_a_scan_in_a_segment__begin_and_end_with_it() -> Result<()> {
    for by in [-40, -3, -1, 2, 9] {
        let beside = |xs: &Array<i64>| xs.shift(by, 5).zip_with(xs, |a, b| a * 100 + b);
        each_has(&format!("shift by {by}"), beside, |xs| {
            let pairs = shifted(xs, by, 5).into_iter().zip(xs);
            pairs.map(|(a, b)| a * 100 + b).collect()
        })?;
    }
    let plain = |xs: &[i64], program: &dyn Fn(&Array<i64>) -> Array<i64>| {
        let all = program(&Array::from(xs)).force_with(&Engine::interp());
        all.map(|xs| xs[..].to_vec()).unwrap_or_default()
    };
    for boundary in [Boundary::Clamp, Boundary::Constant(7), Boundary::Wrap] {
        let three = |xs: &Array<i64>| xs.windows(boundary, |[a, b, c]| a * 100 + b * 10 - c);
        let seven = |xs: &Array<i64>| {
            let windows = xs.windows(boundary, |[a, _, c, d, _, f, g]| {
                a * 7 + c * 5 - d * 3 + f - g
            });
            windows.zip_with(&xs.shift(-2, 1), |w, x| w * 10 + x)
        };
        // Windows of sums of windows, and of sums from the right.
        let twice = |xs: &Array<i64>| three(&three(xs).scan(0, |a, b| a + b));
        let right = |xs: &Array<i64>| three(&xs.scan_right(0, |a, b| a + b));
        let what = format!("windows, {boundary:?},");
        each_has(&what, three, |xs| plain(xs, &three))?;
        each_has(&what, seven, |xs| plain(xs, &seven))?;
        each_has(&what, twice, |xs| plain(xs, &twice))?;
        each_has(&what, right, |xs| plain(xs, &right))?;
        // From the last to the first.
        let turned = |xs: &Array<i64>| three(xs).reverse() * xs;
        each_has(&what, turned, |xs| plain(xs, &turned))?;
    }
    Ok(())
}

/// A second pass over the segment reads the elements of the first.
#[test]
fn reads_ahead_in_a_row__share_its_loop() -> Result<()> {
    let m = Array::from_vec((6, 30), numbers(180));
    let segments = Segmented::new(
        &Array::from(vec![100u64, 0, 80]),
        &Array::from(numbers(180)),
    );
    let sums = |xs: &Array<i64>| xs.scan(0, |a, b| a + b);
    let cost = |program: Program| -> Result<_> {
        let row = m.map_rows(|row| program(&sums(&row)));
        let sum = m.map_rows(|row| program(&sums(&row)).sum());
        let segment = segments.map_segments(|row| program(&sums(&row)));
        Ok([row.explain()?, sum.explain()?, segment.data().explain()?].map(|e| counted(&e)))
    };
    let ahead: [Program; 4] = [
        |xs| xs.shift(-1, 5).zip_with(xs, |a, b| a - b),
        |xs| xs.shift(-7, 5) * xs.shift(9, 5),
        |xs| xs.windows(Boundary::Clamp, |[a, b, c]| a * 100 + b * 10 - c),
        |xs| {
            xs.windows(Boundary::Constant(3), |[a, b, c, d, e, f, g]| {
                a - b * c + d * e - f * g
            })
        },
    ];
    for program in ahead {
        assert_eq!(cost(program)?, [(1, 3, 1); 3]);
    }
    // Each sum of neighbours takes a further pass, and one pass has several windows.
    let further: Program = |xs| {
        let near = |xs: &Array<i64>| xs.windows(Boundary::Clamp, |[a, b, c]| a + b * c);
        let all = near(xs) + xs.shift(-1, 2);
        near(&all.scan(1, |a, b| a.max(b)))
    };
    assert_eq!(cost(further)?, [(1, 4, 1); 3]);
    // A pass from the end is read by another from the end.
    let right = m.map_rows(|row| {
        let right = row.scan_right(0, |a, b| a + b);
        right.windows(Boundary::Clamp, |[a, b, c]| a * 100 + b * 10 - c)
    });
    assert_eq!(counted(&right.explain()?), (1, 3, 1));
    // Windows that go around are read from memory.
    let around: Program = |xs| xs.windows(Boundary::Wrap, |[a, b, c]| a - b + c);
    assert_eq!(cost(around)?, [(2, 4, 2); 3]);
    Ok(())
}

/// The forward sweep is a pass over the row. The back substitution is a pass from its end.
#[test]
fn a_tridiagonal_solver__is_two_passes_over_each_row() -> Result<()> {
    type Row = Array<f64>;
    let solve = |low: &Row, diagonal: &Row, up: &Row, right: &Row| {
        let ups = zip((low, diagonal, up)).scan_seq((0.0, 1.0, 0.0), |(_, _, u), (l, d, c)| {
            (l, d, c / (d - l * u))
        });
        let ups = ups.map(|(_, _, u)| u);
        let pivots = zip((low, diagonal, &ups.shift(1, 0.0))).map(|(l, d, u)| d - l * u);
        let rights = zip((low, &pivots, right));
        let rights = rights.scan_seq((0.0, 1.0, 0.0), |(_, _, r), (l, p, x)| {
            (l, p, (x - l * r) / p)
        });
        let both = ups.zip_with(&rights, |u, (_, _, r)| (u, r));
        let back = both.scan_right((0.0, 0.0), |(u, r), (_, x)| (u, r - u * x));
        back.map(|(_, x)| x)
    };
    let (n, width) = (5, 40);
    let rights = Array::from((0..n * width).map(|i| f64::from(i % 7)).collect::<Vec<_>>());
    let m = rights.reshape((n as usize, width as usize));
    let program = || {
        m.map_rows(|right| {
            let all = |x: f64| right.map(move |_| x);
            solve(&all(1.0), &all(4.0), &all(1.0), &right)
        })
    };
    assert_eq!(counted(&program().explain()?), (1, 3, 1));
    for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
        let solved = program().force_with(&engine)?.into_vec()?;
        let row = |k: usize| &solved[k * 40..(k + 1) * 40];
        for (k, right) in rights.to_vec()?.chunks(40).enumerate() {
            let at = |i: usize| row(k).get(i).copied().unwrap_or(0.0);
            for (i, want) in right.iter().enumerate() {
                let got = at(i.wrapping_sub(1)) + 4.0 * at(i) + at(i + 1);
                assert!((got - want).abs() < 1e-9, "row {k}, element {i}");
            }
        }
    }
    Ok(())
}

/// Threads take rows in turn, each with a buffer of its own.
#[test]
fn reads_ahead_in_rows__have_the_same_bits_on_all_threads() -> Result<()> {
    let xs: Vec<f64> = (0..60_000).map(|i| f64::from(i % 997) * 0.1).collect();
    let xs = Array::from(&xs);
    let ends = |row: &Array<f64>| {
        let sums = row.scan(0.0, |a, b| a + b);
        let near = sums.windows(Boundary::Clamp, |[a, b, c, d, e]| a + b - c * d + e);
        (sums.shift(-1, 0.5) - near).scan(0.0, |a, b| a * 0.5 + b)
    };
    for width in [3, 600, 30_000] {
        let rows = || {
            xs.reshape((60_000 / width, width))
                .map_rows(|row| ends(&row))
                .flatten()
        };
        let segments = || {
            let lengths = Array::from(vec![width as u64, 0, 60_000 - width as u64]);
            Segmented::new(&lengths, &xs)
                .map_segments(|row| ends(&row))
                .data()
                .clone()
        };
        let want = (&rows(), &segments()).force_with(&Engine::interp())?;
        for threads in [1, 3] {
            for builder in [Engine::builder(), Engine::builder().only_c()] {
                let engine = builder.threads(threads).build();
                let got = (&rows(), &segments()).force_with(&engine)?;
                assert!(got == want, "{threads} threads, rows of {width}");
            }
        }
    }
    Ok(())
}

/// Elements of a map of a scan that are not read do not fail.
#[test]
fn reads_ahead_in_a_row__fail_only_where_they_read() -> Result<()> {
    let m = Array::from([[0i64, 1, 2], [0, 3, 1]]);
    for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
        let ahead = m.map_rows(|row| row.scan(0, |a, b| a + b).map(|x| 12 / x).shift(-1, 0));
        assert_eq!(ahead.force_with(&engine)?.into_vec()?, [12, 4, 0, 4, 3, 0]);
        let near = m.map_rows(|row| {
            let sums = row.scan(0, |a, b| a + b);
            sums.windows(Boundary::Clamp, |[_, b, c]| 12 / (c - b))
        });
        let error = near.force_with(&engine).unwrap_err();
        assert_eq!((error.row, error.element), (Some(0), Some(2)), "{error}");
    }
    Ok(())
}

/// The steps between neighbours, by two parts of a row.
fn steps(xs: &Array<i64>) -> Array<i64> {
    xs.drop(1)
        .zip_with(&xs.take(&xs.len() - 1), |a, b| a * 100 + b)
}

#[test]
fn parts_of_a_scan_in_a_row__are_those_of_its_elements() -> Result<()> {
    each_has("steps", steps, |xs| {
        xs.windows(2).map(|w| w[1] * 100 + w[0]).collect()
    })?;
    each_has(
        "differences",
        |xs| xs.diff(),
        |xs| xs.windows(2).map(|w| w[1] - w[0]).collect(),
    )?;
    let both = |xs: &Array<i64>| steps(xs) * xs.diff() + xs.drop(1);
    each_has("both", both, |xs| {
        let both = |w: &[i64]| (w[1] * 100 + w[0]) * (w[1] - w[0]) + w[1];
        xs.windows(2).map(both).collect()
    })?;
    for n in [0, 1, 4, 30] {
        let first = |xs: &Array<i64>| xs.take(n);
        each_has("the first", first, |xs| {
            xs.iter().copied().take(n as usize).collect()
        })?;
        let joined = |xs: &Array<i64>| concat([xs, &xs.map(|x| x + 1)]).take(n);
        each_has("the first of two", joined, |xs| {
            let again = xs.iter().map(|x| x + 1);
            xs.iter().copied().chain(again).take(n as usize).collect()
        })?;
    }
    Ok(())
}

#[test]
fn parts_of_a_scan_in_a_row__share_its_pass() -> Result<()> {
    let m = Array::from_vec((6, 30), numbers(180));
    let segments = Segmented::new(
        &Array::from(vec![100u64, 0, 80]),
        &Array::from(numbers(180)),
    );
    let programs: [Program; 3] = [steps, |xs| xs.diff(), |xs| steps(xs) * xs.diff()];
    for (k, program) in programs.into_iter().enumerate() {
        let sums = |xs: &Array<i64>| xs.scan(0, |a, b| a + b);
        let row = m.map_rows(|row| program(&sums(&row)));
        let sum = m.map_rows(|row| program(&sums(&row)).sum());
        let segment = segments.map_segments(|row| program(&sums(&row)).sum());
        // The elements that are left out make a counter of their own.
        assert_eq!(counted(&row.explain()?), (1, 3, 1), "{k}");
        assert_eq!(counted(&sum.explain()?), (1, 3, 1), "{k}");
        assert_eq!(counted(&segment.explain()?), (1, 3, 1), "{k}");
    }
    Ok(())
}

/// Running folds that are the elements.
fn last(row: &Array<i64>) -> Array<i64> {
    row.scan(0, |_, b| b)
}

/// A late row names an element of the row, not a step of the loop.
#[test]
fn a_failing_part_of_a_row__names_the_element() -> Result<()> {
    let xs = vec![1i64, 2, 3, 4, 5, 5, 7, 8];
    let m = Array::from_vec((2, 4), xs.clone());
    let segments = Segmented::new(&Array::from(vec![3u64, 0, 5]), &Array::from(xs));
    for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
        let steps: Program = |row| {
            let xs = last(row);
            xs.drop(1)
                .zip_with(&xs.take(&xs.len() - 1), |a, b| 12 / (a - b))
        };
        let quotients: Program = |row| last(row).diff().map(|x| 12 / x);
        for program in [steps, quotients] {
            let row = m
                .map_rows(|row| program(&row))
                .force_with(&engine)
                .unwrap_err();
            assert_eq!((row.row, row.element), (Some(1), Some(0)), "{row}");
            let segment = segments.map_segments(|row| program(&row));
            let segment = segment.data().force_with(&engine).unwrap_err();
            assert_eq!(
                (segment.row, segment.element),
                (Some(2), Some(1)),
                "{segment}"
            );
        }
        // Before the first step is left out.
        let early = m.map_rows(|row| row.map(|x| 12 / (x - 7)).scan(0, |_, b| b).diff());
        let early = early.force_with(&engine).unwrap_err();
        assert_eq!((early.row, early.element), (Some(1), Some(2)), "{early}");
    }
    Ok(())
}

/// The last segment of flags is a phase of its own, whose elements come after those of the others.
#[test]
fn reads_in_segments_from_flags__go_on_from_phase_to_phase() -> Result<()> {
    let xs = numbers(30);
    let expected = |f: &dyn Fn(&[i64]) -> Vec<i64>| {
        let mut rows: Vec<Vec<i64>> = Vec::new();
        for x in &xs {
            match rows.last_mut() {
                Some(row) if *x <= 0 => row.push(*x),
                _ => rows.push(vec![*x]),
            }
        }
        rows.iter().flat_map(|row| f(row)).collect::<Vec<i64>>()
    };
    let all = Array::from(&xs);
    let runs = || Segmented::from_flags(&all.map(|x| x.gt(0)), &all);
    for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
        let near = runs().map_segments(|row| {
            last(&row)
                .shift(-1, 7)
                .zip_with(&last(&row), |a, b| a * 100 + b)
        });
        let want = expected(&|row| {
            let pairs = shifted(row, -1, 7).into_iter().zip(row);
            pairs.map(|(a, b)| a * 100 + b).collect()
        });
        assert_eq!(near.data().force_with(&engine)?, want);
        let right = runs().map_segments(|row| row.scan_right(0, |a, b| a + b) * last(&row));
        let want = expected(&|row| {
            let sum = |i: usize| row[i..].iter().sum::<i64>();
            (0..row.len()).map(|i| sum(i) * row[i]).collect()
        });
        assert_eq!(right.data().force_with(&engine)?, want);
    }
    Ok(())
}
