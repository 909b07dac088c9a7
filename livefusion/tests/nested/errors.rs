//! Errors in closures, and their reported locations.

use super::*;

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
    let cut = all.map_segments(|row| Segmented::new(&Array::from(vec![1u64, 2]), &row).sum());
    let error = error_of(cut.data().force(), line);
    assert_eq!(error.combinator, "sum");
    assert_eq!(error.kind, ErrorKind::Segments { needed: 3, room: 4 });

    let line = line!();
    let join = |row: Array<i64>| row.scatter_with(&row, &row, |a, b| a + b * &row.sum());
    let joined = all.map_segments(|row| (join(row.clone()), join(row).filter(|x| x.gt(0)).sum()));
    for error in [joined.0.data().force().err(), joined.1.force().err()] {
        let error = error_of(error.map_or(Ok(()), Err), line);
        let expected = ("scatter_with", ErrorKind::NotNested);
        assert_eq!((error.combinator, error.kind), expected);
    }

    // Wrong lengths are found where the data is read.
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
    // Forced inside the closure.
    let inside = all.map_segments(|row| {
        assert!(row.sum().force().is_err());
        row.sum()
    });
    assert_eq!(inside.force().unwrap(), [9, 0, 5, 17, 0]);
}
