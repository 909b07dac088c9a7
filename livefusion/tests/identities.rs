//! Reorderings and parts that change nothing: the result is the array itself.

use livefusion::prelude::*;
use livefusion::prepare::prepare_with;
use livefusion::{ErrorKind, Result};
use std::sync::Arc;

fn is_same<T: Elt, D: Rank, E: Rank>(a: &Array<T, D>, b: &Array<T, E>) -> bool {
    Arc::ptr_eq(a.node(), b.node())
}

/// Arrays of rank 1: in memory, computed, with an unknown length.
fn arrays() -> [Array<i64>; 3] {
    let xs = Array::from(vec![3i64, 1, 4, 1, 5]);
    [xs.clone(), xs.map(|x| x % 7 * x), xs.filter(|x| x.gt(1))]
}

#[test]
fn identities__reorderings_of_rank_1__are_the_array() -> Result<()> {
    for (k, xs) in arrays().iter().enumerate() {
        let len = xs.len();
        let same = [
            ("reverse", xs.reverse().reverse()),
            ("reverse twice", xs.reverse().reverse().reverse().reverse()),
            ("drop", xs.drop(0)),
            ("shift", xs.shift(0, 9)),
            ("append", xs.append(&Array::from(Vec::<i64>::new()))),
            ("append to", Array::from(Vec::<i64>::new()).append(xs)),
            ("backpermute", xs.backpermute(&len, |i| i)),
            ("generate", generate(&len, |i| xs.at(i))),
            ("map", xs.map(|x| x)),
        ];
        for (name, ys) in &same {
            assert!(is_same(ys, xs), "{name} of {k}");
        }
    }
    let xs = Array::from(vec![3i64, 1, 4]);
    assert!(is_same(&xs.take(3), &xs) && is_same(&xs.take(9), &xs));
    assert!(is_same(&xs.roll(0, 0), &xs) && is_same(&xs.reshape(3), &xs));
    assert!(!is_same(&xs.reverse(), &xs));
    assert_eq!(xs.reverse().reverse().reverse().force()?, [4, 1, 3]);
    Ok(())
}

/// Arrays of higher rank. A transpose of another order is not the array.
#[test]
fn identities__reorderings_of_higher_rank__are_the_array() -> Result<()> {
    let m = Array::from([[1i64, 2, 3], [4, 5, 6]]);
    let square = Array::from([[1i64, 2], [3, 4]]);
    let cube = Array::from_vec((2, 3, 2), (0..12).collect::<Vec<i64>>());
    let computed = m.map(|x| x * 2);
    for m in [&m, &computed] {
        let same = [
            ("transpose", m.transpose().transpose()),
            ("rows", m.along(0).reverse().along(0).reverse()),
            ("columns", m.along(1).reverse().along(1).reverse()),
            ("order", m.permute_axes([0, 1])),
            ("reshape", m.reshape((2, 3))),
            ("backpermute", m.backpermute((2, 3), |(i, j)| (i, j))),
            ("roll", m.roll(1, 0)),
        ];
        for (name, ys) in &same {
            assert!(is_same(ys, m), "{name}");
        }
        assert!(!is_same(&m.along(0).reverse().along(1).reverse(), m));
        assert!(!is_same(&m.transpose().reshape((2, 3)), m));
    }
    let turned = cube.permute_axes([1, 2, 0]);
    assert!(is_same(&turned.permute_axes([2, 0, 1]), &cube));
    assert!(!is_same(&turned.permute_axes([1, 2, 0]), &cube));
    assert_eq!(
        turned.permute_axes([1, 2, 0]).force()?.into_vec()?,
        cube.permute_axes([2, 0, 1]).force()?.into_vec()?
    );
    assert!(!is_same(&square.transpose(), &square));
    assert_eq!(square.transpose().force()?, [[1, 3], [2, 4]]);
    assert_eq!(
        m.transpose().reshape((2, 3)).force()?,
        [[1, 4, 2], [5, 3, 6]]
    );
    // Axes of unknown lengths, in a program.
    let program = prepare_with(&Engine::interp(), |m: Array<i64, Ix2>| {
        let twice = m.transpose().transpose();
        assert!(is_same(&twice, &m));
        twice.map(|x| x + 1)
    })?;
    assert_eq!(program.call(&m)?, [[2, 3, 4], [5, 6, 7]]);
    Ok(())
}

/// Parts that are shorter, and indices that differ, are computed.
#[test]
fn identities__parts_and_other_orders__are_not_the_array() -> Result<()> {
    let xs = Array::from(vec![3i64, 1, 4]);
    assert_eq!(xs.take(2).force()?, [3, 1]);
    assert_eq!(generate(2, |i| xs.at(i)).force()?, [3, 1]);
    assert_eq!(xs.shift(1, 9).shift(-1, 9).force()?, [3, 1, 9]);
    assert_eq!(xs.take(2).reverse().reverse().force()?, [3, 1]);
    assert_eq!(xs.reverse().take(2).reverse().force()?, [1, 4]);
    assert_eq!(xs.drop(1).reverse().drop(1).reverse().force()?, [1]);
    let beyond = generate(4, |i| xs.at(i)).force().unwrap_err();
    assert!(
        matches!(beyond.kind, ErrorKind::OutOfRange { .. }),
        "{beyond}"
    );
    Ok(())
}

/// An array in error stays in error, and a trap stays a trap.
#[test]
fn identities__array_in_error__keeps_its_error() {
    let (two, three) = (Array::from(vec![1i64, 2]), Array::from(vec![1i64, 2, 3]));
    let wrong = two.zip_with(&three, |a, b| a + b);
    let trap = two.map(|x| x / (x - 1));
    let empty = Array::from(Vec::<i64>::new());
    let all = |xs: &Array<i64>| {
        [
            xs.reverse().reverse(),
            xs.drop(0),
            xs.shift(0, 1),
            xs.append(&empty),
            empty.append(xs),
            xs.reshape((1, 2)).transpose().transpose().reshape(2),
        ]
    };
    for ys in all(&wrong) {
        let error = ys.force().unwrap_err();
        assert!(
            matches!(error.kind, ErrorKind::LengthMismatch { .. }),
            "{error}"
        );
    }
    for ys in all(&trap) {
        let error = ys.force().unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Division { .. }), "{error}");
    }
}
