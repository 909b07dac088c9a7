//! Captured values of closures, and segments of segments.

use super::*;

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
    // Streams: data with its lengths.
    let (a, b) = (xs.filter(|x| x.gt(1)), ys.filter(|y| y.gt(10)));
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
    // Each element repeated by its own value, in pieces.
    let nested = all.map_segments(|row| {
        let lengths = row.map(|x| x.cast::<u64>());
        Segmented::replicate(&lengths, &row)
    });
    let expected: Vec<Vec<Vec<i64>>> = ints()
        .iter()
        .map(|r| r.iter().map(|x| vec![*x; *x as usize]).collect())
        .collect();
    assert_eq!(nested.to_vecs().unwrap(), expected);
    scalars(&ints(), |row| Segmented::replicate(&row, &row).sum().sum());
    scalars(&ints(), |row| Segmented::indices(&row).data().sum());
    scalars(&ints(), |row| {
        Segmented::indices(&row).data().fold(7, |a, b| a.max(b))
    });
    scalars(&full(), |row| {
        Segmented::indices(&row.map(|x| x + 1)).data().max()
    });
    scalars(&ints(), |row| {
        let deep = Segmented::indices(&Segmented::indices(&row).data().clone());
        deep.data()
            .filter(|i| i.ne(1))
            .map(|i| (i, i.gt(2)))
            .fold((0, false), |(a, b), (c, d)| (a + c, b.or(d)))
    });
    arrays(&ints(), |row| Segmented::replicate(&row, &row).sum());
    arrays(&ints(), |row| {
        Segmented::replicate(&row, &row)
            .data()
            .map(|x| x + &row.sum())
    });
    arrays(&ints(), |row| {
        Segmented::indices(&row)
            .scan(0, |a, b| a + b)
            .data()
            .clone()
    });
    arrays(&ints(), |row| {
        let most = row.sum();
        Segmented::indices(&row)
            .map(|x| x.cast::<i64>())
            .fold(&most, |a, b| a + b)
    });
    arrays(&ints(), |row| {
        let most = row.sum();
        Segmented::indices(&row)
            .map(|x| x.cast::<i64>())
            .fold(0, |a, b| (a + b).min(&most))
    });
    arrays(&ints(), |row| {
        Segmented::indices(&row)
            .filter(|x| (x % 2).eq(1))
            .lengths()
            .clone()
    });
    arrays(&ints(), |row| {
        Segmented::indices(&row).filter(|x| (x % 2).eq(1)).sum()
    });
    arrays(&ints(), |row| {
        let (_, lengths) = row.group();
        Segmented::new(&lengths, &row).sum()
    });
    arrays(&ints(), |row| {
        let s = Segmented::indices(&row);
        s.append(&s).data().clone()
    });
    // Captured segments.
    let outer = Segmented::from_vecs(vec![vec![1i64, 2], vec![3]]);
    arrays(&ints(), |row| {
        outer
            .zip_with_each(&Array::from(vec![1i64, 2]), |x, y| x * y)
            .data()
            .map(|x| x + &row.sum())
    });
}

#[test]
fn nests_in_nests() {
    let all = Segmented::from_vecs(ints());
    let weights = Array::from(vec![1i64, 10, 100, 1000]);
    // The segments `0..x` of each row, weighted by the row's sum.
    let nested = all.map_segments(|row| {
        let total = row.sum();
        Segmented::indices(&row).map_segments(|piece| {
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
    // The inner closure reads the outer row, and captures from outside both.
    let reads = all.map_segments(|row| {
        let sums = Segmented::indices(&row).map_segments(|piece| {
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
        (&Segmented::indices(&row), &row)
            .map_segments(|(piece, x)| piece.map(|i| i.cast::<i64>() * &x).sum())
    });
    let expected: Vec<Vec<i64>> = ints()
        .iter()
        .map(|r| r.iter().map(|x| (0..*x).map(|i| i * x).sum()).collect())
        .collect();
    assert_eq!(scaled.to_vecs().unwrap(), expected);
    // Reversed inner segments.
    let reversed = all.map_segments(|row| {
        let pieces = Segmented::indices(&row).map_segments(|piece| piece.reverse());
        pieces.sum()
    });
    assert_eq!(reversed.to_vecs().unwrap()[0], [3, 0, 6, 0]);
    let reversed =
        all.map_segments(|row| Segmented::indices(&row).map_segments(|piece| piece.reverse()));
    assert_eq!(
        reversed.to_vecs().unwrap()[0],
        [vec![2, 1, 0], vec![0], vec![3, 2, 1, 0], vec![0]]
    );
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
