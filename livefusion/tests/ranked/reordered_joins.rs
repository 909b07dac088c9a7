//! Concatenations whose axes are reordered: each element is read from its array.

use crate::common::{counted, engines};
use livefusion::Result;
use livefusion::prelude::*;

fn matrix(rows: u64, columns: u64, from: i64) -> Array<i64, Ix2> {
    let all: Vec<i64> = (0..rows * columns).map(|i| from + i as i64).collect();
    Array::from(all).reshape((rows, columns))
}

fn cost<D: Rank>(xs: &Array<i64, D>) -> (usize, usize, usize) {
    let explained = Engine::interp().explain(&[xs.node().clone()]);
    counted(&explained.expect("it can be planned"))
}

/// The columns of matrices below each other.
fn columns(parts: &[Vec<Vec<i64>>]) -> Vec<Vec<i64>> {
    let rows: Vec<&Vec<i64>> = parts.iter().flatten().collect();
    let width = rows.first().map_or(0, |row| row.len());
    (0..width)
        .map(|k| rows.iter().map(|row| row[k]).collect())
        .collect()
}

#[test]
fn transpose__of_a_concatenation__is_one_loop() -> Result<()> {
    for engine in engines() {
        for rows in [[2, 3, 1], [1, 1, 1], [0, 4, 2]] {
            let parts: Vec<Array<i64, Ix2>> = (rows.iter().zip([0, 100, -9]))
                .map(|(n, from)| matrix(*n, 4, from))
                .collect();
            let plain: Vec<Vec<Vec<i64>>> = (rows.iter().zip([0, 100, -9]))
                .map(|(n, from)| {
                    (0..*n as i64)
                        .map(|i| (0..4).map(|j| from + 4 * i + j).collect())
                        .collect()
                })
                .collect();
            let turned = concatenate(0, &parts).transpose();
            assert_eq!(cost(&turned), (1, 2, 1));
            assert_eq!(
                turned.force_with(&engine)?.into_vec()?,
                columns(&plain).concat()
            );
            let mapped = concatenate(0, parts.iter().map(|m| m.map(|x| x * x - 3))).transpose();
            let sums = mapped.map_rows(|row| row.sum());
            assert_eq!(cost(&sums), (1, 2, 1));
            let want: Vec<i64> = (columns(&plain).iter())
                .map(|column| column.iter().map(|x| x * x - 3).sum())
                .collect();
            assert_eq!(sums.force_with(&engine)?.to_vec()?, want);
        }
    }
    Ok(())
}

#[test]
fn transpose__of_a_stack__is_one_loop() -> Result<()> {
    for engine in engines() {
        let rows = [1i64, 10, 100].map(|by| (0..5).map(|i| i * by).collect::<Array<i64>>());
        let turned = stack(0, &rows).transpose();
        assert_eq!(cost(&turned), (1, 2, 1));
        assert_eq!(
            turned.force_with(&engine)?,
            [
                [0, 0, 0],
                [1, 10, 100],
                [2, 20, 200],
                [3, 30, 300],
                [4, 40, 400]
            ]
        );
    }
    Ok(())
}

#[test]
fn permute_axes__of_a_concatenation__reads_each_array() -> Result<()> {
    let cube = |planes: u64, from: i64| {
        let all: Vec<i64> = (0..planes * 6).map(|i| from + i as i64).collect();
        Array::from(all).reshape((planes, 2, 3))
    };
    let both = || concatenate(0, &[cube(2, 0), cube(1, 50)]);
    let stored: Vec<i64> = (0..12).chain(50..56).collect();
    let stored = || Array::from(stored.clone()).reshape((3, 2, 3));
    for engine in engines() {
        for order in [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ] {
            let got = both().permute_axes(order).force_with(&engine)?;
            let want = stored().permute_axes(order).force_with(&engine)?;
            assert_eq!(got, want, "{order:?}");
            assert_eq!(cost(&both().permute_axes(order)).0, 1, "{order:?}");
        }
    }
    Ok(())
}

/// Elements that come in order are stored once, not once for each part.
#[test]
fn transpose__of_joined_scans__stores_them_together() -> Result<()> {
    for engine in engines() {
        let part = |from: i64| matrix(2, 3, from).map_rows(|row| row.scan(0, |a, b| a + b));
        let turned = concatenate(0, [part(0), part(6)]).transpose();
        assert_eq!(
            turned.force_with(&engine)?,
            [[0, 3, 6, 9], [1, 7, 13, 19], [3, 12, 21, 30]]
        );
        // An append under another shape is no concatenation of rows.
        let flat: Array<i64> = matrix(2, 3, 0)
            .reshape(6)
            .append(&matrix(2, 3, 6).reshape(6));
        let turned = flat.reshape((3, 4)).transpose();
        assert_eq!(
            turned.force_with(&engine)?,
            [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]]
        );
    }
    Ok(())
}
