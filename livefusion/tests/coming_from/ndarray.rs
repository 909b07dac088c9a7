//! Coming from ndarray.

use crate::{Common, Row, common, rows};
use livefusion::prelude::*;

#[rustfmt::skip]
pub fn rows() -> livefusion::Result<Vec<Row>> {
    let Common { xs, ys, m, q, b, t, row, at, n, .. } = common();
    Ok(rows! {
        "Array1::from_vec(vec![1.0, 2.0])" => Array::from(vec![1.0, 2.0]), "no copy";
        "arr2(&[[1.0, 2.0], [3.0, 4.0]])" => Array::from([[1.0, 2.0], [3.0, 4.0]]), "";
        "Array::from_shape_vec((2, 2), vec![1, 2, 3, 4])?" => Array::from_vec((2, 2), vec![1, 2, 3, 4]), "a wrong number of elements is an error when it is forced";
        "Array::from_shape_fn((3, 4), |(i, j)| i * 4 + j)" => generate((3, 4), |(i, j)| i * 4 + j), "the closure is traced once, and sees expressions";
        "Array::from_elem((3, 4), 0.5)" => replicate((3, 4), 0.5), "is in no memory";
        "Array::range(0.0, 3.0, 0.5)" => enum_from_step(n, 0.0, 0.5), "length, start, step";
        "m.len()" => m.len(), "delayed";
        "m.dim()" => m.shape(), "delayed; of results `shape()` is numbers";
        "&m + &q * 2.0" => &m + &q * 2.0, "delayed, one loop";
        "m.mapv(f64::sqrt)" => m.map(|x| x.sqrt()), "no function of Rust, but what an expression can say";
        "m.mapv_into(|x| x + 1.0)" => m.map(|x| x + 1.0), "arrays do not change; `Program::call_into` uses memory again";
        "Zip::from(&m).and(&q).map_collect(|x, y| x.max(*y))" => m.zip_with(&q, |x, y| x.max(y)), "up to 6: `(&a, &b, &c).zip_with(..)`";
        "Zip::indexed(&m).map_collect(|(i, j), x| x * (i + j) as f64)" => m.enumerate().map(|((i, j), x)| x * (i + j).cast::<f64>()), "";
        "m.indexed_iter()" => m.enumerate(), "indices are tuples";
        "m[[1, 2]]" => m.at((1, 2)), "a delayed scalar; in closures an expression";
        "let x: f64 = m[[1, 2]];" => m.force()?[(1, 2)], "what is in memory is indexed with a tuple";
        "m.slice(s![1.., ..2])" => m.slice((1.., ..2)), "";
        "m.slice(s![..;2, -1])" => m.slice(((..).step(2), -1)), "";
        "m.row(0)" => m.slice((0, ..)), "";
        "m.index_axis(Axis(1), 0)" => m.along(1).at(0), "axes are numbers";
        "m.select(Axis(0), &at)" => m.select(0, &at), "an index outside is an error, no panic";
        "m.split_at(Axis(1), 3)" => m.split(1, 3), "";
        "m.t()" => m.transpose(), "";
        "t.permuted_axes([2, 0, 1])" => t.permute_axes([2, 0, 1]), "";
        "m.to_shape((2, 6))?" => m.reshape((2, 6)), "no order of memory but row by row";
        "m.flatten()" => m.flatten(), "";
        "m.insert_axis(Axis(1))" => m.slice((.., NewAxis, ..)), "";
        "row.broadcast((3, 4))" => row.broadcast((3, ..)), "`..` is an axis that is there, a number a new one";
        "&m + &row" => m.zip_with(&row.broadcast((3, ..)), |x, y| x + y), "operators between ranks need `broadcast`";
        "concatenate![Axis(0), m, q]" => concatenate(0, [&m, &q]), "";
        "stack![Axis(0), m, q]" => stack(0, [&m, &q]), "";
        "m.sum()" => m.sum(), "delayed; lanes and chunks, of a fixed order";
        "m.fold(0.0, |a, x| a + x * x)" => m.map(|x| x * x).fold(0.0, |a, b| a + b), "associative; other states: `aggregate`, from left to right: `fold_seq`";
        "m.sum_axis(Axis(0))" => m.along(0).sum(), "";
        "m.mean_axis(Axis(1))" => m.along(1).mean(), "of no elements NaN, not `None`";
        "m.fold_axis(Axis(1), 1.0, |a, x| a * x)" => m.along(1).fold_seq(1.0, |a, x| a * x), "`fold` may group the calls";
        "m.map_axis(Axis(1), |r| r.sum() / r.len() as f64)" => m.along(1).map(|r| r.sum() / r.len().map(|n| n.cast::<f64>())), "closures on rows are traced, too";
        "m.accumulate_axis_inplace(Axis(0), |a, x| *x += a)" => m.along(0).scan(0.0, |a, x| a + x), "";
        "m.dot(&b)" => m.dot(&b), "";
        "m.diag()" => m.diag(), "";
        "m.windows((3, 3))" => m.stencil2(Boundary::Clamp, |[[_, n, _], [w, _, e], [_, s, _]]| n + w + e + s), "a function of the window, also at the edges";
        "xs.iter().zip(&ys).filter(|(x, y)| x < y)" => xs.zip(&ys).filter(|(x, y)| x.lt(y)), "iterators' `take_while`, `position`, `scan`, ... are methods";
        "m.into_raw_vec_and_offset().0" => m.force()?.into_vec()?, "`to_ndarray` and `Array::from`, by the feature `ndarray`";
    })
}
