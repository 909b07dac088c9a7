//! Results of a force and their text: manifests, texts, single elements, statistics.

use livefusion::prelude::*;
use livefusion::{ErrorKind, Result};

#[derive(Clone, Debug, PartialEq, Elt)]
struct Corner {
    at: (f64, f64),
    seen: bool,
}

#[derive(Clone, Debug, PartialEq, Elt)]
struct Edge {
    from: Corner,
    r#type: u8,
}

#[test]
fn structs_print_with_names_and_nesting() -> Result<()> {
    let corner = |x: f64| Corner {
        at: (x, -x),
        seen: x > 1.0,
    };
    let edges = vec![
        Edge {
            from: corner(1.5),
            r#type: 7,
        };
        2
    ];
    let array = Array::from(edges.clone());
    let forced = array.map(|e| e).force()?;
    // Equal to the output of `derive(Debug)`.
    assert_eq!(format!("{forced:?}"), format!("{edges:?}"));
    assert_eq!(forced.to_string(), format!("{edges:?}"));
    assert!(format!("{array:?}").contains("from: Corner { at: (1.5, -1.5), seen: true }, type: 7"));
    let pairs = Array::from(vec![((1u8, 2u8), 3u8)]);
    assert_eq!(pairs.force()?.to_string(), "[((1, 2), 3)]");
    Ok(())
}

#[test]
fn a_manifest_of_scalars_is_a_slice() -> Result<()> {
    let ys = Array::from(vec![4i64, 1, 9, 1]).map(|x| x + 1).force()?;
    let slice: &[i64] = &ys;
    let iter: std::slice::Iter<'_, i64> = ys.iter();
    assert!(iter.eq(slice.iter()));
    let mut seen = Vec::new();
    for y in &ys {
        let y: &i64 = y;
        seen.push(*y);
    }
    assert_eq!(seen, [5, 2, 10, 2]);
    assert_eq!((ys[3], &ys[1..3], ys.len()), (2, &[2, 10][..], 4));
    assert_eq!(
        (ys.get(2), ys.get(9), ys.get(..1)),
        (Some(&10), None, Some(&[5][..]))
    );
    assert_eq!(
        (ys.first(), ys.last(), ys.contains(&10)),
        (Some(&5), Some(&2), true)
    );
    assert_eq!((ys.row(0), ys.row(4)), (Some(5), None));
    fn total<T: Scalar + std::iter::Sum>(m: &Manifest<T>) -> T {
        m.iter().copied().sum()
    }
    assert_eq!(total(&ys), 19);
    Ok(())
}

#[test]
fn a_manifest_of_tuples_gives_them_by_value() -> Result<()> {
    let ps = Array::from(vec![(1i64, 0.5f64), (2, 1.5), (3, 2.5)]).force()?;
    let mut rows = ps.iter();
    assert_eq!(rows.len(), 3);
    assert_eq!(
        (rows.next_back(), rows.nth(1)),
        (Some((3, 2.5)), Some((2, 1.5)))
    );
    let mut sum = 0.0;
    for (n, x) in &ps {
        sum += n as f64 * x;
    }
    assert_eq!(sum, 11.0);
    assert_eq!((ps.row(1), ps.row(3)), (Some((2, 1.5)), None));
    assert!(Manifest::<(i64, f64)>::default().is_empty());
    Ok(())
}

#[test]
fn first_and_last_of_what_is_in_memory_and_what_is_not() -> Result<()> {
    let xs: Array<i64> = (0..50_000).collect();
    let kept = xs.filter(|x| (x % 7).eq(3));
    let want = (3, 49_997);
    assert_eq!((&kept.first(), &kept.last()).force()?, want);
    assert_eq!((&xs.first(), &xs.last()).force()?, (0, 49_999));
    assert_eq!(zip((&xs, &xs)).last().force()?, (49_999, 49_999));
    for (empty, name) in [(xs.take(0).first(), "first"), (xs.take(0).last(), "last")] {
        let error = empty.force().unwrap_err();
        assert_eq!((error.combinator, error.kind), (name, ErrorKind::Empty));
    }
    let none = Array::<i64>::from(vec![]);
    assert_eq!(none.last().force().unwrap_err().kind, ErrorKind::Empty);
    // One element of an array in memory is read in constant time.
    let engine = Engine::interp();
    assert_eq!(engine.explain(&[xs.last().node().clone()])?.loops.len(), 1);
    Ok(())
}

#[test]
fn statistics_of_integers_and_floats() -> Result<()> {
    let xs: Vec<u8> = vec![250, 251, 252, 255];
    let array = Array::from(xs.clone());
    let mean = xs.iter().map(|x| f64::from(*x)).sum::<f64>() / 4.0;
    let var = xs
        .iter()
        .map(|x| (f64::from(*x) - mean).powi(2))
        .sum::<f64>()
        / 4.0;
    let got = (&array.mean(), &array.var(), &array.std()).force()?;
    assert_eq!(got, (mean, var, var.sqrt()));
    let single: f32 = Array::from(vec![1.0f32, 2.0]).var().force()?;
    assert_eq!(single, 0.25);
    assert!(Array::<f64>::from(vec![]).var().force()?.is_nan());
    assert!(Array::<i32>::from(vec![]).std().force()?.is_nan());
    assert_eq!(Array::from(vec![200u8, 100]).cumsum().force()?, [200, 44]);
    let pairs = Array::from(vec![(1u8, 2u8)]).enumerate().to_vec()?;
    assert_eq!(pairs, [(0, (1, 2))]);
    Ok(())
}
