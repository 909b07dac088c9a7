//! Steps that only map become a scalar loop in one map, with captures of any form.

use livefusion::prelude::*;
use livefusion::prepare::prepare_with;
use livefusion::{Clustering, Result, stages};

/// The loops and external parts of a program.
fn parts(program: &impl Force) -> Result<(usize, usize)> {
    let explained = program.explain()?;
    Ok((explained.loops.len(), explained.apart.len()))
}

/// The text of a program's single loop.
fn text(program: &impl Force) -> Result<String> {
    let mut loops = stages::graph(program)?
        .plan(Clustering::default())
        .lower()?;
    loops.optimize();
    Ok(loops.to_string())
}

fn plain(start: &[f64], other: &[f64], steps: usize) -> Vec<f64> {
    let both = start.iter().zip(other);
    both.map(|(s, x)| (0..steps).fold(*s, |s, _| s * 0.5 + x))
        .collect()
}

/// A step captures the start itself, in arrays of rank 1 and in a program with an unknown length.
#[test]
fn iterate_recovered__step_that_captures_the_start__is_one_map() -> Result<()> {
    let data = vec![1.0f64, 2.0, 4.0];
    let v = Array::from(data.clone());
    let step = |s: Array<f64>, v: &Array<f64>| s.zip_with(v, |a, b| a * 0.5 + b);
    let ended = iterate_n(5, &v, |s| step(s, &v));
    assert_eq!(parts(&ended)?, (1, 0));
    assert_eq!(ended.force()?, plain(&data, &data, 5)[..]);
    let program = prepare_with(&Engine::jit(), |v: Array<f64>| {
        iterate_n(5, &v, |s| step(s, &v))
    })?;
    let explained = program.explain(&v)?;
    assert_eq!((explained.loops.len(), explained.apart.len()), (1, 0));
    assert_eq!(program.call(&v)?, plain(&data, &data, 5)[..]);
    Ok(())
}

/// Captures of rank 2: the start, another matrix, and a map of one.
#[test]
fn iterate_recovered__captures_of_rank_2__are_one_map() -> Result<()> {
    let (a, b) = (
        [1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0],
        [6.0, 1.0, 5.0, 2.0, 4.0, 3.0],
    );
    let m = Array::from_vec((2, 3), a.to_vec());
    let k = Array::from_vec((2, 3), b.to_vec());
    let (mapped, more) = (m.map(|x| x + 1.0), a.map(|x| x + 1.0));
    for (other, plain_other) in [(&k, b), (&m, a), (&mapped, more)] {
        let ended = iterate_n(5, &m, |s| s.zip_with(other, |a, b| a * 0.5 + b));
        assert_eq!(parts(&ended)?, (1, 0));
        assert_eq!(ended.force()?.into_vec()?, plain(&a, &plain_other, 5));
    }
    let wrong = Array::from_vec((3, 2), b.to_vec());
    let ended = iterate_n(5, &m, |s| s.zip_with(&wrong, |a, b| a + b));
    assert!(ended.force().is_err());
    Ok(())
}

/// A costly capture is computed once for each element, before its scalar loop.
#[test]
fn iterate_recovered__costly_capture__is_computed_before_the_turns() -> Result<()> {
    let data = [1.0f64, 2.0, 4.0];
    let v = Array::from(data.to_vec());
    let roots = v.map(|x| x.sqrt());
    let ended = iterate_n(5, &v, |s| s.zip_with(&roots, |a, b| a * 0.5 + b));
    assert_eq!(parts(&ended)?, (1, 0));
    let text = text(&ended)?;
    let (root, turns) = (text.find(" sqrt "), text.find("while"));
    assert!(root.is_some() && root < turns, "{text}");
    assert_eq!(ended.force()?, plain(&data, &data.map(f64::sqrt), 5)[..]);
    Ok(())
}

/// Unchanged components are captures too, and so are their maps.
#[test]
fn iterate_recovered__components_that_stay__are_captures() -> Result<()> {
    let v = Array::from(vec![1.0f64, 2.0, 4.0]);
    let (ended, same) = iterate_n(5, (&v, &v), |(s, v)| {
        let next = s.zip_with(&v.map(|x| x.sqrt()), |a, b| a * 0.5 + b);
        (next, v)
    });
    assert_eq!(parts(&ended)?, (1, 0));
    let data = [1.0f64, 2.0, 4.0];
    assert_eq!(ended.force()?, plain(&data, &data.map(f64::sqrt), 5)[..]);
    assert_eq!(same.force()?, data);
    let (sum, by) = iterate_n(3, (1.0f64, 2.0f64), |(s, by)| {
        (&s + &by.map(|x| x * 2.0), by)
    });
    assert_eq!((&sum, &by).force()?, (13.0, 2.0));
    let (m, _) = iterate_n(3, (&Array::from([[1i64, 2]]), 5i64), |(m, by)| {
        let twice = &by * 2;
        (m.map(|x| x + twice.value()), by)
    });
    assert_eq!(m.force()?, [[31, 32]]);
    Ok(())
}
