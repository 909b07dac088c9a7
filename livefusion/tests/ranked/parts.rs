//! Slices, copies, concatenation along axes, scans, products.

use livefusion::prelude::*;
use livefusion::{ErrorKind, Result};

fn cube() -> Array<u64, Ix3> {
    generate((4, 5, 6), |(i, j, k)| 100 * i + 10 * j + k)
}

/// The same cube with lengths known only at run time.
fn late() -> Array<u64, Ix3> {
    let lens = |n: u64| {
        Array::from((0..9).collect::<Vec<u64>>())
            .filter(move |x| x.lt(n))
            .len()
    };
    generate((lens(4), lens(5), lens(6)), |(i, j, k)| {
        100 * i + 10 * j + k
    })
}

#[test]
fn slices_of_every_kind() -> Result<()> {
    for a in [cube(), late()] {
        let b = a.slice((1..3, .., (1..).step(2))).force()?;
        assert_eq!(b.shape(), [2, 5, 3]);
        assert_eq!((b[(0, 0, 0)], b[(1, 4, 2)]), (101, 245));
        let c = a.slice((-1, ..-2, 2)).force()?;
        assert_eq!(c, [302, 312, 322]);
        let d = a.slice((-3..-1, 4, NewAxis, ..=1)).force()?;
        assert_eq!(d, [[[140, 141]], [[240, 241]]]);
        assert_eq!(a.slice((1, -1, -1)).force()?, 145);
        assert_eq!(a.slice((2..2, .., 0)).force()?.shape(), [0, 5]);
        assert_eq!(
            a.slice(((..).step(3), 0, (1..=4).step(3))).force()?,
            [[1, 4], [301, 304]]
        );
        assert_eq!(a.slice((-2..=-1, 0, 0)).force()?, [200, 300]);
    }
    Ok(())
}

#[test]
fn slices_of_one_axis() -> Result<()> {
    let known = Array::from(vec![3i64, 1, 4, 1, 5]);
    for xs in [known.clone(), known.filter(|x| x.gt(0))] {
        assert_eq!(xs.slice(..-1).force()?, [3, 1, 4, 1]);
        assert_eq!(xs.slice(-3..-1).force()?, [4, 1]);
        assert_eq!(xs.slice(-2..=-1).force()?, [1, 5]);
        assert_eq!(xs.slice((1..).step(2)).force()?, [1, 1]);
        assert_eq!(xs.slice((..).step(9)).force()?, [3]);
        for range in [-6.., -1..] {
            let part = xs.slice(range.start..-2).force();
            assert!(matches!(
                part.unwrap_err().kind,
                ErrorKind::SliceRange { .. }
            ));
        }
    }
    Ok(())
}

/// `take` and `drop` clamp; a slice must lie within its axis.
#[test]
fn slice_that_begins_behind_an_empty_axis_is_an_error() -> Result<()> {
    let outside = ErrorKind::SliceRange {
        start: 1,
        end: 0,
        len: 0,
    };
    let known = Array::from(Vec::<i64>::new());
    for none in [known.clone(), known.filter(|x| x.gt(0))] {
        assert_eq!(none.slice(1..).force().unwrap_err().kind, outside);
        assert!(none.slice(0..).force()?.is_empty());
        assert!(none.drop(1).force()?.is_empty());
        let rows = none.broadcast((.., 3));
        assert_eq!(rows.slice((1.., ..2)).force().unwrap_err().kind, outside);
        assert_eq!(rows.slice((0.., ..2)).force()?.shape(), [0, 2]);
    }
    Ok(())
}

#[test]
fn slices_out_of_bounds() {
    let place = |e: &livefusion::Error| e.location.is_some_and(|l| l.file().ends_with("parts.rs"));
    let end = 3;
    for a in [cube(), late()] {
        for e in [
            a.slice((2..5, 0, 0)).force().unwrap_err(),
            a.slice((end..2, 0, 0)).force().unwrap_err(),
            a.slice((0, 0, 7..)).force().unwrap_err(),
            a.slice((0, ..-6, 0)).force().unwrap_err(),
        ] {
            assert!(matches!(e.kind, ErrorKind::SliceRange { .. }), "{e}");
            assert!(place(&e), "{e}");
        }
        for e in [
            a.slice((4, .., ..)).force().unwrap_err(),
            a.slice((0, -6, ..)).force().unwrap_err(),
            a.slice((0, 0, 6)).force().unwrap_err(),
        ] {
            assert!(matches!(e.kind, ErrorKind::OutOfRange { .. }), "{e}");
            assert!(place(&e), "{e}");
        }
        let e = a.slice(((..).step(0), 0, 0)).force().unwrap_err();
        assert!(matches!(e.kind, ErrorKind::Malformed { .. }), "{e}");
    }
}

#[test]
fn split_and_broadcast__of_each_axis__cut_and_repeat() -> Result<()> {
    for a in [cube(), late()] {
        let (left, right) = a.split(1, 2);
        let (left, right) = (&left, &right).force()?;
        assert_eq!((left.shape(), right.shape()), ([4, 2, 6], [4, 3, 6]));
        assert_eq!((left[(3, 1, 5)], right[(3, 0, 5)]), (315, 325));
        assert!(a.split(0, 5).1.force().is_err());
        let whole = concatenate(1, [&a.split(1, 2).0, &a.split(1, 2).1]);
        assert_eq!(whole.force()?, a.force()?);
    }
    let m = Array::from([[1i64, 2], [3, 4]]);
    assert_eq!(
        m.broadcast((.., 2, ..)).force()?,
        [[[1, 2], [1, 2]], [[3, 4], [3, 4]]]
    );
    assert_eq!(m.broadcast((.., .., 1)).force()?, [[[1], [2]], [[3], [4]]]);
    let n = Array::from(vec![1i64, 2, 3]).filter(|x| x.gt(1)).len();
    assert_eq!(
        m.broadcast((&n, .., ..)).along([0, 2]).sum().force()?,
        [6, 14]
    );
    assert!(m.broadcast((-1, .., ..)).force().is_err());
    Ok(())
}

#[test]
fn concatenate_and_stack__along_each_axis__put_arrays_beside_each_other() -> Result<()> {
    let (a, b) = (cube(), cube().map(|x| x + 1000));
    for axis in 0..3 {
        let c = concatenate(axis, [&a, &b, &a]).force()?;
        let n = [4, 5, 6][axis];
        for (p, from) in [(0, 0), (1, 1000), (2, 0)] {
            let mut at = [1, 2, 3];
            at[axis] += p * n;
            assert_eq!(c[(at[0], at[1], at[2])], from + 123);
        }
        let s = stack(axis, [&a, &b]).force()?;
        let mut at = vec![1, 2, 3];
        at.insert(axis, 1);
        assert_eq!(s[(at[0], at[1], at[2], at[3])], 1123);
    }
    let wrong = concatenate(0, [&a, &a.swap_axes(1, 2)])
        .force()
        .unwrap_err();
    assert!(matches!(wrong.kind, ErrorKind::ShapeMismatch { .. }));
    assert!(
        concatenate(0, Vec::<Array<u64, Ix3>>::new())
            .force()
            .is_err()
    );
    assert!(concatenate(3, [&a]).force().is_err());
    assert!(stack(4, [&a]).force().is_err());
    let wrong = concatenate(0, [&late(), &late().swap_axes(1, 2)])
        .force()
        .unwrap_err();
    assert!(
        matches!(wrong.kind, ErrorKind::LengthMismatch { .. }),
        "{wrong}"
    );
    assert_eq!(concatenate(2, [&late(), &a]).force()?.shape(), [4, 5, 12]);
    Ok(())
}

#[test]
fn scans_along_each_axis() -> Result<()> {
    for a in [cube(), late()] {
        for axis in 0..3 {
            let s = (
                &a.along(axis).cumsum(),
                &a.along(axis).scan_exclusive(5, |a, b| a + b),
            )
                .force()?;
            let at = [2, 3, 4];
            let value = |r: usize| {
                let mut at = at;
                at[axis] = r;
                (100 * at[0] + 10 * at[1] + at[2]) as u64
            };
            let before: u64 = (0..at[axis]).map(value).sum();
            assert_eq!(s.0[(2, 3, 4)], before + value(at[axis]));
            assert_eq!(s.1[(2, 3, 4)], before + 5);
        }
    }
    Ok(())
}

#[test]
fn fold_seg__of_rows__folds_parts_of_each() -> Result<()> {
    let m = Array::from([[1i64, 2, 3, 4], [5, 6, 7, 8]]);
    let lengths = Array::from(vec![1u64, 0, 3]);
    assert_eq!(
        m.fold_seg(&lengths, 0, |a, b| a + b).force()?,
        [[1, 0, 9], [5, 0, 21]]
    );
    let wrong = m
        .fold_seg(&Array::from(vec![1u64, 2]), 0, |a, b| a + b)
        .force();
    assert!(matches!(
        wrong.unwrap_err().kind,
        ErrorKind::Segments { .. }
    ));
    Ok(())
}

#[test]
fn matmul_and_dot__of_matrices_and_vectors__are_plain_loops() -> Result<()> {
    let a = |i: usize, j: usize| ((i * 7 + j * 3) % 11) as f64;
    let b = |i: usize, j: usize| ((i * 5 + j * 2) % 13) as f64;
    let fill = |n: usize, m: usize, f: &dyn Fn(usize, usize) -> f64| {
        let all = (0..n).flat_map(|i| (0..m).map(move |j| (i, j)));
        Array::from_vec((n, m), all.map(|(i, j)| f(i, j)).collect())
    };
    let (x, y) = (fill(4, 6, &a), fill(6, 5, &b));
    let z = x.matmul(&y);
    let e = z.explain()?;
    assert_eq!(e.loops.len(), 1, "{e}");
    let z = z.force()?;
    for i in 0..4 {
        for j in 0..5 {
            assert_eq!(z[(i, j)], (0..6).map(|k| a(i, k) * b(k, j)).sum::<f64>());
        }
    }
    let wrong = x.matmul(&x).force().unwrap_err();
    assert!(matches!(wrong.kind, ErrorKind::ShapeMismatch { .. }));
    let v = x.slice((0, ..));
    assert_eq!(
        v.dot(&v).force()?,
        (0..6).map(|k| a(0, k) * a(0, k)).sum::<f64>()
    );
    assert_eq!(
        x.dot(&v).force()?[2],
        (0..6).map(|k| a(2, k) * a(0, k)).sum::<f64>()
    );
    assert_eq!(
        v.dot(&y).force()?[3],
        (0..6).map(|k| a(0, k) * b(k, 3)).sum::<f64>()
    );
    let n = late().shape()[1].clone();
    let unknown = generate((&n, &n), |(i, j)| i + 2 * j);
    let wrong = unknown
        .matmul(&generate((3u64, 3), |(i, _)| i))
        .force()
        .unwrap_err();
    assert!(
        matches!(wrong.kind, ErrorKind::LengthMismatch { .. }),
        "{wrong}"
    );
    let late = generate((&n, &n), |(i, j)| i + 2 * j);
    assert_eq!(
        late.matmul(&late).force()?[(1, 2)],
        (0..5).map(|k| (1 + 2 * k) * (k + 4)).sum::<u64>()
    );
    let narrow = generate((5u64, 3), |(i, _)| i);
    assert_eq!(
        late.matmul(&narrow).force()?[(0, 0)],
        (0..5).map(|k| 2 * k * k).sum::<u64>()
    );
    Ok(())
}

#[test]
fn roll_pad_transpose_and_permute__of_a_cube__move_elements() -> Result<()> {
    for a in [cube(), late()] {
        let r = (
            &a.along(1).reverse(),
            &a.roll(2, 8),
            &a.roll(0, -5),
            &a.transpose(),
        )
            .force()?;
        assert_eq!(
            (r.0[(1, 0, 2)], r.1[(1, 1, 2)], r.2[(3, 1, 2)]),
            (142, 110, 12)
        );
        assert_eq!((r.3.shape(), r.3[(5, 4, 3)]), ([6, 5, 4], 345));
        let p = a.pad([(1, 0), (0, 2), (0, 0)], 7u64).force()?;
        assert_eq!(
            (p.shape(), p[(0, 0, 0)], p[(1, 0, 5)], p[(4, 6, 5)]),
            ([5, 7, 6], 7, 5, 7)
        );
        assert!(a.pad([(1, 0)], 7u64).force().is_err());
        let flat = a.reshape(120);
        assert_eq!(flat.force()?[7], 11);
        assert!(a.reshape((7, 3)).force().is_err());
        let index = a.permute(
            &replicate((6, 4), 0u64),
            |x, y| x.max(y),
            |(i, _, k)| (k, i),
        );
        assert_eq!(index.force()?[(5, 3)], 345);
        let wrong = a.permute(
            &replicate((6, 3), 0u64),
            |x, y| x.max(y),
            |(i, _, k)| (k, i),
        );
        assert_eq!(
            wrong.force().unwrap_err().kind,
            ErrorKind::OutOfRange { index: 3, len: 3 }
        );
    }
    Ok(())
}

#[test]
fn select__of_rows_by_number__copies_them() -> Result<()> {
    let chosen = Array::from(vec![3i8, 0, 3]);
    for a in [cube(), late()] {
        let found = a.select(0, &chosen).force()?;
        assert_eq!(
            (found.shape(), found[(0, 1, 2)], found[(1, 4, 5)]),
            ([3, 5, 6], 312, 45)
        );
        let found = a.select(1, &chosen.filter(|i| i.gt(0))).force()?;
        assert_eq!((found.shape(), found[(1, 1, 2)]), ([4, 2, 6], 132));
        let found = a.select(2, &chosen.map(|i| i + 2)).force()?;
        assert_eq!((found.shape(), found[(1, 1, 0)]), ([4, 5, 3], 115));
        let none = a.select(2, &chosen.take(0)).force()?;
        assert_eq!(none.shape(), [4, 5, 0]);
        let wrong = |axis, by: i8| {
            let e = a.select(axis, &chosen.map(|i| i + by)).force();
            let e = e.unwrap_err();
            assert!(e.location.is_some_and(|l| l.file().ends_with("parts.rs")));
            (e.combinator, e.kind)
        };
        let outside = ErrorKind::OutOfRange { index: 6, len: 6 };
        assert_eq!(wrong(2, 3), ("select", outside));
        assert!(matches!(
            wrong(0, -1).1,
            ErrorKind::OutOfRange { len: 4, .. }
        ));
        assert!(matches!(wrong(3, 0).1, ErrorKind::Malformed { .. }));
    }
    Ok(())
}

#[test]
fn then_some_in_permute__of_left_out_indices__drops_elements() -> Result<()> {
    for a in [cube(), late()] {
        let [.., k] = a.shape();
        let base = replicate((k, 4), 0u64);
        for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
            // Dropped elements are not computed: neither the division nor the out-of-bounds index.
            let some = a.permute(
                &base,
                |x, y| x.max(y),
                |(i, j, k)| j.ne(0).then_some((k, i * 4 / j)),
            );
            let wrong = some.force_with(&engine).unwrap_err().kind;
            assert!(
                matches!(wrong, ErrorKind::OutOfRange { len: 4, .. }),
                "{wrong:?}"
            );
            let some = a.permute(
                &base,
                |x, y| x.max(y),
                |(i, j, k)| j.ne(0).and((i * 4 / j).lt(4)).then_some((k, i * 4 / j)),
            );
            let some = some.force_with(&engine)?;
            for (p, got) in some.iter().enumerate() {
                let (k, to) = (p / 4, p % 4);
                let of = |i: usize, j: usize| (i * 4 / j == to).then_some(100 * i + 10 * j + k);
                let largest = (0..4)
                    .flat_map(|i| (1..5).filter_map(move |j| of(i, j)))
                    .max();
                assert_eq!(*got, largest.unwrap_or(0) as u64);
            }
            let none = a.permute(&base, |x, y| x + y, |(_, j, _)| j.gt(9).then_some([j, j]));
            assert!(none.force_with(&engine)?.iter().all(|x| *x == 0));
        }
    }
    // From one axis onto one axis, with an operator that captures a value.
    let by = Array::scalar(100i64);
    let xs = Array::from(vec![1i64, 2, 3]);
    let odd = xs.permute(
        &replicate(2, 0i64),
        |x, y| x + y * &by,
        |i| (i % 2).eq(0).then_some(i / 2),
    );
    assert_eq!(odd.force()?, [100, 300]);
    Ok(())
}

#[test]
fn transposes_fuse() -> Result<()> {
    let m = Array::from_vec((3, 3), (0..9).map(f64::from).collect());
    let symmetric = &m + &m.transpose();
    let e = symmetric.explain()?;
    assert_eq!(e.loops.len(), 1, "{e}");
    assert_eq!(symmetric.force()?[(0, 2)], 8.0);
    Ok(())
}
