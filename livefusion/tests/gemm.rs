//! Matrix products by a library: their nodes, and fusion of the surrounding loops.
#![cfg(feature = "matmul")]

use livefusion::prelude::*;
use livefusion::runtime::ExplainedApart;
use livefusion::{ErrorKind, Result};

fn matrix(n: usize, m: usize) -> Array<f64, Ix2> {
    generate((n, m), |(i, j)| ((i * 7 + j * 3) % 11).cast::<f64>() - 5.0)
}

#[test]
fn matmul_apart__of_each_shape__is_the_loop_of_matmul() -> Result<()> {
    for (n, k, m) in [(1, 1, 1), (3, 5, 4), (40, 33, 50), (2, 0, 3), (0, 4, 2)] {
        let (a, b) = (matrix(n, k), matrix(k, m));
        let by_loop = a.matmul(&b).to_vec()?;
        // Whole numbers are added without rounding.
        assert_eq!(a.matmul_apart(&b).to_vec()?, by_loop, "{n} {k} {m}");
        let single = |x: &Array<f64, Ix2>| x.map(|x| x.cast::<f32>());
        let product = single(&a)
            .matmul_apart(&single(&b))
            .map(|x| x.cast::<f64>());
        assert_eq!(product.to_vec()?, by_loop, "{n} {k} {m}");
    }
    Ok(())
}

#[test]
fn matmul_apart__between_maps_and_sums__leaves_one_loop() -> Result<()> {
    let (a, b) = (matrix(20, 30), matrix(30, 10));
    let product = a
        .map(|x| x * 2.0)
        .matmul_apart(&b)
        .map(|x| x.max(0.0))
        .along(1)
        .sum();
    let explained = product.explain()?;
    assert_eq!(explained.loops.len(), 1, "{explained}");
    let [ExplainedApart::External(library)] = &explained.apart[..] else {
        panic!("{explained}");
    };
    assert_eq!(library.name, "matmul_apart");
    let by_loop = a
        .map(|x| x * 2.0)
        .matmul(&b)
        .map(|x| x.max(0.0))
        .along(1)
        .sum();
    assert_eq!(product.to_vec()?, by_loop.to_vec()?);
    let error = a.matmul_apart(&a).force().expect_err("20 rows");
    assert_eq!(error.combinator, "matmul_apart");
    assert!(
        matches!(error.kind, ErrorKind::ShapeMismatch { .. }),
        "{error}"
    );
    Ok(())
}
