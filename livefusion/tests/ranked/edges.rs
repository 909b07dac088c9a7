//! Errors, empty arrays, struct elements, and dynamic ranks.

use livefusion::prelude::*;
use livefusion::{Error, ErrorKind, Result};

fn here(e: &Error) -> bool {
    e.location.is_some_and(|l| l.file().ends_with("edges.rs"))
}

#[test]
fn the_first_mistake_comes_out() {
    let wrong = Array::from_vec((2, 2), vec![1i64; 5]);
    let line = wrong.force().unwrap_err();
    assert!(here(&line));
    let others = [
        wrong.transpose().force().unwrap_err(),
        wrong.along(0).sum().force().unwrap_err(),
        wrong.slice((0, 5)).force().unwrap_err(),
        wrong
            .stencil2(Boundary::Wrap, |[[a]]| a)
            .force()
            .unwrap_err(),
        wrong.matmul(&wrong).force().unwrap_err(),
        wrong.map(|x| x + 1).sum().force().unwrap_err(),
        wrong.along(7).cumsum().force().unwrap_err(),
        generate(2, |i| wrong.at((i, i))).force().unwrap_err(),
        wrong.at((0, 0)).force().unwrap_err(),
        wrong.backpermute(1, |i| (i, i)).force().unwrap_err(),
        wrong.broadcast((.., .., 2)).force().unwrap_err(),
        wrong.to_segmented().sum().force().unwrap_err(),
        concatenate(1, [&wrong, &wrong]).force().unwrap_err(),
        (&wrong + &wrong).force().unwrap_err(),
        wrong.flatten().force().unwrap_err(),
        wrong.len().force().unwrap_err(),
        wrong.fold1(|a, b| a + b).force().unwrap_err(),
        wrong.enumerate().force().unwrap_err(),
        wrong.along(0).scan1(|a, b| a / b).force().unwrap_err(),
        wrong
            .along(7)
            .scan_right(0, |a, b| a + b)
            .force()
            .unwrap_err(),
        wrong.select(0, &iota(1)).force().unwrap_err(),
        wrong
            .permute(&wrong, |a, _| a, |(i, j)| i.ne(j).then_some((j, i)))
            .force()
            .unwrap_err(),
        wrong.reshape(3).force().unwrap_err(),
        wrong.clone().into_dyn().force().unwrap_err(),
        generate(wrong.shape(), |(i, _)| i)
            .sum()
            .force()
            .err()
            .unwrap_or(line.clone()),
    ];
    for other in others {
        assert_eq!(other, line);
    }
}

#[test]
fn empty_arrays() -> Result<()> {
    let n = Array::from(vec![1i64]).filter(|x| x.gt(1)).len();
    for a in [
        generate((0u64, 3), |(i, j)| i + j),
        generate((&n, 3), |(i, j)| i + j),
    ] {
        assert_eq!(a.force()?.shape(), [0, 3]);
        assert_eq!(a.along(0).sum().force()?, [0, 0, 0]);
        assert!(a.along(1).sum().force()?.is_empty());
        assert_eq!(a.transpose().force()?.shape(), [3, 0]);
        assert_eq!(a.transpose().along(1).sum().force()?, [0, 0, 0]);
        assert_eq!(a.transpose().matmul(&a).force()?, [[0; 3]; 3]);
        assert_eq!(a.matmul(&a.transpose()).force()?.shape(), [0, 0]);
        assert_eq!(a.along(0).cumsum().force()?.shape(), [0, 3]);
        assert_eq!(a.along(0).reverse().roll(0, 3).force()?.shape(), [0, 3]);
        assert_eq!(
            a.stencil2(Boundary::Mirror, |[[x], [y]]| x + y)
                .force()?
                .shape(),
            [0, 3]
        );
        assert_eq!(a.pad([(0, 1), (0, 0)], 4u64).force()?, [[4, 4, 4]]);
        assert_eq!(a.slice((.., 1..)).force()?.shape(), [0, 2]);
        assert!(a.along(0).mean().force()?.iter().all(|x| x.is_nan()));
        assert!(a.along(0).max().force().is_err());
        assert!(a.along(0).min_index().force().is_err());
        assert_eq!(concatenate(0, [&a, &a]).force()?.shape(), [0, 3]);
        assert_eq!(a.broadcast((2, .., ..)).force()?.shape(), [2, 0, 3]);
        assert_eq!(a.diag().len().force()?, 0);
    }
    Ok(())
}

#[test]
fn lengths_of_rank_1_are_checked_when_they_are_known() -> Result<()> {
    let late = |n: u64| iota(9).filter(move |x| x.lt(n)).len();
    let a = generate((2, 3), |(i, j)| i + j);
    assert_eq!(a.reshape(late(6)).force()?, [0, 1, 2, 1, 2, 3]);
    let wrong = a.reshape(late(5)).force().unwrap_err();
    assert!(
        matches!(wrong.kind, ErrorKind::LengthMismatch { .. }) && here(&wrong),
        "{wrong}"
    );
    let none = generate((late(0), 0), |(i, j)| i + j);
    assert!(none.along(0).min().force()?.is_empty() && none.along(1).min().force()?.is_empty());
    Ok(())
}

#[test]
fn elements_of_several_fields() -> Result<()> {
    let a = generate((3, 2), |(i, j)| (i, (j, i.cast::<f64>() * 0.5)));
    let b = a.transpose().force()?;
    assert_eq!(b.get((1, 2)), Some((2, (1, 1.0))));
    let last = a
        .along(0)
        .fold((0u64, (0u64, 0.0)), |(i, (j, x)), (k, (l, y))| {
            (i + k, (j.max(l), x + y))
        });
    assert_eq!(last.to_vec()?, [(3, (0, 1.5)), (3, (1, 1.5))]);
    let rows = a
        .along(1)
        .fold((0u64, (0u64, 0.0)), |(i, (j, x)), (k, (l, y))| {
            (i + k, (j.max(l), x + y))
        });
    assert_eq!(
        rows.to_vec()?,
        [(0, (1, 0.0)), (2, (1, 1.0)), (4, (1, 2.0))]
    );
    let edges = Boundary::Constant((9, (9, 9.0)));
    let moved = a.stencil2(edges, |[[before, _]]| before).force()?;
    assert_eq!(
        (moved.get((1, 0)), moved.get((1, 1))),
        (Some((9, (9, 9.0))), Some((1, (0, 0.5))))
    );
    let (n, _) = a.unzip();
    assert_eq!(n.force()?, [[0, 0], [1, 1], [2, 2]]);
    assert_eq!(moved.to_string().matches('[').count(), 4);
    Ok(())
}

#[test]
fn generate_stack_and_sum__of_ranks_known_at_run_time__are_those_of_static_ranks() -> Result<()> {
    for rank in 1..=4 {
        let shape: Vec<usize> = (2..2 + rank).collect();
        let a = generate(&shape, |i| {
            i.iter()
                .copied()
                .reduce(|a, b| 10 * a + b)
                .unwrap_or(Exp::lit(0))
        });
        let m = a.force()?;
        assert_eq!((a.rank(), m.shape()), (rank, shape.clone()));
        let last: Vec<usize> = shape.iter().map(|n| n - 1).collect();
        let number = last.iter().fold(0, |a, b| 10 * a + *b as u64);
        assert_eq!(m[last.as_slice()], number);
        let back: Vec<usize> = shape.iter().rev().copied().collect();
        assert_eq!(a.transpose().force()?.shape(), back);
        assert_eq!(a.sum().force()?, m.iter().sum::<u64>());
        let s = a.along(rank - 1).sum();
        match rank {
            1 => assert!(s.force().is_err()),
            _ => assert_eq!(s.sum().force()?, a.sum().force()?),
        }
        assert_eq!(stack(0, [&a, &a]).rank(), rank + 1);
        assert_eq!(a.along(0).at(1).force().is_ok(), rank > 1);
        assert!(a.along(rank).sum().force().is_err());
    }
    let wrong = Array::from_vec(Vec::<usize>::new(), vec![1i64])
        .force()
        .unwrap_err();
    assert!(matches!(wrong.kind, ErrorKind::Malformed { .. }) && here(&wrong));
    Ok(())
}

#[test]
fn results_stay_with_their_arrays() -> Result<()> {
    let a = generate((2, 3), |(i, j)| i + j).map(|x| x * x);
    let m = a.force()?;
    assert_eq!(a.to_string(), "[[0, 1, 4], [1, 4, 9]]");
    assert_eq!(a.along(0).sum().force()?, [1, 5, 13]);
    assert_eq!(Array::from(m).transpose().along(0).sum().force()?, [5, 14]);
    let v = vec![1.0f64, 2.0, 3.0, 4.0];
    let address = v.as_ptr();
    let b = Array::from_vec((2, 2), v);
    assert_eq!(b.to_string(), "[[1.0, 2.0], [3.0, 4.0]]");
    let forced = b.force()?;
    assert_eq!(forced.as_ptr(), address);
    drop(forced);
    let values = b.into_vec()?;
    assert_eq!(values.as_ptr(), address);
    Ok(())
}

/// A border far outside keeps all elements, or none.
#[test]
fn triangle_lower_and_triangle_upper__with_far_borders__keep_all_or_none() -> Result<()> {
    let m = Array::from([[1i64, 2], [3, 4], [5, 6]]);
    for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
        for k in [i64::MAX, i64::MAX - 1, 7] {
            let lower = m.triangle_lower(k, 0).force_with(&engine)?;
            assert_eq!(lower, [[1, 2], [3, 4], [5, 6]], "{k}");
            let upper = m.triangle_upper(k, 0).force_with(&engine)?;
            assert_eq!(upper, [[0, 0], [0, 0], [0, 0]], "{k}");
        }
        let lower = m.triangle_lower(i64::MIN, 0).force_with(&engine)?;
        assert_eq!(lower, [[0, 0], [0, 0], [0, 0]]);
    }
    Ok(())
}

/// A one-axis array of dynamic rank is one row.
#[test]
fn map_rows__of_a_dynamic_array_of_one_axis__takes_it_as_one_row() -> Result<()> {
    for xs in [vec![3i64, 1, 2], vec![]] {
        let expected: Vec<i64> = xs.iter().rev().map(|x| x + 1).collect();
        let array = Array::from(xs).into_dyn();
        for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
            let back = array.map_rows(|row| row.reverse().map(|x| x + 1));
            assert_eq!(back.force_with(&engine)?.to_vec()?, expected);
        }
        // A delayed scalar is not an array, as for `sum`.
        let e = array.map_rows(|row| row.sum()).force().unwrap_err();
        assert!(
            matches!(e.kind, ErrorKind::Malformed { .. }) && here(&e),
            "{e}"
        );
    }
    Ok(())
}
