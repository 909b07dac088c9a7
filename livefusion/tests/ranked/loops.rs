//! Fusion of programs on axes.

use livefusion::prelude::*;
use livefusion::{Force, Result};

fn matrix(n: usize, m: usize) -> Array<f64, Ix2> {
    Array::from_vec((n, m), (0..n * m).map(|k| (k % 7) as f64).collect())
}

fn loops(program: &impl Force) -> Result<usize> {
    let explained = program.explain()?;
    println!("{explained}");
    Ok(explained.loops.len())
}

#[test]
fn one_loop_each() -> Result<()> {
    let (a, b) = (matrix(3, 4), matrix(4, 3));
    assert_eq!(
        loops(&zip((&a, &b.transpose())).map(|(x, y)| x * y).sum())?,
        1
    );
    let product = a.matmul(&b).explain()?;
    assert_eq!(
        (product.loops.len(), product.loops[0].arrays_written),
        (1, 1),
        "{product}"
    );
    assert_eq!(loops(&a.along(1).sum().map(|x| x + 1.0))?, 1);
    assert_eq!(loops(&a.map(|x| x * 2.0).along(1).max())?, 1);
    assert_eq!(loops(&a.slice((1.., ..-1)).map(|x| x + 1.0))?, 1);
    assert_eq!(loops(&a.along(1).cumsum().map(|x| x + 1.0))?, 1);
    assert_eq!(loops(&generate((5, 6), |(i, j)| i * j).sum())?, 1);
    let v = Array::from(vec![1.0, 2.0, 3.0, 4.0]);
    assert_eq!(loops(&a.map(|x| x + 1.0).dot(&v))?, 1);
    assert_eq!(loops(&v.map(|x| x + 1.0).outer(&v, |x, y| x * y).sum())?, 1);
    Ok(())
}

#[test]
fn sums_and_what_uses_their_rows() -> Result<()> {
    let a = matrix(30, 40);
    let shares = a.zip_with(&a.along(1).sum().broadcast((.., 40)), |x, sum| x / sum);
    assert_eq!(loops(&shares)?, 1);
    let shares = shares.force()?;
    for (row, i) in shares.rows().zip(0..) {
        let sum: f64 = (0..40).map(|j| ((i * 40 + j) % 7) as f64).sum();
        assert_eq!(row[5], ((i * 40 + 5) % 7) as f64 / sum);
    }
    let both = (&a.along(0).sum(), &a.along(1).sum(), &a.sum());
    assert_eq!(loops(&both)?, 1);
    let (columns, rows, all) = both.force()?;
    assert_eq!(columns.iter().sum::<f64>(), all);
    assert_eq!(rows.iter().sum::<f64>(), all);
    // Both passes over a row are in one loop.
    assert_eq!(loops(&matrix(30, 40).along(1).var())?, 1);
    assert_eq!(loops(&matrix(30, 40).along(1).std())?, 1);
    Ok(())
}

#[test]
fn indices_and_chosen_rows_fuse() -> Result<()> {
    let a = matrix(6, 4);
    let weighed = a.enumerate().map(|((i, j), x)| x * (i + j).cast::<f64>());
    assert_eq!(loops(&(&weighed.along(1).sum(), &weighed.sum()))?, 1);
    let chosen = Array::from(vec![5u64, 0, 2]);
    let rows = a.map(|x| x + 1.0).select(0, &chosen.map(|i| 5 - i));
    assert_eq!(loops(&rows.map(|x| x * 2.0).along(1).sum())?, 1);
    assert_eq!(loops(&a.select(1, &Array::from(vec![3u64, 1])).sum())?, 1);
    assert_eq!(loops(&a.len())?, 0);
    assert_eq!(loops(&(&a.fold1(|x, y| x.max(y)), &a.len(), &a.sum()))?, 1);
    Ok(())
}

#[test]
fn permute_does_not_scatter_dropped_elements() -> Result<()> {
    let a = matrix(6, 4).map(|x| x + 1.0);
    let base = replicate((3, 4), 0.0);
    // Rows in pairs, without the diagonal.
    let sums = a.permute(
        &base,
        |old, new| old + new,
        |(i, j)| i.ne(j).then_some((i / 2, j)),
    );
    assert_eq!(loops(&sums)?, 1);
    let explained = sums.explain()?;
    assert_eq!(explained.loops[0].arrays_written, 1, "{explained}");
    assert_eq!(sums.force()?.shape(), [3, 4]);
    Ok(())
}

#[test]
fn one_value_is_in_no_memory() -> Result<()> {
    let late = |n: u64| iota(9).filter(move |x| x.lt(n)).len();
    let (n, m) = (late(3), late(4));
    (&n, &m).force()?;
    let late = generate((&n, &m), |(i, j)| (i * j).cast::<f64>());
    for a in [matrix(3, 4), late] {
        let ones = replicate(a.shape(), 1.0);
        assert_eq!(loops(&(&a + &ones).along(1).sum())?, 1);
        assert_eq!(loops(&(&ones + &a).map_rows(|row| row.max()))?, 1);
        assert_eq!(loops(&(&a.transpose() + &ones.transpose()))?, 1);
        assert_eq!(loops(&a.zip_with(&ones, |x, y| x * y))?, 1);
        assert_eq!(loops(&zip((&ones, &ones.map(|x| x + 1.0))))?, 1);
        let sums = (&ones + &a.along(1).cumsum()).along(0).sum();
        assert_eq!(loops(&sums)?, 1);
    }
    Ok(())
}
