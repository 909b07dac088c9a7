//! Zips of the same streams: the cursors of the first zip serve all zips.

use crate::common::{engines, first_numbers as numbers, shape};
use livefusion::Result;
use livefusion::prelude::*;

fn evens(n: i64) -> Array<i64> {
    numbers(n).filter(|x| (x % 2).eq(0))
}

#[test]
fn two_zips_of_the_same_sides() -> Result<()> {
    for engine in engines() {
        let (left, right) = (evens(9), numbers(7).filter(|x| x.gt(3)));
        let products = left.zip_with(&right, |l, r| l * r);
        let differences = right.zip_with(&left, |r, l| r - l);
        let both = products.zip_with(&differences, |p, d| p * 10 + d);
        let pairs = left.zip(&right).map(|(l, r)| l + r);
        let sum = differences.filter(|x| x.ne(1)).sum();
        let roots = [both.node(), pairs.node(), sum.node()];
        assert_eq!(shape(&roots)?, (1, 2));
        let (both, pairs, sum) = (&both, &pairs, &sum).force_with(&engine)?;
        assert_eq!(both.to_vec()?, [82, 201, 360, 559]);
        assert_eq!((pairs.to_vec()?, sum), (vec![6, 9, 12, 15], 1));
    }
    Ok(())
}

#[test]
fn equal_zips_of_elements_of_segments() -> Result<()> {
    for engine in engines() {
        let left = Segmented::replicate(&Array::from(vec![2u64, 0, 3]), &numbers(3));
        let right = Segmented::replicate(&Array::from(vec![4u64, 1]), &numbers(2));
        let (left, right) = (left.data(), right.data());
        let dot = left.zip_with(right, |l, r| l * r).sum();
        let most = left.zip_with(right, |l, r| l.max(r));
        let same = left.zip_with(right, |l, r| l.eq(r));
        let roots = [dot.node(), most.node(), same.node()];
        assert_eq!(shape(&roots)?, (1, 2));
        let (dot, most, same) = (&dot, &most, &same).force_with(&engine)?;
        assert_eq!((dot, most.to_vec()?), (14, vec![1, 1, 3, 3, 3]));
        assert_eq!(same.to_vec()?, [true, true, false, false, false]);
    }
    Ok(())
}

/// The first zip's loop needs a second zip, through a zip of both. The two share an input, or the
/// second one is in memory.
#[test]
fn zips_of_equal_zips() -> Result<()> {
    for engine in engines() {
        let (left, right) = (evens(9), numbers(7).filter(|x| x.gt(3)));
        let products = left.zip_with(&right, |l, r| l * r);
        let sums = left.zip_with(&right, |l, r| l + r);
        let apart = products
            .filter(|x| x.gt(8))
            .zip_with(&sums.filter(|x| x.lt(15)), |p, s| p - s);
        let others = numbers(5).filter(|x| x.gt(1));
        let on_a_side = products
            .zip_with(&sums, |p, s| p + s)
            .zip_with(&others, |x, o| x * o);
        let (apart, on_a_side) = (&apart, &on_a_side).force_with(&engine)?;
        assert_eq!(apart.to_vec()?, [14, 27, 44]);
        assert_eq!(on_a_side.to_vec()?, [28, 87, 192, 355]);
    }
    Ok(())
}

/// A second zip that needs a fold of the first one runs in a later loop. It reads the inputs from
/// memory.
#[test]
fn an_equal_zip_that_waits() -> Result<()> {
    for engine in engines() {
        let (left, right) = (evens(9), numbers(7).filter(|x| x.gt(3)));
        let dot = left.zip_with(&right, |l, r| l * r).sum();
        let shares = left.zip_with(&right, |l, r| l * r * 100 / &dot);
        assert_eq!(shape(&[shares.node(), dot.node()])?.0, 2);
        let (shares, dot) = (&shares, &dot).force_with(&engine)?;
        assert_eq!((shares.to_vec()?, dot), (vec![6, 16, 30, 46], 120));
    }
    Ok(())
}

/// A second zip needed first, as segment lengths above the loop's rate, runs after the first zip.
#[test]
fn an_equal_zip_that_is_placed_first() -> Result<()> {
    for engine in engines() {
        let none = Array::from(Vec::<u32>::new());
        let zeros = generate(none.len(), |_| 0.0f64);
        let left = Array::from(Vec::<i64>::new()).map(|x| x.cast::<u64>());
        let right = none.pack(&Array::from(Vec::<bool>::new()));
        let first = left.zip_with(&right, |a, _| a.cast::<f64>());
        let lengths = left.zip_with(&right, |a, _| a);
        let data = Array::from(Vec::<bool>::new()).zip_with(&first, |_, a| a.cast::<u32>());
        let rows = Segmented::new(&lengths, &data).scan(0, |a, b| a + b);
        let ones = generate(rows.data().len(), |_| 1.0f64);
        let both = ones.zip_with(&Array::from(Vec::<f64>::new()), |a, b| a + b);
        let (zeros, data, both) = (&zeros, &data, &both).force_with(&engine)?;
        assert_eq!((zeros.len(), data.len(), both.len()), (0, 0, 0));
    }
    Ok(())
}
