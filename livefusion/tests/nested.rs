//! Closures on whole segments: values, loops, errors.

#[path = "nested/around.rs"]
mod around;
#[path = "nested/blocks.rs"]
mod blocks;
#[path = "nested/choices.rs"]
mod choices;
#[path = "nested/combinators.rs"]
mod combinators;
#[path = "nested/ends.rs"]
mod ends;
#[path = "nested/errors.rs"]
mod errors;
#[path = "nested/fusion.rs"]
mod fusion;
#[path = "nested/loops.rs"]
mod loops;
#[path = "nested/sizes.rs"]
mod sizes;

use crate::common::engines;
use livefusion::nested::BlockBytes;
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

/// The non-empty rows, for combinators that need an element.
fn full() -> Vec<Vec<i64>> {
    ints().into_iter().filter(|r| !r.is_empty()).collect()
}

/// Asserts that the closure on all segments equals the closure on each segment alone.
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
    // Computed data and lengths.
    let computed = Segmented::from_vecs(rows.to_vec()).filter(|_| true);
    assert_eq!(
        computed.map_segments(&f).to_vecs().expect("computed"),
        alone
    );
    all()
}

/// Asserts that the closure on all segments equals the closure on each alone, on every engine.
fn each_engine<T, U>(rows: &[Vec<T>], f: impl Fn(Array<T>) -> Array<U>)
where
    T: Elt + Clone,
    U: Elt + PartialEq + Debug,
{
    let alone = arrays(rows, &f).to_vecs().expect("of all rows");
    let lens: Vec<u64> = alone.iter().map(|r| r.len() as u64).collect();
    for engine in engines() {
        let rows = || Segmented::from_vecs(rows.to_vec());
        let together = rows().map_segments(&f);
        // Loops over arrays in the closure run on two blocks of segments.
        let blocks = BlockBytes { all: 0, block: 24 }.with(|| rows().map_segments(&f));
        for all in [together, blocks] {
            let (lengths, data) = (all.lengths(), all.data())
                .force_with(&engine)
                .expect("of all rows");
            assert_eq!(lengths, lens[..]);
            assert_eq!(data.into_vec().expect("the elements"), alone.concat());
        }
    }
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
    let computed = Segmented::from_vecs(rows.to_vec()).filter(|_| true);
    assert_eq!(computed.map_segments(&f).to_vec().expect("computed"), alone);
    all()
}

fn loops(result: &impl Force) -> usize {
    result.explain().unwrap().loops.len()
}

/// Returns the error of a combinator, which must be called after `line` of the test file, or
/// anywhere in that file.
#[track_caller]
fn error_of<T: Debug>(result: Result<T, Error>, line: impl Into<Option<u32>>) -> Error {
    let error = result.expect_err("an error");
    let location = error.location.expect("a place");
    assert_eq!(location.file(), livefusion::Loc::caller().file(), "{error}");
    if let Some(line) = line.into() {
        assert!((line + 1..line + 4).contains(&location.line()), "{error}");
    }
    error
}
