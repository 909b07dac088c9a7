//! Coming from NumPy.

use crate::{Common, Row, common, rows};
use livefusion::prelude::*;

#[rustfmt::skip]
pub fn rows() -> livefusion::Result<Vec<Row>> {
    let Common { xs, ys, m, q, b, t, row, tags, at, keys, n, .. } = common();
    Ok(rows! {
        "np.array([1.0, 2.0])" => Array::from(vec![1.0, 2.0]), "the vector's memory is used as it is";
        "np.array([[1.0, 2.0], [3.0, 4.0]])" => Array::from([[1.0, 2.0], [3.0, 4.0]]), "`Array::from_vec((2, 2), values)` takes a vector";
        "np.full((3, 4), 0.5)" => replicate((3, 4), 0.5), "is in no memory";
        "np.arange(n)" => iota(n), "`u64`; `map(\\|i\\| i.cast::<f64>())` for floats";
        "np.linspace(0.0, 1.0, 5)" => linspace(0.0, 1.0, 5), "by a step: `enum_from_step`";
        "np.fromfunction(lambda i, j: i * 4 + j, (3, 4))" => generate((3, 4), |(i, j)| i * 4 + j), "traced once, not called with arrays";
        "np.eye(3)" => generate((3, 3), |(i, j)| i.eq(j).cond(1.0, 0.0)), "";
        "xs * 2 + ys" => &xs * 2.0 + &ys, "numbers have the type of the elements: `2.0`";
        "np.sqrt(np.abs(xs))" => xs.map(|x| x.abs().sqrt()), "one loop, no array between";
        "xs < ys" => xs.lt(&ys), "comparisons are methods: `lt`, `le`, `eq`, `ne`, `ge`, `gt`";
        "(xs > 2) & (ys <= 5)" => xs.gt(2.0) & ys.le(5.0), "arrays of `bool`; `|`, `^` and `!` as well";
        "np.where(xs > 0, xs, ys)" => xs.zip_with(&ys, |x, y| x.gt(0.0).cond(x, y)), "";
        "xs.astype(np.int32)" => xs.map(|x| x.cast::<i32>()), "saturates, as Rust's `as`";
        "xs[xs > 0]" => xs.filter(|x| x.gt(0.0)), "fuses, and its length is delayed";
        "xs[tags]" => xs.pack(&tags), "";
        "np.flatnonzero(tags)" => iota(n).pack(&tags), "";
        "xs[2]" => xs.at(2), "a delayed scalar; `xs.get(2)?` computes it";
        "xs[1:4]" => xs.slice(1..4), "a range that reaches outside is an error";
        "xs[::-1]" => xs.reverse(), "";
        "xs[at]" => xs.gather(&at), "";
        "m[1:, :2]" => m.slice((1.., ..2)), "negative ends count from the end";
        "m[::2, -1]" => m.slice(((..).step(2), -1)), "";
        "m[:, np.newaxis, :]" => m.slice((.., NewAxis, ..)), "";
        "m[at]" => m.select(0, &at), "rows by their numbers";
        "np.take(m, at, axis=1)" => m.select(1, &at), "an index outside, or below 0, is an error";
        "np.ndenumerate(m)" => m.enumerate(), "indices are tuples";
        "m + row" => m.zip_with(&row.broadcast((3, ..)), |x, y| x + y), "nothing is broadcast unasked but scalars";
        "xs[:, np.newaxis] * ys" => xs.outer(&ys, |x, y| x * y), "";
        "m.T" => m.transpose(), "a function of the index, not of strides";
        "t.transpose(2, 0, 1)" => t.permute_axes([2, 0, 1]), "";
        "m.reshape(2, 6)" => m.reshape((2, 6)), "every length is given";
        "m.ravel()" => m.flatten(), "";
        "np.flip(m, 1)" => m.along(1).reverse(), "";
        "np.roll(m, 1, axis=0)" => m.roll(0, 1), "";
        "np.pad(m, [(1, 0), (0, 2)])" => m.pad([(1, 0), (0, 2)], 0.0), "";
        "np.concatenate([m, q], axis=1)" => concatenate(1, [&m, &q]), "of one axis: `xs.append(&ys)`, `concat`";
        "np.stack([m, q])" => stack(0, [&m, &q]), "";
        "m.size" => m.len(), "a delayed scalar";
        "m.sum()" => m.sum(), "in lanes and chunks, of a fixed order";
        "m.sum(axis=0)" => m.along(0).sum(), "axes are counted from the front";
        "t.max(axis=(0, 2))" => t.along([0, 2]).max(), "";
        "xs.mean(), xs.std()" => (xs.mean(), xs.std()), "one loop if they are forced together";
        "m.std(axis=0)" => m.along(0).std(), "the divisor is the length; `mean` and `var` as well";
        "m.argmin(axis=1)" => m.along(1).min_index(), "";
        "np.any(m > 8, axis=1)" => m.along(1).any(|x| x.gt(8.0)), "of all elements: `any`, `all`, `count`";
        "np.cumsum(m, axis=1)" => m.along(1).cumsum(), "";
        "np.maximum.accumulate(m, axis=0)" => m.along(0).scan1(|a, b| a.max(b)), "any associative operator; `scan` has a start";
        "np.maximum.reduce(m, axis=0)" => m.along(0).fold1(|a, b| a.max(b)), "any associative operator; of all elements `fold1`";
        "np.maximum.accumulate(xs)" => xs.cummax(), "`cummin`, `cumprod`, `cumsum`; `scan_with_start` has one more";
        "np.diff(xs)" => xs.diff(), "";
        "np.isclose(xs, ys)" => xs.zip_with(&ys, |x, y| x.isclose(y, 1e-5, 1e-8, false)), "all of them: `.all(\\|c\\| c)`";
        "np.meshgrid(xs, ys)" => xs.meshgrid(&ys), "is in no memory; of both at once: `outer`";
        "sliding_window_view(xs, 3)[::2]" => xs.sliding_windows(3, 2), "a matrix in no memory";
        "m @ b" => m.dot(&b), "fuses with what uses it";
        "np.tril(m)" => m.triangle_lower(0, 0.0), "";
        "np.apply_along_axis(lambda r: r / r.sum(), 1, m)" => m.map_rows(|r| { let s = r.sum(); r.map(|x| x / &s) }), "traced once; fuses into one nested loop";
        "np.bincount(keys, xs)" => xs.reduce_by_index(&keys, Bins { count: 3, start: 0.0 }, |a, b| a + b), "any operator, in the order of the elements";
        "np.bincount(keys, minlength=3)" => keys.bincount(3), "a key that is not below 3 is an error";
        "np.histogram(xs, bins=4, range=(0.0, 2.0))[0]" => xs.histogram_uniform(0.0, 2.0, 4), "in the loop that makes the elements";
        "np.histogram(xs, bins=ys)[0]" => xs.histogram(&ys.sort()), "edges are in order";
        "[(x, y) for i, x in enumerate(xs) for y in xs[i + 1:]]" => xs.combinations(), "within segments (awkward's `ak.combinations`): `combinations`";
        "[(x, y) for x in xs for y in ys]" => xs.cartesian(&ys), "`ak.cartesian`: `cartesian`";
        "np.sort(xs)" => xs.sort(), "runs before what uses it; NaN comes last";
        "np.sort(m, axis=0)" => m.along(0).sort(), "fuses along the last axis; `argsort` and `median` as well";
        "xs[np.argsort(ys, kind='stable')]" => xs.sort_by_key(&ys), "stable; `argsort` gives the places";
        "np.sort(xs)[::-1][:3]" => xs.top_k(3), "a fold, in one pass; `argtop_k` gives the places";
        "np.median(xs), np.quantile(xs, 0.9)" => (xs.median(), xs.quantile(0.9)), "linear in between; nothing is sorted";
        "np.quantile(xs, [0.1, 0.9])" => xs.quantiles(&Array::from(vec![0.1, 0.9])), "";
        "np.unique(ys, return_counts=True)" => ys.unique_counts().unzip(), "sorts; `unique` compares neighbours alone";
        "np.searchsorted(np.sort(ys), ys)" => ys.sort().searchsorted(&ys), "a map over the values; `searchsorted_right`, `digitize`";
        "np.convolve(xs, [1, 2, 1], 'same')" => xs.windows(Boundary::Constant(0.0), |[a, b, c]| a + 2.0 * b + c), "of two axes: `stencil2`";
        "xs.tolist()" => xs.to_vec()?, "computes";
    })
}
