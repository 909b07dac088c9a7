//! Combinators in a closure give the same result as on each segment alone.

use super::*;

#[test]
fn map_segments__with_maps_and_zips__gives_the_results_of_each_row() {
    arrays(&ints(), |row| row.map(|x| x * x));
    arrays(&ints(), |row| {
        row.map(|x| (x, x.gt(2))).map(|(x, b)| b.cond(x, 0))
    });
    arrays(&ints(), |row| {
        row.zip_with(&row.map(|x| x + 1), |a, b| a * b)
    });
    arrays(&ints(), |row| row.enumerate());
    arrays(&ints(), |row| zip((&row, &row.cumsum(), &iota(row.len()))));
    arrays(&ints(), |row| &row - &row.sum());
    arrays(&full(), |row| {
        let (low, high) = (row.min(), row.max());
        row.map(|x| (x - &low, &high - x))
    });
    let (a, b) = Segmented::from_vecs(ints()).map_segments(|row| row.map(|x| (x, x + 1)).unzip());
    assert_eq!(a.to_vecs().unwrap(), ints());
    assert_eq!(b.data().to_vec().unwrap().iter().sum::<i64>(), 41);
}

/// Elements of all types: small ones, flags, tuples of tuples, structs.
#[test]
fn element_types() {
    #[derive(Clone, Debug, PartialEq, Elt)]
    struct Point {
        x: f32,
        up: bool,
    }
    let rows = vec![
        vec![(1u8, (true, -2i16)), (200, (false, 7))],
        vec![],
        vec![(3, (true, 0))],
    ];
    arrays(&rows, |row| row.map(|(a, (b, c))| (c, b, a + 1)));
    arrays(&rows, |row| row.reverse().filter(|(_, (b, _))| b));
    arrays(&rows, |row| {
        let n = row.len();
        let start = n.map(|n| (n.cast::<u8>(), (n.gt(1), n.cast::<i16>())));
        row.scan(&start, |(a, (b, c)), (d, (e, f))| {
            (a.max(d), (b.or(e), c.max(f)))
        })
    });
    arrays(&rows, |row| {
        row.append(&row.take(1)).take_while(|(a, _)| a.ne(200))
    });
    let points = vec![
        vec![Point { x: 1.5, up: true }, Point { x: -1.0, up: false }],
        vec![],
    ];
    arrays(&points, |row| row.reverse());
    let found = Segmented::from_vecs(points).map_segments(|row| row.count(|p| p.up));
    assert_eq!(found.force().unwrap(), [1, 0]);
}

#[test]
fn folds() {
    scalars(&ints(), |row| row.sum());
    scalars(&ints(), |row| row.map(|x| x + 1).product());
    scalars(&ints(), |row| row.fold(7, |a, b| a.max(b)));
    scalars(&ints(), |row| row.fold_seq(0, |n, d| n * 10 + d));
    scalars(&ints(), |row| {
        row.aggregate(
            (0u64, 0i64),
            |(n, s), x| (n + 1, s + x),
            |(n, s), (m, t)| (n + m, s + t),
        )
    });
    scalars(&ints(), |row| row.any(|x| x.gt(4)));
    scalars(&ints(), |row| row.all(|x| x.gt(0)));
    scalars(&ints(), |row| row.count(|x| x.gt(1)));
    scalars(&ints(), |row| row.len());
    scalars(&full(), |row| row.mean());
    scalars(&full(), |row| row.var());
    scalars(&full(), |row| row.fold1(|a, b| a.min(b)));
    scalars(&full(), |row| row.max_index());
    scalars(&full(), |row| row.first());
    scalars(&full(), |row| row.last());
    scalars(&full(), |row| row.map(|x| x + 1).last());
    scalars(&full(), |row| row.find(|x| x.ge(0)));
    scalars(&full(), |row| row.position(|x| x.ge(0)));
    scalars(&ints(), |row| row.fold_right(1, |a, b| a + b));
}

/// Operators and starts that capture values of the segment.
#[test]
fn folds_that_capture() {
    scalars(&ints(), |row| {
        let most = row.map(|x| x / 2).sum();
        row.fold(0, |a, b| a.max(b).min(&most))
    });
    scalars(&full(), |row| {
        let most = row.max();
        row.fold1(|a, b| (a + b) % (&most + 100))
    });
    scalars(&ints(), |row| {
        let start = row.len().map(|n| n.cast::<i64>());
        row.fold(&start, |a, b| a.max(b))
    });
    scalars(&ints(), |row| {
        let (start, most) = (row.len().map(|n| n.cast::<i64>()), row.sum());
        row.fold(&start, |a, b| a.max(b).min(&most))
    });
    scalars(&ints(), |row| {
        let n = row.len().map(|n| n.cast::<i64>());
        row.fold_seq(0, |a, x| a * 2 + x * &n)
    });
    scalars(&ints(), |row| {
        let n = row.len().map(|n| n.cast::<i64>());
        row.fold_seq(&n, |a, x| a * 2 + x * &n)
    });
    scalars(&ints(), |row| {
        let n = row.len().map(|n| n.cast::<i64>());
        let start = (0i64, 0i64);
        row.aggregate(
            start,
            |(a, b), x| (a + x * &n, b + 1),
            |(a, b), (c, d)| (a + c, b + d),
        )
    });
    scalars(&ints(), |row| {
        let n = row.len().map(|n| n.cast::<i64>());
        row.aggregate(&n, |s, x| s.max(x), |s, t| s.max(t))
    });
    arrays(&ints(), |row| {
        let start = row.len().map(|n| n.cast::<i64>());
        row.scan(&start, |a, b| a + b)
    });
    arrays(&ints(), |row| {
        let (start, most) = (row.len().map(|n| n.cast::<i64>()), row.sum());
        row.scan_exclusive(&start, |a, b| a.max(b).min(&most))
    });
    arrays(&ints(), |row| {
        let start = row.len().map(|n| n.cast::<i64>());
        row.scan_seq(&start, |a, b| a * 2 - b)
    });
    arrays(&ints(), |row| {
        let most = row.sum();
        row.scan(0, |a, b| (a + b).min(&most))
    });
}

#[test]
fn scans() {
    arrays(&ints(), |row| row.scan(1, |a, b| a + b));
    arrays(&ints(), |row| row.scan_exclusive(1, |a, b| a + b));
    arrays(&ints(), |row| row.scan_seq(1, |a, b| a * 2 + b));
    arrays(&ints(), |row| row.cumsum());
    arrays(&ints(), |row| row.scan_right(1, |a, b| a + b));
    arrays(&ints(), |row| {
        let (before, total) = row.scan_with_total(0, |a, b| a + b);
        before.map(|x| &total - x)
    });
}

#[test]
fn some_of_the_elements() {
    arrays(&ints(), |row| row.filter(|x| x.gt(1)));
    arrays(&ints(), |row| {
        row.filter(|x| (x * 2).gt(row.len().map(|n| n.cast::<i64>())))
    });
    arrays(&ints(), |row| row.pack(&row.map(|x| x.ne(1))));
    arrays(&ints(), |row| {
        row.filter(|x| x.gt(0)).map(|x| 60 / x).filter(|x| x.gt(9))
    });
    arrays(&ints(), |row| row.unique());
    arrays(&ints(), |row| row.drop_while(|x| x.lt(4)));
    arrays(&ints(), |row| {
        row.filter(|x| x.gt(0)).drop_while(|x| x.gt(4))
    });
    let (even, odd) =
        Segmented::from_vecs(ints()).map_segments(|row| row.partition(|x| (x % 2).eq(0)));
    assert_eq!(even.to_vecs().unwrap()[0], [4]);
    assert_eq!(odd.to_vecs().unwrap()[0], [3, 1, 1]);
}

#[test]
fn by_index() {
    arrays(&ints(), |row| row.reverse());
    arrays(&ints(), |row| row.map(|x| x * 3).reverse());
    arrays(&ints(), |row| row.filter(|x| x.gt(1)).reverse());
    arrays(&ints(), |row| row.cumsum().reverse());
    arrays(&ints(), |row| row.drop(1));
    arrays(&ints(), |row| row.shift(1, -7));
    arrays(&ints(), |row| row.shift(-2, -7));
    arrays(&ints(), |row| row.slice(..row.len()));
    arrays(&full(), |row| row.slice(1..));
    for boundary in [
        Boundary::Clamp,
        Boundary::Wrap,
        Boundary::Mirror,
        Boundary::Constant(9),
    ] {
        arrays(&ints(), |row| row.windows(boundary, |[a, b, c]| (a, b, c)));
    }
    arrays(&ints(), |row| row.append(&row));
    arrays(&ints(), |row| {
        row.filter(|x| x.gt(1)).append(&row.map(|x| x + 1))
    });
    arrays(&ints(), |row| {
        concat([&row, &row.cumsum(), &Array::from(vec![100i64, 200])])
    });
    arrays(&ints(), |row| row.interleave(&row.map(|x| x + 1)));
    arrays(&ints(), |row| row.zip_shortest(&row.filter(|x| x.gt(1))));
    arrays(&ints(), |row| row.zip_shortest(&iota(2)));
    arrays(&ints(), |row| generate(row.len(), |i| i * i + 1));
    arrays(&ints(), |row| generate(3, |i| i.cast::<i64>() * &row.sum()));
    arrays(&ints(), |row| replicate(row.len(), &row.sum()));
    arrays(&full(), |row| row.gather(&row.map(|_| 0u64)));
    arrays(&full(), |row| row.map(|x| row.at(0) + x));
    arrays(&full(), |row| {
        let first = row.at(0);
        row.map(|x| &first * x)
    });
    scalars(&full(), |row| row.at(&row.max_index()));
    arrays(&ints(), |row| {
        row.map(|x| x + 1).scatter(&iota(row.len()), &row)
    });
    arrays(&full(), |row| {
        row.scatter_with(&row.map(|x| x.min(0).cast::<u64>()), &row, |a, b| a + b)
    });
    arrays(&ints(), |row| {
        row.reduce_by_index(
            &row,
            Bins {
                count: 10,
                start: 0i64,
            },
            |a, b| a + b,
        )
    });
    arrays(&full(), |row| row.update(0u64, 17));
    let (values, lengths) = Segmented::from_vecs(ints()).map_segments(|row| row.group());
    assert_eq!(
        values.to_vecs().unwrap(),
        [vec![3, 1, 4, 1], vec![], vec![5], vec![9, 2, 6], vec![0]]
    );
    assert_eq!(lengths.to_vecs().unwrap()[4], [2]);
}

/// Streams that advance at their own rates.
#[test]
fn merges() {
    let odd = |x: Exp<i64>| (x % 2).eq(1);
    arrays(&ints(), |row| row.merge(&row.cumsum(), |a, b| a.le(b)));
    arrays(&ints(), |row| {
        row.filter(odd)
            .merge(&row.filter(|x| x.gt(1)), |a, b| a.le(b))
    });
    arrays(&ints(), |row| {
        row.filter(odd).interleave(&row.filter(odd).map(|x| x + 1))
    });
    arrays(&ints(), |row| {
        row.cumsum().interleave(&row.scan(0, |a, b| a.max(b)))
    });
    arrays(&ints(), |row| {
        let tags = row.map(odd);
        let (yes, no) = (
            row.filter(odd).cumsum(),
            row.pack(&tags.map(|t| !t)).cumsum(),
        );
        tags.combine(&yes, &no)
    });
    let all = Segmented::from_vecs(ints());
    let differ = all.map_segments(|row| row.cumsum().interleave(&row.filter(odd)));
    let error = error_of((differ.lengths(), differ.data()).force(), None);
    assert_eq!(error.combinator, "interleave");
    assert!(
        matches!(error.kind, ErrorKind::LengthMismatch { .. }),
        "{error}"
    );
}

#[test]
fn ends() {
    arrays(&ints(), |row| row.take(2));
    arrays(&ints(), |row| row.filter(|x| x.gt(1)).take(1));
    arrays(&ints(), |row| row.cumsum().take(2));
    arrays(&ints(), |row| row.cumsum().take(row.len().map(|n| n / 2)));
    arrays(&ints(), |row| row.take_while(|x| x.gt(1)));
    arrays(&ints(), |row| {
        row.map(|x| (x, x * 2)).take_while(|(_, y)| y.gt(2))
    });
    arrays(&ints(), |row| {
        row.take_while(|x| x.gt(row.len().map(|n| n.cast::<i64>() - 2)))
    });
    arrays(&ints(), |row| {
        row.filter(|x| x.gt(1)).take_while(|x| x.gt(2))
    });
}

/// Elements after the exit cannot fail.
#[test]
fn nothing_fails_behind_the_end() {
    let rows = vec![vec![8i64, 4, 2, 0, 5], vec![], vec![0, 1], vec![3, 3]];
    arrays(&rows, |row| row.take_while(|x| x.ne(0)).map(|x| 8 / x));
    let rows = vec![vec![8i64, 4, 2, 0, 5], vec![], vec![1, 0], vec![3, 8]];
    arrays(&rows, |row| row.map(|x| 8 / x).take_while(|r| r.lt(4)));
    arrays(&rows, |row| row.map(|x| 8 / x).filter(|r| r.ge(1)).take(1));
    scalars(&rows, |row| row.map(|x| 8 / x).any(|r| r.ge(2)));
    // After scans and filters that could fail themselves, and after other exits, with indices and
    // captures.
    arrays(&rows, |row| row.scan_seq(8, |a, x| a / x + 8).take(1));
    arrays(&rows, |row| {
        row.filter(|x| (8 / x).ge(1))
            .cumsum()
            .take_while(|s| s.lt(1))
    });
    arrays(&rows, |row| {
        row.filter(|x| (8 / x).ge(1))
            .scan_exclusive(0, |a, b| a + b)
            .take(1)
    });
    arrays(&rows, |row| {
        row.map(|x| 8 / x)
            .take(1)
            .map(|x| x + 1)
            .take_while(|x| x.lt(3))
    });
    arrays(&rows, |row| {
        row.enumerate()
            .map(|(i, x)| (i, 8 / x))
            .take_while(|(_, q)| q.lt(3))
    });
    arrays(&rows, |row| {
        let n = row.len().map(|n| n.cast::<i64>());
        row.map(|x| (row.at(x - x), &n / x))
            .take_while(|(_, q)| q.lt(1))
    });
    arrays(&rows, |row| {
        let tags = row.map(|x| (8 / x).ge(2));
        row.pack(&tags).take(1)
    });
    arrays(&rows, |row| generate(row.len(), |i| 8 / row.at(i)).take(1));
    arrays(&rows, |row| {
        generate(row.len(), |i| 8 / row.at(i)).slice(..0)
    });
    // Two filters of one row.
    let twice = vec![vec![1i64, 2, 4, 8], vec![], vec![4]];
    arrays(&twice, |row| {
        let (a, b) = (row.filter(|x| x.gt(1)), row.filter(|x| x.ne(1)));
        a.zip_with(&b, |a, b| 8 / a + b).take(2)
    });
    let full = vec![vec![8i64, 4, 2, 0, 5], vec![1, 0], vec![3, 8]];
    scalars(&full, |row| row.map(|x| 8 / x).first());
    scalars(&full, |row| row.map(|x| 8 / x).find(|r| r.ge(1)));
}
