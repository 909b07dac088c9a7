//! Fusion of programs on axes.

use crate::common::{counted, engines};
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

/// Folds along axes that are not neighbours go from left to right over the blocks of each result.
#[test]
fn folds_of_blocks_are_one_nest() -> Result<()> {
    let (shape, [b, c, d]) = ((3, 4, 5, 2), [4, 5, 2]);
    let xs: Vec<f64> = (0..120).map(|k| f64::from(k * 37 % 101) / 7.0).collect();
    let m = || Array::from(xs.clone()).reshape(shape);
    let at = |[i, j, k, l]: [usize; 4]| xs[((i * b + j) * c + k) * d + l];
    // The loops over the kept axes come first.
    let sums = |order: [usize; 4]| {
        let n = [3, b, c, d];
        let [kept, folded] = [0, 2].map(|f| {
            let [outer, inner] = [order[f], order[f + 1]];
            let pairs = (0..n[outer]).flat_map(move |x| (0..n[inner]).map(move |y| [x, y]));
            pairs.collect::<Vec<_>>()
        });
        let sum = |[x, y]: &[usize; 2]| {
            let elements = folded.iter().map(|[z, w]| {
                let mut index = [0; 4];
                for (axis, part) in order.into_iter().zip([*x, *y, *z, *w]) {
                    index[axis] = part;
                }
                at(index)
            });
            elements.fold(0.0, |sum, x| sum + x)
        };
        kept.iter().map(sum).collect::<Vec<f64>>()
    };
    let orders = [[0, 2, 1, 3], [1, 2, 0, 3], [0, 3, 1, 2], [1, 3, 0, 2]];
    for order in orders {
        let axes = [order[2], order[3]];
        let sum = || m().along(axes).sum();
        assert_eq!(counted(&sum().explain()?), (1, 4, 1), "{axes:?}");
        for engine in engines() {
            assert_eq!(
                sum().force_with(&engine)?.into_vec()?,
                sums(order),
                "{axes:?}"
            );
        }
    }
    let mean = m().along([1, 3]).mean();
    assert_eq!(counted(&mean.explain()?), (1, 4, 1));
    let means: Vec<f64> = sums(orders[0]).iter().map(|sum| sum / 8.0).collect();
    let got = mean.force()?.into_vec()?;
    assert!(
        got.iter()
            .zip(&means)
            .all(|(x, y)| (x - y).abs() < 1e-14 * y)
    );
    Ok(())
}

/// The lengths of the axes may be delayed, and integers are summed in any order.
#[test]
fn folds_of_delayed_blocks_are_one_nest() -> Result<()> {
    let n = iota(9).filter(|x| x.lt(4)).len();
    let m = generate((&n, 3, &n), |(i, j, k)| i * 100 + j * 10 + k);
    assert_eq!(
        m.along([0, 2]).sum().explain()?.loops.len(),
        2,
        "with the length's loop"
    );
    let expected: Vec<u64> = (0..3)
        .map(|j| {
            (0..4)
                .flat_map(|i| (0..4).map(move |k| i * 100 + j * 10 + k))
                .sum()
        })
        .collect();
    assert_eq!(m.along([0, 2]).sum().force()?, expected);
    let floats = Array::from((0..24).map(f64::from).collect::<Vec<_>>()).reshape((2, 3, 4));
    let sums = floats.along([0, 2]).fold_seq(1.0, |sum, x| sum * 0.5 + x);
    assert_eq!(counted(&sums.explain()?), (1, 3, 1));
    let fold = |j: u32| {
        let elements = [0, 1].map(|i| (0..4).map(move |k| f64::from(i * 12 + j * 4 + k)));
        elements
            .into_iter()
            .flatten()
            .fold(1.0, |sum, x| sum * 0.5 + x)
    };
    assert_eq!(sums.force()?, [0, 1, 2].map(fold));
    Ok(())
}

/// Sums of the sums of generated rows stay in the nest of the rows.
#[test]
fn sums_of_sums_of_generated_rows_are_one_nest() -> Result<()> {
    let cube = generate((2, 3, 4), |(i, j, k)| 100 * i + 10 * j + k);
    let sums = cube.map_rows(|row| row.sum()).map_rows(|row| row.sum());
    assert_eq!(counted(&sums.explain()?), (1, 3, 1));
    assert_eq!(sums.force()?, [138, 1338]);
    Ok(())
}
