//! Coming from Accelerate.

use crate::{Common, Row, common, rows};
use livefusion::prelude::*;

#[rustfmt::skip]
pub fn rows() -> livefusion::Result<Vec<Row>> {
    let Common { xs, ys, m, q, t, row, tags, at, lengths, .. } = common();
    Ok(rows! {
        "use (fromList (Z :. 2) [1, 2])" => Array::from(vec![1.0, 2.0]), "`Acc` and arrays in memory are one type";
        "unit 3" => Array::scalar(3.0), "a delayed scalar: rank `Ix0`";
        "the (sum xs)" => xs.map(|x| x / xs.sum().value()), "in closures; `&s` will do, too";
        "run xs" => xs.force()?, "";
        "runN f" => prepare(|xs: Array<f64>| xs.sum())?.call(&xs)?, "compiled when it is made";
        "generate (I2 3 4) f" => generate((3, 4), |(i, j)| i * 4 + j), "indices are tuples";
        "fill (I2 3 4) 0.5" => replicate((3, 4), 0.5), "";
        "enumFromStepN (I1 5) 0 0.25" => enum_from_step(5, 0.0, 0.25), "`enumFromN` from 0: `iota`";
        "shape m" => m.shape(), "a delayed scalar for each axis";
        "size m" => m.len(), "";
        "null xs" => xs.len().eq(0), "";
        "map f xs" => xs.map(|x| x.sqrt()), "";
        "imap f m" => m.enumerate().map(|((i, j), x)| x * (i + j).cast::<f64>()), "";
        "indexed m" => m.enumerate(), "indices are tuples; of one axis numbers";
        "zipWith f m q" => m.zip_with(&q, |x, y| x * y), "shapes that differ are an error, not cut; of one axis `zip_shortest` cuts";
        "zipWith3 f xs ys xs" => (&xs, &ys, &xs).zip_with(|x, y, z| x * y + z), "up to 6";
        "zip xs ys" => xs.zip(&ys), "";
        "unzip (zip xs ys)" => xs.zip(&ys).unzip(), "";
        "x > 0 ? (x, y)" => xs.zip_with(&ys, |x, y| x.gt(0.0).cond(x, y)), "in closures";
        "while p f x" => xs.map(|x| while_loop(x, |y| y.lt(100.0), |y| 2.0 * y + 10.0)), "in closures; `iterate` counts";
        "awhile (the . any (> 1)) (map (/ 2)) m" => iterate_while(&m, |m| m.any(|x| x.gt(1.0)), |m| m.map(|x| x / 2.0)), "each step is one program; `iterate_n` counts";
        "acond (the (sum xs) > 0) xs (reverse xs)" => xs.sum().gt(0.0).cond(&xs, xs.reverse()), "only one side runs";
        "reshape (I2 2 6) m" => m.reshape((2, 6)), "";
        "flatten m" => m.flatten(), "";
        "replicate (Z_ ::. 3 ::. All_) row" => row.broadcast((3, ..)), "`..` for `All`";
        "slice m (Z_ ::. All_ ::. 1)" => m.slice((.., 1)), "ranges and steps as well";
        "init xs" => xs.slice(..-1), "`tail`: `xs.slice(1..)`";
        "take 2 xs" => xs.take(2), "along the last axis of more: `m.slice((.., ..2))`";
        "drop 2 xs" => xs.drop(2), "";
        "slit 1 2 xs" => xs.slice(1..3), "start and end, not length";
        "backpermute (I2 4 3) f m" => m.backpermute((4, 3), |(i, j)| (j, i)), "";
        "gather at xs" => xs.gather(&at), "";
        "permute (+) base f m" => m.permute(&replicate(2, 0.0), |old, new| old + new, |(i, j)| (i + j) % 2), "in order: the operator need not commute";
        "permute (+) base (\\i -> if p i then Just_ (f i) else Nothing_) m" => m.permute(&replicate(2, 0.0), |old, new| old + new, |(i, j)| i.ne(j).then_some((i + j) % 2)), "where nothing is put, no index is computed";
        "scatter at base xs" => xs.scatter(&at, &ys.take(3)), "the base comes first";
        "reverse xs" => xs.reverse(), "`reverseOn`: `m.along(1).reverse()`";
        "transpose m" => m.transpose(), "`transposeOn`: `swap_axes`, `permute_axes`";
        "xs ++ ys" => xs.append(&ys), "";
        "concatOn _1 m q" => concatenate(0, [&m, &q]), "axes are counted from the front";
        "filter (> 0) xs" => xs.filter(|x| x.gt(0.0)), "of one axis; of rows: `to_segmented` and `filter`";
        "compact tags xs" => xs.pack(&tags), "";
        "expand f g at" => at.flat_map(|x| x, |x, i| 10 * x + i), "how many, then which";
        "fold (+) 0 m" => m.along(1).fold(0.0, |a, b| a + b), "along any axis; `map_rows` for more";
        "foldAll (+) 0 m" => m.fold(0.0, |a, b| a + b), "";
        "fold1 max m" => m.along(1).fold1(|a, b| a.max(b)), "";
        "fold1All max m" => m.fold1(|a, b| a.max(b)), "";
        "foldSeg (+) 0 m lengths" => m.fold_seg(&lengths, 0.0, |a, b| a + b), "of one axis: `Segmented::new(&lengths, &xs).fold(..)`";
        "fold1Seg max row lengths" => Segmented::new(&lengths.filter(|n| n.gt(0)), &row).fold1(|a, b| a.max(b)), "";
        "foldSeg' (+) 0 xs offsets" => Segmented::from_offsets(&Array::from(vec![0, 2, 6]), &xs).fold(0.0, |a, b| a + b), "";
        "sum m" => m.along(1).sum(), "`product`, `minimum`, `maximum`: `product`, `min`, `max`";
        "and tags" => tags.all(|t| t), "`or`: `any`; ends as soon as it is known";
        "any (> 8) m" => m.along(1).any(|x| x.gt(8.0)), "`all` as well";
        "scanl (+) 0 xs" => replicate(1, 0.0).append(&xs.scan(0.0, |a, b| a + b)), "";
        "scanl1 max m" => m.along(1).scan1(|a, b| a.max(b)), "along any axis; `scan1` of one";
        "scanl' (+) 0 xs" => xs.scan_with_total(0.0, |a, b| a + b), "";
        "prescanl (+) 0 m" => m.along(1).scan_exclusive(0.0, |a, b| a + b), "along any axis; `scan_exclusive` of one";
        "postscanl (+) 0 m" => m.along(1).scan(0.0, |a, b| a + b), "along any axis; `scan` of one";
        "scanr (+) 0 xs" => xs.scan_right(0.0, |a, b| a + b).append(&replicate(1, 0.0)), "";
        "scanr1 max m" => m.along(1).scan1_right(|a, b| a.max(b)), "along any axis; `scan1_right` of one";
        "scanr' (+) 0 xs" => (xs.scan_exclusive_right(0.0, |a, b| a + b), xs.fold_right(0.0, |a, b| a + b)), "";
        "prescanr (+) 0 m" => m.along(1).scan_exclusive_right(0.0, |a, b| a + b), "along any axis; `scan_exclusive_right` of one";
        "postscanr (+) 0 m" => m.along(1).scan_right(0.0, |a, b| a + b), "along any axis; `scan_right` of one";
        "scanl1Seg (+) row lengths" => Segmented::new(&lengths, &row).scan(0.0, |a, b| a + b), "";
        "stencil f clamp m" => m.stencil2(Boundary::Clamp, |[[_, n, _], [w, _, e], [_, s, _]]| n + w + e + s), "`stencil1`, `stencil3`; any size";
        "stencil f (function g) m" => m.stencil2(outside(|[i, j]| (i + j).cast::<f64>()), |[[left, here]]| here - left), "`mirror`, `wrap`: `Boundary::Mirror`, `Boundary::Wrap`";
        "stencil2 f clamp m clamp q" => m.zip(&q).stencil2(Boundary::Clamp, |[[(a, _), (_, b)]]| a * b), "";
        "slice t (Z_ ::. 1 ::. All_ ::. All_)" => t.along(0).at(1), "";
    })
}
