//! Zips of streams with early exits: `take_while` and `take` on an input.

use crate::common::{engines, first_numbers as numbers};
use livefusion::ast::{BodyBuilder, Builder};
use livefusion::prelude::*;
use livefusion::{ErrorKind, Result};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// The elements up to and including the first zero.
fn until_zero(xs: &Array<i64>) -> Array<i64> {
    let mut b = BodyBuilder::new(&[Ty::I64]);
    let (x, zero) = (b.param(0), b.lit(Const::int(Ty::I64, 0)));
    let test = b.op(Op::Ne, &[x, zero]);
    let until = Builder::named("until").take_while(xs.node(), b.finish(&[test]), true);
    Array::from_node(until).expect("numbers")
}

fn zipped(left: &Array<i64>, right: &Array<i64>) -> Array<i64> {
    left.zip_with(right, |l, r| l * 10 + r)
}

/// Runs a program everywhere. It must be one loop with only its result in memory.
fn one_loop(build: impl Fn() -> Array<i64>, want: &[i64]) -> Result<()> {
    for engine in engines() {
        let all = build();
        let loops = engine.explain(&[all.node().clone()])?.loops;
        let written: usize = loops.iter().map(|l| l.arrays_written).sum();
        assert_eq!((loops.len(), written), (1, 1));
        assert_eq!(all.force_with(&engine)?, want);
    }
    Ok(())
}

#[test]
fn sides_that_a_test_ends() -> Result<()> {
    let others = || numbers(9).filter(|x| (x % 3).eq(0));
    // Elements after the exit are not divided by.
    let until = |n: i64| numbers(9).take_while(move |x| (x / (x - 6)).le(0).and(x.le(n)));
    one_loop(|| zipped(&until(3), &others()), &[13, 26, 39])?;
    let last = || until_zero(&Array::from(vec![5i64, 7, 0, 8]));
    one_loop(|| zipped(&last(), &others()), &[53, 76, 9])?;
    one_loop(|| zipped(&others(), &last()), &[35, 67, 90])?;
    // The last element is delivered, and is known to be the last.
    let kept = || Array::from(vec![5i64, 1, 7, 1, 0, 8]).filter(|x| x.ne(1));
    one_loop(|| zipped(&until_zero(&kept()), &others()), &[53, 76, 9])?;
    let filtered = || {
        numbers(99)
            .take_while(|x| x.lt(7))
            .filter(|x| (x % 2).eq(0))
    };
    one_loop(|| zipped(&filtered(), &others()), &[23, 46, 69])?;
    let kept = || {
        numbers(99)
            .filter(|x| (x % 2).eq(0))
            .take_while(|x| x.lt(7))
    };
    one_loop(|| zipped(&kept(), &others()), &[23, 46, 69])
}

#[test]
fn sides_that_are_cut_short() -> Result<()> {
    let others = || numbers(9).filter(|x| (x % 3).eq(0));
    let three = || numbers(99).filter(|x| (x % 2).eq(0)).take(3);
    one_loop(|| zipped(&three(), &others()), &[23, 46, 69])?;
    // Takes three elements in all; the segments give two each.
    let spread = || {
        let runs = Segmented::replicate(&Array::from(vec![2u64, 0, 2, 5]), &numbers(4));
        runs.data().take(3)
    };
    one_loop(|| zipped(&spread(), &others()), &[13, 16, 39])?;
    let rows = || {
        let rows = Segmented::new(&Array::from(vec![2u64, 4]), &numbers(6));
        rows.scan(0, |a, b| a + b).data().take_while(|x| x.lt(7))
    };
    one_loop(|| zipped(&rows(), &others()), &[13, 36, 39])
}

#[test]
fn segments_that_end() -> Result<()> {
    let others = || numbers(9).filter(|x| (x % 3).eq(0));
    let spread = || {
        let counts = Array::from(vec![1u64, 0, 2, 9, 3]).take_while(|n| n.lt(5));
        Segmented::replicate(&counts, &counts)
            .data()
            .map(|x| x.cast::<i64>())
    };
    one_loop(|| zipped(&spread(), &others()), &[13, 26, 29])
}

#[test]
fn ends_that_differ_are_found() {
    let others = || numbers(9).filter(|x| (x % 3).eq(0));
    for n in [2, 4] {
        for engine in engines() {
            let left = numbers(9).take_while(|x| x.le(n));
            let error = zipped(&left, &others())
                .force_with(&engine)
                .expect_err("lengths");
            let is = matches!(error.kind, ErrorKind::LengthMismatch { .. });
            assert!(is, "{n}: {error:?}");
        }
    }
}
