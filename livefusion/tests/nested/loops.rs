//! Loops over arrays in closures, against the closure on each segment alone.

use super::*;

#[test]
fn loop_in_rows__lengths_stay__gives_a_matrix() {
    let m = Array::from([[1i64, 2, 3], [4, 5, 6]]);
    for engine in engines() {
        let scanned = m.map_rows(|r| iterate_n(3, &r, |r| r.scan(0, |a, b| a + b)));
        let explained = scanned.explain_with(&engine).unwrap();
        assert_eq!((explained.loops.len(), explained.apart.len()), (0, 1));
        assert_eq!(
            scanned.force_with(&engine).unwrap(),
            [[1, 5, 15], [4, 17, 45]]
        );
        let scanned = m.map_rows(|r| iterate_n(3, &r, |r| r.scan(0, |a, b| a + b)));
        let joined = scanned.zip_with(&m, |x, y| x - y);
        assert_eq!(loops(&joined), 1);
        assert_eq!(
            joined.force_with(&engine).unwrap(),
            [[0, 3, 12], [0, 12, 39]]
        );
        // No rows, empty rows, no steps.
        for (n, m) in [(0, 3), (3, 0), (0, 0)] {
            let none = Array::from_vec((n, m), Vec::<i64>::new());
            let scanned = none.map_rows(|r| iterate_n(3, &r, |r| r.scan(0, |a, b| a + b)));
            assert_eq!(scanned.force_with(&engine).unwrap().shape(), [n, m]);
        }
        let same = m.map_rows(|r| iterate_n(0, &r, |r| r.scan(0, |a, b| a + b)));
        assert_eq!(same.force_with(&engine).unwrap(), [[1, 2, 3], [4, 5, 6]]);
    }
}

#[test]
fn loop_in_rows__all_lengths_shrink_alike__gives_a_matrix() {
    let m = Array::from_vec((2, 8), (0..16i64).collect());
    let halved = |n: u64| {
        m.map_rows(|r| {
            iterate_n(n, &r, |r| {
                let half = r.len().map(|n| n / 2);
                r.take(&half).zip_with(&r.drop(&half), |x, y| x * 3 + y)
            })
        })
    };
    for engine in engines() {
        let plain = |row: &[i64], n: u64| {
            (0..n).fold(row.to_vec(), |r, _| {
                let (x, y) = r.split_at(r.len() / 2);
                x.iter().zip(y).map(|(x, y)| x * 3 + y).collect()
            })
        };
        for n in 0..4 {
            let rows: Vec<i64> = (0..16i64).collect();
            let expected: Vec<i64> = rows.chunks(8).flat_map(|r| plain(r, n)).collect();
            let halved = halved(n).force_with(&engine).unwrap();
            assert_eq!(halved.shape(), [2, 8 >> n]);
            assert_eq!(halved.into_vec().unwrap(), expected);
        }
        // As many steps as the length of the rows allows is one number for all rows.
        let steps = m.map_rows(|r| {
            iterate_n(&r.len().map(|n| n / 3), &r, |r| {
                r.scan(0, |a, b| a + b).reverse()
            })
        });
        assert_eq!(steps.force_with(&engine).unwrap().shape(), [2, 8]);
    }
}

#[test]
fn loop_in_segments__any_step__is_the_loop_of_each_segment() {
    // Lengths stay.
    each_engine(&ints(), |r| iterate_n(3, &r, |r| r.scan(0, |a, b| a + b)));
    // Lengths change.
    each_engine(&ints(), |r| iterate_n(2, &r, |r| r.filter(|x| x.gt(1))));
    each_engine(&ints(), |r| {
        iterate_n(2, &r, |r| r.append(&r.map(|x| x + 10)))
    });
    // Arrays and delayed scalars of the segment, captured and in the state.
    each_engine(&ints(), |r| {
        let (total, sorted) = (r.sum(), r.sort());
        let start = (&r, &r.len(), 1i64, &Array::from(vec![2i64, 3]));
        let (xs, n, k, ys) = iterate_n(4, start, |(xs, n, k, ys)| {
            let xs = xs.reverse().zip(&sorted).map(|(x, s)| x + s + &total + &k);
            (xs, n + 1, k * 2, ys.map(|y| y + 1))
        });
        let ys = ys.sum();
        xs.map(|x| x * n.value().cast::<i64>() + &k + &ys)
    });
    // Components that only some segments change, or none.
    each_engine(&ints(), |r| {
        let (xs, ys, zs) = iterate_n(2, (&r, &r, &r), |(_, ys, zs)| {
            (ys.scan(0, |a, b| a + b), zs.clone(), zs)
        });
        xs.append(&ys).append(&zs)
    });
}

#[test]
fn loop_in_segments__number_of_steps_of_each__stops_apart() {
    each_engine(&ints(), |r| {
        iterate_n(r.len(), &r, |r| r.scan(0, |a, b| (a + b) % 1000))
    });
    each_engine(&ints(), |r| {
        iterate_n(r.len().map(|n| n % 3), &r, |r| r.filter(|x| x.ne(1)))
    });
    let steps = Array::from(vec![2u64, 5, 0, 1]);
    let rows = Segmented::from_vecs(vec![vec![1i64, 2], vec![], vec![7], vec![3, 4, 5]]);
    for engine in engines() {
        let all = (&rows, &steps).map_segments(|(r, n)| {
            let (r, taken) = iterate_n(&n, (&r, 0u64), |(r, k)| (r.scan(0, |a, b| a + b), k + 1));
            (r, taken)
        });
        let (data, taken) = (all.0.data(), &all.1).force_with(&engine).unwrap();
        assert_eq!(data, [1, 4, 7, 3, 7, 12]);
        assert_eq!(taken, [2, 5, 0, 1]);
        // As many numbers as segments.
        for wrong in [vec![1u64, 2], vec![1; 6]] {
            let wrong = Array::from(wrong);
            let all = (&rows, &wrong)
                .map_segments(|(r, n)| iterate_n(&n, &r, |r| r.scan(0, |a, b| a + b)));
            let error = error_of(all.data().force_with(&engine), None);
            let is_length = matches!(error.kind, ErrorKind::LengthMismatch { .. });
            assert!(is_length, "{error}");
        }
    }
}

#[test]
fn loop_in_segments__tests_of_each__stop_apart() {
    // Collatz: the number of steps, the largest number on the way.
    let starts = Array::from(vec![6u64, 1, 27, 7]);
    for engine in engines() {
        let (steps, highest) = (&starts,).map_segments(|(n,)| {
            let all = iterate_n(1, &replicate(1, &n), |r| r.append(&r).filter(|_| true));
            let start = (&all, 0u64, &n);
            let (_, steps, highest) = iterate_while(
                start,
                |(r, ..)| r.first().map(|n| n.ne(1)),
                |(r, k, most)| {
                    let next = r.map(|n| (n % 2).eq(0).cond(n / 2, n * 3 + 1));
                    let (longer, most) =
                        (next.append(&next.take(1)), most.map(|a| a.max(next.max())));
                    (longer.take(3), k + 1, most)
                },
            );
            (steps, highest)
        });
        let (steps, highest) = (&steps, &highest).force_with(&engine).unwrap();
        assert_eq!(steps, [8, 0, 111, 16]);
        assert_eq!(highest, [16, 1, 9232, 52]);
    }
    each_engine(&floats(), |r| {
        iterate_while(
            &r,
            |r| r.fold(0.0, |a, b| a.max(b)).gt(1.0),
            |r| r.map(|x| x / 2.0),
        )
    });
    // Arrays get shorter and longer, and the elements before the loop are captured.
    each_engine(&ints(), |r| {
        let (xs, k) = iterate_while(
            (&r, 0i64),
            |(xs, k)| ((xs.len() + 1) * k.map(|k| k.cast::<u64>())).lt(6),
            |(xs, k)| (xs.filter(|x| x.gt(1)).append(&r), k + 1),
        );
        xs.map(|x| x + &k)
    });
    // A test of the number of steps alone is one test for all segments.
    each_engine(&ints(), |r| {
        let step = |(xs, k): (Array<i64>, Array<i64, Ix0>)| (xs.scan(0, |a, b| a + b), k + 1);
        iterate_while((&r, 0i64), |(_, k)| k.lt(3), step).0
    });
}

/// A step reads an array from around its loop. It does not inline that array's own reads.
#[test]
fn loop_in_rows__start_is_an_index_function__is_read_in_the_step() {
    let ones = Array::from(vec![1i64, 2]);
    each_engine(&ints(), |r| {
        let turned = iterate_while(&r, |r| r.sum().gt(99), |r| r.reverse()).reverse();
        let step = |now: Array<i64>| {
            let both = now.zip_shortest(&ones).map(|(x, y)| x * y);
            both.zip_shortest(&turned).map(|(x, y)| x + y)
        };
        turned.merge(&iterate_n(2, &turned, step), |a, b| a.le(b))
    });
}

/// Code for a segment that stopped would trap, or would not end.
#[test]
fn loop_in_segments__one_stopped__runs_no_code_for_it() {
    // A division by zero, of elements and of a delayed scalar.
    each_engine(&ints(), |r| {
        let start = (&r, &r.len().map(|n| n.cast::<i64>()), 0i64);
        let (xs, _, q) = iterate_while(
            start,
            |(_, d, _)| d.gt(0),
            |(xs, d, _)| {
                let (scanned, less) = (xs.scan(0, |a, b| a + b), &d - 1);
                (scanned.map(|x| x / &d), less, d.map(|d| 12 / d))
            },
        );
        xs.map(|x| x + &q)
    });
    // The maximum of an empty array, and a read behind the end.
    each_engine(&ints(), |r| {
        let (xs, most, last) = iterate_while(
            (&r, 0i64, 0i64),
            |(xs, ..)| xs.len().gt(0),
            |(xs, most, _)| {
                let last = xs.at(xs.len() - 1u64);
                (xs.drop(1), most + xs.max(), last)
            },
        );
        xs.append(&replicate(2, &(most * last)))
    });
    // A scalar loop that would not end.
    each_engine(&ints(), |r| {
        let (xs, _) = iterate_while(
            (&r, &r.len()),
            |(_, n)| n.gt(0),
            |(xs, n)| {
                let halved = xs.map(|x| {
                    livefusion::exp::while_loop(
                        (x, Exp::lit(1u64)),
                        |(_, k)| k.lt(9),
                        |(x, k)| (x + 1, k * (&n + 1)),
                    )
                    .0
                });
                (halved.scan(0, |a, b| a + b), n - 1)
            },
        );
        xs
    });
}

#[test]
fn loop_in_rows__step_only_maps__is_a_scalar_loop() {
    let m = Array::from([[1.0f64, 3.0], [2.0, 2.0]]);
    let mapped = m.map_rows(|r| {
        let t = r.sum();
        iterate_n(3, &r, |r| r.map(|x| x / &t))
    });
    let explained = mapped.explain().unwrap();
    assert_eq!((explained.loops.len(), explained.apart.len()), (1, 0));
    assert_eq!(
        mapped.force().unwrap(),
        [[1.0 / 64.0, 3.0 / 64.0], [2.0 / 64.0, 2.0 / 64.0]]
    );
    // The number of steps depends on the row.
    let mapped = m.map_rows(|r| {
        let n = r.first().map(|x| x.cast::<u64>());
        iterate_n(&n, &r, |r| r.map(|x| x * 2.0))
    });
    let explained = mapped.explain().unwrap();
    assert_eq!((explained.loops.len(), explained.apart.len()), (1, 0));
    assert_eq!(mapped.force().unwrap(), [[2.0, 6.0], [8.0, 8.0]]);
}

/// Newton's method for the mean, as a fold of each row in each step.
#[test]
fn loop_in_rows__state_of_scalars__folds_each_row_in_one_loop() {
    let m = Array::from([[1.0f64, 3.0], [2.0, 8.0]]);
    for engine in engines() {
        let found = m.map_rows(|r| {
            let start = (&r.first(), 0u64);
            let step = |(at, k): (Array<f64, Ix0>, Array<u64, Ix0>)| {
                let next = &at + r.map(|x| x - &at).sum() / 2.0;
                (next, k + 1)
            };
            let far =
                |(at, _): (Array<f64, Ix0>, _)| r.map(|x| x - &at).sum().map(|d| d.abs().gt(1e-9));
            iterate_while(start, far, step)
        });
        let (at, steps) = (&found.0, &found.1).force_with(&engine).unwrap();
        assert_eq!((&at[..], &steps[..]), (&[2.0, 5.0][..], &[1, 1][..]));
    }
}

#[test]
fn loops_in_loops_and_closures__any_nest__are_those_of_each_segment() {
    // A loop in a loop, whose number of steps is in the outer state.
    each_engine(&ints(), |r| {
        let (xs, _) = iterate_n(3, (&r, &r.len()), |(xs, n)| {
            let inner = iterate_n(&n, &xs, |ys| {
                ys.scan(0, |a, b| (a + b) % 100)
                    .reverse()
                    .append(&xs.take(1))
            });
            (inner.take(5), n + 1)
        });
        xs
    });
    each_engine(&ints(), |r| {
        iterate_while(
            &r,
            |xs| xs.sum().gt(3),
            |xs| {
                let inner = |ys: Array<i64>| ys.filter(|y| y.gt(1)).map(|y| y - 1);
                iterate_while(&xs, |ys| ys.len().gt(2), inner).map(|y| y / 2)
            },
        )
    });
    // A closure on segments in the step, with a loop of its own.
    each_engine(&ints(), |r| {
        iterate_n(2, &r, |xs| {
            let total = xs.sum();
            let pieces = Segmented::indices(&xs.map(|x| x % 4));
            let sums = pieces.map_segments(|piece| {
                let start = piece.map(|i| i.cast::<i64>() + &total);
                let n = piece.len();
                iterate_n(&n, &start, |p| p.scan(1, |a, b| (a + b) % 50)).sum()
            });
            sums.append(&xs.take(1))
        })
    });
    // Rows in a step of a loop around them.
    let m = Array::from([[3i64, 1, 2], [0, 5, 4]]);
    for engine in engines() {
        let turned = iterate_n(2, &m, |m| {
            let all = m.sum();
            m.map_rows(|r| {
                let loop_of = |n: Array<u64, Ix0>| iterate_n(&n, &r, |r| r.scan(0, |a, b| a + b));
                let n = r.first().map(|x| x.cast::<u64>() % 3);
                loop_of(n).map(|x| (x + &all) % 10)
            })
        });
        let mut plain = vec![vec![3i64, 1, 2], vec![0, 5, 4]];
        for _ in 0..2 {
            let all: i64 = plain.iter().flatten().sum();
            for row in &mut plain {
                for _ in 0..row[0] % 3 {
                    (1..row.len()).for_each(|i| row[i] += row[i - 1]);
                }
                row.iter_mut().for_each(|x| *x = (*x + all) % 10);
            }
        }
        let turned = turned.force_with(&engine).unwrap();
        assert_eq!(turned.into_vec().unwrap(), plain.concat());
    }
}

/// Nests of loops are lifted in a time that grows with their depth, not with its power.
#[test]
fn loops_in_loops_and_closures__deep_nests__are_lifted_once_or_twice() {
    fn nest(depth: usize, xs: Array<i64>) -> Array<i64> {
        match depth {
            0 => xs.filter(|x| x.gt(0)).scan(0, |a, b| a + b),
            _ => iterate_n(1, &xs, |xs| nest(depth - 1, xs)),
        }
    }
    let all = Segmented::from_vecs(ints());
    let turned = all.map_segments(|r| nest(40, r));
    let scanned = all.map_segments(|r| nest(0, r));
    assert_eq!(
        turned.to_vecs().unwrap(),
        scanned.to_vecs().unwrap(),
        "one step each"
    );
    let too_deep = all.map_segments(|r| nest(41, r)).data().force();
    let said = too_deep.unwrap_err().to_string();
    assert!(said.contains("at most 40 loops over arrays"), "{said}");
}

#[test]
fn sort_by_in_segments__is_the_sort_of_each_segment() {
    each_engine(&ints(), |r| {
        r.sort_by(|x, y| (x % 3).lt(y % 3) | ((x % 3).eq(y % 3) & x.gt(y)))
    });
    let m = Array::from([[3i64, 1, 2], [0, 5, 4]]);
    let sorted = m.map_rows(|r| r.sort_by(|x, y| x.gt(y)));
    assert_eq!(sorted.force().unwrap(), [[3, 2, 1], [5, 4, 0]]);
}

/// The largest elements of each row, also with more wanted than there are.
#[test]
fn selections_and_sorts_in_rows__few_elements__have_what_there_is() {
    for engine in engines() {
        for columns in [0usize, 1, 2, 5] {
            let rows: Vec<i64> = (0..3 * columns as i64).map(|i| i * 7 % 5).collect();
            let m = Array::from_vec((3, columns), rows.clone());
            let mut tops = Vec::new();
            let mut places = Vec::new();
            let mut sorted = Vec::new();
            for row in 0..3 {
                let row = &rows[row * columns..(row + 1) * columns];
                let mut order: Vec<usize> = (0..columns).collect();
                order.sort_by_key(|i| std::cmp::Reverse(row[*i]));
                let mut ascending = row.to_vec();
                ascending.sort_unstable();
                sorted.extend(ascending);
                tops.extend(order.iter().take(3).map(|i| row[*i]));
                places.extend(order.iter().take(3).map(|i| *i as u64));
            }
            let (top, at, all) = m.map_rows(|r| (r.top_k(3), r.argtop_k(3), r.sort()));
            let top = top.force_with(&engine).unwrap();
            assert_eq!(top.shape(), [3, columns.min(3)]);
            assert_eq!(top.into_vec().unwrap(), tops);
            assert_eq!(at.force_with(&engine).unwrap().into_vec().unwrap(), places);
            assert_eq!(all.force_with(&engine).unwrap().into_vec().unwrap(), sorted);
        }
        let none = Array::from_vec((0, 4), Vec::<i64>::new());
        let top = none.map_rows(|r| r.top_k(3)).force_with(&engine).unwrap();
        assert_eq!(top.shape(), [0, 3]);
        let all = Segmented::from_vecs(ints());
        let top = all.map_segments(|r| r.top_k(2));
        let (lengths, data) = (top.lengths(), top.data()).force_with(&engine).unwrap();
        assert_eq!(lengths, [2, 0, 1, 2, 2]);
        assert_eq!(data, [4, 3, 5, 9, 6, 0, 0]);
    }
}

#[test]
fn loop_in_segments__errors_of_a_step__have_their_places() {
    let all = Segmented::from_vecs(ints());
    for engine in engines() {
        let line = line!();
        let step = |r: Array<i64>| r.scan(0, |a, b| a + b).map(|x| 60 / (x - 17));
        for n in [false, true] {
            let failed = all.map_segments(|r| match n {
                true => iterate_n(r.len(), &r, step),
                false => iterate_n(2, &r, step),
            });
            let error = error_of(failed.data().force_with(&engine), line);
            let kind = ErrorKind::Division {
                dividend: 60,
                divisor: 0,
            };
            assert_eq!((error.combinator, error.kind), ("map", kind));
        }
        let line = line!();
        let apart = |r: Array<i64>| r.external(|xs| xs.to_vec());
        let failed = all.map_segments(|r| iterate_n(2, &r, apart));
        let error = error_of(failed.data().force_with(&engine), line);
        assert_eq!(
            (error.combinator, error.kind),
            ("external", ErrorKind::NotNested)
        );
    }
}

#[test]
fn loop_in_segments__in_a_prepared_program__is_compiled_once() {
    for engine in engines() {
        let program = livefusion::prepare::prepare_with(
            &engine,
            |(lengths, data, n): (Array<u64>, Array<i64>, Array<u64, Ix0>)| {
                let all = Segmented::new(&lengths, &data)
                    .map_segments(|r| iterate_n(&(r.len() % &n), &r, |r| r.scan(0, |a, b| a + b)));
                all.data().clone()
            },
        )
        .unwrap();
        let call = |lengths: Vec<u64>, n: u64| {
            let data: Vec<i64> = (1..=lengths.iter().sum::<u64>() as i64).collect();
            let inputs = (Array::from(lengths), Array::from(data), Array::scalar(n));
            program.call(&inputs).unwrap().into_vec().unwrap()
        };
        assert_eq!(call(vec![2, 0, 3], 3), [1, 4, 3, 4, 5]);
        let before = engine.counters().misses;
        assert_eq!(call(vec![1, 4], 4), [1, 2, 3, 4, 5]);
        assert_eq!(call(vec![1, 4], 3), [1, 2, 5, 9, 14]);
        assert!(engine.counters().misses <= before + 8);
    }
}
