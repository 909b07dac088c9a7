//! Shapes, results, indices.

use livefusion::prelude::*;
use livefusion::{ErrorKind, Result};

/// A small matrix in memory.
fn matrix(n: usize, m: usize) -> Array<f64, Ix2> {
    Array::from_vec((n, m), (0..n * m).map(|k| (k * k % 17) as f64).collect())
}

#[test]
fn generate_of_every_rank() -> Result<()> {
    let a = generate((2, 3), |(i, j)| 10 * i + j).force()?;
    assert_eq!(a, [[0, 1, 2], [10, 11, 12]]);
    let n = 2usize;
    let b = generate((n, 2u8, 2i64), |(i, j, k)| 100 * i + 10 * j + k).force()?;
    assert_eq!(b, [[[0, 1], [10, 11]], [[100, 101], [110, 111]]]);
    let c = generate([2, 1, 1, 2], |(i, _, _, l)| (i, l)).force()?;
    assert_eq!(
        (c.shape(), c.get((1, 0, 0, 1))),
        ([2, 1, 1, 2], Some((1, 1)))
    );
    let d = generate((1, 2, 1, 2, 1), |(_, j, _, l, _)| 2 * j + l).force()?;
    assert_eq!((d.to_vec()?, d[(0, 1, 0, 1, 0)]), (vec![0, 1, 2, 3], 3));
    let e = generate((1, 2, 1, 2, 1, 1), |i| 2 * i.1 + i.3).force()?;
    assert_eq!(e[(0, 1, 0, 1, 0, 0)], 3);
    let f = generate(vec![2, 3], |i| i[0] * i[1]).force()?;
    assert_eq!((f.shape(), f[&[1, 2]]), (vec![2, 3], 2));
    Ok(())
}

#[test]
fn shapes_of_delayed_lengths() -> Result<()> {
    let xs = Array::from(vec![3i64, -1, 4, 1]);
    let n = xs.filter(|x| x.gt(0)).len();
    let a = generate((&n, 2), |(i, j)| i + j);
    assert_eq!(a.force()?, [[0, 1], [1, 2], [2, 3]]);
    assert_eq!(a.shape().force()?, [3, 2]);
    let b = (&a + 1u64).map(|x| 2 * x);
    let (b, total) = (&b, &n).force()?;
    assert_eq!((b.shape(), total), ([3, 2], 3));
    let wrong = Array::from_vec((&n, 3), vec![1i64; 8]).force();
    assert!(matches!(
        wrong.unwrap_err().kind,
        ErrorKind::Malformed { .. }
    ));
    Ok(())
}

/// Arrays whose shapes are known only at run time are compared axis by axis.
#[test]
fn delayed_shapes_that_differ() -> Result<()> {
    let late = |n: u64| {
        let xs = Array::from((0..9).collect::<Vec<u64>>());
        xs.filter(move |x| x.lt(n)).len()
    };
    let a = generate((&late(2), &late(3)), |(i, j)| i + j);
    let b = generate((&late(3), &late(2)), |(i, j)| i * j);
    let differ = |e: livefusion::Error| {
        let (expected, got) = (2, 3);
        assert_eq!(e.kind, ErrorKind::LengthMismatch { expected, got });
    };
    differ((&a + &b).force().unwrap_err());
    differ(a.zip(&b).map(|(x, y)| x * y).sum().force().unwrap_err());
    assert_eq!((&a + b.transpose()).force()?, [[0, 1, 2], [1, 3, 5]]);
    let sums = prepare(|(x, y): (Array<f64, Ix2>, Array<f64, Ix2>)| (&x + &y).along(1).sum())?;
    let (x, y) = (matrix(2, 3), matrix(3, 2));
    assert_eq!(sums.call(&(x.clone(), x.clone()))?, [10.0, 66.0]);
    differ(sums.call(&(x, y)).unwrap_err());
    Ok(())
}

#[test]
fn maps_operators_and_zips() -> Result<()> {
    let (a, b) = (matrix(3, 4), matrix(3, 4).map(|x| x + 0.5));
    let sum = (&a + &b).force()?;
    for i in 0..3 {
        for j in 0..4 {
            let x = ((4 * i + j) * (4 * i + j) % 17) as f64;
            assert_eq!(sum[(i, j)], x + x + 0.5);
        }
    }
    let scaled = (&a * &a.at((1, 1)) - 1.0).force()?;
    assert_eq!(scaled[(2, 3)], ((11 * 11 % 17) * 8) as f64 - 1.0);
    let pairs = zip((&a, &b)).map(|(x, y)| y - x).force()?;
    assert!(pairs.iter().all(|d| *d == 0.5));
    let wrong = (&a + &matrix(4, 3)).force().unwrap_err();
    assert_eq!(
        wrong.kind,
        ErrorKind::ShapeMismatch {
            expected: "(3, 4)".into(),
            got: "(4, 3)".into()
        }
    );
    assert!(
        wrong
            .location
            .is_some_and(|l| l.file().ends_with("core.rs"))
    );
    Ok(())
}

#[test]
fn at_and_backpermute__outside_an_axis__are_errors() -> Result<()> {
    let a = matrix(3, 4);
    assert_eq!(a.at((2, 3)).force()?, (11 * 11 % 17) as f64);
    for (i, j, index, len) in [(0, 4, 4, 4), (3, 0, 3, 3), (1u64 << 62, 0, 1 << 62, 3)] {
        let kind = a.at((i, j)).force().unwrap_err().kind;
        assert_eq!(kind, ErrorKind::OutOfRange { index, len });
        let moved = a.backpermute((1, 1), |_| (i, j)).force().unwrap_err();
        assert_eq!(moved.kind, ErrorKind::OutOfRange { index, len });
    }
    let negative = a.backpermute(2, |i| (i.cast::<i64>() - 1, 0));
    assert!(matches!(
        negative.force().unwrap_err().kind,
        ErrorKind::OutOfRange { .. }
    ));
    assert_eq!(a.backpermute(3, |i| (i, i)).force()?, [0.0, 8.0, 15.0]);
    assert_eq!(a.clone().into_dyn().at([1, 1]).force()?, 8.0);
    assert!(a.into_dyn().at([1, 1, 0]).force().is_err());
    Ok(())
}

#[test]
fn results_of_each_rank() -> Result<()> {
    let a = matrix(2, 2).force()?;
    assert_eq!(
        (a.to_string(), a.len(), a.rows().len()),
        ("[[0.0, 1.0], [4.0, 9.0]]".into(), 4, 2)
    );
    assert_eq!(
        (&(*a)[1..3], a.get((1, 1)), a.get((0, 2))),
        (&[1.0, 4.0][..], Some(9.0), None)
    );
    assert_eq!(a, [[0.0, 1.0], [4.0, 9.0]]);
    assert_ne!(a, [[0.0, 1.0, 4.0, 9.0]]);
    assert_eq!(Array::from(&a).force()?, a);
    assert_eq!(a.into_vec()?, [0.0, 1.0, 4.0, 9.0]);
    let none = generate((0, 3), |(i, j)| i + j).force()?;
    assert_eq!(
        (none.shape(), none.to_string(), none.rows().len()),
        ([0, 3], "[]".into(), 0)
    );
    let none = generate((2, 0), |(i, j)| i + j).force()?;
    assert_eq!(
        (none.shape(), none.to_string(), none.rows().len()),
        ([2, 0], "[[], []]".into(), 2)
    );
    assert_eq!(matrix(1, 2).to_string(), "[[0.0, 1.0]]");
    assert_eq!(matrix(1, 2).map(|x| x + 1.0).to_string(), "map(f64[1, 2])");
    let columns = Array::from([[[1u8, 2]], [[3, 4]]]).force()?;
    assert_eq!((columns.shape(), columns[(1, 0, 1)]), ([2, 1, 2], 4));
    Ok(())
}

#[test]
fn generate_from_vec_and_into_rank__of_shapes_that_do_not_fit__are_errors() {
    let kind = |e: Result<_>| match e {
        Err(e) => e.kind,
        Ok::<livefusion::Manifest<u64, Ix2>, _>(_) => ErrorKind::Empty,
    };
    let of = |n: i64, m: u64| kind(generate((n, m), |(i, j)| i + j).force());
    assert!(matches!(of(-1, 2), ErrorKind::Malformed { .. }));
    assert!(matches!(of(1 << 40, 1 << 40), ErrorKind::Malformed { .. }));
    let vec = Array::from_vec((2, 3), vec![1u64; 5]);
    assert!(matches!(kind(vec.force()), ErrorKind::Malformed { .. }));
    let dynamic = generate(vec![2, 3, 1], |i| i[0] + i[2]);
    assert!(matches!(
        kind(dynamic.into_rank::<Ix2>().force()),
        ErrorKind::Malformed { .. }
    ));
}

#[test]
fn programs_with_inputs_of_rank_2() -> Result<()> {
    let program = prepare(|(m, v): (Array<f64, Ix2>, Array<f64>)| {
        let [n, _] = m.shape();
        generate((&n, v.len()), |(i, j)| m.at((i, j)) + v.at(j))
    })?;
    let v = Array::from(vec![10.0, 20.0]);
    assert_eq!(
        program.call(&(matrix(2, 2), v.clone()))?,
        [[10.0, 21.0], [14.0, 29.0]]
    );
    let mut out = program.call(&(matrix(3, 2), v.clone()))?;
    assert_eq!(out.shape(), [3, 2]);
    program.call_into(&(generate((1, 2), |(i, j)| (i + j).cast()), v), &mut out)?;
    assert_eq!(out, [[10.0, 21.0]]);
    assert!(prepare(|m: Array<f64, IxDyn>| m).is_err());
    Ok(())
}

#[test]
fn into_dyn_and_into_rank__of_each_rank__give_the_same_elements() -> Result<()> {
    for (n, m) in [(0, 3), (1, 1), (3, 2)] {
        let a = matrix(n, m);
        let dynamic = a.clone().into_dyn();
        assert_eq!(dynamic.rank(), 2);
        let back = dynamic.clone().into_rank::<Ix2>();
        let (back, dynamic) = (&back, &dynamic).force()?;
        assert_eq!(dynamic.shape(), vec![n, m]);
        assert_eq!(back, a.force()?);
        assert_eq!(dynamic.to_vec()?, a.to_vec()?);
    }
    let xs = Array::from(vec![1i64, 2]).into_dyn();
    let error = xs.into_rank::<Ix2>().force().expect_err("one axis");
    assert_eq!(error.combinator, "into_rank");
    let text = error.to_string();
    assert!(text.contains("rank 2") && text.contains("rank 1"), "{text}");
    Ok(())
}

#[test]
fn from_vec__of_each_shape__wraps_rows() -> Result<()> {
    let rows = Array::from_vec((2, 3), vec![1u8, 2, 3, 4, 5, 6]);
    assert_eq!(rows.force()?, [[1, 2, 3], [4, 5, 6]]);
    assert_eq!(Array::from_vec(2, vec![1i64, 2]).force()?, [1, 2]);
    let none = Array::from_vec((3, 0), Vec::<i64>::new());
    assert_eq!(none.force()?.shape(), [3, 0]);
    let error = Array::from_vec((2, 2), vec![1i64; 3]).force();
    assert_eq!(error.expect_err("3 elements").combinator, "from_vec");
    Ok(())
}

#[test]
fn len__of_any_rank__counts_all_elements() -> Result<()> {
    for engine in crate::common::engines() {
        for (n, m) in [(0, 3), (1, 1), (3, 2)] {
            let a = matrix(n, m);
            let large = a.flatten().filter(|x| x.gt(0.0));
            let expected = a.to_vec()?.iter().filter(|x| **x > 0.0).count() as u64;
            let lengths = (&a.len(), &a.flatten().len(), &large.len()).force_with(&engine)?;
            assert_eq!(lengths, ((n * m) as u64, (n * m) as u64, expected));
            let rows = a.to_segmented();
            assert_eq!(rows.len().force_with(&engine)?, n as u64);
        }
    }
    Ok(())
}
