//! Closures on whole segments: values, loops, errors.

use livefusion::prelude::*;
use livefusion::{Boundary, Elt, Engine, Error, ErrorKind, Force};
use std::fmt::Debug;

/// Small whole numbers, so that sums are exact in any order.
fn floats() -> Vec<Vec<f64>> {
    vec![
        vec![3.0, -1.0, 4.0],
        vec![],
        vec![-5.0],
        vec![2.0, 2.0, 7.0, -3.0, 1.0],
        vec![],
    ]
}

fn ints() -> Vec<Vec<i64>> {
    vec![vec![3, 1, 4, 1], vec![], vec![5], vec![9, 2, 6], vec![0, 0]]
}

/// Those without empty ones, for what needs an element.
fn full() -> Vec<Vec<i64>> {
    ints().into_iter().filter(|r| !r.is_empty()).collect()
}

/// The closure on all segments gives what it gives on each of them, alone.
fn arrays<T, U>(rows: &[Vec<T>], f: impl Fn(Array<T>) -> Array<U>) -> Segmented<U>
where
    T: Elt + Clone,
    U: Elt + PartialEq + Debug,
{
    let alone = rows.iter().map(|r| f(Array::from(r.clone())).to_vec());
    let alone: Vec<Vec<U>> = alone.map(|r| r.expect("of one row")).collect();
    let all = || Segmented::from_vecs(rows.to_vec()).map_segments(&f);
    assert_eq!(all().to_vecs().expect("of all rows"), alone);
    // No segments at all.
    let none = Segmented::<T>::from_vecs(vec![]).map_segments(&f);
    assert_eq!(none.to_vecs().expect("of no rows"), Vec::<Vec<U>>::new());
    // Data that is computed, and its lengths.
    let computed = Segmented::from_vecs(rows.to_vec()).filter_s(|_| true);
    assert_eq!(
        computed.map_segments(&f).to_vecs().expect("computed"),
        alone
    );
    all()
}

fn scalars<T, U>(rows: &[Vec<T>], f: impl Fn(Array<T>) -> Array<U, Ix0>) -> Array<U>
where
    T: Elt + Clone,
    U: Elt + PartialEq + Debug,
{
    let alone = rows.iter().map(|r| f(Array::from(r.clone())).map(|x| x));
    let alone = alone.map(|x| replicate(1, &x).to_vec().expect("of one row").remove(0));
    let alone: Vec<U> = alone.collect();
    let all = || Segmented::from_vecs(rows.to_vec()).map_segments(&f);
    assert_eq!(all().to_vec().expect("of all rows"), alone);
    let none = Segmented::<T>::from_vecs(vec![]).map_segments(&f);
    assert_eq!(none.to_vec().expect("of no rows"), Vec::<U>::new());
    let computed = Segmented::from_vecs(rows.to_vec()).filter_s(|_| true);
    assert_eq!(computed.map_segments(&f).to_vec().expect("computed"), alone);
    all()
}

fn loops(result: &impl Force) -> usize {
    result.explain().unwrap().loops.len()
}

#[test]
fn a_normalise_by_row_is_one_loop() {
    let rows = floats();
    let all = Segmented::from_vecs(rows.clone());
    let normal = all.map_segments(|row| {
        let total = row.sum();
        row.map(|x| x / &total)
    });
    assert_eq!(loops(normal.data()), 1);
    let expected = rows.iter().map(|r| {
        let total: f64 = r.iter().sum();
        r.iter().map(|x| x / total).collect()
    });
    assert_eq!(
        normal.to_vecs().unwrap(),
        expected.collect::<Vec<Vec<f64>>>()
    );
}

#[test]
fn a_spread_by_row_is_one_loop() {
    let rows = full();
    let spread = scalars(&rows, |row| row.max() - row.min());
    assert_eq!(loops(&spread), 1);
    let expected = rows
        .iter()
        .map(|r| r.iter().max().unwrap() - r.iter().min().unwrap());
    assert_eq!(spread.to_vec().unwrap(), expected.collect::<Vec<i64>>());
}

#[test]
fn a_filter_and_a_scan_by_row_are_one_loop() {
    let kept = arrays(&floats(), |row| {
        row.filter(|x| x.gt(0.0)).scan(0.0, |a, b| a + b)
    });
    assert_eq!(loops(&(kept.lengths(), kept.data())), 1);
    let sums = scalars(&floats(), |row| row.filter(|x| x.gt(0.0)).sum());
    assert_eq!(loops(&sums), 1);
    let both = scalars(&floats(), |row| {
        let kept = row.filter(|x| x.gt(0.0));
        kept.map(|x| x * &kept.sum()).sum()
    });
    println!("{}", both.explain().unwrap());
}

/// The largest sum of neighbours, of each row.
#[test]
fn maximal_segment_sums_by_row_are_one_loop() {
    let best = scalars(&ints(), |row| {
        let all = row.map(|x| {
            let best = (x - 3).max(0);
            (best, best, best, x - 3)
        });
        let sums = all.fold((0, 0, 0, 0), |(m, p, s, t), (m2, p2, s2, t2)| {
            (m.max(m2).max(s + p2), p.max(t + p2), s2.max(s + t2), t + t2)
        });
        sums.map(|(m, ..)| m)
    });
    assert_eq!(loops(&best), 1);
    let naive = |r: &Vec<i64>| {
        let (mut best, mut here) = (0, 0i64);
        for x in r {
            here = (here + x - 3).max(0);
            best = best.max(here);
        }
        best
    };
    let expected: Vec<i64> = ints().iter().map(naive).collect();
    assert_eq!(best.to_vec().unwrap(), expected);
}

#[test]
fn maps_and_zips() {
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

/// Operators and starts that capture what depends on the segment.
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
        reduce_by_index(10, 0i64, &row, &row, |a, b| a + b)
    });
    arrays(&full(), |row| row.update(0u64, 17));
    let (values, lengths) = Segmented::from_vecs(ints()).map_segments(|row| row.group());
    assert_eq!(
        values.to_vecs().unwrap(),
        [vec![3, 1, 4, 1], vec![], vec![5], vec![9, 2, 6], vec![0]]
    );
    assert_eq!(lengths.to_vecs().unwrap()[4], [2]);
}

/// Streams that advance on their own.
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

/// What lies behind the end does not fail.
#[test]
fn nothing_fails_behind_the_end() {
    let rows = vec![vec![8i64, 4, 2, 0, 5], vec![], vec![0, 1], vec![3, 3]];
    arrays(&rows, |row| row.take_while(|x| x.ne(0)).map(|x| 8 / x));
    let rows = vec![vec![8i64, 4, 2, 0, 5], vec![], vec![1, 0], vec![3, 8]];
    arrays(&rows, |row| row.map(|x| 8 / x).take_while(|r| r.lt(4)));
    arrays(&rows, |row| row.map(|x| 8 / x).filter(|r| r.ge(1)).take(1));
    scalars(&rows, |row| row.map(|x| 8 / x).any(|r| r.ge(2)));
    // Behind scans and filters that could fail themselves, behind other ends, with indices and what is captured.
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
    // Two filters side by side.
    let twice = vec![vec![1i64, 2, 4, 8], vec![], vec![4]];
    arrays(&twice, |row| {
        let (a, b) = (row.filter(|x| x.gt(1)), row.filter(|x| x.ne(1)));
        a.zip_with(&b, |a, b| 8 / a + b).take(2)
    });
    let full = vec![vec![8i64, 4, 2, 0, 5], vec![1, 0], vec![3, 8]];
    scalars(&full, |row| row.map(|x| 8 / x).first());
    scalars(&full, |row| row.map(|x| 8 / x).find(|r| r.ge(1)));
}

/// One loop each, as by hand.
#[test]
fn what_fuses() {
    let all = Segmented::from_vecs(ints());
    let data = |s: Segmented<i64>| loops(&(s.lengths(), s.data()));
    assert_eq!(loops(&all.map_segments(|r| r.var())), 1);
    assert_eq!(data(all.map_segments(|r| r.reverse())), 1);
    assert_eq!(data(all.map_segments(|r| r.append(&r))), 1);
    assert_eq!(data(all.map_segments(|r| r.filter(|x| x.gt(1)).take(1))), 1);
    assert_eq!(
        loops(&all.map_segments(|r| r.take_while(|x| x.gt(1)).sum())),
        1
    );
    assert_eq!(
        loops(&all.map_segments(|r| r.map(|x| 8 / x).any(|x| x.gt(1)))),
        1
    );
    let steps = |r: Array<i64>| r.drop(1).zip_shortest(&r).map(|(a, b)| a - b).sum();
    assert_eq!(loops(&all.map_segments(steps)), 1);
    let centred = |r: Array<i64>| {
        let kept = r.filter(|x| x.gt(1));
        let total = kept.sum();
        kept.map(|x| x - &total)
    };
    assert_eq!(data(all.map_segments(centred)), 1);
    // In inner segments, with what the outer one has.
    let nested = all.map_segments(|row| {
        let total = row.sum();
        let pieces = indices_s(&row);
        pieces.map_segments(|piece| piece.map(|i| i.cast::<i64>() * &total).sum())
    });
    assert_eq!(data(nested), 1);
    // All elements of the inner segments.
    let flat = |r: Array<i64>| indices_s(&r).data().filter(|i| i.gt(0)).sum();
    assert_eq!(loops(&all.map_segments(flat)), 1);
}

#[test]
fn invariants() {
    let weights = Array::from(vec![1i64, 10, 100]);
    let rows = vec![vec![1i64, 2, 3], vec![4, 5, 6]];
    arrays(&rows, |row| &row * &weights);
    arrays(&rows, |row| weights.zip_with(&row, |w, x| x - w));
    arrays(&ints(), |row| row.map(|x| x + &weights.sum()));
    arrays(&full(), |row| row.map(|x| weights.at(x % 3)));
    arrays(&ints(), |row| weights.map(|w| w + &row.sum()));
    arrays(&ints(), |row| weights.filter(|w| w.gt(row.sum())));
    scalars(&ints(), |row| {
        weights.fold(0, |a, b| a.max(b).max(row.sum()))
    });
    arrays(&ints(), |_| weights.clone());
    scalars(&ints(), |_| weights.sum());
    arrays(&ints(), |row| weights.append(&row));
    arrays(&ints(), |row| weights.scatter(&row.map(|x| x % 3), &row));
    let computed = weights.filter(|w| w.gt(1));
    arrays(&[vec![1i64, 2], vec![3, 4]], |row| &row * &computed);
    arrays(&ints(), |row| computed.append(&row.filter(|x| x.gt(1))));
}

#[test]
fn several_segmented_arrays() {
    let xs = Segmented::from_vecs(ints());
    let ys = Segmented::from_vecs(ints()).map(|x| x * 10);
    let n = Array::from(vec![1i64, 2, 3, 4, 5]);
    let dot = (&xs, &ys, &n).map_segments(|(x, y, n)| x.zip_with(&y, |a, b| a * b).sum() + n);
    assert_eq!(dot.force().unwrap(), [271, 2, 253, 1214, 5]);
    assert_eq!(
        loops(&(&xs, &ys).map_segments(|(x, y)| x.zip_with(&y, |a, b| a * b).sum())),
        1
    );
    let same = (&xs, &xs.map(|x| x + 1)).map_segments(|(x, y)| (&x + &y).sum());
    assert_eq!(loops(&same), 1);
    assert_eq!(same.force().unwrap(), [22, 0, 11, 37, 2]);
    let n = (&n,).map_segments(|(n,)| n * 2);
    assert_eq!(n.force().unwrap(), [2, 4, 6, 8, 10]);
    // Streams: data that comes with its lengths.
    let (a, b) = (xs.filter_s(|x| x.gt(1)), ys.filter_s(|y| y.gt(10)));
    let both = (&a, &b).map_segments(|(a, b)| a.zip_with(&b, |a, b| b - a));
    assert_eq!(
        both.to_vecs().unwrap(),
        [vec![27, 36], vec![], vec![45], vec![81, 18, 54], vec![]]
    );
    let differ = (&xs, &a).map_segments(|(x, a)| (&x + &a).sum());
    assert!(matches!(
        differ.force().unwrap_err().kind,
        ErrorKind::LengthMismatch { .. }
    ));
}

#[test]
fn segments_of_segments() {
    let all = Segmented::from_vecs(ints());
    // Each element as often as it says, in pieces.
    let nested = all.map_segments(|row| {
        let lengths = row.map(|x| x.cast::<u64>());
        replicate_s(&lengths, &row)
    });
    let expected: Vec<Vec<Vec<i64>>> = ints()
        .iter()
        .map(|r| r.iter().map(|x| vec![*x; *x as usize]).collect())
        .collect();
    assert_eq!(nested.to_vecs().unwrap(), expected);
    scalars(&ints(), |row| replicate_s(&row, &row).sum_s().sum());
    scalars(&ints(), |row| indices_s(&row).data().sum());
    scalars(&ints(), |row| {
        indices_s(&row).data().fold(7, |a, b| a.max(b))
    });
    scalars(&full(), |row| indices_s(&row.map(|x| x + 1)).data().max());
    scalars(&ints(), |row| {
        let deep = indices_s(&indices_s(&row).data().clone());
        deep.data()
            .filter(|i| i.ne(1))
            .map(|i| (i, i.gt(2)))
            .fold((0, false), |(a, b), (c, d)| (a + c, b.or(d)))
    });
    arrays(&ints(), |row| replicate_s(&row, &row).sum_s());
    arrays(&ints(), |row| {
        replicate_s(&row, &row).data().map(|x| x + &row.sum())
    });
    arrays(&ints(), |row| {
        indices_s(&row).scan_s(0, |a, b| a + b).data().clone()
    });
    arrays(&ints(), |row| {
        let most = row.sum();
        indices_s(&row)
            .map(|x| x.cast::<i64>())
            .fold_s(&most, |a, b| a + b)
    });
    arrays(&ints(), |row| {
        let most = row.sum();
        indices_s(&row)
            .map(|x| x.cast::<i64>())
            .fold_s(0, |a, b| (a + b).min(&most))
    });
    arrays(&ints(), |row| {
        indices_s(&row)
            .filter_s(|x| (x % 2).eq(1))
            .lengths()
            .clone()
    });
    arrays(&ints(), |row| {
        indices_s(&row).filter_s(|x| (x % 2).eq(1)).sum_s()
    });
    arrays(&ints(), |row| {
        let (_, lengths) = row.group();
        Segmented::new(&lengths, &row).sum_s()
    });
    arrays(&ints(), |row| {
        let s = indices_s(&row);
        s.append_s(&s).data().clone()
    });
    // Captured segments.
    let outer = Segmented::from_vecs(vec![vec![1i64, 2], vec![3]]);
    arrays(&ints(), |row| {
        outer
            .map_s(&Array::from(vec![1i64, 2]), |x, y| x * y)
            .data()
            .map(|x| x + &row.sum())
    });
}

#[test]
fn nests_in_nests() {
    let all = Segmented::from_vecs(ints());
    let weights = Array::from(vec![1i64, 10, 100, 1000]);
    // Of each row the segments 0..x, of which each is weighed by its row's sum.
    let nested = all.map_segments(|row| {
        let total = row.sum();
        indices_s(&row).map_segments(|piece| {
            let n = piece.len();
            piece
                .map(|i| i.cast::<i64>() * &total + n.value().cast::<i64>())
                .sum()
        })
    });
    let expected: Vec<Vec<i64>> = ints()
        .iter()
        .map(|r| {
            let total: i64 = r.iter().sum();
            r.iter()
                .map(|x| (0..*x).map(|i| i * total + x).sum())
                .collect()
        })
        .collect();
    assert_eq!(nested.to_vecs().unwrap(), expected);
    println!("{}", nested.data().explain().unwrap());
    // The inner closure reads the outer row, and what is around both.
    let reads = all.map_segments(|row| {
        let sums = indices_s(&row).map_segments(|piece| {
            let own = piece.filter(|i| i.lt(row.len()));
            own.map(|i| row.at(i) + weights.at(i % 4)).sum()
        });
        sums.map(|s| s + &weights.sum())
    });
    let expected: Vec<Vec<i64>> = ints()
        .iter()
        .map(|r| {
            let own = |x: &i64| {
                let at = (0..*x as usize).filter(|i| *i < r.len());
                at.map(|i| r[i] + 10i64.pow(i as u32 % 4)).sum::<i64>() + 1111
            };
            r.iter().map(own).collect()
        })
        .collect();
    assert_eq!(reads.to_vecs().unwrap(), expected);
    // Elements of the enclosing nest, one for each inner segment.
    let scaled = all.map_segments(|row| {
        (&indices_s(&row), &row)
            .map_segments(|(piece, x)| piece.map(|i| i.cast::<i64>() * &x).sum())
    });
    let expected: Vec<Vec<i64>> = ints()
        .iter()
        .map(|r| r.iter().map(|x| (0..*x).map(|i| i * x).sum()).collect())
        .collect();
    assert_eq!(scaled.to_vecs().unwrap(), expected);
    // Rearranged in the inner segments.
    let reversed = all.map_segments(|row| {
        let pieces = indices_s(&row).map_segments(|piece| piece.reverse());
        pieces.sum_s()
    });
    assert_eq!(reversed.to_vecs().unwrap()[0], [3, 0, 6, 0]);
    let reversed = all.map_segments(|row| indices_s(&row).map_segments(|piece| piece.reverse()));
    assert_eq!(
        reversed.to_vecs().unwrap()[0],
        [vec![2, 1, 0], vec![0], vec![3, 2, 1, 0], vec![0]]
    );
}

/// The error, of a combinator that was called behind a line, or anywhere.
fn error_of<T: Debug>(result: Result<T, Error>, line: impl Into<Option<u32>>) -> Error {
    let error = result.expect_err("an error");
    let location = error.location.expect("a place");
    assert!(location.file().ends_with("nested.rs"), "{error}");
    if let Some(line) = line.into() {
        assert!((line + 1..line + 4).contains(&location.line()), "{error}");
    }
    error
}

#[test]
fn errors_name_the_line_in_the_closure() {
    let all = Segmented::from_vecs(ints());
    let line = line!();
    let empty = all.map_segments(|row| row.max());
    let error = error_of(empty.force(), line);
    assert_eq!((error.combinator, error.kind), ("max", ErrorKind::Empty));

    let line = line!();
    let first = all.map_segments(|row| (row.first(), row.map(|x| 8 / (x + 1)).first()));
    for first in [first.0, first.1] {
        let error = error_of(first.force(), line);
        assert_eq!((error.combinator, error.kind), ("first", ErrorKind::Empty));
    }

    let line = line!();
    let unfound = all.map_segments(|row| row.find(|x| x.gt(8)));
    let error = error_of(unfound.force(), line);
    assert_eq!(
        (error.combinator, error.kind),
        ("find", ErrorKind::NotFound)
    );

    let line = line!();
    let outside = all.map_segments(|row| row.at(2));
    let error = error_of(outside.force(), line);
    let kind = ErrorKind::OutOfRange { index: 2, len: 0 };
    assert_eq!((error.combinator, error.kind), ("at", kind));

    let line = line!();
    let zero = all.map_segments(|row| row.map(|x| 8 / x));
    let error = error_of(zero.data().force(), line);
    let kind = ErrorKind::Division {
        dividend: 8,
        divisor: 0,
    };
    assert_eq!((error.combinator, error.kind), ("map", kind));

    let weights = Array::from(vec![1i64, 2]);
    let line = line!();
    let differ = all.map_segments(|row| row.zip(&weights));
    let error = error_of(differ.data().force(), line);
    let kind = ErrorKind::LengthMismatch {
        expected: 4,
        got: 2,
    };
    assert_eq!((error.combinator, error.kind), ("zip", kind));

    let line = line!();
    let differ = all.map_segments(|row| row.zip(&row.filter(|x| x.gt(1))));
    let error = error_of(differ.data().force(), line);
    let kind = ErrorKind::LengthMismatch {
        expected: 4,
        got: 2,
    };
    assert_eq!((error.combinator, error.kind), ("zip", kind));

    let line = line!();
    let slice = all.map_segments(|row| row.slice(1..2));
    let error = error_of(slice.data().force(), line);
    let kind = ErrorKind::SliceRange {
        start: 1,
        end: 2,
        len: 0,
    };
    assert_eq!((error.combinator, error.kind), ("slice", kind));

    let line = line!();
    let written = all.map_segments(|row| row.scatter(&row, &row));
    let error = error_of(written.data().force(), line);
    assert_eq!(error.combinator, "scatter");
    assert_eq!(error.kind, ErrorKind::OutOfRange { index: 4, len: 4 });

    let line = line!();
    let cut = all.map_segments(|row| Segmented::new(&Array::from(vec![1u64, 2]), &row).sum_s());
    let error = error_of(cut.data().force(), line);
    assert_eq!(error.combinator, "sum_s");
    assert_eq!(error.kind, ErrorKind::Segments { needed: 3, room: 4 });

    let line = line!();
    let join = |row: Array<i64>| row.scatter_with(&row, &row, |a, b| a + b * &row.sum());
    let joined = all.map_segments(|row| (join(row.clone()), join(row).filter(|x| x.gt(0)).sum()));
    for error in [joined.0.data().force().err(), joined.1.force().err()] {
        let error = error_of(error.map_or(Ok(()), Err), line);
        let expected = ("scatter_with", ErrorKind::NotNested);
        assert_eq!((error.combinator, error.kind), expected);
    }

    // Lengths that lie are found where the data is read.
    let wrong = Segmented::new(&Array::from(vec![2u64, 9]), &Array::from(vec![1i64, 2, 3]));
    let error = error_of(wrong.map_segments(|row| row.reverse()).data().force(), None);
    assert_eq!(error.kind, ErrorKind::Segments { needed: 9, room: 1 });
}

#[test]
fn a_placeholder_that_leaks_is_an_error() {
    let all = Segmented::from_vecs(ints());
    let mut leaked = None;
    let _ = all.map_segments(|row| {
        leaked = Some(row.map(|x| x + 1));
        row.sum()
    });
    let leaked = leaked.unwrap();
    let error = error_of(leaked.force(), None);
    assert_eq!(error.kind, ErrorKind::LeakedArray);
    let elsewhere = all.map_segments(|row| row.map(|x| x + &leaked.sum()));
    let error = error_of(elsewhere.data().force(), None);
    assert_eq!(error.kind, ErrorKind::LeakedArray);
    let prepared = prepare(|xs: Array<i64>| xs.map(|x| x + &leaked.sum()));
    assert!(prepared.is_err());
    // Forced inside of the closure.
    let inside = all.map_segments(|row| {
        assert!(row.sum().force().is_err());
        row.sum()
    });
    assert_eq!(inside.force().unwrap(), [9, 0, 5, 17, 0]);
}

#[test]
fn in_a_prepared_program() {
    let program = prepare(|(lengths, data): (Array<u64>, Array<f64>)| {
        let rows = Segmented::new(&lengths, &data);
        rows.map_segments(|row| row.map(|x| x - &row.mean()))
            .data()
            .clone()
    });
    let program = program.unwrap();
    let centred = program.call(&(
        Array::from(vec![2u64, 1]),
        Array::from(vec![1.0f64, 3.0, 7.0]),
    ));
    assert_eq!(centred.unwrap(), [-1.0, 1.0, 0.0]);
}

/// Segments that are longer than a chunk, of which parts are joined.
#[test]
fn long_segments() {
    let lengths = [50_000usize, 0, 70_001, 3, 16_384];
    let n: usize = lengths.iter().sum();
    let mut numbers = (0..n as i64).map(|i| (i * 7919) % 1013);
    let rows: Vec<Vec<i64>> = lengths
        .iter()
        .map(|n| numbers.by_ref().take(*n).collect())
        .collect();
    let all = Segmented::from_vecs(rows.clone());
    for engine in [Engine::interp(), Engine::jit()] {
        let (most, from, in_order, states) = all.map_segments(|row| {
            let (m, n) = (row.sum() % 1000, row.len().map(|n| n.cast::<i64>() % 977));
            (
                row.fold(0, |a, b| a.max(b).min(&m)),
                row.fold(&n, |a, b| a.max(b)),
                row.fold_seq(&n, |a, x| (a * 2 + x * &n) % 10_007),
                row.aggregate(&n, |s, x| s.max(x), |s, t| s.max(t)),
            )
        });
        let (scans, ended) = all.map_segments(|row| {
            let m = row.sum() % 1000 + 5;
            (
                row.scan_exclusive(0, |a, b| a.max(b).min(&m)).sum(),
                row.map(|x| 1_000_000 / (x - 5000))
                    .take_while(|x| x.ne(-250))
                    .len(),
            )
        });
        let results = (&most, &from, &in_order, &states, &scans, &ended).force_with(&engine);
        let (most, from, in_order, states, scans, ended) = results.unwrap();
        for (k, row) in rows.iter().enumerate() {
            let (sum, n) = (row.iter().sum::<i64>(), row.len() as i64 % 977);
            let largest = row.iter().copied().max().unwrap_or(0);
            assert_eq!(most[k], largest.min(sum % 1000));
            assert_eq!((from[k], states[k]), (largest.max(n), largest.max(n)));
            let digits = |a, x: &i64| (a * 2 + x * n) % 10_007;
            assert_eq!(in_order[k], row.iter().fold(n, digits));
            let (mut before, mut total) = (0, 0);
            for x in row {
                total += before;
                before = before.max(*x).min(sum % 1000 + 5);
            }
            assert_eq!(scans[k], total);
            let before = row.iter().take_while(|x| 1_000_000 / (**x - 5000) != -250);
            assert_eq!(ended[k], before.count() as u64);
        }
    }
}

/// Graphs may be deep.
#[test]
fn ten_thousand_steps() {
    let all = Segmented::from_vecs(vec![vec![1i64, 2], vec![3]]);
    let deep = all.map_segments(|row| {
        let mut at = row;
        for _ in 0..10_000 {
            at = at.map(|x| x + 1);
        }
        at
    });
    drop(deep);
}
