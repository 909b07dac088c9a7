//! Fusion of closures on segments into loops.

use super::*;

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

/// The maximum segment sum of each row.
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

/// One loop each, like hand-written code.
#[test]
fn nested_closures_fuse() {
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
    // In inner segments, with values of the outer segment.
    let nested = all.map_segments(|row| {
        let total = row.sum();
        let pieces = Segmented::indices(&row);
        pieces.map_segments(|piece| piece.map(|i| i.cast::<i64>() * &total).sum())
    });
    assert_eq!(data(nested), 1);
    // All elements of the inner segments.
    let flat = |r: Array<i64>| Segmented::indices(&r).data().filter(|i| i.gt(0)).sum();
    assert_eq!(loops(&all.map_segments(flat)), 1);
}
