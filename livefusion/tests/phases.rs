//! Appends of computed arrays: one loop runs over the parts in order.
//!
//! Consumers of the append continue from each part to the next.

use crate::common::{engines, loops};
use livefusion::ast::{Builder, Value};
use livefusion::prelude::*;
use livefusion::runtime::force_nodes;
use livefusion::{Engine, ErrorKind, Result, stages};
use std::sync::Arc;

fn numbers(n: i64, by: i64) -> Vec<i64> {
    (0..n).map(|i| i * by % 19 - 7).collect()
}

const SIZES: [(i64, i64); 6] = [(0, 0), (0, 3), (5, 0), (1, 1), (70, 45), (40_000, 30_000)];

/// Checks the values for each pair of sizes on each engine, and the numbers of loops and of columns
/// between them.
fn check<T: Force + Clone>(
    build: impl Fn(&Array<i64>, &Array<i64>) -> (T, Vec<Arc<livefusion::ast::Node>>),
    value: impl Fn(T, &Engine) -> Result<Vec<Vec<i64>>>,
    expected: impl Fn(&[i64], &[i64]) -> Vec<Vec<i64>>,
    shape: (usize, usize),
) -> Result<()> {
    for (n, m) in SIZES {
        let (xs, ys) = (numbers(n, 5), numbers(m, 7));
        let expected = expected(&xs, &ys);
        for engine in engines() {
            let (a, b) = (Array::from(xs.clone()), Array::from(ys.clone()));
            let (program, roots) = build(&a, &b);
            if n > 0 && m > 0 && n != m {
                assert_eq!(
                    loops(&roots)?,
                    shape,
                    "{}",
                    stages::graph_of(&roots)?.plan(Default::default())
                );
            }
            assert_eq!(value(program, &engine)?, expected, "{n} {m}");
        }
    }
    Ok(())
}

fn pos(xs: &[i64]) -> Vec<i64> {
    xs.iter().copied().filter(|x| *x > 0).collect()
}

/// The elements of the first column.
fn column<T: livefusion_backend::Prim>(value: &Value) -> Option<&[T]> {
    match value {
        Value::Array(columns) => columns[0].as_slice(),
        Value::Scalar(_) => None,
    }
}

#[test]
fn two_filters_and_a_sum() -> Result<()> {
    check(
        |xs, ys| {
            let both = xs.filter(|x| x.gt(0)).append(&ys.filter(|y| y.gt(0)));
            let sum = both.sum();
            let roots = vec![both.node().clone(), sum.node().clone()];
            ((both, sum), roots)
        },
        |(both, sum), engine| {
            let (both, sum) = (&both, &sum).force_with(engine)?;
            Ok(vec![both.to_vec()?, vec![sum]])
        },
        |xs, ys| {
            let both = [pos(xs), pos(ys)].concat();
            vec![both.clone(), vec![both.iter().sum()]]
        },
        (1, 0),
    )
}

#[test]
fn two_maps_and_a_scan() -> Result<()> {
    check(
        |xs, ys| {
            let both = xs.map(|x| x * 2).append(&ys.map(|y| y + 1));
            let sums = both.scan(0, |a, b| a + b);
            let roots = vec![sums.node().clone()];
            (sums, roots)
        },
        |sums, engine| Ok(vec![sums.force_with(engine)?.to_vec()?]),
        |xs, ys| {
            let (mut sum, mut sums) = (0, Vec::new());
            for x in xs.iter().map(|x| x * 2).chain(ys.iter().map(|y| y + 1)) {
                sum += x;
                sums.push(sum);
            }
            vec![sums]
        },
        (1, 0),
    )
}

#[test]
fn a_filter_of_an_append() -> Result<()> {
    check(
        |xs, ys| {
            let both = xs.map(|x| x * 2).append(&ys.filter(|y| y.gt(0)));
            let kept = both.filter(|x| (x % 3).eq(0));
            let roots = vec![kept.node().clone()];
            (kept, roots)
        },
        |kept, engine| Ok(vec![kept.force_with(engine)?.to_vec()?]),
        |xs, ys| {
            let both = xs.iter().map(|x| x * 2).chain(pos(ys));
            vec![both.filter(|x| x % 3 == 0).collect()]
        },
        (1, 0),
    )
}

#[test]
fn a_partition_is_appended() -> Result<()> {
    check(
        |xs, _| {
            let all = xs.map(|x| x + 1);
            let parted = all.filter(|x| x.gt(0)).append(&all.filter(|x| x.le(0)));
            let roots = vec![parted.node().clone()];
            (parted, roots)
        },
        |parted, engine| Ok(vec![parted.force_with(engine)?.to_vec()?]),
        |xs, _| {
            let all: Vec<i64> = xs.iter().map(|x| x + 1).collect();
            let (yes, no): (Vec<i64>, Vec<i64>) = all.iter().partition(|x| **x > 0);
            vec![[yes, no].concat()]
        },
        (1, 0),
    )
}

#[test]
fn appends_of_appends() -> Result<()> {
    check(
        |xs, ys| {
            let first = xs.filter(|x| x.gt(0)).append(&ys.map(|y| y + 1));
            let zs = iota(10).map(|i| i.cast::<i64>());
            let all = zs.append(&first.filter(|x| x.ne(2)));
            let sum = all.sum();
            let roots = vec![all.node().clone(), sum.node().clone()];
            ((all, sum), roots)
        },
        |(all, sum), engine| {
            let (all, sum) = (&all, &sum).force_with(engine)?;
            Ok(vec![all.to_vec()?, vec![sum]])
        },
        |xs, ys| {
            let first = pos(xs).into_iter().chain(ys.iter().map(|y| y + 1));
            let all: Vec<i64> = (0..10).chain(first.filter(|x| *x != 2)).collect();
            vec![all.clone(), vec![all.iter().sum()]]
        },
        (1, 0),
    )
}

#[test]
fn an_append_ends_early() -> Result<()> {
    let many = iota(1_000_000_000_000u64).map(|i| i.cast::<i64>());
    for engine in engines() {
        let xs = Array::from(vec![5i64, -1, 3]);
        let both = xs
            .filter(|x| x.gt(0))
            .append(&many.filter(|x| (x % 2).eq(1)));
        let five = both.take(5);
        assert_eq!(five.force_with(&engine)?.to_vec()?, [5, 3, 1, 3, 5]);
        let both = many
            .filter(|x| (x % 2).eq(1))
            .take(3)
            .append(&xs.map(|x| x + 1));
        assert_eq!(both.sum().force_with(&engine)?, 1 + 3 + 5 + 6 + 4);
        assert_eq!(loops(&[both.node().clone()])?, (1, 0));
    }
    Ok(())
}

/// Results that exceed the processor's caches.
#[test]
fn long_parts() -> Result<()> {
    let (xs, ys) = (numbers(600_000, 5), numbers(500_001, 7));
    let expected = xs.iter().map(|x| x * 2).chain(ys.iter().map(|y| y + 1));
    let expected: Vec<i64> = expected.collect();
    let (xs, ys) = (Array::from(xs), Array::from(ys));
    for engine in [Engine::jit(), Engine::c()] {
        let both = xs.map(|x| x * 2).append(&ys.map(|y| y + 1));
        assert!(both.force_with(&engine)?.to_vec()? == expected);
    }
    Ok(())
}

#[test]
fn phase_of_a_scan_total_comes_behind_its_elements() -> Result<()> {
    check(
        |xs, _| {
            let sums = xs.scan_exclusive(0, |a, b| a + b);
            let total = xs.sum();
            let one = iota(1).map(|_| total.value());
            let all = sums.append(&one);
            let roots = vec![all.node().clone()];
            (all, roots)
        },
        |all, engine| Ok(vec![all.force_with(engine)?.to_vec()?]),
        |xs, _| {
            let (mut sum, mut sums) = (0, vec![0]);
            for x in xs {
                sum += x;
                sums.push(sum);
            }
            vec![sums]
        },
        (1, 0),
    )
}

#[test]
fn runs_are_one_loop_with_what_is_made_of_them() -> Result<()> {
    check(
        |xs, _| {
            let (values, lengths) = xs.map(|x| x / 5).group();
            let weighed = values.zip_with(&lengths, |v, n| v * n.cast::<i64>());
            let longest = lengths.fold(0, |a, b| a.max(b));
            let roots = vec![
                values.node().clone(),
                lengths.node().clone(),
                weighed.node().clone(),
            ];
            ((values, lengths, weighed, longest), roots)
        },
        |(values, lengths, weighed, longest), engine| {
            let all = (&values, &lengths, &weighed, &longest).force_with(engine)?;
            let lengths = all.1.to_vec()?.into_iter().map(|n| n as i64).collect();
            Ok(vec![
                all.0.to_vec()?,
                lengths,
                all.2.to_vec()?,
                vec![all.3 as i64],
            ])
        },
        |xs, _| {
            let mut runs: Vec<(i64, i64)> = Vec::new();
            for x in xs.iter().map(|x| x / 5) {
                match runs.last_mut() {
                    Some(run) if run.0 == x => run.1 += 1,
                    _ => runs.push((x, 1)),
                }
            }
            let longest = runs.iter().map(|r| r.1).max().unwrap_or(0);
            vec![
                runs.iter().map(|r| r.0).collect(),
                runs.iter().map(|r| r.1).collect(),
                runs.iter().map(|r| r.0 * r.1).collect(),
                vec![longest],
            ]
        },
        (1, 0),
    )
}

/// A part with as many numbers as a filter keeps, after an array that has the filter's input rate.
#[test]
fn a_part_is_as_long_as_what_a_filter_keeps() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![3i64, -1, 4]);
        let kept = xs.filter(|x| x.gt(0)).len();
        let counted = iota(&kept).map(|i| i.cast::<i64>() + 10);
        let all = xs.append(&counted);
        assert_eq!(all.force_with(&engine)?.to_vec()?, [3, -1, 4, 10, 11]);
    }
    Ok(())
}

/// An array with one element per segment is read at the segments' rate, not at their elements'
/// rate.
#[test]
fn segments_of_an_append_have_values_beside_them() -> Result<()> {
    for engine in engines() {
        let [xs, ys] = [[1i64, -1, 2], [3, -2, 1]].map(|v| Array::from(v.to_vec()));
        let both = xs.map(|x| x + 0).append(&ys.map(|y| y + 0));
        let kept = both.filter(|x| x.gt(0));
        let values = Array::from(vec![10i64, 20, 30, 40]);
        let spread = Segmented::replicate(&kept, &values);
        let expected = [10, 20, 20, 30, 30, 30, 40];
        assert_eq!(spread.data().force_with(&engine)?.to_vec()?, expected);
    }
    Ok(())
}

/// An array zipped with an append is checked against the sum of all parts, never against one part.
#[test]
fn segments_by_an_append_are_as_many_as_its_parts_together() -> Result<()> {
    for engine in engines() {
        let spread = Segmented::replicate(&Array::from(vec![2u64]), &Array::from(vec![5i64]));
        let all = spread.data().append(&Array::from(vec![7i64]));
        let both = all.zip_with(&Array::from(vec![10i64, 20, 30]), |x, y| x + y);
        let lengths = both.map(|x| (x % 2).cast::<u64>());
        let again = Segmented::replicate(&lengths, &both);
        assert_eq!(again.data().force_with(&engine)?, [15, 25, 37]);
    }
    Ok(())
}

/// A take ends the phases that it counts, and does not affect parts appended to its result.
#[test]
fn phase_of_an_append_to_a_take_of_an_append() -> Result<()> {
    for engine in engines() {
        for n in [0u64, 1, 3, 5, 9] {
            let xs = Array::from(vec![1i64, 2]);
            let pos = xs.filter(|x| x.gt(0));
            let taken = pos.append(&xs).append(&pos.map(|x| x + 2)).take(n);
            let all = taken.append(&Array::from(vec![7i64, 8, 9]));
            let twice: Vec<i64> = [1, 2, 1, 2, 3, 4].into_iter().take(n as usize).collect();
            assert_eq!(all.force_with(&engine)?, [&twice[..], &[7, 8, 9]].concat());
        }
    }
    Ok(())
}

/// A part at a filter's rate has that rate in its own phase.
#[test]
fn parts_as_many_as_what_is_kept() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![3i64, 0, 2]);
        let kept = xs.pack(&Array::from(vec![true, false, true]));
        let indices = generate(kept.len(), |i| i.cast::<i64>());
        let late = indices.filter(|i| i.gt(0));
        assert_eq!(xs.append(&late).force_with(&engine)?, [3, 0, 2, 1]);
        let spread = Segmented::replicate(&kept.map(|x| x.cast::<u64>()), &kept);
        let of_spread = generate(spread.data().len(), |i| i.cast::<i64>());
        let late = of_spread.filter(|i| i.gt(3));
        let all = late.append(&kept).append(&of_spread);
        let (all, n) = (&all, &all.len()).force_with(&engine)?;
        assert_eq!((all.to_vec()?, n), (vec![4, 3, 2, 0, 1, 2, 3, 4], 8));
    }
    Ok(())
}

/// A scan whose length defines a later part runs only in its own phase.
#[test]
fn a_scan_that_a_later_part_counts_is_made_once() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![1.0f64, 2.0]);
        let sums = xs.scan_exclusive(0.0, |a, b| a + b);
        let zeros = generate(sums.len(), |_| 0.0f64);
        let parts = [xs.node().clone(), xs.node().clone(), zeros.node().clone()];
        let all = [Builder::named("append").append(&parts)];
        let all = force_nodes(&engine, &all)?;
        assert_eq!(column(&all[0]), Some(&[1.0, 2.0, 1.0, 2.0, 0.0, 0.0][..]));
    }
    Ok(())
}

/// Some consumers need a filter of an append beyond its exit.
#[test]
fn a_filter_of_an_append_and_its_end() -> Result<()> {
    for engine in engines() {
        let (xs, ys) = (Array::from(vec![4i64, 5]), Array::from(vec![6i64]));
        let both = xs.map(|x| x + 1).append(&ys.map(|y| y + 1));
        let kept = both.filter(|x| x.gt(4));
        let ended = kept.take_while(|x| x.ne(6));
        let beside = kept.zip_with(&Array::from(vec![1i64, 2, 3]), |x, y| x * y);
        let (ended, beside) = (&ended, &beside).force_with(&engine)?;
        assert_eq!(
            (ended.to_vec()?, beside.to_vec()?),
            (vec![5], vec![5, 12, 21])
        );
    }
    Ok(())
}

/// The length continues after the elements have ended. If they end in the first part, none of the
/// second part is taken.
#[test]
fn phase_that_ends_has_ended_in_the_next_part() -> Result<()> {
    for engine in engines() {
        let doubled = Array::from(vec![5u64]).map(|x| x + x.min(6));
        let both = doubled.append(&Array::from(vec![0u64]));
        let ended = both.take_while(|x| x.ne(10));
        let (ended, len) = (&ended, &both.len()).force_with(&engine)?;
        assert_eq!((ended.to_vec()?, len), (vec![], 2));
    }
    Ok(())
}

/// An exit in a part does not end the append: a zip after it reports a wrong length.
#[test]
fn a_part_that_ends_hides_no_length() -> Result<()> {
    for engine in engines() {
        let (xs, ys) = (Array::from(numbers(40, 5)), Array::from(numbers(30, 7)));
        let part = xs.map(|x| x + 1).take_while(|x| x.ne(6));
        let both = part.append(&ys.map(|y| y + 1)).filter(|x| x.ne(0));
        let n = both.len().force_with(&engine)? as i64;
        for more in [0, 5] {
            let beside = Array::from(numbers(n + more, 3));
            let product = both.zip_with(&beside, |x, y| x * y);
            assert_eq!(loops(&[product.node().clone()])?, (1, 0));
            let error = product.force_with(&engine).err().map(|e| e.kind);
            let told = matches!(error, Some(ErrorKind::LengthMismatch { .. }));
            assert_eq!((told, error.is_none()), (more > 0, more == 0), "{error:?}");
        }
    }
    Ok(())
}

/// One consumer needs a filter of an append until its exit, another needs all of it. Each uses its
/// own counts of earlier parts. The loop below runs the former first in each phase.
#[test]
fn a_filter_of_an_append_is_counted_for_each_who_asks() -> Result<()> {
    for engine in engines() {
        let part = |numbers: Vec<i64>| Array::from(numbers).map(|x| x + 1);
        let both = part(vec![3, 7, 0]).append(&part(vec![4, 5]));
        let pairs = both.map(|x| (x, x));
        let kept = pairs.filter(|(x, _)| x.lt(9));
        let ended = kept.take_while(|(x, _)| x.ne(5));
        let weights = Array::from(vec![1i64, 2, 3, 4, 5]);
        let beside = zip((&weights, &kept, &pairs)).map(|(w, (x, _), _)| w * x);
        let (ended, beside) = (&ended, &beside).force_with(&engine)?;
        assert_eq!(ended.to_vec()?, [(4, 4), (8, 8), (1, 1)]);
        assert_eq!(beside.to_vec()?, [4, 16, 3, 20, 30]);
    }
    Ok(())
}

/// A phase over segments needs their lengths, even if the lengths are also a part themselves.
#[test]
fn lengths_of_segments_that_are_a_part_themselves() -> Result<()> {
    for engine in engines() {
        let numbers = |all: [u64; 4]| Array::from(all.to_vec());
        let data = numbers([1, 2, 3, 4]).zip_with(&numbers([5, 6, 7, 8]), |_, _| 3u64);
        let counts = Array::from(vec![7u64, 8]).map(|_| 2u64);
        let sums = Segmented::new(&counts, &data).scan_exclusive(0, |a, b| a + b);
        let all = concat(&[data.filter(|x| x.gt(2)), data, counts]);
        let (sum, sums) = (&all.sum(), sums.data()).force_with(&engine)?;
        assert_eq!((sum, sums.to_vec()?), (12 + 12 + 4, vec![0, 3, 0, 3]));
    }
    Ok(())
}

/// Segments end with their phase. A `fold1` needs at least one element in each.
#[test]
fn no_segment_of_any_part_is_empty() -> Result<()> {
    for engine in engines() {
        for (first, then) in [([1i64, 0], [2i64]), ([1, 2], [0]), ([2, 1], [3])] {
            let n = first.iter().sum::<i64>() + then[0];
            let [first, then] = [first.to_vec(), then.to_vec()]
                .map(|counts| Array::from(counts).filter(|n| n.ge(0)));
            let counts = first.append(&then).map(|n| n.cast::<u64>());
            let data = Array::from((1..=n).collect::<Vec<i64>>());
            let least = Segmented::new(&counts, &data).fold1(|a, b| a * b);
            let error = least.force_with(&engine).err().map(|e| e.kind);
            let is_empty = matches!(error, Some(ErrorKind::Empty));
            assert_eq!(is_empty, n < 6, "{error:?}");
        }
    }
    Ok(())
}

/// A generator as long as the elements of some segments is not part of their producer.
#[test]
fn indices_as_many_as_the_elements_of_segments() -> Result<()> {
    for engine in engines() {
        let data = Array::from(vec![1u64, 2, 3]);
        let sums = Segmented::new(&Array::from(vec![1u64, 2]), &data).scan(0, |a, b| a + b);
        let none = data.filter(|x| x.gt(3));
        let all = concat(&[sums.data().clone(), none, Array::from(vec![])]);
        let beside = iota(3).zip_with(&all, |i, x| i * 10 + x);
        assert_eq!(beside.force_with(&engine)?, [1, 12, 25]);
    }
    Ok(())
}

/// Segments by an append: tags keep some elements, and further tags some of these.
#[test]
fn counts_of_counts_go_through_all_parts() -> Result<()> {
    for engine in engines() {
        let part = |counts: Vec<u64>| Array::from(counts).filter(|n| n.ge(0));
        let counts = part(vec![2]).append(&part(vec![1, 2]));
        let data = Segmented::new(&counts, &Array::from(vec![1i64, 2, 3, 4, 5]));
        let some = data.pack(&Array::from(vec![true, false, true, true, true]));
        let fewer = some.pack(&Array::from(vec![false, true, true, false]));
        assert_eq!(fewer.lengths().force_with(&engine)?, [0, 1, 1]);
        assert_eq!(fewer.data().force_with(&engine)?, [3, 4]);
        let long = some.pack(&Array::from(vec![true; 5]));
        let error = long.lengths().force_with(&engine).expect_err("a tag more");
        assert!(matches!(error.kind, ErrorKind::Segments { .. }), "{error}");
    }
    Ok(())
}

/// Appends whose parts advance together share no carried values.
#[test]
fn appends_of_a_scan_and_of_what_it_scans() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![5i64]);
        let flips = xs.scan_seq(1i64, |flip, _| -flip);
        let thrice = |part: &Array<i64>| {
            let parts = [0; 3].map(|_| part.node().clone());
            Builder::named("append").append(&parts)
        };
        let all = force_nodes(&engine, &[thrice(&xs), thrice(&flips)])?;
        let columns: Vec<_> = all.iter().map(column).collect();
        assert_eq!(columns, [Some(&[5i64; 3][..]), Some(&[-1; 3])]);
    }
    Ok(())
}

/// Two phases may run over arrays that a later consumer assumes to be equally long.
#[test]
fn phases_over_what_is_not_as_long_as_it_should_be() -> Result<()> {
    for engine in engines() {
        let count = Array::from(vec![2u64]).sum();
        let few = generate(&count, |i| i.cast::<i64>() % 5);
        let xs = Array::from(vec![1i64, 2, 3]);
        let all = concat(&[xs.map(|x| x % 7), xs.map(|x| x % 3)]);
        let sums = xs.scan(0, |a, b| a + b);
        let (total, other) = (sums.sum(), few.sum());
        let wrong = sums.zip_with(&few, |x, y| x + y + &total + &other);
        let error = (&few, &all, &sums, &wrong).force_with(&engine);
        let error = error.err().map(|e| (e.combinator, e.kind));
        assert!(
            matches!(error, Some(("zip_with", ErrorKind::LengthMismatch { .. }))),
            "{error:?}"
        );
    }
    Ok(())
}

/// A zip over as many indices as an append has elements begins when these are counted.
#[test]
fn indices_as_many_as_an_append_has_elements() -> Result<()> {
    for engine in engines() {
        let part = Array::from(vec![1u64, 2]).filter(|x| x.gt(0));
        let indices = generate(concat([&part, &part, &part]).len(), |i| i + 1);
        let count = Array::from(vec![6u64]).sum();
        let sums = indices.zip_with(&generate(&count, |i| i * 2), |x, y| x + y);
        let (all, beside) = (sums.append(&indices), indices.map(|i| 60u64 / i));
        let (all, beside) = (&all, &beside).force_with(&engine)?;
        assert_eq!(all.to_vec()?, [1, 4, 7, 10, 13, 16, 1, 2, 3, 4, 5, 6]);
        assert_eq!(beside.to_vec()?, [60, 30, 20, 15, 12, 10]);
    }
    Ok(())
}

/// An append from another loop is a part of a later append, next to appends of its own class. These
/// continue from part to part independently of the phases that read it.
#[test]
fn appends_of_a_class_that_other_phases_read() -> Result<()> {
    for engine in engines() {
        let append = |parts: &[Arc<livefusion::ast::Node>]| Builder::named("append").append(parts);
        let numbers = |all: [i64; 2]| Array::from(all.to_vec()).node().clone();
        let one = numbers([1, 2]);
        let two = append(&[one.clone(), one.clone()]);
        let four = append(&[two.clone(), two]);
        let kept = Array::from(vec![5i64, 6]).pack(&Array::from(vec![true, false]));
        let all = append(&[kept.node().clone(), kept.node().clone(), four]);
        let other = append(&[numbers([3, 4]), numbers([7, 8])]);
        let len = Builder::named("len").len(&other);
        let values = force_nodes(&engine, &[all, other, len])?;
        assert_eq!(
            column(&values[0]),
            Some(&[5i64, 5, 1, 2, 1, 2, 1, 2, 1, 2][..])
        );
        assert_eq!(column(&values[1]), Some(&[3i64, 4, 7, 8][..]));
        assert!(matches!(&values[2], Value::Scalar(fields) if fields[0].bits == 4));
    }
    Ok(())
}

/// Indices as many as an append's elements, rematerialised where another append of the class runs.
/// The first append is not stored, and the other's parts lead to the roots.
#[test]
fn indices_of_an_append_run_over_the_parts_of_another() -> Result<()> {
    for engine in engines() {
        let append = |parts: [&Array<u64>; 2]| -> Result<Array<u64>> {
            let parts = parts.map(|part| part.node().clone());
            Array::from_node(Builder::named("append").append(&parts))
        };
        let [none, xs, ys] = [0, 0, 0].map(|_| Array::from(Vec::<u64>::new()));
        let indices = generate(append([&xs, &xs])?.len(), |i| i);
        let sums = Segmented::new(&none, &indices).sum();
        let all = append([&append([&indices, &none])?, &sums])?;
        let twice = append([&ys, &ys])?;
        let (all, indices, twice) = (&all, &indices, &twice).force_with(&engine)?;
        assert!(all.is_empty() && indices.is_empty() && twice.is_empty());
    }
    Ok(())
}

/// Segments of such indices are checked against the number of elements.
#[test]
fn segments_do_not_fit_the_indices_of_an_append() -> Result<()> {
    for engine in engines() {
        for lengths in [vec![], vec![1], vec![2], vec![3, 0], vec![0, 2]] {
            let part = Array::from(vec![0u64]);
            let parts = [part.node().clone(), part.node().clone()];
            let both: Array<u64> = Array::from_node(Builder::named("append").append(&parts))?;
            let indices = generate(both.len(), |i| i);
            let fits = lengths.iter().sum::<u64>() == 2;
            let lengths = Array::from(lengths);
            let sums = Segmented::new(&lengths, &indices).sum();
            let all = concat([&indices, &lengths, &sums]);
            let error = all.force_with(&engine).err().map(|e| e.kind);
            let told = matches!(error, Some(ErrorKind::Segments { .. }));
            assert_eq!((told, error.is_none()), (!fits, fits), "{error:?}");
        }
    }
    Ok(())
}

/// Indices as many as an append's elements run over its parts, so no zip advances the parts.
#[test]
fn indices_of_an_append_that_is_zipped() -> Result<()> {
    for engine in engines() {
        for late in [false, true] {
            let (none, one) = (Array::from(Vec::<u64>::new()), Array::from(vec![7u64]));
            let map = one.map(|x| x + 1);
            let both = none.append(&map);
            let zipped = || (&both, &map, &map).zip_with(|a, b, c| a + b - c);
            let first = (!late).then(zipped);
            let indices = generate(both.len(), |i| i.cast::<i64>());
            let twice = indices.append(&indices.filter(|i| i.ge(0)));
            let zipped = first.unwrap_or_else(zipped);
            let (twice, zipped) = (&twice, &zipped).force_with(&engine)?;
            assert_eq!(
                (twice.to_vec()?, zipped.to_vec()?),
                (vec![0, 0], vec![8]),
                "{late}"
            );
        }
    }
    Ok(())
}

/// A filter that a zip reads from memory is not computed again in the loop of an append of the zip.
#[test]
fn a_zip_that_reads_a_filter_from_memory_is_appended() -> Result<()> {
    for engine in engines() {
        let (xs, lengths) = (Array::from(vec![3u64, 1, 2]), Array::from(vec![2u64, 1]));
        let pairs = xs.map(|x| (x + 1u64, x));
        let places = Segmented::new(&lengths, &pairs).argsort().concat();
        let zipped = pairs.filter(|p| p.0.lt(9u64)).zip(&xs);
        let sums = Segmented::new(&lengths, &zipped).fold(((0u64, 0u64), 0u64), |a, b| {
            ((a.0.0 + b.0.0, a.0.1 + b.0.1), a.1 + b.1)
        });
        let all = zipped.append(&sums);
        assert_eq!(loops(&[places.node(), all.node()])?, (3, 8));
        let (places, all) = (&places, &all).force_with(&engine)?;
        assert_eq!(places.to_vec()?, [1, 0, 0]);
        let expected = [(4, 3), (2, 1), (3, 2), (6, 4), (3, 2)];
        assert_eq!(all.to_vec()?, expected.map(|(a, b)| ((a, b), b)));
    }
    Ok(())
}
