//! Exits: `take_while`, `take` and consumers of their results end the producer's loop, at any rate.

use crate::common::{engines, loops};
use livefusion::Result;
use livefusion::ast::{BodyBuilder, Builder};
use livefusion::error::ErrorKind;
use livefusion::prelude::*;
use loop_lang::types::Const;

#[test]
fn exit_has_its_length_behind_the_loop() -> Result<()> {
    for engine in engines() {
        let none = Array::from(vec![false]).take_while(|x| x);
        let zipped = none.zip_with(&Array::from(vec![0.5]), |_, y| y);
        let error = zipped.force_with(&engine).expect_err("nothing is taken");
        assert!(
            matches!(error.kind, ErrorKind::LengthMismatch { .. }),
            "{error}"
        );
        let two = iota(9).scan(0, |a, b| a + b).take(2);
        let with = |n: usize| two.zip_with(&Array::from(vec![1u64; n]), |a, b| a + b);
        assert_eq!(with(2).force_with(&engine)?, [1, 2]);
        for n in [0, 1, 3] {
            let error = with(n).force_with(&engine).expect_err("two are taken");
            assert!(
                matches!(error.kind, ErrorKind::LengthMismatch { .. }),
                "{n}: {error}"
            );
        }
    }
    Ok(())
}

#[test]
fn a_zip_that_checks_lengths_ends_with_who_uses_it() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![1i64, -2, 3, 4]);
        let kept = xs.pack(&xs.map(|x| x.ge(0)));
        let taken = kept
            .zip(&Array::from(vec![5i64, 6, 7]))
            .take_while(|(a, _)| a.lt(4));
        let (sum, taken) = (&xs.sum(), &taken).force_with(&engine)?;
        assert_eq!((sum, taken.to_vec()?), (6, vec![(1, 5), (3, 6)]));
        let taken = iota(5).take_while(|x| x.lt(3)).zip(&iota(3));
        let (taken, all) = (&taken, &iota(5).map(|x| x * x)).force_with(&engine)?;
        assert_eq!((taken.len(), all.len()), (3, 5));
    }
    Ok(())
}

#[test]
fn exits_within_what_ends() -> Result<()> {
    for engine in engines() {
        let lens = Array::from(vec![2u64, 1, 4, 3]);
        let elements = Segmented::indices(&lens);
        // Elements of cut segments serve as lengths of further segments, which are cut too.
        let cut = elements.data().take_while(|i| i.lt(3)).map(|i| i + 1u64);
        let spread = Segmented::indices(&cut).data().take_while(|i| i.lt(2));
        let sums = elements.sum();
        let (spread, sums) = (&spread, &sums).force_with(&engine)?;
        assert_eq!(spread.to_vec()?, [0, 0, 1, 0, 0, 0, 1, 0, 1]);
        assert_eq!(sums.to_vec()?, [1, 0, 6, 3]);
        // A predicate that ignores its element: no earlier consumer read the elements when a later
        // one runs separately.
        let xs = Array::from(vec![1u64, 2, 3]);
        let all = xs.map(|x| x + 1u64).take_while(|_| true);
        let spread = Segmented::indices(&all.map(|x| x * 2u64))
            .data()
            .take_while(|i| i.lt(5));
        let (spread, sum) = (&spread, &xs.sum()).force_with(&engine)?;
        assert_eq!(spread.to_vec()?, [0, 1, 2, 3, 0, 1, 2, 3, 4]);
        assert_eq!(sum, 6);
    }
    Ok(())
}

#[test]
fn one_loop_ends_with_its_last_consumer() -> Result<()> {
    for engine in engines() {
        let quotients = Array::from(vec![8i64, 4, 2, 0, 5]).map(|x| 8 / x);
        let kept = quotients.filter(|q| q.gt(1));
        let first = kept.find(|q| q.eq(4));
        assert_eq!(loops(&[first.node()])?.0, 1);
        assert_eq!(first.force_with(&engine)?, 4);
        // Two exits, of which the later one decides. Then one next to an unrelated sum.
        let (two, four) = (&kept.find(|q| q.eq(2)), &first).force_with(&engine)?;
        assert_eq!((two, four), (2, 4));
        let all = quotients.force_with(&engine).expect_err("8 / 0");
        assert!(matches!(all.kind, ErrorKind::Division { .. }), "{all}");
        let (found, sum) = (&first, &iota(5).sum()).force_with(&engine)?;
        assert_eq!((found, sum), (4, 10));
    }
    Ok(())
}

/// The elements 100 and an error.
fn hundredths() -> Array<(u64, u64)> {
    Array::from(vec![1u64, 0]).map(|x| (x, 100u64 / x))
}

#[test]
fn values_of_segments_behind_an_exit_are_not_computed() -> Result<()> {
    for engine in engines() {
        let (values, lens) = (hundredths().map(|(_, q)| q), Array::from(vec![2u64, 1]));
        // The loop over the segments continues for the sum.
        let first = Segmented::replicate(&lens, &values)
            .data()
            .take_while(|_| false);
        let (first, sum) = (&first, &lens.sum()).force_with(&engine)?;
        assert_eq!((first.len(), sum), (0, 3));
    }
    Ok(())
}

#[test]
fn of_a_map_only_the_fields_that_are_asked_for_go_on() -> Result<()> {
    for engine in engines() {
        let pairs = hundredths();
        let first = pairs.map(|(_, q)| q).take_while(|q| q.lt(100));
        let sum = pairs.map(|(x, _)| x).sum();
        assert_eq!(loops(&[first.node()])?.0, 1);
        let (first, sum) = (&first, &sum).force_with(&engine)?;
        assert_eq!((first.len(), sum), (0, 1));
        // An array that is only counted is not computed.
        let (first, ones) =
            (&pairs.take_while(|(_, q)| q.lt(100)), &pairs.map(|_| 1i64)).force_with(&engine)?;
        assert_eq!((first.len(), ones.to_vec()?), (0, vec![1, 1]));
    }
    Ok(())
}

#[test]
fn segments_that_are_left_make_no_room_for_those_that_are_not() -> Result<()> {
    for engine in engines() {
        let (lens, xs) = (Array::from(vec![1u64, 1]), Array::from(vec![3u64, 4]));
        let pairs = Segmented::replicate(&lens, &xs.map(|x| (x, x + 1u64)));
        let first = pairs.data().take_while(|_| false);
        let indices = Segmented::indices(&lens).data().map(|i| i + 7u64);
        let (first, indices) = (&first, &indices).force_with(&engine)?;
        assert_eq!((first.len(), indices.to_vec()?), (0, vec![7, 7]));
    }
    Ok(())
}

#[test]
fn exit_of_a_shared_input_is_the_later_one() -> Result<()> {
    for engine in engines() {
        let quotients = hundredths().map(|(_, q)| q);
        let none = quotients.take_while(|_| false);
        let small = quotients.take_while(|q| q.lt(100));
        // Other consumers continue.
        let sum = Array::from(vec![5u64, 6]).sum();
        let (none, small, sum) = (&none, &small, &sum).force_with(&engine)?;
        assert_eq!((none.len(), small.len(), sum), (0, 0, 11));
    }
    Ok(())
}

#[test]
fn a_scan_that_is_counted_takes_nothing_in() -> Result<()> {
    for engine in engines() {
        let sums = hundredths().map(|(_, q)| q).scan(0u64, |a, b| a + b);
        let (none, ones) = (&sums.take_while(|_| false), &sums.map(|_| 1i64));
        let (none, ones) = (none, ones).force_with(&engine)?;
        assert_eq!((none.len(), ones.to_vec()?), (0, vec![1, 1]));
    }
    Ok(())
}

#[test]
fn exit_taken_early_checks_no_length_for_others() -> Result<()> {
    for engine in engines() {
        let (none, one) = (Array::from(Vec::<u64>::new()), Array::from(vec![1u64]));
        // The array is as long as the data of zero segments, and no consumer requests a segment.
        let sums = Segmented::new(&none, &one).sum().take(0);
        match (&sums, &Array::from(vec![7u64]).sum()).force_with(&engine) {
            Ok((_, sum)) => assert_eq!(sum, 7),
            Err(e) => assert!(matches!(e.kind, ErrorKind::Segments { .. }), "{e}"),
        }
    }
    Ok(())
}

#[test]
fn exit_may_test_the_scan_before_it() -> Result<()> {
    for engine in engines() {
        let (counts, flags) = (
            Array::from(vec![1u8, 2, 3, 4]),
            Array::from(vec![true, true, false, true]),
        );
        let pairs = counts.zip(&flags);
        // The last element of each pair, and true before the first.
        let last = pairs.scan_exclusive((9u8, true), |_, (y, go)| (y, go));
        let gone = last.take_while(|(_, go)| go);
        assert_eq!(
            gone.force_with(&engine)?,
            vec![(9, true), (1, true), (2, true)]
        );
    }
    Ok(())
}

/// The predicate reads one column of a three-column scan; the other columns are contracted.
#[test]
fn a_scan_of_three_columns_ends_by_one_of_them() -> Result<()> {
    for engine in engines() {
        let counts = Array::from(vec![1i32, 2, 3, 4]);
        let flags = Array::from(vec![true, true, false, true]);
        let small = Array::from(vec![5i8, 6, 7, 8]);
        let all = counts.zip(&flags).zip_with(&small, |(y, b), m| (y, b, m));
        let joined =
            all.scan_exclusive((0i32, true, 0i8), |(_, a, n), (y, b, m)| (y, a & b, n ^ m));
        let gone = joined.take_while(|(_, go, _)| go);
        let expected = vec![(0, true, 0), (1, true, 5), (2, true, 3)];
        assert_eq!(gone.force_with(&engine)?, expected);
    }
    Ok(())
}

/// A zip of inputs is consumed by a `take` and, through its inputs, to the end.
#[test]
fn a_zip_of_sides_that_go_on_is_taken_from() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![1i64, 2, 3, 4]).map(|x| x * 3);
        let (kept, few) = (xs.filter(|x| x.gt(3)), xs.take_while(|x| x.lt(12)));
        let both = few.zip(&kept);
        let (two, kept, few) = (&both.take(2), &kept, &few).force_with(&engine)?;
        assert_eq!(two.to_vec()?, [(3, 6), (6, 9)]);
        assert_eq!(
            (kept.to_vec()?, few.to_vec()?),
            (vec![6, 9, 12], vec![3, 6, 9])
        );
        let all = concat(&[both.clone(), both.clone(), both.take(2)]);
        let pairs = [(3, 6), (6, 9), (9, 12)];
        let expected = [&pairs[..], &pairs, &pairs[..2]].concat();
        assert_eq!(all.force_with(&engine)?, expected);
    }
    Ok(())
}

/// Folds of segments, exits among their elements and among the segments, and consumers without an
/// exit. A fold without uses must not read an empty segment that exists only for other consumers.
#[test]
fn segments_that_end_after_the_folds_of_them() -> Result<()> {
    for engine in engines() {
        let counts = Array::from(vec![1u64, 2, 0, 2]).map(|n| n % 3);
        let data = Array::from(vec![3i64, 4, 5, 6, 7]);
        let sums = Segmented::new(&counts, &data).fold1(|a, b| a + b);
        let [one, none] = [9, 3].map(|end| sums.take_while(|x| x.ne(end)));
        let (all, indices) = (data.take_while(|x| x.ne(9)), generate(4, |i| i + 1));
        let forced = (&one, &none, &all, &indices).force_with(&engine)?;
        let (one, none, all, indices) = forced;
        assert_eq!((one.to_vec()?, none.to_vec()?), (vec![3], vec![]));
        assert_eq!(all.to_vec()?, [3, 4, 5, 6, 7]);
        assert_eq!(indices.to_vec()?, [1, 2, 3, 4]);
        let error = sums.force_with(&engine).expect_err("an empty segment");
        assert!(matches!(error.kind, ErrorKind::Empty), "{error}");
    }
    Ok(())
}

/// A dead sum of segments whose lengths come from an array with an exit.
#[test]
fn exit_leaves_segments_that_nobody_reads() -> Result<()> {
    for engine in engines() {
        let some = Array::from(vec![3i64, 4]).take_while(|x| x.ne(4));
        let counts = some.map(|_| 1u64);
        let sums = Segmented::new(&counts, &Array::from(vec![3u64]));
        let sum = sums.scan_exclusive(0, |a, b| a + b).data().sum();
        let scaled = generate(2, |i| (i, i + &sum));
        let first = iota(2).zip_with(&scaled, |x, (i, _)| x + i);
        assert_eq!(first.force_with(&engine)?, [0, 2]);
    }
    Ok(())
}

/// A zip in a loop with exits checks lengths to the end if a later loop uses the zip.
#[test]
fn a_zip_for_a_later_loop_is_checked_where_others_end() -> Result<()> {
    for engine in engines() {
        let one = |x: u64| Array::from(vec![x]);
        for keeps in [true, false] {
            let few = one(3).take_while(|x| x.ne(3));
            let ys = one(4);
            let kept = ys.filter(|y| y.eq(4).eq(keeps));
            let counts = Array::from(vec![u64::from(keeps)]);
            let pairs = Segmented::new(&counts, &kept.zip(&ys));
            let sums = pairs.fold((1, 2), |(a, b), (x, y)| (a + x, b * y));
            let forced = (&few, &sums).force_with(&engine);
            let error = forced.as_ref().err().map(|e| &e.kind);
            let told = matches!(error, Some(ErrorKind::LengthMismatch { .. }));
            assert_eq!((told, forced.is_ok()), (!keeps, keeps), "{error:?}");
        }
    }
    Ok(())
}

/// Two of three exits need each of three arrays. An array ends with these two, not with the third.
#[test]
fn exits_that_share_some_of_what_they_need_with_others() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![4u64, 3, 2, 1, 0, 7]);
        for long in 0..3 {
            // An array that the continuing exit does not need still fails after the others ended.
            let quotients = [0, 1, 2].map(|k| {
                let bad = if k == long { 1u64 } else { 9 };
                xs.map(|x| (x, 100u64 / (x ^ bad)))
            });
            let taken = [0, 1, 2].map(|k| {
                let [a, b] = [(k + 1) % 3, (k + 2) % 3].map(|k| &quotients[k]);
                let both = a.zip_with(b, |(x, p), (_, q)| (x, p, q));
                both.take_while(|(x, _, _)| x.ne(if k == long { 0u64 } else { 3 }))
            });
            let [a, b, c] = &taken;
            let sum = xs.sum();
            assert_eq!(loops(&[a.node(), b.node(), c.node(), sum.node()])?.0, 1);
            let (a, b, c, sum) = (a, b, c, &sum).force_with(&engine)?;
            let lens = [a.len(), b.len(), c.len()];
            assert_eq!(lens, [0, 1, 2].map(|k| if k == long { 4 } else { 1 }));
            assert_eq!(sum, 17);
        }
    }
    Ok(())
}
/// Operands of two exits within the elements of another exit. One of the operands has more levels
/// around it.
#[test]
fn exits_within_what_ends_need_what_is_around_it() -> Result<()> {
    for engine in engines() {
        let ys = Array::from(vec![6u64, 5, 4, 3, 2, 1, 0]);
        for (x_end, y_end) in [(5u64, 3u64), (3, 5), (9, 4), (4, 9), (9, 9), (6, 6)] {
            let quotients = ys.map(|y| 100u64 / (y ^ 2));
            let outer = ys.zip(&quotients).take_while(|(y, _)| y.ne(3));
            let x = outer
                .map(|(y, q)| (y, q + 1u64))
                .take_while(|(y, _)| y.ne(x_end));
            let y = outer.map(|(y, _)| y * 2u64).take_while(|y| y.ne(2 * y_end));
            let (x, y, sum) = (&x, &y, &ys.sum()).force_with(&engine)?;
            let until = |end: u64| [6, 5, 4].iter().position(|y| *y == end).unwrap_or(3);
            assert_eq!((x.len(), y.len(), sum), (until(x_end), until(y_end), 21));
        }
    }
    Ok(())
}

/// Sums of segments are needed until two takes end. They are computed at the segments' rate, which
/// continues for other consumers.
#[test]
fn sums_that_two_takes_need_are_kept_where_they_are_known() -> Result<()> {
    for engine in engines() {
        let lengths = Array::from(vec![2u64, 0, 1]);
        let tags = Array::from(vec![true; 3]);
        let counts = Segmented::new(&lengths, &tags)
            .pack(&tags)
            .lengths()
            .clone();
        let sums = Segmented::new(&counts, &Array::from(vec![5u64, 6, 7])).sum();
        let outer = Segmented::new(&Array::from(vec![1u64, 2]), &sums).sum();
        let first = |sums: &Array<u64>, n: u64| {
            let mut b = BodyBuilder::new(&[]);
            let n = b.lit(Const::u64(n));
            Array::<u64>::from_node(Builder::named("take").take(sums.node(), b.finish(&[n])))
        };
        let taken = (&first(&sums, 1)?, &first(&outer, 3)?, &counts);
        let (sums, outer, counts) = taken.force_with(&engine)?;
        assert_eq!((sums.to_vec()?, outer.to_vec()?), (vec![11], vec![11, 7]));
        assert_eq!(counts, [2, 0, 1]);
    }
    Ok(())
}

/// A separate `take` finishes before the exit of its input. Other consumers still see that exit.
#[test]
fn exit_of_a_take_ends_for_other_consumers() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![0i64, 0, 0, 0, 7, 0]);
        let until = xs.map(|x| (x, x)).take_while(|(x, _)| x.ne(7));
        let data = until.zip_with(&until, |_, _| (-7i16, 0u8));
        let segments = Segmented::new(&Array::from(vec![4u64]), &data);
        let sums = segments.fold((0i16, 0u8), |(a, b), (x, y)| (a + x, b + y));
        let taken = until.take(4);
        let (sums, taken) = (&sums, &taken).force_with(&engine)?;
        assert_eq!((sums.to_vec()?, taken.len()), (vec![(-28, 0)], 4));
    }
    Ok(())
}

/// All consumers of the elements run separately. Each of them sees the exit.
#[test]
fn two_takes_apart_end_with_what_they_take_from() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![0i64, 0, 0, 7, 0, 0, 0, 0]);
        let triples = xs.map(|x| (x, (x + 1, x + 2)));
        let until = triples.take_while(|(x, _)| x.ne(7));
        for (i, j) in [(1usize, 5usize), (5, 1), (0, 5), (5, 0), (2, 3), (5, 5)] {
            let ones = until.map(|(_, (one, _))| one).take(i as i64);
            let twos = until.map(|(_, (_, two))| two).take(j as i64);
            let (ones, twos) = (&ones, &twos).force_with(&engine)?;
            assert_eq!(ones.to_vec()?, vec![1; i.min(3)], "{i} and {j}");
            assert_eq!(twos.to_vec()?, vec![2; j.min(3)], "{i} and {j}");
        }
    }
    Ok(())
}

/// A scan of segments whose length is used to the end evaluates only requested elements.
#[test]
fn a_scan_of_segments_that_is_counted_takes_in_what_is_asked_for() -> Result<()> {
    for engine in engines() {
        let rows = Segmented::new(
            &Array::from(vec![3u64, 0, 3]),
            &Array::from(vec![1u64, 2, 4, 5, 0, 3]),
        );
        // Fails for 0, after the requested elements.
        let scanned = rows.scan(100, |a, b| a + b + (1 / b).min(0));
        let first = scanned.data().take_while(|x| x.lt(104));
        let (first, all) = (&first, &scanned.data().len()).force_with(&engine)?;
        assert_eq!((first.to_vec()?, all), (vec![101, 103], 6));
    }
    Ok(())
}
