//! Errors report invalid indices and lengths as the original integers.

use crate::common::engines;
use livefusion::Error;
use livefusion::error::ErrorKind;
use livefusion::prelude::*;
use livefusion::prepare::prepare_with;

/// The index of an out-of-range error, on an engine. The program runs twice, so that the second run
/// hits the cache.
fn index<T: Force>(of: impl Fn() -> T, engine: &Engine) -> i128 {
    let told = || match of()
        .force_with(engine)
        .map(|_| ())
        .expect_err("outside")
        .kind
    {
        ErrorKind::OutOfRange { index, .. } => index,
        other => panic!("{other}"),
    };
    let first = told();
    assert_eq!(told(), first);
    first
}

#[test]
fn index_of_an_unsigned_type_is_told_as_an_unsigned_one() {
    let most = i128::from(u64::MAX);
    let xs = Array::from(vec![1.5f64, 2.5]);
    let table = Array::from([[1u8, 2], [3, 4]]);
    let rows = Segmented::from_vecs(vec![vec![1.5f64, 2.5]]);
    let (at, one) = (Array::from(vec![u64::MAX]), Array::from(vec![0.5f64]));
    for engine in engines() {
        let engine = &engine;
        assert_eq!(index(|| xs.gather(&at), engine), most);
        assert_eq!(
            index(|| xs.gather(&at.map(|i| i.cast::<usize>())), engine),
            most
        );
        assert_eq!(index(|| at.map(|i| xs.at(i) + 1.0), engine), most);
        assert_eq!(index(|| xs.at(u64::MAX), engine), most);
        assert_eq!(index(|| at.map(|i| table.at((1u64, i))), engine), most);
        assert_eq!(index(|| xs.scatter(&at, &one), engine), most);
        assert_eq!(
            index(|| xs.scatter_with(&at, &one, |a, b| a + b), engine),
            most
        );
        assert_eq!(index(|| xs.update(u64::MAX, 1.0), engine), most);
        assert_eq!(
            index(
                || one.reduce_by_index(
                    &at,
                    Bins {
                        count: 3,
                        start: 0.0
                    },
                    |a, b| a + b
                ),
                engine
            ),
            most
        );
        assert_eq!(
            index(
                || one.scan_by_index(
                    &at,
                    Bins {
                        count: 3,
                        start: 0.0
                    },
                    |a, b| a + b
                ),
                engine
            ),
            most
        );
        let within = Segmented::from_vecs(vec![vec![u64::MAX]]);
        assert_eq!(index(|| rows.gather(&within).data().clone(), engine), most);
        assert_eq!(
            index(|| Array::from(vec![u64::MAX - 1]).bincount(3), engine),
            most - 1
        );
    }
}

#[test]
fn index_of_a_signed_type_is_told_as_a_signed_one() {
    let xs = Array::from(vec![1.5f64, 2.5]);
    let rows = Segmented::from_vecs(vec![vec![1.5f64, 2.5]]);
    let (at, one) = (Array::from(vec![-1i64]), Array::from(vec![0.5f64]));
    let small = Array::from(vec![-3i8]);
    for engine in engines() {
        let engine = &engine;
        assert_eq!(index(|| xs.gather(&at), engine), -1);
        assert_eq!(index(|| xs.gather(&small), engine), -3);
        assert_eq!(index(|| small.map(|i| xs.at(i - 1) * 2.0), engine), -4);
        assert_eq!(index(|| xs.scatter(&small, &one), engine), -3);
        assert_eq!(
            index(|| xs.scatter_with(&at, &one, |a, b| a + b), engine),
            -1
        );
        assert_eq!(index(|| small.bincount(3), engine), -3);
        // A literal is reported as written.
        assert_eq!(
            index(|| one.map(|x| x + xs.at(Exp::lit(-2i64))), engine),
            -2
        );
        // The indices are in memory before their use.
        let sorted = Array::from(vec![-5i32, 1]).sort();
        let two = Array::from(vec![0.5f64, 0.25]);
        assert_eq!(index(|| xs.scatter(&sorted, &two), engine), -5);
        let within = Segmented::from_vecs(vec![vec![-2i64]]);
        assert_eq!(index(|| rows.gather(&within).data().clone(), engine), -2);
    }
}

#[test]
fn lengths_of_segments_are_told_by_their_type() {
    let xs = Array::from(vec![1.5f64, 2.5]);
    let needed = |error: Error| match error.kind {
        ErrorKind::Segments { needed, .. } => needed,
        other => panic!("{other}"),
    };
    for engine in engines() {
        let most = Segmented::new(&Array::from(vec![u64::MAX]), &xs).sum();
        let error = most.force_with(&engine).map(|_| ()).expect_err("too many");
        assert_eq!(needed(error), i128::from(u64::MAX));
        let negative = Segmented::new(&Array::from(vec![-1i32]), &xs).sum();
        let error = negative
            .force_with(&engine)
            .map(|_| ())
            .expect_err("too few");
        assert_eq!(needed(error), -1);
    }
}

#[test]
fn index_of_a_prepared_program_is_told_by_its_type() {
    let xs = Array::from(vec![1.5f64, 2.5]);
    for engine in engines() {
        let read = prepare_with(&engine, |at: Array<u64>| xs.gather(&at)).expect("a program");
        let error = read
            .call(&Array::from(vec![u64::MAX]))
            .map(|_| ())
            .expect_err("outside");
        let index = i128::from(u64::MAX);
        assert_eq!(error.kind, ErrorKind::OutOfRange { index, len: 2 });
    }
}
