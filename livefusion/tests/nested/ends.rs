//! First and last elements of segments, in memory and of streams.

use super::*;
use crate::common::engines;

/// Counts the loops, their counters, and the arrays that they write.
#[track_caller]
fn counts(result: &impl Force) -> (usize, usize, usize) {
    let explained = result.explain().expect("a plan");
    let text = explained.to_string();
    let counters = text.lines().filter_map(|line| {
        let (name, counters) = line.split_once(": ")?;
        let number = counters.split_once(" counter")?.0.parse().ok();
        number.filter(|_: &usize| name.starts_with("loop_"))
    });
    let written = explained.loops.iter().map(|l| l.arrays_written).sum();
    (explained.loops.len(), counters.sum(), written)
}

fn span(row: &Array<i64>) -> Array<i64, Ix0> {
    &row.last() - &row.first()
}

/// Numbers of which each segment has some between 1 and 9.
fn mixed() -> Segmented<i64> {
    Segmented::from_vecs(vec![vec![0, 3, 9, 1, 12], vec![7], vec![-4, 5, 0, 0, 8]])
}

#[test]
fn ends_of_segments__of_data_in_memory__are_read_at_their_indices() -> Result<(), Error> {
    let spans = mixed().map_segments(|row| span(&row));
    assert_eq!(counts(&spans), (1, 1, 1));
    for engine in engines() {
        assert_eq!(spans.force_with(&engine)?, [12, 0, 12]);
    }
    // Elements that no segment reads may be after the last one.
    let lengths = Array::from(vec![2u64, 1]);
    let more = Segmented::new(&lengths, &Array::from(vec![1i64, 2, 3, 4]));
    assert_eq!(more.map_segments(|row| row.last()).force()?, [2, 3]);
    Ok(())
}

#[test]
fn ends_of_segments__of_streams__share_their_loop_without_counts() -> Result<(), Error> {
    let kept = mixed().filter(|x| x.ge(1) & x.lt(10));
    assert_eq!(counts(&kept.map_segments(|row| span(&row))), (1, 2, 1));
    let (spans, widths, lengths) =
        kept.map_segments(|row| (span(&row), row.max() - row.min(), row.len()));
    let all = (&spans, &widths, &lengths);
    assert_eq!(counts(&all), (1, 2, 3));
    for engine in engines() {
        let (spans, widths, lengths) = all.force_with(&engine)?;
        assert_eq!((&spans[..], &widths[..]), (&[-2, 0, 3][..], &[8, 0, 3][..]));
        assert_eq!(lengths, [3, 1, 2]);
    }
    Ok(())
}

#[test]
fn ends_of_segments__of_scans_and_filters_in_turn__are_one_loop() -> Result<(), Error> {
    let running = mixed()
        .filter(|x| x.ge(1) & x.lt(10))
        .filter(|x| x.ne(1))
        .map_segments(|row| row.scan(0, |a, b| a + b).last());
    let inside = mixed().map_segments(|row| span(&row.filter(|x| x.ge(1) & x.lt(10))));
    assert_eq!(counts(&running), (1, 2, 1));
    assert_eq!(counts(&inside), (1, 2, 1));
    for engine in engines() {
        let (running, inside) = (&running, &inside).force_with(&engine)?;
        assert_eq!(
            (&running[..], &inside[..]),
            (&[12, 7, 13][..], &[-2, 0, 3][..])
        );
    }
    Ok(())
}

#[test]
fn ends_of_segments__elements_that_trap__are_filtered_away() -> Result<(), Error> {
    let quotients = mixed().filter(|x| x.ne(0)).map(|x| 60 / x);
    let outside = quotients.map_segments(|row| span(&row));
    let quotients = |row: Array<i64>| row.filter(|x| x.ne(0)).map(|x| 60 / x);
    let inside = mixed().map_segments(|row| span(&quotients(row)));
    for engine in engines() {
        assert_eq!(outside.force_with(&engine)?, [-15, 0, 22]);
        assert_eq!(inside.force_with(&engine)?, [-15, 0, 22]);
    }
    // An element behind the first one is not computed, if it could trap.
    let first = mixed().map_segments(|row| row.map(|x| 60 / (x - 3)).first());
    for engine in engines() {
        assert_eq!(first.force_with(&engine)?, [-20, 15, -8]);
    }
    Ok(())
}

#[test]
fn ends_of_segments__of_empty_ones__are_errors_at_their_call() {
    let empty = Segmented::from_vecs(vec![vec![1i64], vec![]]);
    let filtered = mixed().filter(|x| x.ne(7));
    for engine in engines() {
        for segments in [&empty, &filtered] {
            let line = line!();
            let (first, last) = segments.map_segments(|row| (row.first(), row.last()));
            for (end, name) in [(first, "first"), (last, "last")] {
                let error = error_of(end.force_with(&engine), line);
                assert_eq!((error.combinator, error.kind), (name, ErrorKind::Empty));
            }
        }
    }
    let none = Segmented::<i64>::from_vecs(vec![]);
    assert!(
        none.map_segments(|row| span(&row))
            .to_vec()
            .is_ok_and(|all| all.is_empty())
    );
    // Lengths are checked against the data.
    let wrong = Segmented::new(&Array::from(vec![2u64, 9]), &Array::from(vec![1i64, 2, 3]));
    let error = error_of(wrong.map_segments(|row| row.last()).force(), None);
    assert_eq!(error.kind, ErrorKind::Segments { needed: 9, room: 1 });
}

#[test]
fn ends_of_segments__that_begin_at_flags__share_the_loop_of_the_flags() -> Result<(), Error> {
    let times = Array::from(vec![1u64, 4, 9, 60, 61, 200]);
    let begins = times.zip_with(&times.shift(1, 0), |now, before| (now - before).gt(30));
    let runs = Segmented::from_flags(&begins, &times);
    let (spans, clicks) = runs.map_segments(|run| (&run.last() - &run.first(), run.len()));
    let all = (&spans, &clicks);
    let (loops, _, written) = counts(&all);
    assert_eq!((loops, written), (1, 2));
    for engine in engines() {
        let (spans, clicks) = all.force_with(&engine)?;
        assert_eq!((&spans[..], &clicks[..]), (&[8, 1, 0][..], &[3, 2, 1][..]));
    }
    Ok(())
}

#[test]
fn ends_of_segments__in_nested_closures__are_read_at_their_indices() -> Result<(), Error> {
    let of_pairs = |row: Array<i64>| row.chunks(2).map_segments(|pair| span(&pair)).sum();
    let inner = mixed().map_segments(of_pairs);
    assert_eq!(counts(&inner), (1, 2, 1));
    let rows = Array::from([[3i64, 1, 4], [1, 5, 9]]).map_rows(|row| span(&row));
    assert_eq!(counts(&rows), (1, 1, 1));
    for engine in engines() {
        assert_eq!(inner.force_with(&engine)?, [-5, 0, 9]);
        assert_eq!(rows.force_with(&engine)?, [1, 8]);
    }
    Ok(())
}

#[test]
fn running_sums_from_the_end__value_of_the_segment__is_that_of_its_own() {
    each_engine(&ints(), |r| {
        let n = r.len();
        let running = r.scan(0, |a, b| a + b).reverse();
        running.map(|x| x * 3 + n.value().cast::<i64>())
    });
}
